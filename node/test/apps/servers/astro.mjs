import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** The production build, once per installation. */
export function prepare () {
  const bin = fileURLToPath(new URL('node_modules/astro/astro.js', import.meta.url))
  const built = spawnSync(process.execPath, [bin, 'build'], { cwd: folder, encoding: 'utf8', timeout: 300_000, env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' } })
  if (built.status !== 0) throw new Error(`astro build: ${built.stdout}${built.stderr}`)
}

export async function start ({ create }) {
  const { handler } = await import('./dist/server/entry.mjs')
  return create((request, response) => handler(request, response, error => {
    response.writeHead(error === undefined ? 404 : 500)
    response.end(error === undefined ? 'nowhere' : String(error.message))
  }))
}

export const requests = [
  { path: '/?q=1' }, { path: '/', method: 'HEAD' }, { path: '/away' }, { path: '/breaks' }, { path: '/api/any?a=b', headers: { 'user-agent': 'row' } },
  { path: '/api/any', method: 'POST', body: 'x'.repeat(300_000) }, { path: '/api/any', method: 'DELETE' }, { path: '/api/events' }, { path: '/nowhere' }
]

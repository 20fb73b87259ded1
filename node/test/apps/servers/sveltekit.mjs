import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** The production build, once per installation. */
export function prepare () {
  const bin = fileURLToPath(new URL('node_modules/vite/bin/vite.js', import.meta.url))
  const built = spawnSync(process.execPath, [bin, 'build'], { cwd: folder, encoding: 'utf8', timeout: 300_000 })
  if (built.status !== 0) throw new Error(`vite build: ${built.stdout}${built.stderr}`)
}

export async function start ({ create }) {
  process.env.ORIGIN = 'https://localhost'
  const { handler } = await import('./build/handler.js')
  return create(handler)
}

// Names of files by their contents, which a build makes anew.
export const masks = [[/__sveltekit_\w+/g, 'ID']]

const form = { 'content-type': 'application/x-www-form-urlencoded' }

export const requests = [
  { path: '/page?q=1' }, { path: '/page?q=1', method: 'HEAD' }, { path: '/page/__data.json?q=2' }, { path: '/static.txt' }, { path: '/static.txt', headers: { range: 'bytes=2-5' } },
  { path: '/api?a=b', headers: { 'user-agent': 'row' } }, { path: '/api', method: 'POST', body: 'x'.repeat(300_000) }, { path: '/api', method: 'POST', body: 'x'.repeat(600_000) },
  { path: '/api', method: 'DELETE' }, { path: '/away' }, { path: '/breaks' }, { path: '/events' }, { path: '/form', method: 'POST', headers: form, body: 'name=you' },
  { path: '/nowhere' }
]

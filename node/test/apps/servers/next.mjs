import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import next from 'next'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** The production build, once per installation. */
export function prepare () {
  const bin = fileURLToPath(new URL('node_modules/next/dist/bin/next', import.meta.url))
  const built = spawnSync(process.execPath, [bin, 'build'], { cwd: folder, encoding: 'utf8', timeout: 300_000, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' } })
  if (built.status !== 0) throw new Error(`next build: ${built.stdout}${built.stderr}`)
}

export async function start ({ create }) {
  process.env.NEXT_TELEMETRY_DISABLED = '1'
  const app = next({ dev: false, dir: folder, quiet: true })
  await app.prepare()
  return create(app.getRequestHandler())
}

// An id of each answer.
export const masks = [[/[\w-]{21}(?=[vm]")/g, 'ID']]

const json = { 'content-type': 'application/json' }

export const requests = [
  { path: '/' }, { path: '/any?q=1' }, { path: '/old' }, { path: '/fixed' }, { path: '/away' }, { path: '/missing/deep' },
  { path: '/fixed', method: 'HEAD' },
  { path: '/api/hello?q=1', headers: { cookie: 'a=1' } }, { path: '/api/hello', method: 'POST', headers: json, body: '{"a":1}' }, { path: '/api/hello', method: 'POST', headers: json, body: '{' },
  { path: '/api/breaks' },
  { path: '/route?q=1', headers: { 'x-there': 'there' } }, { path: '/route', method: 'POST', body: 'text' }, { path: '/route', method: 'OPTIONS' }, { path: '/route', method: 'DELETE' },
  { path: '/events' }, { path: '/guarded' }, { path: '/public.txt' }, { path: '/public.txt', headers: { range: 'bytes=0-3' } },
  { path: '/any', headers: { rsc: '1' } }
]

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const quiet = { NUXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }

/** The production build, once per installation. */
export function prepare () {
  const bin = fileURLToPath(new URL('node_modules/nuxt/bin/nuxt.mjs', import.meta.url))
  const built = spawnSync(process.execPath, [bin, 'build'], { cwd: folder, encoding: 'utf8', timeout: 300_000, env: { ...process.env, ...quiet } })
  if (built.status !== 0) throw new Error(`nuxt build: ${built.stdout}${built.stderr}`)
}

export async function start ({ create }) {
  const { listener } = await import('./.output/server/index.mjs')
  return create(listener)
}

// The number of a build, and hashes that go with it.
export const masks = [[/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'ID'], [/"prerenderedAt",\d+|\d{13}/g, 'TIME']]

export const requests = [
  { path: '/?q=1' }, { path: '/', method: 'HEAD' }, { path: '/static.txt' }, { path: '/static.txt', headers: { 'if-none-match': '"none"' } }, { path: '/away' },
  { path: '/breaks' }, { path: '/api/any?a=b', headers: { 'user-agent': 'row' } }, { path: '/api/any', method: 'POST', body: 'x'.repeat(300_000) },
  { path: '/api/any', method: 'DELETE' }, { path: '/api/cookies' }, { path: '/events' }, { path: '/nowhere' }
]

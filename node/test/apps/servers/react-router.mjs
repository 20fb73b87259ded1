import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** The production build, once per installation. */
export function prepare () {
  const bin = fileURLToPath(new URL('node_modules/@react-router/dev/bin.js', import.meta.url))
  const built = spawnSync(process.execPath, [bin, 'build'], { cwd: folder, encoding: 'utf8', timeout: 300_000, env: { ...process.env, NODE_ENV: 'production' } })
  if (built.status !== 0) throw new Error(`react-router build: ${built.stdout}${built.stderr}`)
}

export async function start ({ create }) {
  const { default: express } = await import('express')
  const { createRequestHandler } = await import('@react-router/express')
  const app = express()
  app.use(express.static('build/client'))
  app.use(createRequestHandler({ build: await import('./build/server/index.js'), mode: 'production' }))
  return create(app)
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }

export const requests = [
  { path: '/?q=1' }, { path: '/', method: 'HEAD' }, { path: '/static.txt' }, { path: '/static.txt', headers: { range: 'bytes=2-5' } }, { path: '/deferred' }, { path: '/away' },
  { path: '/breaks' }, { path: '/_root.data?q=2' }, { path: '/form', method: 'POST', headers: form, body: 'name=you' }, { path: '/form.data', method: 'POST', headers: form, body: 'name=you' },
  { path: '/api?a=b', headers: { 'user-agent': 'row' } }, { path: '/api', method: 'POST', body: 'x'.repeat(300_000) }, { path: '/api', method: 'DELETE' }, { path: '/events' },
  { path: '/nowhere' }
]

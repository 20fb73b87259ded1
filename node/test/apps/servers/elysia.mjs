// Elysia is written for Bun: its `fetch` is what Bun.serve takes; the reference is its adapter for Node.js.
import { node } from '@elysiajs/node'
import { Elysia, t } from 'elysia'

const app = new Elysia({ adapter: node() })
  .get('/', () => 'index')
  .get('/hello/:name', ({ params, query, headers }) => ({ name: params.name, query, agent: headers['user-agent'] }))
  .post('/echo', ({ body, set }) => { set.status = 201; return body }, { body: t.Object({ a: t.Number() }) })
  .post('/text', ({ body }) => body, { parse: 'text' })
  .get('/cookie', ({ cookie: { seen } }) => { seen.value = 'yes'; return 'cookie' })
  .get('/stream', function * () { yield 'one '; yield 'two ' })
  .get('/status', ({ status }) => status(418, 'teapot'))
  .get('/away', ({ redirect }) => redirect('https://localhost/hello/you'))
  .get('/breaks', () => { throw new Error('broken on purpose') })
  .onError(({ code, set }) => { if (code === 'NOT_FOUND') { set.status = 404; return 'nowhere' } return String(code) })

export function fetch (request) { return app.fetch(request) }

export async function start ({ create }) {
  const { getRequestListener } = await import('@hono/node-server')
  return create(getRequestListener(request => app.fetch(request)))
}

const json = { 'content-type': 'application/json' }

export const requests = [
  { path: '/' }, { path: '/hello/world?q=1', headers: { 'user-agent': 'row' } }, { path: '/echo', method: 'POST', headers: json, body: '{"a":1}' },
  { path: '/echo', method: 'POST', headers: json, body: '{"a":"x"}' }, { path: '/text', method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'text' },
  { path: '/cookie', headers: { cookie: 'other=1' } }, { path: '/stream' }, { path: '/status' }, { path: '/away' }, { path: '/breaks' }, { path: '/nowhere' }
]

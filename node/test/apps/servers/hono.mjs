import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { etag } from 'hono/etag'
import { HTTPException } from 'hono/http-exception'
import { secureHeaders } from 'hono/secure-headers'
import { stream, streamSSE } from 'hono/streaming'

const app = new Hono()
app.use('/secure/*', cors(), secureHeaders())
app.use('/tagged', etag())
app.use('/packed', compress())
app.get('/hello/:name', context => context.json({ hello: context.req.param('name'), query: context.req.query(), url: context.req.url, agent: context.req.header('user-agent') }))
app.get('/secure/page', context => context.html('<p>page</p>'))
app.get('/tagged', context => context.text('tagged'))
app.get('/packed', context => context.text('packed '.repeat(1000)))
app.post('/echo', async context => context.json(await context.req.json(), 201))
app.post('/limited', bodyLimit({ maxSize: 100 }), async context => context.text(await context.req.text()))
app.post('/form', async context => context.json(Object.entries(await context.req.parseBody()).map(([name, value]) => [name, value.size ?? value])))
app.get('/stream', context => stream(context, async out => { await out.write('one '); await out.write('two') }))
app.get('/events', context => streamSSE(context, async out => { for (const data of ['1', '2', '3']) await out.writeSSE({ data, event: 'tick' }) }))
app.get('/cookies', context => { context.header('set-cookie', 'a=1'); context.header('set-cookie', 'b=2', { append: true }); return context.body(null, 204) })
app.get('/away', context => context.redirect('/hello/you'))
app.get('/breaks', () => { throw new Error('broken on purpose') })
app.get('/teapot', () => { throw new HTTPException(418, { message: 'teapot' }) })
app.get('/proxy', context => context.newResponse(new Blob(['blob']).stream(), 200, { 'x-blob': 'yes' }))
app.onError((error, context) => error instanceof HTTPException ? error.getResponse() : context.text(error.message, 500))

export function start ({ create }) {
  return createAdaptorServer({ fetch: app.fetch, createServer: (options, listener) => create(listener) })
}

export function fetch (request) { return app.fetch(request) }

const json = { 'content-type': 'application/json' }
const form = '--xx\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--xx\r\ncontent-disposition: form-data; name="file"; filename="f.bin"\r\n\r\nfile\r\n--xx--\r\n'

export const requests = [
  { path: '/hello/world?q=1', headers: { 'user-agent': 'row' } }, { path: '/secure/page' },
  { path: '/secure/page', method: 'OPTIONS', headers: { origin: 'https://a.test', 'access-control-request-method': 'PUT' } },
  { path: '/tagged' }, { path: '/packed', headers: { 'accept-encoding': 'gzip' } },
  { path: '/echo', method: 'POST', headers: json, body: '{"a":1}' }, { path: '/echo', method: 'POST', headers: json, body: '{' },
  { path: '/limited', method: 'POST', body: 'short' }, { path: '/limited', method: 'POST', body: 'x'.repeat(200) },
  { path: '/form', method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=xx' }, body: form },
  { path: '/stream' }, { path: '/events' }, { path: '/cookies' }, { path: '/away' }, { path: '/breaks' }, { path: '/teapot' }, { path: '/proxy' },
  { path: '/hello/head', method: 'HEAD' }, { path: '/nowhere' }
]

// The framework under Nitro and Nuxt; `fetch` is its application as it is.
import { createError, H3, html, noContent, readBody, redirect, setCookie, toNodeHandler, HTTPError, getQuery } from 'h3'

const app = new H3({ silent: true })
app.get('/json/:id', event => ({ id: event.context.params.id, query: getQuery(event), method: event.req.method, own: event.req.headers.get('x-own') }))
app.get('/text', event => { event.res.headers.set('x-back', 'yes'); return 'text' })
app.get('/html', () => html('<p>page</p>'))
app.get('/stream', () => new ReadableStream({
  async start (controller) {
    for (const piece of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(piece))
    controller.close()
  }
}))
app.get('/response', () => new Response('made', { status: 203, headers: [['set-cookie', 'a=1'], ['set-cookie', 'b=2']] }))
app.get('/cookie', event => { setCookie(event, 'seen', 'yes'); return 'cookie' })
app.get('/away', () => redirect('/text'))
app.get('/empty', () => noContent())
app.get('/null', () => null)
app.get('/throw', () => { throw new (HTTPError ?? createError)({ status: 418, message: 'teapot' }) })
app.get('/breaks', () => { throw new Error('broken on purpose') })
app.post('/json', async event => await readBody(event))
app.post('/bytes', async event => String((await event.req.arrayBuffer()).byteLength))
app.post('/stream', event => new Response(event.req.body))

export function start ({ create }) { return create(toNodeHandler(app)) }
export const fetch = request => app.fetch(request)

const json = { 'content-type': 'application/json' }
export const requests = [
  { path: '/json/7?a=1&a=2', headers: { 'x-own': 'own' } }, { path: '/text' }, { path: '/html' }, { path: '/stream' }, { path: '/response' }, { path: '/cookie' },
  { path: '/away' }, { path: '/empty' }, { path: '/null' }, { path: '/throw' }, { path: '/breaks' },
  { path: '/json', method: 'POST', headers: json, body: '{"a":"ä"}' }, { path: '/json', method: 'POST', headers: json, body: '{' },
  { path: '/bytes', method: 'POST', body: 'x'.repeat(150_000) }, { path: '/stream', method: 'POST', body: 'back'.repeat(50_000) },
  { path: '/text', method: 'HEAD' }, { path: '/nowhere' }, { path: '/text', method: 'DELETE' }
]

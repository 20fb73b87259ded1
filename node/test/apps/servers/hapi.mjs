import { Readable } from 'node:stream'
import Hapi from '@hapi/hapi'

/** hapi listens itself, on the server that it is given. */
export async function start ({ create }) {
  const listener = create(undefined, {})
  const server = Hapi.server({ listener, tls: true, port: 0, host: '127.0.0.1', compression: { minBytes: 10 }, debug: false })
  const answer = (request, h) => h.response(request.payload ?? 'nothing').code(201)
  server.route([
    { method: 'GET', path: '/json/{id}', handler: request => ({ id: request.params.id, query: request.query, secure: request.server.info.protocol }) },
    { method: 'GET', path: '/text', handler: (request, h) => h.response('text that is compressed where it may be').state('seen', 'yes', { isSecure: false }) },
    { method: 'GET', path: '/stream', handler: (request, h) => h.response(Readable.from(['one ', 'two'])).type('text/x') },
    { method: 'GET', path: '/etag', handler: (request, h) => h.response('fixed').etag('fixed') },
    { method: 'GET', path: '/away', handler: (request, h) => h.redirect('/text') },
    { method: 'GET', path: '/empty', handler: (request, h) => h.response().code(204) },
    { method: 'GET', path: '/breaks', handler: () => { throw new Error('broken on purpose') } },
    { method: 'GET', path: '/raw', handler: (request, h) => { request.raw.res.end('raw'); return h.abandon } },
    { method: 'POST', path: '/echo', options: { payload: { maxBytes: 200_000 } }, handler: answer },
    {
      method: 'POST', path: '/form', options: { payload: { multipart: true, output: 'stream', parse: true } },
      handler: async request => Object.fromEntries(await Promise.all(Object.entries(request.payload).map(async ([name, value]) => [name, typeof value === 'string' ? value : (await value.toArray()).join('')])))
    }
  ])
  await server.start()
  return { port: server.info.port }
}

const FORM = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b\r\ncontent-disposition: form-data; name="f"; filename="f.txt"\r\n\r\nfile\r\n--b--\r\n'
const json = { 'content-type': 'application/json' }
export const requests = [
  { path: '/json/7?a=1&a=2' }, { path: '/text' }, { path: '/text', headers: { 'accept-encoding': 'gzip' } }, { path: '/stream' },
  { path: '/etag' }, { path: '/etag', headers: { 'if-none-match': '"fixed"' } }, { path: '/away' }, { path: '/empty' }, { path: '/breaks' }, { path: '/raw' },
  { path: '/echo', method: 'POST', headers: json, body: '{"a":1}' }, { path: '/echo', method: 'POST', headers: json, body: '{"a":' },
  { path: '/echo', method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(150_000) },
  { path: '/form', method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: FORM },
  { path: '/text', method: 'HEAD' }, { path: '/nowhere' }, { path: '/text', method: 'DELETE' }
]

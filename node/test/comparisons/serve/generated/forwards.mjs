// Requests that a handler sends on to another server, by the request, by the way of passing it on, and by whose `fetch` it is.
import { createServer } from 'node:http'
import { once } from 'node:events'

const REQUESTS = {
  'a GET': {},
  'a GET with a body': { body: 'hello' },
  'a GET with a body in chunks': { fields: [['transfer-encoding', 'chunked']], body: '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n' },
  'a GET with fields of its connection': { fields: [['connection', 'close, x-own'], ['x-own', '1'], ['keep-alive', 'timeout=5'], ['proxy-connection', 'close']] },
  'a POST': { method: 'POST' },
  'a POST with an empty body': { method: 'POST', fields: [['content-length', '0']] },
  'a POST with a body': { method: 'POST', fields: [['content-type', 'text/x']], body: 'hello' },
  'a POST with a body in chunks': { method: 'POST', fields: [['transfer-encoding', 'chunked']], body: '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n' },
  'a POST that waits to be asked': { method: 'POST', fields: [['expect', '100-continue']], body: 'hello' },
  'an OPTIONS with a body': { method: 'OPTIONS', body: 'hello' },
  'a DELETE': { method: 'DELETE' }
}

const WAYS = {
  'as it is, to another URL': ({ fetch, Request }, target, request) => fetch(new Request(target, request)),
  'as the changes of a URL': ({ fetch }, target, request) => fetch(target, request),
  'by its members': ({ fetch }, target, { method, headers, body }) => fetch(target, { method, headers, body }),
  'by its members, in a Request': ({ fetch, Request }, target, { method, headers, body }) => fetch(new Request(target, { method, headers, body })),
  'with headers of the global class': ({ fetch }, target, { method, headers, body }) => {
    const changed = new globalThis.Headers(headers)
    changed.set('x-a', '1')
    return fetch(target, { method, headers: changed, body })
  },
  'with headers as an object': ({ fetch }, target, { method, headers, body }) => fetch(target, { method, headers: Object.fromEntries(headers), body }),
  'with another method and body': ({ fetch }, target, { headers }) => fetch(target, { method: 'PUT', headers, body: 'else' }),
  'read before': async ({ fetch }, target, request) => fetch(target, { method: 'POST', headers: request.headers, body: await request.arrayBuffer() }),
  'a clone': ({ fetch }, target, request) => fetch(target, request.clone()),
  'a copy with other headers': ({ fetch, Request }, target, request) => fetch(target, new Request(request, { headers: { 'x-a': '1' } }))
}

/** Those of Bun are global; on Node.js both kinds are wanted. */
const WHOSE = {
  own: ({ fetch, Request }) => ({ fetch, Request }),
  global: () => ({ fetch: (...args) => globalThis.fetch(...args), Request: globalThis.Request })
}

const programs = {}
for (const [name, { method = 'GET', fields = [], body = '' }] of Object.entries(REQUESTS)) {
  for (const [way, forward] of Object.entries(WAYS)) {
    for (const [whose, classes] of Object.entries(WHOSE)) {
      programs[`${name}, ${way}, ${whose}`] = async (module, stage) => {
        const log = stage.log('server')
        const server = stage.serve(module, {
          async fetch (request) {
            try {
              return await forward(classes(module), target, request)
            } catch (error) {
              log(error.name, error.message, error.cause?.message ?? '')
              return new module.Response('refused')
            }
          }
        })
        const upstream = createServer(async (request, response) => {
          const pieces = await request.toArray()
          const { 'content-length': length, 'transfer-encoding': coding, 'x-a': own } = request.headers
          stage.log('upstream')(request.method, request.url, { length, coding, own }, Buffer.concat(pieces).toString())
          response.end('read', () => response.socket?.destroy())
        }).listen(0, '127.0.0.1')
        await once(upstream, 'listening')
        const target = `http://127.0.0.1:${upstream.address().port}/there`
        const length = body === '' || fields.some(([name]) => name === 'transfer-encoding') ? [] : [['content-length', body.length]]
        const all = [['host', 'localhost'], ...(fields.some(([name]) => name === 'connection') ? [] : [['connection', 'close']]), ...fields, ...length]
        await stage.send(server.port, `${method} / HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
        upstream.closeAllConnections()
        await new Promise(resolve => { upstream.close(resolve) })
      }
    }
  }
}
export default programs

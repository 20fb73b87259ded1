// A server of HTTP/2 for clients that have none of their own.
import http2 from 'node:http2'
import { gzipSync } from 'node:zlib'

/** Every second request for it succeeds. */
let flaky = 0
let sessions = 0
const aborted = []

function answer (request, response, body) {
  const { pathname, searchParams } = new URL(request.url, 'https://echo.test')
  if (pathname === '/never') return request.stream.on('aborted', () => { aborted.push('never') })
  if (pathname === '/away') return response.writeHead(302, { location: '/echo?from=away' }).end()
  if (pathname === '/packed') return response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync('{"packed":true}'))
  if (pathname === '/large') return response.end('large '.repeat(100_000))
  if (pathname === '/none') return response.writeHead(204).end()
  if (pathname === '/flaky' && ++flaky % 2 === 1) return response.writeHead(503, { 'retry-after': '0' }).end()
  if (pathname === '/reset') return request.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
  if (pathname === '/last') request.stream.session.goaway()
  response.statusCode = Number(searchParams.get('status') ?? 200)
  response.setHeader('content-type', 'application/json')
  response.setHeader('x-back', ['one', 'two'])
  response.setHeader('set-cookie', ['a=1', 'b=2'])
  response.end(JSON.stringify({ version: request.httpVersion, method: request.method, type: request.headers['content-type']?.split(';')[0], length: body.length, query: [...searchParams] }))
}

export async function start ({ tls }) {
  const server = http2.createSecureServer({ ...tls, allowHTTP1: true }, async (request, response) => {
    const chunks = []
    try { for await (const chunk of request) chunks.push(chunk) } catch { return }
    answer(request, response, Buffer.concat(chunks))
  })
  server.on('session', () => { sessions++ })
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
  return { ports: { tls: server.address().port }, control: { sessions: () => sessions, aborted: async () => { while (aborted.length === 0) await new Promise(resolve => { setTimeout(resolve, 10) }); return aborted.splice(0) } } }
}

// The server of the clients that have no server of their own.
import { gzipSync } from 'node:zlib'

/** Every second request for it succeeds. */
let flaky = 0

export function answer (request, response, body) {
  const { pathname, searchParams } = new URL(request.url, 'https://echo.test')
  if (pathname === '/never') return
  if (pathname === '/away') return response.writeHead(302, { location: '/echo?from=away' }).end()
  if (pathname === '/packed') return response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync('{"packed":true}'))
  if (pathname === '/large') return response.end('large '.repeat(100_000))
  if (pathname === '/none') return response.writeHead(204).end()
  if (pathname === '/flaky' && ++flaky % 2 === 1) return response.writeHead(503, { 'retry-after': '0' }).end()
  response.statusCode = Number(searchParams.get('status') ?? 200)
  response.setHeader('content-type', 'application/json')
  response.setHeader('x-back', ['one', 'two'])
  response.setHeader('set-cookie', ['a=1', 'b=2'])
  response.end(JSON.stringify({ method: request.method, type: request.headers['content-type']?.split(';')[0], length: body.length, query: [...searchParams] }))
}

// A server that fails as the path says, over HTTP/1.1 and HTTP/2, in a process of its own.
// Prints its ports as JSON; ends with its standard input.
//   /ok/N            N bytes of the letter x; the request's body is read and thrown away
//   /echo            the request's body
//   /slow/N/MS       N bytes, half of them after MS
//   /hang            no answer
//   /half/N          N bytes announced, half of them sent, then nothing
//   /reset/N         after N bytes the stream is reset, or the connection cut on HTTP/1.1
//   /cut/N           after N bytes the connection is cut
//   /goaway          answered, and the connection ends gracefully
//   /refuse          refused before it is looked at (HTTP/2), 503 on HTTP/1.1
//   /garbage         bytes that are no HTTP, or the connection cut on HTTP/2
//   /trailers        an interim response, a body and trailers
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { cert, key } from '../support/certificates/certificate.mjs'
import { outsideOfFrames } from '../support/servers/servers.mjs'

const text = length => 'x'.repeat(Number(length))

/** Ends the connection under a request. node:http2 does not outlive what others do to its socket. */
function cut (request) {
  if (request.stream === undefined) request.socket.destroy()
  else request.stream.session?.destroy()
}

const faults = {
  ok: (_, response, [length]) => response.end(text(length)),
  slow (_, response, [length, ms]) {
    const all = text(length)
    response.write(all.slice(0, all.length / 2))
    setTimeout(() => { response.end(all.slice(all.length / 2)) }, Number(ms))
  },
  hang () {},
  half (_, response, [length]) {
    response.setHeader('content-length', length)
    response.write(text(Number(length) / 2))
  },
  reset (request, response, [length]) {
    response.write(text(length), () => {
      if (response.stream) response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
      else request.socket.destroy()
    })
  },
  cut: (request, response, [length]) => response.write(text(length), () => { cut(request) }),
  goaway (request, response) {
    if (!request.stream) response.setHeader('connection', 'close')
    response.end('x')
    request.stream?.session?.close()
  },
  refuse (request, response) {
    if (request.stream) return request.stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
    response.statusCode = 503
    response.end()
  },
  garbage (request) {
    if (request.stream === undefined) request.socket.end('\0garbage\r\n\r\n')
    else cut(request)
  },
  trailers (request, response) {
    if (response.stream) response.stream.additionalHeaders({ ':status': 103 })
    else response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.setHeader('trailer', 'x-after')
    response.write('x')
    response.addTrailers({ 'x-after': 'all' })
    response.end()
  }
}

function answer (request, response) {
  for (const one of [request, response]) one.on('error', () => {})
  // The client of a stream may have left before its turn came.
  if (request.stream?.destroyed) return
  const [, word, ...rest] = request.url.split('/')
  if (word === 'echo') return request.pipe(response)
  request.resume()
  faults[word](request, response, rest)
}

const servers = [http.createServer(answer), https.createServer({ cert, key }, answer), http2.createSecureServer({ cert, key, allowHTTP1: true, settings: { maxConcurrentStreams: 50 } }, outsideOfFrames(answer))]
for (const server of servers) {
  server.on('sessionError', () => {}).on('session', session => { session.on('error', () => {}) })
  server.on('connection', socket => { socket.on('error', () => {}) }).on('tlsClientError', () => {})
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
}
const [h1, h1s, h2] = servers.map(server => server.address().port)
console.log(JSON.stringify({ h1, h1s, h2 }))
process.stdin.on('end', () => process.exit(0)).resume()

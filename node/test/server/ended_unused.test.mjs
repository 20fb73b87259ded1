// Connections that a listener ends before their first request, as filters of addresses do: none of their requests is handled or answered.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const GET = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const SECURE = { cert, key, allowHTTP1: true }
const raw = socket => {
  let text = ''
  socket.on('data', piece => { text += piece }).on('error', () => {}).write(GET)
  return once(socket, 'close').then(() => text)
}
const overTcp = port => raw(net.connect(port, '127.0.0.1'))
const overTls = port => raw(tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: ['http/1.1'] }))
const overHttp2 = async port => {
  const client = http2.connect(`http://127.0.0.1:${port}`).on('error', () => {})
  let text = ''
  client.request().on('data', piece => { text += piece }).on('error', () => {}).on('end', () => { client.close() }).end()
  await once(client, 'close')
  return text
}
const SERVERS = {
  'HTTP/1.1': ['connection', handler => createServer({ requests: 'http' }, handler), overTcp],
  'HTTP/1.1 of a server of HTTP/2': ['secureConnection', handler => createSecureServer(SECURE, handler), overTls],
  'HTTP/1.1 under TLS': ['secureConnection', handler => createSecureServer({ ...SECURE, requests: 'http' }, handler), overTls],
  'HTTP/2': ['connection', handler => createServer({}, handler), overHttp2],
  'HTTP/2 by its session': ['session', handler => createServer({}, handler), overHttp2]
}
const ENDS = {
  destroy: socket => { socket.destroy() },
  end: socket => { socket.end() },
  'end a turn later': socket => { setImmediate(() => { socket.end() }) }
}

for (const [name, [event, serve, ask]] of Object.entries(SERVERS)) {
  for (const [how, end] of Object.entries(ENDS)) {
    // Sessions have no end of their own.
    if (event === 'session' && how !== 'destroy') continue
    test(`${name}: a connection that a listener ends by ${how} before its first request gets no answer, and its request no handler`, async t => {
      const handled = []
      const server = serve((request, response) => {
        handled.push(request.url)
        response.end('served')
      })
      t.after(() => { server.close() })
      server.once(event, socket => { end(socket.on('error', () => {})) })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address()
      assert.doesNotMatch(await ask(port), /served/)
      // The next connection is left alone.
      assert.match(await ask(port), /served/)
      assert.deepEqual(handled, ['/'])
    })
  }
}

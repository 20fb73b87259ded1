// Sockets of upgrades whose server has ended its side: what their client sends is read to its end, however late its reader is.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { setImmediate as turn } from 'node:timers/promises'
import { createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const ASKED = {
  upgrade: ['GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n'],
  connect: ['CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n']
}
/** More than a stream buffers. */
const SENT = Buffer.alloc(50_000, 's')

async function listening (t, server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  return server.address().port
}

const withoutConnections = async server => {
  while (await new Promise(resolve => { server.getConnections((_, open) => { resolve(open) }) }) > 0) await turn()
}

async function read (socket) {
  const pieces = []
  for await (const piece of socket) pieces.push(piece)
  return Buffer.concat(pieces)
}

for (const isSecure of [false, true]) {
  for (const [event, [text, answer]] of Object.entries(ASKED)) {
    test(`what a client sends behind ${event} is read when its connection is over, where the server has ended first${isSecure ? ', under TLS' : ''}`, { timeout: 60_000 }, async t => {
      const server = isSecure ? createSecureServer({ cert, key, allowHTTP1: true }) : createServer()
      const given = once(server, event)
      const port = await listening(t, server)
      const client = isSecure ? tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, allowHalfOpen: true }) : net.connect({ port, allowHalfOpen: true })
      client.write(text)
      const [, socket] = await given
      socket.write(answer)
      socket.end('bye')
      await once(client.resume(), 'end')
      client.end(SENT)
      await once(client, 'close')
      await withoutConnections(server)
      const closed = once(socket, 'close')
      assert.deepEqual(await read(socket), SENT)
      await closed
    })
  }
}

test('what a client sends on the stream of an upgrade is read when its stream is over, where the server has ended first', { timeout: 60_000 }, async t => {
  const server = createServer({ settings: { enableConnectProtocol: true } })
  const given = once(server, 'upgrade')
  const port = await listening(t, server)
  const session = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => { session.destroy() })
  await once(session, 'remoteSettings')
  const stream = session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/', ':scheme': 'http', ':authority': 'a' })
  const [, socket] = await given
  socket.write(ASKED.upgrade[1])
  socket.end('bye')
  await once(stream.resume(), 'end')
  stream.end(SENT)
  await once(stream, 'close')
  // The server has read what came in front of the frame that it answers.
  await new Promise(resolve => { session.ping(resolve) })
  await turn()
  assert.deepEqual(await read(socket), SENT)
})

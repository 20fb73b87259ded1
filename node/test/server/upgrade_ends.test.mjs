// Connections under TLS that have left HTTP: their sockets end with their client, as those of node:tls, unless the server lets them stay half-open.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const ASKED = {
  upgrade: ['GET /a HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: tea\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tea\r\n\r\n'],
  connect: ['CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 'HTTP/1.1 200 Established\r\n\r\n']
}

/** The socket that a listener of `event` has got, once its client has ended its side. */
async function halfClosed (t, event, options) {
  const [text, answer] = ASKED[event]
  const server = createSecureServer({ cert, key, allowHTTP1: true, ...options })
  t.after(() => { server.close() })
  const given = once(server, event)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = tls.connect({ port: server.address().port, host: '127.0.0.1', servername: 'localhost', ca: cert, allowHalfOpen: true })
  t.after(() => { client.destroy() })
  client.write(text)
  const [, socket] = await given
  socket.write(answer)
  await once(client, 'data')
  client.resume().end()
  await once(socket.resume(), 'end')
  return { client, server, socket }
}

for (const requests of ['http', 'http2']) {
  for (const event of Object.keys(ASKED)) {
    test(`the socket of ${event} under TLS closes with its client, and the server with it, with requests of ${requests}`, async t => {
      const { client, server, socket } = await halfClosed(t, event, { requests })
      await Promise.all([once(socket, 'close'), client.readableEnded || once(client, 'end')])
      await new Promise(resolve => { server.close(resolve) })
    })
  }
  test(`the socket of an upgrade under TLS stays open for writing where the server allows half-open connections, with requests of ${requests}`, async t => {
    const { client, socket } = await halfClosed(t, 'upgrade', { requests, allowHalfOpen: true })
    await new Promise(resolve => { setImmediate(resolve) })
    assert.equal(socket.writableEnded, false)
    const last = once(client, 'data')
    socket.end('last')
    assert.equal(`${(await last)[0]}`, 'last')
  })
}

// Members of a server's TLS sockets that are about the session of TLS: true, or refused.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import tls from 'node:tls'
import { Agent, createSecureServer } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

async function listening (t, server) {
  t.after(() => { server.compatServer === undefined ? server.close() : server.compatServer.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

/** The server's answer, and the client's session for another connection. */
async function asked (port, client) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: ['http/1.1'], ...client })
  let session
  socket.on('session', found => { session = found })
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  let text = ''
  for await (const piece of socket) text += piece
  return [text.split('\r\n\r\n').at(-1), session]
}

for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
  for (const requests of [undefined, 'http']) {
    test(`isSessionReused says whether a client of ${maxVersion} has resumed its session, as with node${requests === undefined ? '' : ', of requests of node:http too'}`, async t => {
      const options = { cert, key, allowHTTP1: true, requests }
      const telling = (request, response) => { response.setHeader('content-length', 5).end(String(request.socket.isSessionReused()).padEnd(5)) }
      for (const server of [http2.createSecureServer(options, telling), createSecureServer(options, telling)]) {
        const port = await listening(t, server)
        const [first, session] = await asked(port, { maxVersion })
        assert.equal(first.trim(), 'false')
        assert.ok(session instanceof Buffer)
        const [second] = await asked(port, { maxVersion, session })
        assert.equal(second.trim(), 'true')
      }
    })
  }
}

test('over HTTP/3 it is not known whether a session was resumed', async t => {
  const port = await listening(t, createSecureServer({ cert, key, http3: true }, (request, response) => { response.end(String(request.socket.isSessionReused())) }))
  const agent = new Agent({ http3: 'only', connect: { ca: cert } })
  t.after(() => agent.destroy())
  const { body } = await agent.request({ origin: `https://localhost:${port}`, path: '/', method: 'GET' })
  assert.equal(await body.text(), 'undefined')
})

test('what the engine does not do with a session is refused, and not passed over', async t => {
  const server = createSecureServer({ cert, key, allowHTTP1: true })
  const port = await listening(t, server)
  const came = once(server, 'request')
  const client = asked(port, {})
  const [{ socket }, response] = await came
  assert.equal(socket.setMaxSendFragment(1024), false)
  assert.equal(socket.getTLSTicket(), undefined)
  assert.throws(() => socket.exportKeyingMaterial(32, 'EXPERIMENTAL label'), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
  const [error] = await new Promise(resolve => { assert.equal(socket.renegotiate({}, (...given) => { resolve(given) }), false) })
  assert.equal(error.code, 'ERR_TLS_RENEGOTIATION_DISABLED')
  response.end('whole')
  assert.match((await client)[0], /whole/)
})

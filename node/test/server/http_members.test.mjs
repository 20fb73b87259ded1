// Members of node:http by which programs on npm know a client that does not read, a request and a port.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import test from 'node:test'
import { Agent, createSecureServer, createServer, request } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const VERSIONS = { 'HTTP/1.1': { allowH2: false }, 'HTTP/2': { allowH2: true }, 'HTTP/3': { http3: 'only' } }
/** Event streams with a bound end their clients beyond it. */
const WAITING_MAX = 1 << 20
/** More than systems and windows take of a body without a reader. */
const GIVEN_MAX = 128 << 20
const PIECE = Buffer.alloc(256 * 1024, 'x')

async function listening (t, server, host = '127.0.0.1') {
  server.listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return server.address().port
}

for (const [version, options] of Object.entries(VERSIONS)) {
  for (const engine of ['inline', 'threads']) {
    test(`${version}, ${engine}: writableLength of a response and its socket says how much its client has left, and 0 once it has all`, async t => {
      let given = 0
      const stopped = new Promise(resolve => {
        const server = createSecureServer({ cert, key, engine, allowHTTP1: true, http3: true, requests: 'http' }, (_, response) => {
          const more = () => {
            for (let count = 0; count < 4; count++) {
              given += PIECE.length
              response.write(PIECE)
            }
            if (response.writableLength <= WAITING_MAX && given < GIVEN_MAX) return setImmediate(more)
            response.once('drain', () => { response.end() })
            resolve([response, response.writableLength, response.socket.writableLength, response.socket.bufferSize])
          }
          more()
        })
        t.server = server
      })
      const dispatcher = new Agent({ ...options, engine, connect: { ca: cert } })
      t.after(() => dispatcher.destroy())
      const { body } = await request(`https://127.0.0.1:${await listening(t, t.server)}/`, { dispatcher })
      const [response, ...lengths] = await stopped
      assert.ok(lengths[0] > WAITING_MAX && lengths[0] <= given, `${lengths[0]} bytes of ${given} wait`)
      assert.deepEqual(lengths, [lengths[0], lengths[0], lengths[0]])
      let read = 0
      for await (const piece of body) read += piece.length
      assert.equal(read, given)
      assert.equal(response.writableLength, 0)
    })
  }
}

for (const [name, make] of Object.entries({ 'node:http': listener => http.createServer(listener), ours: listener => createServer({ requests: 'http' }, listener) })) {
  test(`${name}: a corked response counts what it has been given, and its socket has the request in parser.incoming`, async t => {
    let seen
    const server = make((request, response) => {
      response.cork()
      response.write('four')
      seen = [response.writableLength >= 4, request.socket.parser.incoming === request]
      response.end()
    })
    const port = await listening(t, server)
    const [answer] = await once(http.get({ port, host: '127.0.0.1', agent: false }), 'response')
    for await (const _ of answer);
    assert.deepEqual(seen, [true, true])
    assert.equal(server._connectionKey, '4:127.0.0.1:0')
  })
}

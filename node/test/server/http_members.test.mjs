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

for (const [name, given, ask] of [['HTTP/2', { allowH2: true }, 'https'], ['HTTP/3', { http3: 'only' }, 'https'], ['HTTP/2 in cleartext', { useH2c: true }, 'http']]) {
  test(`${name}: the socket of a connection has a response in _httpMessage while one is open, as one of HTTP/1.1, and none between requests`, async t => {
    const held = []
    const make = listener => ask === 'http' ? createServer({ requests: 'http' }, listener) : createSecureServer({ cert, key, http3: true, requests: 'http' }, listener)
    let both
    const arrived = new Promise(resolve => { both = resolve })
    const server = make((_, response) => { if (held.push(response) === 2) both() })
    let socket
    server.on(ask === 'http' ? 'connection' : 'secureConnection', one => { socket = one })
    const port = await listening(t, server)
    const dispatcher = new Agent({ ...given, connections: 1, connect: { ca: cert } })
    t.after(() => dispatcher.destroy())
    const answers = [1, 2].map(() => request(`${ask}://127.0.0.1:${port}/`, { dispatcher }))
    await arrived
    assert.ok(socket._httpMessage instanceof http.ServerResponse)
    assert.equal(socket._httpMessage.headersSent, false)
    assert.equal(socket.writableLength, 0)
    held[1].end('second')
    assert.equal(await Promise.race(answers).then(({ body }) => body.text()), 'second')
    assert.ok(socket._httpMessage, 'the first request is open')
    held[0].end('first')
    await Promise.all(answers.map(answer => answer.then(({ body }) => body.bodyUsed || body.text())))
    while (socket._httpMessage) await new Promise(setImmediate)
    assert.equal(socket._httpMessage, null)
    assert.equal(socket.$newestResponse, null)
    assert.equal(socket.destroyed, false)
  })
}

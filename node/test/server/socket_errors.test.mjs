// Errors of the sockets of connections: a program destroys one with an error, or emits one. As with node:http and node:http2
// the error is one of the server or of the session, and ends no process.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import test from 'node:test'
import { createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const FAULT = new Error('a fault of the program')
const HOW = {
  'is destroyed with': socket => { socket.destroy(FAULT) },
  emits: socket => { socket.emit('error', FAULT) }
}
const MOMENTS = {
  'in the event of its connection': act => act(),
  'a turn later': act => { setImmediate(act) }
}
const SERVERS = {
  'node:http2': { make: isSecure => isSecure ? http2.createSecureServer({ cert, key }) : http2.createServer(), isSession: true },
  ours: { make: isSecure => isSecure ? createSecureServer({ cert, key }) : createServer(), isSession: true },
  'node:http': { make: isSecure => isSecure ? https.createServer({ cert, key }) : http.createServer() },
  'ours with requests of node:http': { make: isSecure => isSecure ? createSecureServer({ cert, key, allowHTTP1: true, requests: 'http' }) : createServer({ requests: 'http' }) }
}

async function listening (t, server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  return server.address().port
}

/** The close of what may fail before it. */
const closing = emitter => new Promise(resolve => { emitter.once('close', resolve) })

/** A client that says something once it is connected. */
async function connect (t, port, isSecure, isSession) {
  if (isSession) {
    const client = http2.connect(`${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`, { rejectUnauthorized: false })
    client.on('error', () => {})
    t.after(() => { client.destroy() })
    client.request().on('error', () => {}).resume()
    return client
  }
  const socket = isSecure ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }) : net.connect(port, '127.0.0.1')
  socket.on('error', () => {}).resume()
  t.after(() => { socket.destroy() })
  return socket
}

for (const [face, { make, isSession = false }] of Object.entries(SERVERS)) {
  for (const isSecure of [false, true]) {
    for (const [how, act] of Object.entries(HOW)) {
      for (const [moment, at] of Object.entries(MOMENTS)) {
        test(`${face}${isSecure ? ' over TLS' : ''}: an error that a socket ${how} ${moment} is ${isSession ? 'the session\'s' : 'one of clientError'}`, { timeout: 60_000 }, async t => {
          const server = make(isSecure)
          server.on('stream', stream => { stream.on('error', () => {}) })
          server.on(isSecure ? 'secureConnection' : 'connection', socket => { at(() => { act(socket) }) })
          const reported = new Promise(resolve => {
            server.on(isSession ? 'sessionError' : 'clientError', (error, socket) => {
              resolve(error)
              if (!isSession) socket.destroy()
            })
          })
          const client = await connect(t, await listening(t, server), isSecure, isSession)
          const closed = closing(client)
          assert.equal(await reported, FAULT)
          await closed
        })
      }
    }
  }
}

for (const [name, make] of Object.entries({ 'node:http': https.createServer, ours: options => createSecureServer({ allowHTTP1: true, requests: 'http', ...options }) })) {
  for (const [how, act] of Object.entries(HOW)) {
    test(`${name} over TLS: an error that the socket of an upgrade ${how} ends no process`, { timeout: 60_000 }, async t => {
      const server = make({ cert, key })
      server.on('upgrade', (request, socket) => {
        act(socket)
        socket.destroy()
      })
      const client = await connect(t, await listening(t, server), true, false)
      client.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
      await closing(client)
    })
  }
}

test('an error of the socket below TLS is one of the socket above', { timeout: 60_000 }, async t => {
  const server = createSecureServer({ cert, key })
  server.on('connection', socket => { socket.destroy(FAULT) })
  const reported = once(server, 'sessionError')
  const client = await connect(t, await listening(t, server), true, true)
  const closed = closing(client)
  assert.equal((await reported)[0], FAULT)
  await closed
})

for (const [face, { make, isSession = false }] of Object.entries(SERVERS)) {
  for (const [how, act] of Object.entries(HOW)) {
    test(`${face}: an error that a stream which was given to it ${how} is ${isSession ? 'the session\'s' : 'one of clientError'}`, { timeout: 60_000 }, async t => {
      const server = make(false)
      let given
      server.on('request', (request, response) => {
        response.on('error', () => {})
        response.write('x')
        setImmediate(() => { act(given) })
      })
      const reported = new Promise(resolve => {
        server.on(isSession ? 'sessionError' : 'clientError', (error, socket) => {
          resolve(error)
          if (!isSession) socket.destroy()
        })
      })
      const giver = net.createServer(socket => {
        given = socket
        server.emit('connection', socket)
      })
      const client = await connect(t, await listening(t, giver), false, isSession)
      const closed = closing(client)
      if (!isSession) client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      assert.equal(await reported, FAULT)
      await closed
    })
  }
}

for (const [name, api] of Object.entries({ 'node:http2': http2, ours: { createServer } })) {
  test(`${name}: an error that the socket of a request emits is its stream's`, { timeout: 60_000 }, async t => {
    const server = api.createServer((request, response) => {
      request.socket.emit('error', FAULT)
      response.end('ok')
    })
    const client = await connect(t, await listening(t, server), false, true)
    const request = client.request().resume()
    const [headers] = await once(request, 'response')
    assert.equal(headers[':status'], 200)
    await once(request, 'end')
  })
}

for (const [name, api] of Object.entries({ 'node:http2': http2, ours: { createSecureServer } })) {
  test(`${name}: a handshake that fails is told with a socket that is destroyed, as clientError first`, { timeout: 60_000 }, async t => {
    const server = api.createSecureServer({ cert, key })
    const events = []
    const reported = new Promise(resolve => {
      server.on('clientError', (error, socket) => { events.push('clientError', socket.destroyed) })
      server.on('tlsClientError', (error, socket) => {
        events.push('tlsClientError', socket.destroyed)
        resolve()
      })
    })
    const client = await connect(t, await listening(t, server), false, false)
    const closed = closing(client)
    client.write('no TLS at all, and long enough for a record')
    await reported
    await closed
    assert.deepEqual(events, ['clientError', true, 'tlsClientError', true])
  })
}

/** Bytes below an established TLS connection, by what they are. */
const NO_RECORDS = {
  'text': 'GET / HTTP/1.1\r\nhost: a\r\n\r\n',
  'a record that no key opens': Buffer.concat([Buffer.from([0x17, 3, 3, 0, 32]), Buffer.alloc(32)])
}
/** The code of the error that a server of `make` reports as `event` when `bytes` come below TLS. */
async function codeBelow (t, make, event, isSession, bytes) {
  const server = make(true)
  const reported = new Promise(resolve => { server.on(event, error => { resolve(error.code) }) })
  const port = await listening(t, server)
  const below = net.connect(port, '127.0.0.1')
  below.on('error', () => {})
  t.after(() => { below.destroy() })
  await once(below, 'connect')
  const begun = once(server, isSession ? 'session' : 'secureConnection')
  const above = tls.connect({ socket: below, rejectUnauthorized: false, ALPNProtocols: isSession ? ['h2'] : ['http/1.1'] })
  above.on('error', () => {}).resume()
  await once(above, 'secureConnect')
  if (isSession) above.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]))
  await begun
  below.write(bytes)
  return await reported
}
for (const [original, face, event] of [['node:http', 'ours with requests of node:http', 'clientError'], ['node:http2', 'ours', 'sessionError']]) {
  for (const [what, bytes] of Object.entries(NO_RECORDS)) {
    test(`${face}: ${what} in the place of a record of TLS has the code of ${original}`, { timeout: 60_000 }, async t => {
      const isSession = event === 'sessionError'
      const expected = await codeBelow(t, SERVERS[original].make, event, isSession, bytes)
      assert.match(expected, /^ERR_SSL_/)
      assert.equal(await codeBelow(t, SERVERS[face].make, event, isSession, bytes), expected)
    })
  }
}

// Servers with `engine: 'auto'`: connections begin on JavaScript's thread, and where many begin at once, on one beside it. Both are
// one server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureContext, createSecureServer, Response, serve } from 'trunkline'
import { theBridge } from '../../dist/channel/ring.js'
import { cert, key } from '../support/certificates/certificate.mjs'

/** 64 of a burst begin on JavaScript's thread, and a slow machine may take them for two bursts. */
const CLIENTS = 192
const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'
/** As in `engine: 'auto'` of a process with a second core, and with a loop that can drive the engine. */
const canDivide = theBridge('inline').native.inline === 1

/** Sockets that have all connected before the server accepts one. */
async function burst (t, connect) {
  const sockets = Array.from({ length: CLIENTS }, connect)
  t.after(() => { for (const socket of sockets) socket.destroy() })
  for (const socket of sockets) socket.on('error', () => {})
  return sockets
}

/** Sends a request, and reads to `end`. */
async function asks (socket, end) {
  let text = ''
  socket.setEncoding('latin1')
  const read = new Promise((resolve, reject) => {
    socket.on('data', piece => { if ((text += piece).endsWith(end)) resolve(text) })
    socket.on('close', () => { reject(new Error(`closed behind ${JSON.stringify(text)}`)) })
  })
  socket.write(GET)
  return await read
}

/** How many connections of the listener are on JavaScript's thread, and how many beside it. */
function divided (listener) {
  const counts = [0, 0]
  for (const connection of listener.connections) counts[connection.bridge.bridge.native.inline === 1 ? 0 : 1]++
  return counts
}

const skip = canDivide ? false : 'the engine cannot run on this thread'

test('connections of a burst are divided, count together, and are all closed with their server', { skip }, async t => {
  let waiting = 0
  let answer
  const answered = new Promise(resolve => { answer = resolve })
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: async () => { waiting++; await answered; return new Response('whole') } })
  t.after(() => server.stop(true))
  const sockets = await burst(t, () => net.connect(server.port, '127.0.0.1'))
  const all = Promise.all(sockets.map(socket => asks(socket, 'whole')))
  while (waiting < CLIENTS) await new Promise(resolve => { setImmediate(resolve) })
  const [here, beside] = divided(server.listener)
  assert.ok(here > 0 && beside > 0, `${here} and ${beside}`)
  assert.equal(here + beside, CLIENTS)
  assert.equal(server.pendingRequests, CLIENTS)
  const metrics = server.metrics()
  assert.match(metrics, new RegExp(`connections_accepted_total ${CLIENTS}\n`))
  assert.match(metrics, new RegExp(`connections_open ${CLIENTS}\n`))
  const closed = server.close()
  answer()
  for (const text of await all) assert.match(text, /connection: close/)
  await closed
  assert.deepEqual(divided(server.listener), [0, 0])
})

test('a server that is stopped cuts what is open with both workers', { skip }, async t => {
  let waiting = 0
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: () => { waiting++; return new Promise(() => {}) } })
  const sockets = await burst(t, () => net.connect(server.port, '127.0.0.1'))
  const gone = Promise.all(sockets.map(socket => assert.rejects(asks(socket, 'whole'))))
  while (waiting < CLIENTS) await new Promise(resolve => { setImmediate(resolve) })
  await server.stop(true)
  await gone
})

test('servers of node:http2 choose contexts and report secrets for handshakes of both workers', { skip }, async t => {
  const context = createSecureContext({ cert, key })
  const server = createSecureServer({ engine: 'auto', allowHTTP1: true, cert, key, SNICallback: (name, answer) => { answer(null, context) } }, (request, response) => { response.end(request.socket.servername) })
  const secrets = new Set()
  server.on('keylog', line => { secrets.add(String(line).split(' ')[1]) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = await burst(t, () => tls.connect({ port: server.address().port, host: '127.0.0.1', servername: 'other.test', rejectUnauthorized: false }))
  await Promise.all(sockets.map(socket => asks(socket, 'other.test')))
  const [here, beside] = divided(server.compatServer.listener)
  assert.ok(here > 0 && beside > 0, `${here} and ${beside}`)
  assert.equal(secrets.size, CLIENTS)
  assert.equal(await new Promise(resolve => { server.getConnections((_, count) => { resolve(count) }) }), CLIENTS)
  const closed = once(server, 'close')
  server.close()
  await closed
})

test('with HTTP/3 all connections are beside JavaScript\'s thread', { skip }, async t => {
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', http3: true, tls: { cert, key }, fetch: () => new Response('whole') })
  t.after(() => server.stop(true))
  const socket = tls.connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
  t.after(() => { socket.destroy() })
  await asks(socket, 'whole')
  assert.deepEqual(divided(server.listener), [0, 1])
})

test('where the engine beside JavaScript\'s thread has ended, its connections are closed and all others are served here', { skip }, async t => {
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: () => new Response('whole') })
  t.after(() => server.stop(true))
  const sockets = await burst(t, () => net.connect(server.port, '127.0.0.1'))
  await Promise.all(sockets.map(socket => asks(socket, 'whole')))
  const [here, beside] = divided(server.listener)
  assert.ok(beside > 0)
  const closed = sockets.map(socket => once(socket, 'close'))
  // A debug build of the addon panics over a code that the channel does not have.
  const bridge = theBridge('threads')
  bridge.submitEntry(() => { bridge.entry(200, 0, 0, 0, 0, 0, 0, 0) })
  while (!bridge.hasEnded) await new Promise(resolve => { setImmediate(resolve) })
  for (let at = 0; at < beside; at++) await Promise.any(closed)
  assert.equal(divided(server.listener)[0], here)
  const again = await burst(t, () => net.connect(server.port, '127.0.0.1'))
  await Promise.all(again.map(socket => asks(socket, 'whole')))
  assert.deepEqual(divided(server.listener), [here + CLIENTS, 0])
  // A server that begins now has one worker.
  const other = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: () => new Response('whole') })
  t.after(() => other.stop(true))
  const more = await burst(t, () => net.connect(other.port, '127.0.0.1'))
  await Promise.all(more.map(socket => asks(socket, 'whole')))
  assert.deepEqual(divided(other.listener), [CLIENTS, 0])
})

// Servers with `engine: 'auto'`: connections begin on JavaScript's thread, and where many begin at once, on one beside it. Both are
// one server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { setTimeout } from 'node:timers/promises'
import tls from 'node:tls'
import { Agent, createSecureContext, createSecureServer, Response, serve } from 'trunkline'
import { theBridge } from '../../dist/channel/ring.js'
import { cert, key } from '../support/certificates/certificate.mjs'

/** One more than begin on JavaScript's thread within one window of its load. */
const BURST = 65
/** Bursts of which one at least gives either worker a connection. */
const BURSTS_MAX = 30
/** The load of JavaScript's thread is measured for as long. */
const WINDOW_MS = 100
const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'
/** As in `engine: 'auto'` of a process with a second core, and with a loop that can drive the engine. */
const canDivide = theBridge('inline').native.inline === 1

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

/**
 * Sockets that have asked what `ask` asks of them, at least one of them with either worker: one by one until one is served on
 * JavaScript's thread (a busy one gives them all away), and in bursts, which connect before the server accepts one, until one is beside
 * it (a slow machine may take a burst for two).
 */
async function clients (t, listener, connect, ask) {
  const sockets = []
  t.after(() => { for (const socket of sockets) socket.destroy() })
  const begin = async count => {
    const begun = Array.from({ length: count }, connect)
    for (const socket of begun) socket.on('error', () => {})
    sockets.push(...begun)
    await ask(begun)
  }
  for (const [worker, count] of [[0, 1], [1, BURST]]) {
    for (let tries = 0; divided(listener())[worker] === 0; tries++) {
      assert.ok(tries < BURSTS_MAX, `${sockets.length} connections, divided into ${divided(listener()).join(' and ')}`)
      await begin(count)
      if (worker === 0) await setTimeout(WINDOW_MS)
    }
  }
  return sockets
}

const skip = canDivide ? false : 'the engine cannot run on this thread'

test('connections of a burst are divided, count together, and are all closed with their server', { skip }, async t => {
  let waiting = 0
  let answer
  const answered = new Promise(resolve => { answer = resolve })
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: async () => { waiting++; await answered; return new Response('whole') } })
  t.after(() => server.stop(true))
  const asked = []
  const sockets = await clients(t, () => server.listener, () => net.connect(server.port, '127.0.0.1'), async begun => {
    asked.push(...begun.map(socket => asks(socket, 'whole')))
    while (waiting < asked.length) await new Promise(resolve => { setImmediate(resolve) })
  })
  const [here, beside] = divided(server.listener)
  assert.equal(here + beside, sockets.length)
  assert.equal(server.pendingRequests, sockets.length)
  const metrics = server.metrics()
  assert.match(metrics, new RegExp(`connections_accepted_total ${sockets.length}\n`))
  assert.match(metrics, new RegExp(`connections_open ${sockets.length}\n`))
  const ends = sockets.map(socket => once(socket, 'close'))
  const closed = server.close()
  answer()
  // One with the other worker may have its answer before that knows of the end, which closes it all the same.
  await Promise.all(asked)
  await Promise.all(ends)
  await closed
  assert.deepEqual(divided(server.listener), [0, 0])
})

test('a server that is stopped cuts what is open with both workers', { skip }, async t => {
  let waiting = 0
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: () => { waiting++; return new Promise(() => {}) } })
  const gone = []
  await clients(t, () => server.listener, () => net.connect(server.port, '127.0.0.1'), async begun => {
    gone.push(...begun.map(socket => assert.rejects(asks(socket, 'whole'))))
    while (waiting < gone.length) await new Promise(resolve => { setImmediate(resolve) })
  })
  await server.stop(true)
  await Promise.all(gone)
})

test('servers of node:http2 choose contexts and report secrets for handshakes of both workers', { skip }, async t => {
  const context = createSecureContext({ cert, key })
  const server = createSecureServer({ engine: 'auto', allowHTTP1: true, cert, key, SNICallback: (name, answer) => { answer(null, context) } }, (request, response) => { response.end(request.socket.servername) })
  const secrets = new Set()
  server.on('keylog', line => { secrets.add(String(line).split(' ')[1]) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const options = { port: server.address().port, host: '127.0.0.1', servername: 'other.test', rejectUnauthorized: false }
  const sockets = await clients(t, () => server.compatServer.listener, () => tls.connect(options), async begun => {
    await Promise.all(begun.map(socket => asks(socket, 'other.test')))
  })
  assert.equal(secrets.size, sockets.length)
  assert.equal(await new Promise(resolve => { server.getConnections((_, count) => { resolve(count) }) }), sockets.length)
  const closed = once(server, 'close')
  server.close()
  await closed
})

test('with HTTP/3 its connections are beside JavaScript\'s thread, and those over TCP on it', { skip }, async t => {
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', http3: true, tls: { cert, key }, fetch: () => new Response('whole') })
  t.after(() => server.stop(true))
  const agent = new Agent({ http3: 'only', connect: { ca: cert } })
  t.after(() => agent.destroy())
  const { body } = await agent.request({ origin: `https://localhost:${server.port}`, path: '/', method: 'GET' })
  assert.equal(await body.text(), 'whole')
  assert.deepEqual(divided(server.listener), [0, 1])
  // A thread that is busy yet gives it away.
  for (let tries = 0; divided(server.listener)[0] === 0; tries++) {
    assert.ok(tries < BURSTS_MAX, `${tries} connections over TCP are all beside JavaScript's thread`)
    await setTimeout(WINDOW_MS)
    const socket = tls.connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
    t.after(() => { socket.destroy() })
    await asks(socket, 'whole')
  }
})

test('where the engine beside JavaScript\'s thread has ended, its connections are closed and all others are served here', { skip }, async t => {
  const server = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: () => new Response('whole') })
  t.after(() => server.stop(true))
  const connect = () => net.connect(server.port, '127.0.0.1')
  const askAll = async begun => { await Promise.all(begun.map(socket => asks(socket, 'whole'))) }
  const sockets = await clients(t, () => server.listener, connect, askAll)
  const [here, beside] = divided(server.listener)
  const closed = sockets.map(socket => once(socket, 'close'))
  // A debug build of the addon panics over a code that the channel does not have.
  const bridge = theBridge('threads')
  bridge.submitEntry(() => { bridge.entry(200, 0, 0, 0, 0, 0, 0, 0) })
  while (!bridge.hasEnded) await new Promise(resolve => { setImmediate(resolve) })
  for (let at = 0; at < beside; at++) await Promise.any(closed)
  assert.equal(divided(server.listener)[0], here)
  const burst = (count, connect) => {
    const begun = Array.from({ length: count }, connect)
    t.after(() => { for (const socket of begun) socket.destroy() })
    return begun
  }
  await askAll(burst(3 * BURST, connect))
  assert.deepEqual(divided(server.listener), [here + 3 * BURST, 0])
  // A server that begins now has one worker, HTTP/3 included.
  const other = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', fetch: () => new Response('whole') })
  t.after(() => other.stop(true))
  await askAll(burst(3 * BURST, () => net.connect(other.port, '127.0.0.1')))
  assert.deepEqual(divided(other.listener), [3 * BURST, 0])
  const third = serve({ engine: 'auto', port: 0, hostname: '127.0.0.1', http3: true, tls: { cert, key }, fetch: () => new Response('whole') })
  t.after(() => third.stop(true))
  const agent = new Agent({ engine: 'inline', http3: 'only', connect: { ca: cert } })
  t.after(() => agent.destroy())
  const { body } = await agent.request({ origin: `https://localhost:${third.port}`, path: '/', method: 'GET' })
  assert.equal(await body.text(), 'whole')
  assert.deepEqual(divided(third.listener), [1, 0])
})

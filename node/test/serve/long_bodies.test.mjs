// Long bodies that are there whole, for clients that do not read: the server holds copies of a few, and gives the others in pieces.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import { Response } from 'trunkline'
import { ServerBridge } from '../../dist/server/bridge.js'
import { Ahead } from '../../dist/server/ahead.js'
import { serveFor } from '../support/servers/serving.mjs'

const MIB = 2 ** 20
/** More than what systems hold of a connection whose client does not read. */
const BODY_BYTES = 16 * MIB
const CLIENTS = 12
const bytes = randomBytes(BODY_BYTES)
const hashOf = content => createHash('sha256').update(content).digest('hex')

/** Counts the bytes of bodies that the engine gets. */
function counted (t) {
  const given = { bytes: 0 }
  for (const [name, place] of [['answer', 3], ['send', 1]]) {
    const own = ServerBridge.prototype[name]
    t.mock.method(ServerBridge.prototype, name, function (...args) {
      given.bytes += args[place]?.length ?? 0
      return own.apply(this, args)
    })
  }
  return given
}

test('a whole body may take half of what is left of the part of the budget, and a short one always goes', () => {
  const ahead = new Ahead(64 * MIB)
  assert.equal(ahead.takesWhole(8 * MIB), true)
  assert.equal(ahead.takesWhole(8 * MIB + 1), false)
  ahead.held = 8 * MIB
  assert.equal(ahead.takesWhole(4 * MIB), true)
  assert.equal(ahead.takesWhole(4 * MIB + 1), false)
  ahead.held = 20 * MIB
  assert.deepEqual([ahead.takesWhole(64 * 1024), ahead.takesWhole(64 * 1024 + 1)], [true, false])
})

test('of one long Response that many clients do not read the engine gets what systems hold, and each client gets all of it once it reads', { timeout: 60_000 }, async t => {
  const response = new Response(bytes, { headers: { 'content-type': 'text/x-own' } })
  let asked = 0
  const server = serveFor(t, { idleTimeout: 0, fetch: ({ url }) => { asked++; return url.endsWith('/short') ? new Response('short') : response } })
  const given = counted(t)
  const sockets = Array.from({ length: CLIENTS }, () => net.connect(server.port, '127.0.0.1').pause())
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  // Long enough for what can move to move: another client is served meanwhile.
  for (let round = 0; asked < CLIENTS || round < 100; round++) await (await fetch(`${server.url}short`)).text()
  const before = given.bytes
  assert.ok(before < CLIENTS * BODY_BYTES / 2, `${(before / MIB).toFixed(0)} of ${CLIENTS * BODY_BYTES / MIB} MiB were given`)
  for (const socket of sockets) {
    const pieces = []
    const closed = once(socket, 'close')
    socket.on('data', piece => { pieces.push(piece) }).resume()
    await closed
    const all = Buffer.concat(pieces)
    const end = all.indexOf('\r\n\r\n')
    const head = all.subarray(0, end).toString()
    assert.match(head, new RegExp(`^HTTP/1.1 200 OK\r\n[^]*content-length: ${BODY_BYTES}`, 'i'))
    assert.match(head, /content-type: text\/x-own/i)
    assert.equal(hashOf(all.subarray(end + 4)), hashOf(bytes))
  }
})

test('streams of one connection that are not read get a long Response whole once they are', { timeout: 60_000 }, async t => {
  const response = new Response(bytes)
  const server = serveFor(t, { idleTimeout: 0, fetch: () => response })
  const given = counted(t)
  const session = http2.connect(server.url.href.replace(/\/$/, ''))
  // The server ends in front of it.
  session.on('error', () => {})
  t.after(() => { session.destroy() })
  const streams = Array.from({ length: CLIENTS }, () => session.request({ ':path': '/' }))
  const heads = await Promise.all(streams.map(async stream => (await once(stream, 'response'))[0]))
  for (const head of heads) assert.equal(head['content-length'], String(BODY_BYTES))
  assert.ok(given.bytes < CLIENTS * BODY_BYTES / 2, `${(given.bytes / MIB).toFixed(0)} MiB were given`)
  await Promise.all(streams.map(async stream => {
    const hash = createHash('sha256')
    for await (const piece of stream) hash.update(piece)
    assert.equal(hash.digest('hex'), hashOf(bytes))
  }))
})

test('HEAD of a long body says its length and gives the engine none of it to keep', async t => {
  const server = serveFor(t, { idleTimeout: 0, fetch: () => new Response(bytes) })
  const found = await fetch(server.url, { method: 'HEAD' })
  assert.deepEqual([found.headers.get('content-length'), (await found.arrayBuffer()).byteLength], [String(BODY_BYTES), 0])
})

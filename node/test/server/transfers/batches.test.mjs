// Small pieces of an answer that are written tick by tick, as grpc-js writes messages, are few frames.
import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import http2 from 'trunkline/http2'
import { ServerBridge } from '../../../dist/server/bridge.js'
import { Exchange } from '../../../dist/server/exchange.js'
import { DATA, END_HEADERS, END_STREAM, frame, HEADERS, SETTINGS } from '../../support/servers/h2_frames.mjs'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const PIECES = 400
const PIECE = Buffer.alloc(100, 'p')
/** The pieces fill three entries of the channel of 16 KiB; a flush for each tick would make 400 frames. */
const FRAMES_MAX = 10
/** GET / of localhost (RFC 7541 appendix A). */
const GET = Buffer.concat([Buffer.from([0x82, 0x86, 0x84, 0x41, 9]), Buffer.from('localhost')])

/** The lengths of the DATA frames of one answer. */
async function framesOf (port) {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0, Buffer.alloc(0)), frame(HEADERS, END_HEADERS | END_STREAM, 1, GET)]))
  const lengths = []
  let received = Buffer.alloc(0)
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk])
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      const [length, kind, flags] = [received.readUIntBE(0, 3), received[3], received[4]]
      if (kind === DATA) lengths.push(length)
      received = received.subarray(9 + length)
      if ((kind === DATA || kind === HEADERS) && (flags & END_STREAM) !== 0) {
        socket.destroy()
        return lengths
      }
    }
  }
  return lengths
}

for (const engine of ['threads', 'inline']) {
  test(`pieces that are written one per tick go in few frames, and none is lost, by an engine ${engine}`, async t => {
    const server = http2.createServer({ engine })
    t.after(() => { server.close() })
    server.on('stream', stream => {
      stream.respond({ ':status': 200 })
      let count = 0
      // A callback comes in a tick of its own.
      const next = () => { count++ < PIECES ? stream.write(PIECE, next) : stream.end() }
      next()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const lengths = await framesOf(server.address().port)
    assert.equal(lengths.reduce((sum, length) => sum + length, 0), PIECES * PIECE.length)
    assert.ok(lengths.length <= FRAMES_MAX, `${lengths.length} frames`)
  })
}

test('pieces that are changed when their write has called back are sent as they were written, also where the channel has no room for them', async t => {
  const server = http2.createServer()
  t.after(() => { server.close() })
  const PIECES_OF_BOTH = 60_000
  const streams = []
  server.on('stream', stream => {
    stream.respond({ ':status': 200 })
    if (streams.push(stream) < 2) return
    // Pieces of two streams by turns are an entry of the channel each.
    for (let at = 0; at < PIECES_OF_BOTH; at++) {
      const piece = Buffer.from([(at >> 1) % 251])
      streams[at % 2].write(piece, () => { piece[0] = 255 })
    }
    for (const stream of streams) stream.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = nodeHttp2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { session.close() })
  const expected = Buffer.from(Uint8Array.from({ length: PIECES_OF_BOTH / 2 }, (_, at) => at % 251))
  const bodies = await Promise.all([1, 2].map(async () => {
    const pieces = []
    for await (const piece of session.request({ ':path': '/' })) pieces.push(piece)
    return Buffer.concat(pieces)
  }))
  for (const body of bodies) assert.ok(body.equals(expected))
})

test('copies of pieces that wait for the channel go with their exchange, and are sent in order where it goes on', () => {
  const backlog = []
  const written = []
  // A channel whose entries are all taken.
  const channel = { hasEnded: false, isFull: true, defer: attempt => { backlog.push(attempt) } }
  const bridge = new ServerBridge(channel)
  bridge.writeSend = (exchange, chunk) => written.push(String(chunk)) > 0
  bridge.writeAnswer = () => true
  const connection = { listener: { ahead: { held: 0, room: 1000 }, scope: new AsyncResource('TEST') }, open: 2 }
  const exchanges = [1, 2].map(number => new Exchange(bridge, connection, number, 1, number, false, '', 0, 0, 0))
  for (const exchange of exchanges) exchange.respond(200, '')
  for (const text of ['one', 'two']) {
    const piece = Buffer.from(text)
    for (const exchange of exchanges) exchange.write(piece)
    piece.fill('-')
  }
  assert.equal(connection.listener.ahead.held, 12)
  exchanges[0].ended(8, true)
  assert.deepEqual([connection.listener.ahead.held, exchanges[0].copies.length, exchanges[1].copies.length], [6, 0, 2])
  for (const attempt of backlog) assert.equal(attempt(), true)
  assert.deepEqual([written, exchanges[1].copies.length], [['one', 'two'], 0])
  channel.hasEnded = true
})

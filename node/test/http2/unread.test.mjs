// Responses whose clients do not read them: what a server holds of them comes out of one budget, however many they are.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import http2 from 'trunkline/http2'
import { END_HEADERS, END_STREAM, HEADERS, PING, SETTINGS, frame } from '../support/servers/h2_frames.mjs'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** `GET / HTTP/2` of `http://a`, by HPACK's static table. */
const GET = Buffer.from([0x82, 0x84, 0x86, 0x41, 0x01, 0x61])
/** SETTINGS_INITIAL_WINDOW_SIZE of 0: no byte of a body may be sent. */
const SHUT = frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))
const PONG = frame(PING, 1, 0, Buffer.alloc(8)).subarray(3)
const [CONNECTIONS, STREAMS, PIECES] = [4, 50, 8]
const PIECE = Buffer.alloc(16 * 1024, 'x')
const SEND_BUDGET = 1 << 20
/** Bytes that a connection holds beside the budget: 64 KiB, and a piece of each of four streams. */
const BESIDE = CONNECTIONS * 128 * 1024

/** A client that asks for `STREAMS` responses and lets none of their bytes go. */
async function ask (t, port) {
  const socket = net.connect(port, '127.0.0.1')
  t.after(() => { socket.destroy() })
  socket.on('error', () => {})
  await once(socket, 'connect')
  const requests = Array.from({ length: STREAMS }, (_, at) => frame(HEADERS, END_HEADERS | END_STREAM, 2 * at + 1, GET))
  socket.write(Buffer.concat([PREFACE, SHUT, ...requests]))
  return socket
}

/** The server has done what came before, and what follows from it in its next turns. */
async function ponged (socket) {
  for (let round = 0; round < 3; round++) {
    let came = Buffer.alloc(0)
    const seen = new Promise(resolve => {
      socket.on('data', function receive (piece) {
        came = Buffer.concat([came, piece])
        if (came.includes(PONG)) resolve(socket.off('data', receive))
      })
    })
    socket.write(frame(PING, 0, 0, Buffer.alloc(8)))
    await seen
  }
}

const FACES = {
  'the core API': (server, write) => {
    server.on('stream', stream => {
      stream.on('error', () => {})
      stream.respond()
      write(stream)
    })
  },
  'the compatibility API': (server, write) => {
    server.on('request', (request, response) => { write(response) })
  }
}
for (const [face, serve] of Object.entries(FACES)) {
  test(`responses of ${face} that no client reads take no more bytes than the budget of their server`, async t => {
    const server = http2.createServer({ windows: { sendBudget: SEND_BUDGET } })
    server.on('sessionError', () => {})
    let taken = 0
    let begun = 0
    const all = new Promise(resolve => {
      serve(server, writer => {
        for (let at = 0; at < PIECES; at++) writer.write(PIECE, error => { if (error == null && !writer.destroyed) taken += PIECE.length })
        if (++begun === CONNECTIONS * STREAMS) resolve()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => { server.close() })
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(t, server.address().port)))
    await all
    await Promise.all(sockets.map(ponged))
    assert.ok(taken <= SEND_BUDGET * 1.25 + BESIDE, `${taken} of ${CONNECTIONS * STREAMS * PIECES * PIECE.length} bytes were taken`)
  })
}

test('a response that is read goes on beside those that no client reads', async t => {
  const server = http2.createServer({ windows: { sendBudget: SEND_BUDGET } })
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    stream.respond()
    for (let at = 0; at < PIECES; at++) stream.write(PIECE)
    if (headers[':path'] === '/read') stream.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(t, server.address().port)))
  await Promise.all(sockets.map(ponged))
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { session.destroy() })
  let bytes = 0
  for await (const piece of session.request({ ':path': '/read' })) bytes += piece.length
  assert.equal(bytes, PIECES * PIECE.length)
})

// Tunnels whose server has ended its side: what a client writes arrives until it ends its own, over every version of HTTP.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Client, createSecureServer } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const HEADS = {
  connect: 'HTTP/1.1 200 OK\r\n\r\n',
  upgrade: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n'
}

/** Counts the bytes that a server receives of its tunnel, and reports their number at its end, with whether that was in order. */
function receiving (stream, settle) {
  let length = 0
  stream.on('error', () => {})
  stream.on('data', piece => { length += piece.length })
  stream.on('end', () => { settle({ length, ended: true }) })
  stream.on('close', () => { settle({ length, ended: false }) })
}

/** Answers in HTTP/1.1 by a tunnel whose side it ends at once. */
function ofSockets (settle) {
  const server = http.createServer((_, response) => { response.end() })
  for (const [call, head] of Object.entries(HEADS)) {
    server.on(call, (_, socket) => {
      receiving(socket, settle)
      socket.end(`${head}bye`)
    })
  }
  return server
}

function ofStreams (server, settle) {
  server.on('sessionError', () => {})
  server.on('stream', (stream, { ':method': method }) => {
    stream.respond({ ':status': 200 })
    if (method === 'CONNECT') receiving(stream, settle)
    stream.end(method === 'CONNECT' ? 'bye' : '')
  })
  return server
}

const CASES = {
  'a CONNECT over HTTP/1.1': { make: ofSockets, call: 'connect' },
  'an upgrade over HTTP/1.1': { make: ofSockets, call: 'upgrade' },
  'a CONNECT over HTTP/2 in cleartext': { make: settle => ofStreams(http2.createServer(), settle), call: 'connect', options: { useH2c: true } },
  'a CONNECT over HTTP/2': { make: settle => ofStreams(http2.createSecureServer({ cert, key }), settle), call: 'connect', isSecure: true },
  'a CONNECT over HTTP/3': {
    make: settle => {
      const server = createSecureServer({ cert, key, http3: true }, (_, response) => { response.end() })
      server.on('connect', ({ stream }) => {
        stream.respond({ ':status': 200 })
        receiving(stream, settle)
        stream.end('bye')
      })
      return server
    },
    call: 'connect',
    isSecure: true,
    options: { http3: 'only' }
  }
}

/** A tunnel whose server has ended its side, and what that receives. */
async function halfEnded (t, { make, call, isSecure = false, options = {} }) {
  let settle
  const received = new Promise(resolve => { settle = resolve })
  const server = make(settle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const client = new Client(`${isSecure ? 'https://localhost' : 'http://127.0.0.1'}:${server.address().port}`, { connect: { ca: cert }, ...options })
  t.after(() => client.destroy())
  const { socket } = await client[call]({ path: call === 'connect' ? 'a.test:1' : '/', protocol: 'own' })
  // Behind the end of the tunnel, which was sent with its head.
  await (await client.request({ path: '/', method: 'GET' })).body.dump()
  return { client, socket, received }
}

const PIECES = 40
const PIECE = Buffer.alloc(25_000)

async function write (socket) {
  for (let piece = 0; piece < PIECES; piece++) {
    if (!socket.write(PIECE)) await once(socket, 'drain')
    await turn()
  }
}

for (const [name, how] of Object.entries(CASES)) {
  test(`what a client writes to ${name} behind the end of its server arrives, and then an end`, { timeout: 60_000 }, async t => {
    const { socket, received } = await halfEnded(t, how)
    await write(socket)
    socket.end()
    const pieces = []
    for await (const piece of socket) pieces.push(piece)
    assert.equal(Buffer.concat(pieces).toString(), 'bye')
    assert.deepEqual(await received, { length: PIECES * PIECE.length, ended: true })
  })

  test(`what a client has written to ${name} behind the end of its server arrives although it destroys it`, { timeout: 60_000 }, async t => {
    const { socket, received } = await halfEnded(t, how)
    for (let piece = 0; piece < PIECES; piece++) socket.write(PIECE)
    socket.destroy()
    assert.deepEqual(await received, { length: PIECES * PIECE.length, ended: true })
  })

  const isStream = how.make !== ofSockets
  test(`${name} ends ${isStream ? 'where its client ends it, as a stream of node:http2' : 'with its server where its client reads that end'}`, { timeout: 60_000 }, async t => {
    const { socket, received } = await halfEnded(t, how)
    const closed = once(socket, 'close')
    socket.resume()
    await once(socket, 'end')
    if (isStream) {
      await turn()
      assert.equal(socket.writable, true)
      socket.end()
    }
    await closed
    assert.equal(socket.errored, null)
    assert.deepEqual(await received, { length: 0, ended: true })
  })
}

test('a write to a tunnel behind the end of its server fails where that has closed its connection', { timeout: 60_000 }, async t => {
  const how = CASES['a CONNECT over HTTP/1.1']
  const make = settle => how.make(settle).prependListener('connect', (_, socket) => { socket.once('data', () => { socket.destroy() }) })
  const { socket } = await halfEnded(t, { ...how, make })
  const failed = once(socket, 'error')
  for (let isOver = false; !isOver; await turn()) {
    socket.write('more')
    isOver = socket.destroyed
  }
  const [error] = await failed
  assert.deepEqual([error.code, error.syscall, error.message], ['EPIPE', 'write', 'write EPIPE'])
})

test('a stream of a tunnel whose server has ended fails with the dispatcher that is destroyed', { timeout: 60_000 }, async t => {
  const { client, socket, received } = await halfEnded(t, CASES['a CONNECT over HTTP/2'])
  const failed = once(socket, 'error')
  await client.destroy()
  const [error] = await failed
  assert.equal(error.code, 'UND_ERR_DESTROYED')
  await received
})

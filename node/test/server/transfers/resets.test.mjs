// A client that resets its connection, as listeners of node:http, node:http2 and our servers see it: the same events with the same
// codes on each.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'
import { END_HEADERS, END_STREAM, DATA, GOAWAY, HEADERS, SETTINGS, frame, numbers } from '../../support/servers/h2_frames.mjs'

const POST = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n'
/** Bytes that a client sends, and the event of the server behind which it resets. */
const h1 = {
  'at once': ['', 'accepted'],
  'before the first byte': ['', 'connection'],
  'inside a head': [POST.slice(0, -9), 'connection'],
  'inside a body': [`${POST}hel`, 'data'],
  'before the answer': [`${POST}hello`, 'end'],
  'behind an answer': ['GET /now HTTP/1.1\r\nhost: a\r\n\r\n', 'answer']
}
const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, Buffer.alloc(0))])
const head = (method, flags) => frame(HEADERS, END_HEADERS | flags, 1, Buffer.from([method, 0x86, 0x84, 0x41, 1, 0x61]))
const [GET, PUT] = [0x82, 0x83]
const h2 = {
  'without a request': [PREFACE, 'session'],
  'inside a body': [Buffer.concat([PREFACE, head(PUT, 0), frame(DATA, 0, 1, Buffer.from('hel'))]), 'data'],
  'before the answer': [Buffer.concat([PREFACE, head(GET, END_STREAM)]), 'stream'],
  'behind GOAWAY': [Buffer.concat([PREFACE, head(GET, END_STREAM), frame(GOAWAY, 0, 0, numbers(0, 0))]), 'goaway']
}

function watchSockets (server, seen) {
  server.on('connection', socket => {
    // Bytes that came with it are read in the same turn of the loop.
    setImmediate(() => { setImmediate(() => { seen.reached('connection') }) })
    socket.on('error', error => { seen.push(`socket error ${error.code} ${error.errno} ${error.syscall} ${error.message}`) })
    socket.on('close', hadError => {
      seen.push(`socket close ${hadError}`)
      seen.closed()
    })
  })
}

function watchH1 (server, seen) {
  server.on('clientError', (error, socket) => { seen.push(`clientError ${error.code} ${socket.writable}`) })
  server.on('request', (request, response) => {
    request.on('error', error => { seen.push(`request error ${error.code}`) })
    request.on('aborted', () => { seen.push('aborted') })
    request.on('data', () => { seen.reached('data') }).on('end', () => { seen.reached('end') })
    response.on('close', () => { seen.push('response close') })
    if (request.url === '/now') response.end('x')
  })
}

function watchH2 (server, seen) {
  server.on('sessionError', error => { seen.push(`sessionError ${error.code}`) })
  server.on('session', session => {
    session.on('error', error => { seen.push(`session error ${error.code}`) })
    session.on('close', () => { seen.push('session close') })
    session.on('goaway', () => { seen.reached('goaway') })
    session.on('remoteSettings', () => { seen.reached('session') })
  })
  server.on('stream', stream => {
    seen.reached('stream')
    stream.on('error', error => { seen.push(`stream error ${error.code}`) })
    stream.on('aborted', () => { seen.push('aborted') })
    stream.on('close', () => { seen.push(`stream close ${stream.rstCode}`) })
    stream.on('data', () => { seen.reached('data') })
  })
}

/** Turns of the loop in which this process has nothing else to do. */
async function turns () {
  for (let turn = 0; turn < 50; turn++) await new Promise(resolve => { setImmediate(resolve) })
}

/** The events of `server` when a client resets its connection behind the event `until`. */
async function events (t, server, watch, [sent, until]) {
  const seen = []
  const closed = new Promise(resolve => { seen.closed = resolve })
  const reached = new Promise(resolve => { seen.reached = event => { if (event === until) resolve() } })
  watchSockets(server, seen)
  watch(server, seen)
  server.listen(0, '127.0.0.1')
  t.after(() => { server.close() })
  await once(server, 'listening')
  const client = net.connect(server.address().port, '127.0.0.1')
  client.on('error', () => {})
  client.on('data', () => { seen.reached('answer') })
  await once(client, 'connect')
  client.write(sent)
  seen.reached('accepted')
  await reached
  // A server of node's has accepted it; all that the server owes the client has gone: else its write may fail in place of a read.
  await turns()
  client.resetAndDestroy()
  await closed
  // Events of the session and of the request may follow the socket's.
  await turns()
  return [...seen].sort()
}

for (const [place, how] of Object.entries(h1)) {
  test(`a reset ${place} of HTTP/1.1 gives the events of node:http`, async t => {
    const expected = await events(t, http.createServer(), watchH1, how)
    assert.ok(expected.some(event => event.startsWith('clientError ECONNRESET')), expected.join())
    for (const engine of ['inline', 'threads']) {
      assert.deepEqual(await events(t, createServer({ engine }), watchH1, how), expected, engine)
      assert.deepEqual(await events(t, createServer({ engine, requests: 'http' }), watchH1, how), expected, `${engine}, requests of node:http`)
    }
  })
}

for (const [place, how] of Object.entries(h2)) {
  test(`a reset ${place} of HTTP/2 gives the events of node:http2`, async t => {
    const expected = await events(t, http2.createServer(), watchH2, how)
    assert.ok(expected.some(event => event.startsWith('socket error ECONNRESET')), expected.join())
    for (const engine of ['inline', 'threads']) assert.deepEqual(await events(t, createServer({ engine }), watchH2, how), expected, engine)
  })
}

test('a reset without a listener of its errors ends no process', async t => {
  for (const made of [{}, { requests: 'http' }]) {
    const server = createServer(made, (request, response) => { response.write('x') })
    t.after(() => { server.close() })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    for (const sent of ['GET / HTTP/1.1\r\nhost: a\r\n\r\n', Buffer.concat([PREFACE, head(GET, END_STREAM)])]) {
      const client = net.connect(server.address().port, '127.0.0.1')
      client.on('error', () => {})
      client.write(sent)
      await once(client, 'data')
      client.resetAndDestroy()
      while (await new Promise(resolve => { server.getConnections((_, count) => { resolve(count) }) }) > 0) await new Promise(resolve => { setImmediate(resolve) })
    }
  }
})

/** Requests whose connection goes to a listener as a socket. */
const leaving = {
  upgrade: 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  connect: 'CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n'
}
for (const [event, text] of Object.entries(leaving)) {
  test(`a reset beside an ${event} whose listener adds no listener of errors to the socket ends no process`, async t => {
    for (const made of [{ engine: 'inline' }, { engine: 'threads' }, { engine: 'inline', requests: 'http' }, { engine: 'threads', requests: 'http' }]) {
      const server = createServer(made)
      t.after(() => { server.close() })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      for (const answer of ['', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n']) {
        const left = once(server, event)
        const client = net.connect(server.address().port, '127.0.0.1')
        client.on('error', () => {})
        client.write(text)
        const [, socket] = await left
        const closed = new Promise(resolve => { socket.on('close', resolve) })
        if (answer !== '') socket.write(answer)
        // Without a reader nothing would be read of it.
        socket.resume()
        await turns()
        client.resetAndDestroy()
        await closed
        assert.equal(socket.listenerCount('error'), 0)
      }
    }
  })
}

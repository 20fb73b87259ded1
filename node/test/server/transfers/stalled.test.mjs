// A client that takes nothing of its answers for `writeStall` is a peer that is gone: its connection ends as node's do where the system gives
// a transport up.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'
import { END_HEADERS, END_STREAM, HEADERS, SETTINGS, frame, numbers } from '../../support/servers/h2_frames.mjs'

/** More than the buffers of a socket hold. */
const LARGE = Buffer.alloc(16 << 20)
const [INITIAL_WINDOW_SIZE, WINDOW_UPDATE, WINDOW_MAX] = [4, 8, 2 ** 31 - 1]
const widest = Buffer.concat([Buffer.from([0, INITIAL_WINDOW_SIZE]), numbers(WINDOW_MAX)])
const requests = {
  'requests behind each other over HTTP/1.1': 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(20),
  'a request over HTTP/2': Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, widest), frame(WINDOW_UPDATE, 0, 0, numbers(WINDOW_MAX - 65_535)),
    frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.from([0x82, 0x86, 0x84, 0x41, 1, 0x61]))
  ])
}

/** The events of a server until the socket of its one client has closed. */
async function eventsOf (server, bytes) {
  const events = []
  let closed
  const isClosed = new Promise(resolve => { closed = resolve })
  server.on('connection', socket => {
    socket.on('error', error => { events.push(`socket error ${error.code} ${error.syscall}`) })
    socket.on('close', hadError => { events.push(`socket close ${hadError}`); closed() })
  })
  server.on('clientError', error => { events.push(`clientError ${error.code}`) })
  server.on('session', session => {
    session.on('error', error => { events.push(`session error ${error.code}`) })
    session.on('close', () => { events.push('session close') })
  })
  server.on('request', (request, response) => { response.on('error', () => {}).end(LARGE) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = net.connect(server.address().port, '127.0.0.1')
  client.on('error', () => {}).pause()
  client.write(bytes)
  await isClosed
  await new Promise(resolve => { setImmediate(resolve) })
  client.destroy()
  await new Promise(resolve => { server.close(resolve) })
  return events
}

for (const [what, bytes] of Object.entries(requests)) {
  test(`${what} whose client reads nothing: the transport has failed with ETIMEDOUT`, async () => {
    const options = { timeouts: { writeStall: 100 } }
    const isH1 = typeof bytes === 'string'
    const server = createServer(isH1 ? { requests: 'http', ...options } : options)
    const events = await eventsOf(server, bytes)
    assert.deepEqual(events, isH1 ? ['clientError ETIMEDOUT', 'socket error ETIMEDOUT read', 'socket close true'] : ['socket error ETIMEDOUT read', 'socket close true', 'session error ETIMEDOUT', 'session close'])
  })
}

// `bytesRead` and `bytesWritten` of the sockets of servers: on every kind of connection they are true, grow while the
// connection lives, and stay when it has ended.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import { createSecureServer, createServer } from 'trunkline'
import { pairOf } from '../../support/clients/carried.mjs'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { versions } from '../../support/clients/clients.mjs'

const SENT = Buffer.alloc(30_000, 'up')
const ANSWERED = Buffer.alloc(50_000, 'down')
/** Upper bound of the bytes of heads, frames and packets beside the bodies of one exchange. */
const OVERHEAD_MAX = 60_000

async function started (t, server) {
  t.after(() => { server.compatServer.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

const between = (value, least, most, what) => { assert.ok(value >= least && value <= most, `${what} is ${value}, not from ${least} to ${most}`) }

for (const version of versions) {
  test(`${version.name}: the counts of a socket hold both bodies, grow by each exchange, and are kept behind the end`, async t => {
    const counts = []
    let last
    const listener = (request, response) => {
      const { socket } = request.stream?.session ?? request
      // Over HTTP/2 it stands for the session's, which forgets it at its end.
      last = request.stream?.session?.$rawSocket ?? socket
      request.resume().on('end', () => {
        counts.push([socket.bytesRead, socket.bytesWritten])
        response.end(ANSWERED)
      })
    }
    const server = version.options.tls === undefined ? createServer({}, listener) : createSecureServer({ cert, key, allowHTTP1: true, http3: version.name === 'h3' }, listener)
    const client = version.connect(await started(t, server))
    t.after(() => client.close())
    for (let at = 0; at < 3; at++) await client.ask('/', { method: 'POST', body: SENT, headers: { 'content-length': String(SENT.length) } })
    const read = counts.map(([bytes]) => bytes)
    const written = counts.map(([, bytes]) => bytes)
    for (let at = 0; at < 3; at++) {
      between(read[at], (at + 1) * SENT.length, (at + 1) * (SENT.length + OVERHEAD_MAX), `bytesRead of request ${at}`)
      between(written[at], at * ANSWERED.length, at * (ANSWERED.length + OVERHEAD_MAX) + OVERHEAD_MAX, `bytesWritten before answer ${at}`)
    }
    const closed = once(last, 'close')
    await client.close()
    await closed
    between(last.bytesRead, read[2], 3 * (SENT.length + OVERHEAD_MAX), 'bytesRead behind the end')
    between(last.bytesWritten, 3 * ANSWERED.length, 3 * (ANSWERED.length + OVERHEAD_MAX), 'bytesWritten behind the end')
  })
}

test('a socket that has left HTTP goes on counting', async t => {
  const server = createServer()
  const port = await started(t, server)
  const upgraded = new Promise(resolve => {
    server.on('upgrade', (request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
      const before = [socket.bytesRead, socket.bytesWritten]
      socket.pipe(socket)
      resolve([socket, before])
    })
  })
  const client = net.connect(port, '127.0.0.1')
  t.after(() => { client.destroy() })
  const head = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n'
  client.write(head)
  const [socket, before] = await upgraded
  assert.equal(before[0], head.length)
  client.write(SENT)
  let came = 0
  for await (const piece of client) {
    came += piece.length
    if (came > SENT.length) break
  }
  await new Promise(resolve => { if (socket.closed || socket.destroyed) resolve(); else socket.once('close', resolve) })
  assert.equal(socket.bytesRead, head.length + SENT.length)
  assert.ok(socket.bytesWritten >= before[1], String(socket.bytesWritten))
})

test('a stream of JavaScript that was given is counted, and so is the first byte of each connection', async t => {
  const server = createServer({}, (request, response) => { response.end(ANSWERED) })
  t.after(() => { server.compatServer.destroy() })
  const [near, far] = pairOf()
  let socket
  server.on('session', session => { socket = session.$rawSocket })
  server.emit('connection', far)
  const client = http2.connect('http://localhost', { createConnection: () => near })
  t.after(() => { client.destroy() })
  const stream = client.request({ ':path': '/' })
  stream.resume()
  await once(stream, 'close')
  between(socket.bytesWritten, ANSWERED.length, ANSWERED.length + OVERHEAD_MAX, 'bytesWritten')
  between(socket.bytesRead, 24, OVERHEAD_MAX, 'bytesRead')
})

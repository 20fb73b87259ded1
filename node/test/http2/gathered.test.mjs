// Pieces of a request's body in few writes of its socket.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import nodeHttp2 from 'node:http2'
import test from 'node:test'
import { connect } from 'trunkline/http2'

const PIECES = 100

test('pieces that are written upon the callbacks of those in front of them go in one write of the socket', async t => {
  const server = nodeHttp2.createServer()
  let received = 0
  server.on('stream', stream => {
    stream.on('data', bytes => { received += bytes.length })
    stream.on('end', () => { stream.respond(); stream.end() })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect(server.address().port, '127.0.0.1')
  const session = connect('http://127.0.0.1', { createConnection: () => socket })
  t.after(() => { session.destroy(); server.close() })
  await once(session, 'remoteSettings')
  await new Promise(resolve => { session.ping(resolve) })
  const { write } = socket
  let writes = 0
  socket.write = (...given) => { writes++; return write.apply(socket, given) }
  const stream = session.request({ ':method': 'POST' })
  let left = PIECES
  await new Promise(resolve => {
    const next = () => { if (left-- > 0) stream.write('x', next); else resolve() }
    next()
  })
  stream.end()
  await once(stream.resume(), 'close')
  // The pieces, the end of the body, and an acknowledgement of what the server says meanwhile.
  assert.ok(writes <= 4, `${writes} writes of ${PIECES} pieces`)
  assert.equal(received, PIECES)
})

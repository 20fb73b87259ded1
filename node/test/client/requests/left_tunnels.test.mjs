// Sockets of upgrades as those of node:net where their program leaves them: what was written before leaves, and times without
// bytes are reported.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { Client } from 'trunkline'

const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n'
/** More than may be on its way to the engine at once. */
const PIECES = 8
const PIECE = Buffer.alloc(100_000)
const LEFT = {
  destroy: socket => { socket.destroy() },
  'destroy behind end': socket => { socket.end(); socket.destroy() },
  destroySoon: socket => { socket.destroySoon() }
}

/** A socket of an upgrade, and the bytes that its server has received when the connection has ended. */
async function upgraded (t) {
  let over
  const received = new Promise(resolve => { over = resolve })
  const server = net.createServer(socket => {
    let length = 0
    socket.once('data', () => {
      socket.on('data', chunk => { length += chunk.length })
      socket.write(UPGRADED)
    })
    socket.on('error', () => {})
    socket.on('close', () => { over(length) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const client = new Client(`http://127.0.0.1:${server.address().port}`)
  t.after(() => client.destroy())
  const { socket } = await client.upgrade({ path: '/', protocol: 'own' })
  socket.on('error', () => {})
  return { socket, received }
}

for (const [way, leave] of Object.entries(LEFT)) {
  test(`all pieces that a client has written to an upgraded connection arrive although ${way} follows in the same turn`, async t => {
    const { socket, received } = await upgraded(t)
    for (let piece = 0; piece < PIECES; piece++) socket.write(PIECE)
    leave(socket)
    assert.equal(await received, PIECES * PIECE.length)
  })
}

test('pieces behind a cork are dropped with an upgraded connection, as on a socket of node:net', async t => {
  const { socket, received } = await upgraded(t)
  socket.write('sent')
  socket.cork()
  socket.write('held')
  socket.destroy()
  assert.equal(await received, 'sent'.length)
})

test('an upgraded connection says that nothing has come or gone for the time that was set', async t => {
  const { socket } = await upgraded(t)
  assert.equal(socket.timeout, undefined)
  assert.equal(socket.setTimeout(5, () => {}), socket)
  assert.equal(socket.timeout, 5)
  await once(socket, 'timeout')
  assert.equal(socket.destroyed, false)
  socket.setTimeout(0)
  assert.throws(() => socket.setTimeout('5'), { code: 'ERR_INVALID_ARG_TYPE' })
  socket.destroy()
})

test('an upgraded connection counts its bytes and says what of it is open', async t => {
  const { socket } = await upgraded(t)
  socket.write('hello')
  assert.deepEqual([socket.bytesWritten, socket.bytesRead, socket.readyState, socket.pending, socket.connecting], [5, 0, 'open', false, false])
  socket.destroy()
  assert.equal(socket.readyState, 'closed')
})

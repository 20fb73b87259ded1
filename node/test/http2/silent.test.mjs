// Clients that connect in cleartext and say nothing: listeners of `connection` get them, and `server.setTimeout` counts
// their time, as with node:http2.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'

async function silent (t, server) {
  t.after(() => { server.compatServer.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected = once(server, 'connection')
  const client = net.connect(server.address().port, '127.0.0.1')
  t.after(() => { client.destroy() })
  client.on('error', () => {})
  const [[socket]] = await Promise.all([connected, once(client, 'connect')])
  return { client, socket }
}

test('a silent connection is a `connection` with its addresses, and is counted until its client leaves', async t => {
  const server = createServer()
  const { client, socket } = await silent(t, server)
  assert.ok(socket instanceof net.Socket)
  assert.deepEqual([socket.remotePort, socket.localPort], [client.localPort, client.remotePort])
  assert.deepEqual([socket.bytesRead, socket.bytesWritten], [0, 0])
  assert.equal(await new Promise(resolve => server.getConnections((_, count) => resolve(count))), 1)
  client.resume().end()
  await once(socket, 'close')
  assert.equal(await new Promise(resolve => server.getConnections((_, count) => resolve(count))), 0)
})

test('the time of `server.setTimeout` ends a silent connection, unless a listener of `timeout` keeps it', async t => {
  const server = createServer()
  server.setTimeout(100)
  const { client, socket } = await silent(t, server)
  client.resume()
  await Promise.all([once(client, 'close'), once(socket, 'close')])

  const keeping = createServer()
  const reported = []
  keeping.setTimeout(100, (...given) => { reported.push(...given) })
  const kept = await silent(t, keeping)
  await once(keeping, 'timeout')
  assert.equal(reported[0], kept.socket)
  assert.equal(kept.socket.destroyed, false)
})

test('a connection that ends before its first byte is a `connection`', async t => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.compatServer.destroy() })
  const connected = once(server, 'connection')
  net.connect(server.address().port, '127.0.0.1').resume().end()
  const [socket] = await connected
  await once(socket, 'close')
})

test('a server that closes waits for a silent connection no longer than for a first request', async t => {
  const server = createServer()
  const { client } = await silent(t, server)
  client.resume()
  server.close()
  await Promise.all([once(server, 'close'), once(client, 'close')])
})

test('a listener that destroys a silent connection ends it', async t => {
  const { client, socket } = await silent(t, createServer())
  client.resume()
  socket.destroy()
  await once(client, 'close')
})

test('a connection beyond maxConnections is dropped before it says anything', async t => {
  const server = createServer()
  server.maxConnections = 1
  await silent(t, server)
  const dropped = once(server, 'drop')
  const second = net.connect(server.address().port, '127.0.0.1').resume()
  t.after(() => { second.destroy() })
  second.on('error', () => {})
  const [, [data]] = await Promise.all([once(second, 'close'), dropped])
  assert.equal(typeof data.remotePort, 'number')
})

for (const version of ['HTTP/1.1', 'HTTP/2']) {
  test(`a client that begins late with ${version} is told once, and its requests come with the socket that was told`, async t => {
    const sockets = []
    const server = createServer({}, (request, response) => { response.end(request.httpVersion) })
    server.on('connection', socket => { sockets.push(socket) })
    server.on('request', request => { sockets.push(request.stream?.session.$rawSocket ?? request.socket) })
    const { client, socket } = await silent(t, server)
    if (version === 'HTTP/2') {
      const session = http2.connect('http://localhost', { createConnection: () => client })
      t.after(() => { session.destroy() })
      const stream = session.request({ ':path': '/' }).setEncoding('utf8')
      assert.equal((await stream.toArray()).join(''), '2.0')
    } else {
      client.setEncoding('utf8').write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
      assert.match((await client.toArray()).join(''), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n1\.1$/)
    }
    assert.equal(sockets.length, 2)
    assert.ok(sockets.every(one => one === socket))
  })
}

// The layer that servers of every form stand on: what it tells, and what it takes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect } from 'node:net'
import test from 'node:test'
import { Listener } from '../../dist/server/listener.js'
import { received, receivedText } from '../support/clients/received.mjs'

/** A listener, which ends with its test, and its port. */
function listening (t, callbacks, options = {}) {
  const listener = new Listener(callbacks)
  t.after(() => { listener.destroy() })
  listener.listen({ host: '127.0.0.1', ...options })
  return { listener, port: listener.address().port }
}

/** Callbacks that collect, apart from those that are given. */
const deaf = { $onData () {}, $onEnd () {}, $onRoom () {}, $onClosed () {} }

test('a connection is told once, its exchanges in between, and the end of all', async t => {
  const received = []
  let closed
  const over = new Promise(resolve => { closed = resolve })
  const { listener, port } = listening(t, {
    onConnection: connection => { received.push(['connection', connection.version, connection.remoteAddress]) },
    onRequest: exchange => {
      received.push(['request', exchange.method, exchange.path, exchange.authority, exchange.field('x-a'), exchange.rawFields()])
      exchange.callbacks = { ...deaf, $onClosed: code => { received.push(['over', code, exchange.connection.open]) } }
      exchange.answer(200, 'x-b\0c', 'hello')
    },
    onConnectionClosed: connection => { received.push(['gone', connection.closed]) },
    onClosed: () => { closed() }
  })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const stream = session.request({ ':path': '/a', 'x-a': '1', 'x-c': '2' })
  const [headers] = await once(stream, 'response')
  assert.deepEqual([headers['x-b'], headers['content-length']], ['c', '5'])
  stream.resume()
  await once(stream, 'end')
  session.close()
  await once(session, 'close')
  listener.close()
  await over
  assert.deepEqual(received, [
    ['connection', 20, '127.0.0.1'],
    ['request', 'GET', '/a', `127.0.0.1:${port}`, '1', ['x-a', '1', 'x-c', '2']],
    ['over', 0, 0],
    ['gone', true]
  ])
})

test('the fields of each request are its own, whether they come again or not, and theirs to change who gets them', async t => {
  const seen = []
  const { port } = listening(t, {
    onRequest: exchange => {
      const fields = exchange.rawFields([exchange.path])
      seen.push([...fields])
      // Changes of them change nothing of the next request.
      fields.fill('changed')
      exchange.rawFields().push('more')
      exchange.callbacks = deaf
      exchange.answer(200, '', 'ok')
    }
  })
  const heads = [
    ['/1', 'x-a: 1\r\nx-b: 2\r\n'], ['/2', 'x-a: 1\r\nx-b: 2\r\n'], ['/3', 'x-a: 1\r\nx-b: 3\r\n'], ['/4', 'x-a: 1\r\n'],
    ['/5', ''], ['/6', ''], ['/7', `x-a: ${'long'.repeat(2000)}\r\n`], ['/8', 'x-a: 1\r\nx-b: 2\r\n']
  ]
  const socket = connect(port, '127.0.0.1')
  t.after(() => { socket.destroy() })
  for (const [path, fields] of heads) {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a.test\r\n${fields}\r\n`)
    await received(socket, bytes => bytes.includes('\r\n\r\nok'))
  }
  const expected = ([path, fields]) => [path, 'host', 'a.test', ...fields.split('\r\n').filter(Boolean).flatMap(line => line.split(': '))]
  assert.deepEqual(seen, heads.map(expected))
})

test('trailers go both ways, and a sensitive field is never indexed', async t => {
  const { port } = listening(t, {
    onRequest: exchange => {
      exchange.callbacks = {
        ...deaf,
        $onData: chunk => { exchange.take(chunk.length) },
        $onEnd: trailers => {
          exchange.respond(200, '\x01set-cookie\0secret')
          exchange.write(Buffer.from('body'))
          exchange.end(`back\0${trailers.split('\0')[1]}`)
        }
      }
    }
  })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const stream = session.request({ ':method': 'POST' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => { stream.sendTrailers({ there: 'and back' }) })
  stream.end('up')
  const [headers] = await once(stream, 'response')
  assert.deepEqual(headers[http2.sensitiveHeaders], ['set-cookie'])
  stream.resume()
  const [trailers] = await once(stream, 'trailers')
  assert.equal(trailers.back, 'and back')
  session.destroy()
})

test('a connection that leaves HTTP/1.1 is its exchange', async t => {
  const { port } = listening(t, {
    onRequest: exchange => {
      assert.equal(exchange.field('upgrade'), 'echo')
      exchange.callbacks = {
        ...deaf,
        $onData: chunk => {
          exchange.take(chunk.length)
          exchange.write(chunk)
        },
        $onEnd: () => { exchange.end() }
      }
      exchange.respond(101, 'connection\0upgrade\0upgrade\0echo')
    }
  })
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
  const head = await received(socket, bytes => bytes.includes('\r\n\r\n'))
  assert.match(String(head), /^HTTP\/1\.1 101 .*\r\n\r\n$/s)
  const ended = once(socket, 'end')
  socket.end('out and back')
  assert.equal(await receivedText(socket, 'out and back'), 'out and back')
  await ended
})

test('an extended CONNECT is a stream both ways', async t => {
  const { port } = listening(t, {
    onRequest: exchange => {
      assert.deepEqual([exchange.method, exchange.protocol, exchange.path], ['CONNECT', 'websocket', '/chat'])
      exchange.callbacks = {
        ...deaf,
        $onData: chunk => {
          exchange.take(chunk.length)
          exchange.write(chunk)
        },
        $onEnd: () => { exchange.end() }
      }
      exchange.respond(200, '')
    }
  }, { extendedConnect: true })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  await once(session, 'remoteSettings')
  const stream = session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat' }, { endStream: false })
  await once(stream, 'response')
  stream.write('frame')
  assert.equal(await receivedText(stream, 'frame'), 'frame')
  stream.end()
  await once(stream, 'end')
  session.destroy()
})

test('a peer answers a ping', async t => {
  let reported
  const opened = new Promise(resolve => { reported = resolve })
  const { port } = listening(t, { onConnection: connection => { reported(connection) }, onRequest () {} })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const connection = await opened
  const PING = 1
  const received = new Promise(resolve => { connection.callbacks = { $onPong: (payload, ms) => { resolve([payload.toString(), ms]) } } })
  assert.ok(connection.control(PING, Buffer.from('12345678')))
  const [payload, ms] = await received
  assert.equal(payload, '12345678')
  assert.ok(ms > 0 && ms < 10_000)
  session.destroy()
})

test('a reset of ours tells the peer its code, and ends the exchange once', async t => {
  const received = []
  const { listener, port } = listening(t, {
    onRequest: exchange => {
      exchange.callbacks = { ...deaf, $onClosed: (code, byPeer) => { received.push([code, byPeer]) } }
      exchange.reset(11)
      exchange.reset(8)
    }
  })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const stream = session.request({})
  const [error] = await once(stream, 'error')
  assert.equal(error.code, 'ERR_HTTP2_STREAM_ERROR')
  assert.equal(stream.rstCode, 11)
  session.destroy()
  await new Promise(resolve => {
    listener.callbacks.onClosed = resolve
    listener.destroy()
  })
  assert.deepEqual(received, [[11, false]])
})

test('trailers that are too long for the border are refused, and others can be sent', async t => {
  let refused
  const { port } = listening(t, {
    onRequest: exchange => {
      exchange.callbacks = deaf
      exchange.respond(200, '')
      try {
        exchange.end(`a\0${'x'.repeat(300 * 1024)}`)
      } catch (error) {
        refused = error
      }
      exchange.end('a\0b')
    }
  })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const stream = session.request({})
  const [trailers] = await once(stream.resume(), 'trailers')
  assert.deepEqual([refused.name, trailers.a], ['RangeError', 'b'])
  session.destroy()
})

// Connections and streams that leave HTTP: what was sent before an end arrives, whatever it comes together with.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import { createRequire } from 'node:module'
import net from 'node:net'
import test from 'node:test'
import { Agent, Client, createSecureServer, createServer, Pool } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { DATA, END_HEADERS, END_STREAM, frame, HEADERS, SETTINGS } from '../../support/servers/h2_frames.mjs'

const timers = createRequire(import.meta.url)('../../../dist/timers.js')

async function listen (t, server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
}

/** A server of HTTP/2 in cleartext that takes extended CONNECT, and answers each stream with `answer(stream)`: one write, or two. */
async function raw (t, answer) {
  const server = net.createServer(socket => {
    t.after(() => { socket.destroy() })
    socket.setNoDelay(true).on('error', () => {})
    let held = Buffer.alloc(0)
    let isPrefaced = false
    socket.write(frame(SETTINGS, 0, 0, Buffer.from([0, 8, 0, 0, 0, 1])))
    socket.on('data', chunk => {
      held = Buffer.concat([held, chunk])
      if (!isPrefaced && held.length >= 24) {
        held = held.subarray(24)
        isPrefaced = true
      }
      while (isPrefaced && held.length >= 9 && held.length >= 9 + held.readUIntBE(0, 3)) {
        const [length, type, flags, stream] = [held.readUIntBE(0, 3), held[3], held[4], held.readUInt32BE(5)]
        held = held.subarray(9 + length)
        if (type === SETTINGS && flags === 0) socket.write(frame(SETTINGS, 1, 0))
        if (type !== HEADERS) continue
        const [first, second] = answer(stream)
        socket.write(first, () => { setImmediate(() => { socket.write(second) }) })
      }
    })
  })
  await listen(t, server)
  return `http://127.0.0.1:${server.address().port}`
}

const KEY = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' }

/** The bytes that come through a WebSocket's stream until its end. */
async function received (client) {
  const { socket, statusCode } = await client.upgrade({ path: '/', protocol: 'websocket', headers: KEY })
  const pieces = []
  for await (const piece of socket) pieces.push(piece)
  return `${statusCode} ${Buffer.concat(pieces)}`
}

test('bytes that come with the answer to an extended CONNECT and its end are received, split at every byte', { timeout: 120_000 }, async t => {
  const length = frame(HEADERS, END_HEADERS, 1, Buffer.from([0x88])).length + frame(DATA, END_STREAM, 1, Buffer.from('all of it')).length
  let at = 0
  const url = await raw(t, stream => {
    const bytes = Buffer.concat([frame(HEADERS, END_HEADERS, stream, Buffer.from([0x88])), frame(DATA, END_STREAM, stream, Buffer.from('all of it'))])
    return [bytes.subarray(0, at), bytes.subarray(at)]
  })
  const client = new Client(url, { useH2c: true })
  t.after(() => client.destroy())
  for (; at <= length; at++) assert.equal(await received(client), '200 all of it', `split at ${at}`)
})

test('an answer to an extended CONNECT that is an end alone opens a stream that ends', { timeout: 60_000 }, async t => {
  const url = await raw(t, stream => [frame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.from([0x88])), Buffer.alloc(0)])
  const client = new Client(url, { useH2c: true })
  t.after(() => client.destroy())
  assert.equal(await received(client), '200 ')
})

for (const [name, own, options] of [['h2', {}, {}], ['h3', { http3: true }, { http3: 'only' }]]) {
  test(`bytes that a listener of upgrade writes together with its end are received over ${name}`, { timeout: 60_000 }, async t => {
    const server = createSecureServer({ cert, key, settings: { enableConnectProtocol: true }, ...own }, (_, response) => { response.end() })
    server.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
      socket.end('all of it')
    })
    await listen(t, server)
    const client = new Client(`https://localhost:${server.address().port}`, { connect: { ca: cert }, ...options })
    t.after(() => client.destroy())
    for (let turn = 0; turn < 20; turn++) assert.equal(await received(client), '200 all of it')
  })
}

const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n'
const SIZES = [1, 1000, 100_000]

/** A server that sends this for an upgrade, and ends. */
async function answering (t, bytes) {
  const server = net.createServer({ allowHalfOpen: true }, socket => {
    t.after(() => { socket.destroy() })
    socket.on('error', () => {}).once('data', () => { socket.end(bytes) })
  })
  await listen(t, server)
  return [`http://127.0.0.1:${server.address().port}`, { protocol: 'own' }]
}

/** Servers by version, which send all with their answer to an upgrade, and end. */
const SEND_ALL = {
  'HTTP/1.1': t => answering(t, `${UPGRADED}all of it`),
  async 'HTTP/2' (t) {
    const url = await raw(t, stream => {
      const bytes = [frame(HEADERS, END_HEADERS, stream, Buffer.from([0x88])), frame(DATA, END_STREAM, stream, Buffer.from('all of it'))]
      return [Buffer.concat(bytes), Buffer.alloc(0)]
    })
    return [url, { protocol: 'websocket', headers: KEY }]
  }
}

for (const [version, start] of Object.entries(SEND_ALL)) {
  test(`what a server of ${version} sends with its answer to an upgrade and its end is received although the client writes at once`, { timeout: 60_000 }, async t => {
    const [url, upgrade] = await start(t)
    const client = new Client(url, { useH2c: version === 'HTTP/2' })
    t.after(() => client.destroy())
    for (const write of [socket => { socket.write('early') }, socket => { socket.end('early') }, socket => { socket.cork(); socket.write('early'); socket.write('more'); socket.uncork() }]) {
      const { socket } = await client.upgrade({ path: '/', ...upgrade })
      write(socket)
      const pieces = []
      for await (const piece of socket) pieces.push(piece)
      assert.equal(Buffer.concat(pieces).toString(), 'all of it')
    }
  })
}

/** Servers by version, which end behind their answer to an upgrade. */
const ONLY_END = {
  'HTTP/1.1': t => answering(t, UPGRADED),
  async 'HTTP/2' (t) {
    const url = await raw(t, stream => [frame(HEADERS, END_HEADERS, stream, Buffer.from([0x88])), frame(DATA, END_STREAM, stream)])
    return [url, { protocol: 'websocket', headers: KEY }]
  }
}

for (const [version, start] of Object.entries(ONLY_END)) {
  test(`the socket of an upgrade over ${version} whose server ends without a byte closes although nobody reads it`, { timeout: 10_000 }, async t => {
    const [url, upgrade] = await start(t)
    const client = new Client(url, { useH2c: version === 'HTTP/2' })
    t.after(() => client.destroy())
    for (const act of [() => {}, socket => { socket.write('early') }, socket => { socket.end() }]) {
      const { socket } = await client.upgrade({ path: '/', ...upgrade })
      const closed = once(socket, 'close')
      act(socket)
      await closed
      assert.deepEqual([socket.errored, socket.readableEnded], [null, true])
    }
  })
}

test('what a client writes to an upgraded connection before it destroys it arrives, and then an end', { timeout: 60_000 }, async t => {
  let over
  const server = net.createServer({ allowHalfOpen: true }, socket => {
    let text = ''
    let how = 'closed'
    socket.on('data', chunk => {
      const isFirst = !text.includes('\r\n\r\n')
      text += chunk.toString('latin1')
      // Bytes that the client never reads.
      if (isFirst && text.includes('\r\n\r\n')) socket.write(UPGRADED + 'unread')
    })
    socket.on('error', error => { how = error.code })
    socket.on('end', () => {
      how = 'end'
      socket.end()
    })
    socket.on('close', () => { over([text.length - text.indexOf('\r\n\r\n') - 4, how]) })
  })
  await listen(t, server)
  const client = new Client(`http://127.0.0.1:${server.address().port}`)
  t.after(() => client.destroy())
  for (const size of SIZES) {
    const ended = new Promise(resolve => { over = resolve })
    const { socket } = await client.upgrade({ path: '/', protocol: 'own' })
    socket.on('error', () => {})
    socket.write(Buffer.alloc(size))
    socket.destroy()
    assert.deepEqual(await ended, [size, 'end'])
  }
})

test('what a client has written to an upgraded connection arrives although it destroys it before its server reads', { timeout: 60_000 }, async t => {
  const SIZE = 24 * 1024 * 1024
  let reader
  let over
  const ended = new Promise(resolve => { over = resolve })
  const server = net.createServer({ allowHalfOpen: true }, socket => {
    reader = socket
    let received = 0
    socket.once('data', () => {
      socket.pause()
      socket.on('data', chunk => { received += chunk.length })
      socket.write(UPGRADED)
    })
    socket.on('error', error => { over([received, error.code]) })
    socket.on('end', () => {
      over([received, 'end'])
      socket.end()
    })
  })
  await listen(t, server)
  const client = new Client(`http://127.0.0.1:${server.address().port}`)
  t.after(() => client.destroy())
  const { socket } = await client.upgrade({ path: '/', protocol: 'own' })
  socket.on('error', () => {})
  socket.write(Buffer.alloc(SIZE))
  const given = t.mock.method(timers, 'setTimeout', () => ({ unref () { return this } }))
  socket.destroy()
  given.mock.restore()
  // The longest that the engine has to take what was written, before the exchange is given up.
  given.mock.calls[0].arguments[0]()
  reader.resume()
  assert.deepEqual(await ended, [SIZE, 'end'])
})

for (const isSecure of [false, true]) {
  test(`what a server writes to an upgraded connection before it destroys it arrives${isSecure ? ' under TLS' : ''}, and then an end`, { timeout: 60_000 }, async t => {
    const server = isSecure ? createSecureServer({ cert, key, allowHTTP1: true }) : createServer()
    let size = 0
    server.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      socket.write(UPGRADED)
      // Behind the answer, in a write of its own.
      socket.once('data', () => {
        socket.write(Buffer.alloc(size))
        socket.destroy()
      })
    })
    await listen(t, server)
    const client = new Client(`http${isSecure ? 's' : ''}://localhost:${server.address().port}`, { connect: { ca: cert } })
    t.after(() => client.destroy())
    for (size of SIZES) {
      const { socket } = await client.upgrade({ path: '/', protocol: 'own' })
      socket.write('go')
      let received = 0
      for await (const piece of socket) received += piece.length
      assert.equal(received, size)
    }
  })
}

for (const [name, own, options] of [['h2', {}, {}], ['h3', { http3: true }, { http3: 'only' }]]) {
  test(`what a server writes to an upgraded stream before it destroys it arrives over ${name}, and then an end`, { timeout: 60_000 }, async t => {
    const server = createSecureServer({ cert, key, settings: { enableConnectProtocol: true }, ...own }, (_, response) => { response.end() })
    let size = 0
    server.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      socket.write(UPGRADED)
      socket.once('data', () => {
        socket.write(Buffer.alloc(size))
        socket.destroy()
      })
    })
    await listen(t, server)
    const client = new Client(`https://localhost:${server.address().port}`, { connect: { ca: cert }, ...options })
    t.after(() => client.destroy())
    for (size of SIZES) {
      const { socket } = await client.upgrade({ path: '/', protocol: 'websocket' })
      socket.write('go')
      let received = 0
      for await (const piece of socket) received += piece.length
      assert.equal(received, size)
    }
  })
}

for (const [name, own, options] of [['h2', {}, {}], ['h3', { http3: true }, { http3: 'only' }]]) {
  test(`an upgrade may be the only request of its connection over ${name}`, { timeout: 60_000 }, async t => {
    const server = createSecureServer({ cert, key, settings: { enableConnectProtocol: true }, ...own }, (_, response) => { response.end() })
    server.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      socket.write(UPGRADED)
      socket.end('all of it')
    })
    await listen(t, server)
    const client = new Client(`https://localhost:${server.address().port}`, { connect: { ca: cert }, maxRequestsPerClient: 1, ...options })
    t.after(() => client.destroy())
    for (let turn = 0; turn < 3; turn++) assert.equal(await received(client), '200 all of it')
  })
}

test('an upgrade asks for itself where its connection is to carry nothing else', { timeout: 60_000 }, async t => {
  const server = http.createServer((_, response) => { response.end('passed over') })
  server.on('upgrade', (_, socket) => { socket.end(`${UPGRADED}all of it`) })
  await listen(t, server)
  for (const [options, request] of [[{ maxRequestsPerClient: 1 }, {}], [{ pipelining: 0 }, {}], [{}, { reset: true }]]) {
    const client = new Client(`http://localhost:${server.address().port}`, options)
    t.after(() => client.destroy())
    for (let turn = 0; turn < 2; turn++) {
      const { socket } = await client.upgrade({ path: '/', protocol: 'own', ...request })
      let text = ''
      for await (const piece of socket) text += piece
      assert.equal(text, 'all of it', JSON.stringify([options, request]))
    }
  }
})

test('an upgrade may name its target by a URL, which a server in front of others gets as it is', { timeout: 60_000 }, async t => {
  const server = http.createServer()
  const asked = []
  server.on('upgrade', ({ url, headers }, socket) => {
    asked.push([url, headers.host, headers.upgrade])
    socket.on('error', () => {}).write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n')
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close().closeAllConnections() })
  const origin = `http://127.0.0.1:${server.address().port}`
  for (const [path, url, host] of [
    ['http://named.test:81/up?a=b', 'http://named.test:81/up?a=b', 'named.test:81'], ['http://[::1]:3/x#y', 'http://[::1]:3/x', '[::1]:3'],
    ['http://named.test', 'http://named.test/', 'named.test'], ['http://named.test?a', 'http://named.test/?a', 'named.test'], ['/http://named.test/', '/http://named.test/', new URL(origin).host]
  ]) {
    for (const dispatcher of [new Client(origin), new Agent()]) {
      t.after(() => dispatcher.destroy())
      assert.equal(await echoed((await dispatcher.upgrade({ origin, path, protocol: 'own' })).socket), 'there and back')
      assert.deepEqual(asked.pop(), [url, host, 'own'])
    }
  }
})

test('upgrade and connect stay with HTTP/3 where nothing else is allowed, though the server speaks HTTP/1.1 too', { timeout: 60_000 }, async t => {
  const server = createSecureServer({ cert, key, allowHTTP1: true, http3: true, settings: { enableConnectProtocol: true } }, (_, response) => { response.end() })
  const seen = []
  server.on('connect', (request, response) => {
    seen.push(`${request.headers[':protocol']} ${request.httpVersion}`)
    response.stream.on('error', () => {}).respond({ ':status': 200 })
    response.stream.pipe(response.stream)
  })
  await listen(t, server)
  const client = new Client(`https://localhost:${server.address().port}`, { http3: 'only', connect: { ca: cert } })
  t.after(() => client.destroy())
  for (const headers of [{}, KEY]) assert.equal(await echoed((await client.upgrade({ path: '/', headers })).socket), 'there and back')
  assert.equal(await echoed((await client.connect({ path: 'a.test:1' })).socket), 'there and back')
  await assert.rejects(client.upgrade({ path: '/', protocol: 'own' }), { code: 'UND_ERR_INVALID_ARG', message: 'Custom upgrade "own" not supported over HTTP/3' })
  assert.deepEqual(seen, ['websocket 3.0', 'websocket 3.0', 'undefined 3.0'])
})

/** An origin that speaks HTTP/2 alone, and echoes what comes through CONNECTs and WebSockets. */
async function onlyH2 (t, settings = { enableConnectProtocol: true }) {
  const seen = []
  const server = http2.createSecureServer({ cert, key, settings })
  server.on('stream', (stream, headers) => {
    seen.push(`${headers[':method']} ${headers[':authority']} ${headers[':path']} ${headers[':protocol']} ${headers['x-own']}`)
    stream.on('error', () => {})
    stream.respond({ ':status': 200 })
    stream.pipe(stream)
  })
  server.on('sessionError', () => {})
  await listen(t, server)
  return { port: server.address().port, url: `https://localhost:${server.address().port}`, seen }
}

async function echoed (socket) {
  socket.end('there and back')
  const pieces = []
  for await (const piece of socket) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('connect and upgrade go on streams of an origin that speaks HTTP/2 alone', { timeout: 60_000 }, async t => {
  const { port, url, seen } = await onlyH2(t)
  const client = new Pool(url, { connect: { ca: cert } })
  t.after(() => client.destroy())
  for (let turn = 0; turn < 2; turn++) {
    const opened = await client.connect({ path: 'example.com:443', headers: { 'x-own': 'kept', 'proxy-connection': 'keep-alive' } })
    assert.equal(opened.statusCode, 200)
    assert.equal(await echoed(opened.socket), 'there and back')
    for (const headers of [{}, KEY]) {
      const upgraded = await client.upgrade({ path: '/chat', headers })
      assert.equal(await echoed(upgraded.socket), 'there and back')
    }
  }
  const once = ['CONNECT example.com:443 undefined undefined kept', `CONNECT localhost:${port} /chat websocket undefined`, `CONNECT localhost:${port} /chat websocket undefined`]
  assert.deepEqual(seen, [...once, ...once])
  await assert.rejects(client.upgrade({ path: '/', protocol: 'own' }), { code: 'UND_ERR_INVALID_ARG', message: 'Custom upgrade "own" not supported over HTTP/2' })
})

for (const line of ['undici6', 'undici7', 'undici8']) {
  const isTooOld = line === 'undici8' && Number(process.versions.node.split('.')[0]) < 22
  if (isTooOld) continue
  test(`the calls of ${line} open tunnels through an origin that speaks HTTP/2 alone`, { timeout: 60_000 }, async t => {
    const undici = await import(line)
    const { url } = await onlyH2(t)
    const dispatcher = new Agent({ connect: { ca: cert } })
    t.after(() => dispatcher.destroy())
    const opened = await undici.Dispatcher.prototype.connect.call(dispatcher, { origin: url, path: 'example.com:443' })
    assert.equal(await echoed(opened.socket), 'there and back')
    const upgraded = await undici.upgrade(`${url}/chat`, { dispatcher, protocol: 'websocket' })
    assert.equal(await echoed(upgraded.socket), 'there and back')
  })
}

test('a server that speaks HTTP/2 alone and takes no extended CONNECT refuses a WebSocket by the words of undici', { timeout: 60_000 }, async t => {
  const { url } = await onlyH2(t, {})
  const client = new Pool(url, { connect: { ca: cert } })
  t.after(() => client.destroy())
  await assert.rejects(client.upgrade({ path: '/', protocol: 'websocket' }), { code: 'UND_ERR_INFO', message: 'HTTP/2: Extended CONNECT protocol not supported by server' })
})

test('a CONNECT goes on a stream where HTTP/2 is spoken in cleartext', { timeout: 60_000 }, async t => {
  const server = http2.createServer().on('stream', stream => {
    stream.respond({ ':status': 200 })
    stream.pipe(stream)
  })
  await listen(t, server)
  const client = new Client(`http://127.0.0.1:${server.address().port}`, { useH2c: true })
  t.after(() => client.destroy())
  const { socket } = await client.connect({ path: 'example.com:80' })
  assert.equal(await echoed(socket), 'there and back')
})

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n'

/** Servers by what is opened on them, and the options of a dispatch that opens it. */
const OPENED = {
  'an upgrade': { options: { method: 'GET', path: '/', upgrade: 'echo' } },
  'a tunnel': { options: { method: 'CONNECT', path: 'a.test:80' } },
  'a tunnel of HTTP/2': { options: { method: 'CONNECT', path: 'a.test:80' }, isStream: true }
}

async function opening (t, isStream) {
  const server = isStream ? http2.createServer().on('stream', stream => { stream.on('error', () => {}).respond({ ':status': 200 }) }) : http.createServer()
  server.on('upgrade', (_, socket) => { socket.on('error', () => {}).write(SWITCHED) })
  server.on('connect', (_, socket) => { socket.on?.('error', () => {}).write('HTTP/1.1 200 OK\r\n\r\n') })
  await listen(t, server)
  return `http://127.0.0.1:${server.address().port}`
}

for (const [name, { options, isStream = false }] of Object.entries(OPENED)) {
  for (const doesThrow of [true, false]) {
    for (const isOld of [true, false]) {
      for (const listens of [true, false]) {
        const what = `a ${isOld ? 'handler of older lines' : 'handler'} that ${doesThrow ? 'throws' : 'aborts'} when it gets ${name}${listens ? ' and listens to its errors' : ''} gets the error, and nothing is uncaught`
        test(what, { timeout: 60_000 }, async t => {
          const client = new Client(await opening(t, isStream), isStream ? { useH2c: true } : {})
          t.after(() => client.destroy())
          const mine = new Error('mine')
          const errors = []
          let abort
          let closed
          const take = socket => {
            if (listens) socket.on('error', error => { errors.push(error) })
            closed = once(socket, 'close').catch(() => {})
            if (doesThrow) throw mine
            abort(mine)
          }
          const error = await new Promise((resolve, reject) => {
            const handler = isOld
              ? { onConnect (given) { abort = given }, onUpgrade: (_, __, socket) => take(socket), onError: resolve, onHeaders: reject, onData: reject, onComplete: reject }
              : { onRequestStart (controller) { abort = reason => controller.abort(reason) }, onRequestUpgrade: (_, __, ___, socket) => take(socket), onResponseError: (_, given) => resolve(given), onResponseStart: reject }
            client.dispatch(options, handler)
          })
          assert.equal(error, mine)
          await closed
          const expected = !listens || isStream ? [] : [doesThrow ? 'mine' : 'aborted']
          assert.deepEqual(errors.map(({ message }) => message), expected)
        })
      }
    }
  }
}

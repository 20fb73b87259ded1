// `websocket` of `serve` on every version: events, topics, bounds and refusals, with clients of other packages and frame by frame.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { Agent, Response as Lean, serve } from 'trunkline'
import { WebSocket as WsClient } from 'ws'
import { cert } from '../support/certificates/certificate.mjs'
import { versions } from '../support/clients/clients.mjs'
import { BINARY, CLOSE, closing, frame, open, PING, PONG, TEXT } from '../support/clients/frames.mjs'
import { awake } from '../support/clients/websocket.mjs'

const BIG = Buffer.alloc(1 << 20, 'big ')
const major = Number.parseInt(process.versions.node, 10)

/** A server whose every path is a WebSocket, but `/plain`. */
function served (t, version, websocket, options = {}) {
  const server = serve({
    hostname: '127.0.0.1',
    ...version.options,
    websocket,
    fetch (request, server) {
      if (server.upgrade(request, { data: { path: new URL(request.url).pathname } })) return
      return new Lean('beside', { status: 426 })
    },
    ...options
  })
  t.after(() => server.stop(true))
  return server
}

/** Resolves once what is asked for is there. */
function logged () {
  const log = []
  let wake = () => {}
  return {
    log,
    add (...entry) {
      log.push(entry)
      wake()
    },
    async until (isThere) {
      while (!isThere(log)) await new Promise(resolve => { wake = resolve })
      return log
    }
  }
}

const PRINTED = [
  frame(TEXT, 'hi'), frame(BINARY, Buffer.from([0, 255])), frame(TEXT, ''), frame(PING, 'p'), frame(PONG, 'q'),
  frame(TEXT, 'in ', { more: true }), frame(PING, 'between'), frame(0, 'two', { more: true }), frame(0, ' parts'), frame(TEXT, 'x'.repeat(300)), closing(4000, 'enough')
]
const RECEIVED = [
  ['open', '/chat'], ['message', 'hi'], ['message', Buffer.from([0, 255])], ['message', ''], ['ping', 'p'], ['pong', 'q'], ['ping', 'between'], ['message', 'in two parts'], ['message', 'x'.repeat(300)],
  ['close', 4000, 'enough']
]

/** Marks a frame as compressed (RFC 7692 section 6). */
function compressed (bytes) {
  bytes[0] |= 64
  return bytes
}

const framed = versions.filter(({ protocol }) => protocol !== 'h3')

for (const version of framed) {
  const { name } = version

  test(`${name}: what a client says is the same in one piece, in two of any size, and byte by byte`, async t => {
    let current
    const note = (...entry) => { current.add(...entry) }
    const server = served(t, version, {
      open: ws => { note('open', ws.data.path) },
      message: (ws, message) => { note('message', message) },
      ping: (ws, data) => { note('ping', String(data)) },
      pong: (ws, data) => { note('pong', String(data)) },
      close: (ws, code, reason) => { note('close', code, reason) }
    })
    const bytes = Buffer.concat(PRINTED)
    const whole = async pieces => {
      current = logged()
      const client = await open(t, version, server.port)
      assert.equal(client.status, version.protocol === 'http/1.1' ? 101 : 200)
      for (const piece of pieces) await client.write(piece)
      assert.deepEqual(await current.until(log => log.some(([what]) => what === 'close')), RECEIVED)
      const answers = []
      for (let next = await client.next(); next !== null; next = await client.next()) answers.push([next[0], String(next[1])])
      assert.deepEqual(answers, [[PONG, 'p'], [PONG, 'between'], [CLOSE, String(Buffer.concat([Buffer.from([4000 >> 8, 4000 & 255]), Buffer.from('enough')]))]])
    }
    await whole([bytes])
    await whole(Array.from(bytes, byte => Buffer.from([byte])))
    for (let at = 1; at < 80; at++) await whole([bytes.subarray(0, at), bytes.subarray(at)])
    assert.equal(server.pendingWebSockets, 0)
  })

  test(`${name}: messages without end are refused at maxPayloadLength, however they are cut, and other clients are served`, async t => {
    const codes = logged()
    const server = served(t, version, { maxPayloadLength: 10_000, perMessageDeflate: true, message: (ws, message) => { ws.send(message) }, close: (ws, code) => { codes.add(code) } })
    const other = await open(t, version, server.port)
    const deflated = { 'sec-websocket-extensions': 'permessage-deflate' }
    const [piece, empty] = [frame(0, 'x'.repeat(1000), { more: true }), frame(0, '', { more: true })]
    const bomb = deflateRawSync(Buffer.alloc(16 << 20)).subarray(0, 60_000)
    const hostile = {
      'a length of eight bytes': [{}, [Buffer.from([130, 255, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4])]],
      'fragments': [{}, [frame(TEXT, 'x', { more: true }), ...Array(10).fill(piece)]],
      'empty fragments and one of text': [{}, [frame(TEXT, '', { more: true }), ...Array(1000).fill(empty), ...Array(11).fill(piece)]],
      'a compressed bomb': [deflated, [compressed(frame(BINARY, bomb))]],
      'a compressed bomb in fragments': [deflated, [compressed(frame(BINARY, bomb.subarray(0, 30_000), { more: true })), frame(0, bomb.subarray(30_000))]]
    }
    for (const [kind, [fields, pieces]] of Object.entries(hostile)) {
      const client = await open(t, version, server.port, fields)
      if (fields === deflated) assert.match(client.headers['sec-websocket-extensions'], /permessage-deflate/)
      await client.write(Buffer.concat(pieces))
      const next = await client.next()
      assert.deepEqual([next[0], next[1].readUInt16BE(0)], [CLOSE, 1009], kind)
      await other.write(frame(TEXT, kind))
      assert.deepEqual(String((await other.next())[1]), kind)
    }
    // A client may have the close frame before its server has closed.
    await codes.until(log => log.length === Object.keys(hostile).length)
    assert.equal(server.pendingWebSockets, 1)
  })

  test(`${name}: what a client sends right behind its request is not lost`, async t => {
    const received = logged()
    const server = served(t, version, { message: (ws, message) => { received.add(message) } })
    await open(t, version, server.port, {}, Buffer.concat([frame(TEXT, 'early'), frame(TEXT, 'more')]))
    assert.deepEqual(await received.until(log => log.length === 2), [['early'], ['more']])
  })

  test(`${name}: a request that asks for no WebSocket, or not in words that can be answered, is not upgraded`, async t => {
    const server = served(t, version, { message () {} })
    const client = version.connect(server.port)
    t.after(() => client.close())
    const plain = await client.ask('/plain')
    assert.deepEqual([plain.status, String(plain.body)], [426, 'beside'])
    const refused = [{ 'sec-websocket-version': '12' }, { 'sec-websocket-version': null }]
    if (version.protocol !== 'h2') refused.push({ 'sec-websocket-key': 'short' }, { 'sec-websocket-key': null }, { upgrade: 'else' })
    for (const fields of refused) assert.equal((await open(t, version, server.port, fields)).status, 426, JSON.stringify(fields))
    assert.equal(server.pendingWebSockets, 0)
  })

  test(`${name}: upgrade adds headers and agrees on the subprotocol that it is given, or on the first`, async t => {
    const server = served(t, version, { open: ws => { ws.send(ws.protocol) } }, {
      fetch (request, info) {
        const headers = request.headers.get('x-own') === null ? undefined : { 'x-a': 'b', 'set-cookie': 'c=d', 'Sec-WebSocket-Protocol': 'second' }
        assert.equal(info.upgrade(request, { headers }), true)
        assert.equal(info.upgrade(request), false)
      }
    })
    const offered = { 'sec-websocket-protocol': 'first, second' }
    const plain = await open(t, version, server.port, offered)
    assert.deepEqual([plain.headers['sec-websocket-protocol'], String((await plain.next())[1])], ['first', 'first'])
    const own = await open(t, version, server.port, { ...offered, 'x-own': '1' })
    assert.deepEqual([own.headers['sec-websocket-protocol'], own.headers['x-a'], String(own.headers['set-cookie']), String((await own.next())[1])], ['second', 'b', 'c=d', 'second'])
  })

  test(`${name}: cookies that a handler sets and deletes go with the upgrade`, async t => {
    const server = served(t, version, { open: ws => { ws.send('open') } }, {
      fetch (request, server) {
        request.cookies.set('sid', '9')
        request.cookies.delete('old')
        server.upgrade(request, { headers: { 'set-cookie': 'a=b' } })
      }
    })
    const { headers } = await open(t, version, server.port, { cookie: 'old=1' })
    const lines = [headers['set-cookie']].flat().join('\n')
    for (const line of [/a=b/, /sid=9; Path=\/; SameSite=Lax/, /old=; Path=\/; Expires=/]) assert.match(lines, line)
  })

  test(`${name}: behind terminate and close no message is delivered, also one that came with the message before`, async t => {
    for (const last of ['terminate', 'close']) {
      const events = logged()
      const server = served(t, version, {
        message (ws, message) {
          events.add(message)
          ws[message]()
        },
        close: () => { events.add('over') }
      })
      const client = await open(t, version, server.port)
      await client.write(Buffer.concat([frame(TEXT, last), frame(TEXT, 'send'), closing(1000)]))
      await events.until(log => log.some(([entry]) => entry === 'over'))
      assert.deepEqual(events.log, [[last], ['over']])
    }
  })

  test(`${name}: messages that are too long, handlers that fail and frames that are none close with their code`, async t => {
    t.mock.method(console, 'error', () => {})
    const codes = logged()
    const server = served(t, version, {
      maxPayloadLength: 100,
      message (ws, message) {
        if (message === 'throw') throw new Error('thrown')
        if (message === 'reject') return Promise.reject(new Error('rejected'))
        if (message === 'terminate') ws.terminate()
        if (message === 'close') ws.close(4001, 'enough')
      },
      close: (ws, code) => { codes.add(code) }
    })
    const closedBy = async bytes => {
      const client = await open(t, version, server.port)
      await client.write(bytes)
      const next = await client.next()
      return next === null ? null : next[1].readUInt16BE(0)
    }
    assert.equal(await closedBy(frame(TEXT, 'x'.repeat(101))), 1009)
    assert.equal(await closedBy(frame(TEXT, 'throw')), 1011)
    assert.equal(await closedBy(frame(TEXT, 'reject')), 1011)
    assert.equal(await closedBy(frame(TEXT, 'close')), 4001)
    assert.equal(await closedBy(Buffer.from([0xff, 0x80, 0, 0, 0, 0])), 1002)
    assert.equal(await closedBy(frame(TEXT, Buffer.from([0xff]))), 1007)
    assert.equal(await closedBy(Buffer.from([0x81, 0x01, 0x61])), 1002)
    assert.equal(await closedBy(frame(TEXT, 'terminate')), null)
    assert.equal(console.error.mock.callCount(), 2)
  })

  test(`${name}: a server that is stopped at once closes its sockets with 1001, also one whose client says nothing to that`, async t => {
    const codes = logged()
    const server = served(t, version, { close: () => { codes.add('closed') } })
    const clients = [await open(t, version, server.port), await open(t, version, server.port)]
    const stopped = server.stop(true)
    for (const client of clients) {
      const [kind, bytes] = await client.next()
      assert.deepEqual([kind, bytes.readUInt16BE(0)], [CLOSE, 1001])
    }
    await clients[0].write(closing(1001))
    await stopped
    await codes.until(log => log.length === 2)
  })

  test(`${name}: a client that is silent is pinged, and ended when it says nothing to that`, async t => {
    const codes = logged()
    const server = served(t, version, { idleTimeout: 1, close: (ws, code) => { codes.add(code) } })
    const client = await open(t, version, server.port)
    assert.deepEqual(await client.next(), [PING, Buffer.alloc(0)])
    assert.equal(await client.next(), null)
    assert.deepEqual(await codes.until(log => log.length === 1), [[1006]])
  })

  test(`${name}: a client that does not read holds a sender back, up to a bound, and drain says when it reads`, async t => {
    const drained = logged()
    let ws
    const server = served(t, version, { backpressureLimit: 1 << 20, open: opened => { ws = opened }, drain: () => { drained.add('drain') } })
    const client = await open(t, version, server.port)
    client.stream.pause()
    const piece = Buffer.alloc(8 * 1024)
    const printed = []
    // The kernel and the windows take some of it first.
    for (let count = 0; count < 16_384 && printed.at(-1) !== 0; count++) {
      printed.push(ws.send(piece))
      await new Promise(setImmediate)
    }
    assert.deepEqual([printed[0], printed.at(-2), printed.at(-1)], [piece.length, -1, 0])
    assert.ok(ws.getBufferedAmount() > 0)
    client.stream.resume()
    await drained.until(log => log.length > 0)
    let sent = printed.filter(status => status !== 0).length
    while (sent-- > 0) assert.deepEqual((await client.next())[1].length, piece.length)
    // A client may have the last of it before it is known here that it has gone.
    while (ws.getBufferedAmount() > 0) await new Promise(setImmediate)
    assert.equal(ws.send(piece), piece.length)
  })
}

/** Clients of other packages, for the versions that they speak. */
const foreign = {
  ws: version => version.protocol === 'http/1.1' && ((url, t) => new WsClient(url, { ca: cert, family: 4 })),
  "Node's own": version => version.name === 'h1' && major >= 22 && (url => new WebSocket(url)),
  "undici's": version => version.options.tls !== undefined && major >= 22 && ((url, t) => {
    const agent = new Agent({ connect: { ca: cert }, ...(version.protocol === 'h3' ? { http3: 'only' } : version.protocol === 'h2' ? {} : { allowH2: false }) })
    t.after(() => agent.destroy())
    return import('undici8').then(({ WebSocket }) => new WebSocket(url, { dispatcher: agent }))
  })
}

for (const version of versions) {
  for (const [whose, make] of Object.entries(foreign)) {
    const connect = make(version)
    if (!connect) continue
    test(`${version.name}, the client is ${whose}: text and bytes go there and back, topics reach others, and the end has its code`, async t => {
      const ended = logged()
      const server = served(t, version, {
        open: ws => { ws.subscribe('all') },
        message (ws, message) {
          if (message === 'publish') ws.publish('all', 'from another')
          else ws.send(message)
        },
        close: (ws, code, reason) => { ended.add(code, reason) }
      })
      const url = `${version.options.tls === undefined ? 'ws' : 'wss'}://localhost:${server.port}/chat`
      await awake(async function () {
        const [one, other] = [await connect(url, t), await connect(url, t)]
        for (const socket of [one, other]) {
          socket.binaryType = 'arraybuffer'
          if (socket.readyState !== 1) await once(socket, 'open')
        }
        while (server.subscriberCount('all') < 2) await new Promise(setImmediate)
        const received = new Map([one, other].map(socket => [socket, logged()]))
        for (const socket of [one, other]) socket.addEventListener('message', ({ data }) => { received.get(socket).add(typeof data === 'string' ? data : Buffer.from(data)) })
        one.send('a text: ä')
        one.send(BIG)
        one.send('publish')
        one.send('last')
        assert.deepEqual(await received.get(one).until(log => log.length === 3), [['a text: ä'], [BIG], ['last']])
        assert.deepEqual(await received.get(other).until(log => log.length === 1), [['from another']])
        assert.deepEqual([server.pendingWebSockets, server.subscriberCount('all')], [2, 2])
        const closed = [one, other].map(socket => once(socket, 'close'))
        one.close(4000, 'enough')
        other.close()
        await Promise.all(closed)
        const codes = await ended.until(log => log.length === 2)
        assert.deepEqual(codes.map(String).sort(), ['1005,', '4000,enough'])
        assert.deepEqual([server.pendingWebSockets, server.subscriberCount('all')], [0, 0])
      }())
    })
  }
}

const [h1] = versions

test('topics reach those that are subscribed, and the sender only where publishToSelf is on', async t => {
  for (const publishToSelf of [false, true]) {
    const sockets = []
    const server = served(t, h1, { publishToSelf, open: ws => { sockets.push(ws) } })
    const clients = []
    for (let count = 0; count < 3; count++) clients.push(await open(t, h1, server.port))
    const [one, two, three] = sockets
    one.subscribe('a')
    two.subscribe('a')
    two.subscribe('b')
    assert.deepEqual([two.subscriptions, two.isSubscribed('b'), three.isSubscribed('b'), server.subscriberCount('a'), server.subscriberCount('none')], [['a', 'b'], true, false, 2, 0])
    assert.equal(one.publish('a', 'text'), 4)
    assert.equal(server.publish('b', Buffer.from([1, 2])), 2)
    assert.equal(server.publish('none', 'text'), 0)
    two.unsubscribe('a')
    assert.equal(three.publish('a', 'for one'), 7)
    assert.equal(two.publish('b', 'alone'), publishToSelf ? 5 : 0)
    for (const ws of sockets) ws.close()
    const received = []
    for (const client of clients) {
      const reported = []
      for (let next = await client.next(); next[0] !== CLOSE; next = await client.next()) reported.push(String(next[1]))
      received.push(reported)
    }
    assert.deepEqual(received, [[...publishToSelf ? ['text'] : [], 'for one'], ['text', '\u0001\u0002', ...publishToSelf ? ['alone'] : []], []])
    assert.equal(one.send('late'), 0)
    one.subscribe('late')
    assert.equal(server.subscriberCount('late'), 0)
  }
})

test('bytes come in the form that is asked for, and what is corked goes out in order', async t => {
  const forms = []
  const server = served(t, h1, {
    open: ws => { ws.binaryType = ws.data.path === '/chat' ? 'uint8array' : 'arraybuffer' },
    message (ws, message) {
      forms.push(message.constructor.name)
      ws.binaryType = 'arraybuffer'
      assert.equal(ws.cork(own => {
        own.sendText('one')
        own.sendBinary(new Uint8Array([50]).buffer)
        assert.throws(() => own.send(5), /a message is a value of the type number/)
        return own.send(new DataView(new ArrayBuffer(1)))
      }), 1)
    }
  })
  const client = await open(t, h1, server.port)
  for (let round = 0; round < 2; round++) {
    await client.write(frame(BINARY, 'x'))
    assert.deepEqual([await client.next(), await client.next(), await client.next()].map(([kind, bytes]) => [kind, String(bytes)]), [[TEXT, 'one'], [BINARY, '2'], [BINARY, '\0']])
  }
  assert.deepEqual(forms, ['Uint8Array', 'ArrayBuffer'])
})

test('compression is agreed on where it is on, and not otherwise', async t => {
  for (const perMessageDeflate of [false, true]) {
    const server = served(t, h1, { perMessageDeflate, message: (ws, message) => { ws.send(message) } })
    const client = new WsClient(`ws://127.0.0.1:${server.port}/`, { perMessageDeflate: true })
    await once(client, 'open')
    assert.equal(client.extensions, perMessageDeflate ? 'permessage-deflate' : '')
    client.send(BIG)
    const [data] = await once(client, 'message')
    assert.ok(BIG.equals(data))
    client.close()
    await once(client, 'close')
  }
})

test('handlers may be exchanged while sockets are open, and stop(true) ends them', async t => {
  const ended = logged()
  const server = served(t, h1, { message: ws => { ws.send('first') } })
  const client = await open(t, h1, server.port)
  await client.write(frame(TEXT, 'x'))
  assert.equal(String((await client.next())[1]), 'first')
  server.reload({ websocket: { message: ws => { ws.send('second') }, close: (ws, code) => { ended.add(code) } } })
  await client.write(frame(TEXT, 'x'))
  assert.equal(String((await client.next())[1]), 'second')
  await server.stop(true)
  assert.deepEqual([(await client.next())[0], await client.next()], [CLOSE, null])
  assert.deepEqual(await ended.until(log => log.length === 1), [[1001]])
})

test('a time for silence that reload sets counts for sockets that were open without one', async t => {
  const ended = logged()
  const server = served(t, h1, { idleTimeout: 0 })
  await open(t, h1, server.port)
  server.reload({ websocket: { idleTimeout: 1, sendPings: false, close: (ws, code) => { ended.add(code) } } })
  assert.deepEqual(await ended.until(log => log.length === 1), [[1006]])
})

test('upgrade without handlers, and handlers that are none, are refused in words', async t => {
  let error
  const server = serve({
    hostname: '127.0.0.1',
    fetch (request, info) {
      try {
        info.upgrade(request)
      } catch (thrown) {
        error = thrown
      }
      return new Lean('')
    }
  })
  t.after(() => server.stop(true))
  await open(t, h1, server.port)
  assert.match(error.message, /needs the option websocket/)
  const fetch = () => new Lean('')
  for (const [websocket, message] of [
    [{ mesage () {} }, /no option mesage: is message meant\?/], [{ message: 5 }, /websocket\.message must be a function/], [{ maxPayloadLength: -1 }, /maxPayloadLength is -1/],
    [{ idleTimeout: '5' }, /idleTimeout is 5/], [5, /must be an object/]
  ]) assert.throws(() => serve({ fetch, websocket }), message)
})

for (const version of framed) {
  test(`${version.name}: close reports what the server closed with, whatever the client answers`, async t => {
    const { log, add, until } = logged()
    const closes = {
      reason: ws => { ws.close(4001, 'why') },
      twice: ws => {
        ws.close(4002, 'first')
        ws.close(4003, 'second')
      },
      plain: ws => { ws.close() },
      ends: ws => {
        ws.close(4004, 'late')
        ws.terminate()
      }
    }
    const server = served(t, version, { message: (ws, name) => { closes[name](ws) }, close: (ws, ...args) => { add(...args) } })
    const expected = { reason: [4001, 'why'], twice: [4002, 'first'], plain: [1000, ''], ends: [1006, ''] }
    for (const [name, args] of Object.entries(expected)) {
      const before = log.length
      const client = await open(t, version, server.port)
      await client.write(frame(TEXT, name))
      // The answer of a browser: the code alone.
      if (name !== 'ends') {
        await client.next()
        await client.write(closing(args[0]))
      }
      await until(() => log.length > before)
      assert.deepEqual(log.at(-1), args, name)
    }
  })

  test(`${version.name}: a socket that is paused is not read before it is resumed`, async t => {
    const { add, until } = logged()
    const sockets = []
    const server = served(t, version, {
      open (ws) {
        if (sockets.push(ws) === 1) ws.pause()
        add('open', ws.isPaused)
      },
      message (ws, text) { add(text, ws.isPaused) }
    })
    const client = await open(t, version, server.port)
    await client.write(frame(TEXT, 'paused'))
    // A later message of another one is reported first.
    const other = await open(t, version, server.port)
    await other.write(frame(TEXT, 'other'))
    assert.deepEqual(await until(log => log.length === 3), [['open', true], ['open', false], ['other', false]])
    sockets[0].resume()
    assert.deepEqual((await until(log => log.length === 4)).at(-1), ['paused', false])
  })
}

// Connections: undici's events and channels, and the options of their life and their destination.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import { Agent, Client, Pool, request } from 'trunkline'
import * as undici7 from 'undici7'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { h1, h1s, h2, origin, ways } from '../../support/servers/servers.mjs'

const get = async (dispatcher, origin, options) => (await viaNew(dispatcher, { origin, path: '/', method: 'GET', ...options })).body.toString()
const answer = (request, response) => { response.end('answer') }

/**
 * The next event of this kind. An idle dispatcher does not keep the process alive, so this does;
 * and it holds the dispatcher, which could be collected with its listeners otherwise.
 */
async function next (dispatcher, event) {
  const awake = setInterval(() => dispatcher, 1000)
  try {
    return await once(dispatcher, event)
  } finally {
    clearInterval(awake)
  }
}

/** Everything that these events say, with undici's dispatchers or ours. */
function receive (dispatcher) {
  const received = []
  for (const event of ['connect', 'disconnect', 'connectionError']) {
    dispatcher.on(event, (origin, targets, error) => { received.push({ event, origin, targets, error }) })
  }
  return received
}

for (const { name, serve, options } of ways) {
  test(`connect and disconnect are told with origin, targets and why, over ${name}`, async () => {
    const server = await serve(answer)
    const dispatchers = [new Client(server.url, options), new Pool(server.url, options), new Agent(options)]
    for (const [depth, dispatcher] of dispatchers.entries()) {
      const received = receive(dispatcher)
      assert.equal(await get(dispatcher, server.url), 'answer')
      assert.equal(received.length, 1)
      assert.equal(received[0].event, 'connect', 'before the answer')
      const ended = next(dispatcher, 'disconnect')
      for (const socket of server.sockets) socket.destroy()
      await ended
      assert.deepEqual(received.map(({ event }) => event), ['connect', 'disconnect'])
      for (const { origin, targets } of received) {
        assert.ok(origin instanceof URL)
        assert.equal(origin.origin, server.url)
        assert.equal(targets[0], dispatcher)
        assert.equal(targets.length, depth + 1, "as many as undici's: a Client, a Pool and a Client, an Agent too")
      }
      const [[, ...inner], [, ...innerOfEnd]] = received.map(({ targets }) => targets)
      assert.ok(inner.every((target, at) => target === innerOfEnd[at]), 'the same ones at its end')
      if (depth > 0) assert.equal(inner.at(-1).remotePort, Number(new URL(server.url).port), 'the innermost is the connection')
      if (depth > 1) assert.equal(inner[0].origin, server.url)
      assert.ok(received[1].error instanceof undici7.errors.SocketError, received[1].error)
      assert.equal(await get(dispatcher, server.url), 'answer', 'the next request finds a new one')
      assert.equal(received[2].event, 'connect')
      await dispatcher.close()
    }
    await server.close()
  })
}

test('a connection that close or destroy ends has the error of destroy, as with undici', async () => {
  const server = await h2(answer)
  const pool = new Pool(server.url, { connect: { ca: cert } })
  await get(pool)
  const ended = next(pool, 'disconnect')
  await pool.close()
  const [, , error] = await ended
  assert.equal(error.code, 'UND_ERR_DESTROYED')
  const own = new Error('my own')
  const other = new Pool(server.url, { connect: { ca: cert } })
  await get(other)
  const destroyed = next(other, 'disconnect')
  await other.destroy(own)
  assert.equal((await destroyed)[2], own)
  await server.close()
})

test('a connection that an HTTP/2 server ends says its GOAWAY, as with undici', async () => {
  for (const [code, expected] of [[0, 'InformationalError'], [2, 'SocketError']]) {
    const server = await h2((request, response) => {
      const { session } = response.stream
      response.on('finish', () => { session.goaway(code) })
      response.end('answer')
    })
    const pool = new Pool(server.url, { connect: { ca: cert } })
    const ended = next(pool, 'disconnect')
    await get(pool)
    const [, , error] = await ended
    assert.deepEqual([error.name, error.message], [expected, `HTTP/2: "GOAWAY" frame received with code ${code}`])
    await pool.close()
    await server.close()
  }
})

test('the last request of a connection says so, and no other connection takes its place before its end', async () => {
  const fields = []
  let [running, most, wanted, release] = [0, 0, 1, null]
  let together = new Promise(resolve => { release = resolve })
  const server = await h1(async (request, response) => {
    most = Math.max(most, ++running)
    fields.push(request.headers.connection)
    // As many as may run at once do, on a busy machine too; the last one need not find another.
    if (running >= wanted || fields.length === 6) {
      release()
      together = new Promise(resolve => { release = resolve })
    } else await together
    await after(1)
    running--
    response.end('answer')
  })
  for (const { connections, options, last } of [
    { connections: 1, options: { maxRequestsPerClient: 1 }, last: 6 },
    { connections: 1, options: { maxRequestsPerClient: 2 }, last: 3 },
    { connections: 2, options: { maxRequestsPerClient: 1 }, last: 6 },
    { connections: 1, options: { clientTtl: 1 } }
  ]) {
    wanted = connections
    const pool = new Pool(server.url, { connections, ...options })
    await Promise.all(Array.from({ length: 6 }, () => get(pool)))
    assert.equal(most, connections, JSON.stringify(options))
    if (last !== undefined) assert.equal(fields.filter(value => value === 'close').length, last, JSON.stringify(options))
    most = fields.length = 0
    await pool.close()
  }
  await server.close()
})

test('statistics count a request from the moment that it was made', async () => {
  const server = await h1(answer)
  const client = new Client(server.url)
  const agent = new Agent()
  const asked = [get(client), get(client), get(agent, server.url)]
  assert.deepEqual([client.stats.connected, client.stats.pending, client.stats.running, client.stats.size], [false, 2, 0, 2])
  assert.equal(agent.stats[server.url].size, 1)
  assert.deepEqual(Object.keys(agent.stats), [server.url], 'who goes through them finds origins alone')
  assert.ok(agent.stats.totals.submitted >= 0 && Array.isArray(client.stats.origins))
  await Promise.all(asked)
  assert.equal(client.stats.size, 0)
  await client.close()
  await agent.close()
  await server.close()
})

test('a connection that fails is reported before the requests that waited for it, and behind a handler of dispatch', async () => {
  for (const made of [new Client('http://127.0.0.1:1'), new Pool('http://127.0.0.1:1'), new Agent()]) {
    const seen = []
    made.on('connectionError', () => { seen.push('event') })
    await get(made, 'http://127.0.0.1:1').catch(() => { seen.push('request') })
    await new Promise(resolve => {
      made.dispatch({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' }, {
        onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd () {},
        onResponseError () { seen.push('handler'); setImmediate(resolve) }
      })
    })
    assert.deepEqual(seen, ['event', 'request', 'handler', 'event'])
    await made.close()
  }
})

test('a connection that fails is told once, behind the requests that fail with it', async () => {
  // A port that the system never assigns; one that was given back may be another's by now.
  const url = 'http://127.0.0.1:1'
  const agent = new Agent()
  const order = []
  agent.on('connectionError', (origin, targets, error) => { order.push(['event', origin.origin, targets[0] === agent, targets.length, error.code]) })
  agent.dispatch({ origin: url, path: '/', method: 'GET' }, {
    onRequestStart () {},
    onResponseStart () {},
    onResponseData () {},
    onResponseEnd () {},
    onResponseError (_, error) { order.push(['request', error.code]) }
  })
  await next(agent, 'connectionError')
  assert.deepEqual(order, [['request', 'ECONNREFUSED'], ['event', url, true, 3, 'ECONNREFUSED']])
  await agent.close()
})

test('a dispatcher that is destroyed while it connects tells of no connection', async () => {
  const silent = net.createServer(socket => { socket.on('error', () => {}) }).listen(0, '127.0.0.1').unref()
  await once(silent, 'listening')
  const reached = once(silent, 'connection')
  const pool = new Pool(`https://127.0.0.1:${silent.address().port}`)
  const received = receive(pool)
  const lost = get(pool).catch(error => error)
  const [socket] = await reached
  const closed = once(socket, 'close')
  await pool.destroy()
  assert.equal((await lost).code, 'UND_ERR_DESTROYED')
  socket.destroy()
  await closed
  await after(50)
  assert.deepEqual(received, [])
  silent.close()
})

test('a WebSocket takes its connection away from the dispatcher', async () => {
  const server = await h1(() => {})
  server.server.on('upgrade', (_, socket) => { socket.end('HTTP/1.1 101 go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nbye') })
  const pool = new Pool(server.url)
  const received = receive(pool)
  const { socket } = await pool.upgrade({ path: '/', protocol: 'x' })
  for await (const _ of socket);
  assert.deepEqual(received.map(({ event, error }) => [event, error?.code]), [['connect', undefined], ['disconnect', 'UND_ERR_INFO']])
  await pool.close()
  await server.close()
})

test('channels show connections as undici does: parameters, socket and error', async () => {
  const names = ['beforeConnect', 'connected', 'connectError', 'sendHeaders']
  const received = []
  const listeners = names.map(name => [`undici:client:${name}`, message => { received.push({ name, ...message }) }])
  for (const [name, listener] of listeners) subscribe(name, listener)
  for (const { name, serve, options } of ways) {
    received.length = 0
    const server = await serve(answer)
    const { host, port, protocol } = new URL(server.url)
    const agent = new Agent(options)
    await get(agent, server.url)
    await get(agent, server.url)
    assert.deepEqual(received.map(({ name }) => name), ['beforeConnect', 'connected', 'sendHeaders', 'sendHeaders'], name)
    const [before, connected, first, second] = received
    const { host: ofHost, hostname, port: ofPort, protocol: ofProtocol, version } = connected.connectParams
    assert.deepEqual([ofHost, hostname, ofPort, ofProtocol, version], [host, 'localhost', port, protocol, name === 'h2' ? 'h2' : 'h1'])
    assert.equal(before.connectParams.version, undefined)
    assert.equal(typeof before.connector, 'function')
    const { socket } = connected
    assert.equal(first.socket, socket)
    assert.equal(second.socket, socket)
    const [atServer] = server.sockets
    assert.deepEqual([socket.remoteAddress, socket.remotePort, socket.localPort], ['127.0.0.1', Number(port), atServer.remotePort])
    assert.equal(socket.alpnProtocol, { h1: false, 'h1 over TLS': 'http/1.1', h2: 'h2' }[name])
    assert.equal(socket.encrypted, protocol === 'https:')
    assert.deepEqual(socket.address(), { address: '127.0.0.1', port: atServer.remotePort, family: 'IPv4' })
    await agent.close()
    await server.close()
  }
  received.length = 0
  const agent = new Agent()
  await assert.rejects(get(agent, 'http://127.0.0.1:1'), { code: 'ECONNREFUSED' })
  assert.deepEqual(received.map(({ name }) => name), ['beforeConnect', 'connectError'])
  assert.equal(received[1].error.code, 'ECONNREFUSED')
  for (const [name, listener] of listeners) unsubscribe(name, listener)
  await agent.close()
})

test("connections of h3 are told too, with their peer's address", async () => {
  const server = await origin()
  const agent = new Agent({ http3: 'only', connect: { ca: cert } })
  const received = []
  const listener = message => { received.push(message) }
  subscribe('undici:client:connected', listener)
  await get(agent, server.https)
  unsubscribe('undici:client:connected', listener)
  assert.equal(received[0].connectParams.version, 'h3')
  assert.equal(received[0].socket.remotePort, Number(new URL(server.https).port))
  await agent.close()
  await server.close()
})

test("undici's Agent keeps a pool of ours, which its factory made, over the end of a connection", async () => {
  const pair = []
  const server = await h1((request, response) => {
    // Each on a connection of its own, because neither is answered before the other has come.
    if (request.url === '/pair') {
      if (pair.push(response) === 2) for (const one of pair) one.end('answer')
      return
    }
    response.end('answer')
    if (request.url === '/last') response.on('close', () => { request.socket.destroy() })
  })
  const made = []
  const agent = new undici7.Agent({ factory: origin => {
    const pool = new Pool(origin)
    made.push(pool)
    return pool
  } })
  const fetched = async path => (await undici7.request(server.url + path, { dispatcher: agent })).body.text()
  // Two connections, of which one ends.
  await Promise.all([fetched('/pair'), fetched('/pair')])
  const ended = next(agent, 'disconnect')
  await fetched('/last')
  const [, targets] = await ended
  assert.equal(targets[0], agent)
  assert.equal(await fetched('/'), 'answer')
  assert.equal(made.length, 1)
  await agent.close()
  await server.close()
})

test('connect.lookup resolves names, in every form that Node.js allows, once per connection', async () => {
  const server = await h2(answer)
  const { port } = new URL(server.url)
  const forms = [
    (name, options, done) => done(null, '127.0.0.1', 4),
    (name, options, done) => setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }]),
    (name, options, done) => { assert.equal(options.all, true); done(null, [{ address: '::1', family: 6 }, { address: '127.0.0.1', family: 4 }]) }
  ]
  for (const form of forms) {
    const asked = []
    const agent = new Agent({ connect: { ca: cert, lookup: (name, ...rest) => { asked.push(name); form(name, ...rest) } } })
    const all = await Promise.all(Array.from({ length: 20 }, () => get(agent, `https://other.test:${port}`)))
    assert.equal(all.length, 20)
    assert.deepEqual(asked, ['other.test'])
    assert.equal(await get(agent, `https://127.0.0.1:${port}`), 'answer')
    assert.equal(asked.length, 1, 'addresses are not looked up')
    await agent.close()
  }
  await server.close()
})

test('what connect.lookup fails with is what requests fail with', async () => {
  const own = Object.assign(new Error('my own'), { code: 'EMINE' })
  const failing = [
    [(name, options, done) => done(own), error => error === own],
    [() => { throw own }, error => error === own],
    [(name, options, done) => done(null, []), error => error.code === 'ENOTFOUND'],
    [(name, options, done) => done(null, 'nowhere'), error => error.code === 'ERR_INVALID_IP_ADDRESS'],
    [(name, options, done) => done(null, [{ address: 'fe80::1%eth0', family: 6 }]), error => error.code === 'ERR_INVALID_IP_ADDRESS']
  ]
  for (const [lookup, isRight] of failing) {
    const agent = new Agent({ connect: { lookup } })
    const errors = await Promise.all(Array.from({ length: 3 }, () => get(agent, 'http://a.test').then(() => null, error => error)))
    for (const error of errors) assert.ok(isRight(error), String(error?.stack))
    await agent.close()
  }
  assert.throws(() => new Agent({ connect: { lookup: 1 } }), { code: 'UND_ERR_INVALID_ARG' })
  const silent = new Agent({ connect: { lookup () {}, timeout: 50 } })
  await assert.rejects(get(silent, 'http://a.test'), { code: 'UND_ERR_CONNECT_TIMEOUT' })
  await silent.close()
})

test('a time limit that is over is named in the words of undici, and by the end of the connection of HTTP/1.1', async () => {
  const server = net.createServer(socket => { socket.on('error', () => {}).once('data', data => { if (String(data).startsWith('POST')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha') }) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address()
  for (const [method, limit, code] of [['GET', 'headersTimeout', 'UND_ERR_HEADERS_TIMEOUT'], ['POST', 'bodyTimeout', 'UND_ERR_BODY_TIMEOUT']]) {
    const client = new Client(`http://127.0.0.1:${port}`, { [limit]: 50 })
    const ended = once(client, 'disconnect')
    const asked = client.request({ path: '/', method }).then(({ body }) => body.text())
    const error = await asked.then(() => null, error => error)
    assert.equal(error?.code, code)
    assert.equal((await ended)[2], error)
    await client.close()
  }
  const secure = new Agent({ connectTimeout: 50 })
  const message = `Connect Timeout Error (attempted address: 127.0.0.1:${port}, timeout: 50ms)`
  await assert.rejects(get(secure, `https://127.0.0.1:${port}`), { code: 'UND_ERR_CONNECT_TIMEOUT', message })
  await secure.close()
  server.close()
})

test('reset and connection: close end an HTTP/1.1 connection behind the request, and no other', async () => {
  const seen = []
  const server = await h1((request, response) => { seen.push(request.headers.connection); response.end('answer') })
  const pool = new Pool(server.url)
  await get(pool)
  await get(pool, undefined, { reset: true })
  await get(pool, undefined, { headers: { connection: 'close' } })
  await get(pool)
  await get(pool)
  assert.deepEqual(seen.map(printed => printed ?? 'keep-alive'), ['keep-alive', 'close', 'close', 'keep-alive', 'keep-alive'])
  assert.equal(server.counts.sockets, 3)
  await pool.close()
  const none = new Pool(server.url, { pipelining: 0 })
  await get(none)
  await get(none)
  assert.equal(server.counts.sockets, 5, 'pipelining 0 keeps nothing alive')
  await none.close()
  await server.close()

  const shared = await h2(answer)
  const agent = new Agent({ connect: { ca: cert } })
  await get(agent, shared.url, { reset: true })
  await get(agent, shared.url)
  assert.equal(shared.counts.sessions, 1, 'a connection that others share stays')
  await agent.close()
  await shared.close()
})

test('nothing is pipelined behind a blocking request before it is answered', async () => {
  for (const blocking of [true, false]) {
    const open = []
    const server = await h1((request, response) => { open.push(response) })
    const client = new Client(server.url, { pipelining: 3 })
    const first = get(client, undefined, { blocking })
    const others = [get(client, undefined, { blocking }), get(client, undefined, { blocking })]
    while (open.length < 1) await after(1)
    assert.equal(client.stats.origins[0].waiting, blocking ? 2 : 0)
    open[0].end('answer')
    await first
    // Node.js asks its handler for the next one when the one before is answered.
    for (let at = 1; at < 3; at++) {
      while (open.length <= at) await after(1)
      open[at].end('answer')
    }
    await Promise.all(others)
    await client.close()
    await server.close()
  }
})

test("a server's keep-alive: timeout ends an idle connection before it does itself", async () => {
  const hinting = timeout => h1((request, response) => {
    response.setHeader('keep-alive', `timeout=${timeout}`)
    response.end('answer')
  })
  // 2 s less 1,900 ms are 100 ms.
  const soon = await hinting(2)
  const pool = new Pool(soon.url, { keepAliveTimeout: 60_000, keepAliveTimeoutThreshold: 1900 })
  const ended = next(pool, 'disconnect')
  await get(pool)
  const [, , error] = await ended
  assert.equal(error.code, 'UND_ERR_INFO')
  await pool.close()

  const bounded = new Pool(soon.url, { keepAliveTimeout: 60_000, keepAliveTimeoutThreshold: 0, keepAliveMaxTimeout: 50 })
  const cut = next(bounded, 'disconnect')
  await get(bounded)
  await cut
  await bounded.close()

  const nothing = new Pool(soon.url, { keepAliveTimeout: 60_000, keepAliveTimeoutThreshold: 3000 })
  const atOnce = next(nothing, 'disconnect')
  await get(nothing)
  await atOnce
  await nothing.close()

  const late = await hinting(600)
  const kept = new Pool(late.url, { keepAliveTimeout: 20, keepAliveTimeoutThreshold: 0 })
  const received = receive(kept)
  await get(kept)
  await after(200)
  assert.deepEqual(received.map(({ event }) => event), ['connect'], 'it may also be longer than keepAliveTimeout')
  await kept.close()
  await late.close()
  await soon.close()
})

test('clientTtl ends connections by age, and 0 does not', async () => {
  const server = await h2(answer)
  const options = { connect: { ca: cert } }
  const old = new Pool(server.url, { ...options, clientTtl: 10 })
  const ended = next(old, 'disconnect')
  await get(old)
  await ended
  await get(old)
  // A slow machine may need more than one that is young enough.
  assert.ok(server.counts.sessions >= 2, String(server.counts.sessions))
  await old.close()
  const young = new Pool(server.url, { ...options, clientTtl: 1 })
  for (let turn = 0; turn < 5; turn++) {
    const all = await Promise.all(Array.from({ length: 300 }, () => get(young)))
    assert.ok(all.every(text => text === 'answer'), 'however short it is, what is in line is answered')
  }
  await young.close()
  const ageless = new Pool(server.url, { ...options, clientTtl: 0 })
  await get(ageless)
  await ageless.close()
  assert.throws(() => new Pool(server.url, { clientTtl: -1 }), { code: 'UND_ERR_INVALID_ARG' })
  await server.close()
})

test('maxCachedSessions says of how many servers TLS sessions are resumed', async () => {
  const server = await h1s(answer)
  const resumed = []
  server.server.on('secureConnection', socket => { resumed.push(socket.isSessionReused()) })
  const visits = { undefined: [false, true, false, true], 0: [false, false, false, false], 1: [false, true, false, false] }
  for (const [maxCachedSessions, expected] of Object.entries(visits)) {
    const options = maxCachedSessions === 'undefined' ? {} : { maxCachedSessions: Number(maxCachedSessions) }
    const agent = new Agent({ connect: { ca: cert }, ...options })
    resumed.length = 0
    for (const servername of ['localhost', 'localhost', 'other.test', 'localhost']) {
      await get(agent, server.url, { servername, reset: true })
    }
    assert.deepEqual(resumed, expected, maxCachedSessions)
    await agent.close()
  }
  const most = new Agent({ maxCachedSessions: Number.MAX_SAFE_INTEGER })
  await most.close()
  await server.close()
})

test('pingInterval asks a silent peer though no request needs it, tells how long it took, and 0 does not', async () => {
  const server = await h2(answer)
  const pings = []
  server.server.on('session', session => {
    const at = pings.push(0) - 1
    session.on('ping', () => { pings[at]++ })
  })
  const ways = [{ pingInterval: 0 }, { pingInterval: 10 }, { h2Options: { pingInterval: 10 } }]
  // An idle connection that is closed is asked nothing any more.
  const pools = ways.map(way => new Pool(server.url, { connect: { ca: cert }, keepAliveTimeout: 600_000, ...way }))
  for (const pool of pools) assert.equal(await get(pool), 'answer')
  for (const pool of pools.slice(1)) {
    for (let turn = 0; turn < 3; turn++) {
      const [took] = await next(pool, 'ping')
      assert.ok(took >= 0 && took < 10_000, String(took))
    }
  }
  assert.equal(pings[0], 0)
  assert.ok(pings[1] >= 3 && pings[2] >= 3, String(pings))
  assert.equal(server.counts.sessions, 3)
  for (const pool of pools) await pool.close()
  await server.close()
})

for (const { name, serve, options } of ways) {
  test(`expectContinue holds the body back until the server asks for it, over ${name}`, async () => {
    const server = await serve(() => {})
    const order = []
    server.server.removeAllListeners('checkContinue')
    server.server.on('checkContinue', (request, response) => {
      order.push(request.headers.expect)
      request.once('data', () => { order.push('body') })
      request.on('end', () => { response.end(order.join(' ')) })
      setImmediate(() => {
        order.push('asks')
        response.writeContinue()
      })
    })
    const pool = new Pool(server.url, options)
    const { body } = await viaNew(pool, { path: '/', method: 'POST', body: 'body', expectContinue: true })
    assert.equal(body.toString(), '100-continue asks body')
    await pool.close()
    await server.close()
  })
}

test('an answer that comes before the body is over frees its stream', async () => {
  const server = await h2((request, response) => { response.end('enough') })
  const pool = new Pool(server.url, { connect: { ca: cert } })
  for (let n = 0; n < 5; n++) {
    const endless = async function * () {
      for (;;) {
        yield Buffer.alloc(1000)
        await after(1)
      }
    }
    assert.equal(await get(pool, undefined, { method: 'POST', body: endless() }), 'enough')
  }
  for (let turn = 0; pool.stats.origins[0].active > 0; turn++) {
    assert.ok(turn < 6000, JSON.stringify(pool.stats))
    await after(10)
  }
  assert.equal(server.counts.sessions, 1)
  await pool.close()
  await server.close()
})

test('bodies that are sent and received are shown chunk by chunk', async () => {
  const server = await h2((request, response) => { request.pipe(response) })
  const agent = new Agent({ connect: { ca: cert } })
  const names = ['client:sendHeaders', 'request:bodyChunkSent', 'request:bodySent', 'request:headers', 'request:bodyChunkReceived', 'request:trailers']
  const received = []
  const listeners = names.map(name => [`undici:${name}`, message => { received.push({ name: name.split(':')[1], ...message }) }])
  for (const [name, listener] of listeners) subscribe(name, listener)
  const calls = [
    body => request(server.url, { dispatcher: agent, method: 'POST', body }).then(({ body }) => body.text()),
    body => get(agent, server.url, { method: 'POST', body })
  ]
  for (const call of calls) {
    for (const body of ['whole', [Buffer.from('who'), Buffer.from('le')]]) {
      received.length = 0
      assert.equal(await call(body), 'whole')
      const chunks = name => Buffer.concat(received.filter(message => message.name === name).map(({ chunk }) => Buffer.from(chunk))).toString()
      assert.equal(chunks('bodyChunkSent'), 'whole')
      assert.equal(chunks('bodyChunkReceived'), 'whole')
      const sent = received.map(({ name }) => name)
      assert.equal(sent[0], 'sendHeaders')
      assert.ok(sent.indexOf('bodyChunkSent') < sent.indexOf('bodySent'))
      assert.ok(sent.indexOf('headers') < sent.indexOf('bodyChunkReceived'))
      assert.equal(sent.at(-1), 'trailers')
    }
  }
  for (const [name, listener] of listeners) unsubscribe(name, listener)
  await agent.close()
  await server.close()
})

test('idempotent says whether a request that died with its connection is sent again, whatever its method', async () => {
  const seen = []
  const server = await h1((request, response) => {
    seen.push(request.method)
    // The first answer makes the connection a used one; then each dies under its request, once.
    if (seen.length % 3 === 2) return request.socket.destroy()
    response.end('answer')
  })
  const outcomes = async (method, idempotent) => {
    seen.length = 0
    const client = new Client(server.url, { retryLost: true })
    await get(client, server.url)
    const outcome = await get(client, server.url, { method, idempotent }).catch(error => error.code)
    await client.destroy()
    return [outcome, seen.length]
  }
  assert.deepEqual(await outcomes('GET', undefined), ['answer', 3])
  assert.deepEqual(await outcomes('GET', false), ['UND_ERR_SOCKET', 2])
  assert.deepEqual(await outcomes('POST', undefined), ['UND_ERR_SOCKET', 2])
  assert.deepEqual(await outcomes('POST', true), ['answer', 3])
  await server.close()
})

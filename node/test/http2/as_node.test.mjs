// Behaviour of node:http2 that programs depend on, each on node:http2 itself and on trunkline/http2.
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import nodeHttp2 from 'node:http2'
import { duplexPair } from 'node:stream'
import test from 'node:test'
import ours from 'trunkline/http2'
import timers from '../../dist/timers.js'
import { certificate } from '../support/certificates/certificates.mjs'

const MODULES = { 'node:http2': nodeHttp2, trunkline: ours }
const LINE = Number.parseInt(process.versions.node, 10)
const answering = stream => {
  stream.on('error', () => {})
  stream.respond()
  stream.end('ok')
}

async function listen (t, server) {
  const sessions = new Set()
  server.on('session', session => { sessions.add(session); session.on('error', () => {}) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const session of sessions) session.destroy()
    await new Promise(resolve => { server.close(resolve) })
  })
  return server.address().port
}

async function connected (t, http2, server) {
  const port = await listen(t, server)
  const session = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => { session.destroy() })
  return session
}

/** The events of a stream until its end, and its id. */
async function events (stream) {
  const seen = []
  for (const name of ['ready', 'response', 'end']) stream.on(name, () => { seen.push(name) })
  stream.on('error', error => { seen.push(`error ${error.message}`) })
  stream.resume()
  await new Promise(resolve => { stream.on('close', resolve) })
  return [...seen, stream.rstCode, stream.id]
}

for (const [name, http2] of Object.entries(MODULES)) {
  for (const [how, destroy, expected] of [
    ['without an error', session => { session.destroy() }, [[], []]],
    ['with an error', session => { session.destroy(new Error('over')) }, [['over'], ['over']]],
    ['with a code', session => { session.destroy(2) }, [['Session closed with error code 2'], ['Session closed with error code 2']]]
  ]) {
    test(`${name}: a request that waits for room ends as the one that has it when its session is destroyed ${how}`, async t => {
      const server = nodeHttp2.createServer({ settings: { maxConcurrentStreams: 1 } })
      for (const event of ['session', 'stream']) server.on(event, of => { of.on('error', () => {}) })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.after(() => { server.close() })
      const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
      session.on('error', () => {})
      await once(session, 'remoteSettings')
      const requests = [session.request(), session.request()]
      const errors = requests.map(() => [])
      const closes = requests.map((request, at) => {
        request.on('error', error => { errors[at].push(error.message) })
        return new Promise(resolve => { request.on('close', resolve) })
      })
      destroy(session)
      await Promise.all(closes)
      assert.deepEqual(errors, expected)
    })
  }

  test(`${name}: a request that was reset before there was a connection is sent`, async t => {
    const ids = []
    const server = nodeHttp2.createServer()
    server.on('stream', stream => { ids.push(stream.id); answering(stream) })
    const session = await connected(t, http2, server)
    const closed = session.request()
    closed.close(1)
    assert.deepEqual(await events(closed), ['end', 'ready', 'error Stream closed with error code NGHTTP2_PROTOCOL_ERROR', 1, 1])
    assert.deepEqual(await events(session.request()), ['response', 'end', 0, 3])
    assert.deepEqual(ids, [1, 3], 'it is sent, and its RST_STREAM behind it')
  })

  test(`${name}: a request that was closed in order before there was a connection is sent with its body`, async t => {
    const server = nodeHttp2.createServer()
    const received = new Promise(resolve => {
      server.on('stream', async stream => {
        stream.on('error', () => {})
        const pieces = []
        for await (const piece of stream) pieces.push(piece)
        resolve(Buffer.concat(pieces).toString())
      })
    })
    const session = await connected(t, http2, server)
    const stream = session.request({ ':method': 'POST' })
    stream.write('one ')
    stream.end('two')
    stream.close()
    assert.equal(await received, 'one two')
  })

  test(`${name}: a pseudo-header that no head can carry fails its stream, and the call does not throw`, async t => {
    const server = nodeHttp2.createServer()
    const paths = []
    server.on('stream', (stream, headers) => { paths.push(headers[':path']); answering(stream) })
    const session = await connected(t, http2, server)
    for (const path of ['/a\0', '/a\nb', '/a b', '/\x7f', '']) {
      const stream = session.request({ ':path': path })
      const [error] = await once(stream.resume(), 'error')
      assert.equal(error.message, 'Stream closed with error code NGHTTP2_PROTOCOL_ERROR', JSON.stringify(path))
    }
    await events(session.request({ ':path': '/good' }))
    assert.deepEqual(paths, ['/good'])
  })

  test(`${name}: a path has the low byte of each character`, async t => {
    const server = nodeHttp2.createServer()
    const paths = []
    server.on('stream', (stream, headers) => { paths.push(headers[':path']); answering(stream) })
    const session = await connected(t, http2, server)
    for (const path of ['/caf\u00e9', '/\u20ac', '/\u0100']) await events(session.request({ ':path': path }))
    assert.deepEqual(paths, ['/caf\u00e9', '/\u00ac'], 'and one without a low byte that a head can carry fails')
  })

  test(`${name}: trailers longer than a header block may be fail their frame, their stream and then the session`, async t => {
    const server = http2.createServer()
    const long = { 'x-long': 'x'.repeat(64 * 1024) }
    const seen = []
    const note = (side, emitter) => {
      for (const event of ['frameError', 'error', 'close']) emitter.on(event, (...given) => { seen.push([side, event, ...given.map(one => one?.message ?? one)].join(' ')) })
    }
    server.on('stream', stream => {
      note('server', stream)
      stream.respond({}, { waitForTrailers: true })
      stream.on('wantTrailers', () => { stream.sendTrailers(long) })
      stream.end()
    })
    const session = await connected(t, nodeHttp2, server)
    const asked = session.request()
    note('client', asked)
    asked.resume()
    await once(session, 'close')
    const failed = 'error Stream closed with error code NGHTTP2_FRAME_SIZE_ERROR'
    assert.deepEqual(seen.filter(line => line.includes('frameError')), ['server frameError 1 6 1'])
    // With node the response may look whole.
    if (http2 === ours) assert.deepEqual(seen.filter(line => line.startsWith('client')), [`client ${failed}`, 'client close'])
  })

  test(`${name}: trailers of a request that are longer than a header block may be fail it`, async t => {
    const server = nodeHttp2.createServer()
    server.on('stream', stream => { stream.on('error', () => {}); stream.resume() })
    const session = await connected(t, http2, server)
    const stream = session.request({ ':method': 'POST' }, { waitForTrailers: true })
    const seen = []
    stream.on('frameError', (...given) => { seen.push(given) })
    stream.on('error', error => { seen.push(error.message) })
    stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-long': 'x'.repeat(64 * 1024) }) })
    stream.end()
    await once(session, 'close')
    assert.deepEqual(seen, [[1, 6, 1], 'Stream closed with error code NGHTTP2_FRAME_SIZE_ERROR'])
  })

  test(`${name}: settings of several frames are reported one by one`, async t => {
    const server = http2.createServer()
    const sizes = []
    const [session] = await Promise.all([once(server, 'session').then(([one]) => one), connected(t, nodeHttp2, server).then(client => {
      client.on('connect', () => { for (const size of [70_000, 80_000, 90_000]) client.settings({ initialWindowSize: size }) })
    })])
    await new Promise(resolve => {
      session.on('remoteSettings', settings => {
        sizes.push(settings.initialWindowSize)
        if (sizes.length === 4) resolve()
      })
    })
    assert.deepEqual(sizes, [65_535, 70_000, 80_000, 90_000])
  })

  test(`${name}: a session whose answers wait beyond maxSessionMemory refuses streams`, async t => {
    const server = http2.createServer({ maxSessionMemory: 1 })
    let streams = 0
    server.on('stream', stream => {
      stream.on('error', () => {})
      streams++
      stream.respond()
      stream.end(Buffer.alloc(2_000_000))
    })
    const session = await connected(t, nodeHttp2, server)
    const first = session.request()
    await once(first, 'response')
    const second = session.request()
    const [error] = await once(second.resume(), 'error')
    assert.equal(error.message, 'Stream closed with error code NGHTTP2_ENHANCE_YOUR_CALM')
    await once(first.resume(), 'close')
    await events(session.request())
    assert.equal(streams, 2, 'the first and the third')
  })

  // Servers of gRPC say that there is no bound by the largest number.
  test(`${name}: a server serves with any number as a bound that node:http2 does not check`, async t => {
    for (const value of [Number.MAX_SAFE_INTEGER, 2 ** 31, 5.5]) {
      for (const options of [{ maxSessionMemory: value }, { maxHeaderListPairs: value }, { streamResetBurst: value, streamResetRate: value }]) {
        const server = http2.createServer(options, (request, response) => { response.end('served') })
        const session = await connected(t, nodeHttp2, server)
        const [headers] = await once(session.request().resume(), 'response')
        assert.equal(headers[':status'], 200, JSON.stringify(options))
      }
    }
  })

  test(`${name}: settings of extensions stay behind a change of others, at both sides`, async t => {
    const custom = { 1244: 456 }
    const server = http2.createServer({ settings: { customSettings: custom } })
    const [[own], client] = await Promise.all([once(server, 'session'), listen(t, server).then(port => {
      const session = http2.connect(`http://127.0.0.1:${port}`, { settings: { customSettings: custom } })
      t.after(() => { session.destroy() })
      return once(session, 'connect').then(() => session)
    })])
    for (const session of [own, client]) {
      const applied = new Promise(resolve => { session.settings({ headerTableSize: 1000 }, resolve) })
      assert.deepEqual({ ...session.localSettings.customSettings }, custom)
      await applied
      assert.deepEqual({ ...session.localSettings.customSettings }, custom)
    }
  })

  test(`${name}: performServerHandshake gives a session on a stream at once`, async t => {
    const [near, far] = duplexPair()
    const session = http2.performServerHandshake(far, { settings: { maxConcurrentStreams: 7 } })
    assert.throws(() => http2.performServerHandshake(far), { code: 'ERR_HTTP2_SOCKET_BOUND' })
    session.on('stream', (stream, headers) => {
      stream.respond({ 'x-path': headers[':path'] })
      stream.end('hi')
    })
    const client = nodeHttp2.connect('http://example.com', { createConnection: () => near })
    const pinged = new Promise(resolve => { session.ping((error, _, payload) => { resolve([error, payload.length]) }) })
    const [settings] = await once(client, 'remoteSettings')
    assert.equal(settings.maxConcurrentStreams, 7)
    assert.deepEqual(await pinged, [null, 8])
    const stream = client.request({ ':path': '/there' })
    const seen = []
    stream.on('response', head => { seen.push(head['x-path']) })
    stream.setEncoding('utf8').on('data', piece => { seen.push(piece) })
    await once(stream, 'close')
    // Node's client emits a head a tick after it has come.
    assert.deepEqual(seen.sort(), ['/there', 'hi'])
    const ended = once(session, 'close')
    client.close()
    await ended
  })

  test(`${name}: performServerHandshake on what is no HTTP/2 is an error of the session`, async t => {
    const [near, far] = duplexPair()
    const session = http2.performServerHandshake(far)
    near.resume().write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const [error] = await once(session, 'error')
    assert.deepEqual([error.code, error.message], ['ERR_HTTP2_ERROR', 'Received bad client magic byte string'])
  })

  test(`${name}: a stream that fails before its first byte is an error of its session`, async t => {
    const server = http2.createServer()
    const [, far] = duplexPair()
    const reported = once(server, 'sessionError')
    server.emit('connection', far)
    far.destroy(new Error('gone'))
    const [error, session] = await reported
    assert.deepEqual([error.message, session.destroyed], ['gone', true])
  })

  test(`${name}: a frame of more settings than maxSettings ends its session`, async t => {
    const server = http2.createServer({ maxSettings: 1 })
    server.on('session', session => { session.on('remoteSettings', () => { assert.fail('it was taken') }) })
    const port = await listen(t, server)
    const client = nodeHttp2.connect(`http://127.0.0.1:${port}`, { settings: { headerTableSize: 1000, initialWindowSize: 70_000 } })
    const [error] = await once(client, 'error')
    assert.equal(error.message, 'Session closed with error code 11')
  })

  test(`${name}: a session whose ids are used up says so to each further request`, async t => {
    const server = nodeHttp2.createServer()
    server.on('stream', answering)
    const session = await connected(t, http2, server)
    await once(session, 'connect')
    const last = 2 ** 31 - 1
    session.setNextStreamID(last)
    const first = session.request()
    const [error] = await once(session.request(), 'error')
    assert.deepEqual([error.code, first.id], ['ERR_HTTP2_OUT_OF_STREAMS', last])
  })

  test(`${name}: an alternative service for a stream that is not open is not reported`, async t => {
    const server = ours.createServer()
    server.on('session', session => {
      session.altsvc('h2=":1"', 5)
      session.altsvc('h2=":2"', 'https://example.org')
    })
    const session = await connected(t, http2, server)
    assert.deepEqual(await once(session, 'altsvc'), ['h2=":2"', 'https://example.org', 0])
  })

  test(`${name}: each ping and each change of settings is a resource of async_hooks, from its call to behind its callback`, async t => {
    const types = new Map()
    const lives = []
    const hook = createHook({
      init (id, type) { if (type === 'HTTP2PING' || type === 'HTTP2SETTINGS') types.set(id, type) },
      before (id) { if (types.has(id)) lives.push(`before ${types.get(id)}`) },
      after (id) { if (types.has(id)) lives.push(`after ${types.get(id)}`) }
    })
    const server = nodeHttp2.createServer()
    const session = await connected(t, http2, server)
    await once(session, 'remoteSettings')
    hook.enable()
    t.after(() => { hook.disable() })
    await new Promise(resolve => { session.ping(() => { lives.push('ping'); resolve() }) })
    await new Promise(resolve => { session.settings({ headerTableSize: 100 }, () => { lives.push('settings'); resolve() }) })
    const of = type => lives.filter(one => one === type || one.includes(type === 'ping' ? 'PING' : 'NGS')).slice(0, 2)
    assert.deepEqual([of('ping'), of('settings')], [['before HTTP2PING', 'ping'], ['before HTTP2SETTINGS', 'settings']])
  })

  test(`${name}: a request counts texts that wait by their characters, and sends them in their encodings`, async t => {
    const server = nodeHttp2.createServer()
    server.on('stream', stream => { stream.respond(); stream.pipe(stream) })
    const session = await connected(t, http2, server)
    const stream = session.request({ ':method': 'POST' })
    stream.write('é')
    stream.write('é', 'latin1')
    stream.write('c3a9', 'hex')
    assert.equal(stream.writableLength, 6)
    stream.end()
    const pieces = []
    for await (const piece of stream) pieces.push(piece)
    assert.equal(Buffer.concat(pieces).toString('hex'), 'c3a9e9c3a9')
  })

  test(`${name}: a server has a certificate of version 1, as openssl makes it without extensions`, async t => {
    const { cert, key } = certificate('localhost', { version: 1 })
    const server = http2.createSecureServer({ cert, key })
    server.on('stream', answering)
    const port = await listen(t, server)
    const session = nodeHttp2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    t.after(() => { session.destroy() })
    assert.deepEqual(await events(session.request()), ['ready', 'response', 'end', 0, 1])
  })

  test(`${name}: a client of HTTP/1.1 whose server has listeners for streams alone breaks HTTP/2`, async t => {
    const server = http2.createServer()
    const failed = []
    server.on('stream', () => { failed.push('stream') })
    server.on('sessionError', error => { failed.push(error.code, error.message) })
    const port = await listen(t, server)
    const reported = once(server, 'sessionError')
    const request = http.get({ port, host: '127.0.0.1', agent: false })
    await once(request, 'error')
    await reported
    assert.deepEqual(failed, ['ERR_HTTP2_ERROR', 'Received bad client magic byte string'])
  })

  test(`${name}: a server that was unref-ed before it listened does not hold the process`, { timeout: 60_000 }, async () => {
    const specifier = name === 'trunkline' ? 'trunkline/http2' : name
    const program = `import http2 from '${specifier}'; http2.createServer().unref().listen(0)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname, stdio: ['ignore', 'ignore', 'inherit'] })
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  test(`${name}: the callback of the end of a response to HEAD is called without another listener`, async t => {
    let called
    const calls = new Promise(resolve => { called = resolve })
    const server = http2.createServer((request, response) => {
      response.writeHead(200)
      response.end('data', () => { called('called') })
    })
    const session = await connected(t, nodeHttp2, server)
    session.request({ ':method': 'HEAD' }).resume()
    assert.equal(await calls, 'called')
  })

  test(`${name}: the bytes of a ping come back in a buffer of their own`, async t => {
    const server = http2.createServer()
    const opened = once(server, 'session')
    const session = await connected(t, http2, server)
    await once(session, 'connect')
    const [other] = await opened
    const payload = new Uint16Array([1, 2, 3, 4])
    for (const one of [session, other]) {
      const answer = await new Promise((resolve, reject) => { one.ping(payload, (error, ms, bytes) => { error ? reject(error) : resolve(bytes) }) })
      assert.deepEqual(answer.buffer, payload.buffer)
    }
  })

  test(`${name}: channels say what of a body was sent, once it is`, { skip: LINE < 22 && http2 === nodeHttp2 && 'these channels are of newer lines' }, async t => {
    const seen = []
    const subscribers = {
      'http2.client.stream.bodyChunkSent': ({ writev, data, encoding }) => { seen.push([writev, writev ? [...data] : data, encoding]) },
      'http2.client.stream.bodySent': () => { seen.push('all') }
    }
    for (const [channel, subscriber] of Object.entries(subscribers)) {
      subscribe(channel, subscriber)
      t.after(() => { unsubscribe(channel, subscriber) })
    }
    // Pieces that are written before there is a connection are sent together.
    const post = async (...pieces) => {
      const session = await connected(t, http2, nodeHttp2.createServer((request, response) => { response.end() }))
      const stream = session.request({ ':method': 'POST' })
      for (const piece of pieces) stream.write(piece)
      stream.end()
      await events(stream)
      return seen.splice(0)
    }
    const [foo, bar] = [Buffer.from('foo'), Buffer.from('bar')]
    assert.deepEqual(await post(foo), [[false, foo, 'buffer'], 'all'])
    assert.deepEqual(await post(foo, bar), [[true, [foo, bar], ''], 'all'])
    const [[isMany, parts]] = await post('foo', bar)
    assert.deepEqual([isMany, ...parts.map(({ chunk, encoding }) => [chunk, encoding])], [true, ['foo', 'utf8'], [bar, 'buffer']])
  })

  test(`${name}: headers by turns go in their order, and stay as they were given in sentHeaders`, { skip: LINE < 22 && 'lists of headers are of newer lines' }, async t => {
    const server = http2.createServer()
    let sent
    server.on('stream', stream => {
      stream.respond(['x', '1', 'x-FOO', 'bar', 'x', '2'])
      sent = stream.sentHeaders
      stream.end()
    })
    const session = await connected(t, nodeHttp2, server)
    const stream = session.request()
    stream.resume()
    const [, , raw] = await once(stream, 'response')
    assert.deepEqual(raw.slice(0, -1), [':status', '200', 'x', '1', 'x-foo', 'bar', 'x', '2', 'date'])
    const { date, ...others } = sent
    assert.deepEqual([typeof date, others], ['string', { ':status': 200, x: ['1', '2'], 'x-FOO': 'bar' }])
  })

  test(`${name}: sessions of both sides that have ended show the settings of their own that they showed last`, async t => {
    const server = http2.createServer({ settings: { initialWindowSize: 70_000 } })
    const known = new Promise(resolve => server.on('session', session => { session.on('localSettings', () => { resolve(session) }) }))
    const client = http2.connect(`http://127.0.0.1:${await listen(t, server)}`, { settings: { initialWindowSize: 80_000 } })
    const [session] = await Promise.all([known, once(client, 'localSettings')])
    const ended = Promise.all([once(session, 'close'), once(client, 'close')])
    client.close()
    await ended
    assert.deepEqual([session, client].map(one => one.localSettings.initialWindowSize), [70_000, 80_000])
    assert.deepEqual([session, client].map(one => one.remoteSettings), [{}, {}])
  })

  test(`${name}: a stream that is destroyed within its TLS handshake is a client that has left`, async () => {
    const server = http2.createSecureServer({ ...certificate })
    const failed = once(server, 'tlsClientError')
    const [end, other] = duplexPair()
    for (const side of [end, other]) side.on('error', () => {})
    server.emit('connection', end)
    // Begins a record of a handshake.
    other.write(Buffer.from([22, 3, 1, 2, 0, 1]))
    await new Promise(resolve => { setImmediate(resolve) })
    end.destroy()
    const [{ code }] = await failed
    assert.equal(code, 'ECONNRESET')
    server.close()
  })

  test(`${name}: close of a server that was unref-ed calls back although nothing else holds the process`, { timeout: 60_000 }, async () => {
    const specifier = name === 'trunkline' ? 'trunkline/http2' : name
    const program = `import http2 from '${specifier}'
      const server = http2.createServer().unref().listen(0, () => { server.close(() => { process.exitCode = 7 }) })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname, stdio: ['ignore', 'ignore', 'inherit'] })
    assert.deepEqual(await once(child, 'exit'), [7, null])
  })
}

test('a large answer that goes on while nothing is written is no timeout, and one that stands still is', { timeout: 60_000 }, async t => {
  const time = 987_654
  const { setTimeout: builtIn } = globalThis
  let fire
  // The timer of the session fires when the test says so.
  t.mock.method(timers, 'setTimeout', (call, ms, ...given) => {
    if (ms !== time) return builtIn(call, ms, ...given)
    fire = call
    const timer = { unref: () => timer, refresh: () => timer }
    return timer
  })
  const server = ours.createServer()
  server.on('stream', stream => {
    stream.on('error', () => {})
    stream.respond()
    stream.end(Buffer.alloc(3_000_000))
  })
  let timeouts = 0
  server.setTimeout(time, () => { timeouts++ })
  const session = await connected(t, nodeHttp2, server)
  session.on('error', () => {})
  const stream = session.request()
  stream.on('error', () => {})
  await once(stream, 'data')
  // The client takes no more than it has room for.
  stream.pause()
  fire()
  assert.equal(timeouts, 0)
  while (timeouts === 0) {
    await new Promise(resolve => { setImmediate(resolve) })
    fire()
  }
})

test('an answer that ends begins the time of its session and of its stream anew', async t => {
  const [ofSession, ofStream] = [987_655, 987_656]
  const { setTimeout: builtIn } = globalThis
  const begun = []
  t.mock.method(timers, 'setTimeout', (call, ms, ...given) => {
    if (ms !== ofSession && ms !== ofStream) return builtIn(call, ms, ...given)
    const timer = { unref: () => timer, refresh: () => { begun.push(ms) } }
    return timer
  })
  const server = ours.createServer()
  const answered = new Promise(resolve => server.on('request', (request, response) => {
    request.stream.session.setTimeout(ofSession)
    response.setTimeout(ofStream)
    begun.length = 0
    response.end('ok')
    resolve([...begun].sort())
  }))
  const session = await connected(t, nodeHttp2, server)
  session.request().resume()
  assert.deepEqual(await answered, [ofSession, ofStream])
})

test('a session with an address of IPv6 asks for it in brackets', async t => {
  const server = nodeHttp2.createServer()
  server.on('stream', answering)
  const asked = new Promise(resolve => { server.on('stream', (stream, headers) => { resolve(headers[':authority']) }) })
  server.listen(0, '::1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const { port } = server.address()
  const session = ours.connect(`http://[::1]:${port}`)
  t.after(() => { session.destroy() })
  const stream = session.request()
  assert.deepEqual(await events(stream), ['ready', 'response', 'end', 0, 1])
  assert.equal(await asked, `[::1]:${port}`)
})

/** The frames of a session's end, as its server gets them: those behind the head of its request. */
async function framesOfEnd (t, http2, end) {
  const kinds = []
  const server = net.createServer(socket => {
    let bytes = Buffer.alloc(0)
    let isBegun = false
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    socket.on('error', () => {}).on('end', () => { socket.end() }).on('close', () => { server.emit('over') })
    socket.on('data', piece => {
      bytes = Buffer.concat([bytes, piece])
      if (!isBegun && bytes.length < 24) return
      if (!isBegun) bytes = bytes.subarray(24)
      isBegun = true
      while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        const [kind, flags] = [bytes[3], bytes[4]]
        if (kind === 3) kinds.push(['RST_STREAM', bytes.readUInt32BE(9)])
        if (kind === 7) kinds.push(['GOAWAY', bytes.readUInt32BE(13)])
        bytes = bytes.subarray(9 + bytes.readUIntBE(0, 3))
        if (kind === 1 && (flags & 4) !== 0) server.emit('head')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  session.on('error', () => {})
  const stream = session.request({ ':method': 'POST' })
  stream.on('error', () => {}).resume()
  const over = once(server, 'over')
  await once(server, 'head')
  end(session)
  await over
  return kinds
}

for (const [name, http2] of Object.entries(MODULES)) {
  test(`${name}: a session that is destroyed resets none of its streams, whose server learns of it by GOAWAY`, async t => {
    for (const [given, code] of [[[], 0], [[8], 8], [[new Error('own')], 2], [[new Error('own'), 11], 11]]) {
      assert.deepEqual(await framesOfEnd(t, http2, session => { session.destroy(...given) }), [['GOAWAY', code]])
    }
  })

  test(`${name}: the streams of a client that is gone with a code have that code`, async t => {
    const server = http2.createServer()
    const closed = new Promise(resolve => {
      server.on('stream', stream => {
        stream.on('error', () => {}).on('close', () => { resolve(stream.rstCode) })
        stream.respond()
        stream.write('first')
      })
    })
    server.on('sessionError', () => {})
    const port = await listen(t, server)
    const session = nodeHttp2.connect(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    const stream = session.request()
    stream.on('error', () => {})
    await once(stream, 'data')
    session.destroy(11)
    assert.equal(await closed, 11)
  })
}

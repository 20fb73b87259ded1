// A stream that a function of the user's gives carries requests, as with undici: every kind of
// stream, on HTTP/1.1 and HTTP/2, with its ends and its errors.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { execFile } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import test, { describe } from 'node:test'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'
import { Agent, buildConnector, Client, fetch, Pool, request } from 'trunkline'
import * as undici7 from 'undici7'
import { Around, bytewise, pairOf, settled, turn } from '../../support/clients/carried.mjs'
import { cert, key } from '../../support/certificates/certificate.mjs'

const ours = { Agent, Client, Pool }

/** Answers with what came, in a JSON text; `/large` with 300 kB, `/trailers` with trailers. */
function answer (request, response) {
  const pieces = []
  request.on('data', piece => { pieces.push(piece) })
  request.on('error', () => {})
  request.on('end', () => {
    const body = Buffer.concat(pieces)
    if (request.url === '/large') return response.end(Buffer.alloc(300_000, 'l'))
    if (request.url === '/trailers') {
      response.setHeader('trailer', 'x-sum')
      response.write('with ')
      response.addTrailers({ 'x-sum': String(body.length) })
      return response.end('trailers')
    }
    if (request.url === '/nothing') {
      response.statusCode = 204
      return response.end()
    }
    response.setHeader('x-method', request.method)
    response.end(JSON.stringify({ method: request.method, url: request.url, length: body.length, sum: body.reduce((sum, byte) => (sum + byte) % 65_521, 0) }))
  })
}

const listening = async server => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Servers of node's, in cleartext and under TLS, and where they listen. */
async function served (t) {
  const servers = {
    h1: await listening(http.createServer(answer)),
    h2c: await listening(http2.createServer(answer)),
    tls: await listening(http2.createSecureServer({ cert, key, allowHTTP1: true }, answer))
  }
  const sessions = new Set()
  for (const server of [servers.h2c, servers.tls]) server.on('session', session => { sessions.add(session) })
  t.after(() => {
    for (const session of sessions) session.destroy()
    for (const server of Object.values(servers)) {
      server.close()
      server.closeAllConnections?.()
    }
  })
  const port = name => servers[name].address().port
  return { servers, port }
}

const tcp = port => new Promise((resolve, reject) => {
  const socket = net.connect(port, '127.0.0.1', () => { resolve(socket) })
  socket.on('error', reject)
})
const secure = (port, ALPNProtocols) => new Promise((resolve, reject) => {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols }, () => { resolve(socket) })
  socket.on('error', reject)
})
const speaksHttp2 = stream => Object.assign(stream, { alpnProtocol: 'h2' })
/** One end of a pair, whose other end goes to a server of node's. */
function paired (server, options) {
  const [own, other] = pairOf(options)
  server.emit('connection', other)
  return own
}

/** By name: the scheme, and how a stream is made. */
const kinds = {
  'a socket': ['http', ({ port }) => tcp(port('h1'))],
  'a socket that speaks HTTP/2': ['http', async ({ port }) => speaksHttp2(await tcp(port('h2c')))],
  'a TLS socket without ALPN': ['https', ({ port }) => secure(port('tls'))],
  'a TLS socket on which ALPN chose HTTP/1.1': ['https', ({ port }) => secure(port('tls'), ['http/1.1'])],
  'a TLS socket on which ALPN chose HTTP/2': ['https', ({ port }) => secure(port('tls'), ['h2'])],
  'a TLS socket that offered both': ['https', ({ port }) => secure(port('tls'), ['h2', 'http/1.1'])],
  'a pair in memory': ['http', ({ servers }) => paired(servers.h1)],
  'a pair in memory that ends both sides together': ['http', ({ servers }) => paired(servers.h1, { allowHalfOpen: false })],
  'a pair in memory that speaks HTTP/2': ['http', ({ servers }) => speaksHttp2(paired(servers.h2c))],
  'a stream around a socket': ['http', async ({ port }) => new Around(await tcp(port('h1')))],
  'a stream that is split at every byte': ['http', async ({ port }) => new Around(await tcp(port('h1')), { cut: bytewise })],
  'a stream of HTTP/2 that is split at every byte': ['http', async ({ port }) => speaksHttp2(new Around(await tcp(port('h2c')), { cut: bytewise }))],
  'a slow stream with small buffers': ['http', async ({ port }) => new Around(await tcp(port('h1')), { wait: turn, highWaterMark: 16 })],
  'a slow stream of HTTP/2': ['http', async ({ port }) => speaksHttp2(new Around(await tcp(port('h2c')), { wait: turn, highWaterMark: 16 }))]
}

/** The outcome of requests through a dispatcher. */
async function exchanges (dispatcher, origin, isSmall = false) {
  const got = []
  const ask = async (path, options = {}) => {
    const { statusCode, headers, body, trailers } = await dispatcher.request({ origin, path, method: 'GET', ...options })
    const text = await body.text()
    got.push([path, statusCode, headers['x-method'], text.length < 200 ? text : text.length, { ...trailers }])
  }
  await ask('/get')
  await ask('/head', { method: 'HEAD' })
  await ask('/nothing')
  await ask('/trailers')
  await ask('/post', { method: 'POST', body: Buffer.alloc(isSmall ? 500 : 70_000, 'abc') })
  await ask('/stream', { method: 'POST', body: (async function * () { for (let at = 0; at < 20; at++) yield Buffer.alloc(isSmall ? 10 : 3000, `${at}`) })() })
  if (!isSmall) await ask('/large')
  await Promise.all(Array.from({ length: 8 }, (_, at) => ask(`/many${at}`)))
  // Those that went together may end in any order.
  return got.sort(([one], [other]) => one < other ? -1 : 1)
}

/** Compares what undici and ours got. undici 7 loses the trailers of HTTP/2. */
function same (undici, ...others) {
  const trailers = got => got.find(([path]) => path === '/trailers').pop()
  trailers(undici)
  for (const other of others) {
    assert.deepEqual(trailers(other), { 'x-sum': '0' })
    assert.deepEqual(other, undici)
  }
}

describe('requests go over the streams of a connector as with undici', () => {
  for (const [name, [scheme, make]] of Object.entries(kinds)) {
    for (const face of ['Client', 'Agent']) {
      test(`${face} over ${name}`, async t => {
        const place = await served(t)
        const origin = `${scheme}://localhost:1`
        const results = []
        for (const lib of [undici7, ours]) {
          const streams = []
          const options = {
            connect: (options, callback) => {
              Promise.resolve(make(place)).then(stream => {
                streams.push(stream)
                // undici calls them on HTTP/2, also where there is nothing to hold.
                if (lib === undici7) stream.ref ??= stream.unref ??= () => {}
                callback(null, stream)
              }, callback)
            }
          }
          const dispatcher = face === 'Agent' ? new lib.Agent(options) : new lib.Client(origin, options)
          const closed = []
          const got = await exchanges(dispatcher, origin, /split|slow/.test(name))
          for (const stream of streams) closed.push(stream.destroyed ? null : new Promise(resolve => { stream.on('close', resolve) }))
          await dispatcher.close()
          // A dispatcher that is closed ends its streams.
          await Promise.all(closed)
          results.push(got)
        }
        same(...results)
      })
    }
  }
})

test('a connector is asked as undici asks it', async () => {
  const cases = [
    ['https://localhost', {}], ['http://localhost:81', {}], ['https://127.0.0.1:444', {}], ['http://[::1]:444', {}],
    ['https://localhost', { headers: { host: 'other.test:33' } }], ['https://a.test:443', { allowH2: true }],
    ['http://a.test', { allowH2: false, localAddress: '127.0.0.1', socketPath: '/nowhere' }]
  ]
  for (const [origin, { headers, ...options }] of cases) {
    const asked = []
    for (const lib of [undici7, ours]) {
      const connect = (options, callback) => {
        asked.push([JSON.stringify(options), callback.length])
        callback(new Error('none'))
      }
      const client = new lib.Client(origin, { ...options, connect })
      await assert.rejects(client.request({ path: '/', method: 'GET', headers }), /^Error: none$/)
      await client.destroy()
    }
    assert.deepEqual(asked[1], asked[0])
    assert.equal(asked.length, 2)
  }
})

test('a connector runs in the async context of the request that it connects for, also behind a redirect', async t => {
  const storage = new AsyncLocalStorage()
  const server = http.createServer((request, response) => {
    response.setHeader('connection', 'close')
    if (request.url === '/away') response.writeHead(302, { location: '/' })
    response.end('answer')
  })
  await listening(server)
  const origin = `http://127.0.0.1:${server.address().port}`
  t.after(() => { server.close() })
  const seen = async (Agent, call) => {
    const contexts = []
    const connect = (options, callback) => { contexts.push(storage.getStore()); tcp(options.port).then(socket => { callback(null, socket) }, callback) }
    const agent = new Agent({ connect })
    for (const context of ['one', 'two']) await storage.run(context, () => call(agent))
    await agent.close()
    return contexts
  }
  const requested = module => seen(module.Agent, async dispatcher => (await module.request(origin, { dispatcher })).body.text())
  const fetched = module => seen(module.Agent, async dispatcher => (await module.fetch(`${origin}/away`, { dispatcher })).text())
  for (const module of [undici7, { Agent, request, fetch }]) {
    assert.deepEqual(await requested(module), ['one', 'two'])
    assert.deepEqual(await fetched(module), ['one', 'one', 'two', 'two'])
  }
})

test('a request fails with the very error that its connector gave, threw or was given by the stream', async () => {
  const own = () => Object.assign(new Error('of the user'), { code: 'EOWN' })
  const connectors = {
    'called back': error => (options, callback) => { callback(error) },
    'called back later': error => (options, callback) => { setImmediate(callback, error) },
    'called back twice': error => (options, callback) => { callback(error); callback(null, pairOf()[0]) },
    threw: error => () => { throw error },
    'a stream that fails at once': error => (options, callback) => {
      const [stream] = pairOf()
      callback(null, stream)
      stream.destroy(error)
    },
    'a stream that fails when it is written to': error => (options, callback) => {
      const [stream] = pairOf()
      stream._write = (chunk, encoding, done) => { done(error) }
      callback(null, stream)
    },
    'a stream that has failed before': error => (options, callback) => {
      const [stream] = pairOf()
      stream.on('error', () => { callback(null, stream) })
      stream.destroy(error)
    }
  }
  for (const [name, connector] of Object.entries(connectors)) {
    for (const isHttp2 of [false, true]) {
      const error = own()
      const inner = connector(error)
      const connect = (options, callback) => inner(options, (error, stream) => callback(error, stream && isHttp2 ? speaksHttp2(stream) : stream))
      const client = new Client('http://localhost', { connect })
      const got = await client.request({ path: '/', method: 'GET' }).then(() => 'an answer', error => error)
      assert.equal(got, error, `${name}, HTTP/${isHttp2 ? 2 : 1}`)
      await client.destroy()
    }
  }
})

test('of an Agent each request that waits for a connection fails with an error of its own, and of a Client all with one', async () => {
  const get = { origin: 'https://localhost', path: '/', method: 'GET' }
  for (const [make, calls] of [[options => new Agent(options), 5], [options => new Client('https://localhost', options), 1]]) {
    let asked = 0
    const dispatcher = make({ connect: (options, callback) => { setImmediate(callback, new Error(`call ${++asked}`)) } })
    const all = await Promise.allSettled(Array.from({ length: 5 }, () => dispatcher.request(get)))
    assert.deepEqual(all.map(({ reason }) => reason.message), Array.from({ length: 5 }, (_, index) => `call ${Math.min(index + 1, calls)}`))
    await assert.rejects(dispatcher.request(get), { message: `call ${calls + 1}` })
    await dispatcher.destroy()
  }
})

test('what is no stream, and HTTP/2 where HTTP/1.1 alone can be used, is an error that says so', async () => {
  for (const given of [undefined, null, 7, {}, new Promise(() => {})]) {
    const client = new Client('http://localhost', { connect: (options, callback) => { callback(null, given) } })
    await assert.rejects(client.request({ path: '/', method: 'GET' }), { code: 'UND_ERR_INVALID_ARG', message: /without a Duplex/ })
    await client.destroy()
  }
  const client = new Client('http://localhost', { connect: (options, callback) => { callback(null, speaksHttp2(pairOf()[0])) } })
  await assert.rejects(client.upgrade({ path: '/', protocol: 'own' }), /speaks HTTP\/2, where only HTTP\/1\.1 is allowed/)
  await client.destroy()
})

test('a connection that is made too late is closed, and the request fails with a timeout', async () => {
  let give
  const client = new Client('http://localhost', { connectTimeout: 100, connect: (options, callback) => { give = callback } })
  await assert.rejects(client.request({ path: '/', method: 'GET' }), { code: 'UND_ERR_CONNECT_TIMEOUT' })
  const [stream] = pairOf()
  give(null, stream)
  await once(stream, 'close')
  await client.destroy()
})

test('a connection that is made after the end of its client is closed', async () => {
  for (const isHttp2 of [false, true]) {
    let give
    const asked = new Promise(resolve => { give = resolve })
    const client = new Client('http://localhost', { connect: (options, callback) => { give(callback) } })
    const failed = assert.rejects(client.request({ path: '/', method: 'GET' }), { code: 'UND_ERR_DESTROYED' })
    const callback = await asked
    await client.destroy()
    await failed
    const [stream] = pairOf()
    const closed = new Promise(resolve => { stream.on('close', resolve) })
    callback(null, isHttp2 ? speaksHttp2(stream) : stream)
    await closed
    // As with undici, it has the reason.
    assert.equal(stream.errored?.code, 'UND_ERR_DESTROYED')
  }
})

/** The request of a client over one end of a pair, whose other end is played by hand. */
async function byHand (play, options = {}) {
  const [own, other] = pairOf(options.pair)
  other.on('error', () => {})
  const client = new Client('http://localhost', { connect: (options, callback) => { callback(null, own) } })
  const request = client.request({ path: '/', method: 'GET' })
  await new Promise(resolve => { other.once('data', resolve) })
  play(other, own)
  const got = {}
  try {
    const { body } = await request
    got.head = true
    got.text = ''
    body.setEncoding('latin1')
    for await (const piece of body) got.text += piece
    got.whole = true
  } catch (error) {
    got.error = error
  }
  await client.destroy()
  return got
}

const HEAD = 'HTTP/1.1 200 OK\r\n'
describe('the end of a stream is the end of its connection', () => {
  const mine = new Error('of the stream')
  const cases = {
    'an end in order before the head': [other => { other.end() }, { isFailed: true }],
    'a failure before the head': [(other, own) => { own.destroy(mine) }, { error: mine }],
    'a close before the head': [(other, own) => { own.destroy() }, { isFailed: true }],
    'an end in order inside the head': [other => { other.end(HEAD) }, { isFailed: true }],
    'an end in order in a body with content-length': [other => { other.end(`${HEAD}content-length: 9\r\n\r\nhalf`) }, { head: true, text: 'half', isFailed: true }],
    'a failure in a body with content-length': [(other, own) => { other.write(`${HEAD}content-length: 9\r\n\r\nhalf`, () => { setImmediate(() => { own.destroy(mine) }) }) }, { error: mine }],
    'an end in order in a chunked body': [other => { other.end(`${HEAD}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`) }, { head: true, text: 'half', isFailed: true }],
    'an end in order of a body that it delimits': [other => { other.end(`${HEAD}\r\nall`) }, { head: true, text: 'all', whole: true }],
    'a failure of a body that its end delimits': [(other, own) => { other.write(`${HEAD}\r\nall`, () => { setImmediate(() => { own.destroy(mine) }) }) }, { error: mine }],
    'an end in order behind the answer': [other => { other.end(`${HEAD}content-length: 3\r\n\r\nall`) }, { head: true, text: 'all', whole: true }],
    'an end of a stream that ends both sides together': [other => { other.end(`${HEAD}\r\nall`) }, { head: true, text: 'all', whole: true }, { allowHalfOpen: false }]
  }
  for (const [name, [play, expected, pair]] of Object.entries(cases)) {
    test(name, async () => {
      const got = await byHand(play, { pair })
      const { isFailed = false, ...rest } = expected
      const seen = { ...got }
      if (isFailed) delete seen.error
      // A failure may come before what was written before it is read: `own` is destroyed then.
      if (expected.error !== undefined) for (const name of ['head', 'text']) delete seen[name]
      assert.deepEqual(seen, rest)
      if (isFailed) assert.equal(got.error.code, 'UND_ERR_SOCKET')
    })
  }
})

test('a stream of which nothing is read takes bounded bytes of a body, and all of it in the end', async () => {
  const TOTAL = 8 << 20
  const [own, other] = pairOf()
  let written = 0
  const client = new Client('http://localhost', { connect: (options, callback) => { callback(null, own) } })
  const body = (async function * () {
    for (; written < TOTAL; written += 65_536) yield Buffer.alloc(65_536)
  })()
  const request = client.request({ path: '/', method: 'POST', headers: { 'content-length': String(TOTAL) }, body })
  // Windows: of the stream, of the connection's outbox, of the request's body, and what is on its way.
  const held = await settled(() => written)
  assert.ok(held <= 2 << 20, `${held} bytes were taken`)
  let read = 0
  other.on('data', piece => {
    read += piece.length
    if (read > TOTAL) other.write(`${HEAD}content-length: 0\r\n\r\n`)
  })
  assert.equal((await request).statusCode, 200)
  assert.equal(written, TOTAL)
  await client.destroy()
})

test('an answer of which nothing is read holds its stream back, and comes whole in the end', async () => {
  const TOTAL = 8 << 20
  for (const isHttp2 of [false, true]) {
    let given = 0
    const server = (isHttp2 ? http2 : http).createServer((request, response) => {
      response.writeHead(200, { 'content-length': TOTAL })
      const write = () => {
        while (given < TOTAL) {
          given += 65_536
          if (!response.write(Buffer.alloc(65_536))) return response.once('drain', write)
        }
        response.end()
      }
      write()
    })
    const client = new Client('http://localhost', { connect: (options, callback) => { callback(null, isHttp2 ? speaksHttp2(paired(server)) : paired(server)) } })
    const { body } = await client.request({ path: '/', method: 'GET' })
    const held = await settled(() => given)
    assert.ok(held <= 4 << 20, `${held} bytes were given over HTTP/${isHttp2 ? 2 : 1}`)
    let read = 0
    for await (const piece of body) {
      read += piece.length
      // node:http2 loses the END_STREAM that follows now and then, on a stream of JavaScript's that is held back.
      if (read === TOTAL) break
    }
    assert.equal(read, TOTAL)
    await client.destroy()
  }
})

test('buildConnector connects as undici does, in cleartext and under TLS, on both versions', async t => {
  const { port } = await served(t)
  const cases = [
    ['http', 'h1', {}], ['http', 'h2c', { useH2c: true }],
    ['https', 'tls', { ca: cert, allowH2: false }], ['https', 'tls', { ca: cert, allowH2: true }]
  ]
  for (const [scheme, name, options] of cases) {
    const origin = `${scheme}://localhost:${port(name)}`
    const results = []
    for (const [lib, build] of [[undici7, undici7.buildConnector], [ours, undici7.buildConnector], [ours, buildConnector]]) {
      const agent = new lib.Agent({ connect: build(options) })
      results.push(await exchanges(agent, origin))
      await agent.close()
    }
    same(...results)
  }
  const agent = new Agent({ connect: buildConnector({}) })
  await assert.rejects(agent.request({ origin: `https://localhost:${port('tls')}`, path: '/', method: 'GET' }), error => /CERT|SIGNED|SIGNATURE/.test(error.code))
  await agent.close()
})

test('a stream is read behind the first write on it, as interceptors of sockets expect it of HTTP, and without one too', async t => {
  const server = await listening(http.createServer(answer))
  t.after(() => { server.close() })
  const url = `http://127.0.0.1:${server.address().port}`
  const connect = buildConnector()
  const order = []
  const client = new Client(url, {
    connect (options, callback) {
      connect(options, (error, socket) => {
        const { write } = socket
        socket.write = (...pieces) => {
          order.push('write')
          return write.apply(socket, pieces)
        }
        socket.on('newListener', event => { if (event === 'data') order.push('read') })
        callback(error, socket)
      })
    }
  })
  const { body } = await client.request({ path: '/', method: 'GET' })
  await body.dump()
  assert.deepEqual(order.slice(0, 2), ['write', 'read'])
  await client.close()

  // Its request was given up before there was a connection, which the peer ends.
  const peer = once(server, 'connection')
  const abort = new AbortController()
  const unused = new Client(url, {
    connect (options, callback) {
      connect(options, (error, socket) => {
        abort.abort()
        setImmediate(() => { callback(error, socket) })
      })
    }
  })
  const opened = once(unused, 'connect')
  const ended = once(unused, 'disconnect')
  await assert.rejects(unused.request({ path: '/', method: 'GET', signal: abort.signal }), { name: 'AbortError' })
  await opened
  const [socket] = await peer
  socket.end()
  await ended
  await unused.close()
})

test('channels get the stream itself, and the connector', async t => {
  const { port } = await served(t)
  const seen = []
  const receive = ({ connector, socket }) => { seen.push([connector, socket]) }
  channel('undici:client:connected').subscribe(receive)
  let given
  const connect = (options, callback) => { tcp(port('h1')).then(stream => callback(null, given = stream), callback) }
  const client = new Client('http://localhost', { connect })
  try {
    await (await client.request({ path: '/', method: 'GET' })).body.text()
    assert.deepEqual(seen, [[connect, given]])
  } finally {
    channel('undici:client:connected').unsubscribe(receive)
    await client.close()
  }
})

test('a dispatcher whose streams idle holds no process', async () => {
  const script = fileURLToPath(new URL('../../life/client/idle-streams.mjs', import.meta.url))
  const ended = await new Promise(resolve => {
    const env = { ...process.env }
    delete env.NODE_TEST_CONTEXT
    execFile(process.execPath, [script], { timeout: 60_000, killSignal: 'SIGKILL', env }, (error, stdout, stderr) => { resolve([error, stdout.trim(), stderr]) })
  })
  assert.deepEqual(ended, [null, '200 GET', ''])
})

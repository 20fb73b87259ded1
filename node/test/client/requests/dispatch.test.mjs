// `dispatch`: what goes out, what comes back, in which order, and what is refused.
import assert from 'node:assert/strict'
import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { once } from 'node:events'
import http, { STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { buffer as gather } from 'node:stream/consumers'
import { setTimeout as after } from 'node:timers/promises'
import test from 'node:test'
import { Agent, Client, Pool, errors } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew, viaOld } from '../../support/clients/dispatch.mjs'
import { h1, h2, origin } from '../../support/servers/servers.mjs'
import { versions } from '../../support/servers/versions.mjs'

const echo = async (request, response) => {
  const body = await gather(request)
  response.setHeader('x-method', request.method)
  response.setHeader('x-length', request.headers['content-length'] ?? 'none')
  response.setHeader('x-type', request.headers['content-type'] ?? 'none')
  response.end(body)
}

const form = new FormData()
form.append('name', 'value')
form.append('file', new Blob(['content'], { type: 'text/plain' }), 'a.txt')
const big = Buffer.alloc(300_000, 'big ')

const bodies = {
  nothing: [() => null, ''],
  'a string': [() => 'täxt', 'täxt'],
  'an empty string': [() => '', ''],
  'a Buffer': [() => Buffer.from('buffer'), 'buffer'],
  'a large Buffer': [() => big, big.toString()],
  'a Uint8Array': [() => new Uint8Array([97, 98]).subarray(1), 'b'],
  'a DataView': [() => new DataView(new Uint8Array([97, 98]).buffer), 'ab'],
  'an ArrayBuffer': [() => new Uint8Array([97, 98]).buffer, 'ab'],
  'a Blob': [() => new Blob(['bl', 'ob']), 'blob'],
  'a Readable': [() => Readable.from(['one', 'two']), 'onetwo'],
  'a large Readable': [() => Readable.from([big, big]), big.toString() + big.toString()],
  'an iterable': [() => ['one', Buffer.from('two')], 'onetwo'],
  'an async generator': [async function * () { yield 'one'; yield 'two' }, 'onetwo'],
  'a FormData': [() => form, /name="name"\r\n\r\nvalue\r\n[^]*filename="a.txt"[^]*content/]
}

for (const { name, serve, options } of versions) {
  test(`every kind of body arrives over ${name}`, async () => {
    const server = await serve(echo)
    const client = new Client(server.url, options)
    for (const [kind, [make, expected]] of Object.entries(bodies)) {
      const answer = await viaNew(client, { path: '/', method: 'POST', body: make() })
      const text = answer.body.toString()
      if (expected instanceof RegExp) assert.match(text, expected, kind)
      else assert.ok(text === expected, `${kind}: ${text.slice(0, 40)}`)
      assert.equal(answer.headers['x-method'], 'POST')
    }
    await client.close()
    await server.close()
  })

  test(`a known length is said and an unknown one is not over ${name}`, async () => {
    const server = await serve(echo)
    const client = new Client(server.url, options)
    const length = async (body, headers) => (await viaNew(client, { path: '/', method: 'POST', body, headers })).headers['x-length']
    assert.equal(await length('four'), '4')
    assert.equal(await length(null), '0')
    assert.equal(await length(new Blob(['five5'])), '5')
    assert.equal(await length(Readable.from(['six', '666'])), 'none')
    assert.equal(await length((async function * () { yield 'seven' })(), { 'content-length': '5' }), '5')
    await client.close()
    await server.close()
  })

  test(`trailers, 1xx, HEAD, 204 and fields that repeat come over ${name}`, async () => {
    const server = await serve((request, response) => {
      if (request.url === '/204') {
        response.writeHead(204)
        return response.end()
      }
      if (request.url === '/hints' && response.writeEarlyHints) response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      if (request.method !== 'HEAD') response.setHeader('trailer', 'x-sum')
      response.write('body')
      if (request.method !== 'HEAD') response.addTrailers({ 'x-sum': '42' })
      response.end()
    })
    const client = new Client(server.url, options)
    const answer = await viaNew(client, { path: '/', method: 'GET' })
    assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2'])
    assert.equal(answer.trailers['x-sum'], '42')
    const old = await viaOld(client, { path: '/', method: 'GET' })
    assert.ok(Buffer.isBuffer(old.rawHeaders[0]), 'a handler of the old ABI gets Buffers')
    assert.deepEqual(old.rawTrailers.map(String), ['x-sum', '42'])
    const hinted = await viaNew(client, { path: '/hints', method: 'GET' })
    assert.equal(hinted.interim[0].status, 103)
    assert.equal(hinted.interim[0].headers.link, '</a.css>; rel=preload')
    assert.equal(hinted.status, 200)
    const head = await viaNew(client, { path: '/', method: 'HEAD' })
    assert.deepEqual([head.status, head.body.length], [200, 0])
    const empty = await viaNew(client, { path: '/204', method: 'GET' })
    assert.deepEqual([empty.status, empty.body.length], [204, 0])
    await client.close()
    await server.close()
  })

  test(`an abort at every stage is one error and the next request works over ${name}`, async () => {
    let come = () => {}
    const server = await serve(async (request, response) => {
      if (request.url === '/slow') return come()
      response.write('part')
      if (request.url !== '/part') response.end()
    })
    const client = new Client(server.url, { ...options, pipelining: 1 })
    const reason = new Error('enough')
    const aborting = (path, stage) => new Promise(resolve => {
      const seen = []
      const act = controller => { controller.abort(reason); controller.abort(new Error('again')) }
      client.dispatch({ path, method: 'GET' }, {
        onRequestStart (controller) { seen.push('start'); if (stage === 'start') act(controller); if (stage === 'sent') come = () => { act(controller) } },
        onResponseStart (controller) { seen.push('head'); if (stage === 'head') act(controller) },
        onResponseData (controller) { seen.push('data'); if (stage === 'data') act(controller) },
        onResponseEnd () { seen.push('end') },
        // Bytes behind it would come before the answer to another request.
        async onResponseError (controller, error) { seen.push(error.message); await viaNew(client, { path: '/', method: 'GET' }); resolve(seen) }
      })
    })
    assert.deepEqual(await aborting('/slow', 'start'), ['start', 'enough'])
    assert.deepEqual(await aborting('/slow', 'sent'), ['start', 'enough'])
    assert.deepEqual(await aborting('/part', 'head'), ['start', 'head', 'enough'])
    assert.deepEqual(await aborting('/part', 'data'), ['start', 'head', 'data', 'enough'])
    assert.equal((await viaNew(client, { path: '/', method: 'GET' })).body.toString(), 'part')
    await client.close()
    await server.close()
  })

  test(`a slow server holds a source back over ${name}`, async () => {
    let request
    const server = await serve((asked, response) => {
      request = asked
      asked.on('end', () => { response.end('done') })
    })
    const client = new Client(server.url, options)
    const total = 96 * 1024 * 1024
    for (const size of [4 * 1024, 64 * 1024]) {
      let given = 0
      const source = function * () {
        const piece = Buffer.alloc(size)
        for (; given < total; given += size) yield piece
      }
      const answered = viaNew(client, { path: '/', method: 'POST', body: source() })
      // As long as what is taken grows, the buffers on the way are still filling.
      for (let before = -1; before !== given || request === undefined;) { before = given; await after(200) }
      assert.ok(given < total / 2, `${given} bytes were taken of a source that nobody reads`)
      request.resume()
      assert.equal((await answered).body.toString(), 'done')
      assert.equal(given, total)
      request = undefined
    }
    await client.close()
    await server.close()
  })

  test(`a reader that pauses holds the peer back over ${name}`, async () => {
    const total = 64 * 1024 * 1024
    let written = 0
    const server = await serve(async (request, response) => {
      if (request.url === '/other') return response.end()
      const piece = Buffer.alloc(64 * 1024)
      while (written < total) {
        written += piece.length
        if (!response.write(piece)) await once(response, 'drain')
      }
      response.end()
    })
    const [client, other] = [new Client(server.url, options), new Client(server.url, options)]
    /** Long enough for what can move to move. */
    const round = async () => { for (let count = 0; count < 50; count++) await viaNew(other, { path: '/other', method: 'GET' }) }
    let received = 0
    await new Promise((resolve, reject) => {
      client.dispatch({ path: '/', method: 'GET' }, {
        onRequestStart () {},
        onResponseStart (controller) {
          controller.pause()
          setImmediate(async () => {
            // As long as what is written grows, the buffers on the way are still filling.
            for (let before = -1; before !== written;) { before = written; await round() }
            assert.ok(written < total / 2, `${written} bytes were sent to a reader that pauses`)
            assert.equal(received, 0)
            controller.resume()
          })
        },
        onResponseData (_, chunk) { received += chunk.length },
        onResponseEnd: resolve,
        onResponseError: (_, error) => reject(error)
      })
    })
    assert.equal(received, total)
    await client.destroy()
    await other.destroy()
    await server.close()
  })
}

test('an abort at every stage of a request and of an upload is one error and the connection stays, over h3', async () => {
  const server = await origin()
  const client = new Client(server.https, { connect: { ca: cert }, http3: 'only' })
  const reason = new Error('enough')
  const endless = async function * () {
    for (;;) {
      yield Buffer.alloc(64 * 1024)
      await after(1)
    }
  }
  const aborting = (path, stage, body) => new Promise(resolve => {
    const seen = []
    const act = (now, controller) => { seen.push(now); if (stage === now) controller.abort(reason) }
    client.dispatch({ path, method: body ? 'POST' : 'GET', body }, {
      onRequestStart (controller) { act('start', controller); if (stage === 'sent') setTimeout(act, 50, 'sent', controller) },
      onResponseStart (controller) { act('head', controller) },
      onResponseData (controller) { if (!seen.includes('data')) act('data', controller) },
      onResponseEnd () { seen.push('end') },
      onResponseError (_, error) { seen.push(error.message); setTimeout(resolve, 20, seen) }
    })
  })
  const large = '/bytes/100000000'
  assert.deepEqual(await aborting(large, 'start'), ['start', 'enough'])
  assert.deepEqual(await aborting('/delay/60000', 'sent'), ['start', 'sent', 'enough'])
  assert.deepEqual(await aborting('/delay/60000', 'sent', endless()), ['start', 'sent', 'enough'])
  assert.deepEqual(await aborting(large, 'head'), ['start', 'head', 'enough'])
  assert.deepEqual(await aborting(large, 'data'), ['start', 'head', 'data', 'enough'])
  assert.deepEqual(await aborting('/echo', 'data', endless()), ['start', 'head', 'data', 'enough'])
  assert.equal((await viaNew(client, { path: '/bytes/5', method: 'GET' })).body.toString(), 'xxxxx')
  assert.equal(client.stats.totals.connections, 1)
  await client.close()
  await server.close()
})

test('a handler that throws ends its exchange and no other', async () => {
  const server = await h1((request, response) => response.end('hello'))
  const pool = new Pool(server.url)
  for (const stage of ['onResponseStart', 'onResponseData', 'onResponseEnd']) {
    const error = await new Promise(resolve => {
      pool.dispatch({ path: '/', method: 'GET' }, {
        onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd () {},
        onResponseError (_, error) { resolve(error) },
        [stage] () { throw new Error(stage) }
      })
    })
    assert.equal(error.message, stage)
  }
  assert.equal((await viaNew(pool, { path: '/', method: 'GET' })).status, 200)
  await pool.close()
  await server.close()
})

test('handlers run in the context that dispatched', async () => {
  const server = await h2((request, response) => response.end('hello'))
  const client = new Client(server.url, { connect: { ca: cert } })
  const storage = new AsyncLocalStorage()
  const of = value => storage.run(value, () => new Promise((resolve, reject) => {
    const seen = []
    client.dispatch({ path: '/', method: 'GET' }, {
      onRequestStart () { seen.push(storage.getStore()) },
      onResponseStart () { seen.push(storage.getStore()) },
      onResponseData () { seen.push(storage.getStore()) },
      onResponseEnd () { resolve([...seen, storage.getStore()]) },
      onResponseError: (_, error) => reject(error)
    })
  }))
  const all = await Promise.all(Array.from({ length: 50 }, (_, index) => of(index)))
  all.forEach((seen, index) => assert.deepEqual(seen, [index, index, index, index]))
  await client.close()
  await server.close()
})

test('what cannot be sent is refused at once, with undici\'s class and code, and nothing is sent', async () => {
  const server = await h1((request, response) => response.end())
  const client = new Client(server.url)
  const cases = [
    [{ path: 'no-slash' }, /path must be an absolute URL or start with a slash/],
    [{ path: '/a b' }, /invalid request path/],
    [{ path: 1 }, /path must be a string/],
    [{ method: 'G T' }, /invalid request method/],
    [{ method: 1 }, /method must be a string/],
    [{ headers: { 'a b': 'c' } }, /invalid header key/],
    [{ headers: { a: 'b\r\nc: d' } }, /invalid a header/],
    [{ headers: { a: 'b\0c' } }, /invalid a header/],
    [{ headers: { a: {} } }, /invalid a header/],
    [{ headers: ['a'] }, /headers array must be even/],
    [{ headers: 'a' }, /headers must be an object or an array/],
    [{ headers: { 'content-length': '1x' } }, /invalid content-length header/],
    [{ headers: { 'transfer-encoding': 'chunked' } }, /invalid transfer-encoding header/],
    [{ headers: { upgrade: 'h2c' } }, /invalid upgrade header/],
    [{ headers: { connection: 'a b' } }, /invalid connection header/],
    [{ headers: { expect: '100-continue' } }, /expect header not supported/, 'UND_ERR_NOT_SUPPORTED'],
    [{ headersTimeout: -1 }, /invalid headersTimeout/],
    [{ bodyTimeout: NaN }, /invalid bodyTimeout/],
    [{ reset: 1 }, /invalid reset/],
    [{ upgrade: 1 }, /upgrade must be a string/],
    [{ body: 1 }, /body must be/],
    [{ method: 'POST', body: 'abc', headers: { 'content-length': '2' } }, /content-length/, 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']
  ]
  for (const [wrong, text, code = 'UND_ERR_INVALID_ARG'] of cases) {
    let error
    const accepted = client.dispatch({ path: '/', method: 'GET', ...wrong }, {
      onRequestStart () { assert.fail('it started') },
      onResponseStart () {}, onResponseData () {}, onResponseEnd () {},
      onResponseError (controller, why) { assert.equal(controller, null); error = why }
    })
    assert.equal(accepted, true, JSON.stringify(wrong))
    assert.match(error.message, text)
    assert.equal(error.code, code)
    assert.ok(error instanceof errors.TrunklineError)
  }
  assert.throws(() => client.dispatch({ path: '/', method: 'GET' }, null), errors.InvalidArgumentError)
  assert.equal(server.counts.requests, 0)
  await client.close()
  await server.close()
})

test('options out of range are refused by name, and a connect function beside HTTP/3', () => {
  const wrong = {
    connections: -1, pipelining: -1, maxConcurrentStreams: 0, headersTimeout: -1, bodyTimeout: 'a', keepAliveTimeout: 0,
    maxRequestsPerClient: -1, allowH2: 1, http3: 2, maxResponseSize: -2, localAddress: 'nowhere', connectTimeout: -1
  }
  for (const [name, value] of Object.entries(wrong)) {
    assert.throws(() => new Agent({ [name]: value }), { code: 'UND_ERR_INVALID_ARG' }, name)
  }
  assert.throws(() => new Agent({ connect () {}, http3: true }), /http3 goes over UDP, and connect gives streams/)
  assert.throws(() => new Client('ftp://a'), /protocol/)
  assert.throws(() => new Client('http://a/b'), /invalid url/)
  assert.throws(() => new Agent({ connect: { ca: 'no' } }), /ca/)
})

test('close waits for what is under way and refuses what comes after; destroy ends it', async () => {
  const server = await h1((request, response) => { if (request.url === '/now') response.end('now'); else setTimeout(() => response.end('later'), 100) })
  const pool = new Pool(server.url)
  const later = viaNew(pool, { path: '/later', method: 'GET' })
  const closing = pool.close()
  await assert.rejects(viaNew(pool, { path: '/now', method: 'GET' }), { code: 'UND_ERR_CLOSED' })
  assert.equal((await later).body.toString(), 'later')
  await closing
  assert.deepEqual([pool.closed, pool.destroyed], [true, true])
  await assert.rejects(pool.close(), { code: 'UND_ERR_DESTROYED' })
  // A disposed client may be closed already.
  await pool[Symbol.asyncDispose]()

  const other = new Pool(server.url)
  const lost = viaNew(other, { path: '/later', method: 'GET' })
  lost.catch(() => {})
  await other.destroy(new Error('gone'))
  await assert.rejects(lost, /gone/)
  await assert.rejects(viaNew(other, { path: '/now', method: 'GET' }), { code: 'UND_ERR_DESTROYED' })
  await assert.rejects(other.close(), { code: 'UND_ERR_DESTROYED' })
  await server.close()
})

test('a refused connection, an unknown name and an untrusted certificate have the codes of Node.js', async () => {
  const server = await h1(() => {})
  const { url } = server
  await server.close()
  const agent = new Agent()
  const get = (origin, via = agent) => viaNew(via, { origin, path: '/', method: 'GET' })
  await assert.rejects(get(url), { code: 'ECONNREFUSED' })
  await assert.rejects(get('http://nowhere.invalid'), { code: 'ENOTFOUND' })
  const secure = await h2(() => {})
  await assert.rejects(get(secure.url), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  const insecure = new Agent({ connect: { rejectUnauthorized: false } })
  const waiting = get(secure.url, insecure)
  waiting.catch(() => {})
  await once(secure.server, 'request')
  await insecure.destroy()
  await agent.close()
  await secure.close()
})

test('timeouts of head and body are told apart, and 0 turns them off', async () => {
  const server = await h2((request, response) => { if (request.url === '/body') response.write('part') })
  const client = new Client(server.url, { connect: { ca: cert }, headersTimeout: 100, bodyTimeout: 100 })
  await assert.rejects(viaNew(client, { path: '/head', method: 'GET' }), { code: 'UND_ERR_HEADERS_TIMEOUT' })
  // Its head may take as long as it wants.
  await assert.rejects(viaNew(client, { path: '/body', method: 'GET', headersTimeout: 0 }), { code: 'UND_ERR_BODY_TIMEOUT' })
  const waiting = viaNew(client, { path: '/head', method: 'GET', headersTimeout: 0 })
  waiting.catch(() => {})
  assert.equal(await Promise.race([waiting.then(() => 'answered', () => 'failed'), after(400, 'waits')]), 'waits')
  await client.destroy()
  await server.close()
})

test('errors say whether the request was sent', async () => {
  const server = await h1((request) => request.socket.destroy())
  const client = new Client(server.url)
  const error = await viaNew(client, { path: '/', method: 'POST', body: 'x' }).then(() => null, error => error)
  assert.equal(error.code, 'UND_ERR_SOCKET')
  assert.equal(error.wasSent, true)
  assert.equal(error.attempts.length, 1)
  await client.close()
  await server.close()
})

test('everything also works over h3', async () => {
  const server = await origin()
  const client = new Client(server.https, { http3: 'only', connect: { ca: cert } })
  for (const [kind, [make, expected]] of Object.entries(bodies)) {
    const text = (await viaNew(client, { path: '/echo', method: 'POST', body: make() })).body.toString()
    if (expected instanceof RegExp) assert.match(text, expected, kind)
    else assert.ok(text === expected, kind)
  }
  const all = await Promise.all(Array.from({ length: 300 }, () => viaNew(client, { path: '/', method: 'GET' })))
  assert.ok(all.every(answer => answer.status === 200 && answer.body.length === 1024))
  await client.close()
  await server.close()
})

test('onInfo runs in the context of whoever asked, and what it throws ends its request alone', async () => {
  const server = await h1((request, response) => {
    response.writeProcessing()
    response.end('hello')
  })
  const pool = new Pool(server.url)
  const storage = new AsyncLocalStorage()
  const seen = []
  const onInfo = ({ statusCode }) => { seen.push([statusCode, storage.getStore()]) }
  const { body } = await storage.run('mine', () => pool.request({ path: '/', method: 'GET', onInfo }))
  assert.equal(await body.text(), 'hello')
  assert.deepEqual(seen, [[102, 'mine']])
  const own = new Error('my own')
  await assert.rejects(pool.request({ path: '/', method: 'GET', onInfo () { throw own } }), error => error === own)
  assert.equal((await viaNew(pool, { path: '/', method: 'GET' })).status, 200)
  await pool.close()
  await server.close()
})

test('the context of an exchange is destroyed with it, once', async () => {
  const alive = new Map()
  const ends = []
  const hook = createHook({
    init (id, type) { if (type === 'TRUNKLINE_EXCHANGE') alive.set(id, 'alive') },
    destroy (id) { if (alive.has(id)) { alive.delete(id); ends.push(id) } else if (ends.includes(id)) ends.push('twice') }
  }).enable()
  const server = await h1((request, response) => response.end('hello'))
  const pool = new Pool(server.url)
  for (let round = 0; round < 5; round++) await viaNew(pool, { path: '/', method: 'GET' })
  await assert.rejects(viaNew(pool, { path: '/', method: 'GET', headersTimeout: 1, headers: { te: 'gzip' } }))
  await pool.close()
  await server.close()
  await new Promise(setImmediate)
  hook.disable()
  assert.deepEqual([alive.size, ends.length, ends.includes('twice')], [0, 6, false])
})

test('a header may have the name of what every object inherits, and proxy-connection is refused', async () => {
  const server = await h1((request, response) => { response.end(request.rawHeaders.filter(name => /constructor|__proto__|toString|valueof/i.test(name)).join()) })
  const pool = new Pool(server.url)
  const headers = ['constructor', 'a', '__proto__', 'b', 'toString', 'c', 'valueOf', 'd']
  assert.equal((await viaNew(pool, { path: '/', method: 'GET', headers })).body.toString(), 'constructor,__proto__,toString,valueOf')
  await assert.rejects(viaNew(pool, { path: '/', method: 'GET', headers: { 'proxy-connection': 'close' } }), { code: 'UND_ERR_INVALID_ARG' })
  await pool.close()
  await server.close()
})

test('who transfers a piece of a body takes no other bytes along, and bytes() shares its memory with nobody', async t => {
  const other = await h1((request, response) => { response.end(`a short body for ${request.url}`) })
  const agent = new Agent()
  t.after(async () => { await agent.close(); await other.close() })
  const ask = async path => (await agent.request({ origin: other.url, path, method: 'GET' })).body
  const [one, two] = await Promise.all([ask('/1'), ask('/2')])
  const [piece] = await Promise.all([once(one, 'data').then(([chunk]) => chunk), once(one, 'end')])
  try {
    structuredClone(piece.buffer, { transfer: [piece.buffer] })
  } catch (error) {
    assert.equal(error.name, 'DataCloneError')
  }
  assert.equal(await two.text(), 'a short body for /2')
  assert.equal(await (await ask('/3')).text(), 'a short body for /3')
  const bytes = await (await ask('/4')).bytes()
  assert.equal(Buffer.from(bytes.buffer).toString(), 'a short body for /4')
})

test('a write that waits for room in a tunnel when its connection goes is called back with an error', async () => {
  const server = await h1(() => {})
  server.server.on('upgrade', (request, socket) => {
    socket.on('error', () => {})
    // Nothing of what follows is read.
    socket.pause().write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
  })
  const client = new Client(server.url)
  const { socket } = await client.upgrade({ path: '/', protocol: 'x' })
  socket.on('error', () => {})
  const reported = []
  for (let piece = 0; piece < 64; piece++) socket.write(Buffer.alloc(1024 * 1024), error => { reported.push(error instanceof Error) })
  await new Promise(setImmediate)
  for (const one of server.sockets) one.destroy()
  await new Promise(resolve => { socket.on('close', resolve) })
  await new Promise(setImmediate)
  assert.equal(reported.length, 64)
  assert.equal(reported.at(-1), true)
  await client.destroy()
  await server.close()
})

test('a reason phrase is what the server says, on HTTP/1.1', async t => {
  const server = await h1((request, response) => {
    if (request.url === '/hints') response.writeEarlyHints({ link: '</a>; rel=preload' })
    response.statusCode = Number(request.headers['x-status'])
    if (request.headers['x-reason'] !== undefined) response.statusMessage = request.headers['x-reason']
    response.end()
  })
  t.after(() => server.close())
  const agent = new Agent()
  t.after(() => agent.destroy())
  const printed = []
  const ask = async (path, headers) => {
    await new Promise((resolve, reject) => {
      agent.dispatch({ origin: server.url, path, method: 'GET', headers }, {
        onRequestStart () {},
        onResponseStart (controller, status, fields, text) { printed.push(`${status} ${text}`) },
        onResponseData () {},
        onResponseEnd: resolve,
        onResponseError: (controller, error) => { reject(error) }
      })
    })
  }
  await ask('/', { 'x-status': '200' })
  await ask('/', { 'x-status': '200', 'x-reason': 'Fine' })
  await ask('/', { 'x-status': '404', 'x-reason': 'Gone Fishing' })
  await ask('/', { 'x-status': '413' })
  await ask('/hints', { 'x-status': '299', 'x-reason': 'A word' })
  assert.deepEqual(printed, ['200 OK', '200 Fine', '404 Gone Fishing', `413 ${STATUS_CODES[413]}`, '103 Early Hints', '299 A word'])
})

for (const [when, isNew] of [['onResponseEnd', true], ['onComplete', false]]) {
  test(`an abort in ${when} is behind the end, and no error follows`, { timeout: 60_000 }, async t => {
    const server = http.createServer((_, response) => { response.end('text') })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => { server.close() })
    const client = new Client(`http://127.0.0.1:${server.address().port}`)
    t.after(() => client.destroy())
    const calls = []
    let abort
    const end = () => {
      calls.push('end')
      abort(new Error('late'))
    }
    const fail = () => { calls.push('error') }
    client.dispatch({ path: '/', method: 'GET' }, isNew
      ? { onRequestStart (controller) { abort = reason => { controller.abort(reason) } }, onResponseStart () {}, onResponseData () {}, onResponseEnd: end, onResponseError: fail }
      : { onConnect (given) { abort = given }, onHeaders: () => true, onData: () => true, onComplete: end, onError: fail })
    // The next request of the connection comes behind all of it.
    await client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
    assert.deepEqual(calls, ['end'])
  })
}

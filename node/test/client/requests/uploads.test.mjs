// The engine gets copies of what is sent, a large body piece by piece as the connection takes it: what
// is sent is what was given, whatever becomes of the memory behind it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { PassThrough, Readable, Stream } from 'node:stream'
import { buffer as gather } from 'node:stream/consumers'
import test from 'node:test'
import { Worker } from 'node:worker_threads'
import { Agent, Client, fetchOver, Pool } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { h2 } from '../../support/servers/servers.mjs'
import { versions } from '../../support/servers/versions.mjs'

const MIB = 2 ** 20
/** Every way to take the memory of a body away. */
const transfers = {
  'structuredClone' (memory) { structuredClone(memory, { transfer: [memory] }) },
  async 'a worker, which writes into it and ends' (memory) {
    const program = "require('node:worker_threads').parentPort.once('message', memory => { new Uint8Array(memory).fill(0) })"
    const worker = new Worker(program, { eval: true })
    worker.postMessage(memory, [memory])
    await once(worker, 'exit')
  }
}
if ('transfer' in ArrayBuffer.prototype) {
  transfers['ArrayBuffer.prototype.transfer'] = memory => { memory.transfer() }
  transfers['ArrayBuffer.prototype.transfer to another size'] = memory => { memory.transfer(1) }
}

const echo = async (request, response) => { response.end(await gather(request)) }

for (const { name, serve, options } of versions) {
  test(`of a large Buffer that nobody reads over ${name} only the beginning has been copied`, async t => {
    const server = await serve((request, response) => {
      if (request.url === '/other') response.end()
      else request.on('error', () => {})
    })
    t.after(() => server.close())
    // The sockets of the server hold no process.
    const awake = setInterval(() => {}, 1000)
    t.after(() => { clearInterval(awake) })
    const [client, other] = [new Client(server.url, options), new Client(server.url, options)]
    t.after(() => Promise.all([client.destroy(), other.destroy()]))
    const memory = new ArrayBuffer(192 * MIB)
    const asked = once(server.server, 'request')
    const lost = viaNew(client, { path: '/', method: 'POST', body: Buffer.from(memory) }).then(() => null, error => error)
    const [request] = await asked
    // Long enough for what can move to move.
    for (let round = 0; round < 50; round++) await viaNew(other, { path: '/other', method: 'GET' })
    // Bytes copied by now arrive, and nothing else can.
    structuredClone(memory, { transfer: [memory] })
    let bytes = 0
    request.on('data', piece => { bytes += piece.length })
    const over = new Promise(resolve => { request.on('close', resolve) })
    assert.match((await lost).message, /transferred away/)
    await over
    assert.ok(bytes < 64 * MIB, `${(bytes / MIB).toFixed(0)} MiB of 192 were copied`)
  })

  test(`a source that writes its next piece over the last one sends each as it was, over ${name}`, async () => {
    const server = await serve(echo)
    const agent = new Agent(options)
    const piece = Buffer.alloc(48 * 1024)
    const small = Buffer.alloc(100)
    const pieces = function * () {
      for (let round = 0; round < 60; round++) {
        const next = round % 3 === 2 ? small : piece
        next.fill(round + 33)
        yield next
      }
    }
    const expected = Buffer.concat(Array.from(pieces(), part => Buffer.from(part)))
    const later = async function * () { yield * pieces() }
    for (const body of [pieces(), later()]) {
      const answer = await viaNew(agent, { origin: server.url, path: '/echo', method: 'POST', body })
      assert.ok(answer.body.equals(expected))
    }
    await agent.close()
    await server.close()
  })
}

for (const { name, serve, options } of versions) {
  test(`an answer that comes before a large body is over counts, and the next request works, over ${name}`, async t => {
    const server = await serve((request, response) => {
      request.on('error', () => {})
      response.statusCode = request.method === 'POST' ? 413 : 200
      response.end('answer')
    })
    t.after(() => server.close())
    const agent = new Agent(options)
    t.after(() => agent.destroy())
    const asked = { origin: server.url, path: '/', headers: { 'content-type': 'text/plain' } }
    const early = await viaNew(agent, { ...asked, method: 'POST', body: Buffer.alloc(32 * MIB) })
    assert.deepEqual([early.status, early.body.toString()], [413, 'answer'])
    const next = await viaNew(agent, { ...asked, method: 'GET' })
    assert.deepEqual([next.status, next.body.toString()], [200, 'answer'])
  })
}

for (const { name, serve, options } of versions) {
  test(`a body whose memory is transferred away right behind its request arrives as it was, over ${name}`, async () => {
    const server = await serve(echo)
    const client = new Client(server.url, options)
    for (const take of Object.values(transfers)) {
      for (const length of [1000, 20_000, 300_000]) {
        const body = Buffer.from(new ArrayBuffer(length)).fill('kept')
        const expected = Buffer.from(body)
        const answered = viaNew(client, { path: '/', method: 'POST', body })
        await take(body.buffer)
        assert.equal(body.length, 0)
        assert.ok((await answered).body.equals(expected))
      }
    }
    await client.close()
    await server.close()
  })

  test(`a large body whose memory is transferred away while it goes up is an error, and the next request works, over ${name}`, async () => {
    let come
    const server = await serve((request, response) => {
      if (request.url === '/next') return response.end('next')
      request.on('error', () => {})
      come(request)
    })
    for (const [way, take] of Object.entries(transfers)) {
      for (const wrap of [body => body, body => Readable.from([body])]) {
        const client = new Client(server.url, options)
        const asked = new Promise(resolve => { come = resolve })
        const body = Buffer.from(new ArrayBuffer(32 * MIB)).fill('kept')
        const lost = viaNew(client, { path: '/', method: 'POST', body: wrap(body) }).then(() => null, error => error)
        const request = await asked
        await take(body.buffer)
        request.resume()
        const error = await lost
        assert.equal(error?.code, 'UND_ERR_INVALID_ARG', `${way}: ${error?.stack}`)
        assert.match(error.message, /transferred away/)
        assert.equal((await viaNew(client, { path: '/next', method: 'GET' })).body.toString(), 'next')
        await client.close()
      }
    }
    await server.close()
  })
}

/** Requests sent to give what may happen the time to. */
const ROUND_TRIPS = 20
/** A promise, and what settles it. */
const gate = () => {
  let open
  const opened = new Promise(resolve => { open = resolve })
  return { opened, open }
}
/** Answers at once with the head, and with each piece of the body as it comes. */
const echoEarly = (request, response) => {
  response.writeHead(200)
  response.flushHeaders()
  request.pipe(response)
}
/** They may be pipelined on HTTP/1.1 behind one another. */
const pipelined = { path: '/', method: 'POST', idempotent: true, blocking: false }

for (const { name, serve, options } of versions) {
  test(`a source that begins only once the head of its answer has come is sent, over ${name}`, async t => {
    const server = await serve(echoEarly)
    t.after(() => server.close())
    const client = new Client(server.url, options)
    t.after(() => client.destroy())
    const { opened, open } = gate()
    const pieces = async function * () {
      await opened
      yield 'be'
      yield 'gun'
    }
    const { statusCode, body } = await client.request({ path: '/', method: 'POST', body: pieces() })
    open()
    assert.deepEqual([statusCode, await body.text()], [200, 'begun'])
  })

  test(`a request with expect behind one whose head waits does not read its body early, over ${name}`, async t => {
    const server = await serve(echoEarly)
    t.after(() => server.close())
    const [client, other] = [new Client(server.url, { ...options, pipelining: 2 }), new Client(server.url, options)]
    t.after(() => Promise.all([client.destroy(), other.destroy()]))
    const [first, rest] = [gate(), gate()]
    const pieces = async function * () {
      await first.opened
      yield 'first'
      await rest.opened
      yield ' rest'
    }
    let isRead = false
    const behind = async function * () {
      isRead = true
      yield 'behind'
    }
    const answers = [
      client.request({ ...pipelined, body: pieces() }),
      client.request({ ...pipelined, body: behind(), expectContinue: true }).then(({ body }) => body.text())
    ]
    first.open()
    const { body } = await answers[0]
    for (let trip = 0; trip < ROUND_TRIPS; trip++) await viaNew(other, { path: '/', method: 'GET' })
    // Over HTTP/2 and HTTP/3 its head is sent by now, and a wait for the 100 of a busy server has an end.
    if (name.startsWith('h1')) assert.equal(isRead, false)
    rest.open()
    assert.equal(await body.text(), 'first rest')
    assert.equal(await answers[1], 'behind')
  })

  test(`100 requests behind one whose head waits are answered, whatever their bodies wait for, over ${name}`, async t => {
    const server = await serve(echoEarly)
    t.after(() => server.close())
    const client = new Client(server.url, { ...options, pipelining: 101, maxConcurrentStreams: 101 })
    t.after(() => client.destroy())
    const { opened, open } = gate()
    const kinds = {
      'a text': text => ({ body: text }),
      'an iterable': text => ({ body: [text] }),
      'a source of two pieces': text => ({ body: (async function * () { yield text.slice(0, 1); yield text.slice(1) })() }),
      'a source with expect': text => ({ body: (async function * () { yield text })(), expectContinue: true }),
      'a stream': text => ({ body: Readable.from([text]) }),
      'an empty source': () => ({ body: (async function * () {})() })
    }
    const bodies = Object.entries(kinds)
    const sent = Array.from({ length: 100 }, (_, at) => {
      const [kind, make] = bodies[at % bodies.length]
      return { expected: kind === 'an empty source' ? '' : `body ${at}`, options: make(`body ${at}`) }
    })
    const late = client.request({ ...pipelined, body: (async function * () { await opened; yield 'late' })() })
    const answers = sent.map(({ options }) => client.request({ ...pipelined, ...options }).then(({ body }) => body.text()))
    const { body } = await late
    open()
    assert.equal(await body.text(), 'late')
    assert.deepEqual(await Promise.all(answers), sent.map(({ expected }) => expected))
  })
}

test('a body that the server refused unseen is whole when it is sent again', async () => {
  const seen = []
  const server = await h2(async (request, response) => {
    if (seen.push(request.url) === 1) return response.stream.close(7)
    response.end(await gather(request))
  })
  const pool = new Pool(server.url, { connect: { ca: cert } })
  const body = Buffer.alloc(300_000, 'again')
  const answer = await viaNew(pool, { path: '/', method: 'POST', body })
  assert.equal(seen.length, 2)
  assert.ok(answer.body.equals(body))
  await pool.close()
  await server.close()
})

test('requests with bodies that fail, are aborted in line or come too late settle, each with its own error', async () => {
  const server = await h2((request, response) => { request.resume(); if (request.url === '/cut') response.stream.session.destroy() })
  const pool = new Pool(server.url, { connect: { ca: cert }, connections: 1, maxConcurrentStreams: 2 })
  const body = () => Buffer.alloc(64 * 1024)
  const signal = AbortSignal.timeout(50)
  const paths = [...Array(10).fill('/hang'), '/cut']
  const outcomes = await Promise.allSettled(paths.map(path => pool.request({ path, method: 'POST', body: body(), signal })))
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  const cut = await pool.request({ path: '/cut', method: 'POST', body: body() }).then(() => null, error => error)
  assert.equal(cut.code, 'UND_ERR_SOCKET')
  const last = pool.request({ path: '/hang', method: 'POST', body: body() }).catch(error => error)
  await pool.destroy()
  assert.equal((await last).code, 'UND_ERR_DESTROYED')
  await server.close()
})

for (const { name, serve, options } of versions) {
  test(`over ${name} a body that cannot be destroyed gets the error of its request as an event, as with undici`, async t => {
    const server = await serve(request => { request.on('error', () => {}).resume() })
    t.after(() => server.close())
    const client = new Client(server.url, options)
    t.after(() => client.destroy())
    const bodies = [() => Object.assign(new Readable({ read () {} }), { destroy: undefined }), () => Object.assign(new Stream(), { readable: true })]
    for (const make of bodies) {
      for (const call of ['request', 'stream', 'refused']) {
        const body = make()
        const controller = new AbortController()
        const received = new Promise(resolve => { body.on('error', resolve) })
        const asked = { path: call === 'refused' ? 'no path' : '/', method: 'POST', body, signal: controller.signal }
        const failed = call === 'stream' ? client.stream(asked, () => new PassThrough()) : client.request(asked)
        const why = new Error('no longer')
        controller.abort(why)
        const error = await failed.catch(reason => reason)
        if (call !== 'refused') assert.equal(error, why)
        assert.equal(await received, error, call)
      }
    }
  })
}

test('memory that can shrink or that other threads share arrives', async () => {
  const server = await h2(echo)
  const agent = new Agent({ connect: { ca: cert } })
  const shared = new Uint8Array(new SharedArrayBuffer(20_000)).fill(65)
  const memories = [Buffer.from(shared.buffer)]
  if ('resizable' in ArrayBuffer.prototype) {
    memories.push(Buffer.from(new ArrayBuffer(20_000, { maxByteLength: 40_000 })).fill(66))
  }
  for (const body of memories) {
    const expected = Buffer.from(body)
    assert.ok((await viaNew(agent, { origin: server.url, path: '/', method: 'POST', body })).body.equals(expected))
  }
  await agent.close()
  await server.close()
})

for (const [what, pieces] of Object.entries({ 'alone': [{}], 'behind others': ['a', 'b', 1] })) {
  for (const { name, serve, options } of versions) {
    test(`over ${name} a stream whose last piece is neither text nor bytes, ${what}, fails with the error of its request`, async t => {
      const server = await serve((request, response) => { request.on('error', () => {}).resume().on('end', () => { response.end() }) })
      t.after(() => server.close())
      const client = new Client(server.url, options)
      t.after(() => client.destroy())
      const body = Readable.from(pieces)
      const failed = once(body, 'error')
      const error = await client.request({ path: '/', method: 'POST', body }).then(() => null, error => error)
      assert.equal(error.code, 'ERR_INVALID_ARG_TYPE')
      assert.deepEqual(await failed, [error])
    })
  }
}

/** Bodies whose sources fail behind a piece. */
const FAILING = {
  'an iterator that throws': begun => (async function * () { yield 'part'; await begun; throw new Error('the source') })(),
  'a stream that is destroyed with an error': begun => { const source = new PassThrough(); source.write('part'); begun.then(() => { source.destroy(new Error('the source')) }); return source },
  'a stream that is destroyed': begun => { const source = new PassThrough(); source.write('part'); begun.then(() => { source.destroy() }); return source }
}

for (const [source, bodyOf] of Object.entries(FAILING)) {
  for (const [call, send] of Object.entries({
    request: (client, body) => client.request({ path: '/', method: 'POST', body }),
    stream: (client, body) => client.stream({ path: '/', method: 'POST', body }, () => new PassThrough()),
    fetch: (client, body, url) => fetchOver(client)(url, { method: 'POST', body: body instanceof Readable ? Readable.toWeb(body) : body, duplex: 'half' })
  })) {
    test(`the upload of ${call} whose body is ${source} is no whole body at a server of node:http2`, async t => {
      const server = http2.createServer()
      t.after(() => { server.close() })
      const seen = []
      let begin
      const begun = new Promise(resolve => { begin = resolve })
      const closed = new Promise(resolve => {
        server.on('stream', stream => {
          stream.on('data', () => { begin() }).on('end', () => { seen.push('end') }).on('error', ({ code }) => { seen.push(code) })
          stream.on('close', () => { resolve(stream.rstCode) })
        })
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const url = `http://127.0.0.1:${server.address().port}`
      const client = new Client(url, { allowH2: true, useH2c: true })
      t.after(() => client.destroy())
      await assert.rejects(send(client, bodyOf(begun), url))
      assert.equal(await closed, http2.constants.NGHTTP2_INTERNAL_ERROR)
      assert.deepEqual(seen, ['ERR_HTTP2_STREAM_ERROR'])
    })
  }
}

// Heads that are refused and ends of streams on servers, each on node:http2 itself and on ours.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import test from 'node:test'
import ours from 'trunkline/http2'

const MODULES = { 'node:http2': nodeHttp2, trunkline: ours }

const LINE = Number.parseInt(process.versions.node, 10)

/** A client of a server with these listeners, by event. */
async function connected (t, { createServer }, listeners) {
  const server = createServer()
  for (const [event, listener] of Object.entries(listeners)) server.on(event, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = nodeHttp2.connect(`http://127.0.0.1:${server.address().port}`)
  session.on('error', () => {})
  t.after(() => {
    session.destroy()
    server.close()
  })
  return session
}

/** The bytes of a response until its stream closes. */
async function bodyOf (stream) {
  let body = ''
  stream.on('data', piece => { body += piece }).on('error', () => {})
  await once(stream, 'close')
  return body
}

for (const [name, http2] of Object.entries(MODULES)) {
  test(`${name}: a stream of HEAD has finished before anything listens to it`, async t => {
    const seen = []
    const session = await connected(t, http2, {
      stream: stream => {
        for (const event of ['finish', 'end', 'close', 'aborted']) stream.on(event, () => { seen.push(event) })
        setImmediate(() => {
          seen.push(stream.writableEnded)
          stream.respond({ 'x-a': 'b' })
        })
      }
    })
    const stream = session.request({ ':method': 'HEAD' })
    const [headers] = await once(stream, 'response')
    assert.equal(headers['x-a'], 'b')
    await bodyOf(stream)
    // Another stream's turn is behind the events of this one.
    await bodyOf(session.request({ ':method': 'HEAD' }))
    assert.ok(!seen.includes('finish'), seen.join())
    assert.ok(seen.includes('close') && seen.includes(true), seen.join())
  })

  test(`${name}: a reader of a request without a body gets its end before the reset that came with it`, async t => {
    const over = Promise.withResolvers?.() ?? {}
    over.promise ??= new Promise(resolve => { over.resolve = resolve })
    const seen = []
    const session = await connected(t, http2, {
      stream: stream => {
        stream.on('data', () => {})
        for (const event of ['end', 'aborted', 'close']) {
          stream.on(event, () => {
            seen.push(event)
            if (event === 'close') over.resolve()
          })
        }
      }
    })
    const stream = session.request()
    stream.on('error', () => {})
    stream.close(8)
    await over.promise
    assert.deepEqual(seen, ['end', 'aborted', 'close'])
  })

  test(`${name}: endStream is what is true`, async t => {
    const session = await connected(t, http2, { stream: (stream, headers) => { stream.respond({}, { endStream: Number(headers['x-ends']) }); if (headers['x-ends'] === '0') stream.end('body') } })
    assert.equal(await bodyOf(session.request({ 'x-ends': '1' })), '')
    assert.equal(await bodyOf(session.request({ 'x-ends': '0' })), 'body')
  })

  // Older lines of node:http2 do not show it.
  const isShown = name === 'trunkline' || LINE >= 22
  test(`${name}: a head that is refused is seen as sentHeaders, and another may be sent`, { skip: !isShown }, async t => {
    const seen = []
    const session = await connected(t, http2, {
      stream: stream => {
        for (const wrong of [{ connection: 'close' }, { 'b b': '1' }, { 'content-type': ['a', 'b'] }]) {
          assert.throws(() => { stream.respond(wrong) })
          seen.push([stream.headersSent, Object.keys(stream.sentHeaders)])
        }
        stream.respond({ 'x-a': 'b' })
        seen.push([stream.headersSent, Object.keys(stream.sentHeaders)])
        stream.end()
      }
    })
    await bodyOf(session.request())
    assert.deepEqual(seen, [[false, ['connection', ':status', 'date']], [false, ['b b', ':status', 'date']], [false, ['content-type', ':status', 'date']], [true, ['x-a', ':status', 'date']]])
  })

  test(`${name}: trailers that cannot be sent are an error of their program, and the body goes`, async t => {
    const errors = []
    const session = await connected(t, http2, {
      request: (request, response) => {
        response.setTrailer(':x', 'y')
        if (request.url === '/pieces') response.write('a ')
        response.end('body')
      }
    })
    process.setUncaughtExceptionCaptureCallback(error => { errors.push(error.code) })
    t.after(() => { process.setUncaughtExceptionCaptureCallback(null) })
    const [whole] = await once(session.request().setEncoding('utf8'), 'data')
    const stream = session.request({ ':path': '/pieces' }).setEncoding('utf8')
    let pieces = ''
    await new Promise(resolve => { stream.on('data', piece => { pieces += piece; if (pieces.length >= 6) resolve() }) })
    assert.deepEqual([whole, pieces], ['body', 'a body'])
    while (errors.length < 2) await new Promise(resolve => { setImmediate(resolve) })
    assert.deepEqual(errors, ['ERR_HTTP2_INVALID_PSEUDOHEADER', 'ERR_HTTP2_INVALID_PSEUDOHEADER'])
  })

  test(`${name}: a response whose client leaves has finished, but its program has not ended it`, async t => {
    for (const begin of [() => {}, response => { response.flushHeaders() }, response => { response.write('part') }]) {
      let seen
      const over = new Promise(resolve => { seen = resolve })
      let begun
      const isBegun = new Promise(resolve => { begun = resolve })
      const session = await connected(t, http2, {
        request: (request, response) => {
          response.on('close', () => { seen([response.writableEnded, response.writableFinished, request.aborted]) })
          begin(response)
          begun()
        }
      })
      const stream = session.request()
      stream.on('error', () => {}).resume()
      await isBegun
      stream.close(8)
      assert.deepEqual(await over, [false, true, true])
    }
  })
}

/** More than crosses between JavaScript and the engine in one piece, and than nghttp2 sends by default. */
const LONG = { 'x-long': 'x'.repeat(300_000) }

/** `close` of a stream, whatever error comes in front of it. */
const closed = stream => new Promise(resolve => { stream.on('error', () => {}).on('close', resolve).resume() })

for (const [name, http2] of Object.entries(MODULES)) {
  test(`${name}: trailers of 300 KB are a frameError of their stream, and nothing that is thrown`, async t => {
    const seen = []
    const session = await connected(t, http2, {
      stream: stream => {
        stream.on('frameError', (type, code) => { seen.push([type, code]) }).on('error', () => {})
        stream.respond({}, { waitForTrailers: true })
        stream.on('wantTrailers', () => { stream.sendTrailers(LONG) })
        stream.end('body')
      }
    })
    await closed(session.request({ ':path': '/' }))
    assert.deepEqual(seen, [[1, 6]])
  })

  test(`${name}: a request whose head has 300 KB is a frameError of it and refused, and nothing that is thrown`, async t => {
    const server = nodeHttp2.createServer().listen(0, '127.0.0.1')
    t.after(() => { server.close() })
    await once(server, 'listening')
    const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
    t.after(() => { session.destroy() })
    await once(session, 'remoteSettings')
    const request = session.request(LONG)
    const seen = []
    request.on('frameError', (type, code) => { seen.push([type, code]) })
    await closed(request)
    assert.deepEqual([seen, request.rstCode], [[[1, 6]], 7])
  })
}

test('a request whose head is longer than any here, though its program allows it, is nothing to send again', async t => {
  const server = nodeHttp2.createServer().listen(0, '127.0.0.1')
  t.after(() => { server.close() })
  await once(server, 'listening')
  const session = ours.connect(`http://127.0.0.1:${server.address().port}`, { maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER })
  t.after(() => { session.destroy() })
  await once(session, 'remoteSettings')
  const request = session.request(LONG)
  await closed(request)
  assert.equal(request.rstCode, nodeHttp2.constants.NGHTTP2_ENHANCE_YOUR_CALM)
})

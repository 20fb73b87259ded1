// Listeners of `wantTrailers` beside the compatible API, each on node:http2 itself and on ours: frameworks learn by it that all of a
// response but its trailers has been written, and then stop a client that still uploads.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import { pipeline, Writable } from 'node:stream'
import test from 'node:test'
import ours from 'trunkline/http2'

const MODULES = { 'node:http2': nodeHttp2, trunkline: ours }

/** Its close, also behind an error. */
const closing = emitter => new Promise(resolve => { emitter.on('close', resolve) })

/** The events of a POST's stream that come from its server, and its code; `isWhole`: its body ends. */
async function answered (t, { createServer }, listener, isWhole) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = nodeHttp2.connect(`http://127.0.0.1:${server.address().port}`)
  session.on('error', () => {})
  t.after(() => {
    session.destroy()
    server.close()
  })
  const stream = session.request({ ':method': 'POST' })
  const seen = {}
  stream.on('response', headers => { seen.status = headers[':status'] })
  stream.on('trailers', trailers => { seen.trailers = Object.entries(trailers) })
  stream.on('error', () => {}).resume()
  stream.write('a body')
  if (isWhole) stream.end()
  await closing(stream)
  return { ...seen, code: stream.rstCode }
}

const answers = {
  'with a body': response => { response.write('x') },
  'without a body': () => {},
  'with a head of its own': response => { response.writeHead(200, { 'x-a': 'b' }) },
  'that announces them': response => { response.setHeader('trailer', 'x-t'); response.write('x') }
}

for (const [name, http2] of Object.entries(MODULES)) {
  for (const [what, answer] of Object.entries(answers)) {
    test(`${name}: a response ${what} has its trailers where its stream has a listener of wantTrailers`, async t => {
      let emitted = 0
      const seen = await answered(t, http2, (request, response) => {
        response.stream.on('wantTrailers', () => { emitted++ })
        answer(response)
        response.flushHeaders()
        response.addTrailers({ 'x-t': 'yes' })
        response.end()
      }, true)
      assert.deepEqual(seen, { status: 200, trailers: [['x-t', 'yes']], code: 0 })
      assert.equal(emitted, 1)
    })
  }

  for (const [what, read] of Object.entries({
    'is not read': () => {},
    'is read': request => { request.resume() },
    'is piped': request => { pipeline(request, new Writable({ write (_piece, _encoding, done) { done() } }), () => {}) }
  })) {
    test(`${name}: an upload that ${what} and goes on is stopped behind the trailers of its response by a listener of wantTrailers`, async t => {
      let closed
      const seen = await answered(t, http2, (request, response) => {
        const { stream } = response
        closed = closing(stream).then(() => stream.rstCode)
        request.on('error', () => {})
        stream.once('wantTrailers', () => { setImmediate(() => { if (stream.state.remoteClose === 0) stream.close() }) })
        read(request)
        response.write('x')
        response.addTrailers({ 'x-t': 'yes' })
        response.end()
      }, false)
      assert.deepEqual(seen, { status: 200, trailers: [['x-t', 'yes']], code: 0 })
      assert.equal(await closed, 0)
    })
  }

  test(`${name}: wantTrailers comes for a response without trailers too, and not for one that its head ends`, async t => {
    const emitted = []
    for (const path of ['a body', 'no content']) {
      await answered(t, http2, (request, response) => {
        response.stream.on('wantTrailers', () => { emitted.push(path) })
        if (path === 'no content') response.statusCode = 204
        else response.write('x')
        response.end()
      }, true)
    }
    assert.deepEqual(emitted, ['a body'])
  })

  test(`${name}: trailers of a listener of wantTrailers are refused, because those of the response have been sent`, async t => {
    let refusal
    const { trailers } = await answered(t, http2, (request, response) => {
      const { stream } = response
      stream.on('wantTrailers', () => {
        assert.throws(() => { stream.sendTrailers({ 'x-t': 'no' }) }, error => { refusal = error.code; return true })
        assert.equal(stream.sentTrailers['x-t'], 'yes')
      })
      response.write('x')
      response.addTrailers({ 'x-t': 'yes' })
      response.end()
    }, true)
    assert.equal(refusal, 'ERR_HTTP2_TRAILERS_ALREADY_SENT')
    assert.deepEqual(trailers, [['x-t', 'yes']])
  })

  for (const code of [0, 2, 8]) {
    test(`${name}: a request that is being read closes once, with code ${code}, where its program closes the stream with that behind the response`, async t => {
      const closes = []
      let ended
      const { code: received } = await answered(t, http2, (request, response) => {
        const { stream } = response
        stream.on('error', () => {}).once('finish', () => { stream.close(code) })
        request.on('error', () => {}).on('close', () => { closes.push(stream.rstCode) })
        const read = async () => { try { for await (const piece of request.iterator({ destroyOnReturn: false })) void piece } catch {} }
        ended = Promise.all([closing(request), closing(response), read()])
        response.end('x')
      }, false)
      assert.equal(received, code)
      await ended
      assert.deepEqual(closes, [code])
    })
  }
}

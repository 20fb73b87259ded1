// Bodies whose peer breaks off while their readers are behind: all that came goes to the reader, and then the error.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { pipeline, Writable } from 'node:stream'
import test from 'node:test'
import { Agent, Client, fetch } from 'trunkline'

/** More than a stream and a connection buffer, so that readers pause, and less than is received ahead of them. */
const BYTES = 150_000

/** Readers that are slower than the peer: `closed` resolves when it has closed the connection. Each counts what it gets, and gives its error. */
const SLOW = {
  'a body that is read late' (dispatcher, options, closed, count) {
    return dispatcher.request(options).then(async ({ body }) => {
      await closed
      for await (const piece of body) count(piece)
    }).catch(error => error)
  },
  'a body that goes to a slow stream' (dispatcher, options, closed, count) {
    return dispatcher.request(options).then(({ body }) => new Promise(resolve => {
      pipeline(body, slow(closed, count), resolve)
    }))
  },
  'the stream of a call' (dispatcher, options, closed, count) {
    return dispatcher.stream(options, () => slow(closed, count)).catch(error => error)
  },
  'a handler that pauses' (dispatcher, options, closed, count) {
    return new Promise(resolve => {
      dispatcher.dispatch(options, {
        onRequestStart () {},
        onResponseStart () {},
        onResponseData (controller, piece) {
          count(piece)
          controller.pause()
          closed.then(() => { controller.resume() })
        },
        onResponseEnd: resolve,
        onResponseError (_, error) { resolve(error) }
      })
    })
  },
  'a body of fetch' (dispatcher, { origin }, closed, count) {
    return fetch(origin, { dispatcher }).then(async ({ body }) => {
      await closed
      for await (const piece of body) count(piece)
    }).catch(error => error)
  }
}

/** Takes a piece when the peer has gone. */
const slow = (closed, count) => new Writable({ highWaterMark: 1, write (piece, _, done) { count(piece); closed.then(() => { setImmediate(done) }) } })

for (const [name, read] of Object.entries(SLOW)) {
  for (const isComposed of [false, true]) {
    test(`${name}${isComposed ? ', behind an interceptor,' : ''} gets all that came before its peer broke off, and then the error`, { timeout: 60_000 }, async t => {
      let close
      const closed = new Promise(resolve => { close = resolve })
      const server = createServer((_, response) => {
        response.socket.on('close', close)
        response.writeHead(200, { 'content-length': 2 * BYTES }).write(Buffer.alloc(BYTES), () => { response.socket.end() })
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.after(() => { server.close() })
      const agent = new Agent()
      t.after(() => agent.destroy())
      const dispatcher = isComposed ? agent.compose(dispatch => (options, handler) => dispatch(options, handler)) : agent
      let bytes = 0
      const error = await read(dispatcher, { origin: `http://127.0.0.1:${server.address().port}`, path: '/', method: 'GET' }, closed, piece => { bytes += piece.length })
      assert.equal((error.cause?.code ?? error.code), 'UND_ERR_SOCKET')
      assert.equal(bytes, BYTES)
    })
  }
}

/** The URL of a server whose connection ends behind half of its response. */
async function urlOfCut (t) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 2 * BYTES }).write(Buffer.alloc(BYTES), () => { response.socket.end() })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  return `http://127.0.0.1:${server.address().port}`
}

test('a reader that gives up a body behind a failure gets no more of it', { timeout: 60_000 }, async t => {
  const url = await urlOfCut(t)
  const client = new Client(url)
  t.after(() => client.destroy())
  const controller = new AbortController()
  const disconnected = once(client, 'disconnect')
  const { body } = await client.request({ path: '/', method: 'GET', signal: controller.signal })
  await disconnected
  const failed = once(body, 'error')
  const reason = new Error('enough')
  controller.abort(reason)
  const [error] = await failed
  assert.equal(error, reason)
})

test('a body that is asked for all of it behind a failure fails by its events too', { timeout: 60_000 }, async t => {
  const url = await urlOfCut(t)
  for (const way of ['text', 'json', 'blob', 'bytes', 'arrayBuffer', 'formData']) {
    const client = new Client(url)
    t.after(() => client.destroy())
    const disconnected = once(client, 'disconnect')
    const { body } = await client.request({ path: '/', method: 'GET' })
    await disconnected
    const events = []
    const closed = new Promise(resolve => { body.on('error', ({ code }) => { events.push(code) }).on('close', () => { events.push('close'); resolve() }) })
    await assert.rejects(body[way](), { code: 'UND_ERR_SOCKET' }, way)
    await closed
    assert.deepEqual([...events, body.destroyed], ['UND_ERR_SOCKET', 'close', true], way)
  }
})

test('a body without listeners that is asked for all of it behind a failure fails, and is destroyed', { timeout: 60_000 }, async t => {
  const url = await urlOfCut(t)
  const client = new Client(url)
  t.after(() => client.destroy())
  const disconnected = once(client, 'disconnect')
  const { body } = await client.request({ path: '/', method: 'GET' })
  await disconnected
  await assert.rejects(body.text(), { code: 'UND_ERR_SOCKET' })
  assert.equal(body.destroyed, true)
})

// Acts of a listener of node:http behind its answer, on every version: it destroys its request, its response or its socket, or ends a
// response whose head was the whole of it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { Agent, createSecureServer } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const VERSIONS = { 'HTTP/1.1': { allowH2: false }, 'HTTP/2': { allowH2: true }, 'HTTP/3': { http3: 'only' } }
const LARGE_BYTES = 100_000
/** As where a body is longer than its listener takes. */
const DESTROYS = {
  'its request': request => { request.destroy() },
  'its response': (request, response) => { response.destroy() },
  'its socket': request => { request.socket.destroy() }
}

/** A server with `listener`, and a client of it. */
async function connected (t, options, listener) {
  const server = createSecureServer({ cert, key, allowHTTP1: true, http3: true, requests: 'http' }, listener)
  server.on('clientError', (_, socket) => { socket.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ connect: { ca: cert }, ...options })
  t.after(async () => {
    await agent.destroy()
    await new Promise(resolve => { server.close(resolve) })
  })
  const ask = async (method, body) => await agent.request({ origin: `https://localhost:${server.address().port}`, path: '/', method, body })
  return { agent, ask }
}

for (const [version, options] of Object.entries(VERSIONS)) {
  for (const [what, destroy] of Object.entries(DESTROYS)) {
    for (const [length, bytes] of Object.entries({ small: 10, large: LARGE_BYTES })) {
      test(`an answer of a listener that destroys ${what} behind it arrives over ${version}, behind a ${length} body`, async t => {
        const { ask } = await connected(t, options, (request, response) => {
          request.on('error', () => {})
          response.statusCode = 413
          response.end('too large')
          destroy(request, response)
        })
        const answer = await ask('POST', 'x'.repeat(bytes))
        assert.deepEqual([answer.statusCode, await answer.body.text()], [413, 'too large'])
      })
    }
  }

  test(`a large answer of a listener that destroys its request behind it is whole over ${version}`, { skip: version === 'HTTP/1.1' && 'there its connection is destroyed' }, async t => {
    const { ask } = await connected(t, options, (request, response) => {
      request.on('error', () => {})
      response.end('y'.repeat(LARGE_BYTES))
      request.destroy()
    })
    assert.equal((await (await ask('POST', 'a body')).body.text()).length, LARGE_BYTES)
  })

  for (const [name, status, method] of [['an answer to HEAD', 200, 'HEAD'], ['a 204', 204, 'GET'], ['a 304', 304, 'GET']]) {
    test(`${name} whose head goes before its end is whole over ${version}`, async t => {
      let finish
      const [events, ends] = [[], []]
      const { ask } = await connected(t, options, (request, response) => {
        request.on('aborted', () => { events.push('aborted') }).on('error', error => { events.push(error.code) })
        finish = new Promise(resolve => { response.on('close', () => { resolve(response.writableFinished) }) })
        response.statusCode = status
        response.flushHeaders()
        ends.push(() => { response.end('late') })
      })
      const answer = await ask(method)
      assert.equal(answer.statusCode, status)
      assert.equal(await answer.body.text(), '')
      // The client has gone on: a request behind it has been answered.
      await (await ask(method)).body.dump()
      for (const end of ends) end()
      assert.deepEqual([await finish, events], [true, []])
    })
  }

  test(`an answer to HEAD that is never ended closes with its connection over ${version}`, async t => {
    const { agent, ask } = await connected(t, options, (request, response) => {
      response.on('close', () => { closed(response.writableFinished) })
      response.flushHeaders()
    })
    let closed
    const over = new Promise(resolve => { closed = resolve })
    await (await ask('HEAD')).body.dump()
    await agent.destroy()
    assert.equal(await over, false)
  })
}

test('responses that wait for their end add no listeners to the socket of their connection', async t => {
  const [counts, waiting] = [[], []]
  const { ask } = await connected(t, VERSIONS['HTTP/2'], (request, response) => {
    response.writeHead(204)
    response.flushHeaders()
    waiting.push(response)
    const { socket } = request
    if (waiting.length < 20) return
    // Behind the ends of the exchanges, which come with their heads.
    setImmediate(() => setImmediate(() => {
      counts.push(socket.listenerCount('close'))
      for (const response of waiting) response.end()
    }))
  })
  const warnings = []
  const warn = warning => { warnings.push(warning.name) }
  process.on('warning', warn)
  t.after(() => { process.off('warning', warn) })
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET')))
  await Promise.all(answers.map(answer => answer.body.dump()))
  await new Promise(resolve => { setImmediate(resolve) })
  assert.deepEqual(warnings, [])
  assert.ok(counts[0] <= 10, `${counts}`)
})

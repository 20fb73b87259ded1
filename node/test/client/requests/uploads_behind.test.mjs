// A response that has ended before its request's body. On a stream, and from memory, the rest of the body goes on behind it, as with undici:
// a server that answers first and stores then gets all of it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import test from 'node:test'
import { Agent, Client, fetchOver } from 'trunkline'
import { h2c } from '../../support/servers/servers.mjs'
import { versions } from '../../support/servers/versions.mjs'

// Sockets of servers hold no process, which waits for what they get.
const awake = setInterval(() => {}, 1000)
test.after(() => { clearInterval(awake) })

const MIB = 2 ** 20
/** More than what systems, engines and windows hold of a body that its peer does not read. */
const BODY_BYTES = 12 * MIB
const bytes = randomBytes(BODY_BYTES)
const hashOf = content => createHash('sha256').update(content).digest('hex')
const HASH = hashOf(bytes)

function * pieces () { for (let at = 0; at < BODY_BYTES; at += 100_000) yield bytes.subarray(at, at + 100_000) }
async function * piecesLater () { yield * pieces() }
const inMemory = { 'a Buffer': () => bytes, 'a Blob': () => new Blob([bytes]) }
const streams = { 'a Readable': () => Readable.from(pieces()), 'an async generator': () => piecesLater() }
const onStream = ({ name }) => !name.startsWith('h1')

/** Resolves when a source closes, which may fail before. */
const closeOf = source => new Promise(resolve => { source.on('error', () => {}).on('close', resolve) })

/** Answers whole, and takes nothing of the body. */
function answersUnread (request, response) {
  request.on('error', () => {})
  request.pause()
  response.end('answered')
}

/** Answers whole as soon as there is a request, then takes its body; `left`: of requests whose body was cut. */
function answersFirst () {
  const hashes = []
  const waiting = []
  let left = 0
  const handler = (request, response) => {
    const hash = createHash('sha256')
    request.on('error', () => {})
    request.on('data', piece => { hash.update(piece) })
    request.on('close', () => {
      // The compatibility API says nothing of a reset behind the response.
      if (request.complete && !request.aborted && !(request.stream?.rstCode > 0)) hashes.push(hash.digest('hex'))
      else left++
      waiting.shift()?.()
    })
    response.end('answered')
  }
  return { handler, hashes, get left () { return left }, closed: () => new Promise(resolve => { waiting.push(resolve) }) }
}

const calls = {
  async request (client, url, body) {
    const response = await client.request({ origin: url, path: '/', method: 'POST', body })
    return response.body.text()
  },
  async stream (client, url, body) {
    const text = []
    await client.stream({ origin: url, path: '/', method: 'POST', body }, () => new Writable({ write (piece, _, done) { text.push(piece); done() } }))
    return Buffer.concat(text).toString()
  },
  async fetch (client, url, body) {
    const response = await fetchOver(client)(url, { method: 'POST', body, duplex: 'half' })
    return response.text()
  }
}
for (const version of versions) {
  const bodies = onStream(version) ? { ...inMemory, ...streams } : inMemory
  for (const [kind, make] of Object.entries(bodies)) {
    for (const [call, ask] of Object.entries(calls)) {
      // fetch reads one as a stream.
      if (!onStream(version) && call === 'fetch' && kind === 'a Blob') continue
      test(`${call} over ${version.name}: all of ${kind} goes behind an answer that has ended before it`, { timeout: 60_000 }, async t => {
        const { handler, hashes, closed } = answersFirst()
        const server = await version.serve(handler)
        t.after(() => server.close())
        const client = new Agent(version.options)
        t.after(() => client.destroy())
        const isClosed = closed()
        assert.equal(await ask(client, server.url, make()), 'answered')
        await isClosed
        assert.deepEqual(hashes, [HASH])
        // Its connection is good for the next.
        const isNextClosed = closed()
        assert.equal(await ask(client, server.url, 'small'), 'answered')
        await isNextClosed
        assert.deepEqual(hashes, [HASH, hashOf('small')])
      })
    }
  }
  if (!onStream(version)) {
    test(`over ${version.name} the source of a body that is a stream ends with its answer, and the connection with it`, { timeout: 60_000 }, async t => {
      const server = await version.serve((request, response) => { request.on('error', () => {}); response.end('answered') })
      t.after(() => server.close())
      const client = new Client(server.url, version.options)
      t.after(() => client.destroy())
      const source = new Readable({ read () {} })
      source.push('begun')
      const ended = closeOf(source)
      const lost = once(client, 'disconnect')
      const { body } = await client.request({ path: '/', method: 'POST', body: source })
      assert.equal(await body.text(), 'answered')
      await Promise.all([ended, lost])
    })
    continue
  }
  test(`over ${version.name} bodies behind their answers and other requests get each its own bytes`, { timeout: 120_000 }, async t => {
    const server = await version.serve((request, response) => {
      const isFirst = request.headers['x-answer'] === 'first'
      if (isFirst) response.end('first')
      const hash = createHash('sha256')
      request.on('error', () => {})
      request.on('data', piece => { hash.update(piece) })
      request.on('end', () => {
        const found = hash.digest('hex')
        if (found !== request.headers['x-hash']) wrong.push([isFirst, request.headers['x-number']])
        received.push(Number(request.headers['x-number']))
        if (!isFirst) response.end('behind')
        if (received.length === COUNT) all()
      })
    })
    t.after(() => server.close())
    const COUNT = 200
    const received = []
    const wrong = []
    let all
    const isAll = new Promise(resolve => { all = resolve })
    const client = new Agent(version.options)
    t.after(() => client.destroy())
    const asks = []
    for (let number = 0; number < COUNT; number++) {
      const size = [0, 10, 70_000, 400_000][number % 4]
      const content = bytes.subarray(number * 1000, number * 1000 + size)
      const headers = { 'x-answer': number % 3 === 0 ? 'behind' : 'first', 'x-hash': hashOf(content), 'x-number': String(number) }
      const body = Readable.from((function * () { for (let at = 0; at < size; at += 9_000) yield content.subarray(at, at + 9_000) })(), { objectMode: false })
      asks.push(client.request({ origin: server.url, path: '/', method: 'POST', headers, body }).then(({ body }) => body.text()))
    }
    await Promise.all(asks)
    await isAll
    assert.deepEqual(wrong, [])
    assert.deepEqual(received.sort((a, b) => a - b), Array.from({ length: COUNT }, (_, number) => number))
  })

  test(`over ${version.name} a source that fails behind its answer cuts its own body alone`, { timeout: 60_000 }, async t => {
    const first = answersFirst()
    const server = await version.serve(first.handler)
    t.after(() => server.close())
    const client = new Client(server.url, version.options)
    t.after(() => client.destroy())
    const cut = first.closed()
    const source = new Readable({ read () {} })
    source.push('begun')
    const { body } = await client.request({ path: '/', method: 'POST', body: source })
    assert.equal(await body.text(), 'answered')
    source.destroy(new Error('of the source'))
    await cut
    assert.deepEqual([first.left, first.hashes], [1, []])
    const whole = first.closed()
    assert.equal(await calls.request(client, server.url, 'small'), 'answered')
    await whole
    assert.deepEqual(first.hashes, [hashOf('small')])
    assert.equal(server.counts.sessions, version.name === 'h3' ? server.counts.sessions : 1)
  })

  for (const [name, end] of Object.entries({ close: client => client.close(), destroy: client => client.destroy() })) {
    test(`over ${version.name} ${name} ends a source behind its answer`, { timeout: 60_000 }, async t => {
      const { handler } = answersFirst()
      const server = await version.serve(handler)
      t.after(() => server.close())
      const client = new Client(server.url, version.options)
      t.after(() => client.destroy())
      const source = new Readable({ read () {} })
      source.push('begun')
      const failed = closeOf(source)
      const { body } = await client.request({ path: '/', method: 'POST', body: source })
      assert.equal(await body.text(), 'answered')
      assert.equal(source.destroyed, false)
      await end(client)
      await failed
      assert.equal(source.errored?.code, 'UND_ERR_DESTROYED')
    })
  }

  // Over HTTP/3 the close takes from a server what it has acknowledged and not read.
  if (version.name !== 'h3') {
    test(`over ${version.name} close waits for a body in memory behind its answer`, { timeout: 60_000 }, async t => {
      const { handler, hashes, closed } = answersFirst()
      const server = await version.serve(handler)
      t.after(() => server.close())
      const client = new Client(server.url, version.options)
      const isClosed = closed()
      assert.equal(await calls.request(client, server.url, bytes), 'answered')
      await client.close()
      await isClosed
      assert.deepEqual(hashes, [HASH])
    })
  }

  test(`over ${version.name} a body behind its answer that its peer does not take ends at headersTimeout`, { timeout: 60_000 }, async t => {
    const server = await version.serve(answersUnread)
    t.after(() => server.close())
    const client = new Client(server.url, { ...version.options, headersTimeout: 1_000 })
    t.after(() => client.destroy())
    const source = Readable.from(pieces())
    const ended = closeOf(source)
    const { body } = await client.request({ path: '/', method: 'POST', body: source })
    assert.equal(await body.text(), 'answered')
    await ended
  })
}

for (const version of versions) {
  for (const length of [200_000, BODY_BYTES]) {
    test(`over ${version.name} close waits headersTimeout for ${length} bytes of memory behind their answer that their peer does not read`, { timeout: 60_000 }, async t => {
      const server = await version.serve(answersUnread)
      t.after(() => server.close())
      const client = new Client(server.url, { ...version.options, headersTimeout: 1_000 })
      const { body } = await client.request({ path: '/', method: 'POST', body: bytes.subarray(0, length) })
      assert.equal(await body.text(), 'answered')
      await client.close()
    })
  }
}

/** Two sizes: all with the connection when the answer ends, and more. */
const UNREAD_BYTES = [200_000, BODY_BYTES]
const ends = {
  destroy: client => client.destroy(),
  async 'close, then destroy' (client) {
    const closed = client.close()
    await client.destroy()
    await closed
  }
}
for (const version of versions) {
  for (const length of UNREAD_BYTES) {
    for (const [how, end] of Object.entries(ends)) {
      test(`over ${version.name} ${how} ends ${length} bytes behind their answer that their peer does not read`, { timeout: 60_000 }, async t => {
        const server = await version.serve(answersUnread)
        t.after(() => server.close())
        for (const source of [bytes.subarray(0, length), Readable.from([bytes.subarray(0, length)], { objectMode: false })]) {
          const client = new Client(server.url, { ...version.options, headersTimeout: 0 })
          const { body } = await client.request({ path: '/', method: 'POST', body: source })
          assert.equal(await body.text(), 'answered')
          await end(client)
        }
      })
    }
  }
}

/** Runs a program of a request whose body goes on behind its answer, as `text` says; resolves with the bytes that the server got. */
async function lengthOf (t, { serve, options = {} }, text) {
  let length = 0
  let handler
  const over = new Promise(resolve => {
    handler = (request, response) => {
      request.on('error', () => {}).on('data', piece => { length += piece.length }).on('close', resolve)
      // One of node:http that is cut behind its response has no `close`.
      if (request.httpVersion === '1.1') request.socket.on('close', resolve)
      response.end('answered')
    }
  })
  const server = await serve(handler)
  t.after(() => server.close())
  const program = `
    import { Readable } from 'node:stream'
    import { Client } from 'trunkline'
    const client = new Client('${server.url}', ${JSON.stringify(options)})
    const { body } = await client.request({ path: '/', method: 'POST', body: ${text} })
    if (await body.text() !== 'answered') process.exitCode = 5`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname, stdio: ['ignore', 'ignore', 'inherit'] })
  assert.deepEqual(await once(child, 'exit'), [0, null])
  await over
  return length
}

/** Read by the engine while it is sent; given to it whole; one that it has mostly read when the answer ends. */
const LENGTHS = [BODY_BYTES, 900_000, 1_200_000]
for (const version of versions) {
  for (const length of LENGTHS) {
    test(`over ${version.name} a process stays until all of ${length} bytes behind their answer has left it`, { timeout: 60_000 }, async t => {
      for (let times = 0; times < 3; times++) assert.equal(await lengthOf(t, version, `Buffer.alloc(${length})`), length)
    })
  }
}

test('a body behind its answer holds no process while its source has nothing', { timeout: 60_000 }, async t => {
  const http2 = { serve: h2c, options: { allowH2: true, useH2c: true } }
  assert.equal(await lengthOf(t, http2, 'new Readable({ read () {} }).on("error", () => {})'), 0)
})

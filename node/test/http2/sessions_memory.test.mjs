// Sessions of `connect` and the memory that they share with the machine on JavaScript's thread: batches of events, bytes
// that users keep or take away, credit of what was not read, environments that end in the middle.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import ours from 'trunkline/http2'
import { run } from '../support/lines/lines.mjs'
import { DATA, END_HEADERS, END_STREAM, HEADERS, PING, SETTINGS, frame } from '../support/servers/h2_frames.mjs'

const OK = Buffer.from([0x88])
const WINDOW_BYTES = 65_535

const data = (stream, bytes, flags = 0) => frame(DATA, flags, stream, bytes)
const greeting = frame(SETTINGS, 0, 0)

/** A stream to a server that is played by `answer`: it gets what is written, and gives what it returns at once, within the
 * call of `write`. */
function played (answer) {
  return new Duplex({
    read () {},
    write (chunk, encoding, done) {
      for (const bytes of answer.call(this, chunk) ?? []) this.push(bytes)
      done()
    }
  })
}

/** A session over such a stream; its errors are kept in `failed`. */
function over (t, stream, options = {}) {
  // Nothing else keeps the loop alive.
  const holding = setInterval(() => {}, 1000)
  t.after(() => { clearInterval(holding) })
  const session = ours.connect('http://a.test', { createConnection: () => stream, ...options })
  const failed = []
  session.on('error', error => { failed.push(error) })
  t.after(() => { session.destroy(); stream.destroy() })
  return { session, failed }
}

async function serve (t, listener) {
  const server = nodeHttp2.createServer()
  const sessions = new Set()
  server.on('session', session => { sessions.add(session); session.on('error', () => {}) })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    listener(stream, headers)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const session of sessions) session.destroy()
    await new Promise(resolve => { server.close(resolve) })
  })
  return `http://127.0.0.1:${server.address().port}`
}

test('a session that begins within a batch of one that is destroyed there gets none of its events', async t => {
  const first = played(() => [])
  const second = played(() => [])
  const { session } = over(t, first)
  const seen = []
  let next
  session.on('ping', () => {
    session.destroy()
    // It gets the number that has become free.
    next = over(t, second).session
    next.on('ping', payload => { seen.push(payload) })
  })
  await once(session, 'connect')
  first.push(Buffer.concat([greeting, ...[1, 2, 3].map(byte => frame(PING, 0, 0, Buffer.alloc(8, byte)))]))
  await once(session, 'close')
  assert.deepEqual(seen, [])
  const came = once(next, 'ping')
  second.push(Buffer.concat([greeting, frame(PING, 0, 0, Buffer.alloc(8, 9))]))
  const [payload] = await came
  assert.deepEqual(payload, Buffer.alloc(8, 9))
  assert.equal(seen.length, 1)
})

test('payloads and bodies that listeners keep are not written over by later batches', async t => {
  const [one, other] = [played(() => []), played(() => [])]
  const sessions = [over(t, one).session, over(t, other).session]
  const kept = []
  for (const session of sessions) session.on('ping', payload => { kept.push(payload) })
  const bodies = sessions.map(session => {
    const stream = session.request({ ':path': '/' })
    stream.on('data', piece => { kept.push(piece) })
    return once(stream, 'end')
  })
  await Promise.all(sessions.map(session => once(session, 'connect')))
  await new Promise(resolve => { setImmediate(resolve) })
  for (const [at, stream] of [one, other].entries()) {
    stream.push(Buffer.concat([greeting, frame(PING, 0, 0, Buffer.alloc(8, 10 + at)), frame(HEADERS, END_HEADERS, 1, OK), data(1, Buffer.alloc(5000, 20 + at), END_STREAM)]))
  }
  await Promise.all(bodies)
  const sum = new Map()
  for (const piece of kept) {
    assert.ok(piece.every(byte => byte === piece[0]))
    sum.set(piece[0], (sum.get(piece[0]) ?? 0) + piece.length)
  }
  assert.deepEqual([...sum].sort(([a], [b]) => a - b), [[10, 8], [11, 8], [20, 5000], [21, 5000]])
})

test('a stream that answers within the call that writes to it, and is ended there, is served once', async t => {
  let asked = 0
  let hasAnswered = false
  const stream = played(function (chunk) {
    // A request: HEADERS of stream 1 or 3, which both come with END_STREAM.
    const ids = [1, 3].filter(id => chunk.includes(frame(HEADERS, END_HEADERS | END_STREAM, id).subarray(3)))
    asked += ids.length
    const answers = ids.map(id => Buffer.concat([frame(HEADERS, END_HEADERS, id, OK), data(id, Buffer.from('body'), END_STREAM)]))
    const first = hasAnswered ? [] : [greeting]
    hasAnswered = true
    return [...first, ...answers]
  })
  const { session, failed } = over(t, stream)
  const bodies = await Promise.all([1, 3].map(() => buffer(session.request({ ':path': '/' }))))
  assert.deepEqual(bodies.map(String), ['body', 'body'])
  assert.equal(asked, 2)
  const ended = played(() => {
    // Within the call of `write` that carries the preface, and within that of the GOAWAY that this causes.
    again.session.destroy()
    return [greeting, frame(PING, 0, 0, Buffer.alloc(8))]
  })
  const again = over(t, ended)
  await once(again.session, 'close')
  assert.deepEqual([...failed, ...again.failed], [])
})

for (const [name, end] of [['destroyed', stream => { stream.destroy() }], ['closed', stream => { stream.close(8) }]]) {
  test(`streams whose whole responses are not read and that are ${name} give the credit of the connection back`, async t => {
    const url = await serve(t, (stream, { ':path': path }) => {
      stream.respond()
      stream.end(Buffer.alloc(path === '/last' ? 4 * WINDOW_BYTES : 30_000))
    })
    const session = ours.connect(url, { settings: { initialWindowSize: WINDOW_BYTES } })
    t.after(() => { session.destroy() })
    // Together far more than any window of the connection.
    for (let round = 0; round < 6; round++) {
      const streams = Array.from({ length: 100 }, () => session.request({ ':path': '/' }))
      // One of them is read: behind its end the others have come as far as the window lets them.
      await Promise.all(streams.map(stream => once(stream, 'response')))
      for (const stream of streams) {
        stream.on('error', () => {})
        end(stream)
      }
      await Promise.all(streams.map(stream => stream.closed && stream.destroyed ? null : once(stream, 'close')))
    }
    assert.equal((await buffer(session.request({ ':path': '/last' }))).length, 4 * WINDOW_BYTES)
  })
}

test('a server that takes nothing and provokes answers is not read without end', async t => {
  const WAITING_BYTES_MAX = 256 * 1024
  // The first writes are taken, so that the request leaves; then none is.
  let isBlocked = false
  let fed = 0
  const stream = new Duplex({
    readableHighWaterMark: 1024,
    writableHighWaterMark: 1,
    read () { this.emit('wanted') },
    write (chunk, encoding, done) { if (!isBlocked) done() }
  })
  const { session } = over(t, stream, { settings: { initialWindowSize: 64 } })
  const body = session.request({ ':path': '/' }).on('error', () => {}).resume()
  await once(session, 'connect')
  await new Promise(resolve => { setImmediate(resolve) })
  const answered = once(body, 'response')
  stream.push(Buffer.concat([greeting, frame(HEADERS, END_HEADERS, 1, OK)]))
  await answered
  isBlocked = true
  // Each piece is read, and costs a WINDOW_UPDATE of 13 bytes.
  const piece = data(1, Buffer.alloc(32, 'x'))
  const FED_MAX = 200_000
  while (fed < FED_MAX && !stream.isPaused() && !session.destroyed) {
    for (let at = 0; at < 100; at++) stream.push(piece)
    fed += 100
    await new Promise(resolve => { setImmediate(resolve) })
  }
  assert.ok(stream.isPaused() || session.destroyed, `${fed} pieces were read`)
  assert.ok(fed * 26 < 8 * WAITING_BYTES_MAX, `${fed} pieces were read before it stopped`)
})

test('bodies whose memory is shared, or was transferred away, are sent or fail, and the process goes on', async t => {
  const url = await serve(t, async stream => {
    const body = await buffer(stream).catch(() => Buffer.alloc(0))
    if (!stream.destroyed) { stream.respond(); stream.end(String(body.length)) }
  })
  const session = ours.connect(url)
  t.after(() => { session.destroy() })
  const shared = Buffer.from(new SharedArrayBuffer(100_000))
  const stream = session.request({ ':method': 'POST' })
  stream.end(shared)
  assert.equal(String(await buffer(stream)), '100000')
  const taken = new Uint8Array(500_000)
  const cut = session.request({ ':method': 'POST' }).on('error', () => {})
  cut.write(taken)
  structuredClone(taken.buffer, { transfer: [taken.buffer] })
  cut.end('abc')
  await buffer(cut).catch(() => {})
  const after = session.request({ ':method': 'POST' })
  after.end('abc')
  assert.equal(String(await buffer(after)), '3')
  session.goaway(0, 0, new Uint8Array(new SharedArrayBuffer(8)))
  await once(session, 'close')
})

for (const way of ['terminate', 'exit', 'exit-main', 'end']) {
  test(`a process whose sessions are in the middle of exchanges ends in order: ${way}`, async t => {
    const url = await serve(t, stream => {
      stream.respond()
      stream.pipe(stream)
    })
    const ended = await run(process.execPath, 'life/client/sessions.mjs', { args: [url, way] })
    const due = way === 'exit-main' ? [3, null, ''] : [0, null, 'ended']
    assert.deepEqual([ended.code, ended.signal, ended.stdout], due, ended.stderr)
  })
}

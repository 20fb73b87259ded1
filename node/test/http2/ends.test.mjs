// Ends of exchanges and of sessions while the client keeps its connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import http2 from 'trunkline/http2'
import { DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, SETTINGS, frame, numbers } from '../support/servers/h2_frames.mjs'

/** A client of node:http2 that keeps its connection with a server of ours until the test is over. */
async function connected (t, listener) {
  const server = http2.createServer(listener)
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = nodeHttp2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { client.destroy() })
  return client
}

function post (client, body) {
  const stream = client.request({ ':method': 'POST' })
  stream.on('error', () => {})
  stream.resume()
  if (body !== undefined) stream.end(body)
  return stream
}

/** The server has read all that its client has sent. */
const ponged = client => new Promise(resolve => { client.ping(resolve) })

for (const [label, look] of Object.entries({ 'has not looked at': () => {}, 'has looked at': request => { void request.readableEnded } })) {
  test(`a response behind a whole body that its program ${label} finishes and closes while the connection stays`, async t => {
    let given
    const asked = new Promise(resolve => { given = resolve })
    const client = await connected(t, (request, response) => { given({ request, response }) })
    const stream = post(client, 'a body')
    const { request, response } = await asked
    look(request)
    await ponged(client)
    const closed = Promise.all([once(request, 'close'), once(response, 'finish'), once(response, 'close')])
    response.end('unread')
    await closed
    assert.equal(request.complete, true)
    if (!stream.closed) await once(stream, 'close')
    assert.equal(stream.rstCode, 0)
    assert.equal(client.destroyed, false)
  })
}

test('a body that came whole is read behind the end of its response', async t => {
  let given
  const asked = new Promise(resolve => { given = resolve })
  const client = await connected(t, (request, response) => { given({ request, response }) })
  const stream = post(client, 'a body')
  const { request, response } = await asked
  await ponged(client)
  response.end('early')
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  assert.equal(Buffer.concat(pieces).toString(), 'a body')
  if (!stream.closed) await once(stream, 'close')
})

for (const [label, close] of Object.entries({ 'that is closed': session => { session.close() }, 'whose client says GOAWAY': (session, client) => { client.goaway() } })) {
  test(`a session ${label} ends with its open streams when it is destroyed`, async t => {
    let given
    const asked = new Promise(resolve => { given = resolve })
    const client = await connected(t, (request, response) => { given(response.stream) })
    client.on('error', () => {})
    post(client)
    const stream = await asked
    const { session } = stream
    const ended = Promise.all([once(session, 'close'), once(client, 'close')])
    close(session, client)
    if (!session.closed) await once(session, 'goaway')
    session.destroy()
    assert.equal(stream.destroyed, true)
    await ended
  })
}

test('a response that was given whole is finished in the next turn, not in its own', async t => {
  let given
  const states = new Promise(resolve => { given = resolve })
  const client = await connected(t, (request, response) => {
    response.end('whole')
    const within = [response.writableEnded, response.writableFinished]
    setImmediate(() => { given([within, [response.writableEnded, response.writableFinished]]) })
  })
  client.request().resume()
  assert.deepEqual(await states, [[true, false], [true, true]])
})

for (const [label, answer] of Object.entries({
  'has no content': stream => { stream.respond({ ':status': 204 }) },
  'was given whole': stream => { stream.respond(); stream.end('whole') },
  'ended with its head': stream => { stream.respond({}, { endStream: true }) }
})) {
  test(`a stream whose response ${label} closes after a write behind its end, while the connection stays`, async t => {
    let given
    const asked = new Promise(resolve => { given = resolve })
    const client = await connected(t, (request, response) => { given(response.stream) })
    client.request().resume()
    const stream = await asked
    const failed = once(stream, 'error')
    const closed = new Promise(resolve => { stream.on('close', resolve) })
    answer(stream)
    stream.write('late')
    const [error] = await failed
    assert.equal(error.code, 'ERR_STREAM_WRITE_AFTER_END')
    await closed
    assert.equal(client.destroyed, false)
  })
}

/** More than the windows of a client let go at once. */
const LONG = 300_000
/** Ways of a server to end while bytes of the request are unread and more are to come: the code that stops the upload (RFC 9113 section 8.1),
 * the bytes of the response, and the way. */
const stops = {
  'leaves the request unread behind its response': [0, 2, stream => { stream.end('ok') }],
  'leaves the request unread behind a long response': [0, LONG, stream => { stream.end(Buffer.alloc(LONG)) }],
  'closes its stream without an error behind its response': [0, 2, stream => { stream.end('ok').close() }],
  'closes its stream without an error behind a long response': [0, LONG, stream => { stream.end(Buffer.alloc(LONG)).close() }],
  ...Object.fromEntries([0, 1, 2, 8].map(code => [`closes its stream with code ${code} when its response has finished`, [code, 2, stream => {
    stream.on('finish', () => { stream.close(code) })
    stream.end('ok')
  }]])),
  'closes its stream with code 0 when a long response has finished': [0, LONG, stream => {
    stream.on('finish', () => { stream.close() })
    stream.end(Buffer.alloc(LONG))
  }],
  'answers with a long response through the compatible API': [0, LONG, (stream, response) => { response.end(Buffer.alloc(LONG)) }]
}
for (const [what, [code, length, answer]] of Object.entries(stops)) {
  test(`a client that waits with the rest of its upload is stopped behind the whole response by a server that ${what}`, async t => {
    const client = await connected(t, (request, response) => {
      response.stream.on('error', () => {})
      answer(response.stream, response)
    })
    const stream = client.request({ ':method': 'POST' })
    stream.on('error', () => {})
    stream.write('unread')
    let came = 0
    stream.on('data', piece => { came += piece.length })
    await new Promise(resolve => { stream.on('close', resolve) })
    assert.deepEqual([stream.rstCode, came], [code, length])
  })
}

/** Ends of a session, by its client or its server. */
const sessionEnds = {
  'its client closes': ({ client }) => { client.close() },
  'its client destroys': ({ client }) => { client.destroy() },
  'its server closes it': ({ session }) => { session.close() },
  'its server destroys it': ({ session }) => { session.destroy() },
  'its server destroys it with an error': ({ session }) => { session.destroy(new Error('broken')) }
}
for (const [how, end] of Object.entries(sessionEnds)) {
  test(`the close of a socket comes before the error and the close of its session, as on node:http2: ${how}`, async () => {
    const logs = []
    for (const create of [nodeHttp2.createServer, http2.createServer]) {
      const log = []
      const server = create()
      server.on('sessionError', () => { log.push('sessionError') })
      server.on('connection', socket => { socket.on('close', () => { log.push('socket close') }).on('error', () => {}) })
      const over = new Promise(resolve => {
        server.on('session', session => {
          session.on('error', () => { log.push('session error') })
          session.on('close', () => {
            log.push('session close')
            resolve()
          })
        })
      })
      server.on('stream', stream => { stream.respond(); stream.end() })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const begun = once(server, 'session')
      const client = nodeHttp2.connect(`http://127.0.0.1:${server.address().port}`)
      client.on('error', () => {})
      const stream = client.request()
      await once(stream.resume(), 'close')
      end({ client, session: (await begun)[0] })
      await over
      client.destroy()
      server.close()
      logs.push(log)
    }
    assert.ok(logs[0].indexOf('socket close') < logs[0].indexOf('session close'), logs[0].join())
    assert.deepEqual(logs[1], logs[0])
  })
}

test('the reader of a body that is whole gets its end before the reset that came with it', async t => {
  const server = http2.createServer()
  t.after(() => { server.close() })
  const seen = []
  let begun
  const hasBegun = new Promise(resolve => { begun = resolve })
  const closed = new Promise(resolve => {
    server.on('stream', stream => {
      stream.on('error', () => {})
      stream.on('data', chunk => {
        seen.push(String(chunk))
        begun()
      })
      for (const event of ['end', 'aborted', 'close']) stream.on(event, () => { seen.push(event) })
      stream.on('close', resolve)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect(server.address().port, '127.0.0.1')
  t.after(() => { socket.destroy() })
  const head = frame(HEADERS, END_HEADERS, 1, Buffer.from([0x83, 0x86, 0x84, 0x41, 1, 0x61]))
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, Buffer.alloc(0)), head, frame(DATA, 0, 1, Buffer.from('a'))]))
  await hasBegun
  socket.write(Buffer.concat([frame(DATA, END_STREAM, 1, Buffer.from('b')), frame(RST_STREAM, 0, 1, numbers(8))]))
  await closed
  assert.deepEqual(seen, ['a', 'b', 'end', 'aborted', 'close'])
})

test('a file that ends before its offset resets its stream behind the head that was asked for', async t => {
  const server = http2.createServer()
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = nodeHttp2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { client.destroy() })
  const sent = client.request()
  sent.on('error', () => {})
  const [stream] = await once(server, 'stream')
  const events = []
  const closing = new Promise(resolve => { stream.on('close', resolve) })
  const left = new Promise(resolve => { sent.on('close', resolve) })
  for (const event of ['aborted', 'finish', 'error']) stream.on(event, () => { events.push(event) })
  stream.respondWithFile(fileURLToPath(import.meta.url), { 'content-type': 'text/plain' }, { offset: 10_000_000 })
  await closing
  assert.deepEqual([events, stream.headersSent, stream.aborted, stream.rstCode], [['finish', 'error'], true, false, 1])
  await left
  assert.equal(sent.rstCode, 1)
})

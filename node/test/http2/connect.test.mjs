// `connect` of trunkline/http2: sessions over sockets and over streams made in JavaScript, with servers of both packages.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import net from 'node:net'
import { Duplex } from 'node:stream'
import test from 'node:test'
import { Worker } from 'node:worker_threads'
import ours from 'trunkline/http2'
import { cert, key } from '../support/certificates/certificate.mjs'
import { DATA, END_HEADERS, END_STREAM, frame, HEADERS, serveFrames } from '../support/servers/h2_frames.mjs'

const SERVERS = { 'node:http2': nodeHttp2, trunkline: ours }

/** A listening server of `module`, closed with the test. */
async function serve (t, module, { secure = false, options = {}, ...listeners } = {}) {
  const server = secure ? module.createSecureServer({ cert, key, ...options }) : module.createServer(options)
  for (const [event, listener] of Object.entries(listeners)) server.on(event, listener)
  const sessions = new Set()
  server.on('session', session => { sessions.add(session); session.on('error', () => {}) })
  server.on('sessionError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const session of sessions) session.destroy()
    await new Promise(resolve => { server.close(resolve) })
  })
  return { server, url: `http${secure ? 's' : ''}://localhost:${server.address().port}` }
}

function open (t, url, options = {}) {
  const session = ours.connect(url, { ca: cert, family: 4, ...options })
  t.after(() => { session.destroy() })
  return session
}

/** The answer to a request, whole. */
async function answer (stream) {
  const pieces = []
  let trailers
  stream.on('data', piece => { pieces.push(piece) })
  stream.on('trailers', fields => { trailers = fields })
  const [head] = await once(stream, 'response')
  await once(stream, 'close')
  return { status: head[':status'], head, body: Buffer.concat(pieces), trailers }
}

const echo = stream => {
  stream.on('error', () => {})
  stream.respond({ 'x-echo': 'yes' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-behind': 'yes' }) })
  stream.pipe(stream)
}

for (const [name, module] of Object.entries(SERVERS)) {
  for (const secure of [false, true]) {
    test(`a body comes back with its trailers from a server of ${name}${secure ? ' under TLS' : ''}`, async t => {
      const { url } = await serve(t, module, { secure, stream: echo })
      const session = open(t, url)
      const stream = session.request({ ':method': 'POST' })
      const body = Buffer.alloc(1_000_000, 'a text that is long')
      stream.end(body)
      const got = await answer(stream)
      assert.equal(got.status, 200)
      assert.ok(got.body.equals(body))
      assert.equal(got.trailers['x-behind'], 'yes')
      assert.equal(session.alpnProtocol, secure ? 'h2' : 'h2c')
      assert.equal(session.encrypted, secure)
      session.close()
      await once(session, 'close')
    })
  }

  test(`2,000 requests at once on one session reach a server of ${name} once each`, async t => {
    let count = 0
    const { url } = await serve(t, module, { stream: (stream, headers) => { count++; stream.respond(); stream.end(headers[':path']) } })
    const session = open(t, url)
    const answers = await Promise.all(Array.from({ length: 2000 }, (_, at) => answer(session.request({ ':path': `/${at}` }))))
    assert.ok(answers.every(({ body }, at) => body.toString() === `/${at}`))
    assert.equal(count, 2000)
  })
}

test('requests beyond the streams that the server takes wait, without an id, and one that is destroyed meanwhile is never sent', async t => {
  const paths = []
  const held = []
  const { url } = await serve(t, nodeHttp2, {
    options: { settings: { maxConcurrentStreams: 2 } },
    stream: (stream, headers) => { paths.push(headers[':path']); held.push(stream) }
  })
  const session = open(t, url)
  await once(session, 'remoteSettings')
  const streams = ['a', 'b', 'c', 'd'].map(path => session.request({ ':path': `/${path}` }))
  assert.deepEqual(streams.map(stream => stream.pending), [false, false, true, true])
  const [first, second, third, fourth] = streams
  third.destroy()
  while (held.length < 2) await new Promise(resolve => { setImmediate(resolve) })
  const answers = [first, second, fourth].map(answer)
  for (const stream of held) { stream.respond(); stream.end() }
  while (held.length < 3) await new Promise(resolve => { setImmediate(resolve) })
  held[2].respond()
  held[2].end()
  await Promise.all(answers)
  assert.deepEqual(paths, ['/a', '/b', '/d'])
  assert.equal(fourth.id, 5)
})

for (const [what, code, give] of [
  ['CANCEL', 8, () => {}], ['NO_ERROR', 0, () => {}], ['INTERNAL_ERROR', 2, () => {}],
  ['CANCEL behind its body', 8, stream => { stream.end('a body') }],
  ['CANCEL behind a part of its body', 8, (stream, written) => { stream.write('a part', written) }]
]) {
  test(`a request that waits for room and is closed with ${what} closes at once and is never sent`, async t => {
    const paths = []
    let first
    const { url } = await serve(t, nodeHttp2, {
      options: { settings: { maxConcurrentStreams: 1 } },
      stream: (stream, headers) => {
        paths.push(headers[':path'])
        if (headers[':path'] === '/first') first = stream
        else stream.respond({}, { endStream: true })
      }
    })
    const session = open(t, url)
    await once(session, 'remoteSettings')
    const answers = [answer(session.request({ ':path': '/first' }))]
    const stream = session.request({ ':method': 'POST', ':path': '/second' })
    answers.push(answer(session.request({ ':path': '/third' })))
    assert.equal(stream.pending, true)
    stream.on('error', () => {})
    const written = new Promise(resolve => { give(stream, resolve) })
    const closed = new Promise(resolve => { stream.on('close', resolve) })
    stream.close(code)
    await closed
    if (what.includes('part')) await written
    assert.equal(stream.rstCode, code)
    while (first === undefined) await new Promise(resolve => { setImmediate(resolve) })
    first.respond({}, { endStream: true })
    await Promise.all(answers)
    assert.deepEqual(paths, ['/first', '/third'])
  })
}

test('a writer waits while the server does not read, and all of its bytes arrive', async t => {
  let resume
  let bytes = 0
  const { url } = await serve(t, nodeHttp2, {
    stream: stream => {
      resume = () => {
        stream.on('data', piece => { bytes += piece.length })
        stream.on('end', () => { stream.respond(); stream.end() })
      }
    }
  })
  const session = open(t, url)
  const stream = session.request({ ':method': 'POST' })
  const ended = answer(stream)
  const piece = Buffer.alloc(100_000)
  for (let at = 0; at < 20; at++) stream.write(piece)
  await once(session, 'connect')
  // Bytes that the server has given room for are sent before the answer to a ping.
  for (let round = 0; round < 3; round++) await new Promise(resolve => { session.ping(resolve) })
  assert.ok(stream.writableLength > 1_000_000, `${stream.writableLength} bytes wait`)
  resume()
  stream.end()
  await ended
  assert.equal(bytes, 20 * piece.length)
})

test('a reader that pauses holds the server back, and gets every byte later', async t => {
  const body = Buffer.alloc(30_000_000)
  const { url } = await serve(t, nodeHttp2, { stream: stream => { stream.on('error', () => {}); stream.respond(); stream.end(body) } })
  const session = open(t, url, { settings: { initialWindowSize: 65_535 } })
  const stream = session.request()
  await once(stream, 'response')
  stream.pause()
  for (let turn = 0; turn < 50; turn++) await new Promise(resolve => { setImmediate(resolve) })
  // A window beyond what fills the reader's buffer.
  assert.ok(stream.readableLength <= 65_535 + stream.readableHighWaterMark, `${stream.readableLength} bytes`)
  let bytes = 0
  for await (const piece of stream) bytes += piece.length
  assert.equal(bytes, body.length)
})

/** Two streams, each with what is written into the other. */
function pair () {
  const ends = []
  for (const at of [0, 1]) {
    ends.push(new Duplex({
      read () { this.resumed?.(); this.resumed = undefined },
      write (chunk, _, done) { if (ends[1 - at].push(chunk)) done(); else ends[1 - at].resumed = done },
      final (done) { ends[1 - at].push(null); done() }
    }))
  }
  return ends
}

for (const [name, module] of Object.entries(SERVERS)) {
  test(`an answer of a server of ${name} that is whole stays readable when its connection has ended`, async t => {
    const { url } = await serve(t, module, { stream: stream => {
      stream.respond()
      stream.end(Buffer.alloc(50_000))
      stream.session.close()
    } })
    const socket = net.connect(new URL(url).port, '127.0.0.1')
    const session = open(t, url, { createConnection: () => socket })
    const ended = once(session, 'close')
    const stream = session.request()
    stream.pause()
    if (!socket.closed) await once(socket, 'close')
    let bytes = 0
    stream.on('data', piece => { bytes += piece.length }).resume()
    await once(stream, 'end')
    assert.equal(bytes, 50_000)
    await ended
    assert.equal(stream.rstCode, 0)
  })
}

test('a reader that is slower than its connection gives back what it has read, before all that waits is read', async t => {
  const WINDOW = 1024 * 1024
  const { url } = await serve(t, nodeHttp2, { stream: stream => { stream.respond(); stream.end(Buffer.alloc(2 * WINDOW)) } })
  const session = open(t, url, { settings: { initialWindowSize: WINDOW } })
  const stream = session.request()
  stream.pause()
  const waits = async () => { await new Promise(resolve => { setImmediate(resolve) }) }
  while (stream.readableLength < WINDOW) await waits()
  assert.equal(stream.read(WINDOW / 2).length, WINDOW / 2)
  // The server goes on while half of the window is unread.
  while (stream.readableLength === WINDOW / 2) await waits()
  stream.resume()
  await once(stream, 'close')
})

test('a reader that begins some ticks after the response has the content before trailers that came in the same read', async t => {
  const section = (name, value) => Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)])
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    serveFrames(socket, stream => {
      const pieces = ['a', 'b', 'c', 'd', 'e'].map(text => frame(DATA, 0, stream, Buffer.from(text)))
      socket.write(Buffer.concat([
        frame(HEADERS, END_HEADERS, stream, section(':status', '200')), ...pieces, frame(HEADERS, END_HEADERS | END_STREAM, stream, section('x-status', 'bad'))
      ]))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  for (const [name, module] of Object.entries(SERVERS)) {
    const session = module.connect(`http://127.0.0.1:${server.address().port}`)
    session.on('error', () => {})
    const stream = session.request()
    const events = []
    let text = ''
    stream.on('data', piece => { text += piece })
    stream.pause()
    stream.on('response', () => { process.nextTick(() => { queueMicrotask(() => { process.nextTick(() => { stream.resume() }) }) }) })
    for (const event of ['trailers', 'end', 'close']) stream.on(event, () => { events.push(`${event} behind ${text}`) })
    await once(stream, 'close')
    session.destroy()
    assert.deepEqual(events, ['trailers behind abcde', 'end behind abcde', 'close behind abcde'], name)
  }
})

test('a stream made in JavaScript carries a session', async t => {
  const [near, far] = pair()
  const server = nodeHttp2.createServer()
  server.on('stream', echo)
  server.emit('connection', far)
  const session = open(t, 'http://example.com', { createConnection: () => near })
  const stream = session.request({ ':method': 'POST', ':path': '/over' })
  stream.end('hello')
  const got = await answer(stream)
  assert.equal(got.body.toString(), 'hello')
  session.close()
  await once(session, 'close')
})

test('performServerHandshake serves a session of ours on a stream made in JavaScript', async t => {
  const [near, far] = pair()
  const served = ours.performServerHandshake(far)
  served.on('stream', (stream, headers) => { stream.respond(); stream.end(headers[':path']) })
  const session = open(t, 'http://localhost', { createConnection: () => near })
  const { status, body } = await answer(session.request({ ':path': '/shaken' }))
  assert.equal(`${status} ${body}`, '200 /shaken')
})

test('ORIGIN and ALTSVC of a server are events, and originSet has the origins', async t => {
  const { server, url } = await serve(t, nodeHttp2, { secure: true, stream: stream => { stream.respond(); stream.end() } })
  server.on('session', session => {
    session.origin('https://example.com', 'https://example.org')
    session.altsvc('h2=":8000"', 'https://example.com')
  })
  const session = open(t, url)
  const [[origins], [value, origin, id]] = await Promise.all([once(session, 'origin'), once(session, 'altsvc')])
  assert.deepEqual(origins, ['https://example.com', 'https://example.org'])
  assert.deepEqual([value, origin, id], ['h2=":8000"', 'https://example.com', 0])
  assert.deepEqual(session.originSet.slice(1), origins)
})

test('extended CONNECT opens a tunnel where the server offers it', async t => {
  const { url } = await serve(t, nodeHttp2, {
    options: { settings: { enableConnectProtocol: true } },
    stream: (stream, headers) => { stream.respond({ 'x-protocol': headers[':protocol'] }); stream.pipe(stream) }
  })
  const session = open(t, url)
  const [settings] = await once(session, 'remoteSettings')
  assert.equal(settings.enableConnectProtocol, true)
  const stream = session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat' })
  const [head] = await once(stream, 'response')
  assert.equal(head['x-protocol'], 'websocket')
  stream.write('ping')
  assert.equal((await once(stream, 'data'))[0].toString(), 'ping')
  stream.end()
  stream.resume()
  await once(stream, 'close')
})

test('a push is refused: the server knows that none is taken', async t => {
  const { server, url } = await serve(t, nodeHttp2)
  const allowed = new Promise(resolve => { server.on('stream', stream => { stream.respond(); stream.end(); resolve(stream.pushAllowed) }) })
  const session = open(t, url)
  await answer(session.request())
  assert.equal(await allowed, false)
})

test('settings, pings and a goaway reach the server and come back', async t => {
  const { server, url } = await serve(t, nodeHttp2)
  const [session, [theirs]] = [open(t, url), await once(server, 'session')]
  const goaway = once(theirs, 'goaway')
  const [error, local] = await new Promise(resolve => { session.settings({ initialWindowSize: 100_000 }, (...said) => { resolve(said) }) })
  assert.equal(error, null)
  assert.equal(local.initialWindowSize, 100_000)
  assert.equal(theirs.remoteSettings.initialWindowSize, 100_000)
  const payload = Buffer.from('12345678')
  const [, , pong] = await new Promise(resolve => { session.ping(payload, (...said) => { resolve(said) }) })
  assert.ok(pong.equals(payload))
  session.goaway(0, 0, Buffer.from('bye'))
  const [code, , data] = await goaway
  assert.equal(code, 0)
  assert.equal(Buffer.from(data).toString(), 'bye')
})

for (const [name, module] of Object.entries(SERVERS)) {
  test(`settings of extensions are sent, and those that are listed are shown, with a server of ${name}`, async t => {
    const { server, url } = await serve(t, module, { options: { remoteCustomSettings: [55, 56], settings: { customSettings: { 1244: 456 } } } })
    const session = open(t, url, { remoteCustomSettings: [1244, 77], settings: { customSettings: { 55: 12, 155: 144 } } })
    const [[theirs], [shown], [local]] = await Promise.all([once(server, 'session'), once(session, 'remoteSettings'), once(session, 'localSettings')])
    assert.deepEqual(shown.customSettings, { 1244: 456 })
    assert.deepEqual(local.customSettings, { 55: 12, 155: 144 })
    while (theirs.remoteSettings.customSettings === undefined) await new Promise(resolve => { setImmediate(resolve) })
    assert.deepEqual(theirs.remoteSettings.customSettings, { 55: 12 })
    const changed = once(theirs, 'remoteSettings')
    session.settings({ customSettings: { 56: 9 } })
    assert.deepEqual((await changed)[0].customSettings, { 55: 12, 56: 9 })
    server.updateSettings({ customSettings: { 77: 3 } })
    const next = open(t, url, { remoteCustomSettings: [1244, 77] })
    assert.deepEqual((await once(next, 'remoteSettings'))[0].customSettings, { 77: 3 })
  })
}

test('a list of settings of extensions that cannot be used is refused as by node', () => {
  for (const make of [remoteCustomSettings => ours.createServer({ remoteCustomSettings }), remoteCustomSettings => ours.connect('http://localhost:1', { remoteCustomSettings })]) {
    assert.throws(() => make(Array(11).fill(20)), { code: 'ERR_HTTP2_TOO_MANY_CUSTOM_SETTINGS' })
    assert.throws(() => make([0x10000]), { code: 'ERR_HTTP2_INVALID_SETTING_VALUE', name: 'RangeError' })
    assert.throws(() => make(20), { code: 'ERR_INVALID_ARG_TYPE' })
  }
})

test('a connection that is refused fails the session by the error of its socket, and its requests', async t => {
  const closed = net.createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address()
  closed.close()
  await once(closed, 'close')
  const session = open(t, `http://127.0.0.1:${port}`)
  const stream = session.request()
  const failed = once(stream, 'error')
  const [error] = await once(session, 'error')
  assert.equal(error.code, 'ECONNREFUSED')
  const [ofStream] = await failed
  assert.equal(ofStream.code, 'ERR_HTTP2_STREAM_CANCEL')
  assert.equal(ofStream.cause, error)
})

test('a certificate that is not trusted fails the session by the code of node:tls', async t => {
  const { url } = await serve(t, nodeHttp2, { secure: true })
  const session = open(t, url, { ca: undefined })
  const [error] = await once(session, 'error')
  assert.match(error.code, /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/)
})

test('frames that break HTTP/2 end the session by ERR_HTTP2_ERROR', async t => {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    // SETTINGS, then DATA on a stream that is idle.
    socket.write(Buffer.from('000000040000000000' + '0000010001' + '00000007' + '61', 'hex'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set()
  server.on('connection', socket => { sockets.add(socket) })
  t.after(() => { for (const socket of sockets) socket.destroy(); server.close() })
  const session = open(t, `http://127.0.0.1:${server.address().port}`)
  const [error] = await once(session, 'error')
  assert.equal(error.code, 'ERR_HTTP2_ERROR')
})

test('listeners of a request run in its async context', async t => {
  const { url } = await serve(t, nodeHttp2, { stream: echo })
  const session = open(t, url)
  await once(session, 'connect')
  const storage = new AsyncLocalStorage()
  const seen = []
  await Promise.all(['a', 'b'].map(name => storage.run(name, async () => {
    const stream = session.request({ ':method': 'POST' })
    const note = event => () => { seen.push(`${name} ${event} ${storage.getStore()}`) }
    for (const event of ['response', 'data', 'trailers', 'end', 'close']) stream.on(event, note(event))
    stream.end('x')
    await once(stream, 'close')
  })))
  assert.deepEqual(seen.sort(), ['a', 'b'].flatMap(name => ['close', 'data', 'end', 'response', 'trailers'].map(event => `${name} ${event} ${name}`)))
})

test('a request that was closed and written to in the same turn fails and closes', async t => {
  const { url } = await serve(t, nodeHttp2, { stream: echo })
  const session = open(t, url)
  await once(session, 'connect')
  for (const method of ['write', 'end']) {
    const stream = session.request({ ':method': 'POST' })
    const failed = once(stream, 'error')
    stream.close()
    stream[method]('late')
    assert.equal((await failed)[0].code, 'ERR_STREAM_WRITE_AFTER_END')
    if (!stream.destroyed) await once(stream, 'close')
    assert.ok(stream.destroyed)
  }
  assert.equal((await answer(session.request())).status, 200)
})

test('a request that is closed behind what was written does not say that its body is whole', async t => {
  const whole = []
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    serveFrames(socket, stream => { whole.push(stream); socket.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.from([0x88]))) })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  const session = open(t, `http://127.0.0.1:${server.address().port}`)
  const expected = []
  for (const code of [0, 2, 8]) {
    for (const moment of [null, 'ready', 'written']) {
      const stream = session.request({ ':method': 'POST' })
      stream.on('error', () => {})
      const written = new Promise(resolve => { stream.write('begin', resolve) })
      if (moment === 'ready' && stream.pending) await once(stream, 'ready')
      if (moment === 'written') await written
      const closed = new Promise(resolve => { stream.once('close', resolve) })
      stream.close(code)
      await closed
      assert.deepEqual([stream.rstCode, stream.aborted], [code, true])
      const next = session.request()
      await once(next.resume(), 'close')
      expected.push(next.id)
    }
  }
  assert.deepEqual(whole, expected)
})

test('a body that waits for the server\'s windows is not finished, and close without a code waits for it', async t => {
  for (const end of [stream => { stream.end(Buffer.alloc(200_000)) }, stream => { stream.write(Buffer.alloc(200_000)); stream.end() }]) {
    let bytes = 0
    const read = Promise.withResolvers?.() ?? {}
    read.promise ??= new Promise((resolve, reject) => { Object.assign(read, { resolve, reject }) })
    const held = []
    const { url } = await serve(t, nodeHttp2, {
      stream (stream) {
        stream.on('error', read.reject).on('aborted', () => { read.reject(new Error('it was cut')) })
        stream.respond()
        held.push(() => { stream.on('data', piece => { bytes += piece.length }).on('end', () => { read.resolve(); stream.end() }) })
      }
    })
    const session = open(t, url)
    const stream = session.request({ ':method': 'POST' })
    end(stream)
    let isFinished = false
    stream.on('finish', () => { isFinished = true })
    await once(stream, 'response')
    await new Promise(resolve => { session.ping(resolve) })
    assert.equal(isFinished, false)
    stream.close()
    held[0]()
    await read.promise
    assert.deepEqual([bytes, stream.rstCode], [200_000, 0])
    session.destroy()
  }
})

test('a signal ends a request, and its session goes on', async t => {
  const { url } = await serve(t, nodeHttp2, { stream: (stream, headers) => { stream.on('error', () => {}); if (headers[':path'] === '/') { stream.respond(); stream.end('ok') } } })
  const session = open(t, url)
  const controller = new AbortController()
  const stream = session.request({ ':path': '/waits' }, { signal: controller.signal })
  const failed = once(stream, 'error')
  await once(session, 'connect')
  controller.abort()
  assert.equal((await failed)[0].code, 'ABORT_ERR')
  assert.equal(stream.rstCode, nodeHttp2.constants.NGHTTP2_CANCEL)
  assert.equal((await answer(session.request())).body.toString(), 'ok')
})

test('a session in a worker speaks to a server of the main thread', async t => {
  const { url } = await serve(t, nodeHttp2, { stream: echo })
  const worker = new Worker(`
    import { parentPort, workerData } from 'node:worker_threads'
    const { default: http2 } = await import(workerData.module)
    const session = http2.connect(workerData.url, { family: 4 })
    const stream = session.request({ ':method': 'POST' })
    let text = ''
    stream.on('data', piece => { text += piece })
    stream.on('close', () => { session.close(); parentPort.postMessage(text) })
    stream.end('of a worker')
  `, { eval: true, workerData: { url, module: import.meta.resolve('trunkline/http2') } })
  const exited = once(worker, 'exit')
  assert.equal((await once(worker, 'message'))[0], 'of a worker')
  assert.equal((await exited)[0], 0)
})

/** The output of a module that runs with `--import trunkline/register`. */
async function registered (program) {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('trunkline/register'), '--input-type=module', '-e', program], { env: { ...process.env, NODE_DEBUG: 'trunkline', NODE_TEST_CONTEXT: '' } })
  const [out, err] = [[], []]
  child.stdout.on('data', piece => { out.push(piece) })
  child.stderr.on('data', piece => { err.push(piece) })
  await once(child, 'close')
  return { out: Buffer.concat(out).toString().trim(), err: Buffer.concat(err).toString() }
}

test('--import trunkline/register puts the package in the place of node:http2 for a process, and says so once', async () => {
  const program = `
    import named, { connect } from 'node:http2'
    import { createRequire } from 'node:module'
    import ours from ${JSON.stringify(import.meta.resolve('trunkline/http2'))}
    const required = createRequire('/')('http2')
    console.log(connect === ours.connect, ...[named, required].map(module => Object.keys(ours).filter(name => module[name] !== ours[name]).join() || 'every export'))
  `
  const { out, err } = await registered(program)
  assert.equal(out, 'true every export every export', err)
  assert.equal(err.split('TRUNKLINE').length - 1, 1)
})

test('with trunkline/register SNICallback may answer with a context of tls.createSecureContext', async () => {
  const program = `
    import http2 from 'node:http2'
    import tls, { createSecureContext } from 'node:tls'
    const [cert, key] = ${JSON.stringify([cert, key])}
    const made = [createSecureContext({ cert, key }), tls.createSecureContext({ cert, key })]
    const server = http2.createSecureServer({ cert, key, SNICallback: (name, answer) => { answer(null, made.pop()) } })
    server.on('stream', stream => { stream.respond(); stream.end('ok') })
    server.listen(0, () => { ask(2) })
    const ask = left => {
      const session = http2.connect('https://localhost:' + server.address().port, { ca: cert })
      session.request().on('response', head => { console.log(head[':status']) }).resume().on('close', () => {
        session.close()
        if (left > 1) ask(left - 1)
        else server.close()
      })
    }
  `
  const { out, err } = await registered(program)
  assert.equal(out, '200\n200', err)
})

for (const [name, module] of Object.entries(SERVERS)) {
  for (const [label, end] of Object.entries({ closed: stream => { stream.close() }, destroyed: stream => { stream.destroy() } })) {
    test(`a session ends behind a request that was ${label} in its turn, with a server of ${name}`, async t => {
      const { url } = await serve(t, module, { stream: one => { one.on('error', () => {}).respond(); one.end('x') } })
      const session = open(t, url)
      await once(session, 'remoteSettings')
      const stream = session.request()
      end(stream)
      await once(stream, 'close')
      session.close()
      await once(session, 'close')
      assert.equal(stream.rstCode, 0)
    })
  }
}

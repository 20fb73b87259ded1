// Each option of a server, of respond and of pushStream: what it changes, as its user or a client sees it.
import net from 'node:net'
import tls from 'node:tls'
import { cert, closing, fields, key } from '../stage.mjs'
import { GOAWAY, SETTINGS, frame, numbers } from '../../../support/servers/h2_frames.mjs'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const many = count => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, `${at}`]))
const LINE = Number.parseInt(process.versions.node, 10)

/** A server with these options, with one exchange. */
const exchange = (options, { headers = {}, serve = stream => { stream.respond(); stream.end('ok') }, client = {}, then } = {}) => async (http2, t) => {
  const server = http2.createServer(options)
  server.on('sessionError', () => {})
  const log = t.log('server')
  server.on('stream', stream => {
    stream.on('error', error => { log('error', error.code) })
    stream.on('frameError', (...given) => { log('frameError', ...given) })
    stream.on('close', () => { log('close', stream.rstCode) })
    serve(stream, log)
  })
  const session = await t.open(server, client)
  await t.show(session, { headers })
  await then?.(session, t)
}
/** The effect of a server's settings on a client. */
const settings = (given, client = {}) => async (http2, t) => {
  const server = http2.createServer({ settings: given })
  const session = await t.open(server, client)
  const seen = await new Promise(resolve => { session.once('remoteSettings', resolve) })
  t.log('client')(Object.fromEntries(Object.keys(given).map(name => [name, seen[name]])))
}
/** Calls of a session that are more than it may have under way: in its event, or once its first settings are acknowledged. */
const outstanding = (options, call, count, isFirst = false) => async (http2, t) => {
  const server = http2.createServer(options)
  server.on('sessionError', error => { t.log('server')('sessionError', error) })
  const make = session => {
    const log = t.log('calls')
    for (let at = 0; at < count; at++) t.attempt(log, `${at}`, () => call(session, error => { t.log('callbacks')(at, error?.code ?? 'done') }))
  }
  const opened = new Promise(resolve => { server.once('session', session => { if (isFirst) make(session); resolve(session) }) })
  server.on('stream', stream => { stream.on('error', () => {}); stream.respond(); stream.end() })
  const client = await t.open(server)
  client.on('error', () => {})
  const session = await opened
  if (!isFirst) {
    await t.show(client)
    while (session.pendingSettingsAck) await new Promise(resolve => { setImmediate(resolve) })
    make(session)
  }
  await new Promise(resolve => { setTimeout(resolve, 100) })
}
const ping = (session, done) => session.ping(done)
const change = (session, done) => session.settings({}, done)

/** A client of bytes: the code of the GOAWAY that it gets behind `frames`, or none. */
const bytes = (options, frames) => async (http2, t) => {
  const server = http2.createServer(options)
  server.on('sessionError', error => { t.log('server')('sessionError', error.code) })
  server.on('stream', stream => { stream.on('error', () => {}) })
  const socket = net.connect(await t.listen(server), '127.0.0.1')
  t.sockets.push(socket)
  socket.on('error', () => {})
  let came = Buffer.alloc(0)
  socket.on('data', piece => { came = Buffer.concat([came, piece]) })
  socket.write(Buffer.concat([PREFACE, ...frames]))
  socket.end()
  await closing(socket)
  t.log('client')('closed')
  for (let at = 0; at + 9 <= came.length; at += 9 + came.readUIntBE(at, 3)) {
    if (came[at + 3] === GOAWAY) t.log('client')('GOAWAY', came.readUInt32BE(at + 13))
  }
}

/** Requests with a status, which is malformed (RFC 9113 section 8.3.1). */
const malformed = count => Array.from({ length: count }, (_, at) => frame(1, 5, 2 * at + 1, Buffer.from([0x88])))

const programs = {
  'maxHeaderListPairs 10, fewer': exchange({ maxHeaderListPairs: 10 }, { headers: many(5) }),
  'maxHeaderListPairs 10, more': exchange({ maxHeaderListPairs: 10 }, { headers: many(20) }),
  'maxOutstandingPings 1': outstanding({ maxOutstandingPings: 1 }, ping, 3),
  'maxOutstandingPings, none': outstanding({}, ping, 12),
  'maxOutstandingPings 1, in the event of the session': outstanding({ maxOutstandingPings: 1 }, ping, 3, true),
  'maxOutstandingSettings 1': outstanding({ maxOutstandingSettings: 1 }, change, 3),
  'maxOutstandingSettings 1, in the event of the session': outstanding({ maxOutstandingSettings: 1 }, change, 3, true),
  'maxOutstandingSettings 3, in the event of the session': outstanding({ maxOutstandingSettings: 3 }, change, 4, true),
  'maxSendHeaderBlockLength, a short head': exchange({ maxSendHeaderBlockLength: 200 }),
  'maxSendHeaderBlockLength, a long head': exchange({ maxSendHeaderBlockLength: 100 }, { serve: stream => { stream.respond(many(50)); stream.end('ok') } }),
  'maxSendHeaderBlockLength, a long head that fits': exchange({ maxSendHeaderBlockLength: 10_000 }, { serve: stream => { stream.respond(many(50)); stream.end('ok') } }),
  ...Object.fromEntries([30, 64].map(kib => [`maxSendHeaderBlockLength, none, a head of ${kib} KiB`, exchange({}, { serve: stream => { stream.respond({ 'x-long': 'x'.repeat(kib * 1024) }); stream.end('ok') } })])),
  ...Object.fromEntries([30, 64].map(kib => [`maxSendHeaderBlockLength, none, trailers of ${kib} KiB`, exchange({}, {
    serve: stream => {
      stream.respond({}, { waitForTrailers: true })
      stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-long': 'x'.repeat(kib * 1024) }) })
      stream.end('ok')
    }
  })])),
  ...Object.fromEntries([1, 20].map(max => [`maxSessionInvalidFrames ${max}, ten`, bytes({ maxSessionInvalidFrames: max }, [frame(SETTINGS, 0, 0), ...malformed(10)])])),
  ...Object.fromEntries([1, 20].map(max => [`maxSessionInvalidFrames ${max}, five of DATA without bytes`, bytes({ maxSessionInvalidFrames: max }, [
    frame(SETTINGS, 0, 0), frame(1, 4, 1, Buffer.from([0x83, 0x84, 0x86, 0x41, 0x01, 0x61])), ...Array(5).fill(frame(0, 0, 1))
  ])])),
  ...Object.fromEntries([1, 20].map(max => [`maxSessionRejectedStreams ${max}, ten`, bytes({ maxSessionRejectedStreams: max, settings: { maxConcurrentStreams: 1 } }, [
    frame(SETTINGS, 0, 0), frame(SETTINGS, 1, 0), ...Array.from({ length: 11 }, (_, at) => frame(1, 4, 2 * at + 1, Buffer.from([0x83, 0x84, 0x86, 0x41, 0x01, 0x61])))
  ])])),
  'maxSettings 2, fewer': bytes({ maxSettings: 2 }, [frame(SETTINGS, 0, 0, Buffer.from([0, 3, 0, 0, 0, 1]))]),
  'maxSettings 2, more': bytes({ maxSettings: 2 }, [frame(SETTINGS, 0, 0, Buffer.concat(Array(4).fill(Buffer.from([0, 3, 0, 0, 0, 1]))))]),
  'maxDeflateDynamicTableSize 0': exchange({ maxDeflateDynamicTableSize: 0 }, {
    serve: stream => { stream.respond({ 'x-a': 'kept' }); stream.end() },
    then: (session, t) => { t.log('state')(session.state.inflateDynamicTableSize) }
  }),
  'maxSessionMemory 1': exchange({ maxSessionMemory: 1 }),
  ...Object.fromEntries([1, 3].map(most => [`maxSessionMemory ${most}, a stream beside one of 2 MB that is not read`, async (http2, t) => {
    const server = http2.createServer({ maxSessionMemory: most })
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      stream.respond()
      stream.end(Buffer.alloc(headers[':path'] === '/long' ? 2_000_000 : 2))
    })
    const client = await t.open(server)
    const long = client.request({ ':path': '/long' })
    await new Promise(resolve => { long.once('response', resolve) })
    await t.show(client)
    const ended = closing(long)
    long.resume()
    await ended
    await t.show(client, { name: 'behind it' })
  }])),
  'maxReservedRemoteStreams 0': exchange({ maxReservedRemoteStreams: 0 }),
  'peerMaxConcurrentStreams 1': exchange({ peerMaxConcurrentStreams: 1 }),
  'paddingStrategy of none': exchange({ paddingStrategy: 0 }),
  'strictFieldWhitespaceValidation true': exchange({ strictFieldWhitespaceValidation: true }),
  'settings, headerTableSize': settings({ headerTableSize: 100 }),
  'settings, initialWindowSize': settings({ initialWindowSize: 100_000 }),
  'settings, maxFrameSize': settings({ maxFrameSize: 20_000 }),
  'settings, maxConcurrentStreams': settings({ maxConcurrentStreams: 5 }),
  'settings, maxHeaderListSize': settings({ maxHeaderListSize: 10_000 }),
  'settings, maxHeaderSize': settings({ maxHeaderSize: 10_000 }),
  'settings, enableConnectProtocol': settings({ enableConnectProtocol: true }),
  'settings, customSettings': settings({ customSettings: { 1000: 5 } }, { remoteCustomSettings: [1000] }),
  'streamResetBurst 1': bytes({ streamResetBurst: 1, streamResetRate: 1 }, [frame(SETTINGS, 0, 0), ...Array.from({ length: 10 }, (_, at) => [
    frame(1, 5, 2 * at + 1, Buffer.from([0x82, 0x84, 0x86, 0x41, 0x01, 0x61])), frame(3, 0, 2 * at + 1, numbers(8))
  ]).flat()]),
  'Http2ServerRequest and Http2ServerResponse': async (http2, t) => {
    class OurRequest extends http2.Http2ServerRequest {}
    class OurResponse extends http2.Http2ServerResponse {}
    const server = http2.createServer({ Http2ServerRequest: OurRequest, Http2ServerResponse: OurResponse }, (request, response) => {
      t.log('server')(request instanceof OurRequest, response instanceof OurResponse)
      response.end('ok')
    })
    await t.show(await t.open(server))
  },
  'unknownProtocolTimeout 50': async (http2, t) => {
    const server = http2.createSecureServer({ key, cert, unknownProtocolTimeout: 50 })
    const log = t.log('server')
    server.on('unknownProtocol', socket => {
      log('unknownProtocol')
      socket.on('close', () => { log('close') })
      socket.destroy()
    })
    const port = await t.listen(server)
    const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert })
    t.sockets.push(socket)
    socket.on('error', () => {}).resume()
    await closing(socket)
  },
  'origins': async (http2, t) => {
    const server = http2.createSecureServer({ key, cert, origins: ['https://a.test', 'https://b.test'] })
    server.on('stream', stream => { stream.respond(); stream.end() })
    const client = await t.open(server, { secure: true })
    const named = new Promise(resolve => { client.once('origin', resolve) })
    await t.show(client)
    t.log('client')(await named)
  },
  'respond, endStream': exchange({}, { serve: stream => { stream.respond({ 'x-a': '1' }, { endStream: true }) } }),
  'respond, waitForTrailers': exchange({}, { serve: stream => { stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-t': '1' }) }); stream.respond({}, { waitForTrailers: true }); stream.end('ok') } }),
  'respond, sendDate false': exchange({}, { serve: stream => { stream.respond({}, { sendDate: false }); stream.end() } }),
  'pushStream to a client that takes none': exchange({}, { client: { settings: { enablePush: false } }, serve: (stream, log) => { log(stream.pushAllowed); stream.respond(); stream.end() } })
}
/** The window of a connection, as both sides see it. */
const window = size => async (http2, t) => {
  const server = http2.createServer({ connectionWindowSize: size })
  const opened = new Promise(resolve => { server.once('session', resolve) })
  server.on('stream', stream => { stream.respond(); stream.end('ok') })
  const client = await t.open(server)
  await t.show(client)
  const { state } = await opened
  t.log('server')(state.effectiveLocalWindowSize, state.localWindowSize)
  t.log('client')(client.state.remoteWindowSize)
}
if (LINE >= 26) {
  for (const size of [65_535, 70_000, 2 ** 20, 2 ** 31 - 1]) programs[`connectionWindowSize ${size}`] = window(size)
  for (const size of [0, -1, 1.5, 2 ** 31, NaN, '1', null, true]) programs[`connectionWindowSize ${typeof size} ${size}`] = async (http2, t) => { t.attempt(t.log('server'), 'createServer', () => { http2.createServer({ connectionWindowSize: size }) }) }
}
/** The window of a stream whose request has a body: before it is read, and behind it. */
const streamWindow = (bytes, settings) => async (http2, t) => {
  const server = http2.createServer({ settings })
  const log = t.log('server')
  server.on('stream', stream => {
    stream.once('readable', () => {
      log(stream.state.localWindowSize)
      stream.resume().on('end', () => { log(stream.state.localWindowSize); stream.respond(); stream.end('ok') })
    })
  })
  await t.show(await t.open(server), { headers: { ':method': 'POST' }, body: Buffer.alloc(bytes) })
}
for (const bytes of [1, 1000, 10_000]) programs[`state of a stream of ${bytes} bytes`] = streamWindow(bytes, {})
programs['state of a stream with a window of its own'] = streamWindow(1000, { initialWindowSize: 100_000 })
programs['setLocalWindowSize 0'] = async (http2, t) => {
  const server = http2.createServer()
  server.on('session', session => {
    for (const size of [0, 100_000, 0]) {
      session.setLocalWindowSize(size)
      t.log('server')(session.state.effectiveLocalWindowSize)
    }
  })
  server.on('stream', stream => { stream.respond(); stream.end('ok') })
  await t.show(await t.open(server))
}
for (const of of [1, 3, 'https://a.test']) {
  for (const event of ['session', 'stream']) {
    programs[`altsvc of ${of} in a listener of ${event}`] = async (http2, t) => {
      const server = http2.createServer()
      server.on(event, one => { (one.session ?? one).altsvc('h2=":8000"', of) })
      server.on('stream', stream => { stream.respond(); stream.end('ok') })
      const client = await t.open(server)
      client.on('altsvc', (...given) => { t.log('client')('altsvc', ...given) })
      await t.show(client)
    }
  }
}
if (LINE >= 24) {
  for (const isStrict of [true, false]) {
    programs[`strictSingleValueFields ${isStrict}, two values`] = exchange({ strictSingleValueFields: isStrict }, {
      serve: (stream, log) => {
        try {
          stream.respond({ 'content-type': ['a/b', 'c/d'] })
        } catch (error) {
          log('threw', error.code)
          stream.respond({ 'content-type': 'a/b' })
        }
        stream.end(fields({}))
      }
    })
  }
}
export default programs

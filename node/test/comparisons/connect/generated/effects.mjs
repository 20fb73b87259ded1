// Each option of connect and of request x values: what it changes, as the session, its user or a server sees it.
import net from 'node:net'
import tls from 'node:tls'
import { END_HEADERS, END_STREAM, HEADERS, SETTINGS, frame } from '../../../support/servers/h2_frames.mjs'
import { cert, closing, fields, turns } from '../stage.mjs'

const PREFACE_BYTES = 24
const CONTINUATION = 9
const ok = stream => { stream.on('error', () => {}); stream.respond(); stream.end('ok') }
/** A field that no compressor shortens to less than its name. */
const many = count => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, `${at}`]))

/** One exchange over a session with these options. */
const exchange = (options, { request = {}, streamOptions, serve = ok, then } = {}) => async ({ connect }, t) => {
  const { url } = await t.serve('node', { listeners: { stream: serve } })
  const session = t.open(connect, url, options)
  session.on('frameError', (...given) => { t.log('session')('frameError', ...given) })
  const stream = session.request(request, streamOptions)
  const log = t.log('frames')
  stream.on('frameError', (...given) => { log('frameError', ...given) })
  await t.watch(stream)
  await then?.(session, t)
  session.close()
  await closing(session)
}

/** The first settings that a server gets of a session with these. */
const settings = (given, options = {}) => async ({ connect }, t) => {
  let report
  const received = new Promise(resolve => { report = resolve })
  const { url } = await t.serve('node', { options, listeners: { session: one => { one.on('remoteSettings', report) } } })
  const session = t.open(connect, url, { settings: given })
  const seen = await received
  const names = Object.keys(given)
  t.log('server')(Object.fromEntries(names.map(name => [name, seen[name]])))
  session.close()
  await closing(session)
}

/** The settings of extensions that a session shows at each step of its beginning. */
const extensions = async ({ connect }, t) => {
  const { url } = await t.serve('node', { listeners: { stream: ok } })
  const session = t.open(connect, url, { settings: { customSettings: { 1000: 5 } } })
  const log = t.log('session')
  log('connecting', session.localSettings.customSettings)
  session.on('connect', () => {
    log('connect', session.localSettings.customSettings)
    session.settings({ customSettings: { 1001: 6 } })
    log('behind settings', session.localSettings.customSettings)
    session.settings({ headerTableSize: 1000 })
    log('behind others', session.localSettings.customSettings)
  })
  session.on('localSettings', settings => { log('acknowledged', settings.customSettings) })
  await t.watch(session.request())
  session.close()
  await closing(session)
}

/** The requests that a server has got before it has sent its settings. */
const early = (peerMaxConcurrentStreams, asked) => async ({ connect }, t) => {
  let heads = 0
  const url = await t.serveRaw(socket => {
    let bytes = Buffer.alloc(0)
    let isBegun = false
    socket.on('data', piece => {
      bytes = Buffer.concat([bytes, piece])
      if (!isBegun && bytes.length >= PREFACE_BYTES) {
        bytes = bytes.subarray(PREFACE_BYTES)
        isBegun = true
      }
      while (isBegun && bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        if (bytes[3] === HEADERS) heads++
        if (bytes[3] === CONTINUATION) t.log('server')('CONTINUATION')
        bytes = bytes.subarray(9 + bytes.readUIntBE(0, 3))
      }
      if (heads >= Math.min(asked, peerMaxConcurrentStreams ?? 100)) setTimeout(() => { t.log('server')('heads', heads); socket.destroy() }, 50)
    })
  })
  const session = t.open(connect, url, { peerMaxConcurrentStreams })
  for (let at = 0; at < asked; at++) session.request().on('error', () => {})
  await closing(session)
}

/** Calls that are more than a session may have under way. */
const outstanding = (name, value, call, count) => async ({ connect }, t) => {
  const { url } = await t.serve('node')
  const session = t.open(connect, url, { [name]: value })
  await new Promise(resolve => { session.once('connect', resolve) })
  // The session's own settings are acknowledged.
  await new Promise(resolve => { session.once('localSettings', resolve) })
  const log = t.log('calls')
  for (let at = 0; at < count; at++) t.attempt(log, `${at}`, () => call(session, error => { t.log('callbacks')(at, error?.code ?? 'done') }))
  await turns(10)
  session.destroy()
  await closing(session)
}
const ping = (session, done) => session.ping(done)
const change = (session, done) => session.settings({}, done)

/** A response with `count` fields. */
const answered = (options, count) => exchange(options, { serve: stream => { stream.on('error', () => {}); stream.respond(many(count)); stream.end('ok') } })

const programs = {
  'maxHeaderListPairs 10, fewer': answered({ maxHeaderListPairs: 10 }, 5),
  'maxHeaderListPairs 10, more': answered({ maxHeaderListPairs: 10 }, 20),
  'maxHeaderListPairs, none': answered({}, 100),
  'maxOutstandingPings 1': outstanding('maxOutstandingPings', 1, ping, 3),
  'maxOutstandingPings 3': outstanding('maxOutstandingPings', 3, ping, 5),
  'maxOutstandingPings, none': outstanding('maxOutstandingPings', undefined, ping, 12),
  'maxOutstandingSettings 1': outstanding('maxOutstandingSettings', 1, change, 3),
  'maxOutstandingSettings 3': outstanding('maxOutstandingSettings', 3, change, 3),
  'maxSendHeaderBlockLength 100, a short head': exchange({ maxSendHeaderBlockLength: 200 }),
  'maxSendHeaderBlockLength 100, a long head': exchange({ maxSendHeaderBlockLength: 100 }, { request: many(50) }),
  'maxSendHeaderBlockLength 10,000, a long head': exchange({ maxSendHeaderBlockLength: 10_000 }, { request: many(50) }),
  'maxSendHeaderBlockLength, none, a head of 60 KiB': exchange({}, { request: { 'x-long': 'x'.repeat(60 * 1024) } }),
  'maxSendHeaderBlockLength, none, a head of 64 KiB': exchange({}, { request: { 'x-long': 'x'.repeat(64 * 1024) } }),
  'maxSettings 1, more': exchange({ maxSettings: 1 }),
  ...Object.fromEntries(['/caf\u00e9', '/\u20ac', '/\u0100', '/\u{1f600}', '/a#b', '/a?b#c', '/#', '#a', '/a%23b'].map(path => [`request, the path ${JSON.stringify(path)}`, exchange({}, {
    request: { ':path': path }, serve: (stream, headers) => { stream.on('error', () => {}); stream.respond({ 'x-path': Buffer.from(headers[':path'], 'latin1').toString('hex') }); stream.end() }
  })])),
  'request, the scheme "http:"': exchange({}, { request: { ':scheme': 'http:' } }),
  'peerMaxConcurrentStreams 1': early(1, 5),
  'peerMaxConcurrentStreams 3': early(3, 5),
  'peerMaxConcurrentStreams, none': early(undefined, 5),
  'strictSingleValueFields true': exchange({ strictSingleValueFields: true }, { request: { 'content-type': 'a/b' } }),
  'maxDeflateDynamicTableSize 0': exchange({ maxDeflateDynamicTableSize: 0 }, { request: { 'x-a': 'kept' }, then: (session, t) => { t.log('state')(session.state.deflateDynamicTableSize) } }),
  'maxDeflateDynamicTableSize, none': exchange({}, { request: { 'x-a': 'kept' }, then: (session, t) => { t.log('state')(session.state.deflateDynamicTableSize > 0) } }),
  'maxSessionMemory 1': exchange({ maxSessionMemory: 1 }),
  'maxReservedRemoteStreams 0': exchange({ maxReservedRemoteStreams: 0 }),
  'maxSettings 1, none': exchange({ maxSettings: 1 }),
  'paddingStrategy of none': exchange({ paddingStrategy: 0 }),
  'unknownProtocolTimeout 1': exchange({ unknownProtocolTimeout: 1 }),
  'settings, headerTableSize': settings({ headerTableSize: 100 }),
  'settings, enablePush': settings({ enablePush: false }),
  'settings, initialWindowSize': settings({ initialWindowSize: 100_000 }),
  'settings, maxFrameSize': settings({ maxFrameSize: 20_000 }),
  'settings, maxConcurrentStreams': settings({ maxConcurrentStreams: 5 }),
  'settings, maxHeaderListSize': settings({ maxHeaderListSize: 10_000 }),
  'settings, maxHeaderSize': settings({ maxHeaderSize: 10_000 }),
  'settings, enableConnectProtocol': settings({ enableConnectProtocol: true }),
  'settings, customSettings, step by step': extensions,
  'settings, customSettings': settings({ customSettings: { 1000: 5 } }, { remoteCustomSettings: [1000] }),
  'settings, maxHeaderListSize below the head of a request that is under way': async ({ connect }, t) => {
    const held = []
    const { url } = await t.serve('node', { listeners: { stream: stream => { stream.on('error', () => {}); held.push(stream) } } })
    const session = t.open(connect, url)
    await new Promise(resolve => { session.once('remoteSettings', resolve) })
    const stream = session.request()
    const seen = t.watch(stream)
    await new Promise(resolve => { session.settings({ maxHeaderListSize: 100 }, resolve) })
    held[0].respond(many(50))
    held[0].end('ok')
    await seen
    session.close()
    await closing(session)
  },
  'request, endStream': exchange({}, { request: { ':method': 'POST' }, streamOptions: { endStream: true } }),
  'request, exclusive, parent and weight': exchange({}, { streamOptions: { exclusive: true, parent: 0, weight: 10 } }),
  'request, silent': exchange({}, { streamOptions: { silent: true } }),
  'request, waitForTrailers': async ({ connect }, t) => {
    const { url } = await t.serve('node', { listeners: { stream: stream => { stream.resume().on('trailers', head => { t.log('server')(fields(head)); ok(stream) }) } } })
    const session = t.open(connect, url)
    const stream = session.request({ ':method': 'POST' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-t': '1' }) })
    stream.end('body')
    await t.watch(stream)
    session.close()
    await closing(session)
  },
  'request, signal': async ({ connect }, t) => {
    const { url } = await t.serve('node', { listeners: { stream: stream => { stream.on('error', () => {}) } } })
    const session = t.open(connect, url)
    const controller = new AbortController()
    const stream = session.request({}, { signal: controller.signal })
    stream.on('ready', () => { controller.abort() })
    await t.watch(stream)
    session.close()
    await closing(session)
  },
  ...Object.fromEntries(Object.entries({
    'fewer, at once': stream => { stream.end('abc') },
    'fewer, in pieces': stream => { stream.write('ab'); setImmediate(() => { stream.end('c') }) },
    'fewer, and an end behind': stream => { stream.write('abc', () => { stream.end() }) },
    none: stream => { stream.end() },
    'more, at once': stream => { stream.end('abcdefghijkl') },
    'more, in pieces': stream => { stream.write('abcdef'); setImmediate(() => { stream.end('ghijkl') }) },
    right: stream => { stream.end('abcdefghij') }
  }).map(([bytes, send]) => [`request, a content-length of 10, bytes: ${bytes}`, async ({ connect }, t) => {
    const { url } = await t.serve('node', { listeners: { stream: stream => { stream.on('error', () => {}); stream.resume().on('end', () => { stream.respond(); stream.end('ok') }) } } })
    const session = t.open(connect, url)
    const stream = session.request({ ':method': 'POST', 'content-length': 10 })
    const seen = t.watch(stream)
    send(stream)
    await seen
    await t.watch(session.request({}), 'the next')
    session.close()
    await closing(session)
  }])),
  'request, one that waits for capacity when GOAWAY comes': async ({ connect }, t) => {
    const { url } = await t.serve('node', { options: { settings: { maxConcurrentStreams: 1 } }, listeners: { stream: stream => { stream.on('error', () => {}); stream.respond(); stream.session.goaway(0); setTimeout(() => { stream.end('ok') }, 30) } } })
    const session = t.open(connect, url)
    await new Promise(resolve => { session.once('remoteSettings', resolve) })
    const first = t.watch(session.request(), 'first')
    await Promise.all([first, t.watch(session.request(), 'second')])
    await closing(session)
  },
  'request, the event of 100 is the first': exchange({}, { serve: stream => { stream.on('error', () => {}); stream.additionalHeaders({ ':status': 100 }); stream.respond(); stream.end('ok') } }),
  'origins beyond maxOriginSetSize': async ({ connect }, t) => {
    const { url } = await t.serve('node', { secure: true, options: { origins: ['https://a.test', 'https://b.test', 'https://c.test'] } })
    const session = t.open(connect, url, { maxOriginSetSize: 2 })
    await closing(session)
  },
  'goaway with a stream of the client itself': async ({ connect }, t) => {
    const { url } = await t.serve('node', { listeners: { stream: ok } })
    const session = t.open(connect, url)
    await new Promise(resolve => { session.once('connect', resolve) })
    session.goaway(0, 5)
    await t.watch(session.request())
    t.log('session')(session.closed)
    session.close()
    await closing(session)
    t.log('session')(session.socket)
  },
  'createConnection of a socket that is connected': async ({ connect }, t) => {
    const { url, server } = await t.serve('node', { listeners: { stream: ok } })
    const socket = net.connect(server.address().port, '127.0.0.1')
    await new Promise(resolve => { socket.once('connect', resolve) })
    const session = t.open(connect, url, { createConnection: () => socket })
    await t.watch(session.request())
    session.close()
    await closing(session)
  },
  'createConnection of a socket that has the settings of the server': async ({ connect }, t) => {
    const { url, server } = await t.serve('node', { listeners: { stream: ok } })
    const socket = net.connect(server.address().port, '127.0.0.1')
    await new Promise(resolve => { socket.once('readable', resolve) })
    const [session, log] = [t.open(connect, url, { createConnection: () => socket }), t.log('session')]
    session.once('connect', () => {
      log('connect')
      session.once('remoteSettings', () => { log('remoteSettings') })
    })
    await t.watch(session.request())
    session.close()
    await closing(session)
  },
  'socket, over TLS': async ({ connect }, t) => {
    const { url, server } = await t.serve('node', { secure: true, listeners: { stream: ok } })
    const socket = net.connect(server.address().port, '127.0.0.1')
    const session = t.open(connect, url, { socket })
    await t.watch(session.request())
    t.log('session')(session.alpnProtocol, session.encrypted, socket.bytesWritten > 0)
    session.close()
    await closing(session)
  },
  'socket, that is a TLSSocket of createConnection': async ({ connect }, t) => {
    const { url, server } = await t.serve('node', { secure: true, listeners: { stream: ok } })
    const session = t.open(connect, url, { createConnection: () => tls.connect({ port: server.address().port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: ['h2'] }) })
    await t.watch(session.request())
    t.log('session')(session.alpnProtocol, session.encrypted)
    session.close()
    await closing(session)
  },
  'a server of HTTP/1.1': async ({ connect }, t) => {
    const url = await t.serveRaw(socket => { socket.once('data', () => { socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n') }) })
    const session = t.open(connect, url)
    const stream = session.request()
    await Promise.all([t.watch(stream), closing(session)])
  },
  'frames that are answered before settings': async ({ connect }, t) => {
    const url = await t.serveRaw(socket => { socket.once('data', () => { socket.write(Buffer.concat([frame(SETTINGS, 0, 0), frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.from([0x88]))])) }) })
    const session = t.open(connect, url)
    await t.watch(session.request())
    session.destroy()
    await closing(session)
  }
}
/** A session with a window of its connection (from Node.js 26 on), as both sides see it. */
const window = size => async ({ connect }, t) => {
  let report
  const opened = new Promise(resolve => { report = resolve })
  const { url } = await t.serve('node', { listeners: { stream: ok, session: report } })
  const session = t.open(connect, url, { connectionWindowSize: size })
  const log = t.log('client')
  await t.watch(session.request())
  log(session.state.effectiveLocalWindowSize, session.state.localWindowSize)
  t.log('server')((await opened).state.remoteWindowSize)
  session.close()
  await closing(session)
}
if (Number.parseInt(process.versions.node, 10) >= 26) {
  for (const size of [65_535, 70_000, 2 ** 20, 2 ** 31 - 1]) programs[`connectionWindowSize ${size}`] = window(size)
  for (const size of [0, -1, 1.5, 2 ** 31, NaN, '1', null, true]) programs[`connectionWindowSize ${typeof size} ${size}`] = async ({ connect }, t) => {
    const { url } = await t.serve('node')
    t.attempt(t.log('client'), 'connect', () => { t.open(connect, url, { connectionWindowSize: size }) })
  }
}
/** The window of a stream as its reader sees it: none reads, and then one does. An empty body is not among them: it is chance whether its
 * end comes in the turn of its head, before a listener of `readable` is there. */
const streamWindow = (bytes, options) => async ({ connect }, t) => {
  const { url } = await t.serve('node', { listeners: { stream: stream => { stream.on('error', () => {}); stream.respond(); stream.end(Buffer.alloc(bytes)) } } })
  const session = t.open(connect, url, options)
  const stream = session.request()
  const log = t.log('client')
  await new Promise(resolve => { stream.on('response', resolve) })
  await new Promise(resolve => { stream.once('readable', resolve) })
  log(stream.state.localWindowSize)
  const ended = t.watch(stream)
  stream.on('end', () => { log(stream.state.localWindowSize) })
  stream.resume()
  await ended
  log(stream.state)
  session.close()
  await closing(session)
}
for (const bytes of [1, 1000, 10_000]) programs[`state of a stream of ${bytes} bytes`] = streamWindow(bytes, {})
programs['state of a stream with a window of its own'] = streamWindow(1000, { settings: { initialWindowSize: 100_000 } })
programs['setLocalWindowSize 0'] = async ({ connect }, t) => {
  const { url } = await t.serve('node', { listeners: { stream: ok } })
  const session = t.open(connect, url)
  await new Promise(resolve => { session.once('connect', resolve) })
  for (const size of [0, 100_000, 0]) {
    session.setLocalWindowSize(size)
    t.log('client')(session.state.effectiveLocalWindowSize)
  }
  await t.watch(session.request())
  session.close()
  await closing(session)
}
export default programs

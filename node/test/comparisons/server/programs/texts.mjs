// Messages of errors: each method with each kind of value, and in each state, by tables. Codes, classes and words are compared.
import { once } from 'node:events'
import { throwing, responding, session } from '../shapes.mjs'

const VALUES = {
  undefined: undefined, null: null, text: 'x', empty: '', five: 5, minus: -1, half: 1.5, NaN, large: 2 ** 33, bigint: 1n,
  symbol: Symbol('s'), true: true, object: {}, array: [], date: new Date(0), function: function named () {}, bare: Object.create(null)
}
/** A call per value: `call(subject, value)`. */
const each = (label, call, leftOut = []) => Object.fromEntries(Object.entries(VALUES).filter(([name]) => !leftOut.includes(name)).map(([name, value]) => [`${label} ${name}`, subject => call(subject, value)]))
/** Leaves out the results of calls that succeed. */
const quiet = calls => Object.fromEntries(Object.entries(calls).map(([label, call]) => [label, (...given) => { call(...given) }]))
const ofStreams = calls => throwing(quiet(calls))
const ofResponses = calls => responding(quiet(calls))
const ofSessions = calls => session((own, { log, t }) => { for (const [label, call] of Object.entries(quiet(calls))) t.attempt(log, label, () => call(own)) })

/** Options of a server, by value; what node refuses is refused. */
const options = names => async (http2, t) => {
  const log = t.log('server')
  for (const name of names) for (const [label, value] of Object.entries(VALUES)) t.attempt(log, `${name} ${label}`, () => { http2.createServer({ [name]: value }) })
}
const settings = names => async (http2, t) => {
  const log = t.log('server')
  for (const name of names) {
    for (const [label, value] of Object.entries(VALUES)) {
      t.attempt(log, `${name} ${label}`, () => { http2.createServer({ settings: { [name]: value } }) })
      t.attempt(log, `update ${name} ${label}`, () => { http2.createServer().updateSettings({ [name]: value }) })
    }
  }
}

/** States of a stream, and what is called in each. */
const STATES = {
  fresh () {},
  responded (stream) { stream.respond() },
  ended (stream) { stream.respond(); stream.end() },
  closed (stream) { stream.close() },
  destroyed (stream) { stream.destroy() },
  'with a closed session' (stream) { stream.session.close() },
  'with a session that is destroyed' (stream) { stream.session.destroy() }
}
const CALLS = {
  respond: stream => stream.respond(),
  'respond with a pseudo-header': stream => stream.respond({ ':path': '/' }),
  additionalHeaders: stream => stream.additionalHeaders({ ':status': 103 }),
  sendTrailers: stream => stream.sendTrailers({ a: 'b' }),
  respondWithFile: stream => stream.respondWithFile('/nowhere'),
  'respondWithFD of a text': stream => stream.respondWithFD('x'),
  'respondWithFD of nothing': stream => stream.respondWithFD(),
  'close with a code that is none': stream => stream.close(-1),
  'setTimeout of a text': stream => stream.setTimeout('x'),
  'session.ping without a callback': stream => stream.session?.ping(),
  'session.altsvc of a number': stream => stream.session?.altsvc(5),
  'session.origin of a number': stream => stream.session?.origin(5),
  'session.goaway of a text': stream => stream.session?.goaway('x')
}
const states = Object.fromEntries(Object.keys(STATES).map(state => [`a stream, ${state}`, async (http2, t) => {
  const log = t.log('server')
  const server = http2.createServer()
  server.on('sessionError', () => {})
  const asked = Object.keys(CALLS)
  const done = new Promise(resolve => {
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      const call = CALLS[headers.call]
      STATES[state](stream)
      t.attempt(log, headers.call, () => { call(stream) })
      stream.close()
      if (headers.call === asked.at(-1)) resolve()
    })
  })
  for (const call of asked) {
    // A session that is destroyed takes its other streams with it.
    const client = await t.open(server)
    const stream = client.request({ call })
    stream.on('error', () => {}).resume()
    await once(stream, 'close')
  }
  await done
}]))

/** An error as a text, and the head of its stack. */
const inText = error => `${String(error)} | ${error.stack.split('\n')[0]} | ${Object.keys(error)}`
const spelled = calls => responding(Object.fromEntries(Object.entries(calls).map(([label, call]) => [label, response => {
  try {
    call(response)
  } catch (error) {
    return inText(error)
  }
}])))

export default {
  'errors as texts, and their stacks': spelled({
    'a number as a name': response => response.setHeader(5, 'x'), 'a value that is none': response => response.setHeader('a', undefined), status: response => { response.statusCode = 700 }, interim: response => { response.statusCode = 100 },
    'a pseudo-header': response => response.setHeader(':path', 'x'), 'a listener that is none': response => response.createPushResponse({}, 5), 'a code that is none': response => response.stream.close(-1),
    'a file of a status without a body': response => response.stream.respondWithFile('/nowhere', { ':status': 204 }), trailers: response => response.stream.sendTrailers({}), 'a field of a connection': response => response.stream.respond({ connection: 'close' }),
    'a hint that is none': response => response.writeEarlyHints({ link: 'x' }), settings: response => response.stream.session.settings({ maxFrameSize: 1 }), origin: response => response.stream.session.origin(5), 'a ping too short': response => response.stream.session.ping(Buffer.alloc(1), () => {})
  }),
  'the error of a stream that is closed with a code, as a text': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    const failed = new Promise(resolve => {
      server.on('stream', stream => {
        stream.on('error', error => {
          log(inText(error))
          resolve()
        })
        stream.close(2)
      })
    })
    const client = await t.open(server)
    client.request().on('error', () => {})
    await failed
  },
  'createServer by value': async (http2, t) => {
    const log = t.log('server')
    for (const [label, value] of Object.entries(VALUES)) {
      t.attempt(log, `createServer ${label}`, () => { http2.createServer(value) })
      t.attempt(log, `createSecureServer ${label}`, () => { http2.createSecureServer(value) })
      t.attempt(log, `updateSettings ${label}`, () => { http2.createServer().updateSettings(value) })
      t.attempt(log, `setTimeout ${label}`, () => { http2.createServer().setTimeout(1, value) })
    }
  },
  'options by value': options(['maxDeflateDynamicTableSize', 'maxSettings', 'maxSessionMemory', 'maxHeaderListPairs', 'maxOutstandingPings', 'maxOutstandingSettings', 'maxSendHeaderBlockLength', 'peerMaxConcurrentStreams', 'maxSessionInvalidFrames', 'maxSessionRejectedStreams', 'settings', 'unknownProtocolTimeout', 'remoteCustomSettings']),
  'settings by value': settings(['headerTableSize', 'enablePush', 'initialWindowSize', 'maxFrameSize', 'maxConcurrentStreams', 'maxHeaderListSize', 'enableConnectProtocol']),
  'heads of streams by value': ofStreams({
    ...each('sendTrailers', (stream, value) => stream.sendTrailers(value)),
    ...each('additionalHeaders', (stream, value) => stream.additionalHeaders(value), ['undefined', 'object', 'date', 'bare']),
    ...each('status of additionalHeaders', (stream, value) => stream.additionalHeaders({ ':status': value }), ['undefined', 'null', 'symbol', 'bigint']),
    ...each('status of respond', (stream, value) => stream.respond({ ':status': value }), ['undefined', 'null', 'symbol', 'bigint', 'NaN', 'empty', 'array', 'text', 'object', 'date', 'function', 'bare', 'large']),
    ...each('sensitiveHeaders', (stream, value) => stream.respond({ [stream.session.constructor && Symbol.for('nodejs.http2.sensitiveHeaders')]: value }), Object.keys(VALUES).filter(name => name !== 'five'))
  }),
  'arguments of streams by value': ofStreams({
    ...each('setTimeout', (stream, value) => stream.setTimeout(value), ['five', 'half', 'large']),
    ...each('callback of setTimeout', (stream, value) => stream.setTimeout(1000, value)),
    ...each('callback of close', (stream, value) => stream.close(0, value), ['undefined', 'function']),
    ...each('code of close', (stream, value) => stream.close(value), ['undefined', 'five'])
  }),
  'files by value': ofStreams({
    ...each('respondWithFile', (stream, value) => stream.respondWithFile('/nowhere', value), ['undefined', 'object', 'date', 'bare', 'function']),
    ...each('options of a file', (stream, value) => stream.respondWithFile('/nowhere', {}, value), ['undefined', 'object', 'date', 'bare', 'function', 'array']),
    ...each('offset', (stream, value) => stream.respondWithFile('/nowhere', {}, { offset: value }), ['undefined', 'five', 'minus', 'half', 'NaN', 'large']),
    ...each('length', (stream, value) => stream.respondWithFile('/nowhere', {}, { length: value }), ['undefined', 'five', 'minus', 'half', 'NaN', 'large']),
    ...each('statCheck', (stream, value) => stream.respondWithFile('/nowhere', {}, { statCheck: value }), ['undefined', 'function']),
    ...each('descriptor', (stream, value) => stream.respondWithFD(value), ['five', 'minus', 'half', 'NaN', 'large'])
  }),
  'fields of streams': ofStreams(Object.fromEntries(Object.entries({
    'a pseudo-header': { ':path': '/' },
    'one that nobody knows': { ':foo': 'x' },
    connection: { connection: 'close' },
    'transfer-encoding': { 'transfer-encoding': 'chunked' },
    'te of gzip': { te: 'gzip' },
    upgrade: { upgrade: 'x' },
    'http2-settings': { 'http2-settings': 'x' },
    'keep-alive': { 'keep-alive': 'x' },
    'proxy-connection': { 'proxy-connection': 'x' },
    'two etags': { etag: ['a', 'b'] },
    'two types': { 'content-type': ['a', 'b'] },
    'a name with a space': { 'x y': 'a' }
  }).map(([label, fields]) => [label, stream => stream.respond(fields)]))),
  'arguments of sessions by value': ofSessions({
    ...each('payload of a ping', (own, value) => own.ping(value, () => {}), ['undefined', 'null', 'empty', 'function', 'NaN']),
    ...each('callback of a ping', (own, value) => own.ping(value), ['function']),
    ...each('settings', (own, value) => own.settings(value), ['undefined', 'object', 'date', 'bare', 'function']),
    ...each('callback of settings', (own, value) => own.settings({}, value), ['undefined', 'null', 'empty', 'NaN', 'function']),
    ...each('code of goaway', (own, value) => own.goaway(value), ['undefined', 'five', 'minus', 'half', 'NaN', 'large']),
    ...each('last stream of goaway', (own, value) => own.goaway(0, value), ['undefined', 'five', 'minus', 'half', 'NaN', 'large']),
    ...each('data of goaway', (own, value) => own.goaway(0, 0, value), ['undefined']),
    ...each('setLocalWindowSize', (own, value) => own.setLocalWindowSize(value), ['five']),
    ...each('setNextStreamID', (own, value) => own.setNextStreamID(value), ['five', 'half', 'NaN']),
    ...each('altsvc', (own, value) => own.altsvc(value), ['text', 'empty']),
    ...each('origin of altsvc', (own, value) => own.altsvc('h2=":1"', value), ['undefined', 'five', 'text', 'empty', 'half', 'NaN']),
    ...each('setTimeout', (own, value) => own.setTimeout(value), ['five', 'half', 'large']),
    ...each('callback of setTimeout', (own, value) => own.setTimeout(1000, value))
  }),
  'members of the socket of a session': ofSessions(Object.fromEntries(['emit', 'end', 'pause', 'read', 'resume', 'write', 'setEncoding', 'setKeepAlive', 'setNoDelay'].map(name => [name, own => own.socket[name]]))),
  'arguments of responses by value': ofResponses({
    ...each('value of setHeader', (response, value) => response.setHeader('x', value), ['symbol']),
    ...each('name of setHeader', (response, value) => response.setHeader(value, 'x')),
    ...each('name of getHeader', (response, value) => response.getHeader(value)),
    ...each('name of hasHeader', (response, value) => response.hasHeader(value)),
    ...each('name of removeHeader', (response, value) => response.removeHeader(value)),
    ...each('value of setTrailer', (response, value) => response.setTrailer('x', value), ['symbol']),
    ...each('name of setTrailer', (response, value) => response.setTrailer(value, 'x'), ['true']),
    ...each('statusCode', (response, value) => { response.statusCode = value }, ['symbol', 'bigint']),
    ...each('hints', (response, value) => response.writeEarlyHints(value), ['true']),
    ...each('link', (response, value) => response.writeEarlyHints({ link: value }), ['symbol']),
    ...each('createPushResponse', (response, value) => response.createPushResponse({}, value), ['function'])
  }),
  ...states
}

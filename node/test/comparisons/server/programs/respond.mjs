// Heads of responses: what is sent, what is refused; trailers, interim responses, push.
import { compat, core, throwing } from '../shapes.mjs'
import { fields } from '../stage.mjs'

const done = stream => { if (!stream.headersSent) stream.respond(); stream.end() }
const answering = (headers, options) => core((stream, { log, t }) => {
  t.attempt(log, 'respond', () => stream.respond(headers, options))
  log(stream.headersSent, stream.sentHeaders && fields(stream.sentHeaders), stream.writableEnded)
  if (!stream.writableEnded) stream.end('body')
})

export default {
  'respond without anything': answering(),
  'respond with a status': answering({ ':status': 201 }),
  'a status may be a text': answering({ ':status': '202' }),
  'respond with fields': answering({ ':status': 200, 'content-type': 'text/plain', 'x-number': 5, 'x-true': true }),
  'fields of several values': answering({ 'x-list': ['a', 'b'], 'set-cookie': ['c=1', 'd=2'], 'x-one': ['only'], 'x-none': [] }),
  'names become lower-case on the way': answering({ 'X-Upper': 'Value', 'Content-Type': 'text/html' }),
  'undefined values are left out, null is a text': answering({ 'x-undefined': undefined, 'x-null': null, 'x-empty': '' }),
  'an empty name is left out': answering({ '': 'x', 'x-a': 'b' }),
  'values of other letters': answering({ 'x-latin': '\u00e9t\u00e9' }),
  'a date of our own': core(stream => {
    stream.respond({ date: 'Thu, 01 Jan 1970 00:00:00 GMT' })
    stream.end(String(stream.sentHeaders.date))
  }),
  'no date': answering({}, { sendDate: false }),
  'the stream ends with the head': answering({ ':status': 200 }, { endStream: true }),
  '204 has no body': answering({ ':status': 204 }),
  '205 has no body': answering({ ':status': 205 }),
  '304 has no body': answering({ ':status': 304 }),
  '404 has one': answering({ ':status': 404 }),
  '599 is the last status': answering({ ':status': 599 }),
  'a content-length that is true': answering({ 'content-length': 4 }),
  'options that are none are refused': throwing({
    number: stream => { stream.respond({}, 1) }, text: stream => { stream.respond({}, 'x') }, null: stream => { stream.respond({}, null) }, array: stream => { stream.respond({}, []) }
  }),
  'headers that are none are refused': throwing({
    number: stream => { stream.respond(1) }, text: stream => { stream.respond('x') }, null: stream => { stream.respond(null) }
  }),
  'statuses that are none are refused': throwing({
    100: stream => { stream.respond({ ':status': 100 }) }, 199: stream => { stream.respond({ ':status': 199 }) }, 600: stream => { stream.respond({ ':status': 600 }) },
    '-1': stream => { stream.respond({ ':status': -1 }) }, 101: stream => { stream.respond({ ':status': 101 }) }
  }),
  'pseudo-headers of requests are refused': throwing({
    path: stream => { stream.respond({ ':path': '/' }) }, method: stream => { stream.respond({ ':method': 'GET' }) }, other: stream => { stream.respond({ ':other': 'x' }) }
  }),
  'fields of connections are refused': throwing({
    connection: stream => { stream.respond({ connection: 'close' }) }, upgrade: stream => { stream.respond({ upgrade: 'x' }) }, 'keep-alive': stream => { stream.respond({ 'keep-alive': 'x' }) },
    'transfer-encoding': stream => { stream.respond({ 'transfer-encoding': 'chunked' }) }, te: stream => { stream.respond({ te: 'x' }) }, 'proxy-connection': stream => { stream.respond({ 'proxy-connection': 'x' }) },
    'http2-settings': stream => { stream.respond({ 'http2-settings': 'x' }) }, Upper: stream => { stream.respond({ Connection: 'close' }) }
  }),
  'te may say trailers': answering({ te: 'trailers' }),
  'fields of one value are refused twice': throwing({
    status: stream => { stream.respond({ ':status': [200, 201] }) }, type: stream => { stream.respond({ 'content-type': ['a', 'b'] }) },
    both: stream => { stream.respond({ 'content-type': 'a', 'Content-Type': 'b' }) }, length: stream => { stream.respond({ 'content-length': [1, 2] }) },
    etag: stream => { stream.respond({ etag: ['a', 'b'] }) }, age: stream => { stream.respond({ age: [1, 2] }) }, location: stream => { stream.respond({ location: ['a', 'b'] }) }
  }),
  'names that are no tokens are refused': throwing({ space: stream => { stream.respond({ 'a b': 'c' }) } }),
  'values with line breaks never reach the client': core((stream, { log, t }) => {
    stream.on('error', () => {})
    t.attempt(log, 'line', () => { stream.respond({ 'x-a': 'b\r\nx-injected: c' }) })
    if (!stream.destroyed && !stream.writableEnded) stream.end()
  }),
  'responding twice is refused': throwing({
    first: stream => stream.respond(), second: stream => stream.respond(), file: stream => stream.respondWithFile(import.meta.filename ?? 'x'), fd: stream => stream.respondWithFD(1)
  }),
  'sensitive headers are named to the client': core((stream, { http2 }) => {
    stream.respond({ secret: 'x', open: 'y', [http2.sensitiveHeaders]: ['secret'] })
    stream.end()
  }),
  'sensitive headers must be a list': throwing({ text: (stream, http2) => { stream.respond({ [http2.sensitiveHeaders]: 'secret' }) } }),
  'the headers given are not changed': core((stream, { log }) => {
    const given = { 'x-a': 'b' }
    stream.respond(given)
    log(Object.keys(given))
    stream.end()
  }),
  'many fields': core(stream => {
    stream.respond(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x-field-${at}`, `${at}`])))
    stream.end()
  }),
  'a large field': core(stream => { stream.respond({ 'x-large': 'v'.repeat(8_000) }); stream.end() }),

  'trailers are asked for, and sent': core((stream, { log }) => {
    stream.respond({}, { waitForTrailers: true })
    stream.on('wantTrailers', () => {
      log('wantTrailers')
      log(stream.sendTrailers({ 'x-sum': 'abc', 'x-list': ['1', '2'] }), stream.sentTrailers && fields(stream.sentTrailers))
    })
    stream.end('body')
  }),
  // Node's own 'wantTrailers' comes before 'finish' or behind it, as its session writes.
  'trailers are wanted of a stream that finishes': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['prefinish', 'finish', 'close'])
    stream.respond({}, { waitForTrailers: true })
    stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-sum': '0' }) })
    stream.end('body')
  }),
  'trailers without a listener are empty': core(stream => { stream.respond({}, { waitForTrailers: true }); stream.end('body') }),
  'trailers behind no body': core(stream => {
    stream.respond({}, { waitForTrailers: true })
    stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-sum': '0' }) })
    stream.end()
  }),
  'trailers before their time are refused': throwing({ 'before the head': stream => { stream.sendTrailers({ a: 'b' }) } }),
  'trailers that were not asked for are refused': core((stream, { log, t }) => {
    stream.respond()
    t.attempt(log, 'sendTrailers', () => { stream.sendTrailers({ a: 'b' }) })
    stream.end()
  }),
  'trailers that cannot be are refused': core((stream, { log, t }) => {
    stream.respond({}, { waitForTrailers: true })
    stream.on('wantTrailers', () => {
      t.attempt(log, 'pseudo', () => { stream.sendTrailers({ ':status': 200 }) })
      t.attempt(log, 'text', () => { stream.sendTrailers('x') })
      t.attempt(log, 'connection', () => { stream.sendTrailers({ connection: 'x' }) })
      t.attempt(log, 'good', () => { stream.sendTrailers({ good: 'x' }) })
      t.attempt(log, 'again', () => { stream.sendTrailers({ good: 'y' }) })
    })
    stream.end()
  }),
  'trailers later than asked': core((stream, { log }) => {
    stream.respond({}, { waitForTrailers: true })
    stream.on('wantTrailers', () => { setImmediate(() => { stream.sendTrailers({ 'x-late': 'yes' }) }) })
    stream.end('body')
  }),
  'closing instead of trailers': core((stream, { log }) => {
    stream.respond({}, { waitForTrailers: true })
    stream.on('wantTrailers', () => { stream.close() })
    stream.end('body')
  }),
  'trailers of a request are told': core((stream, { log, t }) => {
    stream.on('trailers', (trailers, flags) => { log('trailers', fields(trailers), typeof flags) })
    stream.on('end', () => { log('end'); done(stream) })
    stream.resume()
  }, { headers: { ':method': 'POST' }, body: 'x', trailers: { 'x-sum': 'abc' } }),
  'trailers of a request, of the compatible API': compat((request, response, { log }) => {
    log(request.trailers, request.rawTrailers)
    request.resume()
    request.on('end', () => { log(request.trailers, request.rawTrailers); response.end() })
  }, { headers: { ':method': 'POST' }, body: 'x', trailers: { 'x-sum': 'abc', 'x-b': 'c' } }),

  'an interim response': core((stream, { log }) => {
    stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' })
    log(stream.sentInfoHeaders.map(fields), stream.headersSent)
    stream.respond()
    stream.end('final')
  }),
  'several interim responses': core((stream, { log }) => {
    stream.additionalHeaders({ ':status': 100 })
    stream.additionalHeaders({ ':status': 102 })
    stream.additionalHeaders({ ':status': 103, link: 'x' })
    log(stream.sentInfoHeaders.length)
    stream.respond()
    stream.end()
  }),
  'interim responses that cannot be are refused': throwing({
    101: stream => { stream.additionalHeaders({ ':status': 101 }) }, 200: stream => { stream.additionalHeaders({ ':status': 200 }) }, 99: stream => { stream.additionalHeaders({ ':status': 99 }) },
    text: stream => { stream.additionalHeaders('x') }, path: stream => { stream.additionalHeaders({ ':path': '/' }) }, connection: stream => { stream.additionalHeaders({ ':status': 103, connection: 'x' }) }
  }),
  'an interim response behind the head is refused': throwing({
    respond: stream => stream.respond(), additionalHeaders: stream => { stream.additionalHeaders({ ':status': 103 }) }
  }),

  'push is not allowed by a client that refuses it': core((stream, { log, t }) => {
    log(stream.pushAllowed)
    t.attempt(log, 'push', () => { stream.pushStream({ ':path': '/pushed' }, () => {}) })
    done(stream)
  }, {}, { client: { settings: { enablePush: false } } }),
  'push to a client that takes it': core((stream, { log, t }) => {
    log(stream.pushAllowed)
    t.attempt(log, 'push', () => { stream.pushStream({ ':path': '/pushed' }, (error, pushed) => { log(error, typeof pushed); pushed?.respond(); pushed?.end('pushed') }) })
    done(stream)
  }),
  'createPushResponse to a client that refuses it': compat((request, response, { log, t }) => {
    t.attempt(log, 'callback', () => { response.createPushResponse({}, 'x') })
    t.attempt(log, 'push', () => { response.createPushResponse({ ':path': '/pushed' }, error => { log(error) }) })
    response.end()
  }, {}, { client: { settings: { enablePush: false } } })
}

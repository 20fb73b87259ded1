// Requests of node:http, in cleartext: heads and bodies of every form.
import { once } from 'node:events'
import { CLOSE, HOST, get, one, post, raw } from '../wire.mjs'

const show = (response, { request, log }) => {
  log(request.method, request.url, request.httpVersion, request.headers)
  log(request.rawHeaders)
  const pieces = []
  request.on('data', piece => { pieces.push(piece) })
  request.on('error', error => { log('error', error) })
  request.on('aborted', () => { log('aborted') })
  request.on('end', () => {
    log('end', Buffer.concat(pieces), request.complete, request.trailers, request.rawTrailers)
    response.end('ok')
  })
}
const completed = (response, { request, log }) => {
  request.on('data', () => { log('data', request.complete) })
  request.on('end', () => {
    log('end', request.complete)
    response.end()
  })
}
const shown = text => one(show, { text })
const chunked = (body, more = '') => `POST /a HTTP/1.1\r\n${HOST}${CLOSE}transfer-encoding: chunked\r\n${more}\r\n${body}`
const fields = lines => `GET /a HTTP/1.1\r\n${HOST}${CLOSE}${lines}\r\n`

const TEXTS = {
  'a GET': get('/a?b=c', CLOSE), 'a fragment': get('/a#b', CLOSE),
  'fields twice': fields(['accept', 'age', 'authorization', 'content-type', 'cookie', 'etag', 'from', 'if-match', 'referer', 'set-cookie', 'user-agent', 'x-a', 'x-forwarded-for', 'via', 'origin', 'server'].map(name => `${name}: 1\r\n${name.toUpperCase()}: 2\r\n`).join('')),
  'a host twice': `GET /a HTTP/1.1\r\n${HOST}${HOST}${CLOSE}\r\n`,
  'a name of the prototype': fields('__proto__: a\r\nconstructor: b\r\nhasOwnProperty: c\r\n'),
  'an empty value': fields('x-a:\r\nx-b: \r\n'),
  'blanks around a value': fields('x-a: \t b \t\r\n'),
  'a value of latin1': fields('x-a: caf\u00e9\r\n'),
  'a name in capitals': fields('X-LOUD: a\r\n'),
  'a fold': fields('x-a: b\r\n c\r\n'),
  'names of every token': fields("!#$%&'*+-.^_`|~: a\r\n"),
  'a target in absolute form': `GET http://other.test/a HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'a target with a blank': `GET /a b HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'a target of another alphabet': `GET /\u00e9 HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'a target of slashes': `GET //a//b HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'an asterisk': `OPTIONS * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'a method in small letters': `get /a HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'QUERY': `QUERY /a HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'lines that end in LF': `GET /a HTTP/1.1\n${HOST}${CLOSE}\n`,
  'a body with its length': post('/a', 'hello', CLOSE),
  'a body of no length': post('/a', '', CLOSE),
  'a GET with a body': post('/a', 'hello', CLOSE).replace('POST', 'GET'),
  'a POST without a length': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'chunks': chunked('3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
  'chunks with extensions': chunked('3;a=b;c="d"\r\nabc\r\n0\r\n\r\n'),
  'chunks in capitals': chunked('A\r\n0123456789\r\n0\r\n\r\n'),
  'chunks with zeros': chunked('0003\r\nabc\r\n000\r\n\r\n'),
  'chunks with trailers': chunked('3\r\nabc\r\n0\r\nX-A: b\r\nx-a: c\r\n\r\n', 'trailer: x-a\r\n'),
  'chunks that end in LF': chunked('3\nabc\n0\n\n'),
  'chunks of a size that is none': chunked('x\r\nabc\r\n0\r\n\r\n'),
  'a chunk that is longer than said': chunked('2\r\nabc\r\n0\r\n\r\n'),
  'a coding in capitals': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  'chunked twice': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  'gzip, chunked': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}transfer-encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  'chunked, gzip': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}transfer-encoding: chunked, gzip\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  'chunks of HTTP/1.0': `POST /a HTTP/1.0\r\n${HOST}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  'a length with a plus': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}content-length: +1\r\n\r\na`,
  'a length that is negative': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}content-length: -1\r\n\r\na`,
  'an empty length': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}content-length: \r\n\r\na`,
  'a list of equal lengths': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}content-length: 1, 1\r\n\r\na`,
  'equal lengths': `POST /a HTTP/1.1\r\n${HOST}${CLOSE}content-length: 1\r\ncontent-length: 1\r\n\r\na`,
  'a blank in front of a colon': fields('x-a : b\r\n'),
  'a blank in front of a line': `GET /a HTTP/1.1\r\n x-a: b\r\n${HOST}${CLOSE}\r\n`,
  'an empty name': fields(': b\r\n'),
  'a NUL in a value': fields('x-a: b\0c\r\n'),
  'HTTP/1.2': `GET /a HTTP/1.2\r\n${HOST}${CLOSE}\r\n`,
  'HTTP/2.0': `GET /a HTTP/2.0\r\n${HOST}${CLOSE}\r\n`,
  'http in small letters': `GET /a http/1.1\r\n${HOST}${CLOSE}\r\n`,
  'a blank more': `GET  /a HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  'HTTPS instead of HTTP': `GET /a HTTPS/1.1\r\n${HOST}${CLOSE}\r\n`,
  'an upgrade without a listener': get('/a', 'connection: upgrade, close\r\nupgrade: tea\r\n'),
  'an upgrade to h2c without a listener': get('/a', 'connection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n'),
  'an expectation that is met': post('/a', 'hello', `expect: 100-continue\r\n${CLOSE}`),
  'an expectation in capitals': post('/a', 'hello', `Expect: 100-Continue\r\n${CLOSE}`),
  'an empty expectation': post('/a', 'hello', `expect:\r\n${CLOSE}`),
  'an expectation of HTTP/1.0': `POST /a HTTP/1.0\r\ncontent-length: 1\r\nexpect: 100-continue\r\n\r\na`,
  'a body behind Connection: close and more': post('/a', 'hello', CLOSE) + get('/never'),
  'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'
}
const all = {}
for (const [name, text] of Object.entries(TEXTS)) all[name] = shown(text)

export default {
  ...Object.fromEntries([100, 300, 900, 999, 1001].map(count => [`of ${count} fields`, raw((server, { log }) => {
    server.on('request', (request, response) => { log(Object.keys(request.headers).length); response.end('ok') })
    server.on('clientError', ({ code }, socket) => { log(code); socket.destroy() })
  }, fields(Array.from({ length: count - 2 }, (_, at) => `x-${at}: 1\r\n`).join('')))])),
  ...all,
  'the preface of HTTP/2 where http2 is off': one(show, { text: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', options: { http2: false } }),
  'distinct fields': one((response, { request, log }) => { log({ ...request.headersDistinct }); response.end() }, { text: fields('x-a: 1\r\nX-A: 2\r\ncookie: a=1\r\ncookie: b=2\r\nset-cookie: c\r\n') }),
  'distinct trailers': one((response, { request, log }) => { request.resume(); request.on('end', () => { log({ ...request.trailersDistinct }); response.end() }) }, { text: chunked('0\r\nX-A: b\r\nx-a: c\r\n\r\n') }),
  'a body that is read at once is complete behind its pieces': one(completed, { text: post('/a', 'hello', CLOSE) }),
  'chunks that are read at once are complete behind their pieces': one(completed, { text: chunked('5\r\nhello\r\n0\r\nx-a: b\r\n\r\n') }),
  'members of a fresh request': one((response, { request, log }) => {
    for (const name of ['httpVersionMajor', 'httpVersionMinor', 'complete', 'aborted', 'upgrade', 'readable', 'readableEnded', 'readableFlowing', 'readableHighWaterMark', 'destroyed', 'errored', 'statusCode', 'statusMessage', 'closed']) log(name, request[name])
    log(request.connection === request.socket, request.client === request.socket, typeof request.setTimeout, request.constructor.name)
    response.end()
  }, { text: post('/a', 'hello', CLOSE) }),
  'members of the socket': one((response, { request, log, server }) => {
    const { socket } = request
    for (const name of ['readable', 'writable', 'destroyed', 'encrypted', 'remoteFamily', 'remoteAddress', 'localAddress', 'pending', 'connecting', 'allowHalfOpen', 'timeout', 'readyState', 'autoSelectFamilyAttemptedAddresses', 'writableLength', 'writableHighWaterMark']) log(name, socket[name])
    log(socket.localPort === server.address().port, typeof socket.remotePort, socket.address().family, socket.server === server, socket._httpMessage === response)
    log(socket.setNoDelay() === socket, socket.setKeepAlive(true, 1000) === socket, socket.setTimeout(5000) === socket, socket.ref() === socket, socket.unref() === socket, socket.timeout)
    response.end()
  }),
  'an encoding': one((response, { request, log }) => { request.setEncoding('utf8'); request.on('data', piece => { log(piece) }); request.on('end', () => { response.end() }) }, { text: post('/a', 'caf\u00c3\u00a9', CLOSE) }),
  'iteration': one(async (response, { request, log }) => { let text = ''; for await (const piece of request) text += piece; log(text); response.end(text) }, { text: post('/a', 'hello', CLOSE) }),
  'iteration that breaks': one(async (response, { request, log }) => {
    request.on('error', error => { log('error', error) })
    for await (const piece of request) { log(piece); break }
    log(request.destroyed, response.destroyed)
    response.end('never')
  }, { text: post('/a', 'hello', CLOSE) }),
  'read': one((response, { request, log }) => {
    request.on('readable', () => { for (let piece = request.read(2); piece !== null; piece = request.read(2)) log(piece) })
    request.on('end', () => { log('end'); response.end() })
  }, { text: post('/a', 'abcd', CLOSE) }),
  'pause and resume': one((response, { request, log }) => {
    request.pause()
    request.on('data', piece => { log(piece) })
    log(request.isPaused())
    setImmediate(() => { request.resume() })
    request.on('end', () => { response.end() })
  }, { text: post('/a', 'abcd', CLOSE) }),
  'an answer before the body has come': raw((server, { log }) => {
    server.on('request', (request, response) => {
      request.on('error', error => { log('request error', error) })
      request.resume()
      response.end('early')
    })
  }, `POST /a HTTP/1.1\r\n${HOST}${CLOSE}content-length: 5\r\n\r\nab`, { act: async (socket, { until }) => { await until('early'); socket.end('cde') } }),
  'an answer before the body has come, and another request': raw((server, { log }) => {
    server.on('request', (request, response) => { log(request.url); response.end(request.url) })
  }, `POST /a HTTP/1.1\r\n${HOST}content-length: 5\r\n\r\nab`, { act: async (socket, { until }) => { await until('/a'); socket.write(`cde${get('/b', CLOSE)}`) } }),
  'a body that is cut': raw((server, { log }) => {
    server.on('request', (request, response) => {
      request.on('data', piece => { log(piece) })
      request.on('aborted', () => { log('aborted') })
      request.on('error', error => { log('request error', error) })
      request.on('end', () => { log('end') })
      request.on('close', () => { log('request close', request.complete, request.destroyed, request.errored) })
      response.on('close', () => { log('response close', response.writableFinished) })
    })
  }, `POST /a HTTP/1.1\r\n${HOST}content-length: 5\r\n\r\nab`, { act: async (socket, { server }) => { await once(server, 'request'); setTimeout(() => { socket.destroy() }, 30) } }),
  'many requests behind each other': raw((server, { log }) => {
    let count = 0
    server.on('request', (request, response) => { count++; if (count === 50) log(count); setImmediate(() => { response.end(request.url) }) })
  }, Array.from({ length: 49 }, (_, at) => get(`/${at}`)).join('') + get('/last', CLOSE)),
  'bodies behind each other': raw((server, { log }) => {
    server.on('request', async (request, response) => { let text = ''; for await (const piece of request) text += piece; log(request.url, text); response.end(text) })
  }, post('/a', 'one') + chunked('3\r\ntwo\r\n0\r\n\r\n').replace(CLOSE, '') + post('/c', 'three', CLOSE)),
  'classes of our own': async (http, t) => {
    class Incoming extends (await import('node:http')).default.IncomingMessage { own () { return 'in' } }
    class Outgoing extends (await import('node:http')).default.ServerResponse { own () { return 'out' } }
    await one((response, { request, log }) => { log(request.own(), response.own(), request.constructor.name, response.constructor.name); response.end() }, { options: { IncomingMessage: Incoming, ServerResponse: Outgoing } })(http, t)
  },
  'a high-water mark': one((response, { request, log }) => { log(request.readableHighWaterMark, response.writableHighWaterMark); response.end() }, { options: { highWaterMark: 1000 } }),
  'unique fields': one(response => { response.setHeader('x-a', ['1', '2']); response.setHeader('x-b', ['1', '2']); response.end() }, { options: { uniqueHeaders: ['x-a'] } }),
  'joined duplicates': one((response, { request, log }) => { log(request.headers); response.end() }, { text: fields('age: 1\r\nage: 2\r\n'), options: { joinDuplicateHeaders: true } }),
  'a limit of heads': one((response, { request, log }) => { log(request.url); response.end() }, { text: fields(`x: ${'a'.repeat(3000)}\r\n`), options: { maxHeaderSize: 2000 } })
}

// Connections of HTTP/1.1: how long they live, what is asked on them, how they end.
import { once } from 'node:events'
import https from 'node:https'
import { cert, closing, key } from '../stage.mjs'

const HOST = 'host: localhost\r\n'
const get = (path, more = '') => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`
const post = (path, body, more = '') => `POST ${path} HTTP/1.1\r\n${HOST}content-length: ${body.length}\r\n${more}\r\n${body}`
const CLOSE = 'connection: close\r\n'

/**
 * A client's received text, a head in one line: names in lower case and in one order, without parts
 * that differ from run to run.
 */
const plain = text => text.replace(/HTTP\/1\.1 \d{3}[^]*?\r\n\r\n/g, head => {
  const [first, ...lines] = head.trimEnd().split('\r\n')
  const fields = lines.map(line => line.replace(/^[^:]*/, name => name.toLowerCase()))
  const kept = fields.filter(line => !line.startsWith('date: ')).map(line => line.replace(/timeout=\d+/, 'timeout'))
  return `<${[first, ...kept.sort()].join(' | ')}>`
})

/** A server that speaks HTTP/1.1, and a client that writes `text` on a connection; says what it was sent until the
 * connection ended. `prepare` gets the server, `act` the socket once it is connected. */
const raw = (prepare, text, { act, options, clients = 1 } = {}) => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true, ...options })
  prepare(server, { log, t, http2 })
  await t.listen(server)
  for (let count = 0; count < clients; count++) {
    const client = t.log('client')
    const socket = await t.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    const left = closing(socket)
    let all = ''
    socket.on('data', piece => { all += piece.toString('latin1') })
    await once(socket, 'secureConnect')
    socket.write(text)
    await act?.(socket, { server, log, t, sent: async () => { while (all === '') await once(socket, 'data') } })
    await left
    client(plain(all))
  }
  await new Promise(resolve => { server.close(resolve) })
}
const ok = (server, { log }) => server.on('request', (request, response) => { log(request.method, request.url); response.end('ok') })
const reported = (...events) => (server, { log }) => {
  server.on('request', (request, response) => { log('request', request.url); response.end('ok') })
  for (const event of events) {
    server.on(event, (request, response) => {
      log(event, request.method ?? request.code, request.url, request.headers?.expect)
      response.end(event)
    })
  }
}
/** Answers and ends where a client breaks HTTP. */
const answered = (server, { log }) => {
  server.on('request', (request, response) => { log('request', request.url); response.end('ok') })
  server.on('clientError', (error, socket) => {
    log('clientError', error, error.message, error.rawPacket, error.reason, socket.writable, socket.destroyed)
    socket.end('HTTP/1.1 418 Teapot\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno')
  })
}
const unanswered = (server, { log }) => { server.on('request', (request, response) => { log('request', request.url); response.end('ok') }) }

const MALFORMED = {
  'a method that is none': 'BREW\x01 / HTTP/1.1\r\n\r\n',
  'a version that is none': 'GET / HTTP/9.9\r\n\r\n',
  'no version': `GET /\r\n${HOST}\r\n`,
  'a name with a blank': `GET / HTTP/1.1\r\n${HOST}bad name: x\r\n\r\n`,
  'a line without a colon': `GET / HTTP/1.1\r\n${HOST}nothing\r\n\r\n`,
  'a value with a control character': `GET / HTTP/1.1\r\n${HOST}x: a\x01b\r\n\r\n`,
  'no host': `GET / HTTP/1.1\r\n${CLOSE}\r\n`,
  'a length that is none': `POST / HTTP/1.1\r\n${HOST}content-length: x\r\n\r\n`,
  'two lengths': `POST / HTTP/1.1\r\n${HOST}content-length: 1\r\ncontent-length: 2\r\n\r\n`,
  'a length and chunks': `POST / HTTP/1.1\r\n${HOST}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
  'a chunk whose size is none': `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\nxyz\r\n`,
  'a coding that is not known': `POST / HTTP/1.1\r\n${HOST}transfer-encoding: brotli\r\n\r\n`,
  'a head that is too long': `GET / HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`,
  'a target that is too long': `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`,
  'something else than HTTP': 'hello\r\n\r\n',
  'a request behind one that is malformed': `${get('/first')}bad\r\n\r\n`
}
const malformed = {}
for (const [name, text] of Object.entries(MALFORMED)) {
  malformed[`${name}, with a listener of clientError`] = raw(answered, text)
  malformed[`${name}, without one`] = raw(unanswered, text)
}

export default {
  ...malformed,
  'requests behind each other': raw(ok, get('/a') + get('/b') + get('/c', CLOSE)),
  'requests behind each other, answered in another order': raw((server, { log }) => {
    const waiting = []
    server.on('request', (request, response) => {
      log(request.url)
      waiting.push(response)
      if (waiting.length < 3) return
      for (const one of waiting.reverse()) one.end(one.req.url)
    })
  }, get('/a') + get('/b') + get('/c', CLOSE)),
  'requests of HTTP/1.0': raw((server, { log }) => { server.on('request', (request, response) => { log(request.httpVersion, response.shouldKeepAlive); response.end('ok') }) }, 'GET / HTTP/1.0\r\n\r\n'),
  'requests of HTTP/1.0 that stay': raw((server, { log }) => { server.on('request', (request, response) => { log(request.httpVersion, response.shouldKeepAlive); response.setHeader('content-length', 2); response.end('ok') }) }, 'GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n'),
  'a stream of HTTP/1.0': raw(server => { server.on('request', (request, response) => { response.write('o'); setImmediate(() => response.end('k')) }) }, 'GET / HTTP/1.0\r\n\r\n'),
  'empty lines in front of a request': raw(ok, `\r\n\r\n${get('/a', CLOSE)}`),
  'a connection that is closed by the client': raw(ok, get('/a', CLOSE)),
  'a connection that is closed by the server': raw(server => { server.on('request', (request, response) => { response.setHeader('connection', 'close'); response.end('ok') }) }, get('/a')),
  'a connection with a length of its own and an end': raw(server => { server.on('request', (request, response) => { response.writeHead(200, { connection: 'close' }); response.write('o'); setImmediate(() => response.end('k')) }) }, get('/a')),
  'removeHeader of the framing': raw(server => { server.on('request', (request, response) => { response.removeHeader('transfer-encoding'); response.removeHeader('connection'); response.write('o'); response.end('k') }) }, get('/a', CLOSE)),
  'the length of an answer that is whole': raw(server => { server.on('request', (request, response) => { response.end('ok') }) }, get('/a', CLOSE)),
  'an answer in pieces': raw(server => { server.on('request', (request, response) => { response.write('o'); response.end('k') }) }, get('/a', CLOSE)),
  'trailers': raw(server => { server.on('request', (request, response) => { response.setHeader('trailer', 'x-a'); response.write('o'); response.addTrailers({ 'x-a': 'b' }); response.end() }) }, get('/a', CLOSE)),
  'no date': raw(server => { server.on('request', (request, response) => { response.sendDate = false; response.end() }) }, get('/a', CLOSE)),
  'HEAD': raw(ok, `HEAD / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`),
  '204': raw(server => { server.on('request', (request, response) => { response.statusCode = 204; response.end() }) }, get('/a', CLOSE)),
  '304': raw(server => { server.on('request', (request, response) => { response.statusCode = 304; response.end() }) }, get('/a', CLOSE)),
  'OPTIONS of all': raw(ok, `OPTIONS * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`),
  'a method of WebDAV': raw(ok, `PROPFIND / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`),
  'a method that is not known': raw(answered, `BREW / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`),
  'an expectation': raw(ok, post('/a', 'body', `expect: 100-continue\r\n${CLOSE}`)),
  'an expectation with a listener': raw(reported('checkContinue'), post('/a', 'body', `expect: 100-continue\r\n${CLOSE}`)),
  'another expectation': raw(ok, get('/a', `expect: tea\r\n${CLOSE}`)),
  'another expectation with a listener': raw(reported('checkExpectation'), get('/a', `expect: tea\r\n${CLOSE}`)),
  'CONNECT without a listener': raw(ok, `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`),
  'CONNECT': raw((server, { log }) => {
    server.on('connect', (request, socket, head) => {
      log(request.method, request.url, request.headers.host, head, socket === request.socket)
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.on('data', piece => { log(piece); socket.write(String(piece).toUpperCase()) })
      socket.on('end', () => { log('end'); socket.end() })
      socket.on('close', () => { log('close') })
    })
  }, `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, { act: async (socket, { sent }) => { await sent(); socket.write('hello'); await once(socket, 'data'); socket.end() } }),
  // Clients that make a connection for it alone say that it is the last: what they get is a tunnel nevertheless.
  ...Object.fromEntries(['connection: close', 'connection: keep-alive', 'proxy-connection: close'].map(field => [`CONNECT with ${field}`, raw((server, { log }) => {
    server.on('connect', (request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.on('data', piece => { socket.write(String(piece).toUpperCase()) })
      socket.on('end', () => { log('end'); socket.end() })
      socket.on('close', () => { log('close') })
    })
  }, `CONNECT a:1 HTTP/1.1\r\n${HOST}${field}\r\n\r\n`, { act: async (socket, { sent }) => { await sent(); socket.write('hello'); await once(socket, 'data'); socket.end() } })])),
  'CONNECT with words of its own': raw(server => {
    server.on('connect', (request, socket) => { socket.end('HTTP/1.1 200 Connection Established\r\n\r\nbye') })
  }, `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`),
  'an upgrade with words of its own': raw(server => {
    server.on('upgrade', (request, socket) => { socket.end('HTTP/1.1 101 Tea Is Ready\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\nbye') })
  }, get('/a', 'connection: upgrade\r\nupgrade: tea\r\n')),
  'an upgrade that is the last of its connection': raw((server, { log }) => {
    server.on('upgrade', (request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n')
      socket.on('data', piece => { log(piece); socket.end(String(piece).toUpperCase()) })
    })
  }, get('/a', 'connection: close, upgrade\r\nupgrade: tea\r\n'), { act: async (socket, { sent }) => { await sent(); socket.write('hello') } }),
  'CONNECT with bytes behind it': raw((server, { log }) => {
    server.on('connect', (request, socket, head) => {
      log(request.url, head)
      socket.end('HTTP/1.1 200 OK\r\n\r\nbye')
    })
  }, `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\nhead`),
  'an upgrade': raw((server, { log }) => {
    server.on('upgrade', (request, socket, head) => {
      log(request.url, request.headers.upgrade, head, socket === request.socket)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n')
      socket.on('data', piece => { socket.end(String(piece).toUpperCase()) })
    })
  }, get('/a', 'connection: upgrade\r\nupgrade: tea\r\n'), { act: async (socket, { sent }) => { await sent(); socket.write('hello') } }),
  'an upgrade that nobody reads': raw((server, { log }) => {
    server.on('upgrade', (request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n')
      for (const event of ['end', 'finish', 'close']) socket.on(event, () => { log(event) })
      socket.on('end', () => { socket.end() })
    })
  }, get('/a', 'connection: upgrade\r\nupgrade: tea\r\n'), { act: async (socket, { sent }) => { await sent(); socket.end() } }),
  'an upgrade with bytes behind it': raw((server, { log }) => {
    server.on('upgrade', (request, socket, head) => {
      log(request.url, head)
      socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\nbye')
    })
  }, `${get('/a', 'connection: upgrade\r\nupgrade: tea\r\n')}head`),
  'an upgrade whose socket is destroyed': raw(server => { server.on('upgrade', (request, socket) => { socket.destroy() }) }, get('/a', 'connection: upgrade\r\nupgrade: tea\r\n')),
  'a request whose socket is destroyed': raw(server => { server.on('request', request => { request.socket.destroy() }) }, get('/a')),
  'a response that is destroyed': raw(server => { server.on('request', (request, response) => { response.destroy() }) }, get('/a')),
  'keepAliveTimeout': raw(server => { server.keepAliveTimeout = 50; server.keepAliveTimeoutBuffer = 0; server.on('request', (request, response) => { response.end('ok') }) }, get('/a')),
  'server.setTimeout on a connection that is idle': raw((server, { log }) => { server.setTimeout(60, socket => { log('timeout', typeof socket.remoteAddress); socket.destroy() }) }, ''),
  'server.setTimeout on a request': raw((server, { log }) => { server.setTimeout(60, socket => { log('timeout'); socket.destroy() }); server.on('request', () => { log('request') }) }, get('/a')),
  'request.setTimeout': raw((server, { log }) => { server.on('request', (request, response) => { request.setTimeout(50, () => { log('timeout'); response.end('late') }) }) }, get('/a', CLOSE)),
  'response.setTimeout': raw((server, { log }) => { server.on('request', (request, response) => { response.setTimeout(50, socket => { log('timeout', socket === request.socket); response.end('late') }) }) }, get('/a', CLOSE)),
  'socket.setTimeout': raw((server, { log }) => { server.on('request', (request, response) => { request.socket.setTimeout(50, () => { log('timeout'); response.end('late') }) }) }, get('/a', CLOSE)),
  'maxHeadersCount': raw((server, { log }) => { server.maxHeadersCount = 2; server.on('request', (request, response) => { log(request.rawHeaders.length); response.end('ok') }); server.on('clientError', (error, socket) => { log(error); socket.destroy(error) }) }, get('/a', `a: 1\r\nb: 2\r\nc: 3\r\n${CLOSE}`)),
  'closeIdleConnections': raw((server, { log }) => {
    server.on('request', (request, response) => { log('request'); response.end('ok'); response.on('close', () => setImmediate(() => { server.closeIdleConnections?.() })) })
  }, get('/a')),
  'close ends what is idle': raw((server, { log }) => {
    server.on('request', (request, response) => { log('request'); response.end('ok'); response.on('close', () => setImmediate(() => { server.close(() => { log('closed') }) })) })
  }, get('/a')),
  'the members of the server': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
    for (const name of ['timeout', 'headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'keepAliveTimeoutBuffer', 'maxHeadersCount', 'maxRequestsPerSocket', 'connectionsCheckingInterval', 'closeAllConnections', 'closeIdleConnections', 'httpAllowHalfOpen']) {
      t.log('server')(name, typeof server[name], typeof server[name] === 'function' ? '' : server[name])
    }
  },
  'the client half-closes': raw((server, { log }) => {
    server.on('request', (request, response) => { log('request'); request.on('aborted', () => { log('aborted') }); response.on('close', () => { log('close', response.writableFinished) }); setTimeout(() => response.end('ok'), 30) })
  }, get('/a'), { act: async socket => { socket.end() } }),
  'the counts of a socket': raw((server, { log }) => {
    server.on('request', (request, response) => {
      const { socket } = request
      log(socket.bytesRead > 0, socket.bytesRead)
      response.on('close', () => { log('close', socket.bytesWritten) })
      response.end('ok')
    })
  }, get('/a', CLOSE)),
  'events of connections': raw((server, { log }) => {
    server.on('connection', socket => { log('connection', socket.constructor.name) })
    server.on('secureConnection', socket => { log('secureConnection', socket.constructor.name, socket.alpnProtocol, socket.authorized, socket.encrypted) })
    server.on('request', (request, response) => { response.end('ok') })
  }, get('/a', CLOSE)),
  'a body that is not read': raw(server => { server.on('request', (request, response) => { response.end('ok') }) }, post('/a', 'x'.repeat(100_000)) + get('/b', CLOSE)),
  'information before an answer': raw(server => { server.on('request', (request, response) => { response.writeProcessing(); response.writeEarlyHints({ link: '</a.css>; rel=preload' }); response.end('ok') }) }, get('/a', CLOSE)),
  'writeContinue of our own': raw(server => { server.on('checkContinue', (request, response) => { response.writeContinue(() => { response.end('ok') }) }) }, post('/a', 'x', `expect: 100-continue\r\n${CLOSE}`)),
  'a connection that says nothing': raw((server, { log }) => { server.on('secureConnection', () => { log('secureConnection') }) }, '', { act: async socket => { await new Promise(resolve => setTimeout(resolve, 50)); socket.end() } }),
  'a connection that ends in the middle of a head': raw((server, { log }) => { server.on('clientError', (error, socket) => { log('clientError', error, socket.writable); socket.destroy() }) }, 'GET / HT', { act: async socket => { socket.end() } }),
  'a connection that ends in the middle of a body': raw((server, { log }) => {
    server.on('request', (request, response) => { request.on('error', error => { log('request error', error) }); request.on('aborted', () => { log('aborted') }); request.on('close', () => { log('request close', request.complete, request.destroyed) }); response.on('close', () => { log('response close', response.writableFinished) }); request.resume() })
    server.on('clientError', (error, socket) => { log('clientError', error, socket.writable); socket.destroy() })
  }, `POST / HTTP/1.1\r\n${HOST}content-length: 5\r\n\r\nab`, { act: async socket => { socket.end() } }),
  'an agent keeps its connection': async (http2, t) => {
    const log = t.log('server')
    const sockets = new Set()
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { sockets.add(request.socket); response.end('ok') })
    await t.listen(server)
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
    for (const path of ['/a', '/b', '/c']) await t.ask(server, { path, agent })
    log(sockets.size)
    agent.destroy()
  },
  'a request has the server\'s socket': raw((server, { log }) => {
    server.on('request', (request, response) => { log(request.socket.server === server, request.client === request.socket, request.connection === request.socket, response.socket === request.socket, request.socket._httpMessage === response); response.end() })
  }, get('/a', CLOSE)),
  'getConnections counts': raw((server, { log }) => {
    server.on('request', (request, response) => { server.getConnections((error, count) => { log(error, count); response.end() }) })
  }, get('/a', CLOSE))
}

// allowHTTP1: one server, and the requests of HTTP/1.1 are those of node:http.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { http1 } from '../shapes.mjs'
import { cert, fields, key } from '../stage.mjs'

const POST = { method: 'POST', body: 'hello there' }

// Names and values by turns; such a list says its host itself.
const AGAIN = ['host', 'localhost', 'age', '1', 'age', '2', 'content-type', 'a/b', 'content-type', 'c/d', 'x-a', '1', 'x-a', '2']
/** Where this Node has options of HTTP/1.1, and where the one before had them. */
const twice = options => ({ ...options, http1Options: options })

/** An answer that has no body is with the client before its handler says its end; then comes another. */
const lateEnd = (request, begin) => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  await t.listen(server)
  for (const name of ['first', 'second']) {
    const asked = once(server, 'request')
    const answered = t.ask(server, { name, agent, ...request })
    const [{ socket }, response] = await asked
    const closed = once(response, 'close')
    response.on('finish', () => { log('finish') })
    begin(response)
    await answered
    log(response.destroyed, socket.destroyed)
    response.end('text')
    await closed
    log('close', response.writableFinished)
  }
  agent.destroy()
}
/** Two requests are all that a connection may have. */
const fewRequests = paths => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { log(request.url, response.maxRequestsOnConnectionReached); response.end() })
  server.on('dropRequest', () => { log('dropRequest') })
  server.maxRequestsPerSocket = 2
  await t.listen(server)
  await t.talk(server, paths)
}

/** Requests of as many fields, by the options and members that bound them. */
const COUNTS = [100, 130, 500, 990, 1010]
const counted = Object.fromEntries(Object.entries({ none: [], 'maxHeaderListPairs 4': [{ maxHeaderListPairs: 4 }], 'maxHeadersCount 5': [{}, { maxHeadersCount: 5 }], 'maxHeadersCount 1200': [{}, { maxHeadersCount: 1200 }], 'maxHeadersCount 0': [{}, { maxHeadersCount: 0 }] }).map(([name, [options, members]]) => [`requests of many fields, ${name}`, async (http2, t) => {
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true, ...options }, (request, response) => { t.log('server')(Object.keys(request.headers).length); response.end() })
  Object.assign(server, members)
  await t.listen(server)
  for (const count of COUNTS) await t.ask(server, { headers: Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'v'])) })
}]))

export default {
  ...counted,
  'a request of HTTP/1.1 is one of node:http': http1((request, response, { log }) => {
    log(request instanceof http.IncomingMessage, response instanceof http.ServerResponse, request.constructor.name, response.constructor.name)
    log(request.httpVersion, request.method, request.url, request.httpVersionMajor, request.httpVersionMinor, request.upgrade)
    response.end('hi')
  }, { path: '/a?b' }),
  'both versions on one server': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { log(request.httpVersion, request.url); response.end(request.httpVersion) })
    await t.show(await t.open(server, { secure: true }), { name: 'two' })
    await t.ask(server, { name: 'one', path: '/one' })
  },
  'the socket of HTTP/1.1 says what it is': http1((request, response, { log }) => {
    const { socket } = request
    log(socket.encrypted, socket.alpnProtocol, socket.remoteAddress, socket.servername, socket === response.socket, socket.readable, socket.writable, socket.destroyed)
    response.end()
  }),
  'headers of HTTP/1.1': http1((request, response, { log }) => {
    log(request.headers['x-a'], request.headers['x-list'], request.headers.cookie, Object.getPrototypeOf(request.headers) === Object.prototype, request.rawHeaders.length)
    response.end()
  }, { headers: { 'X-A': 'b', 'x-list': ['1', '2'], cookie: 'a=1; b=2' } }),
  'distinct headers of HTTP/1.1': http1((request, response, { log }) => {
    log(request.headersDistinct['x-list'], request.headersDistinct['x-a'])
    response.end()
  }, { headers: { 'x-a': 'b', 'x-list': ['1', '2'] } }),
  'a body of HTTP/1.1': http1(async (request, response, { log }) => {
    let all = ''
    for await (const piece of request) all += piece
    log(all, request.complete)
    response.end(all.toUpperCase())
  }, POST),
  'a chunked body of HTTP/1.1': http1(async (request, response, { log }) => {
    let all = ''
    for await (const piece of request) all += piece
    log(all, request.headers['transfer-encoding'])
    response.end()
  }, { method: 'POST', body: 'end', before: asked => { asked.write('begin ') } }),
  'an echo of HTTP/1.1': http1((request, response) => { request.pipe(response) }, POST),
  'a large echo of HTTP/1.1': http1((request, response) => { request.pipe(response) }, { method: 'POST', body: Buffer.alloc(1 << 20, 'e') }),
  'a status and a message': http1((request, response) => { response.statusCode = 404; response.statusMessage = 'Gone Fishing'; response.end('no') }),
  'fields that come again are joined where it is asked for': http1((request, response, { log }) => {
    log(request.headers.age, request.headers['content-type'], request.headers['x-a'])
    response.end()
  }, { headers: AGAIN }, { options: twice({ joinDuplicateHeaders: true }) }),
  'fields that come again, else': http1((request, response, { log }) => {
    log(request.headers.age, request.headers['content-type'], request.headers['x-a'])
    response.end()
  }, { headers: AGAIN }),
  'a body where there is none is refused where it is asked for': http1((request, response, { log }) => {
    response.writeHead(204)
    try {
      response.write('text')
    } catch (error) {
      log(error.code, error.message)
    }
    response.end()
  }, {}, { options: twice({ rejectNonStandardBodyWrites: true }) }),
  'a body where there is none, else': http1((request, response) => {
    response.writeHead(204)
    response.write('text')
    response.end()
  }),
  'a head longer than maxHeaderSize': http1((request, response) => { response.end() }, { headers: { 'x-long': 'a'.repeat(4000) } }, { options: twice({ maxHeaderSize: 2000 }) }),
  'a head shorter than maxHeaderSize': http1((request, response) => { response.end() }, { headers: { 'x-long': 'a'.repeat(12_000) } }, { options: twice({ maxHeaderSize: 13_000 }) }),
  'a head of 80 kB below maxHeaderSize': http1((request, response) => { response.end(String(request.headers['x-long'].length)) }, { headers: { 'x-long': 'a'.repeat(80_000) } }, { options: twice({ maxHeaderSize: 100_000 }) }),
  'a target of 40 kB below maxHeaderSize': http1((request, response) => { response.end(String(request.url.length)) }, { path: `/${'a'.repeat(40_000)}` }, { options: twice({ maxHeaderSize: 100_000 }) }),
  'a head just below 16 KiB': http1((request, response) => { response.end(String(request.headers['x-long'].length)) }, { headers: { 'x-long': 'a'.repeat(16_200) } }),
  'a head just above 16 KiB': http1((request, response) => { response.end(String(request.headers['x-long'].length)) }, { headers: { 'x-long': 'a'.repeat(17_000) } }),
  'an answer that ends its connection says so': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
      if (request.url === '/field') response.setHeader('Connection', 'close')
      if (request.url === '/list') response.setHeader('connection', 'x-a, Close')
      if (request.url === '/property') response.shouldKeepAlive = false
      response.end()
    })
    await t.listen(server)
    for (const path of ['/field', '/list', '/property']) await t.talk(server, [path])
  },
  'the last request that a connection may have is answered with its end': fewRequests(['/a']),
  'a request behind the last that a connection may have': fewRequests(['/a', '/b']),
  'a timeout of a response': http1((request, response, { log }) => {
    log(response.setTimeout(20, socket => { log('response', socket === response.socket); response.end('late') }) === response)
  }),
  'a timeout of a request that is whole is told to the response alone': http1((request, response, { log }) => {
    request.on('timeout', () => { log('request') })
    response.on('timeout', () => { log('response'); response.end() })
    log(request.setTimeout(20) === request)
  }),
  'a timeout of a request that is not': http1((request, response, { log }) => {
    request.resume()
    request.setTimeout(20, () => { log('request', request.complete); response.end('late') })
  }, { method: 'POST', headers: { 'content-length': 5 }, body: null, before: asked => { asked.write('he') } }),
  'a timeout that nobody hears ends the connection': http1((request, response) => { response.setTimeout(20) }),
  'an answer to HEAD whose end comes late': lateEnd({ method: 'HEAD' }, response => { response.flushHeaders() }),
  'a 304 whose end comes late': lateEnd({}, response => { response.writeHead(304, { etag: '"a"' }).flushHeaders() }),
  'a target in absolute form is the url': http1((request, response, { log }) => { log(request.url, request.headers.host); response.end() }, [
    { path: 'https://other.test/a?b', headers: { host: 'localhost' } }, { path: 'http://[::1]:80/', headers: { host: 'localhost' } }, { path: '*', method: 'OPTIONS', headers: { host: 'localhost' } }
  ]),
  'writeHead': http1((request, response, { log }) => {
    response.setHeader('x-a', 'b')
    response.writeHead(201, { 'X-B': 'c' })
    log(response.headersSent, response.getHeader('x-a'))
    response.end('x')
  }),
  'writes are chunked': http1((request, response) => { response.write('one '); response.write('two '); response.end('three') }),
  'a content-length of our own': http1((request, response) => { response.setHeader('content-length', 4); response.write('f'); response.end('our') }),
  'trailers of a response': http1((request, response) => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.write('body')
    response.addTrailers({ 'x-sum': 'abc' })
    response.end()
  }),
  'trailers of a request': http1((request, response, { log }) => {
    request.resume()
    request.on('end', () => { log(request.trailers, request.rawTrailers); response.end() })
  }, { method: 'POST', headers: { trailer: 'x-sum', 'transfer-encoding': 'chunked' }, body: 'x', trailers: { 'x-sum': 'abc' } }),
  'HEAD': http1((request, response) => { response.setHeader('content-length', 5); response.end('hello') }, { method: 'HEAD' }),
  '204': http1((request, response) => { response.statusCode = 204; response.end() }),
  '304': http1((request, response) => { response.writeHead(304, { etag: '"a"' }); response.end() }),
  'continue': http1(async (request, response, { log }) => {
    let all = ''
    for await (const piece of request) all += piece
    log(all)
    response.end()
  }, { method: 'POST', headers: { expect: '100-continue', 'content-length': 4 }, body: null, before: asked => { asked.on('continue', () => { asked.end('body') }); asked.flushHeaders() } }),
  'a listener of checkContinue': http1(null, { method: 'POST', headers: { expect: '100-continue', 'content-length': 4 }, body: null, before: asked => { asked.on('continue', () => { asked.end('body') }); asked.flushHeaders() } }, {
    prepare: (server, { log }) => server.on('checkContinue', (request, response) => {
      log('checkContinue')
      response.writeContinue()
      request.resume()
      request.on('end', () => { response.end('decided') })
    })
  }),
  'early hints': http1((request, response) => { response.writeEarlyHints({ link: '</a.css>; rel=preload' }); response.end() }),
  'headers that cannot be are refused': http1((request, response, { log, t }) => {
    t.attempt(log, 'name', () => { response.setHeader('a b', 'c') })
    t.attempt(log, 'value', () => { response.setHeader('a', 'b\r\nc: d') })
    t.attempt(log, 'undefined', () => { response.setHeader('a', undefined) })
    t.attempt(log, 'status', () => { response.writeHead(99) })
    response.end()
    t.attempt(log, 'late', () => { response.setHeader('a', 'b') })
  }),
  'members of a response': http1((request, response, { log }) => {
    log(response.headersSent, response.finished, response.writableEnded, response.statusCode, response.sendDate, response.req === request, typeof response.writableHighWaterMark)
    response.end('x', () => { log('ended', response.writableFinished) })
    log(response.headersSent, response.finished, response.writableEnded)
  }),
  'the events of an exchange': http1((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['end', 'close', 'aborted', 'error'])
    t.watch(log, response, 'response', ['finish', 'close', 'error'])
    request.resume()
    request.on('end', () => { response.end() })
  }, POST),
  'several requests on one connection': async (http2, t) => {
    const log = t.log('server')
    const sockets = new Set()
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { sockets.add(request.socket); log(request.url, sockets.size); response.end() })
    await t.listen(server)
    const { Agent } = await import('node:https')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const path of ['/a', '/b', '/c']) await t.ask(server, { name: path, path, agent })
    agent.destroy()
  },
  'the client goes in the middle': async (http2, t) => {
    const log = t.log('server')
    let over
    const closed = new Promise(resolve => { over = resolve })
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
      t.watch(log, request, 'request', ['aborted', 'close', 'error'], (event, ...args) => args)
      t.watch(log, response, 'response', ['finish'])
      response.on('close', over)
      response.write('begin')
    })
    await t.listen(server)
    await t.ask(server, { before: asked => { asked.on('response', () => { asked.destroy() }) } })
    await closed
    await new Promise(resolve => { setImmediate(resolve) })
  },
  'destroying a response': http1((request, response, { log, t }) => {
    t.watch(log, response, 'response', ['close', 'finish'])
    response.write('begin', () => { response.destroy() })
  }),
  'classes of our own': async (http2, t) => {
    const log = t.log('server')
    class Request extends http.IncomingMessage { get handshake () { return `hello ${this.url}` } }
    class Response extends http.ServerResponse { handshake (text) { this.setHeader('x-greet', 'yes'); this.end(text) } }
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true, Http1IncomingMessage: Request, Http1ServerResponse: Response }, (request, response) => {
      log(request.constructor.name, response.constructor.name)
      response.handshake(request.handshake)
    })
    await t.listen(server)
    await t.ask(server, { path: '/you' })
  },
  'timeouts of HTTP/1.1 have their defaults': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
    t.log('server')(server.headersTimeout, server.requestTimeout, server.timeout, server.keepAliveTimeout, server.maxHeadersCount)
  },
  'without allowHTTP1 there is none': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key }, (request, response) => { response.end() })
    await t.listen(server)
    const socket = await t.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    const reported = await Promise.race([once(socket, 'secureConnect').then(() => ['connected']), once(socket, 'error')])
    t.log('client')(reported[0])
  },
  'an upgrade is told': http1(null, { headers: { connection: 'upgrade', upgrade: 'echo' }, before: (asked, log) => { asked.on('upgrade', (answer, socket) => { log('upgraded', answer.statusCode, fields(answer.headers)); socket.on('data', piece => { log(piece); socket.destroy() }); socket.write('ping') }) } }, {
    prepare: (server, { log }) => server.on('upgrade', (request, socket, head) => {
      log('upgrade', request.headers.upgrade, head.length)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
      socket.pipe(socket)
    })
  }),
  'names of HTTP/1.1 are spelled as they are': http1((request, response, { log }) => {
    log(request.rawHeaders.filter((_, index) => index % 2 === 0).filter(name => /^x/i.test(name)))
    response.setHeader('X-Mixed-Case', '1')
    response.setHeader('ETag', '"a"')
    response.setHeader('x-lower', '2')
    response.end('hi')
  }, {
    headers: { 'X-Mixed': '1', 'x-lower': '2', 'X-UPPER': '3' },
    before: (asked, log) => { asked.on('response', answer => { log(answer.rawHeaders.filter(name => /^(x-|etag)/i.test(name))) }) }
  }),
  'names of writeHead are spelled as they are': http1((request, response) => {
    response.writeHead(200, ['X-One', '1', 'x-two', '2', 'X-One', '3', 'Content-Length', '2'])
    response.write('a')
    response.end('b')
  }, { before: (asked, log) => { asked.on('response', answer => { log(answer.rawHeaders.filter(name => /^x-/i.test(name))) }) } }),
  'a message of writeHead': http1((request, response) => { response.writeHead(200, 'Splendid', { 'x-a': 'b', 'content-length': 0 }); response.end() }),
  'a message for each of several requests': http1((request, response) => {
    response.statusMessage = request.url.slice(1)
    response.end()
  }, [{ path: '/One' }, { path: '/Two' }, { path: '/One' }]),
  'a message that would split the response is refused': http1((request, response, { log, t }) => {
    response.statusMessage = 'a\r\nb: c'
    t.attempt(log, 'writeHead', () => response.writeHead(200))
    response.statusMessage = 'good'
    response.end()
  }),
  'statuses have their usual messages': http1((request, response) => {
    response.statusCode = Number(request.url.slice(1))
    response.end()
  }, [200, 202, 413, 418, 422, 451, 507, 599].map(status => ({ path: `/${status}` }))),
  'times of HTTP/1.1 are members of the server': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
    t.log('server')(server.headersTimeout, server.requestTimeout, server.connectionsCheckingInterval)
  },
  'an idle connection of HTTP/1.1 ends after keepAliveTimeout': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { response.end('ok') })
    server.keepAliveTimeout = 50
    await t.listen(server)
    const socket = await t.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    socket.resume()
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await new Promise(resolve => { socket.on('close', resolve) })
    log('closed')
  },
  'an expectation that is unknown is told': http1(null, { headers: { expect: 'cake' } }, { prepare (server, { log }) {
    server.on('checkExpectation', (request, response) => {
      log(request.headers.expect)
      response.writeHead(202, { 'content-length': 5 })
      response.end('eaten')
    })
  } }),
  'an expectation that is unknown is refused': http1((request, response) => { response.end() }, { headers: { expect: 'cake' } }),
  'a request of HTTP/1.0 says so': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
      log(request.httpVersion, request.httpVersionMajor, request.httpVersionMinor)
      response.end()
    })
    await t.listen(server)
    const socket = await t.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    socket.write('GET / HTTP/1.0\r\n\r\n')
    await once(socket.resume(), 'close')
  }
}

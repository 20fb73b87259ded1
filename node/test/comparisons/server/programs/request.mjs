// Requests of the compatible API.
import { Readable } from 'node:stream'
import { compat, responding } from '../shapes.mjs'
import { fields } from '../stage.mjs'

const POST = { headers: { ':method': 'POST' }, body: 'hello there' }

export default {
  'headers that a program changes are those of the request': compat((request, response, { log }) => {
    log(request.url, request.method)
    request.headers[':path'] = '/other'
    request.headers[':method'] = 'PUT'
    log(request.url, request.method)
    request.url = undefined
    log(request.url, request.headers[':path'])
    request.url = '/third'
    request.method = 'PATCH'
    log(request.url, request.method, request.headers[':path'], request.headers[':method'], request.stream.sentHeaders)
    response.end()
  }),
  'a request says what was asked': compat((request, response, { log }) => {
    log(request.method, request.url, request.scheme, request.authority === request.headers[':authority'], request.httpVersion, request.httpVersionMajor, request.httpVersionMinor)
    response.end()
  }, { headers: { ':path': '/a?b=c' } }),
  'a request is of the class of node:http2': compat(async (request, response, { log, http2 }) => {
    const node = await import('node:http2')
    log(request instanceof node.Http2ServerRequest, request instanceof http2.Http2ServerRequest, request instanceof Readable, request.constructor.name)
    log(response instanceof node.Http2ServerResponse, response instanceof http2.Http2ServerResponse, response.constructor.name)
    response.end()
  }),
  'headers of a request have no prototype': compat((request, response, { log }) => {
    log(Object.getPrototypeOf(request.headers), fields({ ...request.headers, ':authority': 'here' }), request.headers === request.headers)
    response.end()
  }, { headers: { 'x-a': 'b', accept: ['c', 'd'] } }),
  'raw headers of a request': compat((request, response, { log }) => {
    log(request.rawHeaders.slice(request.rawHeaders.indexOf('x-b')), request.rawHeaders === request.rawHeaders)
    response.end()
  }, { headers: { 'x-b': '1', 'x-a': ['2', '3'] } }),
  'a request has its stream': compat((request, response, { log }) => {
    log(request.stream === response.stream, request.stream.id, typeof request.stream.respond, response.req === request)
    response.end()
  }),
  'the authority may come as host': compat((request, response, { log }) => {
    log(request.authority, request.headers[':authority'], request.headers.host)
    response.end()
  }, { headers: { ':authority': undefined, host: 'by.host' } }),
  'the method may be set': compat((request, response, { log, t }) => {
    request.method = 'PUT'
    log(request.method, request.headers[':method'])
    for (const bad of [1, '', '  ', null]) t.attempt(log, String(bad), () => { request.method = bad })
    response.end()
  }),
  'the url may be set': compat((request, response, { log }) => {
    request.url = '/other'
    log(request.url, request.headers[':path'])
    response.end()
  }),
  'a body by events': compat((request, response, { log }) => {
    let all = ''
    request.setEncoding('utf8')
    request.on('data', piece => { all += piece })
    request.on('end', () => { log(all, request.complete, request.readableEnded); response.end() })
  }, POST),
  'a body by iteration': compat(async (request, response, { log }) => {
    let all = ''
    for await (const piece of request) all += piece
    log(all)
    response.end()
  }, POST),
  'a body by readable': compat((request, response, { log }) => {
    let all = ''
    request.on('readable', () => {
      for (let piece; (piece = request.read()) !== null;) all += piece
    })
    request.on('end', () => { log(all); response.end() })
  }, POST),
  'a body is piped back': compat((request, response) => { request.pipe(response) }, POST),
  'a large body is piped back': compat((request, response) => { request.pipe(response) }, { headers: { ':method': 'POST' }, body: Buffer.alloc(1 << 20, 'p') }),
  'a body that nobody reads': compat((request, response, { log }) => {
    request.on('close', () => { log('close', request.complete, request.readableEnded) })
    response.end('unread')
  }, POST),
  'a whole body that nobody reads, and a client that stays': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    let client
    server.on('request', (request, response) => {
      for (const event of ['finish', 'close']) response.on(event, () => { log('response', event) })
      // The body has come.
      client.ping(() => { response.end('unread') })
    })
    server.on('session', session => { session.on('ping', payload => { if (payload.toString() === 'followed') log('ping') }) })
    client = await t.open(server)
    await t.show(client, POST)
    await new Promise(resolve => { client.ping(Buffer.from('followed'), resolve) })
  },
  'no body': compat((request, response, { log }) => {
    log(request.complete, request.stream.endAfterHeaders)
    request.on('data', () => { log('data') })
    request.on('end', () => { log('end', request.complete); response.end() })
  }),
  'pause and resume': compat((request, response, { log }) => {
    let bytes = 0
    request.on('data', piece => {
      bytes += piece.length
      request.pause()
      setImmediate(() => { request.resume() })
    })
    request.on('end', () => { log(bytes); response.end() })
  }, { headers: { ':method': 'POST' }, body: Buffer.alloc(200_000, 'q') }),
  'the events of a request, in their order': compat((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['end', 'close', 'error', 'aborted'])
    request.resume()
    request.on('end', () => { response.end() })
  }, POST),
  'the events of a request that nobody reads': compat((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['end', 'close', 'error', 'aborted'])
    response.end()
  }),
  'a request and its response end': compat((request, response, { log, t }) => {
    t.watch(log, response, 'response', ['finish', 'close', 'error', 'drain', 'pipe'])
    response.end('x')
  }),
  'members of a fresh request': compat((request, response, { log }) => {
    log(request.aborted, request.complete, request.readable, request.destroyed, request.trailers, request.rawTrailers, request.readableFlowing)
    response.end()
  }, POST),
  'the socket of a request says where the client is': compat((request, response, { log, server }) => {
    const { socket } = request
    log(socket.remoteAddress, socket.remoteFamily, socket.localPort === server.address().port, socket.encrypted, socket === request.connection, socket === request.socket)
    log(socket.readable, socket.writable, socket.destroyed)
    response.end()
  }),
  'the socket over TLS says so': compat((request, response, { log }) => {
    const { socket } = request
    log(socket.encrypted, socket.alpnProtocol, socket.servername, typeof socket.getPeerCertificate, socket.authorized)
    response.end()
  }, {}, { secure: true }),
  'the socket of a request cannot be read or written': compat((request, response, { log, t }) => {
    for (const name of ['read', 'write', 'pause', 'resume']) t.attempt(log, name, () => request.socket[name])
    for (const name of ['on', 'once', 'end', 'emit', 'destroy', 'setTimeout']) t.attempt(log, name, () => typeof request.socket[name])
    response.end()
  }),
  'a timeout of a request': compat(async (request, response, { log }) => {
    await new Promise(resolve => { log(request.setTimeout(20, resolve) === request) })
    log('timeout')
    response.end()
  }),
  'a timeout event of request and response': compat((request, response, { log }) => {
    request.on('timeout', () => { log('request') })
    response.on('timeout', () => { log('response'); response.end() })
    request.setTimeout(20)
  }),
  'subclasses of request and response are used': async (http2, t) => {
    const log = t.log('server')
    class Request extends http2.Http2ServerRequest { get handshake () { return `hello ${this.url}` } }
    class Response extends http2.Http2ServerResponse { handshake (text) { this.setHeader('x-greet', 'yes'); this.end(text) } }
    const server = http2.createServer({ Http2ServerRequest: Request, Http2ServerResponse: Response }, (request, response) => {
      log(request.constructor.name, response.constructor.name, request.method)
      response.handshake(request.handshake)
    })
    await t.show(await t.open(server), { headers: { ':path': '/you' } })
  },
  'members of subclasses': async (http2, t) => {
    const log = t.log('server')
    class Request extends http2.Http2ServerRequest { get address () { return this.socket.remoteAddress } }
    class Response extends http2.Http2ServerResponse { get address () { return this.socket.remoteAddress } }
    const server = http2.createServer({ Http2ServerRequest: Request, Http2ServerResponse: Response }, async (request, response) => {
      log(request.address === request.stream.session.socket.remoteAddress, response.address === request.address)
      log(request.socket === response.socket, request.connection === request.socket, response.connection === request.socket)
      for (const name of ['encrypted', 'destroyed', 'readable', 'writable', 'alpnProtocol']) t.attempt(log, name, () => request.socket[name])
      for (const name of ['write', 'read', 'pause', 'setTimeout', 'destroy', 'on']) t.attempt(log, name, () => typeof request.socket[name])
      for (const name of ['aborted', 'complete', 'httpVersion', 'method', 'url', 'scheme', 'trailers', 'rawTrailers', 'readableEnded']) log(name, request[name])
      let all = ''
      for await (const piece of request) all += piece
      log(all, request.complete, request.trailers, request.socket.readable)
      response.setHeader('x-own', ['a', 'b'])
      response.addTrailers({ 'x-sum': '1' })
      response.on('finish', () => { log('finish', response.headersSent, response.writableEnded) })
      response.on('close', () => { log('close', response.socket === undefined, response.finished) })
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.write('one ')
      response.end('two', () => { log('ended') })
    })
    await t.show(await t.open(server), POST)
  },
  'a response alone is a subclass': async (http2, t) => {
    const log = t.log('server')
    class Response extends http2.Http2ServerResponse { get address () { return this.socket.remoteAddress } }
    const server = http2.createServer({ Http2ServerResponse: Response }, (request, response) => {
      log(response.address === request.socket.remoteAddress, request.socket === response.socket, response.req === request)
      response.end('ok')
    })
    await t.show(await t.open(server))
  },
  'a subclass whose client goes away': async (http2, t) => {
    const log = t.log('server')
    class Request extends http2.Http2ServerRequest {}
    let isOver
    const over = new Promise(resolve => { isOver = resolve })
    const server = http2.createServer({ Http2ServerRequest: Request }, (request, response) => {
      request.on('aborted', () => { log('aborted', request.aborted) })
      request.on('close', () => {
        log('close', request.complete, request.socket.destroyed, response.socket === undefined)
        isOver()
      })
      response.write('first')
    })
    const stream = (await t.open(server)).request({ ':method': 'POST', ':path': '/' })
    stream.on('error', () => {})
    stream.once('data', () => { stream.close(8) })
    await over
  },
  'a subclass reads a body': async (http2, t) => {
    const log = t.log('server')
    class Request extends http2.Http2ServerRequest {}
    const server = http2.createServer({ Http2ServerRequest: Request }, async (request, response) => {
      let all = ''
      for await (const piece of request) all += piece
      log(all)
      response.end(all)
    })
    await t.show(await t.open(server), POST)
  },
  'own members may be put on a request': responding({
    set: (response, http2, request) => { request.user = 'me'; response.locals = {}; return request.user },
    body: (response, http2, request) => { request.body = { a: 1 }; return request.body.a }
  })
}

// Servers of node:http in cleartext: their members and events, how connections live and end.
import { once } from 'node:events'
import net from 'node:net'
import nodeHttp from 'node:http'
import nodeHttps from 'node:https'
import { cert, isSecure } from '../stage.mjs'
import { CLOSE, HOST, get, post, raw } from '../wire.mjs'

const ok = (server, { log }) => { server.on('request', (request, response) => { log(request.method, request.url); response.end('ok') }) }
const events = (server, { log }, names) => { for (const name of names) server.on(name, (...given) => { log(name, given.length) }) }
const OPTIONS = { keepAliveTimeout: 1234, headersTimeout: 2345, requestTimeout: 3456, connectionsCheckingInterval: 4567 }
const { Agent, get: begin } = isSecure ? nodeHttps : nodeHttp
const agentOf = () => new Agent({ keepAlive: true, maxSockets: 1 })
const ask = (port, path, agent) => new Promise((resolve, reject) => {
  begin({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, path, agent }, answer => {
    let text = ''
    answer.on('data', piece => { text += piece })
    answer.on('end', () => { resolve([answer.statusCode, text, answer.headers.connection, answer.headers['keep-alive']].join()) })
  }).on('error', reject)
})

export default {
  'members': async (http, t) => {
    const log = t.log('server')
    const server = http.createServer()
    for (const name of ['timeout', 'headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'maxHeadersCount', 'maxRequestsPerSocket', 'httpAllowHalfOpen', 'listening', 'maxConnections']) log(name, server[name])
    for (const name of ['closeAllConnections', 'closeIdleConnections', 'setTimeout', 'close', 'ref', 'unref', 'address', 'getConnections', Symbol.asyncDispose]) log(String(name), typeof server[name])
    log(server.setTimeout(5) === server, server.timeout, server.listenerCount('timeout'))
    log(server.setTimeout(5, () => {}) === server, server.listenerCount('timeout'))
  },
  'options of times': async (http, t) => {
    const server = http.createServer(OPTIONS)
    for (const name of Object.keys(OPTIONS)) t.log('server')(name, server[name])
  },
  'times that cannot be': async (http, t) => {
    for (const name of Object.keys(OPTIONS)) for (const value of [-1, 'x', null, 1.5]) t.attempt(t.log('server'), `${name} ${value}`, () => { http.createServer({ [name]: value }) })
    t.attempt(t.log('server'), 'both', () => { http.createServer({ headersTimeout: 10, requestTimeout: 5 }) })
  },
  'the listener alone': async (http, t) => {
    const server = http.createServer((request, response) => { response.end('ok') })
    t.log('client')(await ask(await t.listen(server), '/'))
  },
  'nothing as options': async (http, t) => {
    for (const given of [undefined, null, {}]) t.attempt(t.log('server'), String(given), () => { http.createServer(given) })
  },
  'a socket that another server has accepted': async (http, t) => {
    const server = http.createServer((request, response) => { response.end(String(request.socket.server === server)) })
    server.on('connection', socket => { t.log('server')(socket.server === server, socket.server === other, socket instanceof net.Socket) })
    const other = net.createServer(socket => { server.emit('connection', socket) })
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.log('client')(await ask(other.address().port, '/'))
    other.close()
  },
  'a connection that is kept': async (http, t) => {
    const server = http.createServer((request, response) => { response.end('ok') })
    const port = await t.listen(server)
    const agent = agentOf()
    for (const path of ['/a', '/b']) t.log('client')(await ask(port, path, agent))
    agent.destroy()
  },
  'keepAliveTimeout is said': async (http, t) => {
    const server = http.createServer({ keepAliveTimeout: 3000 }, (request, response) => { response.end('ok') })
    const port = await t.listen(server)
    const agent = agentOf()
    t.log('client')(await ask(port, '/', agent))
    server.keepAliveTimeout = 7000
    t.log('client')(await ask(port, '/', agent))
    server.keepAliveTimeout = 0
    t.log('client')(await ask(port, '/', agent))
    agent.destroy()
  },
  'maxRequestsPerSocket': raw((server, { log }) => {
    server.maxRequestsPerSocket = 2
    server.on('dropRequest', (request, socket) => { log('dropRequest', request.url, typeof socket.remotePort) })
    ok(server, { log })
  }, get('/a') + get('/b')),
  'maxRequestsPerSocket: requests behind the last': raw((server, { log }) => {
    server.maxRequestsPerSocket = 2
    server.on('dropRequest', (request, socket) => { log('dropRequest', request.url, typeof socket.remotePort) })
    ok(server, { log })
  }, get('/a') + get('/b') + get('/c') + get('/d')),
  'events of a connection': raw((server, { log, t }) => {
    events(server, { log }, ['connection', 'request', 'close', 'listening'])
    server.on('request', (request, response) => { response.end('ok') })
  }, get('/a', CLOSE)),
  'the socket of connection is that of its requests': raw((server, { log }) => {
    let own
    server.on('connection', socket => { own = socket; socket.on('close', hadError => { log('socket close', hadError) }); socket.on('end', () => { log('socket end') }) })
    server.on('request', (request, response) => { log(request.socket === own); response.end('ok') })
  }, get('/a', CLOSE)),
  'close while a request is open': raw((server, { log }) => {
    server.on('request', (request, response) => {
      server.close(error => { log('closed', error) })
      log(server.listening)
      setTimeout(() => { response.end('ok') }, 20)
    })
  }, get('/a')),
  'close of an idle connection': raw((server, { log }) => {
    server.on('request', (request, response) => { response.end('ok'); response.on('close', () => { setTimeout(() => { server.close(error => { log('closed', error) }) }, 20) }) })
  }, get('/a')),
  'closeAllConnections': raw((server, { log }) => {
    server.on('request', (request, response) => {
      request.on('close', () => { log('request close') })
      response.on('close', () => { log('response close', response.writableFinished) })
      setImmediate(() => { server.close(); server.closeAllConnections() })
    })
  }, get('/a')),
  'closeAllConnections of an idle connection': raw((server, { log }) => {
    server.on('request', (request, response) => { response.end('ok'); response.on('close', () => { setTimeout(() => { server.closeAllConnections() }, 20) }) })
  }, get('/a')),
  'closeIdleConnections leaves what is open': raw((server, { log }) => {
    server.on('request', (request, response) => { server.closeIdleConnections(); setTimeout(() => { response.end('ok') }, 20) })
  }, get('/a', CLOSE)),
  'clientError is answered': raw((server, { log }) => {
    server.on('clientError', (error, socket) => { log(error, error.bytesParsed, error.rawPacket, socket.writable); socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') })
    ok(server, { log })
  }, 'BAD\r\n\r\n'),
  'clientError destroys': raw((server, { log }) => {
    server.on('clientError', (error, socket) => { log(error); socket.destroy() })
    ok(server, { log })
  }, 'BAD\r\n\r\n'),
  'clientError without a listener': raw(ok, 'BAD\r\n\r\n'),
  'clientError of a head that is too long': raw((server, { log }) => { server.on('clientError', (error, socket) => { log(error); socket.end() }) }, `GET / HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`),
  'a head that is too long without a listener': raw(ok, `GET / HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`),
  'clientError of a client that goes': raw((server, { log }) => { server.on('clientError', (error, socket) => { log(error, socket.destroyed); socket.destroy() }) }, 'GET / HTTP/1.1\r\nhost', { act: async socket => { socket.end() } }),
  'headersTimeout': raw((server, { log }) => { server.once('clientError', (error, socket) => { log(error, socket.destroyed); socket.end('HTTP/1.1 408 Late\r\nconnection: close\r\n\r\n') }); server.on('clientError', () => {}) }, 'GET / HTTP/1.1\r\n', { options: { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 } }),
  'headersTimeout without a listener': raw(() => {}, 'GET / HTTP/1.1\r\n', { options: { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 } }),
  'requestTimeout without a listener': raw((server, { log }) => {
    server.on('request', request => { request.on('error', error => { log('request error', error) }); request.on('close', () => { log('request close', request.complete) }); request.resume() })
  }, `POST / HTTP/1.1\r\n${HOST}content-length: 5\r\n\r\na`, { options: { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 20 } }),
  'keepAliveTimeout: the time of a connection without a request': raw((server, { log }) => {
    server.keepAliveTimeout = 2000
    server.on('timeout', () => {})
    server.on('request', ({ socket }, response) => {
      response.on('close', () => { setImmediate(() => { log(socket.timeout); socket.destroy() }) })
      response.end('ok')
    })
  }, get('/a')),
  'keepAliveTimeout ends an idle connection': raw(ok, get('/a'), { options: { keepAliveTimeout: 30, keepAliveTimeoutBuffer: 0 } }),
  'timeout without a listener': raw((server, { log }) => { server.timeout = 30; server.on('request', (request, response) => { log('request'); response.on('close', () => { log('response close') }) }) }, get('/a')),
  'timeout with a listener': raw((server, { log }) => { server.setTimeout(30, socket => { log('timeout'); socket.end('HTTP/1.1 503 Late\r\nconnection: close\r\n\r\n') }) ; server.on('request', () => {}) }, get('/a')),
  'upgrade': raw((server, { log }) => {
    server.on('upgrade', (request, socket, head) => {
      log(request.method, request.url, request.headers.connection, head.length, request.complete, socket.writable)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: tea\r\nconnection: upgrade\r\n\r\n')
      socket.on('data', piece => { log(piece); socket.end('bye') })
      socket.on('close', hadError => { log('close', hadError) })
    })
    ok(server, { log })
  }, get('/a', 'connection: Upgrade\r\nupgrade: tea\r\n'), { act: async (socket, { until }) => { await until('101'); socket.write('hi') } }),
  'an upgrade that is refused': raw((server, { log }) => {
    server.on('upgrade', (request, socket) => { socket.on('close', () => { log('close') }); socket.write('HTTP/1.1 401 Unauthorized\r\n\r\n'); socket.destroySoon() })
  }, get('/a', 'connection: Upgrade\r\nupgrade: tea\r\n')),
  'CONNECT without a listener': raw(ok, `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`),
  'CONNECT': raw((server, { log }) => {
    server.on('connect', (request, socket, head) => { log(request.url, head.length); socket.write('HTTP/1.1 200 OK\r\n\r\n'); socket.pipe(socket) })
  }, `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, { act: async (socket, { until }) => { await until('200'); socket.end('echo') } }),
  'checkContinue': raw((server, { log }) => {
    server.on('checkContinue', (request, response) => { log('checkContinue', request.headers.expect); response.writeContinue(); request.resume(); request.on('end', () => { response.end('ok') }) })
    ok(server, { log })
  }, post('/a', 'hello', `expect: 100-continue\r\n${CLOSE}`)),
  'checkContinue that refuses': raw((server, { log }) => {
    server.on('checkContinue', (request, response) => { log('checkContinue'); response.writeHead(413, { connection: 'close' }).end() })
  }, `POST /a HTTP/1.1\r\n${HOST}content-length: 5\r\nexpect: 100-continue\r\n\r\n`),
  'checkExpectation': raw((server, { log }) => { server.on('checkExpectation', (request, response) => { log('checkExpectation'); response.end('tea') }) }, get('/a', `expect: tea\r\n${CLOSE}`)),
  'requests after close are not taken': async (http, t) => {
    const server = http.createServer((request, response) => { response.end('ok') })
    const port = await t.listen(server)
    await new Promise(resolve => { server.close(resolve) })
    t.log('client')(await ask(port, '/').catch(error => error.code))
  },
  'a server disposes itself': async (http, t) => {
    const server = http.createServer((request, response) => { response.end('ok') })
    await t.listen(server)
    await server[Symbol.asyncDispose]()
    t.log('server')(server.listening)
  },
  'half-open is allowed': raw((server, { log }) => {
    server.httpAllowHalfOpen = true
    server.on('request', (request, response) => { request.on('end', () => { log('end') }); request.resume(); setTimeout(() => { response.end('late') }, 20) })
  }, get('/a'), { act: async socket => { socket.end() } }),
  'an answer in the turn of a half-open client': raw(ok, get('/a'), { act: async socket => { socket.end() } }),
  'two listeners of request': raw((server, { log }) => {
    server.on('request', () => { log('first') })
    ok(server, { log })
  }, get('/a', CLOSE)),
  'no listener of request': raw((server, { log }) => { server.on('connection', socket => { socket.setTimeout(50, () => { log('idle'); socket.destroy() }) }) }, get('/a'))
}

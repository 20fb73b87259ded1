// Sockets of servers of node:http in cleartext, and what servers are: classes, times without a request, upgrades that a server
// chooses, errors of sockets.
import { once } from 'node:events'
import nodeHttp from 'node:http'
import net from 'node:net'
import { CLOSE, HOST, get, one, raw } from '../wire.mjs'

const UPGRADE = `GET /a HTTP/1.1\r\n${HOST}connection: upgrade, close\r\nupgrade: tea\r\n\r\n`
const KEEP_ALIVE_MS = 50
const chosen = (choose, isHeard = true) => raw((server, { log }) => {
  server.on('request', (request, response) => { log('request', request.url, request.headers.upgrade); response.end('ok') })
  if (isHeard) server.on('upgrade', (request, socket) => { log('upgrade', request.url); socket.end('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\nhello') })
}, UPGRADE, { options: { shouldUpgradeCallback: choose } })

/** Logs what a listener of `upgrade` or `connect` has at once, and what its socket gives. */
const behind = (event, answer) => (server, { log }) => {
  server.on(event, (request, socket, head) => {
    log(event, head, socket.readableLength)
    socket.on('data', piece => { log('data', piece) })
    socket.on('end', () => { log('end'); socket.end('bye') })
    socket.write(`${answer}\r\n\r\n`)
  })
}
const ANSWERS = { upgrade: 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: tea', connect: 'HTTP/1.1 200 Established' }
/** Behind the answer the client says something more, and ends. */
const goOn = { act: async (socket, { until }) => { await until('\r\n\r\n'); socket.write('more'); socket.end() } }
/** Marks the socket of each connection, and logs by `event` whether its socket is marked. */
const kept = (event, at, answer) => (server, { log }) => {
  server.on('connection', socket => { socket.mark = 'kept'; socket.on('close', () => { log('close') }) })
  server.on(event, (...given) => { log(event, given[at].mark); given[at].end(answer) })
}
const LATE = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 }
/** Logs what a listener of the socket learns of a request that is none. */
const malformed = (answer, text = `GET / HTTP/1.1\r\n${HOST}bad name: x\r\n\r\n`) => raw((server, { log }) => {
  server.on('connection', socket => {
    socket.on('error', error => { log('error', error, error.message, error.rawPacket?.length) })
    socket.on('close', hadError => { log('close', hadError) })
  })
  server.on('request', (request, response) => { log('request', request.url); response.end('ok') })
  if (answer !== undefined) server.on('clientError', (error, socket) => { log('clientError', error); answer(socket, error) })
}, text)
const silent = prepare => raw(prepare, '', { options: LATE })

export default {
  'a server is one of the class': async (http, t) => {
    const server = http.createServer()
    t.log('server')(server instanceof nodeHttp.Server, server instanceof net.Server, server.noDelay, server.allowHalfOpen)
  },
  'noDelay that is off': async (http, t) => { t.log('server')(http.createServer({ noDelay: false }).noDelay) },
  'an encoding of a socket': one((response, { log, t, request }) => {
    t.attempt(log, 'setEncoding', () => { request.socket.setEncoding('utf8') })
    response.end('ok')
  }),
  'bytesWritten behind a write': one((response, { log }) => {
    response.write('x'.repeat(1000))
    log(response.socket.bytesWritten > 0)
    response.end()
  }),
  'the socket at finish of the last response': one((response, { log, request }) => {
    const { socket } = request
    response.on('finish', () => { log(socket.writableEnded) })
    response.end('ok')
  }),
  'an error of the socket behind a write': one((response, { log, server }) => {
    server.on('close', () => { log('closed') })
    response.write('part', () => { response.socket.emit('error', new Error('of a test')) })
  }, { text: get('/a') }),
  'an error of the socket with a listener': one((response, { log, server }) => {
    server.on('clientError', (error, socket) => { log(error.message, socket === response.socket); socket.destroy() })
    response.write('part', () => { response.socket.emit('error', new Error('of a test')) })
  }, { text: get('/a') }),
  'a connection without a request has a timeout': raw((server, { log }) => {
    server.keepAliveTimeout = KEEP_ALIVE_MS
    server.on('request', (request, response) => { response.end('ok') })
    server.on('timeout', socket => { log('timeout', socket instanceof net.Socket); socket.destroy() })
  }, get('/a')),
  'a request behind a wait has no timeout of it': raw((server, { log }) => {
    server.keepAliveTimeout = 60_000
    server.on('request', (request, response) => { log(request.url, request.socket.timeout); response.end('ok') })
    server.on('timeout', () => { log('timeout') })
  }, get('/a'), { act: async (socket, { until }) => { await until('ok'); socket.write(get('/b', CLOSE)) } }),
  'requests behind each other have one timeout': raw((server, { log }) => {
    let times = 0
    server.on('request', request => { log(request.url) })
    server.setTimeout(50, socket => { log('timeout', ++times); socket.destroy() })
  }, `${get('/a')}${get('/b')}${get('/c')}`),
  'an upgrade that is chosen': chosen(() => true),
  'an upgrade that is not': chosen(() => false),
  'an upgrade that is not, without a listener': chosen(() => false, false),
  'an upgrade that is chosen by path': chosen(request => request.url === '/b'),
  'an upgrade without a choice': chosen(undefined),
  'an upgrade whose answer has names in capitals': raw(server => {
    server.on('upgrade', (request, socket) => { socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\nConnection: Upgrade\r\nX-Cup: Blue\r\n\r\nhello') })
  }, UPGRADE),
  'an upgrade with bytes behind it': raw(behind('upgrade', ANSWERS.upgrade), `${UPGRADE}head`, goOn),
  'an upgrade with bytes behind it that is refused': raw((server, { log }) => {
    server.on('upgrade', (request, socket, head) => { log(head); socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n') })
  }, `${UPGRADE}head`),
  'CONNECT with bytes behind it': raw(behind('connect', ANSWERS.connect), `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\nhead`, goOn),
  'one socket from its connection to its upgrade': raw(kept('upgrade', 1, `${ANSWERS.upgrade}\r\n\r\nhello`), UPGRADE),
  'one socket from its connection to CONNECT': raw(kept('connect', 1, `${ANSWERS.connect}\r\n\r\nhello`), `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`),
  'one socket from its connection to clientError': raw(kept('clientError', 1, 'HTTP/1.1 400 Bad\r\n\r\n'), 'BAD\r\n\r\n'),
  'one socket from its connection to clientError of a body': raw((server, context) => {
    server.on('request', (request, response) => { context.log(request.socket.mark); request.resume(); request.on('error', () => {}); response.on('close', () => {}) })
    kept('clientError', 1, 'HTTP/1.1 400 Bad\r\n\r\n')(server, context)
  }, `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\nzz\r\n`),
  'one socket from its connection to clientError of a late body': raw((server, context) => {
    server.on('request', request => { request.resume(); request.on('error', () => {}) })
    server.on('connection', socket => { socket.mark = 'kept' })
    // Node tells it again while the connection ends.
    server.on('clientError', () => {})
    server.once('clientError', (error, socket) => { context.log(socket.mark); socket.end('HTTP/1.1 408 Late\r\nconnection: close\r\ncontent-length: 0\r\n\r\n') })
  }, `POST / HTTP/1.1\r\n${HOST}content-length: 5\r\n\r\na`, { options: LATE }),
  'an upgraded socket ends by the socket of its connection': raw((server, { log }) => {
    let first
    server.on('connection', socket => { first = socket })
    server.on('upgrade', (request, socket) => { log(first === socket); socket.write(`${ANSWERS.upgrade}\r\n\r\n`); first.end('by the first') })
  }, UPGRADE),
  'a response that is destroyed gets no more of its request': raw((server, { log }) => {
    server.on('request', (request, response) => {
      request.on('data', piece => { log('data', piece.length); response.destroy() })
      request.on('error', () => {})
      response.writeContinue()
    })
  }, `POST / HTTP/1.1\r\n${HOST}content-length: 10\r\n\r\nhello`, { act: async (socket, { until }) => { await until('100'); socket.write('world') } }),
  'responses behind each other have times of their own': raw((server, { log }) => {
    server.on('request', (request, response) => {
      if (request.url === '/a') return response.end()
      response.setTimeout(50, () => { log('response', request.url) })
    })
    server.on('timeout', socket => { log('server'); socket.destroy() })
  }, `${get('/a')}${get('/b')}${get('/c')}`),
  'chunk extensions without an end': raw(server => { server.on('request', (request, response) => { request.resume().on('end', () => { response.end() }) }) }, `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n2;${'a'.repeat(20_000)}\r\nab\r\n0\r\n\r\n`),
  'the error of a malformed request': malformed(),
  'the error of a request that is malformed behind another': malformed(undefined, `${get('/a')}GET / HTTP/1.1\r\n${HOST}bad name: x\r\n\r\n`),
  'the error of a malformed request, answered': malformed(socket => { socket.end('HTTP/1.1 418 Teapot\r\nconnection: close\r\n\r\n') }),
  'the error of a malformed request, destroyed': malformed(socket => { socket.destroy() }),
  'the error of a malformed request, destroyed with it': malformed((socket, error) => { socket.destroy(error) }),
  'the error of a chunk that is none': malformed(undefined, `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\nxyz\r\n`),
  'a client that says nothing': silent(() => {}),
  'a client that says nothing, with a listener of clientError': silent((server, { log }) => {
    server.on('clientError', (error, socket) => { log(error, socket.writable); socket.end('HTTP/1.1 408 Late\r\n\r\n') })
  }),
  'a client that ends before it says anything': raw((server, { log }) => {
    server.on('connection', socket => { socket.on('close', hadError => { log('close', hadError) }); log('connection', socket.bytesRead) })
  }, '', { act: async socket => { socket.end() } }),
  'listeners behind an awaited connection': raw((server, { log }) => {
    once(server, 'connection').then(([socket]) => {
      socket.on('close', () => { log('close') })
      server.on('request', (request, response) => { log('request', request.url); response.end('ok') })
    })
  }, get('/a', CLOSE)),
  'choices that are none': async (http, t) => {
    for (const value of [null, 5, 'x', true]) t.attempt(t.log('server'), String(value), () => { http.createServer({ shouldUpgradeCallback: value }) })
  }
}

// Sockets of servers of node:http in cleartext, and what servers are: classes, times without a request, upgrades that a server
// chooses, errors of sockets.
import nodeHttp from 'node:http'
import net from 'node:net'
import { CLOSE, HOST, get, one, raw } from '../wire.mjs'

const UPGRADE = `GET /a HTTP/1.1\r\n${HOST}connection: upgrade, close\r\nupgrade: tea\r\n\r\n`
const KEEP_ALIVE_MS = 50
const chosen = (choose, isHeard = true) => raw((server, { log }) => {
  server.on('request', (request, response) => { log('request', request.url, request.headers.upgrade); response.end('ok') })
  if (isHeard) server.on('upgrade', (request, socket) => { log('upgrade', request.url); socket.end('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\nhello') })
}, UPGRADE, { options: { shouldUpgradeCallback: choose } })

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
  'choices that are none': async (http, t) => {
    for (const value of [null, 5, 'x', true]) t.attempt(t.log('server'), String(value), () => { http.createServer({ shouldUpgradeCallback: value }) })
  }
}

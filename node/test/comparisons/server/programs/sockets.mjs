// Members of sockets and sessions, the channel that publishes sockets, and frames of the ends of answers and sessions.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import net from 'node:net'
import { cert, closing, key } from '../stage.mjs'

const CHANNEL = 'net.server.socket'

const members = ({ allowHalfOpen, bufferSize, connecting, pending, readyState, timeout, writableLength }) => [
  allowHalfOpen, bufferSize, connecting, pending, readyState, timeout, writableLength
]

/** A session of `made` and one request; what is published meanwhile where `isShown`. */
const served = (made, { secure = false, isShown = false }) => async (http2, t) => {
  const log = t.log('server')
  const server = made(http2)
  const reported = ({ socket }) => {
    if (socket.localPort === server.address().port) log(CHANNEL, socket.constructor.name, socket instanceof net.Socket, socket.remoteAddress)
  }
  if (isShown) subscribe(CHANNEL, reported)
  else {
    server.on('session', ({ socket }) => { log('session', ...members(socket)) })
    server.on('request', ({ socket }) => { log('request', ...members(socket)) })
  }
  server.on('request', (request, response) => { response.end() })
  const client = await t.open(server, { secure })
  await t.show(client)
  client.close()
  await closing(client)
  unsubscribe(CHANNEL, reported)
}

export default Object.fromEntries(Object.entries({ members: {}, [CHANNEL]: { isShown: true } }).flatMap(([name, options]) => [
  [`${name}, in the clear`, served(http2 => http2.createServer(), options)],
  [`${name}, over TLS`, served(http2 => http2.createSecureServer({ cert, key }), { ...options, secure: true })]
]).concat([
  ['readyState of a socket that has ended', async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
    const left = once(server, 'upgrade').then(([, socket]) => closing(socket))
    server.on('upgrade', (request, socket) => {
      socket.on('error', () => {})
      log(socket.readyState)
      socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n')
      log(socket.readyState)
      socket.resume().on('close', () => { log('close', socket.readyState) })
    })
    await t.listen(server)
    const client = await t.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    client.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n')
    client.resume()
    await once(client, 'end')
    client.end()
    await left
  }],
  ['resetAndDestroy of the socket of a session', async (http2, t) => {
    const server = http2.createServer()
    server.on('connection', socket => {
      socket.on('error', () => {})
      server.once('stream', stream => {
        stream.on('error', () => {})
        t.watch(t.log('stream'), stream, 'stream', ['close'])
        t.watch(t.log('socket'), socket, 'socket', ['close'], (event, hadError) => [hadError, socket.destroyed])
        t.watch(t.log('session'), stream.session, 'session', ['close'])
        stream.respond()
        stream.write('piece', () => { setImmediate(() => { socket.resetAndDestroy() }) })
      })
    })
    await t.listen(server)
    const client = net.connect(server.address().port, '127.0.0.1')
    t.sockets.push(client)
    t.watch(t.log('client'), client, 'client', ['end', 'error'], (event, error) => [error?.code ?? ''])
    // The preface, SETTINGS, and a GET of / at localhost.
    client.write(Buffer.from('505249202a20485454502f322e300d0a0d0a534d0d0a0d0a000000040000000000' + '00000e010500000001' + '8286844109' + '6c6f63616c686f7374', 'hex'))
    client.resume()
    await closing(client)
  }],
  ['timeouts of a session and of a stream', async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('stream', stream => {
      const { session } = stream
      log(session.timeout, stream.timeout)
      session.setTimeout(5000)
      stream.setTimeout(4000, () => {})
      log(session.timeout, stream.timeout)
      stream.respond()
      stream.end()
    })
    await t.show(await t.open(server))
  }],
  ['settings of a client that has sent none', async (http2, t) => {
    for (const options of [{}, { peerMaxConcurrentStreams: 7 }]) {
      const log = t.log('server')
      const server = http2.createServer(options)
      const behind = new Promise(resolve => {
        server.on('session', session => {
          log(session.remoteSettings.maxConcurrentStreams)
          session.on('remoteSettings', settings => { log(settings.maxConcurrentStreams); resolve() })
        })
      })
      await t.open(server)
      await behind
    }
  }],
  ['an answer without a body ends with its head', async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer((request, response) => { response.writeHead(200).end() })
    const client = await t.open(server)
    const stream = client.request()
    stream.on('response', (head, flags) => { log(flags) })
    await closing(stream.resume())
  }],
  ['the GOAWAYs of a session that closes', async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer((request, response) => { response.end(); response.stream.session.close() })
    const client = await t.open(server)
    client.on('goaway', (code, last) => { log('goaway', code, last) })
    client.request().resume()
    await closing(client)
  }],
  ['the window that a session has set', async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('request', ({ stream: { session } }, response) => {
      for (const size of [200_000, 2 ** 20, 65_535, 100]) {
        session.setLocalWindowSize(size)
        log(size, session.state.effectiveLocalWindowSize, session.state.localWindowSize)
      }
      response.end()
    })
    await t.show(await t.open(server))
  }]
]))

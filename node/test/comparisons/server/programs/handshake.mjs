// Clients of other protocols, and the servers' events of failed handshakes.
import { once } from 'node:events'
import net from 'node:net'
import { cert, key } from '../stage.mjs'

/** Events of a connection over TLS, in their order, with the members of TLS that their sockets have. */
const announced = protocol => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { response.end('ok') })
  for (const event of ['connection', 'session', 'secureConnection']) {
    server.on(event, subject => { log(event, subject.encrypted, subject.alpnProtocol, subject.authorized, subject.servername, 'alpnProtocol' in subject) })
  }
  const answered = once(server, 'request')
  await t.listen(server)
  if (protocol === 'h2') {
    const client = await t.open(server, { secure: true })
    await once(client.request().resume(), 'close')
  } else {
    const client = await t.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    client.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    await once(client.resume(), 'end')
  }
  await answered
}

/** First lines of clients that take the server for one without TLS. */
const CLEARTEXT = ['GET / HTTP/1.1', 'HEAD / HTTP/1.1', 'POST / HTTP/1.1', 'PUT / HTTP/1.1', 'CONNECT a:1 HTTP/1.1', 'get / HTTP/1.1', 'HTTP/1.1 200 OK', 'PRI * HTTP/2.0', 'SSH-2.0-a']
/** Node 20 knows fewer methods. */
const OF_NEWER = ['DELETE / HTTP/1.1', 'OPTIONS / HTTP/1.1', 'PATCH / HTTP/1.1', 'TRACE / HTTP/1.1']
const isNewer = Number.parseInt(process.versions.node, 10) >= 22
const unsecured = options => Object.fromEntries([...CLEARTEXT, ...(isNewer ? OF_NEWER : [])].map(text => [`${text} in cleartext${Object.keys(options).map(name => `, ${name}`).join('')}`, async (http2, t) => {
  const log = t.log('server')
  const server = http2.createSecureServer({ cert, key, ...options })
  for (const event of ['clientError', 'tlsClientError']) server.on(event, (error, socket) => { log(event, error.name, error.code, error.library, error.reason, socket.destroyed) })
  const reported = once(server, 'tlsClientError')
  const socket = net.connect(await t.listen(server), '127.0.0.1')
  socket.on('error', () => {}).resume().write(`${text}\r\nhost: localhost\r\n\r\n`)
  await reported
  socket.destroy()
}]))

export default {
  ...unsecured({}),
  ...unsecured({ allowHTTP1: true }),
  ...unsecured({ ALPNCallback: () => 'h2' }),
  'events of a session over TLS in their order': announced('h2'),
  'events of a connection of HTTP/1.1 over TLS in their order': announced('http/1.1'),
  'who offers nothing is told with a socket': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    const reported = once(server, 'unknownProtocol')
    await t.listen(server)
    const client = await t.connectTls(server)
    const pieces = []
    client.on('data', piece => { pieces.push(piece) })
    client.write('hello')
    const [socket] = await reported
    log(socket.alpnProtocol, socket.encrypted, typeof socket.remotePort)
    const [piece] = await once(socket, 'data')
    log(piece.toString())
    socket.end('who are you?')
    await once(client, 'end')
    t.log('client')(Buffer.concat(pieces).toString())
  },
  'all of what is said to who offers nothing': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key })
    await t.listen(server)
    const client = await t.connectTls(server)
    const pieces = []
    client.on('data', piece => { pieces.push(piece) })
    await once(client, 'end')
    t.log('client')(Buffer.concat(pieces).toString())
  },
  'a connection that breaks off in its handshake': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    const port = await t.listen(server)
    const reported = once(server, 'tlsClientError')
    const socket = net.connect(port, '127.0.0.1', () => { socket.end(Buffer.from('160301', 'hex')) })
    socket.on('error', () => {})
    const [error, of] = await reported
    log(error instanceof Error, error.code, typeof of.destroy)
  },
  'the events of a handshake that fails, in their order': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    for (const event of ['clientError', 'tlsClientError']) server.on(event, (error, socket) => { log(event, error instanceof Error, socket.destroyed, socket.writable) })
    const port = await t.listen(server)
    const reported = once(server, 'tlsClientError')
    const socket = net.connect(port, '127.0.0.1', () => { socket.end('no TLS at all, and long enough for a record') })
    socket.on('error', () => {}).resume()
    await reported
  },
  'a client that speaks nothing that is offered': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key })
    await t.listen(server)
    const reported = once(server, 'tlsClientError')
    const client = await t.connectTls(server, { ALPNProtocols: ['spdy/1'] })
    const [error] = await reported
    t.log('server')(error.code.startsWith('ERR_SSL_'))
    client.destroy()
  },
  'the secrets of sessions are told': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    const lines = []
    let five
    const reported = new Promise(resolve => { five = resolve })
    server.on('keylog', (line, socket) => { if (lines.length === 4) setImmediate(five); lines.push([Buffer.isBuffer(line), line.toString().split(' ')[0], line.toString().endsWith('\n'), typeof socket.remotePort]) })
    const client = await t.open(server, { secure: true })
    await once(client, 'connect')
    await reported
    for (const line of lines.sort((one, other) => one[1] < other[1] ? -1 : 1)) log(...line)
  },
  'a key with a passphrase': async (http2, t) => {
    const { createPrivateKey } = await import('node:crypto')
    const closed = createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
    const server = http2.createSecureServer({ cert, key: closed, passphrase: 'secret' }, (request, response) => { response.end('opened') })
    await t.show(await t.open(server, { secure: true }))
    t.attempt(t.log('server'), 'another passphrase', () => { http2.createSecureServer({ cert, key: closed, passphrase: 'wrong' }) })
  }
}

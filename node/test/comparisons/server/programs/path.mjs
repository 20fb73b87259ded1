// Servers that listen at a path, or on a descriptor.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, closeSync, rmSync, statSync } from 'node:fs'
import http from 'node:http'
import nodeHttp2 from 'node:http2'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { cert, key } from '../stage.mjs'

/** The permission bits of others; whether the owner's bits stay depends on the version of libuv. */
const OF_OTHERS = 0o066

/** Runs `play` with a path of its own in a folder that goes after it. */
const at = play => async (http2, t) => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-parity-'))
  const nameless = text => text?.replaceAll(folder, 'FOLDER')
  try {
    await play(http2, t, join(folder, 's'), nameless)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A session of node:http2 through the socket at `path`. */
function open (t, path, secure = false) {
  const createConnection = () => secure
    ? tls.connect({ path, ca: cert, servername: 'localhost', ALPNProtocols: ['h2'] })
    : net.connect(path)
  const client = nodeHttp2.connect(`http${secure ? 's' : ''}://localhost`, { createConnection })
  t.sessions.push(client)
  client.on('error', () => {})
  return client
}

async function received (server, ...place) {
  server.listen(...place)
  await once(server, 'listening')
  return server
}

/** A listener's properties of its socket. */
function places (socket) {
  const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily } = socket
  return [remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily, socket.address(), 'remoteAddress' in socket]
}

/** The errors of listening where that is impossible. */
async function refused (log, nameless, server, ...place) {
  server.on('listening', () => { log('listening'); server.close() })
  server.listen(...place)
  const [error] = await once(server, 'error')
  log(error.code, error.errno, error.syscall, nameless(error.address ?? undefined), error.port, 'port' in error, server.listening)
}

export default {
  'listen takes a path, and it is the address': at(async (http2, t, path, nameless) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { log(request.url); response.end('hi') })
    log(server.listen(path, () => { log('callback', nameless(server.address())) }) === server)
    await once(server, 'listening')
    log(server.listening, nameless(server.address()), statSync(path).isSocket())
    await t.show(open(t, path))
    server.close()
    log(server.listening, existsSync(path))
  }),
  'listen takes an object with a path': at(async (http2, t, path, nameless) => {
    const log = t.log('server')
    const server = await received(http2.createServer(), { path, readableAll: true, writableAll: true })
    log(nameless(server.address()), (statSync(path).mode & OF_OTHERS).toString(8))
    server.close()
    await once(server, 'close')
    log(nameless(server.address()), existsSync(path))
  }),
  'sockets of a path have no addresses, of requests': at(async (http2, t, path) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { log(...places(request.socket)); response.end() })
    t.servers.push(await received(server, path))
    await t.show(open(t, path))
  }),
  'sockets of a path have no addresses, of sessions': at(async (http2, t, path) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('session', session => { log(...places(session.socket), session.originSet) })
    server.on('stream', stream => { stream.respond(); stream.end('hi') })
    t.servers.push(await received(server, path))
    await t.show(open(t, path))
  }),
  'a secure server listens at a path': at(async (http2, t, path) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    server.on('secureConnection', socket => { log(socket.alpnProtocol, socket.encrypted, socket.remoteAddress, socket.remotePort) })
    server.on('stream', stream => { log(...places(stream.session.socket), stream.session.originSet); stream.respond(); stream.end('hi') })
    t.servers.push(await received(server, path))
    await t.show(open(t, path, true))
  }),
  'a secure server listens at a path for HTTP/1.1': at(async (http2, t, path) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
      log(request.httpVersion, ...places(request.socket))
      response.end('hi')
    })
    t.servers.push(await received(server, path))
    const createConnection = () => tls.connect({ path, ca: cert, servername: 'localhost', ALPNProtocols: ['http/1.1'] })
    const asked = http.request({ createConnection, host: 'localhost' })
    asked.end()
    const [answer] = await once(asked, 'response')
    const pieces = await answer.toArray()
    t.log('client')(answer.statusCode, Buffer.concat(pieces))
  }),
  'a path that is there is in use': at(async (http2, t, path, nameless) => {
    const log = t.log('server')
    const server = await received(http2.createServer(), path)
    await refused(log, nameless, http2.createServer(), path)
    await refused(log, nameless, http2.createSecureServer({ cert, key }), { path })
    log(existsSync(path))
    server.close()
    await once(server, 'close')
  }),
  'a folder that is not there, or cannot be written, is not listened in': at(async (http2, t, path, nameless) => {
    const log = t.log('server')
    await refused(log, nameless, http2.createServer(), join(path, '..', 'nowhere', 's'))
    await refused(log, nameless, http2.createServer(), '/proc/trunkline.sock')
  }),
  'a path is free when close returns': at(async (http2, t, path, nameless) => {
    const log = t.log('server')
    const first = await received(http2.createServer(), path)
    first.close()
    log(existsSync(path))
    const second = await received(http2.createServer(), path)
    log(nameless(second.address()), existsSync(path))
    second.close()
    await once(second, 'close')
  }),
  'a server that listens at a path does not listen twice': at(async (http2, t, path) => {
    const log = t.log('server')
    const server = await received(http2.createServer(), path)
    t.attempt(log, 'path', () => server.listen(path))
    t.attempt(log, 'port', () => server.listen(0))
    t.attempt(log, 'fd', () => server.listen({ fd: 0 }))
    server.close()
    await once(server, 'close')
  }),
  'a path that is none is an error at once': async (http2, t) => {
    const log = t.log('server')
    for (const place of [{ path: '' }, { path: 1 }, { path: undefined }, { fd: -1 }, { handle: {} }]) {
      t.attempt(log, Object.keys(place)[0], () => http2.createServer().listen(place))
    }
  },
  'a descriptor that is no socket is an error': at(async (http2, t, path, nameless) => {
    const log = t.log('server')
    await refused(log, nameless, http2.createServer(), { fd: 9999 })
    const fd = openSync(new URL(import.meta.url), 'r')
    await refused(log, nameless, http2.createServer(), { fd })
    closeSync(fd)
  }),
  'descriptors that a process has inherited': at(async (http2, t, path) => {
    const log = t.log('parent')
    const port = await received(net.createServer(), 0, '127.0.0.1')
    const named = await received(net.createServer(), path)
    const connected = net.connect(port.address().port, '127.0.0.1')
    await once(connected, 'connect')
    for (const [what, fd] of [['port', port._handle.fd], ['path', named._handle.fd], ['connected', connected._handle.fd], ['pipe', 'pipe'], ['nothing', 'ignore']]) {
      const module = http2 === nodeHttp2 ? 'node:http2' : 'trunkline'
      const child = spawn(process.execPath, [new URL('../inherit.mjs', import.meta.url).pathname, module], { stdio: ['ignore', 'pipe', 'inherit', fd] })
      const pieces = await child.stdout.toArray()
      log(what, Buffer.concat(pieces).toString().trim().replaceAll(port.address().port, 'PORT'), existsSync(path))
    }
    connected.destroy()
    for (const server of [port, named]) server.close()
  }),
  'a handle of TCP is listened on': async (http2, t) => {
    const log = t.log('server')
    for (const wrap of [other => other, other => other._handle, other => ({ _handle: other._handle }), other => ({ handle: other._handle })]) {
      const other = await received(net.createServer(), 0, '127.0.0.1')
      const { port } = other.address()
      const server = http2.createServer((request, response) => { log(request.url); response.end('hi') })
      await received(server, wrap(other))
      log(server.address().port === port, server.address().address)
      await t.show(await t.open(server))
      server.close()
    }
  }
}

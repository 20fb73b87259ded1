// Details that programs depended on when they moved from servers of node:http2.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFile } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addAbortSignal, finished } from 'node:stream'
import { inspect } from 'node:util'
import { compat, core, http1, responding, session, throwing } from '../shapes.mjs'
import { cert, closing, key } from '../stage.mjs'

const POST = { headers: { ':method': 'POST' }, body: 'hello there' }
/** Values with blanks around them. */
const BLANK = ['a ', 'a\t', ' a', '\ta b\t']

/** A pipe with a name, which is written once. */
const piped = respond => async (http2, t) => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-pipe-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const server = http2.createServer()
  server.on('stream', stream => {
    stream.on('error', error => { t.log('server')(error) })
    respond(stream, path)
    writeFile(path, 'out of a pipe', () => {})
  })
  try {
    await t.show(await t.open(server))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export default {
  'headers by turns': core((stream, { log }) => {
    try {
      stream.respond([':status', 201, 'x-a', 'b', 'x-c', 'd', 'x-c', 'e'])
    } catch (error) {
      log(error)
      stream.respond()
    }
    stream.end('ok')
  }),
  'a pipe is sent as a file': piped((stream, path) => { stream.respondWithFile(path) }),
  'createSecureServer takes no function': async (http2, t) => {
    t.attempt(t.log('server'), 'function', () => http2.createSecureServer(() => {}))
  },
  'a response without its request': compat((request, response, { log }) => {
    response.req = null
    response.on('close', () => { log('close', response.req) })
    response.end('ok')
  }),
  'an end after the end of the stream calls back': compat((request, response, { log }) => {
    response.stream.close(8)
    response.stream.on('close', () => {
      response.end('late', () => { log('called back') })
    })
  }),
  'an end after the close of a HEAD calls back': compat((request, response, { log }) => {
    response.on('close', () => { response.end(() => { log('called back') }) })
    response.end()
  }, { headers: { ':method': 'HEAD' } }),
  'sockets are of the class of node:net': compat((request, response, { log }) => {
    log(request.socket instanceof net.Socket, response.socket instanceof net.Socket, request.stream.session.socket instanceof net.Socket)
    response.end()
  }),
  'sockets of HTTP/1.1 are of the class of node:net': http1((request, response, { log }) => {
    log(request.socket instanceof net.Socket, response.socket instanceof net.Socket)
    response.end()
  }),
  'a listener ends the socket of a client without ALPN': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    server.on('secureConnection', socket => { log(socket.alpnProtocol); socket.end('bye') })
    await t.listen(server)
    const socket = await t.connectTls(server)
    await once(socket.resume(), 'close')
  },
  'a write waits in its turn': throwing({ before: stream => stream.writableLength, write: stream => stream.write('four'), after: stream => stream.writableLength }),
  'a write of more than its connection takes counts once': throwing({ write: stream => stream.write(Buffer.alloc(300_000)), after: stream => stream.writableLength, another: stream => stream.write('four'), 'after both': stream => stream.writableLength }),
  'a write of a response waits in its turn': responding({ write: response => response.write('four'), after: response => response.writableLength }),
  'a destroyed session is not closed': session(async (own, { log }) => {
    own.destroy(2)
    log(own.closed, own.destroyed)
    await closing(own)
    log(own.closed, own.destroyed)
  }),
  'the texts of a session and of a stream that end with a code': session(async (own, { log, client }) => {
    own.on('error', error => { log(error.message) })
    own.destroy(2)
    await closing(own)
  }),
  'the text of a stream that ends with a code': core((stream, { log }) => {
    stream.on('error', error => { log(error.message) })
    stream.close(2)
  }),
  'a stream whose request was read is not readable': compat((request, response, { log }) => {
    request.resume()
    request.on('end', () => { setImmediate(() => { log(request.stream.readable); response.end() }) })
  }, POST),
  'values with blanks around them': compat((request, response) => {
    for (const [place, value] of BLANK.entries()) response.setHeader(`x-${place}`, value)
    response.end('ok')
  }),
  'values with blanks around them over HTTP/1.1': http1((request, response) => {
    for (const [place, value] of BLANK.entries()) response.setHeader(`x-${place}`, value)
    response.end('ok')
  }),
  'fields beyond maxHeadersCount are not told': http1((request, response, { log }) => {
    log(Object.keys(request.headers).length)
    response.end()
  }, { headers: { 'x-a': '1', 'x-b': '2', 'x-c': '3' } }, { prepare (server) { server.maxHeadersCount = 2 } }),
  'the events of a connection come in one order': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('connection', () => { log('connection') })
    server.on('session', own => {
      log('session')
      own.on('connect', (connected, socket) => { log('connect', connected === own, socket instanceof net.Socket) })
      own.on('stream', () => { log('stream of the session') })
    })
    server.on('stream', stream => { log('stream'); stream.respond(); stream.end('ok') })
    server.on('request', () => { log('request') })
    await t.show(await t.open(server))
  },
  'a session and a stream are shown as those of node': core((stream, { log }) => {
    for (const made of [stream.session, stream]) log(inspect(made).split(/\s/)[0], inspect(made, { depth: -1 }))
    log(Object.keys(stream.session).length < 100)
    stream.respond()
    stream.end('ok')
  }),
  ...Object.fromEntries(['GET', 'POST'].map(method => [`finished of a request that is not read, ${method}`, compat((request, response, { log }) => {
    finished(request, error => { log('request', error?.code) })
    response.end('ok')
  }, { headers: { ':method': method }, ...(method === 'POST' ? { body: 'hello there' } : {}) })])),
  'the callback of an end comes before the listeners of its event': compat((request, response, { log }) => {
    response.on('finish', () => { log('finish') })
    response.on('close', () => { log('close') })
    response.end('ok', () => { log('called back') })
  }),
  'a GOAWAY that names a stream of the server itself': session(async (own, { log, client, t }) => {
    client.on('goaway', (...given) => { t.log('client')('goaway', ...given) })
    own.goaway(0, 2)
    await new Promise(resolve => { own.ping(resolve) })
    log(own.closed, own.destroyed)
  }),
  'a stream that is destroyed with the error of a signal': core((stream, { log }) => {
    stream.on('close', () => { log(stream.rstCode) })
    stream.on('error', () => {})
    addAbortSignal(AbortSignal.abort(), stream)
  }),
  'a stream that is destroyed with the reason of a signal': core((stream, { log }) => {
    stream.on('close', () => { log(stream.rstCode) })
    stream.on('error', () => {})
    stream.destroy(AbortSignal.abort().reason)
  }),
  'an upgraded socket that nobody reads is told of the end': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
    const reported = new Promise(resolve => {
      server.on('upgrade', (request, socket) => {
        socket.on('end', () => { log('end'); resolve(socket) })
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
      })
    })
    await t.listen(server)
    const socket = await t.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    await once(socket, 'data')
    socket.end()
    const upgraded = await reported
    upgraded.destroy()
  }
}

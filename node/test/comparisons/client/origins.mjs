// Servers of node's own that the generated programs share, one of each version for a process. The path of a request
// names what it is answered with, and the program that asks.
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { bytesOf } from './stage.mjs'

const LARGE = Buffer.alloc(200_000, 'a')
/** The answers to a request. `response` is of node:http or of node:http2's compatible API. */
export const ANSWERS = {
  'a text': response => { response.end('hello') },
  'a text with its length': response => { response.writeHead(200, { 'content-length': 5 }).end('hello') },
  'two pieces': response => { response.write('hel', () => { response.end('lo') }) },
  'nothing': response => { response.end() },
  '200 KB': response => { response.end(LARGE) },
  '204': response => { response.writeHead(204).end() },
  '304': response => { response.writeHead(304, { etag: '"a"' }).end() },
  '404': response => { response.writeHead(404, { 'content-type': 'text/plain' }).end('not here') },
  '500': response => { response.writeHead(500).end('sorry') },
  'fields of several values': response => { response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'], 'x-list': ['a', 'b'], 'x-empty': '' }).end('hello') },
  'a 103 before it': response => {
    response.writeEarlyHints({ link: '</a>; rel=preload' })
    response.end('hello')
  },
  'trailers behind it': response => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.addTrailers({ 'x-sum': '1' })
    response.end('hello')
  }
}

/** A server of one program, in cleartext for `h1`, with listeners by `listen(server)`: its origin. Its sockets end with the program. */
export async function ownServer (stage, version, listen) {
  const server = version === 'h1' ? http.createServer() : https.createServer({ key, cert })
  const sockets = new Set()
  server.on(version === 'h1' ? 'connection' : 'secureConnection', socket => { sockets.add(socket.on('error', () => {})) })
  listen(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.closers.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => { server.close(resolve) })
  })
  return `http${version === 'h1' ? '' : 's'}://localhost:${server.address().port}`
}

/** Ways in which an exchange breaks. What is written before is on its way when it does. */
export const BREAKS = {
  'the connection ends before the head': response => { lose(response) },
  'the connection ends in the body': response => { response.write('hel', () => { lose(response) }) },
  'the connection ends in a body of known length': response => {
    response.writeHead(200, { 'content-length': 5 })
    response.write('hel', () => { lose(response) })
  }
}
/** Codes of RFC 9113 section 7 that a server may reset a stream with. REFUSED_STREAM before a head asks for another
 * try, so that there would be no end of them; HTTP_1_1_REQUIRED asks for another version. */
const CODES = { NO_ERROR: 0, PROTOCOL_ERROR: 1, INTERNAL_ERROR: 2, FLOW_CONTROL_ERROR: 3, SETTINGS_TIMEOUT: 4, STREAM_CLOSED: 5, FRAME_SIZE_ERROR: 6, CANCEL: 8, COMPRESSION_ERROR: 9, CONNECT_ERROR: 10, ENHANCE_YOUR_CALM: 11, INADEQUATE_SECURITY: 12 }
export const RESETS = {}
for (const [name, code] of Object.entries(CODES)) {
  RESETS[`${name} before the head`] = ({ stream }) => { stream.close(code) }
  RESETS[`${name} in the body`] = response => { response.write('hel', () => { response.stream.close(code) }) }
}
/** Answers that never come to an end. */
const PAUSES = {
  'no head': () => {},
  'half a body': response => { response.write('hel') }
}

const ALL = { ...ANSWERS, ...BREAKS, ...RESETS, ...PAUSES }
const lose = response => { (response.stream?.session ?? response.socket).destroy() }

/** Watchers of a program's requests, by its number: called with the request and its body. */
const watchers = new Map()
let last = 0

async function handle (request, response) {
  request.on('error', () => {})
  response.on('error', () => {})
  response.stream?.on('error', () => {})
  const [, number, answer] = request.url.split('/')
  const watcher = watchers.get(Number(number))
  const body = await bytesOf(request).catch(() => undefined)
  if (body === undefined) return
  watcher?.(request, body)
  ALL[decodeURIComponent(answer)](response)
}

const MAKE = {
  h1: () => http.createServer({ keepAliveTimeout: 60_000 }, handle),
  h1s: () => https.createServer({ key, cert, keepAliveTimeout: 60_000 }, handle),
  h2: () => http2.createSecureServer({ key, cert }, handle),
  h2c: () => http2.createServer({}, handle)
}
const ours = { connect: { ca: cert } }
/** Options of a dispatcher for each version. */
export const VERSIONS = { h1: {}, h1s: { ...ours, allowH2: false }, h2: ours, h2c: { useH2c: true } }
/** HTTP/3 of this package is compared with HTTP/2 of undici: callers see the same, except for the number of the version. */
export const NEXT = 'h3'

/** HTTP/3 of this package, where the module has servers; else HTTP/2. */
function makeNext (module) {
  return module.http2 === undefined ? MAKE.h2() : module.http2.createSecureServer({ key, cert, http3: true }, handle)
}
/** Options of a dispatcher of the module for the version. */
export const optionsOf = (module, version) => version === NEXT ? { ...ours, ...module.http2 === undefined ? {} : { http3: 'only' } } : VERSIONS[version]

const started = new Map()
async function start (version, module) {
  const server = version === NEXT ? makeNext(module) : MAKE[version]()
  server.on('sessionError', () => {}).on('clientError', (error, socket) => { socket.destroy(error) })
  server.on('session', session => { session.on('error', () => {}) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http${version.endsWith('s') || version === 'h2' || version === NEXT ? 's' : ''}://localhost:${server.address().port}`
}

/** The origin of a version, and the path for an answer; `watcher` is called for each request to it. */
export async function originOf (version, watcher, module) {
  if (!started.has(version)) started.set(version, start(version, module))
  const number = ++last
  watchers.set(number, watcher)
  return { origin: await started.get(version), path: answer => `/${number}/${encodeURIComponent(answer)}` }
}

// Servers that count what reaches them.
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { cert, certFile, key, keyFile } from '../certificates/certificate.mjs'

/** Starts a server with this handler, and counts sockets, sessions, and requests in flight. */
async function counted (server, secure, handler) {
  const counts = { sockets: 0, open: 0, sessions: 0, requests: 0, inFlight: 0, most: 0 }
  const sockets = new Set()
  server.on(secure ? 'secureConnection' : 'connection', socket => {
    counts.sockets++
    counts.open++
    socket.unref()
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => { counts.open--; sockets.delete(socket) })
  })
  server.on('session', session => {
    counts.sessions++
    session.on('error', () => {})
  })
  server.on('request', (request, response) => {
    counts.requests++
    counts.most = Math.max(counts.most, ++counts.inFlight)
    response.on('close', () => { counts.inFlight-- })
    request.on('error', () => {})
    response.on('error', () => {})
  })
  server.on('request', handler)
  // A test that fails before it closes its server must end all the same.
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const url = `http${secure ? 's' : ''}://localhost:${server.address().port}`
  const close = async () => {
    // Neither the server nor its sockets hold the process, which would end before they have closed.
    const awake = setInterval(() => {}, 1000)
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
    clearInterval(awake)
  }
  return { url, counts, server, close, sockets, [Symbol.asyncDispose]: close }
}

/** HTTP/1.1 without TLS. */
export function h1 (handler) { return counted(http.createServer({ keepAliveTimeout: 60_000 }), false, handler) }

/** HTTP/1.1 over TLS. */
export function h1s (handler) { return counted(https.createServer({ cert, key, keepAliveTimeout: 60_000 }), true, handler) }

/** A handler for node:http2, called after the frame that brought its request was read. A stream or session
 * closed within the callback of that frame is freed under nghttp2, which goes on to use it
 * (https://github.com/nodejs/node/issues/64113): the process dies of a corrupted heap, now and then. */
export function outsideOfFrames (handler) {
  return (request, response) => { setImmediate(handler, request, response) }
}

/** HTTP/2 over TLS, HTTP/1.1 if `allowHTTP1`. */
export function h2 (handler, options = {}) { return counted(http2.createSecureServer({ cert, key, ...options }), true, outsideOfFrames(handler)) }

/** HTTP/2 without TLS. */
export function h2c (handler, options = {}) { return counted(http2.createServer(options), false, outsideOfFrames(handler)) }

/** The three ways in which most tests run, with the options that a dispatcher needs for each. */
export const ways = [
  { name: 'h1', serve: h1, options: {} },
  { name: 'h1 over TLS', serve: h1s, options: { connect: { ca: cert } } },
  { name: 'h2', serve: h2, options: { connect: { ca: cert } } }
]

/** How long the origin may take to start, and to end. */
const ORIGIN_MS_MAX = 60_000

/** A program of the engine's examples: built by `make test`, or by `cargo build --example NAME`. */
export function example (name) {
  const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../../../target', import.meta.url))
  const folders = ['debug', 'release'].map(kind => `${target}/${kind}/examples`)
  const { TRUNKLINE_ORIGIN: origin } = process.env
  if (origin !== undefined) folders.unshift(dirname(origin))
  const program = folders.map(folder => `${folder}/${name}`).find(existsSync)
  if (program === undefined) throw new Error(`no program ${name} in ${folders.join(', ')}: cargo build -p trunkline --example ${name}`)
  return program
}

/** The engine's own origin, for HTTP/3. */
export async function origin () {
  const program = example('origin')
  const child = spawn(program, [certFile, keyFile], { stdio: ['pipe', 'pipe', 'inherit'] })
  const spoken = once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(ORIGIN_MS_MAX) })
  const [line] = await spoken.catch(error => {
    child.kill()
    throw new Error(`${program} did not say its ports within ${ORIGIN_MS_MAX / 1000} s`, { cause: error })
  })
  const ports = JSON.parse(line)
  child.unref()
  child.stdout.unref()
  child.stdin.unref()
  const close = async () => {
    child.ref()
    const ended = once(child, 'exit')
    const late = setTimeout(() => { child.kill('SIGKILL') }, ORIGIN_MS_MAX)
    child.stdin.end()
    const [, signal] = await ended
    clearTimeout(late)
    if (signal === 'SIGKILL') throw new Error(`${program} did not end within ${ORIGIN_MS_MAX / 1000} s and was killed`)
  }
  return {
    https: `https://localhost:${ports.https}`,
    http: `http://localhost:${ports.http}`,
    close,
    [Symbol.asyncDispose]: close
  }
}

// The environment of a program in this folder: servers of node:http, node:http2 and node:net on
// ports of their own, dispatchers that are destroyed behind it, and a log for each of its sides.
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { outsideOfFrames } from '../../support/servers/servers.mjs'
import { displayed, Sides, turns } from '../sides.mjs'

export { cert, displayed, turns }

/** How many requests are sent to give what may happen the time to. */
const ROUND_TRIPS = 20

/** Resolves behind requests of a Client of its own, one after another: what was on its way when it was called has come by then. */
export async function roundTrips (module, stage, request, options = {}) {
  const client = stage.own(new module.Client(request.origin, options))
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    // A program that needs no more of them ends, and its dispatchers with it.
    const text = await client.request({ method: 'GET', ...request }).then(({ body }) => body.text()).catch(() => null)
    if (text === null) return
  }
}

export class Stage extends Sides {
  closers = []

  /** Logs each of the events with its first argument, if that is an error. */
  watch (log, emitter, label, events) {
    for (const event of events) emitter.on(event, (...args) => { log(label, event, ...args.filter(arg => arg instanceof Error)) })
  }

  /** Logs what a promise comes to. */
  async settle (log, label, promise, report = value => [value]) {
    try {
      log(label, '->', ...report(await promise))
    } catch (error) {
      log(label, 'rejected', error)
    }
  }

  /** Logs what a call returns or throws. */
  attempt (log, label, call, report = value => [typeof value]) {
    try {
      const value = call()
      log(label, '->', ...report(value))
      return value
    } catch (error) {
      log(label, 'threw', error)
      return undefined
    }
  }

  async #listen (server, scheme, kind = 'connection') {
    const sockets = new Set()
    const counts = { sockets: 0 }
    server.on(kind, socket => {
      counts.sockets++
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => { sockets.delete(socket) })
    })
    server.on('sessionError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.closers.push(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => { server.close(resolve) })
    })
    return { url: `${scheme}://localhost:${server.address().port}`, port: server.address().port, counts, server }
  }

  /** HTTP/1.1 without TLS. */
  serve (handler, options = {}) {
    return this.#listen(http.createServer({ keepAliveTimeout: 60_000, ...options }, handler), 'http')
  }

  /** HTTP/2 over TLS. */
  serveH2 (handler, options = {}) {
    const server = http2.createSecureServer({ cert, key, ...options })
    server.on('request', outsideOfFrames(handler))
    server.on('session', session => { session.on('error', () => {}) })
    return this.#listen(server, 'https', 'secureConnection')
  }

  /** Bytes: `talk(socket)` for each connection. */
  serveRaw (talk) { return this.#listen(net.createServer(talk), 'http') }

  /** A connection that gives `answer` to the first request on it, by `socket => ...` or as text. */
  serveAnswer (answer) {
    return this.serveRaw(socket => {
      socket.once('data', () => { if (typeof answer === 'string') socket.write(answer, 'latin1'); else answer(socket) })
    })
  }

  /** A dispatcher that is destroyed behind the program. */
  own (dispatcher) {
    this.closers.unshift(() => dispatcher.destroy())
    return dispatcher
  }

  async part () { for (const close of this.closers) await close() }
}

/** When an emitter is closed, whatever its errors. */
export const closing = emitter => new Promise(resolve => { emitter.once('close', resolve) })

/** All bytes of a request, as node:http gives it. */
export async function bytesOf (readable) {
  const chunks = []
  for await (const chunk of readable) chunks.push(chunk)
  return Buffer.concat(chunks)
}

// The environment of a program in this folder: a server of either package, sessions of the client that is compared,
// and a log for each side.
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { fields } from '../server/stage.mjs'
import { displayed, Sides, turns } from '../sides.mjs'

/** How long the sides have to part after a program has ended. */
const PARTING_MS_MAX = 10_000

export { cert, displayed, fields, key, turns }

const { http2: ours } = await import('trunkline')
/** Servers of both packages: a client has to be the same with either. */
export const SERVERS = { node: http2, ours }

/** When an emitter is closed, whatever its errors; known from its beginning, so that it cannot be missed. */
const ends = new WeakMap()
export function closing (emitter) {
  if (!ends.has(emitter)) ends.set(emitter, new Promise(resolve => { emitter.once('close', resolve) }))
  return ends.get(emitter)
}

export class Stage extends Sides {
  closers = []

  /** A listening server; `kind` says of which package. */
  async serve (kind, { secure = false, options = {}, listeners = {} } = {}) {
    const server = secure ? SERVERS[kind].createSecureServer({ cert, key, ...options }) : SERVERS[kind].createServer(options)
    for (const [event, listener] of Object.entries(listeners)) server.on(event, listener)
    server.on('sessionError', () => {})
    const sessions = new Set()
    server.on('session', session => {
      session.on('error', () => {})
      sessions.add(session)
      session.on('close', () => { sessions.delete(session) })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.closers.push(async () => {
      for (const session of sessions) session.destroy()
      await new Promise(resolve => { server.close(resolve) })
    })
    return { url: `http${secure ? 's' : ''}://localhost:${server.address().port}`, server }
  }

  /** A server of bytes. */
  async serveRaw (talk) {
    const sockets = new Set()
    const server = net.createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      talk(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.closers.push(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => { server.close(resolve) })
    })
    return `http://localhost:${server.address().port}`
  }

  /** A session of the client that is compared; its end is logged. */
  open (connect, url, options = {}, log = this.log('session')) {
    const session = connect(url, { ca: cert, family: 4, ...options })
    session.on('error', error => { log('error', error) })
    session.on('close', () => { log('close', session.closed, session.destroyed) })
    closing(session)
    this.closers.unshift(async () => {
      session.destroy()
      await closing(session)
    })
    return session
  }

  /** Logs what becomes of a stream; resolves with its end. */
  async watch (stream, name = 'stream') {
    const [log, sent] = [this.log(name), this.log(`${name}, sending`)]
    let bytes = 0
    stream.on('ready', () => { log('ready', stream.id) })
    stream.on('headers', (head, flags) => { log('headers', fields(head), flags) })
    stream.on('continue', () => { log('continue') })
    stream.on('response', (head, flags, raw) => { log('response', fields(head), flags, raw.length) })
    stream.on('data', piece => { bytes += piece.length })
    stream.on('trailers', (head, flags) => { log('trailers', fields(head), flags, bytes) })
    stream.on('end', () => { log('end', bytes) })
    stream.on('aborted', () => { log('aborted') })
    stream.on('error', error => { log('error', error) })
    stream.on('finish', () => { sent('finish') })
    await closing(stream)
    log('close', stream.rstCode, stream.aborted, stream.destroyed, stream.closed)
  }

  async part () {
    let timer
    const late = new Promise(resolve => { timer = setTimeout(resolve, PARTING_MS_MAX) })
    for (const close of this.closers) await Promise.race([close(), late])
    clearTimeout(timer)
  }
}

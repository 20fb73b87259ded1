// Exchanges that leave HTTP: a connection of HTTP/1.1, or a stream of HTTP/2 or HTTP/3 by extended
// CONNECT. Listeners of `upgrade` get a socket whose first bytes must be the head of an HTTP/1.1
// response, as with node; behind a 101 the bytes are theirs. On a stream the 101 becomes a 200. A
// connection that never used HTTP has no head before its bytes.

import { apart } from '../../channel/ring'
import { HttpVersion, ResponseFlag } from '../../channel/codes'
import type { Exchange, ServerExchangeCallbacks } from '../../server/exchange'
import { aborted, ErrorCode } from '../codes'
import { asked } from '../callbacks/asked'
import { Intake } from '../stream/intake'
import { Socket, socketOf, type SocketBytes } from '../connection/socket'
import { Chunks } from '../../syntax/chunks'

/** Characters of a head that is written in pieces. */
export const HEAD_LENGTH_MAX = 64 * 1024
const SWITCHING = 101
const OK = 200
const REDIRECTS = 300
/** HTTP/1.1 fields of an upgrade, which extended CONNECT does not have (RFC 8441 section 5). */
const OF_UPGRADES = new Set(['connection', 'upgrade', 'sec-websocket-accept', 'transfer-encoding'])
/** The start of the reason phrase behind a status. */
export const REASON_AT = 'HTTP/1.1 200 '.length
export const END_OF_HEAD = '\r\n\r\n'
const IS_LENGTH = /^content-length\s*:\s*\d+\s*$/i
/** Chunked is what the head says of a body, which proxies may write without chunks behind the head of their upstream (http-proxy). */
const IS_CHUNKED = /^transfer-encoding\s*:.*\bchunked\b/i
/** The line in front of a chunk, or as much of it as is there. */
const LINE_OF_CHUNK = /^[\da-f]{1,8}[ \t]*(;[^\r\n]*)?(\r\n|\r?$)/i
const LINE_LENGTH = 256

/** The body of a request that asks for an upgrade, where it is the request's and only what follows it is the socket's. */
export interface BodyInFront {
  onData: (chunk: Buffer) => void
  onEnd: () => void
  /** The rest does not come. */
  onCut: () => void
  /** A reader of the bytes behind it has room: it flows, as without a reader nothing would come behind it. */
  flow: () => void
}

/** The bytes of an exchange that leaves HTTP, which `socket` carries. */
export class UpgradeBytes implements SocketBytes, ServerExchangeCallbacks {
  private readonly intake: Intake
  /** The part of the head written so far; `null`: it was sent. */
  private head: string | null = ''
  private waiting: ((error?: Error) => void)[] = []
  /** The next end is that of the body of the request, which asks for an upgrade over HTTP/1.1: other bytes follow behind a 101. */
  private awaitsBodyEnd: boolean
  /** Undefined: there is none, or it has come, or the socket gets it. */
  bodyInFront: BodyInFront | undefined
  /** Bytes that its listener has already, as `head`: the first that come. */
  skips = 0
  /** The head refuses the upgrade of a connection of HTTP/1.1, which ends behind it. */
  private endsConnection = false
  /** The answer of a stream that goes on with HTTP: it is sent whole, once its body is, or its socket ends. */
  private refusal: { status: number; reason: string; fields: string; body: Buffer[] } | null = null
  /** Bytes of the body of that answer that are to come; null: its head does not say. */
  private left: number | null = null
  private isOver = false
  /** The chunks of the body of an answer; true: its first bytes say whether it has any. */
  private chunks: Chunks | boolean = false

  /** `isBare`: no head stands before the bytes; `answers`: what is written is an answer, whatever its status. */
  constructor (protected readonly exchange: Exchange, protected readonly socket: Socket, isBare = false, private readonly answers = exchange.version >= HttpVersion.Http2) {
    if (isBare) {
      this.head = null
      exchange.headSent = true
    }
    this.awaitsBodyEnd = !isBare && exchange.version < HttpVersion.Http2 && exchange.hasBody
    this.intake = new Intake(exchange, true)
    exchange.owner = exchange.callbacks = this
    socket.$carry(this)
  }

  get isUnread (): boolean { return this.intake.isWhole && (this.intake.holds || this.socket.readableLength > 0) }

  read (): void {
    this.bodyInFront?.flow()
    this.intake.read(this.socket)
  }

  write (chunk: Buffer, done: (error?: Error) => void): void {
    const body = this.head === null ? chunk : this.writeHead(chunk)
    if (body === undefined) return done(new TypeError('a head of HTTP/1.1 must be written before anything else'))
    try {
      if (body.length > 0) this.writeBody(body)
    } catch (error) {
      return done(error as Error)
    }
    if (this.exchange.hasRoom) done()
    else this.waiting.push(asked('WRITEWRAP', done))
  }

  private writeBody (bytes: Buffer): void {
    if (this.chunks === true) this.chunks = LINE_OF_CHUNK.test(bytes.toString('latin1', 0, LINE_LENGTH)) && new Chunks()
    const { chunks } = this
    if (typeof chunks === 'boolean') return this.writePiece(bytes)
    chunks.take(bytes, piece => { this.writePiece(piece) })
    if (chunks.isOver) this.end()
  }

  private writePiece (bytes: Buffer): void {
    if (this.refusal === null) return this.exchange.write(bytes)
    this.refusal.body.push(Buffer.from(bytes.subarray(0, this.left ?? bytes.length)))
    if (this.left === null) return
    this.left -= Math.min(this.left, bytes.length)
    if (this.left === 0) this.end()
  }

  /** Ends what was written: it is whole. */
  private end (): void {
    const { exchange, refusal } = this
    if (refusal === null) exchange.end()
    else if (!exchange.headSent) {
      // A stream ends with it, and reports that: its socket closes behind it.
      const isStream = exchange.version >= HttpVersion.Http2
      exchange.answer(refusal.status, refusal.fields, Buffer.concat(refusal.body), ResponseFlag.NoDate | (isStream ? 0 : ResponseFlag.Quiet), refusal.reason)
      if (isStream) exchange.decline()
    }
  }

  /** Writes the head; returns the bytes of the piece behind it, or undefined for none. */
  private writeHead (chunk: Buffer): Buffer | undefined {
    const text = this.head! + chunk.toString('latin1')
    const end = text.indexOf(END_OF_HEAD)
    if (end === -1) {
      this.head = text
      return text.length > HEAD_LENGTH_MAX ? undefined : Buffer.alloc(0)
    }
    const [first = '', ...lines] = text.slice(0, end).split('\r\n')
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]
    if (status === undefined) return undefined
    this.head = null
    this.respond(Number(status), first.slice(REASON_AT), lines)
    return Buffer.from(text.slice(end + END_OF_HEAD.length), 'latin1')
  }

  private respond (status: number, reason: string, lines: string[]): void {
    const { exchange } = this
    const isStream = exchange.version >= HttpVersion.Http2
    const fields: string[] = []
    for (const line of lines) {
      const colon = line.indexOf(':')
      const given = line.slice(0, colon).trim()
      // HTTP/1.1 spells names as they were written: some clients compare them so.
      const name = isStream ? given.toLowerCase() : given
      if (!isStream || !OF_UPGRADES.has(name)) fields.push(`${name}\0${line.slice(colon + 1).trim()}`)
    }
    if (!this.answers && !this.leavesHttp(status)) {
      this.endsConnection = true
      // The end of such a body is that of its connection.
      if (!lines.some(line => /^connection\s*:/i.test(line))) fields.push('Connection\0close')
    }
    const text = fields.join('\0')
    this.chunks = (this.answers ? status !== SWITCHING : this.endsConnection) && lines.some(line => IS_CHUNKED.test(line))
    if (this.answers && status !== SWITCHING) {
      this.refusal = { status, reason: isStream ? '' : reason, fields: text, body: [] }
      const length = lines.find(line => IS_LENGTH.test(line))
      this.left = exchange.isHead || length === undefined ? null : Number(length.slice(length.indexOf(':') + 1))
      if (this.left === 0) this.end()
    } else exchange.respond(isStream ? 200 : status, text, ResponseFlag.NoDate, isStream ? '' : reason)
  }

  /** Whether other bytes than those of HTTP follow a head with this status. */
  private leavesHttp (status: number): boolean {
    return status < OK || (this.exchange.method === 'CONNECT' && status < REDIRECTS)
  }

  finish (done: () => void): void {
    const { exchange } = this
    this.isOver = true
    // A part of a head answers nothing.
    if (this.head !== null) exchange.reset(ErrorCode.Cancel)
    // A listener that refuses destroys the socket next, which must not reset bytes in flight.
    else this.end()
    if (this.endsConnection) exchange.connection.shutDown()
    done()
  }

  /** As on one of the system what was written leaves, and an end follows it. */
  leave (): void {
    const { exchange } = this
    if (this.refusal !== null && !this.isOver) {
      // It may wait here for its end, so that it has a length.
      this.finish(() => {})
      return exchange.decline()
    }
    const leaves = exchange.version >= HttpVersion.Http2 || this.endsConnection
    if (!leaves || !exchange.headSent || exchange.done || exchange.closed) return exchange.reset(ErrorCode.Cancel)
    exchange.end()
    exchange.decline()
    // A refusal without a length ends with its connection: what the engine frames it by must be whole.
    if (this.endsConnection) exchange.connection.shutDown()
  }

  $onData (chunk: Buffer): void {
    this.socket.$refresh()
    if (this.bodyInFront !== undefined) return this.bodyInFront.onData(chunk)
    const skipped = Math.min(this.skips, chunk.length)
    if (skipped > 0) {
      this.skips -= skipped
      this.exchange.take(skipped)
    }
    if (skipped < chunk.length) this.intake.onData(skipped === 0 ? chunk : chunk.subarray(skipped))
  }
  $onEnd (): void {
    if (this.awaitsBodyEnd) {
      this.awaitsBodyEnd = false
      const { bodyInFront } = this
      this.bodyInFront = undefined
      bodyInFront?.onEnd()
      return
    }
    const { intake, socket } = this
    // As on a socket of node's, which emits the end without a reader where no bytes remain.
    if (!intake.holds && socket.readableFlowing === null) socket.push(null)
    intake.onEnd()
    socket.read(0)
  }
  $onRoom (): void { if (this.exchange.hasRoom) for (const done of this.waiting.splice(0)) done() }
  $onClosed (_code?: number): void {
    // An end in order alone is reported as one.
    if (this.socket.$hasFailed) this.socket.destroy()
    else this.socket.$gone()
    this.bodyInFront?.onCut()
    // Destroyed before: only the writers get the error.
    for (const done of this.waiting.splice(0)) apart(() => { done(aborted()) })
  }
}

/** A socket of its own for the bytes of an exchange. */
export function upgradeSocket (exchange: Exchange, isBare = false): Socket {
  const socket = socketOf(Socket, exchange.connection.encrypted, exchange.connection)
  new UpgradeBytes(exchange, socket, isBare)
  return socket
}

/**
 * The protocol that the client asks for in place of HTTP: by the fields of HTTP/1.1 (RFC 9110
 * section 7.8), by extended CONNECT elsewhere.
 */
export function wantedUpgrade (exchange: Exchange): string | null {
  if (exchange.version >= HttpVersion.Http2) return exchange.protocol.toLowerCase() || null
  const wanted = exchange.field('connection')
  if (wanted === undefined || !/\bupgrade\b/i.test(wanted)) return null
  return exchange.field('upgrade')?.toLowerCase() ?? null
}

// One request and its response, on any version: the base of the web-standard server and of the API
// of `node:http2`. The head is parsed on first access.

import type { AsyncResource } from 'node:async_hooks'
import { HttpVersion, ResponseFlag } from '../channel/codes'
import { HEAD_BYTES_MAX } from '../channel/ring'
import { Fifo } from '../fifo'
import { AHEAD_BYTES_MAX } from './ahead'
import type { Connection } from './connection'
import { within } from './scope'
import { nextTick, setImmediate } from '../timers'

const HEAD = 'HEAD'

/** The callbacks of a request after its head. */
export interface ServerExchangeCallbacks {
  /** A piece of the request's body, theirs to keep; the peer may send more after `take`. */
  $onData: (chunk: Buffer) => void
  /** The request is whole; trailers, where it has a section of them, as `Exchange.respond` takes fields. */
  $onEnd: (trailers?: string) => void
  /** The file of `Exchange.answerFile` cannot be sent; nothing was, and another answer may be. */
  onFileFailed?: (error: NodeJS.ErrnoException) => void
  /** The connection took `bytes` of the response. */
  $onRoom: (bytes: number) => void
  /** The client has ended its side of its connection, which it may on HTTP/1.1: it waits for the answer or
   * is gone, and the two look the same. */
  onHalfClosed?: () => void
  /**
   * The exchange is over, the last event. 0: both sides are complete; else why it ended early, as
   * an HTTP/2 error code.
   */
  $onClosed: (code: number, byPeer: boolean) => void
}

/** The channel's commands on an exchange. */
interface ExchangeCommands {
  forget: (exchange: Exchange) => void
  answer: (exchange: Exchange, status: number, fields: string, body: Buffer | string | null, streams: boolean, flags: number, reason: string) => void
  answerFile: (exchange: Exchange, status: number, fields: string, which: Buffer, flags: number) => void
  sendInformational: (exchange: Exchange, status: number, fields: string) => void
  send: (exchange: Exchange, chunk: Buffer, isLast: boolean) => void
  finish: (exchange: Exchange, trailers: string) => void
  take: (exchange: Exchange, bytes: number) => void
  decline: (exchange: Exchange) => void
  reset: (exchange: Exchange, code: number) => void
}

/** Throws where a text is too long to cross in one piece: nothing of it has been sent then. */
export function checkLength (bytes: number): void {
  if (bytes > HEAD_BYTES_MAX) throw new RangeError(`the fields have ${bytes} bytes; they must have at most ${HEAD_BYTES_MAX}`)
}

/** Characters of a head whose fields are kept for the next one. */
const KNOWN_LENGTH_MAX = 4096
/** The fields that were read last, which are mostly the next ones too: requests of a client differ in their paths. */
let known: { section: string; isSpelled: boolean; fields: readonly string[] } = { section: '', isSpelled: false, fields: [] }

/** Names and values by turns of the fields that stand behind the parts of a head, each behind a line feed. `isSpelled`: what
 * follows them are their names as the client spelled them. */
function fieldsIn (section: string, isSpelled: boolean): string[] {
  const fields: string[] = []
  const named = section.indexOf('\n\0')
  const fieldsEnd = named === -1 ? section.length : named
  for (let at = 0; at < fieldsEnd;) {
    const zero = section.indexOf('\0', at)
    const end = section.indexOf('\n', zero)
    const next = end === -1 ? section.length : end
    fields.push(section.slice(at + 1, zero), section.slice(zero + 1, next))
    at = next
  }
  if (named !== -1 && isSpelled) for (const [index, name] of section.slice(named + 2).split(',').entries()) fields[2 * index] = name
  return fields
}

export class Exchange {
  /** State that the owner of the callbacks keeps here. */
  owner: unknown = null
  /** Bytes of the answer's body that the connection has not taken. */
  pending = 0
  /** The peer has ended it before the connection had taken all that was written: no room comes for it. */
  isCut = false
  /** Copies of pieces that wait for room in the channel, the oldest first. */
  copies: Fifo<Buffer> | null = null
  headSent = false
  /** Our side has ended. */
  done = false
  /** The request is whole. */
  received: boolean
  closed = false
  /** The channel's turn in which its last event was reported. */
  turn = 0
  /** The number of its timeline, which a page of `inspect` and `trunkline explain` have; 0: it has none. */
  timelineId = 0
  /** How it ended; `null`: not yet. */
  closeCode: number | null = null
  /** The request is one of HTTP/1.0. */
  isHttp10 = false
  /** The context of its events. */
  readonly scope: AsyncResource
  /** Bytes that came behind a request which asks to leave HTTP/1.1, and come again where it does. */
  upgradeHead: Buffer | undefined
  private listening: ServerExchangeCallbacks | null = null
  /** Its owner learns of it in a later turn, and of what came meanwhile behind that. */
  isLate = false
  /** The callbacks of a late one, until its owner has it. */
  private waiting: ServerExchangeCallbacks | null = null
  /** Events before the callbacks were set. */
  private early: ((callbacks: ServerExchangeCallbacks) => void)[] | null = null

  constructor (
    private readonly bridge: ExchangeCommands,
    readonly connection: Connection,
    readonly number: number,
    readonly serial: number,
    /** On HTTP/1.1 the exchanges of a connection count from 1. */
    readonly streamId: number,
    readonly hasBody: boolean,
    private readonly text: string,
    /** Where the first three of the five parts end that stand in front of the fields. */
    private readonly methodEnd: number,
    private readonly pathEnd: number,
    private readonly authorityEnd: number
  ) {
    this.received = !hasBody
    this.scope = within(connection.listener.scope, 'TRUNKLINEREQUEST')
  }

  get version (): number { return this.connection.version }
  /** Characters of the head: its parts, names and values have no more. */
  get headLength (): number { return this.text.length }
  get method (): string { return this.text.slice(0, this.methodEnd) }
  get isHead (): boolean { return this.methodEnd === HEAD.length && this.text.startsWith(HEAD) }
  /** Path and query; empty on CONNECT. */
  get path (): string { return this.text.slice(this.methodEnd + 1, this.pathEnd) }
  get authority (): string { return this.text.slice(this.pathEnd + 1, this.authorityEnd) }
  /** The scheme that the request has; one of HTTP/1.1 has it in absolute form alone (RFC 9112 section 3.2.2). */
  get ownScheme (): string { return this.text.slice(this.authorityEnd + 1, this.schemeEnd) }
  get scheme (): string {
    const scheme = this.ownScheme
    if (scheme !== '') return scheme
    return this.connection.encrypted ? 'https' : 'http'
  }

  /** The protocol of an extended CONNECT. */
  get protocol (): string { return this.text.slice(this.schemeEnd + 1, this.protocolEnd) }
  /** The pseudo-headers as the client sent them, a letter for each. */
  get pseudoOrder (): string { return this.text.slice(this.protocolEnd + 1, this.fieldsStart) || 'masp' }

  private get schemeEnd (): number { return this.text.indexOf('\0', this.authorityEnd + 1) }
  private get protocolEnd (): number {
    const { fieldsStart } = this
    const at = this.text.indexOf('\0', this.schemeEnd + 1)
    return at === -1 || at > fieldsStart ? fieldsStart : at
  }
  private get fieldsStart (): number {
    const at = this.text.indexOf('\n', this.authorityEnd)
    return at === -1 ? this.text.length : at
  }

  /** The first value of a field by its lower-case name. */
  field (name: string): string | undefined {
    const { text } = this
    const at = text.indexOf('\n' + name + '\0')
    if (at === -1) return undefined
    const from = at + name.length + 2
    const to = text.indexOf('\n', from)
    return to === -1 ? text.slice(from) : text.slice(from, to)
  }

  /** All values of a field by its lower-case name, with `between` between two. */
  joined (name: string, between: string): string | undefined {
    const { text } = this
    const mark = '\n' + name + '\0'
    let value: string | undefined
    for (let at = text.indexOf(mark); at !== -1;) {
      const from = at + mark.length
      const to = text.indexOf('\n', from)
      const one = to === -1 ? text.slice(from) : text.slice(from, to)
      value = value === undefined ? one : value + between + one
      at = to === -1 ? -1 : text.indexOf(mark, to)
    }
    return value
  }

  /** Names and values by turns, in the order they came, behind what is in `raw`; names in lower case,
   * but where a listener asked for their spelling. */
  rawFields (raw: string[] = []): string[] {
    const { text } = this
    const section = text.slice(this.fieldsStart)
    const isSpelled = this.version < HttpVersion.Http2
    if (section !== known.section || isSpelled !== known.isSpelled) {
      const fields = fieldsIn(section, isSpelled)
      if (text.length > KNOWN_LENGTH_MAX) return raw.concat(fields)
      known = { section, isSpelled, fields }
    }
    return raw.concat(known.fields)
  }

  /** The names of fields that the client has marked never-indexed (RFC 7541 section 7.1.3). */
  get sensitive (): string[] {
    const named = this.version < HttpVersion.Http2 ? -1 : this.text.indexOf('\n\0')
    return named === -1 ? [] : this.text.slice(named + 2).split(',')
  }

  get callbacks (): ServerExchangeCallbacks | null { return this.waiting ?? this.listening }
  /** Sets the callbacks, which get earlier events first. */
  set callbacks (callbacks: ServerExchangeCallbacks | null) {
    if (this.isLate && this.early !== null) {
      if (this.waiting === null) nextTick(() => { this.endWaiting() })
      this.waiting = callbacks
      return
    }
    this.listening = callbacks
    const { early } = this
    if (callbacks === null || early === null) return
    this.early = null
    for (const report of early) report(callbacks)
  }

  private endWaiting (): void {
    const { waiting } = this
    this.isLate = false
    this.waiting = null
    if (waiting !== null) this.callbacks = waiting
  }

  private report (report: (callbacks: ServerExchangeCallbacks) => void): void {
    if (this.listening !== null) report(this.listening)
    else (this.early ??= []).push(report)
  }

  // The events of the channel.

  arrived (chunk: Buffer, isLast: boolean): void {
    const { listening } = this
    if (isLast) this.received = true
    try {
      if (chunk.length > 0 && listening !== null) listening.$onData(chunk)
      else if (chunk.length > 0) this.report(callbacks => { callbacks.$onData(chunk) })
    } finally {
      // Also behind a piece at which a listener has thrown.
      if (isLast) this.report(callbacks => { callbacks.$onEnd() })
    }
  }

  finished (trailers: string): void {
    this.received = true
    this.report(callbacks => { callbacks.$onEnd(trailers) })
  }

  fileFailed (error: NodeJS.ErrnoException): void {
    this.headSent = this.done = false
    this.listening?.onFileFailed?.(error)
  }

  halfClosed (): void { this.report(callbacks => { callbacks.onHalfClosed?.() }) }

  took (bytes: number): void {
    this.hold(-bytes)
    this.listening?.$onRoom(bytes)
  }

  ended (code: number, byPeer: boolean, timelineId = 0): void {
    this.over(code, byPeer)
    this.timelineId = timelineId
    // A failure of its connection came before, and is reported in the turn in which the owner of a late one learns of it.
    if (code !== 0 && this.isLate) return this.report(callbacks => { setImmediate(() => { callbacks.$onClosed(code, byPeer) }) })
    this.report(callbacks => { callbacks.$onClosed(code, byPeer) })
  }

  /**
   * Gives `target`, an error or what stands for the exchange, the exchange's timeline where it has one, as errors of a client have theirs. `isShown`:
   * console.log prints its number. The faces of Node.js's own modules keep it from there, and from comparisons. What is there already stays.
   */
  withTimeline<T extends object> (target: T, isShown = false): T {
    const { timelineId, connection: { listener } } = this
    if (timelineId === 0 || 'timelineId' in target || 'timeline' in target) return target
    const keep = (value: unknown): void => { Object.defineProperty(target, 'timeline', { value, writable: true, enumerable: true, configurable: true }) }
    return Object.defineProperties(target, {
      timelineId: { value: timelineId, writable: true, enumerable: isShown, configurable: true },
      // A program may have a timeline of its own on its request.
      timeline: { get: () => listener.timeline(timelineId), set: keep, configurable: true }
    })
  }

  private hold (bytes: number): void {
    this.pending += bytes
    this.connection.listener.ahead.held += bytes
  }

  /** Bytes that may be pending before the writer waits: those of one response, and less where a server has many whose
   * clients do not read. */
  get pendingMax (): number { return this.connection.listener.ahead.room }
  /** Whether a whole body of this length may be given; otherwise it goes in pieces, as fast as its client takes it. */
  takesWhole (length: number): boolean { return this.connection.listener.ahead.takesWhole(length) }
  /** Whether more may be written now. */
  get hasRoom (): boolean { return this.pending <= this.pendingMax }

  private over (code: number, byPeer = false): void {
    if (this.closed) return
    this.closed = true
    this.closeCode = code
    // An answer that is whole may end with bytes whose room was not reported.
    this.isCut = byPeer && this.pending > 0
    this.hold(-this.pending)
    this.copies?.takeAll()
    this.connection.open--
  }

  // Calls of its owner. After its end every call changes nothing.

  /** Bytes of the request's body were taken: the peer may send as many more. */
  take (bytes: number): void { if (!this.closed && bytes > 0) this.bridge.take(this, bytes) }

  /** The whole answer. `fields`: names and values by turns, a zero between two; a one before a name
   * keeps its value out of the compressors' tables. Names are in lower case, except for HTTP/1.1, which
   * also says `reason` behind the status, unless it is empty. */
  answer (status: number, fields: string, body: Buffer | string | null, flags = 0, reason = ''): void {
    if (this.closed || this.headSent) return
    checkLength(fields.length)
    this.headSent = this.done = true
    this.bridge.answer(this, status, fields, body, false, flags, reason)
    if ((flags & ResponseFlag.Quiet) === 0) {
      // The engine has a copy until its client has taken it, or is gone.
      if (body !== null && body.length > AHEAD_BYTES_MAX) this.hold(body.length)
      return
    }
    this.bridge.forget(this)
    this.over(0)
  }

  /** An answer whose body is a file, or `length` bytes of it from `offset` on. The engine reads it
   * and says its content-length. `onFileFailed` tells that there is none. */
  answerFile (status: number, fields: string, path: string, offset = 0, length: number | null = null, flags = 0): void {
    if (this.closed || this.headSent) return
    const which = Buffer.from(`${offset}\0${length ?? ''}\0${path}`)
    checkLength(fields.length + which.length)
    this.headSent = this.done = true
    this.bridge.answerFile(this, status, fields, which, flags & ResponseFlag.NoDate)
  }

  /** The head of an answer whose body follows, unless the flags say `End`. */
  respond (status: number, fields: string, flags = 0, reason = ''): void {
    if ((flags & ResponseFlag.End) !== 0) return this.answer(status, fields, null, flags, reason)
    if (this.closed || this.headSent) return
    checkLength(fields.length)
    this.headSent = true
    this.bridge.answer(this, status, fields, null, true, flags, reason)
  }

  /** A piece of the body; `pending` says how much of it waits, `onRoom` when it goes on. */
  write (chunk: Buffer, isLast = false): void {
    if (this.closed || this.done || !this.headSent) return
    this.done = isLast
    if (chunk.length === 0 && !isLast) return
    this.hold(chunk.length)
    this.bridge.send(this, chunk, isLast)
  }

  /** The end of the body, perhaps with trailers. */
  end (trailers = ''): void {
    if (this.closed || this.done || !this.headSent) return
    checkLength(trailers.length)
    this.done = true
    this.bridge.finish(this, trailers)
  }

  /** A 1xx before the answer. */
  sendInformational (status: number, fields: string): void {
    if (this.closed || this.headSent) return
    checkLength(fields.length)
    this.bridge.sendInformational(this, status, fields)
  }

  /** Discards the rest of the request: it is over once its response is with the connection. */
  decline (): void { if (!this.closed && !this.received) this.bridge.decline(this) }

  /** Ends it early. `onClosed` follows. */
  reset (code: number): void { if (!this.closed) this.bridge.reset(this, code) }
}

// The border's half for servers: what is asked of them comes out of the completions' ring, answers
// go into the submissions'. `node/native/desk.rs` is the other end and has the same numbers.

import { apart, BY_REFERENCE, BY_REFERENCE_BYTES_MIN, HEAD_BYTES_MAX, INLINE, PUT, STREAMING, theBorder, type Border, type ServerHalf } from '../ring'
import { theStreams } from '../streams'
import { Connection, type Accounts } from './connection'
import { Exchange } from './exchange'
import type { Listener } from './listener'

// What is completed.
const REQUEST = 16
const DATA = 17
const TRAILERS = 18
const ROOM = 19
const CLOSED = 20
const CONNECTED = 21
const DISCONNECTED = 22
const ENDED = 23
const PONG = 24
const FILE_FAILED = 25
const SETTINGS_RECEIVED = 26
const SETTINGS_ACKNOWLEDGED = 27
const PINGED = 28
const GOAWAY = 29
const STRANGER = 30
const HANDSHAKE_FAILED = 31
const SECRET = 32
const HALF_CLOSED = 33
const HELLO = 34
const REQUEST_REFUSED = 35
const BROKEN = 36
/** Of a handshake that failed: `Listener.refuse` was called, and its ticket stands where the alert does. */
const REFUSED = 9
/** The request's body is to come, or this was not its last piece. */
const MORE = 1 << 10
/** The request is one of HTTP/1.0. */
const HTTP10 = 1 << 11

// What is submitted.
const ANSWER = 16
const INFORM = 17
const SEND = 18
const FINISH = 19
const RESET = 20
const TAKE = 21
const SHUT_DOWN = 22
const ABORT = 23
const SAY = 24
const DECLINE = 25

/** A body that is a file. */
const OF_FILE = 4 << 8

/** What is said of an HTTP/2 connection to its peer (`node/native/said.rs`). */
export const Say = {
  /** Eight bytes. */
  Ping: 1,
  /** As the payload of a SETTINGS frame has them. */
  Settings: 2,
  /** Two numbers: the code, and the last stream that is served (0: the newest); bytes for people. */
  Goaway: 3,
  /** A number: the stream. The origin, a zero, and the value. */
  AltSvc: 4,
  /** Origins with a zero between two. */
  Origins: 5,
  /** A number: the bytes of the connection's receive window. */
  Window: 6
} as const

/** How an answer is given. */
export const Flags = {
  /** No body follows the head. */
  End: 1 << 16,
  /** Nobody waits for the exchange's end: it is forgotten once it is answered. */
  Quiet: 1 << 17,
  /** The date is not added. */
  NoDate: 1 << 18,
  /** The length of a whole body is not said in the head; HTTP/1.1 then sends it in chunks. */
  NoLength: 1 << 19
} as const

/** INTERNAL_ERROR of RFC 9113 section 7. */
export const INTERNAL_ERROR = 2

/** Throws where a text is too long to cross in one piece: nothing of it has been sent then. */
export function checkLength (bytes: number): void {
  if (bytes > HEAD_BYTES_MAX) throw new RangeError(`the fields have ${bytes} bytes; they must have at most ${HEAD_BYTES_MAX}`)
}

/** Code units whose UTF-8 surely goes through the arena: three bytes each at most. */
const TEXT_LENGTH_MAX = BY_REFERENCE_BYTES_MIN / 3

export class ServerBorder implements ServerHalf {
  /** By number; what is over is not there. */
  private readonly exchanges: (Exchange | undefined)[] = []
  private readonly connections = new Map<number, Connection>()
  private readonly listeners = new Map<number, Listener>()

  constructor (readonly border: Border) { border.servers = this }

  /** The listener with this number hears of its connections from here on, until it has ended. */
  enlist (number: number, listener: Listener): void { this.listeners.set(number, listener) }

  /** Nothing is told to this exchange any more. */
  forget (exchange: Exchange): void {
    if (this.exchanges[exchange.number] === exchange) this.exchanges[exchange.number] = undefined
  }

  complete (verb: number, at: number): void {
    const { completions } = this.border
    const number = completions[at + 1]!
    switch (verb) {
      case REQUEST: return this.completeRequest(at)
      case CONNECTED: {
        const { listener, text } = { listener: this.listeners.get(completions[at + 2]!), text: this.text(at) }
        if (listener === undefined) return
        const stream = completions[at + 7]!
        const connection = new Connection(this, listener, number, completions[at + 6]!, text, stream === 0 ? undefined : theStreams().streamOf(stream))
        this.connections.set(number, connection)
        return listener.opened(connection)
      }
      case DISCONNECTED: {
        const connection = this.connections.get(number)
        this.connections.delete(number)
        return connection?.listener.closed(connection)
      }
      case PONG: return this.connections.get(number)?.ears?.onPong(this.data(at), completions[at + 5]! / 1000)
      case PINGED: return this.connections.get(number)?.ears?.onPing(this.data(at))
      case SETTINGS_RECEIVED: return this.connections.get(number)?.ears?.onSettings(this.text(at).split(' ').map(value => value === '-' ? undefined : Number(value)))
      case SETTINGS_ACKNOWLEDGED: return this.connections.get(number)?.ears?.onSettingsAcknowledged(completions[at + 5]! / 1000)
      case GOAWAY: return this.connections.get(number)?.ears?.onGoaway(completions[at + 2]!, completions[at + 5]!, this.data(at))
      case STRANGER: {
        const connection = this.connections.get(completions[at + 5]!)
        if (connection === undefined) return
        const exchange = new Exchange(this, connection, number, completions[at + 2]!, 1, true, '', 0, 0, 0)
        this.exchanges[number] = exchange
        connection.open++
        return connection.listener.ears.onStranger?.(exchange)
      }
      case REQUEST_REFUSED: {
        const connection = this.connections.get(completions[at + 5]!)
        if (connection === undefined) return
        const exchange = new Exchange(this, connection, number, completions[at + 2]!, 1, true, '', 0, 0, 0)
        this.exchanges[number] = exchange
        connection.open++
        const text = this.text(at)
        const zero = text.indexOf('\0')
        const refused = { code: text.slice(0, zero), status: completions[at + 6]!, packet: Buffer.from(text.slice(zero + 1), 'latin1'), parsed: completions[at + 7]! }
        return connection.listener.ears.onRefused?.(exchange, refused)
      }
      case BROKEN: {
        const connection = this.connections.get(number)
        return connection?.listener.ears.onBroken?.(connection, completions[at + 2]!, this.text(at))
      }
      case HANDSHAKE_FAILED:
      case SECRET: {
        const listener = this.listeners.get(number)
        if (listener === undefined) return
        const parts = this.utf8(at).split('\0')
        const connection = new Connection(this, listener, 0, 0, parts.slice(0, 4).join('\0'))
        connection.closed = true
        const said = parts[4] ?? ''
        if (verb === SECRET) return listener.ears.onSecret?.(said, connection)
        const [kind, alert] = [completions[at + 2]!, completions[at + 5]!]
        const error = kind === REFUSED ? listener.refusalOf(alert) : undefined
        return listener.ears.onHandshakeFailed?.({ kind, alert, text: said, error }, connection)
      }
      case HELLO: {
        const listener = this.listeners.get(number)
        if (listener === undefined) return
        const { places, servername, protocols } = JSON.parse(this.utf8(at)) as { places: string; servername: string | null; protocols: string[] }
        const connection = new Connection(this, listener, 0, 0, places)
        connection.closed = true
        return listener.ears.onHello?.({ ticket: completions[at + 2]!, servername: servername ?? undefined, protocols }, connection)
      }
      case ENDED: {
        const listener = this.listeners.get(number)
        this.listeners.delete(number)
        return listener?.ended()
      }
    }
    const exchange = this.exchanges[number]
    const kind = completions[at]!
    if (exchange === undefined) {
      // Nobody reads it any more; what lies outside of the ring is given back.
      if (verb === DATA && (kind & BY_REFERENCE) !== 0) this.border.native.take(completions[at + 5]!)
      return this.border.skip(completions[at + 3]!, completions[at + 4]!)
    }
    switch (verb) {
      case DATA: return exchange.arrived(this.data(at), (kind & MORE) === 0)
      case TRAILERS: return exchange.finished(this.text(at))
      case FILE_FAILED: {
        if (completions[at + 2] !== exchange.serial) return
        const [code, why] = this.utf8(at).split('\0')
        return exchange.fileFailed(Object.assign(new Error(`${code}: ${why}`), { code }))
      }
      case HALF_CLOSED: return exchange.halfClosed()
      case ROOM: return exchange.took(completions[at + 2]!)
      case CLOSED:
        this.exchanges[number] = undefined
        return exchange.ended(completions[at + 2]!, completions[at + 5] === 1)
    }
  }

  private completeRequest (at: number): void {
    const { completions } = this.border
    const connection = this.connections.get(completions[at + 5]!)
    if (connection === undefined) return
    const number = completions[at + 1]!
    const hasBody = (completions[at]! & MORE) !== 0
    const lengths = completions[at + 6]!
    const text = this.text(at)
    let [methodEnd, pathEnd, authorityEnd] = [lengths & 0x3f, 0, 0]
    if (lengths === 0) {
      // Longer than there is room to say.
      methodEnd = text.indexOf('\0')
      pathEnd = text.indexOf('\0', methodEnd + 1)
      authorityEnd = text.indexOf('\0', pathEnd + 1)
    } else {
      pathEnd = methodEnd + 1 + (lengths >>> 6 & 0xffff)
      authorityEnd = pathEnd + 1 + (lengths >>> 22)
    }
    const exchange = new Exchange(this, connection, number, completions[at + 2]!, completions[at + 7]!, hasBody, text, methodEnd, pathEnd, authorityEnd)
    exchange.isHttp10 = (completions[at]! & HTTP10) !== 0
    this.exchanges[number] = exchange
    connection.open++
    connection.listener.ears.onRequest(exchange)
  }

  endAll (): void {
    const { connections, listeners } = this
    const exchanges = this.exchanges.splice(0)
    for (const exchange of exchanges) apart(() => { exchange?.ended(INTERNAL_ERROR, false) })
    for (const connection of connections.values()) apart(() => { connection.listener.closed(connection) })
    connections.clear()
    for (const listener of listeners.values()) apart(() => { listener.ended() })
    listeners.clear()
  }

  private text (at: number): string {
    const { completions } = this.border
    return this.border.text(completions[at + 3]!, completions[at + 4]!)
  }

  private utf8 (at: number): string { return Buffer.from(this.text(at), 'latin1').toString() }

  private data (at: number): Buffer {
    const { border } = this
    const { completions } = border
    if ((completions[at]! & BY_REFERENCE) !== 0) return border.native.take(completions[at + 5]!)
    return border.copy(completions[at + 3]!, completions[at + 4]!)
  }

  /** A whole answer, or (`streams`) its head. */
  answer (exchange: Exchange, status: number, fields: string, body: Buffer | string | null, streams: boolean, flags: number, reason: string): void {
    const { border } = this
    if (border.hasEnded) return
    fields = reason + fields
    if (typeof body === 'string' && body.length > TEXT_LENGTH_MAX) body = Buffer.from(body)
    if (border.isFull || !this.writeAnswer(exchange, status, fields, body, streams, flags, reason.length)) {
      const given = body
      border.defer(() => this.writeAnswer(exchange, status, fields, given, streams, flags, reason.length))
    } else border.wrote()
  }

  private writeAnswer (exchange: Exchange, status: number, fields: string, body: Buffer | string | null, streams: boolean, flags: number, reasonLength: number): boolean {
    const { border } = this
    let kind = ANSWER | (flags & (Flags.Quiet | Flags.NoDate | Flags.NoLength))
    let room = fields.length
    let inline = false
    if (body !== null) {
      inline = typeof body === 'string' || body.length < BY_REFERENCE_BYTES_MIN
      if (inline) room += typeof body === 'string' ? body.length * 3 : body.length
    }
    const position = border.room(room)
    if (position === undefined) return false
    const at = position & (border.arenaBytes - 1)
    border.submissionArena.latin1Write(fields, at)
    let word5 = 0
    if (streams) kind |= STREAMING
    else if (inline) {
      kind |= INLINE
      if (typeof body === 'string') word5 = border.submissionArena.utf8Write(body, at + fields.length)
      else {
        border.submissionArena.set(body!, at + fields.length)
        word5 = body!.length
      }
    } else if (body !== null) {
      kind |= PUT
      word5 = border.native.put(body as Buffer)
    }
    border.arenaWritten = (position + fields.length + (inline ? word5 : 0)) | 0
    border.entry(kind, exchange.number, exchange.serial, position, fields.length, word5, status, reasonLength)
    return true
  }

  /** An answer whose body is a file; see `Exchange.answerFile`. */
  answerFile (exchange: Exchange, status: number, fields: string, which: Buffer, flags: number): void {
    const { border } = this
    border.write(() => {
      const position = border.room(fields.length + which.length)
      if (position === undefined) return false
      const at = position & (border.arenaBytes - 1)
      border.submissionArena.latin1Write(fields, at)
      border.submissionArena.set(which, at + fields.length)
      border.arenaWritten = (position + fields.length + which.length) | 0
      border.entry(ANSWER | OF_FILE | flags, exchange.number, exchange.serial, position, fields.length, which.length, status, 0)
      return true
    })
  }

  inform (exchange: Exchange, status: number, fields: string): void { this.writeText(INFORM, exchange, fields, status) }
  finish (exchange: Exchange, trailers: string): void { this.writeText(FINISH, exchange, trailers, 0) }

  private writeText (kind: number, exchange: Exchange, text: string, word6: number): void {
    const { border } = this
    border.write(() => {
      const position = border.room(text.length)
      if (position === undefined) return false
      border.submissionArena.latin1Write(text, position & (border.arenaBytes - 1))
      border.arenaWritten = (position + text.length) | 0
      border.entry(kind, exchange.number, exchange.serial, position, text.length, 0, word6, 0)
      return true
    })
  }

  send (exchange: Exchange, chunk: Buffer, isLast: boolean): void {
    const { border } = this
    const kind = SEND | (isLast ? Flags.End : 0)
    border.write(() => {
      if (chunk.length >= BY_REFERENCE_BYTES_MIN) {
        if (!border.hasEntry()) return false
        border.entry(kind | PUT, exchange.number, exchange.serial, 0, 0, border.native.put(chunk), 0, 0)
        return true
      }
      const position = border.room(chunk.length)
      if (position === undefined) return false
      border.submissionArena.set(chunk, position & (border.arenaBytes - 1))
      border.arenaWritten = (position + chunk.length) | 0
      border.entry(kind | INLINE, exchange.number, exchange.serial, position, chunk.length, 0, 0, 0)
      return true
    })
  }

  reset (exchange: Exchange, code: number): void { this.command(RESET, exchange.number, exchange.serial, code) }
  take (exchange: Exchange, bytes: number): void { this.command(TAKE, exchange.number, exchange.serial, bytes) }
  decline (exchange: Exchange): void { this.command(DECLINE, exchange.number, exchange.serial, 0) }
  shutDown (connection: number): void { this.command(SHUT_DOWN, connection, 0, 0) }
  abort (connection: number, code: number): void { this.command(ABORT, connection, 0, code) }
  /** Tells the peer of a connection something of it: see `Say`. */
  say (connection: number, what: number, bytes: Uint8Array, first = 0, second = 0): void {
    const { border } = this
    border.write(() => {
      const position = border.room(bytes.length)
      if (position === undefined) return false
      border.submissionArena.set(bytes, position & (border.arenaBytes - 1))
      border.arenaWritten = (position + bytes.length) | 0
      border.entry(SAY, connection, what, position, bytes.length, 0, first, second)
      return true
    })
  }

  /** The accounts of a connection; null: there are none. */
  glance (connection: number): Accounts | null {
    const { border } = this
    if (border.hasEnded) return null
    // What was done before counts.
    border.flush()
    return border.ask('glance', { connection }) as Accounts | null
  }

  private command (kind: number, number: number, serial: number, word6: number): void {
    const { border } = this
    border.write(() => {
      if (!border.hasEntry()) return false
      border.entry(kind, number, serial, 0, 0, 0, word6, 0)
      return true
    })
  }
}

let half: ServerBorder | undefined
/** This environment's; made by the first listener. */
export function theServerBorder (): ServerBorder { return (half ??= new ServerBorder(theBorder())) }

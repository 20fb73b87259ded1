// The servers' half of the channel: requests come out of the completions' ring, responses go into
// the submissions'. `node/native/desk.rs` is the other end, and `codes.ts` has the numbers.

import {
  Body, BY_REFERENCE_BYTES_MIN, ClientHelloWord, ClosedWord, Completion, CompletionFlag, ConnectedWord, type ControlFrame, EntryWord, FileFailedWord,
  GoawayWord, HandshakeFailedWord, HandshakeFailure, MalformedWord, PongWord, RequestWord, ResponseFlag, ResponseRoomWord, SettingsAcknowledgedWord,
  UnnegotiatedWord, UploadWord, ViolationWord, writeAbort, writeControl, writeDecline, writeFinish, writeInform, writeReset, writeRespond, writeSend,
  writeShutDown, writeTakeUpload, type EntryWriter
} from '../codes'
import { apart, HEAD_BYTES_MAX, theBorder, type Border, type ServerHalf } from '../ring'
import { theStreams } from '../streams'
import { Connection, type Accounts } from './connection'
import { Exchange } from './exchange'
import type { Listener } from './listener'

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

  /** Registers the listener with this number for its connections, until it has ended. */
  enlist (number: number, listener: Listener): void { this.listeners.set(number, listener) }

  /** Removes this exchange: it gets no further events. */
  forget (exchange: Exchange): void {
    if (this.exchanges[exchange.number] === exchange) this.exchanges[exchange.number] = undefined
  }

  complete (code: Completion, at: number): void {
    const { completions } = this.border
    const number = completions[at + EntryWord.Number]!
    switch (code) {
      case Completion.Request: return this.completeRequest(at)
      case Completion.Connected: {
        const { listener, text } = { listener: this.listeners.get(completions[at + ConnectedWord.Server]!), text: this.text(at) }
        if (listener === undefined) return
        const met = this.connections.get(number)
        if (met !== undefined) {
          met.version = completions[at + ConnectedWord.Version]!
          return listener.ears.onIdentified?.(met)
        }
        const stream = completions[at + ConnectedWord.Stream]!
        const connection = new Connection(this, listener, number, completions[at + ConnectedWord.Version]!, text, stream === 0 ? undefined : theStreams().streamOf(stream))
        this.connections.set(number, connection)
        return listener.opened(connection)
      }
      case Completion.Disconnected: {
        const connection = this.connections.get(number)
        this.connections.delete(number)
        const counts = this.traffic(number, true)
        connection?.end(counts)
        return connection?.listener.closed(connection)
      }
      case Completion.Pong: return this.connections.get(number)?.ears?.onPong(this.bytes(at), completions[at + PongWord.Micros]! / 1000)
      case Completion.Ping: return this.connections.get(number)?.ears?.onPing(this.bytes(at))
      case Completion.SettingsReceived: return this.connections.get(number)?.ears?.onSettings(this.text(at).split(' ').map(value => value === '-' ? undefined : Number(value)))
      case Completion.SettingsAcknowledged: return this.connections.get(number)?.ears?.onSettingsAcknowledged(completions[at + SettingsAcknowledgedWord.Micros]! / 1000)
      case Completion.Goaway: return this.connections.get(number)?.ears?.onGoaway(completions[at + GoawayWord.ErrorCode]!, completions[at + GoawayWord.LastStream]!, this.bytes(at))
      case Completion.Unnegotiated: {
        const connection = this.connections.get(completions[at + UnnegotiatedWord.Connection]!)
        if (connection === undefined) return
        const exchange = new Exchange(this, connection, number, completions[at + UnnegotiatedWord.Serial]!, 1, true, '', 0, 0, 0)
        this.exchanges[number] = exchange
        connection.open++
        return connection.listener.ears.onStranger?.(exchange)
      }
      case Completion.Malformed: {
        const connection = this.connections.get(completions[at + MalformedWord.Connection]!)
        if (connection === undefined) return
        const exchange = new Exchange(this, connection, number, completions[at + MalformedWord.Serial]!, 1, true, '', 0, 0, 0)
        this.exchanges[number] = exchange
        connection.open++
        const text = this.text(at)
        const zero = text.indexOf('\0')
        const refused = { code: text.slice(0, zero), status: completions[at + MalformedWord.Status]!, packet: Buffer.from(text.slice(zero + 1), 'latin1'), parsed: completions[at + MalformedWord.Parsed]! }
        return connection.listener.ears.onRefused?.(exchange, refused)
      }
      case Completion.Violation: {
        const connection = this.connections.get(number)
        return connection?.listener.ears.onBroken?.(connection, completions[at + ViolationWord.Error]!, this.text(at))
      }
      case Completion.HandshakeFailed:
      case Completion.Secret: {
        const listener = this.listeners.get(number)
        if (listener === undefined) return
        const parts = this.utf8(at).split('\0')
        const connection = new Connection(this, listener, 0, 0, parts.slice(0, 4).join('\0'))
        connection.closed = true
        const said = parts[4] ?? ''
        if (code === Completion.Secret) return listener.ears.onSecret?.(said, connection)
        const [kind, alert] = [completions[at + HandshakeFailedWord.Failure]!, completions[at + HandshakeFailedWord.Alert]!]
        const error = kind === HandshakeFailure.Refused ? listener.refusalOf(alert) : undefined
        return listener.ears.onHandshakeFailed?.({ kind, alert, text: said, error }, connection)
      }
      case Completion.ClientHello: {
        const listener = this.listeners.get(number)
        if (listener === undefined) return
        const { places, servername, protocols } = JSON.parse(this.utf8(at)) as { places: string; servername: string | null; protocols: string[] }
        const connection = new Connection(this, listener, 0, 0, places)
        connection.closed = true
        return listener.ears.onHello?.({ ticket: completions[at + ClientHelloWord.Ticket]!, servername: servername ?? undefined, protocols }, connection)
      }
      case Completion.ServerEnded: {
        const listener = this.listeners.get(number)
        this.listeners.delete(number)
        return listener?.ended()
      }
    }
    const exchange = this.exchanges[number]
    const word0 = completions[at]!
    if (exchange === undefined) {
      // Bytes outside of the ring are given back.
      if (code === Completion.Upload && (word0 & CompletionFlag.ByReference) !== 0) this.border.native.take(completions[at + UploadWord.Body]!)
      return this.border.skip(completions[at + EntryWord.Position]!, completions[at + EntryWord.Length]!)
    }
    switch (code) {
      case Completion.Upload: return exchange.arrived(this.upload(at), (word0 & CompletionFlag.More) === 0)
      case Completion.Trailers: return exchange.finished(this.text(at))
      case Completion.FileFailed: {
        if (completions[at + FileFailedWord.Serial] !== exchange.serial) return
        const [code, why] = this.utf8(at).split('\0')
        return exchange.fileFailed(Object.assign(new Error(`${code}: ${why}`), { code }))
      }
      case Completion.HalfClosed: return exchange.halfClosed()
      case Completion.ResponseRoom: return exchange.took(completions[at + ResponseRoomWord.Bytes]!)
      case Completion.Closed:
        this.exchanges[number] = undefined
        return exchange.ended(completions[at + ClosedWord.ErrorCode]!, completions[at + ClosedWord.ByPeer] === 1)
    }
  }

  private completeRequest (at: number): void {
    const { completions } = this.border
    const connection = this.connections.get(completions[at + RequestWord.Connection]!)
    if (connection === undefined) return
    const number = completions[at + EntryWord.Number]!
    const hasBody = (completions[at]! & CompletionFlag.More) !== 0
    const lengths = completions[at + RequestWord.Lengths]!
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
    const serial = completions[at + RequestWord.Serial]!
    const exchange = new Exchange(this, connection, number, serial, completions[at + RequestWord.Stream]!, hasBody, text, methodEnd, pathEnd, authorityEnd)
    exchange.isHttp10 = (completions[at]! & CompletionFlag.Http10) !== 0
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
    return this.border.text(completions[at + EntryWord.Position]!, completions[at + EntryWord.Length]!)
  }

  private utf8 (at: number): string { return Buffer.from(this.text(at), 'latin1').toString() }

  /** The text of an entry, as bytes. */
  private bytes (at: number): Buffer {
    const { completions } = this.border
    return this.border.copy(completions[at + EntryWord.Position]!, completions[at + EntryWord.Length]!)
  }

  private upload (at: number): Buffer {
    const { completions, native } = this.border
    if ((completions[at]! & CompletionFlag.ByReference) !== 0) return native.take(completions[at + UploadWord.Body]!)
    return this.bytes(at)
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
    flags &= ResponseFlag.Quiet | ResponseFlag.NoDate | ResponseFlag.NoLength
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
    let bodyWord = 0
    if (streams) flags |= Body.Streaming
    else if (inline) {
      flags |= Body.Inline
      if (typeof body === 'string') bodyWord = border.submissionArena.utf8Write(body, at + fields.length)
      else {
        border.submissionArena.set(body!, at + fields.length)
        bodyWord = body!.length
      }
    } else if (body !== null) {
      flags |= Body.ByReference
      bodyWord = border.native.put(body as Buffer)
    }
    border.arenaWritten = (position + fields.length + (inline ? bodyWord : 0)) | 0
    writeRespond(border, flags, exchange.number, exchange.serial, position, fields.length, bodyWord, status, reasonLength)
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
      writeRespond(border, Body.File | flags, exchange.number, exchange.serial, position, fields.length, which.length, status, 0)
      return true
    })
  }

  inform (exchange: Exchange, status: number, fields: string): void {
    this.writeText(fields, position => { writeInform(this.border, 0, exchange.number, exchange.serial, position, fields.length, status) })
  }

  finish (exchange: Exchange, trailers: string): void {
    this.writeText(trailers, position => { writeFinish(this.border, 0, exchange.number, exchange.serial, position, trailers.length) })
  }

  /** Puts `text` into the arena and writes the entry that it belongs to. */
  private writeText (text: string, write: (position: number) => void): void {
    const { border } = this
    border.write(() => {
      const position = border.room(text.length)
      if (position === undefined) return false
      border.submissionArena.latin1Write(text, position & (border.arenaBytes - 1))
      border.arenaWritten = (position + text.length) | 0
      write(position)
      return true
    })
  }

  send (exchange: Exchange, chunk: Buffer, isLast: boolean): void {
    const { border } = this
    const flags = isLast ? ResponseFlag.End : 0
    border.write(() => {
      if (chunk.length >= BY_REFERENCE_BYTES_MIN) {
        if (!border.hasEntry()) return false
        writeSend(border, flags | Body.ByReference, exchange.number, exchange.serial, 0, 0, border.native.put(chunk))
        return true
      }
      const position = border.room(chunk.length)
      if (position === undefined) return false
      border.submissionArena.set(chunk, position & (border.arenaBytes - 1))
      border.arenaWritten = (position + chunk.length) | 0
      writeSend(border, flags | Body.Inline, exchange.number, exchange.serial, position, chunk.length, 0)
      return true
    })
  }

  reset (exchange: Exchange, code: number): void { this.submit(border => { writeReset(border, 0, exchange.number, exchange.serial, code) }) }
  take (exchange: Exchange, bytes: number): void { this.submit(border => { writeTakeUpload(border, 0, exchange.number, exchange.serial, bytes) }) }
  decline (exchange: Exchange): void { this.submit(border => { writeDecline(border, 0, exchange.number, exchange.serial) }) }
  shutDown (connection: number): void { this.submit(border => { writeShutDown(border, 0, connection) }) }
  abort (connection: number, code: number): void { this.submit(border => { writeAbort(border, 0, connection, code) }) }
  /** Sends a control frame on a connection of HTTP/2. */
  control (connection: number, frame: ControlFrame, bytes: Uint8Array, first = 0, second = 0): void {
    const { border } = this
    border.write(() => {
      const position = border.room(bytes.length)
      if (position === undefined) return false
      border.submissionArena.set(bytes, position & (border.arenaBytes - 1))
      border.arenaWritten = (position + bytes.length) | 0
      writeControl(border, 0, connection, position, bytes.length, frame, first, second)
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

  /** Bytes that a connection has read and written, the last time where it has ended; null: they are not counted. */
  traffic (connection: number, ended: boolean): [number, number] | null {
    const { border } = this
    if (border.hasEnded) return null
    // What was done before counts.
    if (!ended) border.flush()
    return border.ask('traffic', { connection, ended }) as [number, number] | null
  }

  private submit (write: (to: EntryWriter) => void): void {
    const { border } = this
    border.submitEntry(() => { write(border) })
  }
}

let half: ServerBorder | undefined
/** This environment's; made by the first listener. */
export function theServerBorder (): ServerBorder { return (half ??= new ServerBorder(theBorder())) }

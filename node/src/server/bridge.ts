// The servers' half of the channel: requests come out of the completions' ring, responses go into
// the submissions'. `node/native/server/bridge.rs` is the other end, and `codes.ts` has the numbers.

import { types } from 'node:util'
import {
  Body, BY_REFERENCE_BYTES_MIN, ClientHelloWord, ClosedWord, Completion, CompletionFlag, ConnectedWord, type ControlFrame, EntryWord, FileFailedWord,
  GoawayWord, HandshakeFailedWord, HandshakeFailure, HttpVersion, MalformedWord, PongWord, RequestWord, ResponseFlag, ResponseRoomWord, SettingsAcknowledgedWord,
  UnnegotiatedWord, UploadWord, ViolationWord, writeAbort, writeControl, writeDecline, writeFinish, writeInform, writeReset, writeRespond, writeSend,
  writeShutDown, writeTakeUpload, type EntryWriter
} from '../channel/codes'
import type { ServerPlace } from '../channel/place'
import type { ServerHalf } from '../channel/callbacks'
import { apart, theBridge, type Bridge } from '../channel/ring'
import { Fifo } from '../fifo'
import { streamsOf, type Carried } from '../channel/streams'
import { atExit } from './at_exit'
import type { ListenerCallbacks } from './callbacks'
import { Connection, type Accounts, type Taking } from './connection'
import { Exchange } from './exchange'
import { faultCode } from './tls/clients'

/** INTERNAL_ERROR of RFC 9113 section 7. */
export const INTERNAL_ERROR = 2
/** The number of no connection: such a question waits until what was submitted before has been carried out. */
const NO_CONNECTION = 0

/** Code units whose UTF-8 surely goes through the arena: three bytes each at most. */
const TEXT_LENGTH_MAX = BY_REFERENCE_BYTES_MIN / 3

/** Takes the events of a server's connections. */
interface Listener extends Taking {
  turn: number
  readonly callbacks: ListenerCallbacks
  readonly expected: { get: (stream: Carried) => Connection<Listener> | undefined }
  opened: (connection: Connection) => void
  begun: (connection: Connection, number: number) => void
  closed: (connection: Connection) => void
  ended: (half: ServerBridge) => void
  overloaded: () => void
  handedOver: () => void
  successorFailed: (why: string) => void
  refusalOf: (ticket: number) => Error | undefined
}

export class ServerBridge implements ServerHalf {
  /** By number; what is over is not there. */
  private readonly exchanges: (Exchange | undefined)[] = []
  private readonly connections = new Map<number, Connection<Listener>>()
  private readonly listeners = new Map<number, Listener>()
  /** The last piece that was written into the arena, and the number of entries with it. */
  private readonly lastSend: { exchange: Exchange | null; submitted: number } = { exchange: null, submitted: 0 }

  constructor (readonly bridge: Bridge) {
    bridge.servers = this
    // Answers that were given before `process.exit()` go out, as from sockets of node, which write at once.
    atExit(() => { this.traffic(NO_CONNECTION, false) })
  }

  /** Registers the listener with this number for its connections, until it has ended. */
  enlist (number: number, listener: Listener): void { this.listeners.set(number, listener) }

  /** Removes this exchange: it gets no further events. */
  forget (exchange: Exchange): void {
    if (this.exchanges[exchange.number] === exchange) this.exchanges[exchange.number] = undefined
  }

  /** Over HTTP/2, what an exchange or a connection has behind an event that was reported in this turn: its listeners may wait for
   * that event, as by `await once(..)`, and listen in time. */
  isBehindTicks (code: Completion, at: number, turn: number): boolean {
    const number = this.bridge.completions[at + EntryWord.Number]!
    switch (code) {
      case Completion.Trailers:
      case Completion.Closed: {
        const exchange = this.exchanges[number]
        if (exchange?.turn !== turn || exchange.connection.version !== HttpVersion.Http2) return false
        // Readers of a body that is whole are known to have it, and its end, in front of this.
        return code === Completion.Trailers || !exchange.hasBody || !exchange.received
      }
      case Completion.Pong:
      case Completion.Ping:
      case Completion.SettingsReceived:
      case Completion.SettingsAcknowledged:
      case Completion.Goaway:
      case Completion.Violation:
      case Completion.TransportFailed:
      case Completion.Disconnected: {
        const connection = this.connections.get(number)
        return connection?.turn === turn && connection.version === HttpVersion.Http2
      }
      case Completion.Request: {
        const listener = this.connections.get(this.bridge.completions[at + RequestWord.Connection]!)?.listener
        return listener?.turn === turn && listener.callbacks.hasListeners?.() === false
      }
      default: return false
    }
  }

  complete (code: Completion, at: number): void {
    const { completions, turn } = this.bridge
    const number = completions[at + EntryWord.Number]!
    switch (code) {
      case Completion.Request: return this.completeRequest(at)
      case Completion.Connected: {
        const { listener, text } = { listener: this.listeners.get(completions[at + ConnectedWord.Server]!), text: this.text(at) }
        if (listener === undefined) return
        const met = this.connections.get(number)
        if (met !== undefined) {
          met.version = completions[at + ConnectedWord.Version]!
          return met.scope.runInAsyncScope(() => { listener.callbacks.onIdentified?.(met) })
        }
        const stream = completions[at + ConnectedWord.Stream]!
        const carried = stream === 0 ? undefined : streamsOf(this.bridge).streamOf(stream)
        const expected = carried === undefined ? undefined : listener.expected.get(carried)
        const connection = expected ?? new Connection(this, listener, number, completions[at + ConnectedWord.Version]!, text, carried)
        connection.turn = turn
        this.connections.set(number, connection)
        if (expected !== undefined) return listener.begun(expected, number)
        return connection.scope.runInAsyncScope(listener.opened, listener, connection)
      }
      case Completion.Disconnected: {
        const connection = this.connections.get(number)
        this.connections.delete(number)
        const counts = this.traffic(number, true)
        connection?.end(counts)
        return connection?.scope.runInAsyncScope(connection.listener.closed, connection.listener, connection)
      }
      case Completion.Pong:
      case Completion.Ping:
      case Completion.SettingsReceived:
      case Completion.SettingsAcknowledged:
      case Completion.Goaway: return this.connections.get(number)?.scope.runInAsyncScope(this.completeControl, this, code, at, number)
      case Completion.Unnegotiated: {
        const connection = this.connections.get(completions[at + UnnegotiatedWord.Connection]!)
        if (connection === undefined) return
        const exchange = this.headless(connection, number, completions[at + UnnegotiatedWord.Serial]!)
        return exchange.scope.runInAsyncScope(() => { connection.listener.callbacks.onUnnegotiated?.(exchange) })
      }
      case Completion.Malformed: {
        const connection = this.connections.get(completions[at + MalformedWord.Connection]!)
        if (connection === undefined) return
        const exchange = this.headless(connection, number, completions[at + MalformedWord.Serial]!)
        const text = this.text(at)
        const zero = text.indexOf('\0')
        const refused = { code: text.slice(0, zero), status: completions[at + MalformedWord.Status]!, packet: Buffer.from(text.slice(zero + 1), 'latin1'), parsed: completions[at + MalformedWord.Parsed]! }
        return exchange.scope.runInAsyncScope(() => { connection.listener.callbacks.onRefused?.(exchange, refused) })
      }
      case Completion.Violation: {
        const connection = this.connections.get(number)
        const [error, words] = [completions[at + ViolationWord.Error]!, this.text(at)]
        return connection?.scope.runInAsyncScope(() => { connection.listener.callbacks.onBroken?.(connection, error, words) })
      }
      case Completion.TransportFailed: {
        const connection = this.connections.get(number)
        const words = this.text(at)
        return connection?.scope.runInAsyncScope(() => { connection.listener.callbacks.onFailed?.(connection, words) })
      }
      case Completion.HandshakeFailed:
      case Completion.Secret: {
        const listener = this.listeners.get(number)
        if (listener === undefined) return
        const parts = this.utf8(at).split('\0')
        const connection = new Connection(this, listener, 0, 0, parts.slice(0, 4).join('\0'))
        connection.closed = true
        const printed = parts[4] ?? ''
        if (code === Completion.Secret) return connection.scope.runInAsyncScope(() => { listener.callbacks.onSecret?.(printed, connection) })
        const [kind, alert] = [completions[at + HandshakeFailedWord.Failure]!, completions[at + HandshakeFailedWord.Alert]!]
        const error = kind === HandshakeFailure.Refused ? listener.refusalOf(alert) : undefined
        return connection.scope.runInAsyncScope(() => { listener.callbacks.onHandshakeFailed?.({ kind, alert, text: printed, refusal: faultCode(parts[5] ?? ''), error }, connection) })
      }
      case Completion.ClientHello: {
        const listener = this.listeners.get(number)
        if (listener === undefined) return
        const { places, servername, protocols } = JSON.parse(this.utf8(at)) as { places: string; servername: string | null; protocols: string[] }
        const connection = new Connection(this, listener, 0, 0, places)
        connection.closed = true
        const hello = { ticket: completions[at + ClientHelloWord.Ticket]!, servername: servername ?? undefined, protocols }
        return connection.scope.runInAsyncScope(() => { listener.callbacks.onClientHello?.(hello, connection) })
      }
      case Completion.UpgradeHead: {
        const connection = this.connections.get(number)
        if (connection !== undefined) connection.upgradeHead = this.bytes(at)
        return
      }
      case Completion.Overloaded: return this.listeners.get(number)?.overloaded()
      case Completion.HandedOver: {
        const listener = this.listeners.get(number)
        return listener?.scope.runInAsyncScope(listener.handedOver, listener)
      }
      case Completion.SuccessorFailed: {
        const why = this.utf8(at)
        const listener = this.listeners.get(number)
        return listener?.scope.runInAsyncScope(listener.successorFailed, listener, why)
      }
      case Completion.ServerEnded: {
        const listener = this.listeners.get(number)
        this.listeners.delete(number)
        return listener?.scope.runInAsyncScope(listener.ended, listener, this)
      }
    }
    const exchange = this.exchanges[number]
    const word0 = completions[at]!
    if (exchange === undefined) {
      // Bytes outside of the ring are given back.
      if (code === Completion.Upload && (word0 & CompletionFlag.ByReference) !== 0) this.bridge.native.take(completions[at + UploadWord.Body]!)
      return this.bridge.arena.skip(completions[at + EntryWord.Position]!, completions[at + EntryWord.Length]!)
    }
    exchange.turn = turn
    exchange.scope.runInAsyncScope(this.completeExchange, this, exchange, code, at)
    // As with its own end: that of its connection finds readers that are about to get the end of the body.
    if (exchange.hasBody && exchange.received) exchange.connection.turn = 0
  }

  /** An exchange without a head, whose bodies are the bytes of its connection. */
  private headless (connection: Connection<Listener>, number: number, serial: number): Exchange {
    connection.open++
    return (this.exchanges[number] = new Exchange(this, connection, number, serial, 1, true, '', 0, 0, 0))
  }

  /** A control frame of the peer's. */
  private completeControl (code: Completion, at: number, number: number): void {
    const { bridge: { completions, turn }, connections } = this
    const connection = connections.get(number)
    if (connection !== undefined) connection.turn = turn
    const callbacks = connection?.callbacks
    switch (code) {
      case Completion.Pong: return callbacks?.$onPong(this.bytes(at), completions[at + PongWord.Micros]! / 1000)
      case Completion.Ping: return callbacks?.$onPing(this.bytes(at))
      case Completion.SettingsReceived: return callbacks?.$onSettings(this.text(at).split(' ').map(value => value === '-' ? undefined : Number(value)))
      case Completion.SettingsAcknowledged: return callbacks?.$onSettingsAcknowledged(completions[at + SettingsAcknowledgedWord.Micros]! / 1000)
      case Completion.Goaway: return callbacks?.$onGoaway(completions[at + GoawayWord.ErrorCode]!, completions[at + GoawayWord.LastStream]!, this.bytes(at))
    }
  }

  private completeExchange (exchange: Exchange, code: Completion, at: number): void {
    const { completions } = this.bridge
    switch (code) {
      case Completion.Upload: return exchange.arrived(this.upload(at), (completions[at]! & CompletionFlag.More) === 0)
      case Completion.Trailers: return exchange.finished(this.text(at))
      case Completion.FileFailed: {
        if (completions[at + FileFailedWord.Serial] !== exchange.serial) return
        const [code, why] = this.utf8(at).split('\0')
        return exchange.fileFailed(Object.assign(new Error(`${code}: ${why}`), { code }))
      }
      case Completion.HalfClosed: return exchange.halfClosed()
      case Completion.ResponseRoom: return exchange.took(completions[at + ResponseRoomWord.Bytes]!)
      case Completion.Closed:
        this.exchanges[exchange.number] = undefined
        return exchange.ended(completions[at + ClosedWord.ErrorCode]!, completions[at + ClosedWord.ByPeer] === 1, completions[at + ClosedWord.Timeline]!)
    }
  }

  private completeRequest (at: number): void {
    const { completions } = this.bridge
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
    if (connection.upgradeHead !== undefined) {
      exchange.upgradeHead = connection.upgradeHead
      connection.upgradeHead = undefined
    }
    this.exchanges[number] = exchange
    exchange.turn = connection.turn = connection.listener.turn = this.bridge.turn
    connection.open++
    const { callbacks } = connection.listener
    exchange.scope.runInAsyncScope(callbacks.onRequest, callbacks, exchange)
  }

  endAll (): void {
    const { connections, listeners } = this
    const exchanges = this.exchanges.splice(0)
    for (const exchange of exchanges) apart(() => { exchange?.scope.runInAsyncScope(exchange.ended, exchange, INTERNAL_ERROR, false) })
    for (const connection of connections.values()) apart(() => { connection.scope.runInAsyncScope(connection.listener.closed, connection.listener, connection) })
    connections.clear()
    for (const listener of listeners.values()) apart(() => { listener.scope.runInAsyncScope(listener.ended, listener, this) })
    listeners.clear()
  }

  private text (at: number): string {
    const { completions } = this.bridge
    return this.bridge.arena.text(completions[at + EntryWord.Position]!, completions[at + EntryWord.Length]!)
  }

  private utf8 (at: number): string { return Buffer.from(this.text(at), 'latin1').toString() }

  /** The text of an entry, as bytes. */
  private bytes (at: number): Buffer {
    const { completions } = this.bridge
    return this.bridge.arena.copy(completions[at + EntryWord.Position]!, completions[at + EntryWord.Length]!)
  }

  private upload (at: number): Buffer {
    const { completions, native } = this.bridge
    if ((completions[at]! & CompletionFlag.ByReference) !== 0) return native.take(completions[at + UploadWord.Body]!)
    return this.bytes(at)
  }

  /** A whole answer, or (`streams`) its head. */
  answer (exchange: Exchange, status: number, fields: string, body: Buffer | string | null, streams: boolean, flags: number, reason: string): void {
    const { bridge } = this
    if (bridge.hasEnded) return
    fields = reason + fields
    if (typeof body === 'string' && body.length > TEXT_LENGTH_MAX) body = Buffer.from(body)
    if (bridge.isFull || !this.writeAnswer(exchange, status, fields, body, streams, flags, reason.length)) {
      const write = (own: Buffer | string | null): boolean => this.writeAnswer(exchange, status, fields, own, streams, flags, reason.length)
      // Its exchange is over for JavaScript before it is written.
      const isQuiet = (flags & ResponseFlag.Quiet) !== 0
      if (types.isUint8Array(body) && !isQuiet) return this.deferCopy(exchange, body, write)
      const own = types.isUint8Array(body) ? Buffer.from(body) : body
      bridge.defer(() => write(own))
    } else bridge.wrote()
  }

  /** Writes bytes when the channel has room, of which the exchange keeps a copy until then, since their writer may change them as soon as this returns.
   * The exchange's end lets go of the copy: its bytes are pending no longer. */
  private deferCopy (exchange: Exchange, bytes: Buffer, write: (own: Buffer) => boolean): void {
    const copies = exchange.copies ??= new Fifo()
    copies.push(Buffer.from(bytes))
    this.bridge.defer(() => {
      const own = copies.first
      if (own === undefined) return true
      if (!write(own)) return false
      copies.shift()
      return true
    })
  }

  private writeAnswer (exchange: Exchange, status: number, fields: string, body: Buffer | string | null, streams: boolean, flags: number, reasonLength: number): boolean {
    const { bridge } = this
    flags &= ResponseFlag.Quiet | ResponseFlag.NoDate | ResponseFlag.NoLength | ResponseFlag.NoReason
    let room = fields.length
    let inline = false
    if (body !== null) {
      inline = typeof body === 'string' || body.length < BY_REFERENCE_BYTES_MIN
      if (inline) room += typeof body === 'string' ? body.length * 3 : body.length
    }
    const position = bridge.room(room)
    if (position === undefined) return false
    const at = position & (bridge.arenaBytes - 1)
    bridge.submissionArena.latin1Write(fields, at)
    let bodyWord = 0
    if (streams) flags |= Body.Streaming
    else if (inline) {
      flags |= Body.Inline
      if (typeof body === 'string') bodyWord = bridge.submissionArena.utf8Write(body, at + fields.length)
      else {
        bridge.submissionArena.set(body!, at + fields.length)
        bodyWord = body!.length
      }
    } else if (body !== null) {
      flags |= Body.ByReference
      bodyWord = bridge.native.put(body as Buffer)
    }
    bridge.arenaWritten = (position + fields.length + (inline ? bodyWord : 0)) | 0
    writeRespond(bridge, flags, exchange.number, exchange.serial, position, fields.length, bodyWord, status, reasonLength)
    return true
  }

  /** An answer whose body is a file; see `Exchange.answerFile`. */
  answerFile (exchange: Exchange, status: number, fields: string, which: Buffer, flags: number): void {
    const { bridge } = this
    bridge.write(() => {
      const position = bridge.room(fields.length + which.length)
      if (position === undefined) return false
      const at = position & (bridge.arenaBytes - 1)
      bridge.submissionArena.latin1Write(fields, at)
      bridge.submissionArena.set(which, at + fields.length)
      bridge.arenaWritten = (position + fields.length + which.length) | 0
      writeRespond(bridge, Body.File | flags, exchange.number, exchange.serial, position, fields.length, which.length, status, 0)
      return true
    })
  }

  sendInformational (exchange: Exchange, status: number, fields: string): void {
    this.writeText(fields, position => { writeInform(this.bridge, 0, exchange.number, exchange.serial, position, fields.length, status) })
  }

  finish (exchange: Exchange, trailers: string): void {
    this.writeText(trailers, position => { writeFinish(this.bridge, 0, exchange.number, exchange.serial, position, trailers.length) })
  }

  /** Puts `text` into the arena and writes the entry that it belongs to. */
  private writeText (text: string, write: (position: number) => void): void {
    const { bridge } = this
    bridge.write(() => {
      const position = bridge.room(text.length)
      if (position === undefined) return false
      bridge.submissionArena.latin1Write(text, position & (bridge.arenaBytes - 1))
      bridge.arenaWritten = (position + text.length) | 0
      write(position)
      return true
    })
  }

  send (exchange: Exchange, chunk: Buffer, isLast: boolean): void {
    const { bridge } = this
    if (bridge.hasEnded) return
    const flags = isLast ? ResponseFlag.End : 0
    if (!bridge.isFull && (this.extendSend(exchange, chunk, flags) || this.writeSend(exchange, chunk, flags))) return bridge.wrote()
    this.deferCopy(exchange, chunk, own => this.writeSend(exchange, own, flags))
  }

  /** Small pieces of one answer that follow each other are one entry, and one frame. */
  private extendSend (exchange: Exchange, chunk: Buffer, flags: number): boolean {
    const { lastSend } = this
    if (lastSend.exchange !== exchange || !this.bridge.extend(lastSend.submitted, chunk, flags)) return false
    if (flags !== 0) lastSend.exchange = null
    return true
  }

  private writeSend (exchange: Exchange, chunk: Buffer, flags: number): boolean {
    const { bridge, lastSend } = this
    if (chunk.length >= BY_REFERENCE_BYTES_MIN) {
      if (!bridge.hasEntry()) return false
      writeSend(bridge, flags | Body.ByReference, exchange.number, exchange.serial, 0, 0, bridge.native.put(chunk))
      return true
    }
    const position = bridge.copy(chunk)
    if (position === undefined) return false
    writeSend(bridge, flags | Body.Inline, exchange.number, exchange.serial, position, chunk.length, 0)
    lastSend.exchange = flags === 0 ? exchange : null
    lastSend.submitted = bridge.submitted
    return true
  }

  reset (exchange: Exchange, code: number): void { this.submit(bridge => { writeReset(bridge, 0, exchange.number, exchange.serial, code) }) }
  take (exchange: Exchange, bytes: number): void { this.bridge.submitCredit(() => { writeTakeUpload(this.bridge, 0, exchange.number, exchange.serial, bytes) }) }
  decline (exchange: Exchange): void { this.submit(bridge => { writeDecline(bridge, 0, exchange.number, exchange.serial) }) }
  shutDown (connection: number): void { this.submit(bridge => { writeShutDown(bridge, 0, connection) }) }
  abort (connection: number, code: number, resets: boolean): void { this.submit(bridge => { writeAbort(bridge, 0, connection, resets ? 1 : 0, code) }) }
  /** Sends a control frame on a connection of HTTP/2. */
  control (connection: number, frame: ControlFrame, bytes: Uint8Array, first = 0, second = 0): void {
    const { bridge } = this
    bridge.write(() => {
      const position = bridge.copy(bytes)
      if (position === undefined) return false
      writeControl(bridge, 0, connection, position, bytes.length, frame, first, second)
      return true
    })
  }

  /** The accounts of a connection; null: there are none. */
  snapshot (connection: number): Accounts | null {
    const { bridge } = this
    if (bridge.hasEnded) return null
    // Earlier submissions count.
    bridge.flush()
    return bridge.ask('snapshot', { connection }) as Accounts | null
  }

  /** Bytes that a connection has read and written, the last time where it has ended; null: they are not counted. */
  traffic (connection: number, ended: boolean): [number, number] | null {
    const { bridge } = this
    if (bridge.hasEnded) return null
    // Earlier submissions count.
    if (!ended) bridge.flush()
    return bridge.ask('traffic', { connection, ended }) as [number, number] | null
  }

  private submit (write: (to: EntryWriter) => void): void {
    const { bridge } = this
    bridge.submitEntry(() => { write(bridge) })
  }
}

const halves: { [P in ServerPlace]?: ServerBridge } = {}
/** The bridge of this environment over the channel to the engine at `place`; made by the first listener there. */
export function theServerBridge (place: ServerPlace): ServerBridge { return (halves[place] ??= new ServerBridge(theBridge(place))) }

/** Lets servers on this thread do what is due, while JavaScript waits for it. */
export function turnInline (): void {
  const bridge = halves.inline?.bridge
  if (bridge?.native.inline === 1 && !bridge.hasEnded) bridge.ask('turn', {})
}

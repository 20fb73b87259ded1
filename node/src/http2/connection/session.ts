// A connection of HTTP/2 or HTTP/3 as a session of node:http2.

import { EventEmitter } from 'node:events'
import { getPackedSettings, type Settings as NodeSettings } from 'node:http2'
import { inspect, type InspectOptions } from 'node:util'
import { Open, type Tracked } from '../../open'
import { ControlFrame, HttpVersion } from '../../channel/codes'
import type { Accounts, Connection, ConnectionCallbacks } from '../../server/connection'
import { asked } from '../callbacks/asked'
import {
  checkBytes, checkCall, checkInteger, checkNumber, checkObject, checkText, invalidCharacter, invalidType, outOfRange, plain, sessionError
} from '../codes'
import { withCustom, withListed, type CustomSettings } from '../options/custom_settings'
import { BLOCK_BYTES_DEFAULT } from '../fields'
import { later, type FreshConnections } from '../callbacks/later'
import { sessionSocket, type Socket } from './socket'
import { Timer } from '../callbacks/timer'

const NO_ERROR = 0
const INTERNAL_ERROR = 2
/** NGHTTP2_SESSION_SERVER. */
const SERVER = 0
const STREAM_ID_MAX = 2 ** 32 - 1
/** The next stream that a server would open; it opens none. */
const FIRST_OF_SERVERS = 2
/** Bytes of an ALTSVC or ORIGIN frame that fit every peer's frame. */
const FRAME_BYTES_MAX = 16_382
/** Bytes that a connection does not take in the turn in which they are written: more than the send buffer of a socket has by default. */
const LARGE_BYTES = 64 * 1024
const QUOTABLE = /^[\x09\x20-\x5b\x5d-\x7e\x80-\xff]*$/

/** The initial state of a session. */
export interface SessionOptions {
  /** Pings that may be unanswered. */
  pingsMax: number
  /** Changes of settings that may be unacknowledged. */
  settingsMax: number
  /** Whether fields of which a message has one may have one value alone. */
  isStrict: boolean
  /** Bytes of a header block of ours at most; undefined: nghttp2's default. */
  headBlockBytesMax: number | undefined
  /** Origins that the server answers for beside that of the connection. */
  origins: unknown[]
  /** Identifiers of the peer's settings of extensions that are shown. */
  listedSettings: readonly number[]
}

type SettingsCallback = (error: Error | null, settings?: Settings, duration?: number) => void
type PingCallback = (error: Error | null, duration?: number, payload?: Buffer) => void

/** With the older name of one of them, which node's types lack. */
type Settings = NodeSettings & { maxHeaderSize?: number | undefined; customSettings?: CustomSettings | undefined }

/** Both sides' settings before anything is said of them. */
const UNSAID: Settings = {
  headerTableSize: 4096,
  enablePush: true,
  initialWindowSize: 65_535,
  maxFrameSize: 16_384,
  maxConcurrentStreams: 2 ** 32 - 1,
  maxHeaderListSize: 2 ** 32 - 1,
  maxHeaderSize: 2 ** 32 - 1,
  enableConnectProtocol: false
}
/** The engine's default settings. */
const OURS: Settings = { maxConcurrentStreams: 100, maxHeaderListSize: 65_536, maxHeaderSize: 65_536 }

/** `settings` changed by `changes`; the two names of one setting say the same, and the size of frames
 * stays. */
function changed (settings: Settings, changes: Settings): Settings {
  const { maxHeaderListSize, maxHeaderSize = maxHeaderListSize } = changes
  const printed = Object.entries(changes).filter(([name, value]) => name in UNSAID && name !== 'maxFrameSize' && value !== undefined)
  const next = { ...settings, ...Object.fromEntries(printed) as Settings }
  if (maxHeaderSize !== undefined) next.maxHeaderListSize = next.maxHeaderSize = maxHeaderSize
  return withCustom(next, settings, changes)
}

/** A stream, as far as its session needs it. */
interface SessionStream extends Tracked {
  /** The body of its request: whether it holds bytes that were not read. */
  readonly intake: { readonly waits: boolean }
  readonly isDraining: boolean
  destroy: (error?: Error) => unknown
}

export class ServerHttp2Session extends EventEmitter implements ConnectionCallbacks {
  rawSocket: Socket | undefined
  /** With which code it was ended by this side; 0: it was not. */
  endCode = NO_ERROR
  readonly type = SERVER
  goawayCode = NO_ERROR
  goawayLastStreamID = 0
  private readonly streams = new Open<SessionStream>()
  private proxy: Socket | undefined
  private isClosed = false
  private isDestroyed = false
  /** The peer has sent GOAWAY. */
  private isLeft = false
  private isOver = false
  private isReported = false
  private isConnectReported = false
  private error: Error | undefined
  /** The window that was set last, and the one before it. */
  private setWindow: { size: number; before: number } | undefined
  private timer: Timer | undefined
  /** Bytes of the connection that had gone when the timer fired last. */
  private sentAtTimeout = 0
  private local = UNSAID
  /** Settings of extensions that were sent: they are shown from then on, as with node:http2. */
  private extensions: Pick<Settings, 'customSettings'> = {}
  private shownLocal: Settings | undefined
  private remote = UNSAID
  /** Changes of ours that the peer has not acknowledged, oldest first. */
  private readonly sent: { settings: Settings; callback?: SettingsCallback | undefined }[] = []
  private readonly pings: { payload: Buffer; callback: PingCallback }[] = []

  constructor (
    private readonly connection: Connection,
    readonly server: EventEmitter,
    socket: Socket,
    private readonly fresh: FreshConnections,
    private readonly options: SessionOptions & { settings: Settings }
  ) {
    super()
    this.rawSocket = socket
    connection.callbacks = this
    const first = changed(OURS, options.settings)
    this.extensions = withCustom({}, {}, first)
    // HTTP/3 acknowledges nothing.
    if (connection.version === HttpVersion.Http2) this.sent.push({ settings: first })
    else this.local = changed(UNSAID, first)
    if (options.origins.length > 0) this.origin(...options.origins)
    this.on('error', error => { this.server.emit('sessionError', error, this) })
    socket.on('error', error => { this.onSocketError(error) })
    // A listener of its connection may have destroyed it before the session.
    if (socket.errored != null) process.nextTick(() => { this.onSocketError(socket.errored!) })
    process.nextTick(() => { this.reportConnect() })
  }

  /** Once, and before the first of its streams, which may come in the turn of the session. */
  private reportConnect (): void {
    if (this.isConnectReported || this.isDestroyed) return
    this.isConnectReported = true
    this.emit('connect', this, this.rawSocket)
  }

  get isStrict (): boolean { return this.options.isStrict }
  /** HTTP/3 is not nghttp2's: there it is bounded where its user says so. */
  get headBlockBytesMax (): number | undefined { return this.options.headBlockBytesMax ?? (this.connection.version === HttpVersion.Http2 ? BLOCK_BYTES_DEFAULT : undefined) }
  get encrypted (): boolean { return this.connection.encrypted }
  get alpnProtocol (): string { return this.connection.alpn ?? 'h2c' }
  get connecting (): boolean { return false }
  get closed (): boolean { return this.isClosed }
  get destroyed (): boolean { return this.isDestroyed }
  get pendingSettingsAck (): boolean { return this.sent.length > 0 }
  get socket (): Socket | undefined { return this.isReported || this.isDestroyed ? undefined : (this.proxy ??= sessionSocket(this)) }
  get originSet (): string[] | undefined {
    if (!this.encrypted || this.isDestroyed) return undefined
    const { servername, remoteAddress, remotePort } = this.connection
    const address = remoteAddress?.includes(':') === true ? `[${remoteAddress}]` : remoteAddress
    const host = `https://${servername ?? address}`
    return [new URL(remotePort === undefined ? host : `${host}:${remotePort}`).origin]
  }

  /** Those that the peer has acknowledged. */
  get localSettings (): Settings { return this.isDestroyed ? this.shownLocal ?? {} : (this.shownLocal ??= { ...this.local, ...this.extensions }) }
  get remoteSettings (): Settings { return this.isDestroyed ? {} : this.remote }

  /** Until the connection has applied the window that was set last, the accounts say the one before. */
  private accounts (): Accounts {
    const accounts = this.connection.accounts()
    const { setWindow } = this
    if (setWindow === undefined) return accounts
    if (accounts.receiveWindow !== setWindow.before) {
      this.setWindow = undefined
      return accounts
    }
    const grown = Math.max(setWindow.size - setWindow.before, 0)
    return { ...accounts, receiveWindow: setWindow.size, receivable: accounts.receivable + grown }
  }

  get state (): object {
    if (this.isDestroyed) return {}
    const accounts = this.accounts()
    return {
      effectiveLocalWindowSize: accounts.receiveWindow,
      effectiveRecvDataLength: accounts.unread,
      nextStreamID: FIRST_OF_SERVERS,
      localWindowSize: accounts.receivable,
      lastProcStreamID: accounts.lastPeerStream,
      remoteWindowSize: accounts.sendable,
      outboundQueueSize: accounts.streamsSending,
      deflateDynamicTableSize: accounts.encoderTable,
      inflateDynamicTableSize: accounts.decoderTable
    }
  }

  [inspect.custom] (depth: number, options: InspectOptions): unknown {
    const { type, closed, destroyed, state, localSettings, remoteSettings } = this
    return depth < 0 ? this : `Http2Session ${inspect({ type, closed, destroyed, state, localSettings, remoteSettings }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`
  }

  // Its streams.

  add (stream: SessionStream): void {
    this.reportConnect()
    this.streams.add(stream)
    this.refresh()
  }

  forget (stream: SessionStream): void {
    this.streams.delete(stream)
    if (this.isClosed && !this.isDestroyed && this.streams.size === 0) setImmediate(() => { this.maybeDestroy() })
  }

  private maybeDestroy (): void {
    if (this.isClosed && this.streams.size === 0) this.destroy()
  }

  // Calls of users.

  settings (settings: Settings, callback?: SettingsCallback): void {
    this.check()
    checkObject(settings, 'settings')
    const packed = getPackedSettings(settings)
    if (callback) checkCall(callback, 'callback')
    this.refresh()
    if (this.sent.length >= this.options.settingsMax) {
      if (callback) callback(plain('ERR_HTTP2_SETTINGS_CANCEL'))
      this.destroy(plain('ERR_HTTP2_MAX_PENDING_SETTINGS_ACK'))
    } else if (this.connection.control(ControlFrame.Settings, packed)) {
      this.sent.push({ settings: { ...settings }, callback: callback && asked('HTTP2SETTINGS', callback) })
      this.extensions = withCustom({ ...this.extensions }, this.extensions, settings ?? {})
    } else if (callback) process.nextTick(callback, plain('ERR_HTTP2_SETTINGS_CANCEL'))
  }

  ping (payload?: unknown, callback?: unknown): boolean | undefined {
    this.check()
    if (typeof payload === 'function') [payload, callback] = [undefined, payload]
    if (payload) {
      checkBytes(payload, 'payload')
      if (payload.byteLength !== 8) throw plain('ERR_HTTP2_PING_LENGTH')
    }
    checkCall(callback, 'callback')
    if (this.isClosed) {
      process.nextTick(callback, plain('ERR_HTTP2_PING_CANCEL'))
      return
    }
    const done = asked('HTTP2PING', callback as PingCallback)
    // Not of the pool: `buffer` is its own.
    const sent = payload ? Buffer.from(new Uint8Array(bytesOf(payload as NodeJS.ArrayBufferView)!).buffer) : freshPayload()
    if (this.pings.length >= this.options.pingsMax || !this.connection.control(ControlFrame.Ping, sent)) {
      done(plain('ERR_HTTP2_PING_CANCEL'))
      return false
    }
    this.pings.push({ payload: sent, callback: done })
    return true
  }

  goaway (code = NO_ERROR, lastStreamID = 0, data?: NodeJS.ArrayBufferView): void {
    this.check()
    if (data !== undefined) checkBytes(data, 'opaqueData')
    checkNumber(code, 'code')
    checkNumber(lastStreamID, 'lastStreamID')
    this.refresh()
    const { connection } = this
    // The last stream is one of the peer's (RFC 9113 section 6.8): with one of ours nothing is sent, as with node:http2.
    if (connection.version === HttpVersion.Http2 && lastStreamID > 0 && lastStreamID % 2 === 0) return
    if (connection.control(ControlFrame.Goaway, bytesOf(data), code >>> 0, Math.max(lastStreamID, 0))) return
    // HTTP/3 has neither a code nor words for people.
    if (code === NO_ERROR) connection.shutDown()
    else connection.abort(code)
  }

  close (callback?: () => void): void {
    if (this.isClosed || this.isDestroyed) return
    this.isClosed = true
    if (typeof callback === 'function') this.once('close', callback)
    this.connection.shutDown()
    // The GOAWAY is to go first.
    setImmediate(() => { this.maybeDestroy() })
  }

  destroy (error: Error | number = NO_ERROR, code?: number): void { this.end(error, code, false) }

  /** `byPeer`: a stream ends behind the bytes of the peer that came before, which its reader gets first. */
  private end (error: Error | number, code: number | undefined, byPeer: boolean): void {
    if (this.isDestroyed) return
    let reason: Error | undefined
    if (typeof error === 'number') {
      code = error
      reason = code === NO_ERROR ? undefined : sessionError(code)
    } else if (error != null) {
      reason = error
      code ??= INTERNAL_ERROR
    }
    this.isDestroyed = true
    const isIdle = this.streams.size === 0
    this.error = reason
    this.endCode = code ?? NO_ERROR
    this.timer?.stop()
    this.removeAllListeners('timeout')
    // A message received whole stays readable when its connection is over.
    for (const stream of [...this.streams]) {
      if (this.isOver && stream.isDraining) continue
      if (byPeer && stream.intake.waits) later(() => { stream.destroy(reason) })
      else stream.destroy(reason)
    }
    setImmediate(() => { this.cancelAsked() })
    if (this.isOver) later(() => { this.reportClosed() })
    // Open streams would hold a connection that is shut down.
    else if (this.isClosed && isIdle && reason === undefined) this.connection.shutDown()
    else this.connection.abort(this.endCode)
  }

  setLocalWindowSize (size: number): void {
    this.check()
    checkInteger(size, 'windowSize', 0, 2 ** 31 - 1)
    const before = this.connection.accounts().receiveWindow
    const asked = Math.max(size, 1)
    if (this.connection.control(ControlFrame.Window, undefined, asked)) this.setWindow = before === asked ? undefined : { size: asked, before }
  }

  setNextStreamID (id: number): void {
    this.check()
    checkNumber(id, 'id')
    if (id <= 0 || id > STREAM_ID_MAX) throw outOfRange('id', `> 0 and <= ${STREAM_ID_MAX}`, id)
  }

  altsvc (alt: string, of?: unknown): void {
    this.check()
    let origin = ''
    let stream = 0
    if (typeof of === 'string') {
      origin = originOf(of)
      if (origin === 'null') throw plain('ERR_HTTP2_ALTSVC_INVALID_ORIGIN')
    } else if (typeof of === 'number') {
      if (of >>> 0 !== of || of === 0) throw outOfRange('originOrStream', '> 0 && < 4294967296', of)
      stream = of
    } else if (of !== undefined) {
      const given = (of as { origin?: unknown } | null)?.origin
      if (typeof given !== 'string') throw invalidType('originOrStream', 'one of type string or number or an instance of URL or Object', of)
      if (given === 'null' || given === '') throw plain('ERR_HTTP2_ALTSVC_INVALID_ORIGIN')
      origin = given
    }
    checkText(alt, 'alt')
    if (!QUOTABLE.test(alt)) throw invalidCharacter('alt')
    if (alt.length + origin.length > FRAME_BYTES_MAX) throw plain('ERR_HTTP2_ALTSVC_LENGTH')
    this.connection.control(ControlFrame.AltSvc, Buffer.from(`${origin}\0${alt}`, 'latin1'), stream)
  }

  origin (...origins: unknown[]): void {
    this.check()
    if (origins.length === 0) return
    const named: string[] = []
    let bytes = 0
    for (const given of origins) {
      const origin = typeof given === 'string' ? originOf(given) : (given as { origin?: unknown } | null)?.origin
      if (typeof origin !== 'string') throw invalidType('origin', 'of type string', given)
      if (origin === 'null') throw plain('ERR_HTTP2_INVALID_ORIGIN')
      bytes += origin.length
      named.push(origin)
    }
    if (bytes > FRAME_BYTES_MAX) throw plain('ERR_HTTP2_ORIGIN_LENGTH')
    this.connection.control(ControlFrame.Origins, Buffer.from(named.join('\0'), 'latin1'))
  }

  setTimeout (time: number, callback?: () => void): this {
    if (this.isDestroyed) return this
    this.timer = Timer.set(this.timer, time, callback, this, () => { if (!this.isDestroyed && !this.isSending()) this.emit('timeout') })
    return this
  }
  /** Whether bytes have gone since its timer fired last: that is no timeout, as with node:http2. Those of small answers are
   * from before its last sign of life; those of large ones go behind it, also where no stream has more. */
  private isSending (): boolean {
    const [, sent] = this.connection.traffic
    const least = this.connection.accounts().streamsSending > 0 ? 1 : LARGE_BYTES
    const isProgress = sent - this.sentAtTimeout >= least
    this.sentAtTimeout = sent
    if (isProgress) this.refresh()
    return isProgress
  }
  /** A sign of life. */
  refresh (): void { this.timer?.refresh() }

  ref (): void { this.rawSocket?.ref() }
  unref (): void { this.rawSocket?.unref() }

  private check (): void { if (this.isDestroyed) throw plain('ERR_HTTP2_INVALID_SESSION') }

  // Frames of the peer about the connection.

  onSettings (values: (number | undefined)[]): void { this.report(() => { this.takeSettings(values) }) }
  onSettingsAcknowledged (ms: number): void { this.report(() => { this.takeAcknowledgement(ms) }) }
  onPing (payload: Buffer): void { this.report(() => { this.takePing(payload) }) }
  onGoaway (code: number, lastStream: number, data: Buffer): void { this.report(() => { this.takeGoaway(code, lastStream, data) }) }
  private report (call: () => void): void { this.fresh.report(this.connection, call) }

  private takeSettings (values: (number | undefined)[]): void {
    if (this.isDestroyed) return
    const [headerTableSize, push, maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderSize, connect] = values
    this.refresh()
    const remote: Record<string, number | boolean | undefined> = {
      headerTableSize, enablePush: push === 1, initialWindowSize, maxFrameSize, maxConcurrentStreams,
      maxHeaderListSize: maxHeaderSize, maxHeaderSize, enableConnectProtocol: connect === 1
    }
    const known = Object.fromEntries(Object.entries(remote).filter(([, value]) => value !== undefined)) as Settings
    this.remote = withListed(known, this.remote, values, this.options.listedSettings)
    this.emit('remoteSettings', this.remote)
  }

  private takeAcknowledgement (ms: number): void {
    const oldest = this.sent.shift()
    if (oldest === undefined || this.isDestroyed) return
    this.local = changed(this.local, oldest.settings)
    this.shownLocal = undefined
    oldest.callback?.(null, this.localSettings, ms)
    this.emit('localSettings', this.localSettings)
  }

  private takePing (payload: Buffer): void {
    if (this.isDestroyed) return
    this.refresh()
    this.emit('ping', payload)
  }

  onPong (payload: Buffer, ms: number): void {
    const place = this.pings.findIndex(ping => ping.payload.equals(payload))
    const [ping] = place < 0 ? [] : this.pings.splice(place, 1)
    ping?.callback(null, ms, ping.payload)
  }

  private takeGoaway (code: number, lastStream: number, data: Buffer): void {
    if (this.isDestroyed) return
    this.isLeft = true
    this.goawayCode = code
    this.goawayLastStreamID = lastStream
    this.emit('goaway', code, lastStream, data.length === 0 ? undefined : data)
    if (code === NO_ERROR) this.close()
    else this.end(sessionError(code), NO_ERROR, true)
  }

  /** The peer broke a rule of its connection, which ends it. */
  onBroken (error: Error): void { this.end(error, INTERNAL_ERROR, true) }

  /** The transport failed. A reset behind the peer's GOAWAY, or a peer that takes nothing more, is the end of the connection
   * alone, as with node. */
  onFailed (error: NodeJS.ErrnoException): void {
    if (this.isDestroyed) return
    if (error.code === 'EPIPE') return
    const { rawSocket } = this
    if (this.isLeft) this.end(NO_ERROR, undefined, true)
    else this.end(error, INTERNAL_ERROR, true)
    rawSocket?.destroy(error)
  }

  /** A program destroys the socket with an error, or emits one: as with node, that is the session's. */
  private onSocketError (error: Error): void { this.end(error, INTERNAL_ERROR, true) }

  // The end of the connection.

  /** `reported` is called when all has been told. */
  onConnectionClosed (reported: () => void): void {
    this.isOver = true
    // One that was destroyed was not closed before, as node has it.
    if (!this.isDestroyed) this.isClosed = true
    this.once('close', reported)
    // Events of its streams in the same batch come first.
    later(() => {
      if (this.isDestroyed) this.reportClosed()
      else this.destroy()
    })
  }

  /** The connection has ended: pending settings are dropped without a callback, as with node. */
  private cancelAsked (): void {
    for (const { callback } of this.pings.splice(0)) callback(plain('ERR_HTTP2_PING_CANCEL'))
  }

  /** Once: the connection's end and the last stream's may both bring it. As with node, the close of its socket comes first. */
  private reportClosed (): void {
    if (this.isReported) return
    const socket = this.rawSocket
    this.rawSocket = undefined
    this.isReported = true
    if (socket === undefined || socket.closed) return this.emitClosed()
    socket.once('close', () => { this.emitClosed() })
    socket.gone()
  }

  private emitClosed (): void {
    if (this.error !== undefined) this.emit('error', this.error)
    this.emit('close')
  }
}

function bytesOf (view: NodeJS.ArrayBufferView | undefined): Uint8Array | undefined {
  return view === undefined ? undefined : new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

let pingsMade = 0n
/** The bytes of a ping that has none of its own: those of no other that is under way. */
function freshPayload (): Buffer {
  const payload = Buffer.alloc(8)
  payload.writeBigUInt64BE(pingsMade++)
  return payload
}

/** The origin of a URL; throws what node does for a text that is none. */
function originOf (text: string): string { return new URL(text).origin }

// A connection of HTTP/2 or HTTP/3 as a session of node:http2.

import type { EventEmitter } from 'node:events'
import { getPackedSettings } from 'node:http2'
import { Open, type Tracked } from '../../open'
import { ControlFrame, HttpVersion } from '../../channel/codes'
import type { Accounts, Connection, ConnectionCallbacks } from '../../server/connection'
import { asked } from '../callbacks/asked'
import { bytesOf } from '../callbacks/pings'
import { checkCall, checkInteger, checkObject, endOfSession, ErrorCode, plain, sessionError } from '../codes'
import { withCustom } from '../options/custom_settings'
import { changed, INITIAL, remoteOf, WINDOW_INITIAL, type Http2Settings } from '../options/settings'
import { altSvcOf, originsOf } from './origin_frames'
import { BLOCK_BYTES_DEFAULT } from '../fields'
import { afterNextTurn, later, type FreshConnections } from '../callbacks/later'
import { SessionBase, type SettingsCallback } from './session/base'
import { sessionSocket, type Socket } from './socket'
import { Timer } from '../callbacks/timer'
import { nextTick, setImmediate } from '../../timers'

/** NGHTTP2_SESSION_SERVER. */
const SERVER = 0
/** The next stream that a server would open; it opens none. */
const FIRST_OF_SERVERS = 2
/** Bytes that a connection does not take in the turn in which they are written: more than the send buffer of a socket has by default. */
const LARGE_BYTES = 64 * 1024
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
  /** Streams that the peer is taken to allow until its settings have come. */
  peerStreamsMax: number
  /** Origins that the server answers for beside that of the connection. */
  origins: unknown[]
  /** Identifiers of the peer's settings of extensions that are shown. */
  listedSettings: readonly number[]
}

/** Settings that do not change in a connection's life. */
const FIXED = ['maxFrameSize']
/** The engine's default settings. */
const OURS: Http2Settings = { maxConcurrentStreams: 100, maxHeaderListSize: 65_536, maxHeaderSize: 65_536 }

/** A stream, as far as its session needs it. */
export interface SessionStream extends Tracked {
  /** Whether a reader of its body is about to get bytes or the end. */
  readonly $isDue: boolean
  /** Whether a reader gets the end of the request in the next turn. */
  readonly $endsLater: boolean
  readonly $isDraining: boolean
  readonly id: number
  destroy: (error?: Error) => unknown
}

export class ServerHttp2Session extends SessionBase implements ConnectionCallbacks {
  $rawSocket: Socket | undefined
  /** With which code it was ended by this side; 0: it was not. */
  $endCode: number = ErrorCode.NoError
  readonly type = SERVER
  declare timeout: number | undefined
  goawayCode: number = ErrorCode.NoError
  goawayLastStreamID = 0
  private readonly $streams = new Open<SessionStream>()
  private $proxy: Socket | undefined
  private $isClosed = false
  private $isDestroyed = false
  /** The peer has sent GOAWAY. */
  private $isLeft = false
  private $isOver = false
  /** The call that ended its connection; undefined: its peer did. */
  private $endedBy: 'close' | 'destroy' | undefined
  private $isReported = false
  private $isConnectReported = false
  private $error: Error | undefined
  /** The window that was set last, and the one before it. */
  private $setWindow: { size: number; before: number } | undefined
  /** The largest window since the first that was set; 0: none was. */
  private $largestWindow = 0
  /** Bytes of the connection that had gone when the timer fired last. */
  private $sentAtTimeout = 0

  constructor (
    private readonly $connection: Connection,
    readonly server: EventEmitter,
    socket: Socket,
    private readonly $fresh: FreshConnections,
    private readonly $options: SessionOptions & { settings: Http2Settings }
  ) {
    super($options.pingsMax)
    this.$rawSocket = socket
    $connection.callbacks = this
    this.$remote = { ...INITIAL, maxConcurrentStreams: $options.peerStreamsMax }
    const first = changed(OURS, $options.settings, FIXED)
    this.$extensions = withCustom({}, {}, first)
    // HTTP/3 acknowledges nothing.
    if ($connection.version === HttpVersion.Http2) this.$changes.push({ settings: first })
    else this.$local = changed(INITIAL, first, FIXED)
    if ($options.origins.length > 0) this.origin(...$options.origins)
    this.on('error', error => { this.server.emit('sessionError', error, this) })
    socket.on('error', error => { this.$onSocketError(error) })
    // A listener of its connection may have destroyed it before the session.
    if (socket.errored != null) nextTick(() => { this.$onSocketError(socket.errored!) })
    nextTick(() => { this.$reportConnect() })
  }

  /** Once, and before the first of its streams, which may come in the turn of the session. */
  private $reportConnect (): void {
    if (this.$isConnectReported || this.$isDestroyed) return
    this.$isConnectReported = true
    this.emit('connect', this, this.$rawSocket)
  }

  get $isStrict (): boolean { return this.$options.isStrict }
  /** HTTP/3 is not nghttp2's: there it is bounded where its user says so. */
  get $headBlockBytesMax (): number | undefined { return this.$options.headBlockBytesMax ?? (this.$connection.version === HttpVersion.Http2 ? BLOCK_BYTES_DEFAULT : undefined) }
  get encrypted (): boolean { return this.$connection.encrypted }
  get alpnProtocol (): string { return this.$connection.alpn ?? 'h2c' }
  get connecting (): boolean { return false }
  get closed (): boolean { return this.$isClosed }
  get destroyed (): boolean { return this.$isDestroyed }
  get pendingSettingsAck (): boolean { return this.$changes.length > 0 }
  get socket (): Socket | undefined { return this.$isReported || this.$isDestroyed ? undefined : (this.$proxy ??= sessionSocket(this)) }
  get originSet (): string[] | undefined {
    if (!this.encrypted || this.$isDestroyed) return undefined
    const { servername, remoteAddress, remotePort } = this.$connection
    const address = remoteAddress?.includes(':') === true ? `[${remoteAddress}]` : remoteAddress
    const host = `https://${servername ?? address}`
    return [new URL(remotePort === undefined ? host : `${host}:${remotePort}`).origin]
  }

  /** The settings that the peer has acknowledged. */
  get localSettings (): Http2Settings { return this.$isDestroyed ? this.$shownLocal ?? {} : (this.$shownLocal ??= { ...this.$local, ...this.$extensions }) }
  get remoteSettings (): Http2Settings { return this.$isDestroyed ? {} : this.$remote }

  /** Until the connection has applied the window that was set last, the accounts say the one before. Of a window that a program has
   * set, what the engine had granted beyond it before is not shown. */
  private $accounts (): Accounts {
    const accounts = this.$connection.accounts()
    const { $setWindow: setWindow, $largestWindow: largest } = this
    const shown = largest === 0 ? accounts : { ...accounts, receivable: Math.min(accounts.receivable, largest) }
    if (setWindow === undefined) return shown
    if (accounts.receiveWindow !== setWindow.before) {
      this.$setWindow = undefined
      return shown
    }
    const grown = Math.max(setWindow.size - setWindow.before, 0)
    return { ...accounts, receiveWindow: setWindow.size, receivable: Math.min(accounts.receivable + grown, largest) }
  }

  get state (): object {
    if (this.$isDestroyed) return {}
    const accounts = this.$accounts()
    return {
      effectiveLocalWindowSize: this.$isWindowZero ? 0 : accounts.receiveWindow,
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

  // Its streams.

  $add (stream: SessionStream): void {
    this.$reportConnect()
    this.$streams.add(stream)
    this.$refresh()
  }

  $forget (stream: SessionStream): void {
    this.$streams.delete(stream)
    if (this.$isClosed && !this.$isDestroyed && this.$streams.size === 0) setImmediate(() => { this.$maybeDestroy() })
  }

  private $maybeDestroy (): void { if (this.$isClosed && this.$streams.size === 0) this.destroy() }

  // Calls of users.

  settings (settings: Http2Settings, callback?: SettingsCallback): void {
    this.$check()
    checkObject(settings, 'settings')
    const packed = getPackedSettings(settings)
    if (callback) checkCall(callback)
    this.$refresh()
    if (this.$changes.length >= this.$options.settingsMax) {
      if (callback) callback(plain('ERR_HTTP2_SETTINGS_CANCEL'))
      this.destroy(plain('ERR_HTTP2_MAX_PENDING_SETTINGS_ACK'))
    } else if (this.$connection.control(ControlFrame.Settings, packed)) {
      this.$changes.push({ settings: { ...settings }, callback: callback && asked('HTTP2SETTINGS', callback) })
      this.$extensions = withCustom({ ...this.$extensions }, this.$extensions, settings ?? {})
    } else if (callback) nextTick(callback, plain('ERR_HTTP2_SETTINGS_CANCEL'))
  }

  ping (payload?: unknown, callback?: unknown): boolean | undefined {
    this.$check()
    return this.$pings.ping(payload, callback, this.$isClosed, sent => this.$connection.control(ControlFrame.Ping, sent))
  }

  goaway (code: number = ErrorCode.NoError, lastStreamID = 0, data?: NodeJS.ArrayBufferView): void {
    this.$checkGoaway(code, lastStreamID, data)
    this.$refresh()
    const { $connection: connection } = this
    // The last stream is one of the peer's (RFC 9113 section 6.8): with one of ours nothing is sent, as with node:http2.
    if (connection.version === HttpVersion.Http2 && lastStreamID > 0 && lastStreamID % 2 === 0) return
    if (connection.control(ControlFrame.Goaway, bytesOf(data), code >>> 0, Math.max(lastStreamID, 0))) return
    // HTTP/3 has neither a code nor words for people.
    if (code === ErrorCode.NoError) connection.shutDown()
    else connection.abort(code)
  }

  close (callback?: () => void): void {
    if (this.$isClosed || this.$isDestroyed) return
    this.$isClosed = true
    if (typeof callback === 'function') this.once('close', callback)
    this.$connection.shutDown()
    // The GOAWAY is to go first.
    setImmediate(() => { this.$maybeDestroy() })
  }

  destroy (error: Error | number = ErrorCode.NoError, code?: number): void { this.$end(error, code, false) }

  /** `byPeer`: a stream ends behind the bytes of the peer that came before, which its reader gets first. */
  private $end (error: Error | number, code: number | undefined, byPeer: boolean): void {
    if (this.$isDestroyed) return
    const [reason, ownCode] = endOfSession(error, code)
    this.$isDestroyed = true
    const isIdle = this.$streams.size === 0
    this.$error = reason
    this.$endCode = ownCode
    this.$timer?.stop()
    this.removeAllListeners('timeout')
    // A message received whole stays readable when its connection is over.
    for (const stream of [...this.$streams]) {
      if (this.$isOver && stream.$isDraining) continue
      const destroy = (): void => { stream.destroy(reason) }
      const destroyBehindEnd = (): void => { if (stream.$endsLater) afterNextTurn(destroy); else destroy() }
      if (!byPeer || !stream.$isDue) destroy()
      // A reader gets the end in the next turn, or what came before it, and then that.
      else if (stream.$endsLater) destroyBehindEnd()
      else later(destroyBehindEnd)
    }
    // Pending settings are dropped without a callback, as with node.
    setImmediate(() => { this.$pings.cancel() })
    if (this.$isOver) later(() => { this.$reportClosed() })
    // Open streams would hold a connection that is shut down.
    else if (this.$isClosed && isIdle && reason === undefined) this.$connection.shutDown()
    else this.$connection.abort(this.$endCode)
  }

  setLocalWindowSize (size: number): void {
    this.$check()
    checkInteger(size, 'windowSize', 0, 2 ** 31 - 1)
    const before = this.$connection.accounts().receiveWindow
    const asked = Math.max(size, 1)
    if (!this.$connection.control(ControlFrame.Window, undefined, asked)) return
    this.$isWindowZero = size === 0
    this.$setWindow = before === asked ? undefined : { size: asked, before }
    this.$largestWindow = Math.max(this.$largestWindow, asked, WINDOW_INITIAL)
  }

  altsvc (alt: string, of?: unknown): void {
    this.$check()
    const [payload, stream] = altSvcOf(alt, of)
    // As with node:http2 nothing is sent of a stream that is not open.
    if (stream !== 0 && ![...this.$streams].some(({ id }) => id === stream)) return
    this.$connection.control(ControlFrame.AltSvc, payload, stream)
  }

  origin (...origins: unknown[]): void {
    this.$check()
    if (origins.length > 0) this.$connection.control(ControlFrame.Origins, originsOf(origins))
  }

  setTimeout (time: number, callback?: () => void): this {
    if (this.$isDestroyed) return this
    this.timeout = time
    this.$timer = Timer.set(this.$timer, time, callback, this, () => { if (!this.$isDestroyed && !this.$isSending()) this.emit('timeout') })
    return this
  }
  /** Whether bytes have gone since its timer fired last: that is no timeout, as with node:http2. Those of small answers are
   * from before its last sign of life; those of large ones go behind it, also where no stream has more. */
  private $isSending (): boolean {
    const [, sent] = this.$connection.traffic
    const least = this.$connection.accounts().streamsSending > 0 ? 1 : LARGE_BYTES
    const isProgress = sent - this.$sentAtTimeout >= least
    this.$sentAtTimeout = sent
    if (isProgress) this.$refresh()
    return isProgress
  }

  ref (): void { this.$rawSocket?.ref() }
  unref (): void { this.$rawSocket?.unref() }

  // Frames of the peer about the connection.

  $onSettings (values: (number | undefined)[]): void { this.$report(() => { this.$takeSettings(values) }) }
  $onSettingsAcknowledged (ms: number): void { this.$report(() => { this.$takeAcknowledgement(ms) }) }
  $onPing (payload: Buffer): void { this.$report(() => { this.$takePing(payload) }) }
  $onGoaway (code: number, lastStream: number, data: Buffer): void { this.$report(() => { this.$takeGoaway(code, lastStream, data) }) }
  private $report (call: () => void): void { this.$fresh.report(this.$connection, call) }

  private $takeSettings (values: (number | undefined)[]): void {
    if (this.$isDestroyed) return
    this.$refresh()
    this.$remote = remoteOf(values, this.$remote, this.$options.listedSettings)
    this.emit('remoteSettings', this.$remote)
  }

  protected override $changedBy (changes: Http2Settings): Http2Settings { return changed(this.$local, changes, FIXED) }

  private $takeGoaway (code: number, lastStream: number, data: Buffer): void {
    if (this.$isDestroyed) return
    this.$isLeft = true
    this.goawayCode = code
    this.goawayLastStreamID = lastStream
    this.emit('goaway', code, lastStream, data.length === 0 ? undefined : data)
    if (code === ErrorCode.NoError) this.close()
    else this.$end(sessionError(code), ErrorCode.NoError, true)
  }

  /** The peer broke a rule of its connection, which ends it. */
  $onBroken (error: Error): void { this.$end(error, ErrorCode.Internal, true) }

  /** The transport failed. A reset behind the peer's GOAWAY, or a peer that takes nothing more, is the end of the connection
   * alone, as with node. */
  $onFailed (error: NodeJS.ErrnoException): void {
    if (this.$isDestroyed) return
    if (error.code === 'EPIPE') return
    const { $rawSocket: rawSocket } = this
    if (this.$isLeft) this.$end(ErrorCode.NoError, undefined, true)
    else this.$end(error, ErrorCode.Internal, true)
    rawSocket?.destroy(error)
  }

  /** A program destroys the socket with an error, or emits one: as with node, that is the session's. */
  private $onSocketError (error: Error): void { this.$end(error, ErrorCode.Internal, true) }

  // The end of the connection.

  /** `reported` is called when everything was reported. */
  $onConnectionClosed (reported: () => void): void {
    this.$isOver = true
    if (!this.$isLeft) this.$endedBy = this.$isClosed ? 'close' : this.$isDestroyed ? 'destroy' : undefined
    // One that was destroyed was not closed before, as node has it.
    if (!this.$isDestroyed) this.$isClosed = true
    this.once('close', reported)
    // Events of its streams in the same batch come first.
    later(() => {
      if (this.$isDestroyed) this.$reportClosed()
      else this.destroy()
    })
  }

  /** Once: the connection's end and the last stream's may both bring it. As with node, the close of its socket comes first. */
  private $reportClosed (): void {
    if (this.$isReported) return
    const socket = this.$rawSocket
    this.$rawSocket = undefined
    this.$isReported = true
    if (socket === undefined || socket.closed) return this.$emitClosed()
    socket.once('close', () => { this.$emitClosed() })
    // As with node, an error of the session is one of its socket; without a listener it would end the process.
    if (this.$error !== undefined && socket.listenerCount('error') > 0) socket.$failure = this.$error
    // Its peer's end is not waited for.
    if (this.$endedBy === 'destroy') socket.destroySoon()
    else socket.$goneInOrder(this.$endedBy !== undefined)
  }

  private $emitClosed (): void {
    if (this.$error !== undefined) this.emit('error', this.$error)
    this.emit('close')
  }
}

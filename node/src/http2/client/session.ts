// A client's session of node:http2: one connection, over a socket of node's or a stream made in JavaScript.
// The machine decides what goes over it; this has the events, and the requests that wait for their turn.

import { captureRejectionSymbol } from 'node:events'
import type { Duplex } from 'node:stream'
import { nodeLine } from '../../node_version'
import { HEAD_BYTES_MAX } from '../../channel/ring'
import { Fifo } from '../../fifo'
import { endOfSession, ErrorCode, invalidType, plain, sessionError } from '../codes'
import { brokenSession } from '../connection/broken'
import { sessionSocket, type Socket } from '../connection/socket'
import { BLOCK_BYTES_DEFAULT, exceedsBlock, type Headers } from '../fields'
import { LateResets } from './late_resets'
import { SocketLink } from './socket_link'
import { showCreated, showStarted } from './channels'
import { cancelled, tooManyOrigins } from './errors'
import { headOf, rawHeadOf, type Defaults, type OutgoingHead } from './head'
import { ClosedBy, Refusal, type Machine, type MachineEvents } from './machines'
import { withCustom } from '../options/custom_settings'
import type { Http2Settings } from '../options/settings'
import { sentHeadMaxOf } from '../options/option_bounds'
import { first, machineSettings, settingsError, type ClientSessionBounds } from './settings'
import { SessionControl, type Carrying } from './control'
import { ClientHttp2Stream } from './stream'
import type { StreamOwner } from './stream_owner'
import { checkStreamOptions, type StreamOptions } from './stream_options'
import { nextTick, setImmediate } from '../../timers'

/** Numbers of nghttp2's errors: clients alone begin with the magic bytes, so that a server that sends none breaks the protocol. */
const BAD_MAGIC = 903
const BAD_PROTOCOL = 505
/** The type of HEADERS (RFC 9113 section 6.2). */
const HEADERS = 1
/** NGHTTP2_SESSION_CLIENT. */
const CLIENT = 1
/** Origins of a session: the default of node:http2. */
const ORIGINS_MAX = 128
/** RFC 9113 section 5.1.1. */
const STREAM_ID_MAX = 2 ** 31 - 1
/** From this line on node takes names and values by turns. */
const takesArrays = nodeLine >= 22
/** From this line on a request on a session that has ended fails its stream; before, it throws. */
const failsLater = nodeLine >= 24

/** A request that has no stream of the machine's yet. */
interface Asked { stream: ClientHttp2Stream; head: OutgoingHead; isEnd: boolean }

/** The sessions of streams that carry one. */
const carried = new WeakSet<Duplex>()

export class ClientHttp2Session extends SessionControl implements MachineEvents, StreamOwner<ClientHttp2Stream> {
  readonly type = CLIENT
  $rawSocket: Socket | undefined
  private $carrier: SocketLink | undefined
  private $proxy: Socket | undefined
  private readonly $streams = new Map<number, ClientHttp2Stream>()
  /** Streams without an id. */
  private readonly $pendingStreams = new Set<ClientHttp2Stream>()
  /** Requests for which the server has no room. */
  private $waiting = new Fifo<Asked>()
  /** Requests that wait for the connection. */
  private readonly $early: Asked[] = []
  /** Streams of which both sides may have ended. */
  private $ending: ClientHttp2Stream[] = []
  private $isEnding = false
  /** Streams whose bodies have ended and wait for the server's windows. */
  private $sending: ClientHttp2Stream[] = []
  private readonly $endStreams = (): void => {
    this.$isEnding = false
    this.$ending = this.$ending.filter(stream => !stream.destroyed && !stream.$endIfOver())
  }
  private $isForgetting = false
  private readonly $forgotten = (): void => {
    this.$isForgetting = false
    this.$maybeDestroy()
  }
  private readonly $lateResets = new LateResets(streams => {
    for (const stream of streams) this.$machine?.reset(stream, ErrorCode.NoError)
    this.$plan()
  }, () => { this.$maybeDestroy() })
  private $isClosed = false
  private $isDestroyed = false
  private $destroyCode: number = ErrorCode.NoError
  private $goaway_: { code: number; last: number } | undefined
  private $origins: Set<string> | undefined
  private $isEncrypted: boolean | undefined
  private $alpn: string | undefined
  private readonly $defaults: Defaults
  /** Bytes of a header block of ours at most. */
  private readonly $blockBytesMax: number = BLOCK_BYTES_DEFAULT

  constructor (options: ClientSessionBounds, socket: Duplex, authority: string, protocol: string) {
    super(options)
    if (carried.has(socket)) throw plain('ERR_HTTP2_SOCKET_BOUND')
    carried.add(socket)
    this.$blockBytesMax = sentHeadMaxOf(options.maxSendHeaderBlockLength) ?? this.$blockBytesMax
    this.$defaults = { authority, protocol, isStrict: options.strictSingleValueFields !== false }
    const carrying = this.$carrying = socket as Carrying
    this.$rawSocket = socket as Socket
    socket.on('error', error => { this.$onSocketError(error as NodeJS.ErrnoException) })
    socket.on('close', () => { this.$onSocketClosed() })
    carrying.setNoDelay?.()
    carrying.disableRenegotiation?.()
    if (carrying.connecting === true || carrying.secureConnecting === true) {
      socket.once(carrying.encrypted === true ? 'secureConnect' : 'connect', () => { this.$start() })
    } else this.$start()
  }

  /** The socket is connected. */
  private $start (): void {
    const { $carrying: carrying } = this
    const connected = (): void => { this.emit('connect', this, carrying) }
    if (this.$isDestroyed || carrying === undefined) return void nextTick(connected)
    this.$isEncrypted = carrying.encrypted === true
    this.$alpn = this.$isEncrypted ? carrying.alpnProtocol as string : 'h2c'
    const given = this.$options.settings ?? {}
    const refused = settingsError(given)
    if (refused !== undefined) return this.destroy(refused)
    this.$changes.push({ settings: first(given) })
    this.$extensions = withCustom({}, {}, given)
    this.$pendingAck++
    // A stream that holds bytes of the peer already gives them in the next tick: its settings come behind this.
    nextTick(connected)
    this.$carrier = new SocketLink(carrying, this, machineSettings(given, this.$options), () => { this.$afterWrite() })
  }

  // Its facts.

  get $machine (): Machine | undefined { return this.$carrier?.machine }
  get $isStrict (): boolean { return this.$defaults.isStrict }
  get $isLeft (): boolean { return this.$isDestroyed && this.goawayCode !== ErrorCode.NoError }
  get $endCode (): number { return this.$goaway_?.code || this.$destroyCode }
  get encrypted (): boolean | undefined { return this.$isEncrypted }
  get alpnProtocol (): string | undefined { return this.$alpn }
  get connecting (): boolean { return this.$carrier === undefined }
  get closed (): boolean { return this.$isClosed }
  get destroyed (): boolean { return this.$isDestroyed }
  get goawayCode (): number { return this.$goaway_?.code ?? ErrorCode.NoError }
  get goawayLastStreamID (): number { return this.$goaway_?.last ?? 0 }
  get remoteSettings (): Http2Settings { return this.$isDestroyed || this.connecting ? {} : this.$remote }
  get socket (): Socket | undefined { return this.$isDestroyed ? undefined : (this.$proxy ??= sessionSocket(this)) }
  get originSet (): string[] | undefined { return this.$isEncrypted !== true || this.$isDestroyed ? undefined : [...this.$theOrigins()] }

  private $theOrigins (): Set<string> {
    if (this.$origins !== undefined) return this.$origins
    const { remoteAddress, remoteFamily, remotePort, servername } = this.$carrying!
    const host = servername === false || servername == null ? (remoteFamily === 'IPv6' ? `[${remoteAddress}]` : remoteAddress) : servername
    return (this.$origins = new Set([new URL(remotePort == null ? `https://${host}` : `https://${host}:${remotePort}`).origin]))
  }

  get state (): object {
    if (this.connecting || this.$isDestroyed) return {}
    const [effectiveLocalWindowSize, effectiveRecvDataLength, nextStreamID, localWindowSize, lastProcStreamID, remoteWindowSize, outboundQueueSize, deflateDynamicTableSize, inflateDynamicTableSize] = this.$machine!.state()
    return {
      effectiveLocalWindowSize: this.$isWindowZero ? 0 : effectiveLocalWindowSize, effectiveRecvDataLength, nextStreamID, localWindowSize, lastProcStreamID, remoteWindowSize,
      outboundQueueSize, deflateDynamicTableSize, inflateDynamicTableSize
    }
  }

  // Requests.

  request (headers?: Headers | readonly unknown[], options?: StreamOptions): ClientHttp2Stream {
    let refusal: Error | undefined
    if (this.$isDestroyed) refusal = plain('ERR_HTTP2_INVALID_SESSION')
    else if (this.$isClosed) refusal = plain('ERR_HTTP2_GOAWAY_SESSION')
    if (refusal !== undefined && !failsLater) throw refusal
    this.$refresh()
    if (headers !== undefined && (headers === null || typeof headers !== 'object')) throw invalidType('headers', takesArrays ? 'an instance of Array or Object' : 'of type object', headers)
    const head = Array.isArray(headers) ? rawHeadOf(headers, this.$defaults) : headOf((headers ?? {}) as Headers, this.$defaults)
    checkStreamOptions(options)
    const { endStream, signal } = options ?? {}
    const isEnd = endStream ?? head.endsByDefault
    const stream = new ClientHttp2Stream(this, head, options ?? {})
    this.$pendingStreams.add(stream)
    if (isEnd) stream.end()
    if (signal) stream.$follow(signal)
    const asked = { stream, head, isEnd }
    if (refusal !== undefined) nextTick(() => { stream.$inContext(() => { stream.destroy(refusal) }) })
    else if (this.connecting) this.$beginLater(asked)
    else this.$begin(asked)
    showCreated(stream)
    return stream
  }

  /** When there is a connection; one listener for all that wait for it. */
  private $beginLater (asked: Asked): void {
    if (this.$early.push(asked) > 1) return
    this.once('connect', () => { for (const one of this.$early.splice(0)) this.$begin(one) })
  }

  private $begin (asked: Asked): void {
    const { stream } = asked
    if (stream.destroyed || this.$isDestroyed) return
    // It waits for the connection, and its session was closed meanwhile.
    if (this.$isClosed && ![...this.$waiting].includes(asked)) stream.$inContext(() => { stream.destroy(plain('ERR_HTTP2_GOAWAY_SESSION')) })
    else if (this.$waiting.length > 0 || !this.$open(asked)) {
      this.$waiting.push(asked)
      stream.$wait()
    }
  }

  /** Gives a stream to the machine. False: the server has no room for it. */
  private $open ({ stream, head, isEnd }: Asked): boolean {
    const machine = this.$machine!
    const isTooLong = this.$exceedsBlock(head.text)
    const id = isTooLong ? machine.pass() : machine.request(head.text, isEnd)
    if (id === 0) return this.$refuse(stream, machine)
    this.$opened(stream, id, isEnd || isTooLong)
    // A head that its user allows and that is too long for any here: no server takes it another time.
    if (isTooLong) this.$failHead(stream, id, this.$blockBytesMax > HEAD_BYTES_MAX ? ErrorCode.EnhanceYourCalm : ErrorCode.RefusedStream)
    this.$plan()
    showStarted(stream)
    return true
  }

  /** A head that is longer than the user lets it be: its stream ends, and the session with its last one. */
  private $failHead (stream: ClientHttp2Stream, id: number, code: number): void {
    setImmediate(() => {
      if (stream.destroyed) return
      stream.$inContext(() => { stream.emit('frameError', HEADERS, ErrorCode.FrameSize, id) })
      stream.$onStreamClosed(code, false)
      this.close()
    })
  }

  $exceedsBlock (text: string): boolean { return exceedsBlock(text, this.$blockBytesMax) }

  $failTrailers (stream: ClientHttp2Stream): void {
    stream.$inContext(() => { stream.emit('frameError', HEADERS, ErrorCode.FrameSize, stream.id) })
    setImmediate(() => {
      stream.$inContext(() => { stream.close(ErrorCode.FrameSize) })
      this.close()
    })
  }

  private $opened (stream: ClientHttp2Stream, id: number, isFinished: boolean): void {
    this.$pendingStreams.delete(stream)
    this.$streams.set(id, stream)
    this.$lateResets.onOpened(id)
    stream.$inContext(() => { stream.$begin(id, isFinished) })
  }

  private $refuse (stream: ClientHttp2Stream, machine: Machine): boolean {
    const { refusal } = machine
    if (refusal === Refusal.NoCapacity) return false
    if (refusal === Refusal.Closed) {
      if (machine.nextStream > STREAM_ID_MAX) stream.$inContext(() => { stream.destroy(plain('ERR_HTTP2_OUT_OF_STREAMS')) })
      // The server has sent GOAWAY meanwhile: that it was not processed is what its user needs for another attempt.
      else stream.$onStreamClosed(ErrorCode.RefusedStream, false)
    } else {
      const id = machine.pass()
      if (id !== 0) this.$opened(stream, id, true)
      // As a server answers a head that breaks a rule.
      nextTick(() => { stream.$onStreamClosed(ErrorCode.Protocol, false) })
    }
    return true
  }

  private $openWaiting (): void {
    while (this.$waiting.length > 0) {
      const asked = this.$waiting.first!
      if (!asked.stream.destroyed && !this.$open(asked)) return
      this.$waiting.shift()
    }
  }

  // Services for its streams.

  $plan (): void { this.$carrier?.plan() }
  $resetStream (stream: number, code: number): void {
    if (code !== ErrorCode.NoError || !this.$lateResets.keep(stream)) this.$machine?.reset(stream, code)
  }
  $planBody (stream: ClientHttp2Stream): void { this.$carrier?.planBody(stream) }
  $watchEnd (stream: ClientHttp2Stream): void {
    this.$ending.push(stream)
    this.$plan()
  }

  /** A write for each of many streams that end in one turn would find nothing to write. */
  $watchReceived (stream: ClientHttp2Stream): void {
    if (this.$machine?.isOver !== false) return
    this.$ending.push(stream)
    this.$endLater()
  }

  /** Readers of a body have its end first. */
  private $endLater (): void {
    if (this.$isEnding) return
    this.$isEnding = true
    setImmediate(this.$endStreams)
  }

  $watchSent (stream: ClientHttp2Stream): void {
    this.$sending.push(stream)
    this.$plan()
  }

  $forget (stream: ClientHttp2Stream): void {
    if (stream.id === undefined) this.$pendingStreams.delete(stream)
    else this.$streams.delete(stream.id)
    if (this.$isForgetting) return
    this.$isForgetting = true
    setImmediate(this.$forgotten)
  }

  $dropOrigin (origin: string): void { if (this.$isEncrypted === true) this.$theOrigins().delete(origin) }

  private $afterWrite (): void {
    this.$lateResets.onWritten()
    if (this.$sending.length > 0) this.$sending = this.$sending.filter(stream => !stream.$settleSent())
    if (this.$ending.length > 0) this.$endLater()
    if (this.$waiting.length > 0) this.$openWaiting()
  }

  // Input from the peer.

  $onHead (id: number, status: number, fields: string[], sensitive: string[], isInterim: boolean, isEnd: boolean): void {
    this.$refresh()
    const stream = this.$streams.get(id)
    if (stream === undefined) return
    stream.endAfterHeaders ||= isEnd
    stream.$onHead(status, fields, sensitive, isInterim, isEnd)
  }
  $onBody (id: number, bytes: Buffer, isEnd: boolean): void {
    const stream = this.$streams.get(id)
    if (stream !== undefined) stream.$onBody(bytes, isEnd)
    else this.$machine?.take(id, bytes.length)
  }
  $onTrailers (id: number, fields: string[], sensitive: string[]): void { this.$streams.get(id)?.$onTrailers(fields, sensitive) }
  $onReset (id: number, code: number): void {
    const stream = this.$streams.get(id)
    // RFC 9113 section 8.1: behind a whole answer, whose end is read first.
    if (stream !== undefined && code === ErrorCode.NoError && stream.$isReceived) setImmediate(() => { stream.$onStreamClosed(code, true) })
    else stream?.$onStreamClosed(code, true)
  }
  $onRoom (id: number): void { this.$streams.get(id)?.$onRoom() }
  $onCapacity (): void { if (this.$waiting.length > 0) this.$openWaiting() }

  $onGoaway (code: number, last: number, data: Buffer): void {
    if (this.$isDestroyed) return
    this.$goaway_ = { code, last }
    this.emit('goaway', code, last, data.length === 0 ? undefined : data)
    if (code === ErrorCode.NoError) this.close()
    else this.$finish(ErrorCode.NoError, sessionError(code), true)
  }

  $onOrigins (named: string[]): void {
    if (this.$isDestroyed) return
    this.$refresh()
    if (this.$isEncrypted !== true) return
    const origins = this.$theOrigins()
    const most = this.$options.maxOriginSetSize ?? ORIGINS_MAX
    for (const origin of named) {
      if (origins.size >= most) return this.destroy(tooManyOrigins(most))
      origins.add(origin)
    }
    this.emit('origin', named)
  }

  $onAltSvc (stream: number, origin: string, value: string): void {
    // One for a stream that is not open says nothing (RFC 7838 section 4).
    if (this.$isDestroyed || (stream !== 0 && !this.$streams.has(stream))) return
    this.$refresh()
    this.emit('altsvc', value, origin, stream)
  }

  $onClosed (by: ClosedBy, number: number): void {
    if (by === ClosedBy.Us && !this.$isDestroyed) this.destroy(brokenSession(number === BAD_MAGIC ? BAD_PROTOCOL : number), ErrorCode.Internal)
  }

  // Its end.

  close (callback?: () => void): void {
    if (this.$isClosed || this.$isDestroyed) return
    this.$isClosed = true
    if (typeof callback === 'function') this.once('close', callback)
    this.goaway()
    if (this.connecting) this.$maybeDestroy()
    // The GOAWAY is to go first.
    else setImmediate(() => { this.$maybeDestroy() })
  }

  destroy (error: Error | number | null = ErrorCode.NoError, code?: number): void {
    if (this.$isDestroyed) return
    const [reason, ownCode] = endOfSession(error, code)
    this.$finish(ownCode, reason, false)
  }

  private $maybeDestroy (): void {
    if (this.$isClosed && this.$streams.size === 0 && this.$pendingStreams.size === 0 && this.$lateResets.isEmpty) this.destroy()
  }

  /** `byPeer`: the peer has ended it, so that streams end behind the bytes that came before. */
  private $finish (code: number, error: Error | undefined, byPeer: boolean): void {
    if (this.$isDestroyed) return
    this.$isDestroyed = true
    this.$destroyCode = code
    this.$timer?.stop()
    this.removeAllListeners('timeout')
    if (this.$pendingStreams.size > 0 || this.$streams.size > 0) {
      const why = cancelled(error)
      const pending = [...this.$pendingStreams]
      for (const stream of pending) if (!stream.$isWaiting) stream.$inContext(() => { stream.destroy(why) })
      for (const stream of [...this.$streams.values()]) {
        stream.$inContext(() => {
          if (byPeer) stream.$endBehindRead(error)
          else stream.destroy(error)
        })
      }
      // One that waits for capacity has an id in node:http2, and ends as those before it.
      for (const stream of pending) if (stream.$isWaiting) stream.$inContext(() => { stream.destroy(error) })
    }
    this.$waiting = new Fifo()
    this.$carrier?.end(code)
    // Behind the ends of the streams.
    setImmediate(() => { this.$pings.cancel() })
    for (const { callback } of this.$changes.takeAll()) callback?.(plain('ERR_HTTP2_SETTINGS_CANCEL'))
    this.$leaveSocket(error)
  }

  private $leaveSocket (error: Error | undefined): void {
    const socket = this.$carrying
    this.$carrying = undefined
    this.$rawSocket = undefined
    const report = (): void => {
      if (error) this.emit('error', error)
      this.emit('close')
    }
    if (socket === undefined || socket.destroyed) return void nextTick(report)
    socket.once('close', report)
    // The end of the peer's side is seen too.
    if (this.$isClosed) socket.resume()
    socket.end(() => { if (!this.$isClosed) setImmediate(() => { socket.destroy(error) }) })
  }

  private $onSocketError (error: NodeJS.ErrnoException): void {
    // Bytes of bodies that came before the end of the socket wait for their readers.
    this.$machine?.release()
    if (this.$carrying === undefined) return
    // Bytes that the peer does not take are no failure: node:http2 learns of its end by the next read. EPIPE says that the
    // end of its side was there before (Linux: a reset in CLOSE_WAIT), so that the next read is an end; 'close' follows.
    if (error.code === 'EPIPE' && error.syscall === 'write') return
    // A reset of a peer that has sent GOAWAY, or has left a session that closes.
    if (error.code === 'ECONNRESET' && (this.$goaway_ !== undefined || (this.$isClosed && error.syscall === 'write'))) this.destroy()
    else this.$finish(ErrorCode.Internal, error, true)
  }

  private $onSocketClosed (): void {
    this.$machine?.release()
    if (this.$carrying === undefined) return
    const error = this.connecting ? plain('ERR_SOCKET_CLOSED') : undefined
    const open = [...this.$streams.values(), ...this.$pendingStreams]
    const cut = open.filter(stream => !stream.$isWhole)
    for (const stream of cut) stream.$inContext(() => { stream.close(ErrorCode.Cancel) })
    this.close()
    if (cut.length === open.length) return this.$finish(ErrorCode.NoError, error, false)
    // An exchange that is whole stays readable when its connection is over, and the session ends with the last.
    for (const stream of cut) stream.$inContext(() => { stream.destroy() })
    for (const stream of open) if (stream.$isWhole) stream.$onStreamClosed(ErrorCode.NoError, false)
  }

  override [captureRejectionSymbol] (error: Error): void { this.destroy(error) }
}

// A stream of a server. Its prototype is Duplex from the start; the Duplex is initialised when a
// member that needs it is first used, so a response that is given at once never creates one.

import { Duplex } from 'node:stream'
import { inspect, type InspectOptions } from 'node:util'
import type { ServerHttp2Session } from '../connection/session'
import type { Tracked } from '../../open'
import { asked } from '../callbacks/asked'
import { ResponseFlag } from '../../channel/codes'
import type { Exchange, ServerExchangeCallbacks } from '../../server/exchange'
import { showHead, showsCloses } from '../channels'
import { checkCall, checkInteger, ErrorCode, plain } from '../codes'
import { exceedsBlock, objectOf, rawOf, type Headers } from '../fields'
import { AwaitedWrites } from './awaited_writes'
import { cutRequest, destroy, markClosed, onClosed, type EndingStream } from './ending'
import type { Face } from './face'
import type { WrittenPieces } from './piped_file'
import { respondWithDescriptor, respondWithFile, type FileResponseOptions } from './file'
import { windowLeft } from '../options/settings'
import { Intake } from './intake'
import { later } from '../callbacks/later'
import { longEnd, longWrite, makeLazy, readableOf, writableLengthOf } from './lazy_duplex'
import { isDueTo } from './reader'
import { sendInformational, respond, sendTrailers, type RespondOptions } from './respond'
import { checkPriority } from './priority'
import { asBody, Outgoing } from './outgoing'
import { loopTurns, scriptTurns } from './turns'
import { Timer } from '../callbacks/timer'
import { nextTick, setImmediate } from '../../timers'

/** The type of HEADERS (RFC 9113 section 6.2), and its flags. */
const HEADERS = 1
const END_STREAM = 1
const END_HEADERS = 4
const CODE_MAX = 2 ** 32 - 1

/** Members that a stream implements in another form than Duplex. */
type Own = 'readable' | 'writableLength' | 'destroyed' | 'closed' | 'pending' | 'write' | 'end' | 'destroy' | '_write' | '_final' | '_read' | '_destroy'

export interface ServerHttp2Stream extends Omit<Duplex, Own> {}
export class ServerHttp2Stream implements ServerExchangeCallbacks, EndingStream, Tracked {
  $index = 0
  $order = 0
  $of: ServerHttp2Session | undefined
  private $body: Intake | undefined
  private $ownFace: Face | null = null
  rstCode: number = ErrorCode.NoError
  headersSent = false
  /** Trailers were asked for and are not sent. */
  $waitsForTrailers = false
  $trailersReady = false
  /** The final head, or a function that makes it when it is first read. */
  private $sent: Headers | (() => Headers) | undefined
  sentTrailers: Headers | undefined
  sentInfoHeaders: Headers[] | undefined
  readonly $outgoing: Outgoing
  /** The Duplex is initialised. */
  $isDuplex = false
  $isClosed = false
  $isAborted = false
  /** Bytes of the answer were never given to the connection. */
  $isCut = false
  /** Its end was put behind the bytes that came before it. */
  $isEndRead = false
  $isGone = false
  /** The response was sent as one message, so that no more events follow. */
  $isAnswered = false
  /** The turn in which it was answered. */
  private $turnOfAnswer = 0
  private $loopTurnOfAnswer = 0
  /** It was answered without a listener, so its end is not emitted. */
  private $isQuiet = false
  private $isFile = false
  /** A piece of content was given to the exchange. */
  private $hasContent = false
  $cutsRequest = false
  /** The headers, once they were made. */
  $madeHeaders: Headers | undefined
  private $rawList: string[] | undefined
  declare timeout: number | undefined
  $timer: Timer | undefined
  /** Bytes of the connection that had gone when the timer fired last. */
  private $sentAtTimeout = 0
  $writes: AwaitedWrites | undefined

  constructor (session: ServerHttp2Session, readonly $exchange: Exchange) {
    this.$of = session
    this.$outgoing = new Outgoing($exchange)
    $exchange.owner = this
    $exchange.callbacks = this
  }

  /** The body of the request. */
  get $intake (): Intake { return (this.$body ??= new Intake(this.$exchange, false, true)) }

  // Properties.

  get id (): number { return this.$exchange.streamId }
  get session (): ServerHttp2Session | undefined { return this.$isPast ? undefined : this.$of }
  get pending (): boolean { return false }
  get closed (): boolean { return this.$isClosed || this.$isPast }
  get aborted (): boolean { return this.$isAborted }
  get headRequest (): boolean { return this.$exchange.isHead }
  get endAfterHeaders (): boolean { return !this.$exchange.hasBody }
  get bufferSize (): number { return this.writableLength }
  get pushAllowed (): boolean { return false }
  /** Whether it ended without a listener in an earlier turn of the loop. */
  get $isPast (): boolean { return this.$isQuiet && !loopTurns.isNow(this.$loopTurnOfAnswer) }
  /** Whether that message was sent in an earlier turn, or has gone. */
  get $isFinished (): boolean { return this.$isAnswered && (this.$isGone || !scriptTurns.isNow(this.$turnOfAnswer)) }
  /** Read to its end by the request of the compatible API, it is as if it were read here. */
  get readable (): boolean {
    if (this.$body?.isSpent(this) === true) return false
    return readableOf.get!.call(this) as boolean
  }
  set readable (value: boolean) { readableOf.set!.call(this, value) }
  /** Bytes that the connection has not taken count. */
  get writableLength (): number {
    const { pending } = this.$exchange
    return pending + (this.$isDuplex ? (writableLengthOf.get!.call(this) as number) - (this.$writes?.bytes ?? 0) : this.$outgoing.bytes)
  }
  /** Whether the exchange is whole, and its body is still being read or its end not yet reported. */
  get $isDraining (): boolean {
    if (this.$exchange.closeCode !== ErrorCode.NoError) return false
    const isReading = this.$exchange.hasBody && this.$intake.didRead && !this.readableEnded
    return isReading || (this.$isDuplex && this._writableState.ending && !this.writableFinished && this.errored == null)
  }
  get $endsLater (): boolean { return this.$body?.endsLater === true }
  /** Also one that was never read, whose end is its head's. */
  get $isDue (): boolean { return this.$intake.isDue || (this.$isDuplex && isDueTo(this, this.$intake.isWhole)) }
  get state (): object {
    if (this.destroyed) return {}
    const { done } = this.$exchange
    const isWhole = this.$intake.isWhole
    // Numbers of node:http2: open, half closed by us, by the peer; closed.
    const state = done ? (isWhole ? 7 : 5) : isWhole ? 6 : 2
    return { state, weight: 16, sumDependencyWeight: 0, localClose: done ? 1 : 0, remoteClose: isWhole ? 1 : 0, localWindowSize: windowLeft(this.$of?.localSettings.initialWindowSize, this.$body?.received, this.$body?.taken) }
  }
  get sentHeaders (): Headers | undefined {
    if (typeof this.$sent === 'function') this.$sent = this.$sent() as Headers
    return this.$sent
  }
  set sentHeaders (sent: Headers | (() => Headers) | undefined) { this.$sent = sent }
  get $headers (): Headers { return (this.$madeHeaders ??= objectOf(this.$rawHeaders, this.$exchange.sensitive)) }
  get $rawHeaders (): string[] { return (this.$rawList ??= rawOf(this.$exchange)) }

  // The Duplex, initialised on first use.

  /** Makes it a Duplex in fact; of one that is past a late listener (`isHeard`) still gets the end. */
  $become (isHeard = false): void {
    if (this.$isDuplex) return
    if (!isHeard && this.$isPast) this.$isGone = this.$isClosed = true
    this.$isDuplex = true
    const wasAnswered = this.$isAnswered
    Duplex.call(this as never, { allowHalfOpen: true, decodeStrings: false, autoDestroy: false })
    // As with node:http2 the side of the answer has ended before anything listens to it.
    if (this.headRequest && !wasAnswered) Object.assign(this._writableState, { ending: true, ended: true, finished: true })
    if (!this.$exchange.hasBody) this.push(null)
    if (this.$face !== null) this.$reportFace(this.$face)
    for (const piece of this.$outgoing.take()) longWrite.call(this, piece)
    if (wasAnswered && !this.$isGone) longEnd.call(this)
    if (this.$isGone) this.$becomeGone()
    this.$reportLate()
  }

  /** It was over before it was a Duplex: no event comes any more. One that was aborted has finished, unless bytes of it did not go. */
  private $becomeGone (): void {
    if (this.$isAnswered || (this.$isAborted && !this.$isCut)) Object.assign(this._writableState, { ending: true, ended: true, finished: true })
    if (this.$isAnswered && this.$intake.isWhole) Object.assign(this._readableState, { ended: true, endEmitted: true })
    for (const state of [this._readableState, this._writableState] as { destroyed: boolean; closed: boolean; closeEmitted: boolean }[]) {
      state.destroyed = state.closed = state.closeEmitted = true
    }
  }

  get $face (): Face | null { return this.$ownFace }
  /** Also of a stream that a listener of `stream` has made a Duplex. */
  set $face (face: Face) {
    this.$ownFace = face
    if (this.$isDuplex) this.$reportFace(face)
  }

  /** Listeners of the compatible API come before all others. */
  private $reportFace (face: Face): void {
    this.on('drain', () => { face.$onStreamDrain() })
    this.on('aborted', () => { face.$onStreamAborted() })
    this.on('error', () => {})
    this.on('close', () => { face.$onStreamClosed() })
    this.on('timeout', () => { face.$onStreamTimeout() })
  }

  get destroyed (): boolean { return this.$isDuplex ? this._readableState.destroyed : this.$isGone || this.$isPast }
  set destroyed (value: boolean) { this.$isGone = value }

  _read (): void {
    if (this.destroyed) return void this.push(null)
    this.$intake.read(this)
  }

  _write (chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.destroyed) return
    if (!this.headersSent) this.respond()
    // Some lines of Node.js let a text through as 'buffer', and take it for UTF-8.
    this.$send(typeof chunk === 'string' ? Buffer.from(chunk, encoding as string === 'buffer' ? 'utf8' : encoding) : chunk, done)
  }

  get $written (): WrittenPieces { return this }
  get $areKept (): boolean { return this.$outgoing.bytes > 0 || this._writableState.bufferedRequestCount > 0 }
  /** A Duplex gathers nothing. */
  $passOn (): void { this.$become() }

  /** Sends a piece; `done` when the connection has room for the next. */
  $send (bytes: Buffer, done: (error?: Error | null) => void): void {
    this.$hasContent = true
    this.$timer?.refresh()
    this.$of?.$refresh()
    this.$flush()
    this.$exchange.write(bytes)
    const { pending, pendingMax } = this.$exchange
    if (pending <= pendingMax) done()
    else (this.$writes ??= new AwaitedWrites()).add(pending - pendingMax, bytes.length, asked('WRITEWRAP', done))
  }

  _final (done: (error?: Error | null) => void): void {
    if (this.$isClosed || this.$isAnswered) return done()
    const finished = asked('SHUTDOWNWRAP', done)
    // Trailers are wanted behind 'finish', and a head that is all has been given.
    if (this.$waitsForTrailers || !this.$hasContent) finished()
    else later(finished)
    if (!this.$isFile) this.$finishBody()
  }

  /** The body is whole: what follows are trailers, or nothing. */
  $finishBody (): void {
    if (this.$isClosed) return
    if (!this.headersSent) {
      // A HEAD request's stream has ended before anything is answered.
      if (this.headRequest) return
      this.respond()
    }
    if (this.$waitsForTrailers || this.$face?.$hasTrailers === true || this.$reportsWant()) {
      // Within the turn, so that the trailers go with what is before them; those of a response may be set until its end.
      const want = (): void => { this.$wantTrailers() }
      if (this.$face === null) nextTick(want)
      else later(want)
      return
    }
    this.$endBody()
  }

  private $endBody (): void {
    this.$flush()
    const trailers = this.$trailersOfFace()
    if (trailers !== undefined && this.$isTooLong(trailers)) return this.$failBlock()
    this.$exchange.end(trailers)
    this.$declineUnread()
  }

  /**
   * Our side has ended. A request that has no reader by the next turn is refused, as with
   * node:http2; otherwise its sender would wait for ever.
   */
  $declineUnread (): void {
    // A fresh connection gives the stream the bytes of its request behind the listeners, when the exchange has them all.
    if (!this.$exchange.hasBody || (this.$body?.isWhole === true && !this.$body.holds)) return
    later(() => { this.$decline() })
  }

  private $decline (): void {
    // Its reset stops the request, and would find no exchange behind a refusal.
    if (this.$isClosed) return
    // Listeners of `finish` may close it with a code of their own.
    if (this.$isDuplex && !this.destroyed && !this.writableFinished) return void this.once('finish', () => { later(() => { this.$decline() }) })
    const isRead = this.$body?.didRead === true || (this.$isDuplex && this.readableFlowing !== null)
    if (isRead) return
    // A body that came whole stays readable; its exchange does not wait for a reader.
    if (this.$exchange.received) this.$intake.release()
    else this.$exchange.decline()
  }

  /** The body is a file's: for users the writable side has ended. */
  $endForFile (): void {
    this.$isFile = true
    this.$become()
    longEnd.call(this)
  }

  private $wantTrailers (): void {
    this.$trailersReady = true
    if (this.destroyed || this.closed) return
    const face = this.$face
    // Trailers of a response go by a listener of its own, the first one of this event: others learn that they have been sent.
    if (face?.$gaveHead === true) this.$endWithFace(face)
    if (this.emit('wantTrailers') || face?.$gaveHead === true) return
    if (face === null) this.sendTrailers({})
    else this.$endWithFace(face)
  }

  private $endWithFace (face: Face): void {
    this.$waitsForTrailers = false
    this.$endBody()
    this.sentTrailers = face.$sentTrailers
  }

  /** Whether listeners of `wantTrailers` wait for the end of a response's body: it is emitted without trailers too. */
  private $reportsWant (): boolean {
    if (this.$face?.$gaveHead !== true || this.listenerCount('wantTrailers') === 0) return false
    this.$flush()
    return !this.$exchange.done
  }

  // Answers.

  respond (headers?: Headers | unknown[], options?: RespondOptions): void { respond(this, headers, options) }
  additionalHeaders (headers?: Headers): void { sendInformational(this, headers) }
  sendTrailers (headers?: Headers): void { sendTrailers(this, headers) }
  respondWithFile (path: string | Buffer | URL, headers?: Headers, options?: FileResponseOptions<ServerHttp2Stream>): void {
    respondWithFile(this, path, headers, options)
  }
  respondWithFD (fd: unknown, headers?: Headers, options?: FileResponseOptions<ServerHttp2Stream>): void {
    respondWithDescriptor(this, fd, headers, options)
  }
  pushStream (): void { throw plain('ERR_HTTP2_PUSH_DISABLED') }
  priority (options?: unknown): void { checkPriority(this, options) }

  [inspect.custom] (depth: number, options: InspectOptions): unknown {
    const { id, closed, destroyed, state, _readableState: readableState, _writableState: writableState } = this
    return depth < 0 ? this : `Http2Stream ${inspect({ id, closed, destroyed, state, readableState, writableState }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`
  }

  get $isStrict (): boolean { return this.$of?.$isStrict !== false }
  $isTooLong (text: string): boolean { return exceedsBlock(text, this.$of?.$headBlockBytesMax ?? Infinity) }

  /** A head or trailers that are longer than `isTooLong` lets them be: the stream ends, and the session with its last one. */
  $failBlock (): void {
    this.headersSent = true
    const session = this.$of
    setImmediate(() => {
      if (this.destroyed) return
      this.emit('frameError', HEADERS, ErrorCode.FrameSize, this.id)
      this.close(ErrorCode.FrameSize)
      session?.close()
    })
  }

  /** The head goes at the end of this turn, or with what is written before. */
  $keepHead (status: number, text: string, flags: number): void {
    this.headersSent = true
    this.$outgoing.keepHead(status, text, flags)
    showHead(this, () => this.sentHeaders, (flags & ResponseFlag.End) === 0 ? END_HEADERS : END_HEADERS | END_STREAM)
  }

  /** The trailers of the compatible API. Those that cannot be sent are an error of their program, and do not take the body with them. */
  private $trailersOfFace (): string | undefined {
    try {
      return this.$face?.$trailers()
    } catch (error) {
      nextTick(() => { throw error })
      return undefined
    }
  }

  /** Sends what waits for the end of the turn. */
  $flush (): void { this.$outgoing.flush() }

  /** The rest of the answer; as long as nothing of it has gone, all is one message. False: it must go
   * the long way. */
  private $answer (body: Buffer | string | null): boolean {
    const { $outgoing: outgoing } = this
    if (this.$isDuplex || this.$waitsForTrailers || this.$isClosed) return false
    const trailers = this.$trailersOfFace()
    if (trailers) return false
    this.$timer?.refresh()
    this.$of?.$refresh()
    this.$isAnswered = true
    this.$turnOfAnswer = scriptTurns.now()
    this.$loopTurnOfAnswer = loopTurns.now()
    this.$isQuiet = outgoing.hasHead && !this.$exchange.hasBody && this.$face?.$isReceived !== true && !showsCloses()
    outgoing.finish(body, this.$isQuiet ? ResponseFlag.Quiet : 0)
    if (this.$isQuiet) this.$of?.$forget(this)
    else this.$declineUnread()
    return true
  }

  /** A listener was added after an answer ended without one: emits its end. */
  $reportLate (): void {
    if (!this.$isQuiet || this.$isGone) return
    this.$isQuiet = false
    later(() => { this.$onClosed(ErrorCode.NoError) })
  }

  /** Pieces of one turn are sent together; a write callback initialises the Duplex. */
  write (chunk?: any, encoding?: any, done?: any): boolean {
    if (this.$isDuplex || done !== undefined || typeof encoding === 'function' || !this.$gather(chunk, encoding)) {
      this.$become()
      return longWrite.call(this, chunk, encoding, done)
    }
    this.$timer?.refresh()
    this.$of?.$refresh()
    return true
  }

  private $gather (chunk: unknown, encoding: BufferEncoding | undefined): boolean {
    if (this.$isAnswered || this.$isClosed || this.$isGone || this.$waitsForTrailers || this.headRequest) return false
    const body = asBody(chunk, encoding)
    if (body === undefined || body.length === 0) return false
    if (!this.headersSent && !this.$mayRespond()) return false
    return this.$outgoing.gather(typeof body === 'string' ? Buffer.from(body) : body)
  }

  end (chunk?: any, encoding?: any, done?: any): this {
    if (this.$isAnswered) return chunk == null && done === undefined && typeof encoding !== 'function' ? this : this.$endLong(chunk, encoding, done)
    if (!this.$isDuplex && done === undefined && typeof chunk !== 'function' && typeof encoding !== 'function') {
      const body = chunk == null ? null : asBody(chunk, encoding as BufferEncoding | undefined)
      const fits = body === null || (body !== undefined && !this.headRequest)
      if (fits && (this.headersSent || this.$mayRespond()) && this.$answer(body)) return this
    }
    return this.$endLong(chunk, encoding, done)
  }

  /** Sends a head of its own accord; false: it cannot. */
  private $mayRespond (): boolean {
    if (this.$isClosed || this.headRequest) return false
    this.respond()
    return !this.$isAnswered
  }

  private $endLong (chunk: any, encoding: any, done: any): this {
    this.$become()
    return longEnd.call(this, chunk, encoding, done) as this
  }

  // Its end.

  $onData (chunk: Buffer): void {
    this.$timer?.refresh()
    this.$of?.$refresh()
    this.$intake.onData(chunk)
  }

  $onEnd (trailers?: string): void {
    if (trailers !== undefined) {
      // A section may be empty, also because its fields were left out.
      const raw = trailers === '' ? [] : trailers.split('\0')
      const fields = objectOf(raw)
      nextTick(() => {
        this.$face?.$onStreamTrailers(fields, raw)
        if (this.$isDuplex) this.emit('trailers', fields, 0x5, raw)
      })
    }
    this.$intake.onEnd()
  }

  $onRoom (bytes: number): void {
    this.$timer?.refresh()
    if (this.$exchange.pending === 0) cutRequest(this)
    this.$writes?.onRoom(bytes)
  }

  $onClosed (code: number): void { onClosed(this, code) }

  close (code: number = ErrorCode.NoError, done?: () => void): void {
    checkInteger(code, 'code', 0, CODE_MAX)
    if (done !== undefined) checkCall(done)
    if (this.closed) return
    this.$become()
    if (done !== undefined) this.once('close', done)
    markClosed(this, code, true)
  }

  destroy (error?: Error | null): this {
    // One that is over is not made again to fail once more.
    if (this.destroyed) return this
    this.$become()
    return Duplex.prototype.destroy.call(this, error ?? undefined) as this
  }

  _destroy (error: Error | null, done: (error?: Error | null) => void): void { destroy(this, error, done) }

  /** Whether bytes have gone since its timer began or fired, while some of the answer wait: that is no timeout, as with node:http2. */
  private $isSending (): boolean {
    if (this.$exchange.pending === 0) return false
    const [, sent] = this.$exchange.connection.traffic
    const isProgress = sent !== this.$sentAtTimeout
    this.$sentAtTimeout = sent
    if (isProgress) this.$timer?.refresh()
    return isProgress
  }

  setTimeout (time: number, done?: () => void): this {
    if (this.destroyed) return this
    this.timeout = time
    this.$timer = Timer.set(this.$timer, time, done, this, () => {
      if (this.destroyed || this.$isSending()) return
      if (this.$isDuplex) this.emit('timeout')
      else this.$face?.$onStreamTimeout()
    })
    return this
  }
}

makeLazy(ServerHttp2Stream.prototype)

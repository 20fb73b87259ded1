// A stream of a client's session: a Duplex with the events of node:http2. Pieces of one turn go to the
// machine together, so that the last one carries the end.

import { AsyncResource } from 'node:async_hooks'
import { Duplex } from 'node:stream'
import { inspect, type InspectOptions } from 'node:util'
import { asked } from '../callbacks/asked'
import { checkCall, checkInteger, checkObject, isAbort, plain, streamError } from '../codes'
import { objectOf, type Headers } from '../fields'
import { Timer } from '../callbacks/timer'
import { AbortError } from './errors'
import { showAnswered, showClosed, showFailed, showPart, showWhole } from './channels'
import { trailersOf, type OutgoingHead } from './head'
import { Refusal, type Machine } from './machines'
import { PendingWrite, type Done } from './pending_write'
import { checkPriority } from '../stream/priority'
import { dropEnd, isDueTo } from '../stream/reader'
import { stateOf } from './stream_state'

const NO_ERROR = 0
const PROTOCOL_ERROR = 1
const INTERNAL_ERROR = 2
const CANCEL = 8
const CODE_MAX = 2 ** 32 - 1
/** Flags of HEADERS (RFC 9113 section 6.2). */
const END_STREAM = 1
const END_HEADERS = 4
const CONTINUE = 100
const MISDIRECTED = 421
/** The end of a body is a success at once where no more than this waits for the server's windows: one frame. */
const AT_ONCE_BYTES_MAX = 16 * 1024
/** The line of Node.js from which a stream that its user has closed in order gets nothing more of the same read. */
const LEAVES_REST_FROM = 26
const leavesRest = Number.parseInt(process.versions.node, 10) >= LEAVES_REST_FROM
/** A session, as far as its streams need it. */
export interface StreamOwner {
  readonly $machine: Machine | undefined
  readonly destroyed: boolean
  readonly $isStrict: boolean
  readonly localSettings: { initialWindowSize?: number | undefined }
  /** The code of its end: the peer's GOAWAY, or its destruction. */
  readonly $endCode: number
  /** The peer's GOAWAY had an error's code, so that no stream is reset beside it. */
  readonly $isLeft: boolean
  /** Something is to be sent at the end of this turn. */
  $plan: () => void
  /** Resets a stream of the machine. */
  $resetStream: (stream: number, code: number) => void
  /** The pieces of a stream are to be sent at the end of this turn. */
  $planBody: (stream: ClientHttp2Stream) => void
  /** Both sides of a stream may have ended: after the next write. */
  $watchEnd: (stream: ClientHttp2Stream) => void
  /** As `$watchEnd`, where nothing is left to be written but what is planned. */
  $watchReceived: (stream: ClientHttp2Stream) => void
  $watchSent: (stream: ClientHttp2Stream) => void
  $refresh: () => void
  /** Whether a header block is longer than its user, or nghttp2, lets it be. */
  $exceedsBlock: (text: string) => boolean
  /** Trailers are too long: their stream ends, and the session with its last one. */
  $failTrailers: (stream: ClientHttp2Stream) => void
  /** A stream is gone. */
  $forget: (stream: ClientHttp2Stream) => void
  /** The server serves the stream's origin no longer (RFC 9110 section 15.5.20). */
  $dropOrigin: (origin: string) => void
}

function maybeDestroy (this: ClientHttp2Stream): void { this.$maybeDestroy() }

function bytesOf (chunk: Buffer | string, encoding: BufferEncoding): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
}

export class ClientHttp2Stream extends Duplex {
  private $streamId: number | undefined
  private $owner: StreamOwner | undefined
  private $sentHead: Headers | undefined
  private $trailersSent: Headers | undefined
  private $code = NO_ERROR
  /** `close` was called, or the stream was reset. */
  $isClosed = false
  private $isAborted = false
  private $wantsBody = false
  /** Bytes that were received and not taken by the reader, and all that were received. */
  private $untaken = 0
  private $received = 0
  /** Reports trailers that were received, and the end with them. */
  private $report: (() => void) | undefined
  private $waitsForTrailers = false
  private $trailersReady = false
  endAfterHeaders = false
  /** The machine was asked to reset it. */
  private $isReset = false
  /** The machine has it no longer. */
  private $isUnheld = false
  /** Frames that came in the same read as that are not reported. */
  private $leavesRest = false
  /** Our side has ended for the machine. */
  private $isFinished = false
  /** The peer's side has ended. */
  $isReceived = false
  /** Called when all of the body, which has ended, is in frames. */
  private $onSent: (() => void) | undefined
  /** The server has no room for it. */
  private $isWaiting = false
  /** The user's write that is under way. */
  private readonly $pendingWrite = new PendingWrite()
  private $timer: Timer | undefined
  private readonly $context = new AsyncResource('PendingRequest')
  readonly sentInfoHeaders: undefined

  constructor (owner: StreamOwner, readonly $head: OutgoingHead, options: { waitForTrailers?: boolean }) {
    super({ allowHalfOpen: true, autoDestroy: false, decodeStrings: false })
    this.$owner = owner
    this.$waitsForTrailers = options.waitForTrailers === true
    // Bytes written before the stream has begun go with its first bytes.
    this.cork()
  }

  get id (): number | undefined { return this.$streamId }
  get pending (): boolean { return this.$streamId === undefined }
  get session (): StreamOwner | undefined { return this.$owner }
  get aborted (): boolean { return this.$isAborted }
  get rstCode (): number { return this.$code }
  get headersSent (): boolean { return true }
  get headRequest (): boolean { return false }
  get sentTrailers (): Headers | undefined { return this.$trailersSent }
  get bufferSize (): number { return this.writableLength }
  get sentHeaders (): Headers | undefined { return (this.$sentHead ??= this.$head.sent()) }

  get state (): object {
    if (this.destroyed || this.$streamId === undefined) return {}
    return stateOf(this.$isFinished, this.$isReceived, this.$owner?.localSettings.initialWindowSize, this.$received, this.$received - this.$untaken)
  }

  /** Both sides have ended in order. */
  get $isWhole (): boolean { return this.$isReceived && this.$isFinished && !this.$isReset && this.$code === NO_ERROR }

  /** Runs as a part of its request's async context. */
  $inContext<T> (call: () => T): T { return this.$context.runInAsyncScope(call) }

  // Its beginning.

  /** It has an id, and its head is with the machine. */
  $begin (id: number, isFinished: boolean): void {
    this.$streamId = id
    this.$isFinished = isFinished
    this.uncork()
    this.emit('ready')
  }

  /** The server has no room for it: writes are called back in their own async contexts, as those of a stream that has begun. */
  $wait (): void {
    this.$isWaiting = true
    this.uncork()
  }

  /** Calls when it has begun. */
  private $whenReady (call: () => void): void { this.once('ready', this.$isWaiting ? AsyncResource.bind(call) : call) }

  // Output of the user.

  override _write (chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    if (this.pending) {
      this.$whenReady(() => { this._write(chunk, encoding, done) })
      return
    }
    if (!this.destroyed) this.$keep([bytesOf(chunk, encoding)], chunk.length, done)
    showPart(this, false, chunk, encoding)
  }

  override _writev (chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done): void {
    if (this.pending) {
      this.$whenReady(() => { this._writev(chunks, done) })
      return
    }
    if (!this.destroyed) this.$keep(chunks.map(({ chunk, encoding }) => bytesOf(chunk, encoding)), chunks.reduce((sum, { chunk }) => sum + chunk.length, 0), done)
    showPart(this, true, chunks.every(({ chunk }) => typeof chunk !== 'string') ? chunks.map(({ chunk }) => chunk) : chunks, '')
  }

  private $keep (pieces: Buffer[], length: number, done: Done): void {
    this.$touch()
    // It is called at the end of the turn, or when there is room again: with the bodies of other requests.
    this.$pendingWrite.keep(pieces, length, asked('WRITEWRAP', done))
    this.$owner!.$planBody(this)
  }

  /** The end of the turn: what was written goes, and the end with it if it is known. */
  $flushBody (): void {
    if (this.$owner?.$machine === undefined || !this.$pendingWrite.isUnderWay || this.$streamId === undefined) return
    const isLast = !this.$isReset && this.writableEnded && this.writableLength === this.$pendingWrite.length && !this.$waitsForTrailers
    const hasRoom = this.$pendingWrite.send(this.$owner.$machine, this.$streamId, isLast)
    if (hasRoom === undefined) return this.$failLength()
    if (isLast) this.$ended()
    if (isLast && this.$pendingWrite.length > AT_ONCE_BYTES_MAX) this.$whenSent(() => { this.$pendingWrite.settle() })
    else if (isLast || hasRoom) this.$pendingWrite.settle()
  }

  /** Calls when all of the body is in frames: until then its end is no success, and a reset would cut it. */
  private $whenSent (call: () => void): void {
    this.$onSent = call
    this.$owner!.$watchSent(this)
  }

  /** Whether all of the body is in frames, or never will be. */
  $settleSent (): boolean {
    if (this.$onSent === undefined) return true
    if (this.$unsent > 0) return false
    const call = this.$onSent
    this.$onSent = undefined
    call()
    return true
  }

  private get $unsent (): number { return this.$owner?.$machine?.queued(this.$streamId!) ?? 0 }

  /** The body is not as long as its head says: it is reset as a server would do it (RFC 9113 section 8.1.1). */
  private $failLength (): void {
    this.$pendingWrite.settle()
    this.$isFinished = true
    const { $owner: owner, $streamId: streamId } = this
    owner?.$machine?.reset(streamId!, PROTOCOL_ERROR)
    this.$isReset = true
    owner?.$plan()
    // The machine says nothing of a stream that we have reset.
    process.nextTick(() => { this.$onStreamClosed(PROTOCOL_ERROR, false) })
  }

  /** Resets the stream behind what was written before: a reset takes back nothing. */
  private $resetMachine (code: number): void {
    const { $owner: owner, $streamId: streamId } = this
    const machine = owner?.$machine
    if (machine === undefined || streamId === undefined) return
    this.$isReset = true
    this.$leavesRest = leavesRest && code === NO_ERROR
    // A stream writes a piece at a time: those behind it follow when it is taken.
    if (this.$onSent !== undefined) this.$onSent = undefined
    else do {
      const waits = this.$pendingWrite.isSent
      const hasRoom = this.$pendingWrite.send(machine, streamId, false) === true && !waits
      if (this.destroyed) this.$pendingWrite.settleOvertaken(hasRoom, this.errored)
      else this.$pendingWrite.settle()
    } while (!this.$pendingWrite.isSent)
    // The GOAWAY of a session that is destroyed, and its end, say enough: behind a reset without an error's code the server
    // would take the body for whole.
    if (!owner!.destroyed) owner!.$resetStream(streamId, code)
    owner!.$plan()
  }

  /** The machine has room again. */
  $onRoom (): void {
    this.$touch()
    if (this.$pendingWrite.isSent) this.$pendingWrite.settle()
  }

  private $ended (): void {
    this.$isFinished = true
    if (this.$isReceived) this.$owner?.$watchEnd(this)
  }

  override _final (done: Done): void {
    if (this.pending) {
      this.$whenReady(() => { this._final(done) })
      return
    }
    const { $owner: owner } = this
    const machine = owner?.$machine
    if (machine === undefined || this.$isFinished || this.$isReset) return this.$finalized(done)
    if (this.$waitsForTrailers) setImmediate(() => { this.$wantTrailers() })
    else {
      if (machine.finish(this.$streamId!, '')) this.$ended()
      else if (machine.refusal === Refusal.BodyLength) this.$failLength()
      owner!.$plan()
    }
    if (this.$unsent > AT_ONCE_BYTES_MAX) this.$whenSent(asked('SHUTDOWNWRAP', () => { this.$finalized(done) }))
    else this.$finalized(done)
  }

  private $finalized (done: Done): void {
    this.once('finish', maybeDestroy)
    done()
    showWhole(this)
  }

  private $wantTrailers (): void {
    this.$trailersReady = true
    if (this.destroyed || this.$isClosed) return
    this.$inContext(() => { if (!this.emit('wantTrailers')) this.sendTrailers({}) })
  }

  sendTrailers (headers: Headers): void {
    if (this.destroyed || this.$isClosed) throw plain('ERR_HTTP2_INVALID_STREAM')
    if (this.$trailersSent !== undefined) throw plain('ERR_HTTP2_TRAILERS_ALREADY_SENT')
    if (!this.$trailersReady) throw plain('ERR_HTTP2_TRAILERS_NOT_READY')
    checkObject(headers, 'headers')
    const own = Object.assign(Object.create(null), headers) as Headers
    this.$touch()
    const text = trailersOf(own, this.$owner!.$isStrict)
    this.$trailersSent = own
    setImmediate(() => { this.$finishTrailers(text) })
  }

  private $finishTrailers (text: string): void {
    const { $owner: owner, $streamId: streamId } = this
    if (this.destroyed || owner?.$machine === undefined) return
    this.$waitsForTrailers = false
    if (owner.$exceedsBlock(text)) return owner.$failTrailers(this)
    if (!owner.$machine.finish(streamId!, text)) {
      this.destroy(streamError(INTERNAL_ERROR))
      return
    }
    owner.$plan()
    this.$ended()
    this.$maybeDestroy()
  }

  // Input from the peer.

  override _read (): void {
    if (this.destroyed) return void this.push(null)
    this.$wantsBody = true
    this.$giveBack()
  }

  /** A reader that is slower than the connection: what it has read is given back while more than it asks for ahead still waits. */
  override read (size?: number): any {
    const chunk: unknown = super.read(size)
    if (chunk !== null) this.$giveBack(this.$untaken - this.readableLength)
    return chunk
  }

  /** Gives bytes that have a reader back to the peer. */
  private $giveBack (count = this.$untaken): void {
    if (count <= 0 || this.$streamId === undefined) return
    const { $owner: owner } = this
    this.$untaken -= count
    owner?.$machine?.take(this.$streamId, count)
    owner?.$plan()
  }

  $onHead (status: number, fields: string[], sensitive: string[], isInterim: boolean, isEnd: boolean): void {
    this.$touch()
    if (this.$leavesRest) return
    const headers = objectOf(fields, sensitive)
    headers[':status'] = status
    const event = isInterim ? 'headers' : 'response'
    const flags = isEnd ? END_HEADERS | END_STREAM : END_HEADERS
    if (status === MISDIRECTED) this.$owner?.$dropOrigin(this.$head.origin)
    // Its listeners find the end of a body that does not come.
    if (isEnd) this.$onEnd()
    this.$inContext(() => {
      // node:http2 listens to its own 'headers' first.
      if (isInterim && status === CONTINUE) this.emit('continue')
      this.emit(event, headers, flags, fields)
    })
    if (!isInterim) showAnswered(this, headers, flags)
  }

  $onBody (bytes: Buffer, isEnd: boolean): void {
    this.$touch()
    if (this.$leavesRest) return this.$owner?.$machine?.take(this.$streamId!, bytes.length)
    if (bytes.length > 0) {
      this.$untaken += bytes.length
      this.$received += bytes.length
      this.$wantsBody = this.$inContext(() => this.push(bytes))
      if (this.$wantsBody) this.$giveBack()
    }
    if (isEnd) this.$onEnd()
  }

  $onTrailers (fields: string[], sensitive: string[]): void {
    this.$touch()
    if (this.$leavesRest) return
    const trailers = objectOf(fields, sensitive)
    this.$report = () => {
      this.$report = undefined
      this.$inContext(() => { this.emit('trailers', trailers, END_HEADERS | END_STREAM, fields) })
      this.$onEnd()
    }
    // node:http2 calls back once per frame, and every tick runs between two of them: a reader that pauses after each piece of
    // content has had it all when the trailers come. grpc-js drops messages that it gets behind the status of a failed call.
    if (this.readableFlowing === true && this.readableLength === 0) process.nextTick(() => { this.$report?.() })
    else setImmediate(() => { this.$report?.() })
  }

  private $onEnd (): void {
    this.$isReceived = true
    this.$inContext(() => { this.push(null) })
    if (this.$isFinished) this.$owner?.$watchReceived(this)
  }

  /** The peer has ended the session with `error`, which is none of a stream that is whole and read to its end: a reader that
   * takes what came gets that first. */
  $endBehindRead (error: Error | undefined): void {
    if (this.$isReceived && isDueTo(this, true)) setImmediate(() => { this.$inContext(() => { this.$endWith(error) }) })
    else this.$endWith(error)
  }

  private $endWith (error: Error | undefined): void {
    if (this.$isWhole && this.readableEnded) this.$onStreamClosed(NO_ERROR, false)
    else this.destroy(error)
  }

  /** Whether both sides have ended, and the machine has sent all. */
  $endIfOver (): boolean {
    if (this.$streamId === undefined || this.$owner?.$machine?.holds(this.$streamId) === true) return false
    this.$isUnheld = true
    this.$onStreamClosed(NO_ERROR, false)
    return true
  }

  /** The stream is over, in order or by a reset. */
  $onStreamClosed (code: number, byPeer: boolean): void {
    if (this.destroyed) return
    this.$report?.()
    this.$inContext(() => {
      if (!this.$isClosed) this.$markClosed(code, false, false)
      // One that failed, as by a write after its end, does not end any more.
      if (!this.readable || code !== NO_ERROR || this.errored != null) {
        this.destroy()
        return
      }
      // Bytes that were received before a reset in order are still read.
      if (byPeer) this.on('end', () => { this.destroy() })
      else this.on('end', maybeDestroy)
      this.push(null)
      this.read(0)
    })
  }

  // Its end.

  close (code = NO_ERROR, done?: () => void): void {
    checkInteger(code, 'code', 0, CODE_MAX)
    if (done !== undefined) checkCall(done, 'callback')
    if (this.$isClosed) return
    if (done !== undefined) this.once('close', done)
    this.$markClosed(code, true, false)
  }

  /** `resets`: the peer gets RST_STREAM; `atOnce`: whatever is not written yet. */
  private $markClosed (code: number, resets: boolean, atOnce: boolean): void {
    // Before `aborted`, upon which a pipeline asks whether an end is to come.
    if (code !== NO_ERROR) dropEnd(this)
    this.$isClosed = true
    this.$code = code
    this.setTimeout(0)
    this.removeAllListeners('timeout')
    const isEnding = this.writableEnded
    if (!isEnding) {
      if (!this.$isAborted) {
        this.$isAborted = true
        this.emit('aborted')
      }
      // The end of the stream's own side is none of the body: a server would take what it has for all of it.
      this.$isReset ||= resets
      this.end()
    }
    if (resets) {
      const reset = (): void => { this.$reset(code) }
      if (!isEnding || code !== NO_ERROR || atOnce) reset()
      else if (!this.writableFinished) this.once('finish', reset)
      else if (this.$unsent > 0) this.$whenSent(reset)
      else reset()
    }
    showClosed(this)
  }

  private $reset (code: number): void {
    if (this.$streamId === undefined) {
      this.push(null)
      this.once('ready', () => { this.$submitReset(code) })
      return
    }
    this.$submitReset(code)
  }

  private $submitReset (code: number): void {
    if (this.$owner?.$machine === undefined || this.$streamId === undefined) return
    this.$resetMachine(code)
    // The machine says nothing of a stream that we have reset.
    process.nextTick(() => { this.$onStreamClosed(code, false) })
  }

  override _destroy (error: Error | null, done: Done): void {
    this.$report?.()
    const owner = this.$owner!
    let code = this.$isClosed ? this.$code : owner.$endCode
    if (error != null) code = owner.$endCode !== NO_ERROR ? owner.$endCode : isAbort(error) ? CANCEL : INTERNAL_ERROR
    if (!this.$isClosed) this.$markClosed(code, !this.pending && !owner.$isLeft, true)
    else if (!this.$isUnheld && this.$streamId !== undefined && owner.$machine?.holds(this.$streamId) === true) this.$resetMachine(code)
    if (this.readableLength > 0) dropEnd(this)
    else {
      this.push(null)
      // A reader that pauses would see `close` alone, and a pipeline wait for the end that it knows of.
      if (this.$isReceived && this.readableFlowing !== null) this.read(0)
    }
    this.$untaken = 0
    this.$timer?.stop()
    const failure = error ?? (code !== NO_ERROR && code !== CANCEL ? streamError(code) : null)
    this.$owner = undefined
    owner.$forget(this)
    if (failure !== null) showFailed(this, failure)
    this.$pendingWrite.drop(failure)
    done(failure)
  }

  $maybeDestroy (): void {
    if (this.writableFinished && !this.readable && this.$isClosed) this.destroy()
  }

  // Beside its bytes.

  setTimeout (time: number, done?: () => void): this {
    if (this.destroyed) return this
    this.$timer = Timer.set(this.$timer, time, done, this, () => { if (!this.destroyed) this.emit('timeout') })
    return this
  }

  /** A sign of life. */
  private $touch (): void {
    this.$timer?.refresh()
    this.$owner?.$refresh()
  }

  priority (options?: unknown): void {
    checkPriority(options)
    if (this.destroyed) throw plain('ERR_HTTP2_INVALID_STREAM')
  }

  /** Ends with the signal. */
  $follow (signal: AbortSignal): void {
    const abort = (): void => { this.destroy(new AbortError(signal.reason)) }
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    this.once('close', () => { signal.removeEventListener('abort', abort) })
  }

  [inspect.custom] (depth: number, options: InspectOptions): unknown {
    const { id = '<pending>', closed, destroyed, state } = this
    return depth < 0 ? this : `Http2Stream ${inspect({ id, closed, destroyed, state }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`
  }
}

Object.defineProperty(ClientHttp2Stream.prototype, 'closed', {
  get (this: ClientHttp2Stream) { return this.$isClosed },
  configurable: true
})

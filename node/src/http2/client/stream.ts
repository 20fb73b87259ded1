// A stream of a client's session: a Duplex with the events of node:http2, the peer's input and the end of both sides.

import { AsyncResource } from 'node:async_hooks'
import { inspect, type InspectOptions } from 'node:util'
import { checkCall, checkInteger, ErrorCode, isAbort, streamError } from '../codes'
import { objectOf, type Headers } from '../fields'
import { Timer } from '../callbacks/timer'
import { AbortError } from './errors'
import { showAnswered, showClosed, showFailed } from './channels'
import type { OutgoingHead } from './head'
import type { Done } from './pending_write'
import { checkPriority } from '../stream/priority'
import { dropEnd, isDueTo } from '../stream/reader'
import { maybeDestroy, StreamOutput } from './stream_output'
import type { StreamOwner } from './stream_owner'
import { stateOf } from './stream_state'
import { nextTick, setImmediate } from '../../timers'

const CODE_MAX = 2 ** 32 - 1
/** Flags of HEADERS (RFC 9113 section 6.2). */
const END_STREAM = 1
const END_HEADERS = 4
const CONTINUE = 100
const MISDIRECTED = 421

export class ClientHttp2Stream extends StreamOutput {
  private $sentHead: Headers | undefined
  private $code: number = ErrorCode.NoError
  private $isAborted = false
  private $wantsBody = false
  /** Bytes that were received and not taken by the reader, and all that were received. */
  private $untaken = 0
  private $received = 0
  /** Reports trailers that were received, and the end with them. */
  private $report: (() => void) | undefined
  endAfterHeaders = false
  /** The machine has it no longer. */
  private $isUnheld = false
  private $timer: Timer | undefined
  private readonly $context = new AsyncResource('PendingRequest')
  readonly sentInfoHeaders: undefined

  constructor (owner: StreamOwner<ClientHttp2Stream>, readonly $head: OutgoingHead, options: { waitForTrailers?: boolean }) {
    super()
    this.$owner = owner
    this.$waitsForTrailers = options.waitForTrailers === true
    // Bytes written before the stream has begun go with its first bytes.
    this.cork()
  }

  get id (): number | undefined { return this.$streamId }
  get session (): StreamOwner<this> | undefined { return this.$owner }
  get aborted (): boolean { return this.$isAborted }
  get rstCode (): number { return this.$code }
  get headersSent (): boolean { return true }
  get headRequest (): boolean { return false }
  get bufferSize (): number { return this.writableLength }
  get sentHeaders (): Headers | undefined { return (this.$sentHead ??= this.$head.sent()) }

  get state (): object {
    if (this.destroyed || this.$streamId === undefined) return {}
    return stateOf(this.$isFinished, this.$isReceived, this.$owner?.localSettings.initialWindowSize, this.$received, this.$received - this.$untaken)
  }

  /** Whether both sides have ended in order, or the server has declined the rest of the upload behind its whole answer (RFC 9113 section 8.1). */
  get $isWhole (): boolean { return this.$isReceived && (this.$isFinished || this.$isClosed) && !this.$isReset && this.$code === ErrorCode.NoError }

  /** Runs as a part of its request's async context. */
  $inContext<T> (call: () => T): T { return this.$context.runInAsyncScope(call) }

  // Its beginning.

  /** Begins a stream that has an id and whose head is with the machine. */
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
    this.$untaken += bytes.length
    this.$received += bytes.length
    try {
      if (bytes.length > 0) this.$wantsBody = this.$inContext(() => this.push(bytes))
    } finally {
      // The server may go on, and the end comes, also where a listener has thrown.
      if (this.$wantsBody) this.$giveBack()
      if (isEnd) this.$onEnd()
    }
  }

  $onTrailers (fields: string[], sensitive: string[]): void {
    this.$touch()
    if (this.$leavesRest) return
    const trailers = objectOf(fields, sensitive)
    this.$report = () => {
      this.$report = undefined
      try {
        this.$inContext(() => { this.emit('trailers', trailers, END_HEADERS | END_STREAM, fields) })
      } finally {
        this.$onEnd()
      }
    }
    // node:http2 calls back once per frame, and every tick runs between two of them: a reader that pauses after each piece of
    // content has had it all when the trailers come. grpc-js drops messages that it gets behind the status of a failed call.
    if (this.readableFlowing === true && this.readableLength === 0) nextTick(() => { this.$report?.() })
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
    if (this.$isWhole && this.readableEnded) this.$onStreamClosed(ErrorCode.NoError, false)
    else this.destroy(error)
  }

  /** Whether both sides have ended, and the machine has sent all. */
  $endIfOver (): boolean {
    if (this.$streamId === undefined || this.$owner?.$machine?.holds(this.$streamId) === true) return false
    this.$isUnheld = true
    this.$onStreamClosed(ErrorCode.NoError, false)
    return true
  }

  /** The stream is over, in order or by a reset. */
  $onStreamClosed (code: number, byPeer: boolean): void {
    if (this.destroyed) return
    this.$report?.()
    this.$inContext(() => {
      if (!this.$isClosed) this.$markClosed(code, false, false)
      // One that failed, as by a write after its end, does not end any more.
      if (!this.readable || code !== ErrorCode.NoError || this.errored != null) return void this.destroy()
      // Bytes that were received before a reset in order are still read.
      if (byPeer) this.on('end', () => { this.destroy() })
      else this.on('end', maybeDestroy)
      this.push(null)
      this.read(0)
    })
  }

  // Its end.

  close (code: number = ErrorCode.NoError, done?: () => void): void {
    checkInteger(code, 'code', 0, CODE_MAX)
    if (done !== undefined) checkCall(done)
    if (this.$isClosed) return
    if (done !== undefined) this.once('close', done)
    this.$markClosed(code, true, false)
  }

  /** `resets`: the peer gets RST_STREAM; `atOnce`: whatever is not written yet. */
  private $markClosed (code: number, resets: boolean, atOnce: boolean): void {
    // Before `aborted`, upon which a pipeline asks whether an end is to come.
    if (code !== ErrorCode.NoError) dropEnd(this)
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
      if (!isEnding || code !== ErrorCode.NoError || atOnce) reset()
      else if (!this.writableFinished) this.once('finish', reset)
      else if (this.$unsent > 0) this.$whenSent(reset)
      else reset()
    }
    showClosed(this)
  }

  private $reset (code: number): void {
    if (this.$streamId === undefined) {
      this.push(null)
      // A request for which the server has no room is not sent to be reset at once.
      if (this.$isWaiting) nextTick(() => { this.destroy() })
      else this.once('ready', () => { this.$submitReset(code) })
      return
    }
    this.$submitReset(code)
  }

  private $submitReset (code: number): void {
    const machine = this.$owner?.$machine
    if (machine === undefined || this.$streamId === undefined) return
    this.$resetMachine(code)
    // The machine says nothing of a stream that we have reset.
    machine.afterBatch(() => { this.$onStreamClosed(code, false) })
  }

  override _destroy (error: Error | null, done: Done): void {
    this.$report?.()
    const owner = this.$owner!
    let code = this.$isClosed ? this.$code : owner.$endCode
    if (error != null) code = owner.$endCode !== ErrorCode.NoError ? owner.$endCode : isAbort(error) ? ErrorCode.Cancel : ErrorCode.Internal
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
    const failure = error ?? (code !== ErrorCode.NoError && code !== ErrorCode.Cancel ? streamError(code) : null)
    this.$owner = undefined
    owner.$forget(this)
    if (failure !== null) showFailed(this, failure)
    this.$pendingWrite.drop(failure)
    done(failure)
  }

  $maybeDestroy (): void { if (this.writableFinished && !this.readable && this.$isClosed) this.destroy() }

  // Beside its bytes.

  setTimeout (time: number, done?: () => void): this {
    if (this.destroyed) return this
    this.$timer = Timer.set(this.$timer, time, done, this, () => { if (!this.destroyed) this.emit('timeout') })
    return this
  }

  /** A sign of life. */
  protected override $touch (): void {
    this.$timer?.refresh()
    this.$owner?.$refresh()
  }

  priority (options?: unknown): void { checkPriority(this, options) }

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

// The output of a client's stream: what its user writes, its end, trailers, and a reset behind them. Pieces of
// one turn go to the machine together, so that the last one carries the end.

import { AsyncResource } from 'node:async_hooks'
import { Duplex } from 'node:stream'
import { nodeLine } from '../../node_version'
import { asked } from '../callbacks/asked'
import { checkObject, ErrorCode, plain, streamError } from '../codes'
import type { Headers } from '../fields'
import { showPart, showWhole } from './channels'
import { trailersOf } from './head'
import { Refusal } from './machines'
import { PendingWrite, type Done } from './pending_write'
import type { StreamOwner } from './stream_owner'
import { nextTick, setImmediate } from '../../timers'

/** The end of a body is a success at once where no more than this waits for the server's windows: one frame. */
const AT_ONCE_BYTES_MAX = 16 * 1024
/** The line of Node.js from which a stream that its user has closed in order gets nothing more of the same read. */
const leavesRest = nodeLine >= 26

function bytesOf (chunk: Buffer | string, encoding: BufferEncoding): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
}

export function maybeDestroy (this: StreamOutput): void { this.$maybeDestroy() }

export abstract class StreamOutput extends Duplex {
  protected $streamId: number | undefined
  protected $owner: StreamOwner<this> | undefined
  protected $trailersSent: Headers | undefined
  /** `close` was called, or the stream was reset. */
  $isClosed = false
  protected $waitsForTrailers = false
  private $trailersReady = false
  /** The machine was asked to reset it. */
  protected $isReset = false
  /** Frames that came in the same read as that are not reported. */
  protected $leavesRest = false
  /** Our side has ended for the machine. */
  protected $isFinished = false
  /** The peer's side has ended. */
  $isReceived = false
  /** Called when all of the body, which has ended, is in frames. */
  private $onSent: (() => void) | undefined
  /** The server has no room for it. */
  $isWaiting = false
  /** The user's write that is under way. */
  protected readonly $pendingWrite = new PendingWrite()

  constructor () { super({ allowHalfOpen: true, autoDestroy: false, decodeStrings: false }) }

  /** A sign of life. */
  protected abstract $touch (): void
  /** Runs as a part of its request's async context. */
  abstract $inContext<T> (call: () => T): T
  /** The stream is over, in order or by a reset. */
  abstract $onStreamClosed (code: number, byPeer: boolean): void
  abstract $maybeDestroy (): void

  get pending (): boolean { return this.$streamId === undefined }
  get sentTrailers (): Headers | undefined { return this.$trailersSent }

  /** Calls when it has begun; `done`, of a write: called where the stream that waits for room ends before. */
  private $whenReady (call: () => void, done?: Done): void {
    if (this.$isWaiting && done !== undefined) this.$pendingWrite.keep([], 0, done)
    this.once('ready', this.$isWaiting ? AsyncResource.bind(call) : call)
  }

  override _write (chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    if (this.pending) return this.$whenReady(() => { this._write(chunk, encoding, done) }, done)
    if (!this.destroyed) this.$keep([bytesOf(chunk, encoding)], chunk.length, done)
    showPart(this, false, chunk, encoding)
  }

  override _writev (chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done): void {
    if (this.pending) return this.$whenReady(() => { this._writev(chunks, done) }, done)
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
  protected $whenSent (call: () => void): void {
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

  protected get $unsent (): number { return this.$owner?.$machine?.queued(this.$streamId!) ?? 0 }

  /** The body is not as long as its head says: it is reset as a server would do it (RFC 9113 section 8.1.1). */
  private $failLength (): void {
    this.$pendingWrite.settle()
    this.$isFinished = true
    const { $owner: owner, $streamId: streamId } = this
    owner?.$machine?.reset(streamId!, ErrorCode.Protocol)
    this.$isReset = true
    owner?.$plan()
    // The machine says nothing of a stream that we have reset.
    nextTick(() => { this.$onStreamClosed(ErrorCode.Protocol, false) })
  }

  /** Resets the stream behind what was written before: a reset takes back nothing. */
  protected $resetMachine (code: number): void {
    const { $owner: owner, $streamId: streamId } = this
    const machine = owner?.$machine
    if (machine === undefined || streamId === undefined) return
    this.$isReset = true
    this.$leavesRest = leavesRest && code === ErrorCode.NoError
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
    if (this.pending) return this.$whenReady(() => { this._final(done) })
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
      // A server that has answered may have ended the stream meanwhile (RFC 9113 section 8.1): its reset is reported apart.
      if (owner.$machine.holds(streamId!)) this.destroy(streamError(ErrorCode.Internal))
      return
    }
    owner.$plan()
    this.$ended()
    this.$maybeDestroy()
  }
}

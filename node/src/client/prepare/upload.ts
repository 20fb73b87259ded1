// The upload of a request body that is not all there, piece by piece, as fast as the connection takes it.

import { isAnyArrayBuffer } from 'node:util/types'
import { types } from 'node:util'
import { HeadersTimeoutError, InvalidArgumentError, RequestContentLengthMismatchError } from '../../errors'
import { endStream, hasAllOfIt, isStream, mustHave, type Source } from './body'
import { StreamPieces } from './stream_pieces'
import type { Bridge } from '../../channel/ring'
import { clearTimeout, setTimeout } from '../../timers'

/** Bytes that may be on their way to the connection before the source has to wait. */
const AHEAD_BYTES_MAX = 256 * 1024
/** Bytes that are copied at a time. */
const PIECE_BYTES_MAX = 64 * 1024
/** Protocols on whose streams the clock of a head runs while the source of a body pauses. */
const MULTIPLEXED = new Set<string | false>(['h2', 'h3'])
/** The exchange that sends a body. */
interface Sender {
  number: number
  onSent: (chunk: unknown) => void
  onAllSent: () => void
  onSourceFailed: (error: Error) => void
}

/** How long a source whose bytes have all gone may take to say its end once its answer is there, ms: then it is ended. */
const SOURCE_END_MS_MAX = 1_000

/** An upload, or a tunnel on a stream, that goes on behind its response. */
export interface GoesOn {
  /** A dispatcher that closes waits for it. */
  readonly outlivesClose: boolean
  /** Its dispatcher ends it. */
  giveUp: (error: Error) => void
}

/** A streaming request body on its way. */
export class Upload {
  private ahead = 0
  private wake: (() => void) | null = null
  private hasBegun = false
  private stopped = false
  /** All bytes that content-length announces are sent: the source has only to say its end. */
  private isWhole = false
  private iterator: AsyncIterator<unknown> | Iterator<unknown> | null = null
  private timer: NodeJS.Timeout | null = null
  /** The source is asked for its next piece. */
  private isPaused = false
  private hasHead = false
  /** Its connection is shared, and its stream its own. */
  private isOnStream = false
  /** Its response has ended, and it goes on. */
  private isBehind = false
  /** It holds the process, behind its response. */
  private isHolding = false

  /** `isStrict`: another number of bytes than `length` is an error, else a warning: bytes beyond it are left out. An answer
   * to fewer has `headersTimeout` ms, 0: any time. `behind`: the dispatcher's uploads that go on behind their responses. */
  constructor (
    private readonly bridge: Bridge,
    private readonly sender: Sender,
    private readonly source: Source,
    private readonly length: number | null,
    private readonly isStrict: boolean,
    private readonly headersTimeout: number,
    private readonly behind: Set<GoesOn>
  ) {}

  /** The request starts on a connection of `protocol`. On a stream a source may take `headersTimeout` for each of its pieces
   * until the head of the answer comes, as with undici. The engine's clock stands still meanwhile: the peer owes nothing. */
  startOn (protocol: string | false): void {
    this.isOnStream = MULTIPLEXED.has(protocol)
    if (this.isOnStream) this.limitPauses()
    void this.run()
  }

  private limitPauses (): void {
    if (!(this.headersTimeout > 0) || this.hasHead || this.timer !== null) return
    const timer = setTimeout(() => {
      if (this.isPaused) this.sender.onSourceFailed(new HeadersTimeoutError())
      else timer.refresh()
    }, this.headersTimeout).unref()
    this.timer = timer
  }

  /** Sends all of it, when its request starts on a connection: before, nothing of the source is read. Never
   * rejects; counts once. */
  async run (): Promise<void> {
    if (this.hasBegun || this.stopped) return
    this.hasBegun = true
    try {
      const made = iteratorOf(this.source.pieces)
      this.iterator = made
      let sent = 0
      if (this.length === 0) this.end()
      for (;;) {
        this.isPaused = true
        const next = await made.next()
        this.isPaused = false
        this.timer?.refresh()
        if (next.done === true) break
        if (this.stopped) return this.endSource()
        const chunk = chunkOf(next.value)
        const room = this.length === null ? chunk.length : this.length - sent
        if (chunk.length > room) this.refuseLength()
        const taken = chunk.length > room ? chunk.subarray(0, room) : chunk
        sent += taken.length
        await this.send(taken, taken === chunk ? next.value : taken)
        if (this.stopped) return
        if (sent === this.length && taken.length > 0) this.end()
        if (taken !== chunk) return this.endSource()
      }
      this.stopTimer()
      if (this.stopped) return
      // As with undici, both sides of one that can be written to.
      if (isStream(this.source.pieces)) endStream(this.source.pieces)
      if (this.length !== null && sent < this.length) return this.endShort()
      this.end()
    } catch (error) {
      if (this.stopped) return
      this.fail()
      this.sender.onSourceFailed(error as Error)
    }
  }

  /** Refuses a body of another length than content-length says: the rest of a longer one would be read as the next request. */
  private refuseLength (): void {
    if (this.isStrict) throw new RequestContentLengthMismatchError()
    process.emitWarning(new RequestContentLengthMismatchError())
  }

  /** It is shorter than content-length says, and the peer waits for the rest: its answer counts, and the connection is not
   * used again, because the body has not come to its end. */
  private endShort (): void {
    this.refuseLength()
    this.sender.onAllSent()
    // The engine's own clock stands still while a body has not come to its end.
    if (this.isBehind) this.fail()
    else if (this.headersTimeout > 0) this.timer = setTimeout(() => { this.sender.onSourceFailed(new HeadersTimeoutError()) }, this.headersTimeout)
  }

  /** The head of the answer has come. */
  onHead (): void {
    this.hasHead = true
    this.stopTimer()
  }

  private stopTimer (): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }

  /** All of it is sent, which is known before the source says its end where content-length says how much there is: the
   * answer may be whole before that end, and the connection would be lost. */
  private end (): void {
    if (this.isWhole) return
    this.isWhole = true
    this.bridge.end(this.sender.number)
    this.updateHold()
    this.sender.onAllSent()
  }

  /** Sends a chunk as fast as it is taken; `given` is what the source gave, which is reported where it goes in one piece. */
  private async send (chunk: Buffer, given: unknown): Promise<void> {
    const { length } = chunk
    for (let at = 0; at < length && !this.stopped; at += PIECE_BYTES_MAX) {
      mustHave(chunk, length)
      const piece = chunk.subarray(at, at + PIECE_BYTES_MAX)
      this.ahead += piece.length
      this.bridge.piece(this.sender.number, piece)
      this.updateHold()
      this.sender.onSent(piece.length === length ? given : piece)
      while (this.ahead > AHEAD_BYTES_MAX && !this.stopped) await new Promise<void>(resolve => { this.wake = resolve })
    }
  }

  /** The connection took `bytes`. */
  onRoom (bytes: number): void {
    this.ahead -= bytes
    this.updateHold()
    this.rouse()
  }

  /**
   * The exchange is over: the source is ended, unless it has only to say its end. As with undici a body goes on behind a
   * response that has ended before it, on a stream and from memory; the stream of a program that a connection of HTTP/1.1
   * carries ends, and the connection with it.
   */
  stop (error?: Error): void {
    if (this.stopped) return
    if (error === undefined && this.sender.number !== 0) {
      if (this.isWhole || this.isOnStream || this.isInMemory) return this.goOn()
      this.bridge.fail(this.sender.number)
    }
    this.stopped = true
    this.behind.delete(this)
    this.updateHold()
    this.onHead()
    this.rouse()
    if (this.isWhole && error === undefined) this.timer = setTimeout(() => { this.endSource() }, SOURCE_END_MS_MAX).unref()
    else this.endSource(error)
  }

  private get isInMemory (): boolean { return this.source.isInMemory === true }

  get outlivesClose (): boolean { return this.isInMemory }

  private goOn (): void {
    this.isBehind = true
    this.behind.add(this)
    this.onHead()
    this.updateHold()
  }

  /** Ends a body that goes on behind its response. */
  giveUp (error: Error): void {
    if (this.sender.number !== 0) this.fail()
    this.stop(error)
  }

  /** The body has failed. One behind its response has nothing else to end its stream while its peer gives no room. */
  private fail (): void {
    this.bridge.fail(this.sender.number)
    if (this.isBehind) this.bridge.cancel(this.sender.number)
  }

  /** Behind its response it holds the process while the peer is what it waits for. */
  private updateHold (): void {
    const holds = this.isBehind && !this.stopped && (this.isWhole || this.ahead > 0)
    if (holds === this.isHolding) return
    this.isHolding = holds
    if (holds) this.bridge.hold()
    else this.bridge.release()
  }

  private endSource (error?: Error): void {
    const { pieces } = this.source
    if (this.iterator instanceof StreamPieces) this.iterator.leave()
    if (isStream(pieces)) {
      // One that has only to give what waits in it ends by itself: its writer sees no failure.
      if (error === undefined && hasAllOfIt(pieces)) pieces.resume()
      else endStream(pieces, error)
      return
    }
    // A generator that was never begun holds what its user gave it, too.
    const iterator = this.iterator ?? (typeof (pieces as Partial<Iterator<unknown>>).next === 'function' ? pieces as unknown as Iterator<unknown> : null)
    const left = iterator?.return?.()
    if (types.isPromise(left)) left.catch(() => {})
  }

  private rouse (): void {
    const { wake } = this
    this.wake = null
    wake?.()
  }
}

function iteratorOf (pieces: Source['pieces']): AsyncIterator<unknown> | Iterator<unknown> {
  if (isStream(pieces)) return new StreamPieces(pieces)
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = pieces as Partial<AsyncIterable<unknown> & Iterable<unknown>>
  return later === undefined ? now!.call(pieces) : later.call(pieces)
}

/** Whether nothing is left of a chunk because its memory was transferred away before it was read. */
function isGone (chunk: ArrayBufferView | ArrayBufferLike): boolean {
  if (chunk.byteLength > 0) return false
  try {
    void new Uint8Array(ArrayBuffer.isView(chunk) ? chunk.buffer : chunk)
    return false
  } catch {
    return true
  }
}

function chunkOf (value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.from(value)
  if ((ArrayBuffer.isView(value) || isAnyArrayBuffer(value)) && isGone(value)) {
    throw new InvalidArgumentError('the memory of a chunk of the body was transferred away before the chunk was sent')
  }
  if (Buffer.isBuffer(value)) return value
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (isAnyArrayBuffer(value)) return Buffer.from(value)
  // It throws what undici throws, which measures each chunk.
  Buffer.byteLength(value as string)
  throw new InvalidArgumentError('a chunk of the body is neither text nor bytes')
}

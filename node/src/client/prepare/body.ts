// Request bodies of every kind. Bytes in memory are sent whole, everything else piece by piece, as
// fast as the connection takes it.

import { Readable } from 'node:stream'
import { isAnyArrayBuffer } from 'node:util/types'
import { HeadersTimeoutError, InvalidArgumentError, RequestAbortedError, RequestContentLengthMismatchError } from '../../errors'
import { isForm, Multipart } from '../../fetch/multipart'
import { isFieldValue } from './head'
import type { Bridge } from '../../channel/ring'

/** Bytes that may be on their way to the connection before the source has to wait. */
const AHEAD_BYTES_MAX = 256 * 1024
/**
 * The largest body, in bytes, that the engine gets whole, so that it can repeat an unprocessed
 * request. A larger one is copied as the connection takes it, so that it is not in memory twice.
 */
const WHOLE_BYTES_MAX = 1024 * 1024
/** Bytes that are copied at a time. */
const PIECE_BYTES_MAX = 64 * 1024

/** A body that is not all there. */
export interface Source {
  pieces: AsyncIterable<unknown> | Iterable<unknown>
  /** Bytes, where they are known before. */
  length: number | null
  /** The content type that belongs to it. */
  type: string | null
}

/** A request's body: nothing, all of it, or where it comes from. */
export type RequestBody = Buffer | Source | null

export function isStream (body: unknown): body is Readable {
  const stream = body as Partial<Readable> | null
  return typeof stream === 'object' && stream !== null && typeof stream.pipe === 'function' && typeof stream.on === 'function'
}

/** Bytes that remain in a stream whose source has ended; null: unknown. `isNext`: its request does not wait for a
 * connection behind others, until when nothing of its source is read. */
function lengthOf (stream: Readable, isNext: boolean): number | null {
  // It may have to be asked for more to learn that there is none.
  if (isNext && typeof stream.read === 'function') stream.read(0)
  const state = (stream as { _readableState?: { objectMode?: boolean; ended?: boolean; length?: number } })._readableState
  if (state == null || state.objectMode !== false || state.ended !== true || stream.destroyed) return null
  return state.length ?? null
}

/** Ends a stream that is not read, or not any more, and leaves its errors alone. */
export function endStream (stream: Readable, error?: Error | null): void {
  if (stream.destroyed) return
  stream.on('error', () => {})
  // Streams of the oldest kind have none.
  if (typeof stream.destroy === 'function') stream.destroy(error ?? undefined)
}

function isBlob (body: object): body is Blob {
  const blob = body as Partial<Blob> & { [Symbol.toStringTag]?: string }
  return (blob[Symbol.toStringTag] === 'Blob' || blob[Symbol.toStringTag] === 'File') && typeof blob.arrayBuffer === 'function' && typeof blob.stream === 'function'
}

/** Converts a caller's body; `isNext` as of `lengthOf`. */
export function bodyOf (body: unknown, isNext = true): RequestBody {
  if (body == null) return null
  if (typeof body === 'string') return body.length > 0 ? bytesOf(Buffer.from(body)) : null
  if (ArrayBuffer.isView(body)) {
    if (body.byteLength === 0) return null
    return bytesOf(Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength))
  }
  if (isAnyArrayBuffer(body)) return body.byteLength > 0 ? bytesOf(Buffer.from(body)) : null
  if (typeof body !== 'object') throw unusable()
  if (isStream(body)) {
    const length = lengthOf(body, isNext)
    return length === 0 ? null : { pieces: body, length, type: null }
  }
  if (isForm(body)) return formSource(body)
  if (isBlob(body)) return { pieces: piecesOf(body), length: body.size, type: typeOf(body) || null }
  if (Symbol.asyncIterator in body || Symbol.iterator in body) {
    return { pieces: body as AsyncIterable<unknown>, length: null, type: null }
  }
  throw unusable()
}

function bytesOf (bytes: Buffer): RequestBody {
  const { length } = bytes
  if (length <= WHOLE_BYTES_MAX) return bytes
  function * pieces (): Generator<Buffer> {
    mustHave(bytes, length)
    yield bytes
  }
  return { pieces: pieces(), length, type: null }
}

/** Of memory that is transferred away nothing is left. */
function mustHave (bytes: Buffer, length: number): void {
  if (bytes.length === length) return
  throw new InvalidArgumentError(`the memory of the body, ${length} bytes, was transferred away while the body was being sent`)
}

function unusable (): Error {
  return new InvalidArgumentError('body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable')
}

/** The bytes of a Blob, which is read when its request starts. */
function piecesOf (blob: Blob): AsyncIterable<Uint8Array> {
  const stream = (): AsyncIterable<Uint8Array> => blob.stream() as unknown as AsyncIterable<Uint8Array>
  return { [Symbol.asyncIterator]: () => stream()[Symbol.asyncIterator]() }
}

/** The content type of a Blob. A built-in class checks it; an object of another package may have any text there,
 * and a line end in it would end the field that it is written to. */
function typeOf (blob: Blob): string {
  const { type } = blob
  if (type == null || type === '') return ''
  if (typeof type === 'string' && isFieldValue(type)) return type
  throw new InvalidArgumentError(`the type of a Blob is ${JSON.stringify(type)}; it must be a text without control characters and without characters above U+00FF`)
}

/** A form is encoded here, its types checked. */
function formSource (form: FormData): Source {
  const made = new Multipart(form as never, typeOf)
  return { pieces: made.pieces(), length: made.length, type: made.type }
}

/** The exchange that sends a body. */
interface Sender {
  number: number
  onSent: (chunk: Buffer) => void
  onAllSent: () => void
  onSourceFailed: (error: Error) => void
}

/** How long a source whose bytes have all gone may take to say its end once its answer is there, ms: then it is ended. */
const SOURCE_END_MS_MAX = 1_000

/** A streaming request body on its way. */
export class Upload {
  private ahead = 0
  private wake: (() => void) | null = null
  private hasBegun = false
  private stopped = false
  /** As many bytes as content-length says are sent: the source has only to say its end. */
  private isWhole = false
  private iterator: AsyncIterator<unknown> | Iterator<unknown> | null = null
  private timer: NodeJS.Timeout | null = null

  /** `isStrict`: another number of bytes than `length` is an error, else a warning: bytes beyond it are left out. An answer
   * to fewer has `headersTimeout` ms, 0: any time. */
  constructor (
    private readonly bridge: Bridge,
    private readonly sender: Sender,
    private readonly source: Source,
    private readonly length: number | null,
    private readonly isStrict: boolean,
    private readonly headersTimeout: number
  ) {}

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
        const next = await made.next()
        if (next.done === true) break
        if (this.stopped) return this.endSource()
        const chunk = chunkOf(next.value)
        const room = this.length === null ? chunk.length : this.length - sent
        if (chunk.length > room) this.refuseRest()
        const taken = chunk.length > room ? chunk.subarray(0, room) : chunk
        sent += taken.length
        await this.send(taken)
        if (this.stopped) return
        if (sent === this.length && taken.length > 0) this.end()
        if (taken !== chunk) return this.endSource()
      }
      if (this.timer !== null) clearTimeout(this.timer)
      if (this.stopped) return
      if (this.length !== null && sent < this.length) return this.endShort()
      this.end()
    } catch (error) {
      if (this.stopped) return
      this.bridge.fail(this.sender.number)
      this.sender.onSourceFailed(this.failureOf(error as Error))
    }
  }

  /** It is longer than content-length says: what is beyond would be read as the next request. */
  private refuseRest (): void {
    if (this.isStrict) throw new RequestContentLengthMismatchError()
    process.emitWarning(new RequestContentLengthMismatchError())
  }

  /** It is shorter than content-length says, and the peer waits for the rest: its answer counts, and the connection is not
   * used again, because the body has not come to its end. */
  private endShort (): void {
    if (this.isStrict) throw new RequestContentLengthMismatchError()
    process.emitWarning(new RequestContentLengthMismatchError())
    this.sender.onAllSent()
    // The engine's own clock stands still while a body has not come to its end.
    if (this.headersTimeout > 0) this.timer = setTimeout(() => { this.sender.onSourceFailed(new HeadersTimeoutError()) }, this.headersTimeout)
  }

  /** The head of the answer has come. */
  onHead (): void { if (this.timer !== null) clearTimeout(this.timer) }

  /** A stream that was destroyed without an error has aborted the request. */
  private failureOf (error: Error): Error {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ERR_STREAM_PREMATURE_CLOSE' && isStream(this.source.pieces) ? new RequestAbortedError() : error
  }

  /** All of it is sent, which is known before the source says its end where content-length says how much there is: the
   * answer may be whole before that end, and the connection would be lost. */
  private end (): void {
    if (this.isWhole) return
    this.isWhole = true
    this.bridge.end(this.sender.number)
    this.sender.onAllSent()
  }

  /** Sends a chunk as fast as it is taken. */
  private async send (chunk: Buffer): Promise<void> {
    const { length } = chunk
    for (let at = 0; at < length && !this.stopped; at += PIECE_BYTES_MAX) {
      mustHave(chunk, length)
      const piece = chunk.subarray(at, at + PIECE_BYTES_MAX)
      this.ahead += piece.length
      this.bridge.piece(this.sender.number, piece)
      this.sender.onSent(piece)
      while (this.ahead > AHEAD_BYTES_MAX && !this.stopped) {
        await new Promise<void>(resolve => { this.wake = resolve })
      }
    }
  }

  /** The connection took `bytes`. */
  onRoom (bytes: number): void {
    this.ahead -= bytes
    this.rouse()
  }

  /** The exchange is over: the source is ended, unless it has only to say its end. */
  stop (error?: Error): void {
    if (this.stopped) return
    this.stopped = true
    this.onHead()
    this.rouse()
    if (this.isWhole && error === undefined) this.timer = setTimeout(() => { this.endSource() }, SOURCE_END_MS_MAX).unref()
    else this.endSource(error)
  }

  private endSource (error?: Error): void {
    const { pieces } = this.source
    if (isStream(pieces)) return endStream(pieces, error)
    // A generator that was never begun holds what its user gave it, too.
    const iterator = this.iterator ?? (typeof (pieces as Partial<Iterator<unknown>>).next === 'function' ? pieces as unknown as Iterator<unknown> : null)
    const left = iterator?.return?.()
    if (left instanceof Promise) left.catch(() => {})
  }

  private rouse (): void {
    const { wake } = this
    this.wake = null
    wake?.()
  }
}

function iteratorOf (pieces: Source['pieces']): AsyncIterator<unknown> | Iterator<unknown> {
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = pieces as Partial<AsyncIterable<unknown> & Iterable<unknown>>
  if (later !== undefined) return later.call(pieces)
  if (now !== undefined) return now.call(pieces)
  // A stream of the oldest kind, which may have been paused.
  const old = pieces as unknown as NodeJS.ReadableStream
  const wrapped = new Readable({ objectMode: true }).wrap(old)
  if (typeof old.resume === 'function') old.resume()
  return wrapped[Symbol.asyncIterator]()
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

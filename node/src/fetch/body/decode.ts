// Decodes `content-encoding` (RFC 9110 section 8.4). A decoder is made when the body is read, and not before.

import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream'
import zlib from 'node:zlib'
import { isError } from '../../errors/is_error'
import type { ByteSource } from './body'

/** Codings that are undone; a response with more is refused, because each multiplies what few bytes can become. */
const CODINGS_MAX = 5

/** Bytes that came are flushed, also where the end is missing, as browsers do. */
const TOLERANT = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
const TOLERANT_BROTLI = { flush: zlib.constants.BROTLI_OPERATION_FLUSH, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }

type Zstd = { createZstdDecompress?: (options?: object) => Transform }

/** `deflate` is zlib's format (RFC 9110 section 8.4.1.2), but some servers send it without zlib's head. */
class Inflated extends Transform {
  private inner: zlib.Inflate | zlib.InflateRaw | null = null

  override _transform (chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void {
    if (this.inner === null) {
      if (chunk.length === 0) return done()
      // CM of RFC 1950 section 2.2 is 8.
      const inner = (chunk[0]! & 0x0f) === 8 ? zlib.createInflate(TOLERANT) : zlib.createInflateRaw(TOLERANT)
      inner.on('data', (piece: Buffer) => { if (!this.push(piece)) inner.pause() })
      inner.on('end', () => { this.push(null) })
      inner.on('error', error => { this.destroy(error) })
      this.inner = inner
    }
    this.inner.write(chunk, encoding, done)
  }

  override _read (size: number): void {
    this.inner?.resume()
    super._read(size)
  }

  override _final (done: () => void): void {
    if (this.inner === null) {
      this.push(null)
      return done()
    }
    this.inner.end()
    done()
  }
}

const DECODERS: Record<string, (() => Transform) | undefined> = {
  gzip: () => zlib.createGunzip(TOLERANT),
  'x-gzip': () => zlib.createGunzip(TOLERANT),
  deflate: () => new Inflated(),
  br: () => zlib.createBrotliDecompress(TOLERANT_BROTLI)
}
const { createZstdDecompress } = zlib as Zstd
/** Whether this Node.js has a decoder for zstd. */
export const TAKES_ZSTD = createZstdDecompress !== undefined
// Node.js 22.15 and later have it.
if (createZstdDecompress !== undefined) DECODERS['zstd'] = () => createZstdDecompress(ZSTD)
const { ZSTD_e_continue: ZSTD_CONTINUE = 0, ZSTD_e_end: ZSTD_END = 2, ZSTD_d_windowLogMax: ZSTD_WINDOW = 100 } = zlib.constants as Record<string, number>
/** The largest window that a decoder has memory for, as a power of two: 8 MiB (RFC 9659 section 3). */
const ZSTD_WINDOW_LOG_MAX = 23
/** Without its end a body is not whole: what the decoder holds of a frame that is cut is not given out. */
const ZSTD = { flush: ZSTD_CONTINUE, finishFlush: ZSTD_END, params: { [ZSTD_WINDOW]: ZSTD_WINDOW_LOG_MAX } }

/** The codings of a body, as they were applied; empty: it is as it was, or has one that is unknown here. */
export function codingsOf (value: string | null): string[] {
  if (value === null) return []
  const codings = value.toLowerCase().split(',').map(coding => coding.trim())
  if (codings.length > CODINGS_MAX) throw new Error(`too many content-encodings in response: ${codings.length}, maximum allowed is ${CODINGS_MAX}`)
  return codings.every(coding => Object.hasOwn(DECODERS, coding)) ? codings : []
}

/** The pieces of a source. */
async function * piecesOf (next: () => Promise<Buffer | null>): AsyncGenerator<Buffer, void, undefined> {
  for (let piece = await next(); piece !== null; piece = await next()) yield piece
}

/** A source whose reader may be given nothing more but an error. */
interface Encoded extends ByteSource { abort?: (reason: unknown) => void }

/** A body whose codings are undone as it is read. */
export class Decoded implements ByteSource {
  private iterator: AsyncIterator<Buffer> | null = null
  /** The source failed, and with what: its error is the reader's. */
  private failure: { reason: unknown } | null = null
  /** It was aborted, and why: what is decoded and not read is dropped. */
  private aborted: { reason: unknown } | null = null
  /** Its reader has all of it, or its error, or wants no more. */
  isDone = false
  /** Bytes that its reader has. */
  decoded = 0
  /** Called when its reader has all of it. */
  onDone: (() => void) | null = null
  /** Called when nothing more of it is decoded. */
  onDecoded: (() => void) | null = null
  /** Called when it is aborted. Its end is known by the next read alone. */
  onSpent: (() => void) | null = null

  constructor (private readonly source: Encoded, private readonly codings: readonly string[]) {}

  get errored (): { reason: unknown } | null { return this.aborted }

  async next (): Promise<Buffer | null> {
    const piece = await this.read()
    if (this.aborted !== null) throw this.aborted.reason
    if (piece === null) this.done()
    else this.decoded += piece.length
    return piece
  }

  private async read (): Promise<Buffer | null> {
    if (this.aborted !== null) return null
    try {
      const { done, value } = await (this.iterator ??= this.open()).next() as IteratorResult<Buffer, undefined>
      return done === true ? null : value
    } catch (error) {
      if (this.aborted !== null) return null
      this.done()
      throw this.failed(error)
    }
  }

  private done (): void {
    this.isDone = true
    const { onDone, onDecoded } = this
    this.onDone = this.onDecoded = null
    onDone?.()
    onDecoded?.()
  }

  /** An aborted body gives its reader nothing more, whether all of it has come or not. */
  abort (reason: unknown): void {
    if (this.isDone || this.aborted !== null) return
    this.aborted = { reason }
    this.source.abort?.(reason)
    this.close()
    this.done()
    this.onSpent?.()
  }

  /** Frees the decoders. A read that is under way has its result before. */
  private close (): void { this.iterator?.return?.().catch(() => {}) }

  async all (): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let piece = await this.next(); piece !== null; piece = await this.next()) pieces.push(piece)
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  cancel (reason?: unknown): void {
    this.source.cancel(reason)
    this.close()
    this.done()
  }

  watch (holder: object): void { this.source.watch?.(holder) }

  private open (): AsyncIterator<Buffer> {
    const { source } = this
    const next = async (): Promise<Buffer | null> => {
      try {
        return await source.next()
      } catch (reason) {
        this.failure = { reason }
        throw isError(reason) ? reason : new Error('the source of the body failed')
      }
    }
    const stages = this.codings.toReversed().map(coding => DECODERS[coding]!())
    const input = Readable.from(piecesOf(next), { objectMode: false })
    pipeline([input, ...stages] as never, () => {})
    return stages.at(-1)![Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  private failed (error: unknown): unknown {
    if (this.failure !== null) return this.failure.reason
    this.source.cancel(error)
    return new TypeError('terminated', { cause: error })
  }
}

/** Bytes that are here already, as a source. */
export class Bytes implements ByteSource {
  constructor (private bytes: Buffer | null) {}
  async next (): Promise<Buffer | null> {
    const { bytes } = this
    this.bytes = null
    return bytes
  }
  async all (): Promise<Buffer> { return await this.next() ?? Buffer.alloc(0) }
  cancel (): void { this.bytes = null }
}

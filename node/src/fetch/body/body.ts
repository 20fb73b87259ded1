// The body of a request or a response (https://fetch.spec.whatwg.org/#concept-body). Where it comes from is kept as it was
// given, and read in the cheapest way; a stream is made of it when a program asks for one.

import { Readable } from 'node:stream'
import { types } from 'node:util'
import { utf8 } from './form_parser'

/** Bytes that come piece by piece and once, as of a connection. */
export interface ByteSource {
  /** The next piece, its reader's to keep; null: the end. Rejects where the source fails. */
  next: () => Promise<Buffer | null>
  /** All that is left. */
  all: () => Promise<Buffer>
  /** The rest has no reader. */
  cancel: (reason?: unknown) => void
  /** Whether it is over, and no byte of it is left; undefined: known by the next read alone. */
  readonly isSpent?: boolean
  /** Called when it is over while no reader waits and no byte of it is left. */
  onSpent?: (() => void) | null
  /** Why nothing of it is left to read but an error; undefined: known by the next read alone. */
  readonly errored?: { reason: unknown } | null
  /** `holder` is what programs read it by from now on: once that is collected, the rest has no reader. */
  watch?: (holder: object) => void
  /** Whether it is the body of a request of a server. */
  readonly isOfRequest?: boolean
}

/** Bytes that can be read again and again, as of a Blob, a form or a file. */
export interface Repeatable {
  /** Bytes; null: unknown. */
  readonly length: number | null
  pieces: () => AsyncIterable<Uint8Array>
  /** The object that was given as the body. */
  readonly given?: object
}

export type Content = string | Uint8Array | Repeatable | ByteSource | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

// A text is no object, which `in` needs.
const isRepeatable = (content: Content): content is Repeatable => typeof content === 'object' && 'pieces' in content
const isSource = (content: Content): content is ByteSource => typeof content === 'object' && 'all' in content && 'next' in content && 'cancel' in content

export function isDisturbed (stream: ReadableStream): boolean { return Readable.isDisturbed(stream as unknown as NodeJS.ReadableStream) }

/** Streams of requests of a server. */
const ofRequests = new WeakSet<ReadableStream>()
/** Whether it is the body of a request of a server: where that is sent on, it needs no `duplex`, and the request's length is its own. */
export function isOfRequest (stream: unknown): boolean { return stream instanceof ReadableStream && ofRequests.has(stream) }

/** Streams of `ofRequests` that another body has, which reads them when it is sent. */
const claimed = new WeakSet<ReadableStream>()
export function claim (stream: ReadableStream): void { if (ofRequests.has(stream)) claimed.add(stream) }

export function unusable (): TypeError { return new TypeError('Body is unusable: Body has already been read') }

/** The stream of a body that was read without one. */
function readStream (): ReadableStream<Uint8Array> {
  const stream = new ReadableStream<Uint8Array>({ start (controller) { controller.close() } })
  void stream.getReader().read()
  return stream
}

export class Body {
  private stream: ReadableStream<Uint8Array> | null = null
  /** It was read, or is being read, without its stream. */
  private isTaken = false

  constructor (private readonly content: Content) { if (content instanceof ReadableStream) this.stream = content }

  get used (): boolean { return this.isTaken || (this.stream !== null && isDisturbed(this.stream)) }
  /** Whether it cannot be read any more, or not now. */
  get isUnusable (): boolean { return this.used || this.stream?.locked === true }
  /** Where it comes from, as long as nothing can have changed it; null: from its stream. */
  get whole (): string | Uint8Array | Repeatable | null {
    const { content } = this
    return typeof content === 'string' || types.isUint8Array(content) || isRepeatable(content) ? content : null
  }

  /** The text, bytes or object that was given as the body; null: it is none, or an empty text. */
  get given (): string | Uint8Array | object | null {
    const { whole } = this
    if (whole === null || whole === '') return null
    if (typeof whole === 'string') return whole
    return types.isUint8Array(whole) ? new Uint8Array(whole) : whole.given ?? null
  }

  /** The error that a reader gets at once, because the body was aborted, or cut before its first byte; null: none. */
  get errored (): { reason: unknown } | null {
    const { content } = this
    return this.stream === null && !this.isTaken && isSource(content) ? content.errored ?? null : null
  }

  /** Whether its stream was asked for. */
  get hasStream (): boolean { return this.stream !== null }
  /** Whether its stream was asked for, and nothing reads it or has it to read. */
  get isOnlyShown (): boolean { return this.stream !== null && !this.isUnusable && !claimed.has(this.stream) }
  /** Whether it is being read, or was, without its stream. */
  get isBeingTaken (): boolean { return this.isTaken }

  /** The stream of it, always the same. */
  get web (): ReadableStream<Uint8Array> {
    return (this.stream ??= this.isTaken ? readStream() : streamOf(this.content as Exclude<Content, ReadableStream>))
  }

  /** All bytes; rejects where the body was read before. */
  async bytes (): Promise<Buffer> {
    if (this.isUnusable) throw unusable()
    const { content, stream } = this
    if (stream !== null) return await allOf(stream)
    this.isTaken = true
    if (typeof content === 'string') return Buffer.from(content)
    if (types.isUint8Array(content)) return bufferOf(content)
    if (isSource(content)) return await content.all()
    const pieces: Uint8Array[] = []
    for await (const piece of isRepeatable(content) ? content.pieces() : content as AsyncIterable<Uint8Array>) pieces.push(bytesOf(piece))
    return Buffer.concat(pieces)
  }

  async text (): Promise<string> {
    const { content } = this
    if (typeof content !== 'string' || this.stream !== null || this.isTaken) return utf8(await this.bytes())
    this.isTaken = true
    const text = (content as unknown as { toWellFormed: () => string }).toWellFormed()
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }

  /** The pieces, for a connection; marks it as read. */
  pieces (): AsyncIterable<Uint8Array> {
    const { content } = this
    if (this.stream !== null) return this.stream as unknown as AsyncIterable<Uint8Array>
    this.isTaken = true
    if (isSource(content)) return piecesOf(content)
    return isRepeatable(content) ? content.pieces() : content as AsyncIterable<Uint8Array>
  }

  /** Another body of the same bytes (the standard's "clone"); what is here already is shared, not copied. */
  fork (): Body {
    const { whole } = this
    if (whole !== null && this.stream === null) return new Body(whole)
    const { web } = this
    const [one, other] = web.tee()
    if (isOfRequest(web)) ofRequests.add(one).add(other)
    this.stream = one
    // The other one may be read without this one.
    claim(one)
    // Pieces of a caller's stream are the caller's; those of ours are bytes, which `tee` copies itself.
    return new Body(this.content instanceof ReadableStream ? clonedStream(other) : other)
  }

  /** A body of what is here, which is used from now on (the standard's proxy of step 41 of `new Request`). */
  handOver (): Body {
    const { stream, content } = this
    if (stream === null) {
      const made = new Body(content)
      this.isTaken = true
      return made
    }
    const passed = stream.pipeThrough(new TransformStream<Uint8Array, Uint8Array>())
    return new Body(passed)
  }

  /** The rest has no reader. */
  cancel (reason?: unknown): void {
    const { stream, content } = this
    if (stream !== null) {
      if (!stream.locked) stream.cancel(reason).catch(() => {})
    } else if (isSource(content)) content.cancel(reason)
  }
}

/** A stream of clones of the pieces (the Streams standard's "tee" with cloneForBranch2), each made when it is read. */
function clonedStream (stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array>({
    async pull (controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(structuredClone(value))
    },
    cancel: async reason => { await reader.cancel(reason) }
  }, { highWaterMark: 0 })
}

/** The pieces of a source, which is cancelled where its reader stops. */
function piecesOf (source: ByteSource): AsyncIterable<Uint8Array> {
  const iterator = {
    async next (): Promise<IteratorResult<Uint8Array>> {
      const value = await source.next()
      return value === null ? { done: true, value: undefined } : { done: false, value }
    },
    return (): Promise<IteratorResult<Uint8Array>> {
      source.cancel()
      return Promise.resolve({ done: true, value: undefined })
    },
    [Symbol.asyncIterator]: () => iterator
  }
  source.watch?.(iterator)
  return iterator
}

export function bufferOf (bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A piece of an iterable, which may be text. */
function bytesOf (piece: unknown): Uint8Array {
  if (types.isUint8Array(piece)) return piece
  if (typeof piece === 'string') return Buffer.from(piece)
  throw new TypeError(`a piece of the body is a value of the type ${typeof piece}; it must be a Uint8Array`)
}

/** All of a stream (the standard's "read all bytes"): each piece must be a Uint8Array. */
async function allOf (stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const reader = stream.getReader()
  const pieces: Uint8Array[] = []
  for (;;) {
    const { done, value } = await reader.read() as { done: boolean; value: unknown }
    if (done) return pieces.length === 1 ? bufferOf(pieces[0]!) : Buffer.concat(pieces)
    if (!types.isUint8Array(value)) {
      const error = new TypeError('Received non-Uint8Array chunk')
      reader.cancel(error).catch(() => {})
      throw error
    }
    pieces.push(value)
  }
}

/** Memory of the piece alone, because a byte stream transfers it. */
function own (piece: Uint8Array): Uint8Array { return new Uint8Array(piece) }

interface ByteController { enqueue: (bytes: Uint8Array) => void; close: () => void; error: (reason: unknown) => void; byobRequest?: { respond: (bytes: number) => void } | null }

function byteStream (next: () => Promise<Uint8Array | null>, cancel: (reason: unknown) => unknown): ReadableStream<Uint8Array> {
  const source = {
    type: 'bytes',
    async pull (controller: ByteController): Promise<void> {
      let piece = await next()
      // A byte stream takes no empty piece.
      while (piece?.length === 0) piece = await next()
      if (piece !== null) return controller.enqueue(piece)
      controller.close()
      controller.byobRequest?.respond(0)
    },
    cancel
  }
  return new ReadableStream(source as never, { highWaterMark: 0 })
}

/** The stream of a source. It closes, or fails, with the source, also while no reader waits: by its `closed` a reader learns of the
 * end (https://fetch.spec.whatwg.org/#http-network-fetch). */
function sourceStream (content: ByteSource): ReadableStream<Uint8Array> {
  let isOpen = true
  const close = (controller: ByteController): void => {
    isOpen = false
    controller.close()
    controller.byobRequest?.respond(0)
  }
  /** Ends a source that is spent: its next read has no bytes. */
  const settle = async (controller: ByteController): Promise<void> => {
    if (!isOpen) return
    try {
      await content.next()
    } catch (error) {
      isOpen = false
      return controller.error(error)
    }
    if (isOpen) close(controller)
  }
  const source = {
    type: 'bytes',
    start (controller: ByteController): void {
      if (!('onSpent' in content)) return
      // The source lives as long as its exchange, and must not keep a stream without a reader.
      const weak = new WeakRef(controller)
      content.onSpent = () => {
        const alive = weak.deref()
        if (alive !== undefined) void settle(alive)
      }
    },
    async pull (controller: ByteController): Promise<void> {
      let piece = await content.next()
      // A byte stream takes no empty piece.
      while (piece?.length === 0) piece = await content.next()
      if (!isOpen) return
      if (piece === null) return close(controller)
      controller.enqueue(own(piece))
      if (content.isSpent === true) await settle(controller)
    },
    cancel (reason: unknown): void {
      isOpen = false
      content.cancel(reason)
    }
  }
  const stream = new ReadableStream<Uint8Array>(source as never, { highWaterMark: 0 })
  content.watch?.(stream)
  if (content.isOfRequest === true) ofRequests.add(stream)
  return stream
}

/** A stream of bytes that are here; no promise has them, so that no `then` of Object.prototype gets them. */
function wholeStream (bytes: Uint8Array): ReadableStream<Uint8Array> {
  let left: Uint8Array | null = bytes.length === 0 ? null : bytes
  const source = {
    type: 'bytes',
    pull (controller: ByteController): void {
      const piece = left
      left = null
      if (piece !== null) controller.enqueue(piece)
      controller.close()
      if (piece === null) controller.byobRequest?.respond(0)
    }
  }
  return new ReadableStream(source as never, { highWaterMark: 0 })
}

function streamOf (content: Exclude<Content, ReadableStream>): ReadableStream<Uint8Array> {
  if (isSource(content)) return sourceStream(content)
  if (typeof content === 'string' || types.isUint8Array(content)) {
    return wholeStream(typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : own(content))
  }
  let iterator: AsyncIterator<Uint8Array> | null = null
  const pieces = (): AsyncIterator<Uint8Array> => (iterator ??= (isRepeatable(content) ? content.pieces() : content as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]())
  return byteStream(async () => {
    const { done, value } = await pieces().next() as IteratorResult<Uint8Array, undefined>
    return done === true ? null : own(bytesOf(value))
  }, async reason => { await pieces().return?.(reason) })
}

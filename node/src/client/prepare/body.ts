// Request bodies of every kind. Bytes in memory are sent whole, everything else piece by piece.

import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { isArrayBuffer } from 'node:util/types'
import { InvalidArgumentError } from '../../errors'
import { isForm, Multipart } from '../../fetch/body/multipart'
import { isBlob } from '../../fetch/form_data'
import { isFieldValue } from './head'
import { queueMicrotask } from '../../timers'

/**
 * The largest body, in bytes, that the engine gets whole, so that it can repeat an unprocessed
 * request. A larger one is copied as the connection takes it, so that it is not in memory twice.
 */
const WHOLE_BYTES_MAX = 1024 * 1024
/** A body that is not all there. */
export interface Source {
  pieces: AsyncIterable<unknown> | Iterable<unknown>
  /** Bytes, where they are known before. */
  length: number | null
  /** The content type that belongs to it. */
  type: string | null
  /** Its bytes are there, or need nothing of the program to come. */
  isInMemory?: true
}

/** A request's body: nothing, all of it, or where it comes from. */
export type RequestBody = Buffer | Source | null

export function isStream (body: unknown): body is Readable {
  const stream = body as Partial<Readable> | null
  return typeof stream === 'object' && stream !== null && typeof stream.pipe === 'function' && typeof stream.on === 'function'
}

/** Bytes that remain in a stream whose source has ended; null: unknown. `isNext`: its request does not wait for a
 * connection behind others, until when nothing of its source is read. Throws an error that the stream emits meanwhile. */
function lengthOf (stream: Readable, isNext: boolean): number | null {
  // It may have to be asked for more to learn that there is none.
  if (isNext && typeof stream.read === 'function') readNothing(stream)
  const state = (stream as { _readableState?: { objectMode?: boolean; ended?: boolean; length?: number } })._readableState
  if (state == null || state.objectMode !== false || state.ended !== true) return null
  return state.length ?? null
}

function readNothing (stream: Readable): void {
  let failure: { error: Error } | null = null
  const onError = (error: Error): void => { failure = { error } }
  stream.on('error', onError)
  stream.read(0)
  // A destroyed stream emits its error later, when its request listens.
  stream.off('error', onError)
  if (failure !== null) throw (failure as { error: Error }).error
}

/** Whether the source of a stream has ended, so that only what waits in the stream is to come. */
export function hasAllOfIt (stream: Readable): boolean {
  const state = (stream as { _readableState?: { ended?: boolean } })._readableState
  return state?.ended === true && !stream.destroyed
}

/** Ends a stream that is not read, or not any more, and leaves its errors alone. */
export function endStream (stream: Readable, error?: Error | null): void {
  if (stream.destroyed) return
  stream.on('error', () => {})
  // As with undici: a request of node:http that is destroyed destroys its socket, on which a proxy has to answer.
  if (Object.getPrototypeOf(stream)?.constructor === IncomingMessage) (stream as unknown as { socket: null }).socket = null
  // Streams of the oldest kind have none.
  if (typeof stream.destroy === 'function') stream.destroy(error ?? undefined)
}

/** Ends the body of a call that failed: as with undici one that cannot be destroyed gets the event alone. */
export function failStream (stream: Readable, error: Error): void {
  endStream(stream, error)
  if (typeof stream.destroy !== 'function') queueMicrotask(() => { (stream as Partial<Readable>).emit?.('error', error) })
}

/** Converts a caller's body; `isNext` as of `lengthOf`. */
export function bodyOf (body: unknown, isNext = true): RequestBody {
  if (body == null) return null
  if (typeof body === 'string') return body.length > 0 ? bytesOf(Buffer.from(body)) : null
  if (ArrayBuffer.isView(body)) {
    if (body.byteLength === 0) return null
    return bytesOf(Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength))
  }
  if (isArrayBuffer(body)) return body.byteLength > 0 ? bytesOf(Buffer.from(body)) : null
  if (typeof body !== 'object') throw unusable()
  if (isStream(body)) {
    const length = lengthOf(body, isNext)
    return length === 0 ? null : { pieces: body, length, type: null }
  }
  if (isForm(body)) return formSource(body)
  if (isBlob(body)) return { pieces: piecesOf(body), length: body.size, type: typeOf(body) || null, isInMemory: true }
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
  return { pieces: pieces(), length, type: null, isInMemory: true }
}

/** Throws where bytes are missing: memory that is transferred away has none. */
export function mustHave (bytes: Buffer, length: number): void {
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

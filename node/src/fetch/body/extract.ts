// Bodies as callers give them: those of the standard (https://fetch.spec.whatwg.org/#concept-bodyinit-extract), and beside them
// Node.js streams, iterables, and the classes of other packages.

import { PassThrough, Readable } from 'node:stream'
import { isArrayBuffer, isGeneratorFunction } from 'node:util/types'
import { types } from 'node:util'
import { isStream } from '../../client/prepare/body'
import { Body, claim, isDisturbed, type Repeatable } from './body'
import { scalarString } from '../webidl/convert'
import { isBlob } from '../form_data'
import { isForm, Multipart } from './multipart'

interface Extracted {
  body: Body
  /** The content type that belongs to it. */
  type: string | null
}

/** A Blob as a body. */
class BlobContent implements Repeatable {
  constructor (readonly given: Blob) {}
  get length (): number { return this.given.size }
  pieces (): AsyncIterable<Uint8Array> { return this.given.stream() as unknown as AsyncIterable<Uint8Array> }
}

const TEXT = 'text/plain;charset=UTF-8'
const SEARCH = 'application/x-www-form-urlencoded;charset=UTF-8'

/** `keepalive`: the request outlives its page, which no stream can. */
export function extract (given: unknown, keepalive = false): Extracted {
  if (typeof given === 'string') return { body: new Body(given), type: TEXT }
  // Called, as in Bun: its source is no body.
  if (isGeneratorFunction(given)) return extract(iterated((given as () => AsyncIterable<unknown> | Iterable<unknown>)()), keepalive)
  if (typeof given !== 'object' || given === null) return { body: new Body(scalarString(given)), type: TEXT }
  if (given instanceof URLSearchParams) return { body: new Body(given.toString()), type: SEARCH }
  // Memory that is shared is no body by Web IDL: it is sent as the text that it is.
  if (ArrayBuffer.isView(given) && isArrayBuffer(given.buffer)) return { body: new Body(copyOf(given)), type: null }
  if (isArrayBuffer(given)) return { body: new Body(given.byteLength === 0 ? Buffer.alloc(0) : copyOf(new Uint8Array(given))), type: null }
  if (given instanceof ReadableStream) {
    if (keepalive) throw new TypeError('keepalive: a stream cannot be the body of a request that is kept alive')
    if (isDisturbed(given) || given.locked) throw new TypeError('Response body object should not be disturbed or locked')
    claim(given)
    return { body: new Body(given as ReadableStream<Uint8Array>), type: null }
  }
  // A file of `serve`.
  if ('pieces' in given && 'path' in given) return { body: new Body(given as unknown as Repeatable), type: (given as { type?: string }).type ?? null }
  if (isBlob(given)) return { body: new Body(new BlobContent(given)), type: given.type || null }
  if (isForm(given)) {
    const form = new Multipart(given as never)
    return { body: new Body(form), type: form.type }
  }
  return extractForeign(given, keepalive)
}

async function * iterated (pieces: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<unknown, void, undefined> { yield * pieces }

/** A copy of bytes that their owner may change. Those of small ones share a slab (`Buffer.poolSize`): memory of its own for each costs
 * more than the copy. Memory that was transferred has none (Web IDL, "get a copy of the bytes"), and a view of it throws. */
function copyOf (given: ArrayBufferView): Uint8Array {
  if (given.buffer.byteLength === 0) return Buffer.alloc(0)
  const copy = Buffer.allocUnsafe(given.byteLength)
  copy.set(types.isUint8Array(given) ? given : new Uint8Array(given.buffer, given.byteOffset, given.byteLength))
  return copy
}

function extractForeign (given: object, keepalive: boolean): Extracted {
  if ((given as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] === 'URLSearchParams') return { body: new Body(`${given as unknown as string}`), type: SEARCH }
  if (isStream(given) && Readable.isDisturbed(given)) throw new TypeError('Response body object should not be disturbed or locked')
  const iterable = isStream(given) ? iterableOf(given) : Symbol.asyncIterator in given ? given as AsyncIterable<Uint8Array> : null
  if (iterable === null) return { body: new Body(scalarString(given)), type: TEXT }
  if (keepalive) throw new TypeError('keepalive: a stream cannot be the body of a request that is kept alive')
  return { body: new Body(iterable), type: typeOfStream(given) }
}

/** The chunks of a stream; it may fail before it is read. A stream of the oldest kind, as the package form-data has, cannot be iterated. */
function iterableOf (stream: Readable): AsyncIterable<Uint8Array> {
  if (Symbol.asyncIterator in stream) {
    stream.on('error', () => {})
    return { [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> }
  }
  const passed = new PassThrough()
  ;(stream as Readable).on('error', error => { passed.destroy(error) }).pipe(passed)
  return passed
}

/** The streams of the package form-data say their type themselves. */
function typeOfStream (given: object): string | null {
  const { getHeaders } = given as { getHeaders?: () => Record<string, string> }
  return typeof getHeaders === 'function' ? getHeaders.call(given)['content-type'] ?? null : null
}

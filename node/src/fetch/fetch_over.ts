// `fetch` over a dispatcher of the caller's choice, for libraries that take a function of its signature.

import { isAnyArrayBuffer } from 'node:util/types'
import type { AnyDispatcher } from '../client/calls/api'
import { isStream } from '../client/prepare/body'
import { Agent } from '../client/client'
import { InvalidArgumentError } from '../errors'
import { fetch } from './fetch'

type Init = RequestInit & { duplex?: 'half' }

/** A function with the signature of `fetch` whose requests go through `dispatcher` (default: a new
 * Agent). A request's body may be whatever `fetch` takes, a Node.js stream, any iterable of bytes or
 * text, and a FormData, Blob or URLSearchParams of any package. */
export function fetchOver (dispatcher: AnyDispatcher = new Agent()): typeof globalThis.fetch {
  if (typeof dispatcher?.dispatch !== 'function') throw new InvalidArgumentError('Argument dispatcher must implement Dispatcher')
  const over = async (input: unknown, init?: Init): Promise<unknown> => {
    const body = init?.body as unknown
    if (body == null || typeof body !== 'object') return await fetch(input, { ...init, dispatcher })
    return await fetch(input, { ...init, ...streamed(body), dispatcher })
  }
  return over as never
}

/** Classes whose instances are bodies themselves, although one can go over some of them. */
const WHOLE = new Set(['FormData', 'URLSearchParams', 'Blob', 'File'])

/** The body, and that it comes piece by piece where it does. */
function streamed (body: object): { body?: unknown; duplex?: 'half' } {
  if (ArrayBuffer.isView(body) || isAnyArrayBuffer(body)) return {}
  if (body instanceof ReadableStream) return { duplex: 'half' }
  if (isStream(body) || Symbol.asyncIterator in body || WHOLE.has((body as { [Symbol.toStringTag]?: string })[Symbol.toStringTag]!)) return {}
  // A String object is an iterable of its letters.
  if (Symbol.iterator in body && !(body instanceof String)) return { body: later(body as Iterable<unknown>) }
  if (body.toString === Object.prototype.toString) {
    throw new TypeError('body must be text, bytes, a stream, an iterable, a Blob, a FormData or URLSearchParams; an object is to be made JSON first')
  }
  return {}
}

async function * later (pieces: Iterable<unknown>): AsyncGenerator<unknown, void, undefined> { yield * pieces }

// `fetch` over a dispatcher, for libraries that take a function of its signature. It calls Node's
// own fetch and converts bodies of other packages' classes, which Node's would send as `[object
// FormData]`.

import { PassThrough, Readable } from 'node:stream'
import { isAnyArrayBuffer } from 'node:util/types'
import { isStream } from './prepare/body'
import { Agent } from './client'
import type { AnyDispatcher } from './calls/api'
import { InvalidArgumentError } from '../errors'

type Init = RequestInit & { duplex?: 'half' }
type Tagged = { [Symbol.toStringTag]?: string }

/** A function with the signature of `fetch` whose requests go through `dispatcher` (default: a new
 * Agent). A request's body may be whatever `fetch` takes, a Node.js stream, any iterable of bytes or
 * text, and a FormData, Blob or URLSearchParams of any package. */
export function fetchOver (dispatcher: AnyDispatcher = new Agent()): typeof fetch {
  if (typeof dispatcher?.dispatch !== 'function') throw new InvalidArgumentError('Argument dispatcher must implement Dispatcher')
  return async (input, init) => {
    const { body, type, duplex } = await normalised(init?.body)
    const asked = { ...init, dispatcher } as Init
    if (body !== undefined) asked.body = body
    if (duplex) asked.duplex ??= 'half'
    if (type !== undefined) {
      const headers = new Headers(init?.headers)
      if (!headers.has('content-type')) headers.set('content-type', type)
      asked.headers = headers
    }
    return await fetch(input, asked)
  }
}

interface Normalised {
  /** As Node's `fetch` takes it. */
  body: RequestInit['body'] | undefined
  /** The content type that Node's `fetch` cannot know. */
  type?: string
  /** It comes piece by piece. */
  duplex?: true
}

async function normalised (body: unknown): Promise<Normalised> {
  if (body == null || typeof body !== 'object') return { body: body as Normalised['body'] }
  if (ArrayBuffer.isView(body) || isAnyArrayBuffer(body)) return { body: body as Normalised['body'] }
  if (isStream(body)) return { body: iterable(body) as never, duplex: true, ...typeOf(body) }
  const tag = (body as Tagged)[Symbol.toStringTag]
  if (tag === 'FormData') return { body: await ownForm(body as FormData) }
  if (tag === 'Blob' || tag === 'File') return { body: await ownBlob(body as Blob) }
  if (tag === 'URLSearchParams') return { body: new URLSearchParams(String(body)) }
  if (Symbol.asyncIterator in body) return { body: body as never, duplex: true }
  // A String object is an iterable of its letters.
  if (Symbol.iterator in body && !(body instanceof String)) return { body: Readable.from(body as Iterable<unknown>, { objectMode: false }) as never, duplex: true }
  if (body.toString === Object.prototype.toString) {
    throw new TypeError('body must be text, bytes, a stream, an iterable, a Blob, a FormData or URLSearchParams; an object is to be made JSON first')
  }
  return { body: body as Normalised['body'] }
}

/** A stream of the oldest kind, as the package form-data has, cannot be iterated. */
function iterable (stream: Readable): Readable {
  if (Symbol.asyncIterator in stream) return stream
  const passed = new PassThrough()
  ;(stream as Readable).on('error', error => { passed.destroy(error) }).pipe(passed)
  return passed
}

/** The streams of the package form-data say their type themselves. */
function typeOf (body: object): { type?: string } {
  const { getHeaders } = body as { getHeaders?: () => Record<string, string> }
  const type = typeof getHeaders === 'function' ? getHeaders.call(body)['content-type'] : undefined
  return type === undefined ? {} : { type }
}

async function ownForm (form: FormData): Promise<FormData> {
  if (form instanceof FormData) return form
  const own = new FormData()
  for (const [name, value] of form as Iterable<[string, string | File]>) {
    if (typeof value === 'string') own.append(name, value)
    else own.append(name, await ownBlob(value), value.name)
  }
  return own
}

async function ownBlob (blob: Blob): Promise<Blob> {
  return blob instanceof Blob ? blob : new Blob([await (blob as Blob).arrayBuffer()], { type: (blob as Blob).type })
}

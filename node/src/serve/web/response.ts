// A web `Response` whose parts are created on first access. Its source goes to the channel
// directly, encoded once; a response that is returned again is not encoded again.

import { createReadStream } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, type InspectOptions } from 'node:util'
import { builtIn } from './built_in'
import { pairsOf, textOf, type FieldsInit } from './fields'
import { typeOfName } from '../files/file_types'
import { textStreamOf } from './text_stream'

/** A body that lies in a file; made by [`file`]. */
export class FileBody {
  constructor (
    /** Absolute. */
    readonly path: string,
    /** Bytes before the part that is sent. */
    readonly offset: number,
    /** Bytes that are sent; null: all behind `offset`. */
    readonly length: number | null,
    /** Its media type, which is the `content-type` of an answer that has none. */
    readonly type: string
  ) {}

  /** The last part of its path. */
  get name (): string { return basename(this.path) }
}

/** The part of a file to send, and its fields. */
export interface FileOptions {
  /** Bytes before the part that is sent, from 0 to 2^53-1. Default: 0. */
  offset?: number
  /** Bytes that are sent, from 0 to 2^53-1. Default: all behind `offset`. */
  length?: number
  /** The media type. Default: by the end of the name, else `application/octet-stream`. */
  type?: string
}

/** A file as the body of an answer. The engine opens and reads it when the answer is sent: one that is not there is an error of the handler then
 * (`error.code` is `ENOENT`). An answer with status 200 and a whole file gets `last-modified`, `etag` and `accept-ranges`, and heeds `range`,
 * `if-range`, `if-none-match`, `if-modified-since`, `if-match` and `if-unmodified-since` of a GET or HEAD: 206, 304, 412 or 416. With `offset` or `length`
 * the part is sent as it is. Several ranges at once are answered with the whole.
 *
 * @throws RangeError where a number is none from 0 to 2^53-1; TypeError where the path is empty or has a zero byte. */
export function file (path: string | URL, options: FileOptions = {}): FileBody {
  const { offset = 0, length = null, type } = options
  for (const [name, value] of Object.entries({ offset, length })) {
    if (value !== null && (!Number.isSafeInteger(value) || value < 0)) {
      throw new RangeError(`${name} is ${value}; it must be an integer from 0 to 2^53-1`)
    }
  }
  const found = typeof path === 'string' ? path : fileURLToPath(path)
  if (found === '' || found.includes('\0')) throw new TypeError('path must not be empty and must not have a zero')
  return new FileBody(resolve(found), offset, length, type ?? typeOfName(found))
}

/** The bodies that are kept as they are; any other is the built-in class's affair. */
type Plain = string | Uint8Array | ArrayBuffer | null | undefined
export type ResponseBody = Plain | FileBody | ReadableStream | Blob | FormData | URLSearchParams | AsyncIterable<Uint8Array>

export interface ResponseInit { status?: number; statusText?: string; headers?: FieldsInit }

const TEXT = 'text/plain;charset=UTF-8'
const JSON_TEXT = 'application/json'
/** RFC 9112 section 4: HTAB, SP, VCHAR and obs-text. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/
/** RFC 9110: these have no body. */
const BODILESS = new Set([101, 103, 204, 205, 304])
const REDIRECTS = new Set([301, 302, 303, 307, 308])

const builtInResponse = builtIn('Response', () => Response)

/** The encoded response: the head's fields, and the whole body or its source. */
export interface Encoded {
  status: number
  fields: string
  body: Buffer | string | null
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null
  file: FileBody | null
}

function statusOf (status: number | undefined): number {
  if (status === undefined) return 200
  // As the built-in class takes it: '201' is 201, and so is 201.5.
  const code = Math.trunc(Number(status))
  if (!(code >= 200 && code <= 599)) throw new RangeError(`status is ${status}; it must be an integer from 200 to 599`)
  return code
}

function statusTextOf (given: string): string {
  const text = String(given)
  if (!REASON.test(text)) throw new TypeError(`statusText has a character that it cannot have: ${JSON.stringify(text)}`)
  return text
}

/** A relative one is allowed here, which the built-in class refuses: clients resolve it (RFC 9110 section 10.2.2). */
function locationOf (url: string | URL): string {
  const text = String(url)
  return URL.canParse(text) ? new URL(text).href : text.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
}

function isPlain (body: unknown): body is Plain {
  return body == null || typeof body === 'string' || body instanceof Uint8Array || body instanceof ArrayBuffer
}

function isIterable (body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && !(body instanceof ReadableStream) && Symbol.asyncIterator in body
}

const kept = Symbol('kept')

/** As the built-in class, and an instance of it for `instanceof`. */
export class Response {
  readonly #status: number
  readonly #statusText: string
  readonly #init: FieldsInit | undefined
  #plain: Plain
  #iterable: AsyncIterable<Uint8Array> | null = null
  #file: FileBody | null = null
  #jsonType = false
  /** The body is here whole, or in a file: it can be sent again and again. */
  readonly #isKept: boolean
  /** The built-in one, created on first access to a member that it alone has. */
  #real: globalThis.Response | null = null
  /** The encoding, as long as no caller can have changed the response. */
  #encoded: Encoded | null = null

  constructor (body?: ResponseBody, init?: ResponseInit) {
    builtInResponse()
    this.#status = statusOf(init?.status)
    this.#statusText = init?.statusText === undefined ? '' : statusTextOf(init.statusText)
    this.#init = init?.headers
    if (body != null && BODILESS.has(this.#status)) throw new TypeError(`an answer with status ${this.#status} has no body`)
    this.#isKept = isPlain(body) || body instanceof FileBody
    if (isPlain(body)) this.#plain = body
    else if (body instanceof FileBody) this.#file = body
    else if (isIterable(body)) this.#iterable = body
    else this.#real = new (builtInResponse())(body as never, this.builtInInit())
  }

  private builtInInit (): globalThis.ResponseInit {
    const headers = new Headers(pairsOf(textOf(this.#init, this.#jsonType ? JSON_TEXT : this.#file?.type ?? null)))
    return { status: this.#status, statusText: this.#statusText, headers }
  }

  /** All that the built-in class has. */
  private get full (): globalThis.Response {
    if (this.#real === null) {
      const source = this.#file === null ? this.#iterable : streamOfFile(this.#file)
      const body = source === null ? this.#plain : streamOf(source)
      this.#real = new (builtInResponse())(body as never, this.builtInInit())
      this.#encoded = null
    }
    return this.#real
  }

  get status (): number { return this.#status }
  get statusText (): string { return this.#statusText }
  get ok (): boolean { return this.#status < 300 }
  get redirected (): boolean { return false }
  get type (): string { return 'default' }
  get url (): string { return '' }
  get headers (): Headers { return this.full.headers }
  get body (): ReadableStream<Uint8Array> | null { return this.full.body }
  get bodyUsed (): boolean { return this.#real?.bodyUsed ?? false }
  async text (): Promise<string> { return await this.full.text() }
  async json (): Promise<unknown> { return await this.full.json() }
  async arrayBuffer (): Promise<ArrayBuffer> { return await this.full.arrayBuffer() }
  async blob (): Promise<Blob> { return await this.full.blob() }
  async formData (): Promise<FormData> { return await this.full.formData() }
  async bytes (): Promise<Uint8Array> { return new Uint8Array(await this.full.arrayBuffer()) }
  textStream (): ReadableStream<string> { return textStreamOf(this.full) }
  clone (): globalThis.Response { return this.full.clone() }
  toJSON (): object { return {} }
  [inspect.custom] (_: number, options: InspectOptions): string {
    const { status, statusText, headers, bodyUsed } = this
    return `Response ${inspect({ status, statusText, headers, bodyUsed }, options)}`
  }

  static json (data: unknown, init: ResponseInit = {}): Response {
    const text = JSON.stringify(data) as string | undefined
    if (text === undefined) throw new TypeError('the value cannot be written as JSON')
    const made = new Response(text, init)
    made.#jsonType = true
    return made
  }

  static redirect (url: string | URL, status = 302): Response {
    if (!REDIRECTS.has(status)) throw new RangeError(`status is ${status}; a redirect is 301, 302, 303, 307 or 308`)
    return new Response(null, { status, headers: { location: locationOf(url) } })
  }

  static error (): globalThis.Response { return builtInResponse().error() }

  /** Whether it can be sent again and again. */
  get [kept] (): boolean { return this.#isKept && this.#real === null }

  /** Encodes it for the wire. */
  encode (): Encoded {
    if (this.#encoded !== null) return this.#encoded
    const [plain, status, init, real] = [this.#plain, this.#status, this.#init, this.#real]
    // A caller has accessed it, and may have changed its headers.
    if (real !== null && (!this.#isKept || real.bodyUsed)) return encodeBuiltIn(real)
    let type: string | null = null
    if (this.#jsonType) type = JSON_TEXT
    else if (typeof plain === 'string') type = TEXT
    else if (this.#file !== null) type = this.#file.type
    const fields = real === null ? textOf(init, type) : textOf(real.headers, null)
    // A short text is written into the arena as it is; a long one is made bytes once.
    let body: Buffer | string | null = null
    if (typeof plain === 'string') body = plain.length < 1024 ? plain : Buffer.from(plain)
    else if (plain != null) body = bufferOf(plain)
    const encoded: Encoded = { status, fields, body, source: this.#iterable, file: this.#file }
    if (real === null && this.#iterable === null) this.#encoded = encoded
    return encoded
  }
}

/** Whether a Response is one of ours whose body is whole or in a file, and that can be sent again and again. */
export function isKept (response: object): response is Response { return response instanceof Response && kept in response && response[kept] }

function bufferOf (bytes: Uint8Array | ArrayBuffer): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes
  if (bytes instanceof ArrayBuffer) return Buffer.from(bytes)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The bytes of a file, which is opened on the first read. */
export async function * streamOfFile ({ path, offset, length }: Pick<FileBody, 'path' | 'offset' | 'length'>): AsyncGenerator<Uint8Array, void, undefined> {
  if (length === 0) return
  yield * createReadStream(path, { start: offset, end: length === null ? Infinity : offset + length - 1 }) as AsyncIterable<Uint8Array>
}

function streamOf (iterable: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = iterable[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull (controller) {
      const { done, value } = await iterator.next() as IteratorResult<Uint8Array, undefined>
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel (reason) { await iterator.return?.(reason) }
  })
}

/** Codings that fetch decodes before the body is read; zstd from Node.js 24 on. */
const DECODED = new Set(['gzip', 'x-gzip', 'deflate', 'br'])
if (Number(process.versions.node.split('.', 1)[0]) >= 24) DECODED.add('zstd')

/** Whether a response came by fetch, which decodes its body and leaves its fields as they were. */
function isDecoded ({ url, body, headers }: globalThis.Response): boolean {
  if (!url || body === null) return false
  const codings = headers.get('content-encoding')
  return codings !== null && codings.toLowerCase().split(',').every(coding => DECODED.has(coding.trim()))
}

/** Fields about a body that is decoded now. */
const OF_ENCODED = new Set(['content-encoding', 'content-length'])

/** The headers that are true of the body as it is sent. */
function headersToSend (response: globalThis.Response): FieldsInit {
  if (!isDecoded(response)) return response.headers
  return [...response.headers].filter(([name]) => !OF_ENCODED.has(name))
}

/** A `Response` of the built-in class, or of one that looks like it. */
export function encodeBuiltIn (response: globalThis.Response): Encoded {
  if (response.bodyUsed) throw new TypeError('the body of the Response was used already')
  const { status } = response
  if (status < 200) throw new RangeError(`the status of the Response is ${status}; it must be from 200 to 599`)
  return { status, fields: textOf(headersToSend(response), null), body: null, source: response.body, file: null }
}

/** Encodes a handler's result. */
export function encode (response: unknown): Encoded {
  if (response instanceof Response) return response.encode()
  if (typeof response === 'object' && response !== null && 'status' in response && 'headers' in response && 'body' in response) {
    return encodeBuiltIn(response as globalThis.Response)
  }
  throw new TypeError(`the handler gave ${response === null ? 'null' : `a value of the type ${typeof response}`}; it must give a Response`)
}

// The class `Response` (https://fetch.spec.whatwg.org/#response-class), of a client and of `serve`.

import { inspect, type InspectOptions } from 'node:util'
import { type Body } from './body/body'
import { linked, uncloneable } from './webidl/built_in'
import { byteString, dictionary, needs, putOwn, receiverState } from './webidl/convert'
import { extract } from './body/extract'
import { textOf, type FieldsInit } from './headers/fields'
import { HeaderList, TextList } from './headers/header_list'
import { fill, headersOver, type Guard, type Headers } from './headers/headers'
import { asInterface } from './webidl/iterator'
import { mixBody, type BodyMethods, type Readable } from './body/mixin'
import { parseUrl, urlOf } from './url'

type ResponseType = 'basic' | 'cors' | 'default' | 'error' | 'opaque' | 'opaqueredirect'

/** The state behind a response. */
export class ResponseParts implements Readable {
  type: ResponseType = 'default'
  guard: Guard = 'none'
  /** Without its fragment; '' where it was not fetched. */
  url = ''
  redirected = false
  /** The bytes are not those that `content-encoding` and `content-length` speak of. */
  isDecoded = false
  /** The trailers behind its body. */
  trailers: (() => Promise<HeaderList>) | null = null
  /** It was looked at in a way by which it can have been changed. */
  isTouched = false
  /** The form in which a server keeps it to send it again. */
  encoded: unknown = null

  constructor (readonly status: number, readonly statusText: string, readonly list: HeaderList, public body: Body | null) {}

  contentType (): string | null { return this.list.get('content-type') }

  clone (): ResponseParts {
    const made = new ResponseParts(this.status, this.statusText, this.list.copy(), this.body?.fork() ?? null)
    this.isTouched = true
    made.type = this.type
    made.guard = this.guard
    made.url = this.url
    made.redirected = this.redirected
    made.isDecoded = this.isDecoded
    made.trailers = this.trailers
    return made
  }
}

export interface ResponseInit { status?: number; statusText?: string; headers?: FieldsInit }

const link = linked('Response', () => Response)
/** The first argument by which this package makes one over its state. */
const OVER = Symbol('over its parts')
const JSON_TYPE = 'application/json'
/** RFC 9112 section 4: HTAB, SP, VCHAR and obs-text. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/
/** Statuses of responses without a body (https://fetch.spec.whatwg.org/#null-body-status). */
export const BODILESS: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])
/** https://fetch.spec.whatwg.org/#redirect-status */
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function statusOf (status: unknown): number {
  if (status === undefined) return 200
  const code = Math.trunc(Number(status))
  if (!(code >= 200 && code <= 599)) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.')
  return code
}

function statusTextOf (given: unknown): string {
  if (given === undefined) return ''
  const text = byteString(given, 'ResponseInit: statusText')
  if (!REASON.test(text)) throw new TypeError('Invalid statusText')
  return text
}

/** Fields as a caller gives them; `type` is the content type of the body where they have none. */
function listFrom (headers: unknown, type: string | null): HeaderList {
  try {
    return new TextList(textOf(headers as FieldsInit | undefined, type))
  } catch {
    // A value may be one that no message can carry: then the standard has its say.
    const list = new HeaderList()
    if (headers !== undefined) fill(list, headers, true)
    if (type !== null && !list.has('content-type')) list.append('content-type', 'content-type', type)
    return list
  }
}

/** The standard's "initialize a response". */
function partsFrom (given: unknown, init: unknown, type: string | null): ResponseParts {
  const { status, statusText, headers } = dictionary(init, 'init')
  const code = statusOf(status)
  const reason = statusTextOf(statusText)
  if (given == null) return new ResponseParts(code, reason, listFrom(headers, null), null)
  const extracted = extract(given)
  if (BODILESS.has(code)) throw new TypeError(`Response constructor: Invalid response status code ${code}`)
  return new ResponseParts(code, reason, listFrom(headers, type ?? extracted.type), extracted.body)
}

/** A relative URL is allowed here, which Node.js's own class refuses: clients resolve it (RFC 9110 section 10.2.2). */
function locationOf (url: unknown): string {
  const text = `${url as string}`
  const parsed = parseUrl(text)
  if (parsed !== null) return parsed.href
  if (/^[a-z][a-z\d+.-]*:/i.test(text) || urlOf(text, 'http://localhost') === null) throw new TypeError(`Failed to parse URL from ${text}`)
  return text.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
}

let partsIn: (response: unknown) => ResponseParts | undefined

/** A response. */
export class Response {
  readonly #parts: ResponseParts
  #headers: Headers | null = null

  static {
    partsIn = response => typeof response === 'object' && response !== null && #parts in response ? response.#parts : undefined
  }

  constructor (body: unknown = null, init: unknown = undefined) {
    link()
    uncloneable(this)
    this.#parts = body === OVER ? init as ResponseParts : partsFrom(body, init, null)
  }

  static error (): Response {
    const parts = new ResponseParts(0, '', new HeaderList(), null)
    parts.type = 'error'
    parts.guard = 'immutable'
    return responseOver(parts)
  }

  static json (data: unknown, init: ResponseInit = {}): Response {
    needs(arguments.length, 1, 'Response.json')
    const text = JSON.stringify(data) as string | undefined
    if (text === undefined) throw new TypeError('Value is not JSON serializable')
    return responseOver(partsFrom(text, init, JSON_TYPE))
  }

  static redirect (url: string | URL, status = 302): Response {
    needs(arguments.length, 1, 'Response.redirect')
    const location = locationOf(url)
    const code = Math.trunc(Number(status))
    if (!REDIRECTS.has(code)) throw new RangeError(`Invalid status code ${status}`)
    // The standard has its headers immutable; here a cookie can be added, as handlers of `serve` do.
    return responseOver(new ResponseParts(code, '', new TextList(`location\0${location}`), null))
  }

  get type (): ResponseType { return this.#parts.type }
  get url (): string { return this.#parts.url }
  get redirected (): boolean { return this.#parts.redirected }
  get status (): number { return this.#parts.status }
  get ok (): boolean { return this.#parts.status >= 200 && this.#parts.status <= 299 }
  get statusText (): string { return this.#parts.statusText }
  get headers (): Headers {
    const parts = this.#parts
    parts.isTouched = true
    return (this.#headers ??= headersOver(parts.list, parts.guard))
  }

  /** The trailers, when all of the body has been read; rejects where that fails. An extension of the standard. */
  get trailers (): Promise<Headers> {
    const { trailers } = this.#parts
    return (trailers === null ? Promise.resolve(new HeaderList()) : trailers()).then(list => headersOver(list, 'immutable'))
  }
  set trailers (value: Promise<Headers>) { putOwn(this, 'trailers', value) }

  clone (): Response {
    const parts = receiverState(partsIn(this))
    if (parts.body?.isUnusable) throw new TypeError('Response.clone: Body has already been consumed.')
    return responseOver(parts.clone())
  }

  toJSON (): object {
    void this.#parts
    return {}
  }

  [inspect.custom] (_: number, options: InspectOptions): string {
    const { status, statusText, headers, body, bodyUsed, ok, redirected, type, url } = this
    return `Response ${inspect({ status, statusText, headers, body, bodyUsed, ok, redirected, type, url }, options)}`
  }
}

export interface Response extends BodyMethods {}

mixBody(Response.prototype, response => receiverState(partsIn(response)))
asInterface(Response, value => responsePartsOf(value) !== undefined)

export function responseOver (parts: ResponseParts): Response { return new Response(OVER, parts) }

/** The state of one of ours; undefined: it is not one. */
export function responsePartsOf (value: unknown): ResponseParts | undefined { return partsIn(value) }

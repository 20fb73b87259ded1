// A web `Request` whose parts are created on first access.

import { inspect, type InspectOptions } from 'node:util'
import { builtIn } from './built_in'
import { CookieMap } from './cookies'
import type { Exchange } from '../../server/exchange'
import { RequestHeaders } from './headers'
import type { Incoming } from '../incoming'
import { textStreamOf } from './text_stream'

const builtInRequest = builtIn('Request', () => Request)

/** A path and query that the URL standard may write otherwise: dot segments, and characters that it escapes. */
const UNUSUAL_PATH = /\/(?:\.|%2e)|[^!$%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]/i
/** Authorities that need normalisation: capitals, brackets, default ports. */
const UNUSUAL_AUTHORITY = /[^a-z0-9.:-]|:(?:80|443)?$/

function urlOf (exchange: Exchange): string {
  const { path, authority } = exchange
  // The absolute form of HTTP/1.1 (RFC 9112 section 3.2.2).
  const isAbsolute = !path.startsWith('/') && /^https?:\/\//.test(path)
  const url = isAbsolute ? path : `${exchange.scheme}://${authority}${path}`
  if (!isAbsolute && !UNUSUAL_PATH.test(path) && !UNUSUAL_AUTHORITY.test(authority)) return url
  return URL.canParse(url) ? new URL(url).href : url
}

/** The path of a request, without its query, as in its `url`. */
export function pathOf (exchange: Exchange): string {
  const { path } = exchange
  if (!path.startsWith('/') || UNUSUAL_PATH.test(path)) {
    const url = urlOf(exchange)
    return URL.canParse(url) ? new URL(url).pathname : path
  }
  const query = path.indexOf('?')
  return query === -1 ? path : path.slice(0, query)
}

let stateOf: (request: object) => Incoming | undefined
/** The values of `set-cookie` by a handler's changes of `cookies`. */
export let setCookiesOf: (request: Request) => string[]

/** A request of a server as `fetch` handlers get it: an instance of the built-in class for `instanceof`. Where the built-in
 * class must have one of its own, [`builtInOf`] makes it. */
export class Request {
  readonly #incoming: Incoming
  readonly #params: Record<string, string> | undefined
  #url: string | null = null
  #headers: RequestHeaders | null = null
  #cookies: CookieMap | null = null

  static {
    stateOf = request => #incoming in request ? request.#incoming : undefined
    setCookiesOf = request => request.#cookies?.toSetCookieHeaders() ?? []
  }

  constructor (incoming: Incoming, params?: Record<string, string>) {
    builtInRequest()
    this.#incoming = incoming
    this.#params = params
  }

  /** The route's parameters in the path, decoded; undefined: no route matched the request. */
  get params (): Record<string, string> | undefined { return this.#params }

  /** The cookies that came; what is set or deleted here, the answer says in `set-cookie`. */
  get cookies (): CookieMap { return (this.#cookies ??= new CookieMap(this.#incoming.exchange.field('cookie') ?? '')) }

  get method (): string { return this.#incoming.exchange.method }
  get url (): string { return (this.#url ??= urlOf(this.#incoming.exchange)) }
  get headers (): Headers { return (this.#headers ??= new RequestHeaders(this.#incoming.exchange)) as unknown as Headers }
  get signal (): AbortSignal { return this.#incoming.signal }
  get destination (): string { return '' }
  get referrer (): string { return 'about:client' }
  get referrerPolicy (): string { return '' }
  get mode (): string { return 'cors' }
  get credentials (): string { return 'same-origin' }
  get cache (): string { return 'default' }
  get redirect (): string { return 'follow' }
  get integrity (): string { return '' }
  get keepalive (): boolean { return false }
  get duplex (): string { return 'half' }
  get isReloadNavigation (): boolean { return false }
  get isHistoryNavigation (): boolean { return false }
  get body (): ReadableStream<Uint8Array> | null { return this.#incoming.body }
  get bodyUsed (): boolean { return this.#incoming.bodyUsed }
  get [Symbol.toStringTag] (): string { return 'Request' }
  toJSON (): object { return {} }
  [inspect.custom] (_: number, options: InspectOptions): string {
    const { method, url, headers, bodyUsed } = this
    return `Request ${inspect({ method, url, headers, bodyUsed }, options)}`
  }

  async text (): Promise<string> {
    const bytes = await this.#incoming.all()
    const isMarked = bytes.length > 2 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    return isMarked ? bytes.toString('utf8', 3) : bytes.toString('utf8')
  }

  async json (): Promise<unknown> { return JSON.parse(await this.text()) as unknown }
  async bytes (): Promise<Uint8Array> { return new Uint8Array(await this.#incoming.all()) }
  async arrayBuffer (): Promise<ArrayBuffer> { return (await this.bytes()).buffer as ArrayBuffer }
  async blob (): Promise<Blob> {
    return new Blob([await this.bytes()], { type: this.headers.get('content-type') ?? '' })
  }

  async formData (): Promise<FormData> {
    const type = this.headers.get('content-type')
    const headers: Record<string, string> = type === null ? {} : { 'content-type': type }
    return await new globalThis.Response(await this.bytes(), { headers }).formData()
  }

  textStream (): ReadableStream<string> { return textStreamOf(this) }

  /** A request of the built-in class that shares the body with this one. */
  clone (): globalThis.Request {
    return builtInWith(this, this.#incoming.tee())
  }
}

// `request.constructor` is the built-in class, as of a request of its own.
delete (Request.prototype as { constructor?: unknown }).constructor

/** The state behind a request of a server; undefined: it is not one. */
export function incomingOf (request: unknown): Incoming | undefined {
  return typeof request === 'object' && request !== null ? stateOf(request) : undefined
}

/** Fields of one connection of HTTP/1.1 (RFC 9110 section 7.6.1), and what its sender waits for: `fetch` of the built-in
 * class refuses them. */
const OF_CONNECTION = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'expect']

function builtInWith (request: Request, body: ReadableStream<Uint8Array> | null): globalThis.Request {
  const { method, url, signal } = request
  const headers = new Headers(request.headers)
  for (const name of (headers.get('connection') ?? '').split(',')) if (/^[\w-]+$/.test(name.trim())) headers.delete(name.trim())
  for (const name of OF_CONNECTION) headers.delete(name)
  return new (builtInRequest())(url, { method, headers, body, duplex: 'half', signal })
}

/** A request of the built-in class that is what `request` is: to be read in its place. `takesBody`: the body goes with it, else its length is
 * left out too. */
export function builtInOf (request: Request, takesBody: boolean): globalThis.Request {
  const made = builtInWith(request, takesBody ? request.body : null)
  if (!takesBody) made.headers.delete('content-length')
  return made
}

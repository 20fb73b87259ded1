// The state of a request (https://fetch.spec.whatwg.org/#concept-request), and how a caller's arguments make it.

import type { AnyDispatcher } from '../client/calls/api'
import { isOfRequest, unusable, type Body } from './body/body'
import { byteString, dictionary, oneOf, shown } from './webidl/convert'
import { extract } from './body/extract'
import { HeaderList, nameOf, sendableOf, valueOf } from './headers/header_list'
import { fill } from './headers/headers'
import type { Readable } from './body/mixin'
import { baseUrl, parseUrl, type ParsedUrl } from './url'
import { TOKEN } from '../syntax/names'

/** The properties of a request beside its method, URL, fields and body. */
export interface RequestSettings {
  referrer: string
  referrerPolicy: string
  mode: string
  credentials: string
  cache: string
  redirect: 'follow' | 'error' | 'manual'
  integrity: string
  keepalive: boolean
}

/** The settings of most requests, which share them. */
export const USUAL: Readonly<RequestSettings> = Object.freeze({
  referrer: 'client', referrerPolicy: '', mode: 'cors', credentials: 'same-origin', cache: 'default', redirect: 'follow', integrity: '', keepalive: false
})

/** The state behind a request, of a caller or of a client of `serve`. */
export interface RequestParts extends Readable {
  readonly method: string
  readonly url: string
  readonly list: HeaderList
  readonly settings: Readonly<RequestSettings>
  readonly dispatcher: AnyDispatcher | null
  /** The cookies of a request of `serve`. */
  readonly cookies?: object
  /** The signal of the request, as programs get it. */
  readonly signal: AbortSignal
  /** The signal that it follows; null: none that a program could abort. */
  readonly followed: AbortSignal | null
  /** A request of the same, whose body is shared: its state, or an instance of the global class. */
  clone: () => RequestParts | globalThis.Request
  /** The fields that go along when it is fetched. */
  sendable: () => HeaderList
}

const REFERRER_POLICIES = new Set(['', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'])
const MODES = new Set(['navigate', 'same-origin', 'no-cors', 'cors'])
const CREDENTIALS = new Set(['omit', 'same-origin', 'include'])
const CACHES = new Set(['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'])
const REDIRECTS = new Set(['follow', 'manual', 'error'])
const PRIORITIES = new Set(['high', 'low', 'auto'])
const FORBIDDEN_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK'])
/** Methods that are written in capitals (the standard's "normalize"). */
const NORMAL = new Map(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'QUERY'].flatMap(method => [[method, method], [method.toLowerCase(), method]]))

/** A request of a caller. */
export class MadeParts implements RequestParts {
  list = new HeaderList()
  method = 'GET'
  settings: Readonly<RequestSettings> = USUAL
  body: Body | null = null
  followed: AbortSignal | null = null
  dispatcher: AnyDispatcher | null = null
  private made: AbortSignal | null = null

  constructor (readonly target: ParsedUrl) {}

  get url (): string { return this.target.href }
  contentType (): string | null { return this.list.get('content-type') }

  /** One of its own, which follows the caller's. */
  get signal (): AbortSignal {
    return (this.made ??= this.followed === null ? new AbortController().signal : AbortSignal.any([this.followed]))
  }

  sendable (): HeaderList { return this.list }

  clone (): MadeParts {
    const made = new MadeParts(this.target)
    made.list = this.list.copy()
    made.method = this.method
    made.settings = this.settings
    made.body = this.body?.fork() ?? null
    made.followed = this.followed === null && this.made === null ? null : this.signal
    made.dispatcher = this.dispatcher
    return made
  }
}

/** A request of another package, or of Node.js's own class. */
export function isForeign (input: unknown): input is globalThis.Request {
  if (typeof input !== 'object' || input === null) return false
  const { [Symbol.toStringTag]: tag, url, method, headers } = input as Partial<globalThis.Request> & { [Symbol.toStringTag]?: string }
  return tag === 'Request' && typeof url === 'string' && typeof method === 'string' && typeof headers === 'object'
}

/** The error of the built-in class of URLs. */
function invalidUrl (input: string): TypeError { return Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input }) }

function targetOf (text: string): ParsedUrl {
  const parsed = parseUrl(text)
  if (parsed === null) throw new TypeError(`Failed to parse URL from ${text}`, { cause: invalidUrl(text) })
  if (parsed.hasCredentials) throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${text}`)
  return parsed
}

/** The start of a request: the state of one of ours, read by `known`, or a URL. */
function startOf (input: unknown, known: (value: unknown) => RequestParts | undefined): { parts: MadeParts; body: Body | null } {
  const other = known(input)
  if (other !== undefined) {
    const parts = new MadeParts(parseUrl(other.url)!)
    parts.method = other.method
    parts.settings = other.settings
    parts.list = other.sendable()
    parts.followed = other.followed
    parts.dispatcher = other.dispatcher
    return { parts, body: other.hidesBody === true ? null : other.body }
  }
  if (!isForeign(input)) return { parts: new MadeParts(targetOf(typeof input === 'string' ? input : `${input as string}`)), body: null }
  const parts = new MadeParts(targetOf(input.url))
  const { referrer, referrerPolicy, mode, credentials, cache, redirect, integrity, keepalive } = input
  parts.method = input.method
  parts.settings = {
    referrer: referrer === 'about:client' ? 'client' : referrer === '' ? 'no-referrer' : referrer ?? 'client', referrerPolicy: referrerPolicy ?? '', mode: mode ?? 'cors', credentials: credentials ?? 'same-origin',
    cache: cache ?? 'default', redirect: redirect ?? 'follow', integrity: integrity ?? '', keepalive: keepalive ?? false
  }
  fill(parts.list, input.headers)
  parts.followed = input.signal ?? null
  if (input.bodyUsed) throw unusable()
  return { parts, body: input.body === null ? null : extract(input.body).body }
}

/** The standard's steps of `new Request(input, init)`. */
export function requestPartsFrom (input: unknown, init: unknown, known: (value: unknown) => RequestParts | undefined): MadeParts {
  const { parts, body } = startOf(input, known)
  if (init == null) {
    if (body !== null) parts.body = taken(body)
    if (parts.list.fields.length > 0) parts.list = parts.list.copy()
    return parts
  }
  const given = dictionary(init, 'init')
  if (isForeign(init)) return requestPartsFrom(input, optionsOf(init), known)
  applySettings(parts, given)
  applyMethod(parts, given['method'])
  const { signal, headers, dispatcher } = given
  if (signal !== undefined) parts.followed = signalOf(signal)
  if (dispatcher != null) parts.dispatcher = dispatcher as AnyDispatcher
  const before = parts.list
  parts.list = new HeaderList()
  if (headers !== undefined) fill(parts.list, headers)
  else if (before.fields.length > 0) parts.list = before.copy()
  if (parts.list.isReceived || isOfRequest(given['body'])) parts.list = sentOn(parts.list, given['body'])
  applyBody(parts, given, body)
  return parts
}

/** The fields of a request of a server that is sent on with `body`, which has the length that was said only if it is the request's own. */
export function sentOn (list: HeaderList, body: unknown): HeaderList {
  const sent = sendableOf(list)
  if (!isOfRequest(body)) sent.delete('content-length')
  return sent
}

/** The members of a request of another class, which are accessors that spreading does not read. */
function optionsOf (init: globalThis.Request): object {
  const { method, headers, body, referrer, referrerPolicy, credentials, cache, redirect, integrity, keepalive, signal, mode } = init
  return { method, headers, ...(body !== null && { body, duplex: 'half' }), ...(referrer !== 'about:client' && { referrer }), referrerPolicy, credentials, cache, redirect, integrity, keepalive, signal, ...(mode !== 'navigate' && { mode }) }
}

function applySettings (parts: MadeParts, given: Record<string, unknown>): void {
  const { referrer, referrerPolicy, mode, credentials, cache, redirect, integrity, keepalive, window, priority, duplex } = given
  if (window != null) throw new TypeError("'window' option 'client' must be null")
  if (priority !== undefined) oneOf(priority, PRIORITIES, 'priority')
  if (duplex !== undefined && `${duplex as string}` !== 'half') throw new TypeError(`duplex: ${duplex as string} is not an accepted type. Expected one of half.`)
  const isUsual = parts.settings === USUAL
  if (isUsual && referrer === undefined && referrerPolicy === undefined && mode === undefined && credentials === undefined && cache === undefined &&
    redirect === undefined && integrity === undefined && keepalive === undefined) return
  const made: RequestSettings = { ...parts.settings }
  // Step 13 of the constructor: with options of its own the request is not the one that was referred.
  if (!isUsual && Object.keys(given).length > 0) Object.assign(made, { referrer: USUAL.referrer, referrerPolicy: USUAL.referrerPolicy })
  if (referrer !== undefined) made.referrer = referrerOf(`${referrer as string}`)
  if (referrerPolicy !== undefined) made.referrerPolicy = oneOf(referrerPolicy, REFERRER_POLICIES, 'referrerPolicy')
  if (mode !== undefined) made.mode = oneOf(mode, MODES, 'mode')
  if (made.mode === 'navigate') throw new TypeError('Request constructor: invalid request mode navigate.')
  if (credentials !== undefined) made.credentials = oneOf(credentials, CREDENTIALS, 'credentials')
  if (cache !== undefined) made.cache = oneOf(cache, CACHES, 'cache')
  if (made.cache === 'only-if-cached' && made.mode !== 'same-origin') throw new TypeError("'only-if-cached' can be set only with 'same-origin' mode")
  if (redirect !== undefined) made.redirect = oneOf(redirect, REDIRECTS, 'redirect') as RequestSettings['redirect']
  if (integrity !== undefined) made.integrity = `${integrity as string}`
  if (keepalive !== undefined) made.keepalive = Boolean(keepalive)
  parts.settings = made
}

/** Step 14 of the constructor: a URL of the program's own origin, or none. */
function referrerOf (text: string): string {
  if (text === '') return 'no-referrer'
  const parsed = parseUrl(text)
  if (parsed === null) throw new TypeError(`Referrer "${text}" is not a valid URL.`, { cause: invalidUrl(text) })
  const base = baseUrl()
  if ((parsed.protocol === 'about:' && parsed.href === 'about:client') || (base !== undefined && parsed.origin !== base.origin)) return 'client'
  return parsed.href
}

function applyMethod (parts: MadeParts, given: unknown): void {
  if (given !== undefined) {
    const normal = NORMAL.get(given as string)
    if (normal !== undefined) parts.method = normal
    else {
      const method = byteString(given, 'RequestInit: method')
      if (!TOKEN.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`)
      const upper = method.toUpperCase()
      if (FORBIDDEN_METHODS.has(upper)) throw new TypeError(`'${method}' HTTP method is unsupported.`)
      parts.method = NORMAL.get(upper) ?? method
      if (method === 'patch') warnOfPatch()
    }
  }
  if (parts.settings.mode === 'no-cors' && !['GET', 'HEAD', 'POST'].includes(parts.method)) {
    throw new TypeError(`'${parts.method} is unsupported in no-cors mode.`)
  }
}

let hasWarned = false

/** Warns of `patch`, which is not made upper case as other methods are (https://fetch.spec.whatwg.org/#concept-method-normalize). */
function warnOfPatch (): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning('the method `patch` is sent as it is written, and most servers know `PATCH` alone', { code: 'UNDICI-FETCH-patch' })
}

function signalOf (signal: unknown): AbortSignal | null {
  if (signal === null) return null
  const { aborted, addEventListener } = signal as Partial<AbortSignal>
  if (typeof signal !== 'object' || typeof aborted !== 'boolean' || typeof addEventListener !== 'function') {
    throw new TypeError(`RequestInit: Expected signal ("${shown(signal)}") to be an instance of AbortSignal.`)
  }
  return signal as AbortSignal
}

/** Steps 33 to 41 of the constructor. */
function applyBody (parts: MadeParts, given: Record<string, unknown>, inputBody: Body | null): void {
  const { body, duplex } = given
  if ((body != null || inputBody !== null) && (parts.method === 'GET' || parts.method === 'HEAD')) {
    throw new TypeError('Request with GET/HEAD method cannot have body.')
  }
  if (body == null) {
    if (inputBody !== null) parts.body = taken(inputBody)
    return
  }
  const extracted = extract(body, parts.settings.keepalive)
  if (body instanceof ReadableStream && duplex == null && !isOfRequest(body)) throw new TypeError('RequestInit: duplex option is required when sending a body.')
  parts.body = extracted.body
  const { type } = extracted
  if (type !== null && !parts.list.has('content-type')) parts.list.append('content-type', nameOf('content-type'), valueOf(type))
}

/** The body of another request, which has it no more. */
function taken (body: Body): Body {
  if (body.isUnusable) throw new TypeError('Cannot construct a Request with a Request object that has already been used.')
  return body.handOver()
}

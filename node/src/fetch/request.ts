// The class `Request` (https://fetch.spec.whatwg.org/#request-class), of a client and of `serve`.

import { inspect, type InspectOptions } from 'node:util'
import { linked, uncloneable } from './webidl/built_in'
import { needs, putOwn, receiverState } from './webidl/convert'
import { headersOver, type Headers } from './headers/headers'
import { asInterface } from './webidl/iterator'
import { mixBody, type BodyMethods } from './body/mixin'
import { MadeParts, requestPartsFrom, type RequestParts } from './request_parts'

const link = linked('Request', () => Request)
/** The first argument by which this package makes one over its state. */
const OVER = Symbol('over its parts')

let partsIn: (request: unknown) => RequestParts | undefined

/** A request. */
export class Request {
  readonly #parts: RequestParts
  #headers: Headers | null = null
  /** The route's parameters in the path, decoded; undefined: no route of a server matched it. */
  readonly #params: Record<string, string> | undefined

  static {
    partsIn = request => typeof request === 'object' && request !== null && #parts in request ? request.#parts : undefined
  }

  constructor (input: unknown, init: unknown = undefined, params?: Record<string, string>) {
    link()
    uncloneable(this)
    if (input === OVER) {
      this.#parts = init as RequestParts
      this.#params = params
      return
    }
    needs(arguments.length, 1, 'Request constructor')
    this.#parts = requestPartsFrom(input, init, requestPartsOf)
    this.#params = undefined
  }

  /** The route's parameters in the path, decoded; undefined: no route matched the request. */
  get params (): Record<string, string> | undefined { return this.#params }
  /** Routers and middleware put their own here. */
  set params (value: Record<string, string> | undefined) { putOwn(this, 'params', value) }

  /** The cookies of a request of `serve`; undefined: of a caller's. */
  get cookies (): object | undefined { return this.#parts.cookies }
  set cookies (value: object | undefined) { putOwn(this, 'cookies', value) }

  // Accessors are called of an instance alone (`asInterface`).
  get method (): string { return this.#parts.method }
  get url (): string { return this.#parts.url }
  get headers (): Headers { return (this.#headers ??= headersOver(this.#parts.list, 'none')) }
  get signal (): AbortSignal { return this.#parts.signal }
  get destination (): string { return '' }
  get referrer (): string {
    const { referrer } = this.#parts.settings
    return referrer === 'no-referrer' ? '' : referrer === 'client' ? 'about:client' : referrer
  }
  get referrerPolicy (): string { return this.#parts.settings.referrerPolicy }
  get mode (): string { return this.#parts.settings.mode }
  get credentials (): string { return this.#parts.settings.credentials }
  get cache (): string { return this.#parts.settings.cache }
  get redirect (): string { return this.#parts.settings.redirect }
  get integrity (): string { return this.#parts.settings.integrity }
  get keepalive (): boolean { return this.#parts.settings.keepalive }
  get duplex (): string { return 'half' }
  get isReloadNavigation (): boolean { return false }
  get isHistoryNavigation (): boolean { return false }

  clone (): Request {
    const parts = receiverState(partsIn(this))
    if (parts.body?.isUnusable) throw new TypeError('unusable')
    const made = parts.clone()
    if ('list' in made) return requestOver(made, this.#params)
    const copy = made as unknown as Request
    // The copy of a request of a server is of the built-in class, which has no such members.
    if (this.#params !== undefined) {
      putOwn(copy, 'params', this.#params)
      Object.defineProperty(copy, 'cookies', { get: () => this.cookies, configurable: true, enumerable: true })
    }
    return copy
  }

  toJSON (): object {
    void this.#parts
    return {}
  }

  [inspect.custom] (_: number, options: InspectOptions): string {
    const { method, url, headers, destination, referrer, referrerPolicy, mode, credentials, cache, redirect, integrity, keepalive, isReloadNavigation, isHistoryNavigation, signal } = this
    const shown = { method, url, headers, destination, referrer, referrerPolicy, mode, credentials, cache, redirect, integrity, keepalive, isReloadNavigation, isHistoryNavigation, signal }
    return `Request ${inspect(shown, options)}`
  }
}

export interface Request extends BodyMethods {}

mixBody(Request.prototype, request => receiverState(partsIn(request)))
asInterface(Request, value => requestPartsOf(value) !== undefined)
// Programs for other servers compare `request.constructor` with the global class, which is what a request of `serve` has; one of a
// caller has the class that made it.
Object.defineProperty(Request.prototype, 'constructor', {
  configurable: true,
  get (this: object) {
    const parts = partsIn(this)
    return parts === undefined || parts instanceof MadeParts ? Request : globalThis.Request
  }
})

export function requestOver (parts: RequestParts, params?: Record<string, string>): Request {
  return new (Request as new (...args: unknown[]) => Request)(OVER, parts, params)
}

/** The state of one of ours; undefined: it is not one. */
export function requestPartsOf (value: unknown): RequestParts | undefined { return partsIn(value) }

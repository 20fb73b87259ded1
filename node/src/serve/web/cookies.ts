// `request.cookies`: those that came with a request, and those that its answer sets, as of Bun's `CookieMap`.

import { TOKEN } from '../../syntax/names'

/** The attributes of a cookie (RFC 6265 section 4.1.2). */
export interface CookieOptions {
  /** The domain that the cookie is sent to, with its subdomains. Default: the host of the request alone. */
  domain?: string | undefined
  /** The path below which the cookie is sent. Default: '/'. */
  path?: string | undefined
  /** The end of its life: a moment, or seconds since 1970. Default: with the browser's session. */
  expires?: Date | number | string | undefined
  /** Seconds that it lives. Default: as `expires` has it. */
  maxAge?: number | undefined
  /** Whether it is sent over TLS alone. Default: false. */
  secure?: boolean | undefined
  /** Whether scripts of pages cannot read it. Default: false. */
  httpOnly?: boolean | undefined
  /** Whether it is kept apart for each top-level site. Default: false. */
  partitioned?: boolean | undefined
  /** Whether it is sent with requests from other sites. Default: 'lax'. */
  sameSite?: 'strict' | 'lax' | 'none' | undefined
}
export interface CookieInit extends CookieOptions { name: string; value: string }
/** Which cookie a browser shall remove: it has the domain and the path with which the cookie was set. */
export interface CookieDeletion { name: string; domain?: string | undefined; path?: string | undefined }

/** Without control characters and what ends an attribute (RFC 6265 section 4.1.1). */
const ATTRIBUTE = /^[\x20-\x3a\x3c-\x7e]*$/
const SITES = { strict: 'Strict', lax: 'Lax', none: 'None' }

function checkedName (name: unknown): string {
  const text = String(name)
  if (!TOKEN.test(text)) throw new TypeError(`Invalid cookie name: ${JSON.stringify(text)} has to be a token of at least one character`)
  return text
}

function attribute (name: 'path' | 'domain', value: string): string {
  if (!ATTRIBUTE.test(value)) throw new TypeError(`Invalid cookie ${name}: ${JSON.stringify(value)} has a semicolon, a control character or one beyond ASCII`)
  return value
}

function momentOf (expires: Date | number | string): Date {
  const moment = new Date(typeof expires === 'number' ? expires * 1000 : expires)
  if (Number.isNaN(moment.getTime())) throw new TypeError(`Invalid cookie expiration date: ${String(expires)} is no date, nor seconds since 1970`)
  return moment
}

/** The value of a `set-cookie` field. */
function setCookieOf ({ name, value, domain, path, expires, maxAge, secure, httpOnly, partitioned, sameSite = 'lax' }: CookieInit): string {
  const site = SITES[String(sameSite).toLowerCase() as keyof typeof SITES]
  if (site === undefined) throw new TypeError(`Invalid sameSite: ${String(sameSite)} must be 'strict', 'lax' or 'none'`)
  const parts = [`${checkedName(name)}=${encodeURIComponent(value)}`]
  if (domain) parts.push(`Domain=${attribute('domain', domain)}`)
  if (path !== '') parts.push(`Path=${attribute('path', path ?? '/')}`)
  if (expires !== undefined) parts.push(`Expires=${momentOf(expires).toUTCString()}`)
  if (typeof maxAge === 'number' && Number.isFinite(maxAge)) parts.push(`Max-Age=${maxAge}`)
  if (secure) parts.push('Secure')
  if (httpOnly) parts.push('HttpOnly')
  if (partitioned) parts.push('Partitioned')
  parts.push(`SameSite=${site}`)
  return parts.join('; ')
}

function decoded (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Names and values of a `cookie` field (RFC 6265 section 5.4), in their order; values are decoded. */
function pairsOf (field: string): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (const pair of field.split(';')) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, Math.max(equals, 0)).trim()
    if (name !== '') pairs.push([name, decoded(pair.slice(equals + 1).trim())])
  }
  return pairs
}

/** The name of a cookie that is given as an object. One that is forgotten is no name: no cookie is called `undefined`. */
function nameOf ({ name }: { name?: unknown }): string {
  if (name === undefined) throw new TypeError('Invalid cookie name: an object of a cookie has a name')
  return String(name)
}

function valueOf (name: string, given: number, value: unknown): string {
  if (given < 2) throw new TypeError(`Invalid cookie value: there is none for ${JSON.stringify(String(name))}`)
  return String(value)
}

export class CookieMap {
  /** Cookies of the request, without those that were set or deleted. */
  #came: [name: string, value: string][]
  /** By name: what the answer says. A value of null: it is deleted. */
  readonly #set = new Map<string, { value: string | null; line: string }>()

  constructor (field: string) { this.#came = pairsOf(field) }

  get size (): number { return [...this].length }

  get (name: string): string | null {
    const own = this.#set.get(name)
    return own === undefined ? this.#came.find(([came]) => came === name)?.[1] ?? null : own.value
  }

  has (name: string): boolean { return this.get(name) !== null }

  set (cookie: CookieInit): void
  set (name: string, value: string, options?: CookieOptions): void
  set (given: string | CookieInit, value?: string, options?: CookieOptions): void {
    if (given === undefined) return
    const cookie = typeof given === 'object' ? { ...given, name: nameOf(given), value: String(given.value ?? '') } : { ...options, name: String(given), value: valueOf(given, arguments.length, value) }
    this.put(cookie.name, cookie.value, setCookieOf(cookie))
  }

  /** The browser is to remove it. */
  delete (cookie: CookieDeletion): void
  delete (name: string, options?: Omit<CookieDeletion, 'name'>): void
  delete (given: string | CookieDeletion, options?: Omit<CookieDeletion, 'name'>): void {
    if (given === undefined) return
    const { domain, path } = typeof given === 'object' ? given : options ?? {}
    const name = typeof given === 'object' ? nameOf(given) : String(given)
    this.put(name, null, setCookieOf({ name, value: '', domain, path, expires: 0 }))
  }

  private put (name: string, value: string | null, line: string): void {
    this.#came = this.#came.filter(([came]) => came !== name)
    // The last word on a name stands behind the others.
    this.#set.delete(name)
    this.#set.set(name, { value, line })
  }

  /** The values of the `set-cookie` fields that the answer gets. */
  toSetCookieHeaders (): string[] { return [...this.#set.values()].map(({ line }) => line) }

  * entries (): Generator<[name: string, value: string], void, undefined> {
    for (const [name, { value }] of this.#set) if (value !== null) yield [name, value]
    yield * this.#came
  }

  * keys (): Generator<string, void, undefined> { for (const [name] of this) yield name }
  * values (): Generator<string, void, undefined> { for (const [, value] of this) yield value }
  [Symbol.iterator] (): Generator<[name: string, value: string], void, undefined> { return this.entries() }

  forEach (call: (value: string, name: string, map: CookieMap) => void, self?: unknown): void {
    for (const [name, value] of this) call.call(self, value, name, this)
  }

  /** The values by name; a name that came twice has the first one, as `get` gives it. */
  toJSON (): Record<string, string> {
    const values: Record<string, string> = Object.create(null) as Record<string, string>
    for (const [name, value] of this) values[name] ??= value
    return values
  }

  get [Symbol.toStringTag] (): string { return 'CookieMap' }
}

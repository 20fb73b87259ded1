// The headers of a request: looked up in the head's own text, and made a built-in `Headers` only for
// who changes them.

import type { Exchange } from './exchange'

const BuiltIn = globalThis.Headers
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

function checked (name: unknown): string {
  const text = String(name)
  if (!TOKEN.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a name of a header: it must be a token`)
  return text.toLowerCase()
}

export class RequestHeaders {
  private raw: string[] | null = null
  private real: Headers | null = null

  constructor (private readonly exchange: Exchange) {}

  private get pieces (): string[] { return (this.raw ??= this.exchange.rawFields()) }

  /** All that the built-in class has. */
  private get full (): Headers {
    if (this.real === null) {
      const { pieces } = this
      const made = new BuiltIn()
      for (let at = 0; at < pieces.length; at += 2) made.append(pieces[at]!, pieces[at + 1]!)
      const crumbs = this.cookie()
      if (crumbs !== null) made.set('cookie', crumbs)
      const host = this.host()
      if (host !== null) made.set('host', host)
      this.real = made
    }
    return this.real
  }

  /** HTTP/2 and HTTP/3 say the host in `:authority` (RFC 9113 section 8.3.1). */
  private host (): string | null { return this.exchange.field('host') ?? (this.exchange.authority || null) }

  /** Cookies may come in crumbs (RFC 9113 section 8.2.3). */
  private cookie (): string | null {
    const { pieces } = this
    let cookie: string | null = null
    for (let at = 0; at < pieces.length; at += 2) {
      if (pieces[at] === 'cookie') cookie = cookie === null ? pieces[at + 1]! : `${cookie}; ${pieces[at + 1]!}`
    }
    return cookie
  }

  get (name: string): string | null {
    if (this.real !== null) return this.real.get(name)
    const lower = checked(name)
    if (lower === 'host') return this.host()
    const first = this.exchange.field(lower)
    if (first === undefined) return null
    if (lower === 'cookie') return this.cookie()
    // One is the rule; more are joined (RFC 9110 section 5.3).
    const { pieces } = this
    let value: string | null = null
    for (let at = 0; at < pieces.length; at += 2) {
      if (pieces[at] === lower) value = value === null ? pieces[at + 1]! : `${value}, ${pieces[at + 1]!}`
    }
    return value
  }

  has (name: string): boolean {
    if (this.real !== null) return this.real.has(name)
    const lower = checked(name)
    return lower === 'host' ? this.host() !== null : this.exchange.field(lower) !== undefined
  }

  append (name: string, value: string): void { this.full.append(name, value) }
  delete (name: string): void { this.full.delete(name) }
  set (name: string, value: string): void { this.full.set(name, value) }
  getSetCookie (): string[] { return this.full.getSetCookie() }
  forEach (call: (value: string, name: string, parent: Headers) => void, receiver?: unknown): void {
    for (const [name, value] of this.full) call.call(receiver, value, name, this as unknown as Headers)
  }

  entries (): IterableIterator<[string, string]> { return this.full.entries() }
  keys (): IterableIterator<string> { return this.full.keys() }
  values (): IterableIterator<string> { return this.full.values() }
  [Symbol.iterator] (): IterableIterator<[string, string]> { return this.full.entries() }
  get [Symbol.toStringTag] (): string { return 'Headers' }
}
Object.setPrototypeOf(RequestHeaders.prototype, BuiltIn.prototype)

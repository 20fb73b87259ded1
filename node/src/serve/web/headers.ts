// The headers of a request: looked up in the head's own text; converted into a built-in `Headers`
// on the first change.

import { inspect, type InspectOptions } from 'node:util'
import { remembering } from '../../names'
import { builtIn } from './built_in'
import type { Exchange } from '../../server/exchange'
import { lowerName } from './fields'

const builtInHeaders = builtIn('Headers', () => RequestHeaders)
const remembered = remembering(lowerName)
const checked = (name: unknown): string => remembered(String(name))

export class RequestHeaders {
  // Spreading it into an object gives nothing, as with the built-in class.
  #real: Headers | null = null
  readonly #exchange: Exchange

  constructor (exchange: Exchange) {
    builtInHeaders()
    this.#exchange = exchange
  }

  /** All that the built-in class has. */
  private get full (): Headers {
    if (this.#real === null) {
      const pieces = this.#exchange.rawFields()
      const made = new (builtInHeaders())()
      for (let at = 0; at < pieces.length; at += 2) made.append(pieces[at]!, pieces[at + 1]!)
      const crumbs = this.cookie()
      if (crumbs !== null) made.set('cookie', crumbs)
      const host = this.host()
      if (host !== null) made.set('host', host)
      this.#real = made
    }
    return this.#real
  }

  /** HTTP/2 and HTTP/3 say the host in `:authority` (RFC 9113 section 8.3.1); beside a target in absolute form
   * the field is ignored (RFC 9112 section 3.2.2). */
  private host (): string | null { return this.#exchange.authority || (this.#exchange.field('host') ?? null) }

  /** Cookies may come in crumbs (RFC 9113 section 8.2.3). */
  private cookie (): string | null { return this.#exchange.joined('cookie', '; ') ?? null }

  get (name: string): string | null {
    if (this.#real !== null) return this.#real.get(name)
    const lower = checked(name)
    if (lower === 'host') return this.host()
    if (lower === 'cookie') return this.cookie()
    // One is the rule; more are joined (RFC 9110 section 5.3).
    return this.#exchange.joined(lower, ', ') ?? null
  }

  has (name: string): boolean {
    if (this.#real !== null) return this.#real.has(name)
    const lower = checked(name)
    return lower === 'host' ? this.host() !== null : this.#exchange.field(lower) !== undefined
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
  [inspect.custom] (_: number, options: InspectOptions): string {
    return `Headers ${inspect(Object.fromEntries(this.full), options)}`
  }
}

// The headers of a request of a server: looked up in the head's own text, and divided on the first change.

import { fieldsOf, HeaderList, type Field } from '../../fetch/headers/header_list'
import type { Exchange } from '../../server/exchange'

export class ServedList extends HeaderList {
  constructor (private readonly exchange: Exchange) {
    super()
    this.isReceived = true
  }

  /** HTTP/2 and HTTP/3 say the host in `:authority` (RFC 9113 section 8.3.1); beside a target in absolute form
   * the field is ignored (RFC 9112 section 3.2.2). */
  private host (): string | null { return this.exchange.authority || (this.exchange.field('host') ?? null) }

  /** Cookies may come in crumbs (RFC 9113 section 8.2.3). */
  private cookie (): string | null { return this.exchange.joined('cookie', '; ') ?? null }

  protected override load (): Field[] {
    const given = fieldsOf(this.exchange.rawFields())
    const fields = given.filter(({ lower }) => lower !== 'host' && lower !== 'cookie')
    for (const [lower, value] of [['cookie', this.cookie()], ['host', this.host()]] as const) {
      if (value !== null) fields.push({ name: lower, lower, value })
    }
    return fields
  }

  override get (lower: string): string | null {
    if (this.isMade) return super.get(lower)
    if (lower === 'host') return this.host()
    if (lower === 'cookie') return this.cookie()
    // One is the rule; more are joined (RFC 9110 section 5.3).
    return this.exchange.joined(lower, ', ') ?? null
  }

  override has (lower: string): boolean {
    if (this.isMade) return super.has(lower)
    return lower === 'host' ? this.host() !== null : this.exchange.field(lower) !== undefined
  }
}

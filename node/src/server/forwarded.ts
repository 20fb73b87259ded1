// The client of a request as proxies in front of a server state it in its fields.

import { inspect } from 'node:util'
import { InvalidArgumentError } from '../errors'

/** Proxies that state the client of each request, and the fields by which they do. */
export interface ForwardingOptions {
  /** Addresses and networks (`10.0.0.0/8`) of the proxies; on a Unix socket any entry lists every peer. */
  from: string[]
  /** `forwarded`: the field `Forwarded` (RFC 7239). `x-forwarded`: `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`. One kind alone: proxies pass on what
   * they do not know, so that the other kind may be the client's own. Default: `forwarded`. */
  fields?: 'forwarded' | 'x-forwarded'
}

/** The client of a request as a listed proxy states it; what it does not say is null. */
export interface ForwardedClient {
  /** Null: it is hidden, or unknown. */
  address: string | null
  port: number | null
  /** Whether the client's request came by https. */
  secure: boolean | null
  /** The host that it asked for. */
  host: string | null
}

/** A request of node:http's or node:http2's classes. */
export interface Forwardable {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly rawHeaders: readonly string[]
}

const KINDS = ['forwarded', 'x-forwarded']
const NAMES = ['from', 'fields']

/** An option `forwarding`. The engine's core reads the fields. */
export class Forwarding {
  /** `ask` throws where an entry is no address. */
  constructor (private readonly options: ForwardingOptions, private readonly ask: (question: object) => unknown) {
    const given = inspect(options, { breakLength: Infinity })
    if (typeof options !== 'object' || options === null) throw new InvalidArgumentError(`forwarding is ${given}; it must be { from, fields }`)
    const { from, fields = 'forwarded' } = options
    const other = Object.keys(options).find(name => !NAMES.includes(name))
    if (other !== undefined) throw new InvalidArgumentError(`forwarding has no ${other}; it has ${NAMES.join(', ')}`)
    if (!Array.isArray(from) || !from.every(entry => typeof entry === 'string')) throw new InvalidArgumentError(`forwarding.from is ${inspect(from)}; it must be addresses and networks, as texts`)
    if (!KINDS.includes(fields)) throw new InvalidArgumentError(`forwarding.fields is ${inspect(fields)}; it must be ${KINDS.join(' or ')}`)
  }

  /** The client by the fields of a request, names and values by turns; `peer`: the address of its connection, undefined on a Unix socket. Null: the peer is
   * not listed, or states none. */
  clientOf (peer: string | undefined, raw: readonly string[]): ForwardedClient | null {
    const values = (wanted: string): string[] => raw.filter((_, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === wanted)
    const fields = this.options.fields === 'x-forwarded'
      ? { xForwarded: { client: values('x-forwarded-for'), proto: values('x-forwarded-proto'), host: values('x-forwarded-host') } }
      : { forwarded: values('forwarded') }
    // A link-local address has its interface behind it, which no list has.
    return this.ask({ from: this.options.from, peer: peer?.split('%')[0] ?? null, fields }) as ForwardedClient | null
  }
}

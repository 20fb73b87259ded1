// The options and members of node:http on servers of node:http2.

import http from 'node:http'
import nodeHttp2, { type SecureServerOptions } from 'node:http2'
import { symbolOf, type EndNotifier, type Http1 } from '../compat/http1/members'

/** As they were when this was loaded: programs may put ours in their place. */
const { createServer: nodeServer } = http
const { createSecureServer: nodeSecureServer } = nodeHttp2

/** Options of a server of node:http that one with `requests: 'http'` has too. */
export type HttpOptions = Partial<Pick<http.ServerOptions,
  'IncomingMessage' | 'ServerResponse' | 'connectionsCheckingInterval' | 'headersTimeout' | 'joinDuplicateHeaders' | 'keepAliveTimeout' |
  'maxHeaderSize' | 'requestTimeout' | 'uniqueHeaders'>> & {
    /** Whether a request that asks for an upgrade is emitted as `upgrade`, and not as `request`. Default: where there is a listener. */
    shouldUpgradeCallback?: (request: http.IncomingMessage) => boolean
  }

/** Options of node:http on a server of node:http2, which its types lack. */
export interface Http1Options {
  /** 'http': requests and responses of node:http on every version. Default: those of node:http2 on HTTP/2 and HTTP/3. */
  requests?: string
  /** Whether a server with TLS accepts HTTP/1.1. Default: false. */
  allowHTTP1?: boolean
  /** Class of requests of HTTP/1.1. Default: `http.IncomingMessage`. */
  Http1IncomingMessage?: unknown
  /** Class of responses of HTTP/1.1. Default: `http.ServerResponse`. */
  Http1ServerResponse?: unknown
  /** Options of node:http for HTTP/1.1, before those of the same name beside it. Default: none. */
  http1Options?: Record<string, unknown>
}

/** The HTTP/1.1 options as parsed by this node's own server. */
export interface OwnHttp1 extends Omit<EndNotifier, 'timeout' | 'emit' | 'listenerCount'>, Pick<Http1, 'joinDuplicateHeaders' | 'rejectNonStandardBodyWrites'> {
  headersTimeout?: number
  connectionsCheckingInterval?: number
  maxHeaderSize?: number
}

/** Options of node:http that its servers keep to themselves, and those that would have requests read less strictly. */
interface Given { insecureHTTPParser?: boolean; httpValidation?: string; requireHostHeader?: boolean; shouldUpgradeCallback?: unknown; optimizeEmptyRequests?: unknown }

/** Names of options for which it was said that they do not apply. */
const warned = new Set<string>()

/** Says once for each option that requests are read strictly all the same: bytes that one of two readers takes for another request are how
 * requests are smuggled (RFC 9112 section 11.2). */
export function warnStrict (name: string, value: unknown): void {
  if (warned.has(name)) return
  warned.add(name)
  process.emitWarning(`${name} is ${String(value)} and has no effect: requests are read strictly`, { code: 'TRUNKLINE_READS_STRICTLY' })
}

/** Whether requests of HTTP/1.1 without a host field are served. */
export const takesHostless = (options: Http1Options): boolean => ({ ...options, ...options.http1Options } as Given).requireHostHeader === false

/** Checks them as node does, and warns of those that would have requests read less strictly. */
export function ownHttp1 (options: Http1Options): OwnHttp1 {
  const given = { ...options, ...options.http1Options } as Given
  const { insecureHTTPParser = false, httpValidation = 'strict' } = given
  const own = (options.requests === 'http' ? nodeServer(given as http.ServerOptions) : nodeSecureServer({ ...options, allowHTTP1: true } as SecureServerOptions)) as OwnHttp1
  // Node has one of its own where none is given.
  if (given.shouldUpgradeCallback === undefined) delete own.shouldUpgradeCallback
  if (insecureHTTPParser) warnStrict('insecureHTTPParser', insecureHTTPParser)
  if (httpValidation !== 'strict') warnStrict('httpValidation', httpValidation)
  return own
}

/** Whether requests of HTTP/1.1 without a body have ended before they are emitted. */
export const optimizesEmpty = (options: Http1Options): boolean => ({ ...options, ...options.http1Options } as Given).optimizeEmptyRequests === true

/** The names of fields whose values go in one line, of a server of node:http. */
export function uniqueOf (own: OwnHttp1): { symbol: symbol; names: unknown } | undefined {
  const symbol = symbolOf(own, 'kUniqueHeaders')
  const names = symbol === undefined ? undefined : (own as Record<symbol, unknown>)[symbol]
  return symbol === undefined || names == null ? undefined : { symbol, names }
}

const MEMBERS = [
  'headersTimeout', 'requestTimeout', 'connectionsCheckingInterval', 'keepAliveTimeout', 'keepAliveTimeoutBuffer', 'maxHeadersCount',
  'maxRequestsPerSocket', 'httpAllowHalfOpen', 'shouldUpgradeCallback', 'maxHeaderSize', 'insecureHTTPParser', 'requireHostHeader',
  'joinDuplicateHeaders', 'rejectNonStandardBodyWrites'
] as const
/** Members of a server of node:http2 that takes HTTP/1.1. */
const OF_HTTP2 = MEMBERS.slice(0, 5)
/** Members that the engine applies: programs set them while the server listens. */
const APPLIED = new Set<string>(['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'keepAliveTimeoutBuffer', 'httpAllowHalfOpen'])

interface Served extends OwnHttp1 {
  compatServer: { configure: () => void; closeAll: () => void }
  closeAllConnections?: () => void
}

/** Gives a server the members of node:http, with the values of `own`. */
export function setMembers (server: Served, own: OwnHttp1): void {
  const isHttp = own instanceof http.Server
  for (const name of isHttp ? MEMBERS : OF_HTTP2) {
    let value = (own as Record<string, unknown>)[name]
    if (value === undefined) continue
    if (!APPLIED.has(name)) Object.assign(server, { [name]: value })
    else {
      Object.defineProperty(server, name, {
        get: () => value,
        set (next: unknown) {
          value = next
          server.compatServer.configure()
        },
        enumerable: true,
        configurable: true
      })
    }
  }
  if (isHttp) server.closeAllConnections = () => { server.compatServer.closeAll() }
}

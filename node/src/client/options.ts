// Options of dispatchers by undici's names (and a few of ours), and what is left of them once they are checked.

import type { EnginePlace, Engine } from '../channel/place'
import type { Connector, Extras } from './connect/dial'
import type { TlsOptions } from './tls'

/** Looks a name up as Node.js's `dns.lookup` does. */
export type Lookup = (
  hostname: string,
  options: { all: true; family?: number; hints?: number },
  callback: (error: Error | null, addresses: string | readonly { address: string; family: number }[], family?: number) => void
) => void

export interface ConnectOptions extends TlsOptions {
  /** The name in SNI, which certificates must have. Default: the origin's host. */
  servername?: string
  /** Ms for name resolution, socket and TLS together; 0: no bound. Default: 10,000. */
  timeout?: number
  /** Path of a Unix socket to connect to, in place of host and port. Default: none. */
  socketPath?: string | null
  /** The local IP address to connect from. Default: chosen by the system. */
  localAddress?: string | null
  /** Whether the kernel sends TCP keep-alive probes. Default: true. */
  keepAlive?: boolean
  /** Ms of silence before the first probe. Default: 60,000. */
  keepAliveInitialDelay?: number
  /** Ms before the next address is tried beside a pending one (RFC 8305); from 10 to 2,000. Default: 250. */
  autoSelectFamilyAttemptTimeout?: number
  /** A function like Node.js's `dns.lookup` that resolves names. Default: the operating system's resolver. */
  lookup?: Lookup | null
  /** The address family to resolve names for: 4, 6, or 0 for both. Default: 0. */
  family?: 0 | 4 | 6
}

export interface Options {
  /** The most connections per origin. Default: 100 on HTTP/1.1, 16 where they multiplex, more where none of those that wait could start for a second; 1 for a Client. */
  connections?: number | null
  /** HTTP/1.1 requests in flight on one connection; 0 closes each connection behind its request. Default: 1. */
  pipelining?: number
  /**
   * The most requests in flight on one HTTP/2 or HTTP/3 connection; the server's own limit applies
   * too. Default: 100.
   */
  maxConcurrentStreams?: number
  /** Whether HTTP/2 is offered by ALPN. Default: true. */
  allowH2?: boolean
  /** HTTP/2 on `http` URLs, by prior knowledge. Default: false. */
  useH2c?: boolean
  /** HTTP/3: `true` where the origin advertises it (Alt-Svc), `'only'` by prior knowledge. Default: false. */
  http3?: boolean | 'only'
  /** Options of connections, or a function that opens them, such as the result of `buildConnector`. */
  connect?: ConnectOptions | Connector
  /** undici's older name for some of `connect`, which takes precedence. */
  tls?: ConnectOptions
  /** As `connect.timeout`, which takes precedence. */
  connectTimeout?: number
  /** Ms from a request's last progress to the response's head; 0: no bound. Default: 300,000. */
  headersTimeout?: number
  /** Ms between two pieces of a response's body; 0: no bound. Default: 300,000. */
  bodyTimeout?: number
  /** Ms in the origin's queue, however it moves; 0: no bound. Default: none, but 300,000 in which no request to the origin starts. */
  queueTimeout?: number
  /** Ms after which an idle connection is closed. Default: 4,000. */
  keepAliveTimeout?: number
  /** The most ms that a server's `keep-alive: timeout` may set instead. Default: 600,000. */
  keepAliveMaxTimeout?: number
  /** Ms by which the connection is closed before that time ends. Default: 2,000. */
  keepAliveTimeoutThreshold?: number
  /**
   * Ms after which a connection gets no more requests; 0: no bound. As `connectionAge`; the smaller
   * one applies. Default: no bound.
   */
  clientTtl?: number | null
  /** Requests after which a connection gets no more; 0: no bound. Default: no bound. */
  maxRequestsPerClient?: number | null
  /** The most bytes of a response's head; from 1, and 524,288 for any larger number. Default: `http.maxHeaderSize` (16,384) on HTTP/1.1, 65,536 on
   * HTTP/2 and HTTP/3. */
  maxHeaderSize?: number
  /** The most bytes of a response's body; -1: no bound. Default: -1. */
  maxResponseSize?: number
  /** Whether a body whose length differs from its content-length is an error, not a warning. Default: true. */
  strictContentLength?: boolean
  /** As `connect.socketPath`, which takes precedence. */
  socketPath?: string | null
  /** As `connect.localAddress`, which takes precedence. */
  localAddress?: string | null
  /** No effect: the addresses of both families are raced for every connection (RFC 8305). */
  autoSelectFamily?: boolean
  /** As in `connect`; this one takes precedence. */
  autoSelectFamilyAttemptTimeout?: number
  /** As `window.stream`, by undici's name. */
  initialWindowSize?: number
  /** As `window.connection`, by undici's name. */
  connectionWindowSize?: number
  /** undici's group of HTTP/2 options; each has the meaning of the option of its name. */
  h2Options?: { initialWindowSize?: number; connectionWindowSize?: number; maxConcurrentStreams?: number; pingInterval?: number; useH2c?: boolean; settings?: { initialWindowSize?: number } }
  /**
   * Receive windows in bytes, default 65,536 per stream and 16,777,216 per connection. They grow
   * with the bytes read, unless `threshold` is set: then they keep their size, and are refilled
   * when that many bytes of them are left.
   */
  window?: { stream?: number; connection?: number; threshold?: number }
  /**
   * Bytes that the stream windows of all connections may borrow together beyond their initial size.
   * Default: 67,108,864.
   */
  memoryBudget?: number
  /** Where its connections are driven. Default: as the environment variable TRUNKLINE_ENGINE says, or 'auto'. */
  engine?: Engine
  /** The most sockets of the whole dispatcher. Default: as many file descriptors as the process may have, less 124; 900 on Windows. */
  sockets?: number
  /** Ms after which a connection gets no more requests; 0: no bound. Default: no bound. */
  connectionAge?: number
  /** Connections per origin that stay open though idle. Default: 0. */
  warmConnections?: number
  /** Whether idempotent requests whose connection is lost are sent again. Default: false. */
  retryLost?: boolean
  /** Addresses (`ip` or `ip:port`) by host, in place of the resolver. Default: none. */
  resolve?: Record<string, string | string[]>
  /** Servers whose TLS sessions are kept for resumption; from 0 (none) to 4,096. Default: 100. */
  maxCachedSessions?: number | null
  /**
   * Ms of silence after which an idle HTTP/2 or HTTP/3 peer gets a PING; 0: never. Requests on a
   * peer that does not answer fail 15 s later. Default: 60,000.
   */
  pingInterval?: number
  /** The most origins of an Agent. Default: no bound. */
  maxOrigins?: number
  /** Agent: makes the dispatcher of each origin, Pool: of each connection, in place of the engine. What it gets are
   * the origin and these options. */
  factory?: (origin: any, options: any) => any
  /**
   * Limits of undici's WebSocket over this dispatcher: fragments per message, default 131,072, and
   * bytes per message, default 134,217,728.
   */
  webSocket?: { maxFragments?: number; maxPayloadSize?: number }
  /**
   * The most characters of one event in undici's EventSource over this dispatcher. Default:
   * Node.js's longest string.
   */
  eventSource?: { maxEventSize?: number }
}

/** Every option, by the compiler's word. */
export const OPTIONS: Record<keyof Options, true> = {
  connections: true, pipelining: true, maxConcurrentStreams: true, allowH2: true, useH2c: true, http3: true, connect: true, tls: true, connectTimeout: true,
  headersTimeout: true, bodyTimeout: true, queueTimeout: true, keepAliveTimeout: true, keepAliveMaxTimeout: true, keepAliveTimeoutThreshold: true,
  clientTtl: true, maxRequestsPerClient: true, maxHeaderSize: true, maxResponseSize: true, strictContentLength: true, socketPath: true, localAddress: true,
  autoSelectFamily: true, autoSelectFamilyAttemptTimeout: true, initialWindowSize: true, connectionWindowSize: true, h2Options: true, window: true,
  memoryBudget: true, sockets: true, connectionAge: true, warmConnections: true, retryLost: true, resolve: true, maxCachedSessions: true, pingInterval: true,
  maxOrigins: true, factory: true, webSocket: true, eventSource: true, engine: true
}
export const CONNECT_OPTIONS: Record<keyof ConnectOptions, true> = {
  ca: true, cert: true, key: true, pfx: true, passphrase: true, rejectUnauthorized: true, minVersion: true, maxVersion: true, servername: true, timeout: true,
  socketPath: true, localAddress: true, keepAlive: true, keepAliveInitialDelay: true, autoSelectFamilyAttemptTimeout: true, lookup: true, family: true
}
/** Options that the dispatchers use themselves. */
export interface Checked {
  settings: Record<string, unknown>
  headersTimeout: number
  bodyTimeout: number
  maxResponseSize: number
  strictContentLength: boolean
  isClient: boolean
  connections: number | null
  pipelining: number
  maxConcurrentStreams: number
  servername: string | null
  maxOrigins: number
  lookup: Lookup | null
  connector: { connect: Connector; extras: Extras; h2c: boolean } | null
  place: EnginePlace
  webSocket: { maxFragments?: number; maxPayloadSize?: number }
  eventSource: { maxEventSize?: number }
  /** Requests may not have credentials for a proxy: the dispatcher has them. */
  isProxied: boolean
  /** `http` requests go to a proxy in absolute form. */
  forwards: boolean
  /** Whether the environment says if certificates of origins are verified. */
  isVerifiedByEnvironment: boolean
  /** Whether it says so of proxies' certificates. */
  isProxyVerifiedByEnvironment: boolean
}

/** The way that is not directly to the origin: settings of the engine's, and TLS with origins. */
export interface Way {
  settings: Record<string, unknown>
  connect: ConnectOptions
  /** Whether the environment says if certificates of proxies are verified. */
  isVerifiedByEnvironment: boolean
}

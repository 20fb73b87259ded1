// Options by undici's names (and a few of ours), checked by undici's rules and converted into the
// settings of the engine's client (node/native/client/settings.rs).

import { lookup as lookUp } from 'node:dns'
import { maxHeaderSize } from 'node:http'
import { isIP } from 'node:net'
import type { Connector, Extras } from './connect/dial'
import { InvalidArgumentError } from '../errors'
import { ENGINES_TEXT, isEngine, placeOf, type Engine, type EnginePlace } from '../channel/place'
import { warnOfSlips } from '../near'
import { isInsecureByEnvironment, tls, type TlsOptions } from './tls'

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
  /** The most connections per origin. Default: 100 on HTTP/1.1, 16 where they multiplex; 1 for a Client. */
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
  /** Ms in the origin's queue; 0: no bound. Default: 300,000. */
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
  /** The most bytes of a response's head; from 1 to 524,288. Default: `http.maxHeaderSize` (16,384) on HTTP/1.1, 65,536 on
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
  /** The most sockets of the whole dispatcher. Default: 900. */
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
const OPTIONS: Record<keyof Options, true> = {
  connections: true, pipelining: true, maxConcurrentStreams: true, allowH2: true, useH2c: true, http3: true, connect: true, tls: true, connectTimeout: true,
  headersTimeout: true, bodyTimeout: true, queueTimeout: true, keepAliveTimeout: true, keepAliveMaxTimeout: true, keepAliveTimeoutThreshold: true,
  clientTtl: true, maxRequestsPerClient: true, maxHeaderSize: true, maxResponseSize: true, strictContentLength: true, socketPath: true, localAddress: true,
  autoSelectFamily: true, autoSelectFamilyAttemptTimeout: true, initialWindowSize: true, connectionWindowSize: true, h2Options: true, window: true,
  memoryBudget: true, sockets: true, connectionAge: true, warmConnections: true, retryLost: true, resolve: true, maxCachedSessions: true, pingInterval: true,
  maxOrigins: true, factory: true, webSocket: true, eventSource: true, engine: true
}
const CONNECT_OPTIONS: Record<keyof ConnectOptions, true> = {
  ca: true, cert: true, key: true, passphrase: true, rejectUnauthorized: true, minVersion: true, maxVersion: true, servername: true, timeout: true,
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
  /** Certificates of origins are not verified, and only the environment says so: the first use is warned of. */
  isInsecureByEnvironment: boolean
}

/** The way that is not directly to the origin: settings of the engine's, and TLS with origins. */
export interface Way {
  settings: Record<string, unknown>
  connect: ConnectOptions
}

const refuse = (text: string): never => { throw new InvalidArgumentError(text) }

/** The largest time that an entry of the ring holds, ms: about 24 days, as with Node's timers. */
const TIME_MS_MAX = 2 ** 31 - 1

/** Silence before the kernel asks, as undici has it. */
const KEEP_ALIVE_MS = 60_000
/** How long a connection may be idle, ms: undici's time, below the five seconds for which the servers of Node.js keep one. */
const KEEP_ALIVE_TIMEOUT_MS = 4_000

/** The largest head that a response may have: it crosses the channel in one piece. */
const HEADER_BYTES_MAX = 512 * 1024

/** undici's words for values of options that it does not take; for all others `invalid name`. */
const WORDS: Record<string, string> = {
  headersTimeout: 'must be a positive integer or zero',
  bodyTimeout: 'must be a positive integer or zero',
  maxCachedSessions: 'must be a positive integer or zero',
  maxRequestsPerClient: 'must be a positive number',
  autoSelectFamilyAttemptTimeout: 'must be a positive number',
  maxConcurrentStreams: 'must be a positive integer, greater than 0',
  initialWindowSize: 'must be a positive integer, greater than 0',
  connectionWindowSize: 'must be a positive integer, greater than 0',
  pingInterval: 'must be a positive integer, greater or equal to 0'
}

function invalid (name: string): never {
  const words = WORDS[name]
  return refuse(words === undefined ? `invalid ${name}` : `${name} ${words}`)
}

/** A finite number from `least`. */
function number (name: string, value: unknown, least: number): number | undefined {
  if (value == null) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) return refuse(`invalid ${name}`)
  return value
}

function whole (name: string, value: unknown, least: number): number | undefined {
  if (value == null) return undefined
  if (!Number.isInteger(value) || (value as number) < least) return invalid(name)
  return value as number
}

/** A path of a Unix socket. */
function pathOf (value: unknown): string | undefined {
  if (value == null) return undefined
  return typeof value === 'string' ? value : refuse('invalid socketPath')
}

function addressOf (value: unknown): string | undefined {
  if (value == null) return undefined
  return typeof value === 'string' && isIP(value) !== 0 ? value : refuse('localAddress must be valid string IP address')
}

/** Bounds of the engine's wait for an address before it tries the next one too, ms. */
const ATTEMPT_MS_MIN = 10
const ATTEMPT_MS_MAX = 2_000

/** Node.js too takes less than 10 ms for 10. */
function attemptDelay (value: unknown): number | undefined {
  const ms = whole('autoSelectFamilyAttemptTimeout', value, -1)
  return ms === undefined || ms < 0 ? undefined : Math.min(Math.max(ms, ATTEMPT_MS_MIN), ATTEMPT_MS_MAX)
}

export function time (name: string, value: unknown): number | undefined {
  const ms = number(name, value, 0)
  return ms === undefined ? undefined : Math.min(Math.ceil(ms), TIME_MS_MAX)
}

function positive (name: string, value: unknown): number | undefined {
  const checked = time(name, value)
  return checked === 0 ? refuse(`invalid ${name}`) : checked
}

function maxOriginsOf (value: unknown): number {
  if (value === undefined) return Infinity
  if (typeof value === 'number' && value > 0) return value
  return refuse('maxOrigins must be a number greater than 0')
}

function engineOf (value: unknown): Engine | undefined {
  return value === undefined || isEngine(value) ? value : refuse(`engine must be ${ENGINES_TEXT}`)
}

function protocols (options: Options): string {
  const { http3 = false } = options
  const allowH2 = options.allowH2 ?? true
  const useH2c = options.h2Options?.useH2c ?? options.useH2c ?? false
  if (typeof allowH2 !== 'boolean') return refuse('allowH2 must be a valid boolean value')
  if (typeof useH2c !== 'boolean') return refuse('useH2c must be a valid boolean value')
  if (http3 === 'only') return 'h3'
  if (typeof http3 !== 'boolean') return refuse("http3 must be true, false or 'only'")
  if (useH2c) return 'h2'
  if (!allowH2) return http3 ? refuse('http3 needs allowH2') : 'h1'
  return http3 ? 'all' : 'h2-or-h1'
}

function addresses (resolve: Options['resolve']): [string, string[]][] {
  if (resolve == null) return []
  if (typeof resolve !== 'object') return refuse('resolve must be an object of addresses by host')
  const withPort = (address: string): string => {
    if (/^\d+\.\d+\.\d+\.\d+$/.test(address)) return `${address}:0`
    return address.includes(':') && !address.includes(']') && !address.includes('.') ? `[${address}]:0` : address
  }
  return Object.entries(resolve).map(([host, list]) => [host, (Array.isArray(list) ? list : [list]).map(withPort)])
}

/** An origin's URL in parts, as undici accepts it. */
export interface UrlParts {
  /** `http:` or `https:`. */
  protocol?: string | null
  /** The host name or address. */
  hostname?: string | null
  /** The port; default: the protocol's. */
  port?: string | number | null
  /** The origin, in place of the three above. */
  origin?: string | null
  /** Must be empty or `/`: an origin has no path. */
  path?: string | null
  pathname?: string | null
  search?: string | null
}

/** The parts of a URL as its text, by undici's checks. */
function written (parts: UrlParts): string {
  const { protocol, hostname, port, origin, path, pathname, search } = parts
  if (port != null && port !== '' && !(Number.isInteger(Number(port)) && Number(port) >= 0 && Number(port) <= 65_535)) {
    return refuse('Invalid URL: port must be a valid integer or a string representation of an integer.')
  }
  for (const [name, value] of Object.entries({ path, pathname, hostname, origin })) {
    if (value != null && typeof value !== 'string') return refuse(`Invalid URL ${name}: the ${name} must be a string or null/undefined.`)
  }
  if (!/^https?:/.test(origin ?? protocol ?? '')) return refuse('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  const start = origin ?? `${protocol}//${hostname ?? ''}${port == null || port === '' ? '' : `:${port}`}`
  const rest = path ?? `${pathname ?? ''}${search ?? ''}`
  return `${start.replace(/\/$/, '')}${rest === '' || rest.startsWith('/') ? rest : `/${rest}`}`
}

/** undici's checks of a URL. */
export function urlOf (given: string | URL | UrlParts): URL {
  if (given === null || (typeof given !== 'string' && typeof given !== 'object')) {
    throw new InvalidArgumentError('Invalid URL: The URL argument must be a non-null object.')
  }
  // A text that is no URL at all is Node.js's own error, ERR_INVALID_URL, as with undici.
  const url = new URL(typeof given === 'string' || given instanceof URL ? given : written(given))
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InvalidArgumentError('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  }
  return url
}

/** undici's checks of an origin. */
export function originOf (origin: string | URL | UrlParts): URL {
  const url = urlOf(origin)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') throw new InvalidArgumentError('invalid url')
  return url
}

/** Options that undici has removed, with its messages. */
const GONE: Record<string, string> = {
  keepAlive: 'pipelining=0',
  socketTimeout: 'headersTimeout & bodyTimeout',
  requestTimeout: 'headersTimeout & bodyTimeout',
  idleTimeout: 'keepAliveTimeout',
  maxKeepAliveTimeout: 'keepAliveMaxTimeout'
}

/** Options of older lines of undici, and their replacements. */
const OF_UNDICI: Record<string, string> = { interceptors: 'use compose' }

/** The function that resolves names, if it is not the engine. */
function lookupOf ({ lookup, family }: ConnectOptions): Lookup | null {
  if (family != null && family !== 0 && family !== 4 && family !== 6) return refuse(`connect.family is ${String(family)}; it must be 4, 6, or 0 for both`)
  if (!family) return lookup ?? null
  const asked = lookup ?? (lookUp as unknown as Lookup)
  return (host, options, done) => { asked(host, { ...options, family }, done) }
}

/** The options of `connect`; none where a function makes the connections. */
function connectOf (options: Options, way: Way | undefined): ConnectOptions {
  const connect = options.connect ?? {}
  if (typeof connect === 'function') return way === undefined ? {} : refuse(`connect is a function, and the engine connects to the proxy itself: leave one of them out`)
  if (typeof connect !== 'object') return refuse('connect must be a function or an object')
  const { lookup } = connect
  if (lookup != null && typeof lookup !== 'function') return refuse('connect.lookup must be a function')
  return { ...options.tls, ...connect, ...way?.connect }
}

/** The user's function that makes connections, with what it gets of the other options. */
function connectorOf (options: Options): Checked['connector'] {
  const { allowH2, connect, http3 = false, localAddress, socketPath } = options
  if (typeof connect !== 'function') return null
  if (http3 !== false) return refuse('http3 goes over UDP, and connect gives streams: leave one of them out')
  const extras = { localAddress: localAddress ?? null, ...(socketPath == null ? {} : { socketPath }), ...(allowH2 == null ? {} : { allowH2 }) }
  return { connect, extras, h2c: protocols(options) === 'h2' }
}

/** The least of the times after which a connection gets no more requests. */
function ageOf (options: Options): number | undefined {
  const ages = [time('connectionAge', options.connectionAge), time('clientTtl', options.clientTtl)]
  const bounds = ages.filter(age => age !== undefined && age > 0) as number[]
  return bounds.length === 0 ? undefined : Math.min(...bounds)
}

/** As with undici. */
const CACHED_SESSIONS = 100
const PING_INTERVAL_MS = 60_000
/** The engine keeps those of no more. */
const RESUMED_SERVERS_MAX = 4096

/** Checks options; throws InvalidArgumentError. */
export function check (options: Options, isClient: boolean, way?: Way): Checked {
  if (options == null || typeof options !== 'object') return refuse('options must be an object')
  for (const [name, instead] of Object.entries(GONE)) {
    if ((options as Record<string, unknown>)[name] !== undefined) return refuse(`unsupported ${name}, use ${instead} instead`)
  }
  for (const [name, instead] of Object.entries(OF_UNDICI)) {
    if (way === undefined && (options as Record<string, unknown>)[name] != null) return refuse(`${name} is not taken: ${instead}`)
  }
  const connect = connectOf(options, way)
  warnOfSlips(options, OPTIONS, connect, CONNECT_OPTIONS)
  if (connect.maxVersion === 'TLSv1.2' && (options.http3 ?? false) !== false) return refuse('http3 needs TLS 1.3, and connect.maxVersion is TLSv1.2: leave one of them out')
  const lookup = lookupOf(connect)
  const connector = connectorOf(options)
  const { initialWindowSize, connectionWindowSize } = { ...options.h2Options?.settings, ...options.h2Options, ...defined(options) }
  const connections = isClient ? 1 : whole('connections', options.connections, 0) ?? null
  // undici takes true for 1 and false for 0.
  const pipelining = whole('pipelining', typeof options.pipelining === 'boolean' ? Number(options.pipelining) : options.pipelining, 0)
  const streams = whole('maxConcurrentStreams', options.maxConcurrentStreams ?? options.h2Options?.maxConcurrentStreams, 1)
  const settings = {
    connections: connections === null || connections === 0 ? undefined : connections,
    sockets: whole('sockets', options.sockets, 1),
    pipelining: pipelining === undefined ? undefined : Math.max(pipelining, 1),
    maxConcurrentStreams: streams,
    // A connector's stream says itself what it speaks.
    protocols: connector === null ? protocols(options) : 'h2-or-h1',
    dials: connector !== null,
    connectTimeout: time('connectTimeout', connect.timeout ?? options.connectTimeout),
    queueTimeout: time('queueTimeout', options.queueTimeout),
    keepAliveTimeout: positive('keepAliveTimeout', options.keepAliveTimeout) ?? KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMax: positive('keepAliveMaxTimeout', options.keepAliveMaxTimeout) ?? 600_000,
    keepAliveMargin: Math.max(Math.ceil(number('keepAliveTimeoutThreshold', options.keepAliveTimeoutThreshold, -Infinity) ?? 2000), 0),
    connectionAge: ageOf(options),
    requestsPerConnection: whole('maxRequestsPerClient', options.maxRequestsPerClient, 0),
    warmConnections: whole('warmConnections', options.warmConnections, 0),
    retryLost: options.retryLost,
    attemptDelay: attemptDelay(options.autoSelectFamilyAttemptTimeout ?? connect.autoSelectFamilyAttemptTimeout),
    socketPath: connector === null ? pathOf(connect.socketPath ?? options.socketPath) : undefined,
    localAddress: connector === null ? addressOf(connect.localAddress ?? options.localAddress) : undefined,
    pingInterval: time('pingInterval', whole('pingInterval', options.h2Options?.pingInterval ?? options.pingInterval, 0)) ?? PING_INTERVAL_MS,
    resumedServers: Math.min(whole('maxCachedSessions', options.maxCachedSessions, 0) ?? CACHED_SESSIONS, RESUMED_SERVERS_MAX),
    keepAliveProbe: connect.keepAlive === false ? undefined : time('keepAliveInitialDelay', connect.keepAliveInitialDelay) ?? KEEP_ALIVE_MS,
    tls: tls(connect),
    lookup: lookup !== null,
    ...way?.settings,
    resolve: addresses(options.resolve),
    headerBytes: whole('maxHeaderSize', options.maxHeaderSize, 1),
    // As with undici: on HTTP/1.1 as Node.js has it, by `--max-http-header-size` too.
    headBytes: Math.min(options.maxHeaderSize ?? maxHeaderSize, HEADER_BYTES_MAX),
    streamWindow: whole('initialWindowSize', options.window?.stream ?? initialWindowSize, 1),
    connectionWindow: whole('connectionWindowSize', options.window?.connection ?? connectionWindowSize, 1),
    windowThreshold: whole('window.threshold', options.window?.threshold, 1),
    memoryBudget: whole('memoryBudget', options.memoryBudget, 1)
  }
  if (settings.headerBytes !== undefined && settings.headerBytes > HEADER_BYTES_MAX) return refuse(`maxHeaderSize must be at most ${HEADER_BYTES_MAX}`)
  const maxResponseSize = options.maxResponseSize ?? -1
  if (!Number.isInteger(maxResponseSize) || maxResponseSize < -1) return refuse('maxResponseSize must be a positive number')
  return {
    settings,
    headersTimeout: time('headersTimeout', whole('headersTimeout', options.headersTimeout, 0)) ?? 300_000,
    bodyTimeout: time('bodyTimeout', whole('bodyTimeout', options.bodyTimeout, 0)) ?? 300_000,
    maxResponseSize: maxResponseSize < 0 ? Infinity : maxResponseSize,
    strictContentLength: options.strictContentLength ?? true,
    isClient,
    connections,
    pipelining: pipelining ?? 1,
    maxConcurrentStreams: streams ?? 100,
    // As with undici: an empty name is none.
    servername: connect.servername || null,
    maxOrigins: maxOriginsOf(options.maxOrigins),
    lookup,
    connector,
    place: placeOf(engineOf(options.engine)),
    webSocket: options.webSocket ?? {},
    eventSource: options.eventSource ?? {},
    isProxied: way !== undefined,
    forwards: forwards(way, settings.protocols),
    isInsecureByEnvironment: isInsecureByEnvironment(connect)
  }
}

/** HTTP/2 by prior knowledge has no absolute form, and goes through a tunnel. */
function forwards (way: Way | undefined, protocols: string): boolean {
  if (way === undefined || way.settings['proxyAlwaysTunnels'] === true || protocols === 'h2') return false
  return /^https?:/.test(String(way.settings['httpProxy']))
}

/** Without what is undefined, so that spreading does not hide what is below. */
function defined (options: Options): { initialWindowSize?: number; connectionWindowSize?: number } {
  const { initialWindowSize, connectionWindowSize } = options
  return {
    ...(initialWindowSize === undefined ? {} : { initialWindowSize }),
    ...(connectionWindowSize === undefined ? {} : { connectionWindowSize })
  }
}

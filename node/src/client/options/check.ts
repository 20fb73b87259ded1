// Checks the options of a dispatcher and converts them into the settings of the engine's client
// (node/native/client/settings.rs), in undici's order: the first fault is the one that is thrown.

import { lookup as lookUp } from 'node:dns'
import { maxHeaderSize } from 'node:http'
import { placeOf } from '../../channel/place'
import { warnOfSlips } from '../../errors/near'
import { CONNECT_OPTIONS, OPTIONS, type Checked, type ConnectOptions, type Lookup, type Options, type Way } from '../options'
import { tls } from '../tls'
import { addressOf, atOnce, attemptDelay, copied, depthOf, engineOf, timeOrNever, maxOriginsOf, number, pathOf, positive, probeAfter, refuse, time, whole, TIME_MS_MAX } from './values'

/** Silence before the kernel asks, as undici has it. */
const KEEP_ALIVE_MS = 60_000
/** How long a connection may be idle, ms: undici's time, below the five seconds for which the servers of Node.js keep one. */
const KEEP_ALIVE_TIMEOUT_MS = 4_000

/** RFC 9113 section 6.9.1. */
const WINDOW_MAX = 2 ** 31 - 1
/** The largest head that a response may have, whatever `maxHeaderSize` says: it crosses the channel in one piece. */
const HEADER_BYTES_MAX = 512 * 1024

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

/** Options that undici has removed, with its messages. */
const GONE: Record<string, string> = {
  keepAlive: 'pipelining=0',
  socketTimeout: 'headersTimeout & bodyTimeout',
  requestTimeout: 'headersTimeout & bodyTimeout',
  idleTimeout: 'keepAliveTimeout',
  maxKeepAliveTimeout: 'keepAliveMaxTimeout'
}

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
  const ages = [time('connectionAge', options.connectionAge), timeOrNever('clientTtl', options.clientTtl)]
  const bounds = ages.filter(age => age !== undefined && age > 0) as number[]
  return bounds.length === 0 ? undefined : Math.min(...bounds)
}

/** As with undici. */
const CACHED_SESSIONS = 100
const PING_INTERVAL_MS = 60_000
/** The engine keeps those of no more. */
const RESUMED_SERVERS_MAX = 4096

/** Checks options; throws InvalidArgumentError. */
export function check (given: Options, isClient: boolean, way?: Way): Checked {
  if (given == null || typeof given !== 'object') return refuse('options must be an object')
  const options = isClient ? given : copied(given)
  for (const [name, instead] of Object.entries(GONE)) {
    if ((options as Record<string, unknown>)[name] !== undefined) return refuse(`unsupported ${name}, use ${instead} instead`)
  }
  // An option of older lines of undici.
  if (way === undefined && (options as Record<string, unknown>)['interceptors'] != null) return refuse('interceptors is not taken: use compose')
  const connect = connectOf(options, way)
  warnOfSlips(options, OPTIONS, connect, CONNECT_OPTIONS)
  if (connect.maxVersion === 'TLSv1.2' && (options.http3 ?? false) !== false) return refuse('http3 needs TLS 1.3, and connect.maxVersion is TLSv1.2: leave one of them out')
  const lookup = lookupOf(connect)
  const connector = connectorOf(options)
  const { initialWindowSize, connectionWindowSize } = { ...options.h2Options?.settings, ...options.h2Options, ...defined(options) }
  const connections = isClient ? 1 : atOnce('connections', options.connections, 0) ?? null
  const pipelining = depthOf(options.pipelining)
  const streams = atOnce('maxConcurrentStreams', options.maxConcurrentStreams ?? options.h2Options?.maxConcurrentStreams, 1)
  const settings = {
    connections: connections === null || connections === 0 ? undefined : connections,
    sockets: whole('sockets', options.sockets, 1),
    pipelining: pipelining === undefined ? undefined : Math.max(pipelining, 1),
    maxConcurrentStreams: streams,
    // A connector's stream says itself what it speaks.
    protocols: connector === null ? protocols(options) : 'h2-or-h1',
    dials: connector !== null,
    connectTimeout: connect.timeout == null && isClient ? time('connectTimeout', options.connectTimeout) : timeOrNever('connectTimeout', connect.timeout ?? options.connectTimeout),
    queueTimeout: time('queueTimeout', options.queueTimeout),
    keepAliveTimeout: positive('keepAliveTimeout', options.keepAliveTimeout) ?? KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMax: positive('keepAliveMaxTimeout', options.keepAliveMaxTimeout) ?? 600_000,
    keepAliveMargin: Math.min(Math.max(Math.ceil(number('keepAliveTimeoutThreshold', options.keepAliveTimeoutThreshold, -Infinity) ?? 2000), 0), TIME_MS_MAX),
    connectionAge: ageOf(options),
    requestsPerConnection: whole('maxRequestsPerClient', options.maxRequestsPerClient, 0),
    warmConnections: whole('warmConnections', options.warmConnections, 0),
    retryLost: options.retryLost,
    attemptDelay: attemptDelay(options.autoSelectFamilyAttemptTimeout ?? connect.autoSelectFamilyAttemptTimeout),
    socketPath: connector === null ? pathOf(connect.socketPath ?? options.socketPath) : undefined,
    localAddress: connector === null ? addressOf(connect.localAddress ?? options.localAddress) : undefined,
    pingInterval: time('pingInterval', whole('pingInterval', options.h2Options?.pingInterval ?? options.pingInterval, 0)) ?? PING_INTERVAL_MS,
    resumedServers: Math.min(whole('maxCachedSessions', options.maxCachedSessions, 0) ?? CACHED_SESSIONS, RESUMED_SERVERS_MAX),
    keepAliveProbe: connect.keepAlive === false ? undefined : probeAfter(connect.keepAliveInitialDelay) ?? KEEP_ALIVE_MS,
    tls: tls(connect),
    lookup: lookup !== null,
    ...way?.settings,
    resolve: addresses(options.resolve),
    headerBytes: whole('maxHeaderSize', options.maxHeaderSize, 1, HEADER_BYTES_MAX),
    // As with undici: on HTTP/1.1 as Node.js has it, by `--max-http-header-size` too.
    headBytes: Math.min(options.maxHeaderSize ?? maxHeaderSize, HEADER_BYTES_MAX),
    streamWindow: whole('initialWindowSize', options.window?.stream ?? initialWindowSize, 1, WINDOW_MAX),
    connectionWindow: whole('connectionWindowSize', options.window?.connection ?? connectionWindowSize, 1, WINDOW_MAX),
    windowThreshold: whole('window.threshold', options.window?.threshold, 1),
    memoryBudget: whole('memoryBudget', options.memoryBudget, 1, Number.MAX_SAFE_INTEGER)
  }
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
    isVerifiedByEnvironment: connector === null && connect.rejectUnauthorized === undefined,
    isProxyVerifiedByEnvironment: way?.isVerifiedByEnvironment === true
  }
}

/** HTTP/2 by prior knowledge has no absolute form, and goes through a tunnel. */
function forwards (way: Way | undefined, protocols: string): boolean {
  if (way === undefined || way.settings['proxyAlwaysTunnels'] === true || protocols === 'h2') return false
  return /^https?:/.test(String(way.settings['httpProxy']))
}

/** Without what is undefined, so that spreading does not hide what is below. */
function defined ({ initialWindowSize, connectionWindowSize }: Options): { initialWindowSize?: number; connectionWindowSize?: number } {
  return Object.fromEntries(Object.entries({ initialWindowSize, connectionWindowSize }).filter(([, value]) => value !== undefined))
}

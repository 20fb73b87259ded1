// The options of `serve`: their names, their checks, and their conversion into listen options.

import type { CookieMap } from './web/cookies'
import cluster from 'node:cluster'
import { inspect } from 'node:util'
import { ENGINES_TEXT, isEngine, type Engine } from '../channel/place'
import { InvalidArgumentError } from '../errors'
import { nearest } from '../errors/near'
import { checkBounds, type Timeouts } from '../server/bounds'
import type { Answered } from './answering'
import { Folders, type StaticOptions } from './files/folders'
import { listenTlsOf, type ServeTls } from '../server/tls/identity'
import { tlsOfList, type NamedTls, type TlsPaths } from './tls'
import { secondsOf } from './idle'
import type { RequestInfo } from './info'
import type { ForwardingOptions } from '../server/forwarded'
import type { ListenOptions, ListenTls } from '../server/listen/options'
import { Router, type ParamsOf, type Route } from './routes'
import type { Server } from './serve'
import type { WebSocketHandler } from './websocket'

/** A handler. Nothing is returned by one that has upgraded its request. */
export type Fetch<Data = undefined> = (this: Server<Data>, request: globalThis.Request, server: RequestInfo<Data>) => Answered | undefined | void | Promise<Answered | undefined | void>

/** A request of a route; `params` are what the path of the route names, decoded. */
export interface RouteRequest<Path extends string = string> extends globalThis.Request {
  readonly params: ParamsOf<Path>
  /** The cookies that came; what is set or deleted here, the answer says in `set-cookie`. */
  readonly cookies: CookieMap
}

/** A handler of a route. */
export type RouteHandler<Path extends string, Data> =
  (this: Server<Data>, request: RouteRequest<Path>, server: RequestInfo<Data>) => Answered | undefined | void | Promise<Answered | undefined | void>

/** The options that `server.reload` may change. */
export interface ReloadOptions<Data = undefined, Paths extends string = string> {
  /** Answers what no route and no file of `static` does. It may be absent where there are routes or folders: then 404. */
  fetch?: Fetch<Data>
  /** Handlers or answers by path: `/users/:id` (one segment, in `request.params.id`), `/api/*` (the rest). Exact segments come before parameters, parameters
   * before the rest. A value is a function, a `Response` (made once, its body kept), an object of these by method (HEAD is answered by GET), or `false`: as if
   * the route were absent. A method that a path does not have goes to `fetch`; without it the answer is 405. */
  routes?: { [Path in Paths]: Route<RouteHandler<Path, Data>> }
  /** Files that answer GET and HEAD where no route does: a folder, or folders by the beginnings of paths. What is not there goes to `fetch`. */
  static?: StaticOptions
  /**
   * Makes the response when a handler fails. Default: the error is written to stderr, and the
   * response is 500. It is also called for a response that fails behind its head, which is cut; its
   * result is ignored then.
   */
  error?: (this: Server<Data>, error: any, request: globalThis.Request) => Answered | Promise<Answered>
  /** Handlers of WebSockets that `server.upgrade` has made. Needs the package `ws`. Over HTTP/2 and HTTP/3 clients may ask for one where `extendedConnect` is on,
   * which is so by default where `serve` was given this. */
  websocket?: WebSocketHandler<Data>
  /** Whether a failure without `error` is answered with the error and its stack; an object, as Bun takes one, means true. Default: where NODE_ENV is `development`. */
  development?: boolean | object
  /** Bytes of a request's body. A longer one that gives its length is answered with 413, and the handler is not called; one that does not fails when it is read too
   * far, and with it the handler, which is a 413 where `error` does not answer otherwise. Default: no limit. */
  maxRequestBodySize?: number
  /** Seconds without a byte, sent or received, after which a request ends, whatever its handler does, and after which a connection without requests does; 0: never.
   * Default: requests never, connections as `timeouts.idle`. A request ends up to one second later. */
  idleTimeout?: number
}

/** The options of `serve`. One that is null counts as absent. */
export interface ServeOptions<Data = undefined, Paths extends string = string> extends ReloadOptions<Data, Paths>, Omit<ListenOptions, 'tls' | 'port'> {
  /** The port; 0: a free one. Default: 0. */
  port?: number | string
  /** A name for the program's own use: `server.id`. Default: none. */
  id?: string
  /** The address to listen on. Default: every address of both families. */
  hostname?: string
  /** As `hostname`; the name in `listen` of node:net. */
  host?: string
  /** As `path`; Bun's name. */
  unix?: string
  /** As `sharesPort`; Bun's name. */
  reusePort?: boolean
  /** Where connections are served. Default: as the environment variable TRUNKLINE_ENGINE says, or 'auto'. */
  engine?: Engine
  /** Certificates; of a list, as Bun has it, the first is that of clients which ask for no other `serverName`. `self-signed`: a certificate for `localhost`, the loopback
   * addresses and `hostname` that is made at the start, for development; clients must be made to take it. */
  tls?: (ServeTls & TlsPaths) | NamedTls[] | 'self-signed'
  /** Proxies that state the client of each request in its fields: `info.forwarded` of a handler. `requestIP` and the limits per address are of the connection.
   * Default: none, and the fields say nothing. */
  forwarding?: ForwardingOptions
  /** Closes the server when it aborts; open requests finish. */
  signal?: AbortSignal
  /** Whether the global `Request` and `fetch` are wrapped, once, so that they take requests of servers: `new Request(request)`, `fetch(request)`. Default: true. */
  overrideGlobalObjects?: boolean
}

/** Names of options that may change. */
const RELOADED = ['fetch', 'routes', 'static', 'error', 'websocket', 'development', 'maxRequestBodySize', 'idleTimeout']
const ADVERTISED = [
  ...RELOADED, 'id', 'signal', 'hostname', 'host', 'port', 'path', 'unix', 'readableAll', 'writableAll', 'fd', 'udpFd', 'sharesPort', 'reusePort', 'ipv6Only', 'handOver', 'backlog', 'tls', 'http1', 'http2', 'http3',
  'extendedConnect', 'schemeFromGateway', 'proxyProtocol', 'forwarding', 'quicLb', 'expectations', 'connectionsMax', 'shedding', 'limits', 'timeouts', 'windows', 'overrideGlobalObjects', 'engine'
]
const NAMES = new Set([...ADVERTISED, 'fdIsBorrowed', 'frameEvents', 'spelledNames', 'http1Timeouts', 'http1FieldCountMax'])

export function engineOf (value: unknown): Engine | undefined {
  if (value === undefined || isEngine(value)) return value
  throw new InvalidArgumentError(`engine is ${inspect(value)}; it must be ${ENGINES_TEXT}`)
}

export function checkNames (options: unknown): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`serve takes an object of options with a function fetch; it was given ${inspect(options, { depth: 0 })}`)
  checkBounds(options)
  for (const name of Object.keys(options)) {
    if (NAMES.has(name)) continue
    const near = nearest(name, ADVERTISED)
    throw new InvalidArgumentError(`serve has no option ${name}; ${near === undefined ? '' : `is ${near} meant? `}it has ${ADVERTISED.join(', ')}`)
  }
}

/** The options that are there. Programs for Bun say `null` for what they do not want, `tls: false`, `unix: false` and an empty `hostname` or `unix`. A `port` of null is a setting that is
 * missing, and not a wish for any port. */
export function present<T extends object> (options: T): T {
  const isThere = ([name, value]: [string, unknown]): boolean => value !== undefined && (value !== null || name === 'port') && !((name === 'tls' || name === 'unix') && value === false) && !((name === 'hostname' || name === 'unix') && value === '')
  const all = Object.entries(options)
  const there = all.filter(isThere)
  // Methods of a class are not among the entries.
  return there.length === all.length ? options : Object.assign(Object.create(Object.getPrototypeOf(options) as object), Object.fromEntries(there)) as T
}

/** The handlers of requests. */
export interface Settings<Data> {
  fetch: Fetch<Data> | undefined
  error: ReloadOptions<Data>['error']
  router: Router | null
  folders: Folders | null
  development: boolean
  bodyMax: number
  idleSeconds: number
}

export function settingsOf<Data> (options: ReloadOptions<Data>): Settings<Data> {
  const { fetch, error, routes, static: folders, maxRequestBodySize = Infinity, idleTimeout = 0 } = options
  if (typeof fetch !== 'function' && (fetch !== undefined || (routes === undefined && folders === undefined))) throw new TypeError(`fetch must be a function that returns a Response, and is ${inspect(fetch, { depth: 0 })}; only a server with routes or static may have none`)
  if (error !== undefined && typeof error !== 'function') throw new TypeError(`error is ${inspect(error, { depth: 0 })}; it must be a function`)
  if (routes !== undefined && (typeof routes !== 'object' || routes === null)) throw new TypeError(`routes is ${inspect(routes, { depth: 0 })}; it must be an object of paths`)
  if (typeof maxRequestBodySize !== 'number' || !(maxRequestBodySize >= 0)) {
    throw new RangeError(`maxRequestBodySize is ${String(maxRequestBodySize)}; it must be a number of bytes, at least 0`)
  }
  return {
    fetch,
    error,
    router: routes === undefined ? null : new Router(routes),
    folders: folders === undefined ? null : new Folders(folders),
    development: options.development != null ? Boolean(options.development) : process.env['NODE_ENV'] === 'development',
    bodyMax: maxRequestBodySize,
    idleSeconds: secondsOf(idleTimeout, 'idleTimeout')
  }
}

const PORT_MAX = 65_535
/** A port as a number, or as the text of one, as environments have it. */
function portOf (given: unknown): number {
  const port = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    throw new RangeError(`port is ${inspect(given)}; it must be an integer from 0 to ${PORT_MAX}`)
  }
  return port
}

/** The text that one of two names for the same has. */
function oneText (options: object, name: string, other: string): string | undefined {
  const value = one<unknown>(options, name, other)
  if (value !== undefined && typeof value !== 'string') throw new TypeError(`${name in options ? name : other} is ${inspect(value)}; it must be a string`)
  return value
}

/** The one value of two names for the same; throws where they have two. */
function one<T> (options: object, name: string, other: string): T | undefined {
  const [first, second] = [name, other].map(name => (options as Record<string, T | undefined>)[name])
  if (first !== undefined && second !== undefined && first !== second) {
    throw new TypeError(`${name} is ${inspect(first)} and ${other} is ${inspect(second)}; they must be the same, or one of them absent`)
  }
  return first ?? second
}

const ANY_ADDRESS = new Set(['0.0.0.0', '::', ''])

function tlsOf (tls: ServeTls | NamedTls[] | 'self-signed', host: string | undefined): ListenTls {
  if (tls !== 'self-signed') {
    if (typeof tls !== 'object' || tls === null) throw new TypeError(`tls is ${inspect(tls)}; it must be an object with cert and key, a list of these, or 'self-signed'`)
    return listenTlsOf(tlsOfList(tls))
  }
  const names = ['localhost', '127.0.0.1', '::1']
  if (host !== undefined && !ANY_ADDRESS.has(host) && !names.includes(host)) names.push(host)
  return { selfSigned: names }
}

/** The listen options of a server with these options. */
export function listenOptionsOf<Data> (options: ServeOptions<Data>): ListenOptions {
  const { fetch: _f, error: _e, routes: _r, static: _s, development: _d, maxRequestBodySize: _m, websocket, idleTimeout, signal: _a, id: _i, hostname: _h, host: _o, port, path: _p, unix: _u,
    sharesPort, reusePort, ipv6Only, tls, overrideGlobalObjects: _g, engine: _n, timeouts, forwarding: _k, ...rest } = options
  // Brackets are of URLs.
  const host = oneText(options, 'hostname', 'host')?.replace(/^\[(.*)\]$/, '$1')
  const path = oneText(options, 'path', 'unix')
  // Bun takes anything for a flag. Workers of a cluster share their ports.
  const shares = one<boolean>({ sharesPort, reusePort: reusePort == null ? undefined : Boolean(reusePort) }, 'sharesPort', 'reusePort') ?? (cluster.isWorker && path === undefined && options.fd === undefined ? true : undefined)
  if (path !== undefined && host !== undefined) throw new TypeError(`a server listens on a Unix socket or on an address: the path is ${inspect(path)} and the hostname ${inspect(host)}`)
  const listen: ListenOptions = { extendedConnect: websocket !== undefined, ...rest }
  if (shares !== undefined) listen.sharesPort = shares
  if (ipv6Only !== undefined && path === undefined) listen.ipv6Only = Boolean(ipv6Only)
  if (port != null) listen.port = portOf(port)
  if (host !== undefined) listen.host = host
  if (path !== undefined) listen.path = path
  if (tls !== undefined) listen.tls = tlsOf(tls, host)
  const idle: Timeouts = idleTimeout === undefined ? {} : { idle: Math.min(Math.ceil(secondsOf(idleTimeout, 'idleTimeout') * 1000), Number.MAX_SAFE_INTEGER) }
  if (timeouts !== undefined || idleTimeout !== undefined) listen.timeouts = { ...idle, ...timeouts }
  return listen
}

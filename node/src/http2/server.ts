// The servers: subclasses of node:net's and node:tls's, so that listening, closing, counting and
// ref-ing are node's own; the engine listens.

import cluster from 'node:cluster'
import { EventEmitter } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import nodeHttp2, { type SecureServerOptions, type ServerOptions, type Settings } from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import { settingsMaxOf } from './settings_max'
import { checkCall, checkObject, invalidType, invalidValue } from './codes'
import { checkListed } from './custom_settings'
import type { ClientOptions } from '../server/tls/clients'
import { admissionOf, checkContext, identityIn, identityOf, type ClientAuthOptions } from '../server/tls/identity'
import { optionsIn } from '../server/tls/context'
import type { InspectPage, InspectPageOptions } from '../inspect_page'
import { listenError, NO_PORT } from '../server/listen/error'
import type { Forwardable, ForwardedClient, ForwardingOptions } from '../server/forwarded'
import { checkBounds, type Limits, type Shedding, type Timeouts, type Windows } from '../server/bounds'
import { deadlineOf, type ListenTarget } from '../server/listen/options'
import type { QuicLb } from '../server/listen/quic_lb'
import { policyOf, type Policy } from '../server/tls/policy'
import { notProvided } from '../server/refused'
import type { CompatServerOptions } from './server/compat_options'
import { CompatServer, type AcceptedHandle } from './server/compat_server'
import { ENGINES_TEXT, isEngine, type Engine } from '../channel/place'
import { ofClient } from './client/errors'
import type { ServerHttp2Session } from './connection/session'
import { ownHttp1, setMembers, takesHostless, uniqueOf, warnStrict, type HttpOptions, type Http1Options, type OwnHttp1 } from './server/http1_options'
import type { Chooser } from './handshake/client_hello'
import type { ServerHttp2Stream } from './stream/stream'

/** Of a request: the pseudo-headers alone are as many. */
const HEADER_PAIRS_MIN = 4

/** The default of `limits.fieldCountMax` (`core/src/limits.rs`). */
const HEAD_FIELDS_MAX = 128
/** The default of `limits.fieldSectionBytesMax` (`core/src/limits.rs`). */
const SECTION_BYTES_DEFAULT = 65_536
/** Bytes that a field counts for beside its name and value (RFC 9113 section 6.5.2). */
const FIELD_OVERHEAD_BYTES = 32
/** Bytes of a head of HTTP/1.1 beside its target, names and values: a method and a version, and a colon, a space and a
 * line end for each field. */
const HEAD_BYTES_BESIDE = 64 + HEAD_FIELDS_MAX * 4

/** The default of node:http2. */
const UNKNOWN_PROTOCOL_MS = 10_000
/** Pings, and changes of settings, that a session may have under way: the default of node:http2. */
const OUTSTANDING_MAX = 10

/** The unit of `maxSessionMemory`. */
const BYTES_PER_MB = 1_000_000

/** From this line on node lets a program send fields twice of which a message has one. */
const LOOSE_FIELDS_FROM = 24
const takesLooseFields = Number.parseInt(process.versions.node, 10) >= LOOSE_FIELDS_FROM

/** As they were when this was loaded: programs may put ours in their place. */
const { createServer: nodeServer } = nodeHttp2

type Listener = (...args: any[]) => void

/** Options of our servers beside those of node:http2. */
export interface Http2ServerOptions extends ServerOptions, HttpOptions {
  /** Where connections are served. Default: as the environment variable TRUNKLINE_ENGINE says, or 'auto'. */
  engine?: Engine
  /** How long open exchanges may take after `close`, in ms. Default: as long as they need. */
  drainTimeout?: number
  /** Requests that are answered with 429 or 503 without the server's listeners. Default: none. */
  shedding?: Shedding
  /** The limits of one peer, beside those in the options of node:http2. */
  limits?: Limits
  /** How long each phase may take, in ms; 0: for ever. */
  timeouts?: Timeouts
  /** Receive windows and send buffers; `settings.initialWindowSize` says that of a stream. */
  windows?: Omit<Windows, 'streamInitial'>
  /** Whether HTTP/1.1 and HTTP/2 are served in cleartext; under TLS `allowHTTP1` says it. Default: both. */
  http1?: boolean
  /** Whether HTTP/2 by prior knowledge is served in cleartext, as `http1` for HTTP/1.1. Default: true. */
  http2?: boolean
  /** Every peer is a gateway that ends TLS: a request is `http` or `https` as it says, whatever its connection is;
   * otherwise one that says another scheme than its connection's is answered with 421. Default: false. */
  schemeFromGateway?: boolean
  /** Addresses and networks (`10.0.0.0/8`) of load balancers whose connections begin with a header of the PROXY protocol, version 1 or 2: its addresses
   * are those of the socket. No others do. On a Unix socket any entry makes every connection begin so. Not for HTTP/3. Default: none. */
  proxyProtocol?: string[]
  /** Proxies that state the client of each request in its fields: `server.forwarded(request)`. Requests and sockets are as without it: what a framework makes of these fields
   * (`trust proxy` of Express) is its own. Default: none. */
  forwarding?: ForwardingOptions
  /** Other processes may listen on the same port, each with a share of the connections that the kernel gives it.
   * Default: what `listen` says with `reusePort`. In a worker of a cluster that says neither, and no `exclusive`,
   * the primary listens. */
  sharesPort?: boolean
  /**
   * A path at which processes that serve one after the other meet. A server that waits there (`handOver`, `trunkline serve --upgrade`) gives its
   * listening sockets to this one and closes once this one serves: no client is refused, and HTTP/3 connections of the other live on.
   * Then, and where none waits, this one waits there for the next process. Default: none.
   */
  handOver?: string
  /**
   * The form of `request` events on HTTP/2 and HTTP/3: 'http' for the requests and responses of
   * node:http, as on HTTP/1.1, 'http2' for those of node:http2. Default: 'http' for an Express
   * application, 'http2' for others. With 'http' the server also has the options and members of a
   * server of node:http.
   */
  requests?: 'http' | 'http2'
}
export interface Http2SecureServerOptions extends SecureServerOptions, Http2ServerOptions {
  /** HTTP/3 on the same port. Default: false. */
  http3?: boolean
  /** Connection ids of HTTP/3 by which load balancers find this server (QUIC-LB). Default: ids that say nothing to others. */
  quicLb?: QuicLb
  /** The descriptor of a UDP socket for HTTP/3, of the port of the TCP socket that `listen({ fd })` names, which the server closes at its end. Default: it binds one. */
  udpFd?: number
}

/** Private members of `net.Server`, as far as they are needed here. */
interface Bare extends net.Server {
  _handle: unknown
  /** `unref` was called, perhaps before there was a handle. */
  _unref?: boolean
  _emitCloseIfDrained: () => void
  _listen2: (address: string | null, port: number | null, family: number | null, backlog: number, fd?: number) => void
  /** Ours: whose descriptor is listened on. */
  http1Owner?: NodeHandle | undefined
  /** Ours: whether other processes may listen on its port. */
  isShared?: boolean
}
type Made<S> = abstract new (...args: any[]) => S

/** Checks what node:http2 checks, with its errors. */
function checked<T extends object> (options: T | undefined): T {
  nodeServer(options as ServerOptions)
  checkObject(options, 'options')
  const own = { ...options } as T & Http2ServerOptions
  checkApplied(own)
  checkRequests(own)
  checkBounds(own)
  own.settings = wholeSettings(own.settings)
  return own
}

/** Throws where options ask for other words on the wire, or other requests, than there are. Bounds that
 * the engine has by other names are taken in silence. */
function checkApplied (options: Http2ServerOptions & { strictFieldWhitespaceValidation?: boolean }): void {
  const { paddingStrategy = 0, remoteCustomSettings, settings } = options
  if (paddingStrategy !== nodeHttp2.constants.PADDING_STRATEGY_NONE) throw notProvided(`paddingStrategy is ${paddingStrategy}; it must be PADDING_STRATEGY_NONE: nothing is padded`)
  checkListed(remoteCustomSettings)
  checkSettings(settings)
  if (options.strictFieldWhitespaceValidation === false) warnStrict('strictFieldWhitespaceValidation', false)
}

/** A copy with whole numbers: what is behind the point is cut off, as where node packs settings. */
function wholeSettings (settings: Settings | undefined): Settings {
  const own: Record<string, unknown> = { ...settings }
  for (const [name, value] of Object.entries(own)) if (typeof value === 'number' && Number.isFinite(value)) own[name] = Math.trunc(value)
  return own
}

function checkRequests ({ requests }: Http2ServerOptions): void {
  if (requests !== undefined && requests !== 'http' && requests !== 'http2') throw invalidType('options.requests', "'http' or 'http2'", requests)
}

function checkSettings (settings: Settings | undefined): void {
  // Node checks them when the first session begins, which then fails.
  if (typeof settings === 'object') nodeHttp2.getPackedSettings(settings)
}

/** Options of node:http2 that are limits of the engine's. */
function limitsOf (options: Http2ServerOptions & Untyped): Limits {
  const { maxHeaderListPairs: pairs, streamResetBurst: burst, streamResetRate: perSecond, maxSessionInvalidFrames: invalid, maxSessionRejectedStreams: rejected } = options
  const limits: Limits = { settingsPerFrameMax: settingsMaxOf(options.maxSettings) }
  if (invalid !== undefined) limits.streamErrorsMax = invalid
  if (rejected !== undefined) limits.refusedStreamsMax = rejected
  if (typeof options.maxSessionMemory === 'number') limits.queuedBytesMax = Math.trunc(Math.max(options.maxSessionMemory, 1) * BYTES_PER_MB)
  if (typeof pairs === 'number') limits.fieldCountMax = Math.max(pairs, HEADER_PAIRS_MIN)
  // Node applies the two only together.
  if (burst !== undefined && perSecond !== undefined) limits.resets = { burst, perSecond }
  return limits
}

/** The limits of a head of HTTP/1.1. `bytes`: of its target, names and values, as node:http counts them. */
function headLimits (bytes: number): Limits {
  const section = bytes + HEAD_FIELDS_MAX * FIELD_OVERHEAD_BYTES
  // Sections of every version have one limit: it only gives way to a higher one.
  return { headBytesMax: bytes + HEAD_BYTES_BESIDE, targetBytesMax: bytes, ...(section > SECTION_BYTES_DEFAULT ? { fieldSectionBytesMax: section } : {}) }
}

function engineOf (value: unknown): Engine | undefined {
  if (value === undefined || isEngine(value)) return value
  throw invalidValue('options.engine', value, `must be ${ENGINES_TEXT}`)
}

function pathOf (value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw invalidType('options.handOver', 'of type string', value)
}

/** Options of node:http2 that its types lack. */
interface Untyped {
  streamResetBurst?: number
  streamResetRate?: number
  maxSettings?: number
  maxOutstandingSettings?: number
  maxSendHeaderBlockLength?: number
  strictSingleValueFields?: boolean
}

function compatServerOptions (options: Http2ServerOptions & Untyped & Http1Options & Partial<Pick<Http2SecureServerOptions, 'origins' | 'handshakeTimeout'>>, own: OwnHttp1): CompatServerOptions {
  const { http1Options = {} } = options
  const ofHttp: HttpOptions = options.requests === 'http' ? options : {}
  return {
    settings: options.settings ?? {},
    drainTimeout: deadlineOf(options.drainTimeout),
    engine: engineOf(options.engine),
    sharesPort: options.sharesPort,
    handOver: pathOf(options.handOver),
    schemeFromGateway: options.schemeFromGateway,
    proxyProtocol: options.proxyProtocol,
    forwarding: options.forwarding,
    requests: options.requests,
    limits: { ...limitsOf(options), ...headLimits(own.maxHeaderSize || http.maxHeaderSize), ...options.limits },
    windows: options.windows,
    shedding: options.shedding,
    timeouts: { ...(options.handshakeTimeout === undefined ? {} : { handshake: options.handshakeTimeout }), ...options.timeouts },
    unknownProtocolTimeout: options.unknownProtocolTimeout ?? UNKNOWN_PROTOCOL_MS,
    session: {
      pingsMax: options.maxOutstandingPings ?? OUTSTANDING_MAX,
      settingsMax: typeof options.maxOutstandingSettings === 'number' ? Math.max(options.maxOutstandingSettings, 1) : OUTSTANDING_MAX,
      isStrict: !(takesLooseFields && options.strictSingleValueFields === false),
      headBlockBytesMax: typeof options.maxSendHeaderBlockLength === 'number' ? options.maxSendHeaderBlockLength : undefined,
      origins: options.origins ?? [],
      listedSettings: options.remoteCustomSettings ?? []
    },
    Http2ServerRequest: options.Http2ServerRequest,
    Http2ServerResponse: options.Http2ServerResponse,
    takesHostless: takesHostless(options),
    http1: {
      IncomingMessage: (http1Options.IncomingMessage ?? options.Http1IncomingMessage ?? ofHttp.IncomingMessage ?? http.IncomingMessage) as typeof http.IncomingMessage,
      ServerResponse: (http1Options.ServerResponse ?? options.Http1ServerResponse ?? ofHttp.ServerResponse ?? http.ServerResponse) as typeof http.ServerResponse,
      joinDuplicateHeaders: own.joinDuplicateHeaders,
      rejectNonStandardBodyWrites: own.rejectNonStandardBodyWrites === true,
      unique: uniqueOf(own)
    }
  }
}

/** A handle of libuv's, of node's own. */
interface NodeHandle { fd?: number; close: (done?: () => void) => void }

/** As node does it: a worker that is disconnected closes its servers, and ends when they have. */
function closeWithWorker (server: net.Server): void {
  const { worker } = cluster
  if (!cluster.isWorker || worker === undefined) return
  const close = (): void => { server.close() }
  worker.once('disconnect', close)
  server.once('close', () => { worker.removeListener('disconnect', close) })
}

/** The handle that a worker of a cluster gets of its primary: a handle of libuv's (`SCHED_NONE`), or one without a descriptor, which
 * gets the connections that the primary has accepted (`SCHED_RR`). */
interface ClusterHandle extends NodeHandle {
  onconnection?: (status: number, connection: AcceptedHandle) => void
  getsockname?: (out: Record<string, unknown>) => number
}

/** Whether a worker of a cluster asks the primary for a place to listen at. */
function isOfPrimary (server: net.Server, options: Record<string, unknown>): boolean {
  const { sharesPort } = (server as net.Server & { compatServer: CompatServer }).compatServer
  return cluster.isWorker && options.exclusive !== true && options.reusePort !== true && (typeof options.path === 'string' || sharesPort === undefined)
}

/** `listen` with every form of its arguments. In a cluster the primary listens, as node has it: a worker that ends takes no
 * connection with it that waits to be accepted. */
function ownListen (listen: Listener, server: net.Server, args: unknown[]): net.Server {
  const { _normalizeArgs: normalize } = net as unknown as { _normalizeArgs: (args: unknown[]) => [Record<string, unknown>, unknown] }
  const [options, callback] = normalize(args)
  const given = (options._handle ?? options.handle ?? options) as Partial<NodeHandle>
  const isNothing = args.length === 0 || typeof args[0] === 'function' || options.port === null
  const rest = typeof args[0] === 'function' ? args : args.slice(1)
  const bare = server as Bare
  bare.http1Owner = undefined
  bare.isShared = options.reusePort === true
  if (typeof given.fd !== 'number') {
    const own = Object.assign(Object.create(options) as object, isNothing ? { port: 0 } : {}, isOfPrimary(server, options) ? {} : { exclusive: true })
    try {
      return listen.call(server, own, ...rest) as unknown as net.Server
    } catch (error) {
      // The error is to show the options as they were given.
      if ((error as { code?: string }).code === 'ERR_INVALID_ARG_VALUE') listen.call(server, options, ...rest)
      throw error
    }
  }
  if (typeof given.close === 'function') bare.http1Owner = given as NodeHandle
  // Node would have the primary of a cluster listen on a descriptor of its own; handles of TCP, which have a
  // name, it takes as they are.
  if (!cluster.isWorker || bare._handle !== null || 'getsockname' in given) return listen.call(server, options, ...rest) as unknown as net.Server
  if (typeof callback === 'function') server.once('listening', callback as () => void)
  bare._listen2(null, null, null, 0, given.fd)
  return server
}

function placeOf (address: string | null, port: number | null, fd: number | undefined): ListenTarget {
  if (typeof fd === 'number') return { fd }
  if (port === NO_PORT) return { path: address! }
  return address === null ? { port: port! } : { host: address, port: port! }
}

/** Where a worker of a cluster listens itself: on the primary's descriptor, or with HTTP/3 beside the connections that the
 * primary hands out. */
function placeBehind (compatServer: CompatServer, handle: ClusterHandle): ListenTarget {
  if (typeof handle.fd === 'number') return { fd: handle.fd, fdIsBorrowed: true }
  if (!compatServer.hasHttp3 || handle.getsockname === undefined) return { detached: true }
  const place: { address?: string; port?: number } = {}
  handle.getsockname(place as Record<string, unknown>)
  return { host: place.address!, port: place.port!, udpOnly: true }
}

/** The common part of both servers: `Base`, listening with the engine. */
function serving<B extends Made<net.Server>> (Base: B, Traced: { prototype: EventEmitter }) {
  abstract class Serving extends Base {
    timeout = 0
    // With `requests: 'http'`, and under TLS with `allowHTTP1`.
    declare headersTimeout?: number
    declare requestTimeout?: number
    declare keepAliveTimeout?: number
    declare maxHeadersCount?: number | null
    declare maxRequestsPerSocket?: number
    declare closeAllConnections?: () => void
    /** Made by the constructors. */
    declare readonly compatServer: CompatServer

    override listen (...args: any[]): this { return ownListen(Base.prototype.listen as Listener, this, args) as this }

    /** Called by node's `listen` after it has parsed its arguments. */
    _listen2 (address: string | null, port: number | null, _family: number | null, backlog: number, fd?: number): void {
      const server = this as unknown as Bare
      const { http1Owner } = server
      // Node has put one here that it knows for one of TCP. It may accept already, and its connections are
      // the engine's from here on; one of a path is kept, because its file goes with it.
      const taken = server._handle as ClusterHandle | null
      server.http1Owner = undefined
      server._handle = null
      if (cluster.isWorker && taken !== null && http1Owner === undefined) return this.listenBehindPrimary(taken, address, port, backlog)
      try {
        const place = http1Owner === undefined ? placeOf(address, port, fd) : { fd: http1Owner.fd!, fdIsBorrowed: true }
        server._handle = this.compatServer.listen(place, backlog, taken === null ? http1Owner : undefined, server.isShared)
        if (server._unref === true) this.unref()
        taken?.close()
        closeWithWorker(this)
      } catch (failure) {
        const error = listenError(failure as { message: string; system?: string }, address, taken === null ? port : null, true)
        process.nextTick(() => { server.emit('error', error) })
        return
      }
      process.nextTick(() => { if (server._handle !== null) server.emit('listening') })
    }

    /** Serves the connections of a socket that the cluster's primary listens on. */
    listenBehindPrimary (handle: ClusterHandle, address: string | null, port: number | null, backlog: number): void {
      const server = this as unknown as Bare
      const release = handle.close.bind(handle)
      // A worker that is disconnected closes what it has of the primary, and waits for that.
      handle.close = done => { this.close(done) }
      try {
        server._handle = this.compatServer.listen(placeBehind(this.compatServer, handle), backlog, { close: release }, true)
      } catch (failure) {
        release()
        const error = listenError(failure as { message: string; system?: string }, address, port, true)
        process.nextTick(() => { server.emit('error', error) })
        return
      }
      if (typeof handle.fd !== 'number') handle.onconnection = (status, connection) => { if (status === 0) this.compatServer.take(connection) }
      if (handle.getsockname !== undefined) Object.assign(server._handle as object, { getsockname: handle.getsockname.bind(handle) })
      if (server._unref === true) this.unref()
      closeWithWorker(this)
      process.nextTick(() => { if (server._handle !== null) server.emit('listening') })
    }

    /**
     * Called by node when the server or a connection is closed: 'close' follows the last of them.
     * The engine closes on its own thread, so the ports may be taken a moment longer.
     */
    _emitCloseIfDrained (): void {
      if (!this.compatServer.isListening) (Base.prototype as Bare)._emitCloseIfDrained.call(this)
    }

    setTimeout (time: number, callback?: () => void): this {
      this.timeout = time
      if (callback === undefined) return this
      checkCall(callback, 'callback')
      this.on('timeout', callback)
      return this
    }

    updateSettings (settings: Settings): void {
      checkObject(settings, 'settings')
      nodeHttp2.getPackedSettings(settings)
      checkSettings(settings)
      this.compatServer.updateSettings(settings)
    }

    override close (done?: (error?: Error) => void): this {
      super.close(done)
      this.compatServer.closeAdopted()
      return this
    }

    /**
     * Its counts since it listens as OpenMetrics text, for a scraper; its media type is `OPENMETRICS_TYPE`. How many series
     * there are does not depend on what clients send. Where it does not listen it is an exposition without a metric.
     */
    metrics (): string { return this.compatServer.metrics() }

    /**
     * Opens a page for people that shows the server's connections with their exchanges, and why each of them waits: at a port of
     * loopback, by default a free one. It ends with `close()` of the result, or with the server, and does not keep the process alive.
     *
     * @throws InvalidArgumentError where the server does not listen, an option cannot be used, or others could reach the page and there is no
     * `token`; the system's error where the place is taken.
     */
    inspect (options: InspectPageOptions = {}): InspectPage { return this.compatServer.inspect(options) }

    /**
     * Waits at `path`, by default that of the option `handOver`, for another process that is to take the place of this one (its option
     * `handOver`, or `trunkline serve --upgrade`). It gets the listening sockets; once it serves, this one closes as by `close()`, and this resolves with true.
     * A process that does not come up is a warning, and this one serves on. False: this server has ended before.
     */
    async handOver (path?: string): Promise<boolean> { return await this.compatServer.handOver(path) }

    /** The client of a request as a listed proxy states it (option `forwarding`); null: none does. */
    forwarded (request: Forwardable): ForwardedClient | null { return this.compatServer.forwarded(request) }

    closeIdleConnections (): void { this.compatServer.closeIdle() }

    /** Tools that trace requests put a method of their own in the place of `emit` of node's HTTP servers. */
    override emit (event: string | symbol, ...given: any[]): boolean {
      const emit = event === 'request' ? Traced.prototype.emit : super.emit
      return emit.call(this, event, ...given)
    }
  }
  Object.defineProperty(Serving.prototype, EventEmitter.captureRejectionSymbol, { value: onRejection, writable: true, configurable: true })
  return Serving
}

const prototypes = new Map<Function, object>()

/** Makes a server with requests of node:http one of node's class for them too, by which programs know it. Bun's class is no
 * server of node:net, whose members it would hide: there the server keeps its own. */
function beAlso (server: net.Server, Class: Function): void {
  if (!(Class.prototype instanceof net.Server)) return
  const known = prototypes.get(Class)
  const prototype = known ?? Object.create(Class.prototype as object) as object
  if (known === undefined) {
    prototypes.set(Class, prototype)
    const { prototype: end } = Class === http.Server ? net.Server : tls.Server
    for (let from = Object.getPrototypeOf(server) as object; from !== end; from = Object.getPrototypeOf(from) as object) {
      const { constructor: _, ...members } = Object.getOwnPropertyDescriptors(from)
      for (const name of Reflect.ownKeys(members)) if (!Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, Reflect.get(members, name) as PropertyDescriptor)
    }
  }
  Object.setPrototypeOf(server, prototype)
}

export class Http2Server extends serving(net.Server, http.Server) {
  constructor (options?: Http2ServerOptions, listener?: Listener) {
    const own = checked(options)
    const isOfHttp = own.requests === 'http'
    super({ ...(isOfHttp ? { noDelay: true, allowHalfOpen: true } : {}), ...own } as net.ServerOpts)
    const { http1 = true, http2 = true } = own
    const ofHttp1 = ownHttp1(own)
    if (isOfHttp) beAlso(this, http.Server)
    Object.assign(this, { compatServer: new CompatServer(this, compatServerOptions(own, ofHttp1), { http1, http2 }) })
    if (isOfHttp) setMembers(this, ofHttp1)
    if (typeof listener === 'function') this.on('request', listener)
  }
}

export class Http2SecureServer extends serving(tls.Server, https.Server) {
  private readonly admission: ClientOptions
  private readonly policy: Policy | undefined
  constructor (options?: Http2SecureServerOptions, listener?: Listener) {
    const own = checked(options)
    if (own.ALPNCallback == null) own.ALPNProtocols = own.allowHTTP1 === true ? ['h2', 'http/1.1'] : ['h2']
    super(own)
    // Node's own listener would begin a handshake on our connection events.
    this.removeAllListeners('connection')
    const { SNICallback, ALPNCallback, ...others } = own
    const { http3 = false } = own
    const allowHTTP1 = Boolean(own.allowHTTP1)
    const chooser = { SNICallback: SNICallback ?? undefined, ALPNCallback: ALPNCallback ?? undefined }
    checkChooser(chooser, http3)
    this.admission = admissionOf(own as ClientAuthOptions)
    this.policy = policyOf(own)
    const offer = { http1: allowHTTP1, http3, quicLb: own.quicLb, udpFd: own.udpFd, isSecure: true, tls: identityOf(others), clients: this.admission, policy: this.policy, chooser }
    const http1 = allowHTTP1 || own.requests === 'http' ? ownHttp1(own) : {}
    if (own.requests === 'http') beAlso(this, https.Server)
    Object.assign(this, { compatServer: new CompatServer(this, compatServerOptions(own, http1), offer) })
    setMembers(this, http1)
    if (typeof listener === 'function') this.on('request', listener)
  }

  override setSecureContext (options: tls.SecureContextOptions): void {
    super.setSecureContext(options)
    // Called by the constructor of node's too, before there is a `CompatServer`.
    if ((this as { compatServer?: CompatServer }).compatServer === undefined) return
    const given = optionsIn(options)
    checkContext(given, this.admission, this.policy)
    this.compatServer.setIdentity(identityIn(given))
  }
  override addContext (name: string, options: tls.SecureContextOptions | tls.SecureContext): void {
    super.addContext(name, options)
    const given = optionsIn(options)
    checkContext(given, this.admission, this.policy)
    this.compatServer.setIdentity(identityIn(given), name)
  }
}

/**
 * QUIC handshakes cannot wait for a callback: a server that refuses clients in one would serve them
 * over HTTP/3.
 */
function checkChooser (chooser: Chooser, http3: boolean): void {
  for (const [name, callback] of Object.entries(chooser)) {
    if (callback === undefined) continue
    if (typeof callback !== 'function') throw invalidType(`options.${name}`, 'of type function', callback)
    if (http3) throw notProvided(`${name} is not asked over HTTP/3: leave http3 out, or use addContext for each name`)
  }
}

/** A listener's promise was rejected: what it has not answered is answered with 500. */
function onRejection (this: net.Server, error: Error, event: string, ...given: any[]): void {
  if (event === 'stream') {
    const [stream] = given as [ServerHttp2Stream]
    // One that is over cannot be answered any more: its listener fails alone.
    if (stream.headersSent || stream.destroyed) return void stream.destroy(error)
    stream.respond({ ':status': 500 })
    stream.end()
  } else if (event === 'request') {
    const [, response] = given as [unknown, http.ServerResponse]
    if (response.headersSent || response.writableEnded) return void response.destroy()
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    response.statusCode = 500
    response.end(http.STATUS_CODES[500])
  } else {
    const { prototype } = net.Server as unknown as { prototype: Record<symbol, ((...all: unknown[]) => void) | undefined> }
    const otherwise = prototype[EventEmitter.captureRejectionSymbol]
    if (otherwise === undefined) this.emit('error', error)
    else otherwise.call(this, error, event, ...given)
  }
}
/** Streams with a session of `performServerHandshake`. */
const bound = new WeakSet<object>()

/**
 * A session of HTTP/2 on a stream whose protocol is known by other means, as node:http2's: without a server, and its events are its own.
 *
 * @throws TypeError (`ERR_INVALID_ARG_TYPE`) for what is no Duplex or wrong options; Error (`ERR_HTTP2_SOCKET_BOUND`) where the stream has a session already.
 */
export function performServerHandshake (socket: object, options: Http2ServerOptions = {}): ServerHttp2Session {
  if (bound.has(socket)) throw ofClient('ERR_HTTP2_SOCKET_BOUND')
  const session = new Http2Server({ ...options, http1: false }).compatServer.handshake(socket)
  bound.add(socket)
  return session
}

export function createServer (options?: Http2ServerOptions | Listener, listener?: Listener): Http2Server {
  return typeof options === 'function' ? new Http2Server({}, options) : new Http2Server(options, listener)
}
export function createSecureServer (options?: Http2SecureServerOptions, listener?: Listener): Http2SecureServer {
  if (typeof options === 'function') throw invalidType('options', 'of type object', options)
  return new Http2SecureServer(options, listener)
}

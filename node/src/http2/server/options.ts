// The options of the servers, checked as node:http2 checks its own and with its errors, and as its engine gets them.

import http from 'node:http'
import nodeHttp2, { type SecureServerOptions, type ServerOptions, type Settings } from 'node:http2'
import { nodeLine } from '../../node_version'
import { ENGINES_TEXT, isEngine, type Engine } from '../../channel/place'
import { checkBounds, type Limits, type Shedding, type Timeouts, type Windows } from '../../server/bounds'
import type { ForwardingOptions } from '../../server/forwarded'
import { deadlineOf } from '../../server/listen/options'
import type { QuicLb } from '../../server/listen/quic_lb'
import { notProvided } from '../../server/refused'
import { checkObject, invalidType, invalidValue } from '../codes'
import { checkListed } from '../options/custom_settings'
import type { Chooser } from '../handshake/client_hello'
import { takesHostless, optimizesEmpty, uniqueOf, warnStrict, type HttpOptions, type Http1Options, type OwnHttp1 } from './http1_options'
import { countOf, memoryOf, sentHeadMaxOf, settingsMaxOf, windowOf } from '../options/option_bounds'
import { HTTP1_FIELDS_MAX } from './bounds'
import type { CompatServerOptions } from './compat_options'

/** The fewest pairs of a request: the pseudo-headers alone are as many. */
const HEADER_PAIRS_MIN = 4
/** The default of node:http2. */
const HEADER_PAIRS_MAX = 128

/** Streams that a peer is taken to allow until its settings have come. */
const PEER_STREAMS_MAX = 100
/** The default of node:http2. */
const UNKNOWN_PROTOCOL_MS = 10_000
/** Pings, and changes of settings, that a session may have under way: the default of node:http2. */
const OUTSTANDING_MAX = 10

/** From this line on node lets a program send fields twice of which a message has one. */
const takesLooseFields = nodeLine >= 24

/** As it was when this was loaded: programs may put ours in its place. */
const { createServer: nodeServer } = nodeHttp2

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

/** Checks what node:http2 checks, with its errors. */
export function checked<T extends object> (options: T | undefined): T {
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

export function checkSettings (settings: Settings | undefined): void {
  // Node checks them when the first session begins, which then fails.
  if (typeof settings === 'object') nodeHttp2.getPackedSettings(settings)
}

/** Options of node:http2 that are limits of the engine's. */
function limitsOf (options: Http2ServerOptions & Untyped): Limits {
  const { maxHeaderListPairs: pairs, maxDeflateDynamicTableSize: table, streamResetBurst: burst, streamResetRate: perSecond, maxSessionInvalidFrames: invalid, maxSessionRejectedStreams: rejected } = options
  const found: Record<string, unknown> = {
    settingsPerFrameMax: settingsMaxOf(options.maxSettings),
    streamErrorsMax: countOf(invalid),
    refusedStreamsMax: countOf(rejected),
    queuedBytesMax: memoryOf(options.maxSessionMemory),
    fieldCountMax: countOf(pairs, HEADER_PAIRS_MIN),
    encoderTableBytesMax: countOf(table)
  }
  // Node applies the two only together.
  if (burst !== undefined && perSecond !== undefined) found.resets = { burst: countOf(burst), perSecond: countOf(perSecond) }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
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
  connectionWindowSize?: number
  strictSingleValueFields?: boolean
}

export function compatServerOptions (options: Http2ServerOptions & Untyped & Http1Options & Partial<Pick<Http2SecureServerOptions, 'origins' | 'handshakeTimeout'>>, own: OwnHttp1): CompatServerOptions {
  const { http1Options = {} } = options
  const ofHttp: HttpOptions = options
  const isHttp = options.requests === 'http'
  const ownWindow = windowOf(options.connectionWindowSize)
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
    limits: { fieldCountMax: isHttp ? HTTP1_FIELDS_MAX : HEADER_PAIRS_MAX, ...limitsOf(options), ...options.limits },
    http1FieldsMax: options.limits?.fieldCountMax === undefined ? HTTP1_FIELDS_MAX : undefined,
    windows: { ...(ownWindow === undefined ? {} : { connection: ownWindow }), ...options.windows },
    shedding: options.shedding,
    timeouts: { ...(options.handshakeTimeout === undefined ? {} : { handshake: options.handshakeTimeout }), ...options.timeouts },
    unknownProtocolTimeout: options.unknownProtocolTimeout ?? UNKNOWN_PROTOCOL_MS,
    session: {
      pingsMax: options.maxOutstandingPings ?? OUTSTANDING_MAX,
      settingsMax: typeof options.maxOutstandingSettings === 'number' ? Math.max(options.maxOutstandingSettings, 1) : OUTSTANDING_MAX,
      isStrict: !(takesLooseFields && options.strictSingleValueFields === false),
      headBlockBytesMax: sentHeadMaxOf(options.maxSendHeaderBlockLength),
      peerStreamsMax: countOf(options.peerMaxConcurrentStreams) ?? PEER_STREAMS_MAX,
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
      optimizeEmptyRequests: optimizesEmpty(options),
      rejectNonStandardBodyWrites: own.rejectNonStandardBodyWrites === true,
      headBytesMax: own.maxHeaderSize || (options.limits?.headBytesMax === undefined ? http.maxHeaderSize : undefined),
      unique: uniqueOf(own)
    }
  }
}

/**
 * QUIC handshakes cannot wait for a callback: a server that refuses clients in one would serve them
 * over HTTP/3.
 */
export function checkChooser (chooser: Chooser, http3: boolean): void {
  for (const [name, callback] of Object.entries(chooser)) {
    if (callback === undefined) continue
    if (typeof callback !== 'function') throw invalidType(`options.${name}`, 'of type function', callback)
    if (http3) throw notProvided(`${name} is not asked over HTTP/3: leave http3 out, or use addContext for each name`)
  }
}

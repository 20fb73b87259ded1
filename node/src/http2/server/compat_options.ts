// The options of a server of node:http2 as they are after their checks, for its engine.

import type { EventEmitter } from 'node:events'
import type { Settings } from 'node:http2'
import type { BlockList } from 'node:net'
import type { Engine } from '../../channel/place'
import type { Limits, Shedding, Timeouts, Windows } from '../../server/bounds'
import type { ForwardingOptions } from '../../server/forwarded'
import type { Identity } from '../../server/listen/options'
import type { QuicLb } from '../../server/listen/quic_lb'
import type { ClientOptions } from '../../server/tls/clients'
import type { Policy } from '../../server/tls/policy'
import type { EndNotifier, Http1 } from '../compat/http1/members'
import type { SessionOptions } from '../connection/session'
import type { Chooser } from '../handshake/client_hello'

/** The checked options of a server; those of `Http2ServerOptions` have their meaning and defaults. */
export interface CompatServerOptions {
  /** Our SETTINGS on each connection of HTTP/2. */
  settings: Settings
  /** The thread that serves it; undefined: by TRUNKLINE_ENGINE. */
  engine: Engine | undefined
  /** Ms that open exchanges may take after `close`; undefined: as long as they need. */
  drainTimeout: number | undefined
  /** Ms until a connection without a known protocol is closed. */
  unknownProtocolTimeout: number
  /** Whether other processes may listen on the port; undefined: as `listen` and the cluster have it. */
  sharesPort: boolean | undefined
  /** Where processes that serve one after the other meet; undefined: nowhere. */
  handOver: string | undefined
  /** Whether the scheme of a request is taken from the gateway; undefined: false. */
  schemeFromGateway: boolean | undefined
  /** Load balancers whose connections begin with a header of the PROXY protocol; undefined: none. */
  proxyProtocol: string[] | undefined
  /** Proxies that state the client of each request; undefined: none. */
  forwarding: ForwardingOptions | undefined
  /** The form of `request` events on HTTP/2 and HTTP/3; undefined: by the listener. */
  requests: 'http' | 'http2' | undefined
  /** The limits of one peer. */
  limits: Limits
  /** Fields of a head of HTTP/1.1 where the server's `maxHeadersCount` says no other number; undefined: `limits` says it. */
  http1FieldsMax: number | undefined
  /** Receive windows and send buffers. */
  windows: Windows | undefined
  /** Requests that are answered without a listener; undefined: none. */
  shedding: Shedding | undefined
  /** The time limits of each phase, in ms. */
  timeouts: Timeouts
  /** The options that each session reads. */
  session: SessionOptions
  /** The class of requests on HTTP/2. */
  Http2ServerRequest: unknown
  /** The class of responses on HTTP/2. */
  Http2ServerResponse: unknown
  /** Whether requests of HTTP/1.1 without a host field are served. */
  takesHostless: boolean
  /** The classes and options of HTTP/1.1. */
  http1: Http1
}

/** The server's TLS offer. */
export interface Offer {
  http1: boolean
  http2?: boolean
  http3?: boolean
  quicLb?: QuicLb | undefined
  udpFd?: number | undefined
  isSecure?: boolean
  /** The default certificate. */
  tls?: Identity | undefined
  /** Which client certificates are requested. */
  clients?: ClientOptions
  /** Versions, suites and groups; undefined: all. */
  policy?: Policy | undefined
  /** The callbacks that choose each handshake's settings. */
  chooser?: Chooser
}

/** A server of node:net or node:tls, with the members by which it bounds connections. */
export interface OwnServer extends EventEmitter, Omit<EndNotifier, 'emit' | 'listenerCount'> {
  /** Whether the sockets of its connections stay open for writing behind the end of their client. */
  allowHalfOpen?: boolean
  headersTimeout?: number
  maxConnections?: number
  /** Clients that get no connection, from Node.js 22 on. */
  blockList?: BlockList
  _connections?: number
  _emitCloseIfDrained?: () => void
  close: () => unknown
}

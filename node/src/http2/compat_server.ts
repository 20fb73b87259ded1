// The engine behind a node:http2 server: turns connections and exchanges into sessions, streams,
// requests and responses.

import type { EventEmitter } from 'node:events'
import { Http2ServerRequest as NodeRequest, Http2ServerResponse as NodeResponse, type Settings } from 'node:http2'
import net from 'node:net'
import type { ClientOptions } from '../server/tls/clients'
import type { Connection } from '../server/connection'
import type { Exchange } from '../server/exchange'
import type { Limits, Shedding, Timeouts, Windows } from '../server/bounds'
import { InvalidArgumentError } from '../errors'
import type { InspectPage, InspectPageOptions } from '../inspect_page'
import { sum } from '../open_metrics'
import { Forwarding, type Forwardable, type ForwardedClient, type ForwardingOptions } from '../server/forwarded'
import type { FailedHandshake, Hello } from '../server/callbacks'
import type { Identity, ListenOptions, ListenTls, ListenTarget } from '../server/listen/options'
import { openTo } from '../server/listen/path'
import { Listener } from '../server/listener'
import type { QuicLb } from '../server/listen/quic_lb'
import type { Policy } from '../server/tls/policy'
import { brokenSession, clientError, hostMissing, RefusedBytes, refusalOf, transportError, type Refused } from './connection/broken'
import { showStream } from './channels'
import { extensionsOf } from './custom_settings'
import { Contexts } from './handshake/contexts'
import { AdoptedStream } from './connection/adopted'
import { handshakeError } from './handshake/handshake'
import type { Engine } from '../channel/place'
import type { Carried } from '../channel/streams'
import { choose, type Chooser } from './handshake/client_hello'
import type { Http1 } from './compat/http1/members'
import { reportAsHttp1 } from './compat/http1/report'
import { receiveErrors, Stage } from './compat/http1/stage'
import { reportUpgrade } from './compat/http1/upgrade'
import { isOfHttp1 } from './compat/express'
import { FreshConnections, later } from './later'
import { Http2ServerRequest } from './compat/request'
import { Http2ServerResponse } from './compat/response'
import { ServerHttp2Session, type SessionOptions } from './connection/session'
import { Socket, socketOf } from './connection/socket'
import { ServerHttp2Stream } from './stream/stream'
import { upgradeSocket } from './compat/upgrade'

/** A class of a user's in place of ours: it is made over the stream as node:http2 makes its own. */
type RequestClass = new (stream: unknown, headers: unknown, options: undefined, raw: string[]) => { socket: unknown }
type ResponseClass = new (stream: unknown) => { socket: unknown }

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

/** The server that it belongs to. */
interface Server extends EventEmitter {
  timeout: number
  headersTimeout?: number
  requestTimeout?: number
  keepAliveTimeout?: number
  keepAliveTimeoutBuffer?: number
  httpAllowHalfOpen?: boolean
  maxConnections?: number
  _connections?: number
  _emitCloseIfDrained?: () => void
  close: () => unknown
}

/** A handle of libuv's for a socket that was accepted; on Windows without a descriptor. */
export interface AcceptedHandle { fd?: number; close: () => void }

/** Replaces libuv's handle in node's `net.Server`. */
interface Handle {
  close: () => void
  /** Those of ports alone have it. */
  getsockname?: (out: Record<string, unknown>) => number
  /** Those of paths alone have it. */
  fchmod?: (mode: number) => number
  ref: () => void
  unref: () => void
  onconnection?: unknown
}

/** The bits that libuv knows of a pipe's mode. */
const UV_READABLE = 1
const UV_WRITABLE = 2

/** Versions of a connection. */
const SILENT = 1
/** Age of a silent connection when `onConnection` gets it, in ms (`engine/src/server/connection/first_bytes.rs`). */
const SILENT_MS = 200

/** RFC 9113 section 6.9.2, as node:http2 has it. */
const WINDOW_DEFAULT = 65_535

export class CompatServer {
  settings: Settings
  /** Until its ports are free again. */
  private listener: Listener | undefined
  private readonly sockets = new Map<Connection, Socket>()
  /** Connections beyond `maxConnections`, which emit no events. */
  private readonly dropped = new Set<Connection>()
  private readonly identities: Record<string, Identity> = {}
  private identity: Identity | undefined
  private wantsHttp1 = false
  private readonly forwarding: Forwarding | undefined
  private readonly contexts = new WeakMap<Listener, Contexts>()
  private readonly fresh = new FreshConnections()
  /** Streams of JavaScript's. */
  private readonly given = new AdoptedStream(() => this.detached(), (listener, stream, error) => { this.onFailedEarly(listener, stream, error) })
  /** The socket that listeners are being told of by this; itself: none. */
  private announced: unknown = this
  /** The listener of the server's own that takes streams. */
  private readonly taking: (stream: unknown) => void

  constructor (private readonly server: Server, private readonly options: CompatServerOptions, private readonly offer: Offer) {
    this.settings = options.settings
    this.identity = offer.tls
    this.wantsHttp1 = options.requests === 'http'
    if (options.forwarding !== undefined) this.forwarding = new Forwarding(options.forwarding, question => this.askForwarded(question))
    server.on('newListener', (event: string, listener: object) => {
      if (event === 'request' && options.requests === undefined && isOfHttp1(listener)) this.wantsHttp1 = true
      // Behind this event the listener is counted.
      if (event === 'timeout' && this.listener !== undefined && server.listenerCount('timeout') === 0) process.nextTick(() => { this.configure() })
    })
    const take = (isSecured: boolean) => (stream: unknown): void => { if (stream !== this.announced) this.given.take(stream, isSecured) }
    this.taking = take(false)
    server.on('connection', this.taking)
    if (offer.isSecure === true) server.on('secureConnection', take(true))
  }

  // Its life.

  /** Whether the option says that the port is shared, or that it is not. */
  get sharesPort (): boolean | undefined { return this.options.sharesPort }

  /** `borrowed`: what it listens on by a descriptor, or behind, and who closes it. `isShared`: other processes may
   * listen on the port. */
  listen (place: ListenTarget, backlog: number, borrowed?: { close: () => void }, isShared = false): Handle {
    const listener: Listener = this.listenerWith(() => {
      if (this.listener !== listener) return
      this.listener = undefined
      this.server._emitCloseIfDrained?.()
    })
    const question: ListenOptions = { ...place, ...this.question(), ...this.secured() }
    if (place.path === undefined && place.detached !== true) question.sharesPort = this.options.sharesPort ?? isShared
    if (backlog > 0) question.backlog = backlog
    if (this.options.handOver !== undefined) question.handOver = this.options.handOver
    if (this.options.shedding !== undefined) question.shedding = this.options.shedding
    if (this.offer.udpFd !== undefined && place.fd !== undefined) question.udpFd = this.offer.udpFd
    if (this.offer.quicLb !== undefined) question.quicLb = this.offer.quicLb
    listener.listen(question)
    this.listener = listener
    return this.handleOf(listener, place, borrowed)
  }

  /** Waits for the process that is to take the place of this one. */
  async handOver (path: string | undefined): Promise<boolean> {
    if (this.listener === undefined) throw new Error('the server does not listen, so that it has no sockets to hand over')
    return await this.listener.handOver(path)
  }

  /** Whether HTTP/3 is offered, which has sockets of its own. */
  get hasHttp3 (): boolean { return this.offer.http3 === true }

  /** Serves a connection that another process has accepted. */
  take (accepted: AcceptedHandle): void {
    const { listener } = this
    const { fd } = accepted
    if (listener !== undefined && typeof fd === 'number' && fd >= 0) {
      try {
        listener.take(fd)
      } catch {
        // It is closed already.
      }
      return accepted.close()
    }
    const { server } = this
    const socket = new net.Socket({ handle: accepted, allowHalfOpen: true } as net.SocketConstructorOpts)
    server._connections = (server._connections ?? 0) + 1
    socket.once('close', () => {
      server._connections = (server._connections ?? 1) - 1
      server._emitCloseIfDrained?.()
    })
    this.given.take(socket, false)
  }

  /** Of the listener and of the streams that were given. */
  metrics (): string {
    const listeners = [this.listener, this.given.listener]
    return sum(...listeners.filter(listener => listener !== undefined))
  }

  /** The client of a request as listed proxies state it. */
  forwarded ({ socket, rawHeaders }: Forwardable): ForwardedClient | null { return this.forwarding?.clientOf(socket.remoteAddress, rawHeaders) ?? null }

  private askForwarded (question: object): unknown {
    const listener = this.listener ?? this.given.listener
    if (listener === undefined) throw new InvalidArgumentError('forwarded() of a server that does not listen')
    return listener.forwarded(question)
  }

  /** Of the listener, or of the streams that were given where there is none. */
  inspect (options: InspectPageOptions): InspectPage {
    const listener = this.listener ?? this.given.listener
    if (listener === undefined) throw new InvalidArgumentError("inspect() of a server that does not listen: call it from its event 'listening' on")
    return listener.inspect(options)
  }

  /** A listener that listens nowhere, and does not hold the process. */
  private detached (): Listener {
    const listener = this.listenerWith(() => {})
    listener.unref()
    listener.listen({ ...this.question(), ...this.secured(), http3: false, detached: true })
    return listener
  }

  /** The TLS part of the listen options. */
  private secured (): { tls?: ListenTls } {
    const { identity, offer, server } = this
    if (offer.isSecure !== true) return {}
    return { tls: { ...identity, anyNames: true, ...offer.clients, policy: offer.policy, names: this.names(), asks: this.asks(), reportsSecrets: server.listenerCount('keylog') > 0 } }
  }

  private listenerWith (onClosed: () => void): Listener {
    const { server } = this
    return new Listener({
      onRequest: exchange => { this.arrive(exchange, () => { this.onRequest(exchange) }) },
      onConnection: connection => { this.onConnection(connection) },
      onIdentified: connection => { this.fresh.report(connection, () => { this.onIdentified(connection) }) },
      onConnectionClosed: connection => { this.fresh.report(connection, () => { this.onConnectionClosed(connection) }) },
      onRefused: (exchange, refused) => { this.arrive(exchange, () => { this.onRefused(exchange, refused) }) },
      onBroken: (connection, error, code) => { this.fresh.report(connection, () => { this.onBroken(connection, error, code) }) },
      onFailed: (connection, code) => { this.fresh.report(connection, () => { this.onFailed(connection, code) }) },
      onUnnegotiated: exchange => { this.onUnnegotiated(exchange) },
      onClientHello: (hello, connection) => { this.onClientHello(hello, connection) },
      onHandshakeFailed: (failure, connection) => { this.onHandshakeFailed(failure, connection) },
      onSecret: (line, connection) => { server.emit('keylog', Buffer.from(`${line}\n`), socketOf(Socket, true, connection)) },
      onHandedOver: () => { server.close() },
      onClosed
    }, this.options.engine)
  }

  private handleOf (listener: Listener, place: ListenTarget, borrowed: { close: () => void } | undefined): Handle {
    const handle: Handle = {
      close: () => {
        listener.close(this.options.drainTimeout)
        borrowed?.close()
      },
      ref: () => { listener.ref() },
      unref: () => { listener.unref() }
    }
    const { path } = place
    if (path !== undefined) {
      handle.fchmod = mode => {
        openTo(path, (mode & UV_READABLE) !== 0, (mode & UV_WRITABLE) !== 0)
        return 0
      }
    }
    if (listener.address() !== null) {
      handle.getsockname = out => {
        Object.assign(out, listener.address())
        return 0
      }
    }
    return handle
  }

  /** As with node, the contexts of names are unused where `SNICallback` is set. */
  private names (): Record<string, Identity> { return this.offer.chooser?.SNICallback === undefined ? this.identities : {} }

  private asks (): { names: boolean; protocols: boolean } {
    const { SNICallback, ALPNCallback } = this.offer.chooser ?? {}
    return { names: SNICallback !== undefined, protocols: ALPNCallback !== undefined }
  }

  /** The listen options of connections. */
  private question (): ListenOptions {
    const { offer, options, settings } = this
    return {
      http1: offer.http1,
      http2: offer.http2 ?? true,
      http3: offer.http3 ?? false,
      frameEvents: true,
      acceptEvents: true,
      spelledNames: true,
      schemeFromGateway: options.schemeFromGateway === true,
      proxyProtocol: options.proxyProtocol ?? [],
      takesHostless: options.takesHostless,
      expectations: true,
      handsOverRefusals: true,
      extendedConnect: settings.enableConnectProtocol === true,
      extensionSettings: extensionsOf(settings.customSettings),
      limits: this.limits(),
      windows: this.windows(),
      timeouts: this.options.timeouts,
      http1Timeouts: this.http1Timeouts()
    }
  }

  /** Sessions from now on begin with these settings too. */
  updateSettings (settings: Settings): void {
    this.settings = { ...this.settings, ...settings }
    this.configure()
  }
  /** Connections from now on go by the members of the server as they are now. */
  configure (): void { this.listener?.configure(this.question()) }

  /** How long a head may take, which is a part of its request; 0: for ever, undefined: as the engine has it. */
  private headTimeout (): number | undefined {
    const { headersTimeout, requestTimeout } = this.server
    const limits = [headersTimeout, requestTimeout].filter(time => time !== undefined)
    const finite = limits.filter(time => time > 0)
    return limits.length === 0 ? undefined : finite.length === 0 ? 0 : Math.min(...finite)
  }

  /** The timeouts that node:http has as members of a server; 0: never. */
  private http1Timeouts (): Timeouts {
    const { httpAllowHalfOpen, keepAliveTimeout, keepAliveTimeoutBuffer = 0 } = this.server
    const head = this.headTimeout()
    const patience = keepAliveTimeout === undefined || keepAliveTimeout === 0 ? keepAliveTimeout : keepAliveTimeout + keepAliveTimeoutBuffer
    // Listeners of `timeout` are told of a connection without a request, and decide.
    const idle = this.server.listenerCount('timeout') > 0 && patience !== undefined && patience > 0 ? head : patience
    return {
      ...(head === undefined ? {} : { head, firstRequest: head }),
      ...(idle === undefined ? {} : { idle }),
      ...(httpAllowHalfOpen === true ? { halfClosed: 0 } : {}),
      ...this.options.timeouts
    }
  }

  /** Settings of HTTP/2 that are limits of the engine's. */
  private limits (): Limits {
    const limits: Limits = {}
    const { maxConcurrentStreams, maxHeaderListSize, maxHeaderSize } = this.settings as Settings & { maxHeaderSize?: number }
    if (maxConcurrentStreams !== undefined) {
      limits.concurrentStreamsMax = limits.requestStreamsMax = maxConcurrentStreams
      // A handler may outlive its stream for a while.
      limits.runningHandlersMax = limits.requestHandlersMax = Math.min(2 * maxConcurrentStreams, 2 ** 32 - 1)
    }
    const { headerTableSize } = this.settings
    if (headerTableSize !== undefined) limits.headerTableBytesMax = headerTableSize
    const list = maxHeaderSize ?? maxHeaderListSize
    if (list !== undefined) limits.fieldSectionBytesMax = list
    return { ...limits, ...this.options.limits }
  }

  private windows (): Windows {
    return { ...this.options.windows, streamInitial: this.settings.initialWindowSize ?? WINDOW_DEFAULT }
  }

  /** Whether its ports are taken. */
  get isListening (): boolean { return this.listener !== undefined }

  setIdentity (identity: Identity, name?: string): void {
    if (name === undefined) this.identity = identity
    else {
      this.identities[name] = identity
      if (this.names() !== this.identities) return
    }
    this.listener?.setIdentity(identity, name)
    this.given.setIdentity(identity, name)
  }

  closeIdle (): void {
    this.listener?.closeIdle()
    this.given.closeIdle()
  }
  /** Ends every connection at once; it still listens. */
  closeAll (): void { for (const connection of this.sockets.keys()) connection.abort() }
  /** Streams that were given finish what is open. */
  closeAdopted (): void { this.given.close(this.options.drainTimeout) }
  /** Ends at once, also while it closes. */
  destroy (): void {
    this.listener?.destroy()
    this.given.destroy()
  }

  // Connections.

  private onConnection (connection: Connection): void {
    const { server } = this
    if (connection.stream === undefined && server.maxConnections != null && (server._connections ?? 0) >= server.maxConnections) return this.drop(connection)
    // As with node, connections that were given are not counted.
    if (connection.stream === undefined) server._connections = (server._connections ?? 0) + 1
    // A socket for its bytes follows at once.
    if (connection.version === 0) return
    if (connection.stream !== undefined && connection.version !== SILENT) this.given.begin(connection.stream)
    const socket = this.keep(connection, connection.version >= 20 ? socketOf(Socket, connection.encrypted, connection) : socketOf(Stage, connection.encrypted, connection))
    if (connection.version >= 20) this.reportSession(connection, socket)
    else if (server.timeout > 0) (socket as Stage).limit(connection.version === SILENT ? Math.max(server.timeout - SILENT_MS, 1) : server.timeout)
    if (connection.version < 20) receiveErrors(server, socket)
    connection.stream?.on('error', error => { this.failWith(connection, error) })
    if (this.isReported(connection)) return
    if (connection.encrypted && connection.stream === undefined) this.reportBare(connection, socket)
    this.announce(connection.encrypted ? 'secureConnection' : 'connection', socket)
  }

  /** The first bytes of a connection in cleartext have come. */
  private onIdentified (connection: Connection): void {
    const socket = this.sockets.get(connection)
    if (connection.stream !== undefined) this.given.begin(connection.stream)
    if (socket === undefined || this.dropped.has(connection)) return
    if (connection.version < 20) return
    ;(socket as Stage).leaveHttp1()
    this.reportSession(connection, socket)
  }

  /** Whether listeners have the stream of the connection, in the state in which it is now. */
  private isReported ({ stream }: Connection): boolean { return stream !== undefined && (this.offer.isSecure !== true || this.given.isSecured(stream)) }

  /** Emits an event for a connection of the engine's. */
  private announce (event: string, socket: Socket): void {
    this.announced = socket
    // One of its listeners is the server's own.
    if (this.server.listenerCount(event) > 1) this.fresh.add(socket.of)
    try {
      this.server.emit(event, socket)
    } finally {
      this.announced = this
    }
  }

  /** Servers of node:tls tell each connection as one of TCP too. */
  private reportBare (connection: Connection, over: Socket): void {
    if (this.server.listeners('connection').every(listener => listener === this.taking)) return
    const bare = new Socket(connection)
    over.once('close', () => { bare.gone() })
    // As TLS has it, an error below is one above.
    bare.on('error', error => { over.destroy(error) })
    this.announce('connection', bare)
  }

  /** As `net.Server` does: emits 'drop' for a connection beyond the limit and closes it. */
  private drop (connection: Connection): void {
    const { localAddress, localPort, remoteAddress, remotePort, remoteFamily } = connection
    this.dropped.add(connection)
    connection.abort()
    this.server.emit('drop', { localAddress, localPort, localFamily: remoteFamily, remoteAddress, remotePort, remoteFamily })
  }

  private keep<S extends Socket> (connection: Connection, socket: S): S {
    socket.server = this.server
    this.sockets.set(connection, socket)
    return socket
  }

  /** Refuses a connection without ALPN, unless a listener handles it. */
  private onUnnegotiated (exchange: Exchange): void {
    const { server } = this
    if (this.dropped.has(exchange.connection)) return
    const socket = this.keep(exchange.connection, upgradeSocket(exchange, true))
    if (!this.isReported(exchange.connection)) this.announce('secureConnection', socket)
    // A listener of the event before may have ended it.
    if (socket.writableEnded || socket.destroyed || server.emit('unknownProtocol', socket)) return
    const timer = setTimeout(() => { socket.destroy() }, this.options.unknownProtocolTimeout).unref()
    socket.once('close', () => { clearTimeout(timer) })
    socket.resume().end(MISSING_ALPN)
  }

  /** A client broke HTTP/1.1: a listener of `clientError` answers, or the status that says what was wrong. */
  private onRefused (exchange: Exchange, refused: Refused): void {
    const { connection } = exchange
    const shared = this.sockets.get(connection)
    const socket = shared !== undefined && Stage.is(shared) && !shared.destroyed ? shared.leaveServer() : socketOf(Socket, connection.encrypted, connection)
    socket.server = this.server
    new RefusedBytes(exchange, socket, this.server.httpAllowHalfOpen === true)
    if (refused.code === '') return void socket.end(hostMissing())
    const error = clientError(refused)
    if (this.server.emit('clientError', error, socket)) return
    // Listeners of the socket get the error, as with node:http.
    socket.failure = error
    socket.end(refusalOf(refused.status, refused.code))
  }

  private onBroken (connection: Connection, error: number, code: string): void {
    if (this.dropped.has(connection)) return
    if (connection.version >= 20) return (connection.owner as ServerHttp2Session | null)?.onBroken(brokenSession(error))
    // Nothing can be answered any more.
    const socket = this.sockets.get(connection)
    socket?.gone()
    this.server.emit('clientError', clientError({ code, status: 0, packet: Buffer.alloc(0), parsed: 0 }), socket)
  }

  private onFailed (connection: Connection, code: string): void {
    // A stream that was given has its own error.
    if (connection.stream === undefined) this.failWith(connection, transportError(code))
  }

  private failWith (connection: Connection, error: NodeJS.ErrnoException): void {
    const socket = this.sockets.get(connection)
    if (this.dropped.has(connection) || socket === undefined) return
    if (connection.version >= 20) {
      (connection.owner as ServerHttp2Session | null)?.onFailed(error)
      return
    }
    // Its requests first get what came for them. Sockets of HTTP/1.1 have a listener, which emits `clientError`; one that a
    // listener of `upgrade` got may have none, and an error would end the process.
    if (socket.listenerCount('error') > 0) socket.failure = error
  }

  /** A stream that was given failed before its first byte: of a server of node:http that is a client's error, of one of node:http2
   * a session's. */
  private onFailedEarly (listener: Listener, stream: Carried, error: Error): void {
    const { server } = this
    if (this.options.requests === 'http') {
      if (!server.emit('clientError', error, stream)) stream.destroy(error)
      return
    }
    const connection = listener.expect(stream, '')
    connection.closed = true
    this.reportSession(connection, this.keep(connection, socketOf(Socket, connection.encrypted, connection)))
    const session = connection.owner as ServerHttp2Session
    session.onFailed(error)
    session.onConnectionClosed(() => { this.sockets.delete(connection) })
  }

  private onClientHello (hello: Hello, connection: Connection): void {
    // Its callbacks are those of its own listeners alone.
    const listener = connection.listener as Listener
    const { chooser = {} } = this.offer
    const contexts = this.contexts.get(listener) ?? new Contexts(listener, this.offer)
    this.contexts.set(listener, contexts)
    choose(chooser, hello, socketOf(Socket, true, connection), {
      choose: (context, protocol) => { listener.choose(hello, context === undefined ? undefined : contexts.numberOf(context), protocol) },
      refuse: error => { listener.refuse(hello, error) }
    })
  }

  private onHandshakeFailed (failure: FailedHandshake, connection: Connection): void {
    const { server } = this
    const [error, socket] = [handshakeError(failure), socketOf(Socket, true, connection)]
    this.reportBare(connection, socket)
    // As with node, the socket is destroyed, and the server's own listener, which emits `clientError`, comes before those of the program.
    socket.destroy(error)
    server.emit('clientError', error, socket)
    server.emit('tlsClientError', error, socket)
  }

  private reportSession (connection: Connection, socket: Socket): void {
    const { server } = this
    const session = this.sessionOf(connection, socket)
    if (server.timeout > 0) session.setTimeout(server.timeout, () => { this.onSessionTimeout(session) })
    if (server.emit('session', session)) this.fresh.add(connection)
  }

  private sessionOf (connection: Connection, socket: Socket): ServerHttp2Session {
    const session = new ServerHttp2Session(connection, this.server as never, socket, this.fresh, { ...this.options.session, settings: this.settings })
    connection.owner = session
    return session
  }

  private onSessionTimeout (session: ServerHttp2Session): void {
    if (session.destroyed || session.closed) return
    if (!this.server.emit('timeout', session)) session.destroy()
  }

  private onConnectionClosed (connection: Connection): void {
    if (this.dropped.delete(connection)) return
    const { server } = this
    const socket = this.sockets.get(connection)
    this.sockets.delete(connection)
    const reported = (): void => {
      socket?.gone()
      if (connection.stream === undefined) server._connections = (server._connections ?? 1) - 1
      server._emitCloseIfDrained?.()
    }
    if (connection.owner instanceof ServerHttp2Session) connection.owner.onConnectionClosed(reported)
    else later(reported)
  }

  /** A session on a stream whose protocol is HTTP/2, without an event of the server's. */
  handshake (stream: unknown): ServerHttp2Session {
    const connection = this.given.expect(stream)
    return this.sessionOf(connection, this.keep(connection, socketOf(Socket, connection.encrypted, connection)))
  }

  // Exchanges.

  /** Tells of an exchange, and only then of what came for it meanwhile. */
  private arrive (exchange: Exchange, call: () => void): void {
    const { connection } = exchange
    if (this.fresh.has(connection)) exchange.isLate = true
    this.fresh.report(connection, call)
  }

  private onRequest (exchange: Exchange): void {
    const { server } = this
    if (this.dropped.has(exchange.connection)) return
    if (exchange.version < 20 || this.wantsHttp1) {
      const socket = this.sockets.get(exchange.connection)
      if (socket !== undefined && this.lacksHttp1()) this.refuseHttp1(exchange.connection, socket)
      else if (socket !== undefined) reportAsHttp1(server, exchange, socket, this.options.http1)
      return
    }
    const session = exchange.connection.owner as ServerHttp2Session
    if (exchange.protocol !== '' && !this.wantsTunnels(session) && reportUpgrade(server, exchange, this.options.http1)) return
    const stream = new ServerHttp2Stream(session, exchange)
    session.add(stream)
    showStream(stream)
    const flags = exchange.hasBody ? 4 : 5
    const isCore = server.listenerCount('stream') + session.listenerCount('stream') > 0
    const isCompatible = server.listenerCount('request') > 0 || COMPATIBLE.some(event => server.listenerCount(event) > 0)
    if (isCore && isCompatible && exchange.hasBody) stream.intake.share()
    let isReported = false
    if (server.listenerCount('stream') > 0) {
      isReported = true
      server.emit('stream', stream, stream.headers, flags, stream.rawHeaders)
    }
    if (isCompatible) {
      isReported = true
      this.reportCompatible(stream)
    }
    if (session.listenerCount('stream') > 0) {
      isReported = true
      session.emit('stream', stream, stream.headers, flags, stream.rawHeaders)
    }
    if (!isReported) stream.become()
  }

  /** Whether a request of HTTP/1.1 would never be answered: the program listens to streams alone. */
  private lacksHttp1 (): boolean { return !this.wantsHttp1 && OF_HTTP1.every(event => this.server.listenerCount(event) === 0) }

  /** As node:http2, which takes such a client for one that breaks HTTP/2. */
  private refuseHttp1 (connection: Connection, socket: Socket): void {
    this.reportSession(connection, socket)
    ;(connection.owner as ServerHttp2Session).onBroken(brokenSession(BAD_CLIENT_MAGIC))
  }

  /** Whether a listener handles an extended CONNECT as node:http2 does. */
  private wantsTunnels (session: ServerHttp2Session): boolean {
    return this.server.listenerCount('stream') + this.server.listenerCount('connect') + session.listenerCount('stream') > 0
  }

  private reportCompatible (stream: ServerHttp2Stream): void {
    const { server } = this
    const { exchange } = stream
    const [request, response] = this.pairOf(stream)
    if (exchange.method === 'CONNECT') {
      if (!server.emit('connect', request, response)) refuse(response, 405)
      return
    }
    const expected = exchange.field('expect')
    if (expected === undefined) server.emit('request', request, response)
    else if (expected !== '100-continue') {
      if (!server.emit('checkExpectation', request, response)) refuse(response, 417)
    } else if (!server.emit('checkContinue', request, response)) {
      response.writeContinue()
      server.emit('request', request, response)
    }
  }

  private pairOf (stream: ServerHttp2Stream): [Http2ServerRequest, Http2ServerResponse] {
    const { Http2ServerRequest: ownRequest, Http2ServerResponse: ownResponse } = this.options
    const isOwn = ownRequest !== undefined || ownResponse !== undefined
    if (!isOwn) {
      const request = new Http2ServerRequest(stream)
      return [request, new Http2ServerResponse(stream, request)]
    }
    // Both of node's kind: they find each other by symbols of node's own.
    const request = new ((ownRequest ?? NodeRequest) as RequestClass)(stream, stream.headers, undefined, stream.rawHeaders)
    const response = new ((ownResponse ?? NodeResponse) as ResponseClass)(stream)
    return [request, response] as unknown as [Http2ServerRequest, Http2ServerResponse]
  }
}

/** The response of node:http2 to a client without ALPN. */
const MISSING_ALPN = [
  'HTTP/1.0 403 Forbidden', 'Content-Type: text/plain', '', 'Missing ALPN Protocol, expected `h2` to be available.\n' +
  'If this is a HTTP request: The server was not configured with the `allowHTTP1` option or a listener for the ' +
  '`unknownProtocol` event.\n'
].join('\r\n')

/** nghttp2's number, without the sign, for a client that begins with another protocol. */
const BAD_CLIENT_MAGIC = 903
/** Events of requests of HTTP/1.1. */
const OF_HTTP1 = ['request', 'connect', 'upgrade', 'checkContinue', 'checkExpectation']
/** Events of the compatible API beside `request`. */
const COMPATIBLE = ['connect', 'checkContinue', 'checkExpectation']

function refuse (response: Http2ServerResponse, status: number): void {
  response.statusCode = status
  response.end()
}

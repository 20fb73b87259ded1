// The connections of a server of node:http2, with their sockets and sessions: each event of the engine becomes one of node's, in the
// order of node, and none for a connection that was dropped.

import type { Settings } from 'node:http2'
import { nodeLine } from '../../node_version'
import { HttpVersion } from '../../channel/codes'
import type { Carried } from '../../channel/streams'
import type { FailedHandshake, Hello } from '../../server/callbacks'
import type { Connection } from '../../server/connection'
import type { Exchange } from '../../server/exchange'
import type { Listener } from '../../server/listener'
import { receiveErrors, Stage } from '../compat/http1/stage'
import { upgradeSocket } from '../compat/upgrade'
import { AdoptedStream } from '../connection/adopted'
import { brokenSession, clientError, hostMissing, RefusedBytes, refusalOf, transportError, type Refused } from '../connection/broken'
import { ServerHttp2Session } from '../connection/session'
import { Socket, socketOf } from '../connection/socket'
import { choose } from '../handshake/client_hello'
import { Contexts } from '../handshake/contexts'
import { handshakeError } from '../handshake/handshake'
import { FreshConnections, later } from '../callbacks/later'
import { showSocket, showsSockets } from '../channels'
import type { CompatServerOptions, Offer, OwnServer } from './compat_options'
import { clearTimeout, setTimeout } from '../../timers'

/** Age of a silent connection when `onConnection` gets it, in ms (`engine/src/server/connection/first_bytes.rs`). */
const SILENT_MS = 10

/** Members that a socket of TCP does not have. */
const OF_TLS = ['encrypted', 'authorized', 'authorizationError', 'alpnProtocol', 'servername'] as const

/** The response of node:http2 to a client without ALPN. */
const MISSING_ALPN = [
  'HTTP/1.0 403 Forbidden', 'Content-Type: text/plain', '', 'Missing ALPN Protocol, expected `h2` to be available.\n' +
  'If this is a HTTP request: The server was not configured with the `allowHTTP1` option or a listener for the ' +
  '`unknownProtocol` event.\n'
].join('\r\n')

/** nghttp2's number, without the sign, for a client that begins with another protocol. */
const BAD_CLIENT_MAGIC = 903

/** Whether it is a connection of the server itself under TLS. Bun accepts connections in the place of this package, and emits each as `connection` too,
 * in front of `secureConnection`. */
function isOwnSecured (stream: unknown, server: OwnServer): boolean {
  const of = stream as { encrypted?: boolean; server?: unknown } | null | undefined
  return of?.encrypted === true && of.server === server
}

/** From this line on `maxConnections` of 0 is a bound, and not none. */
const boundsAtNone = nodeLine >= 22
const isBound = (most: number | undefined): most is number => boundsAtNone ? most != null : Boolean(most)

export class ServerConnections {
  readonly sockets = new Map<Connection, Socket>()
  /** Connections beyond `maxConnections`, which emit no events. */
  readonly dropped = new Set<Connection>()
  readonly fresh = new FreshConnections()
  /** Streams of JavaScript's. */
  readonly given: AdoptedStream
  private readonly contexts = new WeakMap<Listener, Contexts>()
  /** The socket that is being reported to listeners; itself: none. */
  private announced: unknown = this
  /** The listener of the server's own that takes streams. */
  private readonly taking: (stream: unknown) => void

  /** `detached` makes a listener for streams; `settings`: those that sessions begin with. */
  constructor (
    private readonly server: OwnServer,
    private readonly options: CompatServerOptions,
    private readonly offer: Offer,
    detached: () => Listener,
    private readonly settings: () => Settings
  ) {
    this.given = new AdoptedStream(detached, (listener, stream, error) => { this.onFailedEarly(listener, stream, error) })
    const take = (isSecured: boolean) => (stream: unknown): void => {
      if (stream === this.announced || (!isSecured && isOwnSecured(stream, server))) return
      this.given.take(stream, isSecured)
      // Listeners find the server by it, as with node:http.
      if (options.requests === 'http' && isSecured === (offer.isSecure === true)) (stream as { server?: OwnServer }).server = server
    }
    this.taking = take(false)
    server.on('connection', this.taking)
    if (offer.isSecure === true) server.on('secureConnection', take(true))
  }

  onConnection (connection: Connection): void {
    const { server } = this
    if (this.isBlocked(connection)) return this.turnAway(connection)
    if (connection.stream === undefined && isBound(server.maxConnections) && (server._connections ?? 0) >= server.maxConnections) return this.drop(connection)
    // As with node, connections that were given are not counted.
    if (connection.stream === undefined) server._connections = (server._connections ?? 0) + 1
    // A socket for its bytes follows at once.
    if (connection.version === HttpVersion.None) return
    if (connection.stream !== undefined && connection.version !== HttpVersion.Unidentified) this.given.begin(connection.stream)
    const socket = this.keep(connection, connection.version >= HttpVersion.Http2 ? socketOf(Socket, connection.encrypted, connection) : socketOf(Stage, connection.encrypted, connection))
    if (connection.stream === undefined && !connection.encrypted) showSocket(socket)
    // As with node its connection of TCP comes before all else.
    if (connection.encrypted && connection.stream === undefined) this.reportBare(connection, socket)
    if (connection.version >= HttpVersion.Http2) this.reportSession(connection, socket)
    else if (server.timeout > 0) (socket as Stage).$limit(connection.version === HttpVersion.Unidentified ? Math.max(server.timeout - SILENT_MS, 1) : server.timeout)
    if (connection.version < HttpVersion.Http2) receiveErrors(server, socket)
    connection.stream?.on('error', error => { this.failWith(connection, error) })
    if (this.isReported(connection)) return
    this.announce(connection.encrypted ? 'secureConnection' : 'connection', socket)
  }

  /** The first bytes of a connection in cleartext have come. */
  onIdentified (connection: Connection): void {
    const socket = this.sockets.get(connection)
    if (connection.stream !== undefined) this.given.begin(connection.stream)
    if (socket === undefined || this.dropped.has(connection)) return
    if (connection.version < HttpVersion.Http2) return
    ;(socket as Stage).$leaveHttp1()
    this.reportSession(connection, socket)
  }

  /** Whether listeners have the stream of the connection, in the state in which it is now. */
  private isReported ({ stream }: Connection): boolean { return stream !== undefined && (this.offer.isSecure !== true || this.given.isSecured(stream)) }

  /** Emits an event for a connection of the engine's. */
  private announce (event: string, socket: Socket): void {
    this.announced = socket
    // One of its listeners is the server's own.
    if (this.server.listenerCount(event) > 1) this.fresh.add(socket.$of)
    try {
      this.server.emit(event, socket)
    } finally {
      this.announced = this
      if (socket.destroyed) socket.$of.isTurnedAway = true
    }
  }

  /** Servers of node:tls tell each connection as one of TCP too. */
  private reportBare (connection: Connection, over: Socket): void {
    if (!showsSockets() && this.server.listeners('connection').every(listener => listener === this.taking)) return
    const bare = new Socket(connection)
    for (const name of OF_TLS) delete bare[name]
    over.once('close', () => { bare.$gone() })
    // As TLS has it, an error below is one above.
    bare.on('error', error => { over.destroy(error) })
    showSocket(bare)
    this.announce('connection', bare)
  }

  /** Whether the server's `blockList` has the client. */
  private isBlocked (connection: Connection): boolean {
    const { blockList } = this.server
    if (blockList === undefined || connection.stream !== undefined || connection.remoteAddress === undefined) return false
    return blockList.check(connection.remoteAddress, connection.remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4')
  }

  private turnAway (connection: Connection): void {
    this.dropped.add(connection)
    connection.isTurnedAway = true
    connection.abort()
  }

  /** As `net.Server` does: emits 'drop' for a connection beyond the limit and closes it. */
  private drop (connection: Connection): void {
    const { localAddress, localPort, remoteAddress, remotePort, remoteFamily } = connection
    this.turnAway(connection)
    this.server.emit('drop', { localAddress, localPort, localFamily: remoteFamily, remoteAddress, remotePort, remoteFamily })
  }

  keep<S extends Socket> (connection: Connection, socket: S): S {
    socket.server = this.server
    // Sockets of node:tls end with their client, unless the server's option says otherwise.
    if (connection.encrypted) socket.allowHalfOpen = this.server.allowHalfOpen === true
    this.sockets.set(connection, socket)
    return socket
  }

  /** Refuses a connection without ALPN, unless a listener handles it. */
  onUnnegotiated (exchange: Exchange): void {
    const { server } = this
    if (this.dropped.has(exchange.connection)) return
    const socket = this.keep(exchange.connection, upgradeSocket(exchange, true))
    if (exchange.connection.stream === undefined) this.reportBare(exchange.connection, socket)
    if (!this.isReported(exchange.connection)) this.announce('secureConnection', socket)
    // A listener of the event before may have ended it.
    if (socket.writableEnded || socket.destroyed || server.emit('unknownProtocol', socket)) return
    const timer = setTimeout(() => { socket.destroy() }, this.options.unknownProtocolTimeout).unref()
    socket.once('close', () => { clearTimeout(timer) })
    socket.resume().end(MISSING_ALPN)
  }

  /** A client broke HTTP/1.1: a listener of `clientError` answers, or the status that says what was wrong. */
  onRefused (exchange: Exchange, refused: Refused): void {
    const { connection } = exchange
    if (connection.isTurnedAway) return
    const shared = this.sockets.get(connection)
    const socket = shared !== undefined && Stage.is(shared) && !shared.destroyed ? shared.$leaveServer() : socketOf(Socket, connection.encrypted, connection)
    socket.server = this.server
    new RefusedBytes(exchange, socket, this.server.httpAllowHalfOpen === true)
    if (refused.code === '') return void socket.end(hostMissing())
    const error = clientError(refused)
    if (this.server.emit('clientError', error, socket)) return
    // Listeners of the socket get the error, as with node:http.
    socket.$failure = error
    socket.end(refusalOf(refused.status, refused.code))
  }

  onBroken (connection: Connection, error: number, code: string): void {
    if (this.dropped.has(connection)) return
    if (connection.version >= HttpVersion.Http2) return (connection.owner as ServerHttp2Session | null)?.$onBroken(brokenSession(error))
    // Nothing can be answered any more.
    const socket = this.sockets.get(connection)
    socket?.$gone()
    this.server.emit('clientError', clientError({ code, status: 0, packet: Buffer.alloc(0), parsed: 0 }), socket)
  }

  onFailed (connection: Connection, code: string): void {
    // A stream that was given has its own error.
    if (connection.stream === undefined) this.failWith(connection, transportError(code))
  }

  private failWith (connection: Connection, error: NodeJS.ErrnoException): void {
    const socket = this.sockets.get(connection)
    if (this.dropped.has(connection) || socket === undefined) return
    if (connection.version >= HttpVersion.Http2) return (connection.owner as ServerHttp2Session | null)?.$onFailed(error)
    // Its requests first get what came for them. Sockets of HTTP/1.1 have a listener, which emits `clientError`; one that a
    // listener of `upgrade` got may have none, and an error would end the process.
    socket.$hasFailed = true
    if (socket.listenerCount('error') > 0) socket.$failure = error
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
    session.$onFailed(error)
    session.$onConnectionClosed(() => { this.sockets.delete(connection) })
  }

  onClientHello (hello: Hello, connection: Connection): void {
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

  onHandshakeFailed (failure: FailedHandshake, connection: Connection): void {
    const { server } = this
    if (this.isBlocked(connection)) return
    const error = handshakeError(failure)
    // Nothing is agreed on, and a listener learns why the client's certificate is not trusted.
    const unagreed = { encrypted: true, authorized: false, authorizationError: failure.refusal, alpnProtocol: null, servername: null }
    const socket: Socket = Object.assign(socketOf(Socket, true, connection), unagreed)
    this.reportBare(connection, socket)
    // As with node, the socket is destroyed, and the server's own listener, which emits `clientError`, comes before those of the program.
    socket.destroy(error)
    server.emit('clientError', error, socket)
    server.emit('tlsClientError', error, socket)
  }

  private reportSession (connection: Connection, socket: Socket): void {
    const { server } = this
    socket.allowHalfOpen = false
    const session = this.sessionOf(connection, socket)
    if (server.timeout > 0) this.limit(session, socket)
    if (server.emit('session', session)) this.fresh.add(connection)
    if (session.destroyed) connection.isTurnedAway = true
  }

  private sessionOf (connection: Connection, socket: Socket): ServerHttp2Session {
    const session = new ServerHttp2Session(connection, this.server as never, socket, this.fresh, { ...this.options.session, settings: this.settings() })
    connection.owner = session
    return session
  }

  private limit (session: ServerHttp2Session, socket: Socket): void {
    session.setTimeout(this.server.timeout, () => { this.onSessionTimeout(session, socket) })
  }

  private onSessionTimeout (session: ServerHttp2Session, socket: Socket): void {
    if (session.destroyed || session.closed) return
    // Requests in the form of node:http count their own time, and what has left HTTP has none: the session's is that between requests.
    const isOfHttp = this.options.requests === 'http' || socket.$newestResponse !== null
    if (isOfHttp && socket.$of.open > 0) this.limit(session, socket)
    else if (!this.server.emit('timeout', session)) session.destroy()
  }

  onConnectionClosed (connection: Connection): void {
    if (this.dropped.delete(connection)) return
    const { server } = this
    const socket = this.sockets.get(connection)
    this.sockets.delete(connection)
    const reported = (): void => {
      socket?.$gone()
      if (connection.stream === undefined) server._connections = (server._connections ?? 1) - 1
      server._emitCloseIfDrained?.()
    }
    if (connection.owner instanceof ServerHttp2Session) connection.owner.$onConnectionClosed(reported)
    else later(reported)
  }

  /** A session on a stream whose protocol is HTTP/2, without an event of the server's. */
  handshake (stream: unknown): ServerHttp2Session {
    const connection = this.given.expect(stream)
    return this.sessionOf(connection, this.keep(connection, socketOf(Socket, connection.encrypted, connection)))
  }

  /** As node:http2, which takes such a client for one that breaks HTTP/2. */
  refuseHttp1 (connection: Connection, socket: Socket): void {
    this.reportSession(connection, socket)
    ;(connection.owner as ServerHttp2Session).$onBroken(brokenSession(BAD_CLIENT_MAGIC))
  }

  /** Tells of an exchange, and only then of what came for it meanwhile. */
  arrive (exchange: Exchange, call: () => void): void {
    const { connection } = exchange
    if (this.fresh.has(connection)) exchange.isLate = true
    this.fresh.report(connection, call)
  }
}

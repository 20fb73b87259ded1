// Where a server's connections and exchanges become what its listeners know: sessions, streams,
// requests and responses.

import type { EventEmitter } from 'node:events'
import { Http2ServerRequest as NodeRequest, Http2ServerResponse as NodeResponse, type Settings } from 'node:http2'
import type { Connection } from '../server/connection'
import type { Exchange } from '../server/exchange'
import { Listener, type Identity, type ListenOptions } from '../server/listener'
import { hearErrors, tellAsHttp1, tellUpgrade, type Classes } from './http1'
import { isOfHttp1 } from './express'
import { later } from './later'
import { Http2ServerRequest } from './request'
import { Http2ServerResponse } from './response'
import { ServerHttp2Session } from './session'
import { Socket } from './socket'
import { ServerHttp2Stream } from './stream'

/** A class of a user's in place of ours: it is made over the stream as node:http2 makes its own. */
type RequestClass = new (stream: unknown, headers: unknown, options: undefined, raw: string[]) => { socket: unknown }
type ResponseClass = new (stream: unknown) => { socket: unknown }

export interface DeskOptions {
  settings: Settings
  drainTimeout: number | undefined
  sharesPort: boolean | undefined
  limits: Record<string, number>
  timeouts: Record<string, number>
  Http2ServerRequest: unknown
  Http2ServerResponse: unknown
  classes: Classes
}

/** What is offered. */
export interface Offer {
  http1: boolean
  http3?: boolean
  tls?: Identity
}

/** The server whose desk it is. */
interface Server extends EventEmitter {
  timeout: number
  _connections?: number
  _emitCloseIfDrained?: () => void
}

/** What node's `net.Server` has in place of a handle of libuv. */
interface Handle {
  close: () => void
  getsockname: (out: Record<string, unknown>) => number
  ref: () => void
  unref: () => void
  onconnection?: unknown
}

export class Desk {
  settings: Settings
  private listener: Listener | undefined
  private readonly sockets = new Map<Connection, Socket>()
  private readonly identities: Record<string, Identity> = {}
  private identity: Identity | undefined
  private wantsHttp1 = false

  constructor (private readonly server: Server, private readonly options: DeskOptions, private readonly offer: Offer) {
    this.settings = options.settings
    this.identity = offer.tls
    server.on('newListener', (event: string, listener: object) => {
      if (event === 'request' && isOfHttp1(listener)) this.wantsHttp1 = true
    })
  }

  // Its life.

  listen (address: string | null, port: number, backlog: number): Handle {
    const listener = new Listener({
      onRequest: exchange => { this.onRequest(exchange) },
      onConnection: connection => { this.onConnection(connection) },
      onConnectionClosed: connection => { this.onConnectionClosed(connection) }
    })
    const { offer } = this
    const question: ListenOptions = { port, http1: offer.http1, http3: offer.http3 ?? false, limits: this.limits(), windows: this.windows() }
    question.timeouts = this.options.timeouts
    if (this.options.sharesPort !== undefined) question.sharesPort = this.options.sharesPort
    if (address !== null) question.host = address
    if (backlog > 0) question.backlog = backlog
    if (this.identity !== undefined) question.tls = { ...this.identity, names: this.identities }
    if (this.settings.enableConnectProtocol) question.extendedConnect = true
    listener.listen(question)
    this.listener = listener
    return {
      close: () => { listener.close(this.options.drainTimeout) },
      getsockname: out => {
        Object.assign(out, listener.address())
        return 0
      },
      ref: () => { listener.ref() },
      unref: () => { listener.unref() }
    }
  }

  /** Settings of HTTP/2 that are limits of the engine's. */
  private limits (): Record<string, number> {
    const limits: Record<string, number> = {}
    const { maxConcurrentStreams, maxHeaderListSize, maxHeaderSize } = this.settings as Settings & { maxHeaderSize?: number }
    if (maxConcurrentStreams !== undefined) {
      limits.concurrentStreamsMax = limits.requestStreamsMax = maxConcurrentStreams
      // A handler may outlive its stream for a while.
      limits.runningHandlersMax = limits.requestHandlersMax = Math.min(2 * maxConcurrentStreams, 2 ** 32 - 1)
    }
    const list = maxHeaderSize ?? maxHeaderListSize
    if (list !== undefined) limits.fieldSectionBytesMax = list
    return { ...limits, ...this.options.limits }
  }

  private windows (): Record<string, number> {
    const { initialWindowSize } = this.settings
    return initialWindowSize === undefined ? {} : { streamInitial: initialWindowSize }
  }

  /** Whether there is a certificate for everybody. */
  get hasIdentity (): boolean { return this.identity !== undefined }

  setIdentity (identity: Identity, name?: string): void {
    if (name === undefined) this.identity = identity
    else this.identities[name] = identity
    this.listener?.setIdentity(identity, name)
  }

  closeIdle (): void { this.listener?.closeIdle() }
  /** Ends at once, also while it closes. */
  destroy (): void { this.listener?.destroy() }

  // Connections.

  private onConnection (connection: Connection): void {
    const { server } = this
    server._connections = (server._connections ?? 0) + 1
    const socket = new Socket(connection)
    socket.server = server
    this.sockets.set(connection, socket)
    if (connection.version >= 20) this.tellSession(connection, socket)
    else hearErrors(server, socket)
    server.emit(connection.encrypted ? 'secureConnection' : 'connection', socket)
  }

  private tellSession (connection: Connection, socket: Socket): void {
    const { server } = this
    const session = new ServerHttp2Session(connection, server as never, socket)
    connection.owner = session
    if (server.timeout > 0) session.setTimeout(server.timeout, () => { this.onSessionTimeout(session) })
    server.emit('session', session)
  }

  private onSessionTimeout (session: ServerHttp2Session): void {
    if (session.destroyed || session.closed) return
    if (!this.server.emit('timeout', session)) session.destroy()
  }

  private onConnectionClosed (connection: Connection): void {
    const { server } = this
    const socket = this.sockets.get(connection)
    this.sockets.delete(connection)
    const told = (): void => {
      socket?.gone()
      server._connections = (server._connections ?? 1) - 1
      server._emitCloseIfDrained?.()
    }
    if (connection.version >= 20) (connection.owner as ServerHttp2Session).onConnectionClosed(told)
    else later(told)
  }

  // Exchanges.

  private onRequest (exchange: Exchange): void {
    const { server } = this
    if (exchange.version < 20 || this.wantsHttp1) {
      const socket = this.sockets.get(exchange.connection)
      if (socket !== undefined) tellAsHttp1(server, exchange, socket, this.options.classes)
      return
    }
    const session = exchange.connection.owner as ServerHttp2Session
    if (exchange.protocol !== '' && !this.wantsTunnels(session) && tellUpgrade(server, exchange, this.options.classes)) return
    const stream = new ServerHttp2Stream(session, exchange)
    session.add(stream)
    const flags = exchange.hasBody ? 4 : 5
    let isTold = false
    if (server.listenerCount('stream') > 0) {
      isTold = true
      server.emit('stream', stream, stream.headers, flags, stream.rawHeaders)
    }
    if (session.listenerCount('stream') > 0) {
      isTold = true
      session.emit('stream', stream, stream.headers, flags, stream.rawHeaders)
    }
    if (server.listenerCount('request') > 0 || COMPATIBLE.some(event => server.listenerCount(event) > 0)) this.tellCompatible(stream)
    else if (!isTold) stream.become()
  }

  /** Whether somebody hears of an extended CONNECT as node:http2 tells it. */
  private wantsTunnels (session: ServerHttp2Session): boolean {
    return this.server.listenerCount('stream') + this.server.listenerCount('connect') + session.listenerCount('stream') > 0
  }

  private tellCompatible (stream: ServerHttp2Stream): void {
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

/** Events of the compatible API beside `request`. */
const COMPATIBLE = ['connect', 'checkContinue', 'checkExpectation']

function refuse (response: Http2ServerResponse, status: number): void {
  response.statusCode = status
  response.end()
}

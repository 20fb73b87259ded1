// The servers: subclasses of node:net's and node:tls's, so that listening, closing, counting and
// ref-ing are node's own; the engine listens.

import cluster from 'node:cluster'
import { EventEmitter } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import nodeHttp2, { type Settings } from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import type { InspectPage, InspectPageOptions } from '../observe/inspect_page'
import type { Forwardable, ForwardedClient } from '../server/forwarded'
import { listenError } from '../server/listen/error'
import type { ClientOptions } from '../server/tls/clients'
import { optionsIn } from '../server/tls/context'
import { admissionOf, checkContext, identityIn, identityOf, type ClientAuthOptions } from '../server/tls/identity'
import { canBeAskedFor } from '../server/tls/names'
import { policyOf, type Policy } from '../server/tls/policy'
import { showListenError, showListening } from './channels'
import { checkCall, checkObject, invalidType, plain } from './codes'
import type { ServerHttp2Session } from './connection/session'
import { CompatServer } from './server/compat_server'
import { ownHttp1, setMembers } from './server/http1_options'
import { closeWithWorker, ownListen, placeBehind, placeOf, type Bare, type ClusterHandle } from './server/listen'
import { checkChooser, checked, checkSettings, compatServerOptions, type Http2SecureServerOptions, type Http2ServerOptions } from './server/options'
import type { ServerHttp2Stream } from './stream/stream'
import { nextTick } from '../timers'
import { checkListen } from '../permission'

type Listener = (...args: any[]) => void

type Made<S> = abstract new (...args: any[]) => S

/** A server listens: tells those who wait for that. */
function reportListening (server: Bare): void {
  if (server._unref === true) server.unref()
  closeWithWorker(server)
  showListening(server)
  nextTick(() => { if (server._handle !== null) server.emit('listening') })
}

/** A server cannot listen; `address` and `port`: where it was to. */
function reportFailure (server: Bare, failure: unknown, address: string | null, port: number | null): void {
  const error = listenError(failure as { message: string; system?: string }, address, port, true)
  showListenError(server, error)
  nextTick(() => { server.emit('error', error) })
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
    _listen2 (address: string | null, port: number | null, family: number | null, backlog: number, fd?: number): void {
      checkListen(port === null || port < 0 ? address ?? '' : '')
      const server = this as unknown as Bare
      // Node says the address that it listens on where it was given none.
      server._connectionKey = `${address === null ? 6 : family}:${address ?? '::'}:${port}`
      const { http1Owner } = server
      // Node has put one here that it knows for one of TCP. It may accept already, and its connections are
      // the engine's from here on; one of a path is kept, because its file goes with it.
      const taken = server._handle as ClusterHandle | null
      server.http1Owner = undefined
      server._handle = null
      if (cluster.isWorker && taken !== null && http1Owner === undefined) return this.listenBehindPrimary(taken, address, port, backlog)
      try {
        const place = http1Owner === undefined ? placeOf(address, port, fd) : { fd: http1Owner.fd!, fdIsBorrowed: true }
        server._handle = this.compatServer.listen(place, backlog, taken === null ? http1Owner : undefined, { isShared: server.isShared, isIpv6Only: server.isIpv6Only })
        taken?.close()
        reportListening(server)
      } catch (failure) {
        reportFailure(server, failure, address, taken === null ? port : null)
      }
    }

    /** Serves the connections of a socket that the cluster's primary listens on. */
    listenBehindPrimary (handle: ClusterHandle, address: string | null, port: number | null, backlog: number): void {
      const server = this as unknown as Bare
      const release = handle.close.bind(handle)
      // A worker that is disconnected closes what it has of the primary, and waits for that.
      handle.close = done => { this.close(done) }
      try {
        server._handle = this.compatServer.listen(placeBehind(this.compatServer, handle), backlog, { close: release }, { isShared: true })
      } catch (failure) {
        release()
        return reportFailure(server, failure, address, port)
      }
      if (typeof handle.fd !== 'number') handle.onconnection = (status, connection) => { if (status === 0) this.compatServer.take(connection) }
      if (handle.getsockname !== undefined) Object.assign(server._handle as object, { getsockname: handle.getsockname.bind(handle) })
      reportListening(server)
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
      // Servers of node:http leave the check to `on`, and what is false is no listener there.
      const isOfHttp = [http.Server, https.Server].some(Class => (this as unknown) instanceof Class)
      if (!isOfHttp) checkCall(callback)
      if (callback) this.on('timeout', callback)
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

/** Whether a listener is to be added: what is none is refused by `on` in the form of node:http, and passed over in that of node:http2. */
function takesListener (isOfHttp: boolean, listener: Listener | undefined): listener is Listener {
  return isOfHttp ? Boolean(listener) : typeof listener === 'function'
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
    if (takesListener(isOfHttp, listener)) this.on('request', listener)
  }
}

export class Http2SecureServer extends serving(tls.Server, https.Server) {
  private readonly admission: ClientOptions
  private readonly policy: Policy | undefined
  constructor (options?: Http2SecureServerOptions, listener?: Listener) {
    const own = checked(options)
    if (own.ALPNCallback == null) own.ALPNProtocols = own.allowHTTP1 === true ? ['h2', 'http/1.1'] : ['h2']
    super({ ...(own.requests === 'http' ? { noDelay: true } : {}), ...own } as Http2SecureServerOptions)
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
    if (takesListener(own.requests === 'http', listener)) this.on('request', listener)
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
    const identity = identityIn(given)
    if (canBeAskedFor(name)) this.compatServer.setIdentity(identity, name)
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
  if (bound.has(socket)) throw plain('ERR_HTTP2_SOCKET_BOUND')
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

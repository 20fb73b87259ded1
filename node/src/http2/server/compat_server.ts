// The engine behind a node:http2 server: listens with the server's options and members as they are then, and passes its connections and
// exchanges on.

import type { Settings } from 'node:http2'
import net from 'node:net'
import { HttpVersion } from '../../channel/codes'
import { InvalidArgumentError } from '../../errors'
import type { InspectPage, InspectPageOptions } from '../../observe/inspect_page'
import { sum } from '../../observe/open_metrics'
import type { Exchange } from '../../server/exchange'
import { Forwarding, type Forwardable, type ForwardedClient } from '../../server/forwarded'
import type { Identity, ListenOptions, ListenTls, ListenTarget } from '../../server/listen/options'
import { openTo } from '../../server/listen/path'
import { Listener } from '../../server/listener'
import { isOfHttp1 } from '../compat/express'
import { reportAsHttp1 } from '../compat/http1/report'
import type { ServerHttp2Session } from '../connection/session'
import { Socket, socketOf } from '../connection/socket'
import { extensionsOf } from '../options/custom_settings'
import { http1Fields, http1Timeouts, limitsOf, windowsOf } from './bounds'
import type { CompatServerOptions, Offer, OwnServer } from './compat_options'
import { ServerConnections } from './connections'
import { lacksHttp1, reportCompatibleToo, reportStream } from './requests'
import { nextTick } from '../../timers'

const BACKLOG_MAX = 2 ** 31 - 1

/** A handle of libuv's for a socket that was accepted; on Windows without a descriptor. */
export interface AcceptedHandle { fd?: number; close: () => void }

/** Flags of `listen` for a port. */
interface PortFlags { isShared?: boolean | undefined, isIpv6Only?: boolean | undefined }

/** Replaces libuv's handle in node's `net.Server`. */
interface Handle {
  close: () => void
  /** Present where the server listens on a port. */
  getsockname?: (out: Record<string, unknown>) => number
  /** Present where the server listens at a path. */
  fchmod?: (mode: number) => number
  ref: () => void
  unref: () => void
  onconnection?: unknown
}

/** The bits that libuv knows of a pipe's mode. */
const UV_READABLE = 1
const UV_WRITABLE = 2

export class CompatServer {
  settings: Settings
  /** Until its ports are free again. */
  private listener: Listener | undefined
  private readonly identities: Record<string, Identity> = {}
  private identity: Identity | undefined
  private wantsHttp1 = false
  private readonly forwarding: Forwarding | undefined
  private readonly connections: ServerConnections

  constructor (private readonly server: OwnServer, private readonly options: CompatServerOptions, private readonly offer: Offer) {
    this.settings = options.settings
    this.identity = offer.tls
    this.wantsHttp1 = options.requests === 'http'
    if (options.forwarding !== undefined) this.forwarding = new Forwarding(options.forwarding, question => this.askForwarded(question))
    server.on('newListener', (event: string, listener: object) => {
      if (event === 'request' && options.requests === undefined && isOfHttp1(listener)) this.wantsHttp1 = true
      // Behind this event the listener is counted.
      if (event === 'timeout' && this.listener !== undefined && server.listenerCount('timeout') === 0) nextTick(() => { this.configure() })
    })
    if (options.requests !== 'http') reportCompatibleToo(server, options)
    this.connections = new ServerConnections(server, options, offer, () => this.detached(), () => this.settings)
  }

  // Its life.

  /** Whether the option says that the port is shared, or that it is not. */
  get sharesPort (): boolean | undefined { return this.options.sharesPort }

  /** `borrowed`: what it listens on by a descriptor, or behind, and who closes it. `isShared`: other processes may
   * listen on the port; `isIpv6Only`: none of IPv4 connects to it. */
  listen (place: ListenTarget, backlog: number, borrowed?: { close: () => void }, { isShared = false, isIpv6Only = false }: PortFlags = {}): Handle {
    const listener: Listener = this.listenerWith(() => {
      if (this.listener !== listener) return
      this.listener = undefined
      this.server._emitCloseIfDrained?.()
    })
    const question: ListenOptions = { ...place, ...this.question(), ...this.secured() }
    if (place.path === undefined && place.detached !== true) question.sharesPort = this.options.sharesPort ?? isShared
    if (isIpv6Only) question.ipv6Only = true
    // The kernel takes an int, as which node hands on any number.
    if (backlog > 0) question.backlog = Math.min(Math.ceil(backlog), BACKLOG_MAX)
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
    this.connections.given.take(socket, false)
  }

  /** The metrics of the listener and of the streams that were given. */
  metrics (): string {
    const listeners = [this.listener, this.connections.given.listener]
    return sum(...listeners.filter(listener => listener !== undefined))
  }

  /** The client of a request as listed proxies state it. */
  forwarded ({ socket, rawHeaders }: Forwardable): ForwardedClient | null { return this.forwarding?.clientOf(socket.remoteAddress, rawHeaders) ?? null }

  private askForwarded (question: object): unknown {
    const listener = this.listener ?? this.connections.given.listener
    if (listener === undefined) throw new InvalidArgumentError('forwarded() of a server that does not listen')
    return listener.forwarded(question)
  }

  /** Inspects the listener, or the streams that were given where there is none. */
  inspect (options: InspectPageOptions): InspectPage {
    const listener = this.listener ?? this.connections.given.listener
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
    const { server, connections } = this
    return new Listener({
      onRequest: exchange => { connections.arrive(exchange, () => { this.onRequest(exchange) }) },
      hasListeners: () => server.listenerCount('request') > 0 || server.listenerCount('stream') > 0,
      onConnection: connection => { connections.onConnection(connection) },
      onIdentified: connection => { connections.fresh.report(connection, () => { connections.onIdentified(connection) }) },
      onConnectionClosed: connection => { connections.fresh.report(connection, () => { connections.onConnectionClosed(connection) }) },
      onRefused: (exchange, refused) => { connections.arrive(exchange, () => { connections.onRefused(exchange, refused) }) },
      onBroken: (connection, error, code) => { connections.fresh.report(connection, () => { connections.onBroken(connection, error, code) }) },
      onFailed: (connection, code) => { connections.fresh.report(connection, () => { connections.onFailed(connection, code) }) },
      onUnnegotiated: exchange => { connections.onUnnegotiated(exchange) },
      onClientHello: (hello, connection) => { connections.onClientHello(hello, connection) },
      onHandshakeFailed: (failure, connection) => { connections.onHandshakeFailed(failure, connection) },
      onSecret: (line, connection) => { server.emit('keylog', Buffer.from(`${line}\n`), socketOf(Socket, true, connection)) },
      onHandedOver: () => { server.close() },
      onClosed
    }, this.options.engine, true)
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
      limits: limitsOf(settings, this.server, options),
      windows: windowsOf(settings, options),
      timeouts: options.timeouts,
      http1Timeouts: http1Timeouts(this.server, options),
      ...http1Fields(this.server, options)
    }
  }

  /** Sessions from now on begin with these settings too. */
  updateSettings (settings: Settings): void {
    this.settings = { ...this.settings, ...settings }
    this.configure()
  }
  /** Connections from now on go by the members of the server as they are now. */
  configure (): void { this.listener?.configure(this.question()) }

  /** Whether its ports are taken. */
  get isListening (): boolean { return this.listener !== undefined }

  setIdentity (identity: Identity, name?: string): void {
    if (name === undefined) this.identity = identity
    else {
      this.identities[name] = identity
      if (this.names() !== this.identities) return
    }
    this.listener?.setIdentity(identity, name)
    this.connections.given.setIdentity(identity, name)
  }

  closeIdle (): void {
    this.listener?.closeIdle()
    this.connections.given.closeIdle()
  }
  /** Ends every connection at once; it still listens. */
  closeAll (): void { for (const connection of this.connections.sockets.keys()) connection.abort() }
  /** Streams that were given finish what is open. */
  closeAdopted (): void { this.connections.given.close(this.options.drainTimeout) }
  /** Ends at once, also while it closes. */
  destroy (): void {
    this.listener?.destroy()
    this.connections.given.destroy()
  }

  // Exchanges.

  private onRequest (exchange: Exchange): void {
    const { server } = this
    // A listener of the connection has ended it, or it was dropped.
    if (exchange.connection.isTurnedAway) return
    exchange.connection.isUsed = true
    if (exchange.version < HttpVersion.Http2 || this.wantsHttp1) {
      const socket = this.connections.sockets.get(exchange.connection)
      if (socket !== undefined && !this.wantsHttp1 && lacksHttp1(server)) this.connections.refuseHttp1(exchange.connection, socket)
      else if (socket !== undefined) reportAsHttp1(server, exchange, socket, this.options.http1)
      return
    }
    reportStream(server, this.options, exchange)
  }

  /** A session on a stream whose protocol is HTTP/2, without an event of the server's. */
  handshake (stream: unknown): ServerHttp2Session { return this.connections.handshake(stream) }
}

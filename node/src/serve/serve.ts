// `serve({ fetch })`: a web-standard handler on HTTP/1.1, HTTP/2 and HTTP/3.

import { inspect, type InspectOptions } from 'node:util'
import { isError } from '../errors/is_error'
import { errorOf } from '../errors/failures'
import { Answering, type Answered } from './answering'
import { ResponseFlag } from '../channel/codes'
import type { Exchange } from '../server/exchange'
import { textOf, type FieldsInit } from '../fetch/headers/fields'
import { overrideGlobals } from './web/global'
import { identityGiven, type IdentityOptions } from '../server/tls/identity'
import { IdleRequests, secondsOf } from './idle'
import { Incoming } from './incoming'
import { RequestInfo, upgradedTo, wantsWebSocket } from './info'
import { listenError, NO_PORT } from '../server/listen/error'
import { Forwarding, type ForwardedClient } from '../server/forwarded'
import type { Failure } from '../channel/ring'
import type { Address, ListenOptions } from '../server/listen/options'
import { Listener } from '../server/listener'
import { ofServer } from '../server/scope'
import { checkNames, engineOf, listenOptionsOf, present, settingsOf, type ReloadOptions, type ServeOptions, type Settings } from './options'
import { requestOver, Request } from '../fetch/request'
import { incomingOf } from './web/request'
import { pathOf, queryOf } from './web/url'
import { Response } from '../fetch/faces'
import { isResponse, noResponse } from './web/response'
import type { InspectPage, InspectPageOptions } from '../observe/inspect_page'
import { WebSockets, type SendStatus } from './websocket'

const PAYLOAD_TOO_LARGE = 413
const NOT_FOUND = 404
const METHOD_NOT_ALLOWED = 405

/** Node.js 20 has it by this name. */
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')
const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('nodejs.dispose')

/** Where a client is. */
export interface SocketAddress { address: string; port: number; family: 'IPv4' | 'IPv6' }

/** The error of a failed listen: the system's own errors in the form of node's `listen`. */
function failedListen (failure: Failure, { host, port, path }: ListenOptions): Error {
  if (failure.system == null) return errorOf(failure, false)
  return listenError(failure, path ?? host ?? null, path === undefined ? port ?? 0 : NO_PORT)
}

/** A server that serves. `Data`: the type of `ws.data`. */
export class Server<Data = undefined> {
  /** When it has ended. */
  readonly closed: Promise<void>
  private readonly listener: Listener
  /** Null where there is no port. */
  private readonly where: Address | null
  private readonly listening: ListenOptions
  private options: ServeOptions<Data>
  private settings: Settings<Data>
  private readonly answering: Answering
  private readonly idle: IdleRequests
  private webSockets: WebSockets<Data> | null = null
  private readonly forwarding: Forwarding | undefined
  /** Handlers of WebSockets are called in the context of `AsyncLocalStorage` that the server was made in, as those of node:http and of Bun. */
  private readonly scope = ofServer()

  constructor (given: ServeOptions<Data>) {
    checkNames(given)
    const options = present(given)
    this.options = options
    this.settings = settingsOf(options)
    this.idle = new IdleRequests(options.timeouts?.bodyIdle)
    this.answering = new Answering(() => this.settings, this, this.idle)
    this.listening = listenOptionsOf(options)
    if (options.websocket !== undefined) this.webSockets = new WebSockets(options.websocket, this.scope)
    let reported = (): void => {}
    this.closed = new Promise(resolve => { reported = resolve })
    this.listener = new Listener({
      onRequest: exchange => { this.handle(exchange) },
      onHandedOver: () => { this.listener.close() },
      // Handlers of `close` are called before.
      onClosed: () => { void (this.webSockets?.ended() ?? Promise.resolve()).then(reported) }
    }, engineOf(options.engine))
    const { forwarding } = options
    if (forwarding !== undefined) {
      this.forwarding = new Forwarding(forwarding, question => this.listener.forwarded(question))
      // An entry that is no address is refused before anything listens.
      this.forwarding.clientOf(undefined, [])
    }
    if (options.signal !== undefined && typeof options.signal.addEventListener !== 'function') throw new TypeError(`signal is ${inspect(options.signal, { depth: 0 })}; it must be an AbortSignal`)
    try {
      this.listener.listen(this.listening)
    } catch (failure) {
      throw isError(failure) ? failure : failedListen(failure as Failure, this.listening)
    }
    if (options.overrideGlobalObjects !== false) overrideGlobals()
    this.where = this.listener.address()
    if (options.signal != null) this.follow(options.signal)
  }

  private follow (signal: AbortSignal): void {
    const onAbort = (): void => { void this.close() }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    void this.closed.then(() => { signal.removeEventListener('abort', onAbort) })
  }

  /** The option; without it `localhost`, or the address of the descriptor. Undefined on a Unix socket, as the port is. */
  get hostname (): string | undefined {
    if (this.where === null) return undefined
    const { address } = this.where
    // Programs print it in URLs, where the address of every interface names no host.
    return this.options.hostname || this.options.host || (address === '::' || address === '0.0.0.0' ? 'localhost' : address)
  }
  get port (): number | undefined { return this.where?.port }
  /** The path of a Unix socket. */
  get path (): string | undefined { return this.listening.path }
  get protocol (): 'http' | 'https' { return this.listening.tls === undefined ? 'http' : 'https' }
  /** The option `id`. */
  get id (): string { return this.options.id ?? '' }
  /** The address that it listens on; on a Unix socket its path alone. */
  get address (): Address | { path: string | undefined } { return this.where ?? { path: this.path } }
  /** Whether failures are answered with their stack. */
  get development (): boolean { return this.settings.development }
  /** The URL to request; on a Unix socket with the name localhost. */
  get url (): URL {
    if (this.where === null) return new URL(`${this.protocol}://localhost/`)
    const { address, port, family } = this.where
    const any = address === '::' || address === '0.0.0.0'
    const host = any ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
    return new URL(`${this.protocol}://${host}:${port}/`)
  }

  /** Requests that are not answered yet. */
  get pendingRequests (): number {
    let open = 0
    for (const connection of this.listener.connections) open += connection.open
    return Math.max(0, open - this.pendingWebSockets)
  }

  /** WebSockets that are open. */
  get pendingWebSockets (): number { return this.webSockets?.size ?? 0 }

  /**
   * Its counts since its start as OpenMetrics text, for a scraper; its media type is `OPENMETRICS_TYPE`. How many series there
   * are does not depend on what clients send. Once the server has ended it is an exposition without a metric.
   */
  metrics (): string { return this.listener.metrics() }

  /**
   * Opens a page for people that shows the server's connections with their exchanges, and why each of them waits: at a port
   * of loopback, by default a free one. It ends with `close()` of the result, or with the server, and does not keep the process alive.
   *
   * @throws InvalidArgumentError where the server has ended, an option cannot be used, or others could reach the page and there is no
   * `token`; the system's error where the place is taken.
   */
  inspect (options: InspectPageOptions = {}): InspectPage { return this.listener.inspect(options) }

  /** Takes no more connections and lets what is open finish: at most so long, where that is given, then cuts
   * it. Resolves when all has ended. */
  async close (options: { deadlineMs?: number } = {}): Promise<void> {
    this.listener.close(options.deadlineMs)
    await this.closed
  }

  /**
   * Waits at `path`, by default that of the option `handOver`, for another process that is to take the place of this one (its option `handOver`,
   * or `trunkline serve --upgrade`). It gets the listening sockets; once it serves, this one closes as by `close()`, and this resolves with true. A process that does not come
   * up is a warning, and this one serves on. False: this server has ended before.
   */
  async handOver (path?: string): Promise<boolean> { return await this.listener.handOver(path) }

  /** Ends at once. */
  async destroy (): Promise<void> {
    this.listener.destroy()
    await this.closed
  }

  /** `close()`, or with `closeActiveConnections` `destroy()`, in front of which WebSockets are closed with 1001: a client that does not answer has
   * a second. */
  async stop (closeActiveConnections = false): Promise<void> {
    if (!closeActiveConnections) return await this.close()
    if (this.pendingWebSockets > 0) {
      this.listener.close()
      await this.webSockets!.goAway()
    }
    await this.destroy()
  }

  /** Answers from the next request on by these options; those that are absent stay. What a server listens on and with does not change. */
  reload (options: ReloadOptions<Data>): this {
    checkNames(options)
    const given = present(options)
    const all = { ...this.options, ...given }
    const settings = settingsOf(all)
    const { websocket } = given
    if (websocket !== undefined && this.webSockets === null) this.webSockets = new WebSockets(websocket, this.scope)
    else if (websocket !== undefined) this.webSockets!.reload(websocket)
    this.options = all
    this.settings = settings
    return this
  }

  /** The address of the client; null: it came over a Unix socket, or `request` is none of this server's. */
  requestIP (request: globalThis.Request): SocketAddress | null {
    const connection = incomingOf(request)?.exchange.connection
    const { remoteAddress: address, remotePort: port, remoteFamily: family } = connection ?? {}
    if (address === undefined || port === undefined) return null
    return { address, family: family === 'IPv6' ? 'IPv6' : 'IPv4', port }
  }

  /** The client of a request as a listed proxy states it (option `forwarding`); null: none does, or `request` is none of this server's. */
  forwarded (request: globalThis.Request): ForwardedClient | null {
    const incoming = incomingOf(request)
    return incoming === undefined ? null : this.forwardedOf(incoming.exchange)
  }

  /** @internal */
  forwardedOf (exchange: Exchange): ForwardedClient | null { return this.forwarding?.clientOf(exchange.connection.remoteAddress, exchange.rawFields()) ?? null }

  /**
   * Ends the request after `seconds` in which no byte of it was sent or received, up to one second
   * later; 0: never. It replaces `idleTimeout`.
   */
  timeout (request: globalThis.Request, seconds: number): void {
    const incoming = incomingOf(request)
    if (incoming !== undefined) this.idle.watch(incoming, secondsOf(seconds, 'the timeout'))
  }

  /** Makes a request the WebSocket that it asks for: on HTTP/1.1 with a 101, on HTTP/2 and HTTP/3 with a 200 to extended CONNECT. False: it asks for none, or is
   * answered. `headers`: fields of that answer; `data`: what `ws.data` is.
   *
   * @throws TypeError where the server has no `websocket`. */
  upgrade (request: globalThis.Request, options?: { headers?: FieldsInit; data?: Data }): boolean {
    const incoming = incomingOf(request)
    if (this.webSockets === null) throw new TypeError('upgrade needs the option websocket of serve')
    if (incoming === undefined || !wantsWebSocket(incoming)) return false
    const { remoteAddress } = incoming.exchange.connection
    // Headers that are refused leave the request to its handler.
    const fields = textOf(options?.headers, null)
    return this.webSockets.accept(upgradedTo(incoming, true), remoteAddress, fields, incoming.setCookies(), options?.data as Data)
  }

  /** Sends a message to every WebSocket that is subscribed to `topic`. */
  publish (topic: string, data: string | ArrayBufferLike | NodeJS.ArrayBufferView, compress = true): SendStatus {
    return this.webSockets?.publish(topic, data, compress, null) ?? 0
  }

  /** WebSockets that are subscribed to `topic`. */
  subscriberCount (topic: string): number { return this.webSockets?.subscriberCount(topic) ?? 0 }

  /** Serves another certificate from the next handshake on: to all, or to clients that ask for `name`. */
  setIdentity (identity: IdentityOptions, name?: string): void {
    try {
      this.listener.setIdentity(identityGiven(identity, 'the identity'), name)
    } catch (failure) {
      throw isError(failure) ? failure : errorOf(failure as Failure, false)
    }
  }

  /**
   * The answer of the option `fetch` to a request that no client has sent, for tests: nothing goes over a network. Routes, folders and
   * `error` have no part in it, what the handler throws is thrown, and its second argument is this server. A text without a scheme is a path of `url`.
   *
   * @throws TypeError where the server has no `fetch`, `input` is no URL, or the handler gives no `Response`.
   */
  async fetch (input: string | URL | globalThis.Request, init?: RequestInit): Promise<Answered> {
    const { fetch } = this.settings
    if (fetch === undefined) throw new TypeError('server.fetch calls the option fetch of serve, and there is none')
    if (typeof input !== 'string' && (typeof input !== 'object' || input === null)) throw new TypeError(`server.fetch was given ${inspect(input)}; it takes a URL, a path or a Request`)
    const isRequest = typeof input === 'object' && !(input instanceof URL)
    const request = isRequest && init === undefined ? input : new Request((isRequest ? input : new URL(input, this.url)) as never, init as never)
    const answer: unknown = await fetch.call(this, request as never, this as never)
    if (!isResponse(answer)) throw noResponse(answer)
    return answer
  }

  /** Closes the connections that have no request now; returns how many. */
  closeIdleConnections (): number { return this.listener.closeIdle() }

  async [asyncDispose] (): Promise<void> { await this.close() }
  [dispose] (): void { void this.destroy() }

  [inspect.custom] (_: number, options: InspectOptions): string {
    const { hostname, port, path, url } = this
    return `Server ${inspect(path === undefined ? { hostname, port, url: url.href } : { path }, options)}`
  }

  ref (): this { this.listener.ref(); return this }
  unref (): this { this.listener.unref(); return this }

  private handle (exchange: Exchange): void {
    const { settings } = this
    if (exchange.connection.isLast) return
    const { bodyMax, folders, idleSeconds, router } = settings
    if (exchange.hasBody && Number(exchange.field('content-length')) > bodyMax) {
      return exchange.answer(PAYLOAD_TOO_LARGE, '', null, ResponseFlag.Quiet)
    }
    const incoming = new Incoming(exchange, bodyMax)
    if (idleSeconds > 0) this.idle.watch(incoming, idleSeconds)
    if (router === null && folders === null) return this.call(incoming, requestOver(incoming), settings.fetch!)
    const path = pathOf(exchange)
    const found = router?.find(exchange.method, path)
    if (found !== undefined && 'value' in found) {
      const { value, params } = found
      const request = requestOver(incoming, params)
      if (typeof value === 'function') return this.call(incoming, request, value)
      // As if the route were absent.
      if (value.isFile) incoming.onFileMissing = () => { this.call(incoming, request, settings.fetch ?? (() => refusal(undefined))) }
      return this.call(incoming, request, () => value.get(exchange))
    }
    const request = requestOver(incoming)
    const others = settings.fetch ?? (() => refusal(found?.methods))
    if (folders === null || !folders.concerns(exchange.method, path)) return this.call(incoming, request, others)
    this.call(incoming, request, async (...args) => await folders.find(path, queryOf(exchange.path)) ?? await others.call(this, ...args))
  }

  private call (incoming: Incoming, request: Request, handler: (this: Server<Data>, request: never, server: never) => unknown): void {
    try {
      this.answering.settle(incoming, request, handler.call(this, request as never, new RequestInfo(incoming, this) as never))
    } catch (error) {
      this.answering.fail(incoming, request, error)
    }
  }
}

/** The response where no handler matches. `methods`: those of the path, without the request's. */
function refusal (methods: string[] | undefined): Response {
  if (methods === undefined) return new Response(null, { status: NOT_FOUND })
  return new Response(null, { status: METHOD_NOT_ALLOWED, headers: { allow: [...new Set(methods)].join(', ') } })
}

/** Serves web-standard handlers; it listens when this returns. */
export function serve<Data = undefined, Paths extends string = string> (options: ServeOptions<Data, Paths>): Server<Data> {
  return new Server<Data>(options as unknown as ServeOptions<Data>)
}

// The second argument of a handler: connection facts, trailers and upgrades beside request and
// response.

import type { X509Certificate } from 'node:crypto'
import http, { type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { types } from 'node:util'
import { HttpVersion } from '../channel/codes'
import { upgradeOf } from '../http2/compat/http1/upgrade'
import { wantedUpgrade } from '../http2/compat/upgrade'
import type { Connection } from '../server/connection'
import type { Exchange } from '../server/exchange'
import type { ForwardedClient } from '../server/forwarded'
import { textOf, type FieldsInit, type TrailersInit } from '../fetch/headers/fields'
import type { Answered } from './answering'
import type { Incoming } from './incoming'
import type { ReloadOptions } from './options'
import type { Server, SocketAddress } from './serve'
import type { SendStatus } from './websocket'

/** RFC 8297. */
const EARLY_HINTS = 103
const UPGRADE_REQUIRED = 426

/** RFC 6455 section 4.1, and the draft before it that clients still name. */
const VERSIONS = new Set(['13', '8'])
/** Sixteen bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/

const PROTOCOLS: Record<number, string> = { 10: 'http/1.0', 11: 'http/1.1', 20: 'h2', 30: 'h3' }

/** Whether the client asks for a WebSocket in words that can be answered (RFC 6455 section 4.2.1), and may still get one. One that asks for another
 * version gets the number of the one that there is (section 4.4). */
export function wantsWebSocket (incoming: Incoming): boolean {
  const { exchange } = incoming
  const isOpen = !exchange.closed && !exchange.headSent && !incoming.isLeft && !incoming.isAnswered
  if (!isOpen || !/(?:^|,)\s*websocket\s*(?:,|$)/.test(wantedUpgrade(exchange) ?? '')) return false
  if (!VERSIONS.has(exchange.field('sec-websocket-version') ?? '')) {
    exchange.answer(UPGRADE_REQUIRED, 'sec-websocket-version\x0013', null)
    return false
  }
  // RFC 6455 section 4.1: a request of HTTP/1.1 or newer.
  if (exchange.isHttp10) return false
  return exchange.version >= HttpVersion.Http2 || (exchange.method === 'GET' && KEY.test(exchange.field('sec-websocket-key') ?? ''))
}

/** Hands the exchange over, as listeners of `upgrade` of node:http get it. `readsBody`: the body of a request of HTTP/1.1 is the request's, and no part of the bytes
 * of the socket. */
export function upgradedTo (incoming: Incoming, readsBody = false): [request: IncomingMessage, socket: Duplex, head: Buffer] {
  const { exchange } = incoming
  const early = incoming.leave()
  const [request, socket, head, bytes] = upgradeOf(exchange, http, undefined, readsBody && exchange.version < HttpVersion.Http2 && exchange.hasBody)
  for (const chunk of early) bytes.$onData(chunk)
  // Its end came before it was handed over.
  if (exchange.hasBody && exchange.received) bytes.$onEnd()
  return [request, socket, head]
}

/** The server as handlers get it with a request: what it can be asked of any request, and what is known of this one. */
export class RequestInfo<Data = undefined> {
  readonly #incoming: Incoming
  /** The server itself. */
  readonly server: Server<Data>

  constructor (incoming: Incoming, server: Server<Data>) {
    this.#incoming = incoming
    this.server = server
  }

  get #exchange (): Exchange { return this.#incoming.exchange }
  get #connection (): Connection { return this.#exchange.connection }
  /** Addresses and ports are undefined on a Unix socket, whose ends have none. */
  get remoteAddress (): string | undefined { return this.#connection.remoteAddress }
  get remotePort (): number | undefined { return this.#connection.remotePort }
  /** The client as a listed proxy states it (option `forwarding`); null: none does. */
  get forwarded (): ForwardedClient | null { return this.server.forwardedOf(this.#exchange) }
  get localAddress (): string | undefined { return this.#connection.localAddress }
  get localPort (): number | undefined { return this.#connection.localPort }
  /** `http/1.1`, `h2` or `h3`. */
  get protocol (): string { return PROTOCOLS[this.#exchange.version]! }
  get encrypted (): boolean { return this.#connection.encrypted }
  /** The host that the client asked for by SNI. */
  get servername (): string | null { return this.#connection.servername }
  /** Whether the client has sent a trusted certificate (`tls.requestCert`). */
  get authorized (): boolean { return this.#connection.client.isAuthorized }
  /** Why it is not, by a code of node:tls; `null`: it is, or no certificate was requested. */
  get authorizationError (): string | null { return this.#connection.client.error }
  /** The certificate that it has shown; `null`: none. */
  get clientCertificate (): X509Certificate | null { return this.#connection.client.displayed[0] ?? null }

  /** Sends early hints before the response (103, RFC 8297). */
  earlyHints (headers: FieldsInit): void { this.#exchange.sendInformational(EARLY_HINTS, textOf(headers, null)) }

  /**
   * The trailers of the request, once its body has been read to the end; empty where it has none.
   * Rejected when the request ends early, or when it is answered before its body was read.
   */
  get trailers (): Promise<Headers> { return this.#incoming.trailers }

  /** Sends trailers behind the body of the answer, whatever kind of `Response` that is. A function is
   * called when the whole body has been given to the connection. */
  sendTrailers (trailers: TrailersInit): void {
    this.#incoming.trailersToSend = trailers
    // A rejection is reported when its turn comes.
    if (types.isPromise(trailers)) trailers.catch(() => {})
  }

  /**
   * The protocol that the client asks for in place of HTTP (`websocket`), in lower case: by
   * `upgrade` on HTTP/1.1, by extended CONNECT on HTTP/2 (RFC 8441) and HTTP/3 (RFC 9220), which
   * clients may use where the server has `extendedConnect`. `null`: none.
   */
  get upgradeProtocol (): string | null { return wantedUpgrade(this.#exchange) }

  /** Hands the exchange over: what listeners of `upgrade` of node:http get, on every version, for
   * `handleUpgrade` of `ws`, or for whatever writes a 101 and goes on. What the handler returns is not sent.
   *
   * @throws TypeError where the request asks for nothing but HTTP, or was answered. */
  upgrade (): [request: IncomingMessage, socket: Duplex, head: Buffer]
  /** As `server.upgrade`. */
  upgrade (request: globalThis.Request, options?: { headers?: FieldsInit; data?: Data }): boolean
  upgrade (request?: globalThis.Request, options?: { headers?: FieldsInit; data?: Data }): boolean | [request: IncomingMessage, socket: Duplex, head: Buffer] {
    if (request !== undefined) return this.server.upgrade(request, options)
    const incoming = this.#incoming
    if (this.upgradeProtocol === null) throw new TypeError('the request asks for nothing but HTTP')
    if (incoming.exchange.closed || incoming.exchange.headSent || incoming.isLeft || incoming.isAnswered) throw new TypeError('the exchange is over, or was answered already')
    return upgradedTo(incoming)
  }

  // As of `server`.

  requestIP (request: globalThis.Request): SocketAddress | null { return this.server.requestIP(request) }
  timeout (request: globalThis.Request, seconds: number): void { this.server.timeout(request, seconds) }
  publish (topic: string, data: string | ArrayBufferLike | NodeJS.ArrayBufferView, compress?: boolean): SendStatus { return this.server.publish(topic, data, compress) }
  subscriberCount (topic: string): number { return this.server.subscriberCount(topic) }
  reload (options: ReloadOptions<Data>): Server<Data> { return this.server.reload(options) }
  async stop (closeActiveConnections?: boolean): Promise<void> { await this.server.stop(closeActiveConnections) }
  async fetch (input: string | URL | globalThis.Request, init?: RequestInit): Promise<Answered> { return await this.server.fetch(input, init) }
  closeIdleConnections (): number { return this.server.closeIdleConnections() }
  ref (): this { this.server.ref(); return this }
  unref (): this { this.server.unref(); return this }
  get id (): string { return this.server.id }
  get address (): Server<Data>['address'] { return this.server.address }
  get pendingRequests (): number { return this.server.pendingRequests }
  get pendingWebSockets (): number { return this.server.pendingWebSockets }
  get development (): boolean { return this.server.development }
  get hostname (): string | undefined { return this.server.hostname }
  get port (): number | undefined { return this.server.port }
  get url (): URL { return this.server.url }
}

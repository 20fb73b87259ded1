// What a handler may want to know and to do beside its request and its answer.

import type { X509Certificate } from 'node:crypto'
import http, { type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { upgradeOf } from '../http2/http1'
import { wantedUpgrade } from '../http2/upgrade'
import type { Connection } from './connection'
import type { Exchange } from './exchange'
import { textOf, type FieldsInit } from './fields'
import type { Request } from './request'

/** RFC 8297. */
const EARLY_HINTS = 103

const PROTOCOLS: Record<number, string> = { 10: 'http/1.0', 11: 'http/1.1', 20: 'h2', 30: 'h3' }

/** Trailers of an answer, or what makes them when its body has been sent. */
export type TrailersInit = FieldsInit | Promise<FieldsInit> | (() => FieldsInit | Promise<FieldsInit>)

export class RequestInfo {
  constructor (private readonly exchange: Exchange, private readonly request: Request) {}
  private get connection (): Connection { return this.exchange.connection }
  /** Addresses and ports are undefined on a Unix socket, whose ends have none. */
  get remoteAddress (): string | undefined { return this.connection.remoteAddress }
  get remotePort (): number | undefined { return this.connection.remotePort }
  get localAddress (): string | undefined { return this.connection.localAddress }
  get localPort (): number | undefined { return this.connection.localPort }
  /** `http/1.1`, `h2` or `h3`. */
  get protocol (): string { return PROTOCOLS[this.exchange.version]! }
  get encrypted (): boolean { return this.connection.encrypted }
  /** The host that the client asked for by SNI. */
  get servername (): string | null { return this.connection.servername }
  /** Whether the client has shown a certificate that is believed (`tls.requestCert`). */
  get authorized (): boolean { return this.connection.client.isAuthorized }
  /** Why it is not, by a code of node:tls; `null`: it is, or nobody asked. */
  get authorizationError (): string | null { return this.connection.client.error }
  /** The certificate that it has shown; `null`: none. */
  get clientCertificate (): X509Certificate | null { return this.connection.client.shown[0] ?? null }

  /** Tells the client what it will need, before the answer (103, RFC 8297). */
  earlyHints (headers: FieldsInit): void { this.exchange.inform(EARLY_HINTS, textOf(headers, null)) }

  /** The trailers of the request, once its body has been read to the end; empty where it has none.
   * Rejected when the request ends early, or when it is answered and nobody has read its body. */
  get trailers (): Promise<Headers> { return this.request.trailers }

  /** Sends trailers behind the body of the answer, whatever kind of `Response` that is. A function is
   * called when the whole body has been given to the connection. */
  sendTrailers (trailers: TrailersInit): void {
    this.request.trailersToSend = trailers
    // A failure is told when its turn comes.
    if (trailers instanceof Promise) trailers.catch(() => {})
  }

  /** What the client wants to go on with in place of HTTP (`websocket`), in lower case: by `upgrade` on
   * HTTP/1.1, by extended CONNECT on HTTP/2 (RFC 8441) and HTTP/3 (RFC 9220), which clients may use
   * where the server has `extendedConnect`. `null`: nothing. */
  get upgradeProtocol (): string | null { return wantedUpgrade(this.exchange) }

  /** Hands the exchange over: what listeners of `upgrade` of node:http get, on every version, for
   * `handleUpgrade` of `ws` or whoever writes a 101 and goes on. What the handler returns is not sent. */
  upgrade (): [request: IncomingMessage, socket: Duplex, head: Buffer] {
    const { exchange, request } = this
    if (this.upgradeProtocol === null) throw new TypeError('the request asks for nothing but HTTP')
    if (exchange.closed || exchange.headSent || request.isLeft) throw new TypeError('the exchange is over, or was answered already')
    const early = request.leave()
    const [incoming, socket, head] = upgradeOf(exchange, http)
    for (const chunk of early) socket.onData(chunk)
    return [incoming, socket, head]
  }
}

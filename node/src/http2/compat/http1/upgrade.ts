// Requests that leave HTTP, for listeners of `upgrade` and `connect`: they get a request and the socket of its connection, or one
// of the exchange's own.

import type { IncomingMessage } from 'node:http'
import { nodeLine } from '../../../node_version'
import { HttpVersion } from '../../../channel/codes'
import type { Exchange } from '../../../server/exchange'
import { Socket, socketOf } from '../../connection/socket'
import { aborted } from '../../codes'
import { Intake } from '../../stream/intake'
import { UpgradeBytes, wantedUpgrade, type BodyInFront } from '../upgrade'
import type { EndNotifier, Http1, Request } from './members'
import { requestOf } from './request'
import { isFree } from './stage'

/** From this line on the body of a request that asks for an upgrade is the request's; before, it comes in front of the other bytes
 * of the socket. */
const readsBodies = nodeLine >= 26

/**
 * The arguments of `upgrade` listeners for a request that leaves HTTP. An extended CONNECT is
 * presented as an HTTP/1.1 upgrade, which such programs expect. `shared`: the socket of its connection; `hasBody`: the body is
 * the request's.
 */
export function upgradeOf (exchange: Exchange, http1: Http1, shared?: Socket, hasBody = false): [request: IncomingMessage, socket: Socket, head: Buffer, bytes: UpgradeBytes] {
  const head = exchange.upgradeHead ?? Buffer.alloc(0)
  const socket = isFree(shared) ? shared.$leaveServer() : socketOf(Socket, exchange.connection.encrypted, exchange.connection)
  if (shared !== undefined && exchange.version < HttpVersion.Http2) socket.allowHalfOpen = shared.allowHalfOpen
  const bytes = new UpgradeBytes(exchange, socket)
  bytes.skips = hasBody ? 0 : head.length
  const request = requestOf(exchange, socket, http1)
  if (exchange.version >= HttpVersion.Http2) request.method = 'GET'
  ;(request as unknown as { upgrade: boolean }).upgrade = true
  if (hasBody) {
    bytes.bodyInFront = bodyOf(exchange, request)
    return [request, socket, Buffer.alloc(0), bytes]
  }
  request.complete = true
  request.push(null)
  return [request, socket, head, bytes]
}

/**
 * Emits `upgrade` on `server` for an exchange that leaves HTTP; false: it does not, or there is no
 * listener.
 */
export function reportUpgrade (server: EndNotifier, exchange: Exchange, http1: Http1, shared?: Socket): boolean {
  const { shouldUpgradeCallback } = server
  if (shouldUpgradeCallback === undefined && server.listenerCount('upgrade') === 0 || wantedUpgrade(exchange) === null) return false
  if (shouldUpgradeCallback !== undefined && !shouldUpgradeCallback.call(server, askedOf(exchange, http1))) return false
  if (server.listenerCount('upgrade') === 0) exchange.connection.abort()
  else emitUpgrade(server, 'upgrade', exchange, http1, shared)
  return true
}

/** The body of `request`, which it reads. */
function bodyOf (exchange: Exchange, request: Request): BodyInFront {
  const intake = new Intake(exchange)
  request._read = () => {
    request._consuming = true
    intake.read(request)
  }
  return {
    onData: chunk => { intake.onData(chunk) },
    onEnd: () => {
      request.complete = true
      intake.onEnd()
    },
    onCut: () => { request.destroy(aborted()) },
    flow: () => { request.resume() }
  }
}

function emitUpgrade (server: EndNotifier, event: string, exchange: Exchange, http1: Http1, shared?: Socket): void {
  const hasBody = readsBodies && event === 'upgrade' && exchange.version < HttpVersion.Http2 && exchange.hasBody
  const [request, socket, head] = upgradeOf(exchange, http1, shared, hasBody)
  server.emit(event, request, socket, head)
}

/** The head of a request as `shouldUpgradeCallback` gets it. */
const askedOf = (exchange: Exchange, http1: Http1): IncomingMessage => requestOf(exchange, socketOf(Socket, exchange.connection.encrypted, exchange.connection), http1)

/** CONNECT of HTTP/1.1: its listener gets the bytes of the connection, which ends without one. */
export function reportConnect (server: EndNotifier, exchange: Exchange, http1: Http1, shared: Socket): void {
  if (server.listenerCount('connect') === 0) exchange.connection.abort()
  else emitUpgrade(server, 'connect', exchange, http1, shared)
}

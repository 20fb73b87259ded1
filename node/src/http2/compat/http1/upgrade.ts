// Requests that leave HTTP, for listeners of `upgrade` and `connect`: they get a request and the socket of its connection, or one
// of the exchange's own.

import type { IncomingMessage } from 'node:http'
import { HttpVersion } from '../../../channel/codes'
import type { Exchange } from '../../../server/exchange'
import { Socket, socketOf } from '../../connection/socket'
import { UpgradeBytes, wantedUpgrade } from '../upgrade'
import type { EndNotifier, Http1 } from './members'
import { requestOf } from './request'
import { isFree } from './stage'

/**
 * The arguments of `upgrade` listeners for a request that leaves HTTP. An extended CONNECT is
 * presented as an HTTP/1.1 upgrade, which such programs expect. `shared`: the socket of its connection.
 */
export function upgradeOf (exchange: Exchange, http1: Http1, shared?: Socket): [request: IncomingMessage, socket: Socket, head: Buffer, bytes: UpgradeBytes] {
  const head = exchange.upgradeHead ?? Buffer.alloc(0)
  const socket = isFree(shared) ? shared.$leaveServer() : socketOf(Socket, exchange.connection.encrypted, exchange.connection)
  const bytes = new UpgradeBytes(exchange, socket)
  bytes.skips = head.length
  const request = requestOf(exchange, socket, http1)
  if (exchange.version >= HttpVersion.Http2) request.method = 'GET'
  ;(request as unknown as { upgrade: boolean }).upgrade = true
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

function emitUpgrade (server: EndNotifier, event: string, exchange: Exchange, http1: Http1, shared?: Socket): void {
  const [request, socket, head] = upgradeOf(exchange, http1, shared)
  server.emit(event, request, socket, head)
}

/** The head of a request as `shouldUpgradeCallback` gets it. */
const askedOf = (exchange: Exchange, http1: Http1): IncomingMessage => requestOf(exchange, socketOf(Socket, exchange.connection.encrypted, exchange.connection), http1)

/** CONNECT of HTTP/1.1: its listener gets the bytes of the connection, which ends without one. */
export function reportConnect (server: EndNotifier, exchange: Exchange, http1: Http1, shared: Socket): void {
  if (server.listenerCount('connect') === 0) exchange.connection.abort()
  else emitUpgrade(server, 'connect', exchange, http1, shared)
}

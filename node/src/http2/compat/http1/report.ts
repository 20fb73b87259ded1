// Emits exchanges on a server in the form of node:http: a real IncomingMessage and a real ServerResponse, whatever the version.

import type { ServerResponse } from 'node:http'
import { nodeLine } from '../../../node_version'
import { HttpVersion } from '../../../channel/codes'
import { AHEAD_BYTES_MAX } from '../../../server/ahead'
import type { Exchange } from '../../../server/exchange'
import { showRequest } from '../../channels'
import { ErrorCode } from '../../codes'
import { clientError, refusalOf, UnservedBytes } from '../../connection/broken'
import { Socket, socketOf } from '../../connection/socket'
import { ResponseCarrier } from './carrier'
import type { EndNotifier, Http1, Request, Response } from './members'
import { requestOf, targetOf, textsMaxOf } from './request'
import { isFree, receiveErrors, Stage } from './stage'
import { reportConnect, reportUpgrade } from './upgrade'

/** From this line on node refuses a request with more fields than `maxHeadersCount`; those before leave them out. */
const REFUSES_FIELDS = nodeLine >= 22
const FIELDS_TOO_LARGE = 431
const BAD_REQUEST = 400
const NOT_ASCII = /[^\0-\x7f]/

function hasTooManyFields (exchange: Exchange, fieldsMax: unknown): boolean {
  const textsMax = REFUSES_FIELDS ? textsMaxOf(fieldsMax) : 0
  return textsMax > 0 && exchange.rawFields().length > textsMax
}

/** Whether a head is as long as `maxHeaderSize` allows none to be: node counts its target, names and values, and the engine all of its bytes. */
function isTooLong (exchange: Exchange, bytesMax: number | undefined): boolean {
  if (bytesMax === undefined || exchange.headLength < bytesMax) return false
  return exchange.rawFields().reduce((bytes, text) => bytes + text.length, targetOf(exchange).length) >= bytesMax
}

/** The status and the code of llhttp of a head that the engine takes, and node does not. */
function refusalCodeOf (exchange: Exchange, fieldsMax: unknown, bytesMax: number | undefined): [status: number, code: string] | undefined {
  // RFC 3986 section 2: a target is of ASCII; those of clients that do not escape them are read as Latin-1 by the one and as UTF-8 by another.
  if (NOT_ASCII.test(targetOf(exchange))) return [BAD_REQUEST, 'HPE_INVALID_URL']
  return hasTooManyFields(exchange, fieldsMax) || isTooLong(exchange, bytesMax) ? [FIELDS_TOO_LARGE, 'HPE_HEADER_OVERFLOW'] : undefined
}

/** A head as its client has sent it, except for blanks. */
function packetOf (exchange: Exchange): Buffer {
  const lines = [`${exchange.method} ${targetOf(exchange)} HTTP/1.${exchange.isHttp10 ? 0 : 1}`]
  const raw = exchange.rawFields()
  for (let at = 0; at < raw.length; at += 2) lines.push(`${raw[at]}: ${raw[at + 1]}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Tells of a head that is not served, or refuses it. */
function refuse (server: EndNotifier, exchange: Exchange, shared: Socket, [status, code]: [status: number, code: string]): void {
  const socket = isFree(shared) ? shared.$leaveServer() : socketOf(Socket, exchange.connection.encrypted, exchange.connection)
  new UnservedBytes(exchange, socket, server.httpAllowHalfOpen === true)
  const error = clientError({ code, status, packet: packetOf(exchange), parsed: 0 })
  if (!server.emit('clientError', error, socket)) socket.end(refusalOf(status))
}

/** Its socket was destroyed. As on HTTP/1.1, where they are with the system, an answer and its end that were given before go: the rest of
 * the request is declined (RFC 9113 section 8.1, RFC 9114 section 4.1). */
function leave (exchange: Exchange): void {
  if (exchange.done && exchange.version >= HttpVersion.Http2) exchange.decline()
  else exchange.reset(ErrorCode.Cancel)
}

/** By this member programs know, as on HTTP/1.1, that a connection has a response to wait for: http-terminator ends at once those that have none. */
const OPEN_RESPONSE = { get (this: Socket): object | null { return this.$of.open > 0 ? this.$newestResponse : null }, configurable: true }

function showOpen (shared: Socket, response: Response): void {
  shared.$newestResponse = response
  if (!Object.hasOwn(shared, '_httpMessage')) Object.defineProperty(shared, '_httpMessage', OPEN_RESPONSE)
}

/** Emits an exchange on `server`. `shared`: the socket of its connection. */
export function reportAsHttp1 (server: EndNotifier, exchange: Exchange, shared: Socket, http1: Http1): void {
  const refusal = exchange.version < HttpVersion.Http2 ? refusalCodeOf(exchange, server.maxHeadersCount, http1.headBytesMax) : undefined
  if (refusal !== undefined) return refuse(server, exchange, shared, refusal)
  if (reportUpgrade(server, exchange, http1, shared)) return
  if (exchange.version < HttpVersion.Http2 && exchange.method === 'CONNECT') return reportConnect(server, exchange, http1, shared)
  const ownsSocket = !Stage.is(shared) || Boolean(shared._httpMessage)
  const socket = ownsSocket ? socketOf(Stage, exchange.connection.encrypted, exchange.connection, () => { leave(exchange) }) : shared
  if (ownsSocket) {
    socket.server = server
    receiveErrors(server, socket)
  }
  if (ownsSocket && exchange.version < HttpVersion.Http2) {
    const { $newest: newest } = shared as Stage
    Object.assign(socket, { $before: shared, $ahead: newest })
    ;(shared as Stage).$newest = socket
  }
  socket.$limit(server.timeout)
  // Programs keep what they know of a connection on its socket, which all its requests have; the other one is of the response alone.
  const request = requestOf(exchange, exchange.version < HttpVersion.Http2 ? shared : socket, http1, server.maxHeadersCount)
  const { rejectNonStandardBodyWrites } = http1
  const response = new (http1.ServerResponse as new (request: unknown, options: object) => ServerResponse)(request, { highWaterMark: AHEAD_BYTES_MAX, rejectNonStandardBodyWrites }) as Response
  // Node's own goes by the minor number of the version, and refuses trailers where it is zero.
  response.useChunkedEncodingByDefault = !exchange.isHttp10
  response.shouldKeepAlive = keepsAlive(exchange)
  response._keepAliveTimeout = server.keepAliveTimeout ?? 0
  if (exchange.version < HttpVersion.Http2) response._maxRequestsPerSocket = server.maxRequestsPerSocket ?? 0
  if (http1.unique !== undefined) (response as unknown as Record<symbol, unknown>)[http1.unique.symbol] = http1.unique.names
  response.assignSocket(socket as never)
  const carrier = new ResponseCarrier(exchange, request, response, socket, shared, server)
  exchange.owner = carrier
  exchange.callbacks = carrier
  socket.$answering = carrier
  if (exchange.version >= HttpVersion.Http2) showOpen(shared, response)
  if (exchange.hasBody && exchange.version < HttpVersion.Http2) carrier.limit()
  showRequest(request, response, socket, server)
  if (http1.optimizeEmptyRequests === true && !('content-length' in request.headers) && !('transfer-encoding' in request.headers)) request._dumpAndCloseReadable?.()
  if (!isDropped(server, shared, request, response)) report(server, exchange, request, response)
  if (!exchange.hasBody && !request.complete) {
    request.complete = true
    request.push(null)
  }
}

/** Whether its connection may have another request behind it (RFC 9112 section 9.3). */
function keepsAlive (exchange: Exchange): boolean {
  const options = exchange.field('connection') ?? ''
  return exchange.isHttp10 ? /\bkeep-alive\b/i.test(options) : !/\bclose\b/i.test(options)
}

/** Counts a request of a connection of HTTP/1.1: the last that it may have is answered with its end, and one behind
 * that with nothing else. */
function isDropped (server: EndNotifier, shared: Socket, request: Request, response: Response): boolean {
  const { maxRequestsPerSocket: most = 0 } = server
  if (!(most > 0) || !Stage.is(shared)) return false
  const count = ++shared.$requestCount
  response.maxRequestsOnConnectionReached = count >= most
  if (count <= most) return false
  server.emit('dropRequest', request, shared)
  response.writeHead(503)
  response.end()
  return true
}

function report (server: EndNotifier, exchange: Exchange, request: Request, response: Response): void {
  const expected = exchange.field('expect')
  if (exchange.method === 'CONNECT') {
    if (server.emit('connect', request, response)) return
    response.statusCode = 405
    response.end()
  } else if (expected === undefined) {
    server.emit('request', request, response)
  } else if (/^100-continue$/i.test(expected)) {
    response._expect_continue = true
    if (server.listenerCount('checkContinue') > 0) return void server.emit('checkContinue', request, response)
    response.writeContinue()
    server.emit('request', request, response)
  } else if (!server.emit('checkExpectation', request, response)) {
    response.writeHead(417)
    response.end()
  }
}

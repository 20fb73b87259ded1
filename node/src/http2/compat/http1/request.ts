// Requests of node:http made from exchanges of every version: HTTP/2 and HTTP/3 get the fields that programs of HTTP/1.1 look for.

import { randomBytes } from 'node:crypto'
import { HttpVersion } from '../../../channel/codes'
import type { Exchange } from '../../../server/exchange'
import type { Socket } from '../../connection/socket'
import type { Http1, Request } from './members'

/** Bytes of a `sec-websocket-key` (RFC 6455 section 4.1). */
const KEY_BYTES = 16

/** Names and values by turns: with a host, a word on the body where its length is not said, and what
 * an extended CONNECT asks for, as programs of node:http look for them. */
function rawOf (exchange: Exchange): string[] {
  const raw = exchange.rawFields()
  // RFC 9112 section 3.2.2: beside a target in absolute form the host of the field is ignored.
  if (exchange.version < HttpVersion.Http2 && exchange.ownScheme !== '') replaceHost(raw, exchange.authority)
  const has = (name: string): boolean => exchange.field(name) !== undefined
  if (exchange.authority !== '' && !has('host')) raw.unshift('host', exchange.authority)
  const isBody = exchange.hasBody && exchange.protocol === ''
  if (exchange.protocol !== '') raw.push('connection', 'Upgrade', 'upgrade', exchange.protocol)
  if (exchange.protocol === 'websocket' && !has('sec-websocket-key')) raw.push('sec-websocket-key', randomBytes(KEY_BYTES).toString('base64'))
  if (isBody && !has('content-length') && !has('transfer-encoding')) raw.push('transfer-encoding', 'chunked')
  return raw
}

/** Replaces each host among names and values by `authority`. */
function replaceHost (raw: string[], authority: string): void {
  for (let at = 0; at < raw.length; at += 2) if (raw[at]!.toLowerCase() === 'host') raw[at + 1] = authority
}

/** The target as it came: proxies get it in absolute form. */
export function targetOf (exchange: Exchange): string {
  const { ownScheme, authority, path } = exchange
  return exchange.version < HttpVersion.Http2 && ownScheme !== '' ? `${ownScheme}://${authority}${path}` : path || authority
}

/** Names and values that a request may have by `maxHeadersCount`, of which node takes whole numbers of 31 bits alone; 0: any. */
export const textsMaxOf = (fieldsMax: unknown): number => typeof fieldsMax === 'number' ? Math.max(fieldsMax << 1, 0) : 0

/** A request of node:http for an exchange. */
export function requestOf (exchange: Exchange, socket: Socket, http1: Http1, fieldsMax?: number | null): Request {
  const request = new http1.IncomingMessage(socket as never) as Request
  const major = exchange.version === HttpVersion.Http3 ? 3 : exchange.version === HttpVersion.Http2 ? 2 : 1
  request.httpVersionMajor = major
  request.httpVersionMinor = major === 1 && !exchange.isHttp10 ? 1 : 0
  request.httpVersion = `${major}.${request.httpVersionMinor}`
  request.method = exchange.method
  request.url = targetOf(exchange)
  ;(request as unknown as { upgrade: boolean }).upgrade = false
  if (http1.joinDuplicateHeaders === true) request.joinDuplicateHeaders = true
  const raw = rawOf(exchange)
  const textsMax = textsMaxOf(fieldsMax)
  request._addHeaderLines(raw, textsMax > 0 ? Math.min(raw.length, textsMax) : raw.length)
  return request
}

// Rules broken by a client, in the form of node:http and node:http2: `clientError` with a socket
// that may be answered on HTTP/1.1, an error of the session on HTTP/2.

import { STATUS_CODES } from 'node:http'
import { constants } from 'node:os'
import type { Exchange, ServerExchangeCallbacks } from '../../server/exchange'
import { UpgradeBytes } from '../compat/upgrade'
import { later } from '../callbacks/later'
import { alertName, hasNewNames } from '../../errors/failures'
import { nghttp2Error } from '../../errors/nghttp2'
import { coded, ErrorCode, OPENSSL, ofOpenSsl } from '../codes'
import type { Socket } from './socket'
import { clearTimeout, setImmediate, setTimeout } from '../../timers'

/** The texts of llhttp's codes. */
const REASONS: Record<string, string> = {
  HPE_INVALID_METHOD: 'Invalid method encountered',
  HPE_INVALID_URL: 'Invalid URL',
  HPE_INVALID_VERSION: 'Invalid HTTP version',
  HPE_INVALID_CONSTANT: 'Expected HTTP/',
  HPE_INVALID_HEADER_TOKEN: 'Invalid header token',
  HPE_LF_EXPECTED: 'Missing expected LF after header value',
  HPE_STRICT: 'Expected CRLF after version',
  HPE_UNEXPECTED_SPACE: 'Unexpected space after start line',
  HPE_CR_EXPECTED: 'Missing expected CR after header value',
  HPE_INVALID_CONTENT_LENGTH: 'Invalid character in Content-Length',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'Duplicate Content-Length',
  HPE_INVALID_TRANSFER_ENCODING: 'Request has invalid `Transfer-Encoding`',
  HPE_INVALID_CHUNK_SIZE: 'Invalid character in chunk size',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'Chunk extensions overflow',
  HPE_HEADER_OVERFLOW: 'Header overflow'
}

const BAD_REQUEST = 400
/** The codes of OpenSSL for bytes that begin no record of TLS: older and newer. */
const NO_RECORD = 'ERR_SSL_WRONG_VERSION_NUMBER'
const NO_RECORD_NEW = 'ERR_SSL_BAD_RECORD_TYPE'
/** Answers of node:http by llhttp's code, where the rule has another one. */
const STATUSES: Record<string, number> = { HPE_CHUNK_EXTENSIONS_OVERFLOW: 413, HPE_HEADER_OVERFLOW: 431 }
/** How long a client that was refused may take to leave, in ms. */
const LINGER_MS = 2000

/** A request that broke a rule of HTTP/1.1. */
export interface Refused {
  /** llhttp's, or node's for one that came too late; empty: it lacks a host, which llhttp takes. */
  code: string
  /** Says what was wrong; 0: none does. */
  status: number
  packet: Buffer
  /** Bytes at the front of the packet that are whole messages. */
  parsed: number
}

interface ClientError extends Error { code: string; bytesParsed?: number; rawPacket?: Buffer; reason?: string }

/** The error of a request that is not whole in its time. */
export const requestTimeout = (): ClientError => coded(Error, 'ERR_HTTP_REQUEST_TIMEOUT', 'Request timeout')

/** The error of `clientError`. */
export function clientError ({ code, packet, parsed }: Refused): ClientError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout()
  const reason = REASONS[code]
  if (reason === undefined) return Object.assign(new Error('Parse Error'), { code, bytesParsed: 0 })
  return Object.assign(new Error(`Parse Error: ${reason}`), { bytesParsed: parsed, code, reason, rawPacket: packet })
}

/** The error of a socket whose transport failed: its peer reset it, takes nothing more, has sent an alert of TLS, of which `code` is the
 * number, or what is no record of TLS. */
export function transportError (code: string): ClientError {
  const name = code === NO_RECORD && hasNewNames ? NO_RECORD_NEW : code
  const ofTls = /^\d+$/.test(name) ? `${OPENSSL}${alertName(Number(name)) ?? 'TLSV1_ALERT'}` : name
  if (ofTls.startsWith(OPENSSL)) return Object.assign(new Error(`TLS failed: ${ofTls}`), { code: ofTls, ...ofOpenSsl(ofTls) })
  const syscall = code === 'EPIPE' ? 'write' : 'read'
  const errno = -(constants.errno as Record<string, number>)[code]!
  return Object.assign(new Error(`${syscall} ${code}`), { errno, code, syscall })
}

/** The error of a session whose peer broke HTTP/2. */
export function brokenSession (number: number): Error {
  const { code, text, errno } = nghttp2Error(number)
  return Object.assign(coded(Error, code, text), { errno })
}

/** The whole response to a request that is not passed on; `code`: llhttp's. */
export function refusalOf (status: number, code = ''): string {
  status = STATUSES[code] ?? status
  const known = STATUS_CODES[status] === undefined ? BAD_REQUEST : status
  return `HTTP/1.1 ${known} ${STATUS_CODES[known]}\r\nConnection: close\r\n\r\n`
}

/** The answer of node:http to a request of HTTP/1.1 without exactly one host field (RFC 9112 section 3.2): one of its own, of which
 * listeners of `clientError` know nothing. */
export const hostMissing = (): string => `HTTP/1.1 400 Bad Request\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`

/** A listener that answers nothing leaves the connection to its client; one that answers a turn later may. */
function endWithClient (socket: Socket): void { socket.once('end', () => { setImmediate(() => { socket.end() }) }) }

/** The bytes of a client that broke HTTP/1.1: what is written goes as it is, what still comes is dropped. */
export class RefusedBytes extends UpgradeBytes {
  /** `isHalfOpen`: a client that has ended its side is waited for. */
  constructor (exchange: Exchange, socket: Socket, isHalfOpen: boolean) {
    super(exchange, socket, true)
    socket.on('error', () => {}).resume()
    if (!isHalfOpen) endWithClient(socket)
  }

  override finish (done: () => void): void {
    super.finish(done)
    const { socket } = this
    const timer = setTimeout(() => { socket.destroy() }, LINGER_MS).unref()
    socket.once('close', () => { clearTimeout(timer) })
  }
}

/** The bytes of a request that is not whole in its time: an answer of HTTP/1.1 may be written, which ends the
 * connection. `next` gets the end of the exchange. */
export class LateBytes extends UpgradeBytes {
  constructor (exchange: Exchange, socket: Socket, private readonly next: ServerExchangeCallbacks) {
    super(exchange, socket, false, true)
    socket.on('error', () => {})
  }

  override finish (done: () => void): void {
    this.socket.$of.shutDown()
    super.finish(done)
    // The request is over, and its connection the answer's.
    later(() => { this.next.$onClosed(ErrorCode.Cancel, false) })
  }

  override $onClosed (code = 0): void {
    super.$onClosed()
    this.next.$onClosed(code, false)
  }
}

/** The bytes of a client whose head the engine takes and the server refuses: an answer may be written, which ends the connection. */
export class UnservedBytes extends LateBytes {
  /** `isHalfOpen`: a client that has ended its side is waited for. */
  constructor (exchange: Exchange, socket: Socket, private readonly isHalfOpen: boolean) {
    super(exchange, socket, { $onData () {}, $onEnd () {}, $onRoom () {}, $onClosed () {} })
  }

  onHalfClosed (): void {
    const { socket } = this
    if (this.isHalfOpen || socket.destroyed) return
    endWithClient(socket)
    socket.resume().push(null)
  }
}

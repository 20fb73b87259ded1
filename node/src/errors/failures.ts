// Failures of the engine as the errors that users of undici and Node.js know.

import { constants as http2 } from 'node:http2'
import { constants } from 'node:os'
import { isError } from './is_error'
import { BodyTimeoutError, ConnectTimeoutError, EngineEndedError, HTTPParserError, HeadersOverflowError, HeadersTimeoutError, InformationalError, InvalidArgumentError, ProxyConnectionError, QueueTimeoutError, RefusedError, RequestAbortedError, ResponseContentLengthMismatchError, SecureProxyConnectionError, Socks5ProxyError, SocketError, TrunklineError, type Attempt, type FailureFacts, type SocketInfo } from '../errors'
import { nghttp2Error } from './nghttp2'
import { keepTimeline } from './timelines'

/** Why an exchange failed, as the engine says it (failure.rs). */
export interface Failure {
  kind: string
  message: string
  causes?: string[]
  system?: string | null
  /** The address that no connection could be made to. */
  address?: { ip: string; port: number } | null
  /** Why a handshake failed: the code of Node.js and its words, or the number of the peer's alert. */
  tls?: { code?: string; text?: string; alert?: number } | null
  detail?: string | null
  /** The end by a broken rule over HTTP/2 and HTTP/3: of a stream by a code, or of its connection by a number of nghttp2. */
  broken?: { stream?: number; session?: number } | null
  attempts?: Attempt[]
  wasSent?: boolean
  waitReason?: string | null
  /** The number by which the bridge gives its timeline. */
  timeline?: number | null
  /** Its number, where a page keeps it. */
  timelineId?: number | null
  /** Why a proxy gave no connection. */
  proxy?: string | null
  /** An error of the user's own is at the bottom: whose it is, and its number (errors.ts). */
  own?: string | null
}

/** undici's words for a proxy's 407 to a request in absolute form. */
export const PROXY_WANTS_CREDENTIALS = 'Proxy Authentication Required (407)'

/** Errors of the user's own, of `connect.lookup`, of a connector and of a stream that carried a connection, by
 * what failed: the engine gives the number back, and the request fails with that very error. */
const ownErrors = new Map<string, Error>()
/** Requests fail at once with theirs, so the oldest wait for no request. Sockets of a dispatcher, twice. */
const OWN_ERRORS_MAX = 2048

export function keepOwnError (of: string, error: Error): void {
  if (ownErrors.size >= OWN_ERRORS_MAX) ownErrors.delete(ownErrors.keys().next().value!)
  ownErrors.set(of, error)
}

/** The requests that it was for have failed. */
export function forgetOwnError (of: string): void { ownErrors.delete(of) }

/** Whose requests fail. */
export interface FailureOwner {
  /** The connection of a number, of the engine's client that has the request. */
  connection: (number: number, of: { readonly client: number } | null) => SocketInfo
  readonly bridge: { ask: (verb: string, question: object) => unknown }
}

/** The error that a failure of the engine is; `answered`: the response's head had come; `of`: where the request went. */
export function errorOf (failure: Failure, answered: boolean, owner?: FailureOwner, of: { readonly client: number } | null = null): Error {
  // The engine names the last cause of a failed connection beside its address already.
  const causes = (failure.causes ?? []).filter(cause => !failure.message.includes(cause))
  const text = [failure.message, ...causes].join(': ')
  const error = pick(failure, text, answered)
  if (failure.own == null) giveCode(error, text)
  if (error instanceof TrunklineError) {
    error.attempts = failure.attempts
    error.wasSent = failure.wasSent
    error.waitReason = failure.waitReason
    const { timeline } = failure
    if (timeline != null && owner !== undefined) keepTimeline(error, owner.bridge, timeline)
    if (error instanceof SocketError) error.socket = socketOf(failure, owner, of)
  }
  if (error instanceof HeadersTimeoutError || error instanceof BodyTimeoutError) noteTimeout(error, failure, owner, of)
  // An error of the program's own functions stays as it is.
  if (failure.timelineId != null && failure.own == null) (error as FailureFacts).timelineId = failure.timelineId
  return error
}

/** Our words are the cause of an error that is as Node.js and undici have it. Programs look for the code of the innermost cause, which is that
 * error in those. */
function giveCode (error: Error & { code?: unknown }, text: string): void {
  const { cause } = error
  if (!isError(cause)) return
  if (cause.message === text && !('code' in cause)) Object.assign(cause, { code: error.code })
  else giveCode(cause, text)
}

const timeouts = new WeakMap<object, Error>()
/** The timeout by which the last request on a connection ended; undefined: there was none. */
export function timeoutOn (connection: object): Error | undefined { return timeouts.get(connection) }

/** A connection of HTTP/1.1 ends with a request that was given up: its `disconnect` says why, as with undici. */
function noteTimeout (error: Error, { attempts }: Failure, owner: FailureOwner | undefined, of: { readonly client: number } | null): void {
  const last = attempts?.at(-1)
  if (last !== undefined && owner !== undefined) timeouts.set(owner.connection(last.connection, of), error)
}

/** The addresses of the last connection that the request was on. */
function socketOf ({ attempts }: Failure, owner: FailureOwner | undefined, of: { readonly client: number } | null): SocketInfo | null {
  const last = attempts?.at(-1)
  if (last === undefined || owner === undefined) return null
  const { localAddress, localPort, remoteAddress, remotePort, remoteFamily } = owner.connection(last.connection, of)
  const { bytesWritten, bytesRead } = last
  // No timeout of Node.js is set on it.
  return { localAddress, localPort, remoteAddress, remotePort, remoteFamily, timeout: undefined, bytesWritten, bytesRead }
}

/** A name that was not found, in the words of Node.js, which programs match; the engine's are the cause. */
function unresolved (text: string): Error {
  const [, hostname] = /^the host (\S+) cannot be resolved/.exec(text) ?? []
  // glibc's words for EAI_AGAIN; musl's are `Try again`.
  const code = /Temporary failure|Try again/.test(text) ? 'EAI_AGAIN' : 'ENOTFOUND'
  const facts = { errno: code === 'ENOTFOUND' ? ENOTFOUND_ERRNO : EAI_AGAIN_ERRNO, syscall: 'getaddrinfo' }
  if (hostname === undefined) return Object.assign(system(code, text), facts)
  return Object.assign(system(code, `getaddrinfo ${code} ${hostname}`), facts, { hostname, cause: new Error(text) })
}

function pick (failure: Failure, text: string, answered: boolean): Error {
  const own = failure.own == null ? undefined : ownErrors.get(failure.own)
  if (own !== undefined) return own
  switch (failure.kind) {
    case 'config': case 'message': return new InvalidArgumentError(text)
    case 'resolve': return unresolved(text)
    case 'connect':
      if (failure.system) {
        const { address } = failure
        const facts = { errno: errnoOf(failure.system), syscall: 'connect' }
        const [, path] = /^no connection to the Unix socket (.+?): /s.exec(text) ?? []
        if (path !== undefined) return Object.assign(system(failure.system, `connect ${failure.system} ${path}`), facts, { address: path, cause: new Error(text) })
        if (address == null) return Object.assign(system(failure.system, text), facts)
        // The words of Node.js, which programs match; the engine's say which origin it was.
        const words = `connect ${failure.system} ${address.ip}:${address.port}`
        return Object.assign(system(failure.system, words), facts, { address: address.ip, port: address.port, cause: new Error(text) })
      }
      return new ConnectTimeoutError(timedOut(text), { cause: new Error(text) })
    case 'tls': return ofTls(failure, text)
    case 'proxy': return proxyError(failure, text)
    case 'timeout':
      if (failure.waitReason) return new QueueTimeoutError(text)
      // In undici's words, which programs match; the engine's say which bound it was.
      return answered ? new BodyTimeoutError(undefined, { cause: new Error(text) }) : new HeadersTimeoutError(undefined, { cause: new Error(text) })
    case 'violation': return violation(failure, text)
    case 'ended': return new EngineEndedError(text)
    case 'refused': return new RefusedError(text)
    default: return ended(failure, text)
  }
}

const MS: Record<string, number> = { s: 1000, ms: 1, 'µs': 0.001 }

/** A connect timeout in undici's words, which programs match; the engine's are the cause. */
function timedOut (text: string): string {
  const [, scheme, host, amount, unit] = /^no connection to (https?):\/\/(\S+) within ([\d.]+)(s|ms|µs)$/.exec(text) ?? []
  if (host === undefined) return text
  const address = /:\d+$/.test(host) ? host : `${host}:${scheme === 'https' ? 443 : 80}`
  return `Connect Timeout Error (attempted address: ${address}, timeout: ${Number(amount) * MS[unit!]!}ms)`
}

/** OpenSSL's words for alerts, which are the codes of Node.js behind `ERR_SSL_`. */
const ALERTS: Record<number, string> = {
  10: 'SSLV3_ALERT_UNEXPECTED_MESSAGE',
  20: 'SSLV3_ALERT_BAD_RECORD_MAC',
  21: 'TLSV1_ALERT_DECRYPTION_FAILED',
  22: 'TLSV1_ALERT_RECORD_OVERFLOW',
  30: 'SSLV3_ALERT_DECOMPRESSION_FAILURE',
  40: 'SSLV3_ALERT_HANDSHAKE_FAILURE',
  41: 'SSLV3_ALERT_NO_CERTIFICATE',
  42: 'SSLV3_ALERT_BAD_CERTIFICATE',
  43: 'SSLV3_ALERT_UNSUPPORTED_CERTIFICATE',
  44: 'SSLV3_ALERT_CERTIFICATE_REVOKED',
  45: 'SSLV3_ALERT_CERTIFICATE_EXPIRED',
  46: 'SSLV3_ALERT_CERTIFICATE_UNKNOWN',
  47: 'SSLV3_ALERT_ILLEGAL_PARAMETER',
  48: 'TLSV1_ALERT_UNKNOWN_CA',
  49: 'TLSV1_ALERT_ACCESS_DENIED',
  50: 'TLSV1_ALERT_DECODE_ERROR',
  51: 'TLSV1_ALERT_DECRYPT_ERROR',
  60: 'TLSV1_ALERT_EXPORT_RESTRICTION',
  70: 'TLSV1_ALERT_PROTOCOL_VERSION',
  71: 'TLSV1_ALERT_INSUFFICIENT_SECURITY',
  80: 'TLSV1_ALERT_INTERNAL_ERROR',
  86: 'TLSV1_ALERT_INAPPROPRIATE_FALLBACK',
  90: 'TLSV1_ALERT_USER_CANCELLED',
  100: 'TLSV1_ALERT_NO_RENEGOTIATION',
  109: 'TLSV13_ALERT_MISSING_EXTENSION',
  110: 'TLSV1_UNSUPPORTED_EXTENSION',
  111: 'TLSV1_CERTIFICATE_UNOBTAINABLE',
  112: 'TLSV1_UNRECOGNIZED_NAME',
  113: 'TLSV1_BAD_CERTIFICATE_STATUS_RESPONSE',
  114: 'TLSV1_BAD_CERTIFICATE_HASH_VALUE',
  115: 'TLSV1_ALERT_UNKNOWN_PSK_IDENTITY',
  116: 'TLSV13_ALERT_CERTIFICATE_REQUIRED',
  120: 'TLSV1_ALERT_NO_APPLICATION_PROTOCOL'
}

/** OpenSSL 3.2 renamed the alerts of SSL 3. */
export const hasNewNames = ((): boolean => {
  const [major = 0, minor = 0] = process.versions.openssl.split('.').map(Number)
  return major > 3 || (major === 3 && minor >= 2)
})()

/** The name of the peer's alert in codes of this line's OpenSSL; undefined: it has none. */
export const alertName = (alert: number): string | undefined => hasNewNames ? ALERTS[alert]?.replace('SSLV3', 'SSL/TLS') : ALERTS[alert]

const TRUST = 'as connect.ca, or in the file that NODE_EXTRA_CA_CERTS names'
const CLOCK = 'a certificate of the chain has to be replaced, or the clock of this machine is wrong'
/** How each refusal of a certificate can be cured. */
const CURES: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `to trust it, give it ${TRUST}`,
  SELF_SIGNED_CERT_IN_CHAIN: `to trust its chain, give the root certificate at its end ${TRUST}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `no trusted certificate is its issuer: the server has to send the certificates between it and a trusted root, or give them and the root ${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `no trusted root is at the end of its chain: give that root ${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT: `a trusted certificate in its chain is no root: give the root that issued that one ${TRUST}`,
  CERT_HAS_EXPIRED: CLOCK,
  CERT_NOT_YET_VALID: CLOCK,
  INVALID_CA: 'a certificate in its chain that has issued another is not an authority',
  INVALID_PURPOSE: 'a certificate in its chain is not for TLS servers (extendedKeyUsage, keyUsage)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'to accept the certificate for another name, give that name as connect.servername'
}

/** How the alerts of servers that have a likely cause can be cured (RFC 8446 section 6, RFC 7301 section 3.2). */
const ALERT_CURES: Record<number, string> = {
  40: 'it has no version, suite or group in common with the client, or wants a certificate (connect.cert and connect.key)',
  70: 'it does not speak the versions of TLS that connect.minVersion and connect.maxVersion allow',
  112: 'it does not know the name: connect.servername is the one that is sent',
  116: 'it wants a certificate of the client: connect.cert and connect.key',
  120: 'it speaks none of the versions of HTTP that the client offers: see allowH2 and http3'
}

const cureOf = (cure: string | undefined): string => cure === undefined ? '' : `; ${cure}`

/** A handshake that failed, with the code and the words of Node.js first. */
function ofTls (failure: Failure, text: string): Error {
  const { tls: fault, message, proxy, system: code } = failure
  if (fault == null) return cutHandshake(code, text)
  if (fault.alert !== undefined) {
    const name = alertName(fault.alert)
    const words = name?.replaceAll('_', ' ').toLowerCase() ?? 'alert'
    return system(name === undefined ? 'ERR_SSL_PROTOCOL_ERROR' : `ERR_SSL_${name}`, `${words}: the server ended the handshake with alert ${fault.alert}${cureOf(ALERT_CURES[fault.alert])} (${message})`)
  }
  const cure = CURES[fault.code!]
  const words = `${fault.text}${cureOf(cure)} (${message})`
  const error = system(fault.code!, words)
  if (fault.code !== ALTNAME_INVALID) return error
  Object.assign(error, { reason: fault.text!.replace(/^[^:]*: /, '') })
  return proxy === 'handshake' ? new SecureProxyConnectionError(words, { cause: error }) : error
}

/** A handshake that ended without a fault of TLS: where the server has ended its connection, in the words of Node.js, by which programs know
 * that another try may succeed. */
function cutHandshake (code: string | null | undefined, text: string): Error {
  const cause = new Error(text)
  if (code) return Object.assign(system(code, `read ${code}`), { errno: errnoOf(code), syscall: 'read', cause })
  const [, host, port] = /^the TLS handshake with https:\/\/(.+?)(?::(\d+))? failed: unexpected end of file$/.exec(text) ?? []
  if (host === undefined) return system('ERR_SSL_PROTOCOL_ERROR', text)
  const words = 'Client network socket disconnected before secure TLS connection was established'
  return Object.assign(system('ECONNRESET', words), { path: undefined, host: host.replace(/^\[(.*)\]$/, '$1'), port: port ?? '443', localAddress: null, cause })
}

const ALTNAME_INVALID = 'ERR_TLS_CERT_ALTNAME_INVALID'

/** The errno of Node.js for an unknown host name (UV_EAI_NONAME). */
const ENOTFOUND_ERRNO = -3008
const EAI_AGAIN_ERRNO = -3001
/** The code with which a stream is reset whose content is not as long as its head says (RFC 9113 section 8.1.1). */
const PROTOCOL_ERROR = 1
/** undici's words for a peer that is gone, which programs look for. */
const OTHER_SIDE_CLOSED = 'other side closed'
/** undici's words for NO_ERROR and CANCEL: a stream that was ended and did not fail. */
const GRACEFUL_WORDS: Record<number, string> = {
  [http2.NGHTTP2_NO_ERROR]: 'HTTP/2: stream half-closed (remote)',
  [http2.NGHTTP2_CANCEL]: 'HTTP/2: stream closed before the response was complete'
}

/** The engine's words for a request that a GOAWAY left out, and that was not sent again. */
const LEFT_BY_GOAWAY = 'the peer left the request unprocessed (GOAWAY'

/** The names of the codes of RFC 9113 section 7, which count from 0. */
const CODE_NAMES = ['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED', 'FRAME_SIZE_ERROR',
  'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM', 'INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'].map(name => `NGHTTP2_${name}`)

/** The name of node:http2 for an error code of HTTP/2, else its number. */
export const nameOfCode = (code: number): string => CODE_NAMES[code] ?? String(code)

/** The error of Node.js for a port that nothing can listen on. */
export function refusedAt (address: string): Error {
  return Object.assign(system('ECONNREFUSED', `connect ECONNREFUSED ${address}`), { errno: errnoOf('ECONNREFUSED'), syscall: 'connect', address })
}

/** The end of a stream or of a connection, as Node.js and undici name it. */
function ended (failure: Failure, text: string): Error {
  const { kind, detail, system: code } = failure
  if (kind === 'reset') {
    const http2ErrorCode = Number(detail)
    const cause = new Error(text)
    if (text.startsWith(LEFT_BY_GOAWAY)) return goneBy(http2ErrorCode, cause)
    const graceful = GRACEFUL_WORDS[http2ErrorCode]
    if (graceful !== undefined) return new InformationalError(graceful, { cause })
    return streamFailed(http2ErrorCode, cause)
  }
  if (kind === 'closed' && detail === '0') return new SocketError(OTHER_SIDE_CLOSED, { cause: new Error(text) })
  if (kind === 'closed') return Object.assign(system('ERR_HTTP2_SESSION_ERROR', `Session closed with error code ${detail}`), { cause: new Error(text) })
  if (kind === 'transport' && code) return Object.assign(system(code, `read ${code}`), { errno: errnoOf(code), syscall: 'read', cause: new Error(text) })
  if (!/^the transport closed(;|$)/.test(text)) return new SocketError(text)
  return text.includes(';') ? new SocketError(OTHER_SIDE_CLOSED, { cause: new Error(text) }) : new SocketError(OTHER_SIDE_CLOSED)
}

/** Why a connection of HTTP/2 was closed, in undici's words; by its peer without a fault it is no failure. */
export function goneAway (failure: Failure): Error {
  if (failure.kind === 'violation') return brokenFraming(failure, failure.message)
  if (failure.kind !== 'closed' || failure.detail == null) return errorOf(failure, false)
  return goneBy(Number(failure.detail), new Error(failure.message))
}

/** undici's words for a GOAWAY, by whose code programs try again. */
function goneBy (code: number, cause: Error): Error {
  const words = `HTTP/2: "GOAWAY" frame received with code ${code}`
  return code === http2.NGHTTP2_NO_ERROR ? new InformationalError(words, { cause }) : new SocketError(words, { cause })
}

/** The error of a write whose peer takes no more. */
export function brokenPipe (): Error { return Object.assign(system('EPIPE', 'write EPIPE'), { errno: errnoOf('EPIPE'), syscall: 'write' }) }

/** The system's number of an error, as errors of Node.js have it. */
function errnoOf (code: string): number | undefined {
  const number = (constants.errno as Record<string, number>)[code]
  return number === undefined ? undefined : -number
}

/** With undici's codes. A proxy that answers CONNECT with another status than 2xx has aborted the request
 * there; the cause says what it was. */
function proxyError ({ proxy, system: code }: Failure, text: string): Error {
  const own = new ProxyConnectionError(text)
  const why = proxy ?? ''
  // One that ends its connection is asked again by a RetryAgent, as with undici.
  if (code && why === '') return Object.assign(system(code, `read ${code}`), { errno: errnoOf(code), syscall: 'read', cause: own })
  if (why.startsWith('status ')) return new RequestAbortedError(`Proxy response (${why.slice(7)}) !== 200 when HTTP Tunneling`, { cause: own })
  if (!why.startsWith('UND_ERR_SOCKS5')) return own
  return new Socks5ProxyError(text, why)
}

function violation (failure: Failure, text: string): Error {
  const rule = failure.detail ?? ''
  if (/^FieldSectionTooLarge|^HeadTooLarge/.test(rule)) return new HeadersOverflowError(undefined, { cause: new Error(text) })
  if (rule === 'ContentLengthMismatch') {
    // The stream's error by node:http2 behind that of undici, and our own words behind both.
    const cause = streamFailed(PROTOCOL_ERROR, new Error(text))
    return Object.assign(new ResponseContentLengthMismatchError(undefined, { cause }), { http2ErrorCode: PROTOCOL_ERROR })
  }
  if (/^BodyLength|^ContentLength(?!Invalid)/.test(rule)) return new ResponseContentLengthMismatchError(undefined, { cause: new Error(text) })
  if (rule === 'ResponseUnexpected') return new SocketError('bad response', { cause: new Error(text) })
  if (rule === 'SwitchUnexpected') return new SocketError('bad upgrade', { cause: new Error(text) })
  // Its retries go by this: what breaks off may come whole another time.
  if (rule === 'BodyTruncated') return new SocketError(OTHER_SIDE_CLOSED, { cause: new Error(text) })
  const version = failure.attempts?.at(-1)?.version
  if (version === 'HTTP/2' || version === 'HTTP/3') return brokenFraming(failure, text)
  return new HTTPParserError(text)
}

/** A rule of HTTP/2 or HTTP/3 that the server broke, in the form of node:http2 and in nghttp2's words; the rule itself is the cause. */
function brokenFraming ({ broken }: Failure, text: string): Error {
  const cause = new Error(text)
  if (broken?.stream !== undefined) return streamFailed(broken.stream, cause)
  const { code, text: words, errno } = nghttp2Error(broken!.session!)
  return Object.assign(system(code, words), { errno, cause })
}

/** The error of node:http2 for a stream that ended with a code, and undici's mark on it. */
function streamFailed (http2ErrorCode: number, cause: Error): Error {
  return Object.assign(system('ERR_HTTP2_STREAM_ERROR', `Stream closed with error code ${nameOfCode(http2ErrorCode)}`), { http2ErrorCode, cause })
}

/** An error as Node.js makes it for a failed call of the system. */
class FailedCallError extends TrunklineError {
  constructor (code: string, text: string) {
    super(text, code)
    this.name = 'Error'
  }
}
// console.log prints it as Node.js's, by the name of its constructor.
Object.defineProperty(FailedCallError.prototype, 'constructor', { value: Error, writable: true, configurable: true })

function system (code: string, text: string): Error { return new FailedCallError(code, text) }

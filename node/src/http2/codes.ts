// The errors of node:http2, by their codes, and its checks of arguments. Codes and classes are
// node's, because programs test them; the messages are ours.

import { EventEmitter } from 'node:events'
import { inspect } from 'node:util'
import { nameOfCode } from '../errors/failures'

/** The codes of errors of HTTP/2 that are given here (RFC 9113 section 7). */
export const enum ErrorCode { NoError = 0, Protocol = 1, Internal = 2, FrameSize = 6, RefusedStream = 7, Cancel = 8, EnhanceYourCalm = 11 }

export interface CodedError extends Error { code: string }

type Base = ErrorConstructor | TypeErrorConstructor | RangeErrorConstructor

/** By this mark node knows its own errors, whose stacks begin with their codes. */
function markOfNode (): symbol | undefined {
  try {
    new EventEmitter().setMaxListeners(-1)
  } catch (error) {
    for (let own = error as object | null; own !== null; own = Object.getPrototypeOf(own) as object | null) {
      const mark = Object.getOwnPropertySymbols(own).find(({ description }) => description === 'kIsNodeError')
      if (mark !== undefined) return mark
    }
  }
  return undefined
}
const mark = markOfNode()

function spelled (Made: Base): Base {
  const Spelled = class extends (Made as ErrorConstructor) {
    declare code: string
    override toString (): string { return `${this.name} [${this.code}]: ${this.message}` }
  }
  Object.defineProperty(Spelled.prototype, 'constructor', { value: Made, writable: true, configurable: true })
  if (mark !== undefined) Object.defineProperty(Spelled.prototype, mark, { value: true, configurable: true })
  return Spelled as unknown as Base
}
/** Each class of errors, with the code in its text. */
const classes = new Map<Base, Base>([Error, TypeError, RangeError].map(Made => [Made, spelled(Made)]))

/** An error with a code, as node makes its own: its text and its stack begin with the code, too. */
export function coded (Made: Base, code: string, text: string): CodedError {
  const error = new (classes.get(Made)!)(text) as CodedError
  error.code = code
  return error
}

const PLAIN: Record<string, [Base, string]> = {
  ERR_HTTP2_ALTSVC_INVALID_ORIGIN: [TypeError, 'HTTP/2 ALTSVC frames require a valid origin'],
  ERR_HTTP2_ALTSVC_LENGTH: [TypeError, 'HTTP/2 ALTSVC frames are limited to 16382 bytes'],
  ERR_HTTP2_CONNECT_AUTHORITY: [Error, ':authority header is required for CONNECT requests'],
  ERR_HTTP2_CONNECT_PATH: [Error, 'The :path header is forbidden for CONNECT requests'],
  ERR_HTTP2_CONNECT_SCHEME: [Error, 'The :scheme header is forbidden for CONNECT requests'],
  ERR_HTTP2_GOAWAY_SESSION: [Error, 'New streams cannot be created after receiving a GOAWAY'],
  ERR_HTTP2_HEADERS_AFTER_RESPOND: [Error, 'Cannot specify additional headers after response initiated'],
  ERR_HTTP2_HEADERS_SENT: [Error, 'Response has already been initiated.'],
  ERR_HTTP2_INFO_STATUS_NOT_ALLOWED: [RangeError, 'Informational status codes cannot be used'],
  ERR_HTTP2_INVALID_ORIGIN: [TypeError, 'HTTP/2 ORIGIN frames require a valid origin'],
  ERR_HTTP2_INVALID_SESSION: [Error, 'The session has been destroyed'],
  ERR_HTTP2_INVALID_STREAM: [Error, 'The stream has been destroyed'],
  ERR_HTTP2_MAX_PENDING_SETTINGS_ACK: [Error, 'Maximum number of pending settings acknowledgements'],
  ERR_HTTP2_NO_SOCKET_MANIPULATION: [Error, 'HTTP/2 sockets should not be directly manipulated (e.g. read and written)'],
  ERR_HTTP2_ORIGIN_LENGTH: [TypeError, 'HTTP/2 ORIGIN frames are limited to 16382 bytes'],
  ERR_HTTP2_OUT_OF_STREAMS: [Error, 'No stream ID is available because maximum stream ID has been reached'],
  ERR_HTTP2_PING_CANCEL: [Error, 'HTTP2 ping cancelled'],
  ERR_HTTP2_PING_LENGTH: [RangeError, 'HTTP2 ping payload must be 8 bytes'],
  ERR_HTTP2_PSEUDOHEADER_NOT_ALLOWED: [TypeError, 'Cannot set HTTP/2 pseudo-headers'],
  ERR_HTTP2_PUSH_DISABLED: [Error, 'HTTP/2 client has disabled push streams'],
  ERR_HTTP2_SEND_FILE: [Error, 'Directories cannot be sent'],
  ERR_HTTP2_SEND_FILE_NOSEEK: [Error, 'Offset or length can only be specified for regular files'],
  ERR_HTTP2_SETTINGS_CANCEL: [Error, 'HTTP2 session settings canceled'],
  ERR_HTTP2_SOCKET_BOUND: [Error, 'The socket is already bound to an Http2Session'],
  ERR_HTTP2_SOCKET_UNBOUND: [Error, 'The socket has been disconnected from the Http2Session'],
  ERR_HTTP2_STATUS_101: [Error, 'HTTP status code 101 (Switching Protocols) is forbidden in HTTP/2'],
  ERR_HTTP2_TRAILERS_ALREADY_SENT: [Error, 'Trailing headers have already been sent'],
  ERR_HTTP2_TRAILERS_NOT_READY: [Error, 'Trailing headers cannot be sent until after the wantTrailers event is emitted'],
  ERR_SOCKET_CLOSED: [Error, 'Socket is closed'],
  ERR_STREAM_DESTROYED: [Error, 'Cannot call write after a stream was destroyed'],
  ERR_STREAM_WRITE_AFTER_END: [Error, 'write after end']
}

/** The error of a closed connection for its readers and writers. */
export const aborted = (): CodedError => Object.assign(new Error('aborted'), { code: 'ECONNRESET' })

/** An error that needs no value. */
export function plain (code: string): CodedError {
  const [Made, text] = PLAIN[code]!
  return coded(Made, code, text)
}

/** Characters of a value in a message, as node shortens them. */
const DISPLAYED_LENGTH_MAX = 128
const TYPED_LENGTH_MAX = 28
/** Numbers beyond have their digits in groups. */
const PLAIN_NUMBER_MAX = 2 ** 32

/** The type and the value behind "Received". */
function received (value: unknown): string {
  if (value == null) return String(value)
  if (typeof value === 'function') return `function ${value.name}`
  if (typeof value === 'object') {
    const { name } = ((value as object).constructor ?? {}) as { name?: string }
    return name ? `an instance of ${name}` : inspect(value, { depth: -1 })
  }
  const text = inspect(value, { colors: false })
  return `type ${typeof value} (${text.length > TYPED_LENGTH_MAX ? `${text.slice(0, TYPED_LENGTH_MAX - 3)}...` : text})`
}

/** The value of an argument or a property, in one line. */
function displayed (value: unknown): string {
  const text = inspect(value)
  return text.length > DISPLAYED_LENGTH_MAX ? `${text.slice(0, DISPLAYED_LENGTH_MAX)}...` : text
}

/** A number with its digits in groups where it is large. */
function grouped (value: unknown): string {
  const isLarge = Number.isInteger(value) ? Math.abs(value as number) > PLAIN_NUMBER_MAX : typeof value === 'bigint' && (value > BigInt(PLAIN_NUMBER_MAX) || value < -BigInt(PLAIN_NUMBER_MAX))
  if (!isLarge) return inspect(value)
  return `${String(value).replace(/\B(?=(\d{3})+$)/g, '_')}${typeof value === 'bigint' ? 'n' : ''}`
}

const kindOf = (name: string): string => name.includes('.') ? 'property' : 'argument'

/** `wanted`: what stands behind "must be". */
export const invalidType = (name: string, wanted: string, value: unknown): CodedError =>
  coded(TypeError, 'ERR_INVALID_ARG_TYPE', `The "${name}" ${kindOf(name)} must be ${wanted}. Received ${received(value)}`)
export const invalidValue = (name: string, value: unknown, why = 'is invalid'): CodedError =>
  coded(TypeError, 'ERR_INVALID_ARG_VALUE', `The ${kindOf(name)} '${name}' ${why}. Received ${displayed(value)}`)
export const outOfRange = (name: string, wanted: string, value: unknown): CodedError =>
  coded(RangeError, 'ERR_OUT_OF_RANGE', `The value of "${name}" is out of range. It must be ${wanted}. Received ${grouped(value)}`)
export const invalidToken = (value: unknown): CodedError =>
  coded(TypeError, 'ERR_INVALID_HTTP_TOKEN', `Header name must be a valid HTTP token ["${String(value)}"]`)
export const invalidCharacter = (what: string): CodedError => coded(TypeError, 'ERR_INVALID_CHAR', `Invalid character in ${what}`)
export const invalidHeaderValue = (name: string, value: unknown): CodedError =>
  coded(TypeError, 'ERR_HTTP2_INVALID_HEADER_VALUE', `Invalid value "${String(value)}" for header "${name}"`)
export const invalidPseudoHeader = (name: string): CodedError =>
  coded(TypeError, 'ERR_HTTP2_INVALID_PSEUDOHEADER', `"${name}" is an invalid pseudoheader or is used incorrectly`)
export const connectionHeader = (name: string): CodedError =>
  coded(TypeError, 'ERR_HTTP2_INVALID_CONNECTION_HEADERS', `HTTP/1 Connection specific headers are forbidden: "${name}"`)
export const singleValue = (name: string): CodedError =>
  coded(TypeError, 'ERR_HTTP2_HEADER_SINGLE_VALUE', `Header field "${name}" must only have a single value`)
export const invalidStatus = (status: unknown): CodedError =>
  coded(RangeError, 'ERR_HTTP2_STATUS_INVALID', `Invalid status code: ${String(status)}`)
export const invalidInfoStatus = (status: unknown): CodedError =>
  coded(RangeError, 'ERR_HTTP2_INVALID_INFO_STATUS', `Invalid informational status code: ${String(status)}`)
export const payloadForbidden = (status: number): CodedError =>
  coded(Error, 'ERR_HTTP2_PAYLOAD_FORBIDDEN', `Responses with ${status} status must not have a payload`)
export const sessionError = (code: number): CodedError =>
  coded(Error, 'ERR_HTTP2_SESSION_ERROR', `Session closed with error code ${code}`)

/** The error and the code that `session.destroy` ends a session with. */
export function endOfSession (error: Error | number | null, code: number | undefined): [Error | undefined, number] {
  if (typeof error === 'number') return [error === ErrorCode.NoError ? undefined : sessionError(error), error]
  return error == null ? [undefined, code ?? ErrorCode.NoError] : [error, code ?? ErrorCode.Internal]
}

export const streamError = (code: number): CodedError =>
  coded(Error, 'ERR_HTTP2_STREAM_ERROR', `Stream closed with error code ${nameOfCode(code)}`)

/** The beginning of the codes of OpenSSL's errors. */
export const OPENSSL = 'ERR_SSL_'
/** The members that node gives the errors of OpenSSL: its code is made of the reason. */
export function ofOpenSsl (code: string): { library?: string; reason?: string } {
  return code.startsWith(OPENSSL) ? { library: 'SSL routines', reason: code.slice(OPENSSL.length).toLowerCase().replaceAll('_', ' ') } : {}
}

/** Whether it is node's error of an aborted signal: the `AbortError` of a DOMException is an error like others, as with node. */
export const isAbort = (error: Error): boolean => error.name === 'AbortError' && (error as Partial<CodedError>).code === 'ABORT_ERR'

// Checks of arguments: each throws what node's own throws.

export function checkText (value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string') throw invalidType(name, 'of type string', value)
}
export function checkCall (value: unknown): asserts value is (...args: any[]) => void {
  if (typeof value !== 'function') throw invalidType('callback', 'of type function', value)
}
export function checkNumber (value: unknown, name: string): asserts value is number {
  if (typeof value !== 'number') throw invalidType(name, 'of type number', value)
}
export function checkInteger (value: unknown, name: string, least: number, most: number): asserts value is number {
  checkNumber(value, name)
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value)
  if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value)
}
/** An object or nothing. */
export function checkObject (value: unknown, name: string): asserts value is object | undefined {
  if (value === undefined) return
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalidType(name, 'of type object', value)
}
export function checkBytes (value: unknown, name: string): asserts value is NodeJS.ArrayBufferView {
  if (!ArrayBuffer.isView(value)) throw invalidType(name, 'an instance of Buffer, TypedArray, or DataView', value)
}
/** Milliseconds of a timer. */
export function checkTime (value: unknown): asserts value is number {
  checkNumber(value, 'msecs')
  if (!(value >= 0 && Number.isFinite(value))) throw outOfRange('msecs', 'a non-negative finite number', value)
}

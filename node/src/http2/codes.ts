// The errors of node:http2, by their codes, and its checks of arguments. Codes and classes are
// node's, because programs test them; the messages are ours.

import { constants } from 'node:http2'
import { inspect } from 'node:util'

export interface CodedError extends Error { code: string }

type Base = ErrorConstructor | TypeErrorConstructor | RangeErrorConstructor

/** An error with a code, as node:http2 makes them. */
function coded (Made: Base, code: string, text: string): CodedError {
  const error = new Made(text) as CodedError
  error.code = code
  return error
}

const PLAIN: Record<string, [Base, string]> = {
  ERR_HTTP2_ALTSVC_INVALID_ORIGIN: [TypeError, 'ALTSVC needs an origin that a URL can have'],
  ERR_HTTP2_ALTSVC_LENGTH: [TypeError, 'ALTSVC takes at most 16,382 bytes of origin and alternatives'],
  ERR_HTTP2_HEADERS_AFTER_RESPOND: [Error, 'the final head has been sent: no interim response may follow'],
  ERR_HTTP2_HEADERS_SENT: [Error, 'the final head has been sent'],
  ERR_HTTP2_INFO_STATUS_NOT_ALLOWED: [RangeError, 'a final status must not be 1xx'],
  ERR_HTTP2_INVALID_ORIGIN: [TypeError, 'ORIGIN needs origins that a URL can have'],
  ERR_HTTP2_INVALID_SESSION: [Error, 'the session has been destroyed'],
  ERR_HTTP2_INVALID_STREAM: [Error, 'the stream has been destroyed'],
  ERR_HTTP2_MAX_PENDING_SETTINGS_ACK: [Error, 'more settings wait for their acknowledgement than maxOutstandingSettings allows'],
  ERR_HTTP2_NO_SOCKET_MANIPULATION: [Error, 'the bytes of the socket belong to HTTP: it cannot be read, written or steered'],
  ERR_HTTP2_ORIGIN_LENGTH: [TypeError, 'ORIGIN takes at most 16,382 bytes of origins'],
  ERR_HTTP2_PING_CANCEL: [Error, 'the ping was cancelled'],
  ERR_HTTP2_PING_LENGTH: [RangeError, 'the payload of a ping must have 8 bytes'],
  ERR_HTTP2_PSEUDOHEADER_NOT_ALLOWED: [TypeError, 'a pseudo-header cannot be set here'],
  ERR_HTTP2_PUSH_DISABLED: [Error, 'server push is not available: the peer refuses it or this server does not do it'],
  ERR_HTTP2_SEND_FILE: [Error, 'a folder cannot be sent'],
  ERR_HTTP2_SEND_FILE_NOSEEK: [Error, 'offset and length need a regular file'],
  ERR_HTTP2_SETTINGS_CANCEL: [Error, 'the settings were cancelled'],
  ERR_HTTP2_SOCKET_UNBOUND: [Error, 'the session has no socket any more'],
  ERR_HTTP2_STATUS_101: [Error, '101 (Switching Protocols) does not exist in HTTP/2'],
  ERR_HTTP2_TRAILERS_ALREADY_SENT: [Error, 'the trailers have been sent'],
  ERR_HTTP2_TRAILERS_NOT_READY: [Error, 'trailers can be sent from the event wantTrailers on, which respond(.., { waitForTrailers: true }) asks for'],
  ERR_STREAM_WRITE_AFTER_END: [Error, 'the response has ended: nothing may be written']
}

/** The error of a closed connection for its readers and writers. */
export const aborted = (): CodedError => coded(Error, 'ECONNRESET', 'aborted')

/** An error that needs no value. */
export function plain (code: string): CodedError {
  const [Made, text] = PLAIN[code]!
  return coded(Made, code, text)
}

export const invalidType = (name: string, wanted: string, value: unknown): CodedError =>
  coded(TypeError, 'ERR_INVALID_ARG_TYPE', `"${name}" must be ${wanted}; it is ${inspect(value, { depth: 0 })}`)
export const invalidValue = (name: string, value: unknown): CodedError =>
  coded(TypeError, 'ERR_INVALID_ARG_VALUE', `"${name}" cannot be ${inspect(value, { depth: 1 })}`)
export const outOfRange = (name: string, wanted: string, value: unknown): CodedError =>
  coded(RangeError, 'ERR_OUT_OF_RANGE', `"${name}" must be ${wanted}; it is ${inspect(value)}`)
export const invalidToken = (name: string, value: unknown): CodedError =>
  coded(TypeError, 'ERR_INVALID_HTTP_TOKEN', `${name} must be a token; it is ${inspect(value)}`)
export const invalidCharacter = (name: string): CodedError =>
  coded(TypeError, 'ERR_INVALID_CHAR', `the value of "${name}" has a character that no field may have`)
export const invalidHeaderValue = (name: string, value: unknown): CodedError =>
  coded(TypeError, 'ERR_HTTP2_INVALID_HEADER_VALUE', `the header "${name}" cannot be ${inspect(value)}`)
export const invalidPseudoHeader = (name: string): CodedError =>
  coded(TypeError, 'ERR_HTTP2_INVALID_PSEUDOHEADER', `"${name}" is no pseudo-header that may stand here`)
export const connectionHeader = (name: string): CodedError =>
  coded(TypeError, 'ERR_HTTP2_INVALID_CONNECTION_HEADERS', `"${name}" belongs to connections of HTTP/1.1 and must not be sent`)
export const singleValue = (name: string): CodedError =>
  coded(TypeError, 'ERR_HTTP2_HEADER_SINGLE_VALUE', `"${name}" must have one value`)
export const invalidStatus = (status: unknown): CodedError =>
  coded(RangeError, 'ERR_HTTP2_STATUS_INVALID', `the status must be 200 to 599; it is ${String(status)}`)
export const invalidInfoStatus = (status: unknown): CodedError =>
  coded(RangeError, 'ERR_HTTP2_INVALID_INFO_STATUS', `the status of an interim response must be 1xx; it is ${String(status)}`)
export const payloadForbidden = (status: number): CodedError =>
  coded(Error, 'ERR_HTTP2_PAYLOAD_FORBIDDEN', `a response with status ${status}, or to HEAD, has no body`)
export const sessionError = (code: number): CodedError =>
  coded(Error, 'ERR_HTTP2_SESSION_ERROR', `Session closed with error code ${code}`)
export const streamError = (code: number): CodedError =>
  coded(Error, 'ERR_HTTP2_STREAM_ERROR', `Stream closed with error code ${nameOf(code)}`)

const NAMES = new Map<number, string>()
for (const [name, value] of Object.entries(constants)) {
  if (/^NGHTTP2_(NO_ERROR|PROTOCOL|INTERNAL|FLOW|SETTINGS_TIMEOUT|STREAM_CLOSED|FRAME_SIZE|REFUSED|CANCEL|COMPRESSION|CONNECT_ERROR|ENHANCE|INADEQUATE|HTTP_1)/.test(name)) {
    NAMES.set(value as number, name)
  }
}
/** The name of an error code of HTTP/2. */
function nameOf (code: number): string { return NAMES.get(code) ?? String(code) }

// Checks of arguments: each throws what node's own throws.

export function checkText (value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string') throw invalidType(name, 'a string', value)
}
export function checkCall (value: unknown, name: string): asserts value is (...args: any[]) => void {
  if (typeof value !== 'function') throw invalidType(name, 'a function', value)
}
export function checkNumber (value: unknown, name: string): asserts value is number {
  if (typeof value !== 'number') throw invalidType(name, 'a number', value)
}
export function checkInteger (value: unknown, name: string, least: number, most: number): asserts value is number {
  checkNumber(value, name)
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value)
  if (value < least || value > most) throw outOfRange(name, `${least} to ${most}`, value)
}
/** An object or nothing. */
export function checkObject (value: unknown, name: string): asserts value is object | undefined {
  if (value === undefined) return
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalidType(name, 'an object', value)
}
export function checkBytes (value: unknown, name: string): asserts value is NodeJS.ArrayBufferView {
  if (!ArrayBuffer.isView(value)) throw invalidType(name, 'a Buffer, a TypedArray or a DataView', value)
}
/** Milliseconds of a timer. */
export function checkTime (value: unknown): asserts value is number {
  checkNumber(value, 'msecs')
  if (!(value >= 0 && Number.isFinite(value))) throw outOfRange('msecs', 'a finite number from 0 on', value)
}

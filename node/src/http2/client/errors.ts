// The errors of client sessions that servers have not, by node:http2's codes and texts.

import { constants } from 'node:os'
import { coded, type CodedError } from '../codes'

export const tooManyOrigins = (most: number): CodedError =>
  coded(Error, 'ERR_HTTP2_TOO_MANY_ORIGINS', `The server sent more ORIGIN frames than the allowed number of ${most}`)
export const unsupportedProtocol = (protocol: string): CodedError =>
  coded(Error, 'ERR_HTTP2_UNSUPPORTED_PROTOCOL', `protocol "${protocol}" is unsupported.`)

/** The error of a stream that waits when its session ends. */
export function cancelled (cause: Error | undefined): CodedError {
  const why = typeof cause?.message === 'string' ? ` (caused by: ${cause.message})` : ''
  const error = coded(Error, 'ERR_HTTP2_STREAM_CANCEL', `The pending stream has been canceled${why}`)
  if (cause) Object.defineProperty(error, 'cause', { value: cause, enumerable: true, configurable: true, writable: true })
  return error
}

/** The error of a write whose bytes were not all sent when its stream was destroyed, as a socket's of node:net. */
export function canceledWrite (): CodedError {
  return Object.assign(new Error('write ECANCELED'), { code: 'ECANCELED', errno: -constants.errno.ECANCELED, syscall: 'write' })
}

/** The error of an aborted signal. */
export class AbortError extends Error {
  readonly code = 'ABORT_ERR'
  constructor (cause: unknown) {
    super('The operation was aborted', { cause })
    this.name = 'AbortError'
  }
}

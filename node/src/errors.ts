// undici's error classes: `instanceof undici.errors.X` tests a symbol, which ours carry, so that
// neither package needs the other.

import { helpOf } from './errors/help'
import { timelineOf } from './errors/timelines'

/** One time that a request was on a connection. Times are in milliseconds from its submission on. */
export interface Attempt {
  /** The connection's number; no other connection of the dispatcher ever has it. */
  connection: number
  /** The kind of the error with which it ended there. */
  ended: string
  /** Bytes of HTTP that the connection had read and written by then; 0 over QUIC. */
  bytesRead: number
  bytesWritten: number
  /** `HTTP/2`; null: the connection ended before the request could start there. */
  version: string | null
  /** Why it waited before: `attempt`, `settings`, `capacity`, `back_off`, `sockets`, `reserve`, `pause`, `silence`; null: it did not. */
  waitedFor: string | null
  startedAfterMs: number | null
  endedAfterMs: number
  /** How far the exchange had come there. */
  progress: 'unsent' | 'sending' | 'awaitingResponse' | 'receivingBody' | 'answered'
}

/** Fields of every error beside its code. */
export interface FailureFacts {
  /** Each connection that the request was on, and how it ended there. */
  attempts?: Attempt[] | undefined
  /** Whether the request, or a part of it, was on a connection when it failed. */
  wasSent?: boolean | undefined
  /** Why the request was waiting when it failed in its queue. */
  waitReason?: string | null | undefined
  /**
   * The timeline of the request, as lines for people: its method and origin, every wait with its reason, every connection
   * that it was on with its version and times, and how it ended there. Not enumerable. Undefined where the engine did not
   * carry the request, and where 1,024 later requests had failed before it was read: the text is made then. Its form may change: programs read `attempts`.
   */
  readonly timeline?: string | undefined
  /**
   * The section of the package's page of errors for this code, as `docs/node-errors.md#und_err_socket`. Not in the message, which is undici's or that of
   * Node.js, and not enumerable.
   */
  readonly help?: string
  /**
   * The number by which `trunkline explain URL NUMBER` and the page of the dispatcher (`inspect()`) find the timeline. Undefined where there was no
   * such page when the request failed.
   */
  timelineId?: number | undefined
}

/** The socket fields of undici's SocketError. */
export interface SocketInfo {
  localAddress?: string | undefined
  localPort?: number | undefined
  remoteAddress?: string | undefined
  remotePort?: number | undefined
  remoteFamily?: string | undefined
  timeout?: number | undefined
  /** Bytes of HTTP that the connection had sent and received; 0 over QUIC. */
  bytesWritten?: number | undefined
  bytesRead?: number | undefined
}

export class TrunklineError extends Error implements FailureFacts {
  code: string
  // Declared alone, because console.log prints properties that are undefined.
  declare attempts?: FailureFacts['attempts'] | undefined
  declare wasSent?: boolean | undefined
  declare waitReason?: string | null | undefined
  declare timelineId?: number | undefined
  /** The connection's addresses of a SocketError, where they are known. */
  declare socket?: SocketInfo | null | undefined

  constructor (message?: string, code = 'UND_ERR', options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'UndiciError'
    this.code = code
  }

  get timeline (): string | undefined { return timelineOf(this) }

  get help (): string { return helpOf(this.code) }

  static override [Symbol.hasInstance] (value: unknown): boolean { return isMarked(value, Symbol.for('undici.error.UND_ERR')) }
}

type Mark = Record<symbol, boolean>
const mark = (prototype: object, name: string): void => {
  (prototype as Mark)[Symbol.for(`undici.error.${name}`)] = true
}
mark(TrunklineError.prototype, 'UND_ERR')

const isMarked = (value: unknown, key: symbol): boolean => typeof value === 'object' && value !== null && (value as Mark)[key] === true

/** The class of all of them, by undici's name. */
export { TrunklineError as UndiciError }

/** A class with its name, its code and its default message. */
const define = (name: string, code: string, text: string, symbol = code, className = name) => {
  const key = Symbol.for(`undici.error.${symbol}`)
  const made = class extends TrunklineError {
    constructor (message?: string, options?: { cause?: unknown }) {
      super(message || text, code, options)
      this.name = name
    }

    /** Errors of undici's classes, of any of its versions, are instances too. */
    static override [Symbol.hasInstance] (value: unknown): boolean { return isMarked(value, key) }
  }
  Object.defineProperty(made, 'name', { value: className })
  mark(made.prototype, symbol)
  return made
}

export const ConnectTimeoutError = define('ConnectTimeoutError', 'UND_ERR_CONNECT_TIMEOUT', 'Connect Timeout Error')
export const HeadersTimeoutError = define('HeadersTimeoutError', 'UND_ERR_HEADERS_TIMEOUT', 'Headers Timeout Error')
export const HeadersOverflowError = define('HeadersOverflowError', 'UND_ERR_HEADERS_OVERFLOW', 'Headers Overflow Error')
export const BodyTimeoutError = define('BodyTimeoutError', 'UND_ERR_BODY_TIMEOUT', 'Body Timeout Error')
export const InvalidArgumentError = define('InvalidArgumentError', 'UND_ERR_INVALID_ARG', 'Invalid Argument Error')
export const InvalidReturnValueError = define('InvalidReturnValueError', 'UND_ERR_INVALID_RETURN_VALUE', 'Invalid Return Value Error')
export const AbortError = define('AbortError', 'UND_ERR_ABORT', 'The operation was aborted')
export const RequestAbortedError = define('AbortError', 'UND_ERR_ABORTED', 'Request aborted', 'UND_ERR_ABORTED', 'RequestAbortedError')
mark(RequestAbortedError.prototype, 'UND_ERR_ABORT')
export const InformationalError = define('InformationalError', 'UND_ERR_INFO', 'Request information')
export const RequestContentLengthMismatchError = define('RequestContentLengthMismatchError', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH', 'Request body length does not match content-length header')
export const ResponseContentLengthMismatchError = define('ResponseContentLengthMismatchError', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'Response body length does not match content-length header')
export const ClientDestroyedError = define('ClientDestroyedError', 'UND_ERR_DESTROYED', 'The client is destroyed')
export const ClientClosedError = define('ClientClosedError', 'UND_ERR_CLOSED', 'The client is closed')
export const SocketError = define('SocketError', 'UND_ERR_SOCKET', 'Socket error')
export const NotSupportedError = define('NotSupportedError', 'UND_ERR_NOT_SUPPORTED', 'Not supported error')
export const HTTPParserError = define('HTTPParserError', 'HPE_INVALID', 'HTTP parser error', 'UND_ERR_HTTP_PARSER')
export const ResponseExceededMaxSizeError = define('ResponseExceededMaxSizeError', 'UND_ERR_RES_EXCEEDED_MAX_SIZE', 'Response content exceeded max size')
export const ProxyConnectionError = define('ProxyConnectionError', 'UND_ERR_PRX_CONN', 'Proxy connection failed')
export const SecureProxyConnectionError = define('SecureProxyConnectionError', 'UND_ERR_PRX_TLS', 'Secure Proxy Connection failed')
export const QueueTimeoutError = define('QueueTimeoutError', 'UND_ERR_QUEUE_TIMEOUT', 'Queue Timeout Error')
export const RefusedError = define('RefusedError', 'UND_ERR_REFUSED', 'The request was refused')
export const EngineEndedError = define('EngineEndedError', 'UND_ERR_ENGINE_ENDED', 'The engine has ended')
export const MaxOriginsReachedError = define('MaxOriginsReachedError', 'UND_ERR_MAX_ORIGINS_REACHED', 'Maximum allowed origins reached')
export const BalancedPoolMissingUpstreamError = define('MissingUpstreamError', 'UND_ERR_BPL_MISSING_UPSTREAM', 'No upstream has been added to the BalancedPool', 'UND_ERR_BPL_MISSING_UPSTREAM', 'BalancedPoolMissingUpstreamError')
export const MaxRedirectsError = define('MaxRedirectsError', 'UND_ERR_REDIRECT_MAX', 'max redirects')
export const MessageSizeExceededError = define('MessageSizeExceededError', 'UND_ERR_WS_MESSAGE_SIZE_EXCEEDED', 'Max decompressed message size exceeded')

// Errors of undici's interceptors, which run on dispatchers of this package.

/** A response whose status `interceptors.responseError` takes for a failure. */
export class ResponseError extends define('ResponseError', 'UND_ERR_RESPONSE', 'Response error') {
  readonly body: unknown
  declare readonly bodyTruncated: boolean
  readonly headers: unknown
  constructor (message: string | undefined, readonly statusCode: number, { headers, body, bodyTruncated = false }: { headers?: unknown; body?: unknown; bodyTruncated?: boolean }) {
    super(message)
    Object.assign(this, { body, bodyTruncated, headers })
  }
}

/** A request that was sent again as often as its RetryAgent allows. */
export class RequestRetryError extends define('RequestRetryError', 'UND_ERR_REQ_RETRY', 'Request retry error') {
  readonly data: unknown
  readonly headers: unknown
  constructor (message: string | undefined, readonly statusCode: number, { headers, data }: { headers?: unknown; data?: unknown }) {
    super(message)
    Object.assign(this, { data, headers })
  }
}

/** A SOCKS5 proxy refused; `code` begins with `UND_ERR_SOCKS5`. */
export class Socks5ProxyError extends TrunklineError {
  constructor (message?: string, code = 'UND_ERR_SOCKS5') {
    super(message || 'SOCKS5 proxy error', code)
    this.name = 'Socks5ProxyError'
  }
}

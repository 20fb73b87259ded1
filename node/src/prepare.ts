// Prepares a request: checks all of the caller's options by undici's rules and encodes them for the
// channel.

import { bodyOf, type RequestBody, type Source } from './body'
import { InvalidArgumentError, NotSupportedError, RequestContentLengthMismatchError } from './errors'
import { checkMethod, checkPath, expectsBody, headOf, isFieldValue, textOf, withQuery, type Head, type Headers } from './head'
import { isNew, type Handler } from './exchange'
import { time, type Checked } from './options'
import { SubmissionFlag } from './codes'
import { type Given } from './ring'
import type { State, Target } from './state'

/** The options of `dispatch`. */
export interface DispatchOptions {
  origin?: string | URL | undefined
  path: string
  method: string
  body?: unknown
  headers?: Headers | null | undefined
  query?: Record<string, unknown> | undefined
  /** Whether it may be sent again when its connection dies, with `retryLost`. Default: by its method. */
  idempotent?: boolean | undefined
  /** Its answer may come late: nothing is pipelined behind it before that. Default false: behind what
   * may not be repeated nothing goes anyway. */
  blocking?: boolean | undefined
  upgrade?: boolean | string | null | undefined
  /** An HTTP/1.1 connection ends behind the request. */
  reset?: boolean | undefined
  servername?: string | undefined
  headersTimeout?: number | null | undefined
  bodyTimeout?: number | null | undefined
  /** The body waits for the server's 100, or for a second. */
  expectContinue?: boolean | undefined
  throwOnError?: boolean | undefined
  maxRedirections?: number | undefined
  /** 0: every other value is refused, because connections are shared. */
  typeOfService?: number | null | undefined
  allowH2?: boolean | undefined
}

/** A request that is checked. */
export interface Made {
  target: Target
  /** `method\0path\0authority` and `\0name\0value` per field. */
  head: string
  body: Given
  upload: Source | null
  length: number | null
  headersTimeout: number
  bodyTimeout: number
  flags: number
  /** A WebSocket that goes on a stream where the peer takes it (RFC 8441): where it goes else, if it
   * may. */
  elsewhere: (() => Target) | null
  onStream: boolean
  webSocketKey: string | null
}

/** Checks a request and makes its head; what is wrong is thrown, and nothing is sent. */
export function prepare (state: State, origin: string, options: DispatchOptions, handler: Handler | null): Made {
  const { method } = options
  const { checked } = state
  const path = checkPath(options.path, method)
  checkMethod(method)
  checkOptions(options)
  const given = bodyOf(options.body)
  const head = headOf(options.headers)
  if (checked.isProxied && head.hasProxyAuthorization) {
    throw new InvalidArgumentError('Proxy-Authorization should be sent in ProxyAgent constructor')
  }
  const servername = askedName(options, origin) ?? checked.servername ?? nameOf(head.host, origin)
  const leavesHttp = Boolean(options.upgrade) || method === 'CONNECT'
  const isStreamed = isWebSocket(options, head) && takesStreams(handler) && hasStreams(checked, origin)
  let target = state.target(origin, servername, leavesHttp && !isStreamed)
  const onStream = isStreamed && !target.declinesWebSocket
  if (isStreamed && !onStream) target = state.target(origin, servername, true)
  const length = lengthOf(head, given, method, checked.strictContentLength)
  let { fields, count } = head
  const add = (name: string, value: string): void => {
    fields += `\0${name}\0${value}`
    count++
  }
  if (length !== null) add('content-length', String(length))
  if (leavesHttp) {
    if (given !== null) throw new InvalidArgumentError('a request that asks for an upgrade or a tunnel has no body')
    if (options.upgrade) {
      add('connection', 'upgrade')
      add('upgrade', options.upgrade as string)
    }
  }
  const upload = given !== null && 'pieces' in given ? given : null
  if (upload !== null && upload.type !== null && !head.hasContentType) add('content-type', upload.type)
  if (options.expectContinue === true && given !== null) add('expect', '100-continue')
  // As with undici: a server may not expect the body of a GET, and read its bytes as the next request.
  const isOdd = given !== null && !expectsBody(method)
  const ends = options.reset ?? (head.reset || isOdd || checked.pipelining === 0)
  return {
    target,
    head: textOf(method, withQuery(path, options.query), head.host ?? target.authority, fields, count),
    // Of no bytes the end is there with the head: an answer may come before the source has said it.
    body: leavesHttp ? 'tunnel' : upload === null ? given as Buffer | null : length === 0 ? null : 'streaming',
    upload,
    length,
    headersTimeout: time('headersTimeout', options.headersTimeout) ?? checked.headersTimeout,
    bodyTimeout: time('bodyTimeout', options.bodyTimeout) ?? checked.bodyTimeout,
    flags: (ends ? SubmissionFlag.EndsConnection : 0) | (upload === null && !leavesHttp ? 0 : SubmissionFlag.Watched) | (options.blocking === true ? SubmissionFlag.Blocks : 0) | (path[0] === 'h' && !leavesHttp ? SubmissionFlag.AbsoluteForm : 0) | repeats(options.idempotent),
    elsewhere: onStream && hasH1(checked) ? overH1(state, origin, servername) : null,
    onStream,
    webSocketKey: head.webSocketKey
  }
}

const overH1 = (state: State, origin: string, servername: string | null) => () => state.target(origin, servername, true)

/**
 * A caller that asks for a WebSocket accepts one on a stream: undici's own handler of `upgrade`
 * does so by a symbol that is private to it.
 */
function takesStreams (handler: Handler | null): boolean {
  return handler !== null && isNew(handler) && handler.constructor?.name !== 'UpgradeHandler'
}

function repeats (idempotent: boolean | undefined): number {
  if (idempotent == null) return 0
  return idempotent ? SubmissionFlag.Idempotent : SubmissionFlag.NotIdempotent
}

/** Whether a connection with the origin may have streams: over TLS both sides agree on a version, in cleartext
 * HTTP/2 is spoken where it is known. */
function hasStreams (checked: Checked, origin: string): boolean {
  const { protocols } = checked.settings
  return protocols !== 'h1' && (protocols === 'h2' || origin.startsWith('https:'))
}

function hasH1 (checked: Checked): boolean {
  return checked.settings['protocols'] !== 'h2' && checked.settings['protocols'] !== 'h3'
}

function isWebSocket (options: DispatchOptions, head: Head): boolean {
  return head.webSocketKey !== null && options.allowH2 !== false && options.method === 'GET' &&
    typeof options.upgrade === 'string' && options.upgrade.toLowerCase() === 'websocket'
}

const upgradeFields = (protocol: string): string => `\0connection\0upgrade\0upgrade\0${protocol}`

/** The head of a request for a WebSocket as an extended CONNECT (RFC 8441 section 4). */
export function extended (head: string, protocol: string): string {
  const [, path, authority, ...fields] = head.replace(upgradeFields(protocol), '').split('\0')
  return ['CONNECT', path, authority, ':protocol', 'websocket', ...fields].join('\0')
}

function checkOptions (options: DispatchOptions): void {
  const { upgrade, reset, expectContinue, throwOnError, maxRedirections, typeOfService } = options
  if (upgrade && typeof upgrade !== 'string') throw new InvalidArgumentError('upgrade must be a string')
  if (upgrade && !isFieldValue(upgrade)) throw new InvalidArgumentError('invalid upgrade header')
  time('headersTimeout', options.headersTimeout)
  time('bodyTimeout', options.bodyTimeout)
  if (reset != null && typeof reset !== 'boolean') throw new InvalidArgumentError('invalid reset')
  if (expectContinue != null && typeof expectContinue !== 'boolean') throw new InvalidArgumentError('invalid expectContinue')
  // undici 6 and 7 send `false`.
  if (throwOnError != null && throwOnError !== false) throw new InvalidArgumentError('invalid throwOnError')
  if (maxRedirections != null && maxRedirections !== 0) {
    throw new InvalidArgumentError('maxRedirections is not supported, use the redirect interceptor')
  }
  if (typeOfService == null || typeOfService === 0) return
  if (!Number.isInteger(typeOfService) || typeOfService < 0 || typeOfService > 255) {
    throw new InvalidArgumentError('typeOfService must be an integer between 0 and 255')
  }
  throw new NotSupportedError('typeOfService is of a connection, and connections are shared by requests; only 0 is taken')
}

/** The name that a request asks certificates for; without TLS it says nothing. */
function askedName ({ servername }: DispatchOptions, origin: string): string | null {
  if (servername == null || !origin.startsWith('https:')) return null
  if (typeof servername !== 'string') throw new InvalidArgumentError('servername must be a string')
  return servername
}

/** The name in a host field that is not the origin's: certificates are checked against it. */
function nameOf (host: string | null, origin: string): string | null {
  if (host === null || !origin.startsWith('https:')) return null
  const name = host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.split(':', 1)[0]!
  return /^[\d.]+$|:/.test(name) || name === '' ? null : name
}

/** Methods whose content-length is that of the body that is given, whatever was said. */
const HAS_OWN_LENGTH = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT'])

/** The value of the content-length field; null: there is none. */
function lengthOf (head: Head, body: RequestBody, method: string, isStrict: boolean): number | null {
  const own = body === null ? 0 : 'pieces' in body ? body.length : body.length
  const said = head.contentLength
  if (said !== null && own !== null && own !== said) {
    // HEAD, GET and their like may say the length of what they would have, as with undici.
    if (!HAS_OWN_LENGTH.has(method)) {
      if (isStrict) throw new RequestContentLengthMismatchError()
      process.emitWarning(new RequestContentLengthMismatchError())
    }
    return own === 0 && !expectsBody(method) ? null : own
  }
  const length = said ?? own
  return length === 0 && !expectsBody(method) ? null : length
}

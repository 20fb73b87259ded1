// Prepares a request: checks all of the caller's options by undici's rules and encodes them for the
// channel.

import { bodyOf, type RequestBody, type Source } from './body'
import { InvalidArgumentError, NotSupportedError, RequestContentLengthMismatchError } from '../../errors'
import { checkMethod, checkPath, expectsBody, Head, headOf, isFieldValue, textOf, withQuery, type Headers } from './head'
import { isNew, type Handler, type NewHandler } from '../calls/handler_forms'
import { fieldsForProxy } from '../connect/tunnel_params'
import type { Checked } from '../options'
import { time } from '../options/values'
import { SubmissionFlag } from '../../channel/codes'
import type { WireBody } from '../../channel/submissions'
import type { Target } from '../dispatcher/load'

/** The options of `dispatch`. */
export interface DispatchOptions {
  /** The origin to request (`https://host:port`). Required by an Agent; a Client and a Pool use their own. */
  origin?: string | URL | undefined
  /** The path with its query, beginning with `/`, or an absolute URL. Required. */
  path: string
  /** The method, in capitals. Required. */
  method: string
  /**
   * The body: a string, Buffer, typed array, ArrayBuffer, Blob, FormData, URLSearchParams,
   * Readable, web stream, or sync or async iterable of chunks. Default: none.
   */
  body?: unknown
  /** Request header fields: an object, an iterable of pairs, or undici's flat array. Default: none. */
  headers?: Headers | null | undefined
  /**
   * Query parameters, appended to `path`, which must have no `?` or `#` then: an array repeats its
   * name, null leaves it empty. Default: none.
   */
  query?: Record<string, unknown> | undefined
  /**
   * Whether the request may be sent again when its connection is lost, with `retryLost`. Default:
   * by its method (RFC 9110 section 9.2.2).
   */
  idempotent?: boolean | undefined
  /**
   * Whether the response may take long, so that no request is pipelined behind this one before it
   * arrives. Default: true, except for HEAD.
   */
  blocking?: boolean | undefined
  /** The protocol to upgrade to (`websocket`). Such a request has no body. Default: none. */
  upgrade?: boolean | string | null | undefined
  /**
   * Whether an HTTP/1.1 connection is closed behind the request. Default: false, or true for a
   * method that has no body but got one, and with `pipelining: 0`.
   */
  reset?: boolean | undefined
  /**
   * The name in SNI, which the server's certificate must have. `https` only. Default: the name in a
   * `host` field, else the origin's host.
   */
  servername?: string | undefined
  /**
   * Ms from the request's last progress to the response's head; 0: no bound. It does not run while
   * the source of the body has no bytes. Default: the dispatcher's `headersTimeout`.
   */
  headersTimeout?: number | null | undefined
  /**
   * Ms between two pieces of the response's body; 0: no bound. It does not run while bytes wait for
   * their reader. Default: the dispatcher's `bodyTimeout`.
   */
  bodyTimeout?: number | null | undefined
  /**
   * Whether the body waits for the server's 100 (`expect: 100-continue`), for at most one second.
   * Default: false.
   */
  expectContinue?: boolean | undefined
  /** Accepted only as `false`, which undici 6 and 7 send, and of the calls of undici 6, which throw by themselves: use the responseError interceptor.
   * Default: false. */
  throwOnError?: boolean | undefined
  /** Accepted only as 0: use the redirect interceptor. Default: 0. */
  maxRedirections?: number | undefined
  /** Accepted only as 0: a connection carries many requests, which would have to share it. Default: 0. */
  typeOfService?: number | null | undefined
  /** False: a WebSocket is requested over HTTP/1.1, never by extended CONNECT on HTTP/2. Default: true. */
  allowH2?: boolean | undefined
}

/** A function with the effect of `dispatch`. */
export type Dispatch = (options: DispatchOptions, handler: Handler) => boolean

/** The dispatcher's state, as far as a request needs it: its options, and where requests go. */
interface Targets {
  readonly checked: Checked
  target: (origin: string, servername: string | null, isH1: boolean) => Target
  /** Whether a request to the origin would not wait behind others for a connection. */
  hasRoom: (origin: string) => boolean
}

/** A request that is checked. */
export interface Made {
  target: Target
  /** `method\0path\0authority` and `\0name\0value` per field. */
  head: string
  body: WireBody
  upload: Source | null
  length: number | null
  headersTimeout: number
  bodyTimeout: number
  flags: number
  /** A WebSocket that goes on a stream where the peer takes it (RFC 8441): where it goes else, if it
   * may. */
  elsewhere: (() => Target) | null
  onStream: boolean
  /** It leaves HTTP on HTTP/1.1: where it goes if the peer does not speak that; null: nowhere. */
  overStreams: (() => Target) | null
  webSocketKey: string | null
}

/** The path as it is written: to a proxy that forwards, a name in the `host` field says nothing of where the request goes, so that the URL is written out
 * here (RFC 9112 section 3.2.2). */
function targetOf ({ isForwarded, authority }: Target, host: string | null, path: string): string {
  return isForwarded && host !== null && host !== authority && path[0] === '/' ? `http://${authority}${path}` : path
}

/** The fields of a CONNECT that goes to the proxy itself, which gives it what requests in absolute form have; the request's own
 * come in place of those of their names. */
function withFieldsForProxy ({ settings }: Checked, fields: string): string {
  const own = new Set(fields.split('\0').filter((_, at) => at % 2 === 1).map(name => name.toLowerCase()))
  const head = new Head(null)
  for (const [name, value] of fieldsForProxy(settings)) if (!own.has(name.toLowerCase())) head.add(name, value)
  return head.fields + fields
}

/** Checks a request and makes its head; what is wrong is thrown, and nothing is sent. */
export function prepare (state: Targets, origin: string, options: DispatchOptions, handler: Handler | null): Made {
  const { method } = options
  const { checked } = state
  const path = checkPath(options.path, method)
  checkMethod(method)
  checkOptions(options, handler)
  const given = bodyOf(options.body, state.hasRoom(origin))
  const head = headOf(options.headers)
  // Clients of proxies say it in CONNECT, which goes to the proxy itself.
  if (head.hasProxyConnection && method !== 'CONNECT') throw new InvalidArgumentError('invalid proxy-connection header')
  if (checked.isProxied && head.hasProxyAuthorization) {
    throw new InvalidArgumentError('Proxy-Authorization should be sent in ProxyAgent constructor')
  }
  const servername = askedName(options, origin) ?? nameOf(head.host, origin) ?? checked.servername
  const leavesHttp = Boolean(options.upgrade) || method === 'CONNECT'
  const { target, onStream, overStreams } = wayOut(state, origin, servername, options, head, handler)
  const length = lengthOf(head, given, method, checked.strictContentLength)
  let fields = method === 'CONNECT' && target.isForwarded ? withFieldsForProxy(checked, head.fields) : head.fields
  // In undici's order: those of the connection first, those of the body last.
  if (leavesHttp) {
    if (given !== null) throw new InvalidArgumentError('a request that asks for an upgrade or a tunnel has no body')
    if (options.upgrade) fields = `\0connection\0upgrade\0upgrade\0${options.upgrade as string}${fields}`
  }
  const upload = given !== null && 'pieces' in given ? given : null
  if (upload !== null && upload.type !== null && !head.hasContentType) fields += `\0content-type\0${upload.type}`
  if (length !== null) fields += `\0content-length\0${length}`
  if (options.expectContinue === true && given !== null) fields += '\x00expect\x00100-continue'
  // As with undici: a server may not expect the body of a GET, and read its bytes as the next request.
  const isOdd = given !== null && !expectsBody(method)
  const ends = options.reset ?? (head.reset || checked.pipelining === 0)
  // A stream may turn out to be empty, and then there is no body.
  const endsWithBody = options.reset == null && isOdd ? SubmissionFlag.BodyEndsConnection : 0
  // The connection writes the URL of an upgrade out, with the name that its head has.
  const host = options.upgrade && target.isForwarded ? null : head.host
  const written = method === 'CONNECT' ? tunnelTo(path, target.authority) : targetOf(target, host, withQuery(path, options.query))
  const [authority, goal] = options.upgrade ? apart(written, host ?? target.authority) : [host ?? target.authority, written]
  return {
    target,
    head: textOf(method, goal, authority, fields),
    // An empty body ends with the head: an answer may come before the source has said so.
    body: leavesHttp ? 'tunnel' : upload === null ? given as Buffer | null : length === 0 ? null : 'streaming',
    upload,
    length,
    headersTimeout: time('headersTimeout', options.headersTimeout) ?? checked.headersTimeout,
    bodyTimeout: time('bodyTimeout', options.bodyTimeout) ?? checked.bodyTimeout,
    flags: (ends ? SubmissionFlag.EndsConnection : endsWithBody) | (upload === null ? 0 : SubmissionFlag.HeadWithBody) | (upload === null && !leavesHttp ? 0 : SubmissionFlag.Watched) | ((options.blocking ?? method !== 'HEAD') ? SubmissionFlag.Blocks : 0) | (written[0] === 'h' && method !== 'CONNECT' ? SubmissionFlag.AbsoluteForm : 0) | repeats(options.idempotent),
    elsewhere: onStream && hasH1(checked) ? overH1(state, origin, servername) : null,
    onStream,
    overStreams,
    webSocketKey: head.webSocketKey
  }
}

/** The authority and the path of an upgrade, whose head has them apart where the path is a URL; `authority`: that of one which is none. */
function apart (path: string, authority: string): [string, string] {
  const [, host, rest] = /^http:\/\/([^/?]*)(.*)$/.exec(path) ?? []
  if (host === undefined) return [authority, path]
  return [host, rest!.startsWith('/') ? rest! : `/${rest!}`]
}

/** The target of a CONNECT, a host and a port: undici's `connect(url)` puts a slash in front of the path of its options, or
 * has that alone. */
export function tunnelTo (path: string, authority: string): string {
  if (!path.startsWith('/')) return path
  return path.length > 1 ? path.slice(1) : authority
}

/** Where a request goes. What leaves HTTP goes on HTTP/1.1, and on a stream where it is a WebSocket that may, or
 * where the peer speaks HTTP/2 alone. */
function wayOut (
  state: Targets, origin: string, servername: string | null, options: DispatchOptions, head: Head, handler: Handler | null
): { target: Target; onStream: boolean; overStreams: (() => Target) | null } {
  const { checked } = state
  if (!options.upgrade && options.method !== 'CONNECT') return { target: state.target(origin, servername, false), onStream: false, overStreams: null }
  const canStream = hasStreams(checked, origin) && handler !== null && options.allowH2 !== false
  const isForStreams = canStream && isStreamable(options, handler)
  const streams = canStream ? state.target(origin, servername, false) : null
  if (streams !== null && isWebSocket(options, head) && takesStreams(handler) && !streams.declinesWebSocket) return { target: streams, onStream: true, overStreams: null }
  if (streams?.lacksHttp1 || isBoundToStreams(checked, options, isForStreams)) {
    if (streams !== null && isForStreams) return { target: streams, onStream: true, overStreams: null }
    if (options.upgrade) throw new InvalidArgumentError(`Custom upgrade "${options.upgrade as string}" not supported over HTTP/${checked.settings['protocols'] === 'h3' ? 3 : 2}`)
  }
  const overStreams = isForStreams && origin.startsWith('https:') ? () => state.target(origin, servername, false) : null
  return { target: state.target(origin, servername, !isHttp1Alone(checked, origin)), onStream: false, overStreams }
}

/** Whether a dispatcher without HTTP/1.1 sends it on a stream, or not at all. HTTP/2 alone is said of what is known to speak it, and
 * a handler that takes no stream is a caller of an older line: HTTP/1.1 is tried for it. */
function isBoundToStreams (checked: Checked, { method }: DispatchOptions, isForStreams: boolean): boolean {
  if (hasH1(checked)) return false
  return method === 'CONNECT' || isForStreams || checked.settings['protocols'] === 'h3'
}

/** Whether HTTP/2 has a way for it: a CONNECT, and a WebSocket whose handler takes a stream for it. */
function isStreamable ({ method, upgrade }: DispatchOptions, handler: Handler | null): boolean {
  return method === 'CONNECT' || (method === 'GET' && isForWebSocket(upgrade) && handler !== null && (knowsStreams(handler) || isUpgradeOfUndici(handler)))
}

function isForWebSocket (upgrade: DispatchOptions['upgrade']): boolean {
  return typeof upgrade === 'string' && upgrade.toLowerCase() === 'websocket'
}

const overH1 = (state: Targets, origin: string, servername: string | null) => () => state.target(origin, servername, true)

/**
 * A caller that asks for a WebSocket accepts one on a stream: undici's own handler of `upgrade`
 * does so by a symbol that is private to it.
 */
function takesStreams (handler: Handler | null): boolean {
  return handler !== null && isNew(handler) && !isUpgradeOfUndici(handler)
}

/** A handler of the new form; and the one of undici 7's WebSocket, which has the calls of both forms. */
function knowsStreams (handler: Handler): boolean { return isNew(handler) || typeof (handler as NewHandler).onRequestUpgrade === 'function' }

/** `upgrade()` of undici, whose handler knows a stream of HTTP/2 in every line since undici 6. */
function isUpgradeOfUndici (handler: Handler): boolean { return handler.constructor?.name === 'UpgradeHandler' }

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

/** Whether each connection with the origin speaks HTTP/1.1: what leaves HTTP takes its turn there, as with undici, and has no connections
 * of its own. A proxy's, and a stream that the program's connector gives, speak what they say. */
function isHttp1Alone (checked: Checked, origin: string): boolean {
  return !hasStreams(checked, origin) && hasH1(checked) && !checked.isProxied && checked.connector === null
}

function hasH1 (checked: Checked): boolean {
  return checked.settings['protocols'] !== 'h2' && checked.settings['protocols'] !== 'h3'
}

function isWebSocket (options: DispatchOptions, head: Head): boolean {
  return head.webSocketKey !== null && options.allowH2 !== false && options.method === 'GET' &&
    isForWebSocket(options.upgrade)
}

/** Fields that are of a connection of HTTP/1.1 (RFC 9113 section 8.2.2). */
const OF_CONNECTIONS = new Set(['connection', 'proxy-connection', 'upgrade'])

/** The head of a request that leaves HTTP, for a stream: a CONNECT, or an extended one for a WebSocket (RFC 8441
 * section 4). */
export function onStream (head: string): string {
  const [method, path, authority, ...flat] = head.split('\0')
  const fields: string[] = method === 'CONNECT' ? [] : [':protocol', 'websocket']
  for (let at = 0; at < flat.length; at += 2) {
    if (!OF_CONNECTIONS.has(flat[at]!.toLowerCase())) fields.push(flat[at]!, flat[at + 1]!)
  }
  return ['CONNECT', path, authority, ...fields].join('\0')
}

function checkOptions (options: DispatchOptions, handler: Handler | null): void {
  const { upgrade, reset, expectContinue, throwOnError, maxRedirections, typeOfService } = options
  if (upgrade && typeof upgrade !== 'string') throw new InvalidArgumentError('upgrade must be a string')
  if (upgrade && !isFieldValue(upgrade)) throw new InvalidArgumentError('invalid upgrade header')
  time('headersTimeout', options.headersTimeout)
  time('bodyTimeout', options.bodyTimeout)
  if (reset != null && typeof reset !== 'boolean') throw new InvalidArgumentError('invalid reset')
  if (expectContinue != null && typeof expectContinue !== 'boolean') throw new InvalidArgumentError('invalid expectContinue')
  // undici 6 and 7 send `false`; handlers of undici 6 that have it throw by themselves.
  const isOfHandler = throwOnError === true && (handler as { throwOnError?: unknown } | null)?.throwOnError === true
  if (throwOnError != null && throwOnError !== false && !isOfHandler) throw new InvalidArgumentError('invalid throwOnError')
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
  if (servername == null || servername === '' || !origin.startsWith('https:')) return null
  if (typeof servername !== 'string') throw new InvalidArgumentError('servername must be a string')
  return servername
}

/** The name in a host field that is not the origin's: certificates are checked against it, as with undici also where
 * the dispatcher has a name for all its connections. */
function nameOf (host: string | null, origin: string): string | null {
  if (host === null || !origin.startsWith('https:')) return null
  const name = host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.split(':', 1)[0]!
  return /^[\d.]+$|:/.test(name) || name === '' ? null : name
}

/** Methods whose content-length is that of the body that is given, whatever was said. */
const HAS_OWN_LENGTH = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT'])

/** The value of the content-length field; null: there is none. */
function lengthOf (head: Head, body: RequestBody, method: string, isStrict: boolean): number | null {
  const own = body === null ? 0 : body.length
  const printed = head.contentLength
  if (printed !== null && own !== null && own !== printed) {
    // HEAD, GET and their like may say the length of what they would have, and one of no body says nothing, as with undici.
    if (own > 0 && !HAS_OWN_LENGTH.has(method)) {
      if (isStrict) throw new RequestContentLengthMismatchError()
      process.emitWarning(new RequestContentLengthMismatchError())
    }
    return own === 0 && !expectsBody(method) ? null : own
  }
  const length = printed ?? own
  return length === 0 && !expectsBody(method) ? null : length
}

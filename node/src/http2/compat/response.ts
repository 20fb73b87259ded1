// A response of the compatible API, sent through its stream; `end` with the whole body is one
// message.

import { AsyncResource } from 'node:async_hooks'
import { ServerResponse } from 'node:http'
import { Http2ServerResponse as NodeResponse } from 'node:http2'
import { Stream } from 'node:stream'
import { TOKEN } from '../../syntax/names'
import {
  checkCall, checkObject, checkText, invalidHeaderValue, invalidPseudoHeader, invalidStatus, invalidToken, invalidType, invalidValue, plain
} from '../codes'
import type { Headers } from '../fields'
import type { Http2ServerRequest } from './request'
import { trailerText } from '../stream/respond'
import type { Socket } from '../connection/socket'
import { isBody } from '../stream/outgoing'
import { pipeFile, unpipeFile } from '../stream/piped_file'
import type { Face } from '../stream/face'
import type { ServerHttp2Stream } from '../stream/stream'
import { nextTick } from '../../timers'

/** An interim status that HTTP/2 does not have (RFC 9113 section 8.6). */
const SWITCHING_PROTOCOLS = 101
const OF_REQUESTS = new Set([':status', ':method', ':path', ':authority', ':scheme'])
/** RFC 8288: `<target>` and its parameters. */
const LINK = /^(?:<[^>]*>)(?:\s*;\s*[^;"\s]+(?:=(")?[^;"\s]*\1)?)*$/

let reportedMessage = false
/** Names of connection fields with a warning already. */
const reportedNames = new Set<string>()
/** Fields of a connection of HTTP/1.1 (RFC 9113 section 8.2.2). */
const OF_CONNECTIONS = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
function warn (text: string): void { process.emitWarning(text, 'UnsupportedWarning') }
function warnOfMessage (): void {
  if (!reportedMessage) warn('Status message is not supported by HTTP/2 (RFC7540 8.1.2.4)')
  reportedMessage = true
}

/** The largest number of cached valid names, so that invented names cannot fill the memory. */
const NAMES_MAX = 1024
const names = new Map<string, string>()

/** Fields by their names; nothing is inherited. */
const Fields = function () {} as unknown as new () => Headers
Fields.prototype = Object.create(null)

/** A name as it is kept; throws what node does for a name or a value that cannot be. */
function nameOf (name: unknown, value: unknown): string {
  const lower = (name as string).trim().toLowerCase()
  if (lower === '' || lower.includes(' ')) throw invalidToken(lower)
  if (OF_REQUESTS.has(lower)) throw plain('ERR_HTTP2_PSEUDOHEADER_NOT_ALLOWED')
  if (value === undefined || value === null) throw invalidHeaderValue(lower, value)
  return lower
}

/** Connection fields are dropped, with one warning per name. */
function isLeftOut (name: string, value: unknown): boolean {
  if (!OF_CONNECTIONS.has(name) || value === 'trailers') return false
  if (!reportedNames.has(name)) warn(`The provided ${name} header is not valid, the value will be dropped from the header and will never be in use.`)
  reportedNames.add(name)
  return true
}

/** Whether an emitter has listeners, without initialising it. */
function hasListeners (emitter: object): boolean { return (emitter as { _events?: object })._events !== undefined }

export interface Http2ServerResponse extends Stream {}
export class Http2ServerResponse implements Face {
  writable = true
  $sendsDate = true
  $gaveHead = false
  private $status = 200
  private readonly $fields: Headers = new Fields()
  private $trailerFields: Headers | undefined
  private $isClosed = false
  private $isEnding = false
  private $isDestroyed = false
  private $wasHead = false
  private $proxy: Socket | undefined

  /** Programs may put something else, or nothing, in the place of the request. */
  req: Http2ServerRequest
  readonly $request: Http2ServerRequest

  constructor (readonly $stream: ServerHttp2Stream, request: Http2ServerRequest) {
    this.req = this.$request = request
    $stream.$face = this
  }

  get stream (): ServerHttp2Stream { return this.$stream }

  get _header (): boolean { return this.headersSent }
  /** For middleware of node:http that sends the head by this name. */
  _implicitHeader (): void { this.flushHeaders() }
  get headersSent (): boolean { return this.$stream.headersSent }
  get finished (): boolean { return this.$isEnding }
  get writableEnded (): boolean { return this.$isEnding }
  get writableFinished (): boolean { return this.$stream.$isAnswered ? this.$stream.$isFinished : this.$stream.writableFinished }
  get writableCorked (): number { return this.$stream.writableCorked }
  get writableHighWaterMark (): number { return this.$stream.writableHighWaterMark }
  get writableLength (): number { return this.$stream.$isAnswered ? 0 : this.$stream.writableLength }
  get writableNeedDrain (): boolean { return this.$stream.$isDuplex && !this.$stream.$isAnswered && this.$stream.writableNeedDrain }
  get writableObjectMode (): boolean { return false }
  get socket (): Socket | undefined {
    if (this.$isClosed || this.$stream.$isPast) return undefined
    return (this.$proxy ??= this.$request.socket)
  }
  get connection (): Socket | undefined { return this.socket }
  get sendDate (): boolean { return this.$sendsDate }
  set sendDate (sends: boolean) { this.$sendsDate = Boolean(sends) }
  get statusMessage (): string {
    warnOfMessage()
    return ''
  }
  set statusMessage (_text: string) { warnOfMessage() }
  get statusCode (): number { return this.$status }
  set statusCode (given: number) {
    const status = given | 0
    if (status >= 100 && status < 200) throw plain('ERR_HTTP2_INFO_STATUS_NOT_ALLOWED')
    if (status < 100 || status > 599) throw invalidStatus(status)
    this.$status = status
  }

  // Fields and trailers.

  private $checkUnsent (name: unknown): asserts name is string {
    checkText(name, 'name')
    if (this.$stream.headersSent) throw plain('ERR_HTTP2_HEADERS_SENT')
  }

  setHeader (name: string, value: unknown): void {
    this.$checkUnsent(name)
    this.$put(name, value)
  }

  private $put (given: string, value: unknown): void {
    const name = this.$checked(given, value)
    if (name !== undefined) this.$fields[name] = value
  }

  /** The name under which a value is kept; undefined: it is left out. */
  private $checked (given: string, value: unknown): string | undefined {
    if (value !== undefined && value !== null) {
      const known = names.get(given)
      if (known !== undefined) return known
    }
    const name = nameOf(given, value)
    if (isLeftOut(name, value)) return undefined
    if (name[0] === ':') throw invalidPseudoHeader(name)
    if (!TOKEN.test(name)) this.destroy(invalidToken(name))
    else if (!OF_CONNECTIONS.has(name) && names.size < NAMES_MAX) names.set(given, name)
    return name
  }

  appendHeader (name: string, value: unknown): void {
    this.$checkUnsent(name)
    this.$append(name, value)
  }

  private $append (given: string, value: unknown): void {
    const name = this.$checked(given, value)
    if (name === undefined) return
    const before = this.$fields[name] as unknown
    if (before === undefined) this.$fields[name] = value
    else this.$fields[name] = ([] as unknown[]).concat(before, value)
  }

  getHeader (name: string): any {
    checkText(name, 'name')
    return this.$fields[name.trim().toLowerCase()]
  }
  hasHeader (name: string): boolean {
    checkText(name, 'name')
    return Object.hasOwn(this.$fields, name.trim().toLowerCase())
  }
  getHeaderNames (): string[] { return Object.keys(this.$fields) }
  getHeaders (): Headers { return Object.assign(Object.create(null), this.$fields) as Headers }
  removeHeader (name: string): void {
    this.$checkUnsent(name)
    const lower = name.trim().toLowerCase()
    if (lower === 'date') this.$sendsDate = false
    else delete this.$fields[lower]
  }

  setTrailer (name: string, value: unknown): void {
    checkText(name, 'name')
    const lower = nameOf(name, value)
    ;(this.$trailerFields ??= Object.create(null) as Headers)[lower] = value
  }
  addTrailers (headers: Headers): void { for (const name of Object.keys(headers)) this.setTrailer(name, headers[name]) }

  // The head.

  writeHead (status: number, message?: unknown, given?: unknown): this {
    if (this.$isClosed || this.$stream.destroyed || this.$stream.closed) return this
    if (this.$stream.headersSent) throw plain('ERR_HTTP2_HEADERS_SENT')
    if (typeof message === 'string') warnOfMessage()
    const headers = given === undefined && typeof message === 'object' ? message : given
    if (Array.isArray(headers)) this.$putList(headers as unknown[])
    else if (typeof headers === 'object') {
      // As with node:http2, null is no object of fields.
      for (const name of Object.keys(headers as object)) this.$put(name, (headers as Headers)[name])
    }
    this.$status = status
    this.$fields[':status'] = status
    // Those that are announced may be set behind the end too, within its turn.
    const waitForTrailers = this.$fields.trailer !== undefined
    this.$stream.respond(this.$fields, { endStream: this.$isEnding && !this.$stream.headRequest, sendDate: this.$sendsDate, waitForTrailers })
    this.$gaveHead = true
    return this
  }

  /** Pairs, or names and values in turn; each name replaces its earlier value. */
  private $putList (list: unknown[]): void {
    const isPairs = Array.isArray(list[0])
    if (!isPairs && list.length % 2 !== 0) throw invalidValue('headers', list)
    const pairs: [string, unknown][] = []
    if (isPairs) pairs.push(...list as [string, unknown][])
    else for (let at = 0; at < list.length; at += 2) pairs.push([list[at] as string, list[at + 1]])
    for (const [name] of pairs) this.removeHeader(name)
    for (const [name, value] of pairs) this.$append(name, value)
  }

  flushHeaders (): void { if (!this.$isClosed && !this.$stream.headersSent) this.writeHead(this.$status) }

  // The body.

  cork (): void { this.$stream.cork() }
  uncork (): void { this.$stream.uncork() }

  write (chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    if (typeof encoding === 'function') [encoding, done] = ['utf8', encoding]
    const wrong = this.$isEnding ? plain('ERR_STREAM_WRITE_AFTER_END') : this.$isClosed ? plain('ERR_HTTP2_INVALID_STREAM') : undefined
    if (wrong !== undefined) {
      if (typeof done === 'function') nextTick(done as () => void, wrong)
      this.destroy(wrong)
      return false
    }
    if (this.$isDestroyed) return false
    if (!this.$stream.headersSent) this.writeHead(this.$status)
    return this.$stream.write(chunk, encoding as BufferEncoding, done as () => void)
  }

  end (chunk?: unknown, encoding?: unknown, done?: unknown): this {
    if (typeof chunk === 'function') [chunk, encoding, done] = [null, undefined, chunk]
    else if (typeof encoding === 'function') [encoding, done] = ['utf8', encoding]
    const stream = this.$stream
    if (this.$isClosed || (this.$isEnding && this.$wasHead === stream.headRequest)) {
      if (typeof done === 'function') nextTick(done as () => void)
      return this
    }
    // Bytes not yet sent go in one message with the rest.
    // A piece that is none is refused by write, before anything has ended.
    const isPiece = chunk == null || isBody(chunk, encoding)
    const isRest = !stream.$isDuplex && isPiece
    if (!isRest && chunk != null) this.write(chunk, encoding)
    else if (chunk != null && !stream.headersSent) this.writeHead(this.$status)
    this.$wasHead = stream.headRequest
    this.$isEnding = true
    // Where the stream has ended before, as of a HEAD request, node:http2 takes the response's own event.
    if (typeof done === 'function') this[stream.headRequest || stream.closed ? 'once' : 'prependOnceListener']('finish', AsyncResource.bind(done as () => void))
    if (!stream.headersSent) this.writeHead(this.$status)
    if (this.$isClosed || stream.destroyed) this.$onClosed()
    else if (isRest && !stream.headRequest) stream.end(chunk, encoding)
    else stream.end()
    return this
  }

  destroy (error?: Error): void {
    if (this.$isDestroyed) return
    this.$isDestroyed = true
    this.$stream.destroy(error)
  }

  setTimeout (time: number, listener?: () => void): void {
    if (!this.$isClosed) this.$stream.setTimeout(time, listener)
  }

  // Before the head.

  writeContinue (): boolean { return this.$sendInformational(100, {}) }

  writeInformation (status: number, headers?: Headers | null): boolean {
    if (typeof status !== 'number' || status < 100 || status > 199 || status === SWITCHING_PROTOCOLS) throw invalidStatus(status)
    if (this.$stream.headersSent || this.$isClosed) return false
    if (headers != null) checkObject(headers, 'headers')
    return this.$sendInformational(status, headers ?? {})
  }

  private $sendInformational (status: number, headers: Headers): boolean {
    if (this.$stream.headersSent || this.$isClosed) return false
    this.$stream.additionalHeaders({ ...headers, ':status': status })
    return true
  }

  writeEarlyHints (hints: Headers): boolean {
    if (hints === undefined) throw invalidType('hints', 'of type object', hints)
    checkObject(hints, 'hints')
    const { link, ...headers } = hints as { link?: unknown }
    const links = (Array.isArray(link) ? link : link === undefined ? [undefined] : [link]) as unknown[]
    for (const one of links) {
      if (typeof one !== 'string' || !LINK.test(one)) throw invalidValue('hints', one, 'must be an array or string of format "</styles.css>; rel=preload; as=style"')
    }
    if (links.length === 0) return false
    return this.$sendInformational(103, { ...headers, link: links.join(', ') })
  }

  createPushResponse (_headers: Headers, callback: (error: Error) => void): void {
    checkCall(callback)
    if (this.$isClosed || this.$stream.$isPast) nextTick(callback, plain('ERR_HTTP2_INVALID_STREAM'))
    else this.$stream.pushStream()
  }

  on (event: string | symbol, listener: (...given: any[]) => void): this {
    Stream.prototype.on.call(this, event, listener)
    this.$stream.$reportLate()
    return this
  }
  addListener (event: string | symbol, listener: (...given: any[]) => void): this { return this.on(event, listener) }
  prependListener (event: string | symbol, listener: (...given: any[]) => void): this {
    Stream.prototype.prependListener.call(this, event, listener)
    this.$stream.$reportLate()
    return this
  }

  /** Tools that trace requests put a method of their own in the place of `emit` of node's responses, and end a span with
   * one of these events. */
  emit (event: string | symbol, ...given: any[]): boolean {
    if (event === 'pipe') pipeFile(given[0], this, this.$stream.$written, ownWrite)
    else if (event === 'unpipe') unpipeFile(given[0] as object)
    const emit = event === 'finish' || event === 'close' ? ServerResponse.prototype.emit : Stream.prototype.emit
    return emit.call(this as unknown as ServerResponse, event as string, ...given)
  }

  // The events of the stream.

  get $isReceived (): boolean { return hasListeners(this) || hasListeners(this.$request) || ServerResponse.prototype.emit !== Stream.prototype.emit }
  get $hasTrailers (): boolean { return this.$trailerFields !== undefined }
  get $sentTrailers (): Headers { return Object.assign(Object.create(null), this.$trailerFields) as Headers }
  $trailers (): string { return this.$trailerFields === undefined ? '' : trailerText(this.$trailerFields, this.$stream.$isStrict) }
  $onStreamTrailers (trailers: Headers, raw: string[]): void { this.$request.$onTrailers(trailers, raw) }
  $onStreamAborted (): void { this.$request.$onAborted() }
  $onStreamDrain (): void { this.emit('drain') }
  $onStreamTimeout (): void {
    this.$request.emit('timeout')
    this.emit('timeout')
  }
  $onStreamClosed (): void {
    this.$request.$onClosed()
    this.$onClosed()
  }

  private $onClosed (): void {
    if (this.$isClosed) return
    this.$isClosed = true
    this.$proxy = undefined
    this.emit('finish')
    this.emit('close')
  }
}

const { prototype } = Http2ServerResponse
Object.setPrototypeOf(prototype, NodeResponse.prototype as object)
// Members that this node's own class does not have yet are not there.
for (const name of ['writeInformation', 'writableNeedDrain', 'writableObjectMode'] as const) {
  if (!(name in NodeResponse.prototype)) delete (prototype as Partial<Http2ServerResponse>)[name]
}

const { write: ownWrite } = Http2ServerResponse.prototype

// Exchanges in the form of node:http: a real IncomingMessage and a real ServerResponse, whatever
// the version. The response composes its head as usual; its socket writes become the exchange's
// response.

import { randomBytes } from 'node:crypto'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { apart } from '../../channel/ring'
import { ResponseFlag } from '../../channel/codes'
import { AHEAD_BYTES_MAX } from '../../server/ahead'
import { checkLength } from '../../server/exchange'
import type { Exchange, ServerExchangeCallbacks } from '../../server/exchange'
import { asked } from '../asked'
import { showRequest, showResponse } from '../channels'
import { aborted } from '../codes'
import { clientError, LateBytes, refusalOf, requestTimeout } from '../connection/broken'
import { Intake } from '../stream/intake'
import { later } from '../later'
import { Socket, socketOf } from '../connection/socket'
import { RawAnswer } from './raw_answer'
import { UpgradeBytes, wantedUpgrade } from './upgrade'

/** Private members of node:http, as far as they are needed here. */
interface Request extends IncomingMessage {
  _consuming: boolean
  _dump: () => void
  joinDuplicateHeaders: boolean
  _addHeaderLines: (raw: string[], count: number) => void
  _readableState: { destroyed: boolean; readingMore: boolean; resumeScheduled: boolean }
}
interface Response extends ServerResponse {
  _header: string | null
  _headerSent: boolean
  _hasBody: boolean
  _last: boolean
  _trailer: string
  _closed: boolean
  _expect_continue: boolean
  _keepAliveTimeout: number
  _maxRequestsPerSocket: number
  maxRequestsOnConnectionReached: boolean
  _storeHeader: (first: string, headers: unknown) => void
  _send: (data: string | Buffer, encoding?: BufferEncoding | null, done?: (() => void) | null) => boolean
  _writeRaw: (data: string, encoding: unknown, done?: () => void) => boolean
  _finish: () => void
  [carried]: Carrier
}

/** Where exchanges stand, as node:http knows it: of a connection of HTTP/1.1, or of one exchange. */
export class Stage extends Socket {
  declare server: EndNotifier
  /** The response in progress. */
  declare _httpMessage?: Response | null
  declare _hadError?: boolean
  /** That of the connection of HTTP/1.1, where an answer of another request goes first. */
  before: Stage | undefined
  /** That of the request in front of this one, which is answered first. */
  ahead: Stage | undefined
  /** Of a connection: that of its newest request. */
  newest: Stage | undefined
  /** The exchange of the request that came last, whose answer may be written here by hand. */
  answering: Carrier | undefined
  /** Requests so far. */
  requestCount = 0
  /** The server's listener of errors. */
  errorListener: ((error: Error) => void) | undefined
  /** The server's timeout runs. */
  private isLimited = false
  /** Those under TLS have another class beside this one. */
  isStage = true

  static is (socket: Socket): socket is Stage { return (socket as { isStage?: boolean }).isStage === true }

  /** The connection is one of HTTP/2, whose session counts the time. */
  leaveHttp1 (): void {
    this.isStage = false
    this.forgetErrors()
    this.setTimeout(0)
  }

  private forgetErrors (): void {
    if (this.errorListener !== undefined) this.off('error', this.errorListener)
    this.errorListener = undefined
  }

  /** Its bytes are the program's from now on: the server listens to it no more. */
  leaveServer (): this {
    this.isStage = false
    this.forgetErrors()
    ;(this as { readableFlowing: boolean | null }).readableFlowing = null
    return this
  }

  /** The timeout of the server runs during a request; between requests the engine's applies. One that a program has set
   * stays where the server has none, as with node:http. */
  limit (time: number): void {
    if (time > 0 && this.timeout !== time) {
      this.setTimeout(time)
      this.isLimited = true
    } else if (time === 0) this.unlimit()
    else this.refresh()
  }

  /** A request has been answered. Where the server has listeners for timeouts, they are told of a connection that has no request
   * for its `keepAliveTimeout`; the engine closes it later. */
  answered (): void {
    const { keepAliveTimeout = 0, keepAliveTimeoutBuffer = 0 } = this.server
    if (this.isStage && keepAliveTimeout > 0 && this.server.listenerCount('timeout') > 0) {
      this.setTimeout(keepAliveTimeout + keepAliveTimeoutBuffer)
      this.isLimited = true
    } else this.unlimit()
  }

  private unlimit (): void {
    if (this.isLimited) this.setTimeout(0)
    this.isLimited = false
  }

  /** Those of the response in progress count that the connection has not written yet. */
  override get bytesWritten (): number { return super.bytesWritten + (this._httpMessage?.[carried].unsent ?? 0) }

  override _write (chunk: Buffer, encoding: unknown, done: (error?: Error) => void): void {
    if (!this.isCarrying) this.answering?.answerByHand()
    super._write(chunk, encoding, done)
  }

  /** An answer that was given whole goes, also where its socket is destroyed in the same turn: as with node `finish` comes before `close`. */
  override _destroy (error: Error | null, done: (error: Error | null) => void): void {
    this._httpMessage?.[carried].settle()
    super._destroy(error, done)
  }

  override setEncoding (): never { throw Object.assign(new Error('Changing the socket encoding is not allowed per RFC7230 Section 3.'), { code: 'ERR_HTTP_SOCKET_ENCODING' }) }

  /** As in node:http: without a listener for it, a timeout ends the connection. */
  protected override onTimeout (): void {
    if (!this.isStage) return super.onTimeout()
    // A response that waits for its turn has no time of its own.
    if (this.before?.destroyed === true) return
    if (this.before?._httpMessage != null || this.ahead?._httpMessage != null) return this.refresh()
    super.onTimeout()
    const { _httpMessage: response } = this
    const request = response?.req
    const received = [
      request?.complete === false && request.emit('timeout', this), response?.emit('timeout', this), this.server.emit('timeout', this)
    ]
    if (!received.includes(true)) this.destroy()
  }
}

Object.defineProperty(Stage.prototype, 'constructor', { value: Socket.prototype.constructor, writable: true, configurable: true })

/** The classes of requests and responses, by the options of node:http. */
export interface Http1 {
  IncomingMessage: typeof IncomingMessage
  ServerResponse: typeof ServerResponse
  /** A field that comes again is joined to the one before, also where node:http keeps the first alone. */
  joinDuplicateHeaders?: boolean
  /** A body for a response that has none is an error. */
  rejectNonStandardBodyWrites?: boolean
  /** Names of fields whose values go in one line, and under which symbol node:http keeps them. */
  unique?: { symbol: symbol; names: unknown } | undefined
}

/** The server, which emits the requests. */
export interface EndNotifier {
  /** How long a request may take to be whole, in ms; 0 and undefined: for ever. */
  requestTimeout?: number
  /** Whether a client that has ended its side of its connection waits for answers. */
  httpAllowHalfOpen?: boolean
  /** Ms that a connection without a request stays open, as announced to clients; 0: for ever. */
  keepAliveTimeout?: number
  /** Ms beyond those that clients are told of. */
  keepAliveTimeoutBuffer?: number
  /** Whether a request that asks for an upgrade gets it; undefined: where there is a listener. */
  shouldUpgradeCallback?: (request: IncomingMessage) => boolean
  /** Ms without a sign of life on a connection with a request; 0: for ever. */
  timeout: number
  /** How many requests a connection of HTTP/1.1 may have; 0 and undefined: any number. */
  maxRequestsPerSocket?: number
  /** The most fields of a request that are passed on; 0 and null: all. */
  maxHeadersCount?: number | null
  emit: (event: string, ...args: unknown[]) => boolean
  listenerCount: (event: string) => number
}

const carried = Symbol('carrier')
const CANCEL = 8
const REQUEST_TIMEOUT = 408
/** Bytes of a `sec-websocket-key` (RFC 6455 section 4.1). */
const KEY_BYTES = 16
/** Fields of a connection (RFC 9113 section 8.2.2): those of HTTP/1.1 go as node:http says them, but for the framing,
 * which is the engine's. */
const OF_CONNECTIONS = new Set(['connection', 'keep-alive', 'transfer-encoding'])
const originals = http.ServerResponse.prototype as unknown as Response
/** A member that node:http has under a symbol of its own. */
export const symbolOf = (made: object, name: string): symbol | undefined => Object.getOwnPropertySymbols(made).find(symbol => symbol.description === name)
const sample = new http.ServerResponse(new http.IncomingMessage(null as never))
/** Whether Node.js writes names and values of early hints as they are given, line breaks and all: it does before 24. */
const takesBadHints = (() => {
  try {
    sample.writeEarlyHints({ link: '</>; rel=preload', 'a b': '' })
    return true
  } catch {
    return false
  }
})()
/** Says that a writer shall wait. */
const NEEDS_DRAIN = symbolOf(sample, 'kNeedDrain')
/** The head that was read last, which is mostly the next one too. */
const lastHead = { head: '', spells: false, text: '', isWide: false }
/** Characters that have other bytes as UTF-8 than as Latin-1. */
const WIDE = /[\x80-\uffff]/

/** Fields of a head of HTTP/1.1, as they cross the channel; `spells`: names as they are. */
function fieldsOf (head: string, spells: boolean): string {
  if (head !== lastHead.head || spells !== lastHead.spells) Object.assign(lastHead, { head, spells, text: readFields(head, spells), isWide: spells && WIDE.test(head) })
  return lastHead.text
}

/** Characters of Latin-1 whose bytes are those of `text` as UTF-8. */
const asUtf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

function readFields (head: string, spells: boolean): string {
  let text = ''
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const lower = line.slice(0, colon).toLowerCase()
    const name = spells ? line.slice(0, colon) : lower
    if (spells ? lower !== 'transfer-encoding' : !OF_CONNECTIONS.has(lower)) text += `${text === '' ? '' : '\0'}${name}\0${line.slice(colon + 1).trim()}`
  }
  return text
}

/** The reason phrase in the first line, which is `HTTP/1.1 200 OK`. */
function reasonOf (head: string): string { return head.slice(REASON_AT, head.indexOf('\r\n')) }
const REASON_AT = 'HTTP/1.1 200 '.length

/** The head of node:http is whole: it has its date and its reason phrase, or none by the program. */
const OWN_HEAD = ResponseFlag.NoDate | ResponseFlag.NoReason

/** Between a response of node:http and its exchange. */
class Carrier implements ServerExchangeCallbacks {
  readonly intake: Intake
  private head: { status: number; reason: string; text: string; isWide: boolean } | null = null
  private pieces: Buffer[] = []
  private waiting: ((error: Error | null) => void)[] = []
  private isStreaming = false
  /** The head says that the body comes in chunks (HTTP/1.1). */
  private isChunked = false
  /** The end of the turn is waited for. */
  isPlanned = false
  private isFinished = false
  /** The end was put behind the bytes that came before it. */
  private isEndRead = false
  /** The body broke a rule: the connection is that of the refusal. */
  private isRefused = false
  private deadline: NodeJS.Timeout | undefined
  /** The answer that the program writes to the socket itself. */
  private raw: RawAnswer | undefined
  /** Of an informational head, what was written so far. */
  private informational = ''
  /** Reports room to a waiting writer, in its own context. */
  private drains: (() => void) | undefined

  constructor (
    private readonly exchange: Exchange,
    private readonly request: Request,
    private readonly response: Response,
    private readonly socket: Stage,
    private readonly ownsSocket: boolean,
    private readonly server: EndNotifier
  ) {
    this.intake = new Intake(exchange)
    this.request._read = read
    this.request._carrier = this
    response[carried] = this
    response._storeHeader = storeHeader
    response._send = send
    response._writeRaw = writeRaw
    if (takesBadHints) response.writeEarlyHints = writeEarlyHints
    response._finish = finish
    response.on('finish', reportFinished)
  }

  /** Limits the wait for the rest of the request to the server's `requestTimeout`. */
  limit (): void {
    const { exchange, server, socket } = this
    if (server.requestTimeout === undefined || server.requestTimeout <= 0) return
    this.deadline = setTimeout(() => {
      if (exchange.received || exchange.closed) return
      // An answer that has begun can only be cut.
      this.isRefused = !exchange.headSent
      if (exchange.headSent) exchange.reset(CANCEL)
      else new LateBytes(exchange, socket, this)
      if (!server.emit('clientError', requestTimeout(), socket) && this.isRefused) socket.end(refusalOf(REQUEST_TIMEOUT))
    }, server.requestTimeout).unref()
  }

  // Calls of the response.

  keepHead (): void {
    const { response } = this
    const spells = this.exchange.version < 20
    const head = response._header ?? ''
    const text = fieldsOf(head, spells)
    const reason = spells ? reasonOf(head) : ''
    try {
      checkLength(reason.length + text.length)
    } catch (error) {
      // Another head may be made.
      response._header = null
      throw error
    }
    this.head = { status: response.statusCode, reason, text, isWide: lastHead.isWide }
    this.isChunked = spells && response.chunkedEncoding
    // The framing is the engine's.
    ;(response as unknown as { chunkedEncoding: boolean }).chunkedEncoding = false
  }

  send (data: string | Buffer, encoding: BufferEncoding | null | undefined, done: (() => void) | null | undefined): boolean {
    if (this.head?.isWide === true) {
      // Node puts its head in front of a text and encodes both at once; in front of chunks and bytes it is Latin-1.
      const isText = typeof data === 'string' && (encoding == null || encoding === 'utf8') && !(this.isChunked && data.length > 0)
      if (isText) Object.assign(this.head, { reason: asUtf8(this.head.reason), text: asUtf8(this.head.text) })
      this.head.isWide = false
    }
    if (data.length > 0) {
      const bytes = typeof data === 'string' ? Buffer.from(data, encoding ?? 'utf8') : data
      if (this.isStreaming) this.exchange.write(bytes)
      else this.pieces.push(bytes)
    }
    // As with node, an end behind the end of the connection finishes nothing.
    if (typeof done === 'function' && !this.response.destroyed) this.waiting.push(asked('WRITEWRAP', done))
    this.plan()
    if (this.unsent <= this.exchange.pendingMax) return true
    this.drains ??= asked('WRITEWRAP', () => { this.response.emit('drain') })
    return false
  }

  /** Whether the program has ended it. */
  private get isDestroyed (): boolean { return this.request.destroyed || this.response.destroyed || this.socket.destroyed }

  /** Bytes of the body that wait here or on their way. */
  get unsent (): number { return this.exchange.pending + this.kept }

  private get kept (): number { return this.pieces.reduce((sum, piece) => sum + piece.length, 0) }

  private plan (): void {
    if (this.isPlanned) return
    this.isPlanned = true
    if (planned.push(this) === 1) process.nextTick(endTurn)
  }

  /** A response that is not complete at the end of the turn is sent piece by piece. */
  endTurn (): void {
    this.isPlanned = false
    if (!this.isFinished) this.flush()
  }

  private flush (): void {
    if (this.head !== null) {
      const { status, text, reason } = this.head
      this.exchange.respond(status, text, OWN_HEAD, reason)
      this.head = null
      this.isStreaming = true
    }
    for (const piece of this.pieces.splice(0)) this.exchange.write(piece)
  }

  reportRoom (): void {
    if (!this.exchange.hasRoom) return
    for (const done of this.waiting.splice(0)) done(null)
    const { response } = this
    if (NEEDS_DRAIN === undefined || !(response as unknown as Record<symbol, boolean>)[NEEDS_DRAIN] || this.isFinished) return
    ;(response as unknown as Record<symbol, boolean>)[NEEDS_DRAIN] = false
    const { drains } = this
    this.drains = undefined
    if (drains === undefined) response.emit('drain')
    else drains()
  }

  finish (): void {
    if (this.isFinished) return
    const trailers = this.response._trailer ? fieldsOf(`\r\n${this.response._trailer}`, this.exchange.version < 20) : ''
    if (this.head !== null && trailers === '') {
      const { status, text, reason } = this.head
      this.head = null
      const { pieces } = this
      this.pieces = []
      const body = pieces.length > 1 ? Buffer.concat(pieces) : pieces[0] ?? null
      // An exchange without body events reports its end here.
      const isQuiet = !this.exchange.hasBody
      this.exchange.answer(status, text, body, OWN_HEAD | (isQuiet ? ResponseFlag.Quiet : 0) | (this.isChunked ? ResponseFlag.NoLength : 0), reason)
      if (isQuiet && this.ownsSocket) setImmediate(() => { this.socket.gone() })
    } else {
      this.flush()
      this.exchange.end(trailers)
    }
    this.isFinished = true
  }

  /** Tells the end of an answer that went as one message. */
  settle (): void {
    if (this.isFinished && !this.isStreaming) for (const done of this.waiting.splice(0)) done(null)
  }

  /** Sends a head once it is whole: programs write it in pieces, too. */
  sendInformational (piece: string): void {
    this.informational += piece
    if (!this.informational.endsWith('\r\n\r\n')) return
    const head = this.informational
    this.informational = ''
    this.exchange.sendInformational(Number(head.slice(9, 12)), fieldsOf(head, this.exchange.version < 20))
  }

  /** The bytes written to the socket are the answer, unless there is one. */
  answerByHand (): void {
    const { exchange, socket } = this
    if (exchange.headSent || exchange.closed || this.head !== null) return
    this.raw = new RawAnswer(exchange, socket, () => { socket.letGo() })
  }

  onFinish (): void {
    const { request, response, server, socket } = this
    showResponse(request, response, socket, server)
    if (!request._consuming && !request._readableState.resumeScheduled) request._dump()
    if (socket._httpMessage === response) response.detachSocket(socket as never)
    socket.ahead = undefined
    socket.answered()
    process.nextTick(reportClosed, response)
    if (response._last && this.exchange.version < 20) socket.end()
  }

  // The events of the exchange.

  onData (chunk: Buffer): void {
    // A socket that was destroyed gives nothing more.
    if (this.socket.destroyed) return this.exchange.take(chunk.length)
    this.socket.refresh()
    this.intake.onData(chunk)
  }

  onEnd (trailers = ''): void {
    const { request } = this
    clearTimeout(this.deadline)
    request.complete = true
    const raw = trailers === '' ? [] : trailers.split('\0')
    if (raw.length > 0) request._addHeaderLines(raw, raw.length)
    this.intake.onEnd()
  }

  onRoom (): void {
    this.socket.refresh()
    this.raw?.onRoom()
    this.reportRoom()
  }

  /** As node:http has it, where the end is read a turn behind what was said before it. */
  onHalfClosed (): void {
    later(() => {
      if (!this.exchange.done && this.server.httpAllowHalfOpen !== true) this.exchange.reset(CANCEL)
    })
  }

  onClosed (code: number, byPeer = true): void {
    const { exchange, request, response } = this
    clearTimeout(this.deadline)
    exchange.withStory(request)
    if (!byPeer && !this.isRefused && exchange.version < 20 && !exchange.headSent && !exchange.connection.closed && !this.isDestroyed) {
      // A malformed body: as with node its refusal comes first, over the connection, which then ends.
      this.isRefused = true
      return later(() => { this.onClosed(code, byPeer) })
    }
    if (this.raw !== undefined && code === 0) {
      // As with node, which does not know that this is an answer, the request ends with its connection.
      if (exchange.version < 20 && !this.socket.destroyed) return void this.socket.once('close', () => { this.fail(undefined) })
      this.socket.gone()
      return this.fail(undefined)
    }
    // An answer without a body is whole with its head, though its handler may say its end later.
    const isWhole = code === 0 && (response.writableEnded || !response._hasBody)
    if (!isWhole && !this.isEndRead && this.intake.holds) {
      // As in `onHalfClosed`: a reader gets the bytes that came before the end.
      this.isEndRead = true
      return later(() => { this.onClosed(code, byPeer) })
    }
    const error = isWhole ? undefined : exchange.withStory(aborted())
    // By this node:http knows that an end that was asked for is none.
    if (!isWhole) this.socket._hadError = true
    for (const done of this.waiting.splice(0)) apart(() => { done(error ?? null) })
    if (isWhole) {
      if (this.ownsSocket) setImmediate(() => { this.socket.gone() })
      return
    }
    // A refusal of the rest of its body may still be written: as with node the request ends with its connection.
    const { socket } = this
    if (this.isRefused && socket.isCarrying && !socket.destroyed) return void socket.once('close', () => { this.fail(error) })
    if (this.ownsSocket || exchange.connection.closed) this.socket.gone()
    if (exchange.version < 20) {
      // A malformed request may still be answered, and the engine ends its connection.
      if (!byPeer) this.socket.release()
      this.socket.gone()
    }
    this.fail(error)
  }

  /** The request, or its response, is not whole. */
  private fail (error: Error | undefined): void {
    this.intake.drop()
    this.request.destroy(error)
    // One that was detached has no connection to end with.
    if (this.raw === undefined || this.response.socket !== null) reportClosed(this.response)
  }
}

/** Those that wait for the end of the turn, which they have one for all of. */
let planned: Carrier[] = []
function endTurn (): void {
  const now = planned
  planned = []
  for (const carrier of now) carrier.endTurn()
  later(() => {
    for (const carrier of now) apart(() => { carrier.reportRoom() })
  })
}

function reportClosed (response: Response): void {
  if (response._closed) return
  ;(response as { destroyed: boolean }).destroyed = true
  response._closed = true
  response.emit('close')
}

// Wrappers of the methods of a request and a response; own members, so that frameworks may give
// them other prototypes.

function read (this: Request): void {
  this._consuming = true
  this._readableState.readingMore = false
  this._carrier.intake.read(this)
}
function reportFinished (this: Response): void { this[carried].onFinish() }

function storeHeader (this: Response, first: string, headers: unknown): void {
  originals._storeHeader.call(this, first, headers)
  this[carried].keepHead()
}
function send (this: Response, data: string | Buffer, encoding?: BufferEncoding | null, done?: (() => void) | null): boolean {
  this._headerSent = true
  if (typeof encoding === 'function') [encoding, done] = [null, encoding]
  return this[carried].send(data, encoding, done)
}
function writeRaw (this: Response, data: string, encoding: unknown, done?: () => void): boolean {
  this[carried].sendInformational(data)
  const reported = typeof encoding === 'function' ? encoding as () => void : done
  if (typeof reported === 'function') process.nextTick(reported)
  return true
}
/** Checks what the newest Node.js checks: one hint must not write other fields, or another response. */
function writeEarlyHints (this: Response, hints: Record<string, string | string[]>, done?: () => void): void {
  // Without a link nothing is written.
  for (const name of hints?.link == null ? [] : Object.keys(hints)) {
    if (name === 'link') continue
    http.validateHeaderName(name)
    http.validateHeaderValue(name, hints[name] as string)
  }
  originals.writeEarlyHints.call(this, hints, done)
}
function finish (this: Response): void {
  this[carried].finish()
  originals._finish.call(this)
}

/** Names and values by turns: with a host, a word on the body where its length is not said, and what
 * an extended CONNECT asks for, as programs of node:http look for them. */
function rawOf (exchange: Exchange): string[] {
  const raw = exchange.rawFields()
  // RFC 9112 section 3.2.2: beside a target in absolute form the host of the field is ignored.
  if (exchange.version < 20 && exchange.ownScheme !== '') replaceHost(raw, exchange.authority)
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
function targetOf (exchange: Exchange): string {
  const { ownScheme, authority, path } = exchange
  return exchange.version < 20 && ownScheme !== '' ? `${ownScheme}://${authority}${path}` : path || authority
}

/** A request of node:http for an exchange. */
function requestOf (exchange: Exchange, socket: Socket, http1: Http1, fieldsMax?: number | null): Request {
  const request = new http1.IncomingMessage(socket as never) as Request
  const major = exchange.version === 30 ? 3 : exchange.version === 20 ? 2 : 1
  request.httpVersionMajor = major
  request.httpVersionMinor = major === 1 && !exchange.isHttp10 ? 1 : 0
  request.httpVersion = `${major}.${request.httpVersionMinor}`
  request.method = exchange.method
  request.url = targetOf(exchange)
  ;(request as unknown as { upgrade: boolean }).upgrade = false
  if (http1.joinDuplicateHeaders === true) request.joinDuplicateHeaders = true
  const raw = rawOf(exchange)
  request._addHeaderLines(raw, fieldsMax != null && fieldsMax > 0 ? Math.min(raw.length, 2 * fieldsMax) : raw.length)
  return request
}

/**
 * The arguments of `upgrade` listeners for a request that leaves HTTP. An extended CONNECT is
 * presented as an HTTP/1.1 upgrade, which such programs expect. `shared`: the socket of its connection.
 */
export function upgradeOf (exchange: Exchange, http1: Http1, shared?: Socket): [request: IncomingMessage, socket: Socket, head: Buffer, bytes: UpgradeBytes] {
  const head = exchange.upgradeHead ?? Buffer.alloc(0)
  const socket = isFree(shared) ? shared.leaveServer() : socketOf(Socket, exchange.connection.encrypted, exchange.connection)
  const bytes = new UpgradeBytes(exchange, socket)
  bytes.skips = head.length
  const request = requestOf(exchange, socket, http1)
  if (exchange.version >= 20) request.method = 'GET'
  ;(request as unknown as { upgrade: boolean }).upgrade = true
  request.complete = true
  request.push(null)
  return [request, socket, head, bytes]
}

/**
 * Emits `upgrade` on `server` for an exchange that leaves HTTP; false: it does not, or there is no
 * listener.
 */
export function reportUpgrade (server: EndNotifier, exchange: Exchange, http1: Http1, shared?: Socket): boolean {
  const { shouldUpgradeCallback } = server
  if (shouldUpgradeCallback === undefined && server.listenerCount('upgrade') === 0 || wantedUpgrade(exchange) === null) return false
  if (shouldUpgradeCallback !== undefined && !shouldUpgradeCallback.call(server, askedOf(exchange, http1))) return false
  if (server.listenerCount('upgrade') === 0) exchange.connection.abort()
  else emitUpgrade(server, 'upgrade', exchange, http1, shared)
  return true
}

function emitUpgrade (server: EndNotifier, event: string, exchange: Exchange, http1: Http1, shared?: Socket): void {
  const [request, socket, head] = upgradeOf(exchange, http1, shared)
  server.emit(event, request, socket, head)
}

/** A request of which it is asked whether it gets an upgrade: its head. */
const askedOf = (exchange: Exchange, http1: Http1): IncomingMessage => requestOf(exchange, socketOf(Socket, exchange.connection.encrypted, exchange.connection), http1)

/** CONNECT of HTTP/1.1: its listener gets the bytes of the connection, which ends without one. */
function reportConnect (server: EndNotifier, exchange: Exchange, http1: Http1, shared: Socket): void {
  if (server.listenerCount('connect') === 0) exchange.connection.abort()
  else emitUpgrade(server, 'connect', exchange, http1, shared)
}

/** A response that is destroyed with an error destroys its socket with it, as `pipeline` does: that is
 * the connection's affair, as on servers of node:http, and not uncaught. */
export function receiveErrors (server: EndNotifier, socket: Socket): void {
  const listener = (error: Error): void => {
    if (!server.emit('clientError', error, socket)) socket.destroySoon()
  }
  ;(socket as Stage).errorListener = listener
  socket.on('error', listener)
}

/** Whether the socket of a connection has no response in progress, and can go with the bytes behind it. */
const isFree = (shared: Socket | undefined): shared is Stage => shared !== undefined && Stage.is(shared) && !shared._httpMessage && !shared.destroyed

/** From this line on node refuses a request with more fields than `maxHeadersCount`; those before leave them out. */
const REFUSES_FIELDS = Number.parseInt(process.versions.node, 10) >= 22
const FIELDS_TOO_LARGE = 431

function hasTooManyFields (exchange: Exchange, most: number | null | undefined): boolean {
  return most != null && most > 0 && exchange.rawFields().length > 2 * most
}

/** Emits an exchange on `server`. `shared`: the socket of its connection. */
export function reportAsHttp1 (server: EndNotifier, exchange: Exchange, shared: Socket, http1: Http1): void {
  if (REFUSES_FIELDS && exchange.version < 20 && hasTooManyFields(exchange, server.maxHeadersCount)) {
    const socket = isFree(shared) ? shared.leaveServer() : socketOf(Socket, exchange.connection.encrypted, exchange.connection)
    new LateBytes(exchange, socket, { onData () {}, onEnd () {}, onRoom () {}, onClosed () {} })
    const error = clientError({ code: 'HPE_HEADER_OVERFLOW', status: FIELDS_TOO_LARGE, packet: Buffer.alloc(0), parsed: 0 })
    if (!server.emit('clientError', error, socket)) socket.end(refusalOf(FIELDS_TOO_LARGE))
    return
  }
  if (reportUpgrade(server, exchange, http1, shared)) return
  if (exchange.version < 20 && exchange.method === 'CONNECT') return reportConnect(server, exchange, http1, shared)
  const ownsSocket = !Stage.is(shared) || Boolean(shared._httpMessage)
  const socket = ownsSocket ? socketOf(Stage, exchange.connection.encrypted, exchange.connection, () => { exchange.reset(CANCEL) }) : shared
  if (ownsSocket) {
    socket.server = server
    receiveErrors(server, socket)
  }
  if (ownsSocket && exchange.version < 20) {
    const { newest } = shared as Stage
    Object.assign(socket, { before: shared, ahead: newest })
    ;(shared as Stage).newest = socket
  }
  socket.limit(server.timeout)
  const request = requestOf(exchange, socket, http1, server.maxHeadersCount)
  const { rejectNonStandardBodyWrites } = http1
  const response = new (http1.ServerResponse as new (request: unknown, options: object) => ServerResponse)(request, { highWaterMark: AHEAD_BYTES_MAX, rejectNonStandardBodyWrites }) as Response
  // Node's own goes by the minor number of the version, and refuses trailers where it is zero.
  response.useChunkedEncodingByDefault = !exchange.isHttp10
  response.shouldKeepAlive = keepsAlive(exchange)
  response._keepAliveTimeout = server.keepAliveTimeout ?? 0
  if (exchange.version < 20) response._maxRequestsPerSocket = server.maxRequestsPerSocket ?? 0
  if (http1.unique !== undefined) (response as unknown as Record<symbol, unknown>)[http1.unique.symbol] = http1.unique.names
  response.assignSocket(socket as never)
  const carrier = new Carrier(exchange, request, response, socket, ownsSocket, server)
  exchange.owner = carrier
  exchange.callbacks = carrier
  socket.answering = carrier
  if (exchange.hasBody && exchange.version < 20) carrier.limit()
  showRequest(request, response, socket, server)
  if (!isDropped(server, shared, request, response)) report(server, exchange, request, response)
  if (!exchange.hasBody && !request.complete) {
    request.complete = true
    request.push(null)
  }
}

/** Whether its connection may have another request behind it (RFC 9112 section 9.3). */
function keepsAlive (exchange: Exchange): boolean {
  const options = exchange.field('connection') ?? ''
  return exchange.isHttp10 ? /\bkeep-alive\b/i.test(options) : !/\bclose\b/i.test(options)
}

/** Counts a request of a connection of HTTP/1.1: the last that it may have is answered with its end, and one behind
 * that with nothing else. */
function isDropped (server: EndNotifier, shared: Socket, request: Request, response: Response): boolean {
  const { maxRequestsPerSocket: most = 0 } = server
  if (!(most > 0) || !Stage.is(shared)) return false
  const count = ++shared.requestCount
  response.maxRequestsOnConnectionReached = count >= most
  if (count <= most) return false
  server.emit('dropRequest', request, shared)
  response.writeHead(503)
  response.end()
  return true
}

function report (server: EndNotifier, exchange: Exchange, request: Request, response: Response): void {
  const expected = exchange.field('expect')
  if (exchange.method === 'CONNECT') {
    if (server.emit('connect', request, response)) return
    response.statusCode = 405
    response.end()
  } else if (expected === undefined) {
    server.emit('request', request, response)
  } else if (/^100-continue$/i.test(expected)) {
    response._expect_continue = true
    if (server.listenerCount('checkContinue') > 0) {
      server.emit('checkContinue', request, response)
      return
    }
    response.writeContinue()
    server.emit('request', request, response)
  } else if (!server.emit('checkExpectation', request, response)) {
    response.writeHead(417)
    response.end()
  }
}

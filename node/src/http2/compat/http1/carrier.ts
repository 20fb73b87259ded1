// The way between a response of node:http and its exchange: the response composes its head as usual, and its socket writes become the
// exchange's response, whole where it ends within one turn.

import http from 'node:http'
import { apart } from '../../../channel/ring'
import { HttpVersion, ResponseFlag } from '../../../channel/codes'
import { AHEAD_BYTES_MAX } from '../../../server/ahead'
import { checkLength } from '../../../server/exchange'
import type { Exchange, ServerExchangeCallbacks } from '../../../server/exchange'
import { asked } from '../../callbacks/asked'
import { showResponse } from '../../channels'
import { aborted, ErrorCode, plain } from '../../codes'
import { LateBytes, refusalOf, requestTimeout } from '../../connection/broken'
import { Intake } from '../../stream/intake'
import { pipeFile, unpipeFile, type WrittenPieces } from '../../stream/piped_file'
import { later } from '../../callbacks/later'
import { RawAnswer } from '../raw_answer'
import { asUtf8, fieldsOf, lastHead, reasonOf } from './fields'
import { carried, DETACH_SIGNAL, NEEDS_DRAIN, originals, takesBadHints, type EndNotifier, type Request, type Response } from './members'
import type { Socket } from '../../connection/socket'
import type { Stage } from './stage'
import { clearTimeout, nextTick, setImmediate, setTimeout } from '../../../timers'

const REQUEST_TIMEOUT = 408

/** A response with its carrier. */
interface CarriedResponse extends Response { [carried]: ResponseCarrier }

/** The head of node:http is whole: it has its date and its reason phrase, or none by the program. */
const OWN_HEAD = ResponseFlag.NoDate | ResponseFlag.NoReason

/** Between a response of node:http and its exchange. */
export class ResponseCarrier implements ServerExchangeCallbacks, WrittenPieces {
  readonly intake: Intake
  private head: { status: number; reason: string; text: string; isWide: boolean } | null = null
  private pieces: Buffer[] = []
  private waiting: ((error: Error | null) => void)[] = []
  private isStreaming = false
  /** The head says that the body comes in chunks (HTTP/1.1). */
  private isChunked = false
  /** Its program has asked that the head goes: as with node it goes, also where its socket is destroyed in the same turn. */
  private isHeadAsked = false
  /** The end of the turn is waited for. */
  isPlanned = false
  private isFinished = false
  /** The end was put behind the bytes that came before it. */
  private isEndRead = false
  /** The end of the body has come, and is given a turn behind its last piece. */
  private endsLater = false
  /** The body broke a rule: the connection is that of the refusal. */
  private isRefused = false
  private deadline: NodeJS.Timeout | undefined
  /** The answer that the program writes to the socket itself. */
  private raw: RawAnswer | undefined
  /** The part of an informational head that was written so far. */
  private informational = ''
  /** Reports room to a waiting writer, in its own context. */
  private drains: (() => void) | undefined

  constructor (
    private readonly exchange: Exchange,
    private readonly request: Request,
    private readonly response: Response,
    private readonly socket: Stage,
    /** The socket of the connection, which on HTTP/1.1 is mostly the same. */
    private readonly shared: Socket,
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
    response.on('pipe', pipeInto)
    response.on('unpipe', unpipeFile)
  }

  /** Behind `$passOn` each piece goes to the exchange at once. */
  readonly $areKept = false
  $passOn (): void {
    this.response.flushHeaders()
    this.flush()
  }

  /** Limits the wait for the rest of the request to the server's `requestTimeout`. */
  limit (): void {
    const { exchange, server, socket } = this
    if (server.requestTimeout === undefined || server.requestTimeout <= 0) return
    this.deadline = setTimeout(() => {
      if (exchange.received || exchange.closed) return
      // An answer that has begun can only be cut.
      this.isRefused = !exchange.headSent
      if (exchange.headSent) exchange.reset(ErrorCode.Cancel)
      else new LateBytes(exchange, socket, this)
      if (!server.emit('clientError', requestTimeout(), socket) && this.isRefused) socket.end(refusalOf(REQUEST_TIMEOUT))
    }, server.requestTimeout).unref()
  }

  // Calls of the response.

  keepHead (): void {
    const { response } = this
    const spells = this.exchange.version < HttpVersion.Http2
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
    } else if (done === undefined) this.isHeadAsked = true
    // As with node, an end behind the end of the connection finishes nothing.
    const isGone = data.length === 0 && this.socket.destroyed
    if (typeof done === 'function' && !isGone && !this.response.destroyed) this.waiting.push(asked('WRITEWRAP', done))
    if (isGone) return false
    this.plan()
    if (this.unsent <= this.exchange.pendingMax) return true
    this.drains ??= asked('WRITEWRAP', () => { this.response.emit('drain') })
    return false
  }

  get isEncrypted (): boolean { return this.exchange.connection.encrypted }
  /** Whether it has ended over a connection in cleartext. */
  get isWritten (): boolean { return this.isFinished && !this.isEncrypted }

  /** Whether its socket is not that of the connection. */
  private get ownsSocket (): boolean { return this.socket !== this.shared }

  /** Whether the program has ended it. */
  private get isDestroyed (): boolean { return this.request.destroyed || this.response.destroyed || this.socket.destroyed }

  /** Bytes of the body that wait here or on their way. */
  get unsent (): number { return this.exchange.pending + this.kept }

  get incoming (): Request | null { return this.isFinished && this.request.readableEnded ? null : this.request }

  /** An answer that is written by hand waits in its socket. */
  get awaited (): number { return this.raw === undefined ? this.unsent : 0 }

  private get kept (): number { return this.pieces.reduce((sum, piece) => sum + piece.length, 0) }

  private plan (): void {
    if (this.isPlanned) return
    this.isPlanned = true
    if (planned.push(this) === 1) nextTick(endTurn)
  }

  /** A response that is not complete at the end of the turn is sent piece by piece. */
  endTurn (): void {
    this.isPlanned = false
    if (this.isFinished) return
    if (this.response.destroyed || this.socket.destroyed) this.lose()
    else this.flush()
  }

  /** Gives the error to its writers, as node does: it was destroyed in the turn in which it was written. */
  private lose (): void {
    this.pieces = []
    const { errored } = this.response as unknown as { errored?: Error | null }
    const error = errored ?? this.socket.errored ?? plain('ERR_STREAM_DESTROYED')
    for (const done of this.waiting.splice(0)) apart(() => { done(error) })
  }

  private flushHead (): void {
    if (this.head === null) return
    const { status, text, reason } = this.head
    // As with node:http2, a message without a body ends with its head: a client that has it may be gone when the handler ends it.
    const isWhole = !this.response._hasBody && this.exchange.version >= HttpVersion.Http2
    this.exchange.respond(status, text, isWhole ? OWN_HEAD | ResponseFlag.End | ResponseFlag.NoLength : OWN_HEAD, reason)
    this.head = null
    this.isStreaming = true
  }

  private flush (): void {
    this.flushHead()
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

  /** A large answer that is given whole has left when its exchange ends, and that may wait for the rest of a request that is discarded behind the
   * answer. In pieces, it has left when they have. */
  private get goesInPieces (): boolean {
    return this.exchange.hasBody && !this.exchange.received && this.kept > AHEAD_BYTES_MAX
  }

  finish (): void {
    if (this.isFinished) return
    if (this.socket.destroyed) {
      this.isFinished = true
      return this.lose()
    }
    const trailers = this.response._trailer ? fieldsOf(`\r\n${this.response._trailer}`, this.exchange.version < HttpVersion.Http2) : ''
    if (this.head !== null && trailers === '' && !this.goesInPieces) {
      const { status, text, reason } = this.head
      this.head = null
      const { pieces } = this
      this.pieces = []
      const body = pieces.length > 1 ? Buffer.concat(pieces) : pieces[0] ?? null
      // An exchange without body events reports its end here.
      const isQuiet = !this.exchange.hasBody
      this.exchange.answer(status, text, body, OWN_HEAD | (isQuiet ? ResponseFlag.Quiet : 0) | (this.isChunked ? ResponseFlag.NoLength : 0), reason)
      if (isQuiet && this.ownsSocket) setImmediate(() => { this.socket.$gone() })
    } else {
      this.flush()
      this.exchange.end(trailers)
    }
    this.isFinished = true
    this.forgetOpen()
  }

  /** No response of the connection is open: an idle one keeps none. */
  private forgetOpen (): void { if (this.exchange.connection.open === 0) this.shared.$newestResponse = null }

  /** Sends a head that was asked for, and tells the end of an answer that went as one message: its socket is destroyed. */
  settle (): void {
    if (this.isHeadAsked && !this.isFinished) this.flushHead()
    if (this.isFinished && !this.isStreaming) for (const done of this.waiting.splice(0)) done(null)
  }

  /** Sends a head once it is whole: programs write it in pieces, too. */
  sendInformational (piece: string): void {
    if (this.socket.destroyed) return
    this.informational += piece
    if (!this.informational.endsWith('\r\n\r\n')) return
    const head = this.informational
    this.informational = ''
    this.exchange.sendInformational(Number(head.slice(9, 12)), fieldsOf(head, this.exchange.version < HttpVersion.Http2))
  }

  /** The bytes written to the socket are the answer, unless there is one. */
  answerByHand (): void {
    const { exchange, socket } = this
    if (exchange.headSent || exchange.closed || this.head !== null) return
    this.raw = new RawAnswer(exchange, socket, () => { socket.$letGo() })
  }

  onFinish (): void {
    const { request, response, server, socket } = this
    showResponse(request, response, socket, server)
    if (DETACH_SIGNAL !== undefined) (request as unknown as Record<symbol, (() => void) | undefined>)[DETACH_SIGNAL]?.()
    const isUnread = !request._consuming && !request._readableState.resumeScheduled
    if (isUnread) {
      request._dump()
      // From Node 26 on one that is complete is only looked at, but its body may still wait here.
      request.resume()
    }
    if (socket._httpMessage === response) response.detachSocket(socket as never)
    socket.$ahead = undefined
    socket.$answered()
    nextTick(reportClosed, response)
    if (!response._last || this.exchange.version >= HttpVersion.Http2) return
    // The end of the connection does not wait for a body without a reader.
    if (isUnread) this.exchange.decline()
    socket.$endLast()
  }

  // The events of the exchange.

  $onData (chunk: Buffer): void {
    // A socket that was destroyed gives nothing more.
    if (this.socket.destroyed) return this.exchange.take(chunk.length)
    this.socket.$refresh()
    this.intake.onData(chunk)
  }

  $onEnd (trailers = ''): void {
    const { request } = this
    clearTimeout(this.deadline)
    const raw = trailers === '' ? [] : trailers.split('\0')
    request.complete = true
    // Fields are those of trailers where it is complete.
    if (raw.length > 0) request._addHeaderLines(raw, raw.length)
    if (this.intake.received === 0) return this.intake.onEnd()
    // As with node, a reader has the last piece before it can know of the end: one that destroys the request at it aborts it.
    request.complete = false
    this.endsLater = true
    later(() => { this.giveEnd() })
  }

  private giveEnd (): void {
    if (!this.endsLater) return
    this.endsLater = false
    this.request.complete = true
    this.intake.onEnd()
  }

  $onRoom (): void {
    this.socket.$refresh()
    this.raw?.onRoom()
    this.reportRoom()
  }

  /** As node:http has it, where the end is read a turn behind what was said before it. */
  onHalfClosed (): void {
    later(() => {
      if (!this.exchange.done && this.server.httpAllowHalfOpen !== true) this.exchange.reset(ErrorCode.Cancel)
    })
  }

  $onClosed (code: number, byPeer = true): void {
    const { exchange, request, response } = this
    clearTimeout(this.deadline)
    this.forgetOpen()
    exchange.withTimeline(request)
    if (!byPeer && !this.isRefused && exchange.version < HttpVersion.Http2 && !exchange.headSent && !exchange.connection.closed && !this.isDestroyed) {
      // A malformed body: as with node its refusal comes first, over the connection, which then ends.
      this.isRefused = true
      return later(() => { this.$onClosed(code, byPeer) })
    }
    if (this.raw !== undefined && code === 0) {
      // As with node, which does not know that this is an answer, the request ends with its connection.
      const error = exchange.withTimeline(aborted())
      if (exchange.version < HttpVersion.Http2 && !this.socket.destroyed) return void this.socket.$whenClosed(() => { this.fail(error) })
      this.socket.$gone()
      return this.fail(error)
    }
    // An answer without a body is whole with its head, though its handler may say its end later.
    const isWhole = code === 0 && (response.writableEnded || !response._hasBody)
    // The end of the body comes in front.
    if (!isWhole && this.endsLater) return later(() => { this.$onClosed(code, byPeer) })
    if (!isWhole && !this.isEndRead && this.intake.isDue) {
      // As in `onHalfClosed`: a reader gets the bytes and the end that came before.
      this.isEndRead = true
      return later(() => { this.$onClosed(code, byPeer) })
    }
    // Where the engine is on a thread of its own, the end may come within the turn in which the program has destroyed it.
    if (this.isPlanned && !this.isFinished && (response.destroyed || this.socket.destroyed)) this.lose()
    const error = isWhole ? undefined : exchange.withTimeline(aborted())
    // By this node:http knows that an end that was asked for is none.
    if (!isWhole) this.socket._hadError = true
    for (const done of this.waiting.splice(0)) apart(() => { done(error ?? null) })
    if (isWhole) {
      if (!this.ownsSocket) return
      const leave = (): void => { this.socket.$gone() }
      if (response.writableEnded) return void setImmediate(leave)
      // Its handler has not ended it: until then it is open, as on HTTP/1.1, or until its connection closes.
      const forget = this.shared.$whenClosed(leave)
      response.once('finish', () => {
        forget()
        setImmediate(leave)
      })
      return
    }
    // A refusal of the rest of its body may still be written: as with node the request ends with its connection.
    const { socket } = this
    if (this.isRefused && socket.$isCarrying && !socket.destroyed) return void socket.$whenClosed(() => { this.fail(error) })
    if (this.ownsSocket || exchange.connection.closed) this.socket.$gone()
    if (exchange.version < HttpVersion.Http2) {
      // A malformed request may still be answered, and the engine ends its connection.
      if (!byPeer) this.socket.$release()
      this.socket.$gone()
      // As with node, whose requests end with their connection.
      return void socket.$whenClosed(() => { this.fail(error) })
    }
    this.fail(error)
  }

  /** The socket is about to emit `close`: as with node, requests that it leaves unanswered end before. */
  abandon (): void {
    if (!this.endsLater) return this.cut(this.exchange.withTimeline(aborted()))
    this.giveEnd()
    later(() => { this.abandon() })
  }

  /** Ends the request. As with node, where it has what came in its buffer, that can be read from it although it is destroyed. */
  private cut (error: Error | undefined): void {
    if (!this.request.destroyed) this.intake.leaveWith(this.request)
    this.request.destroy(error)
  }

  /** The request, or its response, is not whole. */
  private fail (error: Error | undefined): void {
    // As with node, where an answered request without a reader is left alone.
    if (!this.request._dumped) this.cut(error)
    this.intake.drop()
    // One that was detached has no connection to end with.
    if (this.raw === undefined || this.response.socket !== null) reportClosed(this.response)
  }
}

/** Carriers that wait for the end of the turn: one callback is for all of them. */
let planned: ResponseCarrier[] = []
function endTurn (): void {
  const now = planned
  planned = []
  for (const carrier of now) carrier.endTurn()
  // As with node, which writes an answer in cleartext at its end, and pieces at the end of their turn: the system has taken them then. Under TLS
  // it has them a turn later, behind the close of a request that has ended.
  const open: ResponseCarrier[] = []
  for (const carrier of now) {
    if (carrier.isWritten) apart(() => { carrier.reportRoom() })
    else open.push(carrier)
  }
  if (open.length === 0) return
  nextTick(() => {
    const encrypted: ResponseCarrier[] = []
    for (const carrier of open) {
      if (carrier.isEncrypted) encrypted.push(carrier)
      else apart(() => { carrier.reportRoom() })
    }
    if (encrypted.length === 0) return
    nextTick(() => {
      for (const carrier of encrypted) apart(() => { carrier.reportRoom() })
    })
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
const { write: ownWrite } = originals
function pipeInto (this: CarriedResponse, source: unknown): void { pipeFile(source, this, this[carried], ownWrite) }
function reportFinished (this: CarriedResponse): void { this[carried].onFinish() }

function storeHeader (this: CarriedResponse, first: string, headers: unknown): void {
  originals._storeHeader.call(this, first, headers)
  this[carried].keepHead()
}
function send (this: CarriedResponse, data: string | Buffer, encoding?: BufferEncoding | null, done?: (() => void) | null): boolean {
  this._headerSent = true
  if (typeof encoding === 'function') [encoding, done] = [null, encoding]
  return this[carried].send(data, encoding, done)
}
function writeRaw (this: CarriedResponse, data: string, encoding: unknown, done?: () => void): boolean {
  this[carried].sendInformational(data)
  const reported = typeof encoding === 'function' ? encoding as () => void : done
  if (typeof reported === 'function') nextTick(reported)
  return true
}
/** Checks what the newest Node.js checks: one hint must not write other fields, or another response. */
function writeEarlyHints (this: CarriedResponse, hints: Record<string, string | string[]>, done?: () => void): void {
  // Without a link nothing is written.
  for (const name of hints?.link == null ? [] : Object.keys(hints)) {
    if (name === 'link') continue
    http.validateHeaderName(name)
    http.validateHeaderValue(name, hints[name] as string)
  }
  originals.writeEarlyHints.call(this, hints, done)
}
function finish (this: CarriedResponse): void {
  this[carried].finish()
  originals._finish.call(this)
}

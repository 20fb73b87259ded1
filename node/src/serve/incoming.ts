// The state of a request behind the handlers' web `Request`: its body, signal and trailers, each
// created on first access.

import { Fifo } from '../fifo'
import { Body, type ByteSource } from '../fetch/body/body'
import { HeaderList, sendableOf, TextList } from '../fetch/headers/header_list'
import { headersOver, type Headers } from '../fetch/headers/headers'
import { USUAL, type RequestParts } from '../fetch/request_parts'
import type { Exchange, ServerExchangeCallbacks } from '../server/exchange'
import type { TrailersInit } from '../fetch/headers/fields'
import { CookieMap } from './web/cookies'
import { ServedList } from './web/served_list'
import { urlOf } from './web/url'

/** A request's body is longer than the server's `maxRequestBodySize`. */
export class BodyTooLargeError extends RangeError {
  readonly code = 'ERR_BODY_TOO_LARGE'
  constructor (max: number) { super(`the body of the request is longer than the ${max} bytes that maxRequestBodySize allows`) }
}

/** Codes of paths at which no file is. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'EISDIR'])

/** The promise of a request's trailers. */
interface Awaited { promise: Promise<Headers>; resolve: (trailers: Headers) => void; reject: (error: Error) => void }

/** The received part of a request, and the callbacks that wait for the rest. */
export class Incoming implements ServerExchangeCallbacks, RequestParts, ByteSource {
  private controller: AbortController | null = null
  private made: Body | null = null
  private fields: HeaderList | null = null
  private jar: CookieMap | null = null
  private href: string | null = null
  /** Bytes received and not read. */
  private chunks: Fifo<Buffer> | null = null
  private isWhole: boolean
  /** The reader of the body wants no more of it. */
  private isCancelled = false
  private failure: Error | null = null
  private abortReason: Error | null = null
  /** Called when more of the body is there. */
  private stirred: (() => void) | null = null
  /** Called when a file cannot be sent. */
  onFileFailedFor: ((error: Error) => void) | null = null
  /** Called when there is room for the response's body, and at the exchange's end. */
  onRoomFor: (() => void) | null = null
  /** Called at the exchange's end. */
  onClosedFor: (() => void) | null = null
  /** Called when a part of the body is received, or one of the answer is sent. */
  onActive: (() => void) | null = null
  /** Called when a part of the body is read. */
  onTaken: (() => void) | null = null
  /** Called when the client ends its side before the answer is whole, which it has if `isHalfClosed`. */
  onHalfClosedFor: (() => void) | null = null
  isHalfClosed = false

  /** The trailers to send behind the response's body. */
  trailersToSend: TrailersInit | null = null
  /** The exchange is another's: the answer of the handler is not sent. */
  isLeft = false
  /** The program has given an answer, whose head may be still to come: the request is not upgraded any more. */
  isAnswered = false
  /** Answers in the place of a file that is not there. */
  onFileMissing: (() => void) | null = null
  private taken = 0
  /** The peer has the credit for what is held in `chunks`, behind which nothing comes. */
  private isReleased = false
  private behind: string | null = null
  private awaited: Awaited | null = null

  /** `bodyMax`: bytes of the body, beyond which it fails. */
  constructor (readonly exchange: Exchange, private readonly bodyMax = Infinity) {
    this.isWhole = !exchange.hasBody
    exchange.callbacks = this
  }

  /** Aborts when the exchange ends before its answer is whole; on HTTP/1.1 also when the client ends its
   * side, because one that is gone looks the same. An answer is sent all the same. */
  get signal (): AbortSignal {
    if (this.controller === null) {
      this.controller = new AbortController()
      const reason = this.failure ?? this.abortReason
      if (reason !== null) this.controller.abort(reason)
    }
    return this.controller.signal
  }

  /** Whether its signal was asked for. */
  get isWatched (): boolean { return this.controller !== null }

  // Members that a `Request` needs.

  get method (): string { return this.exchange.method }
  get url (): string { return (this.href ??= urlOf(this.exchange)) }
  get list (): HeaderList { return (this.fields ??= new ServedList(this.exchange)) }
  get settings (): RequestParts['settings'] { return USUAL }
  get dispatcher (): null { return null }
  /** The cookies that came; what is set or deleted here, the answer has in `set-cookie`. */
  get cookies (): CookieMap { return (this.jar ??= new CookieMap(this.exchange.field('cookie') ?? '')) }
  /** The values of `set-cookie` by a handler's changes of `cookies`. */
  setCookies (): string[] { return this.jar?.toSetCookieHeaders() ?? [] }
  get followed (): AbortSignal { return this.signal }
  get body (): Body | null { return this.exchange.hasBody ? (this.made ??= new Body(this)) : null }
  contentType (): string | null { return this.list.get('content-type') }
  readonly isOfRequest = true
  /** The body of a GET or HEAD is read by its methods alone: what sends requests on has no body of them
   * (https://fetch.spec.whatwg.org/#dom-request, step 35). */
  get hidesBody (): boolean { return this.method === 'GET' || this.method === 'HEAD' }
  sendable (): HeaderList {
    const list = sendableOf(this.list)
    if (this.hidesBody) list.delete('content-length')
    return list
  }

  /** A request of the global class that shares the body with this one: a `fetch` that a program has kept takes it, too. That class has no
   * body of a GET or HEAD, which stays with this one. */
  clone (): globalThis.Request {
    const { url, method, signal } = this
    const body = this.hidesBody ? null : this.body?.fork().web ?? null
    return new globalThis.Request(url, { method, headers: this.sendable().sorted(), body, duplex: 'half', signal })
  }

  /** Whether the body is being read, or will be. */
  get isReading (): boolean {
    const { made } = this
    return this.failure === null && made !== null && !this.isCancelled && (made.isBeingTaken ? !this.isWhole : made.hasStream)
  }

  /** Whether a program has looked at the stream of the body, and nothing reads it yet. */
  get isOnlyShown (): boolean { return this.made?.isOnlyShown === true }

  /** The next piece, with the room it took given back; `null`: the end. */
  async next (): Promise<Buffer | null> {
    if (!this.isWhole && this.chunks === null) this.invite()
    for (;;) {
      const chunk = this.chunks?.shift()
      if (chunk !== undefined) {
        this.onTaken?.()
        if (!this.isReleased) this.exchange.take(chunk.length)
        return chunk
      }
      if (this.isWhole) return null
      if (this.failure !== null) throw this.failure
      if (this.exchange.closed) throw new DOMException('the exchange is over: its answer was sent before all of the request\'s body was read', 'AbortError')
      await new Promise<void>(resolve => { this.stirred = resolve })
    }
  }

  /** A client may wait to be asked for the body (RFC 9110 section 10.1.1). */
  private invite (): void {
    if (this.exchange.field('expect')?.toLowerCase() === '100-continue') this.exchange.sendInformational(100, '')
  }

  /** Discards the rest of the body. Behind the answer nothing of it is wanted any more; before it `leaveRest` declines it. */
  cancel (): void {
    this.isWhole = this.isCancelled = true
    this.release()
    this.chunks?.takeAll()
    if (this.exchange.done) this.exchange.decline()
  }

  /** Gives back the room of what came and was not read, which can still be. */
  release (): void {
    if (this.isReleased || this.chunks === null) return
    this.isReleased = true
    for (const { length } of this.chunks) this.exchange.take(length)
  }

  /** The trailers, when all of the request has come. */
  get trailers (): Promise<Headers> {
    if (this.awaited !== null) return this.awaited.promise
    const awaited = {} as Awaited
    awaited.promise = new Promise((resolve, reject) => { Object.assign(awaited, { resolve, reject }) })
    // A caller that waits no more need not catch it.
    awaited.promise.catch(() => {})
    this.awaited = awaited
    this.reportTrailers()
    return awaited.promise
  }

  private reportTrailers (): void {
    const { awaited, behind } = this
    if (awaited === null) return
    if (behind !== null || !this.exchange.hasBody) awaited.resolve(headersOver(new TextList(behind ?? '', false), 'none'))
    else if (this.failure !== null) awaited.reject(this.failure)
  }

  /** The response is given. Returns whether nothing is waiting for the exchange's end: neither a reader of the request's rest nor a signal. */
  giveUp (): boolean {
    if (this.isReading) return false
    if (this.behind === null) this.awaited?.reject(new Error('the request was answered, and nobody has read its body'))
    return !this.isWatched
  }

  /** Whether another answer comes in place of the one that failed with `error`. */
  fallsBackOn (error: unknown): boolean {
    const call = this.onFileMissing
    if (call === null || this.exchange.closed || this.exchange.headSent || !MISSING.has((error as NodeJS.ErrnoException | null)?.code ?? '')) return false
    this.onFileMissing = null
    this.isAnswered = false
    call()
    return true
  }

  /** Hands the received bytes to the exchange's next owner. */
  leave (): Buffer[] {
    this.isLeft = true
    return this.chunks?.takeAll() ?? []
  }

  async all (): Promise<Buffer> {
    if (this.isWhole && this.chunks?.length === 1) return (await this.next())!
    const pieces: Buffer[] = []
    for (let piece = await this.next(); piece !== null; piece = await this.next()) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  // The events of the exchange.

  $onData (chunk: Buffer): void {
    this.onActive?.()
    this.taken += chunk.length
    if (this.taken > this.bodyMax) this.failure ??= new BodyTooLargeError(this.bodyMax)
    if (this.isWhole || this.failure !== null) {
      this.exchange.take(chunk.length)
      return this.stir()
    }
    ;(this.chunks ??= new Fifo()).push(chunk)
    this.stir()
  }

  $onEnd (trailers = ''): void {
    // One that is too long has failed, and stays so.
    this.isWhole = this.taken <= this.bodyMax
    this.behind = trailers
    this.reportTrailers()
    this.stir()
  }

  onHalfClosed (): void {
    this.isHalfClosed = true
    if (!this.exchange.done) this.abort(new DOMException('the client has ended its side of the connection', 'AbortError'))
    this.onHalfClosedFor?.()
  }

  private abort (reason: Error): void {
    this.abortReason = reason
    this.controller?.abort(reason)
  }

  onFileFailed (error: Error): void { this.onFileFailedFor?.(error) }
  $onRoom (): void {
    this.onActive?.()
    this.onRoomFor?.()
  }

  $onClosed (code: number, byPeer: boolean): void {
    // The reason that a half-closed connection gave has its timeline now.
    if (this.abortReason !== null) this.exchange.withTimeline(this.abortReason, true)
    if (code !== 0 || !this.exchange.done) {
      const text = byPeer ? 'the client ended the exchange' : 'the exchange ended early'
      this.failure = this.exchange.withTimeline(new DOMException(`${text} (HTTP/2 code ${code})`, 'AbortError'), true)
      this.abort(this.failure)
      this.reportTrailers()
    }
    this.stir()
    this.onRoomFor?.()
    this.onClosedFor?.()
  }

  private stir (): void {
    const { stirred } = this
    this.stirred = null
    stirred?.()
  }
}

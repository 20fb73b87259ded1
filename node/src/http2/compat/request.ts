// A request of the compatible API. Its prototype is Readable from the start; the Readable is
// initialised on the first read or listener.

import { EventEmitter } from 'node:events'
import { Http2ServerRequest as NodeRequest } from 'node:http2'
import { Readable } from 'node:stream'
import { HttpVersion } from '../../channel/codes'
import { aborted, checkText, invalidValue } from '../codes'
import type { Headers } from '../fields'
import { streamSocket, type Socket } from '../connection/socket'
import type { ServerHttp2Stream } from '../stream/stream'

/** Events that need nothing of a Readable. */
const PLAIN_EVENTS = new Set<string | symbol>(['aborted', 'close', 'error', 'timeout'])

/** Members that a request implements in another form than Readable. */
type Own = 'destroyed' | 'readable' | '_read' | 'on' | 'addListener' | 'destroy'

export interface Http2ServerRequest extends Omit<Readable, Own> {}
export class Http2ServerRequest {
  private $trailerFields: Headers | undefined
  private $rawTrailerList: string[] | undefined
  private $isAborted = false
  private $isReadable = false
  private $isOver = false
  private $proxy: Socket | undefined

  constructor (readonly $stream: ServerHttp2Stream) {}

  get stream (): ServerHttp2Stream { return this.$stream }
  get aborted (): boolean { return this.$isAborted }

  get headers (): Headers { return this.$stream.$headers }
  get trailers (): Headers { return (this.$trailerFields ??= {}) }
  get rawTrailers (): string[] { return (this.$rawTrailerList ??= []) }
  get rawHeaders (): string[] { return this.$stream.$rawHeaders }
  get complete (): boolean { return this.$isAborted || this.$isOver || this.$stream.destroyed || (this.$isReadable && this.readableEnded) }
  get httpVersion (): string { return `${this.httpVersionMajor}.0` }
  get httpVersionMajor (): number { return this.$stream.$exchange.version === HttpVersion.Http3 ? 3 : 2 }
  get httpVersionMinor (): number { return 0 }
  get scheme (): string | undefined { return this.headers[':scheme'] as string | undefined }
  get authority (): string | undefined { return this.$stream.$exchange.authority || this.headers.host as string | undefined }

  // As with node:http2, what programs put into the headers counts.
  get method (): string {
    const { $exchange: exchange, $madeHeaders: madeHeaders } = this.$stream
    return madeHeaders === undefined ? exchange.method : madeHeaders[':method'] as string
  }
  set method (method: string) {
    checkText(method, 'method')
    if (method.trim() === '') throw invalidValue('method', method)
    this.headers[':method'] = method
  }
  get url (): string {
    const { $exchange: exchange, $madeHeaders: madeHeaders } = this.$stream
    return madeHeaders === undefined && exchange.path !== '' ? exchange.path : this.headers[':path'] as string
  }
  set url (url: string) { this.headers[':path'] = url }

  get socket (): Socket {
    return (this.$proxy ??= streamSocket(this.$stream, () => (this as unknown as Readable).readable))
  }
  get connection (): Socket { return this.socket }

  setTimeout (time: number, listener?: () => void): this {
    if (!this.$isOver) this.$stream.setTimeout(time, listener)
    return this
  }

  /** Makes it a Readable in fact. */
  $become (): void {
    if (this.$isReadable) return
    this.$isReadable = true
    Readable.call(this as never, { autoDestroy: false })
    // An unread body ends with its request, unless bytes of it are held: those can still be read.
    if (!this.$isOver || this.$stream.$intake.holds) return
    this.push(null)
    this.resume()
  }

  get destroyed (): boolean { return this.$isReadable && this._readableState.destroyed }
  set destroyed (_value: boolean) {}

  _read (): void { this.$stream.$intake.read(this as unknown as Readable) }

  on (event: string | symbol, listener: (...args: any[]) => void): this {
    const add = PLAIN_EVENTS.has(event) ? EventEmitter.prototype.on : Readable.prototype.on
    add.call(this as unknown as Readable, event as 'data', listener)
    this.$stream.$reportLate()
    return this
  }
  addListener (event: string | symbol, listener: (...args: any[]) => void): this { return this.on(event, listener) }

  // The events of the stream.

  $onTrailers (trailers: Headers, raw: string[]): void {
    Object.assign(this.trailers, trailers)
    this.rawTrailers.push(...raw)
  }

  $onAborted (): void {
    if (this.$isOver) return
    this.$isAborted = true
    this.emit('aborted')
  }

  $onClosed (): void {
    if (this.$isOver) return
    this.$isOver = true
    this.$proxy = undefined
    const { $intake: intake } = this.$stream
    const isRead = intake.isReadBy(this) || (this.$isReadable && (this.readableFlowing === true || this.listenerCount('readable') > 0))
    if (this.$isAborted) intake.onEnd()
    if (!isRead && (this.$isReadable || this.listenerCount('end') > 0)) {
      // A body that is not read is not wanted, and ends as with node:http2.
      if (!intake.isWhole) {
        intake.drop()
        intake.onEnd()
      }
      if (this.readableFlowing === null) this.resume()
      // Listeners of the close find it ended.
      if (!intake.holds) this.push(null)
    }
    const { destroyed: wasDestroyed } = this
    intake.onCut(() => { this.$fail() })
    // Its close comes behind its error.
    if (this.destroyed && !wasDestroyed) return
    // Also one that was resumed here, and holds bytes: `finished` takes a close before the end for a failure.
    const isReading = (isRead || (intake.holds && this.readableFlowing === true)) && !this.$isAborted && this.$isReadable && !this.readableEnded && !wasDestroyed
    if (isReading) this.once('end', () => { this.emit('close') })
    else this.emit('close')
  }

  /**
   * The body was truncated: its reader gets the error of node:http, which is not uncaught without a
   * listener.
   */
  private $fail (): void {
    if (!this.$isAborted) {
      this.$isAborted = true
      this.emit('aborted')
    }
    Readable.prototype.destroy.call(this as unknown as Readable, this.listenerCount('error') > 0 ? this.$stream.$exchange.withTimeline(aborted()) : undefined)
  }
}

const { prototype } = Http2ServerRequest
Object.setPrototypeOf(prototype, NodeRequest.prototype as object)
Object.defineProperty(prototype, '_readableState', {
  get (this: Http2ServerRequest) {
    this.$become()
    return Object.hasOwn(this, '_readableState') ? this._readableState : undefined
  },
  set (this: Http2ServerRequest, value: unknown) {
    Object.defineProperty(this, '_readableState', { value, writable: true, enumerable: true, configurable: true })
  },
  configurable: true
})

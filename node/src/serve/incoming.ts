// The state of a request behind the handlers' web `Request`: its body, signal and trailers, each
// created on first access.

import { Readable } from 'node:stream'
import type { Exchange, ServerExchangeCallbacks } from '../server/exchange'
import { pairsOf } from './web/fields'
import type { TrailersInit } from './info'

const NO_BYTES = Buffer.alloc(0)

function isDisturbed (stream: ReadableStream): boolean { return Readable.isDisturbed(stream as unknown as NodeJS.ReadableStream) }

/** The stream of a body that was read as a whole. */
function endedStream (): ReadableStream<Uint8Array> {
  const stream = new ReadableStream<Uint8Array>({ start (controller) { controller.close() } })
  void stream.getReader().read()
  return stream
}

/** A request's body is longer than the server's `maxRequestBodySize`. */
export class BodyTooLargeError extends RangeError {
  readonly code = 'ERR_BODY_TOO_LARGE'
  constructor (max: number) { super(`the body of the request is longer than the ${max} bytes that maxRequestBodySize allows`) }
}

/** The promise of a request's trailers. */
interface Awaited { promise: Promise<Headers>; resolve: (trailers: Headers) => void; reject: (error: Error) => void }

/** The received part of a request, and the callbacks that wait for the rest. */
export class Incoming implements ServerExchangeCallbacks {
  private controller: AbortController | null = null
  /** The body was asked for as a whole. */
  private used = false
  private stream: ReadableStream<Uint8Array> | null = null
  /** Bytes received and not read. */
  private chunks: Buffer[] | null = null
  private isWhole: boolean
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

  /** The trailers to send behind the response's body. */
  trailersToSend: TrailersInit | null = null
  /** The exchange is another's: the answer of the handler is not sent. */
  isLeft = false
  private taken = 0
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

  get bodyUsed (): boolean { return this.used || (this.stream !== null && isDisturbed(this.stream)) }
  /** Whether the body is being read, or will be. */
  get isReading (): boolean { return this.failure === null && (this.used ? !this.isWhole : this.stream !== null) }

  get body (): ReadableStream<Uint8Array> | null {
    if (!this.exchange.hasBody) return null
    return (this.stream ??= this.used ? endedStream() : this.makeStream())
  }

  private makeStream (): ReadableStream<Uint8Array> {
    // Node.js's types know byte streams by another name than the web's.
    const source = {
      type: 'bytes',
      pull: async (controller: ReadableByteStreamController): Promise<void> => {
        const chunk = await this.next()
        if (chunk !== null) controller.enqueue(new Uint8Array(chunk))
        else {
          controller.close()
          const { byobRequest } = controller as { byobRequest?: { respond: (bytes: number) => void } | null }
          byobRequest?.respond(0)
        }
      },
      cancel: () => { this.discard() }
    }
    return new ReadableStream(source as never, { highWaterMark: 0 })
  }

  /** The next piece, with the room it took given back; `null`: the end. */
  private async next (): Promise<Buffer | null> {
    if (!this.isWhole && this.chunks === null) this.invite()
    for (;;) {
      const chunk = this.chunks?.shift()
      if (chunk !== undefined) {
        this.exchange.take(chunk.length)
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

  /** Discards the rest of the body. */
  private discard (): void {
    this.isWhole = true
    for (const chunk of this.chunks?.splice(0) ?? []) this.exchange.take(chunk.length)
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
    if (behind !== null || !this.exchange.hasBody) awaited.resolve(new Headers(pairsOf(behind ?? '')))
    else if (this.failure !== null) awaited.reject(this.failure)
  }

  /** The response is given. Returns whether the rest of the request has no reader. */
  giveUp (): boolean {
    if (this.isReading) return false
    if (this.behind === null) this.awaited?.reject(new Error('the request was answered, and nobody has read its body'))
    return true
  }

  /** Hands the received bytes to the exchange's next owner. */
  leave (): Buffer[] {
    this.isLeft = true
    return this.chunks?.splice(0) ?? []
  }

  async all (): Promise<Buffer> {
    if (!this.exchange.hasBody) return NO_BYTES
    const { stream } = this
    if (this.bodyUsed || stream?.locked === true) throw new TypeError('the body was used already')
    this.used = true
    const pieces: Uint8Array[] = []
    if (stream !== null) {
      for await (const piece of stream as unknown as AsyncIterable<Uint8Array>) pieces.push(piece)
      return Buffer.concat(pieces)
    }
    if (this.isWhole && this.chunks?.length === 1) return (await this.next())!
    for (let piece = await this.next(); piece !== null; piece = await this.next()) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  /** Splits the body in two: one half stays, the other is returned; null: there is no body. */
  tee (): ReadableStream<Uint8Array> | null {
    const { body } = this
    if (body === null) return null
    if (this.bodyUsed || body.locked) throw new TypeError('the body was used already')
    const [one, other] = body.tee()
    this.stream = one
    return other
  }

  // The events of the exchange.

  onData (chunk: Buffer): void {
    this.onActive?.()
    this.taken += chunk.length
    if (this.taken > this.bodyMax) this.failure ??= new BodyTooLargeError(this.bodyMax)
    if (this.isWhole || this.failure !== null) {
      this.exchange.take(chunk.length)
      return this.stir()
    }
    ;(this.chunks ??= []).push(chunk)
    this.stir()
  }

  onEnd (trailers: string): void {
    // One that is too long has failed, and stays so.
    this.isWhole = this.taken <= this.bodyMax
    this.behind = trailers
    this.reportTrailers()
    this.stir()
  }

  onHalfClosed (): void {
    if (!this.exchange.done) this.abort(new DOMException('the client has ended its side of the connection', 'AbortError'))
  }

  private abort (reason: Error): void {
    this.abortReason = reason
    this.controller?.abort(reason)
  }

  onFileFailed (error: Error): void { this.onFileFailedFor?.(error) }
  onRoom (): void {
    this.onActive?.()
    this.onRoomFor?.()
  }

  onClosed (code: number, byPeer: boolean): void {
    if (code !== 0 || !this.exchange.done) {
      const text = byPeer ? 'the client ended the exchange' : 'the exchange ended early'
      this.failure = new DOMException(`${text} (HTTP/2 code ${code})`, 'AbortError')
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

// The direct path of `request`: submits to the channel without a handler between. Over a composed
// or a foreign dispatcher `request` is a handler of the new ABI instead.

import { AsyncResource } from 'node:async_hooks'
import { Answer } from './answer'
import type { BodySource } from './answer_body'
import { failStream, isStream } from '../prepare/body'
import type { Upload } from '../prepare/upload'
import type { Trace } from './channels'
import { InvalidArgumentError, ResponseExceededMaxSizeError } from '../../errors'
import { errorOf, PROXY_WANTS_CREDENTIALS } from '../../errors/failures'
import { fieldsObject, rawFields, type Fields } from '../prepare/head'
import type { Load, Target } from '../dispatcher/load'
import type { Tracked } from '../../open'
import type { RequestOwner } from './owner'
import { GONE_FAILURE, type ExchangeCallbacks } from '../../channel/callbacks'
import type { Bridge, Failure } from '../../channel/ring'
import { follow, type Signal } from './signal'
import { queueMicrotask } from '../../timers'

/** With an error there is no answer, but an object with the request's `opaque`, as with undici. */
export type AnswerCallback = (error: Error | null, answer: Answer) => void

/** Options of `request` beside those of `dispatch`. */
export interface RequestExtras {
  /**
   * An AbortSignal, or an emitter of `abort`, that cancels the request. `unknown`, because undici's
   * types leave it out. Default: none.
   */
  signal?: unknown
  /** Any value; the response has it as `opaque`. Default: null. */
  opaque?: unknown
  /** Called with each interim (1xx) response. Default: none. */
  onInfo?: ((info: { statusCode: number; headers: Fields }) => void) | null | undefined
  /** `'raw'`: `headers` of the response is the flat array of names and values. Default: an object. */
  responseHeaders?: 'raw' | null | undefined
  /** Bytes that the body's Readable buffers before it stops reading. Default: 65,536. */
  highWaterMark?: number | undefined
}

/** One request of the direct path. */
export class DirectRequest implements ExchangeCallbacks, Tracked, BodySource {
  number = 0
  $index = 0
  $order = 0
  /** The origin's requests, of which it is one while it is under way. */
  load: Load | null = null
  /** Where it goes, while it is under way. */
  target: Target | null = null
  upload: Upload | null = null
  trace: Trace | null = null
  bodyBytesMax = Infinity
  isForwarded = false
  /** Its head has not come, and its connection of HTTP/1.1 carries nothing behind it until then. */
  blocks = false
  private answer: Answer | null = null
  private isOver = false
  private received = 0
  private unfollow: (() => void) | null = null
  /** Called in the async context of the request. */
  private readonly onInfo: RequestExtras['onInfo']

  constructor (
    private readonly bridge: Bridge,
    private readonly owner: RequestOwner<DirectRequest>,
    private reported: AnswerCallback | null,
    private readonly extras: RequestExtras & { body?: unknown }
  ) {
    const { onInfo } = extras
    this.onInfo = onInfo ? AsyncResource.bind(onInfo) : null
  }

  /** Follows the signal; false: it has been aborted already. */
  start (): boolean {
    const { signal } = this.extras
    if (signal) this.unfollow = follow(signal as Signal, reason => { this.onAborted(reason) })
    return !this.isOver
  }

  /** The signal counts until the body is closed, which may be behind the end of the exchange. */
  private onAborted (reason: Error): void {
    if (this.answer !== null) this.answer.body.destroy(reason)
    else this.abort(reason)
  }

  onBodyClosed (): void { this.unfollow?.() }

  private get isIgnored (): boolean { return this.isOver || this.owner.destroyed }

  onInterim (status: number, fields: string, reason: string): void {
    if (this.isIgnored) return
    this.trace?.onHead(status, fields, reason)
    try {
      const raw = rawFields(fields)
      this.onInfo?.({ statusCode: status, headers: this.extras.responseHeaders === 'raw' ? raw as never : fieldsObject(raw) })
    } catch (error) {
      this.abort(error)
    }
  }

  onResponse (status: number, fields: string, reason: string, version: number): void {
    if (this.isIgnored) return
    if (status === 407 && this.isForwarded) return this.abort(new InvalidArgumentError(PROXY_WANTS_CREDENTIALS))
    const { reported } = this
    this.reported = null
    this.blocks = false
    this.upload?.onHead()
    this.trace?.onHead(status, fields, reason)
    this.answer = new Answer(status, reason, version, fields, this, this.extras)
    if (this.extras.responseHeaders === 'raw') this.answer.headers = this.answer.rawHeaders as never
    try {
      reported?.(null, this.answer)
    } catch (error) {
      // Uncaught, as an exception of a callback is; the body has no reader then.
      this.abort(error)
      queueMicrotask(() => { throw error })
    }
  }

  onWhole (status: number, fields: string, reason: string, body: Buffer | undefined, version: number): void {
    this.onResponse(status, fields, reason, version)
    if (body !== undefined) this.onData(body, false)
    this.onEnd('')
  }

  onData (chunk: Buffer, credit: boolean): void {
    if (this.isIgnored) return
    if ((this.received += chunk.length) > this.bodyBytesMax) return this.abort(new ResponseExceededMaxSizeError())
    this.trace?.onReceived(chunk)
    try {
      this.answer!.body.arrive(chunk, credit)
    } catch (error) {
      // An error of a listener of 'data', which the stream has called from here: as with undici it ends the exchange.
      this.abort(error)
    }
  }

  onEnd (trailers: string): void {
    if (this.isIgnored) return
    this.trace?.onEnd(trailers)
    this.answer!.end(trailers)
    const { body } = this.answer!
    if (body.isBehind) this.owner.await(body)
    this.over()
    body.finish()
  }

  onFailed (failure: Failure): void {
    if (this.isOver || (this.owner.destroyed && !this.owner.hasFailedAll(failure))) return
    const error = errorOf(failure, this.answer !== null, this.owner, this.target)
    const { load, target } = this
    this.end(error)
    this.owner.emitFailures(failure, load, target)
    this.report(error)
  }

  onGone (): void { this.onFailed(GONE_FAILURE) }
  onRoom (bytes: number): void { this.upload?.onRoom(bytes) }
  onReleased (): void { this.upload?.stop() }
  onStarted (connection: number): void {
    if (this.isOver) return
    const made = this.owner.connection(connection, this.target)
    this.trace?.onStarted(made)
    this.upload?.startOn(made.alpnProtocol)
  }
  onSent (chunk: unknown): void { this.trace?.onSent(chunk) }
  onAllSent (): void { this.trace?.onAllSent() }
  onSourceFailed (error: Error): void { this.abort(error) }

  take (bytes: number): void { if (this.number !== 0) this.bridge.take(this.number, bytes) }

  /** The source of its body has failed: the peer gets a reset that it does not take for the body's end. */
  abortBySource (error: Error): void {
    if (this.isOver) return
    if (this.number !== 0) this.bridge.fail(this.number)
    this.abort(error)
  }

  abort (reason: unknown): void {
    if (this.isOver) return
    if (this.number !== 0) this.bridge.cancel(this.number)
    this.fail(reason as Error)
  }

  private fail (error: Error): void {
    this.end(error)
    this.report(error)
  }

  /** Ends a request that has failed: what listeners do until its callback changes nothing. */
  private end (error: Error): void {
    this.trace?.onError(error)
    this.over(error)
  }

  private report (error: Error): void {
    const { reported } = this
    this.reported = null
    if (reported !== null) reported(error, { opaque: this.extras.opaque || null } as never)
    else this.answer?.body.break(error)
  }

  private over (error?: Error): void {
    this.isOver = true
    // A body that fails may have bytes to read yet.
    if (error !== undefined && this.answer === null) this.unfollow?.()
    this.upload?.stop(error)
    if (error !== undefined && isStream(this.extras.body)) failStream(this.extras.body, error)
    this.owner.onOver(this)
  }
}

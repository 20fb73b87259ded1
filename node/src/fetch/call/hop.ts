// One HTTP exchange of a fetch, of which redirects make several: over a dispatcher of this package directly, over any other by
// its `dispatch`.

import type { AnyDispatcher } from '../../client/calls/api'
import type { Upload } from '../../client/prepare/upload'
import type { Trace } from '../../client/calls/channels'
import { InvalidArgumentError, ResponseExceededMaxSizeError } from '../../errors'
import { errorOf, PROXY_WANTS_CREDENTIALS } from '../../errors/failures'
import type { NewHandler } from '../../client/calls/handler_forms'
import { both } from '../../client/calls/handler'
import type { RequestOwner } from '../../client/calls/owner'
import type { Load, Target } from '../../client/dispatcher/load'
import type { DispatchOptions } from '../../client/prepare/prepare'
import type { Tracked } from '../../open'
import { GONE_FAILURE, type ExchangeCallbacks } from '../../channel/callbacks'
import type { Bridge, Failure } from '../../channel/ring'
import { HeaderList, lowerFieldsOf, TextList } from '../headers/header_list'
import { ByteQueue, type Feed } from '../body/queue'

/** The fetch that an exchange is a part of. */
export interface Receiver {
  /** The head of the response. `whole`: all of its body; undefined: its bytes come through the queue that `hop.queue` makes. */
  onHead: (hop: Hop, status: number, reason: string, list: HeaderList, whole: Buffer | null | undefined) => void
  /** It failed before its head came. */
  onFailed: (hop: Hop, error: unknown) => void
  /** It is over: all of the response has come, or the rest does not come. */
  onOver: (hop: Hop) => void
}

/** The direct path of this package's dispatchers; a symbol, so that a Proxy of `compose` has it too. */
export const kFetch = Symbol('trunkline fetch')

/** Bytes of the body of a redirect that are read so that its connection can be used again. */
const DISCARDED_BYTES_MAX = 128 * 1024

/** The promise of the trailers of a response. */
interface Ended { promise: Promise<HeaderList>; resolve: (list: HeaderList) => void; reject: (reason: unknown) => void }

/** The base of both ways. */
export abstract class Hop implements Feed {
  private bytes: ByteQueue | null = null
  /** Bytes of the body that have come, with their codings. */
  received = 0
  private trailing: HeaderList | null = null
  private ended: Ended | null = null
  private failure: { reason: unknown } | null = null
  /** Bytes that were read of a body without a reader; null: it has one. */
  private discarded: number | null = null
  protected isOver = false

  constructor (protected readonly receiver: Receiver) {}

  abstract take (bytes: number): void
  /** Ends the exchange from here. */
  abstract abort (reason: unknown): void

  get hasEnded (): boolean { return this.isOver }
  get queue (): ByteQueue { return (this.bytes ??= new ByteQueue(this)) }

  /** Calls `work`, which starts the next exchange of a redirect, in the async context of this one, as far as connectors look for it. */
  within (work: () => void): void { work() }

  /** Lets the body go, so that its connection can be used again. */
  discard (): void { this.discarded = 0 }

  /** The trailers behind the body, the same promise until it has ended. */
  trailers (): Promise<HeaderList> {
    if (this.trailing !== null) return Promise.resolve(this.trailing)
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    if (this.failure !== null) return Promise.reject(this.failure.reason)
    if (this.ended !== null) return this.ended.promise
    const ended = {} as Ended
    ended.promise = new Promise((resolve, reject) => { Object.assign(ended, { resolve, reject }) })
    this.ended = ended
    return ended.promise
  }

  protected pushed (chunk: Buffer, credit: boolean): void {
    if (this.discarded === null) return this.queue.push(chunk, credit)
    if (credit) this.take(chunk.length)
    this.discarded += chunk.length
    if (this.discarded > DISCARDED_BYTES_MAX) this.abort(new Error('the body of a redirect is long'))
  }

  protected endedWith (trailers: HeaderList): void {
    this.trailing = trailers
    this.bytes?.end()
    this.ended?.resolve(trailers)
  }

  /** The rest does not come. */
  protected failedWith (reason: unknown): void {
    this.failure = { reason }
    this.bytes?.fail(reason)
    this.ended?.reject(reason)
  }

  /** The caller, or the reader, wants no more of it. */
  protected abortedWith (reason: unknown): void {
    this.bytes?.abort(reason)
    this.failedWith(reason)
  }
}

/** The error of a body that is cut, as undici has it. */
function terminated (cause: unknown): TypeError { return new TypeError('terminated', { cause }) }

/** An exchange on the channel, without a handler between. */
export class DirectHop extends Hop implements ExchangeCallbacks, Tracked {
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
  private bridge: Bridge | null = null
  private owner: RequestOwner<DirectHop> | null = null
  private hasHead = false

  override within (work: () => void): void {
    if (this.load === null) work()
    else this.load.within(work)
  }

  /** A dispatcher takes it. */
  attach (bridge: Bridge, owner: RequestOwner<DirectHop>): void {
    this.bridge = bridge
    this.owner = owner
  }

  /** Fails an exchange that was refused before anything was sent. */
  refuse (error: unknown): void {
    if (this.isOver) return
    this.isOver = true
    this.receiver.onFailed(this, error)
  }

  /** Its dispatcher fails it when the connections are closed. */
  private get isIgnored (): boolean { return this.isOver || this.owner?.destroyed === true }

  onInterim (status: number, fields: string, reason: string): void { if (!this.isIgnored) this.trace?.onHead(status, fields, reason) }

  onResponse (status: number, fields: string, reason: string): void { this.head(status, fields, reason, undefined) }

  onWhole (status: number, fields: string, reason: string, body: Buffer | undefined): void {
    if (this.isIgnored) return
    if (body !== undefined && body.length > this.bodyBytesMax) {
      // Its head has come: the reader of its body gets the error, as where the body comes behind it.
      this.head(status, fields, reason, undefined)
      return this.giveUp(new ResponseExceededMaxSizeError())
    }
    this.received = body?.length ?? 0
    this.head(status, fields, reason, body ?? null)
    if (this.isIgnored) return
    if (body !== undefined) this.trace?.onReceived(body)
    this.onEnd('')
  }

  private head (status: number, fields: string, reason: string, whole: Buffer | null | undefined): void {
    if (this.isIgnored) return
    if (status === 407 && this.isForwarded) return this.giveUp(new InvalidArgumentError(PROXY_WANTS_CREDENTIALS))
    this.hasHead = true
    this.blocks = false
    this.upload?.onHead()
    this.trace?.onHead(status, fields, reason)
    this.receiver.onHead(this, status, reason, new TextList(fields, false), whole)
  }

  onData (chunk: Buffer, credit: boolean): void {
    if (this.isIgnored) return
    if ((this.received += chunk.length) > this.bodyBytesMax) return this.giveUp(new ResponseExceededMaxSizeError())
    this.trace?.onReceived(chunk)
    this.pushed(chunk, credit)
  }

  onEnd (trailers: string): void {
    if (this.isIgnored) return
    this.trace?.onEnd(trailers)
    this.over()
    this.endedWith(new TextList(trailers, false))
  }

  onFailed (failure: Failure): void {
    if (this.isOver || (this.owner?.destroyed === true && !this.owner.hasFailedAll(failure))) return
    const error = errorOf(failure, this.hasHead, this.owner!, this.target)
    this.owner!.emitFailures(failure, this.load, this.target)
    this.fail(error)
  }

  onGone (): void { this.onFailed(GONE_FAILURE) }
  onRoom (bytes: number): void { this.upload?.onRoom(bytes) }
  onReleased (): void { this.upload?.stop() }
  onStarted (connection: number): void {
    if (this.isOver) return
    const made = this.owner!.connection(connection, this.target)
    this.trace?.onStarted(made)
    this.upload?.startOn(made.alpnProtocol)
  }
  onSent (chunk: unknown): void { this.trace?.onSent(chunk) }
  onAllSent (): void { this.trace?.onAllSent() }
  onSourceFailed (error: Error): void { this.giveUp(error) }

  override take (bytes: number): void { if (this.number !== 0) this.bridge!.take(this.number, bytes) }

  override abort (reason: unknown): void {
    if (this.isOver) return
    if (this.number !== 0) this.bridge!.cancel(this.number)
    this.trace?.onError(reason as Error)
    this.over(reason as Error)
    this.abortedWith(reason)
  }

  /** As of a failure, and not of the caller's wish: its dispatcher was destroyed, or its body failed. */
  giveUp (error: Error): void {
    if (this.isOver) return
    if (this.number !== 0) this.bridge!.cancel(this.number)
    this.fail(error)
  }

  private fail (error: Error): void {
    this.trace?.onError(error)
    this.over(error)
    if (this.hasHead) this.failedWith(terminated(error))
    else this.receiver.onFailed(this, error)
  }

  private over (error?: Error): void {
    this.isOver = true
    this.upload?.stop(error)
    this.owner?.onOver(this)
    this.receiver.onOver(this)
  }
}

/** The controller of undici's handlers: the part that is used. */
interface Controller { abort: (reason: Error) => void; pause: () => void; resume: () => void; rawHeaders?: (string | Buffer)[] | null; rawTrailers?: (string | Buffer)[] | null }

/** Bytes that wait here before a dispatcher of another package is paused. */
const AHEAD_BYTES_MAX = 64 * 1024

/** An exchange over a dispatcher of another package, or behind interceptors. */
class DispatchedHop extends Hop {
  private controller: Controller | null = null
  private aborted: { reason: unknown } | null = null
  private hasHead = false
  private untaken = 0

  readonly handler = {
    onRequestStart: (controller: Controller): void => {
      this.controller = controller
      if (this.aborted !== null) controller.abort(this.aborted.reason as Error)
    },
    onResponseStart: (controller: Controller, status: number, headers: Record<string, string | string[]>, statusText?: string): void => {
      if (this.isOver || status < 200) return
      this.hasHead = true
      const flat = controller.rawHeaders ?? Object.entries(headers).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).flatMap(one => [name, one]))
      this.receiver.onHead(this, status, statusText ?? '', new HeaderList(lowerFieldsOf(flat)), undefined)
    },
    onResponseData: (controller: Controller, chunk: Buffer): void => {
      if (this.isOver) return
      this.untaken += chunk.length
      this.received += chunk.length
      this.pushed(Buffer.from(chunk), true)
      if (this.untaken > AHEAD_BYTES_MAX) controller.pause()
    },
    onResponseEnd: (controller: Controller): void => {
      if (this.isOver) return
      this.isOver = true
      this.receiver.onOver(this)
      this.endedWith(new HeaderList(lowerFieldsOf(controller.rawTrailers ?? [])))
    },
    onResponseError: (_: unknown, error: Error): void => {
      if (this.isOver) return
      this.isOver = true
      this.receiver.onOver(this)
      if (this.hasHead) this.failedWith(terminated(error))
      else this.receiver.onFailed(this, error)
    }
  }

  override take (bytes: number): void {
    const before = this.untaken
    this.untaken -= bytes
    if (before > AHEAD_BYTES_MAX && this.untaken <= AHEAD_BYTES_MAX) this.controller?.resume()
  }

  override abort (reason: unknown): void {
    if (this.isOver) return
    this.isOver = true
    this.aborted = { reason }
    this.controller?.abort(reason as Error)
    this.receiver.onOver(this)
    this.abortedWith(reason)
  }
}

/** A dispatcher of this package, or one that is composed over it. */
interface Direct { [kFetch]?: (options: DispatchOptions, hop: DirectHop) => boolean }

/** Starts an exchange. `isOwn`: whether `dispatch` of the dispatcher is the one of this package. */
export function startHop (dispatcher: AnyDispatcher, isOwn: (dispatcher: AnyDispatcher) => boolean, options: DispatchOptions, receiver: Receiver, started: (hop: Hop) => void): void {
  if (isOwn(dispatcher)) {
    const hop = new DirectHop(receiver)
    started(hop)
    if ((dispatcher as Direct)[kFetch]?.(options, hop) === true) return
  }
  const hop = new DispatchedHop(receiver)
  started(hop)
  try {
    // Its interceptors may write into the fields, which others share.
    const { headers } = options
    const own = Array.isArray(headers) ? headers : { ...headers as Record<string, string> }
    // A redirect is the fetch's to follow, also behind the interceptor of that name.
    dispatcher.dispatch({ ...options, headers: own, maxRedirections: 0 } as DispatchOptions, both(hop.handler as unknown as NewHandler))
  } catch (error) {
    hop.handler.onResponseError(null, error as Error)
  }
}

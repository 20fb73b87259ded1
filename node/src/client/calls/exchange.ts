// One dispatched exchange: turns the channel's completions into calls of the handler, in undici's
// order and in the handler's ABI. It is also the controller that new handlers get.

import { AsyncResource } from 'node:async_hooks'
import { isError } from '../../errors/is_error'
import { Fifo } from '../../fifo'
import { HttpVersion } from '../../channel/codes'
import type { Upload } from '../prepare/upload'
import type { Trace } from './channels'
import { inspect } from 'node:util'
import { UNKNOWN, type Connection } from '../connect/connection'
import { isNew, takesStrings, type DispatchController, type Handler, type NewHandler, type OldHandler } from './handler_forms'
import type { RequestOwner } from './owner'
import { markForUndici, proveKey, RefusedTunnel, StreamTunnel, Tunnel } from './tunnel'
import { InformationalError, InvalidArgumentError, RequestAbortedError, ResponseExceededMaxSizeError } from '../../errors'
import { errorOf, PROXY_WANTS_CREDENTIALS } from '../../errors/failures'
import { fieldsObject, fieldsOf, rawFields, type Fields } from '../prepare/head'
import type { Load, Target } from '../dispatcher/load'
import type { Tracked } from '../../open'
import { GONE_FAILURE, type ExchangeCallbacks } from '../../channel/callbacks'
import type { Bridge, Failure } from '../../channel/ring'
import { queueMicrotask, setImmediate } from '../../timers'

/** Items that a handler gets when it resumes. */
type Held = Buffer | Error | null
/** The usual, empty list of deferred data; never written to. */
const NOTHING = new Fifo<Held>()

/** The alert of a server that speaks none of the protocols that it was offered (RFC 7301 section 3.2). */
const NO_APPLICATION_PROTOCOL = 120

/** Contexts are destroyed when their exchange is over, not when it is collected. */
const BY_HAND = { requireManualDestroy: true }

/** The dispatcher that counts exchanges and handles their ends. */
interface Owner extends RequestOwner<Exchange> {
  /** Its socket is the user's alone from now on. */
  onLeft: (exchange: Exchange) => void
  /** An exception of the handler at the error of its request. */
  onFault: (error: unknown) => void
}

/** Stands for an exchange where console.log prints one, by the name of undici's. */
class RequestController {}

export class Exchange implements DispatchController, ExchangeCallbacks, Tracked {
  number = 0
  $index = 0
  $order = 0
  /** The origin's requests, of which it is one while it is under way. */
  load: Load | null = null
  /** Where it goes, while it is under way. */
  target: Target | null = null
  upload: Upload | null = null
  /** Set while a diagnostics channel has subscribers. */
  trace: Trace | null = null
  /** The most bytes of a body. */
  bodyBytesMax = Infinity
  /** It asks for the connection itself. */
  leavesHttp = false
  /** A 407 comes from the proxy that the request was sent to. */
  isForwarded = false
  /** Its head has not come, and its connection of HTTP/1.1 carries nothing behind it until then. */
  blocks = false
  /** It does so on a stream, by CONNECT or an extended CONNECT (RFC 8441). */
  isOnStream = false
  /** Sends an extended CONNECT on HTTP/1.1 where the peer does not take it. */
  onDeclined: (() => void) | null = null
  /** Sends it on a stream where the peer does not speak HTTP/1.1. */
  onNoHttp1: (() => void) | null = null
  /** The Sec-WebSocket-Key that the peer must prove to have read, on HTTP/1.1. */
  webSocketKey: string | null = null
  /** Its connection; known only for upgrades and for traced requests. */
  connection: Connection = UNKNOWN
  private hasSent = false
  private tunnel: Tunnel | null = null
  /** The handler has taken the tunnel, whose events tell its end from then on. */
  private hasHandedOver = false
  /** It is over, and its tunnel sends what was written. */
  private isLingering = false
  private readonly isNew: boolean
  private scope: AsyncResource | null
  private isPaused = false
  private isAborted = false
  private why: unknown = null
  private isOver = false
  /** It fails when this turn is over. */
  private isFailing = false
  /** The handler has the end of the response: nothing follows but what it throws. */
  private hasEnded = false
  private hasResponse = false
  private isDelivering = false
  private received = 0
  private headText = ''
  private trailerText = ''
  private headFields: (string | Buffer)[] | null = null
  private trailerFields: (string | Buffer)[] | null = null
  /** Data received while the handler paused; a final null is the end of the body, and a final error its failure. */
  private held = NOTHING

  constructor (
    readonly bridge: Bridge,
    readonly owner: Owner,
    readonly handler: Handler,
    private readonly isConnect = false
  ) {
    this.isNew = isNew(handler)
    const hasScope = typeof (handler as Partial<AsyncResource>).runInAsyncScope === 'function'
    this.scope = hasScope ? null : new AsyncResource('TRUNKLINE_EXCHANGE', BY_HAND)
  }

  // The controller.

  get aborted (): boolean { return this.isAborted }
  get paused (): boolean { return this.isPaused }
  get reason (): unknown { return this.why }
  get rawHeaders (): (string | Buffer)[] { return (this.headFields ??= rawFields(this.headText)) }
  set rawHeaders (fields: (string | Buffer)[]) { this.headFields = fields }
  get rawTrailers (): (string | Buffer)[] { return (this.trailerFields ??= rawFields(this.trailerText)) }
  set rawTrailers (fields: (string | Buffer)[]) { this.trailerFields = fields }
  private get trailers (): Fields {
    return this.trailerFields === null && this.trailerText === '' ? {} : fieldsObject(this.rawTrailers as string[])
  }

  /** console.log prints what a handler may know of it, and nothing of the engine. */
  [inspect.custom] (): object {
    const { aborted, paused, reason, rawHeaders, rawTrailers } = this
    return Object.assign(new RequestController(), { aborted, paused, reason, rawHeaders, rawTrailers })
  }

  pause (): void { this.isPaused = true }

  resume (): void {
    if (!this.isPaused) return
    this.isPaused = false
    if (this.isHolding && !this.isDelivering) queueMicrotask(() => { this.deliverHeld() })
  }

  abort (reason?: unknown): void {
    if (this.isAborted || this.isOver || this.hasEnded) return
    this.isAborted = true
    this.why = reason ?? new RequestAbortedError()
    // A WebSocket aborts its request behind the frame that says why.
    if (this.hasHandedOver && this.tunnel?.isSending === true) this.tunnel.break(null)
    else this.giveUp(this.why as Error)
  }

  /** The source of its body has failed: the peer gets a reset that it does not take for the body's end. */
  abortBySource (error: Error): void {
    if (this.isAborted || this.isOver || this.hasEnded) return
    if (this.number !== 0) this.bridge.fail(this.number)
    this.abort(error)
  }

  /** Ends it, and not by the wish of its handler: `aborted` stays what the handler made of it, for retries ask for it. */
  giveUp (error: Error): void {
    const { isLingering } = this
    // The bytes that a handler wrote before it threw or aborted go first: the tunnel calls once more behind them.
    this.isLingering = !this.isOver && !this.hasHandedOver && this.tunnel?.isSending === true
    if ((!this.isOver || isLingering) && !this.isLingering && this.number !== 0) this.bridge.cancel(this.number)
    this.fail(error)
  }

  /** As `giveUp`, in a later turn than the head: a fetch of undici that has both in one turn misses the error, and waits for ever. */
  private giveUpLater (error: Error): void {
    if (!this.hasResponse || this.tunnel !== null) return this.giveUp(error)
    if (this.isOver || this.isFailing) return
    this.isFailing = true
    if (this.number !== 0) this.bridge.cancel(this.number)
    setImmediate(() => { this.fail(error) })
  }

  // Its life.

  /** Calls `onRequestStart` or `onConnect`; false: the handler aborted. */
  start (): boolean {
    if (this.isNew) (this.handler as NewHandler).onRequestStart(this, null)
    else (this.handler as OldHandler).onConnect?.((reason?: Error) => { this.abort(reason) }, null)
    return !this.isOver
  }

  onStarted (connection: number): void {
    this.connection = this.owner.connection(connection, this.target)
    if (this.isOver) return
    this.trace?.onStarted(this.connection)
    this.upload?.startOn(this.connection.alpnProtocol)
  }

  /** Whether events are dropped: it is over, or will be when this turn is. A socket that was handed over goes on. */
  private get isIgnored (): boolean {
    return this.isOver || this.isFailing || (this.owner.destroyed && (this.tunnel === null || this.isOnStream))
  }

  onInterim (status: number, fields: string, reason: string, version: number): void {
    if (this.isIgnored) return
    this.trace?.onHead(status, fields, reason)
    this.headText = fields
    this.headFields = null
    this.guard(this.giveInterim, status, reason, version)
  }

  private giveInterim (status: number, reason: string, version: number): void {
    // As with undici, where each message of HTTP/1.1 starts, and a stream of HTTP/2 once.
    if (version < HttpVersion.Http2) this.handler.onResponseStarted?.()
    this.giveHead(status, reason)
  }

  onResponse (status: number, fields: string, reason: string): void { this.guard(this.answer, status, fields, reason) }

  private answer (status: number, fields: string, reason: string): void {
    if (this.isIgnored) return
    this.trace?.onHead(status, fields, reason)
    if (this.leavesHttp && this.opens(status)) {
      const isStream = this.isOnStream
      // As with undici: closing or destroying the dispatcher does not touch a socket that was handed over.
      if (!isStream) this.owner.onLeft(this)
      return this.openTunnel(status, fields, isStream ? new StreamTunnel(this.bridge, this, this.isConnect) : new Tunnel(this.bridge, this))
    }
    if (status === 407 && this.isForwarded) return this.giveUp(new InvalidArgumentError(PROXY_WANTS_CREDENTIALS))
    // As with undici: the caller of CONNECT gets every answer, and reads the body of a refusal from the socket.
    if (this.isConnect) return this.openTunnel(status, fields, new RefusedTunnel(this.bridge, this))
    this.hasResponse = true
    this.blocks = false
    this.upload?.onHead()
    this.headText = fields
    this.headFields = null
    if (this.handler.onResponseStarted !== undefined) this.handler.onResponseStarted()
    if (!this.giveHead(status, reason)) this.isPaused = true
  }

  onWhole (status: number, fields: string, reason: string, body: Buffer | undefined): void {
    this.guard(this.answerWhole, status, fields, reason, body)
  }

  /** Everything in one go, for which the context is entered once. */
  private answerWhole (status: number, fields: string, reason: string, body: Buffer | undefined): void {
    this.answer(status, fields, reason)
    const { tunnel } = this
    if (body !== undefined) {
      if (tunnel !== null) tunnel.arrive(body)
      else this.arrive(body, false)
    }
    if (tunnel !== null) this.endTunnel(tunnel)
    else this.close('')
  }

  private opens (status: number): boolean {
    const asConnect = this.isConnect || this.isOnStream
    return status === 101 || (asConnect && status >= 200 && status < 300)
  }

  private openTunnel (status: number, fields: string, tunnel: Tunnel): void {
    this.hasResponse = true
    this.headText = fields
    this.tunnel = tunnel
    const isUpgrade = this.isOnStream && this.handler.constructor?.name === 'UpgradeHandler'
    if (isUpgrade && this.isNew) markForUndici(tunnel)
    if (this.isOnStream && this.webSocketKey !== null) proveKey(this.rawHeaders, this.webSocketKey)
    if (this.isNew) {
      (this.handler as NewHandler).onRequestUpgrade?.(this, status, fieldsObject(this.rawHeaders as string[]), tunnel)
    } else {
      // `upgrade()` of undici 6 knows no other status, and that of undici 7 takes it.
      (this.handler as OldHandler).onUpgrade?.(isUpgrade ? 101 : status, this.oldFields(this.rawHeaders), tunnel)
    }
    if (!this.isOver) this.handOver()
  }

  private handOver (): void {
    if (this.hasHandedOver) return
    this.hasHandedOver = true
    // The trace ends here, as with undici.
    this.trace?.onEnd('')
    this.trace = null
  }

  /** Lets go of a tunnel that its user has destroyed, whom its own events tell. */
  release (reason: Error): void {
    if (!this.isOver) this.handOver()
    this.abort(reason)
  }

  private giveHead (status: number, text: string): boolean {
    if (this.isNew) {
      const handler = this.handler as NewHandler
      handler.onResponseStart?.(this, status, fieldsOf(this.headText), text)
      return true
    }
    const handler = this.handler as OldHandler
    const raw = this.oldFields(this.rawHeaders)
    const more = handler.onHeaders?.(status, raw, () => { this.resume() }, text)
    return status < 200 || more !== false
  }

  private oldFields (fields: (string | Buffer)[]): (string | Buffer)[] {
    if (takesStrings(this.handler as OldHandler)) return fields
    return fields.map(field => typeof field === 'string' ? Buffer.from(field, 'latin1') : field)
  }

  onData (chunk: Buffer, credit: boolean): void {
    if (this.isIgnored) return
    if (this.tunnel !== null) return this.tunnel.arrive(chunk)
    this.guard(this.arrive, chunk, credit)
  }

  private arrive (chunk: Buffer, credit: boolean): void {
    if (this.isIgnored) return
    if ((this.received += chunk.length) > this.bodyBytesMax) return this.giveUpLater(new ResponseExceededMaxSizeError())
    this.trace?.onReceived(chunk)
    if (this.isPaused || this.isHolding) return this.hold(chunk)
    this.give(chunk)
    if (credit && this.number !== 0) this.bridge.take(this.number, chunk.length)
  }

  onEnd (trailers: string): void {
    if (this.isIgnored) return
    if (this.tunnel === null) return this.guard(this.close, trailers)
    this.endTunnel(this.tunnel)
  }

  private endTunnel (tunnel: Tunnel): void {
    tunnel.finish()
    if (this.isOnStream && this.number !== 0) this.owner.behind.add(tunnel)
    this.settle()
    this.leave()
  }

  private close (trailers: string): void {
    if (this.isIgnored) return
    this.trailerText = trailers
    if (this.isPaused || this.isHolding) this.hold(null)
    else this.finish()
  }

  private give (chunk: Buffer): void {
    if (this.isNew) {
      (this.handler as NewHandler).onResponseData?.(this, chunk)
    } else if ((this.handler as OldHandler).onData?.(chunk) === false) {
      this.isPaused = true
    }
  }

  private get isHolding (): boolean { return this.held.length > 0 }

  private hold (what: Held): void {
    if (this.held === NOTHING) this.held = new Fifo()
    this.held.push(what)
  }

  private deliverHeld (): void {
    if (this.isDelivering) return
    this.isDelivering = true
    while (this.held.length > 0 && !this.isPaused && !this.isOver && !this.isFailing) {
      const chunk = this.held.shift()
      if (chunk == null) {
        this.guard(this.finish)
        break
      }
      if (isError(chunk)) {
        this.fail(chunk)
        break
      }
      this.guard(this.give, chunk)
      if (this.number !== 0) this.bridge.take(this.number, chunk.length)
    }
    this.isDelivering = false
  }

  private finish (): void {
    if (this.isOver) return
    this.trace?.onEnd(this.trailerText)
    this.hasEnded = true
    if (this.isNew) (this.handler as NewHandler).onResponseEnd?.(this, this.trailers)
    else (this.handler as OldHandler).onComplete?.(this.oldFields(this.rawTrailers))
    this.settle()
    this.leave()
  }

  onFailed (failure: Failure): void {
    // Its dispatcher fails it when the connections are closed.
    if (this.isIgnored && (this.isOver || this.isFailing || !this.owner.hasFailedAll(failure))) return
    const other = this.otherWay(failure)
    if (other !== null) return other()
    const error = errorOf(failure, this.hasResponse, this.owner, this.target)
    const { load, target } = this
    // In a later turn than the head: a fetch that receives both in one turn misses the end of its
    // body.
    if (this.hasResponse) setImmediate(() => { this.failBehind(error) })
    else this.fail(error)
    this.owner.emitFailures(failure, load, target)
  }

  /** A handler that has paused gets what came in front of the failure first, as with undici, which stops reading then. */
  private failBehind (error: Error): void {
    if (this.isOver || this.tunnel !== null || !(this.isPaused || this.isHolding)) this.fail(error)
    else this.hold(error)
  }

  /** Sends it once more in the other way, where the peer does not take the one that it went. */
  private otherWay (failure: Failure): (() => void) | null {
    if (this.isOver) return null
    const { onDeclined, onNoHttp1 } = this
    this.onDeclined = this.onNoHttp1 = null
    if (failure.kind === 'message') return onDeclined
    return failure.tls?.alert === NO_APPLICATION_PROTOCOL ? onNoHttp1 : null
  }

  onGone (): void { this.onFailed(GONE_FAILURE) }

  onRoom (bytes: number): void {
    this.upload?.onRoom(bytes)
    this.tunnel?.onRoom(bytes)
  }

  onReleased (): void {
    this.upload?.stop()
    if (this.tunnel === null) return
    this.owner.behind.delete(this.tunnel)
    this.tunnel.onReleased()
  }

  // Calls of the upload.

  onSent (chunk: unknown): void {
    this.trace?.onSent(chunk)
    if (this.handler.onBodySent !== undefined) this.guard(this.reportSent, chunk)
  }

  onAllSent (): void {
    if (this.hasSent) return
    this.hasSent = true
    this.trace?.onAllSent()
    if (this.handler.onRequestSent !== undefined) this.guard(this.reportAllSent)
  }

  private reportSent (chunk: unknown): void { this.handler.onBodySent?.(chunk) }
  private reportAllSent (): void { this.handler.onRequestSent?.() }

  onSourceFailed (error: Error): void { this.giveUp(error) }

  /** The one error, after which nothing comes. */
  private fail (error: Error): void {
    if (this.isOver) return
    this.held = NOTHING
    this.trace?.onError(error)
    this.settle(error)
    // The caller that aborts needs no error: undici's fetch has no listener then.
    if (this.hasHandedOver) this.tunnel?.break(this.isAborted ? null : error)
    else this.refuse(error)
    this.leave()
  }

  /** The handler has the error, and a tunnel that it was about to get ends. */
  private refuse (error: Error): void {
    try {
      this.run(this.reportError, error)
    } catch (thrown) {
      this.owner.onFault(thrown)
    }
    this.refuseTunnel(error)
  }

  /** Destroys the tunnel of a handler that threw or aborted when it got it. The handler has the error: without a listener of
   * its own the tunnel has none, and a stream of HTTP/2 just ends, as with undici. */
  private refuseTunnel (error: Error): void {
    const { tunnel } = this
    if (tunnel === null) return
    const hasListener = !this.isOnStream && tunnel.listenerCount('error') > 0
    tunnel.break(hasListener ? this.isAborted ? new InformationalError('aborted') : error : null)
  }

  private reportError (error: Error): void {
    if (this.isNew) (this.handler as NewHandler).onResponseError?.(this, error)
    else (this.handler as OldHandler).onError?.(error)
  }

  private settle (error?: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.upload?.stop(error)
    this.owner.onOver(this)
  }

  /** Runs the handler; what it throws ends the exchange. Methods with their arguments, because a closure
   * for each call is memory for each call. */
  private guard<A extends unknown[]> (call: (...args: A) => unknown, ...args: A): void {
    try {
      this.run(call, ...args)
    } catch (error) {
      this.giveUpLater(error as Error)
    }
  }

  /** Runs a call in the async context of the dispatch. */
  private run<A extends unknown[]> (call: (...args: A) => unknown, ...args: A): void {
    if (this.scope === null) call.apply(this, args)
    else this.scope.runInAsyncScope(call, this, ...args)
  }

  /** Leaves the async context, in which nothing more runs. */
  private leave (): void {
    const { scope } = this
    this.scope = null
    scope?.emitDestroy()
  }
}

// undici's calls on top of `dispatch`: request, stream, pipeline, connect, upgrade. `request` skips
// the handler layer where the dispatcher's own `dispatch` was not replaced.

import { AsyncResource } from 'node:async_hooks'
import { Duplex, finished, PassThrough, Readable, type Writable } from 'node:stream'
import { Answer } from './answer'
import type { BodySource } from './answer_body'
import { endStream, failStream, isStream } from '../prepare/body'
import type { Dispatch, DispatchOptions } from '../prepare/prepare'
import { InvalidArgumentError, InvalidReturnValueError, RequestAbortedError, SocketError } from '../../errors'
import type { DispatchController, NewHandler } from './handler_forms'
import { both, textsOf } from './handler'
import { addFields, type Fields } from '../prepare/head'
import type { RequestExtras, AnswerCallback } from './direct_request'
import { follow, type Signal } from './signal'
import { queueMicrotask } from '../../timers'

/** The direct path of this package's dispatchers; a symbol, so that a Proxy of `compose` has it too. */
export const kRequest = Symbol('trunkline request')

export type RequestOptions = Omit<DispatchOptions, 'method'> & RequestExtras & { method?: string | undefined }
export type ConnectRequest = Omit<RequestOptions, 'body'> & { protocol?: string | undefined }

export interface StreamAnswer { opaque: any; trailers: Record<string, string> }
export type StreamFactory = (head: { statusCode: number; headers: Fields; opaque: any; context: object }) => Writable
export type PipelineCall = (answer: { statusCode: number; headers: Fields; opaque: any; body: any; context: object }) => Readable

/** The result of an upgrade or a CONNECT. */
export interface Opened { statusCode: number; headers: Fields; socket: Duplex; opaque: any; context: object }

/** A dispatcher of any package: what it takes is undici's of some version. */
export interface AnyDispatcher { dispatch: (options: any, handler: any) => boolean }

/** A dispatcher: one of ours, a composed one, or a foreign one. */
export interface Dispatching {
  dispatch: Dispatch
  /** False: it goes by `dispatch` all the same. */
  [kRequest]?: (options: DispatchOptions & RequestExtras, reported: AnswerCallback) => boolean
}

/** The `dispatch` that dispatchers of ours are born with. */
let own: Dispatch | undefined
export function setOwnDispatch (dispatch: Dispatch): void { own = dispatch }
/** Whether a dispatcher is one of this package, with nothing in front of it. */
export function isOwn (dispatcher: AnyDispatcher): boolean { return dispatcher.dispatch === own }

function checkExtras (options: unknown): asserts options is RequestOptions {
  if (options === null || typeof options !== 'object') throw new InvalidArgumentError('invalid opts')
  if ((options as { dispatcher?: unknown }).dispatcher) {
    throw new InvalidArgumentError('opts.dispatcher is not supported by instance methods. Pass opts.dispatcher to the top-level undici functions or call the dispatcher instance method directly.')
  }
  const { signal, onInfo, highWaterMark } = options as RequestExtras
  if (signal && typeof (signal as AbortSignal).addEventListener !== 'function' && typeof (signal as NodeJS.EventEmitter).on !== 'function') {
    throw new InvalidArgumentError('signal must be an EventEmitter or EventTarget')
  }
  // A Readable would throw at another when the answer comes.
  if (highWaterMark != null && !(Number.isInteger(highWaterMark) && highWaterMark >= 0)) throw new InvalidArgumentError('invalid highWaterMark')
  if (onInfo && typeof onInfo !== 'function') throw new InvalidArgumentError('invalid onInfo callback')
}

/** Calls without a handler for it cannot have an upgrade. */
function checkNoUpgrade ({ upgrade }: RequestOptions): void {
  if (upgrade) throw new InvalidArgumentError(typeof upgrade === 'string' ? 'invalid onRequestUpgrade method' : 'upgrade must be a string')
}

/** The data that a callback gets beside an error. */
export interface Failed { opaque: unknown }
/** A callback of undici's calls: what came of the call, or an error and the `opaque` of the call. */
type Called<T> = (error: Error | null, value: T | Failed) => void

/** As with undici, failures come behind the events of the connection and of the request's body. */
function failingLater<T> (callback: Called<T>): Called<T> {
  return (error, value) => {
    if (error === null) callback(null, value)
    else queueMicrotask(() => { callback(error, value) })
  }
}

/** A call with a callback or a promise. */
function answered<T> (options: unknown, callback: ((error: Error | null, value: any) => void) | undefined, start: (done: Called<T>) => void): Promise<T> | undefined {
  const begin = (done: Called<T> | null): void => {
    try {
      if (done === null) throw new InvalidArgumentError('invalid callback')
      checkExtras(options)
      start(done)
    } catch (error) {
      // The body of a request that is refused is not wanted any more.
      const body = (options as { body?: unknown } | null | undefined)?.body
      if (isStream(body)) failStream(body, error as Error)
      throw error
    }
  }
  if (callback === undefined) {
    return new Promise<T>((resolve, reject) => {
      begin((error, value) => { if (error === null) resolve(value as T); else queueMicrotask(() => { reject(error) }) })
    })
  }
  try {
    begin(typeof callback === 'function' ? failingLater(AsyncResource.bind(callback)) : null)
  } catch (error) {
    if (typeof callback !== 'function') throw error
    const opaque = (options as RequestExtras | null | undefined)?.opaque
    queueMicrotask(() => { callback(error as Error, { opaque }) })
  }
  return undefined
}

/** Calls a callback of the user's with what came; what it throws is uncaught, and ends the exchange. */
function called (call: () => void, abort: (error: Error) => void): void {
  try {
    call()
  } catch (error) {
    abort(error as Error)
    queueMicrotask(() => { throw error })
  }
}

export function request (on: Dispatching, options: RequestOptions, callback?: AnswerCallback): Promise<Answer> | undefined {
  return answered<Answer>(options, callback, done => {
    if (options.method === 'CONNECT') throw new InvalidArgumentError('invalid method')
    checkNoUpgrade(options)
    const asked = options.method === undefined ? { ...options, method: 'GET' } : options as DispatchOptions & RequestExtras
    if (on.dispatch === own && on[kRequest]?.(asked, done) === true) return
    on.dispatch(asked, both(new RequestHandler(asked, done)))
  })
}

/** The part that the handlers below share: the signal, and one outcome. */
class Following {
  protected controller: DispatchController | null = null
  /** The interceptors' context of the exchange. */
  protected context = null as unknown as object
  private readonly unfollow: (() => void) | null = null
  private reason: Error | null = null

  constructor (protected readonly options: RequestExtras & { body?: unknown }) {
    const { signal } = options
    if (!signal) return
    this.unfollow = follow(signal as Signal, reason => {
      this.reason = reason
      this.onAborted(reason)
    })
  }

  protected onAborted (reason: Error): void { this.controller?.abort(reason) }

  onRequestStart (controller: DispatchController, context: unknown): void {
    this.controller = controller
    this.context = context as object
    if (this.reason !== null) controller.abort(this.reason)
  }

  protected headers (controller: DispatchController, headers: Fields): Fields {
    return this.options.responseHeaders === 'raw' ? textsOf(controller.rawHeaders) as unknown as Fields : headers
  }

  protected reportInfo (statusCode: number, headers: Fields): void {
    const { onInfo } = this.options
    if (onInfo) onInfo({ statusCode, headers })
  }

  /** A body that was not sent, or not to its end, is not wanted any more. */
  protected endBody (error: Error): void {
    const { body } = this.options
    if (isStream(body)) failStream(body, error)
  }

  protected get failed (): Failed { return { opaque: this.options.opaque || null } }

  /** The signal counts no longer. */
  protected over (): void { this.unfollow?.() }
}

class RequestHandler extends Following implements NewHandler, BodySource {
  private answer: Answer | null = null
  private untaken = 0

  constructor (options: RequestExtras, private reported: AnswerCallback | null) { super(options) }

  onResponseStart (controller: DispatchController, status: number, headers: Fields, statusText: string): void {
    if (status < 200) return this.reportInfo(status, this.headers(controller, headers))
    const { reported } = this
    this.reported = null
    const answer = new Answer(status, statusText, 0, '', this, this.options, this.context)
    this.answer = answer
    answer.headers = this.headers(controller, headers)
    if (reported !== null) called(() => { reported(null, answer) }, error => { controller.abort(error) })
  }

  onResponseData (controller: DispatchController, chunk: Buffer): void {
    this.untaken += chunk.length
    this.answer?.body.arrive(chunk, true)
    if (this.untaken > 64 * 1024) controller.pause()
  }

  take (bytes: number): void {
    this.untaken -= bytes
    if (this.untaken <= 64 * 1024 && this.controller?.paused) this.controller.resume()
  }

  abort (reason: Error): void { this.controller?.abort(reason) }

  /** The signal counts until the body is closed, which may be behind the end of the exchange. */
  onBodyClosed (): void { this.over() }

  protected override onAborted (reason: Error): void {
    // Not there yet where the signal has aborted before the call.
    if (this.answer != null) this.answer.body.destroy(reason)
    else super.onAborted(reason)
  }

  onResponseEnd (_: DispatchController, trailers: Fields): void {
    addFields(this.answer!.trailers, trailers)
    this.answer!.body.finish()
  }

  onResponseError (_: DispatchController | null, error: Error): void {
    const { reported } = this
    this.reported = null
    this.endBody(error)
    if (this.answer === null) this.over()
    if (reported !== null) queueMicrotask(() => { reported(error, this.failed as never) })
    else this.answer?.body.break(error)
  }
}

class StreamHandler extends Following implements NewHandler {
  private sink: Writable | null = null
  private isOver = false
  private trailers = null as unknown as Record<string, string>

  constructor (
    options: RequestExtras,
    private readonly factory: StreamFactory,
    private readonly reported: Called<StreamAnswer>
  ) { super(options) }

  onResponseStart (controller: DispatchController, status: number, headers: Fields): void {
    const { opaque } = this.options
    const displayed = this.headers(controller, headers)
    if (status < 200) return this.reportInfo(status, displayed)
    const sink = this.factory({ statusCode: status, headers: displayed, opaque: opaque || null, context: this.context })
    if (typeof sink?.write !== 'function' || typeof sink.end !== 'function' || typeof sink.on !== 'function') {
      throw new InvalidReturnValueError('expected Writable')
    }
    this.sink = sink
    const resume = (): void => { controller.resume() }
    sink.on('drain', resume)
    // A sink that is no stream of this Node.js may have one of the two, or neither.
    const { needDrain } = (sink as { _writableState?: { needDrain?: boolean } })._writableState ?? {}
    if (sink.writableNeedDrain ?? needDrain) controller.pause()
    const ignore = finished(sink, { readable: false }, error => {
      // Its owner may keep the sink, and our listeners hold the whole exchange.
      if (typeof sink.removeListener === 'function') {
        ignore()
        sink.removeListener('drain', resume)
      }
      // Its error was emitted; where its other side is still read, that one ends it.
      if ((error || !(sink as { readable?: boolean }).readable) && isStream(sink)) endSink(sink)
      if (error) controller.abort(error)
      this.report(error ?? null)
    })
  }

  onResponseData (controller: DispatchController, chunk: Buffer): void {
    // As with undici: a `write` of the caller's own that returns nothing has taken the chunk.
    if (this.sink !== null && (this.sink.write(chunk) as unknown) === false) controller.pause()
  }

  onResponseEnd (_: DispatchController, trailers: Fields): void {
    this.trailers = trailers as Record<string, string>
    this.sink?.end()
  }

  onResponseError (_: DispatchController | null, error: Error): void {
    this.endBody(error)
    const { sink } = this
    const isReportedBySink = sink !== null && !sink.destroyed && endSink(sink, error)
    if (!isReportedBySink) this.report(sink?.errored ?? error)
  }

  private report (error: Error | null): void {
    if (this.isOver) return
    this.isOver = true
    this.over()
    const answer = this.sink === null ? this.failed as StreamAnswer : { ...this.failed, trailers: this.trailers }
    queueMicrotask(() => { this.reported(error, answer) })
  }
}

/** Destroys a sink of `stream()`, by an error if one is given; whether its events tell the end. A stream of the oldest kind has no
 * `destroy`: as with undici it gets the event alone. */
function endSink (sink: Writable, error?: Error): boolean {
  if (sink.destroyed) return false
  if (typeof sink.destroy === 'function') sink.destroy(error)
  else if (error !== undefined && isStream(sink)) queueMicrotask(() => { sink.emit('error', error) })
  return isStream(sink)
}

export function stream (on: Dispatching, options: RequestOptions, factory: StreamFactory, callback?: (error: Error | null, answer: StreamAnswer) => void): Promise<StreamAnswer> | undefined {
  return answered<StreamAnswer>(options, callback, done => {
    if (typeof factory !== 'function') throw new InvalidArgumentError('invalid factory')
    if (options.method === 'CONNECT') throw new InvalidArgumentError('invalid method')
    checkNoUpgrade(options)
    const asked = { ...options, method: options.method ?? 'GET' }
    on.dispatch(asked, both(new StreamHandler(asked, factory, done)))
  })
}

/** A Readable that is written to from outside; `onRead` is called when it wants more. `reasonFor`: the error of a `destroy`
 * without one. */
function fed (onRead: () => void, reasonFor: (hasEnded: boolean) => Error | null = () => null): Readable {
  const made: Readable = new Readable({
    read: onRead,
    destroy (error, done) { done(error ?? reasonFor(made.readableEnded)) }
  })
  return made.on('error', () => {})
}

/** By this `stream.isDisturbed` knows a stream that was read. */
const DISTURBED = Symbol.for('nodejs.stream.disturbed')

/** The Duplex of a pipeline: what is written is the request's body, what is read is what the handler returns. */
class PipelineHandler extends Following implements NewHandler {
  readonly source: Readable
  readonly duplex: Duplex
  private body: Readable | null = null
  private returned: Readable | null = null
  /** Resumes the writer that wrote more than the source holds. */
  private waiting: (() => void) | null = null

  constructor (options: RequestExtras & { objectMode?: boolean | undefined }, private readonly handler: PipelineCall) {
    super(options)
    // A written body cannot be read a second time: interceptors must neither repeat nor redirect it.
    this.source = Object.assign(fed(() => { this.rouse() }), { [DISTURBED]: true }).on('close', () => { this.rouse() })
    this.duplex = new Duplex({
      readableObjectMode: options.objectMode === true,
      // A stream of the oldest kind can neither be paused nor resumed.
      read: () => { (this.returned as Partial<Readable> | null)?.resume?.() },
      write: (chunk, encoding, done) => {
        // Bytes that the request does not take any more are as good as written: the answer counts.
        if (this.source.destroyed || this.source.push(chunk, encoding)) done()
        else this.waiting = done
      },
      destroy: (error, done) => { this.destroy(error, done) }
    }).on('prefinish', () => { this.source.push(null) })
  }

  private rouse (): void {
    const { waiting } = this
    this.waiting = null
    waiting?.()
  }

  private destroy (given: Error | null, done: (error: Error | null) => void): void {
    const error = given ?? (this.duplex.readableEnded ? null : new RequestAbortedError())
    this.over()
    if (error !== null) this.controller?.abort(error)
    for (const one of [this.returned, this.body, this.source]) if (one !== null) endStream(one, error)
    done(error)
  }

  onResponseStart (controller: DispatchController, status: number, fields: Fields): void {
    const { opaque } = this.options
    const headers = this.headers(controller, fields)
    if (status < 200) return this.reportInfo(status, headers)
    const body = fed(() => { controller.resume() }, hasEnded => hasEnded ? null : new RequestAbortedError())
    this.body = body
    const returned = this.handler({ statusCode: status, headers, opaque: opaque || null, body, context: this.context }) as Readable | null | undefined
    if (returned == null || typeof returned.on !== 'function') throw new InvalidReturnValueError('expected Readable')
    const { duplex } = this
    returned.on('data', (chunk: unknown) => {
      if (!duplex.push(chunk)) (returned as Partial<Readable>).pause?.()
    }).on('error', error => { duplex.destroy(error) }).on('end', () => { duplex.push(null) }).on('close', () => {
      const { ended } = (duplex as unknown as { _readableState: { ended: boolean } })._readableState
      if (!ended) duplex.destroy(new RequestAbortedError())
    })
    this.returned = returned
  }

  onResponseData (controller: DispatchController, chunk: Buffer): void {
    if (this.body?.push(chunk) === false) controller.pause()
  }

  onResponseEnd (): void { this.body?.push(null) }

  onResponseError (_: DispatchController | null, error: Error): void { this.duplex.destroy(error) }
}

export function pipeline (on: Dispatching, options: RequestOptions & { objectMode?: boolean | undefined }, handler: PipelineCall): Duplex {
  try {
    checkExtras(options)
    if (typeof handler !== 'function') throw new InvalidArgumentError('invalid handler')
    if (options.method === 'CONNECT') throw new InvalidArgumentError('invalid method')
    const made = new PipelineHandler(options, AsyncResource.bind(handler))
    on.dispatch({ ...options, method: options.method ?? 'GET', body: made.source }, both(made))
    return made.duplex
  } catch (error) {
    return new PassThrough().destroy(error as Error)
  }
}

class OpeningHandler extends Following implements NewHandler {
  private isOver = false
  constructor (
    options: RequestExtras,
    private readonly isFine: (status: number, socket: Duplex) => boolean,
    private readonly reported: Called<Opened>
  ) { super(options) }

  onResponseStart (_: DispatchController, status: number): void {
    if (status >= 200) throw Object.assign(new SocketError('bad upgrade'), { statusCode: status })
  }

  onRequestUpgrade (controller: DispatchController, status: number, headers: Fields, socket: Duplex): void {
    if (!this.isFine(status, socket)) return controller.abort(new SocketError('bad upgrade'))
    this.over()
    this.isOver = true
    const displayed = this.headers(controller, headers)
    this.reported(null, { statusCode: status, headers: displayed, socket, opaque: this.options.opaque || null, context: this.context })
  }

  onResponseError (_: DispatchController | null, error: Error): void {
    this.over()
    if (this.isOver) return
    this.isOver = true
    queueMicrotask(() => { this.reported(error, this.failed) })
  }
}

export function connect (on: Dispatching, options: ConnectRequest, callback?: (error: Error | null, opened: Opened) => void): Promise<Opened> | undefined {
  return answered<Opened>(options, callback, done => {
    on.dispatch({ ...options, method: 'CONNECT' }, both(new OpeningHandler(options, () => true, done)))
  })
}

export function upgrade (on: Dispatching, options: ConnectRequest, callback?: (error: Error | null, opened: Opened) => void): Promise<Opened> | undefined {
  return answered<Opened>(options, callback, done => {
    const isFine = (status: number, socket: Duplex): boolean => status === ('session' in socket ? 200 : 101)
    const asked = { ...options, method: options.method ?? 'GET', upgrade: options.protocol ?? 'Websocket' }
    on.dispatch(asked, both(new OpeningHandler(options, isFine, done)))
  })
}

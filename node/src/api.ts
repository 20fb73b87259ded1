// undici's calls on top of `dispatch`: request, stream, pipeline, connect, upgrade. Where the
// dispatcher's own `dispatch` was not replaced, `request` takes the fast lane.

import { AsyncResource } from 'node:async_hooks'
import { Duplex, finished, PassThrough, Readable, type Writable } from 'node:stream'
import { Answer, type Spring } from './answer'
import type { Dispatch, DispatchOptions } from './dispatcher'
import { InvalidArgumentError, InvalidReturnValueError, SocketError } from './errors'
import type { Exchange, NewHandler } from './exchange'
import { both } from './handler'
import type { Fields } from './head'
import type { RequestExtras, Told } from './lane'
import { follow } from './signal'

/** The fast lane of our own dispatchers; a symbol, so that a Proxy of `compose` has it too. */
export const kRequest = Symbol('trunkline request')

export type RequestOptions = Omit<DispatchOptions, 'method'> & RequestExtras & { method?: string }
export type ConnectRequest = Omit<RequestOptions, 'body'> & { protocol?: string }


export interface StreamAnswer { opaque: unknown; trailers: Fields }
export type StreamFactory = (head: { statusCode: number; headers: Fields; opaque: unknown; context: object }) => Writable
export type PipelineHandler = (answer: { statusCode: number; headers: Fields; opaque: unknown; body: Readable; context: object }) => Readable

/** What an upgrade or a CONNECT opened. */
export interface Opened { statusCode: number; headers: Fields; socket: Duplex; opaque: unknown; context: object }

/** Whoever dispatches: one of ours, a composed one, or a foreign one. */
export interface Dispatching {
  dispatch: Dispatch
  /** False: it goes by `dispatch` all the same. */
  [kRequest]?: (options: DispatchOptions & RequestExtras, told: Told) => boolean
}

/** The `dispatch` that dispatchers of ours are born with. */
let own: Dispatch | undefined
export function setOwnDispatch (dispatch: Dispatch): void { own = dispatch }

function checkExtras (options: unknown): asserts options is RequestOptions {
  if (options === null || typeof options !== 'object') throw new InvalidArgumentError('invalid opts')
  const { signal, onInfo, highWaterMark } = options as RequestExtras
  if (signal != null && typeof (signal as AbortSignal).addEventListener !== 'function' && typeof (signal as NodeJS.EventEmitter).on !== 'function') {
    throw new InvalidArgumentError('signal must be an EventEmitter or EventTarget')
  }
  if (highWaterMark != null && !(typeof highWaterMark === 'number' && highWaterMark >= 0)) throw new InvalidArgumentError('invalid highWaterMark')
  if (onInfo != null && typeof onInfo !== 'function') throw new InvalidArgumentError('invalid onInfo callback')
}

/** A call with a callback or a promise. */
function answered<T> (callback: ((error: Error | null, value: T | null) => void) | undefined, start: (done: (error: Error | null, value: T | null) => void) => void): Promise<T> | undefined {
  if (callback === undefined) {
    return new Promise<T>((resolve, reject) => {
      start((error, value) => { if (error === null) resolve(value!); else reject(error) })
    })
  }
  if (typeof callback !== 'function') throw new InvalidArgumentError('invalid callback')
  const bound = AsyncResource.bind(callback)
  try {
    start(bound)
  } catch (error) {
    queueMicrotask(() => { bound(error as Error, null) })
  }
  return undefined
}

export function request (on: Dispatching, options: RequestOptions, callback?: Told): Promise<Answer> | undefined {
  return answered<Answer>(callback, done => {
    checkExtras(options)
    if (options.method === 'CONNECT') throw new InvalidArgumentError('invalid method')
    if (options.upgrade) throw new InvalidArgumentError('invalid onRequestUpgrade method')
    const asked = options.method === undefined ? { ...options, method: 'GET' } : options as DispatchOptions & RequestExtras
    if (on.dispatch === own && on[kRequest]?.(asked, done) === true) return
    on.dispatch(asked, both(new RequestHandler(asked, done)))
  })
}

/** What the handlers below share: the signal, and one outcome. */
class Following {
  protected controller: Exchange | null = null
  private readonly unfollow: (() => void) | null = null
  private reason: Error | null = null

  constructor (protected readonly options: RequestExtras) {
    const { signal } = options
    if (signal == null) return
    this.unfollow = follow(signal, reason => {
      this.reason = reason
      this.controller?.abort(reason)
    })
  }

  onRequestStart (controller: Exchange): void {
    this.controller = controller
    if (this.reason !== null) controller.abort(this.reason)
  }

  protected headers (controller: Exchange, headers: Fields): Fields {
    return this.options.responseHeaders === 'raw' ? controller.rawHeaders as unknown as Fields : headers
  }

  /** True once, for whoever tells the outcome. */
  protected over (): void { this.unfollow?.() }
}

class RequestHandler extends Following implements NewHandler, Spring {
  private answer: Answer | null = null
  private untaken = 0

  constructor (options: RequestExtras, private told: Told | null) { super(options) }

  onResponseStart (controller: Exchange, status: number, headers: Fields, statusText: string): void {
    if (status < 200) return void this.options.onInfo?.({ statusCode: status, headers: this.headers(controller, headers) })
    const { told } = this
    this.told = null
    this.answer = new Answer(status, statusText, 0, '', this, this.options)
    this.answer.headers = this.headers(controller, headers)
    told?.(null, this.answer)
  }

  onResponseData (controller: Exchange, chunk: Buffer): void {
    this.untaken += chunk.length
    this.answer?.body.arrive(chunk, true)
    if (this.untaken > 64 * 1024) controller.pause()
  }

  take (bytes: number): void {
    this.untaken -= bytes
    if (this.untaken <= 64 * 1024 && this.controller?.paused) this.controller.resume()
  }

  abort (reason: Error): void { this.controller?.abort(reason) }

  onResponseEnd (_: Exchange, trailers: Fields): void {
    this.over()
    Object.assign(this.answer!.trailers, trailers)
    this.answer!.body.finish()
  }

  onResponseError (_: Exchange | null, error: Error): void {
    this.over()
    const { told } = this
    this.told = null
    if (told !== null) queueMicrotask(() => { told(error, null) })
    else this.answer?.body.break(error)
  }
}

class StreamHandler extends Following implements NewHandler {
  private sink: Writable | null = null
  private isOver = false
  private trailers: Fields = {}

  constructor (
    options: RequestExtras,
    private readonly factory: StreamFactory,
    private readonly told: (error: Error | null, answer: StreamAnswer | null) => void
  ) { super(options) }

  onResponseStart (controller: Exchange, status: number, headers: Fields): void {
    const { opaque, onInfo } = this.options
    const shown = this.headers(controller, headers)
    if (status < 200) return void onInfo?.({ statusCode: status, headers: shown })
    const sink = this.factory({ statusCode: status, headers: shown, opaque: opaque ?? null, context: {} })
    if (typeof sink?.write !== 'function' || typeof sink.end !== 'function' || typeof sink.on !== 'function') {
      throw new InvalidReturnValueError('expected Writable')
    }
    this.sink = sink
    sink.on('drain', () => { controller.resume() })
    finished(sink, { readable: false }, error => {
      if (error) controller.abort(error)
      this.tell(error ?? null)
    })
  }

  onResponseData (controller: Exchange, chunk: Buffer): void {
    if (this.sink !== null && !this.sink.write(chunk)) controller.pause()
  }

  onResponseEnd (_: Exchange, trailers: Fields): void {
    this.trailers = trailers
    this.sink?.end()
  }

  onResponseError (_: Exchange | null, error: Error): void {
    if (this.sink !== null && !this.sink.destroyed) this.sink.destroy(error)
    else this.tell(error)
  }

  private tell (error: Error | null): void {
    if (this.isOver) return
    this.isOver = true
    this.over()
    const answer = { opaque: this.options.opaque ?? null, trailers: this.trailers }
    queueMicrotask(() => { this.told(error, error === null ? answer : null) })
  }
}

export function stream (on: Dispatching, options: RequestOptions, factory: StreamFactory, callback?: (error: Error | null, answer: StreamAnswer | null) => void): Promise<StreamAnswer> | undefined {
  return answered<StreamAnswer>(callback, done => {
    checkExtras(options)
    if (typeof factory !== 'function') throw new InvalidArgumentError('invalid factory')
    if (options.method === 'CONNECT') throw new InvalidArgumentError('invalid method')
    if (options.upgrade) throw new InvalidArgumentError('invalid onRequestUpgrade method')
    const asked = { ...options, method: options.method ?? 'GET' }
    on.dispatch(asked, both(new StreamHandler(asked, factory, done)))
  })
}

export function pipeline (on: Dispatching, options: RequestOptions, handler: PipelineHandler): Duplex {
  checkExtras(options)
  if (typeof handler !== 'function') throw new InvalidArgumentError('invalid handler')
  if (options.method === 'CONNECT') throw new InvalidArgumentError('invalid method')
  const upload = new PassThrough()
  const download = new PassThrough()
  const both = Duplex.from({ writable: upload, readable: download })
  const end = (error: Error): void => { download.destroy(error) }
  const asked = { ...options, method: options.method ?? 'GET', body: upload }
  both.on('error', () => {})
  request({ dispatch: (o, h) => on.dispatch(o, h) }, asked, (error, answer) => {
    if (error !== null) return end(error)
    const { statusCode, headers, opaque, body, context } = answer!
    let returned: unknown
    try {
      returned = handler({ statusCode, headers, opaque, body, context })
    } catch (thrown) {
      body.on('error', () => {}).destroy()
      return end(thrown as Error)
    }
    if (returned === null || typeof (returned as Readable).on !== 'function') {
      body.on('error', () => {}).destroy()
      return end(new InvalidReturnValueError('expected Readable'))
    }
    (returned as Readable).on('error', end).pipe(download)
  })
  download.on('close', () => { if (!download.readableEnded) upload.destroy() })
  return both
}

class OpeningHandler extends Following implements NewHandler {
  private isOver = false
  constructor (
    options: RequestExtras,
    private readonly isFine: (status: number, socket: Duplex) => boolean,
    private readonly told: (error: Error | null, opened: Opened | null) => void
  ) { super(options) }

  onResponseStart (): void { throw new SocketError('bad upgrade') }

  onRequestUpgrade (controller: Exchange, status: number, headers: Fields, socket: Duplex): void {
    if (!this.isFine(status, socket)) return controller.abort(new SocketError('bad upgrade'))
    this.over()
    this.isOver = true
    const shown = this.headers(controller, headers)
    this.told(null, { statusCode: status, headers: shown, socket, opaque: this.options.opaque ?? null, context: {} })
  }

  onResponseError (_: Exchange | null, error: Error): void {
    this.over()
    if (this.isOver) return
    this.isOver = true
    queueMicrotask(() => { this.told(error, null) })
  }
}

export function connect (on: Dispatching, options: ConnectRequest, callback?: (error: Error | null, opened: Opened | null) => void): Promise<Opened> | undefined {
  return answered<Opened>(callback, done => {
    checkExtras(options)
    on.dispatch({ ...options, method: 'CONNECT' }, both(new OpeningHandler(options, () => true, done)))
  })
}

export function upgrade (on: Dispatching, options: ConnectRequest, callback?: (error: Error | null, opened: Opened | null) => void): Promise<Opened> | undefined {
  return answered<Opened>(callback, done => {
    checkExtras(options)
    const isFine = (status: number, socket: Duplex): boolean => status === ('session' in socket ? 200 : 101)
    const asked = { ...options, method: options.method ?? 'GET', upgrade: options.protocol ?? 'Websocket' }
    on.dispatch(asked, both(new OpeningHandler(options, isFine, done)))
  })
}

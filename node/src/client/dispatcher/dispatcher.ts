// The base of Client, Pool and Agent: dispatch, close and destroy, events, and undici's calls on
// top.

import { constants } from 'node:buffer'
import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import type { Answer } from '../calls/answer'
import { connect, kRequest, pipeline, request, setOwnDispatch, stream, upgrade, type ConnectRequest, type Opened, type PipelineCall, type RequestOptions, type StreamAnswer, type StreamFactory } from '../calls/api'
import { failStream, isStream } from '../prepare/body'
import { isWatched } from '../calls/channels'
import { ClientDestroyedError, InvalidArgumentError, NotSupportedError } from '../../errors'
import { errorOf } from '../../errors/failures'
import { NO_METRICS } from '../../observe/open_metrics'
import { openPage, type InspectPage, type InspectPageOptions } from '../../observe/inspect_page'
import { Exchange } from '../calls/exchange'
import { checkHandler, isNew, type Handler, type NewHandler, type OldHandler } from '../calls/handler_forms'
import { forDispatchers, forInterceptors } from '../calls/handler'
import { DirectRequest, type RequestExtras, type AnswerCallback } from '../calls/direct_request'
import { kFetch, type DirectHop } from '../../fetch/call/hop'
import type { Options, Way } from '../options'
import { check } from '../options/check'
import { prepare, type Dispatch, type DispatchOptions } from '../prepare/prepare'
import { type Failure } from '../../channel/ring'
import { checkOrder, type AnyInterceptor } from './interceptors'
import { mockOf } from './mocks'
import { kState, State } from './state'
import { counted, NO_STATS, withHidden, type PoolStats, type Stats } from './stats'
import { submit, submitLeaving, submitOnStream, traced, watch } from './submit'
import { answerUndici, isInstanceOf } from './undici'
import { queueMicrotask } from '../../timers'
import { deniedConnection } from '../../permission'

export type { Dispatch, DispatchOptions } from '../prepare/prepare'
export type Interceptor = (dispatch: Dispatch, origin?: string | null) => Dispatch
type Callback = (error: Error | null, data: null) => void

/** The base class of Client, Pool and Agent. */
export abstract class Dispatcher extends EventEmitter {
  /** Mocks and pools of undici are dispatchers too. */
  static override [Symbol.hasInstance] (value: unknown): boolean { return isInstanceOf(value, Dispatcher as never, this) }

  declare readonly [kState]: State

  constructor (options: Options, isClient: boolean, way?: Way) {
    super()
    // Not enumerable: console.log shows no insides.
    Object.defineProperty(this, kState, { value: new State(this, check(options, isClient, way)) })
  }

  /** The one origin; null: every request names its own. */
  abstract get origin (): URL | null

  /** Whether `close` was called. */
  get closed (): boolean { return this[kState].closed }
  /** Whether `destroy` was called, or closing has ended. */
  get destroyed (): boolean { return this[kState].isDestroyed }

  /** HTTP/1.1 requests in flight on one connection. */
  get pipelining (): number { return this[kState].checked.pipelining }
  set pipelining (pipelining: number) {
    const state = this[kState]
    // The client that the environment asks for now is among them.
    void state.client
    for (const client of state.allClients) state.ask('pipelining', { client, pipelining })
    state.checked.pipelining = pipelining
    state.checked.settings['pipelining'] = Math.max(pipelining, 1)
  }

  /** The limits of undici's WebSocket. */
  get webSocketOptions (): { maxFragments: number; maxPayloadSize: number } {
    const { maxFragments = 131_072, maxPayloadSize = 128 * 1024 * 1024 } = this[kState].checked.webSocket
    return { maxFragments, maxPayloadSize }
  }

  /** The limits of undici's EventSource. */
  get eventSourceOptions (): { maxEventSize: number } {
    const { maxEventSize = constants.MAX_STRING_LENGTH } = this[kState].checked.eventSource
    return { maxEventSize }
  }

  /**
   * Counts of every origin now, why requests wait, and totals over the dispatcher's life, beside
   * the statistics of undici's dispatchers: of a Client and a Pool directly, of an Agent by origin. `origins` and `totals`
   * are not enumerable: `Object.entries` and `JSON.stringify` give undici's alone.
   */
  get stats (): Stats {
    const state = this[kState]
    if (state.delegate !== null) return withHidden({ ...state.delegate.stats }, NO_STATS)
    const stats = state.destroyed ? NO_STATS : state.ask('stats', { client: state.number }) as Stats
    if (this.origin !== null) return withHidden(counted(stats.origins, state.underWay(this.origin.origin), state.checked.isClient, state.connectionsFor(this.origin.origin)), stats)
    const each: Record<string, PoolStats> = {}
    for (const origin of [...stats.origins.map(one => one.origin), ...state.askedOrigins]) {
      each[origin] ??= counted(stats.origins.filter(one => one.origin === origin), state.underWay(origin), false, state.connectionsFor(origin)) as PoolStats
    }
    // As with undici an Agent forgets an origin behind its last connection.
    for (const [origin, { connected, size }] of Object.entries(each)) if (connected === 0 && size === 0) delete each[origin]
    return withHidden(each, stats)
  }

  /**
   * Its counts over its life and its pool now, of all origins together, as OpenMetrics text, for a scraper; its media type is
   * `OPENMETRICS_TYPE`. How many series there are does not depend on origins. Once the dispatcher is destroyed it is an
   * exposition without a metric.
   *
   * @throws NotSupportedError where the option `factory` makes the dispatchers that send: they have counts, if any.
   */
  metrics (): string {
    const state = this[kState]
    if (state.delegate !== null) throw new NotSupportedError('a dispatcher with the option factory counts nothing itself: call metrics() of those that it makes')
    return state.destroyed ? NO_METRICS : state.ask('metrics', { client: state.number }) as string
  }

  /**
   * Opens a page for people that shows the dispatcher's connections with their exchanges, the requests in line, and why each of them
   * waits: at a port of loopback, by default a free one. It ends with `close()` of the result, or with the dispatcher, and does not keep the process alive.
   *
   * @throws ClientDestroyedError where the dispatcher is destroyed; NotSupportedError where the option `factory` makes the dispatchers that
   * send; InvalidArgumentError where an option cannot be used, or others could reach the page and there is no `token`; the system's error where the place is
   * taken.
   */
  inspect (options: InspectPageOptions = {}): InspectPage {
    const state = this[kState]
    if (state.delegate !== null) throw new NotSupportedError('a dispatcher with the option factory sends nothing itself: call inspect() of those that it makes')
    if (state.destroyed) throw new ClientDestroyedError()
    return openPage(options, page => state.bridge.ask('inspect', { of: state.client, ...page }), page => { state.closePage(page) })
  }

  /**
   * Opens connections to an origin until it has `count`, default 1; resolves to their number.
   * Rejects with the error of a failed attempt.
   */
  async warmUp (origin: string | URL, count = 1): Promise<number> {
    const state = this[kState]
    const denied = deniedConnection()
    if (denied !== null) throw denied
    try {
      return await state.bridge.askLater('warmUp', { client: state.client, url: String(origin), count }) as number
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
  }

  /**
   * Sends a request; `handler` gets its events. False: as many requests are open as the origin's
   * connections carry, and 'drain' follows; the request was accepted all the same. Invalid options are reported
   * to the handler, or thrown as `InvalidArgumentError` where it has no error method.
   */
  dispatch (options: DispatchOptions, handler: Handler): boolean {
    if (handler === null || typeof handler !== 'object') throw new InvalidArgumentError('handler must be an object')
    try {
      if (options === null || typeof options !== 'object') throw new InvalidArgumentError('opts must be an object.')
      const state = this[kState]
      const { refusal } = state
      if (refusal !== null) throw refusal
      const mock = state.mocks === null ? undefined : mockOf(state.mocks, options)
      if (mock !== undefined) return mock.dispatch(options, forDispatchers(handler))
      if (state.delegate !== null) return state.delegate.dispatch(options, handler)
      return this.send(state, options, handler)
    } catch (error) {
      return refuse(handler, error as Error)
    }
  }

  private send (state: State, options: DispatchOptions, handler: Handler): boolean {
    const origin = this.originOf(options)
    const made = prepare(state, origin, options, handler)
    checkHandler(handler, Boolean(options.upgrade) || options.method === 'CONNECT')
    const exchange = new Exchange(state.bridge, state, handler, options.method === 'CONNECT')
    exchange.leavesHttp = made.body === 'tunnel'
    exchange.bodyBytesMax = state.checked.maxResponseSize
    if (isWatched()) exchange.trace = traced(origin, options, made)
    const { load } = made.target
    state.start(exchange, made.target)
    if (isStream(options.body)) watch(options.body, exchange)
    try {
      if (!exchange.start()) return true
    } catch (error) {
      exchange.giveUp(error as Error)
      return true
    }
    if (made.onStream) submitOnStream(state, exchange, made)
    else if (made.overStreams !== null) submitLeaving(state, exchange, made, made.overStreams)
    else submit(state, exchange, made)
    return !state.isFull(load)
  }

  /** `request` without a handler between; `reported` is always called later, never from here. */
  [kRequest] (options: DispatchOptions & RequestExtras, reported: AnswerCallback): boolean {
    const state = this[kState]
    if (state.mocks !== null || state.delegate !== null) return false
    let directRequest: DirectRequest
    try {
      const { refusal } = state
      if (refusal !== null) throw refusal
      const origin = this.originOf(options)
      const made = prepare(state, origin, options, null)
      directRequest = new DirectRequest(state.bridge, state, reported, options)
      directRequest.bodyBytesMax = state.checked.maxResponseSize
      if (isWatched()) directRequest.trace = traced(origin, options, made)
      const { load } = made.target
      state.start(directRequest, made.target)
      if (isStream(options.body)) watch(options.body, directRequest)
      if (directRequest.start()) submit(state, directRequest, made)
      state.isFull(load)
    } catch (error) {
      if (isStream(options?.body)) failStream(options.body, error as Error)
      queueMicrotask(() => { reported(error as Error, { opaque: options.opaque || null } as never) })
    }
    return true
  }

  /** An exchange of `fetch` without a handler between; false: it goes by `dispatch`. */
  [kFetch] (options: DispatchOptions, hop: DirectHop): boolean {
    const state = this[kState]
    if (state.mocks !== null || state.delegate !== null) return false
    try {
      const { refusal } = state
      if (refusal !== null) throw refusal
      const origin = this.originOf(options)
      const made = prepare(state, origin, options, null)
      hop.attach(state.bridge, state)
      hop.bodyBytesMax = state.checked.maxResponseSize
      if (isWatched()) hop.trace = traced(origin, options, made)
      const { load } = made.target
      state.start(hop, made.target)
      submit(state, hop, made)
      state.isFull(load)
    } catch (error) {
      hop.refuse(error)
    }
    return true
  }

  /**
   * Sends a request; resolves to its response, whose body is a Readable. Rejects with an error of
   * `errors`. With a callback it returns undefined.
   */
  request (options: RequestOptions): Promise<Answer>
  request (options: RequestOptions, callback: AnswerCallback): void
  request (options: RequestOptions, callback?: AnswerCallback): Promise<Answer> | undefined {
    return request(this, options, callback)
  }

  /** Sends a request and writes the response's body into the Writable that the factory makes. */
  stream (options: RequestOptions, factory: StreamFactory): Promise<StreamAnswer>
  stream (options: RequestOptions, factory: StreamFactory, callback: (error: Error | null, answer: StreamAnswer) => void): void
  stream (options: RequestOptions, factory: StreamFactory, callback?: (error: Error | null, answer: StreamAnswer) => void): Promise<StreamAnswer> | undefined {
    return stream(this, options, factory, callback)
  }

  /** A Duplex: writes go into the request's body, reads come from the stream that the handler returns. */
  pipeline (options: RequestOptions & { objectMode?: boolean | undefined }, handler: PipelineCall): Duplex { return pipeline(this, options, handler) }

  /** Sends a CONNECT; resolves to the tunnel. */
  connect (options: ConnectRequest): Promise<Opened>
  connect (options: ConnectRequest, callback: (error: Error | null, opened: Opened) => void): void
  connect (options: ConnectRequest, callback?: (error: Error | null, opened: Opened) => void): Promise<Opened> | undefined {
    return connect(this, options, callback)
  }

  /** Sends a request with `upgrade`; resolves to the socket behind the 101. `protocol` defaults to Websocket. */
  upgrade (options: ConnectRequest): Promise<Opened>
  upgrade (options: ConnectRequest, callback: (error: Error | null, opened: Opened) => void): void
  upgrade (options: ConnectRequest, callback?: (error: Error | null, opened: Opened) => void): Promise<Opened> | undefined {
    return upgrade(this, options, callback)
  }

  protected originOf (options: DispatchOptions): string {
    const { ownOrigin } = this[kState]
    if (ownOrigin !== null) return ownOrigin
    const { origin } = options
    if (typeof origin === 'string' && origin !== '') return origin
    if (origin instanceof URL) {
      if (origin.pathname !== '/' || origin.search !== '' || origin.hash !== '') throw new InvalidArgumentError('invalid url')
      return origin.origin
    }
    throw new InvalidArgumentError('opts.origin must be a non-empty string or URL.')
  }

  /** Accepts no more requests; resolves when the open ones have ended and all connections are closed. */
  close (): Promise<void>
  close (callback: Callback): void
  close (callback?: Callback): Promise<void> | undefined {
    if (callback === undefined) return promised(done => { this.close(done) })
    if (typeof callback !== 'function') throw new InvalidArgumentError('invalid callback')
    const state = this[kState]
    if (state.isDestroyed) return void queueMicrotask(() => { callback(new ClientDestroyedError(), null) })
    state.closed = true
    ;(state.onClosed ??= []).push(callback)
    if (state.delegate !== null) state.delegate.close().then(() => { state.end() }, () => { state.end() })
    // After this turn, as undici: until then it is closed, and not destroyed.
    else queueMicrotask(() => { state.endIfIdle() })
  }

  /** Aborts all requests with `error`, default `ClientDestroyedError`, and closes all connections. */
  destroy (): Promise<void>
  destroy (error: Error | null): Promise<void>
  destroy (callback: Callback): void
  destroy (error: Error | null, callback: Callback): void
  destroy (error?: Error | null | Callback, callback?: Callback): Promise<void> | undefined {
    if (typeof error === 'function') return this.destroy(null, error) as undefined
    if (callback === undefined) return promised(done => { this.destroy(error ?? null, done) })
    if (typeof callback !== 'function') throw new InvalidArgumentError('invalid callback')
    const state = this[kState]
    // As with undici: an Agent that is closing has let go of its pools, whose requests end as they would have without this call.
    if (this.origin === null && state.closed && state.delegate === null) {
      state.isLetGo = true
      state.leaveBehind(error ?? new ClientDestroyedError())
    }
    if (state.isLetGo || (state.destroyed && state.onDestroyed === null)) return void queueMicrotask(() => { callback(null, null) })
    ;(state.onDestroyed ??= []).push(callback)
    // It closes, and waits for what goes on behind responses.
    if (state.destroyed) return void state.leaveBehind(error ?? new ClientDestroyedError())
    state.destroyed = true
    const why = error ?? new ClientDestroyedError()
    state.reason = why
    // As with undici: what waits fails before this call returns.
    const ends = state.failWaiting(why)
    // After this turn: a handler that calls destroy must not be called back from within.
    queueMicrotask(() => {
      state.giveUp(why, ends)
      if (state.delegate !== null) state.delegate.destroy(why).then(() => { state.end(ends) }, () => { state.end(ends) })
      else state.end(ends)
    })
  }

  /** This dispatcher behind interceptors, the last one outermost. */
  compose (...interceptors: (AnyInterceptor | null | undefined | (AnyInterceptor | null | undefined)[])[]): this {
    let dispatch: Dispatch = this.dispatch.bind(this)
    // Undefined where a request says its own; null would keep interceptors from what needs one.
    const own = this.origin?.origin
    checkOrder(interceptors.flat())
    for (const interceptor of interceptors.flat()) {
      if (interceptor == null) continue
      if (typeof interceptor !== 'function') {
        throw new TypeError(`invalid interceptor, expected function received ${typeof interceptor}`)
      }
      dispatch = interceptor(dispatch, own)
      if (typeof dispatch !== 'function' || dispatch.length !== 2) throw new TypeError('invalid interceptor')
    }
    const composed = (options: DispatchOptions, handler: Handler): boolean => {
      return dispatch(own !== undefined && !options?.origin ? { ...options, origin: own } : options, forInterceptors(handler))
    }
    return new Proxy(this, {
      get: (target, key) => key === 'dispatch' ? composed : Reflect.get(target, key) as unknown
    })
  }

  // By undici's types listeners have the arguments of their events, which those of node:events do not know.
  override listeners (event: string | symbol): any[] { return super.listeners(event) }
  override rawListeners (event: string | symbol): any[] { return super.rawListeners(event) }

  async [Symbol.asyncDispose] (): Promise<void> { if (!this.destroyed) await this.close() }
}

/** Resolves to null, as undici's do. */
function promised (start: (done: Callback) => void): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    start((error, data) => { if (error) reject(error); else resolve(data as never) })
  })
}

/** Passes an error to the handler; throws it where the handler has no method for it. True, because nothing is under way whose end would emit
 * `drain`: a caller that waits for it would wait for ever. Handlers of undici 6 and 7 get the false of those. */
function refuse (handler: Handler, error: Error): boolean {
  if (isNew(handler) || typeof (handler as Partial<NewHandler>).onResponseError === 'function') {
    const hook = (handler as Partial<NewHandler>).onResponseError
    if (typeof hook !== 'function') throw error
    hook.call(handler, null, error)
    return true
  }
  const hook = (handler as OldHandler).onError
  if (typeof hook !== 'function') throw error
  hook.call(handler, error)
  return false
}

setOwnDispatch(Dispatcher.prototype.dispatch)
answerUndici(Dispatcher.prototype)

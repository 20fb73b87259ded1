// What Client, Pool and Agent share: dispatch, close and destroy, events, and undici's calls on top.

import { EventEmitter } from 'node:events'
import type { Duplex, Readable } from 'node:stream'
import type { Answer } from './answer'
import { connect, kRequest, pipeline, request, setOwnDispatch, stream, upgrade, type ConnectRequest, type Opened, type PipelineHandler, type RequestOptions, type StreamAnswer, type StreamFactory } from './api'
import { bodyOf, isStream, Upload, type RequestBody, type Source } from './body'
import { isWatched, Trace } from './channels'
import { ClientClosedError, ClientDestroyedError, errorOf, InvalidArgumentError, MaxOriginsReachedError, RequestContentLengthMismatchError } from './errors'
import { checkHandler, Exchange, isNew, type Handler, type NewHandler, type OldHandler } from './exchange'
import { forInterceptors } from './handler'
import { checkMethod, checkPath, expectsBody, Head, isFieldValue, withQuery, type Headers } from './head'
import { Lane, type RequestExtras, type Told } from './lane'
import { check, time, type Checked, type Options } from './options'
import { theBorder, type Border, type Failure, type Given } from './ring'

/** What `dispatch` takes. */
export interface DispatchOptions {
  origin?: string | URL
  path: string
  method: string
  body?: unknown
  headers?: Headers | null
  query?: Record<string, unknown>
  idempotent?: boolean
  blocking?: boolean
  upgrade?: boolean | string | null
  reset?: boolean
  servername?: string
  headersTimeout?: number | null
  bodyTimeout?: number | null
  expectContinue?: boolean
  throwOnError?: boolean
  maxRedirections?: number
  typeOfService?: number
  allowH2?: boolean
}

export type Dispatch = (options: DispatchOptions, handler: Handler) => boolean
export type Interceptor = (dispatch: Dispatch, origin?: string | null) => Dispatch
type Callback = (error: Error | null, data: null) => void

/** The dispatcher's own; a symbol, because `compose` returns a Proxy and users enumerate. */
export const kState = Symbol('trunkline state')

/** Where a request goes, by the number that the addon knows. */
interface Target {
  number: number
  authority: string
}

export class State {
  readonly border: Border
  readonly client: number
  readonly targets = new Map<string, Target>()
  readonly exchanges = new Set<Exchange | Lane>()
  closed = false
  destroyed = false
  isBusy = false
  onClosed: Callback[] | null = null
  onDestroyed: Callback[] | null = null
  private bound: number | undefined

  constructor (readonly dispatcher: Dispatcher, readonly checked: Checked) {
    this.border = theBorder()
    this.client = this.ask('client', checked.settings) as number
  }

  /** Requests that may be under way before `dispatch` says that it is busy. */
  get ceiling (): number {
    return (this.bound ??= this.countCeiling())
  }

  private countCeiling (): number {
    const { connections, pipelining, maxConcurrentStreams, settings } = this.checked
    const isPlain = this.dispatcher.origin?.protocol === 'http:' && settings['protocols'] !== 'h2'
    const each = isPlain || settings['protocols'] === 'h1' ? pipelining : maxConcurrentStreams
    return connections === null || connections === 0 ? Infinity : connections * each
  }

  /** A cold call whose failure is an error. */
  ask (verb: string, question: object): unknown {
    try {
      return this.border.ask(verb, question)
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
  }

  target (origin: string, servername: string | null, isH1: boolean): Target {
    const key = servername === null && !isH1 ? origin : `${origin} ${servername ?? ''} ${isH1 ? 'h1' : ''}`
    const known = this.targets.get(key)
    if (known !== undefined) return known
    if (this.targets.size >= this.checked.maxOrigins) throw new MaxOriginsReachedError()
    const { host } = new URL(origin)
    const serverName = servername === null ? undefined : servername
    const protocols = isH1 ? 'h1' : undefined
    const number = this.ask('origin', { client: this.client, url: origin, serverName, protocols }) as number
    const target = { number, authority: host }
    this.targets.set(key, target)
    return target
  }

  onOver (exchange: Exchange | Lane): void {
    this.exchanges.delete(exchange)
    if (this.isBusy && this.exchanges.size < this.ceiling) {
      this.isBusy = false
      queueMicrotask(() => { this.dispatcher.emit('drain', this.dispatcher.origin, [this.dispatcher]) })
    }
    if (this.closed && this.exchanges.size === 0) this.end()
  }

  /** Nothing is under way, or nothing is to be: the connections go. */
  end (): void {
    if (this.onClosed === null && this.onDestroyed === null) return
    this.border.ask('shutDown', { client: this.client })
    this.destroyed = true
    const told = [...this.onClosed ?? [], ...this.onDestroyed ?? []]
    this.onClosed = null
    this.onDestroyed = null
    setImmediate(() => { for (const callback of told) callback(null, null) })
  }
}

/** A request that is checked. */
interface Made {
  origin: number
  head: string
  body: Given
  upload: Source | null
  length: number | null
  headersTimeout: number
  bodyTimeout: number
}

function submit (state: State, exchange: Exchange | Lane, made: Made): void {
  state.border.submit(exchange, made.origin, made.head, made.body, made.headersTimeout, made.bodyTimeout)
  if (exchange.number === 0) return
  exchange.trace?.onSubmitted()
  if (made.upload === null) {
    if (Buffer.isBuffer(made.body)) exchange.onSent(made.body)
    return exchange.onAllSent()
  }
  exchange.upload = new Upload(state.border, exchange, made.upload, made.length)
  void exchange.upload.run()
}

export abstract class Dispatcher extends EventEmitter {
  readonly [kState]: State

  constructor (options: Options, isClient: boolean) {
    super()
    this[kState] = new State(this, check(options, isClient))
  }

  /** The one origin; null: every request says its own. */
  abstract get origin (): URL | null

  get closed (): boolean { return this[kState].closed }
  get destroyed (): boolean { return this[kState].destroyed }

  /** HTTP/1.1's requests in flight on one connection. */
  get pipelining (): number {
    const state = this[kState]
    return state.destroyed ? state.checked.pipelining : state.ask('pipelining', { client: state.client }) as number
  }
  set pipelining (pipelining: number) {
    const state = this[kState]
    state.ask('pipelining', { client: state.client, pipelining })
  }

  /** Every origin now: what is open, what waits and why; and totals over the dispatcher's life. */
  get stats (): Stats {
    const state = this[kState]
    return state.ask('stats', { client: state.client }) as Stats
  }

  /** Opens connections to an origin until it has `count`; resolves to how many it has. */
  async warmUp (origin: string | URL, count = 1): Promise<number> {
    const state = this[kState]
    try {
      return await state.border.askLater('warmUp', { client: state.client, url: String(origin), count }) as number
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
  }

  dispatch (options: DispatchOptions, handler: Handler): boolean {
    if (handler === null || typeof handler !== 'object') throw new InvalidArgumentError('handler must be an object')
    try {
      if (options === null || typeof options !== 'object') throw new InvalidArgumentError('opts must be an object.')
      const state = this[kState]
      if (state.destroyed || state.onDestroyed !== null) throw new ClientDestroyedError()
      if (state.closed) throw new ClientClosedError()
      return this.send(state, options, handler)
    } catch (error) {
      return refuse(handler, error as Error)
    }
  }

  private send (state: State, options: DispatchOptions, handler: Handler): boolean {
    const made = this.prepare(state, options)
    checkHandler(handler, Boolean(options.upgrade) || options.method === 'CONNECT')
    const exchange = new Exchange(state.border, state, handler, options.method === 'CONNECT')
    exchange.leavesHttp = made.body === 'tunnel'
    exchange.bodyBytesMax = state.checked.maxResponseSize
    if (isWatched()) exchange.trace = new Trace(this.originOf(options), options, made)
    state.exchanges.add(exchange)
    if (isStream(options.body)) watch(options.body, exchange)
    try {
      if (!exchange.start()) return true
    } catch (error) {
      exchange.abort(error)
      return true
    }
    submit(state, exchange, made)
    if (state.exchanges.size >= state.ceiling) state.isBusy = true
    return !state.isBusy
  }

  /** Checks a request and makes its head; what is wrong is thrown, and nothing is sent. */
  private prepare (state: State, options: DispatchOptions): Made {
    const { method } = options
    const { checked } = state
    checkOptions(options)
    checkMethod(method)
    const path = withQuery(checkPath(options.path, method), options.query)
    const given = bodyOf(options.body)
    const head = new Head(options.headers)
    const origin = this.originOf(options)
    const servername = options.servername ?? checked.servername ?? nameOf(head.host, origin)
    const leavesHttp = Boolean(options.upgrade) || method === 'CONNECT'
    const target = state.target(origin, servername, leavesHttp)
    const length = lengthOf(head, given, method, checked.strictContentLength)
    let { fields } = head
    if (length !== null) fields += `\0content-length\0${length}`
    if (leavesHttp) {
      if (given !== null) throw new InvalidArgumentError('a request that asks for an upgrade or a tunnel has no body')
      if (options.upgrade) fields += `\0connection\0upgrade\0upgrade\0${options.upgrade as string}`
    }
    const upload = given !== null && 'pieces' in given ? given : null
    if (upload !== null && upload.type !== null && !head.hasContentType) fields += `\0content-type\0${upload.type}`
    return {
      origin: target.number,
      head: `${method}\0${path}\0${head.host ?? target.authority}${fields}`,
      body: leavesHttp ? 'tunnel' : upload === null ? given as Buffer | null : 'streaming',
      upload,
      length,
      headersTimeout: time('headersTimeout', options.headersTimeout) ?? checked.headersTimeout,
      bodyTimeout: time('bodyTimeout', options.bodyTimeout) ?? checked.bodyTimeout
    }
  }

  /** `request` without a handler between; `told` is always called later, never from here. */
  [kRequest] (options: DispatchOptions & RequestExtras, told: Told): void {
    const state = this[kState]
    let lane: Lane
    try {
      if (state.destroyed || state.onDestroyed !== null) throw new ClientDestroyedError()
      if (state.closed) throw new ClientClosedError()
      const made = this.prepare(state, options)
      lane = new Lane(state.border, state, told, options)
      lane.bodyBytesMax = state.checked.maxResponseSize
      if (isWatched()) lane.trace = new Trace(this.originOf(options), options, made)
      state.exchanges.add(lane)
      if (isStream(options.body)) watch(options.body, lane)
      if (lane.start()) submit(state, lane, made)
    } catch (error) {
      queueMicrotask(() => { told(error as Error, null) })
    }
  }

  /** A response, its body to be read. */
  request (options: RequestOptions): Promise<Answer>
  request (options: RequestOptions, callback: Told): void
  request (options: RequestOptions, callback?: Told): Promise<Answer> | undefined {
    return request(this, options, callback)
  }

  /** A response whose body goes into the Writable that the factory makes. */
  stream (options: RequestOptions, factory: StreamFactory): Promise<StreamAnswer>
  stream (options: RequestOptions, factory: StreamFactory, callback: (error: Error | null, answer: StreamAnswer | null) => void): void
  stream (options: RequestOptions, factory: StreamFactory, callback?: (error: Error | null, answer: StreamAnswer | null) => void): Promise<StreamAnswer> | undefined {
    return stream(this, options, factory, callback)
  }

  /** A Duplex: what is written is the request's body, what is read is what the handler returns. */
  pipeline (options: RequestOptions, handler: PipelineHandler): Duplex { return pipeline(this, options, handler) }

  /** The stream behind a CONNECT. */
  connect (options: ConnectRequest): Promise<Opened>
  connect (options: ConnectRequest, callback: (error: Error | null, opened: Opened | null) => void): void
  connect (options: ConnectRequest, callback?: (error: Error | null, opened: Opened | null) => void): Promise<Opened> | undefined {
    return connect(this, options, callback)
  }

  /** The stream behind an upgrade; `protocol` defaults to Websocket. */
  upgrade (options: ConnectRequest): Promise<Opened>
  upgrade (options: ConnectRequest, callback: (error: Error | null, opened: Opened | null) => void): void
  upgrade (options: ConnectRequest, callback?: (error: Error | null, opened: Opened | null) => void): Promise<Opened> | undefined {
    return upgrade(this, options, callback)
  }

  protected originOf (options: DispatchOptions): string {
    const own = this.origin
    if (own !== null) return own.origin
    const { origin } = options
    if (typeof origin === 'string' && origin !== '') return origin
    if (origin instanceof URL) return origin.origin
    throw new InvalidArgumentError('opts.origin must be a non-empty string or URL.')
  }

  close (): Promise<void>
  close (callback: Callback): void
  close (callback?: Callback): Promise<void> | undefined {
    if (callback === undefined) return promised(done => { this.close(done) })
    if (typeof callback !== 'function') throw new InvalidArgumentError('invalid callback')
    const state = this[kState]
    if (state.destroyed && !state.closed) {
      queueMicrotask(() => { callback(new ClientDestroyedError(), null) })
      return
    }
    if (state.destroyed) {
      queueMicrotask(() => { callback(null, null) })
      return
    }
    state.closed = true
    ;(state.onClosed ??= []).push(callback)
    if (state.exchanges.size === 0) state.end()
  }

  destroy (): Promise<void>
  destroy (error: Error | null): Promise<void>
  destroy (callback: Callback): void
  destroy (error: Error | null, callback: Callback): void
  destroy (error?: Error | null | Callback, callback?: Callback): Promise<void> | undefined {
    if (typeof error === 'function') return this.destroy(null, error) as undefined
    if (callback === undefined) return promised(done => { this.destroy(error ?? null, done) })
    if (typeof callback !== 'function') throw new InvalidArgumentError('invalid callback')
    const state = this[kState]
    if (state.destroyed && state.onDestroyed === null) {
      queueMicrotask(() => { callback(null, null) })
      return
    }
    ;(state.onDestroyed ??= []).push(callback)
    if (state.destroyed) return
    state.destroyed = true
    const why = error ?? new ClientDestroyedError()
    // After this turn: whoever destroys from within a handler is not called back into.
    queueMicrotask(() => {
      for (const exchange of [...state.exchanges]) exchange.abort(why)
      state.end()
    })
  }

  /** This dispatcher behind interceptors, the last one outermost. */
  compose (...interceptors: (Interceptor | null | undefined | (Interceptor | null | undefined)[])[]): this {
    let dispatch: Dispatch = this.dispatch.bind(this)
    const own = this.origin?.origin ?? null
    for (const interceptor of interceptors.flat()) {
      if (interceptor == null) continue
      if (typeof interceptor !== 'function') {
        throw new TypeError(`invalid interceptor, expected function received ${typeof interceptor}`)
      }
      dispatch = interceptor(dispatch, own)
      if (typeof dispatch !== 'function' || dispatch.length !== 2) throw new TypeError('invalid interceptor')
    }
    const composed = (options: DispatchOptions, handler: Handler): boolean => {
      return dispatch(own !== null && !options?.origin ? { ...options, origin: own } : options, forInterceptors(handler))
    }
    return new Proxy(this, {
      get: (target, key) => key === 'dispatch' ? composed : Reflect.get(target, key) as unknown
    })
  }

  async [Symbol.asyncDispose] (): Promise<void> { await this.close() }
}

export interface Stats {
  origins: {
    origin: string
    serverName: string | null
    waiting: number
    paused: number
    waitReason: string | null
    connections: number
    suspect: number
    draining: number
    attempts: number
    active: number
    limit: number | null
    roundTripMs: number | null
  }[]
  totals: Record<'submitted' | 'dispatched' | 'waited' | 'failed' | 'attempts' | 'connections' | 'retriesUnprocessed' | 'retriesLost', number>
}

async function promised (start: (done: Callback) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    start(error => { if (error) reject(error); else resolve() })
  })
}

/** Hands an error to the handler; throws it where there is nobody to hear it. */
function refuse (handler: Handler, error: Error): boolean {
  if (isNew(handler) || typeof (handler as Partial<NewHandler>).onResponseError === 'function') {
    const hook = (handler as Partial<NewHandler>).onResponseError
    if (typeof hook !== 'function') throw error
    hook.call(handler, null, error)
    return false
  }
  const hook = (handler as OldHandler).onError
  if (typeof hook !== 'function') throw error
  hook.call(handler, error)
  return false
}

function checkOptions (options: DispatchOptions): void {
  const { upgrade, reset, expectContinue, throwOnError, maxRedirections, typeOfService } = options
  if (upgrade && typeof upgrade !== 'string') throw new InvalidArgumentError('upgrade must be a string')
  if (upgrade && !isFieldValue(upgrade)) throw new InvalidArgumentError('invalid upgrade header')
  if (reset != null && typeof reset !== 'boolean') throw new InvalidArgumentError('invalid reset')
  if (expectContinue != null && typeof expectContinue !== 'boolean') throw new InvalidArgumentError('invalid expectContinue')
  if (throwOnError != null && throwOnError !== false) throw new InvalidArgumentError('invalid throwOnError')
  if (maxRedirections != null && maxRedirections !== 0) {
    throw new InvalidArgumentError('maxRedirections is not supported, use the redirect interceptor')
  }
  if (typeOfService != null && (!Number.isInteger(typeOfService) || typeOfService < 0 || typeOfService > 255)) {
    throw new InvalidArgumentError('typeOfService must be an integer between 0 and 255')
  }
}

/** The name in a host field that is not the origin's: certificates are checked against it. */
function nameOf (host: string | null, origin: string): string | null {
  if (host === null || !origin.startsWith('https:')) return null
  const name = host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.split(':', 1)[0]!
  return /^[\d.]+$|:/.test(name) || name === '' ? null : name
}

/** What the content-length field says; null: there is none. */
function lengthOf (head: Head, body: RequestBody, method: string, isStrict: boolean): number | null {
  const own = body === null ? 0 : 'pieces' in body ? body.length : body.length
  const said = head.contentLength
  if (said !== null && own !== null && own !== said) {
    // HEAD and GET with a length of what they would have: undici lets it be when there is no body.
    if (body !== null || expectsBody(method)) {
      if (isStrict) throw new RequestContentLengthMismatchError()
      process.emitWarning(new RequestContentLengthMismatchError())
    }
    return own === 0 && !expectsBody(method) ? null : own
  }
  const length = said ?? own
  return length === 0 && !expectsBody(method) ? null : length
}

/** A source that fails before it is read fails the exchange. */
function watch (body: Readable, exchange: Exchange | Lane): void {
  body.once('error', error => { exchange.abort(error) })
}

setOwnDispatch(Dispatcher.prototype.dispatch)

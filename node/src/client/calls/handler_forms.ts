// The handlers of `dispatch` in both of undici's forms: their types, and its checks of them.

import type { Duplex } from 'node:stream'
import { InvalidArgumentError } from '../../errors'
import type { Fields } from '../prepare/head'

/** The controls that a handler of the new form has over its request, as undici's `Dispatcher.DispatchController`. */
export interface DispatchController {
  /** Whether the handler has aborted the request. */
  readonly aborted: boolean
  /** Whether the handler has paused the response. */
  readonly paused: boolean
  /** The reason of `abort`; null before it. */
  readonly reason: unknown
  /** Names and values of the last response head by turns. */
  rawHeaders: (string | Buffer)[]
  /** Names and values of the trailers by turns. */
  rawTrailers: (string | Buffer)[]
  /** Holds the response's body back until `resume`. */
  pause: () => void
  resume: () => void
  /** Cancels the request. Without a reason the handler's error is a `RequestAbortedError`. */
  abort: (reason?: unknown) => void
}

/** A handler of undici 8 and Node 26, and an interceptor since undici 7. */
export interface NewHandler {
  /** The request starts. `controller` can pause, resume and abort it. */
  onRequestStart: (controller: DispatchController, context: unknown) => void
  /** A 101, or any final response to CONNECT: `socket` has the bytes that follow. */
  onRequestUpgrade?: ((controller: DispatchController, status: number, headers: Fields, socket: Duplex) => void) | undefined
  /** The first byte of the response has arrived. */
  onResponseStarted?: (() => void) | undefined
  /** A response head, interim (1xx) ones included. */
  onResponseStart?: ((controller: DispatchController, status: number, headers: Fields, statusText: string) => void) | undefined
  /** A piece of the response's body. */
  onResponseData?: ((controller: DispatchController, chunk: Buffer) => void) | undefined
  /** The response is complete. */
  onResponseEnd?: ((controller: DispatchController, trailers: Fields) => void) | undefined
  /** The request failed; the last call. `controller` is null before the request has started. */
  onResponseError?: ((controller: DispatchController | null, error: Error) => void) | undefined
  /** A piece of the request's body was given to the connection. */
  onBodySent?: ((chunk: any, total?: any) => void) | undefined
  /** All of the request was given to the connection. */
  onRequestSent?: (() => void) | undefined
}

/** A handler of undici 7 and older, and Node 25 and older. */
export interface OldHandler {
  // Fields come as Buffers, or as texts to handlers of undici's own; the types of undici's lines differ.
  /** The request starts; `abort` cancels it. Required, although undici's types make it optional. */
  onConnect?: ((abort: (reason?: Error) => void, context: unknown) => void) | undefined
  /** A 101, or any final response to CONNECT: `socket` has the bytes that follow. */
  onUpgrade?: ((status: number, rawHeaders: any, socket: Duplex) => void) | undefined
  /** The first byte of the response has arrived. */
  onResponseStarted?: (() => void) | undefined
  /** A response head, interim (1xx) ones included; false pauses until `resume` is called. */
  onHeaders?: ((status: number, rawHeaders: any, resume: () => void, statusText: string) => boolean) | undefined
  /** A piece of the response's body; false pauses until `resume` is called. */
  onData?: ((chunk: Buffer) => boolean) | undefined
  /** The response is complete. */
  onComplete?: ((rawTrailers: any) => void) | undefined
  /** The request failed; the last call. */
  onError?: ((error: Error) => void) | undefined
  /** A piece of the request's body was given to the connection. */
  onBodySent?: ((chunk: any, total?: any) => void) | undefined
  /** All of the request was given to the connection. */
  onRequestSent?: (() => void) | undefined
}

/** A handler of `dispatch`, in either ABI. */
export type Handler = NewHandler | OldHandler

export function isNew (handler: Handler): handler is NewHandler {
  return typeof (handler as NewHandler).onRequestStart === 'function'
}

/** undici's own handlers of the old ABI take strings; all others get Buffers, as documented. */
const TAKES_STRINGS = new Set([
  'RequestHandler', 'StreamHandler', 'PipelineHandler', 'ConnectHandler', 'UpgradeHandler', 'RetryHandler',
  'RedirectHandler', 'DecoratorHandler', 'UnwrapHandler', 'WrapHandler', 'CacheHandler', 'DumpHandler',
  'CacheRevalidationHandler', 'DNSDispatchHandler', 'ResponseErrorHandler'
])

export function takesStrings (handler: OldHandler): boolean {
  const name = handler.constructor?.name ?? ''
  // The handler of fetch is a literal with these two.
  return TAKES_STRINGS.has(name) || (name === 'Object' && 'abort' in handler && 'body' in handler)
}

/** undici's checks of a handler, with its words. */
export function checkHandler (handler: unknown, upgrades: boolean): asserts handler is Handler {
  if (isNew(handler as Handler) || typeof (handler as OldHandler).onConnect !== 'function') checkNew(handler as NewHandler, upgrades)
  else checkOld(handler as OldHandler, upgrades)
}

// Each call is looked up by its own name: by a name in a variable it would cost ten times as much.

function checkNew (handler: NewHandler, upgrades: boolean): void {
  must(handler.onRequestStart, 'onRequestStart')
  must(handler.onResponseError, 'onResponseError')
  may(handler.onBodySent, 'onBodySent')
  may(handler.onRequestSent, 'onRequestSent')
  if (upgrades) return must(handler.onRequestUpgrade, 'onRequestUpgrade')
  must(handler.onResponseStart, 'onResponseStart')
  must(handler.onResponseData, 'onResponseData')
  must(handler.onResponseEnd, 'onResponseEnd')
}

function checkOld (handler: OldHandler, upgrades: boolean): void {
  must(handler.onConnect, 'onConnect')
  must(handler.onError, 'onError')
  may(handler.onBodySent, 'onBodySent')
  may(handler.onRequestSent, 'onRequestSent')
  if (upgrades) return must(handler.onUpgrade, 'onUpgrade')
  must(handler.onHeaders, 'onHeaders')
  must(handler.onData, 'onData')
  must(handler.onComplete, 'onComplete')
}

function must (call: unknown, name: string): void {
  if (typeof call !== 'function') throw new InvalidArgumentError(`invalid ${name} method`)
}

function may (call: unknown, name: string): void { if (call !== undefined) must(call, name) }

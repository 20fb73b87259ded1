// A handler with the calls of both ABIs: interceptors of undici 6 know only the old one, those of 7
// and 8 only the new one, and either may stand between any handler and any dispatcher.

import type { Duplex } from 'node:stream'
import { isNew, takesStrings, type DispatchController, type Handler, type NewHandler, type OldHandler } from './handler_forms'
import { fieldsObject, type Fields } from '../prepare/head'

type Raw = (string | Buffer)[] | null | undefined

/** Raw fields as texts, decoded as undici does. */
export function textsOf (raw: Raw): string[] { return (raw ?? []).map(field => typeof field === 'string' ? field : field.toString()) }

/** The controller that a handler gets where there is only an `abort` and a `resume`. */
class OldController implements DispatchController {
  rawHeaders: (string | Buffer)[] = []
  rawTrailers: (string | Buffer)[] = []
  aborted = false
  paused = false
  reason: unknown = null
  resumes: () => void = () => {}

  constructor (private readonly aborts: (reason?: Error) => void) {}

  abort (reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.aborts(reason as Error | undefined)
  }
  pause (): void { this.paused = true }
  resume (): void {
    if (!this.paused) return
    this.paused = false
    this.resumes()
  }
}

/** `handler`, to be called in either way. */
export function both (handler: NewHandler): NewHandler & OldHandler {
  let old = new OldController(() => {})
  const calls: OldHandler = {
    onConnect (abort: (reason?: Error) => void, context: unknown) {
      old = new OldController(abort)
      handler.onRequestStart(old, context)
    },
    onUpgrade (status: number, raw: Raw, socket: Duplex) {
      old.rawHeaders = [...raw ?? []]
      handler.onRequestUpgrade?.(old, status, fieldsObject(textsOf(raw)), socket)
    },
    onHeaders (status: number, raw: Raw, resume: () => void, text: string) {
      old.rawHeaders = [...raw ?? []]
      old.resumes = resume
      handler.onResponseStart?.(old, status, fieldsObject(textsOf(raw)), text)
      return !old.paused
    },
    onData (chunk: Buffer) {
      handler.onResponseData?.(old, chunk)
      return !old.paused
    },
    onComplete (raw: Raw) {
      old.rawTrailers = [...raw ?? []]
      handler.onResponseEnd?.(old, fieldsObject(textsOf(raw)))
    },
    onError (error: Error) { handler.onResponseError?.(old, error) }
  }
  return Object.assign(handler, calls)
}

/** Names and values in turn, as a handler of the old ABI takes them. */
function rawOf (handler: OldHandler, raw: readonly (string | Buffer)[] | undefined, fields: Fields): (string | Buffer)[] {
  const flat = raw ?? Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap(one => [name, one]))
  if (takesStrings(handler)) return [...flat]
  return flat.map(field => typeof field === 'string' ? Buffer.from(field, 'latin1') : field)
}

/** A handler of the old ABI, to be called in either way. */
function ofOld (handler: OldHandler): NewHandler & OldHandler {
  const made: NewHandler & OldHandler = {
    onRequestStart (controller, context) { handler.onConnect?.(reason => { controller.abort(reason) }, context) },
    onRequestUpgrade (controller, status, headers, socket) {
      handler.onUpgrade?.(status, rawOf(handler, controller.rawHeaders, headers), socket)
    },
    onResponseStart (controller, status, headers, text) {
      const more = handler.onHeaders?.(status, rawOf(handler, controller.rawHeaders, headers), () => { controller.resume() }, text)
      if (more === false && status >= 200) controller.pause()
    },
    onResponseData (controller, chunk) { if (handler.onData?.(chunk) === false) controller.pause() },
    onResponseEnd (controller, trailers) { handler.onComplete?.(rawOf(handler, controller.rawTrailers, trailers)) },
    onResponseError (_, error) { handler.onError?.(error) },
    onConnect (abort, context) { handler.onConnect?.(abort, context) },
    onUpgrade (status, raw, socket) { handler.onUpgrade?.(status, raw, socket) },
    onHeaders: (status, raw, resume, text) => handler.onHeaders?.(status, raw, resume, text) ?? true,
    onData: chunk => handler.onData?.(chunk) ?? true,
    onComplete (raw) { handler.onComplete?.(raw) },
    onError (error) { handler.onError?.(error) }
  }
  if (handler.onResponseStarted !== undefined) made.onResponseStarted = () => { handler.onResponseStarted?.() }
  if (handler.onBodySent !== undefined) made.onBodySent = chunk => { handler.onBodySent?.(chunk) }
  if (handler.onRequestSent !== undefined) made.onRequestSent = () => { handler.onRequestSent?.() }
  return made
}

/** `handler` as any interceptor can take it. */
export function forInterceptors (handler: Handler): Handler {
  if (isNew(handler)) return handler
  return typeof (handler as Partial<OldHandler> | null)?.onConnect === 'function' ? ofOld(handler) : handler
}

/** `handler` as any dispatcher can take it: those of undici 6 know the old calls only, those of undici 8 the new ones. */
export function forDispatchers (handler: Handler): Handler {
  if (!isNew(handler)) return forInterceptors(handler)
  if (typeof (handler as unknown as OldHandler).onConnect === 'function') return handler
  const made: NewHandler = {
    onRequestStart (controller, context) { handler.onRequestStart(controller, context) },
    onRequestUpgrade (controller, status, headers, socket) { handler.onRequestUpgrade?.(controller, status, headers, socket) },
    onResponseStart (controller, status, headers, text) { handler.onResponseStart?.(controller, status, headers, text) },
    onResponseData (controller, chunk) { handler.onResponseData?.(controller, chunk) },
    onResponseEnd (controller, trailers) { handler.onResponseEnd?.(controller, trailers) },
    onResponseError (controller, error) { handler.onResponseError?.(controller, error) }
  }
  if (handler.onResponseStarted !== undefined) made.onResponseStarted = () => { handler.onResponseStarted?.() }
  if (handler.onBodySent !== undefined) made.onBodySent = chunk => { handler.onBodySent?.(chunk) }
  if (handler.onRequestSent !== undefined) made.onRequestSent = () => { handler.onRequestSent?.() }
  return both(made)
}

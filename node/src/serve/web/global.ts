// Makes the global `Request` and `fetch` accept requests of servers, from the first server on. The
// built-in classes recognise their instances by private members, so they get a built-in request
// made at that moment.

import { claim, isOfRequest } from '../../fetch/body/body'
import { fetch as ownFetch } from '../../fetch/fetch'
import { HeaderList } from '../../fetch/headers/header_list'
import { fill, listOf } from '../../fetch/headers/headers'
import { Request, requestPartsOf } from '../../fetch/request'
import { isForeign, sentOn } from '../../fetch/request_parts'
import { builtInOf } from './request'

/** Puts a built-in request in the place of one of ours, as the first argument (the request) and the second (its changes). */
function converted (args: unknown[], BuiltIn: typeof globalThis.Request): unknown[] {
  const [input, init] = args
  const [isInput, isInit] = [requestPartsOf(input) !== undefined, requestPartsOf(init) !== undefined]
  if (!isInit) args = [input, changesOf(init), ...args.slice(2)]
  if (!isInput && !isInit) return args
  // The Fetch standard (Request constructor, step 36): a body in `init` takes the place of the input's, which is left.
  const hasOther = typeof init === 'object' && init !== null && (init as RequestInit).body != null
  const first = isInput ? builtInOf(input as Request, !hasOther, BuiltIn) : input
  return [first, isInit ? builtInOf(init as Request, true, BuiltIn) : args[1], ...args.slice(2)]
}

/** Changes of a request that have the fields or the body of one of ours, as the built-in classes take them. */
function changesOf (init: unknown): unknown {
  if (typeof init !== 'object' || init === null || isForeign(init)) return init
  const { body, headers, duplex } = init as RequestInit & { duplex?: unknown }
  const changes: Record<string, unknown> = {}
  if (body instanceof ReadableStream) claim(body)
  if (headers !== undefined && (isOfRequest(body) || listOf(headers)?.isReceived === true)) {
    const list = new HeaderList()
    fill(list, headers)
    changes['headers'] = new globalThis.Headers(sentOn(list, body).sorted())
  }
  if (isOfRequest(body) && duplex == null) changes['duplex'] = 'half'
  return Object.keys(changes).length === 0 ? init : Object.assign(Object.create(init) as object, changes)
}

/** As `found`, with requests of ours among its arguments converted. */
function wrapped<T extends object> (found: T, builtIn: () => typeof globalThis.Request): T {
  const own: T = new Proxy(found, {
    apply: (target, receiver, args) => Reflect.apply(target as never, receiver, converted(args, builtIn())) as unknown,
    construct: (target, args, newTarget) => Reflect.construct(target as never, converted(args, builtIn()), newTarget === own ? target as never : newTarget) as object
  })
  return own
}

/** Wraps the class when it is first looked at: looking makes Node.js load all of its fetch. */
function wrapRequest (): void {
  const found = Object.getOwnPropertyDescriptor(globalThis, 'Request')
  if (found?.configurable !== true || found.value === Request) return
  const set = (value: unknown): void => { Object.defineProperty(globalThis, 'Request', { value, writable: true, configurable: true, enumerable: false }) }
  const get = (): unknown => {
    const original = (found.get === undefined ? found.value : found.get.call(globalThis)) as typeof globalThis.Request
    const own = wrapped(original, () => original)
    // `request.constructor` is what programs know as `Request`.
    Object.defineProperty(original.prototype, 'constructor', { value: own, writable: true, configurable: true, enumerable: false })
    set(own)
    return own
  }
  Object.defineProperty(globalThis, 'Request', { get, set, configurable: true, enumerable: false })
}

let isDone = false

/** Lets the global `Request` and `fetch` take requests of servers, once and for the life of the process. */
export function overrideGlobals (): void {
  if (isDone) return
  isDone = true
  wrapRequest()
  const { fetch } = globalThis
  if (typeof fetch === 'function' && fetch !== ownFetch as unknown) globalThis.fetch = wrapped(fetch, () => globalThis.Request)
}

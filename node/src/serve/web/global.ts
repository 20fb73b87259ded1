// Makes the global `Request` and `fetch` accept requests of servers, from the first server on. The
// built-in classes recognise their instances by private members, so they get a built-in request
// made at that moment.

import { builtInOf, incomingOf, type Request } from './request'

type Converted = (args: unknown[]) => unknown[]

/** Puts a built-in request in the place of a server's, as the first argument (the request) and the second (its changes). */
const converted: Converted = args => {
  const [input, init] = args
  const [isInput, isInit] = [incomingOf(input) !== undefined, incomingOf(init) !== undefined]
  if (!isInput && !isInit) return args
  // The Fetch standard (Request constructor, step 36): a body in `init` takes the place of the input's, which is left.
  const hasOther = typeof init === 'object' && init !== null && (init as RequestInit).body != null
  const first = isInput ? builtInOf(input as Request, !hasOther) : input
  return [first, isInit ? builtInOf(init as Request, true) : init, ...args.slice(2)]
}

/** As `found`, with requests of servers among its arguments converted. */
function wrapped<T extends object> (found: T): T {
  const own: T = new Proxy(found, {
    apply: (target, receiver, args) => Reflect.apply(target as never, receiver, converted(args)) as unknown,
    construct: (target, args, newTarget) => Reflect.construct(target as never, converted(args), newTarget === own ? target as never : newTarget) as object
  })
  return own
}

/** Wraps the class when it is first looked at: looking makes Node.js load all of its fetch. */
function wrapRequest (): void {
  const found = Object.getOwnPropertyDescriptor(globalThis, 'Request')
  if (found?.configurable !== true) return
  const set = (value: unknown): void => { Object.defineProperty(globalThis, 'Request', { value, writable: true, configurable: true, enumerable: false }) }
  const get = (): unknown => {
    const original = (found.get === undefined ? found.value : found.get.call(globalThis)) as typeof globalThis.Request
    const own = wrapped(original)
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
  if (typeof globalThis.fetch === 'function') globalThis.fetch = wrapped(globalThis.fetch)
}

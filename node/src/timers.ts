// Timers and queues of Node.js, as they were when the package was loaded. Those that a program puts in the place of the global ones later
// (the fake timers of node:test, Jest, Vitest and sinon) do not stop connections, as they do not stop those of node:http and node:http2.

import timers from 'node:timers'

/** Whether it is that of Node.js: those of node:test are bound functions, and others have a clock. */
const isOwn = (call: object & { name?: string }): boolean => !('clock' in call) && call.name?.startsWith('bound ') !== true

/** The function of that name. Where it is a fake one already, that which is there when it is called, because the real one may come back. */
function taken<T extends object, K extends keyof T> (owner: T, name: K): T[K] {
  const call = owner[name]
  const late = (...args: unknown[]): unknown => (owner[name] as (...args: unknown[]) => unknown)(...args)
  return isOwn(call as object) ? call : late as T[K]
}

export const setImmediate = taken(timers, 'setImmediate')
export const setInterval = taken(timers, 'setInterval')
export const setTimeout = taken(timers, 'setTimeout')
export const clearImmediate = taken(timers, 'clearImmediate')
export const clearInterval = taken(timers, 'clearInterval')
export const clearTimeout = taken(timers, 'clearTimeout')
export const nextTick = taken(process, 'nextTick')
export const queueMicrotask = taken(globalThis, 'queueMicrotask')
export const { now: dateNow } = Date

// Timers and queues of Node.js, as they were when the package was loaded. Those that a program puts in the place of the global ones later
// (the fake timers of node:test, Jest, Vitest and sinon) do not stop connections, as they do not stop those of node:http and node:http2.

import timers from 'node:timers'

export const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = timers
export const { nextTick } = process
export const { queueMicrotask } = globalThis
export const { now: dateNow } = Date

// The dispatcher of the process: where Node.js and undici keep theirs, and the one that `request`, `fetch` and the other calls
// without a dispatcher go through.

import type { AnyDispatcher, Dispatching } from './calls/api'
import { Agent } from './client'
import { kState } from './dispatcher/state'

/** Where undici 8 and Node.js 26, and undici 6 and 7 and Node.js 20 to 25, have the dispatcher of the process. */
export const DISPATCHERS = ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'].map(name => Symbol.for(name))

/** Class of the dispatcher by which undici 8 gives its own to undici 7's users; it is no other dispatcher. */
const WRAPPER = 'Dispatcher1Wrapper'
/** Class of the dispatchers that undici and Node.js put there when they are loaded, which no program has chosen. */
const DEFAULT = 'Agent'

let installed: AnyDispatcher | null = null
/** Makes a dispatcher the one that `installGlobal` was given; null: there is none any more. */
export function setInstalled (dispatcher: AnyDispatcher | null): void { installed = dispatcher }
export function installedDispatcher (): AnyDispatcher | null { return installed }

let agent: Agent | undefined

/** The dispatcher of calls that name none: one that a program has set (ours, a MockAgent, a ProxyAgent and so on), else the
 * installed one, else an Agent of this package. */
export function usualDispatcher (): Dispatching {
  for (const symbol of DISPATCHERS) {
    const found = (globalThis as Record<symbol, unknown>)[symbol] as Dispatching | undefined
    if (typeof found?.dispatch === 'function' && isChosen(found)) return found
  }
  return (installed ?? (agent ??= new Agent())) as Dispatching
}

/** Whether a program has set it. Behind `installGlobal`, which sets both, an Agent of undici is one that came since then; a program
 * whose undici knows one of the two symbols leaves the installed one in the other. */
function isChosen (found: Dispatching): boolean {
  if (found === installed) return false
  const { name } = found.constructor
  return kState in found || (name !== WRAPPER && (name !== DEFAULT || installed !== null))
}

// Installs the dispatcher under Node's own fetch and undici's calls, by both of its global symbols,
// before or after the first fetch.

import { Agent } from './client'
import { InvalidArgumentError } from '../errors'
import type { AnyDispatcher } from './calls/api'

/** Read by Node 20 to 25 and undici 6 and 7; by Node 26 and undici 8. */
const SYMBOLS = ['undici.globalDispatcher.1', 'undici.globalDispatcher.2'].map(name => Symbol.for(name))

type Global = Record<symbol, unknown>

/** Makes `agent` (default: a new Agent) the global dispatcher. Returns how to take it back. */
export function installGlobal (agent: AnyDispatcher = new Agent()): () => void {
  if (typeof agent?.dispatch !== 'function') throw new InvalidArgumentError('Argument agent must implement Agent')
  const all = globalThis as unknown as Global
  // Node.js makes its own when it loads its fetch, and only then: there must be one to go back to.
  void new Response()
  const before = SYMBOLS.map(symbol => all[symbol])
  for (const symbol of SYMBOLS) set(all, symbol, agent)
  return function uninstall () {
    SYMBOLS.forEach((symbol, index) => {
      // A dispatcher that another program has set since then stays.
      if (all[symbol] === agent) set(all, symbol, before[index])
    })
  }
}

/** The properties cannot be defined again once they are there, only assigned. */
function set (all: Global, symbol: symbol, value: unknown): void {
  if (symbol in all) {
    all[symbol] = value
    return
  }
  Object.defineProperty(all, symbol, { value, writable: true, enumerable: false, configurable: false })
}

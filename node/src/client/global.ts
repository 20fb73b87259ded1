// Installs this package for the whole process: the dispatcher under Node's own fetch and undici's calls, by both of its global
// symbols, before or after the first fetch, and `fetch` with its classes in the place of Node's own.

import { Agent } from './client'
import { InvalidArgumentError } from '../errors'
import type { AnyDispatcher } from './calls/api'
import { linkAll } from '../fetch/webidl/built_in'
import { DISPATCHERS, installedDispatcher, setInstalled } from './process_dispatcher'
import { fetch } from '../fetch/fetch'
import { FormData } from '../fetch/form_data'
import { Headers } from '../fetch/headers/headers'
import { Request } from '../fetch/request'
import { Response } from '../fetch/response'

type Global = Record<symbol, unknown>

/** The settings of `installGlobal`. */
export interface InstallOptions {
  /** Whether `fetch`, `Request`, `Response`, `Headers` and `FormData` of this package take the place of Node's own. False: Node's own
   * stay, and their requests go through the dispatcher. Default: true. */
  fetch?: boolean | undefined
}

const GLOBALS: Record<string, unknown> = { fetch, Headers, Request, Response, FormData }

/** Makes `agent` (default: a new Agent) the global dispatcher, and the global `fetch` and its classes those of this package. Returns how
 * to take it back. */
export function installGlobal (agent: AnyDispatcher = new Agent(), options: InstallOptions = {}): () => void {
  if (typeof agent?.dispatch !== 'function') throw new InvalidArgumentError('Argument agent must implement Agent')
  const all = globalThis as unknown as Global
  // Node.js makes its own when it loads its fetch, and only then: there must be one to go back to.
  void new globalThis.Response()
  const before = DISPATCHERS.map(symbol => all[symbol])
  for (const symbol of DISPATCHERS) set(all, symbol, agent)
  const installedBefore = installedDispatcher()
  setInstalled(agent)
  const restore = options.fetch === false ? () => {} : installClasses()
  return function uninstall () {
    DISPATCHERS.forEach((symbol, index) => {
      // A dispatcher that another program has set since then stays.
      if (all[symbol] === agent) set(all, symbol, before[index])
    })
    if (installedDispatcher() === agent) setInstalled(installedBefore)
    restore()
  }
}

/** Puts ours in the place of the global ones; what another program puts there later stays when it is taken back. */
function installClasses (): () => void {
  linkAll()
  const before = Object.keys(GLOBALS).map(name => ({ name, value: (globalThis as Record<string, unknown>)[name] }))
  const put = (name: string, value: unknown): void => { Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: name === 'fetch' }) }
  for (const [name, value] of Object.entries(GLOBALS)) put(name, value)
  return () => {
    for (const { name, value } of before) if ((globalThis as Record<string, unknown>)[name] === GLOBALS[name]) put(name, value)
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

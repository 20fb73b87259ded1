// The thread on which the engine of a dispatcher or a server runs.

import * as os from 'node:os'

/**
 * Where the engine runs: `'threads'`, on a thread of its own beside JavaScript's; `'inline'`, on
 * JavaScript's thread, driven by its event loop; `'auto'`, each connection on JavaScript's thread, unless that has much to do when it
 * begins: for a dispatcher many requests under way, for a server most of a processor's time, or many connections at once.
 */
export type Engine = 'auto' | 'inline' | 'threads'

/** Where it runs, decided; `'auto'`: by connection. */
export type EnginePlace = 'auto' | 'inline' | 'threads'
/** Where an engine of a server runs: one that decides by connection has both. */
export type ServerPlace = Exclude<EnginePlace, 'auto'>

const ENGINES: readonly unknown[] = ['auto', 'inline', 'threads'] satisfies Engine[]
/** The values in a sentence. */
export const ENGINES_TEXT = "'auto', 'inline' or 'threads'"

/** Whether it is the value of an option `engine`. */
export function isEngine (value: unknown): value is Engine { return ENGINES.includes(value) }

/** Whether the event loop can drive the engine: on Linux by epoll. Bun has another loop than Node.js, and Deno loses wakes of
 * its imitation where a thread of the engine wakes JavaScript too. */
const canRunInline = process.platform === 'linux' && process.versions['bun'] === undefined && process.versions['deno'] === undefined

/** The place that the environment variable TRUNKLINE_ENGINE asks for; other values of it are no choice. */
function preferred (): Engine | undefined {
  const value = process.env['TRUNKLINE_ENGINE']
  return isEngine(value) ? value : undefined
}

/** Whether a second core would stay unused: then no load calls for a thread. */
const hasOneCore = (): boolean => os.availableParallelism() === 1

function decided (asked: Engine): EnginePlace {
  if (asked === 'threads' || !canRunInline) return 'threads'
  return asked === 'auto' && hasOneCore() ? 'inline' : asked
}

/** Where the engine of a dispatcher or a server with this option runs; undefined: as the environment says, or `'auto'`. */
export function placeOf (engine: Engine | undefined): EnginePlace { return decided(engine ?? preferred() ?? 'auto') }

// Where the engine of a dispatcher or a server runs.

import * as os from 'node:os'

/**
 * Where the engine runs: `'threads'`, on a thread of its own beside JavaScript's; `'inline'`, on
 * JavaScript's thread, driven by its event loop; `'auto'`, each connection of a dispatcher on JavaScript's thread unless many
 * requests are under way when it begins, and a server inline if the process has one core, else on a thread.
 */
export type Engine = 'auto' | 'inline' | 'threads'

/** Where it runs, decided; `'auto'`: by connection. */
export type EnginePlace = 'auto' | 'inline' | 'threads'
/** Where the engine of a server runs, decided. */
export type ServerPlace = Exclude<EnginePlace, 'auto'>

const ENGINES: readonly unknown[] = ['auto', 'inline', 'threads'] satisfies Engine[]
/** The values in a sentence. */
export const ENGINES_TEXT = "'auto', 'inline' or 'threads'"

/** Whether it is the value of an option `engine`. */
export function isEngine (value: unknown): value is Engine { return ENGINES.includes(value) }

/** Whether the event loop can drive the engine: on Linux by epoll. Bun has another loop than Node.js. */
const canRunInline = process.platform === 'linux' && process.versions['bun'] === undefined

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

/** Where the engine of a dispatcher with this option runs; undefined: as the environment says, or `'auto'`. */
export function placeOf (engine: Engine | undefined): EnginePlace {
  return decided(engine ?? preferred() ?? 'auto')
}

/** Where the engine of a server with this option runs; undefined: as the environment says, or `'threads'`: a server has the
 * requests of many clients at once. A connection of a server stays on the thread that accepts it. */
export function serverPlaceOf (engine: Engine | undefined): ServerPlace {
  const place = decided(engine ?? preferred() ?? 'threads')
  return place === 'auto' ? 'threads' : place
}

// Where the engine of a dispatcher or a server runs.

import * as os from 'node:os'

/**
 * Where the engine runs: `'threads'`, on a thread of its own beside JavaScript's; `'inline'`, on
 * JavaScript's thread, driven by its event loop; `'auto'`, inline if the process has one core, else on a thread.
 */
export type Engine = 'auto' | 'inline' | 'threads'

/** Where it runs, decided. */
export type EnginePlace = 'inline' | 'threads'

const ENGINES: readonly unknown[] = ['auto', 'inline', 'threads'] satisfies Engine[]
/** The values in a sentence. */
export const ENGINES_TEXT = "'auto', 'inline' or 'threads'"

/** Whether it is the value of an option `engine`. */
export function isEngine (value: unknown): value is Engine { return ENGINES.includes(value) }

/** Whether the event loop can drive the engine: on Linux by epoll. Bun has another loop than Node.js. */
const canRunInline = process.platform === 'linux' && process.versions['bun'] === undefined

/** The place that the environment variable TRUNKLINE_ENGINE asks for; other values of it are no choice. */
function preferred (): Engine {
  const value = process.env['TRUNKLINE_ENGINE']
  return isEngine(value) ? value : 'threads'
}

/** Where the engine of a dispatcher or a server with this option runs; undefined: as the environment says. */
export function placeOf (engine: Engine | undefined): EnginePlace {
  const asked = engine ?? preferred()
  if (asked === 'threads' || !canRunInline) return 'threads'
  return asked === 'inline' || os.availableParallelism() === 1 ? 'inline' : 'threads'
}

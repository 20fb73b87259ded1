// Bounds that a program gives by options of node:http2, brought into the range that the engine has. Programs write "no bound" as any large
// number, as grpc-js does with `maxSessionMemory: Number.MAX_SAFE_INTEGER`: none may keep a server from listening.

import { nodeLine } from '../../node_version'
import { checkInteger } from '../codes'

/** The default of node:http2. */
const SETTINGS_DEFAULT = 32
/** The highest count that the engine keeps, of 32 bits. */
const COUNT_MAX = 2 ** 32 - 1
/** The unit of `maxSessionMemory`. */
const BYTES_PER_MB = 1_000_000

/** A whole number from `min` to `max` for any number that is given, as for node a negative one is a large one; undefined for what is no
 * number. */
function within (given: unknown, min: number, max: number): number | undefined {
  if (typeof given !== 'number' || Number.isNaN(given)) return undefined
  return given < 0 ? max : Math.min(Math.max(Math.trunc(given), min), max)
}

/** A count of frames, streams or fields, of at least `min`. */
export const countOf = (given: unknown, min = 0): number | undefined => within(given, min, COUNT_MAX)

/** The bytes of an option in units of 1,000,000, of which node takes at least one. */
export const memoryOf = (megabytes: unknown): number | undefined =>
  typeof megabytes === 'number' ? within(Math.max(megabytes, 1) * BYTES_PER_MB, 0, Number.MAX_SAFE_INTEGER) : undefined

/** Settings that a SETTINGS frame of the peer may have, by the option `maxSettings`. */
export const settingsMaxOf = (given: unknown): number => countOf(given, 1) ?? SETTINGS_DEFAULT

/** The largest window (RFC 9113 section 6.9.1). */
const WINDOW_MAX = 2 ** 31 - 1
/** From this line on node has the option `connectionWindowSize`. */
const hasWindows = nodeLine >= 26

/** Throws for a `connectionWindowSize` that cannot be, where node does. */
export function checkWindow (given: unknown): void { if (hasWindows && given !== undefined) checkInteger(given, 'options.connectionWindowSize', 1, WINDOW_MAX) }

/** The window of a connection by the option `connectionWindowSize`, bytes; undefined: none is given, or none that can be. */
export const windowOf = (given: unknown): number | undefined => Number.isInteger(given) && (given as number) >= 1 && (given as number) <= WINDOW_MAX ? given as number : undefined

/** Bytes of a head that may be sent, by the option `maxSendHeaderBlockLength`. */
export const sentHeadMaxOf = (given: unknown): number | undefined => within(given, 0, Number.MAX_SAFE_INTEGER)

// Detects misspelled option names. Unknown names that resemble no option may belong to another
// version of undici and are ignored, as there.

import { seeHelp } from './help'

/** Options of undici's and node:tls's that are near a name above and mean something else. */
const OTHERS = new Set(['crl', 'pfx', 'host', 'port', 'path', 'keepAliveMsecs', 'autoSelectFamily', 'preferH2', 'maxRedirections'])
/** Letters that may differ in a slip. */
const SLIPS_MAX = 2
const warned = new Set<string>()

/** Letters to be changed, left out or put in to make one name the other. */
function distance (one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++) {
      const same = one[at - 1]!.toLowerCase() === other[to - 1]!.toLowerCase()
      next.push(Math.min(row[to]! + 1, next[to - 1]! + 1, row[to - 1]! + (same ? 0 : 1)))
    }
    row = next
  }
  return row[other.length]!
}

/** The name of `known` that `name` is nearly; undefined: it is near none. */
export function nearest (name: string, known: Iterable<string>): string | undefined {
  const near = [...known].map(one => ({ one, slips: distance(one, name) })).filter(({ slips }) => slips <= SLIPS_MAX)
  return near.sort((one, other) => one.slips - other.slips)[0]?.one
}

function warn (prefix: string, given: object, known: Record<string, true>): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name) || OTHERS.has(name) || name.length < 4 || warned.has(prefix + name)) continue
    const near = Object.keys(known).find(one => distance(one, name) <= SLIPS_MAX)
    if (near === undefined) continue
    warned.add(prefix + name)
    process.emitWarning(`no option of a dispatcher is called ${prefix}${name}, and it changes nothing: is ${prefix}${near} meant?${seeHelp('TRUNKLINE_UNKNOWN_OPTION')}`, { code: 'TRUNKLINE_UNKNOWN_OPTION' })
  }
}

/** Warns once of each name in `options` and in their `connect` that is nearly one of those known. */
export function warnOfSlips (options: object, known: Record<string, true>, connect: object, knownOfConnect: Record<string, true>): void {
  warn('', options, known)
  warn('connect.', connect, knownOfConnect)
}

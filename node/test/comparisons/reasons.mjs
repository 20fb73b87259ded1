// The reason of the accepted differences that is a program's, and the lines of the program that it covers.
import { differences } from './differences.mjs'

/** Over TLS the same programs run, and differ the same way. */
const listOf = set => differences[set === 'server over TLS' ? 'server' : set]

/** `*` stands for any text. */
const patternOf = key => new RegExp(`^${key.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 's')

/** An entry of the list: `of` are the beginnings of the lines that it covers, none: any; `programs` how many it may be of. */
export function entryOf (value) {
  if (typeof value === 'object' && !Array.isArray(value)) return { lines: [], ...value }
  const [reason, ...lines] = [value].flat()
  return { reason, lines }
}

/** Lines that one of two logs has and the other does not, or has more seldom; of the same lines in another order those that
 * stand at another place. */
export function linesThatDiffer (theirs, ours) {
  const left = [...ours]
  const missing = theirs.filter(line => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  if (missing.length + left.length > 0) return [...missing, ...left]
  return theirs.filter((line, at) => line !== ours[at])
}

/** The reasons of a set on a line of Node.js; no line: on any. */
export function reasonsOf (set, line) {
  const exact = new Map()
  const patterns = []
  for (const [key, value] of Object.entries(listOf(set))) {
    const entry = entryOf(value)
    if (line !== undefined && entry.lines.length > 0 && !entry.lines.includes(line)) continue
    if (key.includes('*')) patterns.push({ key, entry, pattern: patternOf(key) })
    else exact.set(key, entry)
  }
  /** The entry that covers these lines, else the first of the program's name. */
  const patternFor = (name, differing = []) => {
    const own = patterns.filter(({ pattern }) => pattern.test(name))
    return own.find(({ entry }) => isCovered(entry, differing)) ?? own[0]
  }
  const isCovered = ({ of }, differing) => of === undefined || differing.every(one => of.some(beginning => one.startsWith(beginning)))
  return {
    /** Whether the reason is of this program alone. */
    isExact: name => exact.has(name),
    find: name => (exact.get(name) ?? patternFor(name)?.entry)?.reason,
    /** Whether a reason covers all lines that differ. */
    covers (name, theirs, ours) {
      const differing = linesThatDiffer(theirs, ours)
      const entry = exact.get(name) ?? patternFor(name, differing)?.entry
      return entry !== undefined && isCovered(entry, differing)
    },
    keyOf: (name, theirs = [], ours = []) => exact.has(name) ? name : patternFor(name, linesThatDiffer(theirs, ours))?.key,
    keys: () => [...exact.keys(), ...patterns.map(({ key }) => key)],
    /** How many programs a reason may be of. */
    boundOf: key => patterns.find(one => one.key === key)?.entry.programs ?? Infinity
  }
}

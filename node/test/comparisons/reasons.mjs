// Which reason of the accepted differences is a program's.
import { differences } from './differences.mjs'

/** Over TLS the same programs run, and differ the same way. */
const listOf = set => differences[set === 'server over TLS' ? 'server' : set]

/** `*` stands for any text. */
const patternOf = key => new RegExp(`^${key.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 's')

/** The reasons of a set on a line of Node.js; no line: on any. */
export function reasonsOf (set, line) {
  const exact = new Map()
  const patterns = []
  for (const [key, value] of Object.entries(listOf(set))) {
    const [reason, ...lines] = [value].flat()
    if (line !== undefined && lines.length > 0 && !lines.includes(line)) continue
    if (key.includes('*')) patterns.push({ key, reason, pattern: patternOf(key) })
    else exact.set(key, reason)
  }
  const patternFor = name => patterns.find(({ pattern }) => pattern.test(name))
  return {
    /** Whether the reason is of this program alone. */
    isExact: name => exact.has(name),
    find: name => exact.get(name) ?? patternFor(name)?.reason,
    keyOf: name => exact.has(name) ? name : patternFor(name)?.key,
    keys: () => [...exact.keys(), ...patterns.map(({ key }) => key)]
  }
}

// Checks of field names and values, and a cache of checked names.

/** RFC 9110 section 5.6.2. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/**
 * Bytes that no value may have on the channel, at one byte per character (RFC 9110 section 5.5).
 */
export const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** Characters above U+00FF, which the channel's one byte per character would truncate. */
const TWO_BYTES = /[^\0-\xff]/

/** A text of parts with a zero between two, which the engine divides at the zeros: one more would be a
 * boundary of a part, and begin another field. */
export function isCrossable (text: string, parts: number): boolean {
  if (TWO_BYTES.test(text)) return false
  let found = 1
  for (let at = text.indexOf('\0'); at >= 0; at = text.indexOf('\0', at + 1)) found++
  return found === parts
}

/** The largest number of cached names, and of characters of one, so that invented names cannot fill the memory. */
const NAMES_MAX = 1024
const NAME_LENGTH_MAX = 256

/** Memoises `look` per name; a throw is not remembered. */
export function remembering<V> (look: (name: string) => V): (name: string) => V {
  const names = new Map<string, V>()
  return name => {
    const known = names.get(name)
    if (known !== undefined) return known
    const seen = look(name)
    if (names.size < NAMES_MAX && name.length <= NAME_LENGTH_MAX) names.set(name, seen)
    return seen
  }
}

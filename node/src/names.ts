// Names and values of fields: what each must be, and what is remembered of names.

/** RFC 9110 section 5.6.2. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** What no value may have, as far as it crosses the border: one byte a character (RFC 9110 section 5.5). */
export const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** Names are few; whoever makes them up does not fill the memory. */
const NAMES_MAX = 1024

/** `look`, which is asked once for each name that it does not throw at. */
export function remembering<K, V> (look: (name: K) => V): (name: K) => V {
  const names = new Map<K, V>()
  return name => {
    const known = names.get(name)
    if (known !== undefined) return known
    const seen = look(name)
    if (names.size < NAMES_MAX) names.set(name, seen)
    return seen
  }
}

// Paths of URLs: the target of a URL whose origin is known, without parsing it where it is plain, because programs ask one origin for many resources;
// and one spelling for paths that mean the same.

/** A path and a query that the URL standard leaves as they are (https://url.spec.whatwg.org/#path-state, #query-state): no character
 * that it encodes, no segment that may be one of dots, no fragment and no empty query, which URL.search leaves out. */
const PLAIN = /^(?:\/(?!\.)[\w!$&()*+,\-.:;=@~]*)+(?:\?[\w!$&()*+,\-./:;=?@~%]+)?$/

/** The path and the query of a URL of `origin`, as the URL standard writes it; null: the URL must be parsed. */
export function plainPath (url: string, origin: string): string | null {
  if (!url.startsWith(origin)) return null
  const path = url.slice(origin.length)
  return PLAIN.test(path) ? path : null
}

/** Characters that the URL standard leaves in a path as they are, without those that mean something there. */
const UNESCAPED = /[!$&'()*+,\-.:;=@\w~[\]|]/

/** A path whose escapes are in capitals, and are none where the character may stand itself: `/%61%c3%a4` and `/a%C3%A4` are equivalent (RFC 3986 section 6.2.2),
 * and a rule for one that did not hold for the other would be no rule. */
export function canonicalPath (path: string): string {
  if (!path.includes('%')) return path
  return path.replace(/%[0-9a-f]{2}/gi, escape => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return UNESCAPED.test(character) ? character : escape.toUpperCase()
  })
}

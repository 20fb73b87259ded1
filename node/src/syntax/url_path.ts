// The target of a URL whose origin is known, without parsing it where it is plain: programs ask one origin for many resources.

/** A path and a query that the URL standard leaves as they are (https://url.spec.whatwg.org/#path-state, #query-state): no character
 * that it encodes, no segment that may be one of dots, no fragment and no empty query, which URL.search leaves out. */
const PLAIN = /^(?:\/(?!\.)[\w!$&()*+,\-.:;=@~]*)+(?:\?[\w!$&()*+,\-./:;=?@~%]+)?$/

/** The path and the query of a URL of `origin`, as the URL standard writes it; null: the URL must be parsed. */
export function plainPath (url: string, origin: string): string | null {
  if (!url.startsWith(origin)) return null
  const path = url.slice(origin.length)
  return PLAIN.test(path) ? path : null
}

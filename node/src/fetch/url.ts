// URLs of requests: parsed once where the same text comes again, as nearly every URL does.

import { plainPath } from '../syntax/url_path'

/** The parts of a URL that a request needs. */
export interface ParsedUrl {
  /** All of it. */
  href: string
  /** Without its fragment. */
  bare: string
  protocol: string
  origin: string
  /** With the query. */
  path: string
  port: string
  hasCredentials: boolean
}

/** Texts that are kept with what they say. */
const RECENT_MAX = 512
/** Longer ones are not kept: a data: URL has its data in it. */
const KEPT_LENGTH_MAX = 2048
const recent = new Map<string, ParsedUrl>()
/** The last URL of http or https that was parsed: the next one mostly has its origin. */
let last: ParsedUrl | null = null

/** By this Node.js's own fetch, and undici, know the base URL of relative ones. */
const GLOBAL_ORIGIN = Symbol.for('undici.globalOrigin.1')

/** The base of relative URLs; undefined, as it usually is: there is none. */
export function baseUrl (): URL | undefined {
  return (globalThis as unknown as Record<symbol, URL | undefined>)[GLOBAL_ORIGIN]
}

export function partsOfUrl (url: URL): ParsedUrl {
  const { href, hash, protocol, origin, pathname, search, port, username, password } = url
  const bare = hash === '' && !href.endsWith('#') ? href : href.slice(0, href.indexOf('#'))
  // An empty query is a part of the target, which URL.search does not say.
  const path = search === '' && bare.endsWith('?') ? `${pathname}?` : pathname + search
  return { href, bare, protocol, origin, path, port, hasCredentials: username !== '' || password !== '' }
}

/** A URL; null: the text is none. With `URL.canParse` before it each text would be parsed twice. */
export function urlOf (text: string, base: string | URL | undefined): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/** The parts of a URL; null: it is none. */
export function parseUrl (text: string): ParsedUrl | null {
  const known = recent.get(text)
  if (known !== undefined) return known
  const path = last === null ? null : plainPath(text, last.origin)
  if (path !== null) return { href: text, bare: text, protocol: last!.protocol, origin: last!.origin, path, port: last!.port, hasCredentials: false }
  const base = baseUrl()
  const url = urlOf(text, base)
  if (url === null) return null
  const parts = partsOfUrl(url)
  if (isHttp(parts)) last = parts
  if (base !== undefined || text.length > KEPT_LENGTH_MAX) return parts
  if (recent.size >= RECENT_MAX) recent.clear()
  recent.set(text, parts)
  return parts
}

export function isHttp ({ protocol }: ParsedUrl): boolean { return protocol === 'https:' || protocol === 'http:' }

/** https://fetch.spec.whatwg.org/#port-blocking */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989,
  990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
].map(String))

export function hasBadPort (url: ParsedUrl): boolean { return url.port !== '' && isHttp(url) && BAD_PORTS.has(url.port) }

// The URL of a request of a server.

import type { Exchange } from '../../server/exchange'
import { canonicalPath } from '../../syntax/url_path'

/** A path and query that the URL standard may write otherwise: dot segments, and characters that it escapes. */
const UNUSUAL_PATH = /\/(?:\.|%2e)|[^!$%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]/i
/** Authorities that need normalisation: capitals, brackets, default ports. */
const UNUSUAL_AUTHORITY = /[^a-z0-9.:-]|:(?:80|443)?$/

/** The bytes of a target that are not of ASCII, escaped one by one: read as characters of Latin-1, the URL standard would write each
 * as two bytes of UTF-8. */
const escaped = (target: string): string => target.replace(/[\x80-\xff]/g, byte => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)

export function urlOf (exchange: Exchange): string {
  const { authority } = exchange
  const path = escaped(exchange.path)
  // The absolute form of HTTP/1.1 (RFC 9112 section 3.2.2).
  const isAbsolute = !path.startsWith('/') && /^https?:\/\//.test(path)
  if (!isAbsolute && (authority === '' || path === '*')) return unnamed(exchange)
  const url = isAbsolute ? path : `${exchange.scheme}://${authority}${path}`
  if (!isAbsolute && !UNUSUAL_PATH.test(path) && !UNUSUAL_AUTHORITY.test(authority)) return url
  return URL.canParse(url) ? new URL(url).href : url
}

/**
 * The URL of a request that does not say all of it: HTTP/1.0 needs no `host`, and the server's own name stands for it then; `*` means the
 * server as a whole, whose path is empty (RFC 9112 section 3.3).
 */
function unnamed ({ path, authority, scheme, connection }: Exchange): string {
  const { localAddress = 'localhost', localPort } = connection
  const own = `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}${localPort === undefined ? '' : `:${localPort}`}`
  const url = `${scheme}://${authority === '' ? own : authority}${path === '*' ? '/' : path}`
  return URL.canParse(url) ? new URL(url).href : url
}

/** The path of a request, without its query, as in its `url`; of the spellings that escapes allow it has one, for routes and folders alike. */
export function pathOf (exchange: Exchange): string {
  const { path } = exchange
  if (!path.startsWith('/') || UNUSUAL_PATH.test(path)) {
    const url = urlOf(exchange)
    return canonicalPath(URL.canParse(url) ? new URL(url).pathname : path)
  }
  return canonicalPath(queryOf(path) === '' ? path : path.slice(0, path.indexOf('?')))
}

/** The query of a target with its question mark; '': none. */
export function queryOf (target: string): string {
  const at = target.indexOf('?')
  return at === -1 ? '' : target.slice(at)
}

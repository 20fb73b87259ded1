// The URL of a request of a server, and the built-in `Request` that stands in its place where Node.js's own fetch takes it.

import { requestPartsOf, type Request } from '../../fetch/request'
import type { Exchange } from '../../server/exchange'
import { Incoming } from '../incoming'

/** A path and query that the URL standard may write otherwise: dot segments, and characters that it escapes. */
const UNUSUAL_PATH = /\/(?:\.|%2e)|[^!$%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]/i
/** Authorities that need normalisation: capitals, brackets, default ports. */
const UNUSUAL_AUTHORITY = /[^a-z0-9.:-]|:(?:80|443)?$/

export function urlOf (exchange: Exchange): string {
  const { path, authority } = exchange
  // The absolute form of HTTP/1.1 (RFC 9112 section 3.2.2).
  const isAbsolute = !path.startsWith('/') && /^https?:\/\//.test(path)
  const url = isAbsolute ? path : `${exchange.scheme}://${authority}${path}`
  if (!isAbsolute && !UNUSUAL_PATH.test(path) && !UNUSUAL_AUTHORITY.test(authority)) return url
  return URL.canParse(url) ? new URL(url).href : url
}

/** The path of a request, without its query, as in its `url`. */
export function pathOf (exchange: Exchange): string {
  const { path } = exchange
  if (!path.startsWith('/') || UNUSUAL_PATH.test(path)) {
    const url = urlOf(exchange)
    return URL.canParse(url) ? new URL(url).pathname : path
  }
  const query = path.indexOf('?')
  return query === -1 ? path : path.slice(0, query)
}

/** The state behind a request of a server; undefined: it is not one. */
export function incomingOf (request: unknown): Incoming | undefined {
  const parts = requestPartsOf(request)
  return parts instanceof Incoming ? parts : undefined
}

/** A request of Node.js's own class that is what `request` is: to be read in its place. `takesBody`: the body goes with it, else its length is
 * left out too. `BuiltIn`: that class. */
export function builtInOf (request: Request, takesBody: boolean, BuiltIn: typeof globalThis.Request): globalThis.Request {
  const parts = requestPartsOf(request)!
  const { method, url, body, signal, redirect, referrerPolicy, integrity, keepalive, cache, credentials } = request
  const headers = new globalThis.Headers(parts.sendable().sorted())
  const settings = { redirect, referrerPolicy, integrity, keepalive, cache, credentials } as RequestInit
  const made = new BuiltIn(url, { ...settings, method, headers, body: takesBody ? body : null, duplex: 'half', signal })
  if (!takesBody) made.headers.delete('content-length')
  return made
}

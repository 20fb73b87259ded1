// The state behind a request of a server, and the built-in `Request` that stands in its place where Node.js's own fetch takes it.

import { requestPartsOf, type Request } from '../../fetch/request'
import { Incoming } from '../incoming'

/** The state behind a request of a server; undefined: it is not one. */
export function incomingOf (request: unknown): Incoming | undefined {
  const parts = requestPartsOf(request)
  return parts instanceof Incoming ? parts : undefined
}

/** A request of Node.js's own class that is what `request` is: to be read in its place. `asksBody`: the body goes with it, else its length is
 * left out too. `BuiltIn`: that class. */
export function builtInOf (request: Request, asksBody: boolean, BuiltIn: typeof globalThis.Request): globalThis.Request {
  const parts = requestPartsOf(request)!
  const { method, url, signal, redirect, referrerPolicy, integrity, keepalive, cache, credentials } = request
  const headers = new globalThis.Headers(parts.sendable().sorted())
  const settings = { redirect, referrerPolicy, integrity, keepalive, cache, credentials } as RequestInit
  const made = new BuiltIn(url, { ...settings, method, headers, body: asksBody ? request.body : null, duplex: 'half', signal })
  if (!asksBody) made.headers.delete('content-length')
  return made
}

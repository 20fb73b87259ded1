// `tls` of `serve` in Bun's forms: a list of certificates by `serverName`, and files in the place of their text.

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { IdentityOptions, ServeTls } from '../server/tls/identity'
import { FileBody } from './web/file_body'

/** Paths in the place of texts. */
export interface TlsPaths {
  /** As `cert: file(path)`. */
  certFile?: string | undefined
  /** As `key: file(path)`. */
  keyFile?: string | undefined
  /** As `ca: file(path)`. */
  caFile?: string | undefined
}

/** A certificate with its key, for clients that ask for a name. */
export interface NamedTls extends Omit<ServeTls, 'names'>, TlsPaths {
  /** The name; the first of a list needs none. */
  serverName?: string | undefined
  /** Bun's; it has no effect here. */
  lowMemoryMode?: boolean | undefined
}

/** Options whose values may be files. */
const TEXTS = ['cert', 'key', 'ca', 'pfx', 'crl'] as const

function textOf (value: unknown): unknown {
  if (value instanceof FileBody) return readFileSync(value.path)
  return Array.isArray(value) ? value.map(textOf) : value
}

const PATHS = { certFile: 'cert', keyFile: 'key', caFile: 'ca' }

/** With the files read. */
function read<T extends object> (given: T): T {
  const own = { ...given } as Record<string, unknown>
  for (const [name, text] of Object.entries(PATHS)) {
    const path = own[name]
    delete own[name]
    if (path == null) continue
    if (typeof path !== 'string') throw new TypeError(`tls.${name} is ${inspect(path, { depth: 0 })}; it must be a path`)
    own[text] ??= readFileSync(path)
  }
  for (const name of TEXTS) if (own[name] !== undefined) own[name] = textOf(own[name])
  return own as T
}

/** One or several as the form with `names`. */
export function tlsOfList (given: ServeTls | NamedTls[]): ServeTls {
  const [first, ...others] = Array.isArray(given) ? given : [given as NamedTls & ServeTls]
  if (first === undefined) throw new TypeError('tls is an empty list; it must have a certificate')
  const { serverName: _, lowMemoryMode: __, ...own } = read(first) as NamedTls & ServeTls
  const names: Record<string, IdentityOptions> = {}
  for (const [name, identity] of Object.entries(own.names ?? {})) names[name] = read(identity)
  for (const [at, other] of others.entries()) {
    const { serverName, cert, key, pfx, passphrase, lowMemoryMode: ___, ...rest } = read(other)
    if (typeof serverName !== 'string' || serverName === '') throw new TypeError(`tls[${at + 1}] has no serverName; each certificate behind the first must say which host it is for`)
    const [extra] = Object.keys(rest)
    if (extra !== undefined) throw new TypeError(`tls[${at + 1}] has ${extra}; what is behind the first has serverName, cert, key, pfx and passphrase, and the rest is the server's`)
    names[serverName] = { cert, key, pfx, passphrase } as IdentityOptions
  }
  if (Object.keys(names).length === 0) return own
  // In a list of Bun's a certificate is for the name that it is given for, whatever names it has: one of development may have one name alone.
  return { ...own, names, ...(others.length > 0 ? { anyNames: true } : {}) }
}

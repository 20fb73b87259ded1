// The head of a request: node:http2's checks and defaults, and its text for the machine.

import { sensitiveHeaders } from 'node:http2'
import { BAD_VALUE } from '../../syntax/names'
import { invalidPseudoHeader, plain, singleValue } from '../codes'
import { endedFieldText, nameOf, objectOfPairs, type Headers } from '../fields'

/** Methods whose requests have no body unless their user says so. */
const BODILESS = new Set(['DELETE', 'GET', 'HEAD'])

/** A pseudo-header with one byte for each character, as node:http2 writes it; undefined: no head can carry it. */
function pseudoOf (value: string): string | undefined {
  if (!BAD_VALUE.test(value)) return value
  const bytes = Buffer.from(value, 'latin1').toString('latin1')
  return BAD_VALUE.test(bytes) ? undefined : bytes
}

/** A fragment is the client's own, and not sent (RFC 9110 section 7.1). A scheme has no colon (RFC 3986 section 3.1): `url.protocol` has
 * one, and some clients pass it on, as firebase-admin does. */
function sentPart (name: string, value: string): string {
  const end = name === ':path' ? value.indexOf('#') : name === ':scheme' && value.endsWith(':') ? value.length - 1 : -1
  return end < 0 ? value : value.slice(0, end)
}

class HeadText {
  private pseudo = ''
  private fields = ''
  private singles: string[] | undefined
  /** The machine refuses it: as with node:http2, the stream ends with PROTOCOL_ERROR and the call does not throw. */
  private isUnsendable = false
  private readonly hidden: string[] | undefined

  constructor (sensitive: string[] | undefined, private readonly isStrict: boolean, private readonly allowsPseudo: boolean) {
    this.hidden = sensitive === undefined || sensitive.length === 0 ? undefined : sensitive.map(name => name.toLowerCase())
  }

  add (key: string, value: unknown): void {
    if (value === undefined || key === '') return
    const values = Array.isArray(value) ? value as unknown[] : undefined
    if (values?.length === 0) return
    const name = nameOf(key)
    if (name.isSingle && this.isStrict) {
      if ((values !== undefined && values.length > 1) || this.singles?.includes(name.lower)) throw singleValue(name.lower)
      ;(this.singles ??= []).push(name.lower)
    }
    const isHidden = this.hidden !== undefined && this.hidden.includes(name.lower)
    if (name.isPseudo) {
      if (!this.allowsPseudo) throw invalidPseudoHeader(name.lower)
      const one = pseudoOf(sentPart(name.lower, String(values === undefined ? value : values[0])))
      if (one === undefined) this.isUnsendable = true
      else this.pseudo += endedFieldText(name, one, isHidden)
    } else if (values === undefined) this.fields += endedFieldText(name, typeof value === 'string' ? value : String(value), isHidden)
    else for (const one of values) this.fields += endedFieldText(name, String(one), isHidden)
  }

  /** Without the zero behind the last value. */
  get text (): string {
    if (this.isUnsendable) return ''
    return (this.pseudo + this.fields).slice(0, -1)
  }
}

/** The facts of a session that are the defaults of its requests. */
export interface Defaults { readonly authority: string; readonly protocol: string; readonly isStrict: boolean }

/** A head that is good. */
export interface OutgoingHead {
  readonly text: string
  readonly method: string
  readonly origin: string
  readonly endsByDefault: boolean
  /** As `stream.sentHeaders` has them. */
  sent: () => Headers
}

class GivenHead implements OutgoingHead {
  readonly method: string

  constructor (readonly text: string, private readonly headers: Headers) { this.method = headers[':method'] as string }

  get origin (): string { return `${this.headers[':scheme'] as string}://${(this.headers[':authority'] ?? this.headers['host']) as string}` }
  get endsByDefault (): boolean { return BODILESS.has(this.method) }
  sent (): Headers { return Object.assign(Object.create(null), this.headers) as Headers }
}

/** Throws where a CONNECT does not name an authority alone (RFC 9113 section 8.5). */
function checkConnect (authority: unknown, scheme: unknown, path: unknown): void {
  if (authority === undefined) throw plain('ERR_HTTP2_CONNECT_AUTHORITY')
  if (scheme !== undefined) throw plain('ERR_HTTP2_CONNECT_SCHEME')
  if (path !== undefined) throw plain('ERR_HTTP2_CONNECT_PATH')
}

/** Adds the pseudo-headers that are not given. */
function withDefaults (headers: Headers, { authority, protocol }: Defaults): Headers {
  if (headers[':method'] === undefined) headers[':method'] = 'GET'
  if (headers[':method'] !== 'CONNECT' || headers[':protocol'] !== undefined) {
    if (headers[':authority'] === undefined && headers['host'] === undefined) headers[':authority'] = authority
    if (headers[':scheme'] === undefined) headers[':scheme'] = protocol.slice(0, -1)
    if (headers[':path'] === undefined) headers[':path'] = '/'
  } else checkConnect(headers[':authority'], headers[':scheme'], headers[':path'])
  return headers
}

/** The head of headers in an object. */
export function headOf (given: Headers, defaults: Defaults): OutgoingHead {
  // A copy with the prototype of all objects costs a fraction of one without: its members are no dictionary.
  const headers = withDefaults({ ...given }, defaults)
  const text = new HeadText(headers[sensitiveHeaders] as string[] | undefined, defaults.isStrict, true)
  for (const key of Object.keys(headers)) text.add(key, headers[key])
  return new GivenHead(text.text, headers)
}

/** The head of names and values by turns. */
export function rawHeadOf (given: readonly unknown[], { authority, protocol, isStrict }: Defaults): OutgoingHead {
  const found = new Map<string, unknown>()
  for (let at = 0; at < given.length; at += 2) {
    const name = String(given[at]).toLowerCase()
    if (name[0] === ':' || name === 'host') found.set(name, given[at + 1])
  }
  const defaults: unknown[] = []
  const add = (name: string, value: string): void => {
    if (found.get(name) !== undefined) return
    found.set(name, value)
    defaults.push(name, value)
  }
  add(':method', 'GET')
  const method = found.get(':method') as string
  if (method !== 'CONNECT' || found.get(':protocol') !== undefined) {
    if (found.get('host') === undefined) add(':authority', authority)
    add(':scheme', protocol.slice(0, -1))
    add(':path', '/')
  } else checkConnect(found.get(':authority'), found.get(':scheme'), found.get(':path'))
  const raw = [...defaults, ...given]
  const sensitive = (given as unknown as Headers)[sensitiveHeaders] as string[] | undefined
  const text = new HeadText(sensitive, isStrict, true)
  for (let at = 0; at < raw.length; at += 2) text.add(String(raw[at]), raw[at + 1])
  const named = (found.get(':authority') ?? found.get('host')) as string
  return { text: text.text, method, origin: `${found.get(':scheme') as string}://${named}`, endsByDefault: BODILESS.has(method), sent: () => objectOfPairs(raw, sensitive) }
}

/** The text of trailers, which have no pseudo-headers. */
export function trailersOf (headers: Headers, isStrict: boolean): string {
  const text = new HeadText(headers[sensitiveHeaders] as string[] | undefined, isStrict, false)
  for (const key in headers) text.add(key, headers[key])
  return text.text
}

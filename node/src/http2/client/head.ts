// The head of a request: node:http2's checks and defaults, and its text for the machine.

import { sensitiveHeaders } from 'node:http2'
import { BAD_VALUE, remembering } from '../../names'
import { connectionHeader, invalidCharacter, invalidPseudoHeader, invalidToken, singleValue } from '../codes'
import { isSingle, objectOfPairs, type Headers } from '../fields'
import { ofClient } from './errors'
import { TEXT_LENGTH_MAX } from './machines'

/** Before the name of a field that no compressor may keep. */
const SENSITIVE = '\x01'
const BAD_NAME = /[^!#$%&'*+\-.^_`|~0-9a-z]/
const PSEUDO = new Set([':status', ':method', ':authority', ':scheme', ':path', ':protocol'])
/** RFC 9113 section 8.2.2. */
const OF_CONNECTIONS = new Set(['connection', 'upgrade', 'http2-settings', 'keep-alive', 'proxy-connection', 'transfer-encoding'])
/** Methods whose requests have no body unless their user says so. */
const BODILESS = new Set(['DELETE', 'GET', 'HEAD'])

/** The cached facts of a name. */
interface Name {
  readonly lower: string
  readonly isPseudo: boolean
  readonly isSingle: boolean
  /** The last value that was looked at and was good: most come again and again. */
  good: string
}

const nameOf = remembering((key: string): Name => {
  const lower = key.toLowerCase()
  const isPseudo = lower[0] === ':'
  if (isPseudo && !PSEUDO.has(lower)) throw invalidPseudoHeader(lower)
  if (!isPseudo && BAD_NAME.test(lower)) throw invalidToken('Header name', lower)
  if (OF_CONNECTIONS.has(lower)) throw connectionHeader(lower)
  return { lower, isPseudo, isSingle: isSingle(lower), good: '' }
})

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
/** Without the blanks around it, which no field has (RFC 9113 section 8.2.1). */
function trimmed (value: string): string {
  return isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1)) ? value.replace(/^[ \t]+|[ \t]+$/g, '') : value
}

/** Whether a pseudo-header has a character that no head can carry. */
const isBadPseudo = (name: Name, value: string): boolean => name.isPseudo && BAD_VALUE.test(value)

/** One field for the machine. */
function field (name: Name, given: string, isHidden: boolean): string {
  const value = trimmed(given)
  if (name.good !== value) {
    if (BAD_VALUE.test(value)) throw invalidCharacter('header content', name.lower)
    if (name.lower === 'te' && value !== 'trailers') throw connectionHeader('te')
    name.good = value
  }
  return `${isHidden ? SENSITIVE : ''}${name.lower}\0${value}\0`
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
      const one = String(values === undefined ? value : values[0])
      if (isBadPseudo(name, one)) this.isUnsendable = true
      else this.pseudo += field(name, one, isHidden)
    } else if (values === undefined) {
      this.fields += field(name, typeof value === 'string' ? value : String(value), isHidden)
    } else for (const one of values) this.fields += field(name, String(one), isHidden)
  }

  /** Without the zero behind the last value. */
  get text (): string {
    if (this.isUnsendable) return ''
    const text = this.pseudo + this.fields
    if (text.length > TEXT_LENGTH_MAX) throw new RangeError(`the headers have ${text.length} bytes; they must have at most ${TEXT_LENGTH_MAX}`)
    return text.slice(0, -1)
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
  readonly sent: Headers | (() => Headers)
}

/** Throws where a CONNECT does not name an authority alone (RFC 9113 section 8.5). */
function checkConnect (authority: unknown, scheme: unknown, path: unknown): void {
  if (authority === undefined) throw ofClient('ERR_HTTP2_CONNECT_AUTHORITY')
  if (scheme !== undefined) throw ofClient('ERR_HTTP2_CONNECT_SCHEME')
  if (path !== undefined) throw ofClient('ERR_HTTP2_CONNECT_PATH')
}

/** The head that was made last, and of what: programs ask for the same again and again. Only of headers whose values are texts or
 * numbers. */
let last: Defaults & { names: readonly string[]; values: readonly unknown[]; head: OutgoingHead } | null = null
/** Longer heads are not kept. */
const KEPT_LENGTH_MAX = 4096

function isLast (names: readonly string[], values: readonly unknown[], { authority, protocol, isStrict }: Defaults): boolean {
  if (last === null || last.names.length !== names.length) return false
  if (last.authority !== authority || last.protocol !== protocol || last.isStrict !== isStrict) return false
  for (let at = 0; at < names.length; at++) if (names[at] !== last.names[at] || values[at] !== last.values[at]) return false
  return true
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

/** The head of headers in an object. */
export function headOf (given: Headers, defaults: Defaults): OutgoingHead {
  // The names of sensitive fields lie under a symbol.
  if (Object.getOwnPropertySymbols(given).length > 0) return headOfCopy(Object.assign(Object.create(null), given) as Headers, defaults)
  const names = Object.keys(given)
  const values = names.map(name => given[name] as unknown)
  if (!isLast(names, values, defaults)) {
    const head = headOfCopy(objectOfParts(names, values), defaults)
    if (head.text.length > KEPT_LENGTH_MAX || !values.every(isPlain)) return head
    const { authority, protocol, isStrict } = defaults
    last = { names, values, authority, protocol, isStrict, head }
  }
  const { head } = last!
  const { text, method, origin, endsByDefault } = head
  return { text, method, origin, endsByDefault, sent: () => withDefaults(objectOfParts(names, values), defaults) }
}

function objectOfParts (names: readonly string[], values: readonly unknown[]): Headers {
  const headers = Object.create(null) as Headers
  for (let at = 0; at < names.length; at++) headers[names[at]!] = values[at]
  return headers
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

/** The head of a copy of headers, which it keeps. */
function headOfCopy (copy: Headers, defaults: Defaults): OutgoingHead {
  const headers = withDefaults(copy, defaults)
  const method = headers[':method'] as string
  const text = new HeadText(headers[sensitiveHeaders] as string[] | undefined, defaults.isStrict, true)
  for (const key in headers) text.add(key, headers[key])
  const named = (headers[':authority'] ?? headers['host']) as string
  return { text: text.text, method, origin: `${headers[':scheme'] as string}://${named}`, endsByDefault: BODILESS.has(method), sent: headers }
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

// Header objects of node:http2, and their text on the channel.

import { sensitiveHeaders } from 'node:http2'
import { HEAD_BYTES_MAX } from '../channel/ring'
import { BAD_VALUE, remembering } from '../syntax/names'
import { stripped } from '../syntax/strip'
import { checkLength } from '../server/exchange'
import { connectionHeader, invalidPseudoHeader, invalidToken, singleValue } from './codes'

/** Headers as users give and get them. */
export type Headers = Record<string | symbol, any>

/** Before the name of a field that no intermediary may index. */
const SENSITIVE = '\x01'
const BAD_NAME = /[^!#$%&'*+\-.^_`|~0-9a-z]/

/** Fields of which a message has one at most. */
const SINGLE = new Set([
  ':status', ':method', ':authority', ':scheme', ':path', ':protocol', 'access-control-allow-credentials',
  'access-control-max-age', 'access-control-request-method', 'age', 'authorization', 'content-encoding',
  'content-language', 'content-length', 'content-location', 'content-md5', 'content-range', 'content-type', 'date',
  'dnt', 'etag', 'expires', 'from', 'host', 'if-match', 'if-modified-since', 'if-none-match', 'if-range',
  'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'range', 'referer',
  'retry-after', 'tk', 'upgrade-insecure-requests', 'user-agent', 'x-content-type-options'
])
const PSEUDO = new Set([':status', ':method', ':authority', ':scheme', ':path', ':protocol'])
/** RFC 9113 section 8.2.2. */
const OF_CONNECTIONS = new Set(['connection', 'upgrade', 'http2-settings', 'keep-alive', 'proxy-connection', 'transfer-encoding'])

/** The cached facts of a name. */
export interface Name {
  readonly lower: string
  readonly isPseudo: boolean
  /** Whether a message has one field of this name at most. */
  readonly isSingle: boolean
  /** The last value that was looked at and was good: most come again and again. */
  good: string
  /** The field of that value with a zero behind its name and its value; empty: not made yet. */
  goodText: string
}

/** Throws where no message has a field of this name. */
export const nameOf = remembering((key: string): Name => {
  const lower = key.toLowerCase()
  const isPseudo = lower[0] === ':'
  if (isPseudo && !PSEUDO.has(lower)) throw invalidPseudoHeader(lower)
  if (!isPseudo && BAD_NAME.test(lower)) throw invalidToken(lower)
  if (OF_CONNECTIONS.has(lower)) throw connectionHeader(lower)
  return { lower, isPseudo, isSingle: SINGLE.has(lower), good: '', goodText: '' }
})

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
/** A value without the blanks around it, which no field has (RFC 9113 section 8.2.1); HTTP/1.1 leaves them out too. */
function trimmed (value: string): string {
  return isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1)) ? stripped(value, ' \t') : value
}

let hasWarned = false
function warnLeftOut (name: string): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(`the field ${name} is left out of its message, because its value has a character that no field may have (RFC 9110 section 5.5)`, { code: 'TRUNKLINE_FIELD_LEFT_OUT' })
}

/** A value with one byte for each character, as node:http2 writes it; undefined: it has a byte that no field may have. Node sends that
 * too, and its peers leave the field out. */
function sendable (value: string): string | undefined {
  const bytes = trimmed(Buffer.from(value, 'latin1').toString('latin1'))
  return BAD_VALUE.test(bytes) ? undefined : bytes
}

/** Makes a value the good one of its name; false: the field is left out. Throws where the field cannot have the value. */
function keepGood (name: Name, given: string): boolean {
  let value = trimmed(given)
  if (name.good === value) return true
  if (BAD_VALUE.test(value)) {
    const bytes = sendable(value)
    if (bytes === undefined) {
      warnLeftOut(name.lower)
      return false
    }
    value = bytes
  }
  if (name.lower === 'te' && value !== 'trailers') throw connectionHeader('te')
  name.good = value
  name.goodText = ''
  return true
}

/** A field as it crosses the channel, with a zero behind its name and its value; empty: it is left out. Throws where the field cannot have the value. */
export function endedFieldText (name: Name, given: string, isHidden: boolean): string {
  if (!keepGood(name, given)) return ''
  if (name.goodText === '') name.goodText = `${name.lower}\0${name.good}\0`
  return isHidden ? SENSITIVE + name.goodText : name.goodText
}

/** Whether a pseudo-header may be left out of the text, because it goes another way. */
function checkPseudo (key: string, value: unknown, allowed: string): void {
  const lower = key.toLowerCase()
  if (Array.isArray(value) && value.length > 1 && SINGLE.has(lower)) throw singleValue(lower)
  if (lower !== allowed) throw invalidPseudoHeader(lower)
}

/** Names and values by turns of the headers that are looked at. The array is never cut: what of it
 * counts is said beside it. */
const pairs: unknown[] = []
function readPairs (headers: Headers): number {
  let count = 0
  for (const key in headers) {
    if (!Object.hasOwn(headers, key)) continue
    pairs[count] = key
    pairs[count + 1] = headers[key]
    count += 2
  }
  return count
}

/** The text of `headers`; `pseudo` is the one pseudo-header that may stand there, and is left out. `isStrict`: fields of which
 * a message has one have one value. */
export function textOf (headers: Headers, pseudo = '', isStrict = true): string {
  const count = readPairs(headers)
  return textOfPairs(count, pseudo, hiddenOf(headers[sensitiveHeaders]), isStrict)
}

/** The text of a final head of names and values by turns, in their order. */
export function textOfList (list: readonly unknown[], isStrict: boolean): string {
  for (let at = 0; at < list.length; at++) pairs[at] = at % 2 === 0 ? String(list[at]) : list[at]
  return textOfPairs(list.length, ':status', hiddenOf((list as unknown as Headers)[sensitiveHeaders]), isStrict)
}

/** Names and values by turns as an object: names as they are given, and a repeated one with all its values. */
export function objectOfPairs (list: readonly unknown[], sensitive = (list as unknown as Headers)[sensitiveHeaders] as string[] | undefined): Headers {
  const headers = Object.create(null) as Headers
  for (let at = 0; at < list.length; at += 2) {
    const name = String(list[at])
    const before = headers[name] as unknown
    if (before === undefined) headers[name] = list[at + 1]
    else if (Array.isArray(before)) before.push(list[at + 1])
    else headers[name] = [before, list[at + 1]]
  }
  if (sensitive !== undefined) headers[sensitiveHeaders] = sensitive
  return headers
}

/** The lower-case names of fields that no compressor may keep. */
function hiddenOf (sensitive: unknown): string[] | undefined {
  return Array.isArray(sensitive) && sensitive.length > 0 ? (sensitive as string[]).map(name => name.toLowerCase()) : undefined
}

function textOfPairs (count: number, pseudo: string, hidden: string[] | undefined, isStrict: boolean): string {
  let text = ''
  let singles: string[] | undefined
  for (let at = 0; at < count; at += 2) {
    const key = pairs[at] as string
    const value = pairs[at + 1]
    if (value === undefined || key === '') continue
    if (key[0] === ':') {
      checkPseudo(key, value, pseudo)
      continue
    }
    const values = Array.isArray(value) ? value as unknown[] : undefined
    if (values?.length === 0) continue
    const name = nameOf(key)
    const isHidden = hidden !== undefined && hidden.includes(name.lower)
    if (name.isSingle && isStrict) {
      if ((values !== undefined && values.length > 1) || singles?.includes(name.lower)) throw singleValue(name.lower)
      ;(singles ??= []).push(name.lower)
    }
    if (values === undefined) text += endedFieldText(name, typeof value === 'string' ? value : String(value), isHidden)
    else for (const one of values) text += endedFieldText(name, String(one), isHidden)
  }
  // Without the zero behind the last value.
  text = text.slice(0, -1)
  // Another head may be given in its place. Trailers have no pseudo-header, and are mostly given in a listener, out of which nothing is to be thrown: they are a `frameError`.
  if (pseudo !== '') checkLength(text.length)
  return text
}

/** Bytes of a header block at most, unless `maxSendHeaderBlockLength` says it: nghttp2's default. */
export const BLOCK_BYTES_DEFAULT = 65_536

/** Whether a text crosses to the engine in no piece, or its header block may have more bytes than `most`: what nghttp2 compares with `maxSendHeaderBlockLength`. Two
 * changes of the table's size, each field as a literal with two lengths of six bytes, and `:status` beside the text. */
export function exceedsBlock (text: string, most: number): boolean {
  if (text.length > HEAD_BYTES_MAX) return true
  // A text has fewer fields than characters.
  if (BLOCK_OVERHEAD + (1 + FIELD_OVERHEAD) * text.length <= most) return false
  let zeros = 0
  for (let at = text.indexOf('\0'); at !== -1; at = text.indexOf('\0', at + 1)) zeros++
  const fields = text === '' ? 0 : (zeros + 1) / 2
  return BLOCK_OVERHEAD + FIELD_OVERHEAD * fields + text.length - zeros > most
}
const FIELD_OVERHEAD = 12
const BLOCK_OVERHEAD = 12 + FIELD_OVERHEAD + ':status200'.length

/** A final head that is good, as it was given. */
class FinalHead {
  private date = ''
  private datedText = ''
  readonly hasDate: boolean

  constructor (readonly status: number, private readonly pairs: readonly unknown[], readonly text: string) {
    this.hasDate = pairs.some((part, at) => at % 2 === 0 && part === 'date')
  }

  /** The text with a date behind it. */
  dated (date: string): string {
    if (this.date !== date) {
      this.date = date
      this.datedText = `${this.text}${this.text === '' ? '' : '\0'}date\0${date}`
    }
    return this.datedText
  }

  /** The headers that it was made of, with its status, and a date if that was added. `isGiven`: by a program, where node:http2 shows that
   * it keeps no name from compressors. */
  headers (date: string | undefined, isGiven: boolean): Headers {
    const { pairs } = this
    const headers = Object.create(null) as Headers
    for (let at = 0; at < pairs.length; at += 2) headers[pairs[at] as string] = pairs[at + 1]
    headers[':status'] = this.status
    if (date !== undefined) headers.date = date
    if (isGiven) headers[sensitiveHeaders] = undefined
    return headers
  }
}

/** Headers of a final head, if there is nothing special about them. */
export function finalHead (given: Headers): FinalHead | undefined {
  if (given[sensitiveHeaders] !== undefined) return undefined
  const count = readPairs(given)
  for (let at = 0; at < count; at += 2) {
    if (!isPlainName(pairs[at] as string) || !isPlainValue(pairs[at + 1])) return undefined
  }
  const status = (given[':status'] as number | 0) | 0 || 200
  if (status < 200 || status > 599) return undefined
  return new FinalHead(status, pairs.slice(0, count), textOfPairs(count, ':status', undefined, true))
}

function isPlainName (name: string): boolean { return name === name.toLowerCase() }
/** An object's content may change before its next use. */
function isPlainValue (value: unknown): boolean { return typeof value === 'string' || typeof value === 'number' }

/** Facts of a request beside its fields. */
interface RequestFields {
  readonly method: string
  readonly path: string
  readonly authority: string
  readonly scheme: string
  readonly protocol: string
  /** The pseudo-headers as the client sent them, a letter for each. */
  readonly pseudoOrder: string
  /** `raw` with its names and values by turns behind. */
  rawFields: (raw: string[]) => string[]
}

const PSEUDO_OF = { m: 'method', a: 'authority', s: 'scheme', p: 'path', o: 'protocol' } as const

/** Names and values in turn, as they came: the pseudo-headers first. */
export function rawOf (asked: RequestFields): string[] {
  const raw: string[] = []
  for (const letter of asked.pseudoOrder) {
    const name = PSEUDO_OF[letter as keyof typeof PSEUDO_OF]
    raw.push(`:${name}`, asked[name])
  }
  return asked.rawFields(raw)
}

/** The header object of node:http2: no prototype, a name that comes again joined as it demands; `sensitive`: the
 * names that it lists. */
export function objectOf (raw: readonly string[], sensitive: string[] = []): Headers {
  const object = Object.create(null) as Headers
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!
    const value = raw[at + 1]!
    const before = object[name] as string | string[] | undefined
    if (before === undefined) object[name] = name === 'set-cookie' ? [value] : value
    else if (SINGLE.has(name)) continue
    else if (name === 'cookie') object[name] = `${before as string}; ${value}`
    else if (name === 'set-cookie') (before as string[]).push(value)
    else object[name] = `${before as string}, ${value}`
  }
  object[sensitiveHeaders] = sensitive
  return object
}

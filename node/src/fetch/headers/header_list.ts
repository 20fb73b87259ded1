// The header list of the Fetch standard (https://fetch.spec.whatwg.org/#concept-header-list): fields in the order in which
// they were added, each name with the spelling of its first one.

import { remembering, TOKEN } from '../../syntax/names'
import { stripped } from '../../syntax/strip'

export interface Field {
  /** As it is spelled. */
  name: string
  lower: string
  value: string
}

const lowerOf = remembering((name: string): string => name.toLowerCase())

/** A name that is checked, in lower case; '' where it is none (RFC 9110 section 5.6.2). */
const checkedName = remembering((name: string): string => TOKEN.test(name) ? name.toLowerCase() : '')
/** `call` is the method that the name was given to. */
export function nameOf (name: string, call = 'Headers.append'): string {
  const lower = checkedName(name)
  if (lower === '') throw new TypeError(`${call}: "${name}" is an invalid header name.`)
  return lower
}

/** The standard's "HTTP whitespace bytes" around a value. */
const PADDING = '\t\n\r '
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
/** The standard's "header value" has none of them. */
// eslint-disable-next-line no-control-regex
const BREAKS = /[\0\r\n]/

/** A value without spaces around it (the standard's "normalize"). */
export function trimmed (given: string): string {
  return isSpace(given.charCodeAt(0)) || isSpace(given.charCodeAt(given.length - 1)) ? stripped(given, PADDING) : given
}

/** As `trimmed`; throws where it is no value. */
export function valueOf (given: string, call = 'Headers.append'): string {
  const value = trimmed(given)
  if (BREAKS.test(value)) throw new TypeError(`${call}: "${value}" is an invalid header value.`)
  return value
}

const SET_COOKIE = 'set-cookie'

/** Two values of one name as one. Cookies have a separator of their own (RFC 6265 section 4.2.1), also with Node.js's own fetch: a comma
 * is part of a cookie's value. */
function together (lower: string, before: string, value: string): string { return `${before}${lower === 'cookie' ? ';' : ','} ${value}` }

/** Fields of a message. */
export class HeaderList {
  private made: Field[] | null = null
  /** The pairs that an iterator goes over, made by its first step and dropped by each change. */
  private sortedPairs: [string, string][] | null = null
  /** Whether they came with a request of a server, or are a copy of such: some of them are not sent on. */
  isReceived = false

  constructor (fields?: Field[]) { if (fields !== undefined) this.made = fields }

  /** Fields that come from elsewhere, when they are looked at first. */
  protected load (): Field[] { return [] }

  get fields (): Field[] { return (this.made ??= this.load()) }
  /** Whether every value is one that a message may carry (RFC 9110 section 5.5), which is less than what the standard lets into `Headers`. */
  get isChecked (): boolean { return false }
  /** Whether the fields are here, or are still where they came from. */
  protected get isMade (): boolean { return this.made !== null }

  get (lower: string): string | null {
    let found: string | null = null
    for (const field of this.fields) if (field.lower === lower) found = found === null ? field.value : together(lower, found, field.value)
    return found
  }

  has (lower: string): boolean {
    for (const field of this.fields) if (field.lower === lower) return true
    return false
  }

  append (name: string, lower: string, value: string): void {
    const { fields } = this
    this.sortedPairs = null
    const first = fields.find(field => field.lower === lower)
    fields.push({ name: first?.name ?? name, lower, value })
  }

  set (name: string, lower: string, value: string): void {
    const { fields } = this
    this.sortedPairs = null
    const at = fields.findIndex(field => field.lower === lower)
    if (at === -1) return void fields.push({ name, lower, value })
    fields[at]!.value = value
    this.made = fields.filter((field, index) => index <= at || field.lower !== lower)
  }

  delete (lower: string): void {
    this.sortedPairs = null
    this.made = this.fields.filter(field => field.lower !== lower)
  }

  cookies (): string[] { return this.fields.filter(field => field.lower === SET_COOKIE).map(field => field.value) }

  /** The standard's "sort and combine": names in lower case, values of one name joined, but those of `set-cookie`. */
  sorted (): [string, string][] {
    if (this.sortedPairs !== null) return this.sortedPairs
    const joined = new Map<string, string>()
    for (const { lower, value } of this.fields) {
      const before = joined.get(lower)
      joined.set(lower, before === undefined ? value : together(lower, before, value))
    }
    const pairs: [string, string][] = []
    for (const name of [...joined.keys()].sort()) {
      if (name === SET_COOKIE) for (const value of this.cookies()) pairs.push([name, value])
      else pairs.push([name, joined.get(name)!])
    }
    this.sortedPairs = pairs
    return pairs
  }

  /** Fields in their order and as they are spelled, values of one name joined, but those of the name `apart`. */
  joined (apart: string | null = SET_COOKIE): Field[] {
    const found = new Map<string, Field>()
    const joined: Field[] = []
    for (const field of this.fields) {
      const before = found.get(field.lower)
      if (before !== undefined && field.lower !== apart) {
        before.value = together(field.lower, before.value, field.value)
        continue
      }
      const copy = { ...field }
      found.set(field.lower, copy)
      joined.push(copy)
    }
    return joined
  }

  copy (): HeaderList { return new HeaderList(this.fields.map(field => ({ ...field }))) }

  /** The fields as they cross the channel: names in lower case, names and values by turns, a zero between two. */
  text (): string {
    let text = ''
    for (const { lower, value } of this.fields) text += text === '' ? `${lower}\0${value}` : `\0${lower}\0${value}`
    return text
  }
}

/** Fields of one connection of HTTP/1.1 (RFC 9110 section 7.6.1), and what its sender waits for. */
const OF_CONNECTION = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'expect']

/** The fields of a request that was received which go along where it is fetched. */
export function sendableOf (list: HeaderList): HeaderList {
  const left = new Set(OF_CONNECTION)
  for (const name of (list.get('connection') ?? '').split(',')) left.add(name.trim().toLowerCase())
  return new HeaderList(list.fields.filter(({ lower }) => !left.has(lower)))
}

/** The text of a name in any spelling. */
const patternOf = remembering((lower: string): RegExp => new RegExp(lower.replace(/[^a-z\d]/g, '\\$&'), 'i'))

/** Fields as they crossed the channel, divided when one of them is looked at. */
export class TextList extends HeaderList {
  /** `isLower`: all names are in lower case. */
  constructor (private readonly crossed: string, private readonly isLower = true) { super() }

  protected override load (): Field[] { return lowerFieldsOf(this.crossed === '' ? [] : this.crossed.split('\0')) }

  /** Most responses are not divided: a name that is nowhere in their text is no field of theirs. */
  override get (lower: string): string | null { return this.isMade || patternOf(lower).test(this.crossed) ? super.get(lower) : null }

  override get isChecked (): boolean { return this.isLower && !this.isMade }
  override text (): string { return this.isChecked ? this.crossed : super.text() }
}

/** The fields of names and values in turn. */
export function fieldsOf (flat: readonly (string | Buffer)[]): Field[] {
  const fields: Field[] = []
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = latin1(flat[at]!)
    fields.push({ name, lower: lowerOf(name), value: latin1(flat[at + 1]!) })
  }
  return fields
}

/** As `fieldsOf`, of a response: its names are in lower case, as with Node.js's own fetch. */
export function lowerFieldsOf (flat: readonly (string | Buffer)[]): Field[] {
  const fields = fieldsOf(flat)
  for (const field of fields) field.name = field.lower
  return fields
}

function latin1 (text: string | Buffer): string { return typeof text === 'string' ? text : text.toString('latin1') }

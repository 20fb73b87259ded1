// Encodes a request's head for the channel and checks it by undici's rules: a head that breaks one
// is refused before anything is sent.

import { stringify, type ParsedUrlQueryInput } from 'node:querystring'
import { InvalidArgumentError, NotSupportedError } from '../../errors'
import { putOwn } from '../../fetch/webidl/convert'
import { BAD_VALUE, isCrossable, remembering, TOKEN } from '../../syntax/names'
import { stripped } from '../../syntax/strip'

export type HeaderValue = string | number | boolean | bigint | null | undefined | readonly (string | number | null)[]
export type Headers = Record<string, HeaderValue> | readonly (string | readonly string[])[] | Iterable<readonly [string, HeaderValue]>

const BAD_PATH = /[^\u0021-\u00ff]/
const DIGITS = /^[0-9]+$/

/** The cached facts of a field name. */
interface Name {
  lower: string
  /** Fields that are not passed on as they are. */
  rule: Rule
  /** The last value that was looked at and was good: most values come again and again. */
  good: string
}

const enum Rule { None, Host, ContentLength, ContentType, WebSocketKey, ProxyAuthorization, ProxyConnection, Forbidden, Connection, Expect }

const RULES = new Map<string, Rule>([
  ['host', Rule.Host],
  ['content-length', Rule.ContentLength],
  ['content-type', Rule.ContentType],
  ['sec-websocket-key', Rule.WebSocketKey],
  ['proxy-authorization', Rule.ProxyAuthorization],
  ['transfer-encoding', Rule.Forbidden],
  ['keep-alive', Rule.Forbidden],
  ['upgrade', Rule.Forbidden],
  ['connection', Rule.Connection],
  ['expect', Rule.Expect],
  ['proxy-connection', Rule.ProxyConnection]
])

const nameOf = remembering((text: string): Name => {
  if (typeof text !== 'string' || !TOKEN.test(text)) throw new InvalidArgumentError('invalid header key')
  const lower = text.toLowerCase()
  return { lower, rule: RULES.get(lower) ?? Rule.None, good: '' }
})

/** Not by what a program has put on the prototype of all objects: a plain object would lose its fields. */
function isIterable (headers: object): boolean {
  const iterator = (headers as Partial<Iterable<unknown>>)[Symbol.iterator]
  return typeof iterator === 'function' && iterator !== (Object.prototype as Partial<Iterable<unknown>>)[Symbol.iterator]
}

const SPACE = 0x20
const TAB = 0x09

function isPadded (value: string): boolean {
  const first = value.charCodeAt(0)
  const last = value.charCodeAt(value.length - 1)
  return first === SPACE || first === TAB || last === SPACE || last === TAB
}

/** Kinds of values that are texts, or have one that says something. */
const PRINTABLE = new Set(['string', 'number', 'boolean', 'bigint'])

/** A head being made. */
export class Head {
  /** `\0name\0value` of each field. */
  fields = ''
  host: string | null = null
  contentLength: number | null = null
  hasContentType = false
  hasProxyAuthorization = false
  hasProxyConnection = false
  /** A request for a WebSocket, and for no other upgrade, has one. */
  webSocketKey: string | null = null
  /** The connection is not used again. */
  reset = false

  constructor (headers: Headers | null | undefined) {
    if (headers == null) return
    if (Array.isArray(headers)) {
      this.addFlat(headers as readonly HeaderValue[])
      return
    }
    if (typeof headers !== 'object') throw new InvalidArgumentError('headers must be an object or an array')
    if (isIterable(headers)) {
      for (const pair of headers as Iterable<readonly [string, HeaderValue]>) {
        if (!Array.isArray(pair) || pair.length !== 2) {
          throw new InvalidArgumentError('headers must be in key-value pair format')
        }
        this.add(pair[0], pair[1])
      }
      return
    }
    for (const key of Object.keys(headers)) this.add(key, (headers as Record<string, HeaderValue>)[key])
  }

  private addFlat (flat: readonly HeaderValue[]): void {
    if (flat.length % 2 !== 0) throw new InvalidArgumentError('headers array must be even')
    for (let at = 0; at < flat.length; at += 2) this.add(String(flat[at]), flat[at + 1])
  }

  /** Adds a field as a caller gives it. */
  add (key: string, value: HeaderValue): void {
    if (value === undefined) return
    const name = nameOf(key)
    if (typeof value === 'string') return this.addText(key, name, value)
    if (value === null) return this.addText(key, name, '')
    if (Array.isArray(value)) {
      if (name.rule === Rule.Host || name.rule === Rule.ContentLength || name.rule === Rule.Connection) {
        throw new InvalidArgumentError(`invalid ${key} header`)
      }
      for (const one of value as unknown[]) {
        if (one !== null && one !== undefined && !PRINTABLE.has(typeof one)) throw new InvalidArgumentError(`invalid ${key} header`)
        this.addText(key, name, one === null ? '' : `${one as string}`)
      }
      return
    }
    if (!PRINTABLE.has(typeof value)) throw new InvalidArgumentError(`invalid ${key} header`)
    this.addText(key, name, String(value))
  }

  private addText (key: string, name: Name, given: string): void {
    // RFC 9110 section 5.5: spaces around a value are no part of it.
    const value = isPadded(given) ? stripped(given, ' \t') : given
    if (name.good !== value) {
      if (BAD_VALUE.test(value)) throw new InvalidArgumentError(`invalid ${key} header`)
      name.good = value
    }
    if (name.rule !== Rule.None && !this.apply(key, name, value)) return
    // HTTP/1.1 carries it as it is spelled.
    this.fields += '\0' + key + '\0' + value
  }

  /** A field with a rule of its own; true: it is passed on. */
  private apply (key: string, name: Name, value: string): boolean {
    switch (name.rule) {
      case Rule.Host:
        if (this.host !== null) throw new InvalidArgumentError('duplicate host header')
        this.host = value
        return false
      case Rule.ContentLength:
        if (this.contentLength !== null) throw new InvalidArgumentError('duplicate content-length header')
        if (!DIGITS.test(value)) throw new InvalidArgumentError('invalid content-length header')
        this.contentLength = Number.parseInt(value, 10)
        return false
      case Rule.ContentType:
        this.hasContentType = true
        return true
      case Rule.WebSocketKey:
        this.webSocketKey = value
        return true
      case Rule.ProxyConnection:
        this.hasProxyConnection = true
        return true
      case Rule.ProxyAuthorization:
        this.hasProxyAuthorization = true
        return true
      case Rule.Connection:
        for (const token of value.toLowerCase().split(',')) {
          if (!TOKEN.test(token.trim())) throw new InvalidArgumentError('invalid connection header')
          if (token.trim() === 'close') this.reset = true
        }
        return false
      case Rule.Expect:
        throw new NotSupportedError('expect header not supported')
      default:
        throw new InvalidArgumentError(`invalid ${key.toLowerCase()} header`)
    }
  }
}

/** The fields that a caller gave last, and the head that they made: callers repeat the fields that describe
 * themselves. Only of plain objects whose values are texts. */
let last: { names: readonly string[]; values: readonly string[]; head: Head } | null = null

/** The head of these fields. Immutable, because callers share it. */
export function headOf (headers: Headers | null | undefined): Head {
  if (headers == null || typeof headers !== 'object' || Object.getPrototypeOf(headers) !== Object.prototype || Symbol.iterator in headers) return new Head(headers)
  const given = headers as Record<string, HeaderValue>
  if (last !== null && isSame(given, last.names, last.values)) return last.head
  const head = new Head(headers)
  const values = Object.values(given)
  if (values.every(isText) && head.fields.length <= KEPT_LENGTH_MAX) last = { names: Object.keys(given), values: values as string[], head }
  return head
}

/** Whether an object has these names with these values, in this order, and nothing else. */
function isSame (given: Record<string, HeaderValue>, names: readonly string[], values: readonly string[]): boolean {
  let at = 0
  for (const name in given) {
    if (name !== names[at] || given[name] !== values[at]) return false
    at++
  }
  return at === names.length
}

/** The text of a head that was made last: a program that polls one resource sends the same again, and a text that is
 * made anew from its parts is written to the ring at twice the cost. */
let lastText = { method: '', path: '', authority: '', fields: '', text: '\0\0' }

/** A head as it crosses the channel. `method` and `fields` were checked where they came from, name by name and value by value: what
 * was not can begin no field of its own. */
export function textOf (method: string, path: string, authority: string, fields: string): string {
  const last = lastText
  const isSameAuthority = authority === last.authority
  if (path === last.path && fields === last.fields && method === last.method && isSameAuthority) return last.text
  if (!isCrossable(path, 1) || !(isSameAuthority || isCrossable(authority, 1))) throw uncrossable()
  const text = `${method}\0${path}\0${authority}${fields}`
  if (text.length <= KEPT_LENGTH_MAX) lastText = { method, path, authority, fields, text }
  return text
}

/** As `textOf`, of parts that anything may have changed since they were checked; `count` is of the fields. */
export function uncheckedTextOf (method: string, path: string, authority: string, fields: string, count: number): string {
  const text = `${method}\0${path}\0${authority}${fields}`
  if (!isCrossable(text, 3 + 2 * count)) throw uncrossable()
  return text
}

function uncrossable (): Error {
  return new InvalidArgumentError('a part of the request head has a zero or a character above U+00FF: the method, the path, the authority and each field must have neither')
}

export function checkMethod (method: unknown): asserts method is string {
  if (typeof method !== 'string') throw new InvalidArgumentError('method must be a string')
  if (!isUsual(method) && !TOKEN.test(method)) throw new InvalidArgumentError('invalid request method')
}

/** Methods that nearly every request has: known to be tokens. */
function isUsual (method: string): boolean {
  switch (method) {
    case 'GET': case 'HEAD': case 'POST': case 'PUT': case 'DELETE': case 'PATCH': case 'OPTIONS': case 'CONNECT': case 'TRACE': case 'QUERY': return true
    default: return false
  }
}

/** RFC 9110 section 8.6: a request with one of them says 0 when it has no body. */
export function expectsBody (method: string): boolean {
  switch (method) {
    case 'POST': case 'PUT': case 'PATCH': case 'QUERY': case 'PROPFIND': case 'PROPPATCH': return true
    default: return false
  }
}

/** The path that was found good last, whatever the method. */
let goodPath = '/'
/** Notes a path that needs no check any more: one that `plainPath` took from a URL. */
export function noteGoodPath (path: string): void { if (path.length <= KEPT_LENGTH_MAX) goodPath = path }

/** The path and query of a request, or an absolute URL. */
export function checkPath (path: unknown, method: string): string {
  if (path === goodPath) return goodPath
  if (typeof path !== 'string') throw new InvalidArgumentError('path must be a string')
  const isAbsolute = path.startsWith('http://') || path.startsWith('https://')
  if (path[0] !== '/' && !isAbsolute && method !== 'CONNECT' && !(path === '*' && method === 'OPTIONS')) {
    throw new InvalidArgumentError('path must be an absolute URL or start with a slash')
  }
  if (BAD_PATH.test(path)) throw new InvalidArgumentError('invalid request path')
  if (!isAbsolute) {
    if (path[0] === '/' && path.length <= KEPT_LENGTH_MAX && !path.includes('#')) goodPath = path
    return path
  }
  // An origin that is a proxy may be asked for another's.
  void new URL(path)
  return path
}

/** A path with a query object as undici writes it, by node:querystring: null leaves a name alone, arrays repeat it, what is
 * no text, number or boolean is empty. A fragment is the
 * client's own affair (RFC 9110 section 7.1), and is not sent. */
export function withQuery (path: string, query: Record<string, unknown> | undefined): string {
  if (query == null) return path === goodPath ? path : path.split('#', 1)[0]!
  if (path.includes('?') || path.includes('#')) {
    throw new InvalidArgumentError('Query params cannot be passed when url already contains "?" or "#".')
  }
  const text = stringify(query as ParsedUrlQueryInput)
  return text === '' ? path : `${path}?${text}`
}

/** Whether a value may stand in a field. */
export function isFieldValue (value: string): boolean { return !BAD_VALUE.test(value) }

/**
 * Names and values in turn, as undici passes them on: over HTTP/1.1 names have their original case.
 */
export function rawFields (text: string): string[] { return text === '' ? [] : text.split('\0') }

/** Fields by lower-case name; a name that came more than once has an array. */
export type Fields = Record<string, string | string[]>

/** A name in lower case. */
const lowerOf = remembering((name: string): string => name.toLowerCase())

/** Fields as an object: names are lower-case, a name that comes again has an array. */
export function fieldsObject (raw: readonly string[]): Fields {
  const object: Fields = {}
  for (let at = 0; at < raw.length; at += 2) {
    const name = lowerOf(raw[at]!)
    const value = raw[at + 1]!
    const before = object[name]
    if (before === undefined) object[name] = value
    else if (name === '__proto__' || typeof before === 'function') putOwn(object, name, value)
    else if (typeof before === 'string') object[name] = [before, value]
    else before.push(value)
  }
  return object
}

/** The fields of a head as it comes over the channel. */
export function fieldsOf (text: string): Fields { return fieldsObject(rawFields(text)) }

/** Characters of a head that is kept for the next one. */
const KEPT_LENGTH_MAX = 4096

const isText = (value: unknown): value is string => typeof value === 'string'

/** Adds fields to an object that may have some; also one that is called `__proto__`. */
export function addFields (object: Fields, fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) putOwn(object, name, value)
}

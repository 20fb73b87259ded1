// A request as a dispatcher takes it: the fields that the standard and Node.js's own fetch add
// (https://fetch.spec.whatwg.org/#concept-http-network-or-cache-fetch), and its body.

import { types } from 'node:util'
import type { DispatchOptions } from '../../client/prepare/prepare'
import { bufferOf, type Body } from '../body/body'
import { TAKES_ZSTD } from '../body/decode'
import type { Field, HeaderList } from '../headers/header_list'
import type { RequestSettings } from '../request_parts'
import type { ParsedUrl } from '../url'

const ENCODINGS = 'gzip, deflate'
/** Over TLS alone: intermediaries in cleartext are known to break what they do not know. */
const ENCODINGS_TLS = TAKES_ZSTD ? 'br, gzip, deflate, zstd' : 'br, gzip, deflate'

/** The fields of a request without any of its own, which most requests share. */
const PLAIN: Readonly<Record<string, string>> = Object.freeze(usual(ENCODINGS))
const PLAIN_TLS: Readonly<Record<string, string>> = Object.freeze(usual(ENCODINGS_TLS))
const PLAIN_UNTRUSTED: Readonly<Record<string, string>> = Object.freeze(usual(ENCODINGS, {}))

function usual (encodings: string, mode: Record<string, string> = { 'sec-fetch-mode': 'cors' }): Record<string, string> {
  return { accept: '*/*', 'accept-language': '*', ...mode, 'user-agent': 'node', 'accept-encoding': encodings }
}

/** Origins in cleartext that are trusted all the same (https://w3c.github.io/webappsec-secure-contexts/#is-origin-trustworthy); others
 * do not get fetch metadata (https://w3c.github.io/webappsec-fetch-metadata/#abstract-opdef-append-the-fetch-metadata-headers-for-a-request). */
const LOOPBACK = /^http:\/\/(?:(?:[^/]+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/
/** Whether the last origin was one: programs mostly ask the same. */
let judged = { origin: '', isLoopback: false }

function isLoopback (origin: string): boolean {
  if (judged.origin !== origin) judged = { origin, isLoopback: LOOPBACK.test(origin) }
  return judged.isLoopback
}

/** Fields by which a program does its own caching: it asks the server, and no cache on the way
 * (https://fetch.spec.whatwg.org/#concept-http-network-or-cache-fetch, "if httpRequest's cache mode is default"). */
const CONDITIONAL = ['if-modified-since', 'if-none-match', 'if-unmodified-since', 'if-match', 'if-range']

export interface RequestFacts {
  url: ParsedUrl
  method: string
  list: HeaderList
  settings: Readonly<RequestSettings>
  referrer: string | null
  origin: string | null
}

/** The fields that were made last, and of what: a program asks for the same again and again, and for the same object the dispatcher makes
 * no new head. */
let last: Pick<RequestFacts, 'settings' | 'referrer' | 'origin'> & { fields: readonly Field[]; isTls: boolean; isTrusted: boolean; length: number | null; headers: Readonly<Record<string, string>> } | null = null

function isLast ({ list, settings, referrer, origin }: RequestFacts, isTls: boolean, isTrusted: boolean, length: number | null): boolean {
  if (last === null || last.isTls !== isTls || last.isTrusted !== isTrusted || last.length !== length) return false
  const { fields: before } = last
  const { fields } = list
  if (last.settings !== settings || last.referrer !== referrer || last.origin !== origin || before.length !== fields.length) return false
  for (let at = 0; at < fields.length; at++) if (fields[at]!.name !== before[at]!.name || fields[at]!.value !== before[at]!.value) return false
  return true
}

/** Fields longer than this are not kept. */
const KEPT_LENGTH_MAX = 4096

/** Names and values, as `dispatch` takes them. */
export function headersFor (facts: RequestFacts, length: number | null): Readonly<Record<string, string>> | string[] {
  const { url, list, settings, referrer, origin } = facts
  const isTls = url.protocol === 'https:'
  const isTrusted = isTls || isLoopback(url.origin)
  if (list.fields.length === 0 && referrer === null && origin === null && length === null && settings.cache === 'default' && settings.mode === 'cors') return isTls ? PLAIN_TLS : isTrusted ? PLAIN : PLAIN_UNTRUSTED
  if (isLast(facts, isTls, isTrusted, length)) return last!.headers
  const flat = flatFor(facts, length, isTls, isTrusted)
  const headers: Record<string, string> = {}
  for (let at = 0; at < flat.length; at += 2) headers[flat[at]!] = flat[at + 1]!
  const names = Object.keys(headers)
  // A name that comes twice, or that is a number, has no place of its own in an object.
  if (2 * names.length !== flat.length || names.some((name, at) => name !== flat[2 * at]) || flat.join('').length > KEPT_LENGTH_MAX) return flat
  last = { fields: list.fields.map(field => ({ ...field })), isTls, isTrusted, length, settings, referrer, origin, headers: Object.freeze(headers) }
  return headers
}

function flatFor ({ list, settings, referrer, origin }: RequestFacts, length: number | null, isTls: boolean, isTrusted: boolean): string[] {
  // The host is that of the URL (https://fetch.spec.whatwg.org/#forbidden-request-header, of which Node.js keeps this one).
  // Values of one name are one field, as with Node.js's own fetch: servers take
  // the first alone of some fields that come twice.
  const fields = list.joined(null).filter(({ lower }) => lower !== 'host' && (referrer === null || lower !== 'referer'))
  const flat = fields.flatMap(({ name, lower, value }) => isTrusted && lower === 'sec-fetch-mode' ? [lower, settings.mode] : [name, value])
  const names = new Set(fields.map(field => field.lower))
  const add = (name: string, value: string): void => { if (!names.has(name)) flat.push(name, value) }
  add('accept', '*/*')
  add('accept-language', '*')
  if (length !== null) add('content-length', String(length))
  if (referrer !== null) add('referer', referrer)
  if (origin !== null) add('origin', origin)
  if (isTrusted) add('sec-fetch-mode', settings.mode)
  add('user-agent', 'node')
  const cache = settings.cache === 'default' && CONDITIONAL.some(name => names.has(name)) ? 'no-store' : settings.cache
  if (cache === 'no-cache') add('cache-control', 'max-age=0')
  if (cache === 'no-store' || cache === 'reload') {
    add('pragma', 'no-cache')
    add('cache-control', 'no-cache')
  }
  // Bytes of a coding cannot be put together with others.
  add('accept-encoding', names.has('range') ? 'identity' : isTls ? ENCODINGS_TLS : ENCODINGS)
  return flat
}

/** A stream on its way. Its pieces are bytes by the standard; texts and views of other types are sent too, as by Node.js's own fetch. */
export class FetchUpload implements AsyncIterableIterator<unknown> {
  private readonly reader: ReadableStreamDefaultReader<unknown>

  constructor (stream: ReadableStream) { this.reader = stream.getReader() }

  async next (): Promise<IteratorResult<unknown>> {
    const { done, value } = await this.reader.read()
    if (done) return { done: true, value: undefined }
    if (types.isUint8Array(value)) return { done: false, value }
    try {
      // It throws what undici throws, which measures each piece.
      Buffer.byteLength(value as string)
    } catch (error) {
      this.cancel(error)
      throw error
    }
    return { done: false, value }
  }

  /** At once, also while a piece is waited for. */
  cancel (reason?: unknown): void { this.reader.cancel(reason).catch(() => {}) }

  return (): Promise<IteratorResult<unknown>> {
    this.cancel()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator] (): this { return this }
}

/** A body as `dispatch` takes it, and its length where that has to be said. */
export function bodyFor (body: Body | null): { body: DispatchOptions['body']; length: number | null; upload: FetchUpload | null } {
  if (body === null) return NOTHING
  const { whole } = body
  if (typeof whole === 'string') return { body: whole, length: null, upload: null }
  if (types.isUint8Array(whole)) return { body: bufferOf(whole), length: null, upload: null }
  if (whole !== null) return { body: whole.pieces(), length: whole.length, upload: null }
  const pieces = body.pieces()
  if (!(pieces instanceof ReadableStream)) return { body: pieces, length: null, upload: null }
  const upload = new FetchUpload(pieces)
  return { body: upload, length: null, upload }
}

/** The length of a body that is whole, which dispatchers of this package say themselves; null: it is not known. A request without a body says
 * so where its method expects one (https://fetch.spec.whatwg.org/#concept-http-network-or-cache-fetch, step 8). */
export function lengthOf (body: DispatchOptions['body'], method: string): number | null {
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (types.isUint8Array(body)) return body.length
  return body == null && (method === 'POST' || method === 'PUT') ? 0 : null
}

const NOTHING = Object.freeze({ body: null, length: null, upload: null })

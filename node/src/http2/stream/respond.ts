// A stream's responses: the final head, interim heads, trailers. Everything is checked before
// anything is sent.

import { sensitiveHeaders } from 'node:http2'
import { nodeLine } from '../../node_version'
import { ResponseFlag } from '../../channel/codes'
import { checkObject, invalidInfoStatus, invalidPseudoHeader, invalidStatus, invalidType, invalidValue, plain } from '../codes'
import { finalHead, objectOfPairs, textOf, textOfList, type Headers } from '../fields'
import type { Exchange } from '../../server/exchange'
import { dateNow } from '../../timers'

/** The options of `respond`. */
export interface RespondOptions {
  /** Whether the head is the whole response. Default: false. */
  endStream?: boolean
  /** Whether `wantTrailers` is emitted behind the body, and `sendTrailers` or `close` must follow. Default: false. */
  waitForTrailers?: boolean
  /** Whether a missing `date` field is added. Default: true. */
  sendDate?: boolean
}

/** A stream, as far as responses need it. */
export interface AnsweredStream {
  readonly $exchange: Exchange
  /** Whether fields of which a message has one may have one value alone. */
  readonly $isStrict: boolean
  /** Whether a head is longer than its user lets it be. */
  $isTooLong: (text: string) => boolean
  /** The final head was too long, and nothing is sent. */
  $failBlock: () => void
  readonly destroyed: boolean
  readonly closed: boolean
  readonly headersSent: boolean
  readonly headRequest: boolean
  readonly $trailersReady: boolean
  $waitsForTrailers: boolean
  sentTrailers: Headers | undefined
  sentInfoHeaders: Headers[] | undefined
  set sentHeaders (sent: Headers | (() => Headers) | undefined)
  $keepHead: (status: number, text: string, flags: number) => void
  end: () => unknown
  $flush: () => void
  $declineUnread: () => void
}

let dateSecond = 0
let dateText = ''
/** Now, as a field says it; made once a second. */
function date (): string {
  const second = Math.floor(dateNow() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1000).toUTCString()
  }
  return dateText
}

/** Whether a response with this status never has a body (RFC 9110 section 6.4.1; 205 has none in node). */
export const isBodyless = (status: number): boolean => status === 204 || status === 205 || status === 304

/** Throws if nothing can be answered any more. */
export function checkAnswerable (stream: AnsweredStream): void {
  if (stream.destroyed || stream.closed) throw plain('ERR_HTTP2_INVALID_STREAM')
  if (stream.headersSent) throw plain('ERR_HTTP2_HEADERS_SENT')
}

/** A copy of the headers of a final head, with its status and its date. */
export function finalHeaders (given: Headers | undefined, options: RespondOptions | undefined): Headers {
  checkFinal(given)
  const headers = Object.assign(Object.create(null), given) as Headers
  const status = (headers[':status'] as number | 0) | 0 || 200
  headers[':status'] = status
  if (options?.sendDate !== false && headers.date == null) headers.date = date()
  if (status < 200 || status > 599) throw invalidStatus(status)
  const sensitive = headers[sensitiveHeaders] as unknown
  if (given !== undefined) headers[sensitiveHeaders] = sensitive
  if (sensitive !== undefined && !Array.isArray(sensitive)) throw invalidValue('headers[http2.neverIndex]', sensitive)
  return headers
}

/** From this line on node takes names and values by turns too. */
const takesLists = nodeLine >= 22

/** An object, or nothing; lists are read before. */
function checkFinal (given: unknown): asserts given is Headers | undefined {
  if (given === undefined || (given !== null && typeof given === 'object' && !Array.isArray(given))) return
  throw invalidType('headers', takesLists ? 'an instance of Array or Object' : 'of type object', given)
}

/** The final head of names and values by turns, which go as they are given. */
function headOfList (list: unknown[], options: RespondOptions | undefined, isStrict: boolean): { status: number; text: string; raw: unknown[] } {
  if (list.length % 2 !== 0) throw invalidValue('headers', list)
  const names = list.filter((_, at) => at % 2 === 0).map(name => String(name).toLowerCase())
  const place = names.indexOf(':status')
  const status = (place < 0 ? 0 : (list[2 * place + 1] as number) | 0) || 200
  if (status < 200 || status > 599) throw invalidStatus(status)
  const raw = place < 0 ? [':status', status, ...list] : [...list]
  if (options?.sendDate !== false && !names.includes('date')) raw.push('date', date())
  const sensitive = (list as unknown as Headers)[sensitiveHeaders] as unknown
  if (sensitive !== undefined) Object.assign(raw, { [sensitiveHeaders]: sensitive })
  return { status, text: textOfList(raw, isStrict), raw }
}

export function respond (stream: AnsweredStream, given: Headers | unknown[] | undefined, options: RespondOptions | undefined): void {
  checkAnswerable(stream)
  checkObject(options, 'options')
  let status, text
  const list = Array.isArray(given) && takesLists ? headOfList(given, options, stream.$isStrict) : undefined
  if (list === undefined) checkFinal(given)
  const head = list === undefined ? shownIfRefused(stream, given as Headers | undefined, options) : undefined
  if (list !== undefined) {
    status = list.status
    text = list.text
    stream.sentHeaders = () => objectOfPairs(list.raw)
  } else if (head !== undefined) {
    status = head.status
    const added = options?.sendDate === false || head.hasDate ? undefined : date()
    text = added === undefined ? head.text : head.dated(added)
    stream.sentHeaders = () => head.headers(added, given !== undefined)
  } else {
    const headers = finalHeaders(given as Headers | undefined, options)
    stream.sentHeaders = headers
    text = textOf(headers, ':status', stream.$isStrict)
    status = headers[':status'] as number
  }
  if (options?.waitForTrailers) stream.$waitsForTrailers = true
  if (stream.$isTooLong(text)) return stream.$failBlock()
  const ends = Boolean(options?.endStream) || isBodyless(status) || stream.headRequest
  if (ends) stream.$waitsForTrailers = false
  stream.$keepHead(status, text, ResponseFlag.NoDate | (ends ? ResponseFlag.End : 0))
  if (ends) stream.end()
}

const NO_HEADERS: Headers = Object.create(null) as Headers

/** As `finalHead`; a head that cannot be sent is seen as `sentHeaders` all the same, as with node:http2. */
function shownIfRefused (stream: AnsweredStream, given: Headers | undefined, options: RespondOptions | undefined): ReturnType<typeof finalHead> {
  try {
    return finalHead(given ?? NO_HEADERS)
  } catch (error) {
    stream.sentHeaders = finalHeaders(given, options)
    throw error
  }
}

export function sendInformational (stream: AnsweredStream, given: Headers | undefined): void {
  if (stream.destroyed || stream.closed) throw plain('ERR_HTTP2_INVALID_STREAM')
  if (stream.headersSent) throw plain('ERR_HTTP2_HEADERS_AFTER_RESPOND')
  checkObject(given, 'headers')
  const headers = Object.assign(Object.create(null), given) as Headers
  const printed = headers[':status'] as unknown
  const status = (printed as number) | 0
  const isInterim = status >= 100 && status < 200
  if (printed != null) {
    if (status === 101) throw plain('ERR_HTTP2_STATUS_101')
    if (!isInterim) throw invalidInfoStatus(status)
    headers[':status'] = status
  }
  const text = textOf(headers, ':status', stream.$isStrict)
  if (!isInterim) throw invalidInfoStatus(printed)
  ;(stream.sentInfoHeaders ??= []).push(headers)
  stream.$exchange.sendInformational(status, text)
}

export function sendTrailers (stream: AnsweredStream, given: Headers | undefined): void {
  if (stream.destroyed || stream.closed) throw plain('ERR_HTTP2_INVALID_STREAM')
  if (stream.sentTrailers !== undefined) throw plain('ERR_HTTP2_TRAILERS_ALREADY_SENT')
  if (!stream.$trailersReady) throw plain('ERR_HTTP2_TRAILERS_NOT_READY')
  checkObject(given, 'headers')
  const headers = Object.assign(Object.create(null), given) as Headers
  const text = trailerText(headers, stream.$isStrict)
  stream.sentTrailers = headers
  stream.$waitsForTrailers = false
  stream.$flush()
  if (stream.$isTooLong(text)) return stream.$failBlock()
  stream.$exchange.end(text)
  stream.$declineUnread()
}

/** The text of trailers, which have no pseudo-header at all. */
export function trailerText (headers: Headers, isStrict = true): string {
  for (const name in headers) if (name[0] === ':') throw invalidPseudoHeader(name)
  return textOf(headers, '', isStrict)
}

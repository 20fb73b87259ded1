// Responses as `serve` sends them: encoded once where it is returned again, its source given to the channel directly.

import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { types } from 'node:util'
import { nodeLine } from '../../node_version'
import { bufferOf } from '../../fetch/body/body'
import { textOf, type FieldsInit } from '../../fetch/headers/fields'
import { responsePartsOf, type ResponseParts } from '../../fetch/response'
import { FileBody } from './file_body'
import { typeOfName } from '../files/file_types'

/** The part of a file to send, and its fields. */
export interface FileOptions {
  /** Bytes before the part that is sent, from 0 to 2^53-1. Default: 0. */
  offset?: number
  /** Bytes that are sent, from 0 to 2^53-1. Default: all behind `offset`. */
  length?: number
  /** The media type. Default: by the end of the name, else `application/octet-stream`. */
  type?: string
}

/** A file as the body of an answer. The engine opens and reads it when the answer is sent: one that is not there is an error of the handler then
 * (`error.code` is `ENOENT`). An answer with status 200 and a whole file gets `last-modified`, `etag` and `accept-ranges`, and is served by `range`,
 * `if-range`, `if-none-match`, `if-modified-since`, `if-match` and `if-unmodified-since` of a GET or HEAD: 206, 304, 412 or 416. With `offset` or `length`
 * the part is sent as it is. Several ranges at once are answered with the whole.
 *
 * @throws RangeError where a number is none from 0 to 2^53-1; TypeError where the path is empty or has a zero byte. */
export function file (path: string | URL, options: FileOptions = {}): FileBody {
  const { offset = 0, length = null, type } = options
  for (const [name, value] of Object.entries({ offset, length })) {
    if (value !== null && (!Number.isSafeInteger(value) || value < 0)) {
      throw new RangeError(`${name} is ${value}; it must be an integer from 0 to 2^53-1`)
    }
  }
  const found = typeof path === 'string' ? path : fileURLToPath(path)
  if (found === '' || found.includes('\0')) throw new TypeError('path must not be empty and must not have a zero')
  return new FileBody(resolve(found), offset, length, type ?? typeOfName(found))
}

/** The encoded response: the head's fields, and the whole body or its source. */
export interface Encoded {
  status: number
  /** The text behind the status, of HTTP/1.1; '': the usual one. */
  reason: string
  fields: string
  body: Buffer | string | null
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null
  file: FileBody | null
}

/** A longer text is made bytes once; a shorter one is written into the arena as it is. */
const SHORT_LENGTH_MAX = 1024

/** Encodes a response of ours; what cannot have been changed is encoded once. */
function encodeParts (parts: ResponseParts): Encoded {
  const { body, status, statusText } = parts
  if (body?.isUnusable) throw new TypeError('the body of the Response was used already')
  if (parts.encoded !== null && !parts.isTouched) return parts.encoded as Encoded
  if (status < 200) throw new RangeError(`the status of the Response is ${status}; it must be from 200 to 599`)
  const encoded: Encoded = { status, reason: statusText, fields: withoutCoding(fieldsToSend(parts)), body: null, source: null, file: null }
  const whole = body?.whole ?? null
  if (typeof whole === 'string') encoded.body = whole.length < SHORT_LENGTH_MAX ? whole : Buffer.from(whole)
  else if (types.isUint8Array(whole)) encoded.body = bufferOf(whole)
  else if (whole instanceof FileBody) encoded.file = whole
  else if (body !== null) {
    encoded.source = whole === null ? body.pieces() : whole.pieces()
    return encoded
  }
  if (!parts.isTouched) parts.encoded = encoded
  return encoded
}

/** The fields that are true of the body as it is sent. */
function fieldsToSend ({ list, isDecoded }: ResponseParts): string {
  if (!isDecoded && list.isChecked) return list.text()
  const fields = isDecoded ? list.fields.filter(({ lower }) => !OF_ENCODED.has(lower)) : list.fields
  return textOf(fields.map(({ lower, value }) => [lower, value] as const), null)
}

const TRANSFER_CODING = 'transfer-encoding'

/** Without a coding of the message, which is the server's affair and not of a `Response` (RFC 9112 section 6.1), as with Bun.serve. */
function withoutCoding (fields: string): string { return fields.includes(TRANSFER_CODING) ? withoutField(fields, TRANSFER_CODING) : fields }

/** Fields as they cross the channel, without those of a name. */
export function withoutField (fields: string, name: string): string {
  const parts = fields.split('\0')
  return parts.filter((_, at) => parts[at - at % 2] !== name).join('\0')
}

/** Whether a Response is one of ours with a file as its body, which can be sent again and again. */
export function isFile (response: object): boolean { return responsePartsOf(response)?.body?.whole instanceof FileBody }

/** Codings that fetch decodes before the body is read; zstd from Node.js 24 on. */
const DECODED = new Set(['gzip', 'x-gzip', 'deflate', 'br'])
if (nodeLine >= 24) DECODED.add('zstd')

/** Whether a response came by fetch, which decodes its body and leaves its fields as they were. */
function isDecoded ({ url, body, headers }: globalThis.Response): boolean {
  if (!url || body === null) return false
  const codings = headers.get('content-encoding')
  return codings !== null && codings.toLowerCase().split(',').every(coding => DECODED.has(coding.trim()))
}

/** Fields about a body that is decoded now. */
const OF_ENCODED = new Set(['content-encoding', 'content-length'])

/** The headers that are true of the body as it is sent. */
function headersToSend (response: globalThis.Response): FieldsInit {
  if (!isDecoded(response)) return response.headers
  return [...response.headers].filter(([name]) => !OF_ENCODED.has(name))
}

/** A `Response` of the built-in class, or of one that looks like it. */
function encodeBuiltIn (response: globalThis.Response): Encoded {
  if (response.bodyUsed) throw new TypeError('the body of the Response was used already')
  const { status } = response
  if (status < 200) throw new RangeError(`the status of the Response is ${status}; it must be from 200 to 599`)
  return { status, reason: response.statusText ?? '', fields: withoutCoding(textOf(headersToSend(response), null)), body: null, source: response.body, file: null }
}

/** Whether a value is a response of any class. */
export const isResponse = (value: unknown): value is globalThis.Response =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value && 'body' in value

/** The error of a handler that gives something else than a response. */
export function noResponse (given: unknown): TypeError {
  return new TypeError(`the handler gave ${given === null ? 'null' : `a value of the type ${typeof given}`}; it must give a Response`)
}

/** Encodes a handler's result. */
export function encode (response: unknown): Encoded {
  const parts = responsePartsOf(response)
  if (parts !== undefined) return encodeParts(parts)
  if (isResponse(response)) return encodeBuiltIn(response)
  throw noResponse(response)
}

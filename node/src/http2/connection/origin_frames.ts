// The payloads of a session's ALTSVC (RFC 7838 section 4) and ORIGIN frames (RFC 8336), with the checks of node:http2.

import { checkText, invalidCharacter, invalidType, outOfRange, plain } from '../codes'

/** Bytes of an ALTSVC or ORIGIN frame that fit every peer's frame. */
const FRAME_BYTES_MAX = 16_382
const QUOTABLE = /^[\x09\x20-\x5b\x5d-\x7e\x80-\xff]*$/

/** The payload of `session.altsvc`, and its stream, 0: none. */
export function altSvcOf (alt: string, of: unknown): [Buffer, number] {
  let origin = ''
  let stream = 0
  if (typeof of === 'string') {
    origin = originOf(of)
    if (origin === 'null') throw plain('ERR_HTTP2_ALTSVC_INVALID_ORIGIN')
  } else if (typeof of === 'number') {
    if (of >>> 0 !== of || of === 0) throw outOfRange('originOrStream', '> 0 && < 4294967296', of)
    stream = of
  } else if (of !== undefined) {
    const given = (of as { origin?: unknown } | null)?.origin
    if (typeof given !== 'string') throw invalidType('originOrStream', 'one of type string or number or an instance of URL or Object', of)
    if (given === 'null' || given === '') throw plain('ERR_HTTP2_ALTSVC_INVALID_ORIGIN')
    origin = given
  }
  checkText(alt, 'alt')
  if (!QUOTABLE.test(alt)) throw invalidCharacter('alt')
  if (alt.length + origin.length > FRAME_BYTES_MAX) throw plain('ERR_HTTP2_ALTSVC_LENGTH')
  return [Buffer.from(`${origin}\0${alt}`, 'latin1'), stream]
}

/** The payload of `session.origin`. */
export function originsOf (origins: unknown[]): Buffer {
  const named: string[] = []
  let bytes = 0
  for (const given of origins) {
    const isObject = typeof given === 'object' && given !== null
    const origin = typeof given === 'string' ? originOf(given) : isObject ? (given as { origin?: unknown }).origin : given
    if (typeof origin !== 'string') throw invalidType('origin', 'of type string', origin)
    if (origin === 'null') throw plain('ERR_HTTP2_INVALID_ORIGIN')
    bytes += origin.length
    named.push(origin)
  }
  if (bytes > FRAME_BYTES_MAX) throw plain('ERR_HTTP2_ORIGIN_LENGTH')
  return Buffer.from(named.join('\0'), 'latin1')
}

/** The origin of a URL; throws what node does for a text that is none. */
function originOf (text: string): string { return new URL(text).origin }

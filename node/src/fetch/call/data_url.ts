// data: URLs (https://fetch.spec.whatwg.org/#data-url-processor).

import { stripped } from '../../syntax/strip'
import { mimeText, parseMime } from '../headers/mime'

const PERCENT = 0x25

function unescaped (bytes: Buffer): Buffer {
  const made = Buffer.alloc(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const escape = bytes[at] === PERCENT ? bytes.toString('latin1', at + 1, at + 3) : ''
    if (/^[\da-f]{2}$/i.test(escape)) {
      made[length++] = Number.parseInt(escape, 16)
      at += 2
    } else made[length++] = bytes[at]!
  }
  return made.subarray(0, length)
}

/** https://infra.spec.whatwg.org/#forgiving-base64-decode; null: it is none. */
function forgiving (text: string): Buffer | null {
  let data = text.replace(/[\t\n\f\r ]/g, '')
  if (data.length % 4 === 0) data = data.replace(/={1,2}$/, '')
  if (data.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(data)) return null
  return Buffer.from(data, 'base64')
}

/** The type and the bytes of a data: URL without its fragment; null: it is malformed. */
export function readDataUrl (bare: string): { type: string; bytes: Buffer } | null {
  const input = bare.slice('data:'.length)
  const comma = input.indexOf(',')
  if (comma === -1) return null
  let type = stripped(input.slice(0, comma), '\t\n\f\r ')
  let bytes = unescaped(Buffer.from(input.slice(comma + 1)))
  const base64 = /; *base64$/i.exec(type)
  if (base64 !== null) {
    const decoded = forgiving(bytes.toString('latin1'))
    if (decoded === null) return null
    bytes = decoded
    type = type.slice(0, base64.index)
  }
  if (type.startsWith(';')) type = `text/plain${type}`
  const mime = parseMime(type)
  return { type: mime === null ? 'text/plain;charset=US-ASCII' : mimeText(mime), bytes }
}

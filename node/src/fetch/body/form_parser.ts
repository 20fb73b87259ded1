// Parses the body of a form (https://andreubotella.github.io/multipart-form-data/#multipart-form-data-parser).

import { File } from 'node:buffer'
import { stripped } from '../../syntax/strip'
import { FormData } from '../form_data'
import { mimeText, type Mime } from '../headers/mime'

const CRLF = '\r\n'
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{1,70}$/

/** In undici's words, which programs match, and why. */
function broken (why: string): TypeError { return new TypeError('Failed to parse body as FormData.', { cause: new TypeError(why) }) }

/** The form in a body of that type. */
export function parseForm (bytes: Buffer, mime: Mime | null): FormData {
  if (mime?.essence === 'application/x-www-form-urlencoded') {
    const form = new FormData()
    for (const [name, value] of formPairs(bytes)) form.append(name, value)
    return form
  }
  if (mime?.essence === 'multipart/form-data') return parseMultipart(bytes, mime)
  const seen = new TypeError(`the content type is ${mime === null ? 'missing' : mimeText(mime)}`)
  throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".', { cause: seen })
}

/** Without a byte order mark (Encoding standard, "UTF-8 decode"). */
export function utf8 (bytes: Buffer): string {
  const isMarked = bytes.length > 2 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return isMarked ? bytes.toString('utf8', 3) : bytes.toString('utf8')
}

/** Names and values, of which a byte order mark is a part (https://url.spec.whatwg.org/#urlencoded-parsing). */
function formPairs (bytes: Buffer): URLSearchParams {
  // Behind a question mark, which it leaves out, its first character is kept as it is.
  return new URLSearchParams(`?${bytes.toString('utf8')}`)
}

function parseMultipart (bytes: Buffer, mime: Mime): FormData {
  const boundary = mime.parameters.get('boundary')
  if (boundary === undefined || !BOUNDARY.test(boundary)) throw broken('its content type has no boundary')
  const form = new FormData()
  const dashes = `--${boundary}`
  const isAt = (text: string, at: number): boolean => bytes.toString('latin1', at, at + text.length) === text
  let at = isAt(dashes, 0) ? 0 : behindPreamble(bytes, dashes)
  for (;;) {
    if (!isAt(dashes, at)) throw broken('a part does not begin with the boundary')
    at += dashes.length
    // Bytes behind the last boundary are ignored.
    if (isAt('--', at)) return form
    at = afterPadding(bytes, at)
    if (!isAt(CRLF, at)) throw broken('a boundary is not followed by a line end')
    const head = headOf(bytes, at + 2)
    const end = bytes.indexOf(`${CRLF}${dashes}`, head.end, 'latin1')
    if (end === -1) throw broken('the last part has no end')
    const content = contentOf(bytes.subarray(head.end, end), head.encoding)
    if (head.filename === null) form.append(head.name, utf8Text(content))
    else {
      const type = head.type === null ? 'text/plain' : /^[\x20-\x7e]*$/.test(head.type) ? head.type : ''
      form.append(head.name, new File([content as never], head.filename, { type }))
    }
    at = end + 2
  }
}

/** Where the first boundary is: what stands in front of its line is ignored (RFC 2046 section 5.1.1). */
function behindPreamble (bytes: Buffer, dashes: string): number {
  const at = bytes.indexOf(`${CRLF}${dashes}`, 0, 'latin1')
  return at === -1 ? 0 : at + CRLF.length
}

/** RFC 2046 section 5.1.1, transport-padding. */
function afterPadding (bytes: Buffer, at: number): number {
  while (bytes[at] === 0x20 || bytes[at] === 0x09) at++
  return at
}

/** Text values keep a byte order mark (the standard's "UTF-8 decode without BOM"). */
function utf8Text (bytes: Buffer): string { return bytes.toString('utf8') }

function contentOf (bytes: Buffer, encoding: string | null): Buffer {
  return encoding === 'base64' ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes
}

interface PartHead { name: string; filename: string | null; type: string | null; encoding: string | null; end: number }

/** The fields of a part, which begin at `from`, and where its content begins. */
function headOf (bytes: Buffer, from: number): PartHead {
  let name: string | null = null
  let filename: string | null = null
  let type: string | null = null
  let encoding: string | null = null
  for (let at = from; ;) {
    const end = bytes.indexOf(CRLF, at, 'latin1')
    if (end === -1) throw broken('the fields of a part have no end')
    if (end === at) {
      if (name === null) throw broken('a part has no name')
      return { name, filename, type, encoding, end: end + 2 }
    }
    const line = bytes.latin1Slice(at, end)
    const field = /^[\t ]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[\t ]*:(.*)$/s.exec(line)
    if (field === null) throw broken('a field of a part is malformed')
    const [, key, padded] = field as unknown as [string, string, string]
    const value = stripped(padded, '\t ')
    switch (key.toLowerCase()) {
      case 'content-disposition': {
        const names = disposition(value)
        name = names.name
        filename = names.filename
        break
      }
      case 'content-type': type = value; break
      case 'content-transfer-encoding': encoding = value.toLowerCase(); break
    }
    at = end + 2
  }
}

/** `form-data; name="..."; filename="..."`; the names are UTF-8, with line ends and quotes escaped by percent signs. What is no parameter
 * ends the list: senders leave a semicolon there. */
function disposition (value: string): { name: string; filename: string | null } {
  if (!/^form-data[\t ]*(?:;|$)/i.test(value)) throw broken('the content-disposition of a part is not form-data')
  let name: string | null = null
  let filename: string | null = null
  /** A name in the extended form, which goes before one in the other (RFC 6266 section 4.3). */
  let extended: string | null = null
  const parameter = /;[\t ]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[\t ]*=[\t ]*(?:"([^"]*)"|([^;"]*))[\t ]*/gy
  let at = value.indexOf(';')
  while (at !== -1 && at < value.length) {
    parameter.lastIndex = at
    const found = parameter.exec(value)
    if (found === null) {
      if (/["\r\n]/.test(value.slice(at))) throw broken('the content-disposition of a part is malformed')
      break
    }
    at = parameter.lastIndex
    const [, key, quoted, bare] = found as unknown as [string, string, string | undefined, string | undefined]
    const text = Buffer.from(quoted ?? bare!.trimEnd(), 'latin1').toString('utf8').replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"')
    switch (key.toLowerCase()) {
      case 'name': name = text; break
      case 'name*': name = extendedName(quoted ?? bare!); break
      case 'filename': filename = text; break
      case 'filename*': extended = extendedName(quoted ?? bare!); break
    }
  }
  if (name === null) throw broken('the content-disposition of a part has no name')
  return { name, filename: extended ?? filename }
}

/** RFC 8187: `UTF-8''` and what is escaped by percent signs. */
function extendedName (value: string): string {
  const found = /^utf-8'[^']*'(.*)$/i.exec(value)
  if (found === null) throw broken('a filename* is malformed')
  try {
    return decodeURIComponent(found[1]!)
  } catch {
    throw broken('a filename* is malformed')
  }
}

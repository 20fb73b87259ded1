// MIME types (https://mimesniff.spec.whatwg.org/#parsing-a-mime-type), and the one of a message
// (https://fetch.spec.whatwg.org/#concept-header-extract-mime-type).

import { remembering, TOKEN } from '../../syntax/names'
import { stripped } from '../../syntax/strip'

export interface Mime {
  /** `type/subtype` in lower case. */
  essence: string
  parameters: Map<string, string>
}

/** HTTP quoted-string token code points. */
const QUOTABLE = /^[\t\x20-\x7e\x80-\xff]*$/
/** HTTP whitespace. */
const SPACE = '\t\n\r '

/** A quoted string that begins at `at`: its value, and where it ends (the Fetch standard, "collect an HTTP quoted string"). */
function quoted (text: string, at: number): [value: string, end: number] {
  let value = ''
  for (at++; at < text.length && text[at] !== '"'; at++) {
    if (text[at] === '\\') at++
    value += at < text.length ? text[at] : '\\'
  }
  return [value, at + 1]
}

/** Parses one; null: it is none. */
export function parseMime (given: string): Mime | null {
  const text = stripped(given, SPACE)
  const semicolon = text.indexOf(';')
  const [type = '', subtype = '', ...rest] = stripped(semicolon === -1 ? text : text.slice(0, semicolon), SPACE).split('/')
  if (rest.length > 0 || !TOKEN.test(type) || !TOKEN.test(subtype)) return null
  const parameters = new Map<string, string>()
  let at = semicolon === -1 ? text.length : semicolon
  while (at < text.length) {
    at++
    while (at < text.length && /[\t\n\r ]/.test(text[at]!)) at++
    const from = at
    while (at < text.length && text[at] !== ';' && text[at] !== '=') at++
    const name = text.slice(from, at).toLowerCase()
    if (text[at] === ';') continue
    at++
    if (at >= text.length) break
    let value: string
    if (text[at] === '"') {
      [value, at] = quoted(text, at)
      while (at < text.length && text[at] !== ';') at++
    } else {
      const start = at
      while (at < text.length && text[at] !== ';') at++
      value = stripped(text.slice(start, at), SPACE)
      if (value === '') continue
    }
    if (TOKEN.test(name) && QUOTABLE.test(value) && !parameters.has(name)) parameters.set(name, value)
  }
  return { essence: `${type}/${subtype}`.toLowerCase(), parameters }
}

export function mimeText ({ essence, parameters }: Mime): string {
  let text = essence
  for (const [name, value] of parameters) text += `;${name}=${TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
  return text
}

/** The values of a field, divided at commas that are not quoted ("get, decode, and split"). */
function splitValues (text: string): string[] {
  const values: string[] = []
  let at = 0
  let value = ''
  for (;;) {
    const from = at
    while (at < text.length && text[at] !== '"' && text[at] !== ',') at++
    value += text.slice(from, at)
    if (text[at] === '"') {
      const [, end] = quoted(text, at)
      value += text.slice(at, end)
      at = end
      if (at < text.length) continue
    }
    values.push(stripped(value, '\t '))
    if (at >= text.length) return values
    value = ''
    at++
  }
}

/** The MIME type that the values of `content-type` say together; null: none. */
function extract (text: string): Mime | null {
  let found: Mime | null = null
  let charset: string | null = null
  for (const value of splitValues(text)) {
    const one = parseMime(value)
    if (one === null || one.essence === '*/*') continue
    if (one.essence !== found?.essence) charset = one.parameters.get('charset') ?? null
    else if (!one.parameters.has('charset') && charset !== null) one.parameters.set('charset', charset)
    found = one
  }
  return found
}

/** Messages say the same types again and again. */
const extracted = remembering(extract)

export function mimeOf (contentType: string | null): Mime | null { return contentType === null ? null : extracted(contentType) }

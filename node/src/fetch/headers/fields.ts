// Fields of responses, checked once and encoded for the channel. A value that could split a message
// is refused before anything is sent.

import { BAD_VALUE, remembering, TOKEN } from '../../syntax/names'
import { trimmed } from './header_list'

export type FieldsInit = Headers | Record<string, string | number | readonly string[]> | Iterable<readonly [string, string]>

/** Trailers of an answer, or what makes them when its body has been sent. */
export type TrailersInit = FieldsInit | Promise<FieldsInit> | (() => FieldsInit | Promise<FieldsInit>)

interface Name {
  lower: string
  /** The last value that was looked at and was good: most come again and again. */
  good: string
}

/** A name in lower case; throws a TypeError where it is none. */
function lowerName (text: string): string {
  if (!TOKEN.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a name of a header: it must be a token`)
  return text.toLowerCase()
}

const nameOf = remembering((text: string): Name => ({ lower: lowerName(text), good: '' }))

function add (fields: string, key: string, value: string): string {
  const name = nameOf(key)
  let text = value
  if (name.good !== value) {
    text = trimmed(value)
    if (BAD_VALUE.test(text)) {
      throw new TypeError(`the header ${name.lower} has a character that a value cannot have: ${JSON.stringify(value)}`)
    }
    name.good = text
  }
  return fields === '' ? name.lower + '\0' + text : fields + '\0' + name.lower + '\0' + text
}

/** Fields as they cross the channel; `type` is the content-type of a body
 * where they have none. */
export function textOf (init: FieldsInit | null | undefined, type: string | null): string {
  if (init == null) return type === null ? '' : add('', 'content-type', type)
  if (typeof init !== 'object') throw new TypeError(`headers are of the type ${typeof init}; they must be an object, pairs or Headers`)
  let text = ''
  if (typeof (init as Iterable<unknown>)[Symbol.iterator] !== 'function') {
    for (const name in init) {
      if (!Object.hasOwn(init, name)) continue
      const value = (init as Record<string, unknown>)[name]
      if (Array.isArray(value)) for (const one of value as unknown[]) text = add(text, name, String(one))
      else text = add(text, name, typeof value === 'string' ? value : String(value))
    }
    return withType(text, type)
  }
  for (const pair of init as Iterable<readonly string[]>) {
    const [name, value] = pair
    if (value === undefined || pair.length > 2) throw new TypeError(`a header is ${JSON.stringify(pair)}; it must be a name and a value`)
    text = add(text, name!, String(value))
  }
  return withType(text, type)
}

function withType (text: string, type: string | null): string {
  if (type === null || `\0${text}`.includes('\0content-type\0')) return text
  return add(text, 'content-type', type)
}

/** Names and values of a text that crossed the channel. */
export function pairsOf (text: string): [string, string][] {
  const pieces = text === '' ? [] : text.split('\0')
  const found: [string, string][] = []
  for (let at = 0; at < pieces.length; at += 2) found.push([pieces[at]!, pieces[at + 1]!])
  return found
}

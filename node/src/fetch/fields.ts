// Fields of responses, checked once and encoded for the channel. A value that could split a message
// is refused before anything is sent.

import { BAD_VALUE, remembering, TOKEN } from '../names'
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

/** Heads that were made lately: most come again and again, and are looked at once. */
const KEPT_MAX = 4
/** Longer ones mostly say something new. */
const KEPT_LENGTH_MAX = 2048
const kept: { pairs: unknown[]; type: string | null; text: string }[] = []
let nextKept = 0

/** Names and values by turns of the record that is looked at. The array is never cut: what of it
 * counts is said beside it. */
const pairs: unknown[] = []
function readPairs (init: object): number {
  let count = 0
  for (const name in init) {
    if (!Object.hasOwn(init, name)) continue
    pairs[count] = name
    pairs[count + 1] = (init as Record<string, unknown>)[name]
    count += 2
  }
  return count
}

/** The text of such pairs, if it was made lately. */
function lately (count: number, type: string | null): string | undefined {
  for (const head of kept) {
    if (head.type !== type || head.pairs.length !== count) continue
    let at = 0
    while (at < count && head.pairs[at] === pairs[at]) at++
    if (at === count) return head.text
  }
  return undefined
}

function textOfPairs (count: number, type: string | null): string {
  let text = ''
  let isFixed = true
  for (let at = 0; at < count; at += 2) {
    const name = pairs[at] as string
    const value = pairs[at + 1]
    if (Array.isArray(value)) for (const one of value as unknown[]) text = add(text, name, String(one))
    else text = add(text, name, typeof value === 'string' ? value : String(value))
    // An object's fields may differ the next time.
    if (typeof value === 'object') isFixed = false
  }
  text = withType(text, type)
  if (isFixed && text.length <= KEPT_LENGTH_MAX) {
    kept[nextKept] = { pairs: pairs.slice(0, count), type, text }
    nextKept = (nextKept + 1) % KEPT_MAX
  }
  return text
}

/** Fields as they cross the channel; `type` is the content-type of a body
 * where they have none. */
export function textOf (init: FieldsInit | null | undefined, type: string | null): string {
  if (init == null) return type === null ? '' : add('', 'content-type', type)
  if (typeof init !== 'object') throw new TypeError(`headers are of the type ${typeof init}; they must be an object, pairs or Headers`)
  if (typeof (init as Iterable<unknown>)[Symbol.iterator] !== 'function') {
    const count = readPairs(init)
    return lately(count, type) ?? textOfPairs(count, type)
  }
  let text = ''
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

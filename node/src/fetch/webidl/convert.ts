// Conversions of Web IDL (https://webidl.spec.whatwg.org) that the classes of this folder need. Programs match the words of their errors:
// they are those of the classes of Node.js.

import { inspect } from 'node:util'

/** Characters that a byte cannot have. */
const TWO_BYTES = /[^\0-\xff]/

/** Text of which each character is one byte (Web IDL, ByteString). */
export function byteString (value: unknown, what: string): string {
  if (typeof value === 'symbol') throw new TypeError(`${what} is a symbol, which cannot be converted to a ByteString.`)
  const text = typeof value === 'string' ? value : `${value as string}`
  const at = text.search(TWO_BYTES)
  if (at !== -1) throw new TypeError(`Cannot convert argument to a ByteString because the character at index ${at} has a value of ${text.charCodeAt(at)} which is greater than 255.`)
  return text
}

/** Text without lone surrogates (Web IDL, USVString). */
export function scalarString (value: unknown): string {
  const text = typeof value === 'string' ? value : `${value as string}`
  return (text as unknown as { toWellFormed: () => string }).toWellFormed()
}

/** One of the values of an enumeration. */
export function oneOf<T extends string> (value: unknown, allowed: ReadonlySet<T>, what: string): T {
  const text = `${value as string}`
  if (!allowed.has(text as T)) throw new TypeError(`${what}: ${text} is not an accepted type. Expected one of ${[...allowed].join(', ')}.`)
  return text as T
}

/** A dictionary, of which `undefined` and `null` are the empty one. */
export function dictionary (value: unknown, what: string): Record<string, unknown> {
  if (value == null) return EMPTY
  if (typeof value !== 'object' && typeof value !== 'function') throw new TypeError(`${what}: Expected ${String(value)} to be one of: Null, Undefined, Object.`)
  return value as Record<string, unknown>
}

const EMPTY: Record<string, unknown> = Object.freeze(Object.create(null)) as Record<string, unknown>

/** The count of arguments that a call must have at least. */
export function needs (given: number, least: number, what: string): void {
  if (given < least) throw new TypeError(`${what}: ${least} argument${least === 1 ? '' : 's'} required, but${given === 0 ? '' : ' only'} ${given} found.`)
}

/** The callback of `forEach`. */
export function mustBeFunction (call: unknown, name: string): void {
  if (typeof call !== 'function') throw new TypeError(`Failed to execute 'forEach' on '${name}': parameter 1 is not of type 'Function'.`)
}

/** The error of Node.js where a member is called of something else. */
export function illegal (): TypeError { return Object.assign(new TypeError('Illegal invocation'), { code: 'ERR_INVALID_THIS' }) }

/** The state of the receiver of a call; throws where it has none. */
export function receiverState<T> (state: T | undefined): T {
  if (state === undefined) throw illegal()
  return state
}

/** A value as it stands in the words of an error: text and objects as they are printed. */
export function shown (value: unknown): string {
  if (typeof value === 'symbol') return `Symbol(${value.description})`
  return typeof value === 'object' ? inspect(value) : typeof value === 'string' ? `"${value}"` : `${value as number}`
}

/** Puts a value on `object` as its own: in the place of an accessor, or under a name that every object inherits. */
export function putOwn (object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

// Conversions of Web IDL (https://webidl.spec.whatwg.org) that the classes of this folder need.

/** Characters that a byte cannot have. */
const TWO_BYTES = /[^\0-\xff]/

/** Text of which each character is one byte (Web IDL, ByteString). */
export function byteString (value: unknown, what: string): string {
  const text = typeof value === 'string' ? value : `${value as string}`
  if (TWO_BYTES.test(text)) throw new TypeError(`${what} is ${JSON.stringify(text)}; each of its characters must be one from U+0000 to U+00FF`)
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
  if (!allowed.has(text as T)) throw new TypeError(`${what} is ${JSON.stringify(text)}; it must be one of ${[...allowed].map(one => JSON.stringify(one)).join(', ')}`)
  return text as T
}

/** A dictionary, of which `undefined` and `null` are the empty one. */
export function dictionary (value: unknown, what: string): Record<string, unknown> {
  if (value == null) return EMPTY
  if (typeof value !== 'object' && typeof value !== 'function') throw new TypeError(`${what} is of the type ${typeof value}; it must be an object`)
  return value as Record<string, unknown>
}

const EMPTY: Record<string, unknown> = Object.freeze(Object.create(null)) as Record<string, unknown>

/** The count of arguments that a call must have at least. */
export function needs (given: number, least: number, what: string): void {
  if (given < least) throw new TypeError(`${what} has ${given} arguments; it needs ${least}`)
}

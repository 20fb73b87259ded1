// Fields of answers: checked once, then as the text that crosses the border. What could split a
// message is refused before anything of it is sent.

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

export type FieldsInit = Headers | Record<string, string | number | readonly string[]> | Iterable<readonly [string, string]>

/** Names are few; whoever makes them up does not fill the memory. */
const NAMES_MAX = 1024
const names = new Map<string, string>()

/** A name in lower case. */
function nameOf (text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  if (!TOKEN.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a name of a header: it must be a token`)
  const lower = text.toLowerCase()
  if (names.size < NAMES_MAX) names.set(text, lower)
  return lower
}

function field (name: string, value: string): string {
  const lower = nameOf(name)
  const text = value.trim()
  if (BAD_VALUE.test(text)) {
    throw new TypeError(`the header ${lower} has a character that a value cannot have: ${JSON.stringify(value)}`)
  }
  return `\0${lower}\0${text}`
}

/** Fields as they cross the border, without the zero in front; `type` is the content-type of a body
 * where they have none. */
export function textOf (init: FieldsInit | null | undefined, type: string | null): string {
  let text = ''
  let hasType = type === null
  if (init != null) {
    if (typeof (init as Iterable<unknown>)[Symbol.iterator] === 'function') {
      for (const [name, value] of init as Iterable<readonly [string, string]>) text += field(name, String(value))
    } else {
      for (const name of Object.keys(init)) {
        const value = (init as Record<string, unknown>)[name]
        if (Array.isArray(value)) for (const one of value as unknown[]) text += field(name, String(one))
        else text += field(name, String(value))
      }
    }
    hasType ||= text.includes('\0content-type\0')
  }
  if (!hasType) text += `\0content-type\0${type!}`
  return text.slice(1)
}

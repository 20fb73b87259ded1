// Fields of answers: checked once, then as the text that crosses the border. What could split a
// message is refused before anything of it is sent.

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

export type FieldsInit = Headers | Record<string, string | number | readonly string[]> | Iterable<readonly [string, string]>

/** Names are few; whoever makes them up does not fill the memory. */
const NAMES_MAX = 1024
const names = new Map<string, Name>()

interface Name {
  lower: string
  /** The last value that was looked at and was good: most come again and again. */
  good: string
}

function nameOf (text: string): Name {
  const known = names.get(text)
  if (known !== undefined) return known
  if (!TOKEN.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a name of a header: it must be a token`)
  const name = { lower: text.toLowerCase(), good: '' }
  if (names.size < NAMES_MAX) names.set(text, name)
  return name
}

function add (fields: string, key: string, value: string): string {
  const name = nameOf(key)
  let text = value
  if (name.good !== value) {
    text = value.trim()
    if (BAD_VALUE.test(text)) {
      throw new TypeError(`the header ${name.lower} has a character that a value cannot have: ${JSON.stringify(value)}`)
    }
    name.good = text
  }
  return fields === '' ? name.lower + '\0' + text : fields + '\0' + name.lower + '\0' + text
}

/** Fields as they cross the border; `type` is the content-type of a body
 * where they have none. */
export function textOf (init: FieldsInit | null | undefined, type: string | null): string {
  let text = ''
  if (init != null) {
    if (typeof (init as Iterable<unknown>)[Symbol.iterator] === 'function') {
      for (const [name, value] of init as Iterable<readonly [string, string]>) text = add(text, name, String(value))
    } else {
      for (const name in init) {
        if (!Object.hasOwn(init, name)) continue
        const value = (init as Record<string, unknown>)[name]
        if (typeof value === 'string') text = add(text, name, value)
        else if (Array.isArray(value)) for (const one of value as unknown[]) text = add(text, name, String(one))
        else text = add(text, name, String(value))
      }
    }
  }
  if (type === null || `\0${text}`.includes('\0content-type\0')) return text
  return add(text, 'content-type', type)
}

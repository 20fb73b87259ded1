// Texts without the blanks around them.

/**
 * `text` without the characters of `blanks` at its ends. Not by a regular expression: one that ends with `+$` tries each character of
 * each run of blanks as the last run's first, and for a long run in the middle of a text that a peer has sent takes seconds.
 */
export function stripped (text: string, blanks: string): string {
  let from = 0
  let to = text.length
  while (from < to && blanks.includes(text[from]!)) from++
  while (to > from && blanks.includes(text[to - 1]!)) to--
  return from === 0 && to === text.length ? text : text.slice(from, to)
}

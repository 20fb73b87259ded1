// Notes from handlers to the test that asked them, by a word of the test's choosing in the query:
// `?to=word`.

export class Notes {
  #received = new Map()
  #waiting = new Map()
  #counts = new Map()
  #gates = new Map()

  /** A handler leaves `what` for the test that waits under this word. */
  report (word, what) {
    const key = `${word} ${what}`
    this.#received.set(key, true)
    this.#waiting.get(key)?.()
    this.#waiting.delete(key)
  }

  /** Until a handler has said it. */
  async until (word, what) {
    const key = `${word} ${what}`
    if (this.#received.has(key)) return
    await new Promise(resolve => { this.#waiting.set(key, resolve) })
  }

  has (word, what) { return this.#received.has(`${word} ${what}`) }

  count (word) { this.#counts.set(word, this.counted(word) + 1) }
  counted (word) { return this.#counts.get(word) ?? 0 }

  /** A handler waits here until the test opens the gate. */
  gate (word) {
    let gate = this.#gates.get(word)
    if (gate === undefined) {
      gate = {}
      gate.promise = new Promise(resolve => { gate.open = resolve })
      this.#gates.set(word, gate)
    }
    return gate
  }
}

export const wordOf = url => new URL(url, 'http://a').searchParams.get('to') ?? ''
export const pathOf = url => new URL(url, 'http://a').pathname

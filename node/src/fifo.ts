// A queue of any length, from which the oldest entry is taken in constant time: `Array.shift` moves all that are behind it where an
// array has more than some 16,000 entries.

/** Entries that were taken before those behind them move to the front, where they are half of all. */
const TAKEN_MAX = 1024

export class Fifo<T> implements Iterable<T> {
  private entries: (T | undefined)[] = []
  private taken = 0

  get length (): number { return this.entries.length - this.taken }
  /** The oldest one, which stays. */
  get first (): T | undefined { return this.entries[this.taken] }

  push (entry: T): void { this.entries.push(entry) }

  /** Takes the oldest one; undefined: there is none. */
  shift (): T | undefined {
    const { entries, taken } = this
    if (taken === entries.length) return undefined
    const entry = entries[taken]
    entries[taken] = undefined
    this.taken++
    if (this.taken === entries.length) entries.length = this.taken = 0
    else if (this.taken >= TAKEN_MAX && this.taken * 2 >= entries.length) {
      entries.copyWithin(0, this.taken)
      entries.length -= this.taken
      this.taken = 0
    }
    return entry
  }

  /** Takes all of them. */
  takeAll (): T[] {
    const all = this.entries.slice(this.taken) as T[]
    this.entries = []
    this.taken = 0
    return all
  }

  [Symbol.iterator] (): IterableIterator<T> { return (this.entries.slice(this.taken) as T[])[Symbol.iterator]() }
}

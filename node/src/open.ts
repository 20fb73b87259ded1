// An unordered set of open exchanges, with constant-time removal.

/** A member of such a set. */
export interface Held {
  /** Its index in the set, kept by the set. */
  place: number
}

/** Not a Set: things come and go all the time, and each table that a Set has outgrown refers to the next.
 * V8 keeps them all, with what was in them, until a full collection. */
export class Open<T extends Held> implements Iterable<T> {
  private readonly all: T[] = []

  get size (): number { return this.all.length }

  /** One that is not among them. */
  add (one: T): void { one.place = this.all.push(one) - 1 }

  delete (one: T): void {
    if (this.all[one.place] !== one) return
    const last = this.all.pop()!
    if (last === one) return
    this.all[one.place] = last
    last.place = one.place
  }

  [Symbol.iterator] (): Iterator<T> { return this.all.values() }
}

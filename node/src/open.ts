// An unordered set of open exchanges, with constant-time removal.

/** A member of such a set. */
export interface Tracked {
  /** Its index in the set, kept by the set. */
  $index: number
}

/** Not a Set: things come and go all the time, and each table that a Set has outgrown refers to the next.
 * V8 keeps them all, with what was in them, until a full collection. */
export class Open<T extends Tracked> implements Iterable<T> {
  private readonly all: T[] = []

  get size (): number { return this.all.length }

  /** One that is not among them. */
  add (one: T): void { one.$index = this.all.push(one) - 1 }

  delete (one: T): void {
    if (this.all[one.$index] !== one) return
    const last = this.all.pop()!
    if (last === one) return
    this.all[one.$index] = last
    last.$index = one.$index
  }

  [Symbol.iterator] (): Iterator<T> { return this.all.values() }
}

// The open exchanges, with constant-time removal; a loop over them goes in the order in which they began.

/** A member of such a set. */
export interface Tracked {
  /** Its index in the set, kept by the set. */
  $index: number
  /** Its place in the order, kept by the set. */
  $order: number
}

/** Not a Set: things come and go all the time, and each table that a Set has outgrown refers to the next.
 * V8 keeps them all, with what was in them, until a full collection. */
export class Open<T extends Tracked> implements Iterable<T> {
  private readonly all: T[] = []
  private added = 0

  get size (): number { return this.all.length }

  /** One that is not among them. */
  add (one: T): void {
    one.$order = ++this.added
    one.$index = this.all.push(one) - 1
  }

  delete (one: T): void {
    if (this.all[one.$index] !== one) return
    const last = this.all.pop()!
    if (last === one) return
    this.all[one.$index] = last
    last.$index = one.$index
  }

  /** Goes over those that are open now, also where the loop removes some. */
  [Symbol.iterator] (): Iterator<T> { return this.all.toSorted((one, other) => one.$order - other.$order).values() }
}

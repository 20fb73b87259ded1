// Bodies that the engine reads where they lie. Until a loan is returned, this keeps its bytes from
// being collected, and whoever gave them keeps from changing them.

/** What the engine has on loan. */
interface Loan {
  readonly bytes: Buffer
  returned: (() => void) | null
}

/** Memory that can move or shrink under the engine, or belongs to other threads too, is not lent. */
export function isLendable ({ buffer }: Buffer): boolean {
  return buffer instanceof ArrayBuffer && (buffer as { resizable?: boolean }).resizable !== true
}

export class Loans {
  /** By number. */
  private readonly all: (Loan | undefined)[] = []
  private readonly free: number[] = []

  /** Keeps the bytes; the number is the loan's. `returned` is called once the engine is done with them. */
  add (bytes: Buffer, returned: (() => void) | null): number {
    const number = this.free.pop() ?? this.all.length
    this.all[number] = { bytes, returned }
    return number
  }

  /** The engine reads them no longer. */
  end (number: number): void {
    const loan = this.all[number]
    this.all[number] = undefined
    this.free.push(number)
    loan?.returned?.()
  }

  /** The engine is no more: who waits, to be told now. The bytes stay, for its thread may not have gone. */
  giveUp (): (() => void)[] {
    const waiting: (() => void)[] = []
    for (const loan of this.all) {
      if (loan == null || loan.returned === null) continue
      waiting.push(loan.returned)
      loan.returned = null
    }
    return waiting
  }

  /** Bytes that are on loan. */
  get size (): number { return this.all.reduce((sum, loan) => sum + (loan?.bytes.length ?? 0), 0) }
}

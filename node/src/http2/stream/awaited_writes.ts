// Writes whose bytes the connection has no room for yet, with their callbacks, oldest first.

import { Fifo } from '../../fifo'

type Done = (error?: Error | null) => void

export class AwaitedWrites {
  private readonly list = new Fifo<{ left: number; bytes: number; done: Done }>()
  /** Bytes of these writes, which are with the connection and of which their writer has not heard. */
  bytes = 0

  /** `left`: bytes that the connection is to take before `done`. */
  add (left: number, bytes: number, done: Done): void {
    this.bytes += bytes
    this.list.push({ left, bytes, done })
  }

  /** The connection took `bytes`. */
  onRoom (bytes: number): void {
    let left = bytes
    while (this.list.length > 0 && left > 0) {
      const first = this.list.first!
      const used = Math.min(left, first.left)
      first.left -= used
      left -= used
      if (first.left > 0) return
      this.list.shift()
      this.bytes -= first.bytes
      first.done()
    }
  }

  end (): void {
    this.bytes = 0
    for (const { done } of this.list.takeAll()) done()
  }
}

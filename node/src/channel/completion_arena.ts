// Reads the texts and bytes of completions: from the arena that the addon owns, or from outside of it.

import { markAsUntransferable } from 'node:worker_threads'

/** Small bodies are copied from the arena into pieces of this size. */
const SLAB_BYTES = 64 * 1024

export class CompletionArena {
  private readonly bytes: Buffer
  private readonly mask: number
  /** Up to where its bytes were read. */
  drained = 0
  /** The bytes of the completion at hand that did not go through the arena, and the position that stands
   * for their beginning. */
  private outside: Buffer | null = null
  private outsideAt = 0
  private slab = freshSlab()
  private slabUsed = 0

  /** `length`: its bytes, a power of two. */
  constructor (arena: ArrayBuffer, length: number) {
    this.bytes = Buffer.from(arena)
    this.mask = length - 1
  }

  /** Reads `bytes` for the position `at` on, until `leave`. */
  enter (bytes: Buffer, at: number): void {
    this.outside = bytes
    this.outsideAt = at
  }

  /** Reads the arena again. */
  leave (): void { this.outside = null }

  /** One string for a whole head. */
  text (position: number, length: number): string {
    if (length === 0) return ''
    if (this.outside !== null) return this.outside.latin1Slice(position - this.outsideAt, position - this.outsideAt + length)
    const from = position & this.mask
    this.drained = (position + length) | 0
    return this.bytes.latin1Slice(from, from + length)
  }

  utf8 (position: number, length: number): string {
    if (this.outside !== null) return this.outside.utf8Slice(position - this.outsideAt, position - this.outsideAt + length)
    const from = position & this.mask
    this.drained = (position + length) | 0
    return this.bytes.utf8Slice(from, from + length)
  }

  /** Skips bytes of the arena that have no reader. */
  skip (position: number, length: number): void { if (length > 0 && this.outside === null) this.drained = (position + length) | 0 }

  /** A copy of bytes of the arena. */
  copy (position: number, length: number): Buffer {
    if (this.outside !== null) return Buffer.from(this.outside.subarray(position - this.outsideAt, position - this.outsideAt + length))
    const from = position & this.mask
    this.drained = (position + length) | 0
    if (length > SLAB_BYTES - this.slabUsed) {
      this.slab = freshSlab()
      this.slabUsed = 0
    }
    const start = this.slabUsed
    this.slabUsed = start + length
    this.bytes.copy(this.slab, start, from, from + length)
    return this.slab.subarray(start, this.slabUsed)
  }
}

/** Pieces of many exchanges share one: a program that transfers a piece must not take the others along. */
function freshSlab (): Buffer {
  const slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  markAsUntransferable(slab.buffer)
  return slab
}

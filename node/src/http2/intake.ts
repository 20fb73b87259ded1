// The body of a request on its way to whoever reads it: the stream, or the request of the compatible
// API. Nothing of node's streams is made before somebody reads.

import type { Readable } from 'node:stream'
import type { Exchange } from '../server/exchange'

export class Intake {
  /** What came before somebody read. */
  private held: Buffer[] = []
  private reader: Readable | null = null
  private wants = false
  /** All has come. */
  isWhole: boolean
  /** Somebody asked for the body. */
  didRead = false

  /** `goesOn`: bytes come although the request has no body. */
  constructor (private readonly exchange: Exchange, goesOn = false) { this.isWhole = !exchange.hasBody && !goesOn }

  onData (chunk: Buffer): void {
    if (this.reader === null || !this.wants || this.held.length > 0) this.held.push(chunk)
    else this.give(chunk)
  }

  /** The request's body is all there. */
  onEnd (): void {
    this.isWhole = true
    if (this.reader !== null && this.held.length === 0) this.reader.push(null)
  }

  /** `reader` has room; the first who asks gets the body. */
  read (reader: Readable): void {
    this.didRead = true
    this.reader ??= reader
    if (this.reader !== reader) return
    this.wants = true
    while (this.wants && this.held.length > 0) this.give(this.held.shift()!)
    if (this.isWhole && this.held.length === 0) reader.push(null)
  }

  /** Nothing is read any more: what is held is dropped. */
  drop (): void { this.held = [] }

  private give (chunk: Buffer): void {
    const bytes = chunk.length
    this.wants = this.reader!.push(chunk)
    this.exchange.take(bytes)
  }
}

// The body of a request on its way to its reader: the stream, or the request of the compatible API.
// No stream of node's is created before the first read. Received bytes stay readable after the
// exchange; a reader of a truncated body gets an error behind them, never an end.

import { AsyncResource } from 'node:async_hooks'
import type { Readable } from 'node:stream'
import { Fifo } from '../../fifo'
import type { Exchange } from '../../server/exchange'
import { later } from '../callbacks/later'
import { isDueTo } from './reader'
import { loopTurns } from './turns'

export class Intake {
  /** Bytes that arrived while the reader had no room. */
  private readonly held = new Fifo<Buffer>()
  private reader: Readable | null = null
  /** Another that waits for the end, and for the bytes where the body is shared. */
  private other: Readable | null = null
  private wants = false
  private otherWants = false
  /** Listeners of both APIs have the request: each that reads gets the bytes. */
  private isShared = false
  /** The readers of this turn are not all known yet. */
  private isGathering = false
  private isDropped = false
  /** The peer has the credit for all that is held. */
  private isReleased = false
  private context: AsyncResource | undefined
  private otherContext: AsyncResource | undefined
  /** Fails the reader: the rest of the body does not come. */
  private cut: (() => void) | null = null
  /** All has come. */
  isWhole: boolean
  /** The end is with the reader, or the head has said it. */
  private isEndGiven: boolean
  /** The body has been read from. */
  didRead = false
  /** The turn of the loop in which a piece came last. */
  private turnOfPiece = -1
  /** A reader has got the last piece in this turn, and gets the end in the next. */
  endsLater = false
  /** Bytes that have come. */
  received = 0
  /** Bytes that were taken. */
  taken = 0

  /** `goesOn`: bytes come although the request has no body. `endsApart`: the end goes a turn behind the last piece here, and not where it comes from. */
  constructor (private readonly exchange: Exchange, goesOn = false, private readonly endsApart = false) { this.isWhole = this.isEndGiven = !exchange.hasBody && !goesOn }

  /** Whether bytes wait for their reader. */
  get holds (): boolean { return this.held.length > 0 }

  /** Whether a reader is about to get bytes or the end. */
  get isDue (): boolean { return this.holds || (this.isWhole && !this.isEndGiven) || isDueTo(this.reader, this.isWhole) || isDueTo(this.other, this.isWhole) }

  /** Whether it has been read from by this reader. */
  isReadBy (by: object): boolean { return this.reader as object | null === by || this.other as object | null === by }

  /** Whether all of it was given to another reader. */
  isSpent (by: object): boolean { return this.isWhole && !this.holds && this.reader !== null && this.reader as object !== by && this.other as object | null !== by }

  /** Notes that both APIs have listeners that may read the body. */
  share (): void { this.isShared = this.isGathering = true }

  onData (chunk: Buffer): void {
    this.received += chunk.length
    this.turnOfPiece = loopTurns.now()
    if (this.isDropped) this.take(chunk.length)
    else if (this.held.length > 0 || !this.hasRoom) this.held.push(chunk)
    else this.give(chunk)
  }

  /** The request's body is all there. */
  onEnd (): void {
    this.isWhole = true
    this.settle()
  }

  /** The rest does not come; `cut` fails the reader behind what came, after those that were given before. */
  onCut (cut: () => void): void {
    if (this.isWhole) return
    const { cut: before } = this
    this.cut = before === null ? cut : () => { before(); cut() }
    this.settle()
  }

  /** `reader` has room; the first reader gets the body, and a second one too where it is shared. */
  read (reader: Readable): void {
    const isFirst = this.reader === null
    this.didRead = true
    // Calls its reader in the async context in which it began to read.
    this.reader ??= reader
    if (this.reader === reader) {
      this.context ??= new AsyncResource('TRUNKLINEBODY')
      this.wants = true
    } else {
      this.otherContext ??= new AsyncResource('TRUNKLINEBODY')
      this.other = reader
      this.otherWants = true
    }
    if (!this.isGathering) this.pass()
    // Listeners that were added in the turn of the request begin to read one after another.
    else if (isFirst) later(() => { this.isGathering = false; this.pass() })
  }

  private get hasRoom (): boolean { return this.reader !== null && this.wants && !this.isGathering && (this.otherWants || !this.isSharing) }

  /** Whether the second reader takes bytes: one that only waits for the end would hold up the first. */
  private get isSharing (): boolean {
    const { isShared, other } = this
    return isShared && other !== null && !other.destroyed && (other.readableFlowing !== null || other.listenerCount('readable') > 0)
  }

  private pass (): void {
    try {
      while (this.held.length > 0 && this.hasRoom) this.give(this.held.shift()!)
    } catch (error) {
      // A listener's: the rest comes behind it.
      later(() => { this.pass() })
      throw error
    }
    this.settle()
  }

  /** Gives the bytes that are held and those that still come back: nothing is read any more. */
  drop (): void {
    this.isDropped = true
    for (const chunk of this.held.takeAll()) this.take(chunk.length)
  }

  /** Leaves what is held, and the end where all has come, with `reader`, which is destroyed next: what came can still be read from it. */
  leaveWith (reader: Readable): void {
    const held = this.held.takeAll()
    if (held.length === 0) return
    for (const chunk of held) {
      this.take(chunk.length)
      reader.push(chunk)
    }
    if (this.isWhole) reader.push(null)
  }

  /** Credits what is held, which stays readable: all has come, and the exchange is to end before it is read. */
  release (): void {
    if (this.isReleased) return
    for (const chunk of this.held) this.take(chunk.length)
    this.isReleased = true
  }

  private take (bytes: number): void {
    if (this.isReleased) return
    this.taken += bytes
    this.exchange.take(bytes)
  }

  /** As with node, a reader has the last piece before it can know of the end: one that fails at it resets its stream. A request has it behind
   * its stream; the reader of a stream on which all had come before it began gets both together. */
  private endLater (): void {
    const { exchange, reader } = this
    if (!this.endsApart || this.endsLater || !exchange.received || exchange.closed || this.held.length > 0 || reader === null) return
    if (reader as object === exchange.owner && !loopTurns.isNow(this.turnOfPiece)) return
    this.endsLater = true
    later(() => {
      if (!this.endsLater) return
      this.endsLater = false
      this.settle()
    })
  }

  /** The stream is closed with the code of an error: an end that has come in this turn does not go in front of that. */
  dropEnd (): void { if (loopTurns.isNow(this.turnOfPiece)) this.endsLater = false }

  /** Ends the readers, once nothing is held. */
  private settle (): void {
    if (this.endsLater || this.held.length > 0 || (this.isGathering && this.reader !== null)) return
    const { cut, other, reader } = this
    if (this.isWhole) {
      this.isEndGiven = reader !== null
      this.push(null)
    } else if (cut === null) return
    else if (reader !== null) cut()
    other?.push(null)
  }

  private give (chunk: Buffer): void {
    const bytes = chunk.length
    const { isSharing, other } = this
    this.endLater()
    try {
      this.wants = this.push(chunk)
      if (isSharing) this.otherWants = this.otherContext!.runInAsyncScope(() => other!.push(chunk))
    } finally {
      // The peer may go on, also where a listener has thrown.
      this.take(bytes)
    }
  }

  private push (chunk: Buffer | null): boolean {
    const { context, reader } = this
    return reader !== null && context!.runInAsyncScope(() => reader.push(chunk))
  }
}

// A write of the user's that is under way: its pieces, which go to the machine together at the end of the turn, and its callback.

import { nodeLine } from '../../node_version'
import { canceledWrite } from './errors'
import type { Machine } from './machines'
import { nextTick, setImmediate } from '../../timers'

/** The line of Node.js from which a write fails by the error that destroys its stream meanwhile; before it, one whose bytes
 * were not all sent fails as canceled, and another has succeeded. */
const failsWrites = nodeLine >= 26

export type Done = (error?: Error | null) => void

/** Bytes of one turn that become one piece: one call and one frame. */
const JOINED_BYTES_MAX = 16 * 1024
/** Short pieces as one. */
function joined (pieces: Buffer[]): Buffer[] {
  if (pieces.length < 2 || pieces.reduce((sum, { length }) => sum + length, 0) > JOINED_BYTES_MAX) return pieces
  return [Buffer.concat(pieces)]
}

const NONE: Buffer[] = []

export class PendingWrite {
  /** Pieces that are written to the machine at the end of this turn. */
  private pieces = NONE
  /** Their sum as the stream counts it: characters where texts were written. */
  length = 0
  private done: Done | undefined

  get isUnderWay (): boolean { return this.done !== undefined }
  /** Whether nothing waits for the machine. */
  get isSent (): boolean { return this.pieces.length === 0 }

  keep (pieces: Buffer[], length: number, done: Done): void {
    this.pieces = pieces
    this.length = length
    this.done = done
  }

  /** Gives the pieces of this turn to the machine; whether it has room for more, undefined: it has refused one. `isLast`: the end goes with them. */
  send (machine: Machine, stream: number, isLast: boolean): boolean | undefined {
    const pieces = joined(this.pieces)
    this.pieces = NONE
    let hasRoom: boolean | undefined = true
    for (let at = 0; at < pieces.length && hasRoom !== undefined; at++) hasRoom = machine.send(stream, pieces[at]!, isLast && at === pieces.length - 1)
    return hasRoom
  }

  settle (error?: Error | null): void {
    const { done } = this
    this.done = undefined
    done?.(error)
  }

  /** The stream is destroyed by `error` meanwhile; `isTaken`: all of it goes in front of the reset. Called when node:http2 does it. */
  settleOvertaken (isTaken: boolean, error: Error | null): void {
    const { done } = this
    this.done = undefined
    if (done === undefined) return
    if (failsWrites) done(error)
    else if (isTaken) nextTick(done)
    else setImmediate(done, canceledWrite())
  }

  /** Drops what is not written, and calls the writer back. */
  drop (error: Error | null): void {
    this.pieces = NONE
    this.settle(error)
  }
}

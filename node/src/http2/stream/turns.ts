// Counts turns in which answers are sent, so that an answer can tell whether its own is over. A turn is counted at its end, and one
// without an answer not at all.

import { nextTick, setImmediate } from '../../timers'

class TurnCounter {
  private turn = 0
  private isScheduled = false
  /** `atEnd` calls a function when the turn of now is over. */
  constructor (private readonly atEnd: (call: () => void) => void) {}

  private readonly next = (): void => {
    this.turn++
    this.isScheduled = false
  }

  /** The turn that is now. */
  now (): number {
    if (!this.isScheduled) this.atEnd(this.next)
    this.isScheduled = true
    return this.turn
  }

  /** Whether the turn that `now` has given is not over. */
  isNow (counted: number): boolean { return counted === this.turn }
}

/** Turns of JavaScript: what is written in one goes as one message. */
export const scriptTurns = new TurnCounter(call => { nextTick(call) })
/** Turns of the loop, by the end of which node:http2 has closed the stream of a whole answer. They hold no process. */
export const loopTurns = new TurnCounter(call => { setImmediate(call).unref() })

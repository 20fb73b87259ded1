// Ends requests without progress for a given time.

import { INTERNAL_ERROR } from '../server/bridge'
import type { Incoming } from './incoming'

/** How often the requests are looked at, in ms: an end may come so much later. */
const TICK_MS = 1000
/** `seen`: ticks since the last byte. Time in which the process does not run, or is busy elsewhere, is one tick at most, so that what came or
 * became due meanwhile is handled before an end. */
interface Watched { ticksMax: number; seen: number }

/** Throws where a time is none. */
export function secondsOf (seconds: unknown, name: string): number {
  if (typeof seconds !== 'number' || !(seconds >= 0) || !Number.isFinite(seconds)) throw new RangeError(`${name} is ${String(seconds)}; it must be a number of seconds, at least 0`)
  return seconds
}

export class IdleRequests {
  private readonly watched = new Map<Incoming, Watched>()
  private timer: NodeJS.Timeout | null = null

  /** Ends `incoming` after `seconds` in which no byte of it was sent or received; 0: never. It replaces an earlier time. */
  watch (incoming: Incoming, seconds: number): void {
    if (seconds === 0) {
      this.watched.delete(incoming)
      incoming.onActive = null
      return
    }
    const entry: Watched = { ticksMax: Math.ceil(seconds * 1000 / TICK_MS), seen: 0 }
    this.watched.set(incoming, entry)
    incoming.onActive = () => { entry.seen = 0 }
    this.timer ??= setInterval(() => { this.tick() }, TICK_MS).unref()
  }

  private tick (): void {
    for (const [incoming, entry] of this.watched) {
      const isOver = incoming.exchange.closed || incoming.isLeft
      if (!isOver && ++entry.seen <= entry.ticksMax) continue
      this.watched.delete(incoming)
      if (!isOver) incoming.exchange.reset(INTERNAL_ERROR)
    }
    if (this.watched.size > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }
}

// Ends requests without progress for a given time, and uploads behind their answers that nothing moves.

import { INTERNAL_ERROR } from '../server/bridge'
import type { Exchange } from '../server/exchange'
import type { Incoming } from './incoming'
import { clearInterval, setInterval } from '../timers'

/** How often the requests are looked at, in ms: an end may come so much later. */
const TICK_MS = 1000
/** `seen`: ticks since the last byte. Time in which the process does not run, or is busy elsewhere, is one tick at most, so that what came or
 * became due meanwhile is handled before an end. */
interface Watched { ticksMax: number; seen: number; end: (exchange: Exchange) => void }

/** Seconds in which nothing of a body moves whose request has its answer: the default of `timeouts.bodyIdle`, which the engine holds
 * before the answer. */
const REST_SECONDS = 300

/** Throws where a time is none. */
export function secondsOf (seconds: unknown, name: string): number {
  if (typeof seconds !== 'number' || !(seconds >= 0) || !Number.isFinite(seconds)) throw new RangeError(`${name} is ${String(seconds)}; it must be a number of seconds, at least 0`)
  return seconds
}

/** Ticks of this time. */
const ticksOf = (seconds: number): number => Math.ceil(seconds * 1000 / TICK_MS)

export class IdleRequests {
  private readonly watched = new Map<Incoming, Watched>()
  private timer: NodeJS.Timeout | null = null
  private readonly restSeconds: number

  /** `bodyIdleMs`: the option `timeouts.bodyIdle`; 0: no limit. */
  constructor (bodyIdleMs: number | undefined) { this.restSeconds = bodyIdleMs === undefined ? REST_SECONDS : bodyIdleMs / 1000 }

  /** Ends `incoming` after `seconds` in which no byte of it was sent or received; 0: never. It replaces an earlier time. */
  watch (incoming: Incoming, seconds: number): void {
    incoming.onTaken = null
    if (seconds === 0) {
      this.watched.delete(incoming)
      incoming.onActive = null
      return
    }
    incoming.onActive = this.add(incoming, ticksOf(seconds), exchange => { exchange.reset(INTERNAL_ERROR) })
  }

  /**
   * Declines the body of `incoming`, which has its answer, once no byte of it has come or been read for the time of `timeouts.bodyIdle`: a program may
   * have forgotten its reader, and a client may be gone. A shorter time of `watch` stays.
   */
  watchRest (incoming: Incoming): void {
    const { restSeconds } = this
    const ticksMax = ticksOf(restSeconds)
    if (restSeconds === 0 || (this.watched.get(incoming)?.ticksMax ?? Infinity) <= ticksMax) return
    incoming.onActive = incoming.onTaken = this.add(incoming, ticksMax, exchange => { exchange.decline() })
  }

  /** Returns the call by which it is seen to move. */
  private add (incoming: Incoming, ticksMax: number, end: Watched['end']): () => void {
    const entry: Watched = { ticksMax, seen: 0, end }
    this.watched.set(incoming, entry)
    this.timer ??= setInterval(() => { this.tick() }, TICK_MS).unref()
    return () => { entry.seen = 0 }
  }

  private tick (): void {
    for (const [incoming, entry] of this.watched) {
      const isOver = incoming.exchange.closed || incoming.isLeft
      if (!isOver && ++entry.seen <= entry.ticksMax) continue
      this.watched.delete(incoming)
      if (!isOver) entry.end(incoming.exchange)
    }
    if (this.watched.size > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }
}

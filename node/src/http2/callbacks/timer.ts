// The timeouts of sessions and streams: unref'd, and restarted with every activity.

import type { EventEmitter } from 'node:events'
import { checkCall, checkTime } from '../codes'
import { clearTimeout, setTimeout } from '../../timers'

/** The longest time of a timer of Node.js, in ms: a longer one would fire at once. */
const TIME_MS_MAX = 2 ** 31 - 1

function truncated (time: number): number {
  if (time <= TIME_MS_MAX) return time
  process.emitWarning(`${time} does not fit into a 32-bit signed integer.\nTimer duration was truncated to ${TIME_MS_MAX}.`, 'TimeoutOverflowWarning')
  return TIME_MS_MAX
}

export class Timer {
  private constructor (private readonly handle: NodeJS.Timeout) {}

  /** Implements `setTimeout` of an emitter: its checks, its listener, a new timer or none. */
  static set (old: Timer | undefined, time: number, listener: (() => void) | undefined, emitter: EventEmitter, fire: () => void): Timer | undefined {
    checkTime(time)
    if (listener !== undefined) checkCall(listener)
    old?.stop()
    if (time === 0) {
      if (listener !== undefined) emitter.removeListener('timeout', listener)
      return undefined
    }
    if (listener !== undefined) emitter.once('timeout', listener)
    return new Timer(setTimeout(fire, truncated(time)).unref())
  }

  refresh (): void { this.handle.refresh() }
  stop (): void { clearTimeout(this.handle) }
}

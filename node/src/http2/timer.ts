// The timeouts of sessions and streams: unref'd, and restarted with every activity.

import type { EventEmitter } from 'node:events'
import { checkCall, checkTime } from './codes'

export class Timer {
  private constructor (private readonly handle: NodeJS.Timeout) {}

  /** Implements `setTimeout` of an emitter: its checks, its listener, a new timer or none. */
  static set (old: Timer | undefined, time: number, listener: (() => void) | undefined, emitter: EventEmitter, fire: () => void): Timer | undefined {
    checkTime(time)
    if (listener !== undefined) checkCall(listener, 'callback')
    old?.stop()
    if (time === 0) {
      if (listener !== undefined) emitter.removeListener('timeout', listener)
      return undefined
    }
    if (listener !== undefined) emitter.once('timeout', listener)
    return new Timer(setTimeout(fire, time).unref())
  }

  refresh (): void { this.handle.refresh() }
  stop (): void { clearTimeout(this.handle) }
}

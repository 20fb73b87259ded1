// Resets in order of streams whose heads are not written yet. A server of node:http2 never ends a stream whose head it reads
// together with such a reset, nor the session of that stream: the reset follows when the server may have read the head.

import { setImmediate } from '../../timers'

export class LateResets {
  /** The newest stream, the newest whose head was written, and the newest whose head the server may have read. */
  private newest = 0
  private newestSent = 0
  private newestRead = 0
  private waiting: number[] = []

  /** `reset`: resets streams; `over`: called in the turn behind that. */
  constructor (private readonly reset: (streams: number[]) => void, private readonly over: () => void) {}

  get isEmpty (): boolean { return this.waiting.length === 0 }

  onOpened (stream: number): void { this.newest = stream }

  /** Keeps a reset for later. False: the server may have read the head. */
  keep (stream: number): boolean {
    if (stream <= this.newestRead) return false
    this.waiting.push(stream)
    return true
  }

  /** Notes that all that was to be sent was written. */
  onWritten (): void {
    const { newest } = this
    if (this.newestSent === newest) return
    this.newestSent = newest
    // In the next turn but one: behind a read of a server in the same process too.
    setImmediate(() => { setImmediate(() => { this.onRead(newest) }) })
  }

  private onRead (newest: number): void {
    this.newestRead = newest
    const due = this.waiting.filter(stream => stream <= newest)
    if (due.length === 0) return
    this.waiting = this.waiting.filter(stream => stream > newest)
    this.reset(due)
    setImmediate(this.over)
  }
}

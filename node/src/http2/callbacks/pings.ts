// The pings of a session that wait for their answers.

import { checkBytes, checkCall, plain } from '../codes'
import { asked } from './asked'
import { nextTick } from '../../timers'

const PING_BYTES = 8

type PingCallback = (error: Error | null, duration?: number, payload?: Buffer) => void

export class Pings {
  private readonly waiting: { payload: Buffer; callback: PingCallback }[] = []

  /** `max`: how many may wait. */
  constructor (private readonly max: number) {}

  /** A call of `session.ping`; `isClosed`: the session sends none. `submit`: gives it to the connection, false where that does not
   * take it. */
  ping (payload: unknown, callback: unknown, isClosed: boolean, submit: (payload: Buffer) => boolean): boolean | undefined {
    if (typeof payload === 'function') [payload, callback] = [undefined, payload]
    if (payload) {
      checkBytes(payload, 'payload')
      if (payload.byteLength !== PING_BYTES) throw plain('ERR_HTTP2_PING_LENGTH')
    }
    checkCall(callback)
    if (isClosed) return void nextTick(callback, plain('ERR_HTTP2_PING_CANCEL'))
    const done = asked('HTTP2PING', callback as PingCallback)
    // Not of the pool: `buffer` is its own.
    const sent = payload ? Buffer.from(new Uint8Array(bytesOf(payload as NodeJS.ArrayBufferView)!).buffer) : freshPayload()
    if (this.waiting.length >= this.max || !submit(sent)) {
      done(plain('ERR_HTTP2_PING_CANCEL'))
      return false
    }
    this.waiting.push({ payload: sent, callback: done })
    return true
  }

  onPong (payload: Buffer, ms: number): void {
    const place = this.waiting.findIndex(ping => ping.payload.equals(payload))
    const [ping] = place < 0 ? [] : this.waiting.splice(place, 1)
    ping?.callback(null, ms, ping.payload)
  }

  cancel (): void { for (const { callback } of this.waiting.splice(0)) callback(plain('ERR_HTTP2_PING_CANCEL')) }
}

export function bytesOf (view: NodeJS.ArrayBufferView | undefined): Uint8Array | undefined {
  return view === undefined ? undefined : new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

let pingsMade = 0n
/** The bytes of a ping that has none of its own: those of no other that is under way. */
function freshPayload (): Buffer {
  const payload = Buffer.alloc(PING_BYTES)
  payload.writeBigUInt64BE(pingsMade++)
  return payload
}

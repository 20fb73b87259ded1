// The stream behind an upgrade or a CONNECT: what is written goes out as it is, what comes in is
// read as it is.

import { Duplex } from 'node:stream'
import { SocketError } from './errors'
import type { Border } from './ring'

/** Bytes on their way to the connection before a writer has to wait. */
const AHEAD_BYTES_MAX = 256 * 1024

/** Which exchange it is. */
interface Under {
  number: number
  abort: (reason: Error) => void
}

export class Tunnel extends Duplex {
  private ahead = 0
  /** Whoever wrote more than may be on its way. */
  private waiting: ((error?: Error) => void) | null = null
  private held: Buffer[] = []
  private isWanted = false
  private hasEnded = false

  constructor (private readonly border: Border, private readonly under: Under) {
    super({ allowHalfOpen: false, autoDestroy: true })
  }

  // What the exchange says.

  arrive (chunk: Buffer): void {
    this.held.push(chunk)
    if (this.isWanted) this.pour()
  }

  finish (): void {
    this.hasEnded = true
    if (this.held.length === 0) this.push(null)
    // Nothing is heard of room any more: the engine sends what it has.
    if (this.under.number === 0) this.rouse()
  }

  break (error: Error | null): void {
    if (!this.destroyed) this.destroy(error ?? undefined)
  }

  onRoom (bytes: number): void {
    this.ahead -= bytes
    if (this.ahead <= AHEAD_BYTES_MAX) this.rouse()
  }

  private rouse (error?: Error): void {
    const { waiting } = this
    this.waiting = null
    waiting?.(error)
  }

  // A Duplex's side.

  override _read (): void {
    this.isWanted = true
    this.pour()
  }

  private pour (): void {
    while (this.held.length > 0) {
      const chunk = this.held.shift()!
      if (this.under.number !== 0) this.border.take(this.under.number, chunk.length)
      if (!this.push(chunk)) {
        this.isWanted = false
        return
      }
    }
    if (this.hasEnded) this.push(null)
  }

  override _write (chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.under.number === 0) return done(new SocketError('other side closed'))
    this.ahead += chunk.length
    this.border.piece(this.under.number, chunk)
    if (this.ahead > AHEAD_BYTES_MAX) this.waiting = done
    else done()
  }

  override _final (done: () => void): void {
    if (this.under.number !== 0) this.border.end(this.under.number)
    done()
  }

  override _destroy (error: Error | null, done: (error: Error | null) => void): void {
    const reason = error ?? new SocketError('closed')
    if (this.under.number !== 0) this.under.abort(reason)
    this.rouse(reason)
    done(error)
  }

  // What is asked of sockets.

  ref (): this { return this }
  unref (): this { return this }
  setNoDelay (): this { return this }
  setKeepAlive (): this { return this }
  setTimeout (): this { return this }
  address (): object { return {} }
}

/** A stream of an HTTP/2 or HTTP/3 connection: what undici takes it for is said by `session`. */
export class StreamTunnel extends Tunnel {
  readonly session = { socket: { address: (): object => ({}) } }
}

// The stream behind an upgrade or a CONNECT: raw bytes both ways.

import { createHash } from 'node:crypto'
import { Duplex } from 'node:stream'
import { Fifo } from '../../fifo'
import { SocketError } from '../../errors'
import { brokenPipe } from '../../errors/failures'
import { Timer } from '../../http2/callbacks/timer'
import { waitingPieces } from '../../http2/callbacks/waiting'
import type { Connection } from '../connect/connection'
import type { Bridge } from '../../channel/ring'
import { clearTimeout, setImmediate, setTimeout } from '../../timers'

/** Bytes on their way to the connection before a writer has to wait. */
const AHEAD_BYTES_MAX = 256 * 1024

/** How long bytes that were written before `destroy` may wait for a connection that takes none, ms. A socket of
 * Node.js hands them to the kernel when they are written; here they cross to the engine first. */
const LINGER_MS_MAX = 1_000

/** Which exchange it is. */
interface Under {
  number: number
  release: (reason: Error) => void
  giveUp: (reason: Error) => void
  /** Its connection. */
  readonly connection: Connection
}

export class Tunnel extends Duplex {
  private ahead = 0
  /** Resumes the writer that wrote more than may be in flight. */
  private waiting: ((error?: Error) => void) | null = null
  private held = new Fifo<Buffer>()
  private isWanted = false
  /** The peer has ended its side. */
  private hasEnded = false
  private hasSentEnd = false
  /** Nothing more is taken of what is written. */
  private isReleased = false
  private isUnreferenced = false
  /** It holds the process behind the peer's end. */
  private isHolding = false
  /** Ends the exchange when what was written has left; only behind `destroy`. */
  private leave: (() => void) | null = null

  protected readonly connection: Connection

  private timer: Timer | undefined
  /** The time of `setTimeout`, ms. */
  timeout: number | undefined
  bytesRead = 0
  bytesWritten = 0
  readonly connecting = false
  readonly pending = false

  /** `allowHalfOpen`: its user ends our side, as with streams of node:http2. */
  constructor (private readonly bridge: Bridge, private readonly under: Under, allowHalfOpen = false) {
    super({ allowHalfOpen, autoDestroy: true })
    this.connection = under.connection
  }

  /** Whether bytes that were written are on their way to the connection. */
  get isSending (): boolean { return this.ahead > 0 }

  // Calls of the exchange.

  arrive (chunk: Buffer): void {
    if (this.destroyed) return
    this.timer?.refresh()
    this.bytesRead += chunk.length
    this.held.push(chunk)
    if (this.isWanted) this.pour()
  }

  /** The peer has ended its side. What is written goes on, as with a socket of the system, until its user has read that end. */
  finish (): void {
    // The end of its exchange gives up what holds the process.
    if (this.isUnreferenced) this.bridge.hold()
    this.hasEnded = true
    if (this.under.number === 0) this.release()
    if (this.held.length === 0) {
      this.push(null)
      // As a socket does: where nothing is unread the end comes also to who does not read. It may have come with the head, whose
      // callers have no listeners yet.
      setImmediate(() => { this.read(0) })
    }
    // No room events follow: the engine sends what it has.
    if (this.isReleased) this.rouse()
    else this.updateHold()
  }

  /** Nothing more is taken behind the peer's end: our side has ended, or the connection is lost. */
  onReleased (): void {
    this.release()
    this.updateHold()
    if (!this.destroyed) this.rouse(brokenPipe())
  }

  private release (): void {
    this.isReleased = true
    if (this.hasSentEnd) return
    // Nothing is left to write to, for which one could stay half open.
    this.allowHalfOpen = false
    if (this.readableEnded) this.end()
  }

  /** Behind the peer's end what is written holds the process, until the peer has it, and a stream until its user ends it. */
  private updateHold (): void {
    const holds = this.hasEnded && !this.isReleased && !this.isUnreferenced && (this.allowHalfOpen || this.ahead > 0 || this.hasSentEnd || this.destroyed)
    if (holds === this.isHolding) return
    this.isHolding = holds
    if (holds) this.bridge.hold()
    else this.bridge.release()
  }

  /** A dispatcher that closes waits for what its user writes behind the peer's end. */
  get outlivesClose (): boolean { return true }

  giveUp (error: Error): void { this.break(error) }

  break (error: Error | null): void { if (!this.destroyed) this.destroy(error ?? undefined) }

  onRoom (bytes: number): void {
    this.timer?.refresh()
    this.ahead -= bytes
    this.updateHold()
    if (this.ahead <= 0) this.leave?.()
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
      if (this.under.number !== 0) this.bridge.take(this.under.number, chunk.length)
      if (!this.push(chunk)) {
        this.isWanted = false
        return
      }
    }
    if (this.hasEnded) this.push(null)
  }

  override _write (chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.hasEnded && this.isReleased) return done(brokenPipe())
    // The connection has failed and `onFailed` follows. What came before is not read yet, and an error here would drop it: as
    // with a socket of the system, the write succeeds.
    if (this.under.number === 0) return done()
    this.send(chunk)
    if (this.ahead > AHEAD_BYTES_MAX) this.waiting = done
    else done()
  }

  private send (chunk: Buffer): void {
    this.timer?.refresh()
    this.ahead += chunk.length
    this.bytesWritten += chunk.length
    this.bridge.piece(this.under.number, chunk)
    this.updateHold()
  }

  override _final (done: () => void): void {
    this.hasSentEnd = true
    if (this.under.number !== 0) this.bridge.end(this.under.number)
    this.updateHold()
    done()
  }

  override _destroy (error: Error | null, done: (error: Error | null) => void): void {
    const reason = error ?? new SocketError('closed')
    this.ref()
    this.timer?.stop()
    this.held = new Fifo()
    if (this.under.number !== 0) {
      // A socket of the system has taken these by now, and they leave.
      for (const piece of waitingPieces(this)) this.send(piece)
      if (this.ahead > 0) this.linger(reason)
      else if (this.hasEnded) this.leaveBehind()
      else this.under.release(reason)
      this.updateHold()
    }
    // The writer has no error of a socket that was closed without one: its bytes leave.
    this.rouse(error ?? undefined)
    done(error)
  }

  /**
   * Written bytes leave first: the connection reports what it takes, and sends that before it
   * handles the end.
   */
  private linger (reason: Error): void {
    const timer = setTimeout(() => { this.leave?.() }, LINGER_MS_MAX).unref()
    this.leave = () => {
      this.leave = null
      clearTimeout(timer)
      if (this.hasEnded) this.leaveBehind()
      else if (this.under.number !== 0) this.under.giveUp(reason)
    }
  }

  /** Its exchange is over with the peer's end: the engine sends what it has taken, and ends our side. */
  private leaveBehind (): void {
    if (!this.isReleased && !this.hasSentEnd) this.bridge.cancel(this.under.number)
  }

  // Methods of sockets.

  /** `close` says whether it closed with an error, as that of a socket does. */
  override emit (event: string | symbol, ...values: unknown[]): boolean {
    return event === 'close' ? super.emit(event, this.errored !== null) : super.emit(event, ...values)
  }

  /** Keeps the process alive, as long as it is open. */
  ref (): this {
    if (!this.isUnreferenced) return this
    this.isUnreferenced = false
    if (this.hasEnded) this.updateHold()
    else this.bridge.hold()
    return this
  }

  /** Does not keep the process alive any more. */
  unref (): this {
    if (this.isUnreferenced || this.under.number === 0) return this
    this.isUnreferenced = true
    if (this.hasEnded) this.updateHold()
    else this.bridge.release()
    return this
  }

  /** Emits `timeout` where nothing has come or gone for `time` ms; 0: never. */
  setTimeout (time: number, listener?: () => void): this {
    if (this.destroyed) return this
    this.timer = Timer.set(this.timer, time, listener, this, () => { this.emit('timeout') })
    this.timeout = time
    return this
  }

  /** Ends, and is destroyed when what was written has gone. */
  destroySoon (): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => { this.destroy() })
  }

  get readyState (): string {
    if (this.readable) return this.writable ? 'open' : 'readOnly'
    return this.writable ? 'writeOnly' : 'closed'
  }
  get bufferSize (): number { return this.writableLength }
  setNoDelay (): this { return this }
  setKeepAlive (): this { return this }
  address (): object { return this.connection.address() }
  get remoteAddress (): string | undefined { return this.connection.remoteAddress }
  get remotePort (): number | undefined { return this.connection.remotePort }
  get remoteFamily (): string | undefined { return this.connection.remoteFamily }
  get localAddress (): string | undefined { return this.connection.localAddress }
  get localPort (): number | undefined { return this.connection.localPort }
  get localFamily (): string | undefined { return this.connection.localFamily }
  get encrypted (): boolean { return this.connection.encrypted }
}

/** A stream of an HTTP/2 or HTTP/3 connection: what undici takes it for is said by `session`. */
export class StreamTunnel extends Tunnel {
  readonly session = { socket: this.connection }

  /** `close` of a stream says nothing. */
  override emit (event: string | symbol, ...values: unknown[]): boolean { return Duplex.prototype.emit.call(this, event, ...values) }
}

/** The socket of a CONNECT that was refused: the body of the answer is read from it. */
export class RefusedTunnel extends Tunnel {
  /** Bytes for a tunnel that was not opened would be read as the next request (RFC 9110 section 9.3.6). */
  override _write (_: Buffer, __: BufferEncoding, done: (error?: Error | null) => void): void { done() }

  override _final (done: () => void): void { done() }
}

/** Behind it, for undici's handler of `upgrade`: a symbol that is private to each copy of undici says that the
 * stream is one of HTTP/2, whose status is 200. */
const known = new Proxy(StreamTunnel.prototype, {
  get (target, key, receiver) {
    if (typeof key === 'symbol' && key.description === 'http2session client stream') return true
    return Reflect.get(target, key, receiver) as unknown
  }
})

/** `tunnel` as undici's handler of `upgrade` knows it. */
export function markForUndici (tunnel: Tunnel): void { Object.setPrototypeOf(tunnel, known) }

/** Adds the proof that the peer has read `key`, a Sec-WebSocket-Key, to a stream's response. RFC 8441 section 5 has no
 * `sec-websocket-accept`, and no need of one. undici 8.10, which is Node 26's own, looks for it all the same. */
export function proveKey (rawHeaders: (string | Buffer)[], key: string): void {
  if (rawHeaders.includes('sec-websocket-accept')) return
  const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  rawHeaders.push('sec-websocket-accept', proof)
}

// JavaScript streams as transports of connections: bytes from a `Duplex` go to the engine, the
// engine's writes go into the `Duplex`. `node/native/streams.rs` is the other end.

import type { Duplex } from 'node:stream'
import { SocketError } from '../errors'
import { forgetOwnError, keepOwnError } from '../errors/failures'
import {
  Body, BY_REFERENCE_BYTES_MIN, Completion, CompletionFlag, EntryWord, STREAM_UNREAD_BYTES_MAX, StreamTakenWord, StreamWriteWord, writeMark,
  writeStreamEnd, writeStreamFail, writeStreamPiece, writeStreamTake
} from './codes'
import type { StreamHalf } from './callbacks'
import type { Bridge } from './ring'
import { clearTimeout, setImmediate, setTimeout } from '../timers'

/** How long a stream that the engine has dropped may refuse its remaining bytes, ms. */
const LINGER_MS = 10_000

/** How long a stream waits for the first write of a client before it is read, ms. */
const FIRST_WRITE_MS = 50

/** A `Duplex`, perhaps with what sockets of node:net and node:tls have beside it. */
export interface Carried extends Duplex {
  remoteAddress?: string | undefined
  remotePort?: number | undefined
  localAddress?: string | undefined
  localPort?: number | undefined
  encrypted?: boolean | undefined
  alpnProtocol?: string | false | null | undefined
  servername?: string | false | null | undefined
  getProtocol?: () => string | null
  ref?: () => unknown
  unref?: () => unknown
}

/** The description of a stream for the engine (`StreamAsk` of streams.rs). */
export interface StreamAsk {
  number: number
  remote?: { address: string; port: number } | undefined
  local?: { address: string; port: number } | undefined
  http2?: boolean
  tls?: { isTls12: boolean; serverName?: string | undefined; alpn?: string | undefined } | undefined
}

/** Whether it can carry a connection. */
export function isDuplex (given: unknown): given is Carried {
  const stream = given as Carried | null | undefined
  return stream != null && typeof stream.on === 'function' && typeof stream.write === 'function' &&
    typeof stream.end === 'function' && typeof stream.pause === 'function' && typeof stream.resume === 'function'
}

function placeOf (address: string | undefined, port: number | undefined): { address: string; port: number } | undefined {
  return typeof address === 'string' && Number.isInteger(port) ? { address, port: port! } : undefined
}

/** A stream that carries a connection, from `begin` until the engine lets go of it. */
export class Carrier {
  private unread = 0
  private isPaused = false
  private isOver = false
  private isDropped = false
  private linger: NodeJS.Timeout | undefined
  /** Runs while it is not read yet. */
  private unstarted: NodeJS.Timeout | undefined
  /** Called when the engine has dropped it. */
  onReleased: (() => void) | null = null
  /** Nothing below the stream holds the process: what the engine does for it must. */
  holds = false

  constructor (private readonly streams: Streams, readonly number: number, readonly stream: Carried) {
    // The engine ends its side itself, after what it still has to say: a socket whose peer has ended takes no write otherwise.
    stream.allowHalfOpen = true
    stream.on('error', this.onError)
    stream.on('close', this.onClose)
  }

  /**
   * Its description for the engine. `alpn`: it is under TLS, with this protocol (none, where it is
   * empty).
   */
  described (alpn?: string): StreamAsk {
    const { number, stream } = this
    const { alpnProtocol, encrypted, servername } = stream
    const chosen = alpn ?? (alpnProtocol || '')
    const isSecure = encrypted === true || alpn !== undefined
    return {
      number,
      remote: placeOf(stream.remoteAddress, stream.remotePort),
      local: placeOf(stream.localAddress, stream.localPort),
      http2: chosen === 'h2',
      tls: isSecure ? { isTls12: stream.getProtocol?.() === 'TLSv1.2', serverName: servername || undefined, alpn: chosen || undefined } : undefined
    }
  }

  /** As `begin`, behind the first write: a client speaks first, and packages that stand in the place of net's sockets (nock) take one
   * that reads before it writes for a client of another protocol than HTTP. */
  beginBehindWrite (): void {
    const { stream } = this
    if (stream.destroyed || stream.readableEnded) return this.begin()
    this.unstarted = setTimeout(() => { this.begin() }, FIRST_WRITE_MS).unref()
  }

  /** Gives its bytes to the engine from here on. */
  begin (): void {
    const { stream } = this
    clearTimeout(this.unstarted)
    this.unstarted = undefined
    if (stream.destroyed) return this.fail(stream.errored ?? null)
    if (stream.readableEnded) return this.onEnd()
    stream.on('data', this.onData)
    stream.on('end', this.onEnd)
    stream.resume()
  }

  /** The engine does not take it. */
  refuse (): void {
    this.isOver = true
    this.streams.forget(this)
    this.stream.destroy()
  }

  private readonly onData = (chunk: Buffer | Uint8Array | string): void => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, this.stream.readableEncoding ?? 'utf8') : chunk
    if (this.isOver || bytes.length === 0) return
    this.unread += bytes.length
    this.streams.piece(this.number, bytes)
    if (this.unread < STREAM_UNREAD_BYTES_MAX || this.isPaused) return
    this.isPaused = true
    this.stream.pause()
  }

  private readonly onEnd = (): void => {
    if (this.isOver) return
    this.isOver = true
    this.streams.end(this.number)
  }

  /** Also after the end of its bytes: then it takes no more of ours. */
  private readonly onError = (error: Error | null): void => {
    if (!this.isDropped) this.fail(error)
    else this.onGone()
  }

  private readonly onClose = (): void => {
    if (this.isDropped) this.onGone()
    else this.fail(null)
  }

  private hasFailed = false
  private fail (error: Error | null): void {
    this.isOver = true
    if (this.hasFailed) return
    this.hasFailed = true
    keepOwnError(`stream ${this.number}`, error ?? new SocketError('closed'))
    this.streams.fail(this.number)
  }

  /** The engine has read `bytes`. */
  onTaken (bytes: number): void {
    this.unread -= bytes
    if (!this.isPaused || this.unread >= STREAM_UNREAD_BYTES_MAX) return
    this.isPaused = false
    if (!this.isDropped) this.stream.resume()
  }

  /** The engine writes. */
  onWrite (bytes: Buffer): void {
    const { stream } = this
    if (stream.destroyed) return
    stream.write(bytes, error => {
      if (error != null) return
      this.linger?.refresh()
      this.streams.take(this.number, bytes.length)
    })
    if (this.unstarted !== undefined) this.begin()
  }

  /** The engine writes nothing more. */
  onFinish (): void {
    const { stream } = this
    if (!stream.destroyed && !stream.writableEnded) stream.end()
  }

  /** The engine has dropped it: its remaining bytes are sent, and it is closed. */
  onDropped (): void {
    const { stream } = this
    this.isOver = true
    this.isDropped = true
    clearTimeout(this.unstarted)
    this.streams.forget(this)
    this.onReleased?.()
    stream.off('data', this.onData)
    stream.off('end', this.onEnd)
    if (stream.destroyed) return
    const close = (): void => { stream.destroy() }
    if (stream.writableFinished) return close()
    this.linger = setTimeout(close, LINGER_MS).unref()
    stream.once('finish', close)
    // One that is paused would never be closed by its own end.
    stream.resume()
    this.onFinish()
  }

  private onGone (): void { clearTimeout(this.linger) }
}

/** The streams of this environment, by their numbers. */
class Streams implements StreamHalf {
  private readonly open = new Map<number, Carrier>()
  private last = 0
  /** Open streams that no handle of the system is known below. */
  private bare = 0
  private isMarked = false
  /** The engine was called behind the mark. */
  private hasCalled = false
  /** The submissions up to the last mark, it included. */
  private marked = 0

  constructor (readonly bridge: Bridge) { bridge.streams = this }

  /** A carrier for `stream`, of which the engine does not know yet. */
  carry (stream: Carried): Carrier {
    do this.last = (this.last % 0x7fffffff) + 1
    while (this.open.has(this.last))
    const carrier = new Carrier(this, this.last, stream)
    this.open.set(carrier.number, carrier)
    return carrier
  }

  /** The stream of this number, while the engine has it. */
  streamOf (number: number): Carried | undefined { return this.open.get(number)?.stream }

  /** While such a stream is open, the process stays until the engine has done what it was given. */
  hold (carrier: Carrier): void {
    carrier.holds = true
    this.bare++
  }

  beforeFlush (): void {
    const { bridge } = this
    if (this.bare === 0 || this.isMarked || !bridge.hasEntry()) return
    this.isMarked = true
    bridge.hold()
    this.mark()
  }

  /** No submission stands for a call: what it causes, as the end of a connection, is marked by itself. */
  afterCall (): void {
    if (this.bare === 0 || this.bridge.hasEnded) return
    this.hasCalled = true
    if (this.isMarked) return
    this.isMarked = true
    this.bridge.hold()
    this.markAgain()
  }

  private markAgain (): void {
    this.hasCalled = false
    this.bridge.submitEntry(() => { this.mark() })
  }

  private mark (): void {
    const { bridge } = this
    writeMark(bridge, 0, 0)
    this.marked = bridge.submitted
  }

  private onRested (): void {
    // Not where nothing stands behind the mark: marks that cause each other would keep both sides busy for ever.
    if (this.hasCalled || this.bridge.submitted !== this.marked) return this.markAgain()
    this.isMarked = false
    // Completions that it has caused are handed out behind this, and may cause more.
    setImmediate(() => { this.bridge.release() })
  }

  forget (carrier: Carrier): void {
    if (this.open.delete(carrier.number) && carrier.holds) this.bare--
    // Requests that wait for the connection fail in this drain.
    setImmediate(() => { forgetOwnError(`stream ${carrier.number}`) })
  }

  complete (code: Completion, at: number): void {
    const { bridge } = this
    const { completions } = bridge
    const carrier = this.open.get(completions[at + EntryWord.Number]!)
    switch (code) {
      case Completion.StreamWrite: {
        const isOutside = (completions[at]! & CompletionFlag.ByReference) !== 0
        const bytes = isOutside
          ? bridge.native.take(completions[at + StreamWriteWord.Body]!)
          : bridge.arena.copy(completions[at + EntryWord.Position]!, completions[at + EntryWord.Length]!)
        return carrier?.onWrite(bytes)
      }
      case Completion.StreamTaken: return carrier?.onTaken(completions[at + StreamTakenWord.Bytes]!)
      case Completion.StreamFinish: return carrier?.onFinish()
      case Completion.StreamDropped: return carrier?.onDropped()
      case Completion.Rested: return this.onRested()
    }
  }

  endAll (): void { for (const carrier of this.open.values()) carrier.onDropped() }

  /** Bytes of a stream, which may be changed again at once. */
  piece (number: number, chunk: Uint8Array): void {
    const { bridge } = this
    if (bridge.hasEnded) return
    if (!bridge.isFull && this.writePiece(number, chunk)) return bridge.wrote()
    const own = Buffer.from(chunk)
    bridge.defer(() => this.writePiece(number, own))
  }

  private writePiece (number: number, chunk: Uint8Array): boolean {
    const { bridge } = this
    if (chunk.length >= BY_REFERENCE_BYTES_MIN) {
      if (!bridge.hasEntry()) return false
      writeStreamPiece(bridge, Body.ByReference, number, 0, 0, bridge.native.put(chunk))
      return true
    }
    const position = bridge.copy(chunk)
    if (position === undefined) return false
    writeStreamPiece(bridge, Body.Inline, number, position, chunk.length, 0)
    return true
  }

  /** The bytes of a stream have ended in order. */
  end (number: number): void { this.bridge.submitEntry(() => { writeStreamEnd(this.bridge, 0, number) }) }
  /** A stream has failed. */
  fail (number: number): void { this.bridge.submitEntry(() => { writeStreamFail(this.bridge, 0, number) }) }
  /** A stream has taken bytes. */
  take (number: number, bytes: number): void { this.bridge.submitEntry(() => { writeStreamTake(this.bridge, 0, number, bytes) }) }
}

/** The streams of a channel. */
export function streamsOf (bridge: Bridge): Streams { return (bridge.streams as Streams | null) ?? new Streams(bridge) }

// The chunks of a Readable, as it emits them: undici reads a body by its events, so that each chunk is sent as one. An
// async iterator of a Readable joins all chunks that wait in it.

import type { Readable } from 'node:stream'
import { isAnyArrayBuffer } from 'node:util/types'
import { Fifo } from '../../fifo'
import { RequestAbortedError } from '../../errors'
import { endStream } from './body'
import { queueMicrotask, setImmediate } from '../../timers'

/** Bytes that wait to be sent before the stream is paused. */
const WAITING_BYTES_MAX = 64 * 1024

/** States of a stream that streams of other packages may lack. */
interface Ends {
  errored?: Error | null
  errorEmitted?: boolean
  endEmitted?: boolean
  readableEnded?: boolean
  closed?: boolean
  closeEmitted?: boolean
}

export class StreamPieces implements AsyncIterator<unknown> {
  private readonly waiting = new Fifo<unknown>()
  private bytes = 0
  private isPaused = false
  /** How it ended; an error of null: all of it came. */
  private outcome: { error: Error | null } | null = null
  private wake: (() => void) | null = null

  constructor (private readonly stream: Readable) {
    stream.on('data', this.onData).on('end', this.onEnd).on('error', this.onError).on('close', this.onClose)
    const ends = stream as unknown as Ends
    if (typeof stream.resume === 'function') stream.resume()
    // A stream emits nothing a second time.
    if (ends.errorEmitted ?? ends.errored) setImmediate(this.onError, ends.errored ?? new RequestAbortedError())
    else if (ends.endEmitted ?? ends.readableEnded) setImmediate(this.onEnd)
    if (ends.closeEmitted ?? ends.closed) setImmediate(this.onClose)
  }

  async next (): Promise<IteratorResult<unknown, undefined>> {
    while (this.waiting.length === 0 && this.outcome === null) await new Promise<void>(resolve => { this.wake = resolve })
    if (this.waiting.length === 0) {
      const { error } = this.outcome!
      if (error !== null) throw error
      return { done: true, value: undefined }
    }
    const value = this.waiting.shift()
    this.bytes -= lengthOf(value)
    if (this.isPaused && this.waiting.length === 0) {
      this.isPaused = false
      this.stream.resume()
    }
    return { done: false, value }
  }

  /** Takes no more of it. */
  leave (): void {
    this.stream.off('data', this.onData).off('end', this.onEnd).off('close', this.onClose)
    this.outcome ??= { error: null }
    this.rouse()
  }

  private readonly onData = (chunk: unknown): void => {
    if (this.outcome !== null) return
    const fault = faultOf(chunk)
    // As with undici, its stream has the error before it can end.
    if (fault !== undefined) {
      this.settle(fault)
      return endStream(this.stream, fault)
    }
    this.waiting.push(chunk)
    this.bytes += lengthOf(chunk)
    if (this.bytes > WAITING_BYTES_MAX && !this.isPaused && typeof this.stream.pause === 'function') {
      this.isPaused = true
      this.stream.pause()
    }
    this.rouse()
  }

  private readonly onEnd = (): void => { this.settle(null) }

  private readonly onError = (error: Error): void => { this.settle(error) }

  /** A broken stream may emit it in front of its error; of one that had ended before it was given, all has come. */
  private readonly onClose = (): void => {
    queueMicrotask(() => {
      this.settle(this.stream.readableEnded ? null : new RequestAbortedError())
      this.stream.off('error', this.onError)
    })
  }

  private settle (error: Error | null): void {
    if (this.outcome !== null) return
    this.outcome = { error }
    this.rouse()
  }

  private rouse (): void {
    const { wake } = this
    this.wake = null
    wake?.()
  }
}

/** Why a chunk cannot be sent: what undici throws, which measures each. */
function faultOf (chunk: unknown): Error | undefined {
  if (typeof chunk === 'string' || ArrayBuffer.isView(chunk) || isAnyArrayBuffer(chunk)) return undefined
  try {
    Buffer.byteLength(chunk as string)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** Bytes, or characters of a text. */
function lengthOf (chunk: unknown): number {
  const { byteLength, length } = chunk as { byteLength?: unknown; length?: unknown }
  if (typeof byteLength === 'number') return byteLength
  return typeof length === 'number' ? length : 0
}

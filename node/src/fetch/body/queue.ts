// The body of a response on its way: pieces wait here until they are read, and the peer may send more as they are taken.

import { Fifo } from '../../fifo'
import type { ByteSource } from './body'

/** The exchange that the bytes come from. */
export interface Feed {
  /** Bytes were taken: the peer may send as many more. */
  take: (bytes: number) => void
  /** The rest has no reader. */
  abort: (reason: unknown) => void
}

interface Waiting<T> { resolve: (value: T) => void; reject: (reason: unknown) => void }

/** Queues whose reader is collected: their exchange ends, and frees its connection. */
const dropped = new FinalizationRegistry<ByteQueue>(queue => { queue.drop() })

export class ByteQueue implements ByteSource {
  private held = new Fifo<{ chunk: Buffer; credit: boolean }>()
  private isEnded = false
  private isFailed = false
  private failure: unknown = undefined
  private waiting: Waiting<Buffer | null> | null = null
  private collected: Buffer[] | null = null
  private collector: Waiting<Buffer> | null = null
  /** Its reader has all of it, or wants no more. */
  isDone = false
  /** Whether the exchange ends when the object is collected by which programs read it. */
  isWatched = false
  /** Called when its reader has all of it. */
  onDone: (() => void) | null = null
  /** Called when it is over while no reader waits and nothing is held. */
  onSpent: (() => void) | null = null

  constructor (private readonly feed: Feed) {}

  /** Whether all has come, or nothing more will. */
  get isOver (): boolean { return this.isEnded || this.isFailed }
  /** Whether it is over, and no byte of it is left. */
  get isSpent (): boolean { return this.isOver && this.held.length === 0 }
  /** Why nothing of it is left to read but an error. */
  get errored (): { reason: unknown } | null { return this.isFailed && this.held.length === 0 ? { reason: this.failure } : null }
  /** Whether a reader takes all of it. */
  get isCollected (): boolean { return this.collector !== null }
  /** Whether a reader waits for it. */
  get isRead (): boolean { return this.waiting !== null || this.collector !== null }

  next (): Promise<Buffer | null> {
    const first = this.held.shift()
    if (first !== undefined) {
      if (first.credit) this.feed.take(first.chunk.length)
      return Promise.resolve(first.chunk)
    }
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    if (this.isFailed) return Promise.reject(this.failure)
    if (this.isEnded) {
      this.done()
      return Promise.resolve(null)
    }
    return new Promise((resolve, reject) => { this.waiting = { resolve, reject } })
  }

  all (): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      for (const { chunk, credit } of this.held.takeAll()) {
        chunks.push(chunk)
        if (credit) this.feed.take(chunk.length)
      }
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      if (this.isFailed) return void reject(this.failure)
      if (this.isEnded) {
        this.done()
        return void resolve(joined(chunks))
      }
      this.collected = chunks
      this.collector = { resolve, reject }
    })
  }

  /** `holder` is what programs read it by, from now on alone. */
  watch (holder: object): void {
    if (this.isWatched) dropped.unregister(this)
    this.isWatched = true
    dropped.register(holder, this, this)
  }

  /** No program can read it any more; a read that is under way has its result. */
  drop (): void {
    if (!this.isOver && !this.isRead) this.feed.abort(new Error('the body of the response was dropped unread'))
  }

  private done (): void {
    this.isDone = true
    if (this.isWatched) dropped.unregister(this)
    this.isWatched = false
    const { onDone } = this
    this.onDone = null
    onDone?.()
  }

  cancel (reason?: unknown): void {
    this.done()
    if (this.isOver) return
    this.isEnded = true
    this.held = new Fifo()
    this.feed.abort(reason)
  }

  // Calls of the exchange.

  push (chunk: Buffer, credit: boolean): void {
    if (this.isOver) return
    const { waiting } = this
    if (this.collected !== null) this.collected.push(chunk)
    else if (waiting === null) return void this.held.push({ chunk, credit })
    if (credit) this.feed.take(chunk.length)
    if (waiting === null) return
    this.waiting = null
    waiting.resolve(chunk)
  }

  end (): void {
    if (this.isOver) return
    this.isEnded = true
    const { waiting, collector, collected } = this
    this.waiting = this.collector = this.collected = null
    if (waiting !== null || collector !== null) this.done()
    else if (this.held.length === 0) this.onSpent?.()
    waiting?.resolve(null)
    collector?.resolve(joined(collected!))
  }

  /** The rest does not come. Bytes that came are read before the failure is. */
  fail (reason: unknown): void {
    if (this.isOver || this.isDone) return
    this.isFailed = true
    this.failure = reason
    const { waiting, collector } = this
    this.waiting = this.collector = this.collected = null
    if (waiting === null && collector === null && this.held.length === 0) this.onSpent?.()
    waiting?.reject(reason)
    collector?.reject(reason)
  }

  /** Bytes that were not read are dropped: an aborted body gives its reader nothing more, whether all of it has come or not. */
  abort (reason: unknown): void {
    if (this.isDone || (this.isFailed && this.held.length === 0)) return
    this.held = new Fifo()
    this.isEnded = this.isFailed = false
    this.fail(reason)
  }
}

function joined (chunks: Buffer[]): Buffer { return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) }

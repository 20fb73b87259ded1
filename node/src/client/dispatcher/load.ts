// The requests under way to an origin, and whether they are as many as its connections carry: what `dispatch` returns
// and when 'drain' comes, as with undici's Client, Pool and Agent.

import type { AsyncResource } from 'node:async_hooks'
import type { Connection } from '../connect/connection'
import type { Checked } from '../options'

/** The requests under way to one origin. */
export class Load {
  /** Requests under way. */
  count = 0
  /** `dispatch` returned false, and 'drain' has not come since. */
  isBusy = false
  /** Whether a check for 'drain' is scheduled. */
  isDue = false
  /** The async context of a request under way, the last with a connector, in which connectors and subscribers of connections run; null: there is none, or
   * nothing needs it. */
  context: AsyncResource | null = null
  /** The connection that was opened, or failed to open, last: a target of 'drain'. */
  connection: Connection | null = null
  /** Tells the listeners once more of the attempt that failed last. */
  private lastFailure: (() => void) | null = null
  /** How many more attempts have failed than requests with them. */
  surplus = 0
  /** The event of an attempt that failed is being emitted. */
  isFailing = false
  /** Why the last of them failed. */
  private why: Error | null = null
  /** Open connections. */
  private open = 0
  /** The protocol of the connection that was opened last. */
  private version: string | null = null

  constructor (readonly url: URL, private readonly checked: Checked) {}

  /** Calls `work` in that context. */
  within<R> (work: () => R): R { return this.context === null ? work() : this.context.runInAsyncScope(work) }

  onOpened (connection: Connection, version: string | undefined): void {
    this.open++
    this.lastFailure = null
    this.surplus = 0
    this.connection = connection
    this.version = version ?? null
  }

  onClosed (): void { this.open-- }

  /** Whether no connection is open. */
  get isCold (): boolean { return this.open === 0 }

  /** An attempt to connect has failed with `why`: `emit` tells the listeners. */
  failed (why: Error, emit: () => void): void {
    this.why = why
    this.lastFailure = emit
    this.surplus++
    this.isFailing = true
    emit()
    this.isFailing = false
  }

  /** The error of a request that waits for an attempt which has failed; null: there is none. */
  takeFailure (): Error | null {
    if (this.surplus <= 0) return null
    this.surplus--
    return this.why
  }

  /** One more request has failed with the last attempt. */
  repeatFailure (): void {
    if (this.surplus > 0) this.surplus--
    else this.lastFailure?.()
  }

  /**
   * The number of requests under way from which on `dispatch` returns false. A connection that opens counts for one
   * request, because its protocol is not known yet; where that may be HTTP/2, undici opens no second one beside it.
   */
  get ceiling (): number {
    const { connections, maxConcurrentStreams } = this.checked
    if (this.open === 0 && this.version !== 'h1' && this.takesHttp2) return 1
    if (!connections) return Infinity
    if (this.open > 0 && this.version !== 'h1') return connections * maxConcurrentStreams
    // Pipelined requests change nothing: a connection is busy until the head of its last answer has come, unless its
    // requests are not `blocking`, and with those until one turn after it was idle.
    return connections
  }

  /** Connections that undici would open for the requests at most: one, where it may be of HTTP/2. */
  get connectionsMax (): number { return this.version !== 'h1' && this.takesHttp2 ? 1 : this.checked.connections || Infinity }

  /** Connections that are open. */
  get connections (): number { return this.open }

  /** The most requests that each open connection carries at once. Those of HTTP/2 fail in the order in which they began, as if one had all. */
  rooms (): number[] {
    const all: number[] = new Array<number>(this.open).fill(this.version === 'h1' ? this.depth : 0)
    if (this.version !== 'h1' && this.open > 0) all[this.open - 1] = this.open * this.depth
    return all
  }

  /** How much of that one request takes: `blocks` is one behind which its connection of HTTP/1.1 carries nothing. */
  share (blocks: boolean): number { return blocks && this.version === 'h1' ? this.depth : 1 }

  /** The most requests that one connection carries at once. */
  private get depth (): number {
    const { maxConcurrentStreams, pipelining } = this.checked
    return this.version === 'h1' ? Math.max(pipelining, 1) : maxConcurrentStreams
  }

  get isFull (): boolean { return this.count >= this.ceiling }

  /** Whether nothing is under way, no connection is open, and no event is to come. */
  get isUnused (): boolean { return this.count === 0 && this.isCold && !this.isBusy && !this.isDue }

  /** Whether a connection of HTTP/1.1 is open for each request under way: one that is counted already is sent at once. */
  get isServed (): boolean { return this.version === 'h1' && this.count <= this.open }

  /** Whether the slot of a request is given back one turn later, as undici does before it uses a connection again. */
  get waitsForTurn (): boolean { return this.version === 'h1' && this.checked.pipelining <= 1 }

  private get takesHttp2 (): boolean {
    const { protocols } = this.checked.settings
    return protocols === 'h2' || (this.url.protocol === 'https:' && protocols !== 'h1')
  }
}

/** Where a request goes, by the number that the addon knows. */
export interface Target {
  number: number
  /** The engine's number of the client that it is of. */
  readonly client: number
  /** The origin as callers write it. */
  readonly origin: string
  /** Requests under way that go there. */
  count: number
  authority: string
  /** Its peer does not take extended CONNECT. */
  declinesWebSocket: boolean
  /** Its peer does not speak HTTP/1.1: what leaves HTTP goes on a stream. */
  lacksHttp1: boolean
  /** Its requests go to a proxy in absolute form, which answers for itself with 407. */
  isForwarded: boolean
  /** The requests under way to its origin. */
  load: Load
}

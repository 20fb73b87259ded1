// Dispatchers that a function of the user's makes: an Agent's `factory` makes one for each origin, a Pool's one for
// each connection. Any of undici's or of ours can be among them, and they are used as undici 8 uses them.

import { AsyncResource } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import { Fifo } from '../../fifo'
import { InvalidArgumentError, MaxOriginsReachedError } from '../../errors'
import type { Handler, NewHandler, OldHandler } from '../calls/handler_forms'
import { forDispatchers } from '../calls/handler'
import type { Options } from '../options'
import type { DispatchOptions } from '../prepare/prepare'
import { COUNTS, type Counts, type Delegate } from './delegate'
import { kState } from './state'

/** A dispatcher of any package. */
export interface Child {
  dispatch: (options: any, handler: any) => boolean
  close: (...given: any[]) => unknown
  destroy: (...given: any[]) => unknown
  on?: (event: any, listener: (...given: any[]) => void) => unknown
  closed?: boolean
  destroyed?: boolean
  stats?: unknown
}
export type Factory = (origin: any, options: any) => Child

/** A value that a dispatcher keeps by a symbol that is private to its copy of undici; ours answer by the symbol's name. */
function kept (child: Child, name: string): unknown {
  if (kState in child) return (child as unknown as Record<symbol, unknown>)[Symbol(name)]
  for (let at: object | null = child; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const symbol = Object.getOwnPropertySymbols(at).find(({ description }) => description === name)
    if (symbol !== undefined) return (child as unknown as Record<symbol, unknown>)[symbol]
  }
  return undefined
}

/** The sums of what several have. */
function summed (children: Iterable<Child>): Counts {
  const counts: Counts = { connected: 0, pending: 0, running: 0, size: 0 }
  for (const child of children) for (const name of COUNTS) counts[name] += Number(kept(child, name) ?? 0)
  return counts
}

/** undici's check of the option. */
export function factoryOf (factory: unknown): Factory | null {
  if (factory === undefined) return null
  if (typeof factory !== 'function') throw new InvalidArgumentError('factory must be a function.')
  return factory as Factory
}

const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain'] as const

/** The listeners of `owner` get what happens to `child`, with the owner as its outermost target. */
function forward (owner: EventEmitter, child: Child, events: readonly string[]): void {
  for (const event of events) {
    child.on?.(event, (origin: URL, targets: object[], error?: Error) => {
      owner.emit(event, origin, [owner, ...targets], ...(error === undefined ? [] : [error]))
    })
  }
}

/** An Agent's dispatchers, by origin. */
export class ByOrigin implements Delegate {
  private readonly children = new Map<string, Child>()

  /** `options`: what the factory gets. */
  constructor (
    private readonly owner: EventEmitter,
    private readonly factory: Factory,
    private readonly options: Options & { maxOrigins: number }
  ) {}

  dispatch (options: DispatchOptions, handler: Handler): boolean {
    const { origin: given } = options
    if (!given || (typeof given !== 'string' && !(given instanceof URL))) throw new InvalidArgumentError('opts.origin must be a non-empty string or URL.')
    const isH1 = (options.allowH2 ?? this.options.allowH2) === false
    // undici 6 and 7 leave their own option among those of the request, and undici 8 refuses it there.
    const { dispatcher: _, ...asked } = options as DispatchOptions & { dispatcher?: unknown }
    return this.child(given, isH1).dispatch('dispatcher' in options ? asked : options, forDispatchers(handler))
  }

  private child (given: string | URL, isH1: boolean): Child {
    const origin = String(given)
    const key = isH1 ? `${origin}#http1-only` : origin
    const known = this.children.get(key)
    if (known !== undefined) return known
    const origins = new Set([...this.children.keys()].map(key => key.replace('#http1-only', '')))
    if (origins.size >= this.options.maxOrigins && !origins.has(origin)) throw new MaxOriginsReachedError()
    const child = this.factory(given, isH1 ? { ...this.options, allowH2: false } : this.options)
    for (const event of ['disconnect', 'connectionError']) child.on?.(event, () => { this.closeUnused(key, child) })
    forward(this.owner, child, EVENTS)
    this.children.set(key, child)
    return child
  }

  /** One that has no connection and no request any more is closed: the next request makes another. */
  private closeUnused (key: string, child: Child): void {
    if (this.children.get(key) !== child) return
    if (Number(kept(child, 'connected')) > 0 || kept(child, 'busy') || Number(kept(child, 'pending')) > 0) return
    this.children.delete(key)
    if (!child.destroyed) void child.close()
  }

  async close (): Promise<unknown> { return Promise.all(this.taken().map(async child => child.close())) }
  async destroy (error: Error): Promise<unknown> { return Promise.all(this.taken().map(async child => child.destroy(error))) }

  private taken (): Child[] {
    const all = [...this.children.values()]
    this.children.clear()
    return all
  }

  get counts (): Counts { return summed(this.children.values()) }

  get stats (): Record<string, unknown> {
    const found: Record<string, unknown> = {}
    for (const [key, child] of this.children) if (child.stats !== undefined) found[new URL(key.replace('#http1-only', '')).origin] = child.stats
    return found
  }
}

/** One of a Pool's. */
interface Slot { child: Child; isFull: boolean; connectedAt: number }

class Waiting extends AsyncResource {
  constructor (private readonly options: DispatchOptions, readonly handler: Handler) { super('TRUNKLINE_POOL_WAITING') }
  dispatch (child: Child): boolean { return this.runInAsyncScope(() => child.dispatch(this.options, this.handler)) }
}

/** A Pool's dispatchers of one origin: a request goes to the first that is not full, and waits where all are. */
export class OfPool implements Delegate {
  private slots: Slot[] = []
  private readonly retiring = new Set<Child>()
  private readonly waiting = new Fifo<Waiting>()
  private isFull = false
  private onEmpty: (() => void) | null = null

  constructor (
    private readonly owner: EventEmitter,
    private readonly url: URL,
    private readonly factory: Factory,
    private readonly options: { clientTtl?: number | null | undefined },
    private readonly max: number | null
  ) {}

  dispatch (options: DispatchOptions, handler: Handler): boolean {
    const able = forDispatchers(handler)
    const slot = this.free()
    if (slot === undefined) {
      this.isFull = true
      this.waiting.push(new Waiting(options, able))
    } else if (!slot.child.dispatch(options, able)) {
      slot.isFull = true
      this.isFull = this.free() === undefined
    }
    return !this.isFull
  }

  /** One that takes a request now; a new one where there may be more. */
  private free (): Slot | undefined {
    const ttl = this.options.clientTtl ?? 0
    for (const slot of [...this.slots]) {
      if (ttl > 0 && slot.connectedAt > 0 && Date.now() - slot.connectedAt > ttl) this.retire(slot)
      else if (!slot.isFull && slot.child.closed !== true && slot.child.destroyed !== true) return slot
    }
    return this.max === null || this.slots.length < this.max ? this.add() : undefined
  }

  private add (): Slot {
    const child = this.factory(this.url, this.options)
    const slot: Slot = { child, isFull: false, connectedAt: 0 }
    child.on?.('connect', () => { slot.connectedAt = Date.now() })
    child.on?.('drain', (origin: URL, targets: object[]) => { this.onDrain(slot, origin, targets) })
    child.on?.('connectionError', (origin: URL, targets: object[]) => {
      if (targets.includes(child)) this.retire(slot)
      if (this.waiting.length > 0) this.goOn(origin, targets)
    })
    forward(this.owner, child, ['connect', 'disconnect', 'connectionError'])
    this.slots.push(slot)
    return slot
  }

  /** It gets no more requests, and has the time to finish its own. */
  private retire (slot: Slot): void {
    const { child } = slot
    this.slots = this.slots.filter(one => one !== slot)
    if (child.destroyed || this.retiring.has(child)) return
    this.retiring.add(child)
    child.close(() => { this.retiring.delete(child) })
  }

  private onDrain (slot: Slot, origin: URL, targets: object[]): void {
    if (slot.child.closed || slot.child.destroyed || !this.slots.includes(slot)) return
    slot.isFull = false
    while (!slot.isFull && this.waiting.length > 0) slot.isFull = !this.waiting.shift()!.dispatch(slot.child)
    this.goOn(origin, targets)
  }

  /** Hands on what waits. */
  private goOn (origin: URL, targets: object[]): void {
    let slot: Slot | undefined
    while (this.waiting.length > 0 && (slot = this.free()) !== undefined) slot.isFull = !this.waiting.shift()!.dispatch(slot.child)
    if (this.waiting.length > 0) return
    if (this.isFull && this.slots.some(one => !one.isFull)) {
      this.isFull = false
      this.owner.emit('drain', origin, [this.owner, ...targets])
    }
    this.onEmpty?.()
  }

  async close (): Promise<unknown> {
    if (this.waiting.length > 0) await new Promise<void>(resolve => { this.onEmpty = resolve })
    return Promise.all([...this.all()].map(async child => child.destroyed ? null : child.close()))
  }

  async destroy (error: Error): Promise<unknown> {
    for (const { handler } of this.waiting.takeAll()) {
      if (typeof (handler as Partial<NewHandler>).onResponseError === 'function') (handler as NewHandler).onResponseError!(null as never, error)
      else (handler as OldHandler).onError?.(error)
    }
    this.onEmpty?.()
    return Promise.all([...this.all()].map(async child => child.destroy(error)))
  }

  private all (): Set<Child> { return new Set([...this.slots.map(({ child }) => child), ...this.retiring]) }

  get counts (): Counts {
    const counts = summed(this.slots.map(({ child }) => child))
    counts.pending += this.waiting.length
    counts.size += this.waiting.length
    return counts
  }

  get stats (): Record<string, unknown> {
    const { counts } = this
    const free = this.slots.filter(slot => !slot.isFull && Number(kept(slot.child, 'connected') ?? 0) > 0).length
    return { ...counts, free, queued: this.waiting.length }
  }
}

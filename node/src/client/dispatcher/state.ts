// The private state of a dispatcher: the engine's client, its origins, and the open exchanges.

import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import type { Connection } from '../connect/connection'
import { Connections, hasObservers, type OwningDispatcher } from '../connect/connections'
import { Dialer } from '../connect/dial'
import { ClientClosedError, ClientDestroyedError, MaxOriginsReachedError } from '../../errors'
import { errorOf, refusedAt } from '../../errors/failures'
import type { Exchange } from '../calls/exchange'
import type { Delegate } from './delegate'
import { DirectRequest } from '../calls/direct_request'
import type { UnreadBody } from '../calls/owner'
import type { GoesOn } from '../prepare/upload'
import { Ends, type Under } from './ends'
import { Load, type Target } from './load'
import { Open } from '../../open'
import type { Checked } from '../options'
import { originOf } from '../options/url'
import { theBridge, type Bridge, type Failure } from '../../channel/ring'
import { isEnvironmentInsecure, warnOfEnvironment } from '../tls'
import { dispatcherOf, type Mocks } from './mocks'
import { queueMicrotask, setImmediate } from '../../timers'
import { deniedConnection } from '../../permission'

/** The dispatcher's own; a symbol, because `compose` returns a Proxy and users enumerate. */
export const kState = Symbol('trunkline state')

const { listenerCount } = EventEmitter.prototype

type Callback = (error: Error | null, data: null) => void
/** Targets from which on some are looked for that nothing uses. */
const TARGETS_KEPT = 256

export class State {
  readonly bridge: Bridge
  /** The engine's number of it. */
  number: number
  /** Numbers of the engine's clients by whether they leave certificates unverified: there are two where the environment has changed its mind. */
  private readonly clients = new Map<boolean, number>()
  /** Whether the environment says if certificates are verified. */
  private readonly isByEnvironment: boolean
  /** Nothing has been asked of the engine yet but to check the settings. */
  private isFresh = true
  /** Whether the environment said that certificates are not verified, when the engine got the settings. */
  private isInsecure = isEnvironmentInsecure()
  private readonly targets = new Map<string, Target>()
  private origins = new Set<string>()
  /** The number of targets beyond which those are looked for that nothing uses any more. */
  private manyTargets = TARGETS_KEPT
  /** The target that was asked for last, which is mostly the next one too, and by what. */
  private lastTarget: Target | null = null
  private lastOrigin = ''
  /** The one origin of a Client or a Pool, cached because a URL builds this text at each access. */
  ownOrigin: string | null = null
  readonly exchanges = new Open<Under>()
  /** Bodies that have come and whose readers are behind. Weak: what a program does not read may be collected. */
  private readonly unread = new Set<WeakRef<UnreadBody>>()
  readonly connections: Connections
  /** The dispatchers that undici's MockAgent puts in front of origins, if any. */
  mocks: Mocks | null = null
  /** Dispatchers of the user's making, which stand in the engine's place. */
  delegate: Delegate | null = null
  /** Origins that are reached without the proxy; null: none but the engine's. */
  bypass: { has: (url: URL) => boolean } | null = null
  closed = false
  destroyed = false
  /** `destroy` was called behind `close`, and what is under way goes on. */
  isLetGo = false
  /** Why connections are closed: the error of `destroy`, or undici's own. */
  reason: Error | null = null
  onClosed: Callback[] | null = null
  onDestroyed: Callback[] | null = null
  /** Uploads, and tunnels on streams, that go on behind their responses. */
  readonly behind = new Set<GoesOn>()
  private isEnding = false
  /** By origin. */
  private readonly loads = new Map<string, Load>()

  constructor (readonly dispatcher: OwningDispatcher, readonly checked: Checked) {
    this.bridge = theBridge(checked.place)
    this.number = this.ask('client', checked.settings) as number
    const localAddress = checked.settings['localAddress'] as string | undefined
    const { connector, isClient, lookup } = checked
    const dialer = connector === null ? null : new Dialer(this.bridge, connector.connect, connector.extras, connector.h2c, this)
    this.connections = new Connections(this.bridge, this, isClient, connector?.extras.localAddress ?? localAddress ?? null, lookup, dialer)
    this.connections.listenTo(this.number)
    const { isProxyVerifiedByEnvironment, isVerifiedByEnvironment } = checked
    this.isByEnvironment = isVerifiedByEnvironment || isProxyVerifiedByEnvironment
  }

  /** The engine's number of it, for what opens connections, which is when the environment counts: a program may set it behind its imports, which
   * make dispatchers. */
  get client (): number {
    if (this.isFresh) this.begin()
    return this.number
  }

  private begin (): void {
    const isInsecure = isEnvironmentInsecure()
    this.isFresh = false
    if (isInsecure !== this.isInsecure && this.isByEnvironment) {
      const before = this.number
      this.openClient()
      this.connections.unlisten(before)
      this.bridge.ask('shutDown', { client: before })
    }
    this.isInsecure = isInsecure
    this.clients.set(isInsecure, this.number)
    if (isInsecure && this.checked.isProxyVerifiedByEnvironment) warnOfEnvironment()
    // Certificates are large, and the engine has them now.
    if (!this.isByEnvironment) delete this.checked.settings['tls']
  }

  private openClient (): void {
    this.number = this.ask('client', this.checked.settings) as number
    this.connections.listenTo(this.number)
  }

  /** Where the environment says something else of certificates than before, requests go to another client of the engine from now on: what was not verified
   * carries none of them, as soon as it is to be. The former one has what is under way. */
  private follow (): void {
    const isInsecure = isEnvironmentInsecure()
    if (isInsecure === this.isInsecure || this.isFresh) return
    this.isInsecure = isInsecure
    this.lastTarget = null
    this.lastOrigin = ''
    const known = this.clients.get(isInsecure)
    if (known === undefined) this.openClient()
    else this.number = known
    this.clients.set(isInsecure, this.number)
    if (isInsecure && this.checked.isProxyVerifiedByEnvironment) warnOfEnvironment()
  }

  /** Whether the environment has to be read before the next request to the origin, which costs a tenth of the request: where certificates are not verified or
   * it has changed before each, else where there is no connection. */
  private mayFollow (origin: string): boolean {
    if (!this.isByEnvironment) return false
    if (this.isInsecure || this.clients.size > 1) return true
    const load = origin === this.lastOrigin ? this.lastTarget?.load : this.loads.get(origin)
    return load === undefined || load.isCold
  }

  /** Numbers of all of the engine's clients. */
  get allClients (): Set<number> { return new Set([this.number, ...this.clients.values()]) }

  get isDestroyed (): boolean { return this.destroyed || this.isLetGo }

  /** Whether requests are refused, and with what. */
  get refusal (): Error | null {
    if (this.isDestroyed || this.onDestroyed !== null) return new ClientDestroyedError()
    return this.closed ? new ClientClosedError() : null
  }

  /** Whether `dispatch` returned false for some origin, and no 'drain' came since. */
  get isBusy (): boolean { return [...this.loads.values()].some(load => load.isBusy) }

  /** The requests under way to the origin. */
  load (url: URL): Load {
    const known = this.loads.get(url.origin)
    if (known !== undefined) return known
    const made = new Load(url, this.checked)
    this.loads.set(url.origin, made)
    return made
  }

  /** Whether undici would have a pool for an origin, and not one client. */
  get hasPools (): boolean {
    const { connections, isClient } = this.checked
    return !isClient && (this.dispatcher.origin !== null || connections !== 1)
  }

  /** Calls `work` in the async context of a request to the origin, with a connector of the last. */
  within<R> (url: URL, work: () => R): R {
    const load = this.loads.get(url.origin)
    return load === undefined ? work() : load.within(work)
  }

  /** Requests to the origin that have not ended. */
  underWay (origin: string): number { return this.loads.get(origin)?.count ?? 0 }

  /** The most connections that undici would have for the requests to the origin. */
  connectionsFor (origin: string): number { return this.loads.get(origin)?.connectionsMax ?? 1 }

  /** Origins that were requested. */
  get askedOrigins (): string[] { return [...this.loads.keys()] }

  /** Whether a request to the origin, as callers write it, would not wait behind others for a connection. */
  hasRoom (origin: string): boolean { return this.loads.get(origin)?.isFull !== true }

  /** Counts a request that starts. */
  start (exchange: Under, target: Target): void {
    const { load } = target
    if (load.isCold) this.connections.holdForListeners(target.client)
    this.exchanges.add(exchange)
    exchange.load = load
    load.count++
    this.goesTo(exchange, target)
    if (this.targets.size > this.manyTargets) this.forgetUnused()
    if (this.checked.connector !== null || (load.context === null && hasObservers())) load.context = new AsyncResource('TRUNKLINE_CONNECTOR', { requireManualDestroy: true })
  }

  /** Counts a request that is to be sent there. */
  goesTo (exchange: Under, target: Target): void {
    if (exchange.target === target || exchange.load === null) return
    if (exchange.target !== null) exchange.target.count--
    exchange.target = target
    target.count++
  }

  /** Forgets origins without a request and without a connection, as undici's Agent does, and names of servers that no request asks for: a program may
   * ask one origin after another, and one that forwards requests may take the names from its clients. */
  private forgetUnused (): void {
    const forgotten = new Map<number, number[]>()
    for (const [key, { client, count, load, number, origin }] of this.targets) {
      if (count > 0 || (key === origin && !load.isUnused)) continue
      this.targets.delete(key)
      forgotten.set(client, [...forgotten.get(client) ?? [], number])
    }
    for (const [origin, load] of this.loads) {
      if (!load.isUnused) continue
      this.loads.delete(origin)
      this.connections.forget(origin)
    }
    this.origins = new Set([...this.targets.values()].map(({ origin }) => origin))
    this.manyTargets = Math.max(TARGETS_KEPT, 2 * this.targets.size)
    this.lastTarget = null
    this.lastOrigin = ''
    if (!this.destroyed) for (const [client, origins] of forgotten) this.ask('forgetOrigins', { client, origins })
  }

  /** Whether the origin would be one more than there may be. */
  private isBeyondOrigins (origin: string): boolean { return this.origins.size >= this.checked.maxOrigins && !this.origins.has(origin) }

  /** Whether the origin's connections carry no more requests; a 'drain' follows then. */
  isFull (load: Load): boolean {
    if (load.isFull) load.isBusy = true
    return load.isBusy
  }

  onLeft (exchange: Exchange): void { this.onOver(exchange) }
  emitFailures (of: Failure, load: Load | null, target: Pick<Target, 'client'> | null): void { this.connections.emitFailures(of, load, target?.client) }
  hasFailedAll (of: Failure): boolean { return this.connections.hasFailedAll(of) }

  /** An 'error' of a Client, which is uncaught without a listener, as with undici; of other dispatchers uncaught. */
  onFault (error: unknown): void {
    const { dispatcher } = this
    queueMicrotask(() => {
      if (!this.checked.isClient || dispatcher.listenerCount('error') === 0) throw error
      dispatcher.emit('error', error)
    })
  }

  connection (number: number, target: Pick<Target, 'client'> | null): Connection { return this.connections.get(target?.client ?? this.number, number) }

  /** A cold call whose failure is an error. */
  ask (verb: string, question: object): unknown {
    try {
      return this.bridge.ask(verb, question)
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
  }

  /** Closes a page of `inspect`; it may be closed. */
  closePage (page: number): void { if (!this.bridge.hasEnded) this.bridge.ask('closePage', { page }) }

  target (origin: string, servername: string | null, isH1: boolean): Target {
    const denied = this.checked.connector === null ? deniedConnection() : null
    if (denied !== null) {
      this.connections.refuse(originOf(origin), denied)
      throw denied
    }
    if (this.mayFollow(origin)) this.follow()
    if (servername !== null || isH1 || this.bypass !== null) return this.targetOf(origin, servername, isH1)
    if (origin === this.lastOrigin) return this.lastTarget!
    const target = this.targetOf(origin, null, false)
    this.lastOrigin = origin
    this.lastTarget = target
    return target
  }

  private targetOf (origin: string, servername: string | null, isH1: boolean): Target {
    const isDirect = this.bypass?.has(originOf(origin)) === true
    const isFirst = this.clients.size < 2 || this.number === this.clients.values().next().value
    const key = servername === null && !isH1 && !isDirect && isFirst ? origin : `${origin} ${servername ?? ''} ${isH1 ? 'h1' : ''} ${isDirect ? 'direct' : ''} ${isFirst ? '' : 'changed'}`
    const known = this.targets.get(key)
    if (known !== undefined) return known
    if (this.isBeyondOrigins(origin)) {
      this.forgetUnused()
      if (this.isBeyondOrigins(origin)) throw new MaxOriginsReachedError()
    }
    const url = originOf(origin)
    const { host, protocol } = url
    if (url.port === '0') {
      const error = refusedAt(url.hostname.replace(/^\[(.*)\]$/, '$1'))
      this.connections.refuse(url, error)
      throw error
    }
    const { client } = this
    if (protocol === 'https:' && this.isInsecure && this.checked.isVerifiedByEnvironment) warnOfEnvironment()
    const serverName = servername === null ? undefined : servername
    const protocols = isH1 ? 'h1' : undefined
    const asked = { client, url: origin, serverName, protocols, isDirect }
    const { number, isProxied } = this.ask('origin', asked) as { number: number; isProxied: boolean }
    const isForwarded = isProxied && origin.startsWith('http:') && this.checked.forwards
    const target = { number, client, origin, count: 0, authority: host, declinesWebSocket: false, lacksHttp1: false, isForwarded, load: this.load(url) }
    this.targets.set(key, target)
    this.origins.add(origin)
    return target
  }

  onOver (exchange: Under): void {
    this.exchanges.delete(exchange)
    const { load, target } = exchange
    if (target !== null) {
      exchange.target = null
      target.count--
    }
    if (load !== null) {
      exchange.load = null
      load.count--
      if (load.count === 0) load.context = null
      this.settle(load)
    }
    this.endIfIdle()
  }

  /** Ends where `close` was called and nothing is under way any more. */
  endIfIdle (): void { if (this.closed && this.exchanges.size === 0 && this.unread.size === 0) this.end() }

  await (body: UnreadBody): void {
    const entry = new WeakRef(body)
    const take = (): void => { if (this.unread.delete(entry)) this.endIfIdle() }
    this.unread.add(entry)
    collected.register(body, take)
    body.whenTaken(take)
  }

  /** Where fewer requests are under way than the origin's connections carry, 'drain' follows. */
  settle (load: Load): void {
    if (!load.isBusy || load.isDue || load.isFull) return
    // Not by the dispatcher, whose inherited members cost a call of `undici.ts` each.
    if (listenerCount.call(this.dispatcher, 'drain') === 0) {
      load.isBusy = false
      return
    }
    load.isDue = true
    const check = (): void => {
      this.connections.behindEnds(() => {
        load.isDue = false
        this.drain(load)
      })
    }
    if (load.waitsForTurn) setImmediate(check)
    else queueMicrotask(check)
  }

  /** Emits 'drain' if it is due. */
  drain (load: Load): void {
    if (!load.isBusy || load.isFull || this.destroyed) return
    load.isBusy = false
    // The connections of a pool of undici's that is closed are closed one by one, and give it no room any more.
    if (this.closed && !this.checked.isClient) return
    this.connections.onDrain(load)
  }

  /** Fails what waits for a connection, as undici does. What is on one fails when that has closed, which is the turn in which
   * `destroy` ends, so that callers may wait for it first and inspect their requests then. */
  failWaiting (why: Error): Ends {
    const ends = new Ends(this.loads.values(), this.exchanges)
    for (const exchange of ends.waiting(this.hasPools)) {
      const { load, number } = exchange
      // One that is not submitted yet is being started: its handler calls this. One without a load was aborted by the handler of
      // another that failed. What waits in a Client fails with its attempt.
      if (number === 0 || load === null || (this.checked.isClient && load.isFailing)) continue
      // With undici each request of a pool has an attempt of its own.
      failed(exchange, (this.hasPools ? load.takeFailure() : null) ?? why)
    }
    return ends
  }

  /** Cancels what connections carry; what has a source fails now. */
  giveUp (why: Error, ends: Ends): void {
    const unread = [...this.unread]
    this.unread.clear()
    for (const entry of unread) entry.deref()?.fail(why)
    for (const exchange of ends.waiting(this.hasPools)) failed(exchange, why)
    for (const exchange of ends.onConnections()) {
      // It was aborted behind the call of `destroy`.
      if (exchange.load === null) continue
      if (exchange.number === 0 || exchange.upload !== null) failed(exchange, why)
      else this.bridge.cancel(exchange.number)
    }
  }

  /** Nothing is under way, or nothing is to be but what `ends` has: connections are closed, and each fails what it carries. */
  end (ends: Ends | null = null): void {
    const why = this.reason ??= new ClientDestroyedError()
    const isDestroyed = ends !== null || this.isLetGo
    if (this.isEnding) {
      if (isDestroyed) this.leaveBehind(why)
      return
    }
    this.isEnding = true
    this.endBehind(why, isDestroyed)
    // Requests that are given up are not sent any more, also on connections that are held for their listeners.
    this.bridge.flush()
    for (const client of this.allClients) this.bridge.ask('close', { client })
    if (isDestroyed) this.leaveBodies()
    this.destroyed = true
    this.onDestroyed ??= []
    for (const mock of this.mocks?.values() ?? []) void dispatcherOf(mock).close()
    const fail = (exchanges: Iterable<Under> = []): void => { for (const exchange of exchanges) failed(exchange, why) }
    const onClosed = (load: Load, place: number): void => { fail(ends?.carried(load, place)) }
    const onLast = (): void => {
      fail(ends?.onConnections())
      behindTurns(this.checked.isClient ? OWN_TURNS : OWN_TURNS + TURNS_OF_CLIENTS, () => { this.report() })
    }
    this.connections.end(onClosed, onLast, () => { for (const client of this.allClients) this.connections.unlisten(client) })
  }

  /** Ends what goes on behind responses: uploads from streams, as with undici where its dispatcher closes, and `all` where it is destroyed. */
  endBehind (why: Error, all: boolean): void {
    for (const one of this.behind) if (all || !one.outlivesClose) one.giveUp(why)
  }

  /** It closes, and is destroyed before what goes on behind responses has ended. */
  leaveBehind (why: Error): void {
    this.endBehind(why, true)
    if (!this.isEnding || this.onDestroyed === null) return
    this.bridge.flush()
    this.leaveBodies()
  }

  /** Stops sending bodies whose responses have ended. */
  private leaveBodies (): void { for (const client of this.allClients) this.bridge.ask('leaveBodies', { client }) }

  private report (): void {
    this.leaveBodies()
    const reported = [...this.onDestroyed ?? [], ...this.onClosed ?? []]
    this.onClosed = null
    this.onDestroyed = null
    for (const callback of reported) callback(null, null)
  }
}

/** Calls back for bodies that were collected unread. */
const collected = new FinalizationRegistry<() => void>(take => { take() })

/** Microtasks behind which a dispatcher reports its end: the events of its connections, and the callback of the request whose end this is. */
const OWN_TURNS = 2
/** Microtasks of a pool, which waits for its clients as undici's does: callers learn of the ends of their requests before. */
const TURNS_OF_CLIENTS = 4

function behindTurns (turns: number, call: () => void): void {
  queueMicrotask(turns === 1 ? call : () => { behindTurns(turns - 1, call) })
}

/** As with undici: it is not the caller's wish, so that a retry may ask elsewhere. */
function failed (exchange: Under, why: Error): void {
  if (exchange instanceof DirectRequest) exchange.abort(why)
  else exchange.giveUp(why)
}

// Events of a dispatcher's connections: undici's events and diagnostics channels, and names to
// resolve by a user's function.

import { channel, type Channel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { isIP } from 'node:net'
import { Connection, UNKNOWN, type ConnectionEvent } from './connection'
import type { Dialer } from './dial'
import { InformationalError, InvalidArgumentError, NotSupportedError } from '../../errors'
import { errorOf, goneAway, keepOwnError, timeoutOn } from '../../errors/failures'
import type { Load } from '../dispatcher/load'
import type { Checked, Lookup } from '../options'
import { tunnelParams } from './tunnel_params'
import type { ConnectionListener } from '../../channel/callbacks'
import type { Bridge, Failure } from '../../channel/ring'
import { streamsOf } from '../../channel/streams'
import { queueMicrotask, setImmediate } from '../../timers'

const opening = channel('undici:client:beforeConnect')
const opened = channel('undici:client:connected')
const failed = channel('undici:client:connectError')
const proxied = channel('undici:proxy:connected')

/** Whether a channel of connections has a subscriber. */
export function hasObservers (): boolean { return opening.hasSubscribers || opened.hasSubscribers || failed.hasSubscribers || proxied.hasSubscribers }

/** The dispatcher of the connections. */
export type OwningDispatcher = EventEmitter & { readonly origin: URL | null; readonly stats: { origins: { origin: string }[] } }

/** The state of the dispatcher, which counts its requests by origin. */
interface Of {
  readonly dispatcher: OwningDispatcher
  /** The engine's number of it. */
  readonly client: number
  readonly checked: Pick<Checked, 'forwards' | 'isProxied' | 'settings'>
  /** Why the dispatcher closes its connections; null: it does not. */
  readonly reason: Error | null
  readonly hasPools: boolean
  load: (url: URL) => Load
  within: <R> (url: URL, work: () => R) => R
  settle: (load: Load) => void
  drain: (load: Load) => void
}

/** Where an Agent keeps the connections of one origin: undici has a Pool there. */
export class OriginEntry {
  constructor (readonly origin: string, private readonly agent: OwningDispatcher) {}
  /** The Agent's statistics of it. */
  get stats (): object | undefined { return this.agent.stats.origins.find(({ origin }) => origin === this.origin) }
}

/** The `connector` of undici's channels: it cannot be called. */
function connector (): never { throw new NotSupportedError('connections are made by the engine') }

/** The connections of dispatchers that have listeners, while connections of theirs are open: a program may keep nothing else of one. */
const listened = new Set<Connections>()
/** The connections of dispatchers that end: a program may keep nothing else of them than the promise. */
const ending = new Set<Connections>()
const { listenerCount } = EventEmitter.prototype
const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain', 'ping']

/** A connection that has ended with its dispatcher. */
interface Ended { number: number; load: Load; hasStreams: boolean; emit: () => void }

/** A connection among those of all clients of a dispatcher, each of which counts its own. */
const keyOf = (client: number, number: number): string => `${client} ${number}`

export class Connections {
  /** By the client of the engine; those of a dispatcher that is dropped go with it. */
  private readonly listeners = new Map<number, ConnectionListener>()
  private readonly open = new Map<string, Connection>()
  /** Connections opened after the dispatcher was closed; they emit no events. */
  private readonly late = new Set<string>()
  /** An Agent's, by origin. */
  private readonly places = new Map<string, OriginEntry>()
  /** Emits the failures of connections whose requests have not failed yet, in order. */
  private readonly failures: { load: Load; emit: () => void }[] = []
  /** Connections that end with the dispatcher: `emit` emits their `disconnect`. */
  private readonly disconnects: Ended[] = []
  /** Emit the ends of connections with which no request has failed. */
  private readonly gracefulEnds: (() => void)[] = []
  private attempts = 0
  /** The clients whose connections carry nothing before the listeners have been called. */
  private readonly held = new Set<number>()
  private onEmpty: (() => void) | null = null
  private onEnded: ((load: Load, place: number) => void) | null = null
  private onLast: (() => void) | null = null

  constructor (
    private readonly bridge: Bridge,
    private readonly of: Of,
    private readonly isClient: boolean,
    private readonly localAddress: string | null,
    private readonly lookup: Lookup | null,
    private readonly dialer: Dialer | null
  ) {}

  /** The connection of this number of a client of the engine. */
  get (client: number, number: number): Connection { return this.open.get(keyOf(client, number)) ?? UNKNOWN }

  /** The events of a client of the engine are those of its connections. */
  listenTo (client: number): void {
    const listener: ConnectionListener = {
      onConnectionEvents: text => { this.onConnectionEvents(text, client) },
      onLookup: (ticket, text) => { this.onLookup(ticket, text) },
      onDial: (ticket, text) => { this.dialer!.dial(ticket, text) }
    }
    this.listeners.set(client, listener)
    this.bridge.listen(client, listener)
  }

  unlisten (client: number): void {
    const listener = this.listeners.get(client)
    if (listener !== undefined) this.bridge.unlisten(client, listener)
    this.listeners.delete(client)
  }

  private get dispatcher (): OwningDispatcher { return this.of.dispatcher }

  /** Connections that are open. */
  get size (): number { return this.open.size }

  /** No more are opened; `onEnded` is called for each of the open ones when all are closed, by its place among those of its
   * origin, `onLast` with the last of them, at once where there are none, and `onEmpty` when the attempts have ended too. */
  end (onEnded: (load: Load, place: number) => void, onLast: () => void, onEmpty: () => void): void {
    this.emitGracefulEnds()
    this.onEnded = onEnded
    this.onLast = onLast
    this.onEmpty = onEmpty
    listened.delete(this)
    ending.add(this)
    this.bridge.hold()
    this.settle()
  }

  private settle (): void {
    const { onLast } = this
    if (onLast !== null && this.open.size === 0) {
      this.onLast = null
      const last = (): void => {
        ending.delete(this)
        this.bridge.release()
        onLast()
      }
      const ended = inOrder(this.disconnects.splice(0))
      if (ended.length === 0) last()
      // Each in a turn of its own, as with undici, and streams in front of all. What came with the end of the connections goes to its readers first.
      if (ended.some(({ hasStreams }) => hasStreams)) {
        setImmediate(() => { for (const { load, place, hasStreams } of ended) if (hasStreams) this.onEnded!(load, place) })
      }
      for (const [at, { load, place, emit }] of ended.entries()) {
        setImmediate(() => {
          this.onEnded!(load, place)
          if (at === ended.length - 1) last()
          apart(emit)
        })
      }
    }
    if (this.open.size + this.late.size + this.attempts === 0) this.onEmpty?.()
  }

  private onConnectionEvents (text: string, client: number): void {
    const events = JSON.parse(text) as ConnectionEvent
    if (events.event === 'opening') this.attempts++
    if (events.event === 'opened' || events.event === 'failed') this.attempts--
    this.onConnectionEvent(events, new URL(events.origin), client)
    this.settle()
  }

  private onConnectionEvent (events: ConnectionEvent, url: URL, client: number): void {
    switch (events.event) {
      case 'opening':
        this.holdForListeners(client)
        if (opening.hasSubscribers) this.publish(opening, url, this.attemptOf(events, url))
        return
      case 'opened': return this.onOpened(events, url, client)
      case 'failed': return this.onFailed(events, url)
      case 'requestsFailed': return this.emitFailures()
      case 'answered':
        this.dispatcher.emit('ping', events.ms)
        return
      case 'closed': return this.onClosed(events, url, client)
    }
  }

  /** Connections carry nothing until the listeners of 'connect', and those of the 'disconnect' before, have been called: with undici one
   * that destroys the dispatcher or aborts a request has done so before anything is sent. */
  holdForListeners (client: number): void {
    const { dispatcher } = this.of
    if (this.held.has(client) || this.onEmpty !== null || listenerCount.call(dispatcher, 'connect') + listenerCount.call(dispatcher, 'disconnect') === 0) return
    this.held.add(client)
    this.bridge.ask('holdConnections', { client })
  }

  private onOpened (events: ConnectionEvent, url: URL, client: number): void {
    try {
      this.announce(events, url, keyOf(client, events.number!))
    } finally {
      // Behind what a listener's `destroy` does, which is in a microtask of its own.
      if (this.held.has(client)) queueMicrotask(() => { this.release(client, events.number!) })
    }
  }

  private announce (events: ConnectionEvent, url: URL, key: string): void {
    if (this.onEmpty !== null) return void this.late.add(key)
    const isSecure = url.protocol === 'https:'
    const servername = isSecure ? events.serverName ?? hostnameOf(url) : undefined
    const connection = new Connection(events, servername, isSecure)
    this.open.set(key, connection)
    const load = this.of.load(url)
    load.onOpened(connection, events.version)
    if (EVENTS.some(event => this.dispatcher.listenerCount(event) > 0)) listened.add(this)
    if (events.proxied && proxied.hasSubscribers) this.onTunnel(connection, url)
    if (opened.hasSubscribers) this.publish(opened, url, { ...this.attemptOf(events, url), socket: events.stream ? streamsOf(this.bridge).streamOf(events.stream) ?? connection : connection })
    this.emitGracefulEnds()
    this.emit('connect', url, this.targets(url, connection))
    this.of.settle(load)
  }

  private release (client: number, connection: number): void {
    // The engine sees what listeners have cancelled first.
    this.bridge.flush()
    if (!this.bridge.hasEnded) this.bridge.ask('releaseConnection', { client, connection })
  }

  /** A connection through a proxy of HTTP is shown where it is a tunnel, as with undici. */
  private onTunnel (socket: Connection, url: URL): void {
    const { forwards, settings } = this.of.checked
    const connectParams = forwards && url.protocol === 'http:' ? null : tunnelParams(settings, url)
    if (connectParams !== null) this.publish(proxied, url, { socket, connectParams })
  }

  /** Not of agents behind a proxy: those of undici have none of these events. */
  private emit (event: 'connect' | 'disconnect' | 'connectionError', ...parts: [url: URL, targets: object[], error?: Error]): void {
    if (!this.of.checked.isProxied) this.dispatcher.emit(event, ...parts)
  }

  /** More requests are carried than are under way. */
  onDrain (load: Load): void {
    this.dispatcher.emit('drain', load.url, this.targets(load.url, load.connection ?? UNKNOWN))
  }

  private onFailed (events: ConnectionEvent, url: URL): void {
    if (this.onEmpty === null) this.failures.push({ load: this.of.load(url), emit: this.failing(events, url, errorOf(events.error!, false)) })
  }

  /** The failure of a connection to a port that there is none of: the engine makes no attempt. */
  refuse (url: URL, error: Error): void {
    const events: ConnectionEvent = { event: 'failed', origin: url.origin, serverName: null }
    if (opening.hasSubscribers) this.publish(opening, url, this.attemptOf(events, url))
    this.failing(events, url, error)()
  }

  /** Tells the channel of an attempt that failed; what is returned tells the listeners. */
  private failing (events: ConnectionEvent, url: URL, error: Error): () => void {
    if (failed.hasSubscribers) this.publish(failed, url, { ...this.attemptOf(events, url), error })
    const connection = new Connection(events, undefined, url.protocol === 'https:')
    connection.destroyed = true
    const load = this.of.load(url)
    load.connection ??= connection
    const targets = this.targets(url, connection)
    return () => { load.failed(error, () => { apart(() => { this.emit('connectionError', url, targets, error) }) }) }
  }

  /** As with undici: behind the handler of the first request that fails with it, and in front of its callback. The other requests that one
   * attempt of the engine was for had an attempt each with undici's pools: its event comes for each of them. */
  emitFailures (of?: Failure, load: Load | null = null, client = 0): void {
    if (of?.kind === 'timeout' && load !== null) this.emitTimeout(of, load, client)
    if (of !== undefined && load !== null && this.of.hasPools && UNCONNECTED.has(of.kind)) return this.emitFailure(load)
    const all = this.failures.splice(0)
    // A pool that a listener has destroyed tells of no other attempt.
    if (!this.of.hasPools || this.of.reason === null) for (const { emit } of all) emit()
  }

  /** Emits the failure of one attempt to the origin, for the request that fails with it. */
  private emitFailure (load: Load): void {
    const at = this.failures.findIndex(one => one.load === load)
    if (at < 0) return load.repeatFailure()
    // In front of the listeners: one may destroy the dispatcher, and with it the requests that wait for other attempts.
    load.surplus--
    this.failures.splice(at, 1)[0]!.emit()
  }

  /** Whether all requests of a Client that wait have failed with an attempt, as with undici: whatever a listener of the event does. */
  hasFailedAll (of: Failure): boolean { return this.isClient && UNCONNECTED.has(of.kind) }

  /** A connection of HTTP/1.1 ends with the request whose time is over, and as with undici its event comes in front of the request's callback. */
  private emitTimeout ({ attempts }: Failure, { url }: Load, client: number): void {
    const connection = this.open.get(keyOf(client, attempts?.at(-1)?.connection ?? 0))
    const error = connection === undefined ? undefined : timeoutOf(connection)
    if (connection === undefined || error === undefined || connection.hasEmittedEnd || this.onLast !== null) return
    connection.hasEmittedEnd = true
    apart(() => { this.emit('disconnect', url, this.targets(url, connection), error) })
  }

  private onClosed (events: ConnectionEvent, url: URL, client: number): void {
    const key = keyOf(client, events.number!)
    if (this.late.delete(key)) return
    const connection = this.open.get(key)
    this.open.delete(key)
    if (this.open.size === 0) listened.delete(this)
    if (connection === undefined) return
    connection.destroyed = true
    this.of.load(url).onClosed()
    const targets = this.targets(url, connection)
    const isGraceful = isGracefulEnd(events.error!, connection)
    const error = isGraceful ? this.of.reason ?? timeoutOf(connection) ?? gracefulEnd(events.error!) : connection.alpnProtocol === 'h2' ? goneAway(events.error!) : errorOf(events.error!, false)
    const emit = (): void => { if (!connection.hasEmittedEnd) this.emit('disconnect', url, targets, error) }
    // Where the dispatcher ends, requests fail first.
    if (this.onLast !== null) this.disconnects.push({ number: events.number!, load: this.of.load(url), hasStreams: connection.alpnProtocol === 'h2' || connection.alpnProtocol === 'h3', emit })
    else if (isGraceful && events.error!.message !== HAS_LEFT) this.emitLater(emit)
    // In front of the callbacks of requests that fail with it, and at once where it has left HTTP.
    else {
      apart(emit)
      this.of.drain(this.of.load(url))
    }
  }

  /** Calls `check` behind the events of connections that have ended. */
  behindEnds (check: () => void): void {
    if (this.gracefulEnds.length > 0) this.gracefulEnds.push(check)
    else check()
  }

  /** As with undici, whose socket is closed in a later turn than the one in which its last body ends: a reader of that body can still add
   * a listener. The next connection comes behind it. */
  private emitLater (emit: () => void): void {
    this.gracefulEnds.push(emit)
    setImmediate(() => { setImmediate(() => { this.emitGracefulEnds() }) })
  }

  private emitGracefulEnds (): void { for (const emit of this.gracefulEnds.splice(0)) apart(emit) }

  /**
   * The event's targets, from the outside in, as many as undici names: an Agent's are its entry for
   * the origin and the connection, with `connections: 1` the connection alone, a Pool's the
   * connection, and a Client is its connection.
   */
  private targets (url: URL, connection: Connection): object[] {
    const { dispatcher } = this
    if (dispatcher.origin === null && this.of.hasPools) return [dispatcher, this.entry(url), connection]
    return this.isClient ? [dispatcher] : [dispatcher, connection]
  }

  private entry (url: URL): OriginEntry {
    const known = this.places.get(url.origin)
    if (known !== undefined) return known
    const made = new OriginEntry(url.origin, this.dispatcher)
    this.places.set(url.origin, made)
    return made
  }

  /** An Agent has no connection to the origin any more, and no request. */
  forget (origin: string): void { this.places.delete(origin) }

  /** In the async context of a request that waits for the connection, as with undici. */
  private publish (to: Channel, url: URL, message: object): void { this.of.within(url, () => { to.publish(message) }) }

  /** The message of undici's channels about an attempt. */
  private attemptOf (events: ConnectionEvent, url: URL): { connectParams: object; connector: object } {
    const { host, protocol, port } = url
    const servername = protocol === 'https:' ? events.serverName : null
    const connectParams = { host, hostname: hostnameOf(url), protocol, port, version: events.version, servername, localAddress: this.localAddress }
    return { connectParams, connector: this.dialer?.connector ?? connector }
  }

  private onLookup (ticket: number, text: string): void {
    const { host } = JSON.parse(text) as { host: string }
    let isAnswered = false
    const answer = (error: Error | null, addresses: string[] | null): void => {
      if (isAnswered) return
      isAnswered = true
      if (error !== null) keepOwnError(`lookup ${ticket}`, error)
      const report = (addresses: string[] | null): void => { this.bridge.ask('lookedUp', { ticket, addresses }) }
      try {
        report(addresses)
      } catch (failure) {
        // The attempt waits for an answer of some kind.
        keepOwnError(`lookup ${ticket}`, errorOf(failure as Failure, false))
        report(null)
      }
    }
    try {
      this.lookup!(host, { all: true }, (error, found) => {
        if (error != null) return answer(error, null)
        const list = typeof found === 'string' ? [found] : Array.isArray(found) ? found.map(textOf) : []
        // A zone is a name of this machine's, which no address of the engine's has.
        const wrong = list.find(address => isIP(address) === 0 || address.includes('%'))
        if (wrong === undefined) return answer(null, list)
        const text = `connect.lookup gave ${JSON.stringify(wrong)} for ${host}; it must give IP addresses without a zone`
        answer(Object.assign(new InvalidArgumentError(text), { code: 'ERR_INVALID_IP_ADDRESS' }), null)
      })
    } catch (error) {
      answer(error as Error, null)
    }
  }
}

function textOf (found: string | { address: string }): string {
  return typeof found === 'string' ? found : String(found?.address)
}

/** Failures of requests that no connection could be made for. */
const UNCONNECTED = new Set(['connect', 'resolve', 'tls'])

/** Whether no request fails with a connection that ends so: it was idle, or it has carried its last request, by a field of HTTP/1.1
 * on either side. */
function isGracefulEnd ({ kind, detail }: Failure, { alpnProtocol }: Connection): boolean {
  return kind === 'cancelled' || kind === 'timeout' || (kind === 'closed' && detail === '0' && alpnProtocol !== 'h2' && alpnProtocol !== 'h3')
}

/** The engine's words for a connection behind an upgrade or a CONNECT. */
const HAS_LEFT = 'the connection speaks another protocol now'
/** undici's words for the ends that the engine names so; all others are a reset. */
const WORDS: Record<string, string> = { 'a request on the connection was given up': 'aborted', [HAS_LEFT]: 'upgrade' }

/** The timeout of a request with which a connection of HTTP/1.1 ended. */
function timeoutOf (connection: Connection): Error | undefined { return connection.alpnProtocol === 'h2' || connection.alpnProtocol === 'h3' ? undefined : timeoutOn(connection) }

/** Why a connection of a dispatcher that goes on was closed, in undici's words. */
function gracefulEnd ({ kind, message }: Failure): Error {
  return new InformationalError(kind === 'timeout' ? 'socket idle timeout' : WORDS[message] ?? 'reset', { cause: new Error(message) })
}

/** With their places among those of their origins. As with undici, whose sockets Node.js closes in this order, the one that was opened last comes
 * first; its pools are destroyed one after another, and so are their connections. */
function inOrder (ended: Ended[]): (Ended & { place: number })[] {
  const byLoad = new Map<Load, Ended[]>()
  for (const one of ended.toSorted((one, other) => one.number - other.number)) byLoad.set(one.load, [...byLoad.get(one.load) ?? [], one])
  return [...byLoad.values()].flatMap(all => all.map((one, place) => ({ ...one, place }))).toReversed()
}

/** Calls listeners; what they throw is uncaught, and keeps nothing from the others. */
function apart (emit: () => void): void {
  try {
    emit()
  } catch (error) {
    queueMicrotask(() => { throw error })
  }
}

/** An IPv6 address without its brackets. */
function hostnameOf (url: URL): string { return url.hostname.replace(/^\[(.*)\]$/, '$1') }

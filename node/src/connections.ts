// Events of a dispatcher's connections: undici's events and diagnostics channels, and names to
// resolve by a user's function.

import { channel } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import { isIP } from 'node:net'
import type { Dialer } from './dial'
import { errorOf, InformationalError, InvalidArgumentError, keepOwnError, NotSupportedError } from './errors'
import type { Border, Failure, Hearer } from './ring'
import { theStreams } from './streams'

const opening = channel('undici:client:beforeConnect')
const opened = channel('undici:client:connected')
const failed = channel('undici:client:connectError')
const proxied = channel('undici:proxy:connected')

/** An end of a connection. */
interface End { address: string; port: number; family: string }

/** A connection event of the engine (connections.rs). */
interface News {
  event: 'opening' | 'opened' | 'failed' | 'answered' | 'closed'
  origin: string
  serverName: string | null
  number?: number
  version?: 'h1' | 'h2' | 'h3'
  remote?: End | null
  local?: End | null
  proxied?: boolean
  /** The stream that the user's connector gave. */
  stream?: number
  alpn?: string | null
  /** How long the peer took to answer a PING. */
  ms?: number
  error?: Failure
}

/** A connection as channels show it: what can be asked of a socket, and nothing to do to it. */
export class Connection {
  readonly remoteAddress?: string
  readonly remotePort?: number
  readonly remoteFamily?: string
  readonly localAddress?: string
  readonly localPort?: number
  readonly localFamily?: string
  readonly alpnProtocol: string | false
  readonly encrypted: boolean
  destroyed = false

  constructor (news: News, readonly servername: string | undefined, isSecure: boolean) {
    this.remoteAddress = news.remote?.address
    this.remotePort = news.remote?.port
    this.remoteFamily = news.remote?.family
    this.localAddress = news.local?.address
    this.localPort = news.local?.port
    this.localFamily = news.local?.family
    this.alpnProtocol = news.alpn ?? (news.version === 'h2' ? 'h2' : false)
    this.encrypted = isSecure
  }

  address (): object {
    const { localAddress: address, localPort: port, localFamily: family } = this
    return address === undefined ? {} : { address, port, family }
  }
}

/** The dispatcher of the connections. */
export type Owner = EventEmitter & { readonly origin: URL | null; readonly stats: { origins: { origin: string }[] } }

/** Where an Agent keeps the connections of one origin: undici has a Pool there. */
export class Place {
  constructor (readonly origin: string, private readonly agent: Owner) {}
  /** The Agent's statistics of it. */
  get stats (): object | undefined { return this.agent.stats.origins.find(({ origin }) => origin === this.origin) }
}

/** Placeholder for an unknown connection. */
export const UNKNOWN = Object.freeze(new Connection({ event: 'opened', origin: '', serverName: null }, undefined, false))

/** Looks a name up as Node.js's `dns.lookup` does. */
export type Lookup = (
  hostname: string,
  options: { all: true; family?: number; hints?: number },
  callback: (error: Error | null, addresses: string | readonly { address: string; family: number }[], family?: number) => void
) => void

/** The `connector` of undici's channels: it cannot be called. */
function connector (): never {
  throw new NotSupportedError('connections are made by the engine')
}

/** Of dispatchers that have listeners, while connections of theirs are open: a program may keep nothing else of one. */
const listened = new Set<Connections>()
const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain', 'ping']

export class Connections implements Hearer {
  private readonly open = new Map<number, Connection>()
  /** Connections opened after the dispatcher was closed; they emit no events. */
  private readonly late = new Set<number>()
  /** An Agent's, by origin. */
  private readonly places = new Map<string, Place>()
  private attempts = 0
  private onEmpty: (() => void) | null = null

  constructor (
    private readonly border: Border,
    private readonly dispatcher: Owner,
    private readonly isClient: boolean,
    private readonly localAddress: string | null,
    private readonly lookup: Lookup | null,
    private readonly dialer: Dialer | null
  ) {}

  /** The connection of this number. */
  get (number: number): Connection { return this.open.get(number) ?? UNKNOWN }

  /** Connections that are open. */
  get size (): number { return this.open.size }

  /** No more are opened; `onEmpty` is called when the last one is gone. */
  end (onEmpty: () => void): void {
    this.onEmpty = onEmpty
    listened.delete(this)
    this.settle()
  }

  private settle (): void {
    if (this.open.size + this.late.size + this.attempts === 0) this.onEmpty?.()
  }

  onNews (text: string): void {
    const news = JSON.parse(text) as News
    if (news.event === 'opening') this.attempts++
    if (news.event === 'opened' || news.event === 'failed') this.attempts--
    this.hear(news, new URL(news.origin))
    this.settle()
  }

  private hear (news: News, url: URL): void {
    switch (news.event) {
      case 'opening':
        if (opening.hasSubscribers) opening.publish({ connectParams: this.paramsOf(news, url), connector: this.dialer?.connector ?? connector })
        return
      case 'opened': return this.onOpened(news, url)
      case 'failed': return this.onFailed(news, url)
      case 'answered':
        this.dispatcher.emit('ping', news.ms)
        return
      case 'closed': return this.onClosed(news, url)
    }
  }

  private onOpened (news: News, url: URL): void {
    if (this.onEmpty !== null) {
      this.late.add(news.number!)
      return
    }
    const isSecure = url.protocol === 'https:'
    const servername = isSecure ? news.serverName ?? hostnameOf(url) : undefined
    const connection = new Connection(news, servername, isSecure)
    this.open.set(news.number!, connection)
    if (EVENTS.some(event => this.dispatcher.listenerCount(event) > 0)) listened.add(this)
    const connectParams = this.paramsOf(news, url)
    if (news.proxied && proxied.hasSubscribers) proxied.publish({ socket: connection, connectParams })
    if (opened.hasSubscribers) opened.publish({ connectParams, connector: this.dialer?.connector ?? connector, socket: news.stream ? theStreams().streamOf(news.stream) ?? connection : connection })
    this.dispatcher.emit('connect', url, this.targets(url, connection))
  }

  private onFailed (news: News, url: URL): void {
    if (this.onEmpty !== null) return
    const error = errorOf(news.error!, false)
    if (failed.hasSubscribers) failed.publish({ connectParams: this.paramsOf(news, url), connector: this.dialer?.connector ?? connector, error })
    const connection = new Connection(news, undefined, url.protocol === 'https:')
    connection.destroyed = true
    const targets = this.targets(url, connection)
    // The requests that fail with it come first, as with undici.
    queueMicrotask(() => { this.dispatcher.emit('connectionError', url, targets, error) })
  }

  private onClosed (news: News, url: URL): void {
    if (this.late.delete(news.number!)) return
    const connection = this.open.get(news.number!)
    this.open.delete(news.number!)
    if (this.open.size === 0) listened.delete(this)
    if (connection === undefined) return
    connection.destroyed = true
    const targets = this.targets(url, connection)
    const { kind, message } = news.error!
    const error = kind === 'cancelled' ? new InformationalError(message) : errorOf(news.error!, false)
    queueMicrotask(() => { this.dispatcher.emit('disconnect', url, targets, error) })
  }

  /**
   * The event's targets, from the outside in, as many as undici names: an Agent's are its entry for
   * the origin and the connection, a Pool's the connection, and a Client is its connection.
   */
  private targets (url: URL, connection: Connection): object[] {
    const { dispatcher } = this
    if (dispatcher.origin === null) return [dispatcher, this.place(url), connection]
    return this.isClient ? [dispatcher] : [dispatcher, connection]
  }

  private place (url: URL): Place {
    const known = this.places.get(url.origin)
    if (known !== undefined) return known
    const made = new Place(url.origin, this.dispatcher)
    this.places.set(url.origin, made)
    return made
  }

  private paramsOf (news: News, url: URL): object {
    const { host, protocol, port } = url
    const servername = protocol === 'https:' ? news.serverName : null
    return { host, hostname: hostnameOf(url), protocol, port, version: news.version, servername, localAddress: this.localAddress }
  }

  onDial (ticket: number, text: string): void { this.dialer!.dial(ticket, text) }

  onLookup (ticket: number, text: string): void {
    const { host } = JSON.parse(text) as { host: string }
    let isAnswered = false
    const answer = (error: Error | null, addresses: string[] | null): void => {
      if (isAnswered) return
      isAnswered = true
      if (error !== null) keepOwnError(`lookup ${ticket}`, error)
      const say = (addresses: string[] | null): void => { this.border.ask('lookedUp', { ticket, addresses }) }
      try {
        say(addresses)
      } catch (failure) {
        // The attempt waits for an answer of some kind.
        keepOwnError(`lookup ${ticket}`, errorOf(failure as Failure, false))
        say(null)
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

/** An IPv6 address without its brackets. */
function hostnameOf (url: URL): string { return url.hostname.replace(/^\[(.*)\]$/, '$1') }

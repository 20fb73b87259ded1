// A connection of a dispatcher as undici's channels show it, and the engine's events of it.

import type { Failure } from '../../channel/ring'

/** An end of a connection. */
interface End { address: string; port: number; family: string }

/** A connection event of the engine (connections.rs). */
export interface ConnectionEvent {
  event: 'opening' | 'opened' | 'failed' | 'requestsFailed' | 'answered' | 'closed'
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
  /** `disconnect` was emitted in front of its end. */
  hasEmittedEnd = false

  constructor (events: ConnectionEvent, readonly servername: string | undefined, isSecure: boolean) {
    this.remoteAddress = events.remote?.address
    this.remotePort = events.remote?.port
    this.remoteFamily = events.remote?.family
    this.localAddress = events.local?.address
    this.localPort = events.local?.port
    this.localFamily = events.local?.family
    this.alpnProtocol = events.alpn ?? (events.version === 'h2' ? 'h2' : false)
    this.encrypted = isSecure
  }

  address (): object {
    const { localAddress: address, localPort: port, localFamily: family } = this
    return address === undefined ? {} : { address, port, family }
  }
}

/** Placeholder for an unknown connection. */
export const UNKNOWN = Object.freeze(new Connection({ event: 'opened', origin: '', serverName: null }, undefined, false))

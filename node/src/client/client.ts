// Client: one origin, one connection. Pool: one origin, as many connections as it needs and may
// have. Agent: any origin. All three use the engine's pool with different bounds.

import { Dispatcher } from './dispatcher/dispatcher'
import type { Options, Way } from './options'
import { check } from './options/check'
import { originOf, type UrlParts } from './options/url'
import { checkConnections } from './options/values'
import './calls/debug'
import { Connection } from './connect/connection'
import { OriginEntry } from './connect/connections'
import { buildConnector, type BuildOptions } from './connect/build_connector'
import { ByOrigin, factoryOf, OfPool } from './dispatcher/factory'
import { kState } from './dispatcher/state'
import { isInstanceOf } from './dispatcher/undici'

/** A dispatcher of one origin with up to `connections` connections. */
export class Pool extends Dispatcher {
  /** With undici a Client is no Pool, and an Agent has a Pool for each origin: what its events name is one. */
  static override [Symbol.hasInstance] (value: unknown): boolean {
    if (this !== Pool) return isInstanceOf(value, Pool, this)
    return value instanceof OriginEntry || (isInstanceOf(value, Pool, this) && !(value instanceof Client))
  }

  private readonly url: URL
  constructor (origin: string | URL | UrlParts, options: Options = {}, isClient = false) {
    if (!isClient) checkConnections((options as Options | null)?.connections)
    const url = checkedOrigin(origin, options, isClient)
    super(options, isClient)
    this.url = url
    this[kState].ownOrigin = url.origin
    const factory = isClient ? null : factoryOf(options.factory)
    if (factory !== null) this[kState].delegate = new OfPool(this, url, factory, forClients(options), this[kState].checked.connections || null)
  }

  /** The one origin. */
  override get origin (): URL { return this.url }
}

/** A dispatcher of one origin with one connection. */
export class Client extends Pool {
  /** With undici each connection is a Client's: what the events of a Pool and an Agent name is one. */
  static override [Symbol.hasInstance] (value: unknown): boolean {
    return isInstanceOf(value, Client, this) || (this === Client && value instanceof Connection)
  }

  constructor (origin: string | URL | UrlParts, options: Options = {}) { super(origin, options, true) }
}

/** A dispatcher of any number of origins. */
export class Agent extends Dispatcher {
  /** With undici agents behind a proxy are no Agents: programs tell them apart so. */
  static override [Symbol.hasInstance] (value: unknown): boolean {
    return isInstanceOf(value, Agent, this) && !(this === Agent && (value as Partial<Agent>)[kState]?.checked.isProxied === true)
  }

  constructor (options: Options = {}, way?: Way) {
    super(options, false, way)
    const factory = way === undefined ? factoryOf(options.factory) : null
    if (factory === null) return
    const { factory: _, maxOrigins, connect, tls, ...others } = options
    this[kState].delegate = new ByOrigin(this, factory, { ...others, maxOrigins: maxOrigins ?? Infinity, connect, tls })
  }

  /** Null: every request names its own. */
  override get origin (): null { return null }
}

/** The options for a Pool's factory, as undici has them: `connect` is a function. */
function forClients (options: Options): Options {
  const {
    allowH2, autoSelectFamily, autoSelectFamilyAttemptTimeout, clientTtl, connect, connections: _, connectTimeout, factory: __, maxCachedSessions, socketPath, tls, useH2c, ...others
  } = options
  const families = typeof autoSelectFamily === 'boolean' ? { autoSelectFamily, autoSelectFamilyAttemptTimeout } : {}
  const made = typeof connect === 'function'
    ? connect
    : buildConnector({ ...tls, maxCachedSessions, allowH2, useH2c, socketPath, timeout: connectTimeout, ...families, ...connect } as BuildOptions)
  return { ...others, connect: made, allowH2, useH2c, clientTtl, socketPath } as Options
}

/** The origin's URL. Where that and an option are wrong, the option is what is named, as with undici. */
function checkedOrigin (origin: string | URL | UrlParts, options: Options, isClient: boolean): URL {
  try {
    return originOf(origin)
  } catch (error) {
    check(options, isClient)
    throw error
  }
}

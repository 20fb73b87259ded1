// Client: one origin, one connection. Pool: one origin, as many connections as it needs and may
// have. Agent: any origin. All three use the engine's pool with different bounds.

import { Dispatcher } from './dispatcher'
import { originOf, type Options, type UrlParts, type Way } from './options'
import { kState } from './state'

/** A dispatcher of one origin with up to `connections` connections. */
export class Pool extends Dispatcher {
  private readonly url: URL
  constructor (origin: string | URL | UrlParts, options: Options = {}, isClient = false) {
    const url = originOf(origin)
    super(options, isClient)
    this.url = url
    this[kState].ownOrigin = url.origin
  }

  /** The one origin. */
  override get origin (): URL { return this.url }
}

/** A dispatcher of one origin with one connection. */
export class Client extends Pool {
  constructor (origin: string | URL | UrlParts, options: Options = {}) { super(origin, options, true) }
}

/** A dispatcher of any number of origins. */
export class Agent extends Dispatcher {
  constructor (options: Options = {}, way?: Way) { super(options, false, way) }
  /** Null: every request names its own. */
  override get origin (): null { return null }
}

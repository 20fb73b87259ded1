// Client: one origin, one connection. Pool: one origin, as many connections as it needs and may
// have. Agent: any origin. All three use the engine's pool with different bounds.

import { Dispatcher } from './dispatcher'
import { originOf, type Options, type UrlParts, type Way } from './options'
import { kState } from './state'

export class Pool extends Dispatcher {
  private readonly url: URL
  constructor (origin: string | URL | UrlParts, options: Options = {}, isClient = false) {
    const url = originOf(origin)
    super(options, isClient)
    this.url = url
    this[kState].ownOrigin = url.origin
  }

  override get origin (): URL { return this.url }
}

export class Client extends Pool {
  constructor (origin: string | URL | UrlParts, options: Options = {}) { super(origin, options, true) }
}

export class Agent extends Dispatcher {
  constructor (options: Options = {}, way?: Way) { super(options, false, way) }
  override get origin (): null { return null }
}

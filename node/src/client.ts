// Client: one origin, one connection. Pool: one origin, as many connections as it needs and may have.
// Agent: any origin. All three are the engine's pool; they differ in what bounds it.

import { Dispatcher } from './dispatcher'
import { InvalidArgumentError } from './errors'
import type { Options, Way } from './options'

/** undici's checks of an origin. */
function originOf (origin: string | URL): URL {
  let url: URL
  try {
    url = new URL(origin)
  } catch {
    throw new InvalidArgumentError('Invalid URL: it must be like https://host:port')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InvalidArgumentError('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') throw new InvalidArgumentError('invalid url')
  return url
}

export class Pool extends Dispatcher {
  private readonly url: URL
  constructor (origin: string | URL, options: Options = {}, isClient = false) {
    const url = originOf(origin)
    super(options, isClient)
    this.url = url
  }

  override get origin (): URL { return this.url }
}

export class Client extends Pool {
  constructor (origin: string | URL, options: Options = {}) { super(origin, options, true) }
}

export class Agent extends Dispatcher {
  constructor (options: Options = {}, way?: Way) { super(options, false, way) }
  override get origin (): null { return null }
}

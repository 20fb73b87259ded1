// `fetch` (https://fetch.spec.whatwg.org/#fetch-method) over the dispatchers of this package.

import { isOwn, type AnyDispatcher } from '../client/calls/api'
import { defaultAgent } from '../client/request'
import { Fetching, type Ways } from './fetching'
import { requestPartsOf } from './request'
import { requestPartsFrom } from './request_parts'
import type { Response } from './response'
import { needs } from './convert'

/** By these Node.js's own fetch and undici know the dispatcher of the process: Node.js 20 to 25 and undici 6 and 7; Node.js 26 and
 * undici 8. */
export const DISPATCHERS = ['undici.globalDispatcher.1', 'undici.globalDispatcher.2'].map(name => Symbol.for(name))

let installed: AnyDispatcher | null = null
/** Makes a dispatcher the one of calls that name none; null: there is none any more. */
export function setInstalled (dispatcher: AnyDispatcher | null): void { installed = dispatcher }
export function installedDispatcher (): AnyDispatcher | null { return installed }

const WAYS: Ways = {
  isOwn,
  dispatcher () {
    if (installed === null) return defaultAgent()
    // A program may have put another in its place since then, as tests do with undici's MockAgent.
    const all = globalThis as unknown as Record<symbol, AnyDispatcher | undefined>
    for (const symbol of DISPATCHERS) {
      const found = all[symbol]
      if (found !== undefined && found !== installed && !isWrapped(found)) return found
    }
    return installed
  }
}

/** undici 8 puts a dispatcher of undici 7's ABI around the one of the process, which is no other. */
function isWrapped (dispatcher: AnyDispatcher): boolean { return dispatcher.constructor?.name === 'Dispatcher1Wrapper' }

/** Fetches a resource; resolves to its response when its head has come. Rejects with a TypeError whose `cause` is the error of the
 * network, or with the reason of the signal. */
export function fetch (input: unknown, init: unknown = undefined): Promise<Response> {
  const { length } = arguments
  return new Promise((resolve, reject) => {
    needs(length, 1, 'fetch')
    new Fetching(requestPartsFrom(input, init, requestPartsOf), WAYS, resolve, reject).start()
  })
}

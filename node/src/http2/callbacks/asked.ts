// The callbacks of pings, settings, writes and ends: each is a resource of async_hooks of its own, by the type that node:http2
// gives it. `AsyncResource.bind` would make about ten objects of each.

import { AsyncResource } from 'node:async_hooks'

const BY_HAND = { requireManualDestroy: true }

/** `call` in the async context of now, to be called once. */
export function asked<A extends unknown[]> (type: 'HTTP2PING' | 'HTTP2SETTINGS' | 'SHUTDOWNWRAP' | 'WRITEWRAP', call: (...given: A) => void): (...given: A) => void {
  const resource = new AsyncResource(type, BY_HAND)
  return (...given) => {
    try {
      resource.runInAsyncScope(call, undefined, ...given)
    } finally {
      resource.emitDestroy()
    }
  }
}

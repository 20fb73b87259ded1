// `fetch` (https://fetch.spec.whatwg.org/#fetch-method) over the dispatchers of this package.

import { isOwn } from '../client/calls/api'
import { usualDispatcher } from '../client/process_dispatcher'
import { Fetching, type Ways } from './call/fetching'
import { requestPartsOf } from './request'
import { requestPartsFrom } from './request_parts'
import type { Response } from './response'

const WAYS: Ways = { isOwn, dispatcher: usualDispatcher }

/** Fetches a resource; resolves to its response when its head has come. Rejects with a TypeError whose `cause` is the error of the
 * network, or with the reason of the signal. */
export function fetch (input: unknown, init: unknown = undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    new Fetching(requestPartsFrom(input, init, requestPartsOf), WAYS, resolve, reject).start()
  })
}

// The async contexts of the events of a server: all begin in that in which it began to listen, as with node:net. Each connection and each
// request has a resource of its own in it, so that what a listener enters by `AsyncLocalStorage.enterWith` is of that one alone: all
// events of a process come by one wake-up, and before Node.js 24 what is entered stays on the resource of the call.

import { AsyncResource } from 'node:async_hooks'

const make = (type: string): AsyncResource => new AsyncResource(type)

/** The context of now, for a server. */
export const ofServer = (): AsyncResource => make('TRUNKLINESERVER')
/** A resource of its own in the context of `outer`. */
export const within = (outer: AsyncResource, type: 'TRUNKLINECONNECTION' | 'TRUNKLINEREQUEST' | 'TRUNKLINEWEBSOCKET'): AsyncResource => outer.runInAsyncScope(make, undefined, type)

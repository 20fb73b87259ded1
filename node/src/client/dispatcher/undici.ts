// Access to private members that undici's classes keep under symbols, by the symbols' names,
// because each copy of undici has its own.

import { EventEmitter } from 'node:events'
import { kState, type State } from './state'

/** By the symbols' names. `clients`: MockAgent. The others: undici's Agent and Pool of dispatchers that
 * a `factory` of the user's made, which close one that says nothing when a connection of it ends. */
const ANSWERS: Record<string, (state: State) => unknown> = {
  clients: state => state.dispatcher.origin === null ? (state.mocks ??= new Map()) : undefined,
  connected: state => state.delegate?.counts.connected ?? state.connections.size,
  busy: state => state.isBusy,
  'need drain': state => state.isBusy,
  running: state => state.delegate?.counts.running ?? state.exchanges.size,
  pending: state => state.delegate?.counts.pending ?? state.exchanges.size,
  size: state => state.delegate?.counts.size ?? state.exchanges.size,
  url: state => state.dispatcher.origin ?? undefined
}

/** Puts the answers behind everything that `prototype` has by itself. */
export function answerUndici (prototype: EventEmitter): void {
  const behind = new Proxy(Object.create(EventEmitter.prototype) as EventEmitter, {
    get (target, key, receiver: Partial<Record<typeof kState, State>>) {
      const answer = typeof key === 'symbol' ? ANSWERS[key.description ?? ''] : undefined
      if (answer === undefined) return Reflect.get(target, key, receiver) as unknown
      // The prototypes themselves have no state, and this is how `kState` is found missing.
      const state = Object.hasOwn(receiver, kState) ? receiver[kState] : undefined
      return state === undefined ? undefined : answer(state)
    }
  })
  Object.setPrototypeOf(prototype, behind)
}

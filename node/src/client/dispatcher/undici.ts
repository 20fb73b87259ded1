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

const isInstance = Object[Symbol.hasInstance] as (this: unknown, value: unknown) => boolean

/** Whether `value` is a dispatcher of a copy of undici by a class of this name, as its mocks and its pools are: programs ask with
 * the class that they have, which is of this package. */
function isOfUndici (value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  let isNamed = false
  for (let made: object | null = Object.getPrototypeOf(value) as object | null; made !== null; made = Object.getPrototypeOf(made) as object | null) {
    const { constructor } = made
    isNamed ||= constructor.name === name
    if (constructor.name === 'Dispatcher') return isNamed
  }
  return false
}

/** `value instanceof of`, where `of` stands for undici's class of that name too. */
export function isInstanceOf (value: unknown, of: new (...args: any[]) => object, itself: unknown): boolean {
  return isInstance.call(itself, value) || (itself === of && isOfUndici(value, of.name))
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

// The iterators of `Headers` and `FormData` (Web IDL, "default iterator objects"): each step looks at what is there then.

import { illegal } from './convert'

const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object

type Kind = 'key' | 'value' | 'key+value'

interface State<V> { pairs: () => [string, V][]; kind: Kind; at: number }

/** A function that makes iterators over pairs; `name` stands in `Object.prototype.toString`. */
export function iteratorsOf<V> (name: string): (pairs: () => [string, V][], kind: Kind) => IterableIterator<any> {
  const states = new WeakMap<object, State<V>>()
  const prototype = Object.create(IteratorPrototype, {
    next: {
      configurable: true,
      enumerable: true,
      writable: true,
      value: function next (this: object): IteratorResult<unknown> {
        const state = states.get(this)
        if (state === undefined) throw new TypeError(`'next' called on an object that is not a ${name} Iterator`)
        const pair = state.pairs()[state.at]
        if (pair === undefined) return { value: undefined, done: true }
        state.at++
        const { kind } = state
        return { value: kind === 'key' ? pair[0] : kind === 'value' ? pair[1] : [pair[0], pair[1]], done: false }
      }
    },
    [Symbol.toStringTag]: { configurable: true, value: `${name} Iterator` }
  }) as object
  return (pairs, kind) => {
    const made = Object.create(prototype) as IterableIterator<unknown>
    states.set(made, { pairs, kind, at: 0 })
    return made
  }
}

/** An accessor that only an instance has, as Web IDL has attributes. */
function attribute (get: (this: unknown) => unknown, isMade: (value: unknown) => boolean): PropertyDescriptor {
  const guarded = function (this: unknown): unknown {
    if (!isMade(this)) throw illegal()
    return get.call(this)
  }
  return { get: Object.defineProperty(guarded, 'name', { value: get.name }) }
}

/** Makes methods and accessors enumerable, and gives the class its name, as Web IDL has interfaces; `isMade`: whether a value is an
 * instance. */
export function asInterface (made: { prototype: object; name: string }, isMade?: (value: unknown) => boolean): void {
  for (const target of [made.prototype, made]) {
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(target))) {
      if (key === 'constructor' || key === 'prototype' || key === 'name' || key === 'length') continue
      const get = isMade !== undefined && property.get !== undefined && target !== made ? attribute(property.get, isMade) : null
      Object.defineProperty(target, key, { ...property, ...get, enumerable: true })
    }
  }
  Object.defineProperty(made.prototype, Symbol.toStringTag, { value: made.name, configurable: true })
}

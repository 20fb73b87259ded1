// `instanceof` of Node.js's own classes: an instance of ours passes it. Node.js loads all of its fetch with the first of its
// classes that is looked at (19 MiB of resident memory, 30 to 40 ms), so that the link is made when a program looks at one,
// which is before it can test for it. From Node.js 22 on the properties are lazy data, whose descriptors cannot be read without
// that load: there the first instance of ours loads it.

import * as workers from 'node:worker_threads'

type ClassName = 'Headers' | 'Request' | 'Response' | 'FormData'

type Made = { prototype: object }

/** Sets the prototype behind ours; a class that was replaced by ours needs none. */
function join (own: Made, found: unknown): void {
  if (typeof found !== 'function' || found === own || found.prototype === own.prototype) return
  const theirs = (found as unknown as Made).prototype
  if (Object.getPrototypeOf(own.prototype) === Object.prototype && !Object.prototype.isPrototypeOf.call(own.prototype, theirs)) Object.setPrototypeOf(own.prototype, theirs)
}

/** The links that are not made yet. */
const pending = new Set<() => void>()
/** Makes them all, before ours take the place of the global classes. */
export function linkAll (): void { for (const link of pending) link() }

/** A function that sees to it that instances of `own` are instances of the global class of that name too, from its first call
 * on. */
export function linked (name: ClassName, own: () => Made): () => void {
  let isDone = false
  const link = (): void => {
    if (isDone) return
    isDone = true
    pending.delete(link)
    const property = Object.getOwnPropertyDescriptor(globalThis, name)
    const { get } = property ?? {}
    if (get === undefined || property?.configurable !== true) return join(own(), property?.value)
    const set = (value: unknown): void => { Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false }) }
    const look = (): unknown => {
      const found = get.call(globalThis) as unknown
      join(own(), found)
      // Node.js's own accessor defines the class in its place; another's may not.
      if (Object.getOwnPropertyDescriptor(globalThis, name)?.get === look) set(found)
      return found
    }
    Object.defineProperty(globalThis, name, { get: look, set, configurable: true, enumerable: false })
  }
  pending.add(link)
  return link
}

/** Marks an object as one that `structuredClone` and `postMessage` refuse, as Node.js's own classes are: a copy would have
 * nothing of it. Lines before 22.10 cannot. */
export const uncloneable = (workers as { markAsUncloneable?: (object: object) => void }).markAsUncloneable ?? ((_: object): void => {})

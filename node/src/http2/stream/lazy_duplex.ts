// A Duplex that is initialised when a member that needs its state is first used.

import { Duplex, Readable, Writable } from 'node:stream'
import { pipeFile, unpipeFile, type WrittenPieces } from './piped_file'

/** The members of a Duplex in fact. */
export const readableOf = Object.getOwnPropertyDescriptor(Readable.prototype, 'readable')!
export const writableLengthOf = (Object.getOwnPropertyDescriptor(Duplex.prototype, 'writableLength') ?? Object.getOwnPropertyDescriptor(Writable.prototype, 'writableLength'))!
/** The write and the end of a Duplex in fact. */
export const longWrite = Duplex.prototype.write as (...given: unknown[]) => boolean
export const longEnd = Duplex.prototype.end as (...given: unknown[]) => unknown

/** A stream whose Duplex is initialised by `$become`. */
interface LazyDuplex extends Duplex {
  $become: (isHeard?: boolean) => void
  readonly $written: WrittenPieces
}

/** Makes `prototype` one of Duplex, whose members that need its state call `$become` when they are first touched. */
export function makeLazy (prototype: object): void {
  const { write: ownWrite } = prototype as { write: unknown }
  Object.setPrototypeOf(prototype, Duplex.prototype)
  for (const name of ['_readableState', '_writableState']) {
    Object.defineProperty(prototype, name, {
      get (this: LazyDuplex) {
        this.$become()
        return Object.hasOwn(this, name) ? this[name as '_readableState'] : undefined
      },
      set (this: LazyDuplex, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
      },
      configurable: true
    })
  }
  // The listener of errors is one of the Duplex.
  Object.defineProperty(prototype, 'emit', {
    value (this: LazyDuplex, event: string, ...given: unknown[]) {
      if (event === 'error') this.$become()
      else if (event === 'pipe') pipeFile(given[0], this, this.$written, ownWrite)
      else if (event === 'unpipe') unpipeFile(given[0] as object)
      return Duplex.prototype.emit.call(this as unknown as Duplex, event, ...given)
    },
    writable: true,
    configurable: true
  })
  for (const name of ['on', 'addListener', 'prependListener'] as const) {
    Object.defineProperty(prototype, name, {
      value (this: LazyDuplex, event: string, listener: () => void) {
        this.$become(true)
        return (Duplex.prototype[name] as (event: string, listener: () => void) => unknown).call(this, event, listener)
      },
      writable: true,
      configurable: true
    })
  }
}

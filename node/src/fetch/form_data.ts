// The class `FormData` (https://xhr.spec.whatwg.org/#interface-formdata).

import { File } from 'node:buffer'
import { inspect, type InspectOptions } from 'node:util'
import { linked, uncloneable } from './webidl/built_in'
import { mustBeFunction, needs, receiverState, scalarString, shown } from './webidl/convert'
import { asInterface, iteratorsOf } from './webidl/iterator'

const link = linked('FormData', () => FormData)
export type Entry = string | File
const iterators = iteratorsOf<Entry>('FormData')

/** Whether a value is a Blob, of any package. */
export function isBlob (value: unknown): value is Blob {
  if (typeof value !== 'object' || value === null) return false
  const { [Symbol.toStringTag]: tag, arrayBuffer, stream } = value as Partial<Blob> & { [Symbol.toStringTag]?: string }
  return (tag === 'Blob' || tag === 'File') && typeof arrayBuffer === 'function' && typeof stream === 'function'
}

let entriesIn: (form: object) => [string, Entry][] | undefined

/** The entries of the receiver of a call, as they are then. */
function mustBeForm (form: unknown): [string, Entry][] {
  return receiverState(typeof form === 'object' && form !== null ? entriesIn(form) : undefined)
}

function pairsOf (form: unknown): () => [string, Entry][] {
  mustBeForm(form)
  return () => mustBeForm(form)
}

/** Entries of a form. */
export class FormData {
  #entries: [string, Entry][] = []

  static {
    entriesIn = form => #entries in form ? form.#entries : undefined
  }

  constructor (form: unknown = undefined) {
    link()
    uncloneable(this)
    if (form !== undefined) throw new TypeError('FormData constructor: Argument 1 could not be converted to: undefined.')
  }

  append (name: string, value: unknown, filename?: string): void {
    mustBeForm(this)
    needs(arguments.length, 2, 'FormData.append')
    this.#entries.push(entryOf('FormData.append', name, value, filename, arguments.length))
  }

  delete (name: string): void {
    mustBeForm(this)
    needs(arguments.length, 1, 'FormData.delete')
    const key = scalarString(name)
    this.#entries = this.#entries.filter(([one]) => one !== key)
  }

  get (name: string): Entry | null {
    mustBeForm(this)
    needs(arguments.length, 1, 'FormData.get')
    const key = scalarString(name)
    return this.#entries.find(([one]) => one === key)?.[1] ?? null
  }

  getAll (name: string): Entry[] {
    mustBeForm(this)
    needs(arguments.length, 1, 'FormData.getAll')
    const key = scalarString(name)
    return this.#entries.filter(([one]) => one === key).map(([, value]) => value)
  }

  has (name: string): boolean {
    mustBeForm(this)
    needs(arguments.length, 1, 'FormData.has')
    const key = scalarString(name)
    return this.#entries.some(([one]) => one === key)
  }

  set (name: string, value: unknown, filename?: string): void {
    mustBeForm(this)
    needs(arguments.length, 2, 'FormData.set')
    const entry = entryOf('FormData.set', name, value, filename, arguments.length)
    const at = this.#entries.findIndex(([one]) => one === entry[0])
    if (at === -1) return void this.#entries.push(entry)
    this.#entries = this.#entries.filter(([one], index) => index < at || one !== entry[0])
    this.#entries.splice(at, 0, entry)
  }

  forEach (call: (value: Entry, name: string, parent: FormData) => void, receiver?: unknown): void {
    mustBeForm(this)
    needs(arguments.length, 1, 'FormData.forEach')
    mustBeFunction(call, 'FormData')
    for (const [name, value] of this.entries()) call.call(receiver, value, name, this)
  }

  keys (): IterableIterator<string> { return iterators(pairsOf(this), 'key') as IterableIterator<string> }
  values (): IterableIterator<Entry> { return iterators(pairsOf(this), 'value') as IterableIterator<Entry> }
  entries (): IterableIterator<[string, Entry]> { return iterators(pairsOf(this), 'key+value') as IterableIterator<[string, Entry]> }
  declare [Symbol.iterator]: () => IterableIterator<[string, Entry]>

  [inspect.custom] (_: number, options: InspectOptions): string {
    // Without a prototype, so that no name of an entry means something else; the words that say so are left out.
    const shown = Object.create(null) as Record<string, unknown>
    for (const name of this.keys()) {
      const all = this.getAll(name)
      shown[name] = all.length === 1 ? all[0] : all
    }
    return `FormData ${inspect(shown, options).replace('[Object: null prototype] ', '')}`
  }
}

asInterface(FormData)
Object.defineProperty(FormData.prototype, Symbol.iterator, { value: FormData.prototype.entries, writable: true, configurable: true })
for (const [key, length] of [['append', 2], ['set', 2], ['forEach', 1]] as const) Object.defineProperty(FormData.prototype[key], 'length', { value: length })

/** The standard's "create an entry". */
function entryOf (call: string, name: unknown, value: unknown, filename: string | undefined, count: number): [string, Entry] {
  const key = scalarString(name)
  if (!isBlob(value)) {
    if (count > 2 && filename !== undefined) throw new TypeError(`${call}: Expected value ("${shown(value)}") to be an instance of Blob.`)
    return [key, scalarString(value)]
  }
  if (value instanceof File && filename === undefined) return [key, value]
  const { name: own, lastModified } = value as Partial<File>
  const title = filename === undefined ? own ?? 'blob' : scalarString(filename)
  const options = { type: value.type, ...(typeof lastModified === 'number' && { lastModified }) }
  if (value instanceof Blob && !('pieces' in value)) return [key, new File([value as never], title, options)]
  // One of another package, or a file of `serve`, cannot be a part of Node.js's own.
  return [key, value as unknown as File]
}

// The class `Headers` (https://fetch.spec.whatwg.org/#headers-class).

import { inspect, types, type InspectOptions } from 'node:util'
import { linked, uncloneable } from '../webidl/built_in'
import { byteString, mustBeFunction, needs, receiverState, shown } from '../webidl/convert'
import { HeaderList, nameOf, valueOf } from './header_list'
import { asInterface, iteratorsOf } from '../webidl/iterator'

/** The guards of the standard that Node.js has: forbidden names are a browser's protection of its user. */
export type Guard = 'none' | 'immutable'

const link = linked('Headers', () => Headers)
const iterators = iteratorsOf<string>('Headers')
/** The first argument by which this package makes one over a list. */
const OVER = Symbol('over a list')

let listOfHeaders: (headers: Headers) => HeaderList
let hasList: (value: object) => value is Headers

/** The list of the receiver of a call. */
function listHere (headers: unknown): HeaderList { return receiverState(listOf(headers)) }

function pairsOf (headers: Headers): () => [string, string][] {
  const list = listHere(headers)
  return () => list.sorted()
}

/** Fields of a request or a response. */
export class Headers {
  readonly #list: HeaderList
  readonly #guard: Guard

  static {
    listOfHeaders = headers => headers.#list
    hasList = (value): value is Headers => #list in value
  }

  constructor (init: unknown = undefined, list?: HeaderList, guard: Guard = 'none') {
    link()
    uncloneable(this)
    if (init === OVER) {
      this.#list = list!
      this.#guard = guard
      return
    }
    this.#list = new HeaderList()
    this.#guard = 'none'
    if (init !== undefined) fill(this.#list, init)
  }

  append (name: string, value: string): void {
    const list = listHere(this)
    needs(arguments.length, 2, 'Headers.append')
    const key = byteString(name, 'Headers.append: name')
    const text = byteString(value, 'Headers.append: value')
    const normal = valueOf(text, 'Headers.append')
    const lower = nameOf(key, 'Headers.append')
    this.#mustBeMutable()
    list.append(key, lower, normal)
  }

  delete (name: string): void {
    const list = listHere(this)
    needs(arguments.length, 1, 'Headers.delete')
    const lower = nameOf(byteString(name, 'Headers.delete: name'), 'Headers.delete')
    this.#mustBeMutable()
    if (list.has(lower)) list.delete(lower)
  }

  get (name: string): string | null {
    const list = listHere(this)
    needs(arguments.length, 1, 'Headers.get')
    return list.get(nameOf(byteString(name, 'Headers.get: name'), 'Headers.get'))
  }

  has (name: string): boolean {
    const list = listHere(this)
    needs(arguments.length, 1, 'Headers.has')
    return list.has(nameOf(byteString(name, 'Headers.has: name'), 'Headers.has'))
  }

  set (name: string, value: string): void {
    const list = listHere(this)
    needs(arguments.length, 2, 'Headers.set')
    const key = byteString(name, 'Headers.set: name')
    const text = byteString(value, 'Headers.set: value')
    const normal = valueOf(text, 'Headers.set')
    const lower = nameOf(key, 'Headers.set')
    this.#mustBeMutable()
    list.set(key, lower, normal)
  }

  getSetCookie (): string[] { return listHere(this).cookies() }

  forEach (call: (value: string, name: string, parent: Headers) => void, receiver?: unknown): void {
    const pairs = pairsOf(this)
    needs(arguments.length, 1, 'Headers.forEach')
    mustBeFunction(call, 'Headers')
    for (const [name, value] of iterators(pairs, 'key+value')) call.call(receiver, value, name, this)
  }

  keys (): IterableIterator<string> { return iterators(pairsOf(this), 'key') as IterableIterator<string> }
  values (): IterableIterator<string> { return iterators(pairsOf(this), 'value') as IterableIterator<string> }
  entries (): IterableIterator<[string, string]> { return iterators(pairsOf(this), 'key+value') as IterableIterator<[string, string]> }
  declare [Symbol.iterator]: () => IterableIterator<[string, string]>

  #mustBeMutable (): void { if (this.#guard === 'immutable') throw new TypeError('immutable') }

  [inspect.custom] (_: number, options: InspectOptions): string {
    const printed = new Map<string, [string, string | null]>()
    for (const { lower, name } of this.#list.fields) if (!printed.has(lower)) printed.set(lower, [name, this.#list.get(lower)])
    return `Headers ${inspect(Object.fromEntries(printed.values()), options)}`
  }
}

asInterface(Headers)
Object.defineProperty(Headers.prototype, Symbol.iterator, { value: Headers.prototype.entries, writable: true, configurable: true })
for (const [key, length] of [['append', 2], ['set', 2], ['forEach', 1]] as const) Object.defineProperty(Headers.prototype[key], 'length', { value: length })

/** `Headers` over a list that is shared with its message. */
export function headersOver (list: HeaderList, guard: Guard): Headers { return new (Headers as new (...args: unknown[]) => Headers)(OVER, list, guard) }

/** The list of one of ours; undefined: it is not one. */
export function listOf (value: unknown): HeaderList | undefined {
  return typeof value === 'object' && value !== null && hasList(value) ? listOfHeaders(value) : undefined
}

/** Adds what a caller gave (the standard's "fill"). `isLoose`: a value that is an array is one field for each of its
 * values, as a response of `serve` takes it. */
export function fill (list: HeaderList, init: unknown, isLoose = false): void {
  if (init === null || (typeof init !== 'object' && typeof init !== 'function')) {
    throw new TypeError('Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.')
  }
  const method = (init as Partial<Iterable<unknown>>)[Symbol.iterator]
  const known = method === Headers.prototype.entries ? listOf(init) : undefined
  if (known !== undefined) {
    // As Node.js's own fetch, for servers that go by the spelling of names.
    for (const { name, lower, value } of known.joined()) list.append(name, lower, value)
    if (known.isReceived) list.isReceived = true
    return
  }
  if (method != null) return fillPairs(list, init as Iterable<unknown>)
  fillRecord(list, init as Record<string, unknown>, isLoose)
}

function add (list: HeaderList, key: unknown, value: unknown): void {
  const name = byteString(key, 'Headers constructor: name')
  const text = byteString(value, `Headers constructor: init["${name}"]`)
  const normal = valueOf(text)
  list.append(name, nameOf(name), normal)
}

/** Pairs are converted before the first is added (Web IDL, sequence). */
function fillPairs (list: HeaderList, init: Iterable<unknown>): void {
  const pairs: string[][] = []
  let at = 0
  for (const pair of init) {
    const where = `Headers constructor: init[${at++}]`
    const isPair = typeof pair === 'object' && pair !== null && typeof (pair as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function'
    if (!isPair) throw new TypeError(`${where} (${shown(pair)}) is not iterable.`)
    pairs.push([...pair as Iterable<unknown>].map((one, index) => byteString(one, `${where}[${index}]`)))
  }
  for (const pair of pairs) {
    if (pair.length !== 2) throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${pair.length}.`)
    add(list, pair[0], pair[1])
  }
}

function symbolName (key: symbol): TypeError { return new TypeError(`Headers constructor: Key ${String(key)} in init is a symbol, which cannot be converted to a ByteString.`) }

/** Web IDL, record: own enumerable properties, each of them looked at before it is read. */
function fillRecord (list: HeaderList, init: Record<string, unknown>, isLoose: boolean): void {
  if (!types.isProxy(init)) {
    for (const name of Object.keys(init)) {
      const value = init[name]
      if (isLoose && Array.isArray(value)) for (const one of value) add(list, name, one)
      else add(list, name, value)
    }
    for (const key of Object.getOwnPropertySymbols(init)) if (Object.prototype.propertyIsEnumerable.call(init, key)) throw symbolName(key)
    return
  }
  const converted: [string, string][] = []
  for (const key of Reflect.ownKeys(init)) {
    if (Reflect.getOwnPropertyDescriptor(init, key)?.enumerable !== true) continue
    if (typeof key === 'symbol') throw symbolName(key)
    const name = byteString(key, 'the name of a header')
    converted.push([name, byteString(init[key], `the value of the header ${name}`)])
  }
  for (const [name, value] of converted) add(list, name, value)
}

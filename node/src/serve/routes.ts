// Routes: maps a path and a method to a handler or response. Exact segments come before parameters,
// parameters before the rest (`*`), at each segment.

import { createHash } from 'node:crypto'
import querystring from 'node:querystring'
import { inspect, types } from 'node:util'
import { Headers, Response } from '../fetch/faces'
import type { Exchange } from '../server/exchange'
import { canonicalPath } from '../syntax/url_path'
import { refusedBy, type Validators } from './files/file_plan'
import { FolderRoute, type RouteFolder } from './files/folders'
import { FileBody } from './web/file_body'
import { isFile, isResponse } from './web/response'

const OK = 200
const NOT_MODIFIED = 304
const PRECONDITION_FAILED = 412

/** The parameters in a route's path: `ParamsOf<'/users/:id'>` is `{ id: string }`. */
export type ParamsOf<Path extends string> =
  string extends Path ? Record<string, string>
    : Path extends `${string}:${infer Name}/${infer Rest}` ? { [K in Name]: string } & ParamsOf<`/${Rest}`>
      : Path extends `${string}:${infer Name}` ? { [K in Name]: string } : {}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS'

/** A handler, or an answer that is made once, a file too; `H` is the handler's type. */
type RouteValue<H> = H | Response | globalThis.Response | FileBody

/** The value of a path: for every method, or by method; a folder, for GET and HEAD; `false`: none, and `fetch` is called. */
export type Route<H> = RouteValue<H> | { [M in Method]?: RouteValue<H> } | RouteFolder | false

type Handler = (request: never, server: never) => unknown
/** The source of the answers of a route. */
type Value = Handler | Fixed | FolderRoute

/** The match of a request. */
interface Match { value: Value; params: Record<string, string> }

interface Entry { path: string; names: string[]; all: Value | null; methods: Map<string, Value> | null }
interface Node { next: Map<string, Node>; param: Node | null; entry: Entry | null; rest: Entry | null }

const METHODS = new Set<string>(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])

/**
 * An answer that is the same each time, with an etag: a GET or HEAD with conditions gets a 304 or a 412 (RFC 9110 section 13.2.2).
 * A file has the conditions of files.
 */
export class Fixed {
  private ready: Response | null = null
  private reading: Promise<Response> | null = null
  /** Null: conditions do not count. */
  private validators: Validators | null = null
  /** The answers in place of `ready`, by status. */
  private readonly refusals = new Map<number, Response>()
  readonly isFile: boolean

  constructor (private readonly given: Response | globalThis.Response) {
    if (given.bodyUsed) throw new TypeError('the body of a Response among the routes was used already')
    this.isFile = isFile(given)
    if (this.isFile) this.ready = given as Response
  }

  /** The answer; its body is read when the first request asks for it, and kept. */
  get (exchange: Exchange): Response | Promise<Response> {
    if (this.ready !== null) return this.chosen(this.ready, exchange)
    this.reading ??= this.read()
    return this.reading.then(ready => this.chosen(ready, exchange))
  }

  private chosen (ready: Response, exchange: Exchange): Response {
    const { method } = exchange
    if (this.validators === null || (method !== 'GET' && method !== 'HEAD')) return ready
    const refused = refusedBy(exchange, this.validators)
    return refused === null ? ready : this.refusals.get(refused)!
  }

  private async read (): Promise<Response> {
    // A copy, because one Response may be the answer of several routes.
    const given = this.given.clone()
    const { status, statusText } = given
    const headers = new Headers(given.headers)
    const bytes = given.body === null ? null : new Uint8Array(await given.arrayBuffer())
    if (bytes !== null && status === OK && !headers.has('etag')) headers.set('etag', etagOf(bytes))
    this.ready = new Response(bytes, { status, statusText, headers })
    const [etag, modified] = [headers.get('etag'), headers.get('last-modified')]
    if (status === OK && (etag ?? modified) !== null) {
      this.validators = { etag, modified }
      headers.delete('content-length')
      this.refusals.set(NOT_MODIFIED, new Response(null, { status: NOT_MODIFIED, headers }))
      this.refusals.set(PRECONDITION_FAILED, new Response(null, { status: PRECONDITION_FAILED, headers: etag === null ? {} : { etag } }))
    }
    return this.ready
  }
}

/** A tag of the bytes alone, so that it is the same on every machine and after a restart. */
const etagOf = (bytes: Uint8Array): string => `"${createHash('sha1').update(bytes).digest('base64url')}"`

function valueOf (value: unknown, where: string): Handler | Fixed {
  if (typeof value === 'function') return value as Handler
  if (isResponse(value)) {
    if (value.status === 0) throw new TypeError(`${where} is a Response of the status 0, as Response.error() makes one; it must have one from 200 to 599`)
    return new Fixed(value)
  }
  if (value instanceof FileBody) return new Fixed(new Response(value))
  throw new TypeError(`${where} is ${inspect(value, { depth: 0 })}; it must be a function, a Response, a file, or false`)
}

function entryOf (path: string, route: unknown): Entry {
  const where = `routes[${JSON.stringify(path)}]`
  const entry: Entry = { path, names: [], all: null, methods: null }
  if (typeof route !== 'object' || route === null || isResponse(route) || route instanceof FileBody) return { ...entry, all: valueOf(route, where) }
  const wrong = Array.isArray(route) ? 'a list' : types.isPromise(route) ? 'a promise' : Object.keys(route).length === 0 ? 'without methods' : null
  if (wrong !== null) throw new TypeError(`${where} is ${wrong}; it must be a function, a Response, a file, false, or an object of these by method`)
  entry.methods = new Map()
  if ('dir' in route) {
    entry.methods.set('GET', new FolderRoute(path, route as RouteFolder, where))
    return entry
  }
  for (const [method, value] of Object.entries(route)) {
    if (!METHODS.has(method)) throw new TypeError(`${where} has ${inspect(method)}; the methods of a route are ${[...METHODS].join(', ')}`)
    if (value !== undefined && value !== false) entry.methods.set(method, valueOf(value, `${where}.${method}`))
  }
  return entry
}

const newNode = (): Node => ({ next: new Map(), param: null, entry: null, rest: null })

/** A segment as it stands in the path of a request. */
const encoded = (segment: string): string => canonicalPath(new URL(`http://a/${segment.replace(/[?#]/g, encodeURIComponent)}`).pathname.slice(1))

/** Parameters come decoded; what is no UTF-8 comes with U+FFFD in its place. */
function decoded (segment: string): string { return segment.includes('%') ? querystring.unescape(segment) : segment }

export class Router {
  /** Paths without parameters. */
  private readonly exact = new Map<string, Entry>()
  private readonly root = newNode()
  private isExact = true

  constructor (routes: object) {
    for (const [path, route] of Object.entries(routes)) if (route !== false && route !== undefined) this.add(path, route)
  }

  private add (path: string, route: unknown): void {
    if (!path.startsWith('/')) throw new TypeError(`the path of a route is ${JSON.stringify(path)}; it must begin with a slash`)
    const entry = entryOf(path, route)
    const segments = path.slice(1).split('/')
    const star = segments.findIndex(segment => segment.includes('*'))
    if (star !== -1 && (star !== segments.length - 1 || segments[star] !== '*')) throw new TypeError(`the path of a route is ${JSON.stringify(path)}; a star must be its whole last segment`)
    if (star === -1 && !segments.some(segment => segment.startsWith(':'))) return void this.exact.set(`/${segments.map(encoded).join('/')}`, entry)
    this.isExact = false
    let node = this.root
    for (const segment of star === -1 ? segments : segments.slice(0, -1)) node = this.step(node, segment, entry)
    node[star === -1 ? 'entry' : 'rest'] = entry
  }

  private step (node: Node, segment: string, entry: Entry): Node {
    if (segment.startsWith(':')) {
      const name = segment.slice(1)
      if (name === '' || entry.names.includes(name)) throw new TypeError(`the path of a route is ${JSON.stringify(entry.path)}; each parameter must have a name of its own`)
      entry.names.push(name)
      return (node.param ??= newNode())
    }
    const key = encoded(segment)
    let next = node.next.get(key)
    if (next === undefined) node.next.set(key, next = newNode())
    return next
  }

  /**
   * The match of the request with this method and path; methods: those of the path, where the
   * request's is not one of them; undefined: no route has the path.
   */
  find (method: string, path: string): Match | { methods: string[] } | undefined {
    const methods: string[] = []
    const exact = this.exact.get(path)
    const found = exact === undefined ? undefined : chosen(exact, [], method, methods)
    if (found !== undefined) return found
    if (!this.isExact) {
      const match = search(this.root, path.slice(1).split('/'), 0, [], method, methods)
      if (match !== undefined) return match
    }
    return methods.length === 0 ? undefined : { methods }
  }
}

/** The entry's value for the method; else its methods are added to `methods`. */
function chosen (entry: Entry, values: string[], method: string, methods: string[]): Match | undefined {
  // A GET answers HEAD too: the engine leaves the body out (RFC 9110 section 9.3.2).
  const value = entry.all ?? entry.methods?.get(method) ?? (method === 'HEAD' ? entry.methods?.get('GET') : undefined)
  if (value == null) {
    methods.push(...entry.methods?.keys() ?? [])
    return undefined
  }
  const params: Record<string, string> = {}
  for (const [at, name] of entry.names.entries()) Object.defineProperty(params, name, { value: decoded(values[at]!), writable: true, enumerable: true, configurable: true })
  return { value, params }
}

function search (node: Node, segments: string[], at: number, values: string[], method: string, methods: string[]): Match | undefined {
  const end = at === segments.length
  if (end) return node.entry === null ? undefined : chosen(node.entry, values, method, methods)
  const segment = segments[at]!
  const next = node.next.get(segment)
  const found = next === undefined ? undefined : search(next, segments, at + 1, values, method, methods)
  if (found !== undefined) return found
  const taken = node.param === null || segment === '' ? undefined : search(node.param, segments, at + 1, [...values, segment], method, methods)
  if (taken !== undefined) return taken
  return node.rest === null ? undefined : chosen(node.rest, values, method, methods)
}

// `serve({ fetch })`: a web-standard handler on HTTP/1.1, HTTP/2 and HTTP/3.

import cluster from 'node:cluster'
import { inspect, type InspectOptions } from 'node:util'
import { errorOf, InvalidArgumentError } from '../errors'
import { listenError, NO_PORT } from './listen_error'
import { Flags, INTERNAL_ERROR } from './border'
import type { Exchange } from './exchange'
import { textOf } from './fields'
import { RequestInfo, type TrailersInit } from './info'
import { identityGiven, listenTlsOf, type IdentityOptions, type ServeTls } from './identity'
import { Listener, type Address, type Failure, type ListenOptions } from './listener'
import { BodyTooLargeError, Request } from './request'
import { encode, Response, streamOfFile, type Encoded } from './response'

/** Bytes of an answer's body that may wait for the connection before its source does. */
const PENDING_BYTES_MAX = 256 * 1024
const PAYLOAD_TOO_LARGE = 413

/** Where the pieces of a body come from. */
type Source = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export type Answered = Response | globalThis.Response
/** Nothing is returned by a handler that has called `info.upgrade()`. */
export type Fetch = (request: globalThis.Request, info: RequestInfo) => Answered | undefined | Promise<Answered | undefined>

export interface ServeOptions extends Omit<ListenOptions, 'tls'> {
  hostname?: string
  /** The same, by the name that `listen` of node:net has for it. */
  host?: string
  tls?: ServeTls
  fetch: Fetch
  /** What is answered when `fetch` fails. Default: the error is written to stderr, and 500. It is also
   * called for an answer that fails behind its head, which is cut; what it gives is ignored then. */
  error?: (error: unknown, request: globalThis.Request) => Answered | Promise<Answered>
  /** Bytes of a request's body. A longer one that says its length is answered with 413, and the
   * handler is not called; one that does not say it fails when it is read too far, and with it the
   * handler, which is a 413 where `error` says nothing else. Default: no limit. */
  maxRequestBodySize?: number
  /** Ends the server when it aborts: what is open finishes. */
  signal?: AbortSignal
}

/** Node.js 20 has it by this name. */
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')

/** Names of options. */
const NAMES = new Set([
  'fetch', 'error', 'signal', 'hostname', 'host', 'port', 'path', 'readableAll', 'writableAll', 'fd', 'fdIsLent', 'sharesPort', 'backlog', 'tls',
  'maxRequestBodySize', 'http1', 'http2', 'http3', 'extendedConnect', 'frameEvents', 'spelledNames', 'connectionsMax', 'limits', 'timeouts', 'http1Timeouts', 'windows'
])
const ADVERTISED = [...NAMES].filter(name => !['fdIsLent', 'frameEvents', 'spelledNames', 'http1Timeouts'].includes(name))

function checkOptions (options: unknown): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`serve takes an object of options with a function fetch; it was given ${inspect(options, { depth: 0 })}`)
  for (const name of Object.keys(options)) {
    if (!NAMES.has(name)) throw new InvalidArgumentError(`serve has no option ${name}; it has ${ADVERTISED.join(', ')}`)
  }
}

const PORT_MAX = 65_535
/** A port as a number, or as the text of one, as environments have it. */
function portOf (given: unknown): number {
  const port = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    throw new RangeError(`port is ${inspect(given)}; it must be an integer from 0 to ${PORT_MAX}`)
  }
  return port
}

/** What could not be listened on: the system's own errors are those of node's `listen`. */
function failedListen (failure: Failure, host: string | undefined, port: number | undefined, path: string | undefined): Error {
  if (failure.system == null) return errorOf(failure, false)
  return listenError(failure, path ?? host ?? null, path === undefined ? port ?? 0 : NO_PORT)
}

/** A server that serves. */
export class Server {
  /** When it has ended. */
  readonly closed: Promise<void>
  private readonly listener: Listener
  /** Null where there is no port. */
  private readonly where: Address | null
  private readonly bodyMax: number

  constructor (private readonly options: ServeOptions) {
    checkOptions(options)
    const { fetch, error, signal, hostname, host = hostname, maxRequestBodySize, tls, port, ...others } = options
    // Workers of a cluster share their ports.
    const isShared = cluster.isWorker && others.path === undefined && others.fd === undefined
    const rest = { ...(isShared ? { sharesPort: true } : {}), ...others, ...(port === undefined ? {} : { port: portOf(port) }) }
    if (hostname !== undefined && host !== hostname) throw new TypeError(`hostname is ${hostname} and host is ${host}; they must be the same, or one of them absent`)
    if (typeof fetch !== 'function') throw new TypeError('fetch must be a function')
    if (error !== undefined && typeof error !== 'function') throw new TypeError('error must be a function')
    this.bodyMax = maxRequestBodySize ?? Infinity
    if (typeof this.bodyMax !== 'number' || !(this.bodyMax >= 0)) {
      throw new RangeError(`maxRequestBodySize is ${String(maxRequestBodySize)}; it must be a number of bytes, at least 0`)
    }
    let told = (): void => {}
    this.closed = new Promise(resolve => { told = resolve })
    this.listener = new Listener({ onRequest: exchange => { this.handle(exchange) }, onClosed: () => { told() } })
    try {
      this.listener.listen({ ...rest, ...(host === undefined ? {} : { host }), ...(tls === undefined ? {} : { tls: listenTlsOf(tls) }) })
    } catch (failure) {
      throw failure instanceof Error ? failure : failedListen(failure as Failure, host, rest.port, options.path)
    }
    this.where = this.listener.address()
    if (signal != null) this.follow(signal)
  }

  private follow (signal: AbortSignal): void {
    const onAbort = (): void => { void this.close() }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    void this.closed.then(() => { signal.removeEventListener('abort', onAbort) })
  }

  /** Undefined on a Unix socket, as the port is. */
  get hostname (): string | undefined { return this.where?.address }
  get port (): number | undefined { return this.where?.port }
  /** Of a server that was given one. */
  get path (): string | undefined { return this.options.path }
  /** What to ask for; on a Unix socket through it, by the name of this machine. */
  get url (): string {
    const scheme = this.options.tls === undefined ? 'http' : 'https'
    if (this.where === null) return `${scheme}://localhost/`
    const { address, port, family } = this.where
    const any = address === '::' || address === '0.0.0.0'
    const host = any ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
    return `${scheme}://${host}:${port}/`
  }

  /** Takes nobody new and lets what is open finish: at most so long, where that is said, then cuts
   * it. Resolves when all has ended. */
  async close (options: { deadlineMs?: number } = {}): Promise<void> {
    this.listener.close(options.deadlineMs)
    await this.closed
  }

  /** Ends at once. */
  async destroy (): Promise<void> {
    this.listener.destroy()
    await this.closed
  }

  /** Shows another certificate from the next handshake on: to everybody, or to who asks for `name`. */
  setIdentity (identity: IdentityOptions, name?: string): void {
    try {
      this.listener.setIdentity(identityGiven(identity, 'the identity'), name)
    } catch (failure) {
      throw failure instanceof Error ? failure : errorOf(failure as Failure, false)
    }
  }

  async [asyncDispose] (): Promise<void> { await this.close() }

  [inspect.custom] (_: number, options: InspectOptions): string {
    const { hostname, port, path, url } = this
    return `Server ${inspect(path === undefined ? { hostname, port, url } : { path }, options)}`
  }

  ref (): this { this.listener.ref(); return this }
  unref (): this { this.listener.unref(); return this }

  private handle (exchange: Exchange): void {
    if (exchange.hasBody && Number(exchange.field('content-length')) > this.bodyMax) {
      return exchange.answer(PAYLOAD_TOO_LARGE, '', null, Flags.Quiet)
    }
    const request = new Request(exchange, this.bodyMax)
    let answer: ReturnType<Fetch>
    try {
      answer = this.options.fetch(request as unknown as globalThis.Request, new RequestInfo(exchange, request))
      // The common case costs no promise.
      if (answer instanceof Response || !isThenable(answer)) return this.answer(exchange, request, answer)
    } catch (error) {
      return this.fail(exchange, request, error)
    }
    const fail = (error: unknown): void => { this.fail(exchange, request, error) }
    try {
      answer.then(answer => {
        try {
          this.answer(exchange, request, answer)
        } catch (error) {
          fail(error)
        }
      }, fail)
    } catch (error) {
      // It is no promise of the language's.
      fail(error)
    }
  }

  /** `isHooks`: it is the hook's answer, and nobody is asked for another. */
  private answer (exchange: Exchange, request: Request, answer: Answered | undefined, isHooks = false): void {
    if (request.isLeft) return
    const encoded = encode(answer)
    const { status, fields, body, source, file } = encoded
    if (request.trailersToSend !== null) {
      return void this.stream(exchange, request, encoded, source ?? (file === null ? piecesOfWhole(body) : streamOfFile(file)), isHooks)
    }
    if (file !== null) {
      request.onFileFailedFor = error => { this.fail(exchange, request, error, isHooks) }
      return exchange.answerFile(status, fields, file.path, file.offset, file.length)
    }
    if (source !== null) return void this.stream(exchange, request, encoded, source, isHooks)
    const length = contentLengthOf(exchange, encoded)
    if (length !== null) checkContentLength(length, body === null ? 0 : Buffer.byteLength(body))
    exchange.answer(status, fields, body, request.giveUp() ? Flags.Quiet : 0)
  }

  /** The handler failed, or (`isHooks`) the hook's answer. */
  private fail (exchange: Exchange, request: Request, error: unknown, isHooks = false): void {
    if (exchange.closed) return
    if (!exchange.headSent) request.trailersToSend = null
    const { error: hook } = this.options
    const isCut = exchange.headSent
    if (isCut) exchange.reset(INTERNAL_ERROR)
    const last = (error: unknown): void => {
      if (error instanceof BodyTooLargeError) return exchange.answer(PAYLOAD_TOO_LARGE, '', null, Flags.Quiet)
      console.error(error)
      if (!isCut) exchange.answer(500, '', null)
    }
    if (hook === undefined || isHooks) return last(error)
    const hooked = async (): Promise<void> => {
      const answer = await hook(error, request as unknown as globalThis.Request)
      if (!isCut) this.answer(exchange, request, answer, true)
    }
    hooked().catch(last)
  }

  /** Sends a body piece by piece, as fast as the client takes it. */
  private async stream (exchange: Exchange, request: Request, encoded: Encoded, source: Source, isHooks: boolean): Promise<void> {
    let pieces: AsyncIterator<Uint8Array> | null = null
    const leave = (): void => {
      const left = pieces
      pieces = null
      if (left !== null) void letGo(left)
    }
    try {
      pieces = source instanceof ReadableStream ? piecesOf(source) : source[Symbol.asyncIterator]()
      // A source that waits for something else than the client hears at once that there is none.
      request.onClosedFor = leave
      if (await pump(exchange, request, encoded, pieces)) pieces = null
    } catch (error) {
      this.fail(exchange, request, error, isHooks)
    }
    leave()
  }
}

/** Sends the pieces; true: all of them. */
async function pump (exchange: Exchange, request: Request, encoded: Encoded, pieces: AsyncIterator<Uint8Array>): Promise<boolean> {
  if (exchange.closed) return false
  const { status, fields } = encoded
  const length = contentLengthOf(exchange, encoded)
  let sent = 0
  let next = pieces.next()
  let piece = await soon(next)
  let first: Buffer | null = null
  if (request.trailersToSend === null) {
    // A body that is one piece is one message, as if it had not been a stream.
    if (piece !== null && piece.done !== true) {
      first = bytesOf(piece.value)
      next = pieces.next()
      piece = await soon(next)
    }
    if (piece?.done === true) {
      if (length !== null) checkContentLength(length, first?.length ?? 0)
      exchange.answer(status, fields, first, request.giveUp() ? Flags.Quiet : 0)
      return true
    }
  }
  // What fails while nobody waits for it fails where somebody does, if ever.
  if (piece === null) Promise.resolve(next).catch(() => {})
  exchange.respond(status, fields)
  if (first !== null) {
    sent += first.length
    exchange.write(first)
  }
  for (piece ??= await next; piece.done !== true; piece = await pieces.next()) {
    const bytes = bytesOf(piece.value)
    sent += bytes.length
    if (length !== null && sent > length) checkContentLength(length, sent)
    exchange.write(bytes)
    while (exchange.pending > PENDING_BYTES_MAX && !exchange.closed) {
      await new Promise<void>(resolve => { request.onRoomFor = resolve })
    }
    if (exchange.closed) return false
  }
  if (length !== null) checkContentLength(length, sent)
  exchange.end(await trailersOf(request.trailersToSend))
  return true
}

const CONTENT_LENGTH = 'content-length\0'

/** The content-length that an answer says of the body which is sent; null: none. */
function contentLengthOf (exchange: Exchange, { status, fields }: Encoded): number | null {
  const at = fields.indexOf(CONTENT_LENGTH)
  // Most say none; elsewhere it is a part of another name.
  if (at < 0 || (at > 0 && fields[at - 1] !== '\0')) return null
  // RFC 9110 section 6.4.1: these have no body, whatever length they say.
  if (exchange.method === 'HEAD' || status === 204 || status === 304) return null
  const length = Number(fields.slice(at + CONTENT_LENGTH.length).split('\0', 1)[0])
  return Number.isSafeInteger(length) ? length : null
}

/** The engine cuts an answer that is not as long as it says; here the handler can be told. */
function checkContentLength (said: number, bytes: number): void {
  if (bytes !== said) throw new RangeError(`the content-length of the answer is ${said}, and its body has ${bytes} bytes`)
}

/** Trailers as they cross the border. */
async function trailersOf (trailers: TrailersInit | null): Promise<string> {
  if (trailers === null) return ''
  return textOf(await (typeof trailers === 'function' ? trailers() : trailers), null)
}

async function * piecesOfWhole (body: Buffer | string | null): AsyncGenerator<Uint8Array, void, undefined> {
  if (body !== null && body.length > 0) yield body as Buffer
}

/** Tells a source that the rest of it is not wanted; what it says to that concerns nobody. */
async function letGo (pieces: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await pieces.return?.(undefined)
  } catch {}
}

/** What is there before the loop turns; `null`: nothing yet, and the head must not wait for it. */
async function soon<T> (promise: Promise<T>): Promise<T | null> {
  return await Promise.race([promise, new Promise<null>(resolve => { setImmediate(resolve, null) })])
}

/** A stream's pieces. What a generator would do only once the piece is there that it waits for, `return`
 * does at once: it cancels the stream. */
function piecesOf (stream: ReadableStream<Uint8Array>): AsyncIterator<Uint8Array> {
  const reader = stream.getReader()
  return {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array>>,
    return: async () => {
      await reader.cancel()
      return { done: true, value: undefined }
    }
  }
}

function bytesOf (piece: unknown): Buffer {
  if (typeof piece === 'string') return Buffer.from(piece)
  if (piece instanceof Uint8Array) return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
  throw new TypeError(`a piece of the body is a value of the type ${typeof piece}; it must be a Uint8Array or a string`)
}

function isThenable (value: unknown): value is Promise<Answered | undefined> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Serves a web-standard handler; it listens when this returns. */
export function serve (options: ServeOptions): Server { return new Server(options) }

// The body of a response of `request`: a Readable with shortcuts for reading all of it. Bytes wait at the
// exchange until they are read.

import { AsyncResource } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { Fifo } from '../../fifo'
import { AbortError, InvalidArgumentError, RequestAbortedError } from '../../errors'
import { nextTick, setImmediate } from '../../timers'

/** Stands for a body where console.log prints one. */
class BodyReadable {}

/** Where a body's bytes come from. */
export interface BodySource {
  /** Bytes were taken: the peer may send as many more. */
  take: (bytes: number) => void
  /** Discards the rest of the body. */
  abort: (reason: Error) => void
  /** All of it was read, or it is not wanted any more. */
  onBodyClosed: () => void
}

/** Bytes that `dump` reads before it gives the exchange up, as with undici. */
const DUMPED_BYTES_MAX = 128 * 1024

/**
 * The fields in `_readableState` of a decoder that holds the first bytes of a character
 * (node:string_decoder).
 */
interface Decoder { lastNeed: number; lastTotal: number; lastChar: Buffer }

interface StreamState { _readableState: { ended: boolean, dataEmitted: boolean, decoder?: Decoder | null } }

const noop = (): void => {}
/** A resource without listeners for its destruction: the collector frees it without a hook. */
const BY_HAND = { requireManualDestroy: true }
const NO_CHUNKS: Buffer[] = []

/** A Readable that has no state yet: `Body` makes it when it is first looked at. */
const LazyReadable = Object.assign(function () {}, { prototype: Readable.prototype }) as unknown as new () => Readable
Object.setPrototypeOf(LazyReadable, Readable)

/** Characters of text by their bytes, without a byte order mark; in UTF-8 what is no character is U+FFFD. */
function decoded (bytes: Buffer, encoding: BufferEncoding | null): string {
  const hasMark = bytes.length > 2 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const rest = hasMark ? bytes.subarray(3) : bytes
  // Without an argument it is UTF-8, and no table of encodings is looked up.
  return encoding === null ? rest.toString() : rest.toString(encoding)
}

/**
 * A response's body. Bytes wait at the exchange until the body is read. `text()` and the other methods that collect take
 * them without the stream, unless the stream has listeners: its state, which costs as much as all the rest of an answer, is
 * made when something looks at it.
 */
export class Body extends LazyReadable {
  /** Not a property: all that the engine has is behind it. */
  readonly #bodySource: BodySource
  private $held = new Fifo<{ chunk: Buffer; credit: boolean }>()
  private $isEnded = false
  private $failure: Error | null = null
  /** The stream has asked for bytes. */
  private $isWanted = false
  /** All of it goes, or went, to one of the ways to all of it. */
  private $isCollected = false
  private $seen = 0
  private $web: ReadableStream<Uint8Array> | null = null
  private $collected: Buffer[] | null = null
  private $settle: ((error: Error | null) => void) | null = null
  /** Called when all of it is in the stream, or it ends otherwise. */
  private $onTaken: (() => void) | null = null
  /** The stream has a listener for its data. */
  private $isReceived = false
  private $isTapped = false
  /** Bytes that were collected in front of the first listener. */
  private $kept: Buffer[] = NO_CHUNKS

  /** The stream has its state. No private name, which a Proxy of a body would not have. */
  private $hasState = false
  /** The async context of its first listener, in which it emits what the engine gives it. */
  private $context: AsyncResource | null = null

  /** `field`: the value of a field of its head; `method`: of the request. */
  constructor (
    bodySource: BodySource,
    private readonly $field: (name: string) => string | undefined,
    private readonly $method: string | undefined,
    private readonly $highWaterMark = 64 * 1024
  ) {
    super()
    this.#bodySource = bodySource
  }

  static {
    // The state of a Readable, by which node:stream and others know one. Not an accessor of the class: some lines of
    // @types/node do not know the field, and the declarations of this package would not compile beside them.
    Object.defineProperty(Body.prototype, '_readableState', {
      get (this: Body) {
        this.$makeState()
        return (this as unknown as StreamState)._readableState
      },
      set (this: Body, value: unknown) {
        this.$hasState = true
        Object.defineProperty(this, '_readableState', { value, writable: true, enumerable: true, configurable: true })
      },
      configurable: true
    })
  }

  /** Makes the stream's state, as the constructor of a Readable does. */
  private $makeState (): void { (Readable as unknown as (this: Readable, options: object) => void).call(this, { highWaterMark: this.$highWaterMark }) }

  /** The body as a stream of the web; typed so that it is a body by undici's types, which know of none here. */
  get body (): never {
    if (this.$web === null) {
      this.$web = (ReadableStream as unknown as { from: (body: Readable) => ReadableStream<Uint8Array> }).from(this)
      // All of it is being read already.
      if (this.$isCollected) this.$web.getReader()
    }
    return this.$web as never
  }
  /** Responses of node:http have none, and a library that takes ours for one of them (got) puts its own here. */
  set body (value: never) { Object.defineProperty(this, 'body', { value, writable: true, configurable: true, enumerable: true }) }

  /** Whether all of it is given, or was, to one of the ways to all of it. */
  get $isUsedUp (): boolean { return this.$isCollected }
  /** Whether it was read, or is being read. */
  get bodyUsed (): boolean { return this.$isCollected || (this.$hasState && (this.readableDidRead || this.readableAborted)) }

  /** console.log prints the state of the stream, and nothing of the engine. */
  [inspect.custom] (): object {
    const { bodyUsed, closed, destroyed, errored, readableEnded, readableFlowing, readableHighWaterMark, readableLength } = this
    return Object.assign(new BodyReadable(), { bodyUsed, closed, destroyed, errored, readableEnded, readableFlowing, readableHighWaterMark, readableLength })
  }

  // Calls of the exchange.

  arrive (chunk: Buffer, credit: boolean): void { this.$inContext(this.$arrive, chunk, credit) }
  finish (): void { this.$inContext(this.$finish) }
  break (error: Error): void { this.$inContext(this.$break, error) }
  fail (error: Error): void { this.$inContext(this.$fail, error) }

  private $inContext<T extends unknown[]> (call: (this: Body, ...args: T) => void, ...args: T): void {
    if (this.$context === null) call.apply(this, args)
    else this.$context.runInAsyncScope(call, this, ...args)
  }

  private $arrive (chunk: Buffer, credit: boolean): void {
    this.$seen += chunk.length
    if (this.$hasState && this.destroyed) return
    if (this.$collected === null) {
      this.$held.push({ chunk, credit })
      if (this.$isWanted) this.$pour()
      return
    }
    if (credit) this.#bodySource.take(chunk.length)
    this.$collected.push(chunk)
    if (this.$isTapped) this.push(chunk)
  }

  private $finish (): void {
    this.$isEnded = true
    if (this.$collected !== null) this.$finishCollected()
    else if (this.$isWanted && this.$held.length === 0) this.push(null)
  }

  /** Whether all of it has come, and more waits than the stream buffers: with undici its connection waits then, so that its
   * dispatcher's `close` waits for the reader. */
  get isBehind (): boolean { return this.$collected === null && this.$held.length > 0 && this.$waiting >= this.$highWaterMark && !(this.$hasState && this.destroyed) }

  whenTaken (call: () => void): void { this.$onTaken = call }

  private $settleTaken (): void {
    if (this.$held.length > 0) return
    const onTaken = this.$onTaken
    this.$onTaken = null
    onTaken?.()
  }

  /** Fails a body of which a part waits for its reader: its dispatcher is destroyed. */
  private $fail (error: Error): void {
    this.$failure = error
    this.on('error', noop)
    this.destroy(error)
  }

  private $break (error: Error): void {
    if (this.$isEnded) return
    this.$isEnded = true
    this.$failure = error
    // An error without a listener must not end the process, as with undici's bodies.
    this.on('error', noop)
    if (this.$collected !== null) this.destroy(error)
    else if (this.$waiting >= this.$highWaterMark) this.$breakBehind(error)
    // A reader gets the bytes that came before; the receiver of the answer can listen in this turn.
    else setImmediate(() => { if (!this.destroyed) this.destroy(error) })
  }

  /** Bytes that wait for their reader. */
  private get $waiting (): number { return this.$hasState ? this.readableLength : this.$heldBytes }
  get $heldBytes (): number { return [...this.$held].reduce((sum, { chunk }) => sum + chunk.length, 0) }

  /** Fails behind the bytes that came before: more than the stream buffers wait for a reader that is slower than the peer,
   * and as with undici, which stops reading the connection then, it gets all of them first. */
  private $breakBehind (error: Error): void {
    this.read = (size?: number): unknown => {
      const got = super.read(size) as unknown
      const isAsking = got === null || this.readableFlowing !== false || this.listenerCount('readable') > 0
      if (isAsking && this.$held.length === 0 && this.readableLength === 0) nextTick(() => { this.destroy(error) })
      return got
    }
  }

  // A Readable's side.

  override _read (): void {
    this.$isWanted = true
    this.$pour()
  }

  private $pour (): void {
    while (this.$held.length > 0) {
      const { chunk, credit } = this.$held.shift()!
      if (credit) this.#bodySource.take(chunk.length)
      if (!this.push(chunk)) {
        this.$isWanted = false
        break
      }
    }
    if (this.$held.length > 0) return
    if (this.$isWanted && this.$isEnded && this.$failure === null && this.$collected === null && !this.destroyed) this.push(null)
    this.$settleTaken()
  }

  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    const isCut = !this.$isEnded || !(this.readableEnded || this.$isCollected)
    const why = error ?? (isCut ? this.$failure ?? new RequestAbortedError() : null)
    if (why !== null) this.on('error', noop)
    if (!this.$isEnded) {
      // Nothing of what the exchange says of its end is news.
      this.$isEnded = true
      // As with undici, what watches the exchange gets no reason of its reader's.
      this.#bodySource.abort(new RequestAbortedError())
    }
    this.$held = new Fifo()
    this.$settleTaken()
    this.#bodySource.onBodyClosed()
    const settle = this.$settle
    this.$settle = null
    if (settle !== null) {
      done(why)
      // Behind the events.
      nextTick(settle, why)
    } else if ((this as unknown as StreamState)._readableState.dataEmitted) {
      done(why)
    } else {
      // Listeners that are added in the turn of the failure get it too.
      setImmediate(done, why)
    }
  }

  /** Adds its first listener by `add`. */
  private $listen (event: string | symbol, listener: unknown, add: () => void): this {
    if (!this.$hasState) this.$makeState()
    if (listener !== noop) this.$context ??= new AsyncResource('TRUNKLINE_BODY', BY_HAND)
    this.$isReceived = true
    if (event === 'data' || event === 'readable') this.$isTapped = true
    add()
    // It ended before its first listener was added, which gets what was collected.
    if (this.$isCollected && this.$collected === null && listener !== noop) {
      if (this.$isTapped) for (const chunk of this.$kept.splice(0)) this.push(chunk)
      this.$endStream()
    }
    return this
  }

  override on (event: string | symbol, listener: (...args: any[]) => void): this { return this.$listen(event, listener, () => { super.on(event, listener) }) }
  override prependListener (event: string | symbol, listener: (...args: any[]) => void): this { return this.$listen(event, listener, () => { super.prependListener(event, listener) }) }
  /** A stream of node:stream looks into its table of listeners, which one without a state has not. */
  override eventNames (): (string | symbol)[] {
    if (!this.$hasState) this.$makeState()
    return super.eventNames() as (string | symbol)[]
  }
  override addListener (event: string | symbol, listener: (...args: any[]) => void): this { return this.on(event, listener) }

  // All of it.

  /** `convert` is called in the turn of the stream's end, which fails with what it throws. */
  private $collect<T> (convert: (bytes: Buffer) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.bodyUsed || this.$web?.locked === true) {
        const unusable = this.$failure ?? this.errored ?? new TypeError('Body is unusable: Body has already been read')
        // The caller of `destroy` gets its error after the stream has emitted it.
        if (this.destroyed && !this.closed) this.on('error', noop).on('close', () => { reject(this.errored ?? unusable) })
        else reject(unusable)
        return
      }
      this.$isCollected = true
      const chunks = this.$taken()
      const settle = (error: Error | null): void => {
        if (error !== null) return reject(error)
        try {
          resolve(convert(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
        } catch (thrown) {
          if (this.$isReceived && !this.destroyed) this.destroy(thrown as Error)
          reject(thrown as Error)
        }
      }
      this.$settle = settle
      // All that came before the failure is asked for, and the failure is what answers.
      if (this.$failure !== null) return void this.destroy(this.$failure)
      this.$collected = chunks
      if (this.$isEnded) this.$finishCollected()
    })
  }

  /** Takes the bytes received and not read. */
  private $taken (): Buffer[] {
    const chunks: Buffer[] = []
    if (this.$hasState && this.readableLength > this.$heldBytes) {
      const encoding = this.readableEncoding
      for (let chunk = this.read() as Buffer | string | null; chunk !== null; chunk = this.read() as Buffer | string | null) {
        chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding ?? 'utf8') : chunk)
      }
      const { decoder } = (this as unknown as StreamState)._readableState
      if (decoder != null && decoder.lastNeed > 0) chunks.push(Buffer.from(decoder.lastChar.subarray(0, decoder.lastTotal - decoder.lastNeed)))
    }
    for (const { chunk, credit } of this.$held) {
      chunks.push(chunk)
      if (this.$isTapped) this.push(chunk)
      if (credit) this.#bodySource.take(chunk.length)
    }
    this.$held = new Fifo()
    this.$settleTaken()
    return chunks
  }

  private $finishCollected (): void {
    if (!this.$isTapped) this.$kept = this.$collected!
    this.$collected = null
    this.#bodySource.onBodyClosed()
    // With listeners the stream's end comes first, as with undici; without them nothing waits for it.
    if (this.$isReceived && !this.readableEnded && !this.destroyed) {
      super.once('end', () => { this.$resolve() })
      this.$endStream()
    } else {
      this.$resolve()
    }
  }

  private $resolve (): void {
    const settle = this.$settle
    this.$settle = null
    settle?.(null)
  }

  /** Whether all of it was collected, and its stream has said nothing of that: there are no listeners. */
  get $isQuietlyEnded (): boolean { return this.$isCollected && this.$isEnded && this.$collected === null && this.$failure === null && !this.$isReceived }

  /** The stream says its end: what was collected did not pass through it. */
  private $endStream (): void {
    if (this.readableEnded || this.destroyed) return
    const { ended } = (this as unknown as StreamState)._readableState
    if (!ended) this.push(null)
    this.resume()
  }

  /** Bytes, where content-length says how many it has. */
  private get $statedLength (): number {
    const length = Number(this.$field('content-length') ?? NaN)
    return this.$method === 'HEAD' || Number.isNaN(length) ? 0 : length
  }

  private get $givenEncoding (): BufferEncoding | null { return this.$hasState ? this.readableEncoding : null }

  // No `async`: a promise of `collect` is one, and a second costs as much as the first.
  text (): Promise<string> { return this.$collect(bytes => decoded(bytes, this.$givenEncoding)) }
  json (): Promise<unknown> { return this.$collect(bytes => JSON.parse(decoded(bytes, this.$givenEncoding)) as unknown) }
  async bytes (): Promise<Uint8Array> { return new Uint8Array(await this.arrayBuffer()) }
  arrayBuffer (): Promise<ArrayBuffer> {
    return this.$collect(({ buffer, byteOffset, length }) => buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer)
  }
  async blob (): Promise<Blob> { return await this.$collect(bytes => new Blob([bytes as Uint8Array<ArrayBuffer>], { type: this.$field('content-type') ?? '' })) }
  /** A FormData, as `fetch` gives one; typed as undici types what it does not have. */
  async formData (): Promise<never> {
    const type = this.$field('content-type')
    return await new Response(await this.$collect(bytes => bytes as Uint8Array<ArrayBuffer>), { headers: type === undefined ? {} : { 'content-type': type } }).formData() as never
  }

  /** Reads what is left and throws it away; more than `limit` bytes cost the exchange, at once where
   * content-length says so. */
  async dump (options?: { limit?: number; signal?: AbortSignal } | null): Promise<void> {
    const { limit: given, signal } = options ?? {}
    const limit = given && Number.isFinite(given) ? given : DUMPED_BYTES_MAX
    if (signal != null && !('aborted' in Object(signal))) throw new InvalidArgumentError('signal must be an AbortSignal')
    if (signal?.aborted) throw signal.reason ?? new AbortError()
    const nothing = null as unknown as void
    if (this.closed) return nothing
    return await new Promise<void>((resolve, reject) => {
      if (this.$statedLength > limit || this.$seen > limit) this.destroy(new AbortError())
      const stop = (): void => { this.destroy(signal!.reason as Error) }
      signal?.addEventListener('abort', stop)
      this.on('close', () => {
        signal?.removeEventListener('abort', stop)
        if (signal == null) resolve()
        else if (signal.aborted) reject(signal.reason as Error)
        else resolve(nothing)
      }).on('error', noop).on('data', () => {
        if (this.$seen > limit) this.destroy()
      }).resume()
    })
  }
}

// Its name with undici, and the state that its stream would be in.
Object.defineProperty(Body, 'name', { value: 'BodyReadable' })
/** Has `of` decide a member of a Readable, by what the stream itself has. */
function override<T> (name: string, of: (body: Body, own: () => T) => T): void {
  const { get, set } = Object.getOwnPropertyDescriptor(Readable.prototype, name)!
  Object.defineProperty(Body.prototype, name, { configurable: true, set, get (this: Body) { return of(this, () => get!.call(this) as T) } })
}
for (const [name, whenEnded] of [['readable', false], ['readableEnded', true], ['destroyed', true]] as const) {
  override<boolean>(name, (body, own) => body.$isQuietlyEnded ? whenEnded : own())
}
// Bytes that are collected do not pass through the stream, and those that wait are not in it yet.
override<boolean>('readableDidRead', (body, own) => body.$isUsedUp || own())
override<number>('readableLength', (body, own) => body.$heldBytes + own())

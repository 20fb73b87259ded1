// A response as `request` gives it: fields parsed when somebody asks, and a body that is a Readable
// with the short ways to all of it. Bytes wait at the exchange until they are asked for.

import { Readable } from 'node:stream'
import { InvalidArgumentError, RequestAbortedError } from './errors'
import { fieldsObject, fieldsOf, rawFields, type Fields } from './head'

/** Where a body's bytes come from. */
export interface Spring {
  /** Bytes were taken: the peer may send as many more. */
  take: (bytes: number) => void
  /** Nobody wants the rest. */
  abort: (reason: Error) => void
}

const decoder = new TextDecoder()

/** A response's body. */
export class Body extends Readable {
  private held: { chunk: Buffer; credit: boolean }[] = []
  private isEnded = false
  /** Why there is no more; told to whoever reads. */
  private failure: Error | null = null
  private isWanted = false
  private isUsed = false
  private web: ReadableStream<Uint8Array> | null = null
  private collected: Buffer[] | null = null
  private settle: ((error: Error | null) => void) | null = null

  constructor (private readonly spring: Spring, private readonly type: () => string | undefined, highWaterMark = 64 * 1024) {
    super({ highWaterMark })
  }

  /** The body as a stream of the web. */
  get body (): ReadableStream<Uint8Array> { return (this.web ??= Readable.toWeb(this) as ReadableStream<Uint8Array>) }
  /** Responses of node:http have none, and who takes ours for one of them (got) puts its own here. */
  set body (value: unknown) { Object.defineProperty(this, 'body', { value, writable: true, configurable: true, enumerable: true }) }

  /** Whether it was read, or is being read. */
  get bodyUsed (): boolean { return this.isUsed || this.readableDidRead }

  // What the exchange says.

  arrive (chunk: Buffer, credit: boolean): void {
    if (this.collected !== null) {
      this.collected.push(chunk)
      if (credit) this.spring.take(chunk.length)
    } else {
      this.held.push({ chunk, credit })
      if (this.isWanted) this.pour()
    }
  }

  finish (): void {
    this.isEnded = true
    if (this.collected !== null) this.settle?.(null)
    else if (this.isWanted && this.held.length === 0) this.push(null)
  }

  break (error: Error): void {
    this.isEnded = true
    this.failure = error
    if (this.collected !== null) return this.settle?.(error)
    // Whoever does not listen is not to be brought down by it, as with undici's bodies.
    this.on('error', () => {})
    if (this.isWanted && !this.destroyed) this.destroy(error)
  }

  // A Readable's side.

  override _read (): void {
    this.isWanted = true
    this.isUsed = true
    this.pour()
  }

  private pour (): void {
    while (this.held.length > 0) {
      const { chunk, credit } = this.held.shift()!
      if (credit) this.spring.take(chunk.length)
      if (!this.push(chunk)) {
        this.isWanted = false
        return
      }
    }
    if (this.failure !== null) this.destroy(this.failure)
    else if (this.isEnded) this.push(null)
  }

  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.isEnded) this.spring.abort(error ?? new RequestAbortedError())
    this.held = []
    // Listeners that are added in the turn of the failure hear it.
    setImmediate(done, error)
  }

  // All of it.

  private async collect (): Promise<Buffer> {
    if (this.bodyUsed || this.web?.locked === true) throw new TypeError('Body is unusable: Body has already been read')
    this.isUsed = true
    if (this.failure !== null) throw this.failure
    if (this.errored !== null) throw this.errored
    if (this.destroyed) throw new RequestAbortedError()
    const chunks: Buffer[] = []
    for (const { chunk, credit } of this.held) {
      chunks.push(chunk)
      if (credit) this.spring.take(chunk.length)
    }
    this.held = []
    if (!this.isEnded) {
      this.collected = chunks
      await new Promise<void>((resolve, reject) => {
        this.settle = error => {
          if (error === null) resolve()
          else reject(error)
        }
      })
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }

  async text (): Promise<string> {
    const bytes = await this.collect()
    return bytes.length < 4096 && bytes[0] !== 0xef ? bytes.toString() : decoder.decode(bytes)
  }
  async json (): Promise<unknown> { return JSON.parse(await this.text()) as unknown }
  async bytes (): Promise<Uint8Array> { return new Uint8Array(await this.arrayBuffer()) }
  async arrayBuffer (): Promise<ArrayBuffer> {
    const bytes = await this.collect()
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
  }
  async blob (): Promise<Blob> { return new Blob([await this.collect() as Uint8Array<ArrayBuffer>], { type: this.type() ?? '' }) }
  async formData (): Promise<FormData> {
    const type = this.type()
    return await new Response(await this.collect() as Uint8Array<ArrayBuffer>, { headers: type === undefined ? {} : { 'content-type': type } }).formData()
  }

  /** Reads what is left and throws it away; more than `limit` bytes cost the exchange. */
  async dump ({ limit = 128 * 1024, signal }: { limit?: number; signal?: AbortSignal } = {}): Promise<null> {
    if (signal != null && !('aborted' in Object(signal))) throw new InvalidArgumentError('signal must be an AbortSignal')
    signal?.throwIfAborted()
    if (this.destroyed || this.bodyUsed) return null
    let seen = 0
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => { this.destroy(signal!.reason as Error) }
      signal?.addEventListener('abort', stop)
      this.on('close', () => {
        signal?.removeEventListener('abort', stop)
        if (signal?.aborted) reject(signal.reason as Error)
        else resolve()
      }).on('error', () => {}).on('data', (chunk: Buffer) => {
        if ((seen += chunk.length) > limit) this.destroy()
      }).resume()
    })
    return null
  }
}

/** A response. */
export class Answer {
  private fields: Fields | null = null
  private tail: Fields = {}
  private stream: Body | null = null

  constructor (
    readonly statusCode: number,
    readonly statusText: string,
    /** 11, 20 or 30: the version that it came over. */
    readonly version: number,
    private text: string,
    private readonly spring: Spring,
    private readonly extras: { opaque?: unknown; highWaterMark?: number }
  ) {}

  /** Fields by lower-case name; a name that came more than once has an array. */
  get headers (): Fields {
    if (this.fields === null) {
      this.fields = fieldsOf(this.text)
    }
    return this.fields
  }
  set headers (fields: Fields) { this.fields = fields }
  /** Names and values by turns, as they came. */
  get rawHeaders (): string[] { return rawFields(this.text) }
  /** Filled when the body has ended. */
  get trailers (): Fields { return this.tail }
  get context (): object { return {} }
  get opaque (): unknown { return this.extras.opaque ?? null }
  get body (): Body { return (this.stream ??= new Body(this.spring, () => this.contentType(), this.extras.highWaterMark)) }

  private contentType (): string | undefined {
    const type = this.headers['content-type']
    return typeof type === 'string' ? type : undefined
  }

  end (trailers: string): void {
    if (trailers !== '') Object.assign(this.tail, fieldsObject(rawFields(trailers)))
  }
}

// WebSockets of `serve`: handlers, topics and back-pressure. The package `ws` does the frames, over
// an upgrade of HTTP/1.1 and over extended CONNECT alike.

import { performance } from 'node:perf_hooks'
import type { AsyncResource } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Duplex } from 'node:stream'
import { types } from 'node:util'
import { nearest } from '../errors/near'
import { pairsOf } from '../fetch/headers/fields'
import { within } from '../server/scope'
import { sentCode, sentReason } from './close_frame'
import { deflateOf } from './deflate'
import { secondsOf } from './idle'
import { FileBody } from './web/file_body'
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../timers'

/**
 * The result of `publish` and `send`: the bytes sent; 0: the message was dropped; -1: it waits,
 * because the client reads too slowly.
 */
export type SendStatus = number
type Data = string | ArrayBufferLike | NodeJS.ArrayBufferView | Blob

/** The callbacks and limits of the WebSockets of `serve`. */
export interface WebSocketHandler<T = undefined> {
  /** The type of `ws.data`, for the compiler alone. */
  data?: T
  /** Calls come in the order of the events. One that throws or rejects closes its socket with 1011, and the error goes to `error`, or to stderr where there is none. */
  open?: (ws: ServerWebSocket<T>) => void | Promise<void>
  /** A message: a string for text, bytes of the type `binaryType` otherwise. */
  message?: (ws: ServerWebSocket<T>, message: string | Buffer) => void | Promise<void>
  /** The last call for a socket. `code` and `reason` are those of the side that closed first; 1006 where the client ended without a close frame,
   * or broke a rule of WebSockets, which the reason names. */
  close?: (ws: ServerWebSocket<T>, code: number, reason: string) => void | Promise<void>
  /** Called when waiting messages were sent, after a `send` that gave -1. */
  drain?: (ws: ServerWebSocket<T>) => void | Promise<void>
  /** A ping; its pong is sent by itself. */
  ping?: (ws: ServerWebSocket<T>, data: Buffer) => void | Promise<void>
  /** A handler has failed. */
  error?: (error: any, ws: ServerWebSocket<T>) => void
  /** A pong. */
  pong?: (ws: ServerWebSocket<T>, data: Buffer) => void | Promise<void>
  /** The most bytes of a message, decompressed; a longer one closes its socket with 1009. Default: 16 MiB. */
  maxPayloadLength?: number
  /** Seconds without a frame from the client after which its socket ends; 0: never. Default: 120. */
  idleTimeout?: number
  /** Whether a client that is silent for half of `idleTimeout` is sent a ping, whose answer counts. Default: true. */
  sendPings?: boolean
  /** Bytes that may wait for a client that does not read; while more wait, messages are dropped. 0: none is. Default: 16 MiB. */
  backpressureLimit?: number
  /**
   * Whether a socket is closed, not only the message dropped, when `backpressureLimit` is exceeded.
   * Default: false.
   */
  closeOnBackpressureLimit?: boolean
  /** Whether `ws.publish` also sends to the socket itself. Default: false. */
  publishToSelf?: boolean
  /**
   * Whether permessage-deflate (RFC 7692) is negotiated where the client offers it, or what compresses and decompresses as Bun has it
   * (`{ compress: 'shared', decompress: true }`), or its options for `ws`. Default: false.
   */
  perMessageDeflate?: boolean | Record<string, unknown>
}

const MIB = 1 << 20
const DEFAULTS = {
  maxPayloadLength: 16 * MIB, idleTimeout: 120, sendPings: true, backpressureLimit: 16 * MIB, closeOnBackpressureLimit: false, publishToSelf: false, perMessageDeflate: false
}
const CALLS = ['open', 'message', 'close', 'drain', 'ping', 'pong', 'error']
const NAMES = ['data', ...CALLS, ...Object.keys(DEFAULTS)]
/** RFC 6455 section 7.4.1. */
const GOING_AWAY = 1001
/** How long clients have to close too, when their server ends. */
const GOING_AWAY_MS_MAX = 1000
const INTERNAL_ERROR = 1011
const TICK_MS = 1000
const OPEN = 1

/** The part of the package `ws` that is used. */
interface Peer {
  readonly readyState: 0 | 1 | 2 | 3
  readonly bufferedAmount: number
  readonly protocol: string
  readonly extensions: string
  on: (event: string, call: (...args: never[]) => void) => void
  send: (data: unknown, options: { binary: boolean; compress: boolean }, done: () => void) => void
  ping: (data?: unknown) => void
  pong: (data?: unknown) => void
  close: (code?: number, reason?: string) => void
  terminate: () => void
  readonly isPaused: boolean
  pause: () => void
  resume: () => void
}
interface Acceptor {
  on: (event: 'headers', call: (lines: string[]) => void) => void
  handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, done: (peer: Peer) => void) => void
}
interface Package { WebSocketServer: new (options: object) => Acceptor }

/** The package `ws` that is installed beside this one, or where the program is: a package that is linked into a project is
 * not beside the project's others. */
function load (): Package {
  const program = process.argv[1]
  try {
    return require('ws') as Package
  } catch (cause) {
    try {
      if (program !== undefined) return createRequire(resolve(program))('ws') as Package
    } catch {}
    throw new Error('handlers of WebSockets need the package ws: npm install ws', { cause })
  }
}

type Settings<T> = WebSocketHandler<T> & typeof DEFAULTS

function settingsOf<T> (handler: WebSocketHandler<T>): Settings<T> {
  if (typeof handler !== 'object' || handler === null) throw new TypeError('websocket must be an object of handlers')
  for (const name of Object.keys(handler)) {
    if (NAMES.includes(name)) continue
    const near = nearest(name, NAMES)
    throw new TypeError(`websocket has no option ${name}${near === undefined ? '' : `: is ${near} meant?`} It has ${NAMES.join(', ')}`)
  }
  const given = Object.fromEntries(Object.entries(handler).filter(([, value]) => value != null))
  const settings = { ...DEFAULTS, ...given } as Settings<T>
  for (const name of CALLS) if (name in settings && typeof settings[name as 'open'] !== 'function') throw new TypeError(`websocket.${name} must be a function`)
  for (const name of ['maxPayloadLength', 'backpressureLimit'] as const) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 0) throw new RangeError(`websocket.${name} is ${settings[name]}; it must be a number of bytes, at least 0`)
  }
  secondsOf(settings.idleTimeout, 'websocket.idleTimeout')
  return settings
}

function bytesOf (data: Data): string | Buffer | Blob {
  if (typeof data === 'string') return data
  if (data instanceof FileBody) throw new TypeError('a file of the disk is not there yet; send await file.bytes()')
  if (data instanceof Blob) return data
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (types.isArrayBuffer(data) || types.isSharedArrayBuffer(data)) return Buffer.from(data)
  throw new TypeError(`a message is a value of the type ${typeof data}; it must be a string, an ArrayBuffer or a view of one, or a Blob`)
}

function lengthOf (data: string | Buffer | Blob): number { return data instanceof Blob ? data.size : Buffer.byteLength(data) }

/** Types of binary messages, by their names in lower case. */
const BINARY_TYPES = {
  nodebuffer: (bytes: Buffer) => bytes,
  uint8array: (bytes: Buffer) => new Uint8Array(bytes),
  arraybuffer: (bytes: Buffer) => new Uint8Array(bytes).buffer,
  blob: (bytes: Buffer) => new Blob([bytes])
}
type BinaryType = keyof typeof BINARY_TYPES

function binaryTypeOf (given: unknown): BinaryType {
  const name = String(given).toLowerCase()
  if (name === 'buffer') return 'nodebuffer'
  if (Object.hasOwn(BINARY_TYPES, name)) return name as BinaryType
  throw new TypeError(`binaryType is ${String(given)}; it must be ${Object.keys(BINARY_TYPES).map(type => `'${type}'`).join(', ')}`)
}

/** One client's WebSocket. */
export class ServerWebSocket<T = undefined> {
  /** The data passed to `server.upgrade`. */
  data: T
  #binaryType: BinaryType = 'nodebuffer'
  /** The client's address; undefined on a Unix socket. */
  readonly remoteAddress: string | undefined
  readonly #peer: Peer
  readonly #socket: Duplex
  readonly #all: WebSockets<T>
  readonly #topics = new Set<string>()
  #waits = false
  /** The first arguments of `close`; null: this side has not closed. */
  #closedBy: { code: number; reason: string } | null = null
  #isOver = false
  #activeAt = performance.now()
  #pinged = false

  constructor (all: WebSockets<T>, peer: Peer, socket: Duplex, remoteAddress: string | undefined, data: T) {
    this.#all = all
    this.#peer = peer
    this.#socket = socket
    this.remoteAddress = remoteAddress
    this.data = data
    this.#listen()
  }

  #listen (): void {
    const peer = this.#peer
    const active = (): void => {
      this.#activeAt = performance.now()
      this.#pinged = false
    }
    peer.on('message', (bytes: Buffer, isBinary: boolean) => {
      active()
      // For its handlers a socket that this side has closed or ended is over; frames may have come with the one before.
      if (this.#isOver) return
      this.#all.call('message', this, isBinary ? this.#typed(bytes) : bytes.toString())
    })
    peer.on('ping', (bytes: Buffer) => { active(); this.#all.call('ping', this, this.#typed(bytes)) })
    peer.on('pong', (bytes: Buffer) => { active(); this.#all.call('pong', this, this.#typed(bytes)) })
    // `close` follows.
    let broken = ''
    peer.on('error', (error: Error) => { broken = error.message })
    peer.on('close', (code: number, reason: Buffer) => {
      this.#all.forget(this, this.#topics)
      // Browsers answer a close frame with its code alone (RFC 6455 section 5.5.1), and some clients with nothing.
      const own = this.#closedBy
      this.#all.call('close', this, own?.code ?? code, own?.reason ?? (reason.toString() || broken))
    })
    this.#socket.on('drain', () => {
      if (!this.#waits) return
      this.#waits = false
      this.#all.call('drain', this)
    })
  }

  #typed (bytes: Buffer): Buffer { return BINARY_TYPES[this.#binaryType](bytes) as Buffer }

  /** The type of the bytes in `message`, `ping` and `pong`: a Buffer, a Uint8Array, an ArrayBuffer or a Blob. */
  get binaryType (): BinaryType { return this.#binaryType }
  set binaryType (type: BinaryType) { this.#binaryType = binaryTypeOf(type) }

  /** 1: open, 2: closing, 3: closed. */
  get readyState (): 0 | 1 | 2 | 3 { return this.#peer.readyState }
  /** The negotiated subprotocol; empty: none. */
  get protocol (): string { return this.#peer.protocol }
  /** The negotiated extensions. */
  get extensions (): string { return this.#peer.extensions }
  /** The subscribed topics. */
  get subscriptions (): string[] { return [...this.#topics] }

  /**
   * Sends a message: a string as text, others as bytes. `compress`: whether it is compressed where
   * that was negotiated.
   */
  send (data: Data, compress = true): SendStatus { return this.#send(bytesOf(data), typeof data !== 'string', compress) }
  /** Sends a text message. */
  sendText (data: string, compress = true): SendStatus { return this.#send(String(data), false, compress) }
  /** Sends a binary message. */
  sendBinary (data: Exclude<Data, string>, compress = true): SendStatus { return this.#send(bytesOf(data), true, compress) }

  #send (data: string | Buffer | Blob, binary: boolean, compress: boolean): SendStatus {
    const peer = this.#peer
    if (peer.readyState !== OPEN) return 0
    const bytes = lengthOf(data)
    const { backpressureLimit, closeOnBackpressureLimit } = this.#all.settings
    if (backpressureLimit > 0 && peer.bufferedAmount > backpressureLimit) {
      if (closeOnBackpressureLimit) this.terminate()
      return 0
    }
    peer.send(data, { binary, compress }, () => {})
    this.#waits ||= this.#socket.writableNeedDrain
    return this.#waits ? -1 : bytes
  }

  /** Bytes that wait for the client. */
  getBufferedAmount (): number { return this.#peer.bufferedAmount }

  /** Pings the client; at most 125 bytes (RFC 6455 section 5.5). */
  ping (data: Data = ''): SendStatus { return this.#control('ping', data) }
  /** Sends an unsolicited pong; at most 125 bytes. */
  pong (data: Data = ''): SendStatus { return this.#control('pong', data) }

  #control (kind: 'ping' | 'pong', data: Data): SendStatus {
    if (this.#peer.readyState !== OPEN) return 0
    const bytes = bytesOf(data)
    this.#peer[kind](bytes)
    return this.#socket.writableNeedDrain ? -1 : lengthOf(bytes)
  }

  /** Starts the closing handshake behind the sent messages; messages that come behind it are not reported. Default code: 1000. One that no frame may have
   * (RFC 6455 section 7.4) is not sent, and of a reason its first 123 bytes. */
  close (code = 1000, reason = ''): void {
    // Before the state is read: making a text of it may call this too.
    const text = String(reason)
    const isFirst = this.#peer.readyState === OPEN
    this.#peer.close(sentCode(code), sentReason(text))
    if (!isFirst) return
    this.#closedBy = { code, reason: text }
    this.#isOver = true
  }

  /** Ends at once, without a close frame. */
  terminate (): void {
    this.#closedBy = null
    this.#isOver = true
    this.#peer.terminate()
  }

  /** Whether nothing is read from the client. */
  get isPaused (): boolean { return this.#peer.isPaused }
  /** Stops reading from the client, whose messages wait in its connection; `idleTimeout` goes on. No effect on a socket that closes. */
  pause (): void { this.#peer.pause() }
  /** Reads again. */
  resume (): void { this.#peer.resume() }

  /** Sends the messages of `call` together; returns its result. */
  cork<R> (call: (this: this, ws: this) => R): R {
    this.#socket.cork()
    try {
      return call.call(this, this)
    } finally {
      this.#socket.uncork()
    }
  }

  /** Subscribes to a topic of `publish`. False: the socket is not open. */
  subscribe (topic: string): boolean {
    if (topic === '') throw new TypeError('the topic is empty; it must have a name')
    if (this.#peer.readyState !== OPEN) return false
    this.#topics.add(String(topic))
    this.#all.subscribe(this, String(topic))
    return true
  }

  /** Ends the subscription to a topic. False: there was none. */
  unsubscribe (topic: string): boolean {
    this.#all.unsubscribe(this, String(topic))
    return this.#topics.delete(String(topic))
  }

  isSubscribed (topic: string): boolean { return this.#topics.has(topic) }

  /** Sends to all that are subscribed to `topic`, except for this socket unless `publishToSelf` is on. */
  publish (topic: string, data: Data, compress = true): SendStatus {
    return this.#all.publish(topic, data, compress, this.#all.settings.publishToSelf ? null : this)
  }
  publishText (topic: string, data: string, compress = true): SendStatus { return this.publish(topic, String(data), compress) }
  publishBinary (topic: string, data: Exclude<Data, string>, compress = true): SendStatus { return this.publish(topic, data, compress) }

  /** @internal Ends or pings a silent client. */
  checkIdle (now: number, idleMs: number, sendPings: boolean): void {
    const silent = now - this.#activeAt
    const isAsked = this.#pinged || !sendPings
    // A process that was suspended has not read: the client is pinged first.
    if (isAsked && silent >= idleMs) return this.terminate()
    if (isAsked || silent < idleMs / 2) return
    this.#pinged = true
    this.ping()
  }
}

/** The WebSockets of one server. */
export class WebSockets<T> {
  settings: Settings<T>
  private acceptor: Acceptor
  /** Open WebSockets, with the contexts of their handlers. */
  private readonly open = new Map<ServerWebSocket<T>, AsyncResource>()
  private readonly topics = new Map<string, Set<ServerWebSocket<T>>>()
  private timer: NodeJS.Timeout | null = null
  /** Called when none is open any more. */
  private emptied: (() => void)[] = []
  /** The fields of the upgrade that is under way. */
  private fields: [string, string][] = []

  /** `scope`: the context in which that of each socket's handlers is made. */
  constructor (handler: WebSocketHandler<T>, private readonly scope: AsyncResource) {
    this.settings = settingsOf(handler)
    this.acceptor = this.newAcceptor()
  }

  get size (): number { return this.open.size }
  private newScope (): AsyncResource { return within(this.scope, 'TRUNKLINEWEBSOCKET') }

  /** Sockets from now on, and events of those that are open, are for these handlers. */
  reload (handler: WebSocketHandler<T>): void {
    this.settings = settingsOf(handler)
    this.acceptor = this.newAcceptor()
    this.watchIdle()
  }

  /** Looks at the silence of those that are open, from the first on. */
  private watchIdle (): void {
    if (this.settings.idleTimeout > 0 && this.open.size > 0) this.timer ??= setInterval(() => { this.tick() }, TICK_MS).unref()
  }

  private newAcceptor (): Acceptor {
    const { maxPayloadLength, perMessageDeflate } = this.settings
    const { WebSocketServer } = load()
    const handleProtocols = (offered: Set<string>): string | false => this.protocolOf(offered)
    const made = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: maxPayloadLength, perMessageDeflate: deflateOf(perMessageDeflate), handleProtocols })
    made.on('headers', lines => {
      for (const [name, value] of this.fields) if (name !== 'sec-websocket-protocol') lines.push(`${name}: ${value}`)
    })
    return made
  }

  /** The one that `upgrade` was given; default: the first that the client offers. */
  private protocolOf (offered: Set<string>): string | false {
    const given = this.fields.find(([name]) => name === 'sec-websocket-protocol')?.[1]
    if (given !== undefined) return given
    const [first = false] = offered
    return first
  }

  /** Answers with a 101, or what stands for it, `cookies` as values of set-cookie; false: the client was refused. */
  accept ([request, socket, head]: [IncomingMessage, Duplex, Buffer], remoteAddress: string | undefined, fields: string, cookies: string[], data: T): boolean {
    this.fields = [...pairsOf(fields), ...cookies.map((cookie): [string, string] => ['set-cookie', cookie])]
    let made: ServerWebSocket<T> | undefined
    // It may be one of several; the package ws takes it alone.
    request.headers.upgrade = 'websocket'
    this.acceptor.handleUpgrade(request, socket, head, peer => { made = new ServerWebSocket(this, peer, socket, remoteAddress, data) })
    this.fields = []
    if (made === undefined) return false
    this.open.set(made, this.newScope())
    this.watchIdle()
    this.call('open', made)
    return true
  }

  call (name: 'open' | 'message' | 'close' | 'drain' | 'ping' | 'pong', ws: ServerWebSocket<T>, ...args: unknown[]): void {
    const handler = this.settings[name] as ((ws: ServerWebSocket<T>, ...args: unknown[]) => unknown) | undefined
    if (handler === undefined) return
    const failed = (error: unknown): void => {
      this.report(error, ws)
      ws.close(INTERNAL_ERROR, '')
    }
    try {
      const result = (this.open.get(ws) ?? this.newScope()).runInAsyncScope(handler, this.settings, ws, ...args)
      if (types.isPromise(result)) result.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  private report (failure: unknown, ws: ServerWebSocket<T>): void {
    const { error } = this.settings
    if (error === undefined) return console.error(failure)
    try {
      error.call(this.settings, failure, ws)
    } catch (another) {
      console.error(another)
    }
  }

  subscribe (ws: ServerWebSocket<T>, topic: string): void {
    const found = this.topics.get(topic)
    if (found === undefined) this.topics.set(topic, new Set([ws]))
    else found.add(ws)
  }

  unsubscribe (ws: ServerWebSocket<T>, topic: string): void {
    const found = this.topics.get(topic)
    found?.delete(ws)
    if (found?.size === 0) this.topics.delete(topic)
  }

  /** Forgets a WebSocket that is closed, and its topics. */
  forget (ws: ServerWebSocket<T>, topics: Set<string>): void {
    for (const topic of topics) this.unsubscribe(ws, topic)
    topics.clear()
    this.open.delete(ws)
    if (this.open.size > 0) return
    for (const call of this.emptied.splice(0)) call()
    if (this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }

  /** Closes every socket with 1001, because its server ends; resolves when all have closed, or after a second for clients that do not answer. */
  async goAway (): Promise<void> {
    for (const ws of [...this.open.keys()]) ws.close(GOING_AWAY)
    await this.ended()
  }

  /** Resolves when all have closed, or after a second. */
  async ended (): Promise<void> {
    if (this.open.size === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, GOING_AWAY_MS_MAX)
      this.emptied.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  subscriberCount (topic: string): number { return this.topics.get(topic)?.size ?? 0 }

  /** The bytes of the message; -1 where it waits for a client; 0 where none has it. */
  publish (topic: string, data: Data, compress: boolean, except: ServerWebSocket<T> | null): SendStatus {
    const all = [...this.topics.get(topic) ?? []].filter(ws => ws !== except)
    const printed = all.map(ws => ws.send(data, compress))
    if (printed.includes(-1)) return -1
    return Math.max(0, ...printed)
  }

  private tick (): void {
    const { idleTimeout, sendPings } = this.settings
    if (idleTimeout === 0) return
    const now = performance.now()
    for (const ws of [...this.open.keys()]) ws.checkIdle(now, idleTimeout * 1000, sendPings)
  }
}

// One connection of a server, of any version.

import type { AsyncResource } from 'node:async_hooks'
import { HttpVersion, type ControlFrame } from '../channel/codes'
import type { Ahead } from './ahead'
import type { Carried } from '../channel/streams'
import { within } from './scope'
import { TlsClient, type Admission } from './tls/clients'

/** CANCEL of RFC 9113 section 7. */
const CANCEL = 8

const NOTHING = new Uint8Array(0)

/**
 * Callbacks for the peer's control frames, where the listener sets `frameEvents`: all of HTTP/2's,
 * settings and GOAWAY of HTTP/3.
 */
export interface ConnectionCallbacks {
  /** Its settings: the size of its table, push, streams, window, frames, head, extended CONNECT; undefined:
   * HTTP/3 does not say it. */
  $onSettings: (values: (number | undefined)[]) => void
  /** It has applied the oldest of our settings that it had not, so long after they were sent. */
  $onSettingsAcknowledged: (ms: number) => void
  $onPing: (payload: Buffer) => void
  /** It has answered the ping with this payload, so long after it was sent. */
  $onPong: (payload: Buffer, ms: number) => void
  $onGoaway: (code: number, lastStream: number, data: Buffer) => void
}

/** A snapshot of a connection, in bytes where not stated otherwise (`core/src/h2/accounts.rs`). */
export interface Accounts {
  receiveWindow: number
  receivable: number
  unread: number
  sendable: number
  lastPeerStream: number
  streamsSending: number
  encoderTable: number
  decoderTable: number
}

function portOf (text: string | undefined): number | undefined { return text ? Number(text) : undefined }

const NO_ACCOUNTS: Accounts = {
  receiveWindow: 0, receivable: 0, unread: 0, sendable: 0, lastPeerStream: 0, streamsSending: 0, encoderTable: 0, decoderTable: 0
}

const NOTHING_COUNTED = [0, 0] as const

/** The channel's commands on a connection, by its number. */
interface ConnectionCommands {
  shutDown: (connection: number) => void
  abort: (connection: number, code: number, resets: boolean) => void
  control: (connection: number, frame: ControlFrame, bytes: Uint8Array, first: number, second: number) => void
  snapshot: (connection: number) => Accounts | null
  traffic: (connection: number, ended: boolean) => [number, number] | null
}

/** A listener, as far as its connections need it. */
export interface Taking {
  readonly admission: Admission
  readonly ahead: Ahead
  readonly scope: AsyncResource
  timeline: (id: number) => string | undefined
  keep: (connection: Connection, holds: boolean) => void
}

/** `L`: the listener that took it. */
export class Connection<L extends Taking = Taking> {
  /** State that the owner of the callbacks keeps here. */
  owner: unknown = null
  /** Exchanges that are open. */
  open = 0
  closed = false
  /** The channel's turn in which its last event, or its last request, was reported. */
  turn = 0
  /** A listener has ended it before its first request, which is not for the program. */
  isTurnedAway = false
  /** The program has had a request of it. */
  isUsed = false
  /** HTTP/1.1: an answer says that it is the last. Requests behind it are not to be processed (RFC 9112 section 9.6). */
  isLast = false
  /** Its listener counts it among those that hold the process. */
  isHeld = false
  callbacks: ConnectionCallbacks | null = null
  /** The context of its events. */
  readonly scope: AsyncResource
  /** Bytes that came behind its next request, which asks to leave HTTP/1.1. */
  upgradeHead: Buffer | undefined
  /** It takes no more requests. */
  isShutDown = false
  private early: (() => void)[] = []
  private printed: string[] | undefined
  private last: readonly [number, number] | undefined
  private whose: TlsClient | undefined

  /** `text`: both addresses, then what TLS agreed on, then what is wrong with the certificates of the
   * client, and these; a zero between two. */
  constructor (
    private readonly bridge: ConnectionCommands,
    readonly listener: L,
    /** The engine's number of it; 0: the engine has not begun it yet. */
    public number: number,
    /** 10, 11, 20 or 30; 0: none that is known; 1: not yet. */
    public version: number,
    private readonly text: string,
    /** The stream that carries it, if that was made in JavaScript. */
    readonly stream?: Carried | undefined
  ) { this.scope = within(listener.scope, 'TRUNKLINECONNECTION') }

  private get parts (): string[] { return (this.printed ??= this.text.split('\0')) }
  /** Addresses and ports are undefined on a Unix socket, whose ends have none. */
  get remoteAddress (): string | undefined { return this.parts[0] || this.stream?.remoteAddress }
  get remotePort (): number | undefined { return portOf(this.parts[1]) ?? this.stream?.remotePort }
  get remoteFamily (): 'IPv4' | 'IPv6' | undefined {
    const { remoteAddress } = this
    return remoteAddress === undefined ? undefined : remoteAddress.includes(':') ? 'IPv6' : 'IPv4'
  }
  get localAddress (): string | undefined { return this.parts[2] || this.stream?.localAddress }
  get localPort (): number | undefined { return portOf(this.parts[3]) ?? this.stream?.localPort }
  get encrypted (): boolean { return this.parts.length > 4 }
  /** `TLSv1.2` or `TLSv1.3`. */
  get tlsProtocol (): string | null { return this.parts[4]?.split(' ')[0] ?? null }
  /** The cipher suite by its name in IANA's registry; null: it is not known. */
  get cipherSuite (): string | null { return this.parts[4]?.split(' ')[1] || null }
  /** Whether the handshake resumed an earlier session; undefined: it is not known. */
  get isResumed (): boolean | undefined {
    const session = this.parts[4]?.split(' ')[2]
    return session ? session === 'resumed' : undefined
  }
  /** The protocol chosen by ALPN. */
  get alpn (): string | null { return this.parts[5] || null }
  /** The host that the client asked for. */
  get servername (): string | null { return this.parts[6] || null }
  /** The client, by its certificate. */
  get client (): TlsClient {
    return (this.whose ??= new TlsClient(this.listener.admission, this.parts[7] ?? '', this.parts.slice(8)))
  }

  /** The engine has begun it; calls that were made before reach it now. */
  begin (number: number): void {
    this.number = number
    const { early } = this
    this.early = []
    for (const call of early) call()
  }

  /** Whether the engine has not begun it: `call` is made when it has. */
  private waits (call: () => void): boolean {
    if (this.number === 0) this.early.push(call)
    return this.number === 0
  }

  /** Takes no more requests, and ends when those that are open have (GOAWAY; `connection: close`). */
  shutDown (): void {
    this.isShutDown = true
    if (!this.closed && !this.waits(() => { this.shutDown() })) this.bridge.shutDown(this.number)
  }
  /** Sends a control frame. False: the connection is closed, or is none of HTTP/2. */
  control (frame: ControlFrame, bytes: Uint8Array = NOTHING, first = 0, second = 0): boolean {
    if (this.closed || this.version !== HttpVersion.Http2) return false
    if (this.waits(() => { this.control(frame, bytes, first, second) })) return true
    this.bridge.control(this.number, frame, bytes, first, second)
    return true
  }

  /** The windows of an HTTP/2 connection now. Blocks this thread until the engine answers. */
  accounts (): Accounts {
    const now = this.closed || this.version !== HttpVersion.Http2 || this.number === 0 ? null : this.bridge.snapshot(this.number)
    return now ?? NO_ACCOUNTS
  }

  /** Bytes so far, read and written: of HTTP, without the records of TLS; over QUIC of UDP payloads. */
  get traffic (): readonly [number, number] { return this.last ?? (this.number === 0 ? null : this.bridge.traffic(this.number, false)) ?? NOTHING_COUNTED }
  /** The connection has ended with these counts. */
  end (traffic: [number, number] | null): void { this.last = traffic ?? NOTHING_COUNTED }

  /** It holds the process, or does not, where its server does not: as the handle of a socket. */
  ref (): void { this.stream === undefined ? this.listener.keep(this, true) : this.stream.ref?.() }
  unref (): void { this.stream === undefined ? this.listener.keep(this, false) : this.stream.unref?.() }

  /** Ends at once. `resets`: by a reset of TCP, which drops what has not gone. */
  abort (code: number = CANCEL, resets = false): void {
    if (!this.closed && !this.waits(() => { this.abort(code, resets) })) this.bridge.abort(this.number, code, resets)
  }
}

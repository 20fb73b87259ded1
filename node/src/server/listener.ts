// A listening server of HTTP/1.1, HTTP/2 and HTTP/3, below every API: it passes exchanges on as
// they are.

import { Ahead } from './ahead'
import type { Limits, Shedding, Timeouts, Windows } from './bounds'
import { chmodSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorOf } from '../failures'
import { NO_METRICS } from '../open_metrics'
import { openPage, type InspectPage, type InspectPageOptions } from '../inspect_page'
import { placeOf, type Engine, type EnginePlace } from '../channel/place'
import { ENDED_FAILURE, type Bridge, type Failure } from '../channel/ring'
import type { Carried, StreamAsk } from '../channel/streams'
import { theServerBridge, turnInline, type ServerBridge } from './bridge'
import { Admission, clientsOf, completed, type ClientOptions, type ClientsAsk } from './tls/clients'
import type { FailedHandshake, Hello, ListenerCallbacks } from './callbacks'
import { Connection } from './connection'
import { quicLbOf, type QuicLb } from './listen/quic_lb'
import type { Policy } from './tls/policy'

/** A certificate chain and its key, both in PEM. */
export interface Identity { cert: string | Buffer; key: string | Buffer }

/** Without `cert` and `key` it serves those alone that `names` or `asks` is for. */
export interface ListenTls extends Partial<Identity>, ClientOptions {
  /** Other certificates for clients that ask for these names (SNI); `*.rest` is for one label more. */
  names?: Record<string, Identity>
  /** A certificate for these names is made at the start, in place of `cert` and `key`: for development. */
  selfSigned?: string[]
  /** The certificates of names need not be for them. Default: false. */
  anyNames?: boolean
  /** Versions, suites and groups to negotiate. Default: all. */
  policy?: Policy | undefined
  /** The secrets of every session are appended here: for debugging. */
  keyLogFile?: string
  /** `onClientHello` chooses what handshakes over TCP go on with: of clients that name a host, of those that say what
   * they speak. */
  asks?: { names: boolean; protocols: boolean }
  /** Reports the secrets of every session to `onSecret`: for debugging. */
  reportsSecrets?: boolean
  /**
   * A request for another host than SNI's is answered with 421. Default: where client certificates
   * are requested.
   */
  sniIsBinding?: boolean
}

/** Where a server listens: on a port, at a path, or on a socket that is open. */
export interface ListenTarget {
  /** The address to listen on. Default: every address of both families. */
  host?: string
  /** The port; 0: a free one. Default: 0. */
  port?: number
  /**
   * Path of a Unix socket in place of a port. It must not exist yet, and is removed when the server
   * stops accepting; on Linux one that begins with a zero byte is a name without a file.
   */
  path?: string
  /**
   * Lets every user read, and so connect to, the socket at `path`, beyond what the umask allows.
   * Default: false.
   */
  readableAll?: boolean
  /** As `readableAll`, for writing. Default: false. */
  writableAll?: boolean
  /** A descriptor of a listening TCP or Unix socket in place of both, which the server closes at its end. */
  fd?: number
  /** A descriptor of a UDP socket of the same port, for HTTP/3 beside the TCP socket `fd`, which the server closes at its end. Default: with `http3` the server binds one. */
  udpFd?: number
  /** The owner of the descriptor closes it. */
  fdIsBorrowed?: boolean
  /** Listens nowhere; streams are passed to it with `serve`, accepted sockets with `take`. */
  detached?: boolean
  /** Listens on the UDP port alone, for HTTP/3; accepted sockets are passed to it with `take`. */
  udpOnly?: boolean
}

/** The options of a listening server. */
export interface ListenOptions extends ListenTarget {
  /** Whether other processes may listen on the same port, each with a share of the connections. Default: false. */
  sharesPort?: boolean
  /**
   * A path at which processes that serve one after the other meet. A server that waits there (`handOver`, `trunkline serve --upgrade`) gives its
   * listening sockets to this one and closes once this one serves: no client is refused, and HTTP/3 connections of the other live on.
   * Then, and where none waits, this one waits there for the next process. Default: none.
   */
  handOver?: string
  /** Length of the kernel's queue of connections not yet accepted. Default: 1,024. */
  backlog?: number
  /** TLS with these settings. Default: cleartext. */
  tls?: ListenTls
  /** Whether HTTP/1.1 is offered, by ALPN or in cleartext. Default: true. */
  http1?: boolean
  /** Whether HTTP/2 is offered, by ALPN or in cleartext by prior knowledge. Default: true. */
  http2?: boolean
  /** Whether HTTP/3 is offered on the same port over UDP. Needs `tls`. Default: false. */
  http3?: boolean
  /** Whether clients may send extended CONNECT (RFC 8441 and RFC 9220). Default: false. */
  extendedConnect?: boolean
  /** Passes settings, pings and GOAWAY of HTTP/2 peers to the callbacks of their connection. Default: false. */
  frameEvents?: boolean
  /** Settings of extensions, identifier and value, that the first SETTINGS of HTTP/2 has beside others. Default: none. */
  extensionSettings?: [number, number][]
  /** `onConnection` gets cleartext connections whose first bytes have not come for 200 ms, with the version 1. Default: false. */
  acceptEvents?: boolean
  /** Keeps the original case of field names of HTTP/1.1 requests. Default: false. */
  spelledNames?: boolean
  /**
   * Whether every peer is a gateway that ends TLS for this server and states the scheme of each
   * request; otherwise a request whose scheme is not that of its connection is answered with 421
   * (RFC 9110 section 7.4). Default: false.
   */
  schemeFromGateway?: boolean
  /**
   * Addresses and networks (`10.0.0.0/8`) of load balancers whose connections begin with a header of the PROXY protocol, version 1 or 2: its addresses are those
   * of the connection. No others do. On a Unix socket any entry makes every connection begin so. Not for HTTP/3. Default: none.
   */
  proxyProtocol?: string[]
  /** Connection ids of HTTP/3 by which load balancers find this server (QUIC-LB). Default: ids that say nothing to others. */
  quicLb?: QuicLb
  /** Serves requests of HTTP/1.1 without a host field, which are answered with 400 otherwise (RFC 9112 section 3.2). Default: false. */
  takesHostless?: boolean
  /**
   * Passes requests of HTTP/1.1 with another expectation than `100-continue` to `onRequest`, which
   * are answered with 417 otherwise. Default: false.
   */
  expectations?: boolean
  /**
   * Passes requests of HTTP/1.1 that break a rule to `onRefused`, which are refused with a status
   * otherwise. Default: false.
   */
  handsOverRefusals?: boolean
  /**
   * The most open connections; beyond it idle ones are closed for new ones, which wait otherwise.
   * Default: 16,384.
   */
  connectionsMax?: number
  /** Requests that are answered with 429 or 503 without the server's handlers. Default: none. */
  shedding?: Shedding
  /** Limits of one peer. */
  limits?: Limits
  /** Timeouts of every phase. */
  timeouts?: Timeouts
  /** Timeouts of HTTP/1.1 connections. Default: `timeouts`. */
  http1Timeouts?: Timeouts
  /** Receive windows and send buffers. */
  windows?: Windows
}

export interface Address { address: string; port: number; family: 'IPv4' | 'IPv6' }

/** The chosen settings of a handshake: certificate, requested client certificates, and policy. */
export interface ContextAsk extends Identity { clients?: ClientsAsk | undefined; policy?: Policy | undefined }

function pem (identity: Identity): { cert: string; key: string } {
  return { cert: String(identity.cert), key: String(identity.key) }
}

function tlsOf (tls: ListenTls): object {
  const names: Record<string, object> = {}
  for (const [name, identity] of Object.entries(tls.names ?? {})) names[name] = pem(identity)
  const { requestCert, rejectUnauthorized, ca, crl, roots, ...rest } = tls
  // Unknown options go along, so that the engine refuses them by name.
  const others = { ...rest, names, clients: clientsOf(tls) }
  if (tls.cert === undefined || tls.key === undefined) return others
  const { cert, key } = pem({ cert: tls.cert, key: tls.key })
  return { ...others, cert: ca == null ? cert : completed(cert, ca), key }
}

/** Whole milliseconds; throws where the time is none. */
export function deadlineOf (ms: number | undefined): number | undefined {
  if (ms === undefined) return undefined
  if (typeof ms !== 'number' || !(ms >= 0)) throw new RangeError(`the deadline is ${String(ms)} ms; it must be a number from 0 on`)
  return Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER)
}

/** Lets every user read or write the socket at `path`. */
export function openTo (path: string, readable: boolean, writable: boolean): void {
  const more = (readable ? 0o444 : 0) | (writable ? 0o222 : 0)
  if (more !== 0 && !path.startsWith('\0')) chmodSync(path, statSync(path).mode | more)
}

/**
 * Ports that servers of this environment have left, and until when they may be taken, by `performance.now()`. As with node's
 * servers a port is free behind `close()`; the engine closes the socket on its own thread, behind the connections of its queue
 * and those whose handshakes have begun (`HANDSHAKE_WAIT` of `engine/src/server/worker.rs`).
 */
const leftPorts = new Map<number, number>()
/** Several times the engine's wait: its thread may have no processor for a while. */
const LEFT_PORT_MAX_MS = 250
const sleeper = new Int32Array(new SharedArrayBuffer(4))

function noteLeft (port: number): void {
  const now = performance.now()
  for (const [left, until] of leftPorts) if (until < now) leftPorts.delete(left)
  leftPorts.set(port, now + LEFT_PORT_MAX_MS)
}

/** Calls `listen`, again where the port is taken by a server of this environment that has left it. Between two calls `wait` lets the
 * engines of this thread close it. */
function whenFree<T> (port: number | undefined, wait: () => void, listen: () => T): T {
  for (;;) {
    try {
      return listen()
    } catch (failure) {
      const isTaken = (failure as Failure).system === 'EADDRINUSE'
      if (!isTaken || port === undefined || !((leftPorts.get(port) ?? 0) > performance.now())) throw failure
      Atomics.wait(sleeper, 0, 0, 1)
      wait()
    }
  }
}

interface File { path: string; inode: bigint }

/** The file at `path`; undefined: none, or a name without a file. */
function fileAt (path: string): File | undefined {
  if (path.startsWith('\0')) return undefined
  path = resolve(path)
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? undefined : { path, inode: found.ino }
}

/** Undefined: the system gives no thread, or the engine there has ended. */
function threadsIfThere (): ServerBridge | undefined {
  try {
    const found = theServerBridge('threads')
    return found.bridge.hasEnded ? undefined : found
  } catch {
    return undefined
  }
}

export class Listener {
  /** Those that are open. */
  readonly connections = new Set<Connection>()
  /** Connections on streams whose owner has them before the engine. */
  readonly expected = new WeakMap<Carried, Connection<Listener>>()
  /** Where the engine runs. */
  private readonly place: EnginePlace
  /** To the engine that has the sockets. */
  private bridge: ServerBridge
  /** To the engine of the second worker, while it serves. */
  private second: ServerBridge | undefined
  private number = 0
  private where: Address | null = null
  private isOpen = false
  private isStopped = false
  /** The worker that has the sockets. */
  private hasEnded = false
  /** Of a Unix socket that was bound here. */
  private file: File | undefined
  private isHolding = false
  private wantsHold = true
  /** Where it waits for the next process. */
  private meeting: string | undefined
  private readonly replaced: Promise<boolean>
  private reportReplaced: (isReplaced: boolean) => void = () => {}
  /** Errors of handshakes that were refused, by their tickets, until they have failed. */
  private readonly refusals = new Map<number, Error>()
  /** The responses of its connections. */
  ahead = new Ahead()
  /** The requested client certificates. */
  admission = new Admission(undefined)

  /** `engine`: where its engine runs; undefined: as the environment says. */
  constructor (readonly callbacks: ListenerCallbacks, engine?: Engine) {
    this.place = placeOf(engine)
    this.bridge = theServerBridge(this.place === 'threads' ? 'threads' : 'inline')
    this.replaced = new Promise(resolve => { this.reportReplaced = resolve })
  }

  /** The channel to its engine. */
  get channel (): Bridge { return this.bridge.bridge }

  /** Listens; what is wrong is thrown as the engine says it ([`Failure`]). */
  listen (options: ListenOptions): void {
    if (this.bridge.bridge.hasEnded) throw ENDED_FAILURE
    const { tls, readableAll = false, writableAll = false, quicLb, ...given } = options
    const leaves = this.place === 'auto' && this.bridge.bridge.native.inline === 1
    const rest = quicLb === undefined ? { ...given, leaves } : { ...given, leaves, quicLb: quicLbOf(quicLb) }
    this.admission = new Admission(clientsOf(tls ?? {}))
    this.ahead = new Ahead(options.windows?.sendBudget)
    const question = tls === undefined ? rest : { ...rest, tls: tlsOf(tls) }
    const { bridge } = this.bridge
    const listen = (): unknown => bridge.ask('listen', question)
    const { server, ...where } = whenFree(options.port, turnInline, listen) as Address & { server: number }
    this.number = server
    this.isOpen = true
    this.meeting = options.handOver
    this.where = 'address' in where ? where : null
    this.bridge.enlist(this.number, this)
    // HTTP/3 has one socket for all of its connections, which are not left to others: it begins there.
    if (leaves && options.http3 === true) this.startSecond()
    if (options.path !== undefined) {
      openTo(options.path, readableAll, writableAll)
      this.file = fileAt(options.path)
    }
    if (this.wantsHold) this.hold()
  }

  /** Connections over TCP from now on have these limits, timeouts, windows and settings. */
  configure (options: ListenOptions): void {
    if (!this.isOpen || this.bridge.bridge.hasEnded) return
    const { tls: _, quicLb: _ids, ...listen } = options
    this.bridge.bridge.ask('configure', { server: this.number, listen })
  }

  /** Serves a stream that was made in JavaScript. */
  serve (stream: StreamAsk): void { this.bridge.bridge.ask('serve', { server: this.number, stream }) }

  /** A connection of HTTP/2 on a stream that `serve` gets next: its owner has it before the engine. `text`: as `Connection` has it. */
  expect (stream: Carried, text: string): Connection<Listener> {
    const connection = new Connection<Listener>(this.bridge, this, 0, 20, text, stream)
    this.expected.set(stream, connection)
    return connection
  }

  /** The client that listed proxies state (native/server/forwarded.rs). */
  forwarded (question: object): unknown {
    try {
      return this.bridge.bridge.ask('forwarded', question)
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
  }

  /**
   * Serves an accepted socket by its descriptor, of which the engine has a copy from here on; the owner
   * closes the original. What is wrong with it is thrown as the engine says it ([`Failure`]).
   */
  take (fd: number): void { this.bridge.bridge.ask('take', { server: this.number, fd }) }

  /**
   * Waits at `path`, by default that of the option, for a process that is to take the place of this one. True: another process serves on
   * the sockets, and `onHandedOver` was called; false: this one has ended before.
   */
  async handOver (path = this.meeting): Promise<boolean> {
    if (!this.isOpen) return await this.replaced
    if (path === undefined) throw new TypeError('handOver needs a path, because the server has no option of that name')
    if (this.meeting === undefined) {
      try {
        this.bridge.bridge.ask('handOver', { server: this.number, path })
      } catch (failure) {
        throw errorOf(failure as Failure, false)
      }
      this.meeting = path
    }
    if (path !== this.meeting) throw new TypeError(`handOver was given ${path}, and the server waits at ${this.meeting}`)
    return await this.replaced
  }

  /** Null where there is no port, and once it accepts no new connections. */
  address (): Address | null { return this.where }

  /** Stops accepting, lets open exchanges finish for at most `deadlineMs`, then cuts them. */
  close (deadlineMs?: number): void {
    const deadline = deadlineOf(deadlineMs)
    if (!this.isOpen || this.bridge.bridge.hasEnded) return
    try {
      this.bridge.bridge.ask('drain', { server: this.number, deadlineMs: deadline })
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
    // As a handle of libuv that closes, also one that held nothing before.
    this.hold()
    this.leave()
  }

  /**
   * Stops accepting. The engine does so on its own thread; this waits until it has removed the
   * socket's file, so that the next server may take the path.
   */
  private leave (): void {
    this.isOpen = false
    if (this.where !== null) noteLeft(this.where.port)
    this.where = null
    const { file } = this
    this.file = undefined
    if (file !== undefined && fileAt(file.path)?.inode === file.inode) rmSync(file.path, { force: true })
  }

  /** Ends at once, also while it closes. */
  destroy (): void {
    if (!this.isKnown) return
    this.leave()
    this.isStopped = true
    this.bridge.bridge.ask('stop', { server: this.number })
  }

  /** Whether the engine can be asked about it. It cannot from `destroy` on, while `ended` is still to come. */
  private get isKnown (): boolean { return this.number !== 0 && !this.isStopped && !this.bridge.bridge.hasEnded }

  /** Its counts as OpenMetrics text; an exposition without a metric once it has ended, and before it listens. */
  metrics (): string {
    const text = this.isKnown ? this.bridge.bridge.ask('serverMetrics', { server: this.number }) as string | null : null
    return text ?? NO_METRICS
  }

  /** A page that shows its connections; throws where it does not listen. */
  inspect (options: InspectPageOptions): InspectPage {
    const { bridge } = this.bridge
    const open = (page: object): unknown => bridge.ask('inspectServer', { of: this.isKnown ? this.number : 0, ...page })
    return openPage(options, open, page => { if (!bridge.hasEnded) bridge.ask('closeServerPage', { page }) })
  }

  /** The story of a request that failed or was slow, by its number; undefined: it is not kept any more. */
  story (story: number): string | undefined {
    const text = this.isKnown ? this.bridge.bridge.ask('serverStory', { server: this.number, story }) as string | null : null
    return text ?? undefined
  }

  /** Ends the connections that have no exchange. */
  closeIdle (): void {
    for (const connection of this.connections) if (connection.open === 0) connection.shutDown()
  }

  /**
   * Sets another certificate from the next handshake on: the default one, or the one for `name`.
   */
  setIdentity (identity: Identity, name?: string): void {
    if (!this.isKnown) return
    this.bridge.bridge.ask('identity', { server: this.number, name, ...pem(identity) })
  }

  /** A number by which `choose` names this. */
  reportContext (context: ContextAsk): number {
    const { clients, policy } = context
    try {
      return this.bridge.bridge.ask('context', { server: this.number, ...pem(context), clients, policy }) as number
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
  }

  /** Removes a context that is no longer used. */
  forgetContext (context: number): void {
    if (this.isKnown) this.bridge.bridge.ask('forget', { server: this.number, context })
  }

  /**
   * Continues a handshake with this context, by default the server's, and with the protocol at that
   * index among the client's; null: with none of them, which ends it.
   */
  choose ({ ticket }: Hello, context?: number, protocol?: number | null): void {
    this.chosen({ ticket, context, ...(protocol === null ? { noProtocol: true } : { protocol }) })
  }

  /** Refuses a handshake; `onHandshakeFailed` gets the error. */
  refuse ({ ticket }: Hello, error: Error): void {
    if (this.chosen({ ticket, refused: true })) this.refusals.set(ticket, error)
  }

  /** The error of a handshake that was refused. */
  refusalOf (ticket: number): Error | undefined {
    const error = this.refusals.get(ticket)
    this.refusals.delete(ticket)
    return error
  }

  /** Whether the handshake still waits. */
  private chosen (choice: object): boolean {
    // A server that has ended has no waiting handshakes.
    if (!this.isKnown) return false
    return this.bridge.bridge.ask('chosen', { server: this.number, ...choice }) as boolean
  }

  /** Whether it keeps the process alive; it does from `listen` to its end. */
  ref (): void {
    this.wantsHold = true
    if (this.number !== 0) this.hold()
  }

  unref (): void {
    this.wantsHold = false
    if (this.isOpen || this.number === 0) this.release()
  }

  private hold (): void {
    if (!this.isHolding) this.bridge.bridge.hold()
    this.isHolding = true
  }

  private release (): void {
    if (this.isHolding) this.bridge.bridge.release()
    this.isHolding = false
  }

  // The events of the channel.

  opened (connection: Connection): void {
    this.connections.add(connection)
    this.callbacks.onConnection?.(connection)
  }

  /** The engine has an expected connection. */
  begun (connection: Connection, number: number): void {
    this.connections.add(connection)
    connection.begin(number)
  }

  closed (connection: Connection): void {
    connection.closed = true
    this.connections.delete(connection)
    this.callbacks.onConnectionClosed?.(connection)
  }

  /** Another process has the sockets, and the file of a Unix socket with them. */
  handedOver (): void {
    this.file = undefined
    this.callbacks.onHandedOver?.()
    this.reportReplaced(true)
  }

  successorFailed (why: string): void {
    process.emitWarning(`the new process does not serve, this one goes on: ${why}`, { code: 'TRUNKLINE_HAND_OVER' })
  }

  /** Connections that begin are left to a second worker from here on. */
  overloaded (): void { if (this.isKnown) this.startSecond() }

  /** Starts the second worker on an engine's thread; where that cannot run its connections, and HTTP/3, come back. */
  private startSecond (): void {
    const { server, second } = { server: this.number, second: threadsIfThere() }
    if (second === undefined) return void this.bridge.bridge.ask('alone', { server })
    if (this.bridge.bridge.ask('second', { server }) !== true) return
    this.second = second
    second.enlist(second.bridge.ask('join', {}) as number, this)
  }

  /** `half`: to the engine that has ended its worker. */
  ended (half: ServerBridge): void {
    if (half === this.second) this.second = undefined
    else this.hasEnded = true
    if (!this.hasEnded || this.second !== undefined) return
    const { number } = this
    this.number = 0
    // The engine has removed it; another file may have its inode by now.
    this.file = undefined
    this.leave()
    this.release()
    if (!this.bridge.bridge.hasEnded) this.bridge.bridge.ask('stop', { server: number })
    this.callbacks.onClosed?.()
    this.reportReplaced(false)
  }
}

export type { Failure, FailedHandshake, Hello }

// A listening server of HTTP/1.1, HTTP/2 and HTTP/3, below every API: it passes exchanges on as
// they are.

import { HttpVersion } from '../channel/codes'
import { Ahead } from './ahead'
import { rmSync } from 'node:fs'
import { errorOf } from '../errors/failures'
import { NO_METRICS } from '../observe/open_metrics'
import { openPage, type InspectPage, type InspectPageOptions } from '../observe/inspect_page'
import { placeOf, type Engine, type EnginePlace } from '../channel/place'
import { ENDED_FAILURE } from '../channel/callbacks'
import type { Bridge, Failure } from '../channel/ring'
import type { Carried, StreamAsk } from '../channel/streams'
import { theServerBridge, turnInline, type ServerBridge } from './bridge'
import { Admission, clientsOf } from './tls/clients'
import type { Hello, ListenerCallbacks } from './callbacks'
import { Connection } from './connection'
import { ofServer } from './scope'
import { noteLeft, whenFree } from './listen/left_ports'
import { deadlineOf, pem, tlsOf, type Address, type ContextAsk, type Identity, type ListenOptions } from './listen/options'
import { fileAt, openTo, type File } from './listen/path'
import { quicLbOf } from './listen/quic_lb'
import { checkListen } from '../permission'

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
  /** The connections that are open. */
  readonly connections = new Set<Connection>()
  /** Connections on streams whose owner has them before the engine. */
  readonly expected = new WeakMap<Carried, Connection<Listener>>()
  /** The context of its events. */
  readonly scope = ofServer()
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
  /** The file of a Unix socket that was bound here. */
  private file: File | undefined
  private isHolding = false
  private wantsHold = true
  /** `close` was called, whose end holds the process as that of a handle of libuv. */
  private isClosing = false
  /** Open connections that hold the process. */
  private held = 0
  /** Where it waits for the next process. */
  private meeting: string | undefined
  private readonly replaced: Promise<boolean>
  private reportReplaced: (isReplaced: boolean) => void = () => {}
  /** Errors of handshakes that were refused, by their tickets, until they have failed. */
  private readonly refusals = new Map<number, Error>()
  /** The channel's turn in which its last request was reported. */
  turn = 0
  /** The responses of its connections. */
  ahead = new Ahead()
  /** The requested client certificates. */
  admission = new Admission(undefined)

  /**
   * `engine`: where its engine runs; undefined: as the environment says. `connectionsHold`: its open connections hold the
   * process when it does not itself, as handles of node:net.
   */
  constructor (readonly callbacks: ListenerCallbacks, engine?: Engine, private readonly connectionsHold = false) {
    this.place = placeOf(engine)
    this.bridge = theServerBridge(this.place === 'threads' ? 'threads' : 'inline')
    this.replaced = new Promise(resolve => { this.reportReplaced = resolve })
  }

  /** The channel to its engine. */
  get channel (): Bridge { return this.bridge.bridge }

  /** A cold call whose failure is an error. */
  private ask (verb: string, question: object): unknown {
    try {
      return this.channel.ask(verb, question)
    } catch (failure) {
      throw errorOf(failure as Failure, false)
    }
  }

  /** Listens; what is wrong is thrown as the engine says it ([`Failure`]). */
  listen (options: ListenOptions): void {
    if (options.detached !== true) checkListen(options.path ?? '')
    if (this.channel.hasEnded) throw ENDED_FAILURE
    const { tls, readableAll = false, writableAll = false, quicLb, ...given } = options
    const leaves = this.place === 'auto' && this.channel.native.inline === 1
    const rest = quicLb === undefined ? { ...given, leaves } : { ...given, leaves, quicLb: quicLbOf(quicLb) }
    this.admission = new Admission(clientsOf(tls ?? {}))
    this.ahead = new Ahead(options.windows?.sendBudget)
    const question = tls === undefined ? rest : { ...rest, tls: tlsOf(tls) }
    const { server, ...where } = whenFree(options.port, turnInline, () => this.channel.ask('listen', question)) as Address & { server: number }
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
    this.updateHold()
  }

  /** Connections over TCP from now on have these limits, timeouts, windows and settings. */
  configure (options: ListenOptions): void {
    if (!this.isOpen || this.channel.hasEnded) return
    const { tls: _, quicLb: _ids, ...listen } = options
    this.channel.ask('configure', { server: this.number, listen })
  }

  /** Serves a stream that was made in JavaScript. */
  serve (stream: StreamAsk): void { this.channel.ask('serve', { server: this.number, stream }) }

  /** A connection of HTTP/2 on a stream that `serve` gets next: its owner has it before the engine. `text`: as `Connection` has it. */
  expect (stream: Carried, text: string): Connection<Listener> {
    const connection = new Connection<Listener>(this.bridge, this, 0, HttpVersion.Http2, text, stream)
    this.expected.set(stream, connection)
    return connection
  }

  /** The client that listed proxies state (native/server/forwarded.rs). */
  forwarded (question: object): unknown { return this.ask('forwarded', question) }

  /**
   * Serves an accepted socket by its descriptor, of which the engine has a copy from here on; the owner
   * closes the original. What is wrong with it is thrown as the engine says it ([`Failure`]).
   */
  take (fd: number): void { this.channel.ask('take', { server: this.number, fd }) }

  /**
   * Waits at `path`, by default that of the option, for a process that is to take the place of this one. True: another process serves on
   * the sockets, and `onHandedOver` was called; false: this one has ended before.
   */
  async handOver (path = this.meeting): Promise<boolean> {
    if (!this.isOpen) return await this.replaced
    if (path === undefined) throw new TypeError('handOver needs a path, because the server has no option of that name')
    if (this.meeting === undefined) {
      this.ask('handOver', { server: this.number, path })
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
    if (!this.isOpen || this.channel.hasEnded) return
    this.ask('drain', { server: this.number, deadlineMs: deadline })
    this.isClosing = true
    this.updateHold()
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
    this.channel.ask('stop', { server: this.number })
  }

  /** Whether the engine can be asked about it. It cannot from `destroy` on, while `ended` is still to come. */
  private get isKnown (): boolean { return this.number !== 0 && !this.isStopped && !this.channel.hasEnded }

  /** The server's counts as OpenMetrics text; an exposition without a metric once it has ended, and before it listens. */
  metrics (): string {
    const text = this.isKnown ? this.channel.ask('serverMetrics', { server: this.number }) as string | null : null
    return text ?? NO_METRICS
  }

  /** A page that shows its connections; throws where it does not listen. */
  inspect (options: InspectPageOptions): InspectPage {
    const bridge = this.channel
    const open = (page: object): unknown => bridge.ask('inspectServer', { of: this.isKnown ? this.number : 0, ...page })
    return openPage(options, open, page => { if (!bridge.hasEnded) bridge.ask('closeServerPage', { page }) })
  }

  /** The timeline of a request that failed or was slow, by its number; undefined: it is not kept any more. */
  timeline (timeline: number): string | undefined {
    const text = this.isKnown ? this.channel.ask('serverTimeline', { server: this.number, timeline }) as string | null : null
    return text ?? undefined
  }

  /** Ends the connections that have no exchange; returns how many. */
  closeIdle (): number {
    const idle = [...this.connections].filter(({ open, isShutDown }) => open === 0 && !isShutDown)
    for (const connection of idle) connection.shutDown()
    return idle.length
  }

  /**
   * Sets another certificate from the next handshake on: the default one, or the one for `name`.
   */
  setIdentity (identity: Identity, name?: string): void {
    if (this.isKnown) this.ask('identity', { server: this.number, name, ...pem(identity) })
  }

  /** A number by which `choose` names this. */
  reportContext (context: ContextAsk): number {
    const { clients, policy } = context
    return this.ask('context', { server: this.number, ...pem(context), clients, policy }) as number
  }

  /** Removes a context that is no longer used. */
  forgetContext (context: number): void {
    if (this.isKnown) this.channel.ask('forget', { server: this.number, context })
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
    return this.channel.ask('chosen', { server: this.number, ...choice }) as boolean
  }

  /** Whether it keeps the process alive; it does from `listen` to its end. */
  ref (): void {
    this.wantsHold = true
    this.updateHold()
  }

  unref (): void {
    this.wantsHold = false
    this.updateHold()
  }

  /** Whether this connection keeps the process alive where the server does not. */
  keep (connection: Connection, holds: boolean): void {
    if (!this.connectionsHold || connection.isHeld === holds || !this.connections.has(connection)) return
    connection.isHeld = holds
    this.held += holds ? 1 : -1
    this.updateHold()
  }

  /** Holds the process as long as one of its reasons does. */
  private updateHold (): void {
    const holds = this.number !== 0 && (this.wantsHold || this.isClosing || this.held > 0)
    if (holds === this.isHolding) return
    this.isHolding = holds
    if (holds) this.channel.hold()
    else this.channel.release()
  }

  // The events of the channel.

  opened (connection: Connection): void {
    this.connections.add(connection)
    // A stream of JavaScript holds the process by itself.
    if (connection.stream === undefined) this.keep(connection, true)
    this.callbacks.onConnection?.(connection)
  }

  /** The engine has an expected connection. */
  begun (connection: Connection, number: number): void {
    this.connections.add(connection)
    connection.begin(number)
  }

  closed (connection: Connection): void {
    connection.closed = true
    this.keep(connection, false)
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
    if (second === undefined) return void this.channel.ask('alone', { server })
    if (this.channel.ask('second', { server }) !== true) return
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
    this.updateHold()
    if (!this.channel.hasEnded) this.channel.ask('stop', { server: number })
    this.callbacks.onClosed?.()
    this.reportReplaced(false)
  }
}

// The stand-in for a connection's socket: addresses, TLS parameters, end and timeout. Its bytes
// belong to the engine. Sessions and requests expose it through proxies that refuse calls which
// would disturb HTTP, as in node:http2.

import type { X509Certificate } from 'node:crypto'
import net from 'node:net'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { nodeLine } from '../../node_version'
import { HttpVersion } from '../../channel/codes'
import type { Connection } from '../../server/connection'
import { coded, ErrorCode, plain } from '../codes'
import { Timer } from '../callbacks/timer'
import { waitingPieces } from '../callbacks/waiting'
import { notProvided } from '../../server/refused'
import { nextTick, setImmediate } from '../../timers'

/** The bytes of a connection or a stream that has left HTTP, as those of a socket. */
export interface SocketBytes {
  /** All has come, and a part of it waits for its reader. */
  readonly isUnread: boolean
  /** The reader has room. */
  read: () => void
  write: (chunk: Buffer, done: (error?: Error) => void) => void
  /** Nothing more is written. */
  finish: (done: () => void) => void
  /** The socket was destroyed. */
  leave: () => void
}

/** The end of a connection has a code from HTTP/2 on. */
const endNow = (connection: Connection): void => { connection.abort(connection.version >= HttpVersion.Http2 ? ErrorCode.NoError : undefined) }

export class Socket extends Duplex {
  /** Set on sockets with TLS only: programs know those without by what they do not have. */
  declare readonly encrypted: true | undefined
  declare readonly alpnProtocol: string | false | undefined
  declare readonly servername: string | false | undefined
  declare readonly authorized: boolean | undefined
  /** Why the client is not authorized: a code of node:tls. */
  declare readonly authorizationError: string | null | undefined
  readonly connecting = false
  declare timeout: number | undefined
  server: unknown
  /** The newest response of a connection of HTTP/2 or HTTP/3 in the form of node:http, while one is open. */
  $newestResponse: object | null = null
  /** The error of its transport, with which it is destroyed. */
  $failure: Error | null = null
  /** Its transport has failed, whether a listener gets the error or not. */
  $hasFailed = false
  /** `close` was emitted, or is emitted now. */
  private $isOver = false
  /** The calls of `$whenClosed` that wait. */
  private readonly $closing = new Set<() => void>()
  private $timer: Timer | undefined
  private $bytes: SocketBytes | undefined
  /** A reader has room. */
  private $wantsBytes = false
  /** The action of its end before `carry`. */
  private $endsBefore = (): void => {}
  private $ends: () => void
  /** It is the connection's, and not that of a stream. */
  private readonly $isWhole: boolean

  /** `ends`: its end, where it is not the connection's. */
  constructor (readonly $of: Connection, ends?: () => void) {
    super({ allowHalfOpen: true, emitClose: false })
    this.$isWhole = ends === undefined
    this.$ends = ends ?? (() => { endNow($of) })
    if (!$of.encrypted) return
    this.encrypted = true
    this.timeout = 0
    this.authorized = $of.client.isAuthorized
    this.authorizationError = $of.client.error
    this.alpnProtocol = $of.alpn ?? false
    this.servername = $of.servername ?? false
    const given = $of.stream as Partial<Socket> | undefined
    if (given?.encrypted !== true) return
    this.authorized = given.authorized
    this.authorizationError = given.authorizationError
  }

  get remoteAddress (): string | undefined { return this.$of.remoteAddress }
  get remotePort (): number | undefined { return this.$of.remotePort }
  get remoteFamily (): string | undefined { return this.$of.remoteFamily }
  get localAddress (): string | undefined { return this.$of.localAddress }
  get localPort (): number | undefined { return this.$of.localPort }
  get localFamily (): string | undefined { return this.$of.remoteFamily }
  get pending (): boolean { return false }
  get readyState (): string {
    if (this.readable) return this.writable ? 'open' : 'readOnly'
    return this.writable ? 'writeOnly' : 'closed'
  }
  get bufferSize (): number { return this.writableLength }
  get bytesRead (): number { return this.$of.traffic[0] }
  get bytesWritten (): number { return this.$of.traffic[1] }
  address (): object {
    const { localAddress: address, localFamily: family, localPort: port } = this
    return address === undefined ? {} : { address, family, port }
  }
  setNoDelay (): this { return this }
  setKeepAlive (): this { return this }
  ref (): this {
    this.$of.ref()
    return this
  }
  unref (): this {
    this.$of.unref()
    return this
  }

  setTimeout (time: number, listener?: () => void): this {
    if (this.destroyed) return this
    this.timeout = time
    this.$timer = Timer.set(this.$timer, time, listener, this, () => { this.$onTimeout() })
    return this
  }
  /** Reports that nothing has happened for the time that was set. */
  protected $onTimeout (): void { this.emit('timeout') }
  /** A sign of life. */
  $refresh (): void { this.$timer?.refresh() }

  /** Ends with a reset of TCP, where it has the connection for itself. */
  resetAndDestroy (): this {
    const reset = (): void => { this.$of.abort(undefined, true) }
    // Bytes that were written before have to go first: node's sockets give it to the system at once.
    const { version } = this.$of
    if (!this.destroyed && (version < HttpVersion.Http2 || (version === HttpVersion.Http2 && this.$isWhole && !this.$isCarrying))) this.$ends = () => { setImmediate(reset) }
    return this.destroy()
  }

  /** As on a socket of node:net: ends, and is destroyed when what was written has gone. */
  destroySoon (): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => { this.destroy() })
  }

  /** Replaces what is read and written: these bytes, from now on. */
  $carry (bytes: SocketBytes): void {
    this.$bytes = bytes
    this.$endsBefore = this.$ends
    this.$ends = () => {
      // A socket of the system has taken these by now, and they leave.
      for (const piece of waitingPieces(this)) bytes.write(piece, () => {})
      bytes.leave()
    }
    if (this.$wantsBytes) bytes.read()
  }

  /** Ends what `carry` began: its bytes belong to the engine again. */
  $letGo (): void {
    this.$bytes = undefined
    this.$ends = this.$endsBefore
  }

  /** Whether it has bytes: its connection, or its stream, has left HTTP. */
  get $isCarrying (): boolean { return this.$bytes !== undefined }

  /** The connection goes on without it. */
  $release (): void { this.$ends = () => {} }

  /** The connection is no more. */
  $gone (): void {
    if (this.destroyed) return
    // As on a socket of the system what came in front of the end is read first, however slow its reader is.
    if (this.$bytes?.isUnread === true) return void this.once('end', () => { this.destroy() })
    this.push(null)
    this.destroy()
  }

  /** The connection of a session is no more, by an end of both its directions that listeners get; of ours first where `byUs`. Behind both it is destroyed. */
  $goneInOrder (byUs: boolean): void {
    if (this.destroyed) return
    if (byUs || this.readableEnded) this.end()
    else this.once('end', () => { this.end() })
    this.push(null)
    this.resume()
    // A reader that takes no end, as one of `readable`, does not keep it.
    setImmediate(() => { this.destroy() })
  }

  override _read (): void {
    this.$wantsBytes = true
    this.$bytes?.read()
  }
  override _write (chunk: Buffer, _encoding: unknown, done: (error?: Error) => void): void {
    if (this.$bytes !== undefined) return this.$bytes.write(chunk, done)
    // Node's responses write nothing behind what they wrote, to learn of its end.
    done(chunk.length === 0 ? undefined : plain('ERR_HTTP2_NO_SOCKET_MANIPULATION'))
  }
  override _final (done: () => void): void {
    if (this.$bytes !== undefined) return this.$bytes.finish(done)
    // Where the connection drains, a first request that is on its way is answered: nothing is, behind the end of a socket.
    if (this.$of.isUsed) this.$of.shutDown()
    else {
      this.$of.isTurnedAway = true
      endNow(this.$of)
    }
    done()
  }
  override _destroy (error: Error | null, done: (error: Error | null) => void): void {
    this.$timer?.stop()
    this.$ends()
    const reason = error ?? this.$failure
    done(reason)
    this.$closeLater(() => {
      this.$onClose()
      this.$isOver = true
      for (const call of this.$closing) call()
      // As node:net has it, which says whether there was an error.
      this.emit('close', reason !== null)
    })
  }
  /** As with node:net, when the loop has come round. */
  protected $closeLater (call: () => void): void { setImmediate(call) }
  /** Calls `call` in front of the listeners of `close`, or at once behind them; what it returns takes it back. It is no listener: a connection of
   * HTTP/2 may have hundreds. */
  $whenClosed (call: () => void): () => void {
    if (this.$isOver) call()
    else this.$closing.add(call)
    return () => { this.$closing.delete(call) }
  }
  /** In front of its listeners of `close`. */
  protected $onClose (): void {}
}

// Programs test for sockets by their class. Nothing of node's has a handle here: what would need one is not inherited.
Object.setPrototypeOf(Socket.prototype, net.Socket.prototype)
Object.defineProperty(Socket.prototype, 'constructor', { value: net.Socket, writable: true, configurable: true })
Object.defineProperty(Socket.prototype, '_writev', { value: null, writable: true, configurable: true })

/** A suite of IANA's registry as OpenSSL names it. */
function nameOf (suite: string): string {
  if (!suite.includes('_WITH_')) return suite
  return suite.slice('TLS_'.length).replace('_WITH_', '-').replace('AES_', 'AES').replaceAll('_', '-').replace('POLY1305-SHA256', 'POLY1305')
}

/** Methods of sockets with TLS only. */
class SecureMembers extends Socket {
  getProtocol (): string | null { return this.$of.tlsProtocol }
  getPeerCertificate (detailed = false): object { return this.$under?.getPeerCertificate?.(detailed) ?? this.$of.client.legacy(detailed) }
  getPeerX509Certificate (): X509Certificate | undefined { return this.$under?.getPeerX509Certificate?.() ?? this.$of.client.displayed[0] }
  /** undefined: it is not known, as over QUIC. */
  isSessionReused (): boolean | undefined { return this.$under?.isSessionReused?.() ?? this.$of.isResumed }
  /** As with node, a server has none. */
  getTLSTicket (): undefined {}
  /** False: the engine sets the size of its records. */
  setMaxSendFragment (size: number): boolean { return this.$under?.setMaxSendFragment?.(size) ?? false }
  /** Fails as with node where renegotiation is disabled: the engine never renegotiates. */
  renegotiate (options: object, callback?: (error: Error | null) => void): boolean | undefined {
    const under = this.$under
    if (under?.renegotiate !== undefined) return under.renegotiate(options, callback)
    if (callback !== undefined) nextTick(callback, coded(Error, 'ERR_TLS_RENEGOTIATION_DISABLED', 'TLS session renegotiation disabled for this socket'))
    return false
  }
  exportKeyingMaterial (length: number, label: string, context: Buffer): Buffer {
    const under = this.$under
    if (under?.exportKeyingMaterial !== undefined) return under.exportKeyingMaterial(length, label, context)
    throw notProvided('exportKeyingMaterial is not taken: the engine does not give out what is derived from the secrets of its sessions')
  }
  /** Where nothing is known of it, as over QUIC, its names are empty. */
  getCipher (): object {
    const { cipherSuite, tlsProtocol: version } = this.$of
    return this.$under?.getCipher?.() ?? { name: nameOf(cipherSuite ?? ''), standardName: cipherSuite ?? '', version }
  }
  /** The TLS socket that was given, and knows more. */
  private get $under (): Partial<SecureMembers> | undefined { return this.$of.stream as Partial<SecureMembers> | undefined }
}

/** Methods that the TLS socket that was given answers; the engine gives nothing of its sessions out, so that node's own say of them that there is nothing. */
const OF_SESSION = ['getSession', 'getFinished', 'getPeerFinished', 'getSharedSigalgs', 'getEphemeralKeyInfo', 'getCertificate', 'getX509Certificate', 'enableTrace', 'disableRenegotiation'] as const
for (const name of OF_SESSION) {
  const nodes = tls.TLSSocket.prototype[name] as ((...given: unknown[]) => unknown) | undefined
  const value = function (this: Socket, ...given: unknown[]): unknown {
    const under = this.$of.stream as Partial<tls.TLSSocket> | undefined
    return under?.[name] === undefined ? nodes?.apply(this, given) : (under[name] as NonNullable<typeof nodes>).apply(under, given)
  }
  Object.defineProperty(SecureMembers.prototype, name, { value, writable: true, configurable: true })
}

const secured = new Map<object, Function>()

/** The class of sockets under TLS: as `Made`, and also of node:tls by its class. */
function securedOf (Made: Function): Function {
  const known = secured.get(Made)
  if (known !== undefined) return known
  const TLSSocket = function () {}
  const ours: object[] = [SecureMembers.prototype]
  for (let { prototype } = Made as { prototype: object }; prototype !== net.Socket.prototype; prototype = Object.getPrototypeOf(prototype) as object) ours.push(prototype)
  for (const prototype of ours) {
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (!Object.hasOwn(TLSSocket.prototype as object, name) || name === 'constructor') Object.defineProperty(TLSSocket.prototype, name, member)
    }
  }
  Object.setPrototypeOf(TLSSocket.prototype, tls.TLSSocket.prototype)
  Object.defineProperty(TLSSocket.prototype, 'constructor', { value: tls.TLSSocket, writable: true, configurable: true })
  secured.set(Made, TLSSocket)
  return TLSSocket
}

/** A socket of a connection, of node's class for it too. */
export function socketOf<S extends Socket, A extends unknown[]> (Made: new (...given: A) => S, isSecure: boolean, ...given: A): S {
  if (!isSecure) return new Made(...given)
  const socket = Reflect.construct(Made, given, securedOf(Made)) as S
  // Servers of node:tls listen to the errors of each of theirs, so that none ends the process.
  socket.on('error', () => {})
  return socket
}

type Bag = Record<string | symbol, unknown>

/** A member of `owner`, a function bound to it. */
function member (owner: object, name: string | symbol): unknown {
  const value = (owner as Bag)[name]
  return typeof value === 'function' ? value.bind(owner) as unknown : value
}

/** From this line on node lets a session's socket be destroyed. */
const mayDestroy = nodeLine >= 24
const REFUSED_OF_SESSIONS = new Set<string | symbol>([
  'emit', 'end', 'pause', 'read', 'resume', 'write', 'setEncoding', 'setKeepAlive', 'setNoDelay'
])
const OF_SESSIONS = new Set<string | symbol>(['setTimeout', 'ref', 'unref', 'destroy'])

/** A session, as far as its proxies need it; undefined: its connection has ended. */
interface SocketOwner { readonly $rawSocket: Socket | undefined }

/** `session.socket`. */
export function sessionSocket (session: SocketOwner): Socket {
  const under = (): Socket => {
    if (session.$rawSocket === undefined) throw plain('ERR_HTTP2_SOCKET_UNBOUND')
    return session.$rawSocket
  }
  const refuse = (name: string | symbol): void => {
    if (REFUSED_OF_SESSIONS.has(name) || (name === 'destroy' && !mayDestroy)) throw plain('ERR_HTTP2_NO_SOCKET_MANIPULATION')
  }
  return new Proxy(session, {
    get (_, name) {
      refuse(name)
      if (OF_SESSIONS.has(name)) return member(session, name)
      return member(under(), name)
    },
    getPrototypeOf: () => Object.getPrototypeOf(under()) as object,
    set (_, name, value) {
      refuse(name)
      ;((OF_SESSIONS.has(name) ? session : under()) as unknown as Bag)[name] = value
      return true
    }
  }) as unknown as Socket
}

const REFUSED_OF_STREAMS = new Set<string | symbol>(['write', 'read', 'pause', 'resume'])
const OF_STREAMS = new Set<string | symbol>(['on', 'once', 'end', 'emit', 'destroy', 'writable', 'destroyed'])

/** `request.socket` and `response.socket`; `readable` is the request's, where there is one. */
export function streamSocket (stream: { readonly session: SocketOwner | undefined; readonly destroyed: boolean }, readable: () => boolean): Socket {
  const under = (): object => stream.session?.$rawSocket ?? stream
  const refuse = (name: string | symbol): void => {
    if (REFUSED_OF_STREAMS.has(name)) throw plain('ERR_HTTP2_NO_SOCKET_MANIPULATION')
  }
  return new Proxy(stream, {
    has: (_, name) => name in stream || name in under(),
    get (_, name) {
      if (OF_STREAMS.has(name)) return member(stream, name)
      if (name === 'readable') return !stream.destroyed && readable()
      if (name === 'setTimeout') return member(stream.session ?? stream, name)
      refuse(name)
      return member(under(), name)
    },
    getPrototypeOf: () => Object.getPrototypeOf(under()) as object,
    set (_, name, value) {
      refuse(name)
      const owner = OF_STREAMS.has(name) || name === 'readable' ? stream : name === 'setTimeout' ? stream.session ?? stream : under()
      ;(owner as unknown as Bag)[name] = value
      return true
    }
  }) as unknown as Socket
}

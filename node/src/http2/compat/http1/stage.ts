// The sockets of requests and responses in the form of node:http: timeouts and listeners follow the request in progress, and a
// socket that the server has left is the program's alone.

import type { IncomingMessage } from 'node:http'
import { HttpVersion } from '../../../channel/codes'
import { coded } from '../../codes'
import { Socket } from '../../connection/socket'
import { writableLengthOf } from '../../stream/lazy_duplex'
import { carried, keptFor, type PendingAnswer, type EndNotifier, type Response } from './members'
import { nextTick } from '../../../timers'

/** The socket of exchanges in the form of node:http: a connection's of HTTP/1.1, or one exchange's. */
export class Stage extends Socket {
  declare server: EndNotifier
  /** The response in progress. */
  declare _httpMessage?: Response | null
  declare _hadError?: boolean
  /** The stage of the connection of HTTP/1.1, where an answer of another request goes first. */
  $before: Stage | undefined
  /** The stage of the request in front of this one, which is answered first. */
  $ahead: Stage | undefined
  /** The stage of a connection's newest request. */
  $newest: Stage | undefined
  /** The exchange of the request that came last, whose answer may be written here by hand. */
  $answering: PendingAnswer | undefined
  /** Requests so far. */
  $requestCount = 0
  /** The server's listener of errors. */
  $errorListener: ((error: Error) => void) | undefined
  /** Its connection has ended, and `end` and `close` are emitted next. */
  private $isEnding = false
  /** The answer that has gone is the last. */
  private $isLast = false
  /** The server's timeout runs. */
  private $isLimited = false
  /** Marks stages: under TLS they have another class beside this one. */
  $isStage = true
  /** The connection is one of HTTP/2, each of whose responses has a socket of its own. */
  private $isOfMany = false

  /** Programs read the newest request of a connection there: `socket.parser.incoming`. */
  get parser (): { readonly incoming: IncomingMessage | null } | null {
    return this.$isStage ? { incoming: (this.$newest ?? this).$answering?.incoming ?? null } : null
  }

  set parser (value) { Object.defineProperty(this, 'parser', { value, writable: true, enumerable: true, configurable: true }) }

  static is (socket: Socket): socket is Stage { return (socket as { $isStage?: boolean }).$isStage === true }

  /** The connection is one of HTTP/2, whose session counts the time. */
  $leaveHttp1 (): void {
    this.$isStage = false
    this.$isOfMany = true
    this.$forgetErrors()
    this.setTimeout(0)
  }

  /** The response that is written here. */
  get $written (): PendingAnswer | undefined { return this.$isOfMany ? undefined : this._httpMessage?.[carried] }

  private $forgetErrors (): void {
    if (this.$errorListener !== undefined) this.off('error', this.$errorListener)
    this.$errorListener = undefined
  }

  /** Leaves the bytes to the program: the server does not listen to it any more. */
  $leaveServer (): this {
    this.$isStage = false
    this.$forgetErrors()
    ;(this as { readableFlowing: boolean | null }).readableFlowing = null
    return this
  }

  /** The timeout of the server runs during a request; between requests the engine's applies. One that a program has set
   * stays where the server has none, as with node:http. */
  $limit (time: number): void {
    if (time > 0 && this.timeout !== time) {
      this.setTimeout(time)
      this.$isLimited = true
    } else if (time === 0) this.$unlimit()
    else this.$refresh()
  }

  /** A request has been answered. Where the server has listeners for timeouts, `timeout` is emitted for a connection without a request
   * for its `keepAliveTimeout`; the engine closes it later. */
  $answered (): void {
    const { keepAliveTimeout = 0, keepAliveTimeoutBuffer } = this.server
    if (this.$isStage && keepAliveTimeout > 0 && this.server.listenerCount('timeout') > 0) {
      this.setTimeout(keptFor(keepAliveTimeout, keepAliveTimeoutBuffer))
      this.$isLimited = true
    } else this.$unlimit()
  }

  private $unlimit (): void {
    if (this.$isLimited) this.setTimeout(0)
    this.$isLimited = false
  }

  /** Bytes of the response in progress count, too, that the connection has not written yet. */
  override get bytesWritten (): number { return super.bytesWritten + (this.$written?.unsent ?? 0) }

  override _write (chunk: Buffer, encoding: unknown, done: (error?: Error) => void): void {
    if (!this.$isCarrying) this.$answering?.answerByHand()
    super._write(chunk, encoding, done)
  }

  /** An answer that was given whole goes, also where its socket is destroyed in the same turn: as with node `finish` comes before `close`. */
  override _destroy (error: Error | null, done: (error: Error | null) => void): void {
    this.$written?.settle()
    super._destroy(error, done)
  }

  /** As with node, whose socket ends behind what it has sent: the answer in progress is cut. */
  override _final (done: () => void): void {
    if (this.$isCarrying || !this.$isStage || !this._httpMessage || this.$isEnding) return super._final(done)
    done()
    nextTick(() => { this.$gone() })
  }

  /** Ends behind its last answer: as with node there is no `end` of the client then. */
  $endLast (): void {
    this.$isLast = true
    this.end()
  }

  /** As with node, a client that ends its connection of HTTP/1.1 ends both sides of the socket, which then closes. */
  override $gone (): void {
    if (this.$of.version >= HttpVersion.Http2 || this.$before !== undefined || this.$isCarrying || this.$isLast || this.$failure !== null) return super.$gone()
    if (this.destroyed || this.$isEnding) return
    this.$isEnding = true
    if (this.readableEnded) return void this.end()
    this.once('end', () => { this.end() })
    this.push(null)
    this.resume()
  }

  /** Behind the end of its connection nothing is waited for. */
  protected override $closeLater (call: () => void): void {
    if (this.$isEnding) nextTick(call)
    else super.$closeLater(call)
  }

  protected override $onClose (): void { this.$written?.abandon() }

  override setEncoding (): never { throw coded(Error, 'ERR_HTTP_SOCKET_ENCODING', 'Changing the socket encoding is not allowed per RFC7230 Section 3.') }

  /** As in node:http: without a listener for it, a timeout ends the connection. */
  protected override $onTimeout (): void {
    if (!this.$isStage) return super.$onTimeout()
    // A response that waits for its turn has no time of its own.
    if (this.$before?.destroyed === true) return
    if (this.$before?._httpMessage != null || this.$ahead?._httpMessage != null) return this.$refresh()
    const { _httpMessage: response } = this
    const request = response?.req
    const received = [
      request?.complete === false && request.emit('timeout', this), response?.emit('timeout', this), this.server.emit('timeout', this)
    ]
    if (!received.includes(true)) this.destroy()
    // The server has listened before any program.
    super.$onTimeout()
  }
}

Object.defineProperty(Stage.prototype, 'constructor', { value: Socket.prototype.constructor, writable: true, configurable: true })
/** Bytes of the response in progress count that the connection has not taken: by them programs know a client that does not read. */
Object.defineProperty(Stage.prototype, 'writableLength', {
  get (this: Stage): number { return (writableLengthOf.get!.call(this) as number) + (this.destroyed ? 0 : this.$written?.awaited ?? 0) },
  configurable: true
})

/** A response that is destroyed with an error destroys its socket with it, as `pipeline` does: that is
 * the connection's affair, as on servers of node:http, and not uncaught. */
export function receiveErrors (server: EndNotifier, socket: Socket): void {
  const listener = (error: Error): void => { if (!server.emit('clientError', error, socket)) socket.destroySoon() }
  ;(socket as Stage).$errorListener = listener
  socket.on('error', listener)
}

/** Whether the socket of a connection has no response in progress, and can go with the bytes behind it. */
export const isFree = (shared: Socket | undefined): shared is Stage => shared !== undefined && Stage.is(shared) && !shared._httpMessage && !shared.destroyed

// Streams passed to a server in place of accepted connections: `server.emit('connection', stream)`,
// and 'secureConnection' where TLS is done already.

import net from 'node:net'
import type { Identity, Listener } from '../../server/listener'
import { isDuplex, streamsOf, type Carried } from '../../channel/streams'
import { invalidType, plain } from '../codes'
import { Socket } from './socket'

/** The protocol of a stream under TLS without ALPN, as with node:http2. */
const UNNAMED = 'h2'

/** Whether a handle of the system's holds the process for it. */
function isAdopted (stream: Carried): boolean {
  return stream instanceof net.Socket && !(stream instanceof Socket) && (stream as Carried).encrypted !== true
}

/** The streams that are given to one server. They are served by a server of the engine's that listens nowhere and
 * ends with the last of them, so that a server that never listens needs no `close`. */
export class AdoptedStream {
  /** Of the streams that are open, if there are any. */
  listener: Listener | undefined
  private open = 0
  private readonly secured = new WeakSet<Carried>()

  /** `make` makes the listener that listens nowhere. */
  constructor (private readonly make: () => Listener) {}

  /** Serves a stream. */
  take (given: unknown, isSecured: boolean): void {
    if (!isDuplex(given)) throw invalidType('socket', 'an instance of stream.Duplex', given)
    const stream: Carried = given
    // The bytes of a connection are the engine's, until it has left HTTP.
    if (given instanceof Socket && !given.isCarrying) throw plain('ERR_HTTP2_NO_SOCKET_MANIPULATION')
    const listener = (this.listener ??= this.make())
    const carrier = streamsOf(listener.channel).carry(stream)
    this.open++
    if (!isAdopted(stream)) streamsOf(listener.channel).hold(carrier)
    carrier.onReleased = () => {
      if (--this.open > 0 || this.listener !== listener) return
      this.listener = undefined
      listener.destroy()
    }
    if (isSecured) this.secured.add(stream)
    const { alpnProtocol } = stream
    listener.serve(carrier.described(isSecured ? alpnProtocol || (alpnProtocol === false ? '' : UNNAMED) : undefined))
    carrier.begin()
  }

  /** Whether TLS was done when its listeners got the stream. */
  isSecured (stream: Carried): boolean { return this.secured.has(stream) }

  /** Lets what is open finish. */
  close (deadlineMs: number | undefined): void {
    const { listener } = this
    this.listener = undefined
    listener?.close(deadlineMs)
  }

  setIdentity (identity: Identity, name?: string): void { this.listener?.setIdentity(identity, name) }
  destroy (): void { this.listener?.destroy() }
  closeIdle (): void { this.listener?.closeIdle() }
}

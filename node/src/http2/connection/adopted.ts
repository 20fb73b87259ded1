// Streams passed to a server in place of accepted connections: `server.emit('connection', stream)`,
// and 'secureConnection' where TLS is done already.

import net from 'node:net'
import type { Identity } from '../../server/listen/options'
import type { Listener } from '../../server/listener'
import { isDuplex, streamsOf, type Carried, type Carrier } from '../../channel/streams'
import type { Connection } from '../../server/connection'
import { invalidType, plain } from '../codes'
import { Socket } from './socket'

/** The protocol of a stream under TLS without ALPN, as with node:http2. */
const UNNAMED = 'h2'

/** Whether a handle of the system's holds the process for it. */
function isAdopted (stream: Carried): boolean {
  return stream instanceof net.Socket && !(stream instanceof Socket) && (stream as Carried).encrypted !== true
}

function checked (given: unknown): Carried {
  if (!isDuplex(given)) throw invalidType('socket', 'an instance of stream.Duplex', given)
  // The bytes of a connection are the engine's, until it has left HTTP.
  if (given instanceof Socket && !given.$isCarrying) throw plain('ERR_HTTP2_NO_SOCKET_MANIPULATION')
  return given
}

/** The streams that are given to one server. They are served by a server of the engine's that listens nowhere and
 * ends with the last of them, so that a server that never listens needs no `close`. */
export class AdoptedStream {
  /** The listener of the streams that are open, if there are any. */
  listener: Listener | undefined
  private open = 0
  private readonly secured = new WeakSet<Carried>()

  /** Streams whose connections are known to be of one version or another. */
  private readonly begun = new WeakSet<Carried>()

  /** `make` makes the listener that listens nowhere; `failed` gets a stream that failed before its first byte said what it carries. */
  constructor (private readonly make: () => Listener, private readonly failed: (listener: Listener, stream: Carried, error: Error) => void) {}

  /** The connection of a stream has begun: its errors are the connection's. */
  begin (stream: Carried): void { this.begun.add(stream) }

  /** Serves a stream. */
  take (given: unknown, isSecured: boolean): void {
    const stream = checked(given)
    const { alpnProtocol } = stream
    if (isSecured) this.secured.add(stream)
    const { listener, carrier } = this.carry(stream)
    stream.once('error', (error: Error) => { if (!this.begun.has(stream)) this.failed(listener, stream, error) })
    listener.serve(carrier.described(isSecured ? alpnProtocol || (alpnProtocol === false ? '' : UNNAMED) : undefined))
    carrier.begin()
  }

  /** Serves a stream with HTTP/2, whatever it says of its protocol; its connection is there before the engine has begun it. */
  expect (given: unknown): Connection {
    const stream = checked(given)
    const { listener, carrier } = this.carry(stream)
    const { encrypted, servername } = stream
    const connection = listener.expect(stream, encrypted === true ? ['', '', '', '', stream.getProtocol?.() ?? '', UNNAMED, servername || ''].join('\0') : '')
    listener.serve({ ...carrier.described(encrypted === true ? UNNAMED : undefined), http2: true })
    carrier.begin()
    return connection
  }

  private carry (stream: Carried): { listener: Listener; carrier: Carrier } {
    const listener = (this.listener ??= this.make())
    const carrier = streamsOf(listener.channel).carry(stream)
    this.open++
    if (!isAdopted(stream)) streamsOf(listener.channel).hold(carrier)
    carrier.onReleased = () => {
      if (--this.open > 0 || this.listener !== listener) return
      this.listener = undefined
      listener.destroy()
    }
    return { listener, carrier }
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

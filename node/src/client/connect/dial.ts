// Connections opened by a user's function, in the form of undici's `connect` option.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { ClientDestroyedError, InvalidArgumentError, SocketError } from '../../errors'
import { errorOf, keepOwnError } from '../../errors/failures'
import type { Bridge, Failure } from '../../channel/ring'
import { isDuplex, streamsOf, type Carried } from '../../channel/streams'

/** The arguments of a connector. */
export interface ConnectorOptions {
  /** The host to connect to, without port. */
  hostname: string
  /** The host with the port, where the URL has one. */
  host?: string | undefined
  /** `http:` or `https:`. */
  protocol: string
  /** The port as text; empty for the protocol's default. */
  port: string
  /** The name that the certificate must have, where it is not the host's. */
  servername?: string | undefined
  /** The local address to connect from, as in the options. */
  localAddress?: string | null | undefined
  /** The Unix socket to connect to, as in the options. */
  socketPath?: string | null | undefined
  /** False: only HTTP/1.1 can be used. */
  allowH2?: boolean | undefined
  /** A socket to begin TLS on, in place of a new one. */
  httpSocket?: Socket | undefined
}

/** Takes the connector's result: null and a socket, or an error and null. */
export type ConnectorCallback = (...result: [null, Socket | TLSSocket] | [Error, null]) => void

/**
 * Makes a connection: a `Duplex` of any kind, under TLS where the protocol is `https:`. HTTP/2 is spoken on it
 * where its `alpnProtocol` is `h2`, and HTTP/1.1 otherwise.
 */
export type Connector = (options: ConnectorOptions, callback: ConnectorCallback) => void

/** Dispatcher options that are passed on to its connector. */
export interface Extras {
  localAddress: string | null
  socketPath?: string
  allowH2?: boolean
}

/** The engine's request for a connection (dial.rs). */
interface Question { origin: string; serverName: string | null; isHttp1: boolean }

/** The requests that fail with a connector. */
type Fails = 'all' | 'next' | 'none'

/** The dispatcher of a connector. */
export interface DialOwner {
  /** It takes no connection any more. */
  readonly destroyed: boolean
  /** Undici would have a client for each of its connections, which waits for one request. */
  readonly hasPools: boolean
  /** Runs `work` in the async context of the origin's last request, as undici calls a connector: tracers and mocks look there for the request. */
  within: <R> (url: URL, work: () => R) => R
}

/** undici's codes of errors for which no request fails: it connects again. */
const CONNECTS_AGAIN = new Set(['UND_ERR_SOCKET', 'UND_ERR_INFO'])

/** Has one dispatcher's connector make its connections. */
export class Dialer {
  /** `h2c`: `http:` is HTTP/2 by prior knowledge, where the stream does not say what it is. */
  constructor (private readonly bridge: Bridge, readonly connector: Connector, private readonly extras: Extras, private readonly h2c: boolean, private readonly owner: DialOwner) {}

  /** Answers the engine's question, once. */
  dial (ticket: number, text: string): void {
    const { origin, serverName, isHttp1 } = JSON.parse(text) as Question
    const url = new URL(origin)
    const { host, hostname, protocol, port } = url
    const { localAddress, ...others } = this.extras
    const options = {
      host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), protocol, port, servername: serverName,
      localAddress, ...others, ...(isHttp1 ? { allowH2: false } : {})
    }
    let isAnswered = false
    let isWithin = true
    const answer = (error: unknown, stream: unknown): void => {
      if (isAnswered) return isDuplex(stream) ? discard(stream) : undefined
      isAnswered = true
      if (this.owner.destroyed) {
        // At once, as undici: behind the end nothing holds the process until the engine has closed it.
        if (isDuplex(stream)) discard(stream, new ClientDestroyedError())
        this.bridge.ask('dialed', { ticket })
        return
      }
      if (error != null) return this.fail(ticket, error as Error, this.failing(error as Error, isWithin))
      if (!isDuplex(stream)) return this.fail(ticket, new InvalidArgumentError('connect called back without an error and without a Duplex; it must give one of them'))
      const end = stream.errored ?? (stream.destroyed ? new SocketError('destroyed') : null)
      if (end !== null) return this.fail(ticket, end, this.failing(end, isWithin))
      this.attach(ticket, stream, protocol)
    }
    try {
      this.owner.within(url, () => this.connector(options as ConnectorOptions, answer))
    } catch (error) {
      answer(error ?? new Error('connect threw nothing'), null)
    }
    isWithin = false
  }

  /** As with undici, where a pool's client is for one request, and a Client that fails at once has just its first request yet. */
  private failing (error: Error, isWithin: boolean): Fails {
    if (isWithin) return 'next'
    if (CONNECTS_AGAIN.has((error as { code?: string }).code!)) return 'none'
    return this.owner.hasPools ? 'next' : 'all'
  }

  private attach (ticket: number, stream: Carried, protocol: string): void {
    const carrier = streamsOf(this.bridge).carry(stream)
    const described = carrier.described()
    if (this.h2c && protocol === 'http:' && stream.alpnProtocol == null) described.http2 = true
    try {
      // Requests hold the process, and a connection that idles does not.
      stream.unref?.()
      if (this.bridge.ask('dialed', { ticket, stream: described })) return carrier.beginBehindWrite()
      carrier.refuse()
    } catch (failure) {
      carrier.refuse()
      this.fail(ticket, errorOf(failure as Failure, false))
    }
  }

  private fail (ticket: number, error: Error, fails: Fails = 'all'): void {
    keepOwnError(`dial ${ticket}`, error)
    this.bridge.ask('dialed', { ticket, fails })
  }
}

/** Drops a stream for which nothing waits any more. */
function discard (stream: Carried, why?: Error): void {
  stream.on('error', () => {})
  stream.destroy(why)
}

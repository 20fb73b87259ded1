// Connectors over sockets of node:net and node:tls, with the options of undici's `buildConnector`,
// for programs that wrap one. Without such a wrapper the engine's own sockets are faster.

import net, { isIP, type Socket } from 'node:net'
import tls, { type ConnectionOptions } from 'node:tls'
import type { Connector, ConnectorOptions } from './dial'
import { ConnectTimeoutError, InvalidArgumentError } from '../../errors'
import { clearTimeout, setTimeout } from '../../timers'

/** Options of `buildConnector`, beside those of `tls.connect`, equal for all connections. */
export interface BuildOptions extends Omit<ConnectionOptions, 'host' | 'port' | 'path' | 'timeout'> {
  /** Whether HTTP/2 is offered by ALPN. Default: true. */
  allowH2?: boolean | undefined
  /** Whether HTTP/2 is used on connections to `http:`, by prior knowledge. Default: false. */
  useH2c?: boolean | undefined
  /** Servers whose TLS sessions are kept; 0: none. Default: 100. */
  maxCachedSessions?: number | null | undefined
  /** Path of a Unix socket, in place of host and port. Default: none. */
  socketPath?: string | null | undefined
  /** Ms for name resolution, socket and TLS together; 0: no bound. Default: 10,000. */
  timeout?: number | null | undefined
  /** Whether the kernel sends TCP keep-alive probes. Default: true. */
  keepAlive?: boolean | undefined
  /** Ms of silence before the first probe. Default: 60,000. */
  keepAliveInitialDelay?: number | undefined
  /** The local IP address to connect from. Default: chosen by the system. */
  localAddress?: string | undefined
  /** As in `net.connect`. Default: Node.js's. */
  autoSelectFamily?: boolean | undefined
  /** Ms, as in `net.connect`. Default: Node.js's. */
  autoSelectFamilyAttemptTimeout?: number | undefined
}

const CACHED_SESSIONS = 100
const TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 60_000

/** TLS sessions by server, the oldest of them left out. */
class Sessions {
  private readonly known = new Map<string, Buffer>()
  constructor (private readonly max: number) {}
  get (server: string): Buffer | undefined { return this.known.get(server) }
  set (server: string, session: Buffer): void {
    if (this.max === 0) return
    this.known.delete(server)
    if (this.known.size >= this.max) this.known.delete(this.known.keys().next().value!)
    this.known.set(server, session)
  }
}

/** The name that TLS asks for: none of an address (RFC 6066 section 3). */
function nameOf (hostname: string): string | undefined { return isIP(hostname) === 0 ? hostname : undefined }

/** Makes a connector for the option `connect`. */
export function buildConnector (options: BuildOptions = {}): Connector {
  const { allowH2 = true, keepAlive = true, keepAliveInitialDelay = KEEP_ALIVE_MS, maxCachedSessions, session, socketPath, timeout, useH2c = false, ...others } = options
  if (maxCachedSessions != null && (!Number.isInteger(maxCachedSessions) || maxCachedSessions < 0)) {
    throw new InvalidArgumentError('maxCachedSessions must be a positive integer or zero')
  }
  const sessions = new Sessions(maxCachedSessions ?? CACHED_SESSIONS)
  const shared = { ...others, ...(socketPath == null ? {} : { path: socketPath }) }

  const secure = (asked: ConnectorOptions): Socket => {
    const { hostname, httpSocket, localAddress, port } = asked
    const servername = asked.servername || others.servername || nameOf(hostname)
    const server = servername ?? hostname
    const socket = tls.connect({
      highWaterMark: 16_384,
      ...shared,
      ...(localAddress == null ? {} : { localAddress }),
      ...(servername === undefined ? {} : { servername }),
      ...(httpSocket === undefined ? {} : { socket: httpSocket }),
      session: session ?? sessions.get(server),
      ALPNProtocols: allowH2 && asked.allowH2 !== false ? ['h2', 'http/1.1'] : ['http/1.1'],
      port: Number(port) || 443,
      host: hostname
    } as ConnectionOptions)
    return socket.on('session', made => { sessions.set(server, made) })
  }
  const plain = ({ hostname, localAddress, port }: ConnectorOptions): Socket => {
    const socket = net.connect({ highWaterMark: 65_536, ...shared, ...(localAddress == null ? {} : { localAddress }), port: Number(port) || 80, host: hostname } as net.NetConnectOpts)
    return useH2c ? Object.assign(socket, { alpnProtocol: 'h2' }) : socket
  }

  return (asked, callback) => {
    const isSecure = asked.protocol === 'https:'
    const socket = isSecure ? secure(asked) : plain(asked)
    if (keepAlive) socket.setKeepAlive(true, keepAliveInitialDelay)
    const limit = timeout ?? TIMEOUT_MS
    const timer = limit > 0 ? setTimeout(() => { socket.destroy(late(asked, limit)) }, limit) : undefined
    let isAnswered = false
    const answer = (report: () => void): void => {
      clearTimeout(timer)
      if (isAnswered) return
      isAnswered = true
      report()
    }
    socket.setNoDelay(true)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => { answer(() => { callback(null, socket) }) })
    socket.on('error', error => { answer(() => { Reflect.apply(callback, undefined, [error]) }) })
  }
}

function late ({ hostname, port }: ConnectorOptions, limit: number): Error {
  return new ConnectTimeoutError(`Connect Timeout Error (attempted address: ${hostname}:${port}, timeout: ${limit}ms)`)
}

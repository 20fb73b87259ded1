// The place where a server listens: forms of `listen`'s arguments, descriptors, and in a worker of a cluster the primary, as node has it.

import cluster from 'node:cluster'
import net from 'node:net'
import { NO_PORT } from '../../server/listen/error'
import type { ListenTarget } from '../../server/listen/options'
import type { AcceptedHandle, CompatServer } from './compat_server'

/** Private members of `net.Server`, as far as they are needed here. */
export interface Bare extends net.Server {
  _handle: unknown
  /** The family, address and port that were asked for, of which programs read the port. */
  _connectionKey?: string
  /** `unref` was called, perhaps before there was a handle. */
  _unref?: boolean
  _emitCloseIfDrained: () => void
  _listen2: (address: string | null, port: number | null, family: number | null, backlog: number, fd?: number) => void
  /** Ours: whose descriptor is listened on. */
  http1Owner?: NodeHandle | undefined
  /** Ours: whether other processes may listen on its port. */
  isShared?: boolean
  /** Ours: whether a server on an address of IPv6 takes clients of IPv6 alone. */
  isIpv6Only?: boolean
}

/** A handle of libuv's, of node's own. */
interface NodeHandle { fd?: number; close: (done?: () => void) => void }

/** As node does it: a worker that is disconnected closes its servers, and ends when they have. */
export function closeWithWorker (server: net.Server): void {
  const { worker } = cluster
  if (!cluster.isWorker || worker === undefined) return
  const close = (): void => { server.close() }
  worker.once('disconnect', close)
  server.once('close', () => { worker.removeListener('disconnect', close) })
}

/** The handle that a worker of a cluster gets of its primary: a handle of libuv's (`SCHED_NONE`), or one without a descriptor, which
 * gets the connections that the primary has accepted (`SCHED_RR`). */
export interface ClusterHandle extends NodeHandle {
  onconnection?: (status: number, connection: AcceptedHandle) => void
  getsockname?: (out: Record<string, unknown>) => number
}

/** Whether a worker of a cluster asks the primary for a place to listen at. */
function isOfPrimary (server: net.Server, options: Record<string, unknown>): boolean {
  const { sharesPort } = (server as net.Server & { compatServer: CompatServer }).compatServer
  return cluster.isWorker && options.exclusive !== true && options.reusePort !== true && (typeof options.path === 'string' || sharesPort === undefined)
}

/** `listen` with every form of its arguments. In a cluster the primary listens, as node has it: a worker that ends takes no
 * connection with it that waits to be accepted. */
export function ownListen (listen: (...args: any[]) => void, server: net.Server, args: unknown[]): net.Server {
  const { _normalizeArgs: normalize } = net as unknown as { _normalizeArgs: (args: unknown[]) => [Record<string, unknown>, unknown] }
  const [options, callback] = normalize(args)
  const given = (options._handle ?? options.handle ?? options) as Partial<NodeHandle>
  const isNothing = args.length === 0 || typeof args[0] === 'function' || options.port === null
  const rest = typeof args[0] === 'function' ? args : args.slice(1)
  const bare = server as Bare
  bare.http1Owner = undefined
  bare.isShared = options.reusePort === true
  bare.isIpv6Only = Boolean(options.ipv6Only)
  if (typeof given.fd !== 'number') {
    const own = Object.assign(Object.create(options) as object, isNothing ? { port: 0 } : {}, isOfPrimary(server, options) ? {} : { exclusive: true })
    try {
      return listen.call(server, own, ...rest) as unknown as net.Server
    } catch (error) {
      // The error is to show the options as they were given.
      if ((error as { code?: string }).code === 'ERR_INVALID_ARG_VALUE') listen.call(server, options, ...rest)
      throw error
    }
  }
  if (typeof given.close === 'function') bare.http1Owner = given as NodeHandle
  // Node would have the primary of a cluster listen on a descriptor of its own; handles of TCP, which have a
  // name, it takes as they are.
  if (!cluster.isWorker || bare._handle !== null || 'getsockname' in given) return listen.call(server, options, ...rest) as unknown as net.Server
  if (typeof callback === 'function') server.once('listening', callback as () => void)
  bare._listen2(null, null, null, 0, given.fd)
  return server
}

export function placeOf (address: string | null, port: number | null, fd: number | undefined): ListenTarget {
  if (typeof fd === 'number') return { fd }
  if (port === NO_PORT) return { path: address! }
  return address === null ? { port: port! } : { host: address, port: port! }
}

/** Where a worker of a cluster listens itself: on the primary's descriptor, or with HTTP/3 beside the connections that the
 * primary hands out. */
export function placeBehind (compatServer: CompatServer, handle: ClusterHandle): ListenTarget {
  if (typeof handle.fd === 'number') return { fd: handle.fd, fdIsBorrowed: true }
  if (!compatServer.hasHttp3 || handle.getsockname === undefined) return { detached: true }
  const place: { address?: string; port?: number } = {}
  handle.getsockname(place as Record<string, unknown>)
  return { host: place.address!, port: place.port!, udpOnly: true }
}

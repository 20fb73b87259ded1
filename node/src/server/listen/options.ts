// The options of a listening server, and its certificates in the form that the engine reads.

import type { Limits, Shedding, Timeouts, Windows } from '../bounds'
import { clientsOf, completed, type ClientOptions, type ClientsAsk } from '../tls/clients'
import type { Policy } from '../tls/policy'
import type { QuicLb } from './quic_lb'

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
  /** Whether a server on an address of IPv6 takes clients of IPv6 alone, so that another may have the port of IPv4 (IPV6_V6ONLY). Default: false. */
  ipv6Only?: boolean
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
  /** Fields of a head of HTTP/1.1. Default: `limits.fieldCountMax`. */
  http1FieldCountMax?: number
  /** Receive windows and send buffers. */
  windows?: Windows
}

export interface Address { address: string; port: number; family: 'IPv4' | 'IPv6' }

/** The chosen settings of a handshake: certificate, requested client certificates, and policy. */
export interface ContextAsk extends Identity { clients?: ClientsAsk | undefined; policy?: Policy | undefined }

export function pem (identity: Identity): { cert: string; key: string } {
  return { cert: String(identity.cert), key: String(identity.key) }
}

export function tlsOf (tls: ListenTls): object {
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

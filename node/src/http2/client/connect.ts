// `http2.connect`: a socket by node:net or node:tls, or the user's own stream, and a session on it.

import type { ClientSessionOptions, SecureClientSessionOptions } from 'node:http2'
import net from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { promisify } from 'node:util'
import { checkNumber, checkObject, invalidType } from '../codes'
import { notProvided } from '../../server/refused'
import { checkListed } from '../options/custom_settings'
import { checkWindow } from '../options/option_bounds'
import { unsupportedProtocol } from './errors'
import { ClientHttp2Session } from './session'
import type { ClientSessionBounds } from './settings'

type Options = ClientSessionOptions | SecureClientSessionOptions
type Listener = (session: ClientHttp2Session, socket: Duplex) => void
/** A URL, or an object with its parts. */
interface Authority { protocol?: string; hostname?: string; host?: string; port?: string | number }

interface Given extends ClientSessionBounds {
  protocol?: string
  allowHTTP1?: boolean
  ALPNCallback?: unknown
  createConnection?: (authority: Authority, options: object) => Duplex
  paddingStrategy?: number
}

/** Options of node:tls for HTTP/2. */
function tlsOptions (options: Given, host: string): tls.ConnectionOptions {
  const own = { ...options } as Given & { ALPNProtocols?: string[] }
  if (own.ALPNCallback === undefined) own.ALPNProtocols = own.allowHTTP1 === true ? ['h2', 'http/1.1'] : ['h2']
  // An address is not asked for by SNI (RFC 6066 section 3).
  if (!own.servername && net.isIP(host) === 0) own.servername = host
  return own as tls.ConnectionOptions
}

function socketTo (protocol: string, host: string, port: string, options: Given): Duplex {
  if (protocol === 'http:') return net.connect({ port: port as unknown as number, host, ...options } as net.NetConnectOpts)
  if (protocol === 'https:') return tls.connect(port as unknown as number, host, tlsOptions(options, host))
  throw unsupportedProtocol(protocol)
}

function checkOptions ({ maxOriginSetSize, strictSingleValueFields, remoteCustomSettings, paddingStrategy = 0, connectionWindowSize }: Given): void {
  if (maxOriginSetSize != null) checkNumber(maxOriginSetSize, 'options.maxOriginSetSize')
  checkListed(remoteCustomSettings)
  if (strictSingleValueFields !== undefined && typeof strictSingleValueFields !== 'boolean') throw invalidType('options.strictSingleValueFields', 'of type boolean', strictSingleValueFields)
  checkWindow(connectionWindowSize)
  if (paddingStrategy !== 0) throw notProvided(`paddingStrategy is ${paddingStrategy}; it must be PADDING_STRATEGY_NONE: nothing is padded`)
}

/** As `connect` of node:http2: one session is one connection. */
export function connect (authority: string | URL | Authority, options?: Options | Listener, listener?: Listener): ClientHttp2Session {
  if (typeof options === 'function') [options, listener] = [undefined, options]
  checkObject(options, 'options')
  const given = { ...options } as Given
  checkOptions(given)
  const to = (typeof authority === 'string' ? new URL(authority) : authority) as Authority
  if (to !== undefined && (to === null || typeof to !== 'object' || Array.isArray(to))) throw invalidType('authority', 'of type string or an instance of URL or Object', to)
  const protocol = to.protocol || given.protocol || 'https:'
  const port = `${to.port !== '' && to.port !== undefined ? to.port : to.port === undefined ? 'undefined' : to.protocol === 'http:' ? 80 : 443}`
  const host = to.hostname ? to.hostname.replace(/^\[(.*)\]$/, '$1') : to.host || 'localhost'
  const socket = typeof given.createConnection === 'function' ? given.createConnection(to, given) : socketTo(protocol, host, port, given)
  // RFC 3986 section 3.2.2: an address of IPv6 is in brackets.
  const named = given.servername || (host.includes(':') ? `[${host}]` : host)
  const session = new ClientHttp2Session(given, socket, `${named}:${port}`, protocol)
  if (typeof listener === 'function') session.once('connect', listener)
  return session
}

Object.defineProperty(connect, promisify.custom, {
  value: async (authority: string | URL, options?: Options): Promise<ClientHttp2Session> => new Promise((resolve, reject) => {
    const session = connect(authority, options, () => {
      session.removeListener('error', reject)
      resolve(session)
    })
    session.once('error', reject)
  })
})

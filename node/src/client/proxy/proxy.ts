// Agents behind a proxy, with undici's options. The engine does the proxy protocol: CONNECT or
// SOCKS5 for https origins, absolute form or a tunnel for others.

import { Agent, Client, Pool } from '../client'
import { InvalidArgumentError } from '../../errors'
import type { ConnectOptions, Options, Way } from '../options'
import { Bypass } from './bypass'
import { ThroughProxy } from './proxy_factory'
import { kState } from '../dispatcher/state'
import { basicOf } from '../connect/tunnel_params'
import { tls } from '../tls'

type ProxyHeaders = Record<string, string | readonly string[] | undefined>

/** Options of a proxy that both agents take. */
interface Through extends Options {
  /** The value of `proxy-authorization`. */
  token?: string
  /** As `token`, as base64 of `user:password`; undici's older name. */
  auth?: string
  /** Further fields for the proxy. */
  headers?: ProxyHeaders
  /** TLS options for origins. */
  requestTls?: ConnectOptions
  /** TLS options for the proxy. */
  proxyTls?: ConnectOptions
  /** Whether `http` requests go through a tunnel too. Default: false, in absolute form. */
  proxyTunnel?: boolean
  /** ProxyAgent: makes the client that opens tunnels, in place of the engine. What it gets are the proxy's URL and `connect`. */
  clientFactory?: (origin: any, options: any) => any
  /** The user for SOCKS5, where the URL has none. */
  username?: string
  /** The password for SOCKS5, where the URL has none. */
  password?: string
}

/** Options of `ProxyAgent`. */
export interface ProxyOptions extends Through {
  /** `http:`, `https:`, `socks5:` or `socks:`; credentials in it are percent-encoded. */
  uri: string | URL
}

/** Options of `EnvHttpProxyAgent`; each defaults to the environment. */
export interface EnvProxyOptions extends Through {
  /** The proxy of `http` origins. Default: `http_proxy`, `HTTP_PROXY`. */
  httpProxy?: string
  /** The proxy of `https` origins. Default: `https_proxy`, `HTTPS_PROXY`, then `httpProxy`'s value. */
  httpsProxy?: string
  /** Hosts that are reached directly. Default: `no_proxy`, `NO_PROXY`. */
  noProxy?: string
}

/** Reaches every origin through one proxy. */
export class ProxyAgent extends Agent {
  constructor (options: string | URL | ProxyOptions) {
    const isUrl = typeof options === 'string' || options instanceof URL
    if (!options || (!isUrl && !options.uri)) throw new InvalidArgumentError('Proxy uri is mandatory')
    const all: ProxyOptions = isUrl ? { uri: options } : options
    const url = proxyUrl(new URL(all.uri), all)
    const { clientFactory, factory, maxOrigins } = all
    super(all, wayOf(all, { httpProxy: url, httpsProxy: url }))
    if (clientFactory === undefined && factory === undefined) return
    const proxy = new URL(all.uri)
    if (proxy.protocol.startsWith('socks')) {
      throw new InvalidArgumentError(`${factory === undefined ? 'clientFactory' : 'factory'} is not taken with a proxy of SOCKS: give one of HTTP, or leave it out`)
    }
    const { proxyAuthorization, proxyHeaders } = fieldsFor(all, proxy)
    const { clientFactory: _, factory: __, ...others } = all
    this[kState].delegate = new ThroughProxy(this, {
      clientFactory: clientFactory ?? ((origin, options) => new Pool(origin, options)),
      factory: factory ?? ((origin, options) => options.connections === 1 ? new Client(origin, options) : new Pool(origin, options)),
      url: new URL(proxy.origin),
      headers: { ...Object.fromEntries(proxyHeaders), ...(proxyAuthorization === undefined ? {} : { 'proxy-authorization': proxyAuthorization }) },
      tunnels: all.proxyTunnel === true,
      connectTimeout: all.connectTimeout,
      requestTls: all.requestTls,
      proxyTls: all.proxyTls,
      options: { ...others, maxOrigins: maxOrigins ?? Infinity }
    })
  }
}

/**
 * Reaches origins through the proxies that the environment names at its creation, and those of
 * `noProxy` directly; the environment's list is the one of the moment of a request.
 */
export class EnvHttpProxyAgent extends Agent {
  constructor (options: EnvProxyOptions = {}) {
    const made = options.factory !== undefined ? 'factory' : options.clientFactory !== undefined ? 'clientFactory' : null
    if (made !== null) throw new InvalidArgumentError(`${made} is not taken by EnvHttpProxyAgent: give it to a ProxyAgent or an Agent`)
    const { env } = process
    // In a CGI program a client sets HTTP_PROXY, by a `proxy` field (RFC 3875 section 4.1.18).
    const isCgi = env['REQUEST_METHOD'] !== undefined
    const http = options.httpProxy ?? env['http_proxy'] ?? (isCgi ? undefined : env['HTTP_PROXY'])
    const https = options.httpsProxy ?? env['https_proxy'] ?? env['HTTPS_PROXY']
    const httpProxy = envUrl(http, options)
    super(options, wayOf(options, {
      httpProxy,
      httpsProxy: envUrl(https, options) ?? httpProxy
    }))
    const { noProxy } = options
    this[kState].bypass = new Bypass(() => noProxy ?? env['no_proxy'] ?? env['NO_PROXY'] ?? '')
  }
}

/** A value of the environment may have no scheme. */
function envUrl (text: string | undefined, options: Through): string | undefined {
  if (text === undefined || text === '') return undefined
  return proxyUrl(new URL(text.includes('://') ? text : `http://${text}`), options)
}

/** A proxy's URL as the engine takes it. */
function proxyUrl (url: URL, options: Through): string {
  const { protocol, hash, host, pathname, search } = url
  const isSocks = protocol === 'socks5:' || protocol === 'socks:' || protocol === 'socks5h:'
  if (!isSocks && protocol !== 'http:' && protocol !== 'https:') {
    throw new InvalidArgumentError('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  }
  if ((pathname !== '/' && pathname !== '') || search !== '' || hash !== '') throw new InvalidArgumentError('invalid url')
  const encode = (text: string | undefined): string => text === undefined ? '' : encodeURIComponent(text)
  const username = url.username || (isSocks ? encode(options.username) : '')
  const password = url.password || (isSocks ? encode(options.password) : '')
  const credentials = username === '' ? '' : `${username}:${password}@`
  // As with undici, the proxy looks names up.
  return `${isSocks ? 'socks5h:' : protocol}//${credentials}${host}`
}

function wayOf (options: Through, proxies: Record<string, string | undefined>): Way {
  const { auth, proxyTls, proxyTunnel, requestTls, token } = options
  for (const name of ['clientFactory', 'factory'] as const) {
    const made = options[name]
    if (made !== undefined && typeof made !== 'function') throw new InvalidArgumentError(`Proxy opts.${name} must be a function.`)
  }
  if (auth && token) throw new InvalidArgumentError('opts.auth cannot be used in combination with opts.token')
  return {
    connect: requestTls ?? {},
    isVerifiedByEnvironment: Object.values(proxies).some(url => url?.startsWith('https:')) && proxyTls?.rejectUnauthorized === undefined,
    settings: {
      ...proxies,
      ...fieldsFor(options),
      proxyServerName: proxyTls?.servername,
      proxyAlwaysTunnels: proxyTunnel === true,
      proxyTls: tls(proxyTls ?? {})
    }
  }
}

/** Fields for the proxy: credentials, of `url` too where it is given, and further fields. */
function fieldsFor ({ auth, headers = {}, token }: Through, url?: URL): { proxyAuthorization: string | undefined; proxyHeaders: [string, string][] } {
  const fields = fieldsOf(headers)
  const isOwn = ([name]: [string, string]): boolean => name.toLowerCase() === 'proxy-authorization'
  const own = fields.find(isOwn)?.[1]
  const ofUrl = (url === undefined ? undefined : basicOf(url)) ?? own
  return { proxyAuthorization: auth ? `Basic ${auth}` : token ? token : ofUrl, proxyHeaders: fields.filter(field => !isOwn(field)) }
}

const OF_THE_CONNECTION = new Set(['host', 'connection', 'proxy-connection'])

function fieldsOf (headers: ProxyHeaders): [string, string][] {
  if (headers === null || typeof headers !== 'object') throw new InvalidArgumentError('headers must be an object or an array')
  return Object.entries(headers).flatMap(([name, value]) =>
    // undici's own stand before these.
    (value === undefined || OF_THE_CONNECTION.has(name.toLowerCase()) ? [] : Array.isArray(value) ? value as string[] : [value]).map(one => [name, String(one)] as [string, string]))
}

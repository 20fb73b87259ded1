// A ProxyAgent whose dispatchers a user's functions make: `clientFactory` the one that opens tunnels through the proxy,
// `factory` those of origins, whose connections are the tunnels, and those that send `http` requests to the proxy
// in absolute form.

import { buildConnector, type BuildOptions } from '../connect/build_connector'
import type { Connector, ConnectorCallback, ConnectorOptions } from '../connect/dial'
import { InvalidArgumentError, ProxyConnectionError, RequestAbortedError, SecureProxyConnectionError } from '../../errors'
import { PROXY_WANTS_CREDENTIALS } from '../../errors/failures'
import type { Handler } from '../calls/handler_forms'
import type { Delegate } from '../dispatcher/delegate'
import { ByOrigin, type Child, type Factory } from '../dispatcher/factory'
import { forDispatchers } from '../calls/handler'
import type { ConnectOptions } from '../options'
import { tunnelTo, type DispatchOptions } from '../prepare/prepare'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

type Fields = Record<string, string | readonly string[] | undefined>

export interface Through {
  clientFactory: Factory
  factory: Factory
  url: URL
  /** For the proxy, its credentials among them. */
  headers: Fields
  /** `http` requests go through a tunnel too. */
  tunnels: boolean
  connectTimeout?: number | undefined
  requestTls?: ConnectOptions | undefined
  proxyTls?: ConnectOptions | undefined
  /** The agent's options, for the factories. */
  options: { allowH2?: boolean | undefined; maxOrigins: number }
}

/** A dispatcher that opens tunnels. */
interface Opening extends Child {
  connect: (options: object) => Promise<{ socket: Socket; statusCode: number }>
}

const isH1 = ({ allowH2 }: ConnectorOptions): boolean => allowH2 === false

export class ThroughProxy implements Delegate {
  private readonly inner: ByOrigin
  private readonly client: Opening

  constructor (owner: EventEmitter, private readonly through: Through) {
    // As with undici, whose agent behind a proxy has none of its dispatchers' events; of ours a drain comes.
    const listened = new EventEmitter().on('drain', (origin: URL, targets: object[]) => { owner.emit('drain', origin, [owner, ...targets.slice(1)]) })
    const { clientFactory, connectTimeout, factory, options, proxyTls, requestTls, tunnels, url } = through
    const connector = (tls: ConnectOptions | undefined, allowH2: boolean): Connector => {
      return buildConnector({ ...(connectTimeout === undefined ? {} : { timeout: connectTimeout }), ...tls, allowH2 } as BuildOptions)
    }
    const toProxy = connector(proxyTls, false)
    this.client = clientFactory(url, { connect: toProxy }) as Opening
    const [toOrigin, toOriginOnH1] = [connector(requestTls, true), connector(requestTls, false)]
    const connect: Connector = (asked, done) => {
      void this.open(asked).then(socket => {
        if (asked.protocol !== 'https:') return done(null, socket)
        const servername = requestTls?.servername ?? asked.servername
        const secure = isH1(asked) ? toOriginOnH1 : toOrigin
        secure({ ...asked, servername, httpSocket: socket }, done)
      }, error => { (done as (...result: unknown[]) => void)(error, null) })
    }
    const make: Factory = (origin, given) => {
      const forwards = new URL(origin).protocol === 'http:' && !tunnels
      return forwards ? this.forwarding(factory(url, { connect: named(toProxy) })) : factory(origin, given)
    }
    this.inner = new ByOrigin(listened, make, { ...options, connect } as Through['options'])
  }

  /** A tunnel to what the connector is asked for. */
  private async open (asked: ConnectorOptions): Promise<Socket> {
    const { headers, proxyTls, url } = this.through
    const host = asked.host ?? asked.hostname
    const path = asked.port ? host : `${host}:${asked.protocol === 'https:' ? 443 : 80}`
    try {
      const { socket, statusCode } = await this.client.connect({
        origin: url.origin, path, headers: { ...headers, host, 'proxy-connection': 'keep-alive' }, servername: proxyTls?.servername ?? url.hostname
      })
      if (statusCode === 200) return socket
      socket.on('error', () => {}).destroy()
      throw refused(statusCode)
    } catch (error) {
      const { code, message, statusCode } = error as NodeJS.ErrnoException & { statusCode?: number }
      // A client of ours opens nothing by another status than 2xx.
      if (statusCode !== undefined) throw refused(statusCode, error)
      if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') throw new SecureProxyConnectionError(message, { cause: error })
      // A client takes it for the end of a connection that it had, and would begin anew for ever.
      if (code === 'UND_ERR_SOCKET') throw new ProxyConnectionError(message, { cause: error })
      throw error
    }
  }

  /** `child`, which is connected with the proxy, for the requests of an `http` origin. */
  private forwarding (child: Child): Child {
    const { headers, proxyTls, url } = this.through
    const dispatch = (options: DispatchOptions, handler: Handler): boolean => {
      const servername = url.protocol === 'https:' ? { servername: proxyTls?.servername ?? url.hostname } : {}
      const origin = String(options.origin).replace(/\/$/, '')
      // A CONNECT goes to the proxy itself, and names what the tunnel is to.
      const path = options.method === 'CONNECT' ? tunnelTo(options.path, new URL(origin).host) : `${origin}${options.path}`
      const asked = { ...options, ...servername, path, headers: { ...headers, ...options.headers as object } }
      return child.dispatch(asked, refusing(handler))
    }
    return new Proxy(child, {
      get: (target, key) => {
        if (key === 'dispatch') return dispatch
        const member = Reflect.get(target, key) as unknown
        return typeof member === 'function' ? member.bind(target) as unknown : member
      }
    })
  }

  dispatch (options: DispatchOptions, handler: Handler): boolean {
    const headers = fieldsOf(options.headers)
    if (Object.keys(headers).some(name => name.toLowerCase() === 'proxy-authorization')) {
      throw new InvalidArgumentError('Proxy-Authorization should be sent in ProxyAgent constructor')
    }
    if (!Object.keys(headers).some(name => name.toLowerCase() === 'host')) headers['host'] = new URL(options.origin!).host
    return this.inner.dispatch({ ...options, headers: headers as never }, handler)
  }

  async close (): Promise<unknown> { return Promise.all([this.inner.close(), this.client.close()]) }
  async destroy (error: Error): Promise<unknown> { return Promise.all([this.inner.destroy(error), this.client.destroy(error)]) }
  get stats (): Record<string, unknown> { return this.inner.stats }
  get counts (): Delegate['counts'] { return this.inner.counts }
}

function refused (status: number, cause?: unknown): Error {
  return new RequestAbortedError(`Proxy response (${status}) !== 200 when HTTP Tunneling`, cause === undefined ? undefined : { cause })
}

/** A connector whose refusal of a certificate's name says whose it is. */
function named (connector: Connector): Connector {
  return (asked, done) => {
    const answer = (error: NodeJS.ErrnoException | null, socket?: Socket): void => {
      const own = error?.code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? new SecureProxyConnectionError(error.message, { cause: error }) : error
      ;(done as (...result: unknown[]) => void)(own, socket)
    }
    connector(asked, answer as ConnectorCallback)
  }
}

/** `handler`, which gets 407 as undici's error. */
function refusing (handler: Handler): Handler {
  const given = forDispatchers(handler) as any
  return new Proxy(given, {
    get: (target, key) => {
      const member = Reflect.get(target, key) as unknown
      if (key === 'onResponseStart') {
        return (controller: unknown, status: number, ...others: unknown[]) => {
          if (status === 407) return given.onResponseError?.(controller, new InvalidArgumentError(PROXY_WANTS_CREDENTIALS))
          return given.onResponseStart?.(controller, status, ...others)
        }
      }
      if (key === 'onHeaders') {
        return (status: number, ...others: unknown[]) => {
          if (status !== 407) return given.onHeaders?.(status, ...others)
          given.onError?.(new InvalidArgumentError(PROXY_WANTS_CREDENTIALS))
          return false
        }
      }
      return typeof member === 'function' ? member.bind(target) as unknown : member
    }
  }) as Handler
}

/** Fields as an object: names as they came, values that come more than once as a list. */
function fieldsOf (headers: DispatchOptions['headers']): Fields {
  const found: Fields = {}
  if (headers == null) return found
  const flat = headers as unknown as readonly unknown[]
  const pairs: [string, string][] = Array.isArray(headers)
    ? flat.filter((_, at) => at % 2 === 0).map((name, at) => [String(name), flat[2 * at + 1] as string])
    : typeof (headers as Partial<Iterable<[string, string]>>)[Symbol.iterator] === 'function'
      ? [...headers as Iterable<[string, string]>]
      : Object.entries(headers as Record<string, string>)
  for (const [name, value] of pairs) {
    const before = Object.hasOwn(found, name) ? found[name] : undefined
    found[name] = before === undefined ? value : [...Array.isArray(before) ? before as string[] : [before as string], value]
  }
  return found
}

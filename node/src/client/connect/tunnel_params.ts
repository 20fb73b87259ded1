// The parameters of a CONNECT as undici's channel of tunnels has them.

/** Null: the proxy of the origin is none of HTTP. */
export function tunnelParams (settings: Record<string, unknown>, { host, port, protocol }: URL): object | null {
  const proxy = new URL(settings[protocol === 'http:' ? 'httpProxy' : 'httpsProxy'] as string)
  if (proxy.protocol.startsWith('socks')) return null
  const isSecure = protocol === 'https:'
  const authorization = credentialsFor(settings, proxy)
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of settings['proxyHeaders'] as [string, string][]) {
    const before = headers[name]
    headers[name] = before === undefined ? value : [before, value].flat()
  }
  return {
    origin: proxy.origin,
    port: proxy.port,
    path: port === '' ? `${host}:${isSecure ? 443 : 80}` : host,
    headers: { ...headers, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }), host },
    servername: settings['proxyServerName'] ?? proxy.hostname
  }
}

/** The fields that a proxy of HTTP gets with a request to it for an `http` origin. */
export function fieldsForProxy (settings: Record<string, unknown>): [string, string][] {
  const authorization = credentialsFor(settings, new URL(settings['httpProxy'] as string))
  const own = settings['proxyHeaders'] as [string, string][]
  return authorization === undefined ? own : [['proxy-authorization', authorization], ...own]
}

function credentialsFor (settings: Record<string, unknown>, proxy: URL): string | undefined {
  return (settings['proxyAuthorization'] as string | undefined) ?? basicOf(proxy)
}

/** The credentials of a URL as a field has them. */
export function basicOf ({ username, password }: URL): string | undefined {
  if (username === '') return undefined
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
}

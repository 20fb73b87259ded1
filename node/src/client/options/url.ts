// URLs and origins as undici takes them: as text, as a URL or in parts.

import { InvalidArgumentError } from '../../errors'
import { refuse } from './values'

/** An origin's URL in parts, as undici accepts it. */
export interface UrlParts {
  /** `http:` or `https:`. */
  protocol?: string | null
  /** The host name or address. */
  hostname?: string | null
  /** The port; default: the protocol's. */
  port?: string | number | null
  /** The origin, in place of the three above. */
  origin?: string | null
  /** Must be empty or `/`: an origin has no path. */
  path?: string | null
  pathname?: string | null
  search?: string | null
}

/** The parts of a URL as its text, by undici's checks. */
function written (parts: UrlParts): string {
  const { protocol, hostname, port, origin, path, pathname, search } = parts
  if (port != null && port !== '' && !(Number.isInteger(Number(port)) && Number(port) >= 0 && Number(port) <= 65_535)) {
    return refuse('Invalid URL: port must be a valid integer or a string representation of an integer.')
  }
  for (const [name, value] of Object.entries({ path, pathname, hostname, origin })) {
    if (value != null && typeof value !== 'string') return refuse(`Invalid URL ${name}: the ${name} must be a string or null/undefined.`)
  }
  if (!/^https?:/.test(origin ?? protocol ?? '')) return refuse('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  const start = origin ?? `${protocol}//${hostname ?? ''}${port == null || port === '' ? '' : `:${port}`}`
  const rest = path ?? `${pathname ?? ''}${search ?? ''}`
  return `${start.replace(/\/$/, '')}${rest === '' || rest.startsWith('/') ? rest : `/${rest}`}`
}

/** undici's checks of a URL. */
export function urlOf (given: string | URL | UrlParts): URL {
  if (given === null || (typeof given !== 'string' && typeof given !== 'object')) {
    throw new InvalidArgumentError('Invalid URL: The URL argument must be a non-null object.')
  }
  // A text that is no URL at all is Node.js's own error, ERR_INVALID_URL, as with undici.
  const url = new URL(typeof given === 'string' || given instanceof URL ? given : written(given))
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InvalidArgumentError('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  }
  return url
}

/** undici's checks of an origin. */
export function originOf (origin: string | URL | UrlParts): URL {
  const url = urlOf(origin)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') throw new InvalidArgumentError('invalid url')
  return url
}

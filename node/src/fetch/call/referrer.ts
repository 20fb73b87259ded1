// The `referer` and `origin` of a request (https://w3c.github.io/webappsec-referrer-policy/#determine-requests-referrer,
// https://fetch.spec.whatwg.org/#append-a-request-origin-header). A program has an origin only where it set one.

import type { HeaderList } from '../headers/header_list'
import { baseUrl, isHttp, parseUrl, partsOfUrl, type ParsedUrl } from '../url'

const POLICIES = new Set(['no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'])
const DEFAULT_POLICY = 'strict-origin-when-cross-origin'
/** Longer referrers are cut to their origin. */
const REFERRER_LENGTH_MAX = 4096

/** The last known policy that a response names; '': none. */
export function policyOf (list: HeaderList): string {
  const names = (list.get('referrer-policy') ?? '').split(',').map(name => name.trim().toLowerCase())
  return names.findLast(name => POLICIES.has(name)) ?? ''
}

function isTrustworthy ({ protocol, origin }: ParsedUrl): boolean {
  if (protocol === 'https:' || protocol === 'wss:' || protocol === 'file:' || protocol === 'data:') return true
  const host = URL.canParse(origin) ? new URL(origin).hostname : ''
  return /^127\.(?:\d+\.){2}\d+$/.test(host) || host === '[::1]' || host === 'localhost' || host.endsWith('.localhost')
}

/** The value of `referer`; null: none is sent. */
export function referrerFor (referrer: string, policy: string, to: ParsedUrl): string | null {
  if (referrer === 'no-referrer') return null
  const base = baseUrl()
  const from = referrer !== 'client' ? parseUrl(referrer) : base === undefined || base.origin === 'null' ? null : partsOfUrl(new URL(base))
  if (from === null || !isHttp(from)) return null
  const url = new URL(from.bare)
  url.username = url.password = ''
  const origin = `${from.origin}/`
  const full = url.href.length > REFERRER_LENGTH_MAX ? origin : url.href
  const isSame = from.origin === to.origin
  const isDowngrade = isTrustworthy(from) && !isTrustworthy(to)
  switch (policy || DEFAULT_POLICY) {
    case 'no-referrer': return null
    case 'origin': return origin
    case 'unsafe-url': return full
    case 'same-origin': return isSame ? full : null
    case 'strict-origin': return isDowngrade ? null : origin
    case 'origin-when-cross-origin': return isSame ? full : origin
    case 'no-referrer-when-downgrade': return isDowngrade ? null : full
    default: return isSame ? full : isDowngrade ? null : origin
  }
}

/** The value of `origin`; null: none is sent. */
export function originFor (method: string, mode: string, policy: string, isCrossOrigin: boolean, to: ParsedUrl): string | null {
  const base = baseUrl()
  if (base === undefined) return null
  const { origin } = base
  if (mode === 'cors' && isCrossOrigin) return origin
  if (method === 'GET' || method === 'HEAD') return null
  switch (policy) {
    case 'no-referrer': return null
    case 'same-origin': return origin === to.origin ? origin : null
    case 'no-referrer-when-downgrade':
    case 'strict-origin':
    case 'strict-origin-when-cross-origin':
      return origin.startsWith('https:') && to.protocol !== 'https:' ? null : origin
    default: return origin
  }
}

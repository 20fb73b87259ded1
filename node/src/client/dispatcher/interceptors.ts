// Interceptors of undici, of any of its lines.

import { InvalidArgumentError } from '../../errors'

/** An interceptor of any package: what it takes and gives is undici's of some version. */
export type AnyInterceptor = (dispatch: any, origin?: any) => (options: any, handler: any) => boolean

/** By this undici 8 knows interceptors whose order counts; each copy of it has a symbol of its own. */
const KIND = 'interceptor kind'

/** The cache knows redirects by what `redirect` leaves in front of it: behind it, it would keep what another origin answered as the
 * answer of the one that was asked. */
export function checkOrder (interceptors: (AnyInterceptor | null | undefined)[]): void {
  const kinds = interceptors.flatMap(interceptor => {
    if (typeof interceptor !== 'function') return []
    const symbol = Object.getOwnPropertySymbols(interceptor).find(({ description }) => description === KIND)
    return symbol === undefined ? [] : [(interceptor as unknown as Record<symbol, unknown>)[symbol]]
  })
  const cache = kinds.indexOf('cache')
  if (cache !== -1 && kinds.includes('redirect') && cache < kinds.indexOf('redirect')) {
    throw new InvalidArgumentError("the cache interceptor must be composed after the redirect interceptor: composed before it, it keeps the answers of other origins, and answers to credentials, as those of the origin that was asked")
  }
}

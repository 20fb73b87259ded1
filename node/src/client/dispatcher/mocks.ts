// The dispatchers that undici's MockAgent puts in front of origins.

/** The mock entry of an origin in undici 6 and 8; undici 7 wraps it. */
interface Mock {
  dispatch: (options: object, handler: object) => boolean
  close: () => Promise<void>
}
type Kept = Mock | { dispatcher: Mock }

/** The entries that undici's MockAgent adds to its agent, by origin. */
export type Mocks = Map<unknown, Kept>

export function dispatcherOf (kept: Kept): Mock { return 'dispatcher' in kept ? kept.dispatcher : kept }

/** The dispatcher that takes a request in our place. */
export function mockOf (mocks: Mocks, options: { origin?: string | URL; allowH2?: boolean }): Mock | undefined {
  const origin = String(options.origin)
  const kept = mocks.get(options.allowH2 === false ? `${origin}#http1-only` : origin)
  return kept === undefined ? undefined : dispatcherOf(kept)
}

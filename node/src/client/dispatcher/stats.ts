// Statistics of a dispatcher: undici's counts, and the engine's beside them, which are not enumerable.

/**
 * The statistics of undici's Pool; those of a Client are the first four, of which `connected` is a
 * boolean.
 */
export interface PoolStats {
  /** Open connections. */
  connected: number
  /** Requests that wait for a connection. */
  pending: number
  /** Requests on a connection. */
  running: number
  /** Pending and running requests together. */
  size: number
  /** Open connections without a request. */
  free: number
  /** Pending requests for which no connection is being opened. */
  queued: number
}

/** undici's statistics with ours beside them, which are not enumerable. */
export function withHidden (visible: object, { origins, totals }: Pick<Stats, 'origins' | 'totals'>): Stats {
  return Object.defineProperties(visible, { origins: { value: origins }, totals: { value: totals } }) as Stats
}

export const NO_STATS = { origins: [], totals: { submitted: 0, dispatched: 0, waited: 0, failed: 0, attempts: 0, connections: 0, retriesUnprocessed: 0, retriesLost: 0 } }

/** Counts as undici's dispatchers have them. `underWay`: requests that have not ended, also those that the engine has not got yet; `connectionsMax`: those
 * that undici would open for them. */
export function counted (origins: Stats['origins'], underWay: number, isClient: boolean, connectionsMax: number): object {
  const sum = (count: (of: Stats['origins'][number]) => number): number => origins.reduce((all, one) => all + count(one), 0)
  const connected = sum(one => one.connections)
  const waiting = sum(one => one.waiting + one.paused)
  // The engine counts a request that has failed a moment longer, and one that a connection has given back until it reports.
  const running = Math.max(Math.min(sum(one => one.active), underWay - waiting), 0)
  // As many requests as these connections carry at once.
  const full = sum(one => Math.floor(one.active / (one.limit ?? 1)))
  const pending = Math.max(waiting, underWay - running)
  const size = running + pending
  if (isClient) return { connected: connected > 0, pending, running, size }
  return { connected, free: Math.max(connected - full, 0), pending, queued: pending - Math.max(Math.min(connectionsMax, size) - running, 0), running, size }
}

/** The statistics of a dispatcher. */
export interface Stats extends Partial<Omit<PoolStats, 'connected'>> {
  /** A Client: whether it is connected; a Pool: its open connections. */
  connected?: number | boolean
  /**
   * One entry per origin: waiting and paused requests and why they wait, open, suspect and draining
   * connections, attempts, active requests, the limit of requests per connection (null: unknown),
   * and the round trip in ms (null: not measured).
   */
  origins: {
    origin: string
    serverName: string | null
    waiting: number
    paused: number
    waitReason: string | null
    connections: number
    suspect: number
    draining: number
    attempts: number
    active: number
    limit: number | null
    roundTripMs: number | null
  }[]
  /** Counts over the dispatcher's life. */
  totals: Record<'submitted' | 'dispatched' | 'waited' | 'failed' | 'attempts' | 'connections' | 'retriesUnprocessed' | 'retriesLost', number>
}

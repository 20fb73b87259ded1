// The dispatcher of a request under way, as far as the request needs it.

import type { Connection } from '../connect/connection'
import type { FailureOwner } from '../../errors/failures'

export interface RequestOwner<R> extends FailureOwner {
  /** Its requests fail when this turn is over, and get nothing before. */
  readonly destroyed: boolean
  /** Counts the request out. */
  onOver: (request: R) => void
  /** Reports failures of connections, beside those of the first request that fails with them. */
  emitFailures: () => void
  /** A connection as channels show it. */
  connection: (number: number) => Connection
}

// The dispatcher of a request under way, as far as the request needs it.

import type { Load, Target } from '../dispatcher/load'
import type { GoesOn } from '../prepare/upload'
import type { Connection } from '../connect/connection'
import type { Failure, FailureOwner } from '../../errors/failures'

/** A response's body of which a part waits for its reader. */
export interface UnreadBody {
  /** Calls back when its reader has all of it. */
  whenTaken: (call: () => void) => void
  fail: (error: Error) => void
}

export interface RequestOwner<R> extends FailureOwner {
  /** Its requests fail when this turn is over, and get nothing before. */
  readonly destroyed: boolean
  /** Uploads, and tunnels on streams, that go on behind their responses. */
  readonly behind: Set<GoesOn>
  /** Counts the request out. */
  onOver: (request: R) => void
  /** Its end comes behind the reader of a response's body, all of which has come. */
  await: (body: UnreadBody) => void
  /** Reports failures of connections, beside those of the requests that fail with them. */
  emitFailures: (of: Failure, load: Load | null, target: Pick<Target, 'client'> | null) => void
  /** Whether the failure is that of all requests that wait, also where a listener has destroyed the dispatcher in front of theirs. */
  hasFailedAll: (of: Failure) => boolean
  /** A connection as channels show it, by its number and where its request goes. */
  connection: (number: number, target: Pick<Target, 'client'> | null) => Connection
}

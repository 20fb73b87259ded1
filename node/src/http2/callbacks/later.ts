// Defers callbacks to the next turn of the loop, each in the async context in which it was deferred.

import type { Connection } from '../../server/connection'
import { setImmediate } from '../../timers'

/** Calls in the next turn. Each call has the ticks of the one before it behind it, as two callbacks of node's sockets have: what one gives a
 * reader, the end of a body among it, is with it before another call ends its stream. */
export function later (call: () => void): void { setImmediate(call) }

/** Calls in the turn behind the next. */
export function afterNextTurn (call: () => void): void { later(() => { later(call) }) }

/** Connections of which listeners learned in this turn. Such a listener may be the promise of `once`, and what waits for it adds the
 * listeners of what comes on the connection: node reads that in a later turn, so that they miss nothing. */
export class FreshConnections {
  private readonly connections = new Set<Connection>()

  add (connection: Connection): void {
    if (this.connections.size === 0) setImmediate(() => { this.connections.clear() })
    this.connections.add(connection)
  }

  has (connection: Connection): boolean { return this.connections.has(connection) }

  /** Calls now, or behind all that waits where the connection is one of them. */
  report (connection: Connection, call: () => void): void {
    if (this.connections.has(connection)) later(call)
    else call()
  }
}

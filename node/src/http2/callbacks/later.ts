// Defers callbacks to the next turn of the loop, all of one turn together, each in the async context in which it was deferred.

import { AsyncResource } from 'node:async_hooks'
import { inNextTurn } from '../../channel/ring'
import type { Connection } from '../../server/connection'
import { setImmediate } from '../../timers'

let calls: { call: () => void; scope: AsyncResource }[] = []
function report (): void {
  const now = calls
  calls = []
  for (const [at, { call, scope }] of now.entries()) {
    try {
      scope.runInAsyncScope(call)
    } catch (error) {
      // The others come in a turn of their own, behind the exception.
      const rest = now.slice(at + 1)
      if (rest.length > 0 && calls.length === 0) inNextTurn(report)
      calls = [...rest, ...calls]
      throw error
    }
  }
}

/** Calls in the next turn. */
export function later (call: () => void): void {
  if (calls.push({ call, scope: new AsyncResource('TRUNKLINELATER') }) === 1) setImmediate(report)
}

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

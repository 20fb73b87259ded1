// Ports that servers of this thread have left: as with node's servers they are free at once, also while the engine still has them.

import type { Failure } from '../../channel/ring'
import { performance } from 'node:perf_hooks'

/**
 * Ports that servers of this environment have left, and until when they may be taken, by `performance.now()`. As with node's
 * servers a port is free behind `close()`; the engine closes the socket on its own thread, behind the connections of its queue
 * and those whose handshakes have begun (`HANDSHAKE_WAIT` of `engine/src/server/worker.rs`).
 */
const leftPorts = new Map<number, number>()
/** Several times the engine's wait: its thread may have no processor for a while. */
const LEFT_PORT_MAX_MS = 250
const sleeper = new Int32Array(new SharedArrayBuffer(4))

export function noteLeft (port: number): void {
  const now = performance.now()
  for (const [left, until] of leftPorts) if (until < now) leftPorts.delete(left)
  leftPorts.set(port, now + LEFT_PORT_MAX_MS)
}

/** Calls `listen`, again where the port is taken by a server of this environment that has left it. Between two calls `wait` lets the
 * engines of this thread close it. */
export function whenFree<T> (port: number | undefined, wait: () => void, listen: () => T): T {
  for (;;) {
    try {
      return listen()
    } catch (failure) {
      const isTaken = (failure as Failure).system === 'EADDRINUSE'
      if (!isTaken || port === undefined || !((leftPorts.get(port) ?? 0) > performance.now())) throw failure
      Atomics.wait(sleeper, 0, 0, 1)
      wait()
    }
  }
}

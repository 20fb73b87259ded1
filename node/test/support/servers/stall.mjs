// Counts that hold only while this process runs: a server that stands still is suspect to the client, which opens
// another connection, as it should. One in another process of a machine so busy stands still too.
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Far below the silence that makes a connection suspect: two seconds over TCP, some hundred milliseconds over QUIC. */
const STALL_MS = 200
const ROUNDS_MAX = 20

/** Runs `round`, then the checks that it returns. Where they fail and this process stood still meanwhile, the
 * round is repeated; a failure without a stall counts at once. */
export async function withoutStall (round) {
  for (let left = ROUNDS_MAX; ; left--) {
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const check = await round()
    delay.disable()
    try {
      return check()
    } catch (error) {
      if (left === 1 || delay.max < STALL_MS * 1e6) throw error
    }
  }
}

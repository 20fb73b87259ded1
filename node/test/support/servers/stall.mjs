// Counts that hold only while this process runs: a server in it that stands still for two seconds is
// suspect to the client, which opens another connection, as it should.
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Far below the two seconds of silence that make a connection suspect. */
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

// Preloaded (`--import`): lets what the engine tells arrive in other turns of the loop than it does, as on a busy machine.
// Between two events there are, by turns of a seeded generator, nothing, ticks, or turns of the loop; or all waits until
// more has come. What a program sees must not depend on it. `TRUNKLINE_TURNS_SEED`: the generator's seed, default 1.
import { createRequire } from 'node:module'

const { Bridge } = createRequire(import.meta.url)('../../dist/channel/ring.js')
const { drain, isBehindTicks } = Bridge.prototype
/** Turns of the loop for which events wait at most. */
const WAIT_TURNS_MAX = 8
/** A count of ticks that makes the bridge wait for a turn of the loop. */
const NO_TICKS = 1e9

let state = Number(process.env.TRUNKLINE_TURNS_SEED ?? 1)
/** Numerical Recipes' linear congruential generator; its high bits vary most. */
const random = below => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor(state / 2 ** 32 * below)
}
const waiting = new WeakSet()
const passed = new WeakMap()

/** Waits for some turns, in which more events come. */
Bridge.prototype.drain = function () {
  if (waiting.has(this)) return
  if (random(4) > 0) return drain.call(this)
  waiting.add(this)
  const wait = turns => {
    if (turns > 0) return setImmediate(wait, turns - 1)
    waiting.delete(this)
    drain.call(this)
  }
  wait(random(WAIT_TURNS_MAX))
}

/** Cuts in front of an event, once. */
Bridge.prototype.isBehindTicks = function (at) {
  if (passed.get(this) !== this.drained && random(2) === 0) {
    passed.set(this, this.drained)
    if (random(2) === 0) this.tickTurns = NO_TICKS
    return true
  }
  return isBehindTicks.call(this, at)
}

// Programs of two steps on one thing: every step behind every other, in the same turn and behind what follows from the first.
// The log has the result or error of each step, and the state once all that follows has come.

/** How often a client asks its server before all that follows from a step has come. */
const ROUNDS = 3
/** Long enough for the end of a session, in which nothing can be asked. */
const ENDING_MS = 40

/** The times of the second step: in the turn of the first, or behind all that follows from it. */
const GAPS = ['then', 'later']

/** Every step of `steps` behind every step. */
export function * pairs (steps, gaps = GAPS) {
  for (const first of Object.keys(steps)) {
    for (const gap of gaps) {
      for (const second of Object.keys(steps)) yield { name: `${first}, ${gap} ${second}`, first, gap, second }
    }
  }
}

/** When both sides of a session of node:http2 have told what they have to tell. */
export async function settled (client) {
  for (let round = 0; round < ROUNDS; round++) {
    if (client.destroyed || client.closed) await new Promise(resolve => { setTimeout(resolve, ENDING_MS) })
    else await new Promise(resolve => { client.ping(resolve) })
    await new Promise(resolve => { setImmediate(resolve) })
  }
}

/** Goes through two steps. `act(label)` carries one out and logs it, `look` logs the state; within a turn it is not looked
 * at, because the turns of what follows are no part of the API. */
export async function go ({ first, gap, second }, client, act, look) {
  act(first)
  if (gap === 'later') {
    await settled(client)
    look()
  }
  act(second)
  await settled(client)
  look()
}

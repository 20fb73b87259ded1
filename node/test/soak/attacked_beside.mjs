// The common part of the clients of `make attacks`: one exchange with a hostile server, which may take ATTACKED_SECONDS
// (5 by default), and meanwhile one with a good server every 10 ms.
import { setTimeout as rest } from 'node:timers/promises'

export const TOTAL_MS = Number(process.env.ATTACKED_SECONDS ?? 5) * 1_000
export const CROWD = 100
export const UPLOAD_BYTES = 8 << 20

export async function lengthOf (body) {
  let bytes = 0
  for await (const piece of body) bytes += piece.length
  return bytes
}

/** The properties by which a program identifies an error: its own code, or that of its cause, as with `fetch`. */
export function nameOf (error) {
  const coded = [error, error.cause].find(one => typeof one?.code === 'string')
  return coded?.code ?? String(error.cause?.name ?? error.name)
}

/**
 * Prints the outcome of the hostile exchange in a line, and when the standard input ends the 99th percentile of the
 * good ones in microseconds, with their count. Both get an exchange's outcome; of a good one it begins with 200.
 */
export async function measure (hostile, good) {
  let over = false
  process.stdin.on('end', () => { over = true }).resume()
  hostile(AbortSignal.timeout(TOTAL_MS)).catch(nameOf).then(outcome => { console.log(outcome) })
  const times = []
  while (!over) {
    const began = performance.now()
    const outcome = await good().catch(error => `the good origin: ${error}`)
    if (!outcome.startsWith('200')) console.error(outcome)
    times.push(outcome.startsWith('200') ? performance.now() - began : 1e6)
    await rest(10)
  }
  times.sort((a, b) => a - b)
  console.log(Math.round(times[Math.floor(times.length * 0.99)] * 1e3), times.length)
  process.exit()
}

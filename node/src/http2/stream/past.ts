// Whether an answer without listeners is past: the loop has turned since, by which time node:http2 has closed its stream.

let turn = 0
let isCounted = false
function nextTurn (): void {
  turn++
  isCounted = false
}

/** The turn of the loop that is now; its end is counted without one more turn for it. */
export function loopTurn (): number {
  if (!isCounted) setImmediate(nextTurn).unref()
  isCounted = true
  return turn
}

/** Whether the turn that `loopTurn` has given is over. */
export const isOverSince = (counted: number): boolean => counted !== turn

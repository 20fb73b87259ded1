// What is told in the next turn of the loop, all of a turn at once.

let calls: (() => void)[] = []
function tell (): void {
  const now = calls
  calls = []
  for (const call of now) {
    try {
      call()
    } catch (error) {
      // A listener's own: it must not keep the others from what is theirs.
      process.nextTick(() => { throw error })
    }
  }
}

/** Calls in the next turn. */
export function later (call: () => void): void {
  if (calls.push(call) === 1) setImmediate(tell)
}

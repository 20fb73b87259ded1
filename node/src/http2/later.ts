// Defers callbacks to the next turn of the loop, all of one turn together.

import { apart } from '../channel/ring'

let calls: (() => void)[] = []
function report (): void {
  const now = calls
  calls = []
  for (const call of now) apart(call)
}

/** Calls in the next turn. */
export function later (call: () => void): void {
  if (calls.push(call) === 1) setImmediate(report)
}

// One listener of the end of the process for all copies of the package in it: tests load modules again and again, and Node.js warns of the eleventh listener.

const CALLS = Symbol.for('trunkline.atExit')

/** Calls `call` when the process ends. */
export function atExit (call: () => void): void {
  const owner = process as { [CALLS]?: (() => void)[] }
  const known = owner[CALLS]
  if (known !== undefined) return void known.push(call)
  const calls = [call]
  Object.defineProperty(process, CALLS, { value: calls })
  process.once('exit', () => { for (const each of calls) each() })
}

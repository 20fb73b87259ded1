// The log of a program, by its sides: they share no clock, so that only the order within a side counts.
import { inspect } from 'node:util'

/** A message without ports, names of folders for the time of a run, and OpenSSL's number of a thread. */
const everyRuns = message => message
  .replace(/(\d|\]|::|localhost):\d{4,5}\b/g, '$1:PORT')
  .replace(/\/trunkline-parity-\w+/g, '/FOLDER')
  .replace(/^[\dA-F]+:error:/, 'error:').trim()

/** A value in one line, without what differs from run to run. */
export function displayed (value) {
  if (typeof value === 'string') return value
  if (Buffer.isBuffer(value)) return value.length > 64 ? `<${value.length} bytes>` : JSON.stringify(value.toString('latin1'))
  if (value instanceof Error) return `${value.name} ${value.code ?? 'without a code'}: ${everyRuns(value.message)}`
  return inspect(value, { breakLength: Infinity, depth: 4, maxStringLength: 80 })
}

/** Events of one turn of the event loop and of what it starts are logged before this resolves. */
export const turns = async (count = 3) => {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => { setImmediate(resolve) })
}

export class Sides {
  /** Lines by side. */
  sides = new Map()

  /** Writes a side's lines into its own list. */
  log (side) {
    const lines = this.sides.get(side) ?? []
    this.sides.set(side, lines)
    return (...values) => { lines.push(`${side}: ${values.map(displayed).join(' ')}`) }
  }

  lines () { return [...this.sides.values()].flat() }

  /** Runs `call`, and says what came of it. */
  attempt (log, label, call) {
    try {
      const result = call()
      log(label, '->', result === null || typeof result !== 'object' ? result : typeof result)
      return result
    } catch (error) {
      log(label, 'threw', error)
    }
  }
}

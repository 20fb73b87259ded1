// Runs sets of programs on the original and on this package, each in processes of their own, and compares what they
// log, line by line. A difference without a reason is unexpected, and so is a reason without a difference.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { again } from '../support/lines/again.mjs'
import { bun, lines as installed } from '../support/lines/lines.mjs'
import { reasonsOf } from './reasons.mjs'
import { lineMinOf, SETS } from './sets.mjs'

/** How long the programs of a set may take, together. */
const ALL_MS_MAX = 600_000
const script = fileURLToPath(new URL('run.mjs', import.meta.url))

export const lineOf = version => Number.parseInt(version.replace(/^(v|node)/, ''), 10)

const isOfBun = set => SETS[set].original === 'bun'

/** The Node.js that runs a set whose original needs a newer line; undefined where there is none, or no Bun for a set of Bun's. */
export function programFor (set, program = process.execPath, line = lineOf(process.version)) {
  if (isOfBun(set) && bun === undefined) return undefined
  return line < lineMinOf(set) ? installed.node24 : program
}

/** The logs of the programs of a set, by their names. */
export function logged (set, subject, program = process.execPath, names) {
  const env = { ...process.env }
  delete env.NODE_TEST_CONTEXT
  return new Promise(resolve => {
    const child = spawn(program, [script, set, subject], { env, timeout: ALL_MS_MAX, killSignal: 'SIGKILL' })
    const [out, err] = [[], []]
    child.stdout.on('data', piece => { out.push(piece) })
    child.stderr.on('data', piece => { err.push(piece) })
    child.stdin.on('error', () => {})
    child.stdin.end(names === undefined ? '' : JSON.stringify(names))
    child.on('close', (code, signal) => {
      const programs = new Map()
      for (const line of Buffer.concat(out).toString().split('\n')) {
        if (!line.startsWith('{')) continue
        const { name, lines } = JSON.parse(line)
        programs.set(name, lines)
      }
      resolve({ programs, error: code === 0 ? null : `${code ?? signal}`, stderr: Buffer.concat(err).toString() })
    })
  })
}

/** Compares a set, or the programs `names` of it, on one Node. */
export async function compareSet (set, { program = process.execPath, line = lineOf(process.version), names } = {}) {
  const runner = programFor(set, program, line)
  const reasons = reasonsOf(set, runner === program ? line : 24)
  const subjects = ['original', 'ours']
  const runners = [isOfBun(set) ? bun : runner, runner]
  const [theirs, ours] = await Promise.all(subjects.map((subject, index) => logged(set, subject, runners[index], names)))
  const equals = name => isDeepStrictEqual(ours.programs.get(name), theirs.programs.get(name))
  const all = () => [...theirs.programs.keys()]
  const both = name => [theirs.programs.get(name), ours.programs.get(name) ?? []]
  /** The programs that differ without a reason, or in lines that it does not cover, or do not though the reason is theirs
   * alone. */
  const unexpected = () => all().filter(name => equals(name) ? reasons.isExact(name) : !reasons.covers(name, ...both(name)))
  const errors = () => [theirs.error, ours.error].filter(error => error !== null)
  if (errors().length === 0) await again([theirs, ours], unexpected, (index, some) => logged(set, subjects[index], runners[index], some))
  const differing = all().filter(name => !equals(name))
  const missing = (names ?? all()).filter(name => !theirs.programs.has(name) || !ours.programs.has(name))
  const counts = new Map()
  for (const name of differing) {
    const key = reasons.keyOf(name, ...both(name))
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const silent = all().filter(name => theirs.programs.get(name).length === 0)
  return {
    theirs: theirs.programs,
    ours: ours.programs,
    errors: errors(),
    stderr: theirs.stderr + ours.stderr,
    reasons,
    all: all(),
    differing,
    unexpected: unexpected(),
    /** Reasons that no program needs; of a part of a set nothing can be said. */
    unused: names === undefined ? reasons.keys().filter(key => !counts.has(key)) : [],
    /** Reasons that are of more programs than they say. */
    overfull: reasons.keys().filter(key => (counts.get(key) ?? 0) > reasons.boundOf(key)).map(key => `${key}: is of ${counts.get(key)} programs, and says ${reasons.boundOf(key)}`),
    /** Programs that did not run, or that say nothing. */
    missing: [...missing, ...silent]
  }
}

/** The faults of a comparison, in words; none: an empty list. */
export function faultsOf (set, compared) {
  const { errors, stderr, unexpected, unused, overfull, missing, reasons, theirs, ours } = compared
  const both = name => `  original ${JSON.stringify(theirs.get(name))}\n  ours     ${JSON.stringify(ours.get(name))}`
  return [
    ...errors.map(error => `${set}: a process ended with ${error}: ${stderr.slice(-2000)}`),
    ...missing.map(name => `${set}: ${name}: did not run`),
    ...unexpected.map(name => reasons.isExact(name) ? `${set}: ${name}: is equal, take it off the list` : `${set}: ${name}: differs ${reasons.find(name) === undefined ? 'without a reason' : 'in lines that its reason does not cover'}\n${both(name)}`),
    ...overfull.map(text => `${set}: ${text}`),
    ...unused.map(key => `${set}: ${key}: a reason that no program needs`)
  ]
}

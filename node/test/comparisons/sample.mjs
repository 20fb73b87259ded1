// The part of the generated programs that every run of the tests has: the same each time, and spread over all files,
// calls, versions and outcomes.
import { GENERATED, programsOf } from './sets.mjs'

/** How many generated programs a run of the tests has. */
const SAMPLE = 300

/** Names of programs by set, evenly through the registry: its neighbours differ in one dimension. */
export async function sample (count = SAMPLE) {
  const all = []
  for (const set of GENERATED) for (const name of (await programsOf(set)).keys()) all.push([set, name])
  const chosen = new Map(GENERATED.map(set => [set, []]))
  for (let at = 0; at < count; at++) {
    const [set, name] = all[Math.floor((at + 0.5) * all.length / count)]
    chosen.get(set).push(name)
  }
  return { chosen, total: all.length }
}

// Every comparison on every line of Node.js that is installed beside the tests; prints how many programs are equal,
// and how many differ with a reason. A difference without a reason fails, and so does a reason without a difference.
//   node all.mjs [node20|node22|node24|node26 ..]
import { lines } from '../support/lines/lines.mjs'
import { compareSet, faultsOf, lineOf, programFor } from './compare.mjs'
import { lineMinOf, SETS } from './sets.mjs'

const own = `node${lineOf(process.version)}`
const programs = { [own]: process.execPath, ...lines }
const asked = process.argv.slice(2)
const unknown = asked.filter(name => programs[name] === undefined)
if (unknown.length > 0) throw new Error(`no line ${unknown.join(', ')}; installed are ${Object.keys(programs).join(', ')}`)

const sum = { combinations: 0, equal: 0, differ: 0 }
const faults = []
const report = (label, { combinations, equal, differ }) => { console.log(`${label}: ${combinations} combinations, ${equal} equal, ${differ} differ with a reason`) }
for (const name of asked.length > 0 ? asked : Object.keys(programs).sort()) {
  for (const set of Object.keys(SETS)) {
    if (lineOf(name) < lineMinOf(set)) continue
    if (programFor(set) === undefined) {
      console.log(`${name}, ${set}: not compared, because its original is not installed`)
      continue
    }
    const compared = await compareSet(set, { program: programs[name], line: lineOf(name) })
    const counts = { combinations: compared.all.length, differ: compared.differing.length - compared.unexpected.filter(one => compared.differing.includes(one)).length }
    counts.equal = counts.combinations - compared.differing.length
    report(`${name}, ${set}`, counts)
    for (const key of Object.keys(sum)) sum[key] += counts[key]
    for (const fault of faultsOf(set, compared)) faults.push(`${name}, ${fault}`)
  }
}
report('all', sum)
for (const fault of faults) console.error(fault)
if (faults.length > 0) throw new Error(`${faults.length} comparisons have faults`)

// Declares the tests of sets whose programs are written one by one: one for each program.
import assert from 'node:assert/strict'
import test from 'node:test'
import { compareSet, programFor } from './compare.mjs'

/** All sets are run before the first test is declared: a file whose tests are over is expected to end. The comparisons, by their order. */
export async function declare (...sets) {
  const all = []
  for (const set of sets) all.push(programFor(set) === undefined ? undefined : await compareSet(set))
  for (const [at, set] of sets.entries()) declareSet(set, all[at])
  return all
}

function declareSet (set, compared) {
  if (compared === undefined) return test(`${set}: the same is logged`, { skip: 'its original, or the line of Node.js that it needs, is not installed' }, () => {})
  const { theirs, ours, reasons, errors, stderr, missing, unused } = compared

  test(`${set}: every program runs to its end with the original and with this package, and logs something`, () => {
    assert.deepEqual(errors, [], stderr)
    assert.deepEqual(missing, [])
    for (const [name, lines] of theirs) assert.ok(!lines.includes('stage: the program did not end'), name)
  })
  for (const [name, lines] of theirs) {
    const reason = reasons.find(name)
    if (reason === undefined) test(name, () => { assert.deepEqual(ours.get(name), lines) })
    else test(`${name} (differs: ${reason})`, () => { if (reasons.isExact(name)) assert.notDeepEqual(ours.get(name), lines, 'it is equal: take it off the list') })
  }
  test(`${set}: every reason is one of a program that differs`, () => { assert.deepEqual(unused, []) })
}

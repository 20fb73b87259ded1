// A sample of the generated comparisons; `make comparisons` runs all of them, on every line of Node.js.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { compareSet, faultsOf, programFor } from './compare.mjs'
import { sample } from './sample.mjs'
import { fresh, page } from './tables.mjs'

const { chosen, total } = await sample()

test('there are at least 3,000 generated comparisons', () => { assert.ok(total >= 3000, `${total}`) })

for (const [set, names] of chosen) {
  const skip = programFor(set) === undefined && 'its original, or the line of Node.js that it needs, is not installed'
  test(`${set}: a sample of ${names.length} logs the same, but those on the list`, { skip }, async () => {
    assert.deepEqual(faultsOf(set, await compareSet(set, { names })), [])
  })
}

test('the tables of differences in the guide are those of the accepted differences: node test/comparisons/tables.mjs writes them', () => {
  const text = readFileSync(page, 'utf8')
  assert.equal(text, fresh(text))
})

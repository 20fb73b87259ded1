// Small programs over the whole API of node:http2's servers log the same with the servers of this package, line by
// line, on the same Node. What differs is listed with its reason, and must differ.
import assert from 'node:assert/strict'
import test from 'node:test'
import { compareSet, faultsOf, logged } from '../comparisons/compare.mjs'
import { declare } from '../comparisons/declare.mjs'
import { programsOf } from '../comparisons/sets.mjs'
import { again } from '../support/lines/again.mjs'

/** Every third: `make comparisons` has all of them over TLS. */
const third = [...(await programsOf('server')).keys()].filter((_, index) => index % 3 === 0)

// All at once: most of the time they wait.
const overTls = compareSet('server over TLS', { names: third })
const another = logged('server', 'original', process.execPath, third)
const [{ theirs }] = await declare('server')

test('there are programs for the whole API', () => { assert.ok(theirs.size >= 350, `${theirs.size} programs`) })

test('a program logs the same each time', async () => {
  const second = await another
  const differing = () => third.filter(name => JSON.stringify(theirs.get(name)) !== JSON.stringify(second.programs.get(name)))
  await again([{ programs: theirs }, second], differing, (_, names) => logged('server', 'original', process.execPath, names))
  assert.deepEqual(differing(), [])
})

test('over TLS a third of the programs logs the same, but those on the list', async () => {
  assert.deepEqual(faultsOf('server over TLS', await overTls), [])
})

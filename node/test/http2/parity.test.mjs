// Small programs over the whole API of node:http2's servers log the same with the servers of this package, line by
// line, on the same Node. What differs is listed with its reason, and must differ.
import assert from 'node:assert/strict'
import test from 'node:test'
import { compareSet, faultsOf, logged } from '../comparisons/compare.mjs'
import { declare } from '../comparisons/declare.mjs'
import { again } from '../support/lines/again.mjs'

// All at once: most of the time they wait.
const overTls = compareSet('server over TLS')
const another = logged('server', 'original')
const [{ theirs }] = await declare('server')

test('there are programs for the whole API', () => { assert.ok(theirs.size >= 350, `${theirs.size} programs`) })

test('a program logs the same each time', async () => {
  const second = await another
  const differing = () => [...theirs.keys()].filter(name => JSON.stringify(theirs.get(name)) !== JSON.stringify(second.programs.get(name)))
  await again([{ programs: theirs }, second], differing, (_, names) => logged('server', 'original', process.execPath, names))
  assert.deepEqual(differing(), [])
})

test('over TLS every program logs the same, but those on the list', async () => {
  assert.deepEqual(faultsOf('server over TLS', await overTls), [])
})

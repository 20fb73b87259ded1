// Small programs over the API of undici's dispatchers, and programs of undici's own documentation, log the same with the
// dispatchers of this package.
import assert from 'node:assert/strict'
import test from 'node:test'
import { declare } from '../../comparisons/declare.mjs'
import { linesThatDiffer, reasonsOf } from '../../comparisons/reasons.mjs'
import { programsOf } from '../../comparisons/sets.mjs'

await declare('client', 'client documented')

test('there are at least 60 programs of undici\'s documentation', async () => {
  const { size } = await programsOf('client documented')
  assert.ok(size >= 60, `${size} programs`)
})

test('a reason covers the lines that it names, and no others', () => {
  const reasons = reasonsOf('client generated')
  const name = 'exchanges: request, h2, Client: headersTimeout'
  const theirs = ['client: failed one', 'client: false false']
  assert.equal(reasons.covers(name, theirs, ['client: failed two', 'client: false false']), true)
  assert.equal(reasons.covers(name, theirs, ['client: failed two', 'client: true false']), false)
  assert.equal(reasons.covers('exchanges: request, h2, Client, GET: a text', theirs, ['client: failed two']), false)
})

test('lines that differ are those that one log has and the other does not, else those that stand elsewhere', () => {
  assert.deepEqual(linesThatDiffer(['a', 'b', 'b'], ['b', 'a', 'c']), ['b', 'c'])
  assert.deepEqual(linesThatDiffer(['a', 'b', 'c'], ['a', 'c', 'b']), ['b', 'c'])
  assert.deepEqual(linesThatDiffer(['a'], ['a']), [])
})

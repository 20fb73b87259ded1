// The set of open exchanges: removing one keeps all others.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Open } from '../../../dist/open.js'

test('things come and go in any order, and those that are there are there once', () => {
  const [open, model] = [new Open(), new Set()]
  const things = Array.from({ length: 50 }, () => ({ place: 0 }))
  let seed = 1
  const next = () => { seed = (seed * 48_271) % 0x7fff_ffff; return seed }
  for (let step = 0; step < 10_000; step++) {
    const thing = things[next() % things.length]
    if (model.has(thing)) {
      open.delete(thing)
      model.delete(thing)
    } else if (next() % 2 === 0) {
      open.add(thing)
      model.add(thing)
    } else {
      // One that is not among them.
      open.delete(thing)
    }
    assert.equal(open.size, model.size)
  }
  assert.deepEqual(new Set(open), model)
  for (const thing of [...open]) open.delete(thing)
  assert.deepEqual([open.size, [...open]], [0, []])
})

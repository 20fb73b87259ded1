// The queue behind everything that waits in JavaScript: pieces of bodies, requests of pools and of sessions.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createRequire } from 'node:module'

const { Fifo } = createRequire(import.meta.url)('../../dist/fifo.js')

test('a queue gives its entries in their order, however pushes and takes follow each other', () => {
  const queue = new Fifo()
  const model = []
  let [seed, next] = [1, 0]
  const random = () => { seed = (seed * 48_271) % 2_147_483_647; return seed / 2_147_483_647 }
  for (let round = 0; round < 50_000; round++) {
    // It grows in the first half, and is emptied in the second.
    if (random() < (round < 25_000 ? 0.6 : 0.4)) {
      queue.push(next)
      model.push(next++)
    } else assert.equal(queue.shift(), model.shift())
    assert.equal(queue.length, model.length)
    assert.equal(queue.first, model[0])
  }
  queue.push('one')
  queue.push('two')
  model.push('one', 'two')
  assert.deepEqual([...queue], model)
  assert.deepEqual(queue.takeAll(), model)
  assert.deepEqual([queue.length, queue.first, queue.shift()], [0, undefined, undefined])
})

test('a queue of 100,000 entries keeps no more places than twice those that wait, and moves what is left a few times', () => {
  const queue = new Fifo()
  let [moves, taken] = [0, 0]
  for (let entry = 0; entry < 100_000; entry++) queue.push(entry)
  for (let entry = 0; entry < 100_000; entry++) {
    assert.equal(queue.shift(), entry)
    if (queue.taken < taken) moves++
    taken = queue.taken
    assert.ok(queue.entries.length <= 2 * queue.length + 2048)
  }
  assert.ok(moves < 10, `${moves} moves`)
})

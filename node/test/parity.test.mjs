// Small programs over the whole API of node:http2's servers say the same with the servers of this
// package, line by line, on the same Node. What differs is listed with its reason, and must differ.
import assert from 'node:assert/strict'
import test from 'node:test'
import { compare, said, unexpected } from './parity/compare.mjs'
import { differentOn } from './parity/different.mjs'
import { again } from './support/again.mjs'

const different = differentOn(process.version)
const SUBJECTS = ['node', 'node', 'trunkline']
const [node, nodeAgain, ours] = await Promise.all(SUBJECTS.map(subject => said(subject)))
await again(
  [node, nodeAgain, ours],
  () => [...new Set([...unexpected(node, nodeAgain, {}), ...unexpected(node, ours, different)])],
  (index, names) => said(SUBJECTS[index], process.execPath, { PARITY_ONLY: JSON.stringify(names) })
)

test('there are programs for the whole API, and each ends with node:http2', () => {
  assert.equal(node.error, null, node.stderr)
  assert.ok(node.programs.size >= 350, `${node.programs.size} programs`)
  for (const [name, lines] of node.programs) {
    assert.deepEqual(lines.filter(line => line.startsWith('stage:')), [], name)
    assert.ok(lines.length > 0, `${name} says nothing`)
  }
})

test('a program says the same each time', () => {
  for (const [name, lines] of node.programs) assert.deepEqual(nodeAgain.programs.get(name), lines, name)
})

test('every program runs to its end with the servers of this package', () => {
  assert.equal(ours.error, null, ours.stderr)
  assert.deepEqual([...ours.programs.keys()], [...node.programs.keys()])
})

for (const [name, lines] of node.programs) {
  if (name in different) {
    test(`${name} (differs: ${different[name]})`, () => {
      assert.notDeepEqual(ours.programs.get(name), lines, 'it is equal: take it off the list')
    })
  } else {
    test(name, () => { assert.deepEqual(ours.programs.get(name), lines) })
  }
}

test('what differs names programs that there are', () => {
  assert.deepEqual(Object.keys(different).filter(name => !node.programs.has(name)), [])
})

test('over TLS every program says the same, but those on the list', () => compare(process.execPath, process.version, { PARITY_SECURE: 'yes' }))

// Small programs over the whole API of node:http2's servers say the same with the servers of this
// package, line by line, on the same Node. What differs is listed with its reason, and must differ.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { differentOn } from './parity/different.mjs'
import { lines } from './support/lines.mjs'

/** How long all programs may take, together. */
const ALL_MS_MAX = 110_000
const script = fileURLToPath(new URL('parity/run.mjs', import.meta.url))

/** What every program says with one of the modules. */
function said (subject, program = process.execPath, own = {}) {
  const env = { ...process.env, ...own }
  delete env.NODE_TEST_CONTEXT
  return new Promise(resolve => {
    execFile(program, [script, subject], { env, timeout: ALL_MS_MAX, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const programs = new Map()
      for (const line of stdout.split('\n').filter(Boolean)) {
        const { file, name, lines } = JSON.parse(line)
        programs.set(`${file}: ${name}`, lines)
      }
      resolve({ programs, error, stderr })
    })
  })
}

const different = differentOn(process.version)
const [node, again, ours] = await Promise.all([said('node'), said('node'), said('trunkline')])

test('there are programs for the whole API, and each ends with node:http2', () => {
  assert.equal(node.error, null, node.stderr)
  assert.ok(node.programs.size >= 350, `${node.programs.size} programs`)
  for (const [name, lines] of node.programs) {
    assert.deepEqual(lines.filter(line => line.startsWith('stage:')), [], name)
    assert.ok(lines.length > 0, `${name} says nothing`)
  }
})

test('a program says the same each time', () => {
  for (const [name, lines] of node.programs) assert.deepEqual(again.programs.get(name), lines, name)
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

/** All programs say the same, but those on the list. */
async function compare (program, version, own) {
  const [theirs, these] = await Promise.all([said('node', program, own), said('trunkline', program, own)])
  assert.deepEqual([theirs.error, these.error], [null, null], theirs.stderr + these.stderr)
  const unequal = [...theirs.programs].filter(([name, lines]) => !isDeepStrictEqual(these.programs.get(name), lines)).map(([name]) => name)
  assert.deepEqual(unequal.sort(), Object.keys(differentOn(version)).sort())
}

test('over TLS every program says the same, but those on the list', () => compare(process.execPath, process.version, { PARITY_SECURE: 'yes' }))

for (const [line, program] of Object.entries(lines)) {
  test(`${line}: every program says the same, but those on the list`, () => compare(program, line.replace('node', '')))
}

// Small programs over the API of undici's dispatchers say the same with the dispatchers of this package,
// line by line, on the same Node. What differs is listed with its reason, and must differ.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { different } from './client_parity/different.mjs'
import { lines } from './support/lines.mjs'

/** How long all programs may take, together. */
const ALL_MS_MAX = 280_000
const script = fileURLToPath(new URL('client_parity/run.mjs', import.meta.url))

/** undici 8 needs Node 22 or newer. */
const isNew = Number.parseInt(process.versions.node, 10) >= 22
const program = isNew ? process.execPath : lines.node24
const skip = program === undefined && 'undici 8 needs Node 22 or newer, and none is installed'

function said (subject) {
  const env = { ...process.env }
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

if (skip) {
  test('programs for undici say the same', { skip }, () => {})
} else {
  const [undici, ours] = await Promise.all([said('undici'), said('trunkline')])

  test('every program runs to its end with undici and with the dispatchers of this package', () => {
    assert.deepEqual([undici.error, ours.error], [null, null], undici.stderr + ours.stderr)
    assert.deepEqual([...ours.programs.keys()], [...undici.programs.keys()])
    for (const [name, lines] of undici.programs) assert.ok(lines.length > 0, `${name} says nothing`)
  })

  for (const [name, lines] of undici.programs) {
    if (name in different) {
      test(`${name} (differs: ${different[name]})`, () => {
        assert.notDeepEqual(ours.programs.get(name), lines, 'it is equal: take it off the list')
      })
    } else {
      test(name, () => { assert.deepEqual(ours.programs.get(name), lines) })
    }
  }

  test('what differs names programs that there are', () => {
    assert.deepEqual(Object.keys(different).filter(name => !undici.programs.has(name)), [])
  })
}

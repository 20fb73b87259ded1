// Runs the programs of a folder with undici 8 and with the dispatchers of this package, on one Node, and compares
// what they log, line by line. What differs is listed with its reason, and must differ.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { again } from '../support/again.mjs'
import { lines } from '../support/lines.mjs'

/** How long all programs of a folder may take, together. */
const ALL_MS_MAX = 280_000
const script = fileURLToPath(new URL('run.mjs', import.meta.url))

/** undici 8 needs Node 22 or newer. */
const isNew = Number.parseInt(process.versions.node, 10) >= 22
const program = isNew ? process.execPath : lines.node24
const skip = program === undefined && 'undici 8 needs Node 22 or newer, and none is installed'

function said (subject, kind, own = {}) {
  const env = { ...process.env, ...own }
  delete env.NODE_TEST_CONTEXT
  return new Promise(resolve => {
    execFile(program, [script, subject, kind], { env, timeout: ALL_MS_MAX, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const programs = new Map()
      for (const line of stdout.split('\n').filter(Boolean)) {
        const { file, name, lines } = JSON.parse(line)
        programs.set(`${file}: ${name}`, lines)
      }
      resolve({ programs, error, stderr })
    })
  })
}

/** Whether a key of the list is of a program: `*` stands for any text. */
function isOf (key, name) {
  const parts = key.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name)
}

/** Declares the tests of a folder. */
export async function compare (kind, different) {
  if (skip) return test(`programs for undici say the same (${kind})`, { skip }, () => {})
  const [undici, ours] = await Promise.all([said('undici', kind), said('trunkline', kind)])
  /** The programs that do not log the same, or do though they are listed by their whole name. */
  const unexpected = () => [...undici.programs.keys()].filter(name => {
    const key = Object.keys(different).find(key => isOf(key, name))
    return key?.includes('*') !== true && isDeepStrictEqual(ours.programs.get(name), undici.programs.get(name)) === (key !== undefined)
  })
  await again([undici, ours], unexpected, (index, names) => said(['undici', 'trunkline'][index], kind, { PARITY_ONLY: JSON.stringify(names) }))

  test('every program runs to its end with undici and with the dispatchers of this package', () => {
    assert.deepEqual([undici.error, ours.error], [null, null], undici.stderr + ours.stderr)
    assert.deepEqual([...ours.programs.keys()], [...undici.programs.keys()])
    for (const [name, lines] of undici.programs) assert.ok(lines.length > 0, `${name} says nothing`)
  })

  for (const [name, lines] of undici.programs) {
    const key = Object.keys(different).find(key => isOf(key, name))
    // A key with `*` is of some programs that differ, and of others.
    if (key?.includes('*')) continue
    if (key !== undefined) {
      test(`${name} (differs: ${different[key]})`, () => {
        assert.notDeepEqual(ours.programs.get(name), lines, 'it is equal: take it off the list')
      })
    } else {
      test(name, () => { assert.deepEqual(ours.programs.get(name), lines) })
    }
  }

  test('what differs names programs that there are, and that differ', () => {
    const differing = [...undici.programs].filter(([name, lines]) => !isDeepStrictEqual(ours.programs.get(name), lines))
    assert.deepEqual(Object.keys(different).filter(key => !differing.some(([name]) => isOf(key, name))), [])
  })
}

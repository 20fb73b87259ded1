// Runs the programs in processes of their own, and compares what they say.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { again } from '../support/again.mjs'
import { differentOn } from './different.mjs'

/** How long all programs may take, together. */
const ALL_MS_MAX = 190_000
const script = fileURLToPath(new URL('run.mjs', import.meta.url))

/** The output of every program with one of the modules. */
export function said (subject, program = process.execPath, own = {}) {
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

/** The programs that do not say the same, or do though they are listed. */
export const unexpected = (theirs, these, different) => [...theirs.programs.keys()]
  .filter(name => isDeepStrictEqual(these.programs.get(name), theirs.programs.get(name)) === name in different)

/** All programs say the same, but those on the list. */
export async function compare (program, version, own) {
  const different = differentOn(version)
  const [theirs, these] = await Promise.all([said('node', program, own), said('trunkline', program, own)])
  assert.deepEqual([theirs.error, these.error], [null, null], theirs.stderr + these.stderr)
  await again([theirs, these], () => unexpected(theirs, these, different), (index, names) => said(['node', 'trunkline'][index], program, { ...own, PARITY_ONLY: JSON.stringify(names) }))
  const unequal = [...theirs.programs].filter(([name, lines]) => !isDeepStrictEqual(these.programs.get(name), lines)).map(([name]) => name)
  assert.deepEqual(unequal.sort(), Object.keys(different).sort())
}

// Runs the programs in processes of their own, and compares what they say.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { differentOn } from './different.mjs'

/** How long all programs may take, together. */
const ALL_MS_MAX = 190_000
const script = fileURLToPath(new URL('run.mjs', import.meta.url))

/** What every program says with one of the modules. */
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

/** All programs say the same, but those on the list. */
export async function compare (program, version, own) {
  const [theirs, these] = await Promise.all([said('node', program, own), said('trunkline', program, own)])
  assert.deepEqual([theirs.error, these.error], [null, null], theirs.stderr + these.stderr)
  const unequal = [...theirs.programs].filter(([name, lines]) => !isDeepStrictEqual(these.programs.get(name), lines)).map(([name]) => name)
  assert.deepEqual(unequal.sort(), Object.keys(differentOn(version)).sort())
}

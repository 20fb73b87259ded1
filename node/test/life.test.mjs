// The life of a process with the engine in it: workers that end, processes that exit, agents that
// idle. Each in a process of its own, so that a crash is seen.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'node:test'

const folder = fileURLToPath(new URL('.', import.meta.url))
const programs = { [`node ${process.version}`]: process.execPath }
for (const line of ['node22', 'node24', 'node26']) {
  const program = `${folder}node_modules/${line}/bin/node`
  if (existsSync(program)) programs[line] = program
}

/** Runs a script of the folder `life`; resolves to how it ended. */
function run (program, script) {
  return new Promise(resolve => {
    execFile(program, [`${folder}life/${script}.mjs`], { timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, signal: error?.signal ?? null, stdout: stdout.trim(), stderr })
    })
  })
}

for (const [line, program] of Object.entries(programs)) {
  test(`${line}: an idle agent does not hold the process, and a request under way does`, async () => {
    const ended = await run(program, 'idle')
    assert.deepEqual([ended.code, ended.stdout], [0, 'answered after 300 ms'], ended.stderr)
  })
  test(`${line}: importing does nothing, and a process that never closed ends`, async () => {
    const ended = await run(program, 'import')
    assert.deepEqual([ended.code, ended.stdout], [0, 'imported'], ended.stderr)
  })
  test(`${line}: process.exit under load is clean`, async () => {
    for (let round = 0; round < 3; round++) {
      const ended = await run(program, 'exit')
      assert.deepEqual([ended.code, ended.signal], [7, null], ended.stderr)
    }
  })
  test(`${line}: workers that are terminated under load, and workers that end, leave the process alone`, async () => {
    const ended = await run(program, 'workers')
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, 'main still works'], ended.stderr)
  })
  test(`${line}: an exception in a callback is uncaught, and only that`, async () => {
    const ended = await run(program, 'throws')
    assert.deepEqual([ended.code, ended.stdout], [0, 'heard: from the callback\nstill works'], ended.stderr)
  })
}

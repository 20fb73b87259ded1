// The lines of Node that are installed beside the tests, and scripts in processes of their own.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../..', import.meta.url))

/** The lines that tests run on. */
export const LINES = ['node20', 'node22', 'node24', 'node26']
/** The oldest and the newest. Streams, processes and modules change in one direction from line to line, so that
 * `make test` tries these of what uses undici, of fetch and of processes, and `make ready` every file on every line. */
export const OUTERMOST = [LINES[0], LINES.at(-1)]
/** Processes that exit under load, after one another: each at another moment. More of them in `make ready`. */
export const EXITS = process.env.TRUNKLINE_LONG === '1' ? 10 : 1
/** By name, the programs of those that are there, except for the one that runs. */
export const lines = {}
for (const line of LINES) {
  const program = `${folder}node_modules/${line}/bin/node`
  if (!process.version.startsWith(`v${line.slice(4)}.`) && existsSync(program)) lines[line] = program
}

const bunProgram = `${folder}node_modules/bun/bin/bun`
/** The program of Bun; undefined where it is not installed. */
export const bun = existsSync(bunProgram) ? bunProgram : undefined

/** Runs a script of this folder's parent, the program's own `flags` before it; resolves to how it ended. One that outlives its time is
 * killed, and says so. */
export function run (program, script, { args = [], flags = [], limit = 120_000, env = {} } = {}) {
  const own = { ...process.env, ...env }
  // A file of tests in it must not report to this runner.
  delete own.NODE_TEST_CONTEXT
  return new Promise(resolve => {
    const options = { timeout: limit, killSignal: 'SIGKILL', env: own, maxBuffer: 16 << 20 }
    execFile(program, [...flags, `${folder}${script}`, ...args], options, (error, stdout, stderr) => {
      const late = error?.killed ? `${basename(script)} had not ended after ${limit / 1000} s and was killed\n` : ''
      resolve({ code: error === null ? 0 : error.code, signal: error?.signal ?? null, stdout: stdout.trim(), stderr: late + stderr })
    })
  })
}

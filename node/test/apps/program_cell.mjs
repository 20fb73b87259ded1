// One program of two processes: `node program_cell.mjs NAME CLIENT SERVER`, where CLIENT and SERVER are `own` (node:http2) or
// `ours` (`trunkline/register` in its place). Starts the server's process, runs the program's cases in this one and prints
// their outcomes, as JSON in its last line.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { authority } from '../support/certificates/authority.mjs'
import { cert, key } from '../support/certificates/certificate.mjs'
import * as frames from '../support/servers/h2_frames.mjs'
import { folderOf } from './install.mjs'
import { bounded, report } from './outcome.mjs'

const [name, client, server, role] = process.argv.slice(2)
/** A case of 100 MB on a busy machine. */
const CASE_MS = 60_000
const only = process.env.ONLY === undefined ? undefined : new RegExp(process.env.ONLY)
// Peers that break the rules are node's own on each side.
const original = { ...http2 }
const tls = { cert, key }
const isServer = role === 'server'
if ((isServer ? server : client) === 'ours') await import('trunkline/register')
const app = await import(pathToFileURL(join(folderOf({ name }), 'app.mjs')))

/** Answers the commands of the other process. */
async function serve () {
  const { ports, control } = await app.start({ tls, original, scratch: process.env.SCRATCH })
  process.on('message', async ({ id, command, given }) => {
    const answer = await Promise.resolve().then(() => control[command](...given)).catch(error => ({ failed: error.message }))
    process.send({ id, answer })
  })
  process.on('disconnect', () => { process.exit(0) })
  process.send({ ports })
}

/** Runs every case. */
async function run () {
  const scratch = mkdtempSync(join(tmpdir(), 'trunkline-program-'))
  const child = fork(fileURLToPath(import.meta.url), [name, client, server, 'server'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { ...process.env, SCRATCH: scratch } })
  const problems = []
  process.on('uncaughtException', error => { problems.push(`uncaught ${error.stack}`) })
  process.on('unhandledRejection', error => { problems.push(`unhandled ${error?.stack ?? error}`) })
  child.on('exit', (code, signal) => { problems.push(`the server's process ended with ${code ?? signal}`) })
  const [{ ports }] = await once(child, 'message')
  const waiting = new Map()
  child.on('message', ({ id, answer }) => { waiting.get(id)?.(answer) })
  const control = (command, ...given) => new Promise(resolve => {
    const id = waiting.size
    waiting.set(id, resolve)
    child.send({ id, command, given })
  })
  const outcomes = []
  for (const [title, work] of Object.entries(app.cases({ ports, control, tls, original, scratch, frames, authority: authority('another').cert }))) {
    if (only !== undefined && !only.test(title)) continue
    const began = Date.now()
    outcomes.push([title, await bounded(Promise.resolve().then(work), { within: CASE_MS })])
    if (process.env.TIMES) process.stderr.write(`${Date.now() - began} ms ${title}\n`)
  }
  child.removeAllListeners('exit')
  child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
  report({ result: { all: outcomes }, problems })
}

try {
  await (isServer ? serve() : run())
} catch (error) {
  process.stderr.write(`${error.stack}\n`)
  process.exit(1)
}

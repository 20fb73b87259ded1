// One program around servers and clients, on node's own or on ours: `node host_cell.mjs NAME own|SIDE` runs the cases of its row
// and prints their outcomes, as JSON in its last line. Its module is loaded first, because tracers replace parts of Node.js.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { folderOf } from './install.mjs'
import { bounded, report } from './outcome.mjs'

const [name, side] = process.argv.slice(2)
/** Processes of a cluster are started and replaced in it, on a busy machine. */
const CASE_MS = 120_000
const problems = []
process.on('uncaughtException', error => { problems.push(`uncaught ${error.stack}`) })
process.on('unhandledRejection', error => { problems.push(`unhandled ${error?.stack ?? error}`) })
const app = await import(pathToFileURL(join(folderOf({ name }), 'app.mjs')))
const outcomes = []
const cases = await app.cases(side)
for (const [title, work] of Object.entries(cases)) {
  const began = Date.now()
  outcomes.push([title, await bounded(Promise.resolve().then(work), { within: CASE_MS })])
  if (process.env.TIMES) process.stderr.write(`${Date.now() - began} ms ${title}\n`)
}
await app.end?.()
report({ result: { all: outcomes }, problems })

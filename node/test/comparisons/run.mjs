// Runs programs of a set in this process, on the original or on this package; prints a line of JSON for each: its
// name, and what it logged. The names are read from stdin as JSON; nothing there: all of them.
//   node run.mjs SET original|ours < names
import { readFileSync } from 'node:fs'
import { SETS, programsOf } from './sets.mjs'
import { displayed } from './sides.mjs'
import { cert, key } from '../support/certificates/certificate.mjs'

/** How long the ends of a program of undici's API have to part. */
const PARTING_MS_MAX = 2000
/** How many generated programs are run at once. */
const CONCURRENT_MAX = 32

const [name, subject] = process.argv.slice(2)
const set = SETS[name]
if (set.isSecure === true) process.env.COMPARISONS_SECURE = 'yes'
/** How long a program may take, on a busy machine too; each of them ends with the original. */
const PROGRAM_MS_MAX = set.original === 'undici' ? 60_000 : 20_000
const isOurs = subject === 'ours'
const load = {
  async undici () {
    const undici = await import(set.package ?? 'undici8')
    // `top` has the calls of undici itself, which take any dispatcher, and `own` all of the package that is compared.
    if (!isOurs) return { ...undici, top: undici, own: undici }
    // As in a program that takes its dispatchers from this package, and the rest of undici's API from undici. `Response`
    // is of servers.
    const { Response, ...ours } = await import('trunkline')
    const both = { ...undici, ...ours, errors: { ...undici.errors, ...ours.errors } }
    return { ...both, top: undici, own: { ...both, Response } }
  },
  async 'node:http' () {
    const { default: http } = await import('node:http')
    const { createServer, createSecureServer } = isOurs ? await import('trunkline') : { createServer: http.createServer, createSecureServer: (await import('node:https')).createServer }
    const own = { ...(isOurs ? { requests: 'http', allowHTTP1: true } : {}), ...(set.isSecure === true ? { cert, key } : {}) }
    const make = set.isSecure === true ? createSecureServer : createServer
    return { ...http, createServer: (options, listener) => typeof options === 'function' ? make(own, options) : make({ ...own, ...options }, listener) }
  },
  // HTTP/1.1 beside HTTP/2: requests are node:http's, and the server is node:http2's.
  async allowHTTP1 () {
    const { default: http } = await import('node:http')
    const { createSecureServer } = isOurs ? await import('trunkline') : (await import('node:http2')).default
    const own = { cert, key, allowHTTP1: true }
    return { ...http, createServer: (options, listener) => typeof options === 'function' ? createSecureServer(own, options) : createSecureServer({ ...own, ...options }, listener) }
  },
  async 'node:http2' () {
    if (!isOurs) return (await import('node:http2')).default
    return set.isClient === true ? (await import('trunkline/http2')).default : (await import('trunkline')).http2
  },
  async bun () {
    // The messages about failures are not compared.
    console.error = () => {}
    if (!isOurs) return { serve: Bun.serve, file: Bun.file, fetch, Request, Response }
    const { serve, file, fetch: own, Request: OwnRequest, Response: OwnResponse } = await import('trunkline')
    return { serve, file, fetch: own, Request: OwnRequest, Response: OwnResponse }
  }
}
const module = await load[set.original]()
const stages = { undici: 'client', bun: 'serve' }
const { Stage } = await import(`./${stages[set.original] ?? (set.isClient === true ? 'connect' : 'server')}/stage.mjs`)

/** Events of the process belong to the programs that run. */
const running = new Set()
const underWay = new Set()
const report = (...values) => {
  // Where several run, nothing says whose it was: each of them runs once more, alone, behind all others.
  if (underWay.size > 1) for (const { name } of underWay) disturbed.add(name)
  for (const stage of running) stage.log('process')(...values)
}
process.removeAllListeners('warning')
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, error => { report(event, error instanceof Error ? error : displayed(error)) })
}
process.on('warning', warning => {
  // Advice that comes once for a process comes in whichever program is there then.
  if (warning.code === 'UNDICI-H2-OPTIONS' || set.isGenerated) return
  if (set.original === 'undici') report('warning', warning.name, warning.code ?? '')
})

async function play (program) {
  const stage = new Stage()
  running.add(stage)
  let timer
  const late = new Promise(resolve => { timer = setTimeout(resolve, PROGRAM_MS_MAX, 'late') })
  try {
    if (await Promise.race([program(module, stage), late]) === 'late') stage.log('stage')('the program did not end')
  } catch (error) {
    stage.log('stage')('the program threw', error, error?.message)
  }
  clearTimeout(timer)
  const lines = set.original === 'undici' ? stage.lines() : undefined
  const parted = stage.part().catch(() => {})
  // The ends of a server are a part of what is compared; those of a dispatcher have programs of their own.
  await (lines === undefined ? parted : Promise.race([parted, new Promise(resolve => { setTimeout(resolve, PARTING_MS_MAX).unref() })]))
  running.delete(stage)
  return lines ?? stage.lines()
}

const programs = await programsOf(name)
const text = readFileSync(0, 'utf8').trim()
const names = text === '' ? [...programs.keys()] : JSON.parse(text)
const printLines = (name, lines) => { console.log(JSON.stringify({ name, lines })) }
const playOne = async name => await play(programs.get(name))

// An exception of one program has all that are under way run again, each alone: those of `moments` come in front of programs that last until
// their bound.
const isEarly = name => name.startsWith('moments')
const queue = [...names.filter(isEarly), ...names.filter(name => !isEarly(name))]
const disturbed = new Set()
async function work () {
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const entry = { name }
    underWay.add(entry)
    const lines = await playOne(name)
    underWay.delete(entry)
    if (disturbed.has(name)) continue
    printLines(name, lines)
  }
}
await Promise.all(Array.from({ length: set.isGenerated ? CONCURRENT_MAX : 1 }, work))
for (const name of disturbed) printLines(name, await playOne(name))
// A pipe that was full takes the rest later, which an exit would cut.
process.stdout.write('', () => { process.exit(0) })

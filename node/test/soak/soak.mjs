// A mixed load with faults drawn from a seed: every request settles, with what its fault explains;
// and nothing stays behind, neither exchanges nor connections nor memory.
// node soak.mjs [--seconds 600] [--seed N] [--concurrency 60]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as rest } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, fetchOver } from 'trunkline'
import { theBridge } from '../../dist/channel/ring.js'
import { cert } from '../support/certificates/certificate.mjs'
import { origin as startOrigin } from '../support/servers/servers.mjs'
import { draw, isExplained, KINDS, random } from './requests.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    concurrency: { type: 'string', default: '60' }
  }
})
const [seconds, seed, concurrency] = [values.seconds, values.seed, values.concurrency].map(Number)
/** No request takes longer: its own times are half a second for the head and for each piece of the body. */
const SETTLED_MS_MAX = 20_000
/** The most that a process may grow after its first fifth, MiB: caches and the heap's holes. */
const GROWTH_MIB_MAX = 48

/** The number of requests in which every kind occurs: the rarest is one of 1,200. */
const ALL_KINDS_MIN = 20_000

/** The most failures that are printed. */
const WRONG_DISPLAYED_MAX = 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
const files = () => readdirSync('/proc/self/fd').length
async function memory () {
  for (let round = 0; round < 4; round++) {
    collect()
    await rest(50)
  }
  return process.memoryUsage.rss() / 2 ** 20
}

const server = spawn(process.execPath, [fileURLToPath(new URL('faults.mjs', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] })
const [line] = await once(createInterface(server.stdout), 'line')
const faults = JSON.parse(line)
const origin = await startOrigin()
// The engine's own are there from the first dispatcher on, and stay.
await new Agent().close()
await memory()
const before = files()

const connect = { ca: cert }
const tcp = [new Agent({ connect, connections: 4 }), new Agent({ connect }), new Agent({ connect, allowH2: false, connections: 10, pipelining: 4 })]
const h3 = [new Agent({ connect, http3: 'only', connections: 2 })]
const context = { faults, origin, agents: { tcp, h3 }, fetch: fetchOver(tcp[0]) }

const next = random(seed)
const tally = {}
const met = new Set()
const count = word => { tally[word] = (tally[word] ?? 0) + 1 }
const settled = () => Object.values(tally).reduce((sum, each) => sum + each, 0)
const wrong = []
server.once('exit', code => { wrong.push(new Error(`the server of faults ended with ${code}`)) })
const start = performance.now()
const passed = () => (performance.now() - start) / 1000
let early = null

/** Where the dispatchers stand: what is open, what waits and why. */
function standing () {
  const busy = ({ active, waiting, attempts }) => active + waiting + attempts > 0
  return [...tcp, ...h3].filter(agent => !agent.destroyed).flatMap(agent => agent.stats.origins.filter(busy))
}

/** Waits, and says so where that takes too long. */
async function within (promise, what) {
  let late
  const tooLong = new Promise(resolve => {
    late = setTimeout(() => { resolve(wrong.push(new Error(`${what} ${SETTLED_MS_MAX / 1000} s`, { cause: standing() }))) }, SETTLED_MS_MAX)
  })
  await Promise.race([promise, tooLong])
  clearTimeout(late)
}

function ask () {
  const { what, kind, ask } = draw(next, context)
  met.add(kind)
  const over = ask().then(count, error => {
    const { name, code = name } = error.cause ?? error
    count(typeof code === 'string' ? code : name)
    if (!isExplained(error)) wrong.push(new Error(what, { cause: error }))
  })
  return within(over, `${what} had not settled after`)
}

async function loop () {
  while (passed() < seconds && wrong.length === 0) await ask()
}

const loops = Promise.all(Array.from({ length: concurrency }, loop))
const looking = (async () => {
  await rest(seconds * 200)
  early = await memory()
  while (passed() < seconds && wrong.length === 0) {
    await rest(Math.min(30, seconds / 5) * 1000)
    console.error(`${passed().toFixed(0)} s: ${settled()} settled, ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB`)
  }
})()
await loops
await looking
for (const agent of [...tcp, ...h3]) await within(agent.close(), 'a dispatcher had not closed after')
// Connections end a moment after their dispatcher.
for (const end = performance.now() + 10_000; files() > before && performance.now() < end;) await rest(50)
const grown = await memory() - early
const bridge = theBridge()
const missing = settled() < ALL_KINDS_MIN ? [] : KINDS.filter(kind => !met.has(kind))
for (const kind of missing) wrong.push(new Error(`nobody asked for ${kind}`))
const checks = {
  'exchanges that are open': [bridge.active, 0],
  'exchanges that someone still listens to': [bridge.callbacks.filter(Boolean).length, 0],
  'submissions that wait': [bridge.backlog.length, 0],
  'files that are open': [Math.max(files() - before, 0), 0],
  'MiB grown': [grown, GROWTH_MIB_MAX]
}
for (const [what, [found, most]] of Object.entries(checks)) {
  if (found > most) wrong.push(new Error(`${what}: ${found}, at most ${most}`))
}
console.log(`seed ${seed}, ${passed().toFixed(0)} s: ${settled()} settled, ${JSON.stringify(tally)}; grown by ${grown.toFixed(0)} MiB from ${early.toFixed(0)}`)
for (const error of wrong.slice(0, WRONG_DISPLAYED_MAX)) console.error(error.message, error.cause ?? '')
server.removeAllListeners('exit').stdin.end()
await origin.close()
process.exit(wrong.length > 0 ? 1 : 0)

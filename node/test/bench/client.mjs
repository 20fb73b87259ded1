// The client benchmark in the shape that undici's users know: 50 connections, pipelining 10, 100
// requests at a time, 1 KiB bodies; then one connection, and one request at a time. Each peer in a
// process of its own, peers and lines of Node by turns, medians of all rounds. The server is the
// engine's example `origin`.
// node client.mjs [--quick] [--rounds 5] [--only WORD,..] [--lines node20,node24] [--docs]
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { certFile } from '../support/certificates/certificate.mjs'
import { origin } from '../support/servers/servers.mjs'
import { Figures, goals } from './figures.mjs'
import { isLight, peers } from './peers.mjs'

const { values } = parseArgs({
  options: {
    // Six minutes of figures to go by: fewer requests after a shorter warm-up.
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    // Scenarios and peers, `SCENARIO/PEER`, that contain one of these words.
    only: { type: 'string', default: '' },
    lines: { type: 'string', default: 'node20,node24' },
    // Write the page into docs/measured too.
    docs: { type: 'boolean', default: false }
  }
})
const rounds = Number(values.rounds ?? (values.quick ? 3 : 5))
/** Requests of warm-up and measured, for dispatchers and for the rest; and one at a time. */
const COUNTS = values.quick
  ? { light: [12_000, 8000], rest: [5000, 3000], alone: [500, 1500] }
  : { light: [25_000, 25_000], rest: [25_000, 10_000], alone: [3000, 5000] }

const dispatchers = ['trunkline dispatch', 'undici dispatch', 'trunkline request', 'undici request', 'undici request on trunkline']
const streams = ['trunkline stream', 'undici stream', 'trunkline pipeline', 'undici pipeline']
const fetches = ['fetch on trunkline', 'fetch', 'undici fetch']
const others = ['node:http', 'got', 'axios', 'superagent', 'node-fetch']
const own = all => all.filter(peer => !/^undici (?!request on)|^fetch$/.test(peer))
const multiplexing = [...dispatchers, ...streams, 'fetch on trunkline', 'undici fetch', 'node:http2', 'got']
/** Those that leave the body to its reader as it comes. */
const bulk = ['trunkline dispatch', 'undici dispatch', 'trunkline stream', 'undici stream']
const GIB = 2 ** 30
/** By name: the protocol, who is measured, connections, requests at a time, and bytes of each answer in bulk. */
const SCENARIOS = {
  'h1 50 connections': ['h1', [...dispatchers, ...streams, ...fetches, ...others], 50, 100],
  'h1 TLS 50 connections': ['h1 TLS', [...dispatchers, ...fetches, ...others], 50, 100],
  'h2 50 connections': ['h2', multiplexing, 50, 100],
  'h3 50 connections': ['h3', own([...dispatchers, 'trunkline stream', 'fetch on trunkline']), 50, 100],
  'h2 1 connection': ['h2', [...dispatchers, 'node:http2'], 1, 100],
  'h3 1 connection': ['h3', own(dispatchers), 1, 100],
  'h1 one at a time': ['h1', [...dispatchers, ...fetches, 'node:http'], 1, 1],
  'h1 TLS one at a time': ['h1 TLS', [...dispatchers, 'node:http'], 1, 1],
  'h2 one at a time': ['h2', [...dispatchers, 'node:http2'], 1, 1],
  'h3 one at a time': ['h3', own(dispatchers), 1, 1],
  'h1 TLS bulk': ['h1 TLS', [...bulk, 'node:http'], 1, 1, GIB],
  'h1 TLS bulk, 64 at once': ['h1 TLS', [...bulk, 'node:http'], 64, 64, GIB / 64],
  'h2 bulk': ['h2', [...bulk, 'node:http2'], 1, 1, GIB],
  'h2 bulk, 64 at once': ['h2', [...bulk, 'node:http2'], 1, 64, GIB / 64],
  'h3 bulk': ['h3', own(bulk), 1, 1, GIB],
  'h3 bulk, 64 at once': ['h3', own(bulk), 1, 64, GIB / 64]
}

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))
const programs = {}
for (const line of values.lines.split(',')) {
  const installed = `${here}../node_modules/${line}/bin/node`
  if (existsSync(installed)) programs[line] = installed
  else if (process.version.startsWith(`v${line.slice(4)}.`)) programs[line] = process.execPath
  else console.error(`going on without ${line}: it is not installed`)
}

/** The machine and versions of a run. */
async function described () {
  const versions = await Promise.all(Object.values(programs).map(async program => (await promisify(execFile)(program, ['--version'])).stdout.trim()))
  const version = name => JSON.parse(readFileSync(`${here}../node_modules/${name}/package.json`, 'utf8')).version
  return [
    `Processor: ${cpus()[0].model}, ${cpus().length} of them usable`,
    `Memory: ${(totalmem() / 1024).toFixed(0)} kB`,
    `Kernel: ${type()} ${release()}`,
    `Node.js: ${versions.join(', ')}; undici ${version('undici7')} on 20, ${version('undici8')} on 24`,
    `Date: ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`
  ]
}

const loadBefore = loadavg()[0].toFixed(2)
if (loadBefore > 0.5) console.error(`the machine is not quiet: its load is ${loadBefore}`)
const server = await origin()
const figures = new Figures()
const absent = new Set()
const started = performance.now()

async function measure (line, program, scenario, peer) {
  const [protocol, , connections, concurrency, bytes] = SCENARIOS[scenario]
  const counts = COUNTS[concurrency === 1 ? 'alone' : isLight(peer) ? 'light' : 'rest']
  const [warmUp, requests] = bytes === undefined ? counts : [concurrency, concurrency]
  const path = bytes === undefined ? '/' : `/bytes/${bytes}`
  const url = (protocol === 'h1' ? server.http : server.https) + path
  const pipelining = concurrency === 1 || bytes !== undefined ? 1 : 10
  const asked = { protocol, url, bytes, caFile: certFile, warmUp, requests, concurrency, connections, pipelining }
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certFile }
  try {
    const { stdout } = await promisify(execFile)(program, [`${here}run.mjs`, peer, JSON.stringify(asked)], { env, cwd: here, timeout: 120_000 })
    figures.add(`${line} ${scenario}`, peer, JSON.parse(stdout))
  } catch (error) {
    absent.add(`${line} ${scenario}, ${peer}: ${error.message.split('\n').find(text => text.includes('Error')) ?? error.message}`)
  }
}

const words = values.only.split(',').filter(Boolean)
const isAsked = name => words.length === 0 || words.some(word => name.includes(word))
for (let round = 0; round < rounds; round++) {
  for (const [scenario, [, subjects]] of Object.entries(SCENARIOS)) {
    for (const peer of subjects.filter(peer => peers[peer] !== undefined && isAsked(`${scenario}/${peer}`))) {
      for (const [line, program] of Object.entries(programs)) await measure(line, program, scenario, peer)
    }
  }
  console.error(`round ${round + 1} of ${rounds}: ${((performance.now() - started) / 1000).toFixed(0)} s`)
}
await server.close()

const text = `# Clients in Node.js, measured beside each other

GET of 1 KiB with five fields from the engine's example \`origin\`, which is not the bottleneck. 50 connections: at most so many, 100 requests at a time, \`pipelining\` 10 on HTTP/1.1; one connection: the same on one; one at a time: nothing else is under way; bulk: 1 GiB in one answer, or in 64 at once, the body discarded as it comes. Every client in a process of its own, clients and lines of Node.js by turns. CPU is user and kernel time of all threads of the client's process per request, after a warm-up of ${COUNTS.light[0]} requests (${COUNTS.rest[0]} for the dear ones). Median (smallest to largest) of ${rounds} rounds; differences below 20 % mean nothing.

${(await described()).map(line => `- ${line}\n`).join('')}- Load average before: ${loadBefore}

${goals(figures)}${figures.tables()}${absent.size > 0 ? `## Not in every round\n\n${[...absent].map(line => `- ${line}\n`).join('')}` : ''}`
const written = [[`${root}/bench/out`, 'bench-client']]
if (values.docs) written.push([`${root}/docs/measured`, 'bench-client'])
for (const [folder, name] of written) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/${name}.csv`, figures.csv())
  writeFileSync(`${folder}/${name}.md`, text)
}
console.log(text)

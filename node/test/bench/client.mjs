// The client benchmark in the shape that undici's users know: 50 connections, pipelining 10, 100
// requests at a time, 1 KiB bodies, and one connection; each peer in a process of its own, the
// peers by turns, medians of all rounds. The server is the engine's example `origin`.
// node client.mjs [--rounds 5] [--requests 25000] [--warm-up 25000] [--protocols h1,https,h2,h3] [--peers ..]
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { certFile } from '../support/certificate.mjs'
import { origin } from '../support/servers.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    requests: { type: 'string', default: '25000' },
    'warm-up': { type: 'string', default: '25000' },
    protocols: { type: 'string', default: 'h1,https,h2,h3' },
    lines: { type: 'string', default: 'node20,node24' },
    peers: { type: 'string', default: '' },
    out: { type: 'string', default: '' }
  }
})
const all = {
  h1: ['trunkline dispatch', 'undici dispatch', 'trunkline request', 'undici request', 'undici request on trunkline', 'fetch on trunkline', 'fetch', 'node http'],
  https: ['trunkline dispatch', 'undici dispatch', 'trunkline request', 'undici request', 'node http'],
  h2: ['trunkline dispatch', 'undici dispatch', 'trunkline request', 'undici request', 'undici request on trunkline', 'node http2'],
  h3: ['trunkline dispatch', 'trunkline request', 'undici request on trunkline']
}
const here = fileURLToPath(new URL('.', import.meta.url))
const programs = {}
for (const line of values.lines.split(',')) {
  const installed = `${here}../node_modules/${line}/bin/node`
  if (existsSync(installed)) programs[line] = installed
  else if (process.version.startsWith(`v${line.slice(4)}.`)) programs[line] = process.execPath
}

const server = await origin()
const results = []
for (const protocol of values.protocols.split(',')) {
  for (const connections of [50, 1]) {
    const names = all[protocol].filter(name => values.peers === '' || values.peers.split(',').includes(name))
    const rows = new Map()
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [line, program] of Object.entries(programs)) {
        for (const peer of names) {
          // One connection shows multiplexing; on h1 it would show the round trip.
          if (connections === 1 && (protocol === 'h1' || protocol === 'https' || peer.includes('fetch'))) continue
          const url = `${protocol === 'h1' ? server.http : server.https}/`
          const run = [`${here}run.mjs`, peer, protocol, url, certFile, values.requests, values['warm-up'], '100', String(connections), '10']
          const env = { ...process.env, NODE_EXTRA_CA_CERTS: certFile, NODE_PATH: `${here}../node_modules` }
          const { stdout } = await promisify(execFile)(program, run, { env, cwd: here, timeout: 300_000 })
          const key = `${line}\t${peer}`
          rows.set(key, [...rows.get(key) ?? [], JSON.parse(stdout)])
        }
      }
    }
    for (const [key, runs] of rows) {
      const [line, peer] = key.split('\t')
      const median = field => runs.map(run => run[field]).sort((a, b) => a - b)[runs.length >> 1]
      const row = { protocol, connections, line, peer, cpuUs: median('cpuUs'), perSecond: median('perSecond'), failed: median('failed'), rssMb: median('rssMb') }
      results.push(row)
      console.log(`${protocol.padEnd(6)} ${String(connections).padStart(3)} ${line} ${peer.padEnd(28)} ${row.cpuUs.toFixed(1).padStart(7)} us ${row.perSecond.toFixed(0).padStart(8)}/s ${String(row.failed).padStart(5)} failed ${row.rssMb.toFixed(0).padStart(5)} MB`)
    }
  }
}
await server.close()

if (values.out !== '') {
  mkdirSync(values.out, { recursive: true })
  const columns = Object.keys(results[0])
  const csv = [columns, ...results.map(row => columns.map(column => row[column]))].map(row => row.join(',')).join('\n')
  writeFileSync(`${values.out}/client.csv`, `# ${cpus()[0].model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}\n${csv}\n`)
}

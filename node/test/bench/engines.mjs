// The engine on JavaScript's thread, on a thread of its own, and by the rule of 'auto', beside undici and a bare socket: requests
// one at a time, and many at once, for 2,000 targets by turns with a number of their own in the head. Each subject has a process of its own that
// stays, and short rounds go by turns through all of them, so that what disturbs the machine disturbs all alike; medians of all rounds, and
// the median of the ratios to the first subject.
// node engines.mjs [--rounds 30] [--protocols h1,h2] [--at-once 1,50] [--subjects undici,auto] [--call fetch] [--pin CORE] [--requests N] [--node PROGRAM]
// A subject `auto@FOLDER` is the package in that folder, as another checkout has it.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { loadavg } from 'node:os'
import { createInterface } from 'node:readline'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { certFile } from '../support/certificates/certificate.mjs'
import { origin } from '../support/servers/servers.mjs'

const self = fileURLToPath(import.meta.url)
const TARGETS = 2000
const fixed = { accept: '*/*', 'user-agent': 'bench', 'accept-language': '*', authorization: 'Bearer token' }
let asked = 0
/** The path and the fields of the next request. */
function next () {
  const number = asked++
  return { path: `/items/${number % TARGETS}?page=${number % 7}`, headers: { ...fixed, 'x-request-id': `${number}` } }
}

/** A function that asks once over one of `count` sockets that write and read bytes. */
async function bareSocket (protocol, url, count) {
  const { hostname, port } = new URL(url)
  const free = await Promise.all(Array.from({ length: count }, () => new Promise(resolve => {
    const socket = protocol === 'h1' ? net.connect({ host: hostname, port, noDelay: true }) : tls.connect({ host: hostname, port, ca: readFileSync(certFile), ALPNProtocols: ['http/1.1'] })
    socket.once(protocol === 'h1' ? 'connect' : 'secureConnect', () => { resolve(socket) })
  })))
  for (const socket of free) {
    let length = null
    let got = 0
    socket.on('data', data => {
      if (length === null) {
        const end = data.indexOf('\r\n\r\n') + 4
        length = end + Number(/content-length: (\d+)/i.exec(data.latin1Slice(0, end))[1])
      }
      if ((got += data.length) < length) return
      length = null
      got = 0
      free.push(socket)
      socket.done()
    })
  }
  return () => new Promise(resolve => {
    const socket = free.pop()
    const { path, headers } = next()
    socket.done = resolve
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  })
}

async function askOnce (subject, call, protocol, url, atOnce) {
  if (subject === 'bare socket') return await bareSocket(protocol, url, atOnce)
  const connections = protocol.startsWith('h1') ? Math.min(atOnce, 50) : 1
  const connect = { ca: readFileSync(certFile, 'utf8') }
  const [engine, folder] = subject.split('@')
  const { Agent, fetch, request } = await import(engine.startsWith('undici') ? engine === 'undici' ? 'undici8' : engine : folder === undefined ? 'trunkline' : `${folder}/index.mjs`)
  const of = engine.startsWith('undici')
    ? { allowH2: protocol === 'h2', ...(protocol === 'h2' && { pipelining: 1000, maxConcurrentStreams: 1000 }) }
    : { engine, ...{ h1: {}, 'h1 TLS': { allowH2: false }, h2: { maxConcurrentStreams: 1000 }, h3: { http3: 'only', maxConcurrentStreams: 1000 } }[protocol] }
  const dispatcher = new Agent({ connections, connect, ...of })
  const { origin } = new URL(url)
  const calls = {
    async request () {
      const { path, headers } = next()
      await (await request(origin + path, { dispatcher, headers })).body.text()
    },
    async fetch () {
      const { path, headers } = next()
      await (await fetch(origin + path, { dispatcher, headers })).text()
    },
    async post () {
      const { headers } = next()
      await (await fetch(`${origin}/echo`, { dispatcher, method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ number: asked, text: 'x'.repeat(1000) }) })).json()
    },
    dispatch () {
      const { path, headers } = next()
      return new Promise((resolve, reject) => {
        dispatcher.dispatch({ origin, path, method: 'GET', headers }, { onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd () { resolve() }, onResponseError (_, error) { reject(error) } })
      })
    }
  }
  return calls[call]
}

/** Measures once per line of stdin, which is the number of requests. */
async function child () {
  const [, , , subject, call, protocol, url, atOnceText] = process.argv
  const atOnce = Number(atOnceText)
  const once = await askOnce(subject, call, protocol, url, atOnce)
  const run = async (count, settled) => {
    let left = count
    const loop = async () => {
      while (left-- > 0) {
        const start = performance.now()
        await once()
        settled(performance.now() - start)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, loop))
  }
  console.log('{}')
  for await (const line of createInterface(process.stdin)) {
    const count = Number(line)
    const latencies = []
    const [cpu, wall] = [process.cpuUsage(), performance.now()]
    await run(count, ms => { latencies.push(ms) })
    const { user, system } = process.cpuUsage(cpu)
    const seconds = (performance.now() - wall) / 1000
    latencies.sort((one, other) => one - other)
    console.log(JSON.stringify({ p50: 1000 * latencies[count >> 1], cpu: (user + system) / count, rate: count / seconds }))
  }
  process.exit(0)
}

if (process.argv[2] === 'child') await child()

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    protocols: { type: 'string', default: 'h1,h1 TLS,h2,h3' },
    'at-once': { type: 'string', default: '1,8,50,1000' },
    // The first one is what the others are compared to.
    subjects: { type: 'string', default: 'undici,inline,threads,auto,bare socket' },
    call: { type: 'string', default: 'request' },
    requests: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    // The core that clients run on; undefined: all.
    pin: { type: 'string' }
  }
})
const server = await origin()
const median = numbers => numbers.toSorted((one, other) => one - other)[numbers.length >> 1]
const env = { ...process.env, NODE_EXTRA_CA_CERTS: certFile }

/** Starts the process of a subject; a function that has it measure. */
async function start (subject, protocol, atOnce) {
  const args = [self, 'child', subject, values.call, protocol, protocol === 'h1' ? server.http : server.https, atOnce]
  const [program, all] = values.pin === undefined ? [values.node, args] : ['taskset', ['-c', values.pin, values.node, ...args]]
  const process = spawn(program, all, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(process.stdout)[Symbol.asyncIterator]()
  const line = async () => {
    const { done, value } = await lines.next()
    if (done) throw new Error(`${subject} over ${protocol} has ended`)
    return JSON.parse(value)
  }
  await line()
  return { end: () => { process.stdin.end() }, measure: count => (process.stdin.write(`${count}\n`), line()) }
}

console.log(`${values.call}; load average before ${loadavg()[0].toFixed(1)}; p50 us, CPU us per request, requests per second (p50 and CPU to the first)`)
for (const protocol of values.protocols.split(',')) {
  for (const atOnce of values['at-once'].split(',')) {
    const count = Number(values.requests ?? (atOnce === '1' ? 400 : 4000))
    const running = new Map()
    for (const subject of values.subjects.split(',')) {
      if (subject.startsWith('undici') && protocol === 'h3') continue
      if (subject === 'bare socket' && (!protocol.startsWith('h1') || Number(atOnce) > 50)) continue
      running.set(subject, await start(subject, protocol, atOnce))
    }
    // Warm: all that is compiled is compiled.
    for (const { measure } of running.values()) await measure(Math.max(6000, count))
    const made = new Map([...running.keys()].map(subject => [subject, []]))
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [subject, { measure }] of running) made.get(subject).push(await measure(count))
    }
    for (const { end } of running.values()) end()
    const [first] = made.values()
    const line = ([subject, rounds]) => {
      const of = name => median(rounds.map(round => round[name]))
      const to = name => median(rounds.map((round, at) => round[name] / first[at][name])).toFixed(2)
      return `${subject} ${of('p50').toFixed(0)}, ${of('cpu').toFixed(1)}, ${of('rate').toFixed(0)}${rounds === first ? '' : ` (${to('p50')}, ${to('cpu')})`}`
    }
    console.log(`${protocol}, ${atOnce} at once (load ${loadavg()[0].toFixed(1)}): ${[...made].map(line).join('; ')}`)
  }
}
await server.close()

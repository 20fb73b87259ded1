// The engine on JavaScript's thread, on a thread of its own, and by the rule of 'auto', beside undici and a bare socket: requests
// one at a time, and many at once. Each subject in a process of its own, by turns; medians of all rounds.
// node engines.mjs [--rounds 3] [--protocols h1,h2] [--at-once 1,50] [--subjects inline,threads] [--pin CORE] [--requests N]
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { loadavg } from 'node:os'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { certFile } from '../support/certificates/certificate.mjs'
import { origin } from '../support/servers/servers.mjs'

const self = fileURLToPath(import.meta.url)
const headers = { accept: '*/*', 'user-agent': 'bench', 'accept-language': '*', authorization: 'Bearer token', 'x-request-id': '0123456789' }

/** A function that asks once over one of `count` sockets that write and read bytes. */
async function bareSocket (protocol, url, count) {
  const { hostname, port, pathname } = new URL(url)
  const bytes = `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
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
    socket.done = resolve
    socket.write(bytes)
  })
}

async function askOnce (subject, protocol, url, atOnce) {
  if (subject === 'bare socket') return await bareSocket(protocol, url, atOnce)
  const connections = protocol.startsWith('h1') ? Math.min(atOnce, 50) : 1
  const connect = { ca: readFileSync(certFile, 'utf8') }
  const { Pool, request } = await import(subject === 'undici' ? 'undici8' : 'trunkline')
  const of = subject === 'undici'
    ? { allowH2: protocol === 'h2', ...(protocol === 'h2' && { pipelining: 1000, maxConcurrentStreams: 1000 }) }
    : { engine: subject, ...{ h1: {}, 'h1 TLS': { allowH2: false }, h2: { maxConcurrentStreams: 1000 }, h3: { http3: 'only', maxConcurrentStreams: 1000 } }[protocol] }
  const dispatcher = new Pool(new URL(url).origin, { connections, connect, ...of })
  return async () => { await (await request(url, { dispatcher, headers })).body.text() }
}

if (process.argv[2] === 'child') {
  const [, , , subject, protocol, url, atOnceText, countText] = process.argv
  const [atOnce, count] = [Number(atOnceText), Number(countText)]
  const once = await askOnce(subject, protocol, url, atOnce)
  const run = async (count, settled) => {
    let left = count
    const loop = async () => {
      while (left-- > 0) {
        const start = performance.now()
        await once()
        settled?.(performance.now() - start)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, loop))
  }
  await run(Math.max(count / 2, 2000))
  const latencies = []
  const [cpu, wall] = [process.cpuUsage(), performance.now()]
  await run(count, ms => { latencies.push(ms) })
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (performance.now() - wall) / 1000
  latencies.sort((one, other) => one - other)
  console.log(JSON.stringify({ p50: 1000 * latencies[count >> 1], cpu: (user + system) / count, rate: count / seconds }))
  process.exit(0)
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    protocols: { type: 'string', default: 'h1,h1 TLS,h2,h3' },
    'at-once': { type: 'string', default: '1,8,50,1000' },
    subjects: { type: 'string', default: 'inline,threads,auto,undici,bare socket' },
    requests: { type: 'string' },
    // The core that clients run on; undefined: all.
    pin: { type: 'string' }
  }
})
const server = await origin()
const median = numbers => numbers.sort((one, other) => one - other)[numbers.length >> 1]
const env = { ...process.env, NODE_EXTRA_CA_CERTS: certFile }
console.log(`Node.js ${process.version}, load average before ${loadavg()[0].toFixed(1)}; p50 us, CPU us per request, requests per second`)
for (const protocol of values.protocols.split(',')) {
  for (const atOnce of values['at-once'].split(',')) {
    const count = values.requests ?? (atOnce === '1' ? '4000' : '20000')
    const made = {}
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const subject of values.subjects.split(',')) {
        if (subject === 'undici' && protocol === 'h3') continue
        if (subject === 'bare socket' && (!protocol.startsWith('h1') || Number(atOnce) > 50)) continue
        const asked = [self, 'child', subject, protocol, protocol === 'h1' ? `${server.http}/` : `${server.https}/`, atOnce, count]
        const [program, args] = values.pin === undefined ? [process.execPath, asked] : ['taskset', ['-c', values.pin, process.execPath, ...asked]]
        const { stdout } = await promisify(execFile)(program, args, { env, timeout: 120_000 })
        for (const [name, value] of Object.entries(JSON.parse(stdout))) ((made[subject] ??= {})[name] ??= []).push(value)
      }
    }
    const line = ([subject, { p50, cpu, rate }]) => `${subject} ${median(p50).toFixed(0)}, ${median(cpu).toFixed(1)}, ${median(rate).toFixed(0)}`
    console.log(`${protocol}, ${atOnce} at once (load ${loadavg()[0].toFixed(1)}): ${Object.entries(made).map(line).join('; ')}`)
  }
}
await server.close()

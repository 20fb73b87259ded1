// Two workers of a cluster that listen at one place after the other: what becomes of them, by policy and place, as JSON.
//   node cluster_places.mjs http|http2|https|ours|ours-secure|ours-http3
import cluster from 'node:cluster'
import { randomInt } from 'node:crypto'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cert, key } from '../certificates/certificate.mjs'

const module = process.argv[2]
const isSecure = module === 'https' || module === 'ours-secure' || module === 'ours-http3'
/** HTTP/3 has a port. */
const hasPort = module === 'ours-http3'

/** Linux gives sockets of one port connections by turns, and these lines of Node.js ask for it. */
const takesReusePort = process.platform === 'linux' && Number.parseInt(process.versions.node, 10) >= 24

/** The places, by name; `port` is a free one, `path` a name that does not exist. */
const PLACES = {
  'port 0': () => [0],
  'a port': ({ port }) => [port, '127.0.0.1'],
  'a port, exclusive': ({ port }) => [{ port, host: '127.0.0.1', exclusive: true }],
  'port 0, exclusive': () => [{ port: 0, exclusive: true }],
  'a port that another has, exclusive': ({ taken }) => [{ port: taken, host: '127.0.0.1', exclusive: true }],
  ...(takesReusePort ? {
    'a port, reusePort, exclusive': ({ port }) => [{ port, host: '127.0.0.1', reusePort: true, exclusive: true }]
  } : {}),
  'a port that another has': ({ taken }) => [taken, '127.0.0.1'],
  ...(hasPort ? {} : { 'a path': ({ path }) => [path], 'a path, exclusive': ({ path }) => [{ path, exclusive: true }] })
}

/** Places that workers have in common, at a port that was asked for. */
const IN_COMMON = ['a port']

async function createServer (listener) {
  if (module === 'http') return http.createServer(listener)
  if (module === 'http2') return http2.createServer(listener)
  if (module === 'https') return https.createServer({ cert, key }, listener)
  const ours = await import('trunkline')
  if (module === 'ours') return ours.createServer(listener)
  return ours.createSecureServer({ cert, key, allowHTTP1: true, http3: module === 'ours-http3' }, listener)
}

async function work () {
  const server = await createServer((request, response) => { response.end(`${cluster.worker.id}`) })
  const listening = new Promise(resolve => {
    server.on('error', ({ code, syscall, address, port }) => { resolve({ outcome: { code, syscall, address, port } }) })
    server.on('listening', () => { resolve({ outcome: 'listening', address: server.address() }) })
  })
  server.listen(...JSON.parse(process.env.PLACE))
  process.send(await listening)
}

/** Whether a client is answered there, by any of them. */
async function isAnswered (address) {
  const options = { ...(typeof address === 'string' ? { socketPath: address } : { port: address.port, host: address.family === 'IPv6' ? '::1' : '127.0.0.1' }), agent: false }
  if (module !== 'http2') {
    const request = isSecure ? https.get({ ...options, ca: cert, servername: 'localhost', checkServerIdentity: () => {} }) : http.get(options)
    const [response] = await once(request, 'response')
    response.resume()
    await once(response, 'end')
    return response.statusCode === 200
  }
  const session = http2.connect('http://localhost', { createConnection: () => typeof address === 'string' ? net.connect(address) : net.connect(options.port, options.host) })
  const stream = session.request()
  const [head] = await once(stream, 'response')
  session.destroy()
  return head[':status'] === 200
}

/** Below the ports that systems choose themselves, so that no program takes one meanwhile that asked for any. */
const [PORT_MIN, PORT_MAX] = [12_000, 28_000]

/** A port that is free for TCP and UDP. */
async function freePort () {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    const probes = [net.createServer().listen(port), dgram.createSocket('udp6').bind(port)]
    const isFree = await Promise.all(probes.map(probe => once(probe, 'listening'))).then(() => true, () => false)
    await Promise.all(probes.map(probe => new Promise(resolve => { probe.on('error', () => {}).close(resolve) }))).catch(() => {})
    if (isFree) return port
  }
}

async function tried (place, has) {
  const workers = []
  const listened = []
  for (let count = 0; count < 2; count++) {
    const worker = cluster.fork({ PLACE: JSON.stringify(PLACES[place](has)) })
    listened.push((await once(worker, 'message'))[0])
    workers.push(worker)
  }
  const [first, second] = listened
  // Ports differ from run to run: by name.
  const named = value => value === has.port ? 'the port' : value === has.taken ? 'the taken port' : value === has.path ? 'the path' : value
  const outcome = {
    workers: listened.map(({ outcome }) => typeof outcome === 'string' ? outcome : { ...outcome, port: named(outcome.port), address: named(outcome.address) }),
    samePlace: JSON.stringify(first.address) === JSON.stringify(second.address),
    family: typeof first.address === 'object' ? first.address.family : named(first.address),
    isAnswered: first.outcome === 'listening' && await isAnswered(first.address)
  }
  const exits = workers.map(worker => once(worker, 'exit'))
  // A worker of Node.js that is disconnected does not close a server that it has for itself.
  const isEnding = !/, exclusive$|reusePort/.test(place)
  for (const worker of workers) isEnding ? worker.disconnect() : worker.process.kill('SIGKILL')
  const codes = (await Promise.all(exits)).map(([code]) => code)
  if (isEnding) outcome.exits = codes
  return outcome
}

async function lead () {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-places-'))
  const other = net.createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const outcomes = {}
  for (const policy of ['SCHED_RR', 'SCHED_NONE']) {
    cluster.schedulingPolicy = cluster[policy]
    for (const place of Object.keys(PLACES)) {
      // The number of a port that the primary chooses may be another program's over UDP.
      if (hasPort && !IN_COMMON.includes(place)) continue
      const has = { port: await freePort(), path: join(folder, policy + Object.keys(outcomes).length), taken: other.address().port }
      outcomes[`${policy}, ${place}`] = await tried(place, has)
    }
  }
  other.close()
  rmSync(folder, { recursive: true })
  process.stdout.write(JSON.stringify(outcomes), () => process.exit(0))
}

if (cluster.isPrimary) cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), args: [module] })
await (cluster.isPrimary ? lead() : work())

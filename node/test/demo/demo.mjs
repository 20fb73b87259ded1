// 2,000 requests at once over each version, our client beside undici on the same server, counted at
// the server. Each client in a process of its own.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { request } from 'trunkline'
import { cert, certFile } from '../support/certificates/certificate.mjs'
import { origin } from '../support/servers/servers.mjs'

const REQUESTS = 2000
/** HTTP/1.1 needs a connection per request in flight; the others share. */
const bound = protocol => protocol === 'HTTP/1.1' ? 100 : 4
const self = fileURLToPath(import.meta.url)

if (process.argv[2] !== undefined) {
  const [peer, protocol, url] = process.argv.slice(2)
  const connect = { ca: cert }
  let dispatcher, ask
  if (peer === 'trunkline') {
    const { Pool } = await import('trunkline')
    const over = { 'HTTP/1.1': { allowH2: false }, 'HTTP/2': {}, 'HTTP/3': { http3: 'only' } }[protocol]
    dispatcher = new Pool(url, { connections: bound(protocol), connect, ...over })
    ask = () => request(`${url}/delay/20`, { dispatcher })
  } else {
    const undici = await import(Number(process.versions.node.split('.')[0]) >= 22 ? 'undici8' : 'undici7')
    dispatcher = new undici.Pool(url, { connections: bound(protocol), connect, allowH2: protocol === 'HTTP/2', pipelining: protocol === 'HTTP/2' ? 100 : 1 })
    ask = () => undici.request(`${url}/delay/20`, { dispatcher })
  }
  const [cpu, wall] = [process.cpuUsage(), performance.now()]
  const outcomes = await Promise.allSettled(Array.from({ length: REQUESTS }, async () => {
    const answer = await ask()
    await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
  }))
  const { user, system } = process.cpuUsage(cpu)
  const failed = outcomes.filter(outcome => outcome.status === 'rejected')
  if (failed.length > 0) console.error(`${peer}, ${protocol}: ${failed[0].reason}`)
  console.log(JSON.stringify({ failed: failed.length, wall: performance.now() - wall, cpu: (user + system) / 1000 }))
  process.exit(0)
}

const server = await origin()
const counts = async () => await (await request(`${server.http}/counts`)).body.json()
const right = (text, width) => String(text).padStart(width)
console.log(`Node ${process.version}: ${REQUESTS} requests at once, each answered after 20 ms, over at most ${bound('HTTP/2')} connections (${bound('HTTP/1.1')} on HTTP/1.1)\n`)
console.log(`${'client'.padEnd(22)}${right('answered', 9)}${right('failed', 8)}${right('connections', 13)}${right('time', 10)}${right('CPU', 10)}`)
let lost = false
for (const [peer, protocol] of [
  ['trunkline', 'HTTP/3'], ['trunkline', 'HTTP/2'], ['undici', 'HTTP/2'], ['trunkline', 'HTTP/1.1'], ['undici', 'HTTP/1.1']
]) {
  const before = await counts()
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certFile }
  const reported = await promisify(execFile)(process.execPath, [self, peer, protocol, server.https], { env }).then(ended => JSON.parse(ended.stdout), error => error)
  if (reported instanceof Error) {
    console.log(`${`${peer}, ${protocol}`.padEnd(22)} not run: ${reported.message.split('\n').find(line => line.includes('Error')) ?? reported.message}`)
    continue
  }
  const after = await counts()
  const connections = after.connections - before.connections
  console.log(`${`${peer}, ${protocol}`.padEnd(22)}${right(REQUESTS - reported.failed, 9)}${right(reported.failed, 8)}${right(connections, 13)}${right(`${reported.wall.toFixed(0)} ms`, 10)}${right(`${reported.cpu.toFixed(0)} ms`, 10)}`)
  if (peer === 'trunkline') lost ||= reported.failed > 0 || connections > bound(protocol)
}
await server.close()
if (lost) {
  console.error('requests failed or took more connections than allowed')
  process.exit(1)
}

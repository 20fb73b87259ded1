// One peer on one protocol in a process of its own: warms up, measures, prints JSON.
// node run.mjs PEER PROTOCOL URL CA REQUESTS WARM_UP CONCURRENCY CONNECTIONS PIPELINING
import { readFileSync } from 'node:fs'

const [peer, protocol, url, caFile, ...numbers] = process.argv.slice(2)
const [requests, warmUp, concurrency, connections, pipelining] = numbers.map(Number)
const ca = readFileSync(caFile, 'utf8')
const { origin } = new URL(url)
const headers = { accept: '*/*', 'user-agent': 'bench', 'accept-language': '*', authorization: 'Bearer token', 'x-request-id': '0123456789' }

/** undici's line for this Node: 7 on 20, 8 from 22 on. */
const undici = () => import(Number(process.versions.node.split('.')[0]) >= 22 ? 'undici8' : 'undici7')
const bounds = { connections, pipelining: protocol === 'h1' || protocol === 'https' ? pipelining : 1, connect: { ca } }
const ours = async () => {
  const { Pool } = await import('trunkline')
  const over = { h1: {}, https: { allowH2: false }, h2: {}, h3: { http3: 'only' } }[protocol]
  return new Pool(origin, { ...bounds, ...over })
}
const theirs = async () => {
  const { Pool } = await undici()
  return new Pool(origin, { ...bounds, allowH2: protocol === 'h2', pipelining: protocol === 'h2' ? concurrency : bounds.pipelining })
}
const dispatching = dispatcher => () => new Promise((resolve, reject) => {
  dispatcher.dispatch({ origin, path: '/', method: 'GET', headers }, { onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd: resolve, onResponseError: (_, error) => reject(error) })
})

const peers = {
  async 'trunkline dispatch' () { return dispatching(await ours()) },
  async 'trunkline request' () {
    const { request } = await import('trunkline')
    const dispatcher = await ours()
    return async () => { await (await request(url, { dispatcher, headers })).body.text() }
  },
  async 'undici dispatch' () { return dispatching(await theirs()) },
  async 'undici request' () {
    const { request } = await undici()
    const dispatcher = await theirs()
    return async () => { await (await request(url, { dispatcher, headers })).body.text() }
  },
  async 'undici request on trunkline' () {
    const { request } = await undici()
    const dispatcher = await ours()
    return async () => { await (await request(url, { dispatcher, headers })).body.text() }
  },
  async 'fetch' () { return async () => { await (await fetch(url, { headers })).text() } },
  async 'fetch on trunkline' () {
    const { installGlobal } = await import('trunkline')
    installGlobal(await ours())
    return async () => { await (await fetch(url, { headers })).text() }
  },
  async 'node http' () {
    const { Agent, request } = await import(protocol === 'h1' ? 'node:http' : 'node:https')
    const agent = new Agent({ keepAlive: true, maxSockets: connections, ca })
    return () => new Promise((resolve, reject) => {
      request(url, { agent, headers }, response => { response.on('data', () => {}).on('end', resolve) }).on('error', reject).end()
    })
  },
  async 'node http2' () {
    const { connect } = await import('node:http2')
    const session = connect(origin, { ca })
    return () => new Promise((resolve, reject) => {
      session.request({ ':path': '/', ...headers }).on('data', () => {}).on('end', resolve).on('error', reject).end()
    })
  }
}

const once = await peers[peer]()
let failed = 0
async function run (count) {
  let left = count
  const loop = async () => {
    while (left-- > 0) await once().catch(error => { if (failed++ === 0) console.error(peer, protocol, error) })
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
}
await run(warmUp)
const [cpu, wall] = [process.cpuUsage(), performance.now()]
await run(requests)
const { user, system } = process.cpuUsage(cpu)
const seconds = (performance.now() - wall) / 1000
console.log(JSON.stringify({
  cpuUs: (user + system) / requests,
  perSecond: requests / seconds,
  failed,
  rssMb: process.memoryUsage.rss() / 2 ** 20
}))
process.exit(0)

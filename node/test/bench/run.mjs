// One peer in a process of its own: warms up, measures, prints JSON.
// node run.mjs PEER JSON, with what `target` and `measured` below take.
import { peers, target } from './peers.mjs'

const [, , peer, text] = process.argv
const asked = JSON.parse(text)
const { warmUp, requests, concurrency, bytes } = asked
const once = await peers[peer](target(asked))

let failed = 0
async function run (count, settled = () => {}) {
  let left = count
  const loop = async () => {
    while (left-- > 0) {
      const start = performance.now()
      await once().catch(error => { if (failed++ === 0) console.error(peer, asked.protocol, error) })
      settled(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
}

await run(warmUp)
const latencies = []
const isAlone = concurrency === 1 && bytes === undefined
const settled = isAlone ? ms => { latencies.push(ms * 1000) } : undefined
const [cpu, wall] = [process.cpuUsage(), performance.now()]
await run(requests, settled)
const { user, system } = process.cpuUsage(cpu)
const seconds = (performance.now() - wall) / 1000
latencies.sort((a, b) => a - b)
const at = share => latencies[Math.floor(latencies.length * share)]
const mib = bytes === undefined ? undefined : requests * bytes / 2 ** 20
console.log(JSON.stringify({
  ...(mib === undefined
    ? { 'client CPU per request': (user + system) / requests, 'requests per second': requests / seconds }
    : { 'client CPU per MiB': (user + system) / mib, 'MiB per second': mib / seconds }),
  'requests failed': failed,
  'resident memory': process.memoryUsage.rss() / 2 ** 20,
  ...(isAlone && { 'latency p50': at(0.5), 'latency p99': at(0.99) })
}))
process.exit(0)

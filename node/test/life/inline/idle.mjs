// An agent and a server inline, both with an idle connection: no thread of the engine's, no turns of the loop for them.
import http from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { Agent, request, serve } from 'trunkline'

/** Turns of the loop that a wait of 100 ms may take: one that does not sleep takes thousands in each. */
const TURNS_MAX = 20
/** Waits of which one must have fewer turns: V8 sweeps its heap in turns of the loop, for some tens of milliseconds behind each collection. */
const WAITS_MAX = 100

const web = serve({ engine: 'inline', port: 0, hostname: '127.0.0.1', fetch: () => new Response('web') })
const node = http.createServer((_, response) => response.end('node')).listen(0, '127.0.0.1')
await new Promise(resolve => { node.once('listening', resolve) })
const agent = new Agent({ engine: 'inline' })
for (const port of [web.port, node.address().port]) {
  const { body } = await request(`http://127.0.0.1:${port}/`, { dispatcher: agent })
  await body.text()
}
const names = readdirSync('/proc/self/task').map(id => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim())
if (names.includes('trunkline')) throw new Error('the engine started a thread')
const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount
let least = Infinity
for (let waits = 0; waits < WAITS_MAX && least >= TURNS_MAX; waits++) {
  const before = turns()
  await new Promise(resolve => { setTimeout(resolve, 100) })
  least = Math.min(least, turns() - before)
}
if (least >= TURNS_MAX) throw new Error(`the loop took ${least} turns and more in each wait while nothing happened`)
console.log('no thread, the loop slept')
await agent.close()
node.close()
await web.close()

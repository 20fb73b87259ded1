// Measures a call of `fetch` beside Node.js's own in one run: CPU of the process and bytes of heap per call, for a small answer read by
// `text()`, and for a JSON POST of 1 KiB. The server is a process of its own.
//
// node --expose-gc --max-semi-space-size=512 test/bench/fetch.mjs [calls]
import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const BODY = 'x'.repeat(1024)

if (process.argv[2] === 'server') {
  const server = createServer((request, response) => {
    request.resume().on('end', () => { response.writeHead(200, { 'content-type': 'text/plain', 'content-length': BODY.length }).end(BODY) })
  })
  server.listen(0, '127.0.0.1', () => { process.send(server.address().port) })
} else {
  const calls = Number(process.argv[2] ?? 5000)
  const child = fork(fileURLToPath(import.meta.url), ['server'])
  const port = await new Promise(resolve => { child.once('message', resolve) })
  const url = `http://127.0.0.1:${port}/`
  const { Agent, fetch: ours, fetchOver } = await import('trunkline')
  void fetchOver
  const agent = new Agent({ connections: 50 })
  const post = { method: 'POST', body: JSON.stringify({ text: BODY }), headers: { 'content-type': 'application/json' } }
  const ways = {
    'get, text()': fetch => fetch(url, fetch === ours ? { dispatcher: agent } : undefined).then(response => response.text()),
    'JSON POST': fetch => fetch(url, fetch === ours ? { ...post, dispatcher: agent } : post).then(response => response.text())
  }

  /** Makes calls, `atOnce` of them at a time; µs of CPU and bytes of heap per call. */
  async function measure (call, fetch, atOnce, count) {
    globalThis.gc?.()
    const [cpu, heap, from] = [process.cpuUsage(), process.memoryUsage().heapUsed, performance.now()]
    let left = count
    const next = async () => { while (left-- > 0) await call(fetch) }
    await Promise.all(Array.from({ length: atOnce }, next))
    const { user, system } = process.cpuUsage(cpu)
    return { cpu: (user + system) / count, heap: (process.memoryUsage().heapUsed - heap) / count, wall: 1000 * (performance.now() - from) / count }
  }

  const median = numbers => numbers.sort((one, other) => one - other)[numbers.length >> 1]
  for (const [name, call] of Object.entries(ways)) {
    for (const atOnce of [1, 50]) {
      const made = { own: [], ours: [] }
      for (let round = 0; round < 6; round++) {
        for (const [whose, fetch] of [['own', globalThis.fetch], ['ours', ours]]) {
          const one = await measure(call, fetch, atOnce, round === 0 ? 2000 : calls)
          // The first round is to warm up.
          if (round > 0) made[whose].push(one)
        }
      }
      // Heap without a collection between: few calls.
      const heaps = {}
      for (const [whose, fetch] of [['own', globalThis.fetch], ['ours', ours]]) heaps[whose] = (await measure(call, fetch, atOnce, 1000)).heap
      const line = whose => `${whose} ${median(made[whose].map(one => one.cpu)).toFixed(1)} us of CPU, ${median(made[whose].map(one => one.wall)).toFixed(1)} us of time, ${heaps[whose].toFixed(0)} bytes of heap`
      console.log(`${process.version} ${name}, ${atOnce} at once: Node.js's ${line('own')}; ${line('ours')}`)
    }
  }
  child.kill()
  await agent.close()
}

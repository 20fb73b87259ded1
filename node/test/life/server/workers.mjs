// Workers that serve one port, and are terminated in the middle of it. serve-workers.mjs FORM
import { once } from 'node:events'
import { Worker, isMainThread, parentPort, threadId, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { agentOf, ask, named } from './shared.mjs'

if (isMainThread) {
  const form = process.argv[2]
  const first = await named(form, 'main')
  const { port } = first
  const workers = Array.from({ length: 3 }, () => new Worker(fileURLToPath(import.meta.url), { workerData: { form, port } }))
  await Promise.all(workers.map(worker => once(worker, 'message')))
  const who = new Set()
  // The kernel spreads connections; a few hundred of them reach every worker.
  while (who.size < 4) who.add(await ask(form, port))
  console.log(`${who.size} serve`)
  const agent = agentOf(form, { keepAlive: true, maxSockets: 20 })
  let over = false
  const loops = Array.from({ length: 20 }, async () => { while (!over) await ask(form, port, agent).catch(() => {}) })
  await Promise.all(workers.map(worker => worker.terminate()))
  over = true
  await Promise.all(loops)
  agent.destroy()
  console.log(await ask(form, port), 'still serves')
  await first.end(1000)
} else {
  await named(workerData.form, `worker ${threadId}`, workerData.port)
  parentPort.postMessage('serving')
}

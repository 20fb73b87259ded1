// Workers that serve one port, and are terminated in the middle of it.
import { once } from 'node:events'
import http from 'node:http'
import { Worker, isMainThread, parentPort, threadId, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { Response, serve } from 'trunkline'

const ask = (port, agent = false) => new Promise((resolve, reject) => {
  http.get({ port, host: '127.0.0.1', agent }, response => {
    let text = ''
    response.on('data', chunk => { text += chunk }).on('end', () => resolve(text)).on('error', reject)
  }).on('error', reject)
})

if (isMainThread) {
  const first = serve({ hostname: '127.0.0.1', sharesPort: true, fetch: () => new Response('main') })
  const workers = Array.from({ length: 3 }, () => new Worker(fileURLToPath(import.meta.url), { workerData: first.port }))
  await Promise.all(workers.map(worker => once(worker, 'message')))
  const who = new Set()
  // The kernel spreads connections; a few hundred of them reach everybody.
  while (who.size < 4) who.add(await ask(first.port))
  console.log(`${who.size} serve`)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
  let over = false
  const loops = Array.from({ length: 20 }, async () => { while (!over) await ask(first.port, agent).catch(() => {}) })
  await Promise.all(workers.map(worker => worker.terminate()))
  over = true
  await Promise.all(loops)
  agent.destroy()
  console.log(await ask(first.port), 'still serves')
  await first.close({ deadlineMs: 1000 })
} else {
  serve({ hostname: '127.0.0.1', port: workerData, sharesPort: true, fetch: () => new Response(`worker ${threadId}`) })
  parentPort.postMessage('serving')
}

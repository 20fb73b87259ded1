// The addon is loaded by workers alone, and the first of them ends before the others begin.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { Worker, isMainThread, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'

if (isMainThread) {
  const server = createServer((request, response) => { response.end('x'.repeat(20_000)) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (let round = 0; round < 5; round++) {
    const workers = Array.from({ length: 1 + round % 3 }, () => new Worker(fileURLToPath(import.meta.url), { workerData: server.address().port }))
    await Promise.all(workers.map(worker => once(worker, 'exit')))
  }
  server.close()
  server.closeAllConnections()
  console.log('all workers asked')
} else {
  const { Agent, request } = await import('trunkline')
  const dispatcher = new Agent()
  const ask = async () => { await (await request(`http://127.0.0.1:${workerData}/`, { dispatcher })).body.text() }
  await Promise.all(Array.from({ length: 20 }, ask))
}

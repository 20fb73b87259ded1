import { createServer } from 'node:http'
import { once } from 'node:events'
import { Worker, isMainThread, workerData, parentPort } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'trunkline'

const dispatcher = new Agent({ connections: 10 })
const loop = async (url, end) => { while (!end()) await (await request(url, { dispatcher })).body.text() }

if (isMainThread) {
  const server = createServer((request, response) => response.end('x'.repeat(2_000)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  for (let round = 0; round < 5; round++) {
    const ended = round % 2 === 0
    const workers = Array.from({ length: 3 }, () => new Worker(fileURLToPath(import.meta.url), { workerData: { url, ended } }))
    const exits = workers.map(worker => once(worker, 'exit'))
    await Promise.all(workers.map(worker => once(worker, 'message')))
    if (!ended) await Promise.all(workers.map(worker => worker.terminate()))
    await Promise.all(exits)
  }
  await (await request(url, { dispatcher })).body.text()
  console.log('main still works')
  server.close()
  server.closeAllConnections()
  await dispatcher.close()
} else {
  const { url, ended } = workerData
  let count = 0
  const loops = Array.from({ length: 20 }, () => loop(url, () => count++ > 200 && ended))
  // In the middle of it: every loop has gone round a few times.
  while (count < (ended ? 20 : 200)) await (await request(url, { dispatcher })).body.text()
  parentPort.postMessage('running')
  await Promise.all(loops)
}

// Ends in the middle of downloads and uploads over TLS, by process.exit or by terminate of a worker.
// node secure-exit.mjs URL PROTOCOL exit|terminate
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { Agent, request } from 'trunkline'
import { certFile } from '../../support/certificates/certificate.mjs'

const [url, protocol, way] = isMainThread ? process.argv.slice(2) : workerData

async function load () {
  const dispatcher = new Agent({ connections: 4, connect: { ca: readFileSync(certFile) }, http3: protocol === 'h3' ? 'only' : false })
  async function * pieces () { for (;;) yield Buffer.alloc(20_000) }
  const loop = async ask => { for (;;) await ask() }
  const down = async () => { await (await request(`${url}/bytes/300000`, { dispatcher })).body.text() }
  const up = async () => {
    const { body } = await request(`${url}/echo`, { dispatcher, method: 'POST', body: pieces() })
    for await (const chunk of body) if (chunk.length === 0) return
  }
  await down()
  for (let count = 0; count < 20; count++) loop(count % 2 === 0 ? down : up).catch(() => {})
  await down()
}

if (way === 'exit' || !isMainThread) {
  await load()
  if (isMainThread) setTimeout(() => process.exit(7), 100)
  else parentPort.postMessage('running')
} else {
  for (let round = 0; round < 3; round++) {
    const workers = [1, 2].map(() => new Worker(fileURLToPath(import.meta.url), { workerData: [url, protocol, way] }))
    await Promise.all(workers.map(worker => new Promise(resolve => worker.once('message', resolve))))
    await Promise.all(workers.map(worker => worker.terminate()))
  }
  await load()
  process.exitCode = 7
  setTimeout(() => process.exit(), 20)
}

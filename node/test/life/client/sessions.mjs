// Ends in the middle of exchanges of sessions of trunkline/http2. node sessions.mjs URL terminate|exit|exit-main|end
// terminate, exit: in workers, by terminate or by process.exit within a listener; exit-main: by process.exit(3) of this
// thread within a listener; end: workers whose sessions are destroyed and which end by themselves.
import { once } from 'node:events'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import http2 from 'trunkline/http2'

const PIECE = Buffer.alloc(20_000, 'x')
const [url, way] = isMainThread ? process.argv.slice(2) : workerData

/** Sends without end on several streams of several sessions; `came` is called with each piece that comes back. */
function exchange (came) {
  const sessions = [1, 2, 3].map(() => http2.connect(url))
  for (const session of sessions) {
    session.on('error', () => {})
    for (let at = 0; at < 4; at++) {
      const stream = session.request({ ':method': 'POST' })
      stream.on('error', () => {})
      const send = () => { while (!stream.destroyed && stream.write(PIECE)); }
      stream.on('drain', send)
      stream.on('data', () => { came(sessions) })
      send()
    }
  }
}

const COUNT = 100
let count = 0
if (!isMainThread) {
  exchange(sessions => {
    if (++count === COUNT) parentPort.postMessage('running')
    if (count !== COUNT) return
    if (way === 'exit') process.exit()
    if (way === 'end') for (const session of sessions) session.destroy()
  })
} else if (way === 'exit-main') {
  exchange(() => { if (++count === COUNT) process.exit(3) })
} else {
  for (let round = 0; round < 3; round++) {
    const workers = [1, 2].map(() => new Worker(fileURLToPath(import.meta.url), { workerData: [url, way] }))
    const exits = workers.map(worker => once(worker, 'exit'))
    await Promise.all(workers.map(worker => once(worker, 'message')))
    if (way === 'terminate') await Promise.all(workers.map(worker => worker.terminate()))
    await Promise.all(exits)
  }
  console.log('ended')
}

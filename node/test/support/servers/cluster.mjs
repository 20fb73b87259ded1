// A cluster of two workers at one path, each of which is replaced twice while clients ask.
//   node cluster.mjs node|ours SCHED_RR|SCHED_NONE PATH
import cluster from 'node:cluster'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'

const [module, policy, path] = process.argv.slice(2)

async function work () {
  const { createServer } = module === 'ours' ? await import('trunkline') : http2
  const server = createServer((request, response) => { response.end('ok') })
  // Those of kept connections end with them.
  const sessions = new Set()
  server.on('session', session => {
    sessions.add(session)
    session.on('close', () => { sessions.delete(session) })
  })
  cluster.worker.once('disconnect', () => { for (const session of sessions) session.close() })
  server.on('error', error => { process.send({ error: error.code }) })
  server.listen(path, () => { process.send({ error: null }) })
}

/** The outcome of a request that a session of Node.js refused because it was closed before it had read it (RFC 9113 section 6.8): the
 * connection was accepted all the same. */
const UNPROCESSED = 'unprocessed'

/** One request on a connection of its own; undefined: it was answered. */
function ask () {
  return new Promise(resolve => {
    const client = http2.connect('http://localhost', { createConnection: () => net.connect(path) })
    client.on('error', error => { resolve(error.code) })
    const stream = client.request({ ':path': '/' })
    let text = ''
    stream.on('error', error => { resolve(module === 'node' && stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM ? UNPROCESSED : error.code) })
    stream.on('data', piece => { text += piece })
    stream.on('close', () => {
      client.destroy()
      resolve(text === 'ok' ? undefined : `answered ${JSON.stringify(text)}`)
    })
  })
}

async function lead () {
  cluster.schedulingPolicy = cluster[policy]
  const errors = []
  const failed = []
  const exits = []
  let [answers, isOver] = [0, false]
  const fork = async () => {
    const worker = cluster.fork()
    const [{ error }] = await once(worker, 'message')
    if (error !== null) errors.push(error)
    return worker
  }
  const workers = [await fork(), await fork()]
  const asked = (async () => {
    while (!isOver) {
      const error = await ask()
      if (error === undefined) answers++
      else if (error !== UNPROCESSED) failed.push(error)
    }
  })()
  for (let round = 0; round < 4; round++) {
    const before = answers
    while (answers < before + 5 && failed.length === 0) await new Promise(resolve => { setImmediate(resolve) })
    const old = workers.shift()
    workers.push(await fork())
    const exit = once(old, 'exit')
    old.disconnect()
    exits.push((await exit)[0])
  }
  isOver = true
  await asked
  for (const line of [errors, failed, answers, exits]) console.log(JSON.stringify(line))
  process.exit(0)
}

await (cluster.isPrimary ? lead() : work())

// A cluster of two workers that share a place and are replaced in turn while clients ask.
//   node cluster.mjs MODULE SCHED_RR|SCHED_NONE PLACE REPLACED
// MODULE: `http` and `http2` are node's, `ours` and `ours-http` ours, asked over HTTP/2 and HTTP/1.1, `serve` the
// web-standard form. PLACE: the argument of `listen`, in JSON; with `reusePort` the port is the one that the first worker got. REPLACED: how many are, one after the other.
import cluster from 'node:cluster'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { setTimeout } from 'node:timers/promises'

const [module, policy, place, replaced] = process.argv.slice(2)
const given = JSON.parse(place)
/** Clients that ask at once. */
const CLIENTS = 4
/** Between two requests of a client: workers that start have the processor meanwhile. */
const PAUSE_MS = 2

async function work () {
  // Sockets of their own have one port where they ask for it; the primary's port 0 is the same for all.
  const where = given.reusePort === true ? { ...given, port: Number(process.env.PLACE_PORT) } : given
  if (module === 'serve') return await workServe(where)
  const { createServer } = module === 'http' ? http : module === 'http2' ? http2 : await import('trunkline')
  const server = createServer((request, response) => { response.end('ok') })
  // Those of kept connections end with them.
  const sessions = new Set()
  server.on('session', session => {
    sessions.add(session)
    session.on('close', () => { sessions.delete(session) })
  })
  cluster.worker.once('disconnect', () => { for (const session of sessions) session.close() })
  server.on('error', error => { process.send({ error: error.code }) })
  server.listen(where, () => { process.send({ error: null, port: server.address().port }) })
}

async function workServe ({ port, host }) {
  const { Response, serve } = await import('trunkline')
  const server = serve({ port, hostname: host, fetch: () => new Response('ok') })
  cluster.worker.once('disconnect', () => { server.close() })
  process.send({ error: null, port: server.port })
}

/** The outcome of a request that a session of Node.js refused because it was closed before it had read it (RFC 9113 section 6.8): the
 * connection was accepted all the same. */
const UNPROCESSED = 'unprocessed'

/** One request on a connection of its own; undefined: it was answered. */
const ask = module === 'http' || module === 'ours-http' || module === 'serve' ? askHttp1 : askHttp2

function askHttp1 (where) {
  return new Promise(resolve => {
    const request = http.get({ ...where, agent: false }, response => {
      let text = ''
      response.on('data', piece => { text += piece })
      response.on('close', () => { resolve(text === 'ok' && response.complete ? undefined : `answered ${JSON.stringify(text)}`) })
    })
    request.on('error', error => { resolve(error.code) })
  })
}

function askHttp2 (where) {
  return new Promise(resolve => {
    const client = http2.connect('http://localhost', { createConnection: () => net.connect(where) })
    client.on('error', error => { resolve(error.code) })
    const stream = client.request({ ':path': '/' })
    let text = ''
    stream.on('error', error => { resolve(module === 'http2' && stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM ? UNPROCESSED : error.code) })
    stream.on('data', piece => { text += piece })
    stream.on('close', () => {
      client.destroy()
      resolve(text === 'ok' ? undefined : `answered ${JSON.stringify(text)}`)
    })
  })
}

async function lead () {
  cluster.schedulingPolicy = cluster[policy]
  const [errors, failed, exits] = [[], [], []]
  let [answers, isOver, port] = [0, false, 0]
  const fork = async () => {
    const worker = cluster.fork({ PLACE_PORT: port })
    const [listened] = await once(worker, 'message')
    if (listened.error !== null) errors.push(listened.error)
    port ||= listened.port
    return worker
  }
  const workers = [await fork(), await fork()]
  const where = given.path === undefined ? { port, host: '127.0.0.1' } : given.path
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      const error = await ask(typeof where === 'string' && ask === askHttp1 ? { socketPath: where } : where)
      if (error === undefined) answers++
      else if (error !== UNPROCESSED) failed.push(error)
      await setTimeout(PAUSE_MS)
    }
  })
  for (let round = 0; round < Number(replaced); round++) {
    const before = answers
    while (answers < before + 20 && failed.length === 0) await setTimeout(PAUSE_MS)
    const old = workers.shift()
    workers.push(await fork())
    const exit = once(old, 'exit')
    old.disconnect()
    exits.push((await exit)[0])
  }
  isOver = true
  await Promise.all(clients)
  for (const line of [errors, failed, answers, exits]) console.log(JSON.stringify(line))
  process.exit(0)
}

await (cluster.isPrimary ? lead() : work())

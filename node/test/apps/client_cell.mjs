// One SDK or HTTP library, on node's own transport or on ours: `node client_cell.mjs NAME own|ours` makes the calls of its
// row against a server of this process and prints what came back and what the server received, as JSON in its last line.
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Agent, createSecureServer, fetchOver } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'
import { folderOf } from './install.mjs'
import { clients } from './list.mjs'
import { bounded, report } from './outcome.mjs'

const [name, side] = process.argv.slice(2)
const row = clients.find(row => row.name === name)
const app = await import(pathToFileURL(join(folderOf(row), 'app.mjs')))
const tls = { cert, key }
/** Fields of the transport and of the version, not of the library: what undici's fetch adds of itself, and the framing. */
const NOT_COMPARED = new Set(['host', 'connection', 'transfer-encoding', 'keep-alive', 'content-length', ...app.ignored ?? []])

/** Servers of one version each, none of which is ours where node has one. */
const ways = {
  h1: { make: listener => https.createServer(tls, listener), options: { allowH2: false } },
  h2: { make: listener => http2.createSecureServer(tls, listener), options: {} },
  h3: { make: listener => createSecureServer({ ...tls, http3: true }, listener), options: { http3: 'only' } }
}

/** A request as the server received it, as far as a library decides it. */
function received (request, body) {
  const fields = Object.entries(request.headers).filter(([name]) => name[0] !== ':' && !NOT_COMPARED.has(name)).sort(([a], [b]) => a < b ? -1 : 1)
  const boundary = /boundary=(\S+)/.exec(request.headers['content-type'] ?? '')?.[1]
  // One that a library makes may be in the body alone, where the library says another type.
  const plain = text => (boundary === undefined ? text : text.replaceAll(boundary, 'BOUNDARY')).replaceAll(/formdata-undici-\d+/g, 'BOUNDARY')
  const text = plain(body.toString('latin1'))
  return { method: request.method, url: request.url, headers: Object.fromEntries(fields.map(([name, value]) => [name, plain(String(value))])), body: text.length > 500 ? text.length : text }
}

/** The outcomes of all calls over a version. */
async function called (version) {
  const { make, options } = ways[version]
  let log = []
  const server = make(async (request, response) => {
    try {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      log.push(received(request, body))
      app.answer(request, response, body)
    } catch {
      // A request that its client gave up.
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const dispatcher = side === 'own' ? undefined : new Agent({ ...options, connect: { ca: cert } })
  const calls = app.calls({ url: `https://localhost:${port}`, dispatcher, fetch: dispatcher && fetchOver(dispatcher), version })
  const outcomes = []
  for (const [name, call] of Object.entries(calls)) {
    log = []
    const got = await bounded(Promise.resolve().then(call), { port })
    // Requests at the same time arrive in any order, and those of an abort perhaps not at all.
    const sent = name === '50 at once' ? log.length : /abort|late/.test(name) ? [] : log
    outcomes.push([name, await bounded(Promise.resolve({ got, sent }), { port })])
  }
  await dispatcher?.destroy()
  return outcomes
}

const problems = []
process.on('uncaughtException', error => { problems.push(`uncaught ${error.stack}`) })
process.on('unhandledRejection', error => { problems.push(`unhandled ${error?.stack ?? error}`) })
const result = {}
for (const version of side === 'own' ? ['h1'] : ['h1', 'h2', 'h3']) result[version] = await called(version)
report({ result, problems })

// One application as a server, on one face: `node server_cell.mjs NAME FACE` starts it, sends it the requests of its row over
// every version, and prints what was answered, as JSON in its last line.
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { createSecureServer, serve } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'
import { versions as clients } from '../support/clients/clients.mjs'
import { folderOf } from './install.mjs'
import { servers } from './list.mjs'
import { bounded, normalised, report } from './outcome.mjs'
import { overWebSocket } from './websocket.mjs'

const [name, face] = process.argv.slice(2)
const row = servers.find(row => row.name === name)
const app = await import(pathToFileURL(join(folderOf(row), 'app.mjs')))
const tls = { cert, key }
const settings = { enableConnectProtocol: true }
const ours = { ...tls, allowHTTP1: true, http3: true, settings }

/** A server of the face, which does not listen yet. */
const faces = {
  https: { versions: ['h1'], create: (listener, options) => https.createServer({ ...tls, ...options }, listener) },
  http2: { versions: ['h1', 'h2'], create: (listener, options) => http2.createSecureServer({ ...tls, allowHTTP1: true, settings, ...options }, listener) },
  listener: { versions: ['h1', 'h2', 'h3'], create: (listener, options) => createSecureServer({ ...ours, requests: 'http', ...options }, listener) },
  compatible: { versions: ['h1', 'h2', 'h3'], create: (listener, options) => createSecureServer({ ...ours, ...options }, listener) },
  serve: { versions: ['h1', 'h2', 'h3'] }
}

/** Starts the application; its port. */
async function started () {
  const isOwn = face === 'https' || face === 'http2'
  if (face === 'serve') return serve({ hostname: '127.0.0.1', port: 0, tls, http3: true, fetch: app.fetch }).port
  const server = await app.start({ create: faces[face].create, tls, own: isOwn, options: { allowHTTP1: true, http3: true } })
  if (server.port !== undefined) return server.port
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

/** The outcome of every request of the row over a version. */
async function asked (version, port) {
  const client = clients.find(({ name }) => name === ({ h1: 'h1 over TLS' }[version] ?? version)).connect(port)
  const ask = async (path, options) => normalised(await client.ask(path, options), app)
  const socket = (...args) => overWebSocket(version, port, ...args)
  const outcomes = []
  let unanswered = 0
  for (const request of app.requests) {
    if (request.only !== undefined && !request.only.includes(version)) continue
    const { path, name = `${request.method ?? 'GET'} ${path}`, run, ...options } = request
    const work = run === undefined ? ask(path, options) : run({ ask, socket, port, tls, version })
    const outcome = await bounded(work, { port, masks: app.masks })
    outcomes.push([`${outcomes.length + 1} ${name}`, outcome])
    // An application that answers nothing is not waited for to the last request.
    unanswered = outcome?.failed === 'no answer' ? unanswered + 1 : 0
    if (unanswered === 2) return outcomes
  }
  const { path, ...options } = app.requests[0]
  const many = await bounded(Promise.all(Array.from({ length: 50 }, () => ask(path, options))), { port, masks: app.masks })
  outcomes.push(['50 at once', Array.isArray(many) ? new Set(many.map(answer => JSON.stringify(answer))).size : many])
  await client.close()
  return outcomes
}

const problems = []
process.on('uncaughtException', error => { problems.push(`uncaught ${error.stack}`) })
process.on('unhandledRejection', error => { problems.push(`unhandled ${error?.stack ?? error}`) })
const port = await started()
const result = {}
for (const version of faces[face].versions) {
  if (row.versions !== undefined && !row.versions.includes(version)) continue
  // Over HTTP/1.1 node:https is the reference, unless node:http2 is.
  if (face === 'http2' && version === 'h1' && row.own !== 'http2') continue
  result[version] = await asked(version, port)
}
report({ result, problems })

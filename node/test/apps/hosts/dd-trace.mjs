// dd-trace: spans of servers and clients, and one trace through both.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const tracer = require('dd-trace').init({ startupLogs: false, telemetry: { enabled: false }, remoteConfig: { enabled: false }, flushInterval: 10 })
// Spans are kept here: there is no agent.
const spans = []
tracer._tracer._exporter.export = given => { spans.push(...given) }
require('undici')
const http = require('node:http')
const http2 = require('node:http2')
const ours = await import('trunkline')
const undici = require('undici')
const { cert, key } = await import(process.env.CERTIFICATE_MODULE)
const { once } = await import('node:events')

const settled = async count => {
  const until = Date.now() + 20_000
  while (spans.filter(isOfHttp).length < count && Date.now() < until) await new Promise(resolve => { setTimeout(resolve, 20) })
}
const isOfHttp = ({ meta }) => meta['http.url'] !== undefined

/** The spans of one request, those of its client first. */
function seen () {
  const all = spans.filter(isOfHttp)
  const ids = new Map(all.map((span, at) => [String(span.span_id), at]))
  return all.map(({ name, resource, meta, parent_id: parent }) => ({
    kind: meta['span.kind'], resource, status: meta['http.status_code'], path: new URL(meta['http.url']).pathname, hasParent: ids.has(String(parent)), name: name.replace('undici', 'http')
  })).sort((a, b) => a.kind < b.kind ? -1 : 1)
}

export function cases (side) {
  const listener = (request, response) => { response.end(String(tracer.scope().active() !== null)) }
  const [server, secure] = side === 'own' ? [http.createServer, http2.createSecureServer] : [ours.createServer, ours.createSecureServer]
  const asked = async (made, ask) => {
    made.listen(0, '127.0.0.1')
    await once(made, 'listening')
    spans.length = 0
    const isActive = await ask(made.address().port)
    await settled(2)
    made.close()
    return { isActive, spans: seen() }
  }
  const client = side === 'own' ? undici : ours
  const get = port => new Promise((resolve, reject) => {
    http.get({ port, host: '127.0.0.1', path: '/served', agent: false }, async response => { resolve(Buffer.concat(await response.toArray()).toString()) }).on('error', reject)
  })
  const stream = async port => {
    const session = http2.connect(`https://localhost:${port}`, { ca: cert })
    const text = Buffer.concat(await session.request({ ':path': '/served' }).toArray()).toString()
    session.close()
    return text
  }
  return {
    'a server': () => asked(server(listener), get),
    'a server of HTTP/2': async () => {
      const { isActive, spans } = await asked(secure({ cert, key }, listener), stream)
      return { isActive, spans: spans.filter(({ kind }) => kind === 'server').map(({ name, status, path }) => ({ name, status, path })) }
    },
    'a client, and its server': () => asked(http.createServer(listener), async port => {
      const dispatcher = new client.Agent()
      const answer = await client.request(`http://127.0.0.1:${port}/asked`, { dispatcher })
      const text = await answer.body.text()
      await dispatcher.close()
      return text
    }),
    'fetch, and its server': () => asked(http.createServer(listener), async port => (await client.fetch(`http://127.0.0.1:${port}/fetched`)).text())
  }
}

// Run by each line of Node: its own fetch over our agent.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { Agent, installGlobal } from 'trunkline'
import { h2 } from '../servers/servers.mjs'
import { echoed, echoFrames, echoUpgrades } from './websocket.mjs'

const server = await h2(async (request, response) => {
  if (request.url === '/gzip') {
    response.setHeader('content-encoding', 'gzip')
    return response.end(gzipSync('squeezed'))
  }
  if (request.url === '/slow') return
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  response.setHeader('x-length', request.headers['content-length'] ?? 'none')
  response.end(Buffer.concat(chunks))
})
const agent = new Agent()
installGlobal(agent, { fetch: false })
assert.equal(await (await fetch(`${server.url}/gzip`)).text(), 'squeezed')
const posted = await fetch(server.url, { method: 'POST', body: 'posted' })
assert.equal(posted.headers.get('x-length'), '6')
assert.equal(await posted.text(), 'posted')
await assert.rejects(fetch(`${server.url}/slow`, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
const all = await Promise.all(Array.from({ length: 50 }, () => fetch(server.url).then(answer => answer.text())))
assert.equal(all.length, 50)
assert.equal(server.counts.sessions, 1)

// Its WebSocket, which Node 20 has not: over an upgrade, or from Node 26 on over a stream of HTTP/2.
if (globalThis.WebSocket) {
  const onStreams = await h2(() => {}, { settings: { enableConnectProtocol: true }, allowHTTP1: true })
  onStreams.server.on('connect', () => {})
  onStreams.server.on('stream', (stream, headers) => {
    if (headers[':method'] !== 'CONNECT') return
    stream.respond({ ':status': 200 })
    echoFrames(stream)
  })
  echoUpgrades(onStreams)
  assert.deepEqual(await echoed(WebSocket, onStreams.url.replace('https', 'wss'), undefined), ['one', 'two', 1000, 'enough'])
  const [line] = process.versions.node.split('.').map(Number)
  assert.equal(onStreams.counts.sessions, line >= 26 ? 1 : 0)
  await onStreams.close()
}
await agent.close()
await server.close()
console.log('ok')

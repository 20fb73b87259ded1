// Run by each line of Node: its own fetch over our agent.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { Agent, installGlobal } from 'trunkline'
import { h2 } from './servers.mjs'

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
installGlobal(agent)
assert.equal(await (await fetch(`${server.url}/gzip`)).text(), 'squeezed')
const posted = await fetch(server.url, { method: 'POST', body: 'posted' })
assert.equal(posted.headers.get('x-length'), '6')
assert.equal(await posted.text(), 'posted')
await assert.rejects(fetch(`${server.url}/slow`, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
const all = await Promise.all(Array.from({ length: 50 }, () => fetch(server.url).then(answer => answer.text())))
assert.equal(all.length, 50)
assert.equal(server.counts.sessions, 1)
await agent.close()
await server.close()
console.log('ok')

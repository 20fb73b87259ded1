// The thinnest slice through every layer: a GET by `dispatch` on each version.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Agent, Client } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew, viaOld } from '../../support/clients/dispatch.mjs'
import { origin, ways } from '../../support/servers/servers.mjs'

for (const { name, serve, options } of ways) {
  test(`a GET is answered over ${name}, to both kinds of handlers`, async () => {
    const server = await serve((request, response) => {
      response.setHeader('x-path', request.url)
      response.end('hello')
    })
    const client = new Client(server.url, options)
    for (const via of [viaNew, viaOld]) {
      const answer = await via(client, { path: '/a?b=c', method: 'GET' })
      assert.equal(answer.status, 200)
      assert.equal(answer.body.toString(), 'hello')
      const at = answer.rawHeaders.findIndex(field => String(field) === 'x-path')
      assert.equal(String(answer.rawHeaders[at + 1]), '/a?b=c')
      assert.deepEqual(answer.events, ['start', 'head', 'data', 'end'])
    }
    assert.equal(server.counts.sockets, 1)
    await client.close()
    await server.close()
  })
}

test('a GET is answered over h3', async () => {
  const server = await origin()
  const agent = new Agent({ http3: 'only', connect: { ca: cert } })
  const answer = await viaNew(agent, { origin: server.https, path: '/bytes/100000', method: 'GET' })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-origin'], 'trunkline')
  assert.equal(answer.body.length, 100_000)
  const counts = JSON.parse((await viaNew(agent, { origin: server.https, path: '/counts', method: 'GET' })).body)
  // It counts requests that were answered.
  assert.equal(counts.h3, 1)
  await agent.close()
  await server.close()
})

// The name that a certificate is checked for where a request has a `host` header: undici's rule, held on undici itself
// too. A header that was copied from outside chooses the name, even where `connect.servername` gives another.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import https from 'node:https'
import test from 'node:test'
import { cert, key } from '../../support/certificates/certificate.mjs'

/** undici 8 needs Node.js 22. */
const lines = Number.parseInt(process.versions.node, 10) < 22 ? ['undici6', 'undici7'] : ['undici6', 'undici7', 'undici8']

/** The certificate is for localhost and other.test. */
const cases = [
  { host: undefined, name: 'localhost' },
  { host: 'other.test', name: 'other.test' },
  { host: 'other.test:8443', name: 'other.test' },
  { host: 'stranger.test', refused: true },
  { host: 'stranger.test', servername: 'localhost', refused: true },
  { host: 'other.test', servername: 'stranger.test', name: 'other.test' }
]

for (const client of ['trunkline', ...lines]) {
  test(`${client} checks a certificate for the name that a host header or connect.servername chooses`, async t => {
    const { Agent, request } = await import(client)
    const server = https.createServer({ cert, key }, (request, response) => {
      response.end(JSON.stringify({ name: request.socket.servername, host: request.headers.host }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => { server.closeAllConnections(); server.close() })
    const { port } = server.address()
    const origin = `https://localhost:${port}`
    for (const { host, servername, name, refused } of cases) {
      const about = JSON.stringify({ host, servername })
      const dispatcher = new Agent({ connect: { ca: cert, ...(servername === undefined ? {} : { servername }) } })
      const headers = host === undefined ? {} : { host }
      const asked = request(origin, { dispatcher, headers })
      if (refused) {
        await assert.rejects(asked, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, about)
      } else {
        const { body } = await asked
        assert.deepEqual(await body.json(), { name, host: host ?? `localhost:${port}` }, about)
      }
      await dispatcher.destroy()
    }
  })
}

// Certificates for names, by `addContext`, beside node's own server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { certificate } from '../../support/certificates/certificates.mjs'

const other = certificate('other', { extensions: ['subjectAltName=DNS:other.test'] })

/** Which of these clients are shown the other certificate. */
async function shown (server) {
  const { port } = server.address()
  const found = []
  for (const servername of ['localhost', 'a.test', 'b.a.test', '1.a.test', 'a-b.test', 'a_b.test']) {
    const socket = tls.connect({ port, servername, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    await once(socket, 'secureConnect')
    if (socket.getPeerCertificate().subject.CN === 'other') found.push(servername)
    socket.destroy()
  }
  return found
}

async function served (server, act) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await act(server)
  } finally {
    server.close()
  }
}

const NAMES = ['a.test', '*.a.test', '*.test', 'a-b.test', 'a_b.test', '127.0.0.1', '::1', '1.2.3.4.5', 'localhost:443', 'https://a.test', '-a.test', 'a..test', 'ä.test', `${'a'.repeat(64)}.test`]
for (const name of NAMES) {
  test(`a context for ${name.length > 60 ? 'a name that is too long' : name} is for those for whom it is with node`, async () => {
    const add = server => { server.addContext(name, { cert: other.cert, key: other.key }) }
    for (const isLate of [false, true]) {
      const [expected, got] = await Promise.all([http2.createSecureServer, createSecureServer].map(async create => {
        const server = create({ cert, key })
        if (!isLate) add(server)
        return served(server, async () => {
          if (isLate) add(server)
          return shown(server)
        })
      }))
      assert.deepEqual(got, expected)
    }
  })
}

test('a context for a pattern that there is not is refused with what to do', async () => {
  for (const name of ['*', 'a*.test', '*.*.test', 'a.*']) {
    const server = createSecureServer({ cert, key })
    const refused = { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', message: /must be a host name, or \*\.rest/ }
    assert.throws(() => { server.addContext(name, { cert: other.cert, key: other.key }) }, refused)
    await served(server, async () => { assert.deepEqual(await shown(server), []) })
  }
})

test('several keys may be in another order than their certificates', async () => {
  const own = certificate('own', { kind: 'rsa', extensions: ['subjectAltName=DNS:localhost'] })
  const both = { cert: [other.cert, own.cert], key: [own.key, { pem: other.key }] }
  for (const create of [http2.createSecureServer, createSecureServer]) {
    await served(create(both), async server => { assert.equal((await shown(server)).length, 6) })
  }
  // Where none is its own, node says so.
  const { key: _, ...rest } = both
  assert.throws(() => createSecureServer({ ...rest, cert: other.cert, key: [own.key, key] }), { code: 'ERR_OSSL_X509_KEY_VALUES_MISMATCH' })
})

// Servers with certificates of several kinds of keys: each client is shown one whose signatures it verifies, as by node's
// own servers.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureContext, createSecureServer, serve } from 'trunkline'
import { certificate, pfxOf, SAN } from '../../support/certificates/certificates.mjs'

const [rsa, ec, ed25519] = ['rsa', 'ec', 'ed25519'].map(kind => certificate(kind, { kind, extensions: [SAN] }))
const PASSPHRASE = 'secret'
const pfx = (...all) => all.map(one => ({ buf: pfxOf(one, PASSPHRASE), passphrase: PASSPHRASE }))
const listed = (...all) => ({ cert: all.map(one => one.cert), key: all.map(one => one.key).reverse() })

const RSA = 'rsa_pss_rsae_sha256:RSA+SHA256'
const EC = 'ecdsa_secp256r1_sha256'
/** Clients by what they verify. Each is shown the same by node, whose servers prefer an order of their own where `honorCipherOrder` is not false. */
const CLIENTS = {
  'of node\'s default': {},
  'that verifies RSA alone': { sigalgs: RSA },
  'that verifies ECDSA alone': { sigalgs: EC },
  'that verifies RSA first': { sigalgs: `${RSA}:${EC}` },
  'that verifies Ed25519 alone': { sigalgs: 'ed25519' },
  'of TLS 1.2 that verifies RSA alone': { sigalgs: RSA, maxVersion: 'TLSv1.2' },
  'of TLS 1.2 that verifies ECDSA alone': { sigalgs: EC, maxVersion: 'TLSv1.2' },
  'of TLS 1.2 that has suites of ECDSA first': { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' },
  'of TLS 1.2 that has suites of RSA alone': { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }
}

/** The name of the certificate that a client is shown; null: the handshake failed. */
function shown (port, client) {
  return new Promise(resolve => {
    const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...client }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.on('error', () => { resolve(null) })
  })
}

async function listening (t, server) {
  t.after(() => { server.compatServer === undefined ? server.close() : server.compatServer.destroy() })
  server.on('tlsClientError', () => {}).on('sessionError', () => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

const SERVERS = {
  'RSA and ECDSA': listed(rsa, ec),
  'ECDSA and RSA': listed(ec, rsa),
  'RSA and Ed25519': listed(rsa, ed25519),
  'three kinds': listed(ed25519, ec, rsa),
  'RSA and ECDSA, with a key for RSA alone': { cert: [ec.cert, rsa.cert], key: rsa.key },
  'two PFX files': { pfx: pfx(rsa, ec) },
  'a certificate and a PFX file of another kind': { cert: rsa.cert, key: rsa.key, pfx: pfx(ec) },
  'a certificate and a PFX file of the same kind': { cert: ec.cert, key: ec.key, pfx: pfx(certificate('another', { extensions: [SAN] })) }
}
for (const [name, options] of Object.entries(SERVERS)) {
  test(`with ${name} each client is shown the certificate that node shows it`, async t => {
    const common = { ...options, allowHTTP1: true, honorCipherOrder: false }
    const [theirs, ours] = [await listening(t, http2.createSecureServer(common)), await listening(t, createSecureServer(common))]
    for (const [client, of] of Object.entries(CLIENTS)) assert.equal(await shown(ours, of), await shown(theirs, of), client)
  })
}

test('a server that prefers its own order prefers ECDSA to Ed25519 and RSA, as node\'s', async t => {
  const common = { ...listed(rsa, ed25519, ec), allowHTTP1: true, honorCipherOrder: true }
  const [theirs, ours] = [await listening(t, http2.createSecureServer(common)), await listening(t, createSecureServer(common))]
  for (const sigalgs of [`${RSA}:${EC}:ed25519`, `${RSA}:ed25519`, RSA]) {
    const expected = await shown(theirs, { sigalgs })
    assert.equal(await shown(ours, { sigalgs }), expected)
  }
})

test('contexts of addContext, setSecureContext and SNICallback have several too', async t => {
  const server = createSecureServer({ cert: ec.cert, key: ec.key, allowHTTP1: true })
  const port = await listening(t, server)
  server.addContext('localhost', listed(rsa, ec))
  assert.equal(await shown(port, { sigalgs: RSA }), 'rsa')
  assert.equal(await shown(port, { sigalgs: EC }), 'ec')
  assert.equal(await shown(port, { sigalgs: RSA, servername: '' }), null)
  server.setSecureContext(listed(ec, rsa))
  assert.equal(await shown(port, { sigalgs: RSA, servername: '' }), 'rsa')
  const context = createSecureContext(listed(rsa, ed25519))
  const choosing = await listening(t, createSecureServer({ cert: ec.cert, key: ec.key, allowHTTP1: true, SNICallback: (_, answer) => { answer(null, context) } }))
  assert.equal(await shown(choosing, { sigalgs: RSA }), 'rsa')
  assert.equal(await shown(choosing, { sigalgs: 'ed25519' }), 'ed25519')
})

test('serve shows several too, of names and in the place of others', async t => {
  const server = serve({ hostname: '127.0.0.1', fetch: () => new Response(''), tls: { ...listed(rsa, ec), names: { localhost: listed(ed25519, rsa) } } })
  t.after(() => server.destroy())
  assert.equal(await shown(server.port, { sigalgs: EC, servername: '' }), 'ec')
  assert.equal(await shown(server.port, { sigalgs: RSA, servername: '' }), 'rsa')
  assert.equal(await shown(server.port, { sigalgs: 'ed25519' }), 'ed25519')
  server.setIdentity(listed(ed25519, ec))
  assert.equal(await shown(server.port, { sigalgs: 'ed25519', servername: '' }), 'ed25519')
  assert.equal(await shown(server.port, { sigalgs: RSA, servername: '' }), null)
})

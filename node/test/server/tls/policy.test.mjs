// Versions, cipher suites and groups of servers by the options of node:tls: what OpenSSL's lists mean, what
// clients agree on then, and what is refused because nothing is left of it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer, serve } from 'trunkline'
import { policyOf } from '../../../dist/server/tls/policy.js'
import { authority } from '../../support/certificates/authority.mjs'

const root = authority('root')
const { cert, key } = root.issue('localhost', 'subjectAltName=DNS:localhost')
const REFUSED = { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }

const NUMBERS = {
  'ECDHE-ECDSA-AES256-GCM-SHA384': 0xc02c, 'ECDHE-RSA-AES256-GCM-SHA384': 0xc030, 'ECDHE-ECDSA-CHACHA20-POLY1305': 0xcca9,
  'ECDHE-RSA-CHACHA20-POLY1305': 0xcca8, 'ECDHE-ECDSA-AES128-GCM-SHA256': 0xc02b, 'ECDHE-RSA-AES128-GCM-SHA256': 0xc02f
}
/** The suites of TLS 1.2 that openssl finds in a list, as far as the engine has them. */
function expanded (list) {
  const text = execFileSync('openssl', ['ciphers', '-tls1_2', '-s', list], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return text.trim().split(':').map(name => NUMBERS[name]).filter(number => number !== undefined)
}

const LISTS = [
  'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256',
  'HIGH', 'HIGH:!aNULL:!MD5', 'ALL:!RC4', 'EECDH+AESGCM:EDH+AESGCM', 'ECDHE+CHACHA20:ECDHE+AESGCM:!aRSA', 'AES128:AES256:+AES128',
  'HIGH:-AES256:ECDHE-ECDSA-AES256-GCM-SHA384', 'HIGH:!AES256:ECDHE-RSA-AES256-GCM-SHA384', 'AES128:CHACHA20:AES256:@STRENGTH',
  'HIGH:!SHA384:!SHA256', 'aECDSA+AES128:aRSA', 'HIGH:@SECLEVEL=1', 'ECDHE-RSA-AES128-GCM-SHA256,CHACHA20 AES256', 'kEECDH:!ECDSA', 'TLSv1.2:!AESGCM',
  'DEFAULT@SECLEVEL=0', 'ALL@STRENGTH:!ECDSA', 'DEFAULT:!CHACHA20', 'kECDHE+aRSA+AES128:HIGH:+aRSA', 'FIPS:!RSA'
]
for (const list of LISTS) {
  test(`the list ${list} means the suites that openssl finds in it, in its order`, () => {
    const own = policyOf({ ciphers: list })
    const wanted = expanded(list)
    assert.ok(wanted.length > 0)
    // Equals in strength are in no order that programs ask for.
    const found = own.suites.filter(number => number >>> 8 !== 0x13)
    if (/STRENGTH/.test(list)) assert.deepEqual([...found].sort(), [...wanted].sort())
    else assert.deepEqual(found, wanted)
    assert.deepEqual([own.tls12, own.tls13], [true, true])
  })
}

test('suites of TLS 1.3 go by their names, and a version without a suite is not spoken', () => {
  const own = policyOf({ ciphers: 'TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_CCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256' })
  assert.deepEqual(own, { tls12: true, tls13: true, suites: [0x1303, 0xc02f], groups: null, prefersOwnOrder: true })
  assert.deepEqual(policyOf({ ciphers: 'TLS_AES_128_GCM_SHA256', honorCipherOrder: false }), { tls12: false, tls13: true, suites: [0x1301], groups: null, prefersOwnOrder: false })
})

test('what is the default asks for nothing', () => {
  for (const options of [{}, { minVersion: 'TLSv1', maxVersion: 'TLSv1.3' }, { ecdhCurve: 'auto' }, { secureProtocol: 'TLS_method' }, { secureOptions: 0x02000000 }]) assert.equal(policyOf(options), undefined)
})

/** A server that takes every client that agrees with it. */
async function serving (t, options) {
  const server = createSecureServer({ cert, key, allowHTTP1: true, ...options }, (request, response) => { response.end(request.socket.getProtocol()) })
  t.after(() => { server.compatServer.destroy() })
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** The parameters negotiated by a client with these options; null: none. */
async function agreed (t, port, options) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: root.cert, ALPNProtocols: ['http/1.1'], ...options })
  // At the end of a test its server may end first, and cut it off.
  socket.on('error', () => {})
  t.after(() => { socket.destroy() })
  const received = await once(socket, 'secureConnect').then(() => true, () => false)
  return received ? [socket.getProtocol(), socket.getCipher().name, socket.getEphemeralKeyInfo().name] : null
}

test('a server agrees on its own first suite, and on none that it does not name', async t => {
  const { port } = (await serving(t, { ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:TLS_AES_128_GCM_SHA256' })).address()
  const theirs = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305'
  assert.deepEqual((await agreed(t, port, { maxVersion: 'TLSv1.2', ciphers: theirs })).slice(0, 2), ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305'])
  assert.equal(await agreed(t, port, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }), null)
  assert.deepEqual((await agreed(t, port, {})).slice(0, 2), ['TLSv1.3', 'TLS_AES_128_GCM_SHA256'])
})

test('with honorCipherOrder false the first suite of the client is agreed on', async t => {
  const { port } = (await serving(t, { ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384', honorCipherOrder: false })).address()
  const theirs = 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305'
  assert.deepEqual((await agreed(t, port, { maxVersion: 'TLSv1.2', ciphers: theirs })).slice(0, 2), ['TLSv1.2', 'ECDHE-ECDSA-AES256-GCM-SHA384'])
})

for (const [name, options] of Object.entries({
  'a list without a suite of TLS 1.3': { ciphers: 'HIGH' }, 'a suite of TLS 1.2': { ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
  'a suite of TLS 1.2 and minVersion TLSv1.3': { ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384', minVersion: 'TLSv1.3' },
  'a suite of TLS 1.3': { ciphers: 'TLS_CHACHA20_POLY1305_SHA256' }, 'an empty list': { ciphers: '' }, 'its own order': { honorCipherOrder: true },
  'no maxVersion, as 0': { maxVersion: 0 }, 'no maxVersion, as false': { maxVersion: false }, 'no maxVersion, as an empty text': { maxVersion: '' },
  'a secureProtocol that is no text': { secureProtocol: {} }, 'an empty secureProtocol': { secureProtocol: '' }
})) {
  test(`with ${name} a client agrees on what it agrees on with node`, async t => {
    const nodes = http2.createSecureServer({ cert, key, allowHTTP1: true, ...options }).on('tlsClientError', () => {}).listen(0, '127.0.0.1')
    t.after(() => { nodes.close() })
    await once(nodes, 'listening')
    const ours = await serving(t, options)
    // Without a list of its own, and where honorCipherOrder is not given, the order of suites is the client's, and node's own with node.
    const ofOtherOrder = options.ciphers || options.honorCipherOrder ? [{ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256' }] : []
    for (const client of [{}, { maxVersion: 'TLSv1.2' }, ...ofOtherOrder]) {
      const [expected, found] = [await agreed(t, nodes.address().port, client), await agreed(t, ours.address().port, client)]
      assert.deepEqual(found?.slice(0, 2), expected?.slice(0, 2), JSON.stringify(client))
    }
  })
}

test('with maxVersion TLSv1.2, or a method of it, nothing newer is spoken', async t => {
  for (const options of [{ maxVersion: 'TLSv1.2' }, { secureProtocol: 'TLSv1_2_method' }, { secureOptions: 0x20000000 }]) {
    const { port } = (await serving(t, options)).address()
    assert.equal((await agreed(t, port, {}))[0], 'TLSv1.2', JSON.stringify(options))
    assert.equal(await agreed(t, port, { minVersion: 'TLSv1.3' }), null, JSON.stringify(options))
  }
})

test('a server agrees on no group that ecdhCurve does not name', async t => {
  const { port } = (await serving(t, { ecdhCurve: 'P-384:X25519' })).address()
  assert.equal(await agreed(t, port, { ecdhCurve: 'P-256' }), null)
  assert.equal((await agreed(t, port, { ecdhCurve: 'P-256:P-384', maxVersion: 'TLSv1.2' }))[2], 'secp384r1')
  assert.equal((await agreed(t, port, { ecdhCurve: 'X25519' }))[2], 'X25519')
})

test('serve takes the same options, and refuses what node:tls does not know', async t => {
  const fetch = () => new Response('')
  const server = serve({ hostname: '127.0.0.1', fetch, tls: { cert, key, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256', ecdhCurve: 'P-256' } })
  t.after(() => server.destroy())
  assert.deepEqual(await agreed(t, server.port, {}), ['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256', 'prime256v1'])
  assert.throws(() => serve({ fetch, tls: { cert, key, minVersion: 'TLSv9' } }), { code: 'ERR_TLS_INVALID_PROTOCOL_VERSION' })
  assert.throws(() => serve({ fetch, tls: { cert, key, ciphers: 'no-such' } }))
})

test('what leaves nothing to agree on is refused by its name', () => {
  for (const [name, options] of Object.entries({
    ciphers: { ciphers: 'AES256-SHA' }, ecdhCurve: { ecdhCurve: 'P-521' }, maxVersion: { maxVersion: 'TLSv1.1' }, '@SECLEVEL=3': { ciphers: 'HIGH:@SECLEVEL=3' },
    secureOptions: { secureOptions: 0x4 }, secureProtocol: { secureProtocol: 'TLSv1_1_method' }, 'a version that is spoken': { ciphers: 'TLS_AES_128_GCM_SHA256', maxVersion: 'TLSv1.2' }
  })) {
    assert.throws(() => createSecureServer({ cert, key, ...options }), error => error.code === REFUSED.code && error.message.includes(name), name)
  }
})

test('HTTP/3 is refused without TLS 1.3, and needs no suite that is not named', async t => {
  const fetch = () => new Response('')
  assert.throws(() => serve({ fetch, http3: true, tls: { cert, key, maxVersion: 'TLSv1.2' } }), /it needs TLS 1\.3/)
  const server = serve({ hostname: '127.0.0.1', fetch, http3: true, tls: { cert, key, ciphers: 'TLS_CHACHA20_POLY1305_SHA256' } })
  await server.destroy()
})

test('a context that asks for another policy than its server is refused', () => {
  const server = createSecureServer({ cert, key, maxVersion: 'TLSv1.2' })
  assert.throws(() => server.setSecureContext({ cert, key, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }), REFUSED)
  assert.throws(() => server.addContext('localhost', { cert, key, minVersion: 'TLSv1.3' }), REFUSED)
  server.addContext('localhost', { cert, key, maxVersion: 'TLSv1.2' })
  server.setSecureContext({ cert, key })
})

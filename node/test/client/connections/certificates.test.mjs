// A server's certificate of every kind, with every way to trust it, is accepted or refused as node:tls does, with
// its code, over HTTP/1.1, HTTP/2 and HTTP/3.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer as http2Server } from 'node:http2'
import { unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import tls from 'node:tls'
import { Agent, createSecureServer } from 'trunkline'
import { kinds } from '../../support/certificates/certificates.mjs'

const all = kinds()
const extraFile = join(tmpdir(), `trunkline-extra-${process.pid}.pem`)
after(() => { unlinkSync(extraFile) })

/** The differences from node:tls, by kind. No certificate is accepted that node:tls refuses. */
const CN_LIMITED = 'a CN does not count below an issuer that is limited to names: OpenSSL takes a CN without a dot for no host, and lets it pass'
const DIFFERENT = {
  'CN within the names of its issuer': CN_LIMITED,
  'CN beyond the names of its issuer': CN_LIMITED,
  'an intermediate that has expired': 'where its root is unknown too, the platform\'s verifier names the expiry',
  'beyond the names of its issuer': 'where its root is unknown too, that is what is named'
}

/** Asserts that an outcome equals node:tls's, or is at least a refusal too. */
function compare (name, expected, got, label) {
  const text = `${label}: ${got.message}`
  if (expected !== 'fine') assert.notEqual(got.code, 'fine', text)
  if (!(name in DIFFERENT)) assert.equal(got.code, expected, text)
  return got.code !== expected
}

/** The names by which the certificates that may be trusted are given. */
function waysOf ({ trusted, own }) {
  const list = Object.values(trusted).map(one => one.cert)
  const ways = { nothing: undefined, 'its own certificate': own, 'a stranger': all['openssl req -x509 with a name'].trusted.own.cert }
  for (const [name, { cert }] of Object.entries(trusted)) ways[name] = cert
  if (list.length > 1) {
    ways['all, as a list'] = list
    ways['all, as one text'] = list.join('\n')
    ways['all, as bytes, with words between'] = Buffer.from(list.map((one, at) => `certificate ${at}\n${one}`).join('\n'))
  }
  return ways
}

/** The outcome with node:tls: `fine` or a code. */
function judged (port, ca) {
  return new Promise(resolve => {
    const socket = tls.connect({ host: '127.0.0.1', port, servername: 'localhost', ca, ALPNProtocols: ['http/1.1'] })
    socket.on('secureConnect', () => { resolve('fine') }).on('error', error => { resolve(error.code) })
    socket.on('secureConnect', () => { socket.destroy() })
  })
}

/** The outcome with a dispatcher: `fine`, or a code and the message. */
async function tried (port, options, connect) {
  const agent = new Agent({ ...options, connections: 1, resolve: { localhost: '127.0.0.1' }, connect })
  try {
    const { statusCode, body } = await agent.request({ origin: `https://localhost:${port}`, path: '/', method: 'GET' })
    await body.dump()
    return { code: statusCode === 200 ? 'fine' : statusCode }
  } catch (error) {
    return { code: error.code, message: error.message }
  } finally {
    await agent.destroy()
  }
}

const VERSIONS = { 'HTTP/1.1': { allowH2: false }, 'HTTP/2': {}, 'HTTP/3': { http3: 'only' } }

async function serve ({ key, sent }) {
  const server = http2Server({ key, cert: sent, allowHTTP1: true, ciphers: 'DEFAULT@SECLEVEL=0' }, (_, response) => { response.end() })
  server.on('sessionError', () => {}).on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** HTTP/3 with the same certificate; null: an engine's server does not show it. */
async function serveH3 ({ key, sent }) {
  try {
    const server = createSecureServer({ key, cert: sent, http3: true }, (_, response) => { response.end() })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  } catch {
    return null
  }
}

const close = server => new Promise(resolve => { server.close(resolve) })

for (const [name, kind] of Object.entries(all)) {
  test(`a certificate: ${name}`, async () => {
    const server = await serve(kind)
    const h3 = await serveH3(kind)
    const { port } = server.address()
    let differs = false
    try {
      for (const [way, ca] of Object.entries(waysOf(kind))) {
        const expected = await judged(port, ca)
        for (const [version, options] of Object.entries(VERSIONS)) {
          const to = version === 'HTTP/3' ? h3 : server
          if (to === null) continue
          const got = await tried(to.address().port, options, { ca })
          const label = `${way}, ${version}`
          differs = compare(name, expected, got, label) || differs
          if (got.message !== undefined) assert.doesNotMatch(got.message, /[A-Z][a-z]+[A-Z][A-Za-z]*\(|\{|Other\(/, label)
        }
      }
      // The file of the environment adds to the roots of the platform.
      const list = Object.values(kind.trusted).map(one => one.cert)
      writeFileSync(extraFile, list.join('\n'))
      const expected = await judged(port, [...tls.rootCertificates, ...list])
      process.env.NODE_EXTRA_CA_CERTS = `${extraFile}`
      for (const [label, given] of [['NODE_EXTRA_CA_CERTS', {}], ['an empty text', { ca: '' }]]) {
        differs = compare(name, expected, await tried(port, {}, given), label) || differs
      }
      // An empty list of roots is one: it has neither those of the platform nor those of the environment.
      assert.notEqual((await tried(port, {}, { ca: [] })).code, 'fine', 'ca: []')
      assert.equal(differs, name in DIFFERENT, 'what does not differ is not on the list')
      assert.deepEqual((await tried(port, {}, { rejectUnauthorized: false })).code, 'fine')
    } finally {
      delete process.env.NODE_EXTRA_CA_CERTS
      await close(server)
      if (h3 !== null) await close(h3)
    }
  })
}

test('what differs from node:tls names kinds that there are', () => {
  assert.deepEqual(Object.keys(DIFFERENT).filter(name => !(name in all)), [])
})

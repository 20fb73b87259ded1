// Servers that ask clients for certificates: whom they admit, and what they tell of who came, on every
// version under TLS and beside node's own server.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import test from 'node:test'
import tls from 'node:tls'
import { Agent, createSecureServer, serve } from 'trunkline'
import { authority } from '../../support/certificates/authority.mjs'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { certificate } from '../../support/certificates/certificates.mjs'

const known = authority('known')
const unknown = authority('unknown')
const between = authority('between', known)
const clients = {
  'of a known authority': known.issue('client'),
  'of an unknown authority': unknown.issue('stranger'),
  'that it has issued itself': authority('itself'),
  'for servers': known.issue('server', 'extendedKeyUsage=serverAuth'),
  'of an authority between, which it shows': (() => {
    const own = between.issue('below')
    return { ...own, cert: own.cert + between.cert }
  })(),
  'of an authority between, which it does not show': between.issue('alone'),
  none: {}
}

/** Asks over one version; the text of the answer, or `null` where the client is not admitted. */
const ask = {
  'h1 over TLS': (port, identity) => new Promise(resolve => {
    const request = https.get({ host: 'localhost', port, ca: cert, agent: false, ...identity }, async response => {
      let text = ''
      for await (const piece of response) text += piece
      resolve(text)
    })
    request.on('error', () => { resolve(null) })
  }),
  h2: (port, identity) => new Promise(resolve => {
    const session = http2.connect(`https://localhost:${port}`, { ca: cert, ...identity })
    const ended = text => {
      session.destroy()
      resolve(text)
    }
    session.on('error', () => { ended(null) }).on('close', () => { ended(null) })
    const stream = session.request({ ':path': '/' })
    let text = ''
    stream.on('error', () => { ended(null) }).on('data', piece => { text += piece }).on('end', () => { ended(text === '' ? null : text) })
  }),
  async h3 (port, identity) {
    const agent = new Agent({ http3: 'only', connect: { ca: cert, ...identity } })
    try {
      const { body } = await agent.request({ origin: `https://localhost:${port}`, path: '/', method: 'GET' })
      return await body.text()
    } catch {
      return null
    } finally {
      await agent.destroy()
    }
  }
}

/** The client's properties on a socket of node:tls. */
function reported (socket) {
  const certificate = socket.getPeerCertificate()
  const detailed = socket.getPeerCertificate(true)
  return JSON.stringify([
    socket.authorized, socket.authorizationError ?? null,
    certificate.subject?.CN, certificate.issuer?.CN, certificate.fingerprint256, certificate.serialNumber, certificate.raw?.length,
    certificate.issuerCertificate === undefined, detailed.issuerCertificate?.subject?.CN, socket.getPeerX509Certificate?.()?.subject
  ])
}
/** Where the issuer of a client's certificate is in a report. */
const ISSUER = 8
/** Our report. Node.js 24 finds no issuer among the certificates that a client has sent; ours is there on each line. */
function likewise (ours, nodes) {
  if (ours === null || nodes === null || JSON.parse(nodes)[ISSUER] !== null) return ours
  return JSON.stringify(JSON.parse(ours).map((value, at) => at === ISSUER ? null : value))
}
const telling = (request, response) => { response.end(reported(request.socket)) }

async function listening (server) {
  server.on('error', () => {}).on('sessionError', () => {}).on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

for (const rejectUnauthorized of [true, false]) {
  for (const [name, client] of Object.entries(clients)) {
    const identity = { cert: client.cert, key: client.key }
    test(`rejectUnauthorized ${rejectUnauthorized}: a client with a certificate ${name} is told and admitted as by node`, async () => {
      const options = { cert, key, ca: known.cert, requestCert: true, rejectUnauthorized, allowHTTP1: true }
      const nodes = await listening(http2.createSecureServer(options, telling))
      const ours = await listening(createSecureServer({ ...options, http3: true }, telling))
      try {
        for (const version of ['h1 over TLS', 'h2']) {
          const expected = await ask[version](nodes.address().port, identity)
          assert.equal(likewise(await ask[version](ours.address().port, identity), expected), expected, version)
        }
        const expected = await ask.h2(nodes.address().port, identity)
        assert.equal(likewise(await ask.h3(ours.address().port, identity), expected), expected, 'h3')
      } finally {
        nodes.close()
        ours.compatServer.destroy()
      }
    })
  }
}

const YEAR = 365 * 24 * 3600 * 1000
const CA = 'basicConstraints=critical,CA:TRUE'
const ofClients = (issuer, options) => certificate('client', { issuer, extensions: ['extendedKeyUsage=clientAuth'], ...options })
/** The certificate in `ca`, and those that a client sends, its own first. */
const issuers = (() => {
  const root = certificate('root', { extensions: [CA] })
  const between = certificate('between', { issuer: root, extensions: [CA] })
  const short = certificate('short', { extensions: ['basicConstraints=critical,CA:TRUE,pathlen:0'] })
  const below = certificate('below', { issuer: short, extensions: [CA] })
  const pinned = certificate('pinned', { extensions: ['basicConstraints=critical,CA:FALSE'] })
  const leaf = certificate('leaf', { issuer: root, extensions: ['basicConstraints=critical,CA:FALSE'] })
  const old = certificate('old', { extensions: [CA], from: -2 * YEAR, to: -YEAR })
  const early = certificate('early', { extensions: [CA], from: YEAR, to: 2 * YEAR })
  const signsNothing = certificate('signs nothing', { extensions: [CA, 'keyUsage=critical,digitalSignature'] })
  const forServers = certificate('for servers', { extensions: [CA, 'extendedKeyUsage=serverAuth'] })
  const first = certificate('first', { version: 1 })
  return {
    'a root': [root, ofClients(root)],
    'an authority that is the client itself': [root, root],
    'a certificate that is the client itself': [pinned, pinned],
    'a certificate that is no authority': [pinned, ofClients(pinned)],
    'a certificate that another authority has issued, itself': [leaf, leaf],
    'a certificate that another authority has issued': [leaf, ofClients(leaf)],
    'an authority below a root that is not there': [between, ofClients(between)],
    'a root that has expired': [old, ofClients(old)],
    'a root that is not yet valid': [early, ofClients(early)],
    'a root whose key signs no certificates': [signsNothing, ofClients(signsNothing)],
    'a root for servers': [forServers, ofClients(forServers)],
    'a root with an authority too many below it': [short, ofClients(below), below],
    'a root of version 1': [first, ofClients(first)],
    'a root of a client of version 1': [root, ofClients(root, { version: 1 })],
    'a root of a client that says that it is an authority': [root, ofClients(root, { extensions: [CA] })],
    'a root of a client that has expired': [root, ofClients(root, { from: -2 * YEAR, to: -YEAR })],
    'a root of a client whose key only enciphers': [root, ofClients(root, { extensions: ['keyUsage=critical,keyEncipherment'] })]
  }
})()
for (const [name, [ca, own, ...rest]] of Object.entries(issuers)) {
  test(`ca with ${name} admits whom it admits with node`, async () => {
    const options = { cert, key, ca: ca.cert, requestCert: true, rejectUnauthorized: false, allowHTTP1: true }
    const identity = { cert: [own, ...rest].map(one => one.cert).join(''), key: own.key }
    const judged = (request, response) => { response.end(`${request.socket.authorized} ${request.socket.authorizationError ?? ''}`) }
    const nodes = await listening(http2.createSecureServer(options, judged))
    const ours = await listening(createSecureServer({ ...options, http3: true }, judged))
    try {
      const expected = await ask.h2(nodes.address().port, identity)
      assert.notEqual(expected, null)
      for (const version of Object.keys(ask)) assert.equal(await ask[version](ours.address().port, identity), expected, version)
    } finally {
      nodes.close()
      ours.compatServer.destroy()
    }
  })
}

test('a client that is not admitted is a tlsClientError by the code of node', async () => {
  const server = createSecureServer({ cert, key, ca: known.cert, requestCert: true, allowHTTP1: true }, telling)
  await listening(server)
  try {
    for (const [name, code] of [['of an unknown authority', 'ECONNRESET'], ['none', 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE']]) {
      const failed = once(server, 'tlsClientError')
      assert.equal(await ask['h1 over TLS'](server.address().port, clients[name]), null)
      const [error] = await failed
      assert.equal(error.code, code)
      assert.match(error.message, /not admitted/)
    }
  } finally {
    server.compatServer.destroy()
  }
})

for (const [name, ca] of Object.entries({ 'an empty list': [], 'a list of an empty text': [''], 'an empty text': '' })) {
  test(`ca as ${name} admits whom it admits with node`, async () => {
    for (const rejectUnauthorized of [true, false]) {
      const options = { cert, key, ca, requestCert: true, rejectUnauthorized, allowHTTP1: true }
      const judged = (request, response) => { response.end(`${request.socket.authorized} ${request.socket.authorizationError ?? ''}`) }
      const nodes = await listening(http2.createSecureServer(options, judged))
      const ours = await listening(createSecureServer({ ...options, http3: true }, judged))
      try {
        for (const client of Object.values(clients)) {
          const identity = { cert: client.cert, key: client.key }
          const expected = await ask.h2(nodes.address().port, identity)
          assert.equal(expected === null, rejectUnauthorized)
          for (const version of Object.keys(ask)) assert.equal(await ask[version](ours.address().port, identity), expected, version)
        }
      } finally {
        nodes.close()
        ours.compatServer.destroy()
      }
    }
  })
}

test('a revoked certificate is not believed', async () => {
  const issuer = authority('revoking')
  const [revoked, other] = [issuer.issue('revoked'), issuer.issue('other')]
  const options = { cert, key, ca: [issuer.cert], crl: issuer.revoke(revoked), requestCert: true, rejectUnauthorized: false, allowHTTP1: true }
  const server = await listening(createSecureServer(options, (request, response) => { response.end(String(request.socket.authorizationError)) }))
  try {
    const { port } = server.address()
    assert.equal(await ask.h2(port, { cert: revoked.cert, key: revoked.key }), 'CERT_REVOKED')
    assert.equal(await ask.h2(port, { cert: other.cert, key: other.key }), 'null')
  } finally {
    server.compatServer.destroy()
  }
})

for (const version of Object.keys(ask)) {
  test(`${version}: a handler of serve learns who the client is`, async () => {
    const server = serve({
      hostname: '127.0.0.1',
      http3: true,
      tls: { cert, key, requestCert: true, ca: known.cert, rejectUnauthorized: false },
      fetch: (_, info) => Response.json([info.authorized, info.authorizationError, info.clientCertificate?.subject ?? null, info.clientCertificate instanceof X509Certificate])
    })
    try {
      const reports = async name => JSON.parse(await ask[version](server.port, clients[name]))
      assert.deepEqual(await reports('of a known authority'), [true, null, 'CN=client', true])
      assert.deepEqual(await reports('of an unknown authority'), [false, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CN=stranger', true])
      assert.deepEqual(await reports('none'), [false, 'UNABLE_TO_GET_ISSUER_CERT', null, false])
    } finally {
      await server.close({ deadlineMs: 0 })
    }
  })
}

test('without ca the authorities that node has are believed, and nobody else', async () => {
  const server = await listening(createSecureServer({ cert, key, requestCert: true, allowHTTP1: true }, telling))
  try {
    assert.equal(await ask.h2(server.address().port, clients['of a known authority']), null)
  } finally {
    server.compatServer.destroy()
  }
})

test('ca completes the chain that the server shows, with requestCert and without', async () => {
  const below = between.issue('localhost', 'subjectAltName=DNS:localhost')
  for (const requestCert of [false, true]) {
    const server = await listening(createSecureServer({ cert: below.cert, key: below.key, ca: [known.cert, between.cert], requestCert, rejectUnauthorized: false, allowHTTP1: true }, telling))
    try {
      const socket = tls.connect({ port: server.address().port, host: 'localhost', servername: 'localhost', ca: known.cert, ALPNProtocols: ['http/1.1'] })
      await once(socket, 'secureConnect')
      assert.equal(socket.authorized, true)
      socket.destroy()
    } finally {
      server.compatServer.destroy()
    }
  }
})

test('a context that would believe others than its server is refused, and one that shows another certificate is not', () => {
  const server = createSecureServer({ cert, key, ca: known.cert, requestCert: true })
  const refused = { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', message: /\bca\b/ }
  assert.throws(() => server.setSecureContext({ cert, key, ca: unknown.cert }), refused)
  assert.throws(() => server.addContext('localhost', { cert, key, ca: unknown.cert }), refused)
  server.setSecureContext({ cert, key, ca: known.cert })
  server.addContext('localhost', { cert, key })
  const newer = { code: refused.code, message: /minVersion/ }
  assert.throws(() => server.setSecureContext({ cert, key, minVersion: 'TLSv1.3' }), newer)
  assert.throws(() => server.addContext('localhost', { cert, key, minVersion: 'TLSv1.3' }), newer)
})

test('whatever requestCert is but false asks, and admits nobody without a certificate', async () => {
  for (const requestCert of [1, 'false', {}]) {
    const server = serve({ hostname: '127.0.0.1', tls: { cert, key, requestCert, ca: known.cert, rejectUnauthorized: 0 }, fetch: () => new Response('in') })
    try {
      assert.equal(await ask.h2(server.port, {}), null)
      assert.equal(await ask.h2(server.port, clients['of a known authority']), 'in')
    } finally {
      await server.close({ deadlineMs: 0 })
    }
  }
})

test('what is no list of authorities is refused when it is given', () => {
  assert.throws(() => serve({ tls: { cert, key, requestCert: true, ca: 'nothing' }, fetch: () => new Response('') }), /issuers has no CERTIFICATE section/)
})

test('a client that sends what is no certificate behind its own ends no server', async () => {
  const { cert: own, key: ownKey } = clients['of an unknown authority']
  const broken = `${own}-----BEGIN CERTIFICATE-----\n${Buffer.alloc(8, 7).toString('base64')}\n-----END CERTIFICATE-----\n`
  const server = await listening(createSecureServer({ cert, key, ca: known.cert, requestCert: true, rejectUnauthorized: false, allowHTTP1: true }, telling))
  try {
    const { port } = server.address()
    // None of node's clients sends this.
    const agent = new Agent({ connect: { ca: cert, cert: broken, key: ownKey } })
    await agent.request({ origin: `https://localhost:${port}`, path: '/', method: 'GET' }).then(({ body }) => body.dump(), () => {})
    await agent.destroy()
    assert.notEqual(await ask.h2(port, clients['of a known authority']), null)
  } finally {
    server.compatServer.destroy()
  }
})

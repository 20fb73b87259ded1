// The choices of SNICallback and ALPNCallback beyond node's own results (comparisons/server/
// programs/context.mjs has these), and with other clients than node's.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import https from 'node:https'
import http2 from 'node:http2'
import { connect as connectTcp } from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { promisify } from 'node:util'
import { createSecureContext, createSecureServer } from 'trunkline'
import { authority } from '../../support/certificates/authority.mjs'
import { cert, certFile, key } from '../../support/certificates/certificate.mjs'

const REFUSED = { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }
const root = authority('root')
const other = root.issue('other', 'subjectAltName=DNS:other.test')

/** A server that listens until its test ends, however it does. */
async function listening (t, options, listener = (request, response) => { response.end(request.socket.servername) }) {
  const server = createSecureServer({ allowHTTP1: true, ...options }, listener)
  const failures = []
  server.on('tlsClientError', error => { failures.push(error) })
  t.after(() => {
    server.close()
    server.compatServer.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: server.address().port, failures }
}

/** Whose certificate a client of node's is shown; or the code with which it fails. */
async function displayed (t, port, options = {}) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'other.test', rejectUnauthorized: false, ...options })
  t.after(() => { socket.destroy() })
  return await new Promise(resolve => {
    // Over TLS 1.3 a client learns only then that it is not admitted.
    socket.once('secureConnect', () => { socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n') })
    socket.once('data', () => { resolve(socket.getPeerCertificate().subject.CN) })
    socket.once('error', error => { resolve(error.code) })
    socket.once('close', () => { resolve('closed') })
  })
}

async function until (condition) {
  const end = Date.now() + 20_000
  while (!condition()) {
    assert.ok(Date.now() < end, String(condition))
    await new Promise(resolve => { setImmediate(resolve) })
  }
}

test('a context of node:tls is refused with what to use, and one of this package is node\'s too', async t => {
  const foreign = tls.createSecureContext({ cert: other.cert, key: other.key })
  const { port, failures } = await listening(t, { cert, key, SNICallback: (name, answer) => { answer(null, foreign) } })
  await displayed(t, port)
  await until(() => failures.length > 0)
  assert.equal(failures[0].code, REFUSED.code)
  assert.match(failures[0].message, /createSecureContext of this package/)

  const context = createSecureContext({ cert: other.cert, key: other.key })
  const nodes = https.createServer({ cert, key, SNICallback: (name, answer) => { answer(null, context) } }, (request, response) => { response.end() })
  t.after(() => { nodes.close().closeAllConnections() })
  nodes.listen(0, '127.0.0.1')
  await once(nodes, 'listening')
  assert.equal(await displayed(t, nodes.address().port), 'other')
})

test('a client that is refused hears an alert', async t => {
  const { port } = await listening(t, { cert, key, SNICallback: (name, answer) => { answer(new Error('nobody is called that')) } })
  assert.match(await displayed(t, port), /ALERT_INTERNAL_ERROR$/)
})

test('with http3 a server that chooses by callbacks is refused', () => {
  for (const name of ['SNICallback', 'ALPNCallback']) {
    assert.throws(() => createSecureServer({ cert, key, http3: true, [name] () {} }), error => error.code === REFUSED.code && error.message.includes(name))
  }
})

test('a context may have authorities of its own, where its server asks for certificates', async t => {
  const [ours, theirs] = [authority('ours'), authority('theirs')]
  const context = createSecureContext({ cert: other.cert, key: other.key, ca: theirs.cert })
  const { port } = await listening(t, { cert, key, ca: ours.cert, requestCert: true, SNICallback: (name, answer) => { answer(null, name === 'other.test' ? context : undefined) } })
  const [our, their] = [ours.issue('client'), theirs.issue('client')]
  assert.equal(await displayed(t, port, { cert: their.cert, key: their.key }), 'other')
  assert.equal(await displayed(t, port, { cert: our.cert, key: our.key, servername: 'one.test' }), 'trunkline-test')
  assert.notEqual(await displayed(t, port, { cert: our.cert, key: our.key }), 'other')
  assert.notEqual(await displayed(t, port, { cert: their.cert, key: their.key, servername: 'one.test' }), 'trunkline-test')
})

test('a context may have a policy of its own, and has its server\'s otherwise', async t => {
  const context = options => createSecureContext({ cert: other.cert, key: other.key, ...options })
  const contexts = { 'old.test': context({ maxVersion: 'TLSv1.2' }), 'other.test': context() }
  const { port } = await listening(t, { cert, key, minVersion: 'TLSv1.3', SNICallback: (name, answer) => { answer(null, contexts[name]) } })
  for (const [servername, maxVersion, isServed] of [['old.test', 'TLSv1.2', true], ['other.test', 'TLSv1.2', false], ['other.test', 'TLSv1.3', true]]) {
    assert.equal(await displayed(t, port, { servername, maxVersion }) === 'other', isServed, `${servername} ${maxVersion}`)
  }
})

test('an encrypted key and a PFX file make contexts too, and a context of nothing is refused', async t => {
  const { createPrivateKey } = await import('node:crypto')
  const closed = createPrivateKey(other.key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  const contexts = { 'other.test': createSecureContext({ cert: other.cert, key: closed, passphrase: 'secret' }), 'nothing.test': createSecureContext() }
  const { port, failures } = await listening(t, { cert, key, SNICallback: (name, answer) => { answer(null, contexts[name]) } })
  assert.equal(await displayed(t, port), 'other')
  await displayed(t, port, { servername: 'nothing.test' })
  await until(() => failures.length > 0)
  assert.match(failures[0].message, /without an identity/)
})

test('a second answer changes nothing', async t => {
  const context = createSecureContext({ cert: other.cert, key: other.key })
  const { port } = await listening(t, { cert, key, SNICallback (name, answer) { answer(null, context); answer(new Error('late')); answer(null) } })
  assert.equal(await displayed(t, port), 'other')
})

test('an answer for a client that has left, or of a server that has ended, is forgotten', async t => {
  const answers = []
  const { server, port, failures } = await listening(t, { cert, key, timeouts: { handshake: 0 }, SNICallback: (name, answer) => { answers.push(answer) } })
  const client = tls.connect({ port, host: '127.0.0.1', servername: 'other.test', rejectUnauthorized: false })
  client.on('error', () => {})
  await until(() => answers.length === 1)
  client.destroy()
  await until(() => failures.length === 1)
  assert.equal(failures[0].code, 'ECONNRESET')
  answers[0](new Error('too late'))
  answers[0](null)
  const [waiting] = [1, 2].map(() => {
    const waiting = tls.connect({ port, host: '127.0.0.1', servername: 'other.test', rejectUnauthorized: false }).on('error', () => {})
    t.after(() => { waiting.destroy() })
    return waiting
  })
  await until(() => answers.length === 3)
  server.close()
  server.compatServer.destroy()
  // Both before the server has heard that it ended and afterwards.
  answers[1](null)
  server.setSecureContext({ cert: other.cert, key: other.key })
  await until(() => waiting.closed && !server.compatServer.isListening)
  answers[2](null)
  server.setSecureContext({ cert, key })
  assert.equal(failures.length, 1)
})

test('a client hello may come byte by byte', async t => {
  const { port } = await listening(t, { cert, key, SNICallback: (name, answer) => { setImmediate(answer, null) } })
  // Between a client and the server: hands on one byte at a time.
  const { createServer } = await import('node:net')
  const relay = createServer(near => {
    const far = connectTcp(port, '127.0.0.1').setNoDelay()
    near.on('data', chunk => { for (const byte of chunk) far.write(Buffer.of(byte)) })
    far.on('data', chunk => { near.write(chunk) })
    for (const [one, another] of [[near, far], [far, near]]) one.on('close', () => { another.destroy() }).on('error', () => {})
  })
  t.after(() => { relay.close() })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  assert.equal(await displayed(t, relay.address().port), 'trunkline-test')
})

test('contexts that are made for each handshake are served', async t => {
  const { port } = await listening(t, { cert, key, SNICallback: (name, answer) => { answer(null, createSecureContext({ cert: other.cert, key: other.key })) } })
  for (let round = 0; round < 20; round++) {
    const all = Array.from({ length: 5 }, () => displayed(t, port))
    assert.deepEqual(await Promise.all(all), all.map(() => 'other'))
  }
})

const run = promisify(execFile)

test('curl and openssl ask for a name and are shown what was chosen', async t => {
  const context = createSecureContext({ cert: other.cert, key: other.key })
  const names = []
  const options = {
    cert, key,
    SNICallback (name, answer) {
      names.push(name)
      setTimeout(answer, 5, null, name === 'other.test' ? context : undefined)
    },
    ALPNCallback: ({ protocols }) => protocols.includes('h2') ? 'h2' : protocols[0]
  }
  const { port } = await listening(t, options, (request, response) => { response.end(request.httpVersion) })
  for (const [version, expected] of [['--http2', '2.0'], ['--http1.1', '1.1']]) {
    const { stdout } = await run('curl', ['-sS', '--max-time', '60', version, '--cacert', certFile, '--resolve', `localhost:${port}:127.0.0.1`, `https://localhost:${port}/`])
    assert.equal(stdout, expected)
  }
  const asking = run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', 'other.test', '-alpn', 'h2'])
  asking.child.stdin.end()
  const { stdout } = await asking
  assert.match(stdout, /subject=.*CN ?= ?other/)
  assert.match(stdout, /ALPN protocol: h2/)
  assert.deepEqual(names, ['localhost', 'localhost', 'other.test'])
})

test('a session of HTTP/2 goes on over what was chosen, and resumes its session of TLS', async t => {
  const context = createSecureContext({ cert, key })
  const { port } = await listening(t, { cert: other.cert, key: other.key, SNICallback: (name, answer) => { answer(null, context) } })
  let session
  for (const isReused of [false, true]) {
    const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: ['h2'], session })
    t.after(() => { socket.destroy() })
    socket.on('session', given => { session = given })
    await once(socket, 'secureConnect')
    const client = http2.connect('https://localhost', { createConnection: () => socket })
    const stream = client.request({ ':path': '/' }).setEncoding('utf8')
    let text = ''
    for await (const piece of stream) text += piece
    assert.equal(text, 'localhost')
    assert.equal(socket.isSessionReused(), isReused)
    await until(() => session !== undefined)
    client.destroy()
  }
})

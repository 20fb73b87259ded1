// The life of servers on this Node (on the other lines `../lines/life.test.mjs` tests them), and certificates
// that change.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { connect } from 'node:tls'
import { createSecureServer, createServer, Response as Lean, serve } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'
import { serverLife } from '../support/lines/server_life.mjs'
import { serveFor } from '../support/servers/serving.mjs'

serverLife(`node ${process.version}`, process.execPath)

/** Below those that systems give to connections (Linux: from 32,768 on): no other program takes one between a close and the look behind it. */
let lastPort = 20_000 + process.pid % 10_000

/** Begins on a port that nothing else has. */
async function onOwnPort (begin) {
  for (;;) {
    lastPort++
    try {
      return await begin(lastPort)
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error
    }
  }
}

/** Servers of each form, and how they are closed. */
const closing = {
  serve (port) {
    const server = serve({ hostname: '127.0.0.1', port, tls: { cert, key }, http3: true, fetch: () => new Lean('') })
    return [server.port, () => server.close()]
  },
  async createServer (port) { return await listening(createServer(), port) },
  async createSecureServer (port) { return await listening(createSecureServer({ cert, key, http3: true }), port) }
}

async function listening (server, port) {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return [server.address().port, () => new Promise(resolve => { server.close(resolve) })]
}

for (const [form, make] of Object.entries(closing)) {
  test(`${form}: where a server says that it has closed, its ports are free`, async () => {
    for (let round = 0; round < 50; round++) {
      const [port, close] = await onOwnPort(make)
      await close()
      const ports = [net.createServer().listen(port, '127.0.0.1')]
      // Over UDP another program may have the number where the server has no HTTP/3.
      if (form !== 'createServer') ports.push(dgram.createSocket('udp4').bind(port, '127.0.0.1'))
      await Promise.all(ports.map(port => once(port, 'listening'))).finally(() => { for (const port of ports) port.close() })
    }
  })
}

/** A certificate for one name. */
function identityOf (name) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'))
  try {
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
      '-keyout', keyFile, '-out', certFile, '-days', '2', '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`], { stdio: 'ignore' })
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The name on the certificate that a client sees which asks for `servername`. */
function displayed (port, servername) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

test('certificates are chosen by the name that is asked for, and replaced while the server runs', async t => {
  const [one, other, wild] = ['one.test', 'other.test', '*.wild.test'].map(identityOf)
  const server = serveFor(t, {
    tls: { cert, key, names: { 'one.test': one, '*.wild.test': wild } },
    fetch: () => new Lean('')
  })
  assert.equal(await displayed(server.port, 'localhost'), 'trunkline-test')
  assert.equal(await displayed(server.port, 'one.test'), 'one.test')
  assert.equal(await displayed(server.port, 'a.wild.test'), '*.wild.test')
  server.setIdentity(other, 'other.test')
  assert.equal(await displayed(server.port, 'other.test'), 'other.test')
  server.setIdentity(other)
  assert.equal(await displayed(server.port, 'localhost'), 'other.test')
  assert.equal(await displayed(server.port, 'one.test'), 'one.test')
  assert.throws(() => { server.setIdentity({ cert, key: other.key }) }, /cannot be used together/)
  assert.throws(() => { server.setIdentity(other, 'elsewhere.test') }, /is not for "elsewhere\.test"/)
  assert.equal(await displayed(server.port, 'localhost'), 'other.test')
})

test('a request for another host than the connection is misdirected where names bind', async t => {
  const server = serveFor(t, {
    tls: { cert, key, sniIsBinding: true },
    fetch: request => new Lean(new URL(request.url).hostname)
  })
  const ask = host => new Promise((resolve, reject) => {
    let printed = ''
    const socket = connect({ port: server.port, host: '127.0.0.1', servername: 'localhost', ca: cert }, () => {
      socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    })
    socket.on('data', chunk => { printed += chunk }).on('end', () => { resolve(printed.slice(9, 12)) }).on('error', reject)
  })
  assert.equal(await ask('localhost'), '200')
  assert.equal(await ask('other.test'), '421')
})

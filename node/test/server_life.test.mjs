// The life of servers: processes and workers that end, ports that are shared, certificates that
// change. What may crash runs in a process of its own.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { connect } from 'node:tls'
import { Response as Lean, serve } from 'trunkline'
import { cert, key } from './support/certificate.mjs'
import { lines, run } from './support/lines.mjs'

const programs = { [`node ${process.version}`]: process.execPath, ...lines }

for (const [line, program] of Object.entries(programs)) {
  test(`${line}: a server holds the process until it is closed, or let go of`, async () => {
    const ended = await run(program, 'life/serve-idle.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'closed'], ended.stderr)
  })
  test(`${line}: process.exit under load is clean`, async () => {
    for (let round = 0; round < 3; round++) {
      const ended = await run(program, 'life/serve-exit.mjs')
      assert.deepEqual([ended.code, ended.signal], [7, null], ended.stderr)
    }
  })
  test(`${line}: a pipe is no file, and holds nobody up who answers or exits`, async () => {
    const ended = await run(program, 'life/pipe.mjs')
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [7, null, 'EINVAL'], ended.stderr)
  })
  test(`${line}: a worker that ends does not wait for a file that is being opened`, { skip: process.platform !== 'linux' }, async () => {
    // The kernel takes a lease away after 45 s, and a process here has 30.
    const ended = await run(program, 'life/leased.mjs')
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, 'asked for\nthe worker has ended'], ended.stderr)
  })
  for (const form of ['serve', 'createServer', 'createSecureServer']) {
    test(`${line}: ${form}: workers share a port, and those that are terminated leave the others alone`, async () => {
      const ended = await run(program, 'life/serve-workers.mjs', { args: [form] })
      assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, '4 serve\nmain still serves'], ended.stderr)
    })
    test(`${line}: ${form}: processes of a cluster share a port, and one that goes leaves it to the others`, async () => {
      const ended = await run(program, 'life/serve-cluster.mjs', { args: [form] })
      assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, '2 processes serve'], ended.stderr)
    })
  }
  test(`${line}: while JavaScript stands still nothing more is read, and all is answered after`, async () => {
    const ended = await run(program, 'life/serve-behind.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'little is held\n[["1048576",40]]\nclosed'], ended.stderr)
  })
  test(`${line}: a panic of the engine ends its servers and what is open on them, and the process lives`, async () => {
    const ended = await run(program, 'life/serve-panic.mjs')
    assert.deepEqual([ended.code, ended.stdout], [0, 'aborted\nuncaught of the first server\nclosed\nUND_ERR_ENGINE_ENDED'], ended.stderr)
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
function shown (port, servername) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

test('certificates are chosen by the name that is asked for, and replaced while the server runs', async () => {
  const [one, other, wild] = ['one.test', 'other.test', '*.wild.test'].map(identityOf)
  const server = serve({
    hostname: '127.0.0.1',
    tls: { cert, key, names: { 'one.test': one, '*.wild.test': wild } },
    fetch: () => new Lean('')
  })
  assert.equal(await shown(server.port, 'localhost'), 'trunkline-test')
  assert.equal(await shown(server.port, 'one.test'), 'one.test')
  assert.equal(await shown(server.port, 'a.wild.test'), '*.wild.test')
  server.setIdentity(other, 'other.test')
  assert.equal(await shown(server.port, 'other.test'), 'other.test')
  server.setIdentity(other)
  assert.equal(await shown(server.port, 'localhost'), 'other.test')
  assert.equal(await shown(server.port, 'one.test'), 'one.test')
  assert.throws(() => { server.setIdentity({ cert, key: other.key }) }, /cannot be used together/)
  assert.throws(() => { server.setIdentity(other, 'elsewhere.test') }, /is not for "elsewhere\.test"/)
  assert.equal(await shown(server.port, 'localhost'), 'other.test')
  await server.destroy()
})

test('a request for another host than the connection is misdirected where names bind', async () => {
  const server = serve({
    hostname: '127.0.0.1',
    tls: { cert, key, sniIsBinding: true },
    fetch: request => new Lean(new URL(request.url).hostname)
  })
  const ask = host => new Promise((resolve, reject) => {
    let said = ''
    const socket = connect({ port: server.port, host: '127.0.0.1', servername: 'localhost', ca: cert }, () => {
      socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    })
    socket.on('data', chunk => { said += chunk }).on('end', () => { resolve(said.slice(9, 12)) }).on('error', reject)
  })
  assert.equal(await ask('localhost'), '200')
  assert.equal(await ask('other.test'), '421')
  await server.destroy()
})

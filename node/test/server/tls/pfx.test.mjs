// Servers whose certificate and key are in a PFX file, as openssl writes them with the ciphers in use.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer, serve } from 'trunkline'
import { authority } from '../../support/certificates/authority.mjs'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-pfx-'))
test.after(() => { rmSync(folder, { recursive: true, force: true }) })
const root = authority('root')
const between = authority('between', root)
const own = between.issue('localhost', 'subjectAltName=DNS:localhost')
const PASSPHRASE = 'grüße'

/** A PFX file with the certificate, the one between and the key, made with these arguments. */
function pfx (...args) {
  for (const [name, text] of Object.entries({ 'own.crt': own.cert, 'own.key': own.key, 'between.crt': between.cert })) writeFileSync(join(folder, name), text)
  execFileSync('openssl', ['pkcs12', '-export', '-in', 'own.crt', '-inkey', 'own.key', '-certfile', 'between.crt', '-out', 'own.pfx', '-passout', 'stdin', ...args], { cwd: folder, input: PASSPHRASE, stdio: ['pipe', 'ignore', 'pipe'] })
  return readFileSync(join(folder, 'own.pfx'))
}
const TRIPLE_DES = 'PBE-SHA1-3DES'
const files = {
  'AES of 256 bits': pfx(),
  'AES of 192 bits': pfx('-keypbe', 'AES-192-CBC', '-certpbe', 'AES-192-CBC'),
  'AES of 128 bits': pfx('-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC'),
  'triple DES': pfx('-keypbe', TRIPLE_DES, '-certpbe', TRIPLE_DES, '-macalg', 'sha1'),
  'no cipher': pfx('-keypbe', 'NONE', '-certpbe', 'NONE'),
  'a cipher for the key alone': pfx('-certpbe', 'NONE')
}

// At the end of a test its server may end first, and cut it off.
const connect = (port, client) => tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: root.cert, ...client }).on('error', () => {})

/** Whether who trusts the root alone trusts the server, and by which name. */
async function displayed (t, options) {
  const server = createSecureServer({ allowHTTP1: true, ...options })
  t.after(() => { server.compatServer.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(server.address().port)
  t.after(() => { socket.destroy() })
  await once(socket, 'secureConnect')
  return [socket.authorized, socket.getPeerCertificate().subject.CN]
}

for (const [cipher, file] of Object.entries(files)) {
  test(`a file with ${cipher} gives its chain and its key`, async t => {
    assert.deepEqual(await displayed(t, { pfx: file, passphrase: PASSPHRASE }), [true, 'localhost'])
  })
}

test('a file may come with its passphrase, and in a list', async t => {
  assert.deepEqual(await displayed(t, { pfx: [{ buf: files['AES of 256 bits'], passphrase: PASSPHRASE }] }), [true, 'localhost'])
})

test('serve takes a file too, and another one later', async t => {
  const tls = { pfx: files['AES of 256 bits'], passphrase: PASSPHRASE }
  const server = serve({ hostname: '127.0.0.1', fetch: () => new Response(''), tls })
  t.after(() => server.destroy())
  const names = async () => {
    const socket = connect(server.port)
    t.after(() => { socket.destroy() })
    await once(socket, 'secureConnect')
    return [socket.authorized, socket.getPeerCertificate().subject.CN]
  }
  assert.deepEqual(await names(), [true, 'localhost'])
  server.setIdentity({ pfx: files['triple DES'], passphrase: PASSPHRASE })
  assert.deepEqual(await names(), [true, 'localhost'])
  assert.throws(() => serve({ fetch () {}, tls: { ...tls, passphrase: 'other' } }))
  assert.throws(() => serve({ fetch () {}, tls: {} }), /cert and key in PEM, or pfx/)
})

test('clients are believed by the roots in a file, and by nobody between', async t => {
  const other = authority('other')
  writeFileSync(join(folder, 'more.crt'), `${between.cert}\n${other.cert}`)
  const file = pfx('-certfile', 'more.crt')
  const server = createSecureServer({ allowHTTP1: true, pfx: file, passphrase: PASSPHRASE, requestCert: true }, (request, response) => { response.end('hello') })
  t.after(() => { server.compatServer.destroy() })
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const answered = async client => {
    const socket = connect(server.address().port, client)
    t.after(() => { socket.destroy() })
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    let printed = ''
    socket.on('data', data => { printed += data })
    await new Promise(resolve => { socket.once('close', resolve) })
    return printed.endsWith('hello')
  }
  assert.equal(await answered(other.issue('one')), true)
  assert.equal(await answered(between.issue('two')), false)
})

test('a passphrase that is wrong is refused, and so is a file that is cut off', () => {
  for (const file of Object.values(files)) {
    assert.throws(() => createSecureServer({ pfx: file, passphrase: 'other' }))
    for (const length of [0, 1, 2, 40, file.length >> 1, file.length - 1]) {
      assert.throws(() => createSecureServer({ pfx: file.subarray(0, length), passphrase: PASSPHRASE }))
    }
  }
})

test('a file with a cipher that is not known here is refused with what to do', () => {
  const file = pfx('-keypbe', 'PBE-SHA1-2DES', '-certpbe', TRIPLE_DES)
  assert.throws(() => createSecureServer({ pfx: file, passphrase: PASSPHRASE }), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', message: /neither AES nor triple DES.*openssl pkcs12/ })
})

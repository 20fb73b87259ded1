// TLS settings from the environment, each in a process of its own.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { certFile } from '../../support/certificates/certificate.mjs'
import { run } from '../../support/lines/lines.mjs'

const NOT_VERIFIED = "Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable to '0' makes TLS connections and HTTPS requests insecure by disabling certificate verification."

const ask = async (env, program = 'environment') => {
  const ended = await run(process.execPath, `life/client/${program}.mjs`, { env: { NODE_EXTRA_CA_CERTS: '', NODE_TLS_REJECT_UNAUTHORIZED: '', ...env } })
  assert.deepEqual([ended.code, ended.signal], [0, null], ended.stderr)
  return ended.stdout.split('\n')
}

test('what turns verification off is warned of once, in the words of Node.js, when an https origin is used', async () => {
  assert.deepEqual(await ask({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }), ['http 200', 'https 200', 'https 200', 'explicit DEPTH', `warning ${NOT_VERIFIED}`])
})

test('without it nothing is warned of, and an authority that nobody named is not believed', async () => {
  assert.deepEqual(await ask({}), ['http 200', 'https DEPTH', 'https DEPTH', 'explicit DEPTH'])
})

test('certificates are verified or not as the environment says when a dispatcher is first used, and not when it is made', async () => {
  const all = ['Agent', 'Pool', 'Client', 'ProxyAgent', 'EnvHttpProxyAgent']
  const events = name => name.endsWith('ProxyAgent') ? [] : [`set later: ${name} connected`]
  assert.deepEqual(await ask({}, 'environment_later'), [
    ...all.flatMap(name => [...events(name), `set later: ${name} 200`]),
    'set later: Agent that verifies refused',
    ...[...all, 'Agent that verifies'].map(name => `deleted later: ${name} refused`),
    `warning ${NOT_VERIFIED}`
  ])
})

test('certificates are verified or not as the environment says when a request is made: what was not verified carries none that is to be', async () => {
  const kinds = ['Agent', 'Pool', 'Client', 'ProxyAgent', 'EnvHttpProxyAgent']
  // Set; removed, by two requests and a fetch; the end of one that began at first; set; removed.
  const changes = version => [
    ...kinds.map(kind => `${version} ${kind} 200 refused refused refused begun and ended 200 refused all disconnected`),
    `${version} Agent that verifies refused refused refused refused refused refused all disconnected`,
    `${version} Agent that does not 200 200 200 200 begun and ended 200 200 all disconnected`
  ]
  assert.deepEqual(await ask({}, 'environment_changed'), [
    ...changes('h1'), ...changes('h2'),
    ...kinds.map(kind => `verified at first: ${kind} refused 200`),
    'verified at first: Agent that verifies refused refused',
    'verified at first: Agent that does not 200 200'
  ])
})

test('authorities of NODE_EXTRA_CA_CERTS are believed', async () => {
  assert.deepEqual(await ask({ NODE_EXTRA_CA_CERTS: certFile }), ['http 200', 'https 200', 'https 200', 'explicit 200'])
})

test('a file of NODE_EXTRA_CA_CERTS that cannot be used is warned of once and ignored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-extra-'))
  const files = {
    absent: [join(folder, 'absent.pem'), /^warning Ignoring extra certs from `.*absent\.pem`, load failed: ENOENT/],
    empty: [join(folder, 'empty.pem'), /^warning Ignoring extra certs from `.*empty\.pem`, load failed: no certificate in PEM$/],
    broken: [join(folder, 'broken.pem'), /^warning Ignoring extra certs from `.*broken\.pem`, load failed: /]
  }
  writeFileSync(files.empty[0], 'nothing\n')
  writeFileSync(files.broken[0], '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  try {
    for (const [file, words] of Object.values(files)) {
      const printed = await ask({ NODE_EXTRA_CA_CERTS: file })
      assert.deepEqual(printed.slice(0, 4), ['http 200', 'https DEPTH', 'https DEPTH', 'explicit DEPTH'])
      assert.equal(printed.length, 5)
      assert.match(printed[4], words)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

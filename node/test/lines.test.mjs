// What the tests of undici say on this Node is true on the other lines, whose fetch is another one.
import assert from 'node:assert/strict'
import test from 'node:test'
import { certFile } from './support/certificate.mjs'
import { lines, run } from './support/lines.mjs'

for (const [line, program] of Object.entries(lines)) {
  test(`${line}: its own fetch over h2, decompression and abort`, async () => {
    const ended = await run(program, 'support/fetch-global.mjs', { env: { NODE_EXTRA_CA_CERTS: certFile } })
    assert.deepEqual([ended.code, ended.stdout], [0, 'ok'], ended.stderr)
  })
  test(`${line}: every undici over every protocol`, async () => {
    const ended = await run(program, 'undici.test.mjs', { limit: 60_000 })
    assert.equal(ended.code, 0, ended.stderr + ended.stdout)
    assert.match(ended.stdout, /pass [1-9]/)
  })
}

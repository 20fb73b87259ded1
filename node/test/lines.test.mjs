// What the tests that use undici say on this Node is true on the other lines, whose fetch is another.
import assert from 'node:assert/strict'
import test from 'node:test'
import { certFile } from './support/certificate.mjs'
import { lines, run } from './support/lines.mjs'

/** What differs from line to line, and what is promised on each of them. */
const FILES = ['undici', 'undici_parts', 'refusals', 'channels', 'connections', 'multiplexing', 'dispatch', 'uploads'].map(name => `${name}.test.mjs`)

for (const [line, program] of Object.entries(lines)) {
  test(`${line}: its own fetch over h2, decompression and abort`, async () => {
    const ended = await run(program, 'support/fetch-global.mjs', { env: { NODE_EXTRA_CA_CERTS: certFile } })
    assert.deepEqual([ended.code, ended.stdout], [0, 'ok'], ended.stderr)
  })
  for (const file of FILES) {
    test(`${line}: every test of ${file}`, async () => {
      const ended = await run(program, file, { limit: 60_000 })
      assert.equal(ended.code, 0, ended.stderr + ended.stdout)
      assert.match(ended.stdout, /pass [1-9]/)
    })
  }
}

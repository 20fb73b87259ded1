// What the tests that use undici say on this Node is true on the other lines, whose fetch is another.
// Each line has a file, so that none takes long.
import assert from 'node:assert/strict'
import test from 'node:test'
import { certFile } from './certificate.mjs'
import { lines, run } from './lines.mjs'

/** What differs from line to line, and what is promised on each of them. */
const FILES = ['undici', 'undici_parts', 'refusals', 'channels', 'connections', 'multiplexing', 'dispatch', 'uploads'].map(name => `${name}.test.mjs`)

/** Every test of those files on one line. */
export function onLine (line) {
  const program = lines[line]
  const skip = program === undefined && 'this Node is of that line, or it is not installed'
  test(`${line}: its own fetch over h2, decompression and abort`, { skip }, async () => {
    const ended = await run(program, 'support/fetch-global.mjs', { env: { NODE_EXTRA_CA_CERTS: certFile } })
    assert.deepEqual([ended.code, ended.stdout], [0, 'ok'], ended.stderr)
  })
  for (const file of FILES) {
    test(`${line}: every test of ${file}`, { skip }, async () => {
      const ended = await run(program, file, { limit: 60_000 })
      assert.equal(ended.code, 0, ended.stderr + ended.stdout)
      assert.match(ended.stdout, /pass [1-9]/)
    })
  }
}

// Tests of this Node, run on the other lines, whose fetch differs. Each group of tests has a file,
// and `make test` gives each line a process of its own.
import assert from 'node:assert/strict'
import test, { describe } from 'node:test'
import { certFile } from '../certificates/certificate.mjs'
import { life } from './life.mjs'
import { lines, run } from './lines.mjs'
import { serverLife } from './server_life.mjs'

/** The tests whose result depends on the line. */
const OF_UNDICI = ['client/undici/undici', 'client/undici/parts', 'client/requests/refusals', 'client/undici/channels', 'client/requests/calls', 'client/requests/answers', 'serve/request', 'serve/response']
const OF_FETCH = ['fetch/own', 'fetch/global']
/** The files whose tests run on the oldest and the newest line. Those of life do too, by other means. */
export const ON_OUTERMOST_LINES = [...OF_UNDICI, ...OF_FETCH]
/** How long the tests of a file may take, on a busy machine too. */
const FILE_MS_MAX = 500_000
/** How long one of them may take: what stands still is named before the time of its file is over. */
const TRUNKLINE_TEST_MS_MAX = '250000'
/** As the runner runs a file: a test that stands still is named, and failures are printed briefly. */
const FLAGS = [`--import=${new URL('../ends.mjs', import.meta.url)}`, `--test-reporter=${new URL('../reporter.mjs', import.meta.url)}`]

/** Why nothing is asked of a line. */
const absent = line => lines[line] === undefined && 'this Node is of that line, or it is not installed'

/** Everything that uses undici, and the built-in fetch, on one line. */
export function undiciOnLine (line) {
  test(`${line}: its own fetch over h2, decompression and abort`, { skip: absent(line) }, async () => {
    const ended = await run(lines[line], 'support/clients/fetch-global.mjs', { env: { NODE_EXTRA_CA_CERTS: certFile } })
    assert.deepEqual([ended.code, ended.stdout], [0, 'ok'], ended.stderr)
  })
  filesOnLine(line, OF_UNDICI)
}

/** The tests of this package's fetch on one line. */
export function fetchOnLine (line) { filesOnLine(line, OF_FETCH) }

function filesOnLine (line, names) {
  for (const name of names) {
    test(`${line}: every test of ${name}`, { skip: absent(line) }, async () => {
      const ended = await run(lines[line], `${name}.test.mjs`, { limit: FILE_MS_MAX, flags: FLAGS, env: { TRUNKLINE_TEST_MS_MAX } })
      // Failing tests first: what is printed of a message is its beginning.
      const failed = ended.stdout.slice(Math.max(0, ended.stdout.indexOf('FAILED ')))
      assert.equal(ended.code, 0, `${failed}\n${ended.stderr}`)
      assert.match(ended.stdout, /: [1-9]\d* passed/)
    })
  }
}

/** The tests of processes on one line. */
export function lifeOnLine (line) {
  const skip = absent(line)
  describe(`${line}, life`, { skip }, () => { life(line, lines[line]) })
  describe(`${line}, life of servers`, { skip }, () => { serverLife(line, lines[line]) })
}

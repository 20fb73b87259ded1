// Transfers over TLS and QUIC that end with their process or worker, and such as are read slowly.
import assert from 'node:assert/strict'
import test from 'node:test'
import { lines, OUTERMOST, run } from '../../support/lines/lines.mjs'
import { origin } from '../../support/servers/servers.mjs'

/** Bytes of a download into a slow reader: more than any window, and more still in `make ready`. */
const DOWNLOAD_BYTES = process.env.TRUNKLINE_LONG === '1' ? 2 ** 30 : 2 ** 26
/**
 * Bytes of such a download that may be on their way: what the server's connection holds (16 MiB over a path of any
 * length), what sockets hold (6 MiB and 4 MiB at most on Linux), and what this side's windows and streams let it send.
 */
const ON_THE_WAY_MAX = 32 * 2 ** 20
const server = await origin()
test.after(() => server.close())

const programs = [[`node ${process.version}`, process.execPath], ...OUTERMOST.filter(line => lines[line] !== undefined).map(line => [line, lines[line]])]

for (const [line, program] of programs) {
  for (const protocol of ['h2', 'h3']) {
    for (const way of ['exit', 'terminate']) {
      test(`${line}: ${way} in the middle of uploads and downloads over ${protocol} is clean`, async () => {
        const ended = await run(program, 'life/transfers/secure-exit.mjs', { args: [server.https, protocol, way] })
        assert.deepEqual([ended.code, ended.signal], [7, null], ended.stderr)
      })
    }
  }
}

for (const protocol of ['h1', 'h2', 'h3']) {
  test(`a large download over ${protocol} into a slow reader is held where it comes from`, async () => {
    const ended = await run(process.execPath, 'life/transfers/slow-reader.mjs', { args: [server.https, protocol, DOWNLOAD_BYTES], limit: 115_000 })
    assert.equal(ended.code, 0, ended.stderr)
    assert.ok(Number(ended.stdout) < ON_THE_WAY_MAX, `${ended.stdout} bytes were on their way`)
  })
}

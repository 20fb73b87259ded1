// Transfers over TLS and QUIC that end with their process or worker, such as are read slowly, and of sizes around a window.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { Agent, createSecureServer, request } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'
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

/** Around the least window of a stream, around its first step, and beyond what is granted at once. */
const SIZES = [0, 1, 65_535, 65_536, 65_537, 100_000, 262_144, 2 ** 20]

// nghttp2, which is within node:http2, sends the end of a stream behind its last bytes only while the window has room.
for (const hasLength of [true, false]) {
  const length = hasLength ? 'with a length' : 'without a length'

  test(`bodies of every size ${length} come whole from node:http2, the end written behind them`, { timeout: 60_000 }, async t => {
    const node = http2.createSecureServer({ cert, key }, ({ url }, response) => {
      const body = Buffer.alloc(Number(url.slice(1)), 'b')
      if (hasLength) response.setHeader('content-length', body.length)
      response.end(body)
    }).listen(0, '127.0.0.1')
    await once(node, 'listening')
    const agent = new Agent({ connect: { ca: cert } })
    t.after(async () => { await agent.destroy(); node.close() })
    for (const size of SIZES) {
      const { body } = await request(`https://localhost:${node.address().port}/${size}`, { dispatcher: agent })
      assert.equal((await body.arrayBuffer()).byteLength, size)
    }
  })

  test(`bodies of every size ${length} go whole from node:http2 to a server, the end written behind them`, { timeout: 60_000 }, async t => {
    const ours = createSecureServer({ cert, key }, async (incoming, response) => {
      let bytes = 0
      for await (const piece of incoming) bytes += piece.length
      response.end(String(bytes))
    }).listen(0, '127.0.0.1')
    await once(ours, 'listening')
    const session = http2.connect(`https://localhost:${ours.address().port}`, { ca: cert })
    t.after(() => { session.destroy(); ours.close() })
    for (const size of SIZES) {
      const stream = session.request({ ':method': 'POST', ...hasLength && { 'content-length': size } })
      stream.write(Buffer.alloc(size, 'b'), () => { stream.end() })
      assert.equal(await text(stream), String(size))
    }
  })
}

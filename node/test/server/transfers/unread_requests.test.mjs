// Listeners that answer requests without reading their bodies, as one does that refuses an upload: the answer is whole, its events come, and
// the connection goes on with the next request, however long the body and the answer are and however the answer is given.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { Agent, createSecureServer, Response, serve } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const VERSIONS = { 'HTTP/1.1': { allowH2: false }, 'HTTP/2': { allowH2: true }, 'HTTP/3': { http3: 'only' } }
/** Below and beyond what the engine, the server and the sockets hold of a body that nothing reads, and of an answer. */
const BODY_BYTES = [1_000, 300_000, 3_000_000]
const ANSWER_BYTES = [10, 70_000, 1_000_000]
const ANSWERS = {
  'by end': (response, answer) => { response.end(answer) },
  'with its length by end': (response, answer) => { response.setHeader('content-length', answer.length); response.end(answer) },
  'by write and end': (response, answer) => { response.write(answer); response.end() },
  'by a stream': (response, answer) => { Readable.from([answer.subarray(0, 5), answer.subarray(5)], { objectMode: false }).pipe(response) }
}

for (const requests of ['http2', 'http']) {
  for (const [version, options] of Object.entries(VERSIONS)) {
    for (const [way, give] of Object.entries(ANSWERS)) {
      test(`requests of node:${requests} over ${version} that are answered ${way} and not read leave their connection to the next`, { timeout: 60_000 }, async t => {
        const finished = []
        const server = createSecureServer({ cert, key, allowHTTP1: true, http3: true, requests }, (request, response) => {
          request.on('error', () => {})
          finished.push(once(response, 'finish'))
          give(response, Buffer.alloc(Number(new URL(request.url, 'https://localhost').searchParams.get('answer')), 'x'))
        })
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const agent = new Agent({ connect: { ca: cert }, connections: 1, ...options })
        t.after(async () => {
          await agent.destroy()
          await new Promise(resolve => { server.close(resolve) })
        })
        const origin = `https://localhost:${server.address().port}`
        for (const length of BODY_BYTES) {
          for (const expected of ANSWER_BYTES) {
            const { body } = await agent.request({ origin, path: `/?answer=${expected}`, method: 'POST', body: Buffer.alloc(length) })
            assert.equal((await text(body)).length, expected, `an answer to ${length} bytes`)
          }
        }
        await Promise.all(finished)
      })
    }
  }
}

/** More than the window of a connection grows to in the meantime, at 64 KiB that a server holds of each. */
const UNREAD = 200
const GIVEN = {
  whole: bytes => new Response(Buffer.alloc(bytes, 'x')),
  'by a stream': bytes => new Response(new ReadableStream({ start (controller) { controller.enqueue(new Uint8Array(bytes)); controller.close() } }))
}

for (const [version, options] of Object.entries(VERSIONS)) {
  for (const [way, give] of Object.entries(GIVEN)) {
    test(`requests to serve over ${version} that are answered ${way} and not read hold no room of their connection`, { timeout: 60_000 }, async t => {
      const server = serve({
        port: 0,
        http3: true,
        tls: { cert, key },
        async fetch (request) {
          if (new URL(request.url).pathname === '/read') return new Response(String((await request.arrayBuffer()).byteLength))
          return give(ANSWER_BYTES[1])
        }
      })
      const agent = new Agent({ connect: { ca: cert }, ...options })
      t.after(async () => {
        await agent.destroy()
        await server.stop(true)
      })
      const ask = async (path, length) => {
        const { body } = await agent.request({ origin: `https://localhost:${server.port}`, path, method: 'POST', body: Buffer.alloc(length) })
        return await text(body)
      }
      const answers = await Promise.all(Array.from({ length: UNREAD }, () => ask('/', BODY_BYTES[1])))
      assert.deepEqual(answers.map(answer => answer.length), new Array(UNREAD).fill(ANSWER_BYTES[1]))
      assert.equal(await ask('/read', BODY_BYTES[2]), String(BODY_BYTES[2]))
    })
  }
}

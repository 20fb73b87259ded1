// Answers that wait for a client which takes no more of them and then resets its stream without an error, as `close()` of
// node:http2 and the destroyed body of a fetch do: the stream closes, as with node:http2, whose server is asked too.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import { createServer } from 'trunkline'

const PIECE = Buffer.alloc(30_000)
/** More than a client's window and what a server buffers. */
const PIECES = 10

function write (to) {
  for (let piece = 0; piece < PIECES; piece++) to.write(PIECE)
  to.end()
}
const ANSWERS = {
  'the compatible API': (_, response) => { write(response) },
  'the API of streams': ({ stream }) => {
    stream.respond({ ':status': 200 })
    write(stream)
  }
}
const SERVERS = { 'node:http2': () => http2.createServer(), ours: () => createServer() }

for (const [api, answer] of Object.entries(ANSWERS)) {
  for (const [whose, make] of Object.entries(SERVERS)) {
    for (const method of ['GET', 'POST']) {
      test(`the stream of an answer to ${method} by ${api} that its client resets without an error closes, server: ${whose}`, { timeout: 30_000 }, async t => {
        const server = make()
        const events = []
        let closed
        const isClosed = new Promise(resolve => { closed = resolve })
        server.on('request', (request, response) => {
          request.resume()
          for (const event of ['aborted', 'error', 'close']) request.on(event, () => { events.push(`request ${event}`) })
          for (const event of ['error', 'close']) response.on(event, () => { events.push(`response ${event}`) })
          request.stream.on('close', closed)
          answer(request, response)
        })
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        t.after(() => { server.close() })
        const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
        t.after(() => { session.destroy() })
        const stream = session.request({ ':method': method })
        stream.end()
        await once(stream, 'response')
        stream.close()
        await isClosed
        assert.deepEqual(events, ['request close', 'response close'])
      })
    }
  }
}

// The last bytes of a request that come with its reset, as readers of every kind get them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { createServer, serve } from 'trunkline'
import { readers } from '../../support/readers.mjs'
import { DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, SETTINGS, codes, frame, numbers } from '../../support/servers/h2_frames.mjs'
import { connecting } from '../../support/servers/wire.mjs'

const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, Buffer.alloc(0))])
/** `POST http://a/` (RFC 7541 appendix A). */
const POST = Buffer.from([0x83, 0x86, 0x84, 0x41, 1, 0x61])
const data = (flags, text) => frame(DATA, flags, 1, Buffer.from(text))

/** Servers by the handler that reads: each calls `handle` with what is read. */
const apis = {
  request: handle => createServer((request, response) => { response.on('error', () => {}); handle(request) }),
  "request of node:http's": handle => createServer({ requests: 'http' }, (request, response) => { response.on('error', () => {}); handle(request) }),
  stream: handle => createServer().on('stream', stream => { stream.on('error', () => {}); handle(stream) })
}

/** Plays a request whose last bytes come with a reset of each code to the server of `port`; `next` begins to wait for a
 * handler, and gives what it read by its first bytes and by its end. */
async function play (port, next, last, assertRead) {
  for (const code of codes) {
    const { begun, read } = next()
    const { socket } = await connecting(port, false, 'h2')
    socket.resume().write(Buffer.concat([PREFACE, frame(HEADERS, END_HEADERS, 1, POST), data(0, 'hel')]))
    await begun
    socket.write(Buffer.concat([last, frame(RST_STREAM, 0, 1, numbers(code))]))
    assertRead(await read, code)
    socket.destroy()
  }
}

/** Reads requests: `next` as `play` has it, `handle` for its server. */
function watched (reader) {
  let handle
  const next = () => {
    let begin
    const begun = new Promise(resolve => { begin = resolve })
    const read = new Promise(resolve => {
      handle = async stream => {
        let text = ''
        const take = chunk => { text += Buffer.from(chunk); begin() }
        resolve(await reader(stream, take).then(() => ['whole', text], () => ['cut', text]))
      }
    })
    return { begun, read }
  }
  return { next, handle: stream => handle(stream) }
}

for (const [api, started] of Object.entries(apis)) {
  for (const [name, reader] of Object.entries(readers)) {
    test(`${name} of a ${api} get the end of a request that came whole with its reset, and the last bytes of one that did not`, async t => {
      const { next, handle } = watched(reader)
      const server = started(handle)
      t.after(() => { server.close() })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address()
      await play(port, next, data(END_STREAM, 'lo'), (read, code) => { assert.deepEqual(read, ['whole', 'hello'], `code ${code}`) })
      await play(port, next, data(0, 'lo'), (read, code) => { assert.deepEqual(read, ['cut', 'hello'], `code ${code}`) })
    })
  }
}

test('an iterator of a body of serve gets the end of a request that came whole with its reset, and the last bytes of one that did not', async t => {
  const { next, handle } = watched(readers['an iterator'])
  const server = serve({ hostname: '127.0.0.1', port: 0, async fetch (request) { await handle(request.body); return new Response() } })
  t.after(() => server.stop(true))
  await play(server.port, next, data(END_STREAM, 'lo'), (read, code) => { assert.deepEqual(read, ['whole', 'hello'], `code ${code}`) })
  await play(server.port, next, data(0, 'lo'), (read, code) => { assert.deepEqual(read, ['cut', 'hello'], `code ${code}`) })
})

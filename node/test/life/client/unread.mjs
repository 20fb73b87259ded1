// Unread bodies hold no process, as with undici, where the socket is not read then; one that is read on holds it.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { Agent, fetch, request } from 'trunkline'

const BYTES = 3 << 20
const server = createServer((_, response) => { response.end(Buffer.alloc(BYTES)) })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
server.unref()
server.on('connection', socket => { socket.unref() })
const url = `http://127.0.0.1:${server.address().port}/`
const dispatchers = ['inline', 'threads'].map(engine => new Agent({ engine }))
for (const dispatcher of dispatchers) {
  const { body } = await request(url, { dispatcher })
  // It waits until more has come than is read ahead: a reader that comes later holds the process again, until the end.
  while (body.readableLength < body.readableHighWaterMark) await new Promise(resolve => { setImmediate(resolve) })
  console.log((await body.arrayBuffer()).byteLength === BYTES)
}
for (const dispatcher of dispatchers) console.log((await request(url, { dispatcher })).statusCode, (await fetch(url, { dispatcher })).status)

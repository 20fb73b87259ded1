// Heads longer than what a request's text may take in memory that both sides share: no message stops
// the servers of a thread.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect } from 'node:net'
import test from 'node:test'
import { createServer, serve } from 'trunkline'

const FIELDS = 30
const FIELD_BYTES = 40_000
const MEBI = 1 << 20
const limits = { headBytesMax: 4 * MEBI, fieldSectionBytesMax: 4 * MEBI, headerBlockBytesMax: 4 * MEBI, continuationsMax: 1000 }
const settings = { maxHeaderListSize: 4 * MEBI }

/** The long head as a handler sees it. */
const seen = fields => [...fields].filter(([name]) => name.startsWith('x-long')).reduce((sum, [, value]) => sum + value.length, 0)

const servers = {
  async createServer () {
    const server = createServer({ limits, settings, maxHeaderListPairs: 200 }, (request, response) => { response.end(String(seen(Object.entries(request.headers)))) })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return [server.address().port, () => { server.close(); server.compatServer.destroy() }]
  },
  async serve () {
    const server = serve({ hostname: '127.0.0.1', limits, fetch: request => new Response(String(seen(request.headers))) })
    return [server.port, () => server.destroy()]
  }
}

const clients = {
  async h1 (port, fields) {
    const socket = connect(port, '127.0.0.1')
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${lines.join('')}\r\n`)
    let text = ''
    for await (const piece of socket) text += piece
    return [Number(text.slice(9, 12)), text.slice(text.indexOf('\r\n\r\n') + 4).replace(/^[0-9a-f]+\r\n|\r\n0?(\r\n)*/g, '')]
  },
  async h2 (port, fields) {
    const session = http2.connect(`http://127.0.0.1:${port}`, { maxSendHeaderBlockLength: 4 * MEBI })
    const stream = session.request({ ':path': '/', ...fields })
    const [head] = await once(stream, 'response')
    let text = ''
    for await (const piece of stream) text += piece
    session.destroy()
    return [head[':status'], text]
  }
}

for (const [name, make] of Object.entries(servers)) {
  for (const [version, ask] of Object.entries(clients)) {
    test(`${version}, ${name}: a head of 1.2 MB that the limits allow is heard whole, and the next request too`, async t => {
      const [port, end] = await make()
      t.after(end)
      const fields = Object.fromEntries(Array.from({ length: FIELDS }, (_, index) => [`x-long-${index}`, 'v'.repeat(FIELD_BYTES)]))
      assert.deepEqual(await ask(port, fields), [200, String(FIELDS * FIELD_BYTES)])
      assert.deepEqual(await ask(port, { 'x-long': 'four' }), [200, '4'])
    })
  }
}

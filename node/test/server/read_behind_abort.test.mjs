// Requests in the form of node:http that their clients abort before they were read: as with node, what came is in their buffer.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'

const WAYS = {
  'HTTP/1.1': async (t, port, isWhole) => {
    const client = net.connect(port, '127.0.0.1')
    t.after(() => { client.destroy() })
    client.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${isWhole ? 3 : 4}\r\n\r\nabc`)
    return () => { client.destroy() }
  },
  'HTTP/2': async (t, port, isWhole) => {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => { session.destroy() })
    const stream = session.request({ ':method': 'POST' })
    stream.on('error', () => {})
    if (isWhole) stream.end('abc')
    else stream.write('abc')
    return () => { stream.destroy(new Error('left')) }
  }
}

for (const [version, ask] of Object.entries(WAYS)) {
  for (const isWhole of [true, false]) {
    test(`over ${version} a body that is ${isWhole ? 'whole' : 'cut'} can be read from its request behind the abort`, async t => {
      const server = createServer({ requests: 'http' })
      t.after(() => { server.close() })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const asked = once(server, 'request')
      const abort = await ask(t, server.address().port, isWhole)
      const [request] = await asked
      request.on('error', () => {})
      const closed = new Promise(resolve => { request.on('close', resolve) })
      // Another request, which comes behind it: the body has come when the server emits it.
      const beside = once(server, 'request')
      const other = net.connect(server.address().port, '127.0.0.1')
      t.after(() => { other.destroy() })
      while (isWhole && !request.complete) await new Promise(resolve => { setImmediate(resolve) })
      other.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      await beside
      abort()
      await closed
      assert.equal(request.complete, isWhole)
      assert.equal(`${request.read()}`, 'abc')
      assert.equal(request.readableEnded, false)
    })
  }
}

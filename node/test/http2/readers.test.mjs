// One body with readers of both APIs: each gets all of it, as with node:http2.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import http2 from 'trunkline/http2'

const ways = {
  'by data': readable => new Promise((resolve, reject) => {
    let bytes = 0
    readable.on('data', piece => { bytes += piece.length }).on('end', () => { resolve(bytes) }).on('error', reject)
  }),
  'by readable': readable => new Promise((resolve, reject) => {
    let bytes = 0
    readable.on('readable', () => { for (let piece = readable.read(); piece !== null; piece = readable.read()) bytes += piece.length })
    readable.on('end', () => { resolve(bytes) }).on('error', reject)
  }),
  'by iterating': async readable => {
    let bytes = 0
    for await (const piece of readable) bytes += piece.length
    return bytes
  },
  'by iterating slowly': async readable => {
    let bytes = 0
    for await (const piece of readable) {
      bytes += piece.length
      await new Promise(resolve => { setImmediate(resolve) })
    }
    return bytes
  }
}

async function send (t, server, bytes) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { client.destroy(); server.close() })
  const request = client.request({ ':method': 'POST' })
  request.end(Buffer.alloc(bytes, 'x'))
  request.resume()
  await once(request, 'close')
}

for (const bytes of [5, 300_000]) {
  for (const [first, read] of Object.entries(ways)) {
    for (const [second, readToo] of Object.entries(ways)) {
      test(`a listener of stream that reads ${bytes} bytes ${first} and one of request that reads them ${second} both get all of them`, async t => {
        const server = http2.createServer()
        const core = new Promise((resolve, reject) => { server.on('stream', stream => { read(stream).then(resolve, reject) }) })
        const compatible = new Promise((resolve, reject) => {
          server.on('request', (request, response) => { readToo(request).then(count => { resolve(count); response.end() }, reject) })
        })
        await send(t, server, bytes)
        assert.deepEqual([await core, await compatible], [bytes, bytes])
      })
    }
  }
}

test('a listener of stream that does not read keeps no byte from one of request', async t => {
  const server = http2.createServer()
  server.on('stream', stream => { stream.on('close', () => {}) })
  const compatible = new Promise((resolve, reject) => {
    server.on('request', (request, response) => { ways['by data'](request).then(count => { resolve(count); response.end() }, reject) })
  })
  await send(t, server, 300_000)
  assert.equal(await compatible, 300_000)
})

// Answers in several writes: what is written in one turn goes together, and nothing changes its place.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createServer, Response } from 'trunkline'
import { serveFor } from '../support/servers/serving.mjs'

/** The first stream of a server with this listener: its head, its pieces of DATA, its code. */
async function received (event, listener, method = 'GET') {
  const server = createServer().on(event, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  try {
    const stream = session.request({ ':path': '/', ':method': method })
    const pieces = []
    stream.on('data', piece => pieces.push(piece.toString()))
    stream.on('error', () => {})
    const closed = new Promise(resolve => { stream.on('close', resolve) })
    const [headers] = await once(stream, 'response')
    await closed
    return { headers, pieces, code: stream.rstCode }
  } finally {
    session.destroy()
    server.compatServer.destroy()
  }
}

test('writes of one turn are one piece, and the end goes with them', async () => {
  const { headers, pieces } = await received('request', (request, response) => {
    response.writeHead(200, { 'x-a': 'b' })
    assert.equal(response.write('one '), true)
    assert.equal(response.write(Buffer.from('two ')), true)
    response.end('three')
  })
  assert.equal(headers['x-a'], 'b')
  assert.deepEqual(pieces, ['one two three'])
})

test('writes of different turns go in their order, each turn by itself', async () => {
  const { pieces } = await received('stream', async stream => {
    stream.respond({ ':status': 200 })
    for (const word of ['one ', 'two ', 'three ']) {
      stream.write(word)
      stream.write('and ')
      await turn()
    }
    stream.end('four')
  })
  assert.equal(pieces.join(''), 'one and two and three and four')
})

test('a listener that comes between two writes changes nothing of their order', async () => {
  const { pieces } = await received('stream', stream => {
    stream.respond({ ':status': 200 })
    stream.write('one ')
    stream.on('error', () => {})
    stream.write('two ', () => { stream.end('three') })
  })
  assert.equal(pieces.join(''), 'one two three')
})

test('who writes more than a Duplex holds is told to wait, and then to go on', async () => {
  let waited = false
  const { pieces } = await received('request', (request, response) => {
    response.write('one ')
    waited = !response.write(Buffer.alloc(200_000, 'x'))
    response.once('drain', () => { response.end(' end') })
  })
  assert.equal(waited, true)
  assert.equal(pieces.join('').length, 200_008)
})

test('what was written before a reset goes before it', async () => {
  const { code } = await received('stream', async stream => {
    stream.respond({ ':status': 200 })
    stream.write('one ')
    await turn()
    stream.on('error', () => {})
    stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM)
  })
  assert.equal(code, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM)
})

test('heads that were made lately are not taken for others', async t => {
  const server = createServer((request, response) => {
    const number = Number(request.url.slice(1))
    response.writeHead(200, { 'x-number': number % 3, 'x-list': number % 2 ? ['a', 'b'] : 'c', ...(number % 5 === 0 && { 'x-five': 'yes' }) })
    response.end()
  })
  t.after(() => { server.compatServer.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`).on('error', () => {})
  t.after(() => { session.destroy() })
  for (let number = 0; number < 30; number++) {
    const stream = session.request({ ':path': `/${number}` }).resume()
    const [headers] = await once(stream, 'response')
    const printed = [headers['x-number'], headers['x-list'], headers['x-five'], headers.date !== undefined]
    assert.deepEqual(printed, [`${number % 3}`, number % 2 ? 'a, b' : 'c', number % 5 === 0 ? 'yes' : undefined, true])
  }
})

test('the headers of a Response are those of now, whatever was answered before', async t => {
  const list = ['a']
  const server = serveFor(t, {
    fetch: request => {
      const number = new URL(request.url).pathname.slice(1)
      list[0] = number
      return new Response('', { headers: { 'x-number': number, 'x-list': list } })
    }
  })
  for (let number = 0; number < 12; number++) {
    const { headers } = await fetch(`${server.url}${number % 6}`)
    assert.deepEqual([headers.get('x-number'), headers.get('x-list')], [`${number % 6}`, `${number % 6}`])
  }
})

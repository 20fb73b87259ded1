// undici's own calls and Node's fetch run over our dispatchers, with every undici line.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import test from 'node:test'
import { Agent, Pool, installGlobal, request } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { h1, h2, ways } from '../../support/servers/servers.mjs'

const [major] = process.versions.node.split('.').map(Number)
const lines = { undici6: await import('undici6'), undici7: await import('undici7') }
// undici 8 needs a newer Node than 20.
if (major >= 22) lines.undici8 = await import('undici8')

const echo = async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  response.setHeader('content-type', 'application/json')
  response.setHeader('x-method', request.method)
  response.end(JSON.stringify({ url: request.url, body: Buffer.concat(chunks).toString() }))
}

for (const [line, undici] of Object.entries(lines)) {
  for (const { name, serve, options } of ways) {
    test(`${line}'s request, stream, pipeline and fetch over ${name}`, async () => {
      const server = await serve(echo)
      const dispatcher = new Agent(options)

      const answer = await undici.request(`${server.url}/a`, { dispatcher, method: 'POST', body: 'hello' })
      assert.equal(answer.statusCode, 200)
      assert.equal(answer.headers['x-method'], 'POST')
      assert.deepEqual(await answer.body.json(), { url: '/a', body: 'hello' })

      const chunks = []
      await undici.stream(`${server.url}/b`, { dispatcher, method: 'GET' }, () => new Writable({
        write (chunk, _, done) { chunks.push(chunk); done() }
      }))
      assert.equal(JSON.parse(Buffer.concat(chunks)).url, '/b')

      const piped = undici.pipeline(`${server.url}/c`, { dispatcher, method: 'PUT' }, ({ body }) => body)
      piped.end('through')
      const parts = []
      for await (const chunk of piped) parts.push(chunk)
      assert.deepEqual(JSON.parse(Buffer.concat(parts)), { url: '/c', body: 'through' })

      const fetched = await undici.fetch(`${server.url}/d`, { dispatcher, method: 'POST', body: new Blob(['blob']) })
      assert.equal(fetched.headers.get('x-method'), 'POST')
      assert.deepEqual(await fetched.json(), { url: '/d', body: 'blob' })

      await dispatcher.close()
      await server.close()
    })
  }

  test(`${line}: errors pass its instanceof, and an abort rejects with the signal's reason`, async () => {
    const server = await h2(() => {})
    const pool = new Pool(server.url, { connect: { ca: cert }, headersTimeout: 50 })
    const late = await undici.request(server.url, { dispatcher: pool }).then(() => null, error => error)
    assert.ok(late instanceof undici.errors.HeadersTimeoutError)
    assert.ok(late instanceof undici.errors.UndiciError)
    const waiting = undici.request(server.url, { dispatcher: pool, headersTimeout: 0, signal: AbortSignal.timeout(20) })
    await assert.rejects(waiting, { name: 'TimeoutError' })
    await pool.close()
    const closed = await undici.request(server.url, { dispatcher: pool }).then(() => null, error => error)
    assert.ok(closed instanceof undici.errors.ClientClosedError || closed instanceof undici.errors.ClientDestroyedError)
    await server.close()
  })

  test(`${line}: its retry and redirect interceptors take our dispatchers`, async () => {
    let failures = 2
    // Keeps the process alive: undici's pause before a retry is unref'd.
    const awake = setTimeout(() => {}, 20_000)
    const server = await h1((request, response) => {
      if (request.url === '/moved') {
        response.writeHead(302, { location: '/there' })
        return response.end()
      }
      if (request.url === '/flaky' && failures-- > 0) {
        response.statusCode = 503
        return response.end()
      }
      response.end(request.url)
    })
    const agent = new Agent()
    if (undici.interceptors.retry) {
      const retrying = agent.compose(undici.interceptors.retry({ minTimeout: 1, maxRetries: 3 }))
      const answer = await undici.request(`${server.url}/flaky`, { dispatcher: retrying })
      assert.equal(await answer.body.text(), '/flaky')
    }
    const following = agent.compose(undici.interceptors.redirect({ maxRedirections: 2 }))
    const moved = await undici.request(`${server.url}/moved`, { dispatcher: following })
    assert.equal(await moved.body.text(), '/there')
    const fast = await following.request({ origin: server.url, path: '/moved' })
    assert.equal(await fast.body.text(), '/there')

    clearTimeout(awake)
    await following.close()
    await server.close()
  })

  test(`${line}: a WebSocket echoes`, { skip: undici.WebSocket === undefined }, async () => {
    const { createHash } = await import('node:crypto')
    const server = await h1(() => {})
    server.server.on('upgrade', (request, socket) => {
      const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`)
      socket.on('error', () => {})
      socket.on('data', frame => {
        if ((frame[0] & 0xf) === 8) return socket.end(Buffer.from([0x88, 0]))
        const length = frame[1] & 0x7f
        const mask = frame.subarray(2, 6)
        const text = Buffer.from(frame.subarray(6, 6 + length)).map((byte, at) => byte ^ mask[at % 4])
        socket.write(Buffer.concat([Buffer.from([0x81, length]), text]))
      })
    })
    const dispatcher = new Agent()
    const socket = new undici.WebSocket(server.url.replace('http', 'ws'), { dispatcher })
    const text = await new Promise((resolve, reject) => {
      socket.onopen = () => socket.send('hello')
      socket.onmessage = event => resolve(event.data)
      socket.onerror = event => reject(event.error ?? new Error('the socket failed'))
    })
    assert.equal(text, 'hello')
    const closed = new Promise(resolve => { socket.onclose = resolve })
    socket.close()
    await closed
    await dispatcher.destroy()
    await server.close()
  })
}

test('the global fetch goes through us and back', async () => {
  const server = await h2(echo)
  const agent = new Agent({ connect: { ca: cert } })
  const uninstall = installGlobal(agent)
  const all = await Promise.all(Array.from({ length: 50 }, (_, index) =>
    fetch(`${server.url}/${index}`, { method: 'POST', body: `body ${index}` }).then(answer => answer.json())))
  all.forEach((answer, index) => assert.deepEqual(answer, { url: `/${index}`, body: `body ${index}` }))
  assert.equal(server.counts.sockets, 1)
  uninstall()
  await assert.rejects(fetch(server.url), 'the certificate is not known to what was there before')
  await agent.close()
  await server.close()
})

test('the fast lane: body as text, json, bytes, a stream, by callback', async () => {
  const server = await h2(echo)
  const dispatcher = new Agent({ connect: { ca: cert } })
  const first = await request(`${server.url}/x`, { dispatcher })
  assert.equal(first.statusCode, 200)
  assert.equal(first.headers['x-method'], 'GET')
  assert.deepEqual(await first.body.json(), { url: '/x', body: '' })
  await assert.rejects(first.body.text(), /already been read/)
  const text = '{"url":"/x","body":"y"}'
  const ask = () => request(`${server.url}/x`, { dispatcher, body: 'y' })
  assert.equal(await (await ask()).body.text(), text)
  assert.equal(Buffer.from(await (await ask()).body.bytes()).toString(), text)
  assert.equal(Buffer.from(await (await ask()).body.arrayBuffer()).toString(), text)
  assert.equal(await (await (await ask()).body.blob()).text(), text)
  assert.equal(await (await ask()).body.dump(), undefined)
  const chunks = []
  for await (const chunk of (await ask()).body) chunks.push(chunk)
  assert.equal(Buffer.concat(chunks).toString(), text)
  const called = await new Promise((resolve, reject) => {
    request(server.url, { dispatcher }, (error, answer) => { if (error) reject(error); else resolve(answer) })
  })
  assert.equal(called.statusCode, 200)
  await called.body.dump()
  assert.throws(() => request('nonsense', { dispatcher }), { code: 'ERR_INVALID_URL' })
  await assert.rejects(request(server.url, { dispatcher, signal: AbortSignal.abort(new Error('no')) }), /no/)
  await dispatcher.close()
  await server.close()
})

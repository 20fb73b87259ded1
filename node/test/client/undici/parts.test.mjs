// The parts of undici that build on a dispatcher, on ours, with every undici line that has them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { Agent, createSecureServer, Pool } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { END_HEADERS, END_STREAM, GOAWAY, HEADERS, frame, numbers, serveFrames } from '../../support/servers/h2_frames.mjs'
import { h1, h1s, h2 } from '../../support/servers/servers.mjs'
import { awake, echoed, echoFrames, echoUpgrades } from '../../support/clients/websocket.mjs'

const [major] = process.versions.node.split('.').map(Number)
const lines = { undici6: await import('undici6'), undici7: await import('undici7') }
// undici 8 needs a newer Node than 20.
if (major >= 22) lines.undici8 = await import('undici8')

const tls = { connect: { ca: cert } }
const textOf = async (undici, url, dispatcher, options) => {
  const answer = await awake(undici.request(url, { dispatcher, ...options }))
  return answer.body.text()
}

/** Streams of extended CONNECT, which Node.js's `request` event would refuse. */
function onConnect (server, listener) {
  server.server.on('connect', () => {})
  server.server.on('stream', (stream, headers) => {
    if (headers[':method'] === 'CONNECT') listener(stream, headers)
  })
}

test("undici 8's WebSocket echoes over a stream of HTTP/2, beside requests on the same connection", { skip: !lines.undici8 }, async () => {
  const asked = []
  const server = await h2((request, response) => { response.end('answer') }, { settings: { enableConnectProtocol: true } })
  onConnect(server, (stream, headers) => {
    asked.push([headers[':protocol'], headers[':path'], headers.upgrade, headers.connection])
    stream.respond({ ':status': 200 })
    echoFrames(stream)
  })
  const { WebSocket } = lines.undici8
  for (const isWarm of [true, false]) {
    const agent = new Agent(tls)
    if (isWarm) await viaNew(agent, { origin: server.url, path: '/', method: 'GET' })
    const before = server.counts.sessions
    const two = await Promise.all([1, 2].map(n => echoed(WebSocket, `${server.url.replace('https', 'wss')}/${n}`, agent)))
    assert.deepEqual(two, Array(2).fill(['one', 'two', 1000, 'enough']))
    assert.equal((await viaNew(agent, { origin: server.url, path: '/', method: 'GET' })).body.toString(), 'answer')
    assert.equal(server.counts.sessions, isWarm ? before : before + 1, 'they share one connection')
    assert.equal(agent.stats.origins.reduce((sum, { active }) => sum + active, 0), 0, 'and leave nothing open')
    await agent.close()
  }
  for (const one of asked) assert.deepEqual([one[0], ...one.slice(2)], ['websocket', undefined, undefined])
  await server.close()
})

test("undici 8's WebSocket echoes over a stream of HTTP/3, beside requests on the same connection", { skip: !lines.undici8 }, async () => {
  const asked = []
  const server = createSecureServer({ cert, key, http3: true, settings: { enableConnectProtocol: true } })
  server.on('stream', (stream, headers) => {
    const { ':method': method, ':protocol': protocol, ':path': path } = headers
    asked.push([stream.session.alpnProtocol, method, protocol, path])
    stream.respond({ ':status': 200 })
    if (protocol === 'websocket') echoFrames(stream)
    else stream.end('answer')
  })
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const url = `https://localhost:${server.address().port}`
  const agent = new Agent({ ...tls, http3: 'only' })
  const two = await Promise.all([1, 2].map(n => echoed(lines.undici8.WebSocket, `${url.replace('https', 'wss')}/${n}`, agent)))
  assert.deepEqual(two, Array(2).fill(['one', 'two', 1000, 'enough']))
  assert.equal((await viaNew(agent, { origin: url, path: '/', method: 'GET' })).body.toString(), 'answer')
  assert.deepEqual(asked.slice(0, 2).map(one => one.slice(1, 3)), Array(2).fill(['CONNECT', 'websocket']))
  assert.equal(agent.stats.totals.connections, 1, 'they share one connection')
  await agent.close()
  await new Promise(resolve => { server.close(resolve) })
})

test("undici 7's WebSocket echoes over a stream where the server speaks HTTP/2 alone", async () => {
  const server = await h2(() => {}, { settings: { enableConnectProtocol: true } })
  onConnect(server, stream => {
    stream.respond({ ':status': 200 })
    echoFrames(stream)
  })
  const agent = new Agent(tls)
  for (let n = 0; n < 2; n++) {
    assert.deepEqual(await echoed(lines.undici7.WebSocket, server.url.replace('https', 'wss'), agent), ['one', 'two', 1000, 'enough'])
  }
  await agent.close()
  await server.close()
})

test('where a server takes no WebSocket on a stream it gets one over HTTP/1.1, from then on at once', { skip: !lines.undici8 }, async () => {
  const { WebSocket } = lines.undici8
  for (const serve of [h1s, handler => h2(handler, { allowHTTP1: true })]) {
    const server = await serve(() => {})
    echoUpgrades(server)
    const agent = new Agent(tls)
    const failures = []
    agent.on('connectionError', (...args) => { failures.push(args) })
    for (let n = 0; n < 2; n++) {
      assert.deepEqual(await echoed(WebSocket, server.url.replace('https', 'wss'), agent), ['one', 'two', 1000, 'enough'])
    }
    assert.deepEqual(failures, [])
    await agent.close()
    await server.close()
  }
})

test('upgrade of our own gives a stream of HTTP/2 as a Duplex, and a refusal as an error', async () => {
  const server = await h2(() => {}, { settings: { enableConnectProtocol: true } })
  onConnect(server, (stream, headers) => {
    if (headers[':path'] === '/no') return stream.respond({ ':status': 403 }, { endStream: true })
    stream.respond({ ':status': 200 })
    stream.pipe(stream)
  })
  const pool = new Pool(server.url, tls)
  const asking = { protocol: 'websocket', headers: { 'sec-websocket-key': 'a2V5', 'sec-websocket-version': '13' } }
  const { socket, statusCode } = await pool.upgrade({ path: '/', ...asking })
  assert.equal(statusCode, 200)
  socket.write('over and ')
  socket.end('out')
  const parts = []
  for await (const part of socket) parts.push(part)
  assert.equal(Buffer.concat(parts).toString(), 'over and out')
  await assert.rejects(pool.upgrade({ path: '/no', ...asking }), { code: 'UND_ERR_SOCKET' })
  await pool.close()
  await server.close()
})

for (const [line, undici] of Object.entries(lines)) {
  test(`${line}: MockAgent answers in place of our Agent, and lets through what it is told to`, async () => {
    const server = await h1((request, response) => { response.end('real') })
    const agent = new Agent()
    const mocks = new undici.MockAgent({ agent })
    const pool = mocks.get('http://mocked.test')
    pool.intercept({ path: '/a', method: 'POST' }).reply(201, { mocked: true }, { headers: { 'x-from': 'mock' } })
    const answer = await undici.request('http://mocked.test/a', { dispatcher: mocks, method: 'POST' })
    assert.equal(answer.statusCode, 201)
    assert.equal(answer.headers['x-from'], 'mock')
    assert.deepEqual(await answer.body.json(), { mocked: true })
    pool.intercept({ path: '/b' }).reply(200, 'by our own dispatcher').persist()
    assert.equal(await textOf(undici, 'http://mocked.test/b', agent), 'by our own dispatcher')
    const own = await agent.request({ origin: 'http://mocked.test', path: '/b', method: 'GET' })
    assert.equal(await own.body.text(), 'by our own dispatcher')
    pool.intercept({ path: '/c' }).reply(200, 'fetched')
    assert.equal(await (await undici.fetch('http://mocked.test/c', { dispatcher: mocks })).text(), 'fetched')
    assert.equal(await textOf(undici, server.url, mocks), 'real')
    mocks.disableNetConnect()
    await assert.rejects(undici.request(`${server.url}/d`, { dispatcher: mocks }), { code: 'UND_MOCK_ERR_MOCK_NOT_MATCHED' })
    mocks.assertNoPendingInterceptors()
    await mocks.close()
    assert.equal(agent.destroyed, true)
    await server.close()
  })

  test(`${line}: its upgrade and connect give the stream behind them`, async () => {
    const server = await h1(() => {})
    const echo = (head, socket) => {
      socket.on('error', () => {})
      socket.write(head)
      socket.pipe(socket)
    }
    server.server.on('upgrade', (request, socket) => { echo(`HTTP/1.1 101 go\r\nconnection: upgrade\r\nupgrade: ${request.headers.upgrade}\r\n\r\n`, socket) })
    server.server.on('connect', (request, socket) => { echo(`HTTP/1.1 200 to ${request.url}\r\n\r\n`, socket) })
    const agent = new Agent()
    // The call of that name at undici's top puts a slash before what is to be reached.
    const { connect } = undici.Client.prototype
    const ways = [() => undici.upgrade(server.url, { dispatcher: agent, protocol: 'own' }), () => connect.call(agent, { origin: server.url, path: 'a.test:443' })]
    for (const open of ways) {
      const opened = await open()
      opened.socket.end('there and back')
      const parts = []
      for await (const part of opened.socket) parts.push(part)
      assert.equal(Buffer.concat(parts).toString(), 'there and back')
    }
    await agent.close()
    await server.close()
  })

test(`${line}: RetryAgent goes on where a download broke off`, async t => {
    const whole = 'one half and the other'
    const ranges = []
    const server = await h1((request, response) => {
      const { range } = request.headers
      ranges.push(range)
      response.setHeader('etag', '"one"')
      if (range === undefined) {
        response.setHeader('content-length', whole.length)
        response.write(whole.slice(0, 8), () => { response.socket.destroySoon() })
      } else {
        const from = Number(/bytes=(\d+)-/.exec(range)[1])
        response.writeHead(206, { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}`, 'content-length': whole.length - from })
        response.end(whole.slice(from))
      }
    })
    t.after(() => server.close())
    const agent = new Agent()
    t.after(() => agent.destroy())
    const retrying = new undici.RetryAgent(agent, { minTimeout: 1 })
    assert.equal(await textOf(undici, server.url, retrying), whole)
    assert.equal(ranges.length, 2, String(ranges))
    assert.match(ranges[1], /^bytes=8-/)
  })

  test(`${line}: RetryAgent repeats over our Agent, what was lost and what failed`, async () => {
    let failures = 3
    const server = await h1((request, response) => {
      if (failures-- === 3) return request.socket.destroy()
      response.statusCode = failures >= 0 ? 503 : 200
      response.end('answer')
    })
    const agent = new Agent()
    const retrying = new undici.RetryAgent(agent, { minTimeout: 1, maxRetries: 5 })
    assert.equal(await textOf(undici, server.url, retrying), 'answer')
    assert.equal(server.counts.requests, 4)
    await retrying.close()
    await server.close()
  })

  test(`${line}: RetryAgent repeats what a GOAWAY with an error's code left out on every connection`, async t => {
    const calm = frame(GOAWAY, 0, 0, numbers(0, 11))
    let isCalm = false
    const server = net.createServer(socket => {
      socket.on('error', () => {})
      serveFrames(socket, stream => { socket.write(isCalm ? frame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.from([0x88])) : calm) })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const agent = new Agent({ useH2c: true })
    t.after(async () => {
      await agent.destroy()
      server.close()
    })
    const retry = (error, context, done) => {
      isCalm = true
      done(error.code === 'UND_ERR_SOCKET' ? null : error)
    }
    const retrying = new undici.RetryAgent(agent, { retry })
    assert.equal(await textOf(undici, `http://localhost:${server.address().port}`, retrying), '')
  })

  test(`${line}: EventSource reads events over our Agent, and comes back where it was`, { skip: !undici.EventSource }, async () => {
    const server = await h2((request, response) => {
      response.setHeader('content-type', 'text/event-stream')
      const from = Number(request.headers['last-event-id'] ?? 0)
      response.write(`retry: 1\nid: ${from + 1}\ndata: ${from + 1}\n\n`)
      if (from < 2) response.end()
    })
    const agent = new Agent(tls)
    const source = new undici.EventSource(server.url, { dispatcher: agent, node: { dispatcher: agent } })
    const received = []
    await awake(new Promise(resolve => {
      source.onmessage = ({ data }) => {
        received.push(data)
        if (received.length === 3) resolve()
      }
    }))
    source.close()
    assert.deepEqual(received, ['1', '2', '3'])
    await agent.destroy()
    await server.close()
  })

  const { interceptors } = undici

  test(`${line}: its cache answers a second time`, { skip: !interceptors.cache }, async () => {
    const server = await h2((request, response) => {
      response.setHeader('cache-control', 'public, max-age=60')
      response.end(`answer ${server.counts.requests}`)
    })
    const agent = new Agent(tls)
    const cached = agent.compose(interceptors.cache())
    for (let n = 0; n < 3; n++) assert.equal(await textOf(undici, `${server.url}/a`, cached), 'answer 1')
    assert.equal(server.counts.requests, 1)
    await agent.close()
    await server.close()
  })

  test(`${line}: its deduplicate interceptor asks once for all who ask the same meanwhile`, { skip: !interceptors.deduplicate }, async t => {
    const server = await h2((request, response) => { response.end(`answer ${server.counts.requests}`) })
    t.after(() => server.close())
    const agent = new Agent(tls)
    t.after(() => agent.destroy())
    const once = agent.compose(interceptors.deduplicate())
    const all = await Promise.all(Array.from({ length: 5 }, () => textOf(undici, `${server.url}/a`, once)))
    assert.deepEqual(all, Array(5).fill('answer 1'))
    assert.equal(await textOf(undici, `${server.url}/a`, once), 'answer 2')
  })

  test(`${line}: its dns interceptor finds the address, and the certificate is checked for the name`, { skip: !interceptors.dns }, async () => {
    const server = await h2((request, response) => { response.end(request.authority ?? request.headers[':authority']) })
    const agent = new Agent(tls)
    const asked = []
    const resolving = agent.compose(interceptors.dns({
      lookup: (origin, options, done) => {
        asked.push(origin.hostname)
        done(null, [{ address: '127.0.0.1', family: 4, ttl: 60_000 }])
      }
    }))
    const url = `https://other.test:${new URL(server.url).port}`
    // undici 6 leaves the port out.
    const host = line === 'undici6' ? 'other.test' : new URL(url).host
    assert.equal(await textOf(undici, url, resolving), host)
    assert.equal(await textOf(undici, url, resolving), host)
    assert.deepEqual(asked, ['other.test'])
    const wrong = `https://wrong.test:${new URL(server.url).port}`
    await assert.rejects(textOf(undici, wrong, resolving), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    await agent.close()
    await server.close()
  })

  test(`${line}: its redirect and decompress, dump and responseError interceptors do their work`, async () => {
    const server = await h2((request, response) => {
      if (request.url === '/moved') return response.writeHead(302, { location: '/squeezed' }).end()
      if (request.url === '/wrong') return response.writeHead(418).end('tea')
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync('squeezed'))
    })
    const agent = new Agent(tls)
    const following = agent.compose(interceptors.redirect({ maxRedirections: 1 }))
    const squeezed = await undici.request(`${server.url}/moved`, { dispatcher: following })
    assert.equal(Buffer.from(await squeezed.body.arrayBuffer()).toString('latin1'), gzipSync('squeezed').toString('latin1'), 'nothing is decoded unasked')
    if (interceptors.decompress) {
      const plain = agent.compose(interceptors.decompress())
      assert.equal(await textOf(undici, server.url, plain), 'squeezed')
    }
    if (interceptors.dump) {
      const dumping = agent.compose(interceptors.dump({ maxSize: 1024 }))
      const { statusCode, body } = await undici.request(server.url, { dispatcher: dumping })
      assert.equal(statusCode, 200)
      assert.equal((await body.text()), '')
    }
    if (interceptors.responseError) {
      const strict = agent.compose(interceptors.responseError())
      await assert.rejects(undici.request(`${server.url}/wrong`, { dispatcher: strict }), { statusCode: 418 })
    }
    await agent.close()
    await server.close()
  })
}

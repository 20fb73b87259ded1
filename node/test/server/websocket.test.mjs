// WebSockets at servers of either form, by `ws` unchanged: over an upgrade of HTTP/1.1, over extended
// CONNECT of HTTP/2 (RFC 8441) and HTTP/3 (RFC 9220).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import { Agent, createSecureServer, createServer, Response as Lean, serve } from 'trunkline'
import { WebSocket, WebSocketServer } from 'ws'
import { cert, key } from '../support/certificates/certificate.mjs'
import { versions } from '../support/clients/clients.mjs'
import { received, receivedText } from '../support/clients/received.mjs'
import { serveFor } from '../support/servers/serving.mjs'
import { echoed } from '../support/clients/websocket.mjs'

const BIG = Buffer.alloc(1 << 20, 'b')

/** Welcomes each client and echoes its messages. */
function echoing (options) {
  const sockets = new WebSocketServer({ noServer: true, ...options })
  sockets.on('connection', socket => {
    socket.on('message', (data, isBinary) => { socket.send(data, { binary: isBinary }) })
  })
  return sockets
}

/** The two forms of a server, with WebSockets on every path but `/no`. */
const forms = {
  'the API of node:http2': async version => {
    const { tls, http3 } = version.options
    const settings = { enableConnectProtocol: true }
    const plain = (request, response) => { response.end('beside') }
    const server = tls === undefined ? createServer({ settings }, plain) : createSecureServer({ cert, key, allowHTTP1: true, http3, settings }, plain)
    const sockets = echoing({})
    server.on('upgrade', (request, socket, head) => {
      if (request.url === '/no') return void socket.end('HTTP/1.1 403 Forbidden\r\nx-a: b\r\ncontent-length: 2\r\n\r\nno')
      sockets.handleUpgrade(request, socket, head, socket => { sockets.emit('connection', socket) })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: server.address().port, end () { server.compatServer.destroy() } }
  },
  serve: async version => {
    const sockets = echoing({})
    const server = serve({
      hostname: '127.0.0.1',
      ...version.options,
      extendedConnect: true,
      fetch (request, info) {
        if (info.upgradeProtocol === null) return new Lean('beside')
        assert.equal(info.upgradeProtocol, 'websocket')
        if (new URL(request.url).pathname === '/no') return new Lean('no', { status: 403, headers: { 'x-a': 'b' } })
        sockets.handleUpgrade(...info.upgrade(), socket => { sockets.emit('connection', socket) })
      }
    })
    return { port: server.port, async end () { await server.destroy() } }
  }
}

/** A client of undici's WebSocket over a version; the lines below 22 have none that speaks streams. */
const dispatchers = {
  h2: () => new Agent({ connect: { ca: cert } }),
  h3: () => new Agent({ connect: { ca: cert }, http3: 'only' })
}
const major = Number.parseInt(process.versions.node, 10)

for (const version of versions) {
  const { name, protocol } = version
  const secure = version.options.tls !== undefined
  for (const [form, make] of Object.entries(forms)) {
    if (protocol === 'http/1.1') {
      test(`${name}, ${form}: a WebSocket speaks, is closed, and is refused`, async t => {
        const { port, end } = await make(version)
        t.after(end)
        const origin = `${secure ? 'wss' : 'ws'}://localhost:${port}`
        const client = new WebSocket(`${origin}/chat`, { ca: cert, family: 4 })
        await once(client, 'open')
        for (const printed of ['a text', BIG]) {
          const received = once(client, 'message')
          client.send(printed)
          assert.equal(Buffer.compare((await received)[0], Buffer.from(printed)), 0)
        }
        const closed = once(client, 'close')
        client.close(1000, 'done')
        assert.deepEqual((await closed).map(String), ['1000', 'done'])
        const refused = new WebSocket(`${origin}/no`, { ca: cert, family: 4 })
        const [error] = await once(refused, 'error')
        assert.match(error.message, /403/)
        const asked = version.connect(port)
        assert.equal(String((await asked.ask('/')).body), 'beside')
        await asked.close()
      })
    }
    if (protocol === 'h2') {
      test(`${name}, ${form}: a WebSocket is a stream, a refusal an answer, and others go on beside`, async t => {
        const { port, end } = await make(version)
        t.after(end)
        const session = http2.connect(`http${secure ? 's' : ''}://localhost:${port}`, { ca: cert, family: 4 })
        session.on('error', () => {})
        t.after(() => { session.destroy() })
        const [settings] = await once(session, 'remoteSettings')
        assert.equal(settings.enableConnectProtocol, true)
        const open = path => session.request({
          ':method': 'CONNECT', ':protocol': 'websocket', ':path': path, ':scheme': secure ? 'https' : 'http', ':authority': 'localhost', 'sec-websocket-version': '13'
        })
        const stream = open('/chat')
        const [headers] = await once(stream, 'response')
        assert.equal(headers[':status'], 200)
        for (const name of ['connection', 'upgrade', 'sec-websocket-accept']) assert.equal(headers[name], undefined)
        // A masked text (its mask is zero) and what comes back, which has none.
        stream.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]))
        assert.deepEqual([...await received(stream, bytes => bytes.length >= 4)], [0x81, 2, 0x68, 0x69])
        const beside = session.request({ ':path': '/' })
        assert.equal(await receivedText(beside, 'beside'), 'beside')
        stream.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]))
        const closed = once(stream, 'end')
        assert.deepEqual([...await received(stream, bytes => bytes.length >= 4)], [0x88, 2, 0x03, 0xe8])
        stream.end()
        await closed
        const refused = open('/no')
        const [answer] = await once(refused, 'response')
        assert.deepEqual([answer[':status'], answer['x-a']], [403, 'b'])
        assert.equal(await receivedText(refused, 'no'), 'no')
        refused.on('error', () => {})
        refused.end()
      })
    }
    const dispatcher = dispatchers[name]
    if (dispatcher !== undefined) {
      test(`${name}, ${form}: undici's WebSocket over a dispatcher of ours`, { skip: major < 22 && 'undici 8 needs a later Node' }, async t => {
        const { WebSocket } = await import('undici8')
        const { port, end } = await make(version)
        t.after(end)
        const agent = dispatcher()
        t.after(() => agent.destroy())
        assert.deepEqual(await echoed(WebSocket, `wss://localhost:${port}/`, agent), ['one', 'two', 1000, 'enough'])
      })
    }
  }
}

test('a request that asks for nothing else cannot be upgraded, and one that is answered no more', async t => {
  const reported = []
  const server = serveFor(t, {
    fetch (request, info) {
      try {
        info.upgrade()
      } catch (error) {
        reported.push(error.message)
      }
      return new Lean('plain')
    }
  })
  const answer = await fetch(server.url)
  assert.equal(await answer.text(), 'plain')
  assert.deepEqual(reported, ['the request asks for nothing but HTTP'])
})

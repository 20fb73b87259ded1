// Clients of `serve` that end their side, are cut or ask for more than a connection will carry, and the context of its handlers.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import net from 'node:net'
import { text as received } from 'node:stream/consumers'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { file, Response } from 'trunkline'
import { versions } from '../support/clients/clients.mjs'
import { CLOSE, closing, frame, frames, open, TEXT } from '../support/clients/frames.mjs'
import { serveFor } from '../support/servers/serving.mjs'

const h1 = versions.find(({ protocol }) => protocol === 'http/1.1')
const LONG = 'x'.repeat(16 << 20)
const get = (path, fields = '') => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${fields}\r\n`

/** A connection in cleartext that has written this. */
function client (t, port, bytes, options = {}) {
  const socket = net.connect({ port, host: '127.0.0.1', ...options })
  t.after(() => { socket.destroy() })
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

const later = () => new Promise(resolve => { setTimeout(resolve, 5) })
const bytes = text => new TextEncoder().encode(text)

test('a stream that rests is cancelled once its client has ended its side, whatever halfClosed and timeout are', async t => {
  let cancel
  const cancelled = new Promise(resolve => { cancel = resolve })
  const server = serveFor(t, {
    timeouts: { halfClosed: 0 },
    fetch (request, server) {
      server.timeout(request, 0)
      return new Response(new ReadableStream({
        start (controller) { controller.enqueue(bytes('first')) },
        pull: () => new Promise(() => {}),
        cancel () { cancel('cancelled') }
      }))
    }
  })
  const socket = client(t, server.port, get('/'))
  await once(socket, 'data')
  const closed = once(socket, 'close')
  socket.end()
  socket.resume()
  assert.equal(await cancelled, 'cancelled')
  await closed
})

test('a client that has ended its side behind its request gets an answer that comes later, and a stream that goes on', async t => {
  const server = serveFor(t, {
    async fetch (request) {
      await later()
      if (request.url.endsWith('/whole')) return new Response('later')
      let count = 0
      return new Response(new ReadableStream({
        async pull (controller) {
          await later()
          if (++count > 20) controller.close()
          else controller.enqueue(bytes('piece'))
        }
      }))
    }
  })
  for (const [path, end] of [['/whole', /later$/], ['/stream', /piece\r\n0\r\n\r\n$/]]) {
    const socket = client(t, server.port, get(path), { allowHalfOpen: true })
    socket.end()
    assert.match(await received(socket), end)
  }
})

test('a stream to a client that has ended its side goes on behind time in which the process does not run', async t => {
  const server = serveFor(t, {
    fetch: () => new Response(new ReadableStream({
      async pull (controller) {
        controller.enqueue(bytes('piece'))
        await later()
        // Longer than a stream may rest, twice, and a turn of the loop for the timers that are due.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100)
        await later()
        controller.enqueue(bytes('last'))
        controller.close()
      }
    }))
  })
  const socket = client(t, server.port, get('/'), { allowHalfOpen: true })
  socket.end()
  assert.match(await received(socket), /last\r\n0\r\n\r\n$/)
})

test('the signal of a request aborts when its client is cut while a whole body is sent to it', async t => {
  let abort
  const aborted = new Promise(resolve => { abort = resolve })
  const server = serveFor(t, {
    fetch (request) {
      request.signal.addEventListener('abort', () => { abort(request.signal.reason.name) })
      return new Response(LONG)
    }
  })
  const socket = client(t, server.port, get('/'))
  await once(socket, 'data')
  socket.resetAndDestroy()
  assert.equal(await aborted, 'AbortError')
})

test('the signal of a request whose answer is sent whole does not abort, though nothing read its body', async t => {
  const aborted = []
  const server = serveFor(t, {
    fetch (request) {
      request.signal.addEventListener('abort', () => { aborted.push(request.url) })
      return new Response('whole')
    }
  })
  const body = 'x'.repeat(100_000)
  const socket = client(t, server.port, `POST /1 HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}${get('/2', 'connection: close\r\n')}`)
  assert.equal((await received(socket)).match(/whole/g).length, 2)
  await server.stop()
  assert.deepEqual(aborted, [])
})

test('no request behind an answer that says connection: close is handled', async t => {
  const handled = []
  const server = serveFor(t, {
    routes: { '/fixed': new Response('fixed', { headers: { connection: 'Close' } }) },
    fetch (request) {
      const { pathname } = new URL(request.url)
      handled.push(pathname)
      const headers = pathname === '/closing' ? { connection: 'close' } : { 'x-connection': 'close' }
      return new Response(pathname, { headers })
    }
  })
  for (const [first, behind, expected] of [['/closing', get('/second'), ['/closing']], ['/first', get('/second', 'connection: close\r\n'), ['/first', '/second']]]) {
    handled.length = 0
    const answer = await received(client(t, server.port, get(first) + behind))
    assert.deepEqual(handled, expected)
    assert.equal(answer.match(/HTTP\/1\.1 200/g).length, expected.length)
  }
  const answer = await received(client(t, server.port, get('/fixed')))
  assert.match(answer, /fixed$/)
})

const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
const asking = fields => `GET / HTTP/1.1\r\nhost: localhost\r\n${Object.entries({ ...UPGRADE, ...fields }).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`

/** Writes a request for a WebSocket, and resolves to the head that comes. */
async function headOf (socket) {
  let held = Buffer.alloc(0)
  while (!held.includes('\r\n\r\n')) held = Buffer.concat([held, (await once(socket, 'data'))[0]])
  const end = held.indexOf('\r\n\r\n') + 4
  return [held.toString('latin1', 0, end), held.subarray(end)]
}

for (const [framing, fields, body] of [['a length', { 'content-length': '5' }, 'hello'], ['chunks', { 'transfer-encoding': 'chunked' }, '5\r\nhello\r\n0\r\n\r\n']]) {
  for (const [when, upgrade] of Object.entries({
    'at once': (request, server) => server.upgrade(request),
    later: async (request, server) => {
      await later()
      return server.upgrade(request)
    },
    'behind its body': async (request, server) => {
      assert.equal(await request.text(), 'hello')
      return server.upgrade(request)
    }
  })) {
    test(`a body by ${framing} of a request for a WebSocket is no part of its frames, upgraded ${when}`, async t => {
      const messages = []
      const server = serveFor(t, {
        async fetch (request, server) { await upgrade(request, server) },
        websocket: {
          message (ws, message) {
            messages.push(message)
            ws.send(message)
          }
        }
      })
      const socket = client(t, server.port, Buffer.concat([Buffer.from(asking(fields) + body), frame(TEXT, 'early')]))
      const [head, rest] = await headOf(socket)
      assert.match(head, /^HTTP\/1\.1 101 /)
      const peer = frames(socket, rest)
      await peer.write(Buffer.concat([frame(TEXT, 'last'), closing(1000)]))
      assert.equal(String((await peer.next())[1]), 'early')
      assert.equal(String((await peer.next())[1]), 'last')
      assert.equal((await peer.next())[0], CLOSE)
      assert.deepEqual(messages, ['early', 'last'])
    })
  }
}

test('a WebSocket may be one of several protocols that a request asks for', async t => {
  const server = serveFor(t, { fetch (request, server) { if (!server.upgrade(request)) return new Response('no') }, websocket: { open (ws) { ws.send('open') } } })
  const socket = client(t, server.port, asking({ upgrade: 'h2c, WebSocket' }))
  const [head, rest] = await headOf(socket)
  assert.match(head, /^HTTP\/1\.1 101 /)
  assert.equal(String((await frames(socket, rest).next())[1]), 'open')
})

test('a request for a WebSocket that has been given another answer is not upgraded, also in front of its head', async t => {
  const results = []
  let go
  const waiting = () => {
    const gone = new Promise(resolve => { go = resolve })
    return new ReadableStream({
      async pull (controller) {
        await gone
        controller.enqueue(bytes('piece'))
        controller.close()
      }
    })
  }
  const answers = { '/stream': () => new Response(waiting()), '/file': () => new Response(file(fileURLToPath(import.meta.url))) }
  const server = serveFor(t, {
    fetch (request, info) {
      const { pathname } = new URL(request.url)
      queueMicrotask(() => {
        results.push(info.upgrade(request))
        try {
          info.upgrade()
        } catch (error) {
          results.push(error.message)
        }
        go?.()
      })
      return answers[pathname]()
    },
    websocket: { open (ws) { ws.send('open') } }
  })
  for (const path of Object.keys(answers)) {
    const socket = client(t, server.port, asking().replace('GET /', `GET ${path}`))
    const [head, rest] = await headOf(socket)
    assert.match(head, /^HTTP\/1\.1 200 /)
    if (path === '/stream') {
      let held = rest
      while (held.length < 'piece'.length) held = Buffer.concat([held, (await once(socket, 'data'))[0]])
      assert.equal(held.toString(), 'piece')
    }
    assert.deepEqual(results.splice(0), [false, 'the exchange is over, or was answered already'])
  }
})

test('a request whose answer has failed, or whose file is not there, may be upgraded in its place', async t => {
  const failing = () => new ReadableStream({ pull () { throw new Error('fails') } })
  const server = serveFor(t, {
    routes: { '/missing': file('/there/is/none'), '/failing': () => new Response(failing()) },
    fetch (request, server) { server.upgrade(request) },
    error (error, request) { server.upgrade(request) },
    websocket: { open (ws) { ws.send('open') } }
  })
  for (const path of ['/missing', '/failing']) {
    const socket = client(t, server.port, asking().replace('GET /', `GET ${path}`))
    const [head, rest] = await headOf(socket)
    assert.match(head, /^HTTP\/1\.1 101 /, path)
    assert.equal(String((await frames(socket, rest).next())[1]), 'open')
  }
})

test('a request for a WebSocket of another version is answered with 426 and the version that there is', async t => {
  const results = []
  const server = serveFor(t, {
    fetch (request, server) {
      results.push(server.upgrade(request))
      return new Response('no', { status: 400 })
    },
    websocket: {}
  })
  const [head] = await headOf(client(t, server.port, asking({ 'sec-websocket-version': '12' })))
  assert.match(head, /^HTTP\/1\.1 426 [^]*\r\nsec-websocket-version: 13\r\n/)
  assert.deepEqual(results, [false])
})

test('handlers have the context of AsyncLocalStorage in which their server was made', async t => {
  const storage = new AsyncLocalStorage()
  const found = []
  const server = storage.run('made', () => serveFor(t, {
    async fetch (request, server) {
      found.push(['fetch', storage.getStore()])
      await null
      if (server.upgrade(request)) return
      found.push(['behind a turn', storage.getStore()])
      throw new Error('fails')
    },
    error () {
      found.push(['error', storage.getStore()])
      return new Response('failed')
    },
    websocket: {
      open () { found.push(['open', storage.getStore()]) },
      message (ws) {
        found.push(['message', storage.getStore()])
        ws.close()
      },
      close () { found.push(['close', storage.getStore()]) }
    }
  }))
  await storage.run('of the client', async () => { await received(client(t, server.port, get('/', 'connection: close\r\n'))) })
  assert.deepEqual(found, [['fetch', 'made'], ['behind a turn', 'made'], ['error', 'made']])
  found.length = 0
  await storage.run('of the client', async () => {
    const peer = await open(t, h1, server.port)
    await peer.write(frame(TEXT, 'hello'))
    assert.equal((await peer.next())[0], CLOSE)
    await peer.write(closing(1000))
    assert.equal(await peer.next(), null)
  })
  await server.stop()
  assert.deepEqual(found, [['fetch', 'made'], ['open', 'made'], ['message', 'made'], ['close', 'made']])
})

// The async contexts of listeners: what one enters is of its own request, on every version and face, and all of them begin in the context
// in which their server began to listen.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { Agent, createSecureServer, createServer, serve } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

/** Requests at once, some of which come by one wake-up of the process. */
const COUNT = 6
const VERSIONS = { 'HTTP/1.1': { allowH2: false }, 'HTTP/2': { allowH2: true }, 'HTTP/3': { http3: 'only' } }
const tls = { cert, key, allowHTTP1: true, http3: true }

/** By face: a server that answers what `answer` gives. */
const FACES = {
  'requests of node:http2': answer => createSecureServer(tls, (request, response) => { response.end(answer()) }),
  'requests of node:http': answer => createSecureServer({ ...tls, requests: 'http' }, (request, response) => { response.end(answer()) }),
  'requests of node:http, with the engine on threads': answer => createSecureServer({ ...tls, requests: 'http', engine: 'threads' }, (request, response) => { response.end(answer()) })
}

/** Listens in a context `of the server`; the port. */
async function listening (t, store, server) {
  await store.run('of the server', async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  t.after(() => new Promise(resolve => { server.close(resolve) }))
  return server.address().port
}

for (const [face, make] of Object.entries(FACES)) {
  for (const [version, options] of Object.entries(VERSIONS)) {
    test(`a context that a listener enters is not that of other requests: ${face}, ${version}`, async t => {
      const store = new AsyncLocalStorage()
      const found = []
      const server = make(() => {
        found.push(store.getStore())
        store.enterWith(`of request ${found.length}`)
        return 'ok'
      })
      const origin = `https://localhost:${await listening(t, store, server)}`
      const agent = new Agent({ connect: { ca: cert }, ...options })
      t.after(() => agent.destroy())
      const ask = async () => { await (await agent.request({ origin, path: '/', method: 'GET' })).body.dump() }
      await ask()
      await ask()
      await Promise.all(Array.from({ length: COUNT }, ask))
      assert.deepEqual(found, Array(COUNT + 2).fill('of the server'))
    })
  }
}

test('a context that a listener of streams enters is not that of other streams', async t => {
  const store = new AsyncLocalStorage()
  const found = []
  const server = createServer()
  server.on('stream', stream => {
    found.push(store.getStore())
    store.enterWith(`of stream ${found.length}`)
    stream.respond()
    stream.end('ok')
  })
  const origin = `http://localhost:${await listening(t, store, server)}`
  const agent = new Agent({ useH2c: true })
  t.after(() => agent.destroy())
  await Promise.all(Array.from({ length: COUNT }, async () => { await (await agent.request({ origin, path: '/', method: 'GET' })).body.dump() }))
  assert.deepEqual(found, Array(COUNT).fill('of the server'))
})

test('requests that come in one piece have contexts of their own', async t => {
  const store = new AsyncLocalStorage()
  const found = []
  const server = createServer({ requests: 'http' }, (request, response) => {
    found.push(store.getStore())
    store.enterWith(request.url)
    response.end('ok')
  })
  const client = net.connect(await listening(t, store, server), '127.0.0.1').resume()
  client.end('GET /a HTTP/1.1\r\nhost: a\r\n\r\nGET /b HTTP/1.1\r\nhost: a\r\n\r\nGET /c HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await once(client, 'close')
  assert.deepEqual(found, ['of the server', 'of the server', 'of the server'])
})

test('clients that go at once are told of in the contexts of their own requests', async t => {
  const store = new AsyncLocalStorage()
  const found = []
  const left = []
  let came
  const arrived = new Promise(resolve => { came = resolve })
  const server = createServer({ requests: 'http' }, (request, response) => {
    store.enterWith(request.url)
    left.push(new Promise(resolve => { response.on('close', () => { found.push([request.url, store.getStore()]); resolve() }) }))
    if (left.length === COUNT) came()
  })
  const port = await listening(t, store, server)
  const clients = Array.from({ length: COUNT }, (_, at) => net.connect(port, '127.0.0.1', function () { this.write(`GET /${at} HTTP/1.1\r\nhost: a\r\n\r\n`) }))
  await arrived
  for (const client of clients) client.destroy()
  await Promise.all(left)
  // From Node.js 24 on what a listener enters is of that call alone.
  for (const [url, context] of found) assert.ok([url, 'of the server'].includes(context), `${url} closed in the context ${context}`)
})

test('a context that a handler of serve enters is not that of other requests', async t => {
  const store = new AsyncLocalStorage()
  const found = []
  const server = store.run('of the server', () => serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      found.push(store.getStore())
      store.enterWith(`of request ${found.length}`)
      return new Response('ok')
    }
  }))
  t.after(() => server.stop())
  await Promise.all(Array.from({ length: COUNT }, async () => { await (await fetch(server.url)).text() }))
  assert.deepEqual(found, Array(COUNT).fill('of the server'))
})

test('a context that a handler of a WebSocket enters is not that of other sockets', async t => {
  const store = new AsyncLocalStorage()
  const found = []
  const server = store.run('of the server', () => serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, server) => server.upgrade(request) ? undefined : new Response('none'),
    websocket: {
      open: ws => {
        found.push(store.getStore())
        store.enterWith(`of socket ${found.length}`)
        ws.close()
      }
    }
  }))
  t.after(() => server.stop())
  const { WebSocket } = await import('ws')
  for (let count = 0; count < 3; count++) await once(new WebSocket(`ws://127.0.0.1:${server.port}`), 'close')
  assert.deepEqual(found, Array(3).fill('of the server'))
})

test('listeners of connections, and of clients that speak no HTTP, are called in the context in which their server listens', async t => {
  const store = new AsyncLocalStorage()
  const found = []
  const server = createServer({ requests: 'http' })
  for (const name of ['connection', 'clientError']) {
    server.on(name, (...given) => {
      found.push([name, store.getStore()])
      store.enterWith(`of ${name}`)
      if (name === 'clientError') given[1].destroy()
    })
  }
  const port = await listening(t, store, server)
  for (let count = 0; count < 2; count++) {
    const client = net.connect(port, '127.0.0.1')
    client.on('error', () => {}).write('nothing\r\n\r\n')
    await once(client, 'close')
  }
  assert.deepEqual(found, [['connection', 'of the server'], ['clientError', 'of the server'], ['connection', 'of the server'], ['clientError', 'of the server']])
})

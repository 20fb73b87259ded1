// The listen options of servers: names, errors of listen, and aliases.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { inspect } from 'node:util'
import test from 'node:test'
import { createServer, serve } from 'trunkline'
import { serveFor } from '../../support/servers/serving.mjs'
import { key, cert } from '../../support/certificates/certificate.mjs'

const fetch = () => new Response('ok')

/** The response to bytes written to a port. */
async function reports (port, text) {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let received = ''
  for await (const piece of socket) received += piece
  return received
}

test('serve listens on its host alone, and takes a port as a text', async t => {
  const server = serve({ fetch, host: '127.0.0.1', port: '0' })
  t.after(() => server.destroy())
  assert.equal(server.hostname, '127.0.0.1')
  assert.throws(() => serve({ fetch, host: '127.0.0.1', hostname: '::1' }), /must be the same/)
  for (const port of ['http', -1, 65_536, 1.5, NaN]) assert.throws(() => serve({ fetch, port }), { name: 'RangeError' }, String(port))
})

test('serve fails on a port in use as listen of node:net does', t => {
  const { port } = serveFor(t, { fetch })
  const expected = { code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port }
  assert.throws(() => serve({ fetch, hostname: '127.0.0.1', port }), expected)
})

for (const [name, make] of [
  ['createServer', () => createServer((request, response) => { response.end('new') })],
  ["node:http2's", () => http2.createServer((request, response) => { response.end('new') })]
]) {
  test(`a port is free behind close() in the same turn: ${name}`, async t => {
    const first = make()
    await new Promise(resolve => { first.listen(0, '127.0.0.1', resolve) })
    const { port } = first.address()
    // It holds the first server's end up.
    const client = connect(port, '127.0.0.1')
    await once(client, 'connect')
    for (let at = 0; at < 3; at++) {
      first.close()
      const next = make()
      next.listen(port, '127.0.0.1')
      await once(next, 'listening')
      assert.equal(next.address().port, port)
      next.close()
    }
    const last = make()
    t.after(() => { last.close() })
    last.listen(port, '127.0.0.1')
    await once(last, 'listening')
    client.destroy()
  })
}

test('the port of a serve() that was destroyed is free in the same turn', async t => {
  let server = serve({ fetch, hostname: '127.0.0.1', port: 0 })
  const { port } = server
  for (let at = 0; at < 3; at++) {
    server.destroy()
    server = serve({ fetch, hostname: '127.0.0.1', port })
    assert.equal(server.port, port)
  }
  await server.close()
  server = serve({ fetch, hostname: '127.0.0.1', port })
  t.after(() => { server.destroy() })
})

test('serve names an option that it does not have, and those that it has', () => {
  assert.throws(() => serve({ fetch, prot: 1 }), error => /no option prot/.test(error.message) && /hostname/.test(error.message) && !/fdIsLent/.test(error.message))
  assert.throws(() => serve(), /serve takes an object of options/)
})

test('a server that is printed shows no key, and can be disposed of', async () => {
  const server = serve({ fetch, hostname: '127.0.0.1', tls: { cert, key } })
  assert.doesNotMatch(inspect(server), /PRIVATE KEY/)
  await server[Symbol.asyncDispose]()
})

test('a server of ours may stand in the place of that of node:http2', t => {
  const { createServer: original } = http2
  http2.createServer = createServer
  t.after(() => { http2.createServer = original })
  assert.equal(typeof http2.createServer().listen, 'function')
})

test('the host of a request in absolute form is that of its url', async t => {
  const seen = request => JSON.stringify([request.url, request.headers.get?.('host') ?? request.headers.host])
  const text = 'GET http://bank.example/x HTTP/1.1\r\nHost: evil.example\r\nconnection: close\r\n\r\n'
  const server = createServer((request, response) => { response.end(seen(request)) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const expected = /\["http:\/\/bank.example\/x","bank.example"\]/
  assert.match(await reports(server.address().port, text), expected)
  assert.match(await reports(serveFor(t, { fetch: request => new Response(seen(request)) }).port, text), expected)
})

test("requests: 'http' gives a listener requests of node:http over HTTP/2", async t => {
  const server = createServer({ requests: 'http' }, (request, response) => {
    response.setHeader('transfer-encoding', 'chunked')
    response.end(JSON.stringify([request.constructor.name, request.url, Object.keys(request.headers).some(name => name[0] === ':')]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { session.destroy(); server.close() })
  const stream = session.request({ ':path': '/a' })
  let text = ''
  for await (const piece of stream) text += piece
  assert.deepEqual(JSON.parse(text), ['IncomingMessage', '/a', false])
  assert.throws(() => createServer({ requests: 'both' }), { code: 'ERR_INVALID_ARG_TYPE' })
})

test('fields of a connection are left out of a compatible response', async t => {
  const server = createServer((request, response) => {
    response.setHeader('transfer-encoding', 'chunked')
    response.writeHead(200, { 'keep-alive': 'timeout=5', upgrade: 'x', 'x-a': 'b' })
    response.end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { session.destroy(); server.close() })
  const stream = session.request({}).resume()
  const [{ date, ...head }] = await once(stream, 'response')
  assert.ok(date)
  assert.deepEqual(Object.entries(head), [[':status', 200], ['x-a', 'b']])
})

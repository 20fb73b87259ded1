// `serve` as programs for Bun write it: certificates in a list and from files, bodies of generators, files that come and go, and
// members of WebSockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import tls from 'node:tls'
import { file, Response, serve } from 'trunkline'
import { cert, certFile, key, keyFile } from '../support/certificates/certificate.mjs'
import { versions } from '../support/clients/clients.mjs'
import { BINARY, CLOSE, closing, frame, open, PING, PONG, TEXT } from '../support/clients/frames.mjs'
import { serveFor } from '../support/servers/serving.mjs'

const h1 = versions.find(({ protocol }) => protocol === 'http/1.1')

/** All that comes of a request in cleartext. */
async function ask (port, head) {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(`${head}connection: close\r\n\r\n`)
  const pieces = []
  for await (const piece of socket) pieces.push(piece)
  return String(Buffer.concat(pieces))
}
const get = (port, path, fields = '') => ask(port, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${fields}`)

/** A server whose every request becomes a WebSocket, and the server's end of one. */
async function socketOf (t, websocket = {}) {
  let opened
  const whole = new Promise(resolve => { opened = resolve })
  const server = serveFor(t, { fetch: (request, server) => { server.upgrade(request) }, websocket: { ...websocket, open: opened } })
  const client = await open(t, h1, server.port)
  return { server, client, ws: await whole }
}

test('tls is a list of certificates by serverName, and their text may be in files', async t => {
  const own = { cert: file(certFile), key: file(keyFile) }
  const server = serveFor(t, { tls: [own, { ...own, serverName: 'other.test' }], fetch: () => new Response('x') })
  for (const servername of ['localhost', 'other.test']) {
    const socket = tls.connect({ port: server.port, host: '127.0.0.1', servername, ca: cert })
    await once(socket, 'secureConnect')
    socket.destroy()
  }
  await serve({ tls: { cert, key, serverName: 'localhost', lowMemoryMode: true }, fetch: () => new Response() }).stop(true)
  // A certificate is for the name that a list gives it, also where it has other names; a client that checks them refuses it.
  const named = serveFor(t, { tls: [{ certFile, keyFile, caFile: certFile }, { certFile, keyFile, serverName: 'none.test' }], fetch: () => new Response('x') })
  for (const servername of ['localhost', 'none.test']) {
    const socket = tls.connect({ port: named.port, host: '127.0.0.1', servername, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    assert.equal(socket.authorized, false)
    assert.equal(socket.getPeerX509Certificate().checkHost(servername) !== undefined, servername === 'localhost')
    socket.destroy()
  }
  assert.throws(() => serve({ tls: { certFile: `${certFile}.none`, keyFile }, fetch: () => new Response() }), { code: 'ENOENT' })
  assert.throws(() => serve({ tls: { certFile: 5, keyFile }, fetch: () => new Response() }), /tls\.certFile is 5; it must be a path/)
  for (const list of [[], [own, own], [own, { ...own, serverName: 'a.test', requestCert: true }]]) {
    assert.throws(() => serve({ tls: list, fetch: () => new Response() }), /^TypeError: tls(\[1\])? (is an empty list|has no serverName|has requestCert)/)
  }
})

test('an address of IPv6 may stand in the brackets that it has in URLs', async t => {
  assert.equal(serveFor(t, { hostname: '[::1]', fetch: () => new Response() }).url.hostname, '[::1]')
})

test('a generator that is the body of a Response is called, and pieces may be an ArrayBuffer or any view', async t => {
  const bodies = {
    '/async': async function * () { yield 'one '; yield new TextEncoder().encode('two ').buffer; yield new Uint16Array([0x6161]) },
    '/plain': function * () { yield 'one '; yield Buffer.from('two') }
  }
  const server = serveFor(t, { fetch: ({ url }) => new Response(bodies[new URL(url).pathname]) })
  assert.equal(await (await fetch(new URL('/async', server.url))).text(), 'one two aa')
  assert.equal(await (await fetch(new URL('/plain', server.url))).text(), 'one two')
  assert.equal(await new Response(bodies['/plain']).text(), 'one two')
})

test('a file of a route that is not there leaves the path to fetch, and without fetch is a 404', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-routes-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  const path = join(folder, 'page.txt')
  const routes = { '/page': file(path), '/folder': new Response(file(folder)), '/by': { GET: file(path) } }
  const both = serveFor(t, { routes, fetch: () => new Response('fetch') })
  const alone = serveFor(t, { routes })
  for (const route of Object.keys(routes)) {
    assert.match(await get(both.port, route), /^HTTP\/1\.1 200 [^]*\r\n\r\nfetch$/, route)
    assert.match(await get(alone.port, route), /^HTTP\/1\.1 404 /, route)
  }
  writeFileSync(path, 'a page')
  assert.match(await get(both.port, '/page'), /\r\n\r\na page$/)
  assert.match(await get(alone.port, '/by'), /\r\n\r\na page$/)
  // A handler has an error of its own.
  const handled = serveFor(t, { fetch: () => new Response(file(join(folder, 'none'))), error: ({ code }) => new Response(code) })
  assert.match(await get(handled.port, '/'), /\r\n\r\nENOENT$/)
})

test('an answer that is made once goes by every condition, in the order of RFC 9110', async t => {
  const [own, older, newer] = ['Wed, 21 Oct 2015 07:28:00 GMT', 'Mon, 01 Jan 2001 00:00:00 GMT', 'Sat, 01 Jan 2028 00:00:00 GMT']
  const made = new Response('body', { headers: { etag: '"a"', 'last-modified': own } })
  const server = serveFor(t, { routes: { '/': made, '/bare': new Response('body', { status: 201 }) } })
  const statuses = {
    'if-match: "b"': 412, 'if-match: "b", "a"': 200, 'if-match: *': 200, 'if-match: W/"a"': 412, [`if-unmodified-since: ${older}`]: 412, [`if-unmodified-since: ${own}`]: 200,
    'if-match: "b"\r\nif-none-match: "a"': 412, 'if-match: "a"\r\nif-none-match: "a"': 304, [`if-modified-since: ${own}`]: 304, [`if-modified-since: ${newer}`]: 304,
    [`if-modified-since: ${older}`]: 200, [`if-none-match: "b"\r\nif-modified-since: ${newer}`]: 200, 'if-none-match: *': 304
  }
  for (const [fields, status] of Object.entries(statuses)) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const text = await ask(server.port, `${method} / HTTP/1.1\r\nhost: localhost\r\n${method === 'POST' ? 'content-length: 0\r\n' : ''}${fields}\r\n`)
      assert.equal(Number(text.slice(9, 12)), method === 'POST' ? 200 : status, `${method} ${fields}`)
      if (status !== 200 && method === 'GET') assert.match(text, /\r\netag: "a"\r\n[^]*\r\n\r\n$/, fields)
    }
  }
  assert.match(await get(server.port, '/bare', 'if-match: "b"\r\n'), /^HTTP\/1\.1 201 /)
})

test('a handler that fails behind its upgrade ends no WebSocket, and is reported', async t => {
  const reported = []
  const server = serveFor(t, {
    async fetch (request, server) {
      assert.ok(server.upgrade(request))
      await null
      throw new Error('behind the upgrade')
    },
    error (error) { reported.push(error.message) },
    websocket: { message (ws, message) { ws.send(message) } }
  })
  const client = await open(t, h1, server.port)
  await client.write(frame(TEXT, 'alive'))
  assert.equal(String((await client.next())[1]), 'alive')
  assert.deepEqual(reported, ['behind the upgrade'])
})

test('a request of HTTP/1.0 is not upgraded', async t => {
  let opened = 0
  const server = serveFor(t, { fetch: (request, server) => new Response(`${server.upgrade(request)}`), websocket: { open () { opened++ } } })
  const fields = 'host: localhost\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  const socket = net.connect(server.port, '127.0.0.1')
  socket.write(`GET / HTTP/1.0\r\nconnection: Upgrade\r\n${fields}\r\n`)
  const pieces = []
  for await (const piece of socket) pieces.push(piece)
  assert.match(String(Buffer.concat(pieces)), /\r\n\r\nfalse$/)
  assert.equal(opened, 0)
})

test('two calls of stop(true) both end, and handlers of close are called before', async t => {
  const log = []
  const { server } = await socketOf(t, { close (ws, code) { log.push(code) } })
  // The client does not answer.
  await Promise.all([server.stop(true), server.stop(true), server.closed].map(async end => { await end; log.push('ended') }))
  assert.deepEqual(log.slice(1), ['ended', 'ended', 'ended'])
  assert.equal(server.pendingWebSockets, 0)
})

test('subscribe and unsubscribe say whether they count, close takes what has a text, and cork is called on its socket', async t => {
  let end
  const ended = new Promise(resolve => { end = resolve })
  const { ws } = await socketOf(t, { close: (_, ...told) => { end(told) } })
  assert.deepEqual([ws.subscribe('t'), ws.unsubscribe('t'), ws.unsubscribe('t')], [true, true, false])
  assert.throws(() => ws.subscribe(''), /^TypeError: the topic is empty/)
  assert.equal(ws.cork(function (own) { return this === ws && own === ws }), true)
  ws.close(4000, { toString () { ws.close(4001, 'inner'); return 'outer' } })
  assert.equal(ws.subscribe('t'), false)
  ws.terminate()
  await ended
})

test('binaryType is taken in every spelling of Bun, holds for pings too, and another is refused', async t => {
  const seen = []
  let wake
  const add = (...entry) => { seen.push(entry); wake?.() }
  const { ws, client } = await socketOf(t, { message: (_, message) => { add('message', message) }, ping: (_, data) => { add('ping', data) } })
  for (const [given, type] of Object.entries({ Buffer: 'nodebuffer', ArrayBuffer: 'arraybuffer', uint8array: 'uint8array', blob: 'blob' })) {
    ws.binaryType = given
    assert.equal(ws.binaryType, type)
    const classes = { nodebuffer: Buffer, arraybuffer: ArrayBuffer, uint8array: Uint8Array, blob: Blob }
    await client.write(Buffer.concat([frame(2, 'bytes'), frame(9, 'p')]))
    while (seen.length < 2) await new Promise(resolve => { wake = resolve })
    for (const [what, value] of seen.splice(0)) {
      assert.ok(value instanceof classes[type], `${what} ${type}`)
      assert.equal(Buffer.from(type === 'blob' ? await value.arrayBuffer() : value).toString(), what === 'ping' ? 'p' : 'bytes')
    }
  }
  assert.throws(() => { ws.binaryType = 'text' }, /^TypeError: binaryType is text; it must be 'nodebuffer', 'uint8array', 'arraybuffer', 'blob'/)
})

test('a Blob is a message of its bytes, in its place among the others, and a file of the disk is none', async t => {
  const { server, client, ws } = await socketOf(t, { publishToSelf: true, message (ws, message) { ws.send(message) } })
  ws.subscribe('all')
  const blob = new Blob([Buffer.alloc(300, 'b'), 'end'])
  const statuses = [ws.send('first'), ws.send(blob), ws.sendBinary(blob.slice(300)), ws.ping(blob.slice(300)), ws.pong(new File(['q'], 'name')), ws.publish('all', blob.slice(300)), server.publish('all', new Blob([])), ws.send('last')]
  assert.deepEqual(statuses, [5, 303, 3, 3, 1, 3, 0, 4])
  for (const [opcode, payload] of [[TEXT, 'first'], [BINARY, `${'b'.repeat(300)}end`], [BINARY, 'end'], [PING, 'end'], [PONG, 'q'], [BINARY, 'end'], [BINARY, ''], [TEXT, 'last']]) {
    const [found, bytes] = await client.next()
    assert.deepEqual([found, String(bytes)], [opcode, payload])
  }
  for (const send of [() => ws.send(file(certFile)), () => ws.ping(file(certFile)), () => server.publish('all', file(certFile))]) assert.throws(send, /send await file\.bytes\(\)/)
})

test('a message that is longer than backpressureLimit waits where no more than that waits already, and 0 is no bound', async t => {
  for (const [backpressureLimit, dropped] of [[1000, 0], [0, -1]]) {
    const { client, ws } = await socketOf(t, { backpressureLimit })
    const long = Buffer.alloc(1 << 20)
    const statuses = [ws.send('short'), ws.send(long), ws.send('late')]
    assert.deepEqual([statuses[0] !== 0, statuses[1], statuses[2]], [true, -1, dropped], `${backpressureLimit}`)
    assert.equal(String((await client.next())[1]), 'short')
    assert.equal((await client.next())[1].length, long.length)
    if (dropped !== 0) assert.equal(String((await client.next())[1]), 'late')
  }
})

test('perMessageDeflate says what compresses in the words of Bun, and other words are refused', async t => {
  const offers = { 'sec-websocket-extensions': 'permessage-deflate' }
  const cases = [[{ compress: false, decompress: false }, undefined], [{ compress: 'disable' }, undefined], [{ compress: true }, /no_context_takeover/], [{ compress: 'dedicated', decompress: 'dedicated' }, /^permessage-deflate$/], [{ decompress: 'shared' }, /permessage-deflate/]]
  for (const [perMessageDeflate, expected] of cases) {
    const server = serveFor(t, { fetch: (request, server) => { server.upgrade(request) }, websocket: { perMessageDeflate, open: ws => { ws.send('x'.repeat(5000)) } } })
    const client = await open(t, h1, server.port, offers)
    const found = client.headers['sec-websocket-extensions']
    if (expected === undefined) assert.equal(found, undefined)
    else assert.match(found, expected)
    const [, bytes] = await client.next()
    assert.equal(bytes.length < 5000, expected !== undefined && ![undefined, false, 'disable'].includes(perMessageDeflate.compress), JSON.stringify(perMessageDeflate))
  }
  for (const compress of ['much', 5, {}]) assert.throws(() => serve({ fetch () {}, websocket: { perMessageDeflate: { compress } } }), /perMessageDeflate\.compress is/)
})

test('a WebSocket is closed with what another was closed with: codes that are not sent leave the frame empty, and a reason has what fits', async t => {
  const closes = { 1000: 1000, 1001: 1001, 1014: 1014, 3000: 3000, 4999: 4999, 999: null, 1004: null, 1005: null, 1006: null, 1015: null, 2999: null, 5000: null, NaN: null, 1000.5: null }
  for (const [given, sent] of Object.entries(closes)) {
    const { client, ws } = await socketOf(t)
    ws.close(Number(given), 'why')
    const [opcode, payload] = await client.next()
    const expected = sent === null ? [] : [sent >> 8, sent & 255, ...Buffer.from('why')]
    assert.deepEqual([opcode, [...payload]], [CLOSE, expected], given)
  }
  const { client, ws } = await socketOf(t)
  for (const code of [null, '1000', 'x']) assert.throws(() => { ws.close(code) }, /^TypeError: the code of a close is a value of the type/)
  ws.close(1011, 'é'.repeat(100))
  const [, payload] = await client.next()
  assert.equal(String(payload.subarray(2)), 'é'.repeat(61))
})

test('a handler that fails is told to error with its socket, which closes with 1011', async t => {
  const failures = []
  let over
  const closed = new Promise(resolve => { over = resolve })
  const { client, ws } = await socketOf(t, {
    message (_, text) { throw new Error(text) },
    close () {
      over()
      throw new Error('closed')
    },
    error (...args) {
      failures.push(args)
      throw new Error('an error of its own is written to stderr')
    }
  })
  t.mock.method(console, 'error', () => {})
  await client.write(frame(TEXT, 'mine'))
  const [opcode, payload] = await client.next()
  assert.deepEqual([opcode, payload.readUInt16BE()], [CLOSE, 1011])
  await client.write(closing(1011))
  await closed
  assert.deepEqual(failures.map(([error, socket]) => [error.message, socket === ws]), [['mine', true], ['closed', true]])
})

test('an upgrade whose headers are refused leaves the request to its handler', async t => {
  const server = serveFor(t, {
    fetch (request, server) {
      try {
        server.upgrade(request, { headers: 5 })
      } catch (error) {
        return new Response(error.name, { status: 400 })
      }
    },
    websocket: { message () {} }
  })
  const asked = 'connection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  assert.match(await get(server.port, '/', asked), /^HTTP\/1\.1 400 [^]*TypeError$/)
})

test('unix: false is none, as with Bun, and another value that is no string is named', async t => {
  const server = serveFor(t, { unix: false, fetch: () => new Response('x') })
  assert.match(await get(server.port, '/', 'connection: close\r\n'), /^HTTP\/1\.1 200 /)
  for (const unix of [true, 0, Buffer.from('/a'), new URL('file:///a'), { toString: () => '/a' }]) {
    assert.throws(() => serve({ unix, fetch: () => new Response('x') }), { name: 'TypeError', message: /^unix is [^]+; it must be a string$/ })
  }
})

test('an empty unix is none, and closeIdleConnections says how many it closes', async t => {
  const server = serveFor(t, { unix: '', fetch: () => new Response('x') })
  assert.equal(server.closeIdleConnections(), 0)
  const clients = [0, 1].map(() => net.connect(server.port, '127.0.0.1'))
  for (const client of clients) {
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(client, 'data')
  }
  const closed = clients.map(client => once(client.resume(), 'close'))
  // A client may have its answer before its connection is idle here.
  let count = 0
  while (count < clients.length) {
    count += server.closeIdleConnections()
    await new Promise(resolve => { setImmediate(resolve) })
  }
  assert.equal(count, clients.length)
  await Promise.all(closed)
  assert.equal(server.closeIdleConnections(), 0)
})

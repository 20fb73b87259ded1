// Sockets of upgrades, of CONNECT and of refusals that their program destroys in the turn in which it writes to them: what was
// written leaves, and an end follows it. Those that it ends without an answer, and those that their client resets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const ASKED = {
  upgrade: ['GET /a HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: tea\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tea\r\n\r\n'],
  connect: ['CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 'HTTP/1.1 200 Established\r\n\r\n']
}
/** More than the engine takes at once. */
const PIECES = 8
const PIECE = Buffer.alloc(100_000, 'x')
/** Requests beside another, while something that is due at once may take. */
const ROUNDS = 200
const LEFT = {
  destroy: socket => { socket.destroy() },
  'destroy behind end': socket => { socket.end(); socket.destroy() },
  destroySoon: socket => { socket.destroySoon() }
}

async function started (t, isSecure) {
  const server = isSecure ? createSecureServer({ cert, key, allowHTTP1: true }) : createServer()
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

for (const isSecure of [false, true]) {
  const below = isSecure ? ' under TLS' : ''
  for (const [event, [text, head]] of Object.entries(ASKED)) {
    for (const [way, leave] of Object.entries(LEFT)) {
      test(`all that was written to the socket of ${event}${below} arrives although ${way} follows in the same turn`, async t => {
        const server = await started(t, isSecure)
        server.on(event, (request, socket) => {
          socket.on('error', () => {})
          socket.write(head)
          for (let piece = 0; piece < PIECES; piece++) socket.write(PIECE)
          leave(socket)
        })
        const { port } = server.address()
        const client = isSecure ? tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert }) : net.connect(port, '127.0.0.1')
        t.after(() => { client.destroy() })
        client.write(text)
        let length = 0
        client.on('data', piece => { length += piece.length })
        await once(client, 'end')
        assert.equal(length, head.length + PIECES * PIECE.length)
      })
    }
  }
}

for (const refusal of ['HTTP/1.1 401 Unauthorized\r\n\r\n', 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\nwho are you?']) {
  test(`a refusal behind which the socket is destroyed is whole for its client: ${JSON.stringify(refusal)}`, async t => {
    const server = await started(t, false)
    server.on('upgrade', (request, socket) => {
      socket.write(refusal)
      socket.destroy()
    })
    const asked = http.get({ port: server.address().port, host: '127.0.0.1', headers: { connection: 'Upgrade', upgrade: 'websocket' } })
    const [response] = await once(asked, 'response')
    assert.equal(response.statusCode, 401)
    let body = ''
    for await (const piece of response) body += piece
    assert.equal(body, refusal.split('\r\n\r\n')[1])
    assert.equal(response.complete, true)
  })
}

/** A server that takes extended CONNECT, and what asks it by one over HTTP/2. */
async function askedByConnect (t) {
  const server = createServer({ settings: { enableConnectProtocol: true } })
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => { session.destroy() })
  await once(session, 'remoteSettings')
  return { server, asked: () => session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/', ':scheme': 'http', ':authority': 'a' }) }
}

for (const [refusal, body] of [['HTTP/1.1 401 Unauthorized\r\n\r\n', ''], ['HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\nwho are you?', 'who are you?']]) {
  test(`a refusal of an extended CONNECT of HTTP/2 behind which the socket is destroyed is whole for its client: ${JSON.stringify(refusal)}`, async t => {
    const { server, asked } = await askedByConnect(t)
    server.on('upgrade', (request, socket) => {
      socket.write(refusal)
      socket.destroy()
    })
    const stream = asked()
    const got = []
    stream.on('response', head => { got.push(head[':status']) })
    stream.setEncoding('utf8')
    let text = ''
    stream.on('data', piece => { text += piece })
    await once(stream, 'end')
    assert.deepEqual([...got, text], [401, body])
  })
}

for (const isSecure of [false, true]) {
  for (const [event, [text]] of Object.entries(ASKED)) {
    for (const begun of ['', 'HTTP/1.1 4']) {
      test(`the connection of ${event}${isSecure ? ' under TLS' : ''} ends where its socket is ended behind ${begun === '' ? 'nothing' : 'a part of a head'}`, async t => {
        const server = await started(t, isSecure)
        server.on(event, (request, socket) => { socket.end(begun) })
        const { port } = server.address()
        const client = isSecure ? tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert }) : net.connect(port, '127.0.0.1')
        t.after(() => { client.destroy() })
        client.on('error', () => {}).resume().write(text)
        await new Promise(resolve => { client.on('close', resolve) })
        await new Promise(resolve => { server.close(resolve) })
      })
    }
  }
}

test('an extended CONNECT of HTTP/2 whose socket is ended behind nothing is reset', async t => {
  const { server, asked } = await askedByConnect(t)
  server.on('upgrade', (request, socket) => { socket.end() })
  const stream = asked()
  stream.on('error', () => {})
  await new Promise(resolve => { stream.on('close', resolve) })
  assert.equal(stream.rstCode, http2.constants.NGHTTP2_CANCEL)
})

/** Bodies of refusals whose heads say that they are chunked, in the pieces in which they are written, and what their client reads. */
const CHUNKED = {
  'in chunks': [['2\r\nno\r\n', '5;a=b\r\n, not', '\r\n0\r\n\r\n'], 'no, not'],
  'in one piece of chunks': [['3\r\nnot\r\n0\r\n\r\n'], 'not'],
  'as http-proxy writes them, without chunks': [['no, ', 'not'], 'no, not']
}

for (const [how, [pieces, body]] of Object.entries(CHUNKED)) {
  const write = (request, socket) => {
    socket.write('HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const piece of pieces) socket.write(piece)
    socket.end()
  }
  test(`the body of a refusal of an upgrade that is written ${how} is that of its client`, async t => {
    const server = await started(t, false)
    server.on('upgrade', write)
    const asked = http.get({ port: server.address().port, host: '127.0.0.1', headers: { connection: 'Upgrade', upgrade: 'websocket' } })
    const [response] = await once(asked, 'response')
    let text = ''
    for await (const piece of response) text += piece
    assert.deepEqual([response.statusCode, text], [401, body])
  })
  test(`the body of a refusal of an extended CONNECT of HTTP/2 that is written ${how} is that of its client`, async t => {
    const { server, asked } = await askedByConnect(t)
    server.on('upgrade', write)
    const stream = asked()
    stream.setEncoding('utf8')
    let text = ''
    stream.on('data', piece => { text += piece })
    await once(stream, 'end')
    assert.equal(text, body)
  })
}

for (const text of ['Content-Length: 2\r\n\r\nno', 'Content-Length: 0\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n']) {
  test(`a whole refusal of an extended CONNECT of HTTP/2 arrives although its socket stays open: ${JSON.stringify(text)}`, async t => {
    const { server, asked } = await askedByConnect(t)
    server.on('upgrade', (request, socket) => { socket.write(`HTTP/1.1 401 Unauthorized\r\n${text}`) })
    const stream = asked()
    stream.setEncoding('utf8')
    let got = ''
    stream.on('data', piece => { got += piece })
    await once(stream, 'end')
    assert.equal(got, text.includes('no') ? 'no' : '')
  })
}

for (const ends of ['with it', 'later']) {
  test(`the socket of an extended CONNECT of HTTP/2 that is refused and ended ${ends} closes with its stream`, async t => {
    const { server, asked } = await askedByConnect(t)
    const closed = new Promise(resolve => {
      server.on('upgrade', (request, socket) => {
        socket.on('close', resolve)
        const refusal = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'
        if (ends === 'with it') return void socket.end(refusal)
        socket.write(refusal)
        setImmediate(() => { socket.end() })
      })
    })
    // The client leaves its side open.
    const stream = asked().resume()
    await Promise.all([new Promise(resolve => { stream.on('close', resolve) }), closed])
    assert.equal(stream.rstCode, http2.constants.NGHTTP2_NO_ERROR)
    assert.equal(await closed, false)
  })
}

test('an answer without a length that a listener writes to the socket of a request ends its connection, although the body of the request has not come', async t => {
  const server = createServer({ requests: 'http' }, (request, response) => {
    if (request.method === 'GET') response.end()
    else request.socket.end('HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n\r\nlong')
  })
  const agent = new http.Agent({ keepAlive: true })
  t.after(() => {
    agent.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const client = net.connect(port, '127.0.0.1')
  t.after(() => { client.destroy() })
  client.setEncoding('latin1').write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\na')
  let got = ''
  client.on('data', piece => { got += piece })
  while (!got.includes('long')) await once(client, 'data')
  // Others go on meanwhile, and this one does not wait for a timeout.
  for (let round = 0; round < ROUNDS && !client.readableEnded; round++) {
    const [response] = await once(http.get({ port, host: '127.0.0.1', agent }), 'response')
    await once(response.resume(), 'end')
  }
  assert.match(got, /^HTTP\/1\.1 413 /)
  assert.equal(client.readableEnded, true)
})

/** Requests of HTTP/1.1 that are refused without a listener of requests, with the options of their server. */
const UNSERVED = {
  'whose head is as long as none may be': [{ maxHeaderSize: 1024 }, `GET / HTTP/1.1\r\nhost: a\r\nx-a: ${'a'.repeat(1024)}\r\n\r\n`],
  'whose body does not come in time': [{ requestTimeout: 200, headersTimeout: 100, connectionsCheckingInterval: 50 }, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n']
}

for (const [what, [options, text]] of Object.entries(UNSERVED)) {
  test(`a listener of clientError answers a request ${what} although it destroys the socket in the same turn`, async t => {
    const server = createServer({ requests: 'http', ...options }, () => {})
    server.on('clientError', (error, socket) => {
      socket.write('HTTP/1.1 418 Not Served\r\nContent-Length: 2\r\n\r\nno')
      socket.destroy(error)
    })
    t.after(() => { server.close() })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = net.connect(server.address().port, '127.0.0.1')
    t.after(() => { client.destroy() })
    client.setEncoding('latin1').write(text)
    let got = ''
    client.on('data', piece => { got += piece })
    await once(client, 'end')
    assert.deepEqual([got.split('\r\n')[0], got.slice(-2)], ['HTTP/1.1 418 Not Served', 'no'])
  })
}

for (const listens of [true, false]) {
  test(`the socket of an upgrade whose client resets it has no end in order, ${listens ? 'and the error of that' : 'and closes where nothing listens to errors'}`, async t => {
    const server = await started(t, false)
    const seen = []
    const over = new Promise(resolve => {
      server.on('upgrade', (request, socket) => {
        if (listens) socket.on('error', error => { seen.push(error.code) })
        socket.on('end', () => { seen.push('end') })
        socket.on('close', () => { resolve() })
        socket.resume().write(ASKED.upgrade[1])
      })
    })
    const client = net.connect(server.address().port, '127.0.0.1')
    client.write(ASKED.upgrade[0])
    await once(client, 'data')
    client.resetAndDestroy()
    await over
    assert.deepEqual(seen, listens ? ['ECONNRESET'] : [])
  })
}

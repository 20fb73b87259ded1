// An answer that its server gives up in the middle is a broken one for its client, on every version and
// whichever way it was given up.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable, pipeline } from 'node:stream'
import test from 'node:test'
import { createSecureServer, createServer } from 'trunkline'
import { all, clients } from '../behaviour/clients.mjs'
import { versions } from '../../support/clients/clients.mjs'

const LARGE = Buffer.alloc(1 << 20, 'x')
const INTERNAL_ERROR = 2
const CANCEL = 8

/** A listener's action when its client has the beginning of the response; the code on HTTP/2. */
const ways = {
  'a response is destroyed': [response => { response.destroy() }, CANCEL],
  'a response is destroyed with an error': [response => { response.destroy(new Error('broken')) }, INTERNAL_ERROR],
  'the socket of a request is destroyed': [(_, request) => { request.socket.destroy() }, CANCEL],
  'the socket of a request is destroyed with an error': [(_, request) => { request.socket.destroy(new Error('broken')) }, INTERNAL_ERROR],
  'the source of a pipeline fails': [response => {
    const source = Readable.from((async function * () {
      yield 'more'
      throw new Error('broken')
    })())
    pipeline(source, response, () => {})
  }, INTERNAL_ERROR],
  'a body is destroyed that nobody reads as fast as it was written': [response => {
    response.write(LARGE)
    response.end(LARGE)
    response.destroy()
  }, CANCEL]
}
/** As `ways`, of the core API. */
const waysOfStreams = {
  'a stream is destroyed': [stream => { stream.destroy() }, CANCEL],
  'a stream is destroyed with an error': [stream => { stream.destroy(new Error('broken')) }, INTERNAL_ERROR],
  'a stream is closed with a code': [stream => { stream.close(11) }, 11],
  'a stream is closed and has more to send than the connection took': [stream => {
    for (let piece = 0; piece < 4; piece++) stream.write(LARGE)
    stream.close()
  }, CANCEL],
  'a stream is closed, and destroyed before its end has gone': [stream => {
    for (let piece = 0; piece < 4; piece++) stream.write(LARGE)
    stream.end()
    stream.close()
    stream.destroy()
  }, CANCEL]
}

/** A server with these listeners; a listener that fails a response affects no other. */
async function listening ({ options: { tls, http3 } }, listeners) {
  const server = tls === undefined ? createServer() : createSecureServer({ ...tls, allowHTTP1: true, http3 })
  for (const [event, listener] of Object.entries(listeners)) server.on(event, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Asks, calls `breaks` when the beginning is there, and asserts that the end is none. */
async function asserts ({ name, protocol }, server, breaks, code) {
  const client = clients[name](server.address().port)
  try {
    const conversation = client.begin('/')
    conversation.end()
    await conversation.head
    await once(conversation.body, 'readable')
    conversation.body.on('error', () => {})
    breaks()
    await assert.rejects(conversation.rest())
    if (protocol === 'h2') assert.equal(conversation.stream.rstCode, code)
    // The server goes on.
    assert.equal(String((await client.ask('/whole')).body), 'whole')
  } finally {
    await client.close()
    server.compatServer.destroy()
  }
}

for (const version of versions) {
  for (const [way, [breaks, code]] of Object.entries(ways)) {
    test(`${version.name}: ${way}`, async () => {
      let exchange
      const server = await listening(version, {
        request (request, response) {
          if (request.url === '/whole') return response.end('whole')
          for (const one of [request, response]) one.on('error', () => {})
          exchange = [response, request]
          response.write('begun')
        }
      })
      await asserts(version, server, () => { breaks(...exchange) }, code)
    })
  }
  if (version.protocol === 'http/1.1') continue
  for (const [way, [breaks, code]] of Object.entries(waysOfStreams)) {
    test(`${version.name}: ${way}`, async () => {
      let broken
      const server = await listening(version, {
        stream (stream, headers) {
          if (headers[':path'] === '/whole') {
            stream.respond()
            return stream.end('whole')
          }
          broken = stream
          stream.on('error', () => {})
          stream.respond()
          stream.write('begun')
        }
      })
      await asserts(version, server, () => { breaks(broken) }, code)
    })
  }
}

test('h1: a response that is destroyed has no last chunk, and its connection ends', async () => {
  const server = await listening(versions[0], {
    request (request, response) {
      request.on('error', () => {})
      response.write('begun', () => { response.destroy() })
    }
  })
  try {
    const socket = connect(server.address().port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const text = String(await all(socket))
    assert.match(text, /Transfer-Encoding: chunked\r\n[^]*5\r\nbegun\r\n$/)
  } finally {
    server.compatServer.destroy()
  }
})

test('a stream that is closed without a code behind what it has sent ends whole, as on node:http2', async () => {
  const version = versions.find(({ name }) => name === 'h2c')
  const server = await listening(version, {
    stream (stream) {
      stream.respond()
      stream.write('all of it')
      stream.close()
    }
  })
  const client = clients.h2c(server.address().port)
  try {
    assert.equal(String((await client.ask('/')).body), 'all of it')
  } finally {
    await client.close()
    server.compatServer.destroy()
  }
})

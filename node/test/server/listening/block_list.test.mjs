// `blockList` of net.Server: who is on it gets no connection, on every version, and listeners know nothing of it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { Agent, createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const blocking = address => {
  const list = new net.BlockList()
  list.addAddress(address)
  return list
}
const isKnown = net.createServer({ blockList: blocking('127.0.0.1') }).blockList !== undefined
const skip = isKnown ? false : 'this line of Node.js has no blockList'
const EVENTS = ['connection', 'secureConnection', 'session', 'stream', 'request', 'drop', 'clientError', 'tlsClientError']

const CLEARTEXT = options => createServer(options)
const SECURE = options => createSecureServer({ cert, key, allowHTTP1: true, http3: true, ...options })
const REQUEST = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'

/** Waits for the end of what may fail. */
const closing = emitter => new Promise(resolve => { emitter.once('close', resolve) })

/** The bytes of an answer, or none. */
async function bytesOf (socket) {
  socket.on('error', () => {})
  socket.write(REQUEST)
  let text = ''
  socket.on('data', piece => { text += piece })
  await closing(socket)
  return text
}
/** The status of a session's request; undefined: it has none. */
async function statusOf (session) {
  session.on('error', () => {})
  const stream = session.request().on('error', () => {}).resume()
  let status
  stream.on('response', head => { status = head[':status'] })
  await closing(stream)
  session.destroy()
  return status
}
const CLIENTS = {
  'HTTP/1.1': [CLEARTEXT, port => bytesOf(net.connect(port, '127.0.0.1'))],
  'HTTP/2': [CLEARTEXT, port => statusOf(http2.connect(`http://127.0.0.1:${port}`))],
  'HTTP/1.1 over TLS': [SECURE, port => bytesOf(tls.connect({ port, host: '127.0.0.1', ca: cert, servername: 'localhost', ALPNProtocols: ['http/1.1'] }))],
  'HTTP/2 over TLS': [SECURE, port => statusOf(http2.connect(`https://127.0.0.1:${port}`, { ca: cert, servername: 'localhost' }))],
  'HTTP/3': [SECURE, async port => {
    const agent = new Agent({ http3: 'only', connect: { ca: cert, lookup: (host, options, done) => { done(null, '127.0.0.1', 4) } } })
    try {
      const { statusCode, body } = await agent.request({ origin: `https://localhost:${port}`, path: '/', method: 'GET' })
      await body.dump()
      return statusCode
    } catch {
      return undefined
    } finally {
      await agent.destroy()
    }
  }],
  // Its handshake fails.
  'no TLS': [SECURE, port => bytesOf(net.connect(port, '127.0.0.1'))]
}

for (const [what, [make, ask]] of Object.entries(CLIENTS)) {
  test(`a client on the blockList gets no connection: ${what}`, { skip }, async () => {
    for (const [address, isBlocked] of [['127.0.0.1', true], ['192.0.2.1', false]]) {
      const events = []
      const server = make({ blockList: blocking(address) }).listen(0, '127.0.0.1')
      server.on('request', (request, response) => { response.end('ok') })
      for (const event of EVENTS) server.on(event, () => { events.push(event) })
      await once(server, 'listening')
      const answer = await ask(server.address().port)
      server.compatServer.destroy()
      if (isBlocked) assert.deepEqual(events, [])
      else assert.notDeepEqual(events, [])
      if (what === 'no TLS') continue
      assert.equal(/200/.test(answer), !isBlocked, `${answer}`)
    }
  })
}

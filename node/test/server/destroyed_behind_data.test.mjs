// Requests in the form of node:http that came whole at once and are destroyed by their reader behind the last piece, before they have ended.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import tls from 'node:tls'
import { pipeline, Writable } from 'node:stream'
import { createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const POST = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc'
const SERVERS = {
  cleartext: [handler => createServer({ requests: 'http' }, handler), port => net.connect(port, '127.0.0.1')],
  TLS: [
    handler => createSecureServer({ cert, key, allowHTTP1: true }, handler),
    port => tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: ['http/1.1'] })
  ]
}
const failure = new Error('enough')
/** Readers that destroy a request with that error. */
const DESTROYS = {
  'a listener of data, a tick later': request => { request.on('data', () => { process.nextTick(() => { request.destroy(failure) }) }) },
  'a listener of data, in a microtask': request => { request.on('data', () => { queueMicrotask(() => { request.destroy(failure) }) }) },
  'an iteration that awaits': request => { iterate(request).catch(() => {}) },
  'a pipeline that fails': request => { pipeline(request, new Writable({ write (_piece, _encoding, done) { done(failure) } }), () => {}) }
}
async function iterate (request) {
  for await (const _ of request) {
    await null
    request.destroy(failure)
  }
}

for (const [over, [serve, connect]] of Object.entries(SERVERS)) {
  for (const [reader, read] of Object.entries(DESTROYS)) {
    test(`over ${over} a request that is destroyed at its last piece by ${reader} is aborted and has its error`, async t => {
      const events = []
      const server = serve()
      t.after(() => { server.close() })
      const closed = new Promise(resolve => {
        server.on('request', (request, response) => {
          for (const event of ['aborted', 'end']) request.on(event, () => { events.push(event) })
          request.on('error', error => { events.push(error) }).on('close', resolve)
          t.after(() => { response.destroy() })
          read(request)
        })
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const client = connect(server.address().port).on('error', () => {})
      t.after(() => { client.destroy() })
      client.write(POST)
      await closed
      assert.deepEqual(events, ['aborted', failure])
      // A pipeline leaves the connection for an answer, as with node.
      if (!reader.includes('pipeline')) await once(client.resume(), 'close')
    })
  }
}

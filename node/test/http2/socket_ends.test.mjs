// The events with which sockets of a server's sessions end, on node:http2's server and on this package's: programs count open
// connections by them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import test from 'node:test'
import ours from 'trunkline/http2'
import { certificate } from '../support/certificates/certificates.mjs'

const MODULES = { 'node:http2': nodeHttp2, trunkline: ours }
const WAYS = { clear: ['http', 'createServer', 'connection'], tls: ['https', 'createSecureServer', 'secureConnection'] }

/** For each end of a session: whether its request stays open, its cause, and the events that follow. Sockets of node:tls whose session is
 * destroyed have an `end` too, and not the error, where that comes late. */
const ENDS = {
  'its client ends the socket within a response': [true, ({ socket }) => { socket.end() }, ['end', 'finish', 'close false']],
  'its client ends the socket while it idles': [false, ({ socket }) => { socket.end() }, ['end', 'finish', 'close false']],
  'its client destroys the session': [true, ({ client }) => { client.destroy() }, ['end', 'finish', 'close false']],
  'the server closes it': [false, ({ session }) => { session.close() }, ['finish', 'end', 'close false']],
  'the server destroys it': [true, ({ session }) => { session.destroy() }, ['finish', 'close false']],
  'the server destroys it with an error': [true, ({ session }) => { session.destroy(new Error('over')) }, ['finish', 'error over', 'close true']]
}

for (const [name, http2] of Object.entries(MODULES)) {
  for (const [way, [scheme, make, event]] of Object.entries(WAYS)) {
    for (const [end, [isOpen, act, expected]] of Object.entries(ENDS)) {
      if (http2 === nodeHttp2 && way === 'tls' && end.startsWith('the server destroys')) continue
      test(`${name}, ${way}: the events of a socket where ${end}`, async t => {
        const server = http2[make](certificate())
        t.after(() => new Promise(resolve => { server.close(resolve) }))
        const seen = []
        const closed = new Promise(resolve => {
          server.on(event, socket => {
            for (const ended of ['end', 'finish']) socket.on(ended, () => { seen.push(ended) })
            socket.on('error', ({ message }) => { seen.push(`error ${message}`) })
            socket.on('close', hadError => { seen.push(`close ${hadError}`); resolve() })
          })
        })
        const sessions = []
        server.on('session', session => { sessions.push(session); session.on('error', () => {}) })
        server.on('stream', stream => {
          stream.on('error', () => {}).respond()
          if (isOpen) stream.write('x')
          else stream.end('x')
        })
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const client = nodeHttp2.connect(`${scheme}://127.0.0.1:${server.address().port}`, { rejectUnauthorized: false })
        client.on('error', () => {})
        const [, socket] = await once(client, 'connect')
        const request = client.request()
        request.on('error', () => {}).resume()
        await once(request, isOpen ? 'data' : 'close')
        act({ client, socket, session: sessions[0] })
        await closed
        assert.deepEqual(seen, expected)
        client.destroy()
      })
    }
  }
}

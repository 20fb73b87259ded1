// Frames that come together: what waits for the event of one listens to that of the next, on node:http2 itself and on trunkline/http2.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import nodeHttp2 from 'node:http2'
import test from 'node:test'
import ours from 'trunkline/http2'
import { DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, frame, numbers } from '../support/servers/h2_frames.mjs'

const MODULES = { 'node:http2': nodeHttp2, trunkline: ours }
const INTERNAL_ERROR = 2
const ACK = 1
const none = Buffer.alloc(0)
const head = (stream, flags = END_HEADERS) => frame(HEADERS, flags, stream, Buffer.from([0x88]))
const settings = Buffer.concat([frame(SETTINGS, 0, 0, none), frame(SETTINGS, ACK, 0, none)])
const reset = stream => frame(RST_STREAM, 0, stream, numbers(INTERNAL_ERROR))
const ping = frame(PING, 0, 0, Buffer.alloc(8))
const goaway = frame(GOAWAY, 0, 0, numbers(1, INTERNAL_ERROR))
const trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.from([0x40, 1, 0x74, 1, 0x31]))

/** A session to a server that sends its settings when the preface comes, and what `send` is given later. */
async function connected (t, http2, behindSettings = []) {
  const server = net.createServer(socket => {
    socket.on('error', () => {}).once('data', () => { socket.write(Buffer.concat([settings, ...behindSettings])) }).resume()
  }).listen(0, '127.0.0.1')
  const [[socket], session] = await Promise.all([
    once(server, 'connection'),
    once(server, 'listening').then(() => http2.connect(`http://127.0.0.1:${server.address().port}`))
  ])
  t.after(() => {
    session.destroy()
    socket.destroy()
    server.close()
  })
  return { session, send: (...frames) => { socket.write(Buffer.concat(frames)) } }
}

/** Ends with the first event of these: its name, or the code of its error. */
const firstOf = (emitter, ...names) => new Promise(resolve => {
  for (const name of names) emitter.once(name, value => { resolve(value?.code ?? name) })
})

for (const [name, http2] of Object.entries(MODULES)) {
  test(`${name}: what has waited for a response listens to the error of a reset right behind it`, async t => {
    const { session, send } = await connected(t, http2)
    await once(session, 'localSettings')
    const request = session.request({ ':method': 'POST' })
    send(head(1), reset(1))
    await once(request, 'response')
    assert.equal(await firstOf(request, 'error', 'close'), 'ERR_HTTP2_STREAM_ERROR')
  })

  test(`${name}: what has waited for a response listens to the error of a GOAWAY right behind it`, async t => {
    const { session, send } = await connected(t, http2)
    session.on('error', () => {})
    await once(session, 'localSettings')
    const request = session.request({ ':method': 'POST' })
    send(head(1), goaway)
    await once(request, 'response')
    assert.deepEqual(await Promise.all([firstOf(session, 'goaway', 'close'), firstOf(request, 'error', 'close')]), ['goaway', 'ERR_HTTP2_SESSION_ERROR'])
  })

  test(`${name}: what has waited for one response gets the next one, which came with it`, async t => {
    const { session, send } = await connected(t, http2)
    await once(session, 'localSettings')
    const [first, second] = [session.request(), session.request()]
    send(head(1, END_HEADERS | END_STREAM), head(3, END_HEADERS | END_STREAM))
    await once(first, 'response')
    second.resume()
    assert.equal(await firstOf(second, 'response', 'close'), 'response')
  })

  test(`${name}: what has waited for a response gets the trailers that came with it`, async t => {
    const { session, send } = await connected(t, http2)
    await once(session, 'localSettings')
    const request = session.request()
    send(head(1), frame(DATA, 0, 1, Buffer.from('body')), trailers)
    await once(request, 'response')
    request.resume()
    assert.equal(await firstOf(request, 'trailers', 'close'), 'trailers')
  })

  test(`${name}: what has waited for the server's settings hears that it took ours, of a ping and of a GOAWAY`, async t => {
    const { session } = await connected(t, http2, [ping, goaway])
    session.on('error', () => {})
    const seen = []
    for (const event of ['remoteSettings', 'localSettings', 'ping', 'goaway']) {
      seen.push(await Promise.race([once(session, event).then(() => event), once(session, 'close').then(() => 'close')]))
    }
    assert.deepEqual(seen, ['remoteSettings', 'localSettings', 'ping', 'goaway'])
  })
}

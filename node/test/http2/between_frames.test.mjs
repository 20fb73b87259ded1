// Frames that come together: what waits for the event of one listens to that of the next, on node:http2 itself and on trunkline/http2.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import nodeHttp2 from 'node:http2'
import { text } from 'node:stream/consumers'
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

const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings])
const request = (method, stream, flags) => frame(HEADERS, flags, stream, Buffer.from([method, 0x84, 0x86, 0x41, 1, 0x61]))
const get = stream => request(0x82, stream, END_HEADERS | END_STREAM)
const post = stream => request(0x83, stream, END_HEADERS)

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

  test(`${name}: trailers that come too late for a server which has answered and reset the stream without an error do not fail it`, async t => {
    const { session, send } = await connected(t, http2)
    await once(session, 'localSettings')
    const request = session.request({ ':method': 'POST' }, { waitForTrailers: true })
    const errors = []
    request.on('error', error => { errors.push(error.code) }).end('a body')
    await once(request, 'wantTrailers')
    request.once('response', () => { request.sendTrailers({ 'x-late': 'yes' }) })
    send(head(1), frame(DATA, END_STREAM, 1, Buffer.from('whole')), frame(RST_STREAM, 0, 1, numbers(0)))
    const [answer] = await Promise.all([text(request).catch(() => 'cut'), new Promise(resolve => { request.once('close', resolve) })])
    assert.deepEqual([answer, errors, request.rstCode], ['whole', [], 0])
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

  /** The first stream of a server that gets these frames together. */
  const served = async (t, ...frames) => {
    const server = http2.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = net.connect(server.address().port, '127.0.0.1').resume()
    t.after(() => {
      socket.destroy()
      server.close()
    })
    const [[session]] = await Promise.all([once(server, 'session'), once(socket, 'connect').then(() => { socket.write(preface) })])
    session.on('error', () => {})
    await once(session, 'localSettings')
    socket.write(Buffer.concat(frames))
    const [stream] = await once(server, 'stream')
    t.after(() => { stream.on('error', () => {}) })
    return { server, session, stream: stream.resume() }
  }

  test(`${name}: a server that has waited for a stream listens to the reset right behind its head`, async t => {
    const { stream } = await served(t, post(1), reset(1))
    const ends = Promise.all([firstOf(stream, 'aborted', 'close'), firstOf(stream, 'error', 'close')])
    assert.deepEqual(await ends, ['aborted', 'ERR_HTTP2_STREAM_ERROR'])
  })

  test(`${name}: a server that has waited for a stream gets the trailers that came with its head`, async t => {
    const { stream } = await served(t, post(1), frame(DATA, 0, 1, Buffer.from('body')), trailers)
    stream.respond()
    stream.end()
    assert.equal(await firstOf(stream, 'trailers', 'close'), 'trailers')
  })

  test(`${name}: a server that has waited for a stream hears of a ping and a GOAWAY that came with its head`, async t => {
    const { session, stream } = await served(t, post(1), ping, frame(GOAWAY, 0, 0, numbers(0, INTERNAL_ERROR)))
    stream.on('error', () => {})
    assert.equal(await firstOf(session, 'ping', 'goaway', 'close'), 'ping')
    assert.equal(await firstOf(session, 'goaway', 'close'), 'goaway')
  })

  test(`${name}: a server that has waited for one stream gets the next one, which came with it`, async t => {
    const { server } = await served(t, get(1), get(3))
    const [stream] = await once(server, 'stream')
    stream.on('error', () => {})
    assert.equal(stream.id, 3)
  })
}

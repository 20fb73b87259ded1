// A server that breaks a rule in the middle of a response: the readers of the session's streams get its error, as with
// node:http2 where its library ends the session at once, and no body that was cut looks whole.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import net from 'node:net'
import { Duplex } from 'node:stream'
import test from 'node:test'
import ours from 'trunkline/http2'
import { DATA, END_HEADERS, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, frame, numbers } from '../support/servers/h2_frames.mjs'

const [WINDOW_UPDATE, CONTINUATION] = [8, 9]
const broken = {
  'a PING of five bytes': frame(PING, 0, 0, Buffer.alloc(5)),
  'DATA on no stream': frame(DATA, 0, 0, Buffer.from('x')),
  'a window above 2^31-1': frame(WINDOW_UPDATE, 0, 0, Buffer.from([0x7f, 255, 255, 255])),
  'CONTINUATION behind no head': frame(CONTINUATION, 0, 1, Buffer.from([0x88]))
}

/** A server that answers the first bytes of a client with the head of a response, a part of its body, and `bytes`. */
async function serve (t, bytes) {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    t.after(() => { socket.destroy() })
    socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)))
    let came = Buffer.alloc(0)
    socket.on('data', function receive (piece) {
      came = Buffer.concat([came, piece])
      // HEADERS of stream 1, with a priority or without one, behind the client's preface and SETTINGS.
      if (![0x05, 0x25].some(flags => came.includes(Buffer.from([HEADERS, flags, 0, 0, 0, 1])))) return
      socket.off('data', receive).resume()
      socket.write(Buffer.concat([frame(HEADERS, END_HEADERS, 1, Buffer.from([0x88])), frame(DATA, 0, 1, Buffer.from('part')), bytes]))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.close() })
  return `http://127.0.0.1:${server.address().port}`
}

/** The errors of the session, of the stream and of the reader of its body. */
async function errors (module, url) {
  const session = module.connect(url)
  const failed = once(session, 'error').then(([error]) => error)
  const closed = once(session, 'close').catch(() => {})
  const stream = session.request({ ':path': '/' })
  const streamFailed = new Promise(resolve => {
    let seen
    stream.on('error', error => { seen = error })
    stream.on('close', () => { resolve(seen) })
  })
  const read = (async () => { for await (const piece of stream) void piece })().then(() => undefined, error => error)
  const all = await Promise.all([failed, streamFailed, read])
  await closed
  return all.map(error => error?.code ?? String(error))
}

/** The text that a reader of a response gets in pieces, and the code of the error behind them. */
async function readOne (module, url) {
  const session = module.connect(url)
  session.on('error', () => {})
  const closed = new Promise(resolve => { session.on('close', resolve) })
  let text = ''
  try {
    for await (const piece of session.request({ ':path': '/' })) text += piece
    return [text, 'an end']
  } catch (error) {
    return [text, error.code]
  } finally {
    session.destroy()
    await closed
  }
}

const due = Array(3).fill('ERR_HTTP2_ERROR')

for (const [name, bytes] of Object.entries(broken)) {
  test(`readers get the error of a session whose server sends ${name}`, async t => {
    assert.deepEqual(await errors(ours, await serve(t, bytes)), due)
  })
}

test('readers of node:http2 get the error of a session whose window is exceeded, too', async t => {
  assert.deepEqual(await errors(nodeHttp2, await serve(t, broken['a window above 2^31-1'])), due)
})

/** Ends that cut a response short, in the segment that brings the last of its body. */
const cutting = {
  ...broken,
  'a reset with CANCEL': frame(RST_STREAM, 0, 1, numbers(8)),
  'a reset with INTERNAL_ERROR': frame(RST_STREAM, 0, 1, numbers(2)),
  'a GOAWAY with INTERNAL_ERROR': frame(GOAWAY, 0, 0, numbers(1, 2)),
  'more of the body and a reset': Buffer.concat([frame(DATA, 0, 1, Buffer.from('s and more')), frame(RST_STREAM, 0, 1, numbers(2))])
}
for (const [name, bytes] of Object.entries(cutting)) {
  test(`a reader by for await gets the pieces that came before ${name}, and then the error`, async t => {
    const url = await serve(t, bytes)
    const [text, code] = await readOne(ours, url)
    assert.equal(text, name.startsWith('more') ? 'parts and more' : 'part')
    // As with node:http2, where a stream that is cancelled has no error.
    if (name === 'a reset with CANCEL') assert.equal(code, 'an end')
    else assert.match(code, /^ERR_HTTP2_(STREAM_|SESSION_)?ERROR$/)
  })
}

test('a reader by for await gets the pieces that came before a violation over a stream made in JavaScript', async t => {
  const url = await serve(t, broken['DATA on no stream'])
  const { port } = new URL(url)
  const socket = net.connect(Number(port), '127.0.0.1')
  const stream = new Duplex({
    read () {},
    write (chunk, encoding, done) { socket.write(chunk, done) },
    final (done) { socket.end(done) },
    destroy (error, done) { socket.destroy(); done(error) }
  })
  socket.on('data', piece => { stream.push(piece) })
  socket.on('close', () => { stream.push(null) })
  socket.on('error', () => {})
  const [text, code] = await readOne({ connect: () => ours.connect(url, { createConnection: () => stream }) }, url)
  assert.deepEqual([text, code], ['part', 'ERR_HTTP2_ERROR'])
})

test('a write behind the end of the peer is no error of the session: its streams are cancelled, as node finds by its next read', async () => {
  let isOver = false
  const socket = new Duplex({
    read () {},
    write (piece, encoding, callback) {
      callback(isOver ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write', errno: -32 }) : null)
    }
  })
  const session = ours.connect('http://127.0.0.1', { createConnection: () => socket })
  const seen = []
  session.on('error', error => { seen.push(['session', error.code]) })
  const stream = session.request({ ':method': 'POST' })
  stream.on('error', error => { seen.push(['stream', error.code]) })
  stream.on('aborted', () => { seen.push(['aborted', stream.rstCode]) })
  await once(session, 'connect')
  isOver = true
  stream.write('late')
  await once(session, 'close')
  assert.equal(stream.rstCode, nodeHttp2.constants.NGHTTP2_CANCEL)
  assert.deepEqual(seen, [['aborted', nodeHttp2.constants.NGHTTP2_CANCEL]])
})

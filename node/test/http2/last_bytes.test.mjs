// The last bytes of a response that come with the end of its stream or session, as readers of every kind get them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import test from 'node:test'
import { connect } from 'trunkline/http2'
import { readers } from '../support/readers.mjs'
import { DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, frame, numbers } from '../support/servers/h2_frames.mjs'

const [NO_ERROR, INTERNAL_ERROR, CANCEL] = [0, 2, 8]
const OK = frame(HEADERS, END_HEADERS, 1, Buffer.from([0x88]))
const data = (flags, text) => frame(DATA, flags, 1, Buffer.from(text))
const reset = code => frame(RST_STREAM, 0, 1, numbers(code))
const endings = { 'a reset in order': reset(NO_ERROR), 'a reset that cancels': reset(CANCEL), 'the reset of an error': reset(INTERNAL_ERROR), 'the GOAWAY of an error': frame(GOAWAY, 0, 0, numbers(0, INTERNAL_ERROR)) }

function deferred () {
  const made = {}
  made.promise = new Promise(resolve => { made.resolve = resolve })
  return made
}

/** A server that answers its first request with "hel", and sends each of the parts behind it when its promise is kept; `null` is its end. */
async function answering (t, parts) {
  const server = net.createServer(socket => {
    socket.on('error', () => {}).write(frame(SETTINGS, 0, 0, Buffer.alloc(0)))
    let received = Buffer.alloc(0)
    socket.on('data', async function onData (chunk) {
      received = Buffer.concat([received, chunk])
      // The preface, and frames up to the head.
      let at = 24
      while (received.length >= at + 9 && received[at + 3] !== HEADERS) at += 9 + received.readUIntBE(at, 3)
      if (received.length < at + 9) return
      socket.off('data', onData).resume().write(Buffer.concat([OK, data(0, 'hel')]))
      for (const [due, bytes] of parts) {
        await due
        bytes === null ? socket.end() : socket.write(bytes)
      }
    })
  })
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

for (const [ending, bytes] of Object.entries(endings)) {
  for (const [name, reader] of Object.entries(readers)) {
    for (const method of ['GET', 'POST']) {
      test(`${name} get the end of a response that is whole, where ${ending} comes with it (${method})`, async t => {
        let begin
        const begun = new Promise(resolve => { begin = resolve })
        const session = connect(`http://127.0.0.1:${await answering(t, [[begun, Buffer.concat([data(END_STREAM, 'lo'), bytes])]])}`)
        session.on('error', () => {})
        // A POST goes on, so that its stream is open when the end comes.
        const stream = session.request({ ':path': '/', ':method': method })
        const errors = []
        stream.on('error', ({ code }) => { errors.push(code) })
        const closed = new Promise(resolve => { stream.on('close', resolve) })
        let text = ''
        await reader(stream, chunk => { text += chunk; begin() })
        await closed
        session.destroy()
        assert.equal(text, 'hello')
        // The stream of a GET has ended with its response.
        const isError = method === 'POST' && (bytes === endings['the reset of an error'] || bytes === endings['the GOAWAY of an error'])
        assert.equal(errors.length, Number(isError), errors.join())
      })
    }
  }
}

for (const [at, outcome] of [['hel', 'fails, because the rest is lost'], ['lo', 'ends, because it has all']]) {
  test(`a pipeline whose response is cancelled while it rests at ${at} ${outcome}`, async t => {
    const taken = Object.fromEntries(['hel', 'lo'].map(text => [text, deferred()]))
    const port = await answering(t, [[taken.hel.promise, data(END_STREAM, 'lo')], [taken[at].promise, reset(CANCEL)]])
    const session = connect(`http://127.0.0.1:${port}`)
    t.after(() => { session.destroy() })
    const stream = session.request({ ':path': '/', ':method': 'POST' })
    const closed = new Promise(resolve => { stream.on('close', resolve) })
    const resting = new Writable({
      highWaterMark: 1,
      write (chunk, _encoding, done) {
        taken[chunk].resolve()
        if (String(chunk) === at) closed.then(() => { done() })
        else done()
      }
    })
    const settled = await pipeline(stream, resting).then(() => 'ends', ({ code }) => code)
    assert.equal(settled, at === 'lo' ? 'ends' : 'ERR_STREAM_PREMATURE_CLOSE')
  })
}

test('a reader that rests gets the rest of a whole response, where the server has declined the upload and ended the connection', async t => {
  const [paused, reset] = [deferred(), deferred()]
  const socket = net.connect(await answering(t, [[paused.promise, Buffer.concat([data(END_STREAM, 'lo'), endings['a reset in order']])], [reset.promise, null]]), '127.0.0.1')
  const session = connect('http://localhost', { createConnection: () => socket })
  t.after(() => { session.destroy() })
  const stream = session.request({ ':path': '/', ':method': 'POST' })
  const [events, closed] = [[], new Promise(resolve => { stream.on('close', resolve) })]
  for (const name of ['error', 'end']) stream.on(name, error => { events.push(error?.code ?? name) })
  stream.on('aborted', () => { reset.resolve() }).on('data', chunk => { events.push(String(chunk)) })
  stream.once('data', () => {
    stream.pause()
    paused.resolve()
  })
  await once(socket, 'close')
  stream.resume()
  await closed
  assert.deepEqual([events, stream.rstCode], [['hel', 'lo', 'end'], NO_ERROR])
})

// The async contexts of a client's writes, and the order of what a session cancels, on node:http2 itself and on trunkline/http2.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import nodeHttp2 from 'node:http2'
import test from 'node:test'
import ours from 'trunkline/http2'

/** More than any window of a stream that has just begun. */
const BEYOND_WINDOW_BYTES = 300_000

async function connected (t, http2, onStream) {
  const server = nodeHttp2.createServer()
  const sessions = new Set()
  server.on('session', session => { sessions.add(session); session.on('error', () => {}) })
  server.on('stream', stream => { stream.on('error', () => {}); onStream(stream) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(async () => {
    session.destroy()
    for (const one of sessions) one.destroy()
    await new Promise(resolve => { server.close(resolve) })
  })
  await once(session, 'remoteSettings')
  return session
}

function answering (stream) {
  stream.resume()
  stream.respond()
  stream.on('end', () => { stream.end('ok') })
}

for (const [name, http2] of Object.entries({ 'node:http2': nodeHttp2, trunkline: ours })) {
  test(`${name}: writes of requests of one turn call back in the contexts in which they were written`, async t => {
    const session = await connected(t, http2, answering)
    const storage = new AsyncLocalStorage()
    const seen = []
    const note = event => () => { seen.push(`${event} in ${storage.getStore()}`) }
    await Promise.all(['a', 'b', 'c'].map(of => storage.run(of, async () => {
      const stream = session.request({ ':method': 'POST' })
      stream.on('finish', note(`${of} finish`))
      storage.run(`${of}'s write`, () => { stream.write('x', note(`${of} written`)) })
      stream.end()
      stream.resume()
      await once(stream, 'close')
    })))
    assert.deepEqual(seen.sort(), ['a', 'b', 'c'].flatMap(of => [`${of} finish in ${of}'s write`, `${of} written in ${of}'s write`]))
  })

  test(`${name}: a body that waits for the server's windows drains and finishes in the context in which it was written`, async t => {
    const session = await connected(t, http2, answering)
    const storage = new AsyncLocalStorage()
    const seen = []
    const note = event => () => { seen.push(`${event} in ${storage.getStore()}`) }
    await Promise.all(['a', 'b'].map(of => storage.run(of, async () => {
      const stream = session.request({ ':method': 'POST' })
      stream.on('drain', note(`${of} drain`))
      stream.write(Buffer.alloc(BEYOND_WINDOW_BYTES), note(`${of} written`))
      stream.resume()
      await once(stream, 'drain')
      stream.on('finish', note(`${of} finish`))
      stream.end(Buffer.alloc(BEYOND_WINDOW_BYTES), note(`${of} ended`))
      await once(stream, 'close')
    })))
    assert.deepEqual([...new Set(seen)].sort(), ['a', 'b'].flatMap(of => ['drain', 'ended', 'finish', 'written'].map(event => `${of} ${event} in ${of}`)))
  })

  test(`${name}: pings that the end of a session cancels call back behind the ends of its streams`, async t => {
    const session = await connected(t, http2, () => {})
    const seen = []
    const stream = session.request()
    stream.resume()
    stream.on('close', () => { seen.push('stream') })
    session.on('close', () => { seen.push('session') })
    session.ping(() => {
      session.ping(error => { seen.push(error.code) })
      session.destroy()
      seen.push('destroyed')
    })
    await once(session, 'close')
    assert.deepEqual(seen, ['destroyed', 'stream', 'ERR_HTTP2_PING_CANCEL', 'session'])
  })
}

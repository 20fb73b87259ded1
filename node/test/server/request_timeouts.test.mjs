// The timeout of a server whose requests are node:http's, over HTTP/2: as on HTTP/1.1 it is that of a request, whose listeners get it, and of
// a connection only where no request is open.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import { createServer } from 'trunkline'

/** Also how long a session may have no request between two, which a busy machine must not reach. */
const TIMEOUT_MS = 1_000

async function connected (t, listener) {
  const server = createServer({ requests: 'http' }, listener)
  server.setTimeout(TIMEOUT_MS)
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  session.on('error', () => {})
  t.after(() => { session.destroy() })
  return { server, session }
}

/** Listeners for a timeout, which answers. */
const LISTENERS = {
  'the response': (request, response, answer) => { response.on('timeout', answer) },
  'a socket, and the server': (request, response, answer, server) => {
    server.once('timeout', () => {})
    request.socket.on('timeout', answer)
  }
}

for (const [where, listen] of Object.entries(LISTENERS)) {
  test(`a listener of ${where} gets the timeout of a request over HTTP/2 and answers it, and its session goes on`, async t => {
    const { session } = await connected(t, function (request, response) {
      if (request.url === '/') return void response.end('at once')
      listen(request, response, () => { response.end('late') }, this)
    })
    for (const [path, body] of [['/', 'at once'], ['/late', 'late'], ['/', 'at once']]) {
      const stream = session.request({ ':path': path })
      stream.setEncoding('utf8')
      let text = ''
      for await (const piece of stream) text += piece
      assert.equal(text, body)
    }
  })
}

test('a request over HTTP/2 whose timeout nothing listens to is reset, and then its session, which is idle, ends', async t => {
  const { session } = await connected(t, () => {})
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => {})
  const over = once(session, 'close')
  await new Promise(resolve => { stream.on('close', resolve) })
  assert.equal(stream.rstCode, http2.constants.NGHTTP2_CANCEL)
  await over
})

// The number and the timeline of a request that ended early, on the errors, requests and streams of node:http2's faces: there for who reads them, and in
// no output or comparison of programs that were written for node.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectTo } from 'node:http2'
import test from 'node:test'
import { inspect } from 'node:util'
import { Agent, createSecureServer, createServer } from 'trunkline'
import { cert, certFile, key } from '../support/certificates/certificate.mjs'

const ca = readFileSync(certFile)
const CANCEL = 8
const ENHANCE_YOUR_CALM = 11

/** A promise with what settles it. */
function outcome () {
  const made = {}
  made.promise = new Promise(resolve => { made.resolve = resolve })
  return made
}

/** A server with a page and a port, given to `use`. */
async function serving (server, use) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const page = server.inspect()
  try {
    await use(server.address().port, page)
  } finally {
    server.close()
    server.closeAllConnections?.()
    page.close()
  }
}

/** The number of an end's timeline, whose text the page has too. */
async function checkTimeline (of, page, first) {
  assert.equal(typeof of.timelineId, 'number')
  assert.match(of.timeline, first)
  const response = await fetch(new URL(`timelines/${of.timelineId}`, page.url))
  assert.equal(await response.text(), of.timeline)
  assert.deepEqual(Object.keys(of).filter(name => name.startsWith('timeline')), [])
  assert.doesNotMatch(inspect(of), /timelineId/)
  return of.timelineId
}

const firstLine = (path, version) => new RegExp(`^GET ${path} over HTTP/${version} from 127\\.0\\.0\\.1:\\d+ failed after `)

test('the error of a stream that its client has reset has its timeline, and is the error of node otherwise', async () => {
  const failed = outcome()
  const server = createServer().on('stream', stream => {
    stream.on('error', error => { failed.resolve({ stream, error }) })
    stream.respond()
    stream.write('a')
  })
  await serving(server, async (port, page) => {
    const session = connectTo(`http://127.0.0.1:${port}`)
    const asked = session.request({ ':path': '/reset' }).on('error', () => {})
    await once(asked, 'response')
    asked.close(ENHANCE_YOUR_CALM)
    const { stream, error } = await failed.promise
    const number = await checkTimeline(error, page, firstLine('/reset', '2\\.0'))
    assert.equal(stream.timelineId, number)
    const { message } = error
    assert.equal(message, 'Stream closed with error code NGHTTP2_ENHANCE_YOUR_CALM')
    const plain = Object.assign(new Error(message), { code: 'ERR_HTTP2_STREAM_ERROR' })
    assert.deepStrictEqual({ ...error }, { ...plain })
    session.destroy()
  })
})

for (const [version, http] of [['h2', '2\\.0'], ['h3', '3\\.0']]) {
  test(`a request that its client has cancelled over ${version} has the timeline that no error carries, and so has its stream`, async () => {
    const aborted = outcome()
    const server = createSecureServer({ key, cert, http3: true }, request => {
      request.on('close', () => { aborted.resolve(request) })
    })
    await serving(server, async (port, page) => {
      const agent = new Agent({ connect: { ca }, ...(version === 'h3' ? { http3: 'only' } : { allowH2: true }) })
      const gone = new AbortController()
      const call = agent.request({ origin: `https://localhost:${port}`, path: '/cancelled', method: 'GET', signal: gone.signal })
      call.catch(() => {})
      await once(server, 'request')
      gone.abort()
      const request = await aborted.promise
      assert.equal(request.aborted, true)
      assert.equal(await checkTimeline(request, page, firstLine('/cancelled', http)), request.stream.timelineId)
      assert.equal(request.stream.timeline, request.timeline)
      await agent.destroy()
    })
  })
}

test('a request of HTTP/1.1 whose client is gone has its timeline, and so has its error', async () => {
  const failed = outcome()
  const server = createServer({ requests: 'http' }, request => {
    request.on('error', error => { failed.resolve({ request, error }) })
  })
  await serving(server, async (port, page) => {
    const agent = new Agent()
    const gone = new AbortController()
    agent.request({ origin: `http://127.0.0.1:${port}`, path: '/gone', method: 'GET', signal: gone.signal }).catch(() => {})
    await once(server, 'request')
    gone.abort()
    const { request, error } = await failed.promise
    assert.equal(await checkTimeline(error, page, firstLine('/gone', '1\\.1')), request.timelineId)
    assert.equal(error.code, 'ECONNRESET')
    await agent.destroy()
  })
})

test('what a program calls a timeline on its request stays', async () => {
  const over = outcome()
  const server = createServer((request, response) => {
    request.timeline = 'of the program'
    request.on('close', () => { over.resolve(request) })
  })
  await serving(server, async port => {
    const session = connectTo(`http://127.0.0.1:${port}`)
    const asked = session.request({ ':path': '/' }).on('error', () => {})
    await once(server, 'request')
    asked.close(CANCEL)
    const { timeline, timelineId } = await over.promise
    assert.equal(timeline, 'of the program')
    assert.equal(timelineId, undefined)
    session.destroy()
  })
})

test('a program that puts a timeline on a request which has one replaces it', async () => {
  const over = outcome()
  const server = createServer(request => { request.on('close', () => { over.resolve(request) }) })
  await serving(server, async port => {
    const session = connectTo(`http://127.0.0.1:${port}`)
    const asked = session.request({ ':path': '/' }).on('error', () => {})
    await once(server, 'request')
    asked.close(CANCEL)
    const request = await over.promise
    assert.equal(typeof request.timelineId, 'number')
    request.timeline = 'of the program'
    assert.equal(request.timeline, 'of the program')
    session.destroy()
  })
})

test('without a page a stream that was reset has no timeline', async () => {
  const failed = outcome()
  const server = createServer().on('stream', stream => { stream.on('error', failed.resolve) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const session = connectTo(`http://127.0.0.1:${server.address().port}`)
  const asked = session.request({ ':path': '/' }).on('error', () => {})
  await once(server, 'stream')
  asked.close(ENHANCE_YOUR_CALM)
  const error = await failed.promise
  assert.ok(!('timelineId' in error) && !('timeline' in error))
  session.destroy()
  server.close()
})

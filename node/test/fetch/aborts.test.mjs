// Each kind of body at each moment of an abort, over each version of HTTP: `fetch` and its body end with the signal's reason
// (https://fetch.spec.whatwg.org/#abort-fetch), and no exception is left that nothing catches.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { Agent, fetch } from 'trunkline'
import { versions } from '../support/servers/versions.mjs'

const TEXT = 'the body of a request'
const pieces = async function * () { yield Buffer.from(TEXT) }
const BODIES = {
  none: () => undefined,
  text: () => TEXT,
  'an empty text': () => '',
  Buffer: () => Buffer.from(TEXT),
  ArrayBuffer: () => new TextEncoder().encode(TEXT).buffer,
  URLSearchParams: () => new URLSearchParams({ a: TEXT }),
  FormData: () => { const form = new FormData(); form.set('a', TEXT); return form },
  Blob: () => new Blob([TEXT]),
  ReadableStream: () => new ReadableStream({ start (controller) { controller.enqueue(Buffer.from(TEXT)); controller.close() } }),
  'a ReadableStream that gives nothing': () => new ReadableStream({ pull: () => new Promise(() => {}) }),
  'an async iterable': () => pieces()
}
/** When the signal aborts: how far the server answers, and the outcome. */
const MOMENTS = {
  'before the call': { answers: 'never', outcome: why => [`failed: ${why}`] },
  'behind the call': { answers: 'never', outcome: why => [`failed: ${why}`] },
  'before the head': { answers: 'never', outcome: why => [`failed: ${why}`] },
  'behind the head': { answers: 'head', outcome: why => ['head 200', `failed: ${why}`] },
  'in the body': { answers: 'half', outcome: why => ['head 200', `failed: ${why}`] },
  'behind the body': { answers: 'whole', outcome: () => ['head 200', 'body whole'] }
}

/** Answers as far as the path says, and says when a request has come. */
function answered (arrived) {
  return (request, response) => {
    request.resume()
    request.on('error', () => {})
    const how = request.url.slice(1)
    if (how === 'head' || how === 'half') response.writeHead(200)
    if (how === 'head') response.flushHeaders()
    if (how === 'half') response.write('half')
    if (how === 'whole') response.end('whole')
    arrived.emit()
  }
}

/** One program; its lines. */
async function run (base, dispatcher, arrived, body, moment, reason) {
  const lines = []
  const controller = new AbortController()
  const abort = () => { controller.abort(reason) }
  const init = { method: body === undefined ? 'GET' : 'POST', body, duplex: 'half', signal: controller.signal, dispatcher }
  if (moment === 'before the call') abort()
  const come = arrived.next()
  const asked = fetch(`${base}/${MOMENTS[moment].answers}`, init)
  asked.catch(() => {})
  if (moment === 'behind the call') abort()
  if (moment === 'before the head') {
    await come
    abort()
  }
  const named = error => `${error === reason ? 'the reason' : `${error.name}: ${error.message}`}`
  try {
    const response = await asked
    lines.push(`head ${response.status}`)
    if (moment === 'behind the head') abort()
    const reader = response.body.getReader()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      text += Buffer.from(value)
      if (moment === 'in the body') abort()
    }
    if (moment === 'behind the body') abort()
    lines.push(`body ${text}`)
  } catch (error) { lines.push(`failed: ${named(error)}`) }
  return lines
}

/** Announces requests: `next` resolves with the one that comes. */
function arrivals () {
  let resolve = () => {}
  return { next: () => new Promise(made => { resolve = made }), emit: () => { resolve() } }
}

/** Fails where an exception or a rejection of this process is caught by nothing. */
function watched (t) {
  const uncaught = []
  const note = error => { uncaught.push(error) }
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, note)
    t.after(() => { process.off(event, note) })
  }
  return uncaught
}

for (const version of versions) {
  test(`${version.name}: a fetch that is aborted ends with the reason of its signal, whatever its body is and whenever`, async t => {
    const arrived = arrivals()
    const server = await version.serve(answered(arrived))
    const dispatcher = new Agent(version.options)
    t.after(async () => {
      await dispatcher.destroy()
      await server.close()
    })
    const uncaught = watched(t)
    for (const [kind, body] of Object.entries(BODIES)) {
      for (const moment of Object.keys(MOMENTS)) {
        for (const reason of [undefined, new Error('of the program')]) {
          const name = `${kind}, ${moment}, ${reason === undefined ? 'no reason' : 'a reason'}`
          const seen = await run(server.url, dispatcher, arrived, body(), moment, reason)
          assert.deepEqual(seen, MOMENTS[moment].outcome(reason === undefined ? 'AbortError: This operation was aborted' : 'the reason'), name)
          assert.deepEqual(uncaught, [], name)
        }
      }
    }
  })
}

/** Compressed bodies of which a decoder has more than one read gives: all that came, all of it and the end, and all of it in few bytes. */
const COMPRESSED = {
  '/half': gzipSync(randomBytes(256 * 1024).toString('hex')),
  '/whole': gzipSync(randomBytes(256 * 1024).toString('hex')),
  '/small': gzipSync('x'.repeat(1 << 20))
}

for (const version of versions) {
  test(`${version.name}: an abort takes from its reader what is decoded of a compressed body, and ends its stream at once`, async t => {
    const server = await version.serve((request, response) => {
      const body = COMPRESSED[request.url]
      response.on('error', () => {})
      response.writeHead(200, { 'content-encoding': 'gzip' })
      if (request.url === '/half') response.write(body.subarray(0, body.length >> 1))
      else response.end(body)
    })
    const dispatcher = new Agent(version.options)
    t.after(async () => {
      await dispatcher.destroy()
      await server.close()
    })
    const uncaught = watched(t)
    for (const path of Object.keys(COMPRESSED)) {
      const reason = new Error('enough')
      const isReason = error => error === reason
      const read = new AbortController()
      const reader = (await fetch(server.url + path, { dispatcher, signal: read.signal })).body.getReader()
      assert.equal((await reader.read()).done, false)
      read.abort(reason)
      await assert.rejects(reader.read(), isReason, path)
      await assert.rejects(reader.closed, isReason, path)
      const collected = new AbortController()
      const response = await fetch(server.url + path, { dispatcher, signal: collected.signal })
      const text = response.text()
      collected.abort(reason)
      await assert.rejects(text, isReason, path)
      const unread = new AbortController()
      const late = await fetch(server.url + path, { dispatcher, signal: unread.signal })
      unread.abort(reason)
      await assert.rejects(late.text(), isReason, path)
    }
    assert.deepEqual(uncaught, [])
  })
}

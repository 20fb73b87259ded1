// Uploads over HTTP/3 that a server stops with STOP_SENDING and never answers, as users of request and fetch see them: the table of
// docs/ends.md, played by the peer that plays it for clients of the engine.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import test from 'node:test'
import { Agent, fetchOver, request } from 'trunkline'
import { assertCell, faces, seenBy } from '../../support/clients/asking.mjs'
import { quicUploads } from '../../support/servers/quic_peer.mjs'
import { tableWithKinds } from '../../support/servers/wire.mjs'

/** Long enough for the exchanges of a test on a busy machine, all of which run at once. */
const TIMEOUT_MS = 10_000
/** One of each outcome. */
const PLACES = ['before the head', 'behind the head', 'behind the message']

/** Uploads of one part that have no end: the call, and when the source is given up. */
const uploads = {
  request (url, dispatcher) {
    const source = new Readable({ read () {} })
    source.on('error', () => {})
    source.push('pay=1')
    const closed = once(source, 'close').catch(() => {})
    return [request(url, { dispatcher, method: 'POST', body: source }).then(({ statusCode, body }) => [statusCode, body]), closed]
  },
  fetch (url, dispatcher) {
    let source
    const closed = new Promise(resolve => {
      source = new ReadableStream({ start (controller) { controller.enqueue(Buffer.from('pay=1')) }, cancel: resolve })
    })
    const answered = fetchOver(dispatcher)(url, { method: 'POST', body: source, duplex: 'half' })
    return [answered.then(({ status, body }) => [status, body]), closed]
  }
}

test('request and fetch on HTTP/3 see what the table says of an upload that is stopped and never answered', async t => {
  const peer = await quicUploads(t)
  const cells = tableWithKinds('An upload on HTTP/3 that is stopped and never answered')
  const dispatcher = new Agent({
    http3: 'only', connect: { ca: peer.root }, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS
  })
  const cases = peer.cases.filter(({ place, row }) => row in cells && PLACES.includes(place))
  assert.ok(cases.length >= 6 * PLACES.length, `${cases.length} cases`)
  await Promise.all(faces.flatMap(face => cases.map(async ({ number, row, place, body }) => {
    const run = peer.play(number)
    const port = await peer.printed('port', run)
    const [answered, closed] = uploads[face](`https://localhost:${port}/`, dispatcher)
    const seen = await seenBy(face, answered)
    assertCell(face, cells[row][place], body, seen, `${face}, ${row}, ${place}, case ${number}`)
    await closed
    peer.end(run)
    await peer.printed('requests', run)
  })))
  await dispatcher.destroy()
})

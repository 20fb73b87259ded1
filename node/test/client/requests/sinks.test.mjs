// Streams that stream() writes to and that a pipeline reads, also those that do not destroy themselves and those of the oldest kind, end here
// as with undici.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { Duplex, PassThrough, Stream, Writable } from 'node:stream'
import test from 'node:test'
import * as ours from 'trunkline'
import * as undici7 from 'undici7'
import { h1 } from '../../support/servers/servers.mjs'

const KEPT = { autoDestroy: false }
const take = { write (piece, _, done) { done() } }
const kinds = {
  'that stays when it has finished': () => new Writable({ ...KEPT, ...take }),
  'whose write fails': () => new Writable({ ...KEPT, write (piece, _, done) { done(new Error('not written')) } }),
  'whose end fails': () => new Writable({ ...KEPT, ...take, final (done) { done(new Error('not ended')) } }),
  'whose readable side is read to its end': () => new PassThrough(KEPT).resume(),
  'whose readable side is still read': () => new Duplex({ ...KEPT, ...take, read () {} })
}

/** Calls stream() once: what its sink and its callback get, and whether the sink is closed at last or stays open. */
async function eventsOf ({ Client }, url, make, abort) {
  const client = new Client(url)
  const controller = new AbortController()
  const got = []
  let sink
  await new Promise(resolve => {
    client.stream({ path: '/', method: 'GET', signal: controller.signal }, () => {
      sink = make()
      for (const event of ['finish', 'error']) sink.on(event, error => { got.push(error === undefined ? event : `${event}: ${error.message}`) })
      if (abort !== undefined) queueMicrotask(() => { controller.abort(abort) })
      return sink
    }, error => {
      got.push(`called: ${error?.message ?? 'whole'}, ${sink.destroyed ? 'destroyed' : 'open'}`)
      resolve()
    })
  })
  if (sink.destroyed && !sink.closed) await once(sink, 'close')
  await client.destroy()
  return [...got, sink.closed]
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`a sink ${kind} gets the same events as with undici`, async () => {
    const server = await h1((_, response) => { response.end('hello') })
    const expected = await eventsOf(undici7, server.url, make)
    assert.equal(expected.filter(got => String(got).startsWith('called')).length, 1)
    assert.deepEqual(await eventsOf(ours, server.url, make), expected)
    await server.close()
  })
}

const without = {
  'of Node.js without destroy': () => Object.assign(new Writable({ ...KEPT, ...take }), { destroy: null }),
  'of the oldest kind': () => Object.assign(new Stream(), { writable: true, write: () => true, end () {} })
}
for (const [kind, make] of Object.entries(without)) {
  test(`a sink ${kind} gets the error of an answer that is cut or aborted, as with undici`, async () => {
    const server = await h1((_, response) => {
      response.write('hello')
    })
    const cut = await h1((_, response) => { response.write('hello', () => { response.destroy() }) })
    for (const [url, abort] of [[server.url, new Error('mine')], [cut.url, undefined]]) {
      const expected = await eventsOf(undici7, url, make, abort)
      assert.equal(expected.length, 3)
      assert.deepEqual(await eventsOf(ours, url, make, abort), expected)
    }
    await cut.close()
    await server.close()
  })
}

test('a sink that is no stream, and has no destroy, does not keep a failed call from its end', async () => {
  const server = await h1((_, response) => { response.write('hello', () => { response.destroy() }) })
  const client = new ours.Client(server.url)
  const sink = Object.assign(new EventEmitter(), { write: () => true, end () {} })
  await assert.rejects(client.stream({ path: '/', method: 'GET' }, () => sink), { code: 'UND_ERR_SOCKET' })
  await client.destroy()
  await server.close()
})

test('a pipeline reads a stream of the oldest kind, which can neither be paused nor resumed, and ends it with an answer that is cut', async () => {
  const server = await h1((request, response) => {
    if (request.url === '/whole') response.end(Buffer.alloc(100_000))
    else response.write('hello', () => { response.destroy() })
  })
  const read = ({ Client }, path) => new Promise(resolve => {
    const client = new Client(server.url)
    const got = []
    let bytes = 0
    client.pipeline({ path, method: 'GET' }, ({ body }) => {
      const old = new Stream()
      body.on('data', piece => { old.emit('data', piece) }).on('end', () => { old.emit('end') }).on('error', error => { got.push(`body: ${error.message}`) })
      return old
    }).on('data', piece => { bytes += piece.length }).on('error', error => { got.push(error.message) }).on('close', () => {
      client.destroy().then(() => { resolve([bytes, ...got]) })
    }).end()
  })
  for (const path of ['/whole', '/cut']) assert.deepEqual(await read(ours, path), await read(undici7, path), path)
  await server.close()
})

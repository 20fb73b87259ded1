// Readers of a request that fail at its last piece, which has come with the end of the request: their client learns of it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { pipeline, Transform, Writable } from 'node:stream'
import test from 'node:test'
import { Agent, createSecureServer, request } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const failure = new Error('enough')
const READERS = {
  'a transform': source => { pipeline(source, new Transform({ transform (_piece, _encoding, done) { done(failure) } }), () => {}) },
  'a sink': source => { pipeline(source, new Writable({ write (_piece, _encoding, done) { done(failure) } }), () => {}) },
  'a listener of data, a tick later': source => { source.on('data', () => { process.nextTick(() => { source.destroy(failure) }) }) },
  'a listener of data, in a microtask': source => { source.on('data', () => { queueMicrotask(() => { source.destroy(failure) }) }) }
}
const CLIENTS = { 'HTTP/2': { http3: false }, 'HTTP/3': { http3: 'only' } }

for (const [version, options] of Object.entries(CLIENTS)) {
  for (const [reader, read] of Object.entries(READERS)) {
    test(`over ${version} a stream whose last piece fails in ${reader} is aborted, has that error and is reset with INTERNAL_ERROR`, async t => {
      const events = []
      const server = createSecureServer({ cert, key, http3: true })
      const closed = new Promise(resolve => {
        server.on('stream', stream => {
          for (const event of ['aborted', 'end']) stream.on(event, () => { events.push(event) })
          stream.on('error', error => { events.push(error) }).on('close', () => { resolve(stream.rstCode) })
          read(stream)
        })
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const dispatcher = new Agent({ connect: { ca: cert }, ...options })
      t.after(async () => {
        await dispatcher.destroy()
        server.close()
      })
      await assert.rejects(request(`https://localhost:${server.address().port}/`, { method: 'POST', body: 'abc', dispatcher }))
      assert.equal(await closed, 2)
      assert.deepEqual(events, ['aborted', failure])
    })
  }
}

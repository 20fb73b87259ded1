// Ends of a fetch that its caller did not ask for: its dispatcher is destroyed, or the source of its body fails, over each version.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import { Agent, fetch } from 'trunkline'
import { versions } from '../support/servers/versions.mjs'

/** When the dispatcher is destroyed: what the server has answered by then. */
const MOMENTS = { 'before the head': '', 'behind the head': 'head', 'in the body': 'half' }

for (const { name, serve, options } of versions) {
  for (const [moment, answers] of Object.entries(MOMENTS)) {
    test(`a dispatcher that is destroyed ${moment} ends its fetch, over ${name}`, async t => {
      const come = Promise.withResolvers?.() ?? withResolvers()
      const served = await serve((request, response) => {
        request.resume()
        if (answers !== '') response.writeHead(200)
        if (answers === 'head') response.flushHeaders()
        if (answers === 'half') response.write('half')
        come.resolve()
      })
      t.after(() => served.close())
      for (const reason of [undefined, new Error('enough')]) {
        const dispatcher = new Agent(options)
        const asked = fetch(served.url, { dispatcher })
        asked.catch(() => {})
        await come.promise
        const response = answers === '' ? null : await asked
        const read = response?.text() ?? asked
        const over = dispatcher.destroy(reason)
        const error = await read.then(() => assert.fail('it has an answer'), failed => failed)
        assert.equal(error.message, answers === '' ? 'fetch failed' : 'terminated')
        assert.equal(error.cause.message, reason?.message ?? 'The client is destroyed')
        await over
      }
    })
  }

  test(`a Readable that fails, or is destroyed, ends the fetch whose body it is, over ${name}`, async t => {
    const served = await serve((request, response) => { request.on('error', () => {}).resume().on('end', () => { response.end() }) })
    t.after(() => served.close())
    const dispatcher = new Agent(options)
    t.after(() => dispatcher.destroy())
    const ends = { mine: source => { source.destroy(new Error('mine')) }, 'Premature close': source => { source.destroy() } }
    for (const [message, end] of Object.entries(ends)) {
      for (const pieces of [0, 1]) {
        const source = new Readable({ read () { if (pieces === 1 && this.begun !== true) { this.begun = true; this.push('piece'); setImmediate(end, this) } else end(this) } })
        await assert.rejects(fetch(served.url, { method: 'POST', body: source, dispatcher }), error => error.cause.message === message)
      }
      const before = new Readable({ read () {} }).on('error', () => {})
      end(before)
      await assert.rejects(fetch(served.url, { method: 'POST', body: before, dispatcher }), { name: 'TypeError', message: 'Response body object should not be disturbed or locked' })
    }
  })
}

function withResolvers () {
  const made = {}
  made.promise = new Promise((resolve, reject) => { Object.assign(made, { resolve, reject }) })
  return made
}

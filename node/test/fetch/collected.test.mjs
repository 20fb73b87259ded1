// The memory that a fetch leaves behind: none, however its body ends and however long its signal lives.
import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, fetch } from 'trunkline'
import { versions } from '../support/servers/versions.mjs'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
/** Objects that are still there although the collector may take them, as those of the last call on the stack. */
const LEFT_MAX = 2
const CALLS = 10
/** How often the collector runs before what is left counts as kept. */
const ROUNDS_MAX = 100

const ofProcess = new AbortController().signal
const SIGNALS = {
  'no signal': () => undefined,
  'a signal of its own': () => new AbortController().signal,
  'a timeout': () => AbortSignal.timeout(600_000),
  'a signal that lives on': () => ofProcess,
  'a signal of signals': () => AbortSignal.any([ofProcess, new AbortController().signal])
}
const ENDS = {
  'read to its end': response => response.text(),
  'read as a stream': async response => { for await (const piece of response.body) assert.ok(piece.length > 0) },
  'cancelled': response => response.body.cancel(),
  'dropped unread': () => {}
}
const LENGTHS = { 'a small body': 100, 'a body that streams': 150_000 }

/** Weak references to the responses of some calls, which nothing else refers to. */
async function called (url, dispatcher, signal, end) {
  const seen = []
  for (let at = 0; at < CALLS; at++) {
    const response = await fetch(url, { dispatcher, signal: signal() })
    await end(response)
    seen.push(new WeakRef(response))
  }
  return seen
}

for (const version of versions) {
  test(`${version.name}: a response of fetch is collected, however its body ends and however long its signal lives`, async t => {
    const server = await version.serve((request, response) => {
      response.on('error', () => {})
      response.end('x'.repeat(Number(request.url.slice(1))))
    })
    const dispatcher = new Agent(version.options)
    t.after(async () => {
      await dispatcher.destroy()
      await server.close()
    })
    for (const [size, length] of Object.entries(LENGTHS)) {
      for (const [kind, signal] of Object.entries(SIGNALS)) {
        for (const [way, end] of Object.entries(ENDS)) {
          const seen = await called(`${server.url}/${length}`, dispatcher, signal, end)
          const left = () => seen.filter(one => one.deref() !== undefined).length
          for (let round = 0; round < ROUNDS_MAX && left() > LEFT_MAX; round++) {
            // A reference that was read is kept until the turn ends.
            await turn()
            collect()
          }
          assert.ok(left() <= LEFT_MAX, `${size}, ${kind}, ${way}: ${left()} of ${CALLS} responses are kept`)
        }
      }
    }
  })
}

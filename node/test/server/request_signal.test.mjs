// The signal of a request of node:http (from Node.js 24 on) on every version of HTTP: it aborts where its client goes, and not when
// the connection ends behind the answer.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import test from 'node:test'
import { Agent, createSecureServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const skip = 'signal' in IncomingMessage.prototype ? false : 'requests of this line of Node.js have no signal'
/** Requests of one connection: more than an emitter has listeners without a warning. */
const COUNT = 15
const VERSIONS = { 'HTTP/1.1': { allowH2: false }, 'HTTP/2': { allowH2: true }, 'HTTP/3': { http3: 'only' } }

/** A server whose requests are `listener`'s, and a client of it on one connection. */
async function connected (t, options, listener) {
  const server = createSecureServer({ cert, key, allowHTTP1: true, http3: true, requests: 'http' }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ connect: { ca: cert }, connections: 1, ...options })
  const close = async () => {
    await agent.destroy()
    if (server.listening) await new Promise(resolve => { server.close(resolve) })
  }
  t.after(close)
  return { agent, close, origin: `https://localhost:${server.address().port}` }
}

for (const [version, options] of Object.entries(VERSIONS)) {
  test(`requests over ${version} that were answered are not aborted when their connection ends`, { skip }, async t => {
    const signals = []
    const warnings = []
    const warn = warning => { warnings.push(warning.name) }
    process.on('warning', warn)
    t.after(() => { process.off('warning', warn) })
    const { agent, close, origin } = await connected(t, options, (request, response) => {
      signals.push(request.signal)
      response.end('ok')
    })
    for (let count = 0; count < COUNT; count++) {
      const { body } = await agent.request({ origin, path: '/', method: 'GET' })
      assert.equal(await body.text(), 'ok')
    }
    await close()
    assert.deepEqual(signals.map(({ aborted }) => aborted), Array(COUNT).fill(false))
    assert.deepEqual(warnings, [])
  })

  test(`a request over ${version} whose client goes is aborted`, { skip }, async t => {
    let report
    const begun = new Promise(resolve => { report = resolve })
    const { agent, origin } = await connected(t, options, request => {
      request.on('error', () => {})
      report(request.signal)
    })
    const gone = new AbortController()
    const asked = agent.request({ origin, path: '/', method: 'GET', signal: gone.signal })
    asked.catch(() => {})
    const signal = await begun
    assert.equal(signal.aborted, false)
    const aborted = once(signal, 'abort')
    gone.abort()
    await aborted
  })
}

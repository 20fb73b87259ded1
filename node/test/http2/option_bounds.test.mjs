// Bounds of node:http2, and times of node:http, at any size: programs write "no bound" as a large number, as grpc-js does with
// `maxSessionMemory: Number.MAX_SAFE_INTEGER`, and times with fractions.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import test from 'node:test'
import { createServer } from 'trunkline'
import { http1Timeouts } from '../../dist/http2/server/bounds.js'
import { connect } from 'trunkline/http2'

const LARGE = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, 1e21, Infinity, -1]
const OF_BOTH = ['maxSettings', 'maxSessionMemory', 'maxHeaderListPairs', 'maxOutstandingPings', 'maxOutstandingSettings', 'maxSendHeaderBlockLength', 'maxDeflateDynamicTableSize', 'maxReservedRemoteStreams']
/** Node's servers refuse these beyond 32 bits. */
const OF_32_BITS = ['maxSessionInvalidFrames', 'maxSessionRejectedStreams']

/** The body of one request, by a session of the options at the server of the port. */
async function asked (port, how, options) {
  const session = how(`http://127.0.0.1:${port}`, options)
  try {
    const stream = session.request({ ':path': '/' })
    let body = ''
    stream.setEncoding('utf8').on('data', piece => { body += piece })
    await Promise.race([once(stream, 'end'), once(session, 'error').then(([error]) => { throw error })])
    return body
  } finally {
    session.destroy()
  }
}

/** A server that listens and answers every request with `ok`. */
async function serving (t, make, options) {
  const server = make(options, (_, response) => { response.end('ok') })
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

for (const name of [...OF_BOTH, ...OF_32_BITS]) {
  test(`a server with any number as ${name} listens and answers`, async t => {
    const values = OF_BOTH.includes(name) ? LARGE : LARGE.filter(value => value >= 0 && value < 2 ** 32)
    for (const value of values) assert.equal(await asked(await serving(t, createServer, { [name]: value }), http2.connect, {}), 'ok', `${value}`)
  })
}

test('a session with any number as a bound gets its answer', async t => {
  const port = await serving(t, http2.createServer, {})
  for (const name of [...OF_BOTH, ...OF_32_BITS, 'peerMaxConcurrentStreams']) {
    for (const value of LARGE) assert.equal(await asked(port, connect, { [name]: value }), 'ok', `${name} ${value}`)
  }
})

test('settings that no frame can carry end a session with the error of node:http2, and its requests', async t => {
  const port = await serving(t, http2.createServer, {})
  for (const [how, whose] of [[http2.connect, 'node:http2'], [connect, 'ours']]) {
    for (const settings of [{ headerTableSize: -1 }, { initialWindowSize: 2 ** 32 }, { maxFrameSize: 1 }, { headerTableSize: 1e21 }, { enablePush: 1 }]) {
      const session = how(`http://127.0.0.1:${port}`, { settings })
      const failed = once(session, 'error')
      const stream = session.request()
      const ended = once(stream, 'error')
      const what = `${whose} ${JSON.stringify(settings)}`
      assert.equal((await ended)[0].code, 'ERR_HTTP2_STREAM_CANCEL', what)
      assert.equal((await failed)[0].code, 'ERR_HTTP2_INVALID_SETTING_VALUE', what)
    }
  }
})

test('times of a server in the form of node:http may have fractions, and its backlog any size', async t => {
  for (const name of ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'keepAliveTimeoutBuffer', 'backlog']) {
    for (const value of [60_000 * 1.1, 2 ** 32, 1e21]) {
      const server = createServer({ requests: 'http' }, (_, response) => { response.end('ok') })
      t.after(() => { server.close() })
      if (name !== 'backlog') server[name] = value
      server.listen({ port: 0, host: '127.0.0.1', ...(name === 'backlog' ? { backlog: value } : {}) })
      await once(server, 'listening')
      assert.equal(await (await fetch(`http://127.0.0.1:${server.address().port}`, { headers: { connection: 'close' } })).text(), 'ok', `${name} ${value}`)
    }
  }
})

test('an idle connection stays open beyond the announced keepAliveTimeout, also on lines of Node.js whose servers have no keepAliveTimeoutBuffer', () => {
  const server = createServer({ requests: 'http', keepAliveTimeout: 5000 })
  assert.equal(http1Timeouts(server, {}).idle, 6000)
  server.keepAliveTimeoutBuffer = 0
  assert.equal(http1Timeouts(server, {}).idle, 5000)
  server.keepAliveTimeout = 0
  assert.equal(http1Timeouts(server, {}).idle, 0)
})

// Numbers of any size as options: where undici's request gets its answer, so does ours. Programs write "no bound" as Infinity
// or as any large number.
import assert from 'node:assert/strict'
import http from 'node:http'
import { once } from 'node:events'
import test from 'node:test'
import * as ours from 'trunkline'
import * as undici from 'undici7'

const NUMBERS = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, 1e21, Infinity, NaN, 1.5]
const NAMES = ['connections', 'pipelining', 'maxConcurrentStreams', 'connectTimeout', 'headersTimeout', 'bodyTimeout', 'keepAliveTimeout', 'keepAliveMaxTimeout', 'keepAliveTimeoutThreshold', 'maxHeaderSize', 'maxResponseSize', 'maxRequestsPerClient', 'initialWindowSize', 'connectionWindowSize', 'pingInterval', 'clientTtl', 'maxCachedSessions']
const OF_CONNECT = ['timeout', 'keepAliveInitialDelay']

/** Whether a request by a dispatcher of the options got its answer. */
async function isAnswered (of, Kind, origin, options) {
  let dispatcher
  try {
    dispatcher = Kind === 'Agent' ? new of.Agent(options) : new of[Kind](origin, options)
    const { body } = await dispatcher.request({ origin, path: '/', method: 'GET' })
    return await body.text() === 'answer'
  } catch (error) {
    assert.match(error.code, /^UND_ERR_(INVALID_ARG|RES_EXCEEDED_MAX_SIZE)$/, error.stack)
    return false
  } finally {
    await dispatcher?.destroy()
  }
}

for (const Kind of ['Client', 'Pool', 'Agent']) {
  test(`a ${Kind} takes each number that undici takes`, async t => {
    const server = http.createServer((_, response) => { response.end('answer') }).listen(0, '127.0.0.1')
    t.after(() => { server.close() })
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${server.address().port}`
    const named = [...NAMES.map(name => value => ({ [name]: value })), ...OF_CONNECT.map(name => value => ({ connect: { [name]: value } }))]
    let taken = 0
    for (const optionsOf of named) {
      for (const value of NUMBERS) {
        const options = optionsOf(value)
        if (!await isAnswered(undici, Kind, origin, options)) continue
        taken++
        assert.ok(await isAnswered(ours, Kind, origin, options), `${Object.entries(options.connect ?? options)[0]}`)
      }
    }
    assert.ok(taken > 80, `undici takes ${taken}`)
  })
}

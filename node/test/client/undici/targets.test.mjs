// Targets of the events of dispatchers, as instances of undici's classes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import * as ours from 'trunkline'
import * as undici7 from 'undici7'
import { h1 } from '../../support/servers/servers.mjs'

const { Agent, Client, Dispatcher, Pool } = ours

const hello = (request, response) => { response.end('hello') }

test('a connection is an instance of Client, and what an Agent has for an origin one of Pool', async () => {
  const server = await h1(hello)
  for (const [dispatcher, kinds] of [[new Client(server.url), [Client]], [new Pool(server.url), [Pool, Client]], [new Agent(), [Agent, Pool, Client]]]) {
    const connected = once(dispatcher, 'connect')
    await (await dispatcher.request({ origin: server.url, path: '/', method: 'GET' })).body.text()
    const [, targets] = await connected
    assert.deepEqual(targets.map(target => [Agent, Pool, Client].filter(kind => target instanceof kind)), kinds.map(kind => [kind]))
    await dispatcher.close()
  }
  await server.close()
})

test('a class that is derived from Client or Pool has its own instances alone', () => {
  class Own extends Client {}
  const own = new Own('http://localhost')
  assert.ok(own instanceof Own && own instanceof Client && own instanceof Dispatcher)
  assert.ok(!(new Client('http://localhost') instanceof Own))
  assert.ok(![null, undefined, 1, {}].some(value => value instanceof Client || value instanceof Pool))
})

test('an agent behind a proxy is a Dispatcher and no Agent, as with undici', async () => {
  for (const { Agent, Dispatcher, EnvHttpProxyAgent, ProxyAgent } of [ours, undici7]) {
    const agents = [new ProxyAgent('http://127.0.0.1:1'), new EnvHttpProxyAgent()]
    for (const agent of agents) {
      assert.deepEqual([agent instanceof agent.constructor, agent instanceof Dispatcher, agent instanceof Agent], [true, true, false])
      await agent.close()
    }
  }
})

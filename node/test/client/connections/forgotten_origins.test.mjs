// Origins that nothing uses any more: a program may ask one after another for years, and an Agent's bound is of those that it has.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'node:test'
import { Agent, Pool } from 'trunkline'

/** A server that ends each connection behind its answer. */
async function closing (t) {
  const server = createServer((request, response) => { response.setHeader('connection', 'close').end(request.headers.host) }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return server.address().port
}

async function get (dispatcher, origin, headers) {
  const { body } = await dispatcher.request({ origin, path: '/', method: 'GET', headers })
  return await body.text()
}

/** A dispatcher's own state. */
const stateOf = dispatcher => dispatcher[Object.getOwnPropertySymbols(dispatcher).find(({ description }) => description === 'trunkline state')]

test('an origin whose connections are closed leaves its place under maxOrigins to another', async t => {
  const [one, other] = await Promise.all([closing(t), closing(t)])
  const agent = new Agent({ maxOrigins: 1 })
  t.after(() => agent.destroy())
  for (const port of [one, other, one]) {
    const closed = once(agent, 'disconnect')
    assert.equal(await get(agent, `http://127.0.0.1:${port}`), `127.0.0.1:${port}`)
    await closed
  }
})

test('an origin with an open connection keeps its place under maxOrigins', async t => {
  const server = createServer((request, response) => { response.end('answer') }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const agent = new Agent({ maxOrigins: 1 })
  t.after(() => agent.destroy())
  const origin = `http://127.0.0.1:${server.address().port}`
  assert.equal(await get(agent, origin), 'answer')
  await assert.rejects(get(agent, `http://127.0.0.1:${await closing(t)}`), { code: 'UND_ERR_MAX_ORIGINS_REACHED' })
  assert.equal(await get(agent, origin), 'answer')
})

test('hundreds of origins in one turn are each answered, and forgotten when they are closed', async t => {
  const port = await closing(t)
  const agent = new Agent({ connect: { lookup: (host, options, done) => { done(null, [{ address: '127.0.0.1', family: 4 }]) } } })
  t.after(() => agent.destroy())
  const state = stateOf(agent)
  for (let round = 0; round < 2; round++) {
    const hosts = Array.from({ length: 600 }, (_, at) => `h${round}-${at}.test:${port}`)
    assert.deepEqual(await Promise.all(hosts.map(host => get(agent, `http://${host}`))), hosts)
    while (Object.keys(agent.stats).length > 0) await once(agent, 'disconnect')
  }
  for (let at = 0; at < 600; at++) assert.equal(await get(agent, `http://one${at}.test:${port}`), `one${at}.test:${port}`)
  assert.ok(state.targets.size <= 600 && state.loads.size <= 600, `${state.targets.size} targets, ${state.loads.size} loads`)
})

test('names of servers that requests have asked for once are not kept', async t => {
  const pool = new Pool('https://127.0.0.1:1')
  t.after(() => pool.destroy())
  for (let at = 0; at < 1000; at += 100) {
    const failed = await Promise.allSettled(Array.from({ length: 100 }, (_, more) => get(pool, undefined, { host: `name${at + more}.test` })))
    assert.deepEqual(new Set(failed.map(({ reason }) => reason.code)), new Set(['ECONNREFUSED']))
  }
  const { targets } = stateOf(pool)
  assert.ok(targets.size <= 512, `${targets.size} targets`)
})

// Many requests, few connections: counted at the server.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import test from 'node:test'
import { Agent, Client, Pool } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { h1, h1s, h2, h2c, origin } from '../../support/servers/servers.mjs'
import { withoutStall } from '../../support/servers/stall.mjs'

const connect = { ca: cert }
/** The longest wait of requests that wait for each other. */
const STUCK_MS = 60_000
const get = (dispatcher, origin, extra) => viaNew(dispatcher, { origin, path: '/', method: 'GET', ...extra })
const burst = (count, dispatcher, origin, extra) =>
  Promise.all(Array.from({ length: count }, () => get(dispatcher, origin, typeof extra === 'function' ? extra() : extra)))
const late = ms => (request, response) => {
  request.resume()
  setTimeout(() => response.end('late'), ms)
}

/** Answers when `count` requests are there at once: without multiplexing none is answered. */
const together = count => {
  const waiting = []
  return (request, response) => {
    request.resume()
    if (waiting.push(response) === count) for (const one of waiting.splice(0)) one.end('together')
  }
}

test('pipelining and maxConcurrentStreams are two settings and neither moves the other', { timeout: STUCK_MS }, async () => {
  const server = await h2(together(20))
  const client = new Client(server.url, { connect })
  await burst(20, client, server.url)
  assert.equal(server.counts.most, 20, 'all of them were at the server at once')
  assert.equal(client.pipelining, 1)
  client.pipelining = 3
  assert.equal(client.pipelining, 3)
  await client.close()
  await server.close()
})

test('concurrent requests of a Client, and of a Pool with one connection, share one session', { timeout: STUCK_MS }, async () => {
  for (const make of [url => new Client(url, { connect }), url => new Pool(url, { connect, connections: 1 })]) {
    const server = await h2(together(5))
    const dispatcher = make(server.url)
    await burst(5, dispatcher, server.url)
    assert.deepEqual([server.counts.sockets, server.counts.sessions], [1, 1])
    await dispatcher.close()
    await server.close()
  }
})

test('a cold burst waits for one handshake and multiplexes; more connections open when the limit is full', async () => {
  for (const [limit, most] of [[1000, 1], [100, 10], [10, 16]]) {
    await withoutStall(async () => {
      const server = await h2(late(20), { settings: { maxConcurrentStreams: limit } })
      const agent = new Agent({ connect, maxConcurrentStreams: 1000 })
      const answers = await burst(1000, agent, server.url)
      assert.ok(answers.every(answer => answer.status === 200))
      assert.equal(server.counts.requests, 1000, 'none was delivered twice')
      await agent.close()
      await server.close()
      return () => { assert.ok(server.counts.sockets <= most, `${server.counts.sockets} connections at a limit of ${limit}`) }
    })
  }
})

test('an h1 origin over TLS gets the burst on as many connections as allowed, after one handshake', async () => {
  const server = await h1s(late(20))
  const agent = new Agent({ connect, connections: 50 })
  const answers = await burst(500, agent, server.url)
  assert.ok(answers.every(answer => answer.status === 200))
  assert.equal(server.counts.requests, 500)
  assert.ok(server.counts.sockets <= 50)
  await agent.close()
  await server.close()
})

test('a bounded pool carries two thousand requests on four connections', async () => {
  const server = await h2(late(20), { settings: { maxConcurrentStreams: 100 } })
  const pool = new Pool(server.url, { connect, connections: 4 })
  const answers = await burst(2000, pool, server.url)
  assert.ok(answers.every(answer => answer.status === 200))
  assert.deepEqual([server.counts.requests, server.counts.sockets <= 4, server.counts.sessions <= 4], [2000, true, true])
  await pool.close()
  await server.close()
})

test('an h2 setting never pipelines h1', async () => {
  let most = 0
  const inFlight = new Map()
  const server = await h1s(({ socket }, response) => {
    const now = (inFlight.get(socket) ?? 0) + 1
    inFlight.set(socket, now)
    most = Math.max(most, now)
    setTimeout(() => {
      inFlight.set(socket, inFlight.get(socket) - 1)
      response.end('late')
    }, 5)
  })
  const pool = new Pool(server.url, { connect, connections: 4, maxConcurrentStreams: 64 })
  await burst(100, pool, server.url)
  assert.equal(most, 1)
  await pool.close()
  await server.close()
})

test('concurrency does not depend on the method or on the kind of body', { timeout: STUCK_MS }, async () => {
  for (const extra of [
    { method: 'POST', body: 'text' },
    () => ({ method: 'POST', body: Readable.from(['a', 'b']) }),
    () => ({ method: 'PUT', body: (async function * () { yield 'a' })() }),
    { method: 'DELETE' }
  ]) {
    const server = await h2(together(20))
    const client = new Client(server.url, { connect })
    await burst(20, client, server.url, extra)
    assert.equal(server.counts.most, 20)
    await client.close()
    await server.close()
  }
})

test('every request settles once when connections die, sessions go away and streams are refused', async () => {
  let count = 0
  const server = await h2((request, response) => {
    request.resume()
    count++
    const { stream } = response
    if (count % 17 === 0) return stream.close(7)
    if (count % 41 === 0) stream.session.close()
    if (count === 500) return stream.session.destroy()
    response.end('fine')
  })
  const pool = new Pool(server.url, { connect, connections: 2 })
  let settled = 0
  const outcomes = await Promise.allSettled(Array.from({ length: 1000 }, (_, index) => {
    const aborting = index % 10 === 0 ? { signal: AbortSignal.timeout(index % 30) } : {}
    return pool.request({ path: '/', ...aborting }).then(answer => answer.body.text()).finally(() => { settled++ })
  }))
  assert.equal(settled, 1000)
  assert.ok(outcomes.filter(outcome => outcome.status === 'fulfilled').length > 500)
  for (const { reason } of outcomes.filter(outcome => outcome.status === 'rejected')) {
    assert.ok(reason.name === 'TimeoutError' || typeof reason.code === 'string', String(reason))
  }
  await pool.destroy()
  await server.close()
})

test('a request can be aborted in the line, and waits no longer than queueTimeout', async () => {
  const server = await h1(() => {})
  const client = new Client(server.url, { queueTimeout: 1000 })
  const asked = once(server.server, 'request')
  const first = get(client, server.url)
  first.catch(() => {})
  await asked
  const second = await client.request({ path: '/', signal: AbortSignal.timeout(20) }).then(() => null, error => error)
  assert.equal(second.name, 'TimeoutError')
  const third = await get(client, server.url).then(() => null, error => error)
  assert.equal(third.code, 'UND_ERR_QUEUE_TIMEOUT')
  assert.equal(third.wasSent, false)
  assert.match(third.waitReason, /\w/)
  assert.equal(server.counts.requests, 1)
  await client.destroy()
  await server.close()
})

test('h2 without TLS by prior knowledge, and h3 by prior knowledge', async () => {
  const plain = await h2c(late(10))
  const client = new Client(plain.url, { useH2c: true })
  await burst(50, client, plain.url)
  assert.deepEqual([plain.counts.sockets, plain.counts.sessions], [1, 1])
  await client.close()
  await plain.close()

  await withoutStall(async () => {
    const server = await origin()
    const agent = new Agent({ http3: 'only', connect, connections: 4 })
    const answers = await burst(2000, agent, server.https, { path: '/delay/5' })
    assert.ok(answers.every(answer => answer.status === 200))
    const counts = JSON.parse((await get(agent, server.https, { path: '/counts' })).body)
    assert.equal(counts.h3, 2000)
    await agent.close()
    await server.close()
    return () => { assert.ok(counts.connections <= 4, `${counts.connections} connections`) }
  })
})

test('warm-up opens connections before there are requests, and the statistics show them', async () => {
  const server = await h1(late(1))
  const pool = new Pool(server.url, { connections: 3 })
  assert.equal(await pool.warmUp(server.url, 3), 3)
  while (server.counts.sockets < 3) await new Promise(resolve => setImmediate(resolve))
  assert.equal(server.counts.sockets, 3)
  assert.equal(pool.stats.origins[0].connections, 3)
  await burst(30, pool, server.url)
  assert.equal(server.counts.sockets, 3)
  assert.equal(pool.stats.totals.dispatched, 30)
  await pool.close()
  await server.close()
})

test('dispatch says when it is busy, and drain comes once it is not', async () => {
  const server = await h1(late(20))
  const client = new Client(server.url)
  let drains = 0
  client.on('drain', (origin, targets) => {
    drains++
    assert.equal(origin.origin, server.url)
    assert.equal(targets[0], client)
  })
  const done = new Promise((resolve, reject) => {
    const accepted = client.dispatch({ path: '/', method: 'GET' }, {
      onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd: resolve, onResponseError: (_, error) => reject(error)
    })
    assert.equal(accepted, false)
  })
  await done
  await new Promise(resolve => setImmediate(resolve))
  assert.equal(drains, 1)
  await client.close()
  await server.close()
})

test('150 requests over HTTP/1.1 that wait on each other, and 150 responses that nobody reads, get connections', { timeout: STUCK_MS }, async () => {
  const server = await h1(together(150))
  const agent = new Agent()
  const answers = await burst(150, agent, server.url)
  assert.ok(answers.every(({ body }) => body.toString() === 'together'))
  await server.close()

  const unread = await h1((request, response) => { response.write('a piece') })
  const responses = await Promise.all(Array.from({ length: 150 }, () => agent.request({ origin: unread.url, path: '/', method: 'GET' })))
  assert.equal(new Set(responses).size, 150)
  for (const { body } of responses) body.on('error', () => {}).destroy()
  await agent.close()
  await unread.close()
})

// The engine on JavaScript's thread (`engine: 'inline'`, and `'auto'` as long as little is under way), where the platform allows it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { availableParallelism } from 'node:os'
import test from 'node:test'
import { Worker } from 'node:worker_threads'
import { Agent, createServer, errors, request, serve } from 'trunkline'
import { theBridge } from '../../../dist/channel/ring.js'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { run } from '../../support/lines/lines.mjs'
import { origin } from '../../support/servers/servers.mjs'

const canRunInline = process.platform === 'linux'
const agentFor = (protocol, more) => new Agent({
  engine: 'inline', connect: { ca: cert }, ...{ h1: { allowH2: false }, h2: {}, h3: { http3: 'only' } }[protocol], ...more
})

test('on Linux the engine runs on this thread where it is asked to, and elsewhere on its own', () => {
  assert.equal(theBridge('inline').native.inline, canRunInline ? 1 : 0)
  assert.equal(theBridge('auto').native.inline, canRunInline ? 1 : 0)
  assert.equal(theBridge('threads').native.inline, 0)
})

test('requests that follow answers one by one are read behind the call that brings the answer, without one that wakes the engine or holds the process', { skip: !canRunInline }, async t => {
  const server = await origin()
  const agent = agentFor('h1')
  const { native } = theBridge('inline')
  const { kick, hold } = native
  t.after(async () => { Object.assign(native, { kick, hold }); await agent.close(); await server.close() })
  const ask = async path => await (await agent.request({ origin: server.http, path, method: 'GET' })).body.text()
  await ask('/bytes/1')
  const calls = []
  Object.assign(native, { kick () { calls.push('kick'); kick() }, hold (holds) { calls.push(`hold ${holds}`); hold(holds) } })
  for (let size = 1; size <= 50; size++) assert.equal((await ask(`/bytes/${size}`)).length, size)
  assert.deepEqual(calls, [])
  await new Promise(resolve => { setImmediate(resolve) })
  await ask('/bytes/1')
  assert.deepEqual(calls, ['hold 1', 'kick'], 'a request of another turn')
})

for (const protocol of ['h1', 'h2', 'h3']) {
  test(`inline over ${protocol}, answers and bodies of every size cross in both directions`, async t => {
    const server = await origin()
    const agent = agentFor(protocol)
    t.after(async () => { await agent.close(); await server.close() })
    const sizes = [0, 1, 1000, 20_000, 1_000_000]
    const got = await Promise.all(sizes.map(size => viaNew(agent, { origin: server.https, path: `/bytes/${size}`, method: 'GET' })))
    assert.deepEqual(got.map(answer => [answer.status, answer.body.length]), sizes.map(size => [200, size]))
    const bodies = sizes.map(size => Buffer.alloc(size, 'abc'))
    const echoed = await Promise.all(bodies.map(body => viaNew(agent, { origin: server.https, path: '/echo', method: 'POST', body })))
    assert.deepEqual(echoed.map(answer => answer.body.equals(bodies[echoed.indexOf(answer)])), sizes.map(() => true))
  })

  test(`inline over ${protocol}, each answer may ask again within its callback`, async t => {
    const server = await origin()
    const agent = agentFor(protocol)
    t.after(async () => { await agent.close(); await server.close() })
    const asked = 300
    let answered = 0
    await new Promise((resolve, reject) => {
      const ask = () => {
        agent.dispatch({ origin: server.https, path: '/bytes/10', method: 'GET' }, {
          onRequestStart () {},
          onResponseStart () {},
          onResponseData () {},
          onResponseEnd () { if (++answered === asked) resolve(); else ask() },
          onResponseError (_, error) { reject(error) }
        })
      }
      ask()
    })
    assert.equal(answered, asked)
  })

  test(`inline over ${protocol}, an answer that comes while JavaScript is busy is there behind it`, async t => {
    const server = await origin()
    const agent = agentFor(protocol)
    t.after(async () => { await agent.close(); await server.close() })
    const get = () => viaNew(agent, { origin: server.https, path: '/bytes/100000', method: 'GET' })
    await get()
    const all = Promise.all(Array.from({ length: 20 }, get))
    await new Promise(resolve => { process.nextTick(resolve) })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    assert.deepEqual((await all).map(answer => answer.body.length), Array(20).fill(100_000))
  })
}

for (const protocol of ['h1', 'h2', 'h3']) {
  test(`auto over ${protocol}, connections that begin alone and under load answer beside each other, and end with their agent`, async t => {
    const server = await origin()
    t.after(() => server.close())
    for (let round = 0; round < 3; round++) {
      const agent = agentFor(protocol, { engine: 'auto' })
      const echo = async size => {
        const body = Buffer.alloc(size, 'abc')
        const { status, body: got } = await viaNew(agent, { origin: server.https, path: '/echo', method: 'POST', body })
        return status === 200 && got.equals(body)
      }
      if (round > 0) assert.ok(await echo(10))
      const sizes = Array.from({ length: 100 }, (_, at) => at % 10 === 0 ? 200_000 : at)
      assert.deepEqual(await Promise.all(sizes.map(echo)), sizes.map(() => true))
      const aborted = round === 2 ? assert.rejects(viaNew(agent, { origin: server.https, path: '/delay/60000', method: 'GET' })) : null
      await (round === 2 ? agent.destroy() : agent.close())
      await aborted
    }
  })
}

test('an exchange whose peer is silent ends by its timeout, and one that is aborted at once, inline too', async t => {
  const server = net.createServer(socket => { socket.on('error', () => {}) }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  const agent = agentFor('h1', { headersTimeout: 50 })
  t.after(async () => { await agent.destroy(); server.close() })
  await assert.rejects(request(url, { dispatcher: agent }), errors.HeadersTimeoutError)
  const controller = new AbortController()
  const aborted = request(url, { dispatcher: agent, headersTimeout: 0, signal: controller.signal })
  setImmediate(() => { controller.abort() })
  await assert.rejects(aborted, { name: 'AbortError' })
})

/** A server on a thread of its own: it answers each request, and then sets the first word of `flag`. */
const ANSWERING = `
  const net = require('node:net')
  const { parentPort, workerData: flag } = require('node:worker_threads')
  const answered = () => { Atomics.store(flag, 0, 1); Atomics.notify(flag, 0) }
  const server = net.createServer(socket => {
    socket.on('error', () => {}).on('data', () => { socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok', answered) })
  })
  server.listen(0, '127.0.0.1', () => { parentPort.postMessage(server.address().port) })
`

for (const engine of ['inline', 'auto', 'threads']) {
  test(`engine ${engine}: an answer that came while JavaScript computed longer than every timeout is taken, and its connection stays`, async t => {
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const never = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(ANSWERING, { eval: true, workerData: flag })
    const [port] = await once(worker, 'message')
    const agent = agentFor('h1', { engine, headersTimeout: 100, bodyTimeout: 100, keepAliveTimeout: 60_000 })
    t.after(async () => { await agent.destroy(); await worker.terminate() })
    const ask = async () => await (await request(`http://127.0.0.1:${port}/`, { dispatcher: agent, headersTimeout: 0 })).body.text()
    assert.equal(await ask(), 'ok')
    for (let round = 0; round < 3; round++) {
      Atomics.store(flag, 0, 0)
      const asked = request(`http://127.0.0.1:${port}/`, { dispatcher: agent, headersTimeout: 1000 }).then(({ body }) => body.text())
      // It is sent at the end of this turn of the loop.
      await new Promise(resolve => { setImmediate(resolve) })
      Atomics.wait(flag, 0, 0, 60_000)
      Atomics.wait(never, 0, 0, 1500)
      assert.equal(await asked, 'ok')
    }
    assert.equal(agent.stats.totals.connections, 1)
  })
}

test('a name that is looked up and a port that refuses are reported inline too', async t => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  const agent = agentFor('h1')
  t.after(() => agent.close())
  await assert.rejects(request(`http://localhost:${port}/`, { dispatcher: agent }), { code: 'ECONNREFUSED' })
})

test('dispatchers with engines inline and on threads work beside each other', async t => {
  const server = await origin()
  const agents = ['inline', 'threads', 'auto'].map(engine => new Agent({ engine, connect: { ca: cert } }))
  t.after(async () => { for (const agent of agents) await agent.close(); await server.close() })
  const all = agents.flatMap(agent => Array.from({ length: 50 }, () => viaNew(agent, { origin: server.https, path: '/bytes/5', method: 'GET' })))
  assert.ok((await Promise.all(all)).every(answer => answer.body.length === 5))
})

test('servers inline answer inline clients of the same thread', async t => {
  const web = serve({ engine: 'inline', port: 0, hostname: '127.0.0.1', fetch: async request => new Response(await request.text()) })
  const compat = createServer({ engine: 'inline' }, (request, response) => { request.pipe(response) }).listen(0, '127.0.0.1')
  await once(compat, 'listening')
  const agent = agentFor('h1')
  t.after(async () => { await agent.close(); await web.close(); compat.close() })
  for (const port of [web.port, compat.address().port]) {
    const bodies = ['', 'a', 'b'.repeat(300_000)]
    const answers = await Promise.all(bodies.map(async body => (await request(`http://127.0.0.1:${port}/`, { dispatcher: agent, method: 'POST', body })).body.text()))
    assert.deepEqual(answers, bodies)
  }
})

test('an engine that is no choice is refused by its name', () => {
  assert.throws(() => new Agent({ engine: 'fast' }), { code: 'UND_ERR_INVALID_ARG', message: "engine must be 'auto', 'inline' or 'threads'" })
  assert.throws(() => serve({ engine: 'fast', fetch: () => new Response('') }), /engine is 'fast'; it must be 'auto', 'inline' or 'threads'/)
  assert.throws(() => createServer({ engine: 'fast' }), { code: 'ERR_INVALID_ARG_VALUE' })
})

test("an engine 'auto' starts a thread for connections that begin while many requests are under way, and none before", async () => {
  // With one core no load calls for a thread.
  if (!canRunInline || availableParallelism() === 1) return
  const ended = await run(process.execPath, 'life/inline/load.mjs')
  assert.deepEqual([ended.code, ended.stdout], [0, 'alone: no thread, under load: a thread'], ended.stderr)
})

test('an inline engine starts no thread of its own, and its idle connections let the loop sleep', async () => {
  if (!canRunInline) return
  const ended = await run(process.execPath, 'life/inline/idle.mjs')
  assert.deepEqual([ended.code, ended.stdout], [0, 'no thread, the loop slept'], ended.stderr)
})

for (const engine of ['inline', 'auto']) {
  const env = { TRUNKLINE_ENGINE: engine }

  test(`a process with an idle agent of an engine ${engine} ends, and one with a request under way stays for it`, async () => {
    const ended = await run(process.execPath, 'life/client/idle.mjs', { env })
    assert.deepEqual([ended.code, ended.stdout], [0, 'answered after 300 ms'], ended.stderr)
  })

  test(`process.exit and workers that are terminated under load end engines ${engine} cleanly`, async () => {
    const left = await run(process.execPath, 'life/client/exit.mjs', { env })
    assert.deepEqual([left.code, left.signal], [7, null], left.stderr)
    const ended = await run(process.execPath, 'life/client/workers.mjs', { env })
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, 'main still works'], ended.stderr)
  })

  test(`a panic of an engine ${engine} fails what is open and what comes later, and the process lives`, async () => {
    const ended = await run(process.execPath, 'life/client/panic.mjs', { env })
    const all = count => Array(count).fill('UND_ERR_ENGINE_ENDED').join(' ')
    assert.deepEqual([ended.code, ended.stdout], [0, [all(3), all(2), all(2)].join('\n')], ended.stderr)
  })
}

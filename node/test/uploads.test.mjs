// Bodies from 16 KiB go to the engine by reference: no copy is made, what is sent is what was given,
// and every loan comes back.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { setImmediate as turn, setTimeout as after } from 'node:timers/promises'
import { Agent, Client, Pool } from 'trunkline'
import { theBorder } from '../dist/ring.js'
import { cert } from './support/certificate.mjs'
import { viaNew } from './support/dispatch.mjs'
import { h2 } from './support/servers.mjs'
import { versions } from './support/versions.mjs'

const MIB = 2 ** 20
const gather = async stream => {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Until nothing is on loan; the engine returns a body a moment after its exchange is over. */
async function allReturned () {
  for (let round = 0; theBorder().loans.size > 0; round++) {
    assert.ok(round < 1000, `${theBorder().loans.size} bytes are on loan`)
    await after(10)
  }
}

const echo = async (request, response) => { response.end(await gather(request)) }

for (const { name, serve, options } of versions) {
  test(`a large Buffer goes up over ${name} without a copy of it`, async () => {
    const server = await serve(() => {})
    const body = Buffer.alloc(192 * MIB, 'large')
    const client = new Client(server.url, options)
    const before = process.memoryUsage.rss()
    const controller = new AbortController()
    // Nobody reads it: what is on the way is bounded, and the rest stays where it is.
    const lost = client.request({ path: '/', method: 'POST', body, signal: controller.signal }).catch(error => error)
    await once(server.server, 'request')
    let most = 0
    for (let round = 0; round < 20; round++) {
      await after(10)
      most = Math.max(most, process.memoryUsage.rss() - before)
    }
    assert.ok(most < 64 * MIB, `the process grew by ${(most / MIB).toFixed(0)} MiB for a body of 192`)
    assert.equal(theBorder().loans.size, body.length)
    controller.abort()
    assert.equal((await lost).name, 'AbortError')
    await allReturned()
    await client.close()
    await server.close()
  })

  test(`a source that writes its next piece over the last one sends each as it was, over ${name}`, async () => {
    const server = await serve(echo)
    const agent = new Agent(options)
    const piece = Buffer.alloc(48 * 1024)
    const small = Buffer.alloc(100)
    const pieces = function * () {
      for (let round = 0; round < 60; round++) {
        const next = round % 3 === 2 ? small : piece
        next.fill(round + 33)
        yield next
      }
    }
    const expected = Buffer.concat(Array.from(pieces(), part => Buffer.from(part)))
    const later = async function * () { yield * pieces() }
    for (const body of [pieces(), later()]) {
      const answer = await viaNew(agent, { origin: server.url, path: '/echo', method: 'POST', body })
      assert.ok(answer.body.equals(expected))
    }
    await allReturned()
    await agent.close()
    await server.close()
  })
}

test('a body that the server refused unseen is whole when it is sent again', async () => {
  const seen = []
  const server = await h2(async (request, response) => {
    if (seen.push(request.url) === 1) return response.stream.close(7)
    response.end(await gather(request))
  })
  const pool = new Pool(server.url, { connect: { ca: cert } })
  const body = Buffer.alloc(300_000, 'again')
  const answer = await viaNew(pool, { path: '/', method: 'POST', body })
  assert.equal(seen.length, 2)
  assert.ok(answer.body.equals(body))
  await allReturned()
  await pool.close()
  await server.close()
})

test('bodies of requests that fail, are aborted in line or come too late are returned', async () => {
  const server = await h2((request, response) => { request.resume(); if (request.url === '/cut') response.stream.session.destroy() })
  const pool = new Pool(server.url, { connect: { ca: cert }, connections: 1, maxConcurrentStreams: 2 })
  const body = () => Buffer.alloc(64 * 1024)
  const signal = AbortSignal.timeout(50)
  const paths = [...Array(10).fill('/hang'), '/cut']
  const outcomes = await Promise.allSettled(paths.map(path => pool.request({ path, method: 'POST', body: body(), signal })))
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  const cut = await pool.request({ path: '/cut', method: 'POST', body: body() }).then(() => null, error => error)
  assert.equal(cut.code, 'UND_ERR_SOCKET')
  const last = pool.request({ path: '/hang', method: 'POST', body: body() }).catch(error => error)
  await pool.destroy()
  assert.equal((await last).code, 'UND_ERR_DESTROYED')
  await allReturned()
  await server.close()
})

test('memory that can shrink or that other threads share is copied, and arrives', async () => {
  const server = await h2(echo)
  const agent = new Agent({ connect: { ca: cert } })
  const shared = new Uint8Array(new SharedArrayBuffer(20_000)).fill(65)
  const memories = [Buffer.from(shared.buffer)]
  if ('resizable' in ArrayBuffer.prototype) {
    memories.push(Buffer.from(new ArrayBuffer(20_000, { maxByteLength: 40_000 })).fill(66))
  }
  for (const body of memories) {
    const expected = Buffer.from(body)
    const answered = viaNew(agent, { origin: server.url, path: '/', method: 'POST', body })
    assert.equal(theBorder().loans.size, 0)
    assert.ok((await answered).body.equals(expected))
  }
  await turn()
  await agent.close()
  await server.close()
})

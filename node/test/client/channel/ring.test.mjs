// The channel when it is full: writers wait, and no entry is lost, duplicated or reordered.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { Agent } from 'trunkline'
import { theBridge } from '../../../dist/channel/ring.js'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { origin } from '../../support/servers/servers.mjs'

/** Words of the channel's control (ring.ts): how far completions are written and read, and whether some wait. */
const [COMPLETED, DRAINED, OVERFLOWS] = [64, 80, 128]
const word = index => Atomics.load(theBridge('threads').control, index)

/** The completion after the connection took bytes of a request's body. */
const ROOM = 7

/** Blocks this thread until the condition is true. */
function hold (isThere) {
  const end = performance.now() + 20_000
  const nobody = new Int32Array(new SharedArrayBuffer(4))
  while (!isThere() && performance.now() < end) Atomics.wait(nobody, 0, 0, 1)
  assert.ok(isThere(), 'it came while JavaScript was held')
}

const agentFor = protocol => new Agent({ engine: 'threads', connect: { ca: cert }, connections: 8, maxConcurrentStreams: 1000, ...(protocol === 'h3' && { http3: 'only' }) })

for (const protocol of ['h2', 'h3']) {
  test(`over ${protocol}, answers that find the ring or its arena full wait at the engine and come in full`, async t => {
    const server = await origin()
    const agent = agentFor(protocol)
    t.after(async () => { await agent.close(); await server.close() })
    const get = path => viaNew(agent, { origin: server.https, path, method: 'GET' })
    await get('/bytes/1')
    const sizes = Array.from({ length: 2000 }, (_, index) => 1 + (index * 7919) % 15_000)
    const all = sizes.map(size => get(`/bytes/${size}`))
    // Submissions are published at the end of this turn.
    await new Promise(resolve => process.nextTick(resolve))
    hold(() => word(OVERFLOWS) === 1)
    const answers = await Promise.all(all)
    assert.deepEqual(answers.map(answer => answer.body.length), sizes)
    assert.ok(answers.every(answer => answer.status === 200 && answer.events.join() === 'start,head,data,end' || answer.events.filter(event => event === 'end').length === 1))
    assert.deepEqual([word(OVERFLOWS), word(COMPLETED)], [0, word(DRAINED)])
  })
}

test('requests that find the ring or its arena full wait in line, and each is answered with its own body', async t => {
  const server = await origin()
  const agent = agentFor('h2')
  t.after(async () => { await agent.close(); await server.close() })
  const bodies = Array.from({ length: 12_000 }, (_, index) => `${index}`.padEnd(1 + index % 500, '.'))
  const answers = await Promise.all(bodies.map(body => viaNew(agent, { origin: server.https, path: '/echo', method: 'POST', body })))
  assert.deepEqual(answers.map(answer => answer.body.toString()), bodies)
})

test('uploads in pieces, aborts and answers share a full ring, and each settles', async t => {
  const server = await origin()
  const agent = agentFor('h2')
  t.after(async () => { await agent.close(); await server.close() })
  const outcomes = await Promise.allSettled(Array.from({ length: 3000 }, async (_, index) => {
    async function * pieces () { for (let piece = 0; piece < 5; piece++) yield Buffer.alloc(200 + index % 100, `${piece}`) }
    const isAborted = index % 3 === 0
    const signal = isAborted ? AbortSignal.timeout(index % 50) : undefined
    const { body } = await agent.request({ origin: server.https, path: isAborted ? '/delay/60000' : '/echo', method: 'POST', body: pieces(), signal })
    const text = await body.text()
    assert.equal(text, [0, 1, 2, 3, 4].map(piece => `${piece}`.repeat(200 + index % 100)).join(''))
  }))
  const reasons = new Set(outcomes.filter(one => one.status === 'rejected').map(one => one.reason.name))
  assert.deepEqual([...reasons], ['TimeoutError'])
  assert.equal(outcomes.filter(one => one.status === 'rejected').length, 1000)
})

test('the bytes of a request that is refused at the engine are given back', async t => {
  const server = await origin()
  const agent = agentFor('h2')
  t.after(async () => { await agent.close(); await server.close() })
  const body = Buffer.alloc(64 * 1024)
  const post = headers => viaNew(agent, { origin: server.https, path: '/echo', method: 'POST', headers, body })
  await post({})
  const { native } = theBridge()
  const places = () => native.put(Buffer.alloc(1))
  const before = places()
  // JavaScript lets it pass, and no connection of HTTP/2 may have it.
  for (let round = 0; round < 50; round++) await assert.rejects(post({ te: 'gzip' }))
  assert.ok(places() - before < 10, 'the places are used again')
})

test('nothing is said of an upload behind the end of its exchange, whose number is another\'s then', async t => {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    // Answered before the body is read, which stays where it is.
    socket.once('data', () => { socket.pause().write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n') })
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const agent = new Agent({ allowH2: false })
  t.after(async () => { await agent.destroy(); server.close() })
  const bridge = theBridge()
  const late = []
  const { complete } = bridge
  t.after(() => { bridge.complete = complete })
  bridge.complete = function (at) {
    const [kind, number] = bridge.completions.subarray(at, at + 2)
    if ((kind & 0xff) === ROOM && bridge.callbacks[number] === undefined) late.push(number)
    complete.call(bridge, at)
  }
  for (let round = 0; round < 20; round++) {
    // More than what waits for a peer that does not read, piece by piece.
    async function * pieces () { for (let piece = 0; piece < 4000; piece++) yield Buffer.alloc(8 * 1024) }
    const { body } = await agent.request({ origin: `http://127.0.0.1:${server.address().port}`, path: '/', method: 'POST', body: pieces() })
    await body.dump()
  }
  assert.deepEqual(late, [])
})

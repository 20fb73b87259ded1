// The members of undici's dispatchers beside `dispatch` and `request`, on ours; and our pools under
// undici's own balancers.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import test from 'node:test'
import { Agent, Client, Pool } from 'trunkline'
import * as undici7 from 'undici7'
import { h1, ways } from '../../support/servers/servers.mjs'

const [major] = process.versions.node.split('.').map(Number)
const lines = { undici7 }
// undici 8 needs a newer Node than 20.
if (major >= 22) lines.undici8 = await import('undici8')

const gather = async stream => {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
const echo = async (request, response) => { response.setHeader('x-method', request.method); response.end(`${request.url} ${await gather(request)}`) }

async function served (t, serving) {
  const server = await serving
  t.after(() => server.close())
  return server
}

for (const { name, serve, options } of ways) {
  for (const Kind of [Client, Pool, Agent]) {
    test(`stream and pipeline of a ${Kind.name}, by promise and by callback, over ${name}`, async t => {
      const server = await served(t, serve(echo))
      const dispatcher = Kind === Agent ? new Agent(options) : new Kind(server.url, options)
      t.after(() => dispatcher.destroy())
      const asked = { origin: server.url, path: '/a', method: 'POST', body: 'hello', opaque: 'own' }
      const into = chunks => ({ statusCode, headers, opaque }) => {
        assert.deepEqual([statusCode, headers['x-method'], opaque], [200, 'POST', 'own'])
        return new Writable({ write (chunk, _, done) { chunks.push(chunk); done() } })
      }
      const first = []
      const answer = await dispatcher.stream(asked, into(first))
      assert.deepEqual([answer.opaque, answer.trailers, Buffer.concat(first).toString()], ['own', {}, '/a hello'])
      const second = []
      await new Promise((resolve, reject) => { dispatcher.stream(asked, into(second), error => { if (error) reject(error); else resolve() }) })
      assert.equal(Buffer.concat(second).toString(), '/a hello')
      await assert.rejects(dispatcher.stream(asked, () => { throw new Error('no place') }), /no place/)

      const piped = dispatcher.pipeline({ origin: server.url, path: '/b', method: 'PUT' }, ({ statusCode, body }) => {
        assert.equal(statusCode, 200)
        return body
      })
      piped.write('through ')
      piped.end('and through')
      assert.equal(await gather(piped), '/b through and through')
    })
  }
}

for (const { name, serve, options } of ways) {
  test(`a sink of stream() keeps no listeners of ours behind the call, over ${name}`, async t => {
    const server = await served(t, serve((request, response) => {
      response.write('a piece')
      if (request.url === '/whole') response.end()
    }))
    const client = new Client(server.url, options)
    t.after(() => client.destroy())
    const own = () => {}
    for (const path of ['/whole', '/cut']) {
      const sink = new Writable({ write (piece, _, done) { done(); if (path === '/cut') sink.destroy(new Error('why')) } }).on('drain', own)
      const called = client.stream({ path, method: 'GET' }, () => sink)
      await (path === '/cut' ? assert.rejects(called, /why/) : called)
      assert.deepEqual([sink.eventNames(), sink.listeners('drain')], [['drain'], [own]], path)
    }
  })

  test(`a sink of stream() that its owner destroys in the turn in which the signal aborts fails once, over ${name}`, async t => {
    const server = await served(t, serve((request, response) => { response.write('a piece') }))
    const client = new Client(server.url, options)
    t.after(() => client.destroy())
    const controller = new AbortController()
    const sink = new Writable({
      write (piece, _, done) {
        done()
        sink.destroy(new Error('of the sink'))
        controller.abort(new Error('of the signal'))
      }
    })
    await assert.rejects(client.stream({ path: '/', method: 'GET', signal: controller.signal }, () => sink), /of the sink/)
  })
}

test('connect of ours gives the stream behind a CONNECT, by promise and by callback', async t => {
  const server = await served(t, h1(() => {}))
  server.server.on('connect', (request, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 Yes\r\nx-to: ' + request.url + '\r\n\r\n')
    socket.pipe(socket)
  })
  const client = new Pool(server.url)
  t.after(() => client.destroy())
  const opened = [
    await client.connect({ path: 'a.test:80' }),
    await new Promise((resolve, reject) => { client.connect({ path: 'a.test:80' }, (error, one) => { if (error) reject(error); else resolve(one) }) })
  ]
  for (const { statusCode, headers, socket } of opened) {
    assert.deepEqual([statusCode, headers['x-to']], [200, 'a.test:80'])
    socket.end('to and fro')
    assert.equal(await gather(socket), 'to and fro')
  }
})

const texts = pool => Promise.all(Array.from({ length: 8 }, async () => (await pool.request({ path: '/', method: 'GET' })).body.text()))

for (const [line, undici] of Object.entries(lines)) {
  test(`${line}: a BalancedPool over pools of ours asks each of its servers`, async t => {
    const servers = await Promise.all([1, 2].map(number => served(t, h1((request, response) => { response.end(`${number}`) }))))
    const pool = new undici.BalancedPool(servers.map(server => server.url), { factory: origin => new Pool(origin) })
    t.after(() => pool.destroy())
    assert.deepEqual(new Set(await texts(pool)), new Set(['1', '2']))
  })

  test(`${line}: a RoundRobinPool over clients of ours asks each in turn`, { skip: undici.RoundRobinPool === undefined }, async t => {
    const server = await served(t, h1((request, response) => { response.end('1') }))
    const made = []
    const factory = origin => { made.push(new Client(origin)); return made.at(-1) }
    const pool = new undici.RoundRobinPool(server.url, { factory, connections: 2 })
    t.after(() => pool.destroy())
    assert.deepEqual(new Set(await texts(pool)), new Set(['1']))
    assert.deepEqual(made.map(client => client.stats.totals.submitted > 0), [true, true])
  })
}

// `installGlobal` and the classes of `fetch` beside Node.js's own and undici's: each takes what the other made.
import assert from 'node:assert/strict'
import test from 'node:test'
import * as trunkline from 'trunkline'
import * as undici6 from 'undici6'
import * as undici7 from 'undici7'
import { h1, ways } from '../support/servers/servers.mjs'

const { Agent, fetch: ownFetch, fetchOver, installGlobal } = trunkline
const NAMES = ['fetch', 'Headers', 'Request', 'Response', 'FormData']
const native = Object.fromEntries(NAMES.map(name => [name, globalThis[name]]))
const [major] = process.versions.node.split('.').map(Number)
const packages = { undici6, undici7, ...(major >= 22 && { undici8: await import('undici8') }) }

const echo = async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method: request.method, type: request.headers['content-type'], own: request.headers['x-own'], body: Buffer.concat(chunks).toString() }))
}

async function served (t, way = { serve: h1 }) {
  const server = await way.serve(echo)
  t.after(() => server.close())
  return server
}

test('installGlobal puts fetch and its classes in the place of the global ones, and what it returns takes them back', async t => {
  const server = await served(t)
  const agent = new Agent()
  const uninstall = installGlobal(agent)
  for (const name of NAMES) assert.equal(globalThis[name], trunkline[name], name)
  const response = await fetch(new Request(server.url, { method: 'POST', body: 'text' }))
  assert.ok(response instanceof Response && response.headers instanceof Headers)
  assert.equal((await response.json()).body, 'text')
  assert.equal(agent.stats.totals.submitted, 1)
  uninstall()
  for (const name of NAMES) assert.equal(globalThis[name], native[name], name)
  await agent.close()
})

test('with fetch: false installGlobal leaves the classes, and the requests of Node.js\'s own fetch go through the dispatcher', async t => {
  const server = await served(t)
  const agent = new Agent()
  const uninstall = installGlobal(agent, { fetch: false })
  for (const name of NAMES) assert.equal(globalThis[name], native[name], name)
  assert.equal((await (await fetch(server.url)).json()).method, 'GET')
  assert.equal(agent.stats.totals.submitted, 1)
  uninstall()
  await agent.close()
})

test('instances of ours are instances of the global classes, before and behind installGlobal', async t => {
  const server = await served(t)
  const dispatcher = new Agent()
  t.after(() => dispatcher.close())
  const look = response => {
    const made = { Response: response, Headers: response.headers, Request: new trunkline.Request(server.url), FormData: new trunkline.FormData() }
    for (const [name, one] of Object.entries(made)) {
      assert.ok(one instanceof native[name], name)
      assert.ok(one instanceof globalThis[name], name)
      assert.equal(Object.prototype.toString.call(one), `[object ${name}]`)
    }
  }
  look(await ownFetch(server.url, { dispatcher }))
  const uninstall = installGlobal(dispatcher)
  look(await fetch(server.url))
  uninstall()
})

for (const [name, own] of Object.entries({ "Node.js's": native, ...packages })) {
  test(`${name} Request, Headers, FormData and Blob are taken by ours`, async t => {
    const server = await served(t)
    const dispatcher = new Agent()
    t.after(() => dispatcher.close())
    const request = new own.Request(server.url, { method: 'PUT', body: 'text', headers: { 'x-own': '1' } })
    const seen = await (await ownFetch(request, { dispatcher })).json()
    assert.deepEqual([seen.method, seen.own, seen.body], ['PUT', '1', 'text'])
    assert.equal(new trunkline.Headers(new own.Headers({ a: 'b' })).get('a'), 'b')
    const form = new own.FormData()
    form.append('a', 'b')
    assert.deepEqual([...await new trunkline.Response(form).formData()], [['a', 'b']])
    assert.equal(await new trunkline.Response(new own.Response('text').body).text(), 'text')
  })
}

test('Node.js\'s own classes take Headers of ours, and a form of ours as it is or not at all', async t => {
  const server = await served(t)
  assert.equal(new native.Headers(new trunkline.Headers({ a: 'b' })).get('a'), 'b')
  const seen = await (await native.fetch(server.url, { method: 'POST', headers: new trunkline.Headers({ 'x-own': '1' }), body: 'text' })).json()
  assert.deepEqual([seen.own, seen.body], ['1', 'text'])
  const form = new trunkline.FormData()
  form.append('a', 'b')
  // Newer lines of Node.js read a private member of their own class, or take a form of another for a text.
  try {
    assert.deepEqual([...await new native.Response(form).formData()], [['a', 'b']])
  } catch (error) {
    assert.match(error.message, /private member|Content-Type was not one of/)
  }
})

for (const [line, undici] of Object.entries(packages)) {
  for (const { name, serve, options } of ways) {
    test(`fetch goes through a dispatcher of ${line}, and through ours behind its interceptors, over ${name}`, async t => {
      const server = await served(t, { serve })
      const theirs = new undici.Agent(options)
      const ours = new Agent(options)
      t.after(async () => { await theirs.close(); await ours.close() })
      const composed = ours.compose(dispatch => (given, handler) => dispatch({ ...given, headers: [...given.headers instanceof Array ? given.headers : Object.entries(given.headers).flat(), 'x-own', 'added'] }, handler))
      // HTTP/2 is off in lines before 8.
      if (name !== 'h2' || line === 'undici8') {
        const seen = await (await ownFetch(server.url, { dispatcher: theirs, method: 'POST', body: 'x'.repeat(100_000) })).json()
        assert.equal(seen.body.length, 100_000)
      }
      for (const fetch of [ownFetch, fetchOver(composed)]) {
        const seen = await (await fetch(server.url, { dispatcher: composed, method: 'POST', body: 'text' })).json()
        assert.deepEqual([seen.own, seen.body], ['added', 'text'])
      }
    })
  }

  test(`a MockAgent of ${line} that a program has set answers fetch and request of this package, without installGlobal`, async t => {
    const mock = new undici.MockAgent()
    mock.disableNetConnect()
    mock.get('http://mocked.test').intercept({ path: '/a' }).reply(201, { a: 1 }).times(2)
    const before = undici.getGlobalDispatcher()
    undici.setGlobalDispatcher(mock)
    t.after(async () => {
      undici.setGlobalDispatcher(before)
      await mock.close()
    })
    const { statusCode, body } = await trunkline.request('http://mocked.test/a')
    assert.deepEqual([statusCode, await body.json()], [201, { a: 1 }])
    const response = await ownFetch('http://mocked.test/a')
    assert.deepEqual([response.status, await response.json()], [201, { a: 1 }])
  })

  test(`a MockAgent of ${line} sees the length of a body that fetch knows`, async t => {
    const mock = new undici.MockAgent()
    mock.disableNetConnect()
    t.after(() => mock.close())
    mock.get('http://mocked.test').intercept({ path: '/a', method: 'POST' }).reply(200, ({ headers }) => String(headers['content-length'])).persist()
    const stream = new ReadableStream({ start (controller) { controller.close() } })
    for (const [body, length] of [['é', '2'], [Buffer.from('abc'), '3'], [new URLSearchParams('a=b'), '3'], [new Blob(['ab']), '2'], [undefined, '0'], [stream, 'undefined']]) {
      const response = await ownFetch('http://mocked.test/a', { method: 'POST', body, duplex: 'half', dispatcher: mock })
      assert.equal(await response.text(), length)
    }
  })

  test(`a MockAgent of ${line} answers fetch, by its option and as the dispatcher of the process`, async t => {
    const mock = new undici.MockAgent()
    mock.disableNetConnect()
    mock.get('http://mocked.test').intercept({ path: '/a' }).reply(201, { a: 1 }, { headers: { 'x-a': 'b' } }).times(2)
    const agent = new Agent()
    const uninstall = installGlobal(agent)
    const before = undici.getGlobalDispatcher()
    t.after(async () => {
      undici.setGlobalDispatcher(before)
      uninstall()
      await mock.close()
      await agent.close()
    })
    for (const ask of [() => fetch('http://mocked.test/a', { dispatcher: mock }), () => { undici.setGlobalDispatcher(mock); return fetch('http://mocked.test/a') }]) {
      const response = await ask()
      assert.deepEqual([response.status, response.headers.get('x-a'), await response.json()], [201, 'b', { a: 1 }])
    }
    await assert.rejects(fetch('http://mocked.test/b'), { name: 'TypeError', message: 'fetch failed' })
  })
}

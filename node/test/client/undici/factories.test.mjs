// Dispatchers that a function of the user's makes: undici's of every line and ours, behind our Agent, Pool and ProxyAgent.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Agent, Client, errors, Pool, ProxyAgent } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { proxy } from '../../support/servers/proxy.mjs'
import { h1, h1s } from '../../support/servers/servers.mjs'

const [major] = process.versions.node.split('.').map(Number)
const makers = { ours: { Client, Pool }, undici6: await import('undici6'), undici7: await import('undici7') }
// undici 8 needs a newer Node than 20.
if (major >= 22) makers.undici8 = await import('undici8')
const fetchers = Object.entries(makers).filter(([line]) => line !== 'ours')

const echo = async (request, response) => {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  response.end(`${request.method} ${request.url} ${request.headers['x-own'] ?? ''} ${Buffer.concat(pieces)}`)
}

const textOf = async answer => answer.body.text()
const limit = { timeout: 120_000 }

for (const [line, { Client: MadeClient, Pool: MadePool }] of Object.entries(makers)) {
  for (const [kind, Made] of [['Client', MadeClient], ['Pool', MadePool]]) {
    test(`an Agent sends by a ${kind} of ${line} for each origin`, limit, async () => {
      const servers = [await h1(echo), await h1(echo)]
      const asked = []
      const children = []
      const agent = new Agent({ headersTimeout: 12_345, factory: (origin, options) => {
        asked.push([String(origin), options.headersTimeout, options.factory])
        children.push(new Made(origin, options))
        return children.at(-1)
      } })
      const connected = []
      agent.on('connect', (_, targets) => { connected.push(targets[0] === agent && targets[1] === children.find(child => child === targets[1])) })
      for (const { url } of [...servers, ...servers]) {
        assert.equal(await textOf(await agent.request({ origin: url, path: '/a', method: 'POST', body: 'hello', headers: { 'x-own': 'b' } })), 'POST /a b hello')
        for (const [, { fetch, request }] of fetchers) {
          assert.equal(await textOf(await request(`${url}/c`, { dispatcher: agent })), 'GET /c  ')
          assert.equal(await (await fetch(`${url}/d`, { dispatcher: agent })).text(), 'GET /d  ')
        }
      }
      assert.deepEqual(asked, servers.map(({ url }) => [url, 12_345, undefined]))
      assert.ok(connected.length >= 2 && connected.every(Boolean))
      await agent.close()
      assert.ok(children.every(({ closed }) => closed))
      await assert.rejects(agent.request({ origin: servers[0].url, path: '/' }), errors.ClientDestroyedError)
      for (const server of servers) await server.close()
    })
  }

  test(`a Pool sends by as many Clients of ${line} as it may have, and by none twice at once`, limit, async () => {
    const held = []
    const server = await h1((request, response) => {
      held.push(response)
      if (held.length === 2) for (const one of held.splice(0)) one.end('together')
    })
    const children = []
    const pool = new Pool(server.url, { connections: 2, factory: (origin, options) => {
      children.push(new MadeClient(origin, options))
      return children.at(-1)
    } })
    const drained = new Promise(resolve => { pool.once('drain', resolve) })
    const answers = await Promise.all(Array.from({ length: 8 }, async () => textOf(await pool.request({ path: '/', method: 'POST', body: 'x' }))))
    assert.deepEqual(answers, Array.from({ length: 8 }, () => 'together'))
    assert.equal(children.length, 2)
    await drained
    assert.equal(pool.stats.queued, 0)
    await pool.close()
    assert.ok(children.every(({ closed }) => closed))
    await server.close()
  })

  test(`what waits in a Pool of Clients of ${line} fails when it is destroyed`, limit, async () => {
    const server = await h1(() => {})
    const children = []
    const pool = new Pool(server.url, { connections: 1, factory: (origin, options) => {
      children.push(new MadeClient(origin, options))
      return children.at(-1)
    } })
    const all = Array.from({ length: 4 }, () => pool.request({ path: '/', method: 'GET' }))
    const outcomes = Promise.allSettled(all)
    await pool.destroy(new Error('mine'))
    for (const { reason } of await outcomes) assert.equal(reason.message, 'mine')
    assert.ok(children.every(({ destroyed }) => destroyed))
    await server.close()
  })

  test(`a ProxyAgent opens tunnels by a client and sends by a Pool of ${line}`, limit, async () => {
    const secure = await h1s(echo)
    const plain = await h1(echo)
    const through = await proxy({ credentials: 'Basic dTpw' })
    const made = []
    const agent = new ProxyAgent({
      uri: through.url.replace('//', '//u:p@'),
      requestTls: { ca: cert },
      clientFactory: (origin, options) => { made.push(`client ${origin.origin}`); return new MadePool(origin, options) },
      factory: (origin, options) => { made.push(`origin ${new URL(origin).origin}`); return new MadePool(origin, options) }
    })
    assert.equal(await textOf(await agent.request({ origin: secure.url, path: '/a', method: 'GET' })), 'GET /a  ')
    assert.equal(await textOf(await agent.request({ origin: plain.url, path: '/b', method: 'POST', body: 'c' })), 'POST /b  c')
    for (const [, { fetch }] of fetchers) {
      assert.equal(await (await fetch(`${secure.url}/d`, { dispatcher: agent })).text(), 'GET /d  ')
      assert.equal(await (await fetch(`${plain.url}/d`, { dispatcher: agent })).text(), 'GET /d  ')
    }
    assert.deepEqual(made, [`client ${through.url}`, `origin ${secure.url}`, `origin ${through.url}`])
    assert.equal(through.lines()[0], `CONNECT ${new URL(secure.url).host}`)
    assert.equal(through.lines()[1], `POST ${plain.url}/b`)
    await agent.close()
    await through.close()
    await secure.close()
    await plain.close()
  })

  test(`a proxy that refuses what a ProxyAgent of ${line} asks is an error as undici has it`, limit, async () => {
    const through = await proxy({ credentials: 'Basic dTpw' })
    const agent = new ProxyAgent({ uri: through.url, clientFactory: (origin, options) => new MadePool(origin, options), factory: (origin, options) => new MadePool(origin, options) })
    await assert.rejects(agent.request({ origin: 'https://localhost:1', path: '/', method: 'GET' }), { code: 'UND_ERR_ABORTED', message: 'Proxy response (407) !== 200 when HTTP Tunneling' })
    await assert.rejects(agent.request({ origin: 'http://localhost:1', path: '/', method: 'GET' }), { code: 'UND_ERR_INVALID_ARG', message: 'Proxy Authentication Required (407)' })
    await assert.rejects(agent.request({ origin: 'http://localhost:1', path: '/', method: 'GET', headers: { 'proxy-authorization': 'x' } }), { message: 'Proxy-Authorization should be sent in ProxyAgent constructor' })
    await agent.destroy()
    await through.close()
  })
}

for (const [line, { MockAgent }] of fetchers) {
  test(`an Agent sends by what MockAgent of ${line} gives`, limit, async () => {
    const mocks = new MockAgent()
    mocks.disableNetConnect()
    mocks.get('http://a.test').intercept({ path: '/a' }).reply(201, 'mocked').times(2)
    for (const factory of [() => mocks, origin => mocks.get(String(origin))]) {
      const agent = new Agent({ factory })
      const answer = await agent.request({ origin: 'http://a.test', path: '/a', method: 'GET' })
      assert.equal(answer.statusCode, 201)
      assert.equal(await answer.body.text(), 'mocked')
    }
    await mocks.close()
  })
}

test('an Agent of factories has no more origins than it may, closes what is not used, and makes it anew', limit, async () => {
  const server = await h1((_, response) => { response.end() })
  let made = 0
  const agent = new Agent({ maxOrigins: 1, factory: (origin, options) => { made++; return new Pool(origin, options) } })
  const gone = new Promise(resolve => { agent.once('disconnect', resolve) })
  await textOf(await agent.request({ origin: server.url, path: '/', method: 'GET' }))
  await assert.rejects(agent.request({ origin: 'http://b.test', path: '/', method: 'GET' }), errors.MaxOriginsReachedError)
  await textOf(await agent.request({ origin: server.url, path: '/', method: 'GET', reset: true }))
  await gone
  await textOf(await agent.request({ origin: server.url, path: '/', method: 'GET' }))
  assert.equal(made, 2)
  await agent.close()
  await server.close()
})

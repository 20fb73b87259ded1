// The order in which a program sees what belongs together: promises, events of streams and events of connections, as with
// undici.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import test from 'node:test'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, Client, errors, Headers, Pool } from 'trunkline'

/** A server of HTTP/1.1, which is closed behind the test. */
async function serve (t, handler) {
  const server = http.createServer(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${server.address().port}` }
}
const get = { path: '/', method: 'GET' }

test('close resolves behind the bodies of its requests and behind the end of its connections', async t => {
  const { url } = await serve(t, (request, response) => { response.end('hello') })
  const client = new Client(url)
  const seen = []
  client.on('disconnect', () => { seen.push('disconnect') })
  const reading = client.request(get).then(({ body }) => body.text()).then(text => { seen.push(text) })
  await Promise.all([reading, client.close().then(() => { seen.push('closed') })])
  assert.deepEqual(seen, ['hello', 'disconnect', 'closed'])
})

test('destroy fails what waits first, then what is on a connection, and resolves behind the end of its connections', async t => {
  const { server, url } = await serve(t, () => {})
  const client = new Client(url)
  const seen = []
  client.on('disconnect', () => { seen.push('disconnect') })
  const calls = [1, 2, 3].map(at => client.request(get).catch(() => { seen.push(at) }))
  await Promise.all([once(server, 'request'), once(client, 'connect')])
  await client.destroy()
  seen.push('destroyed')
  await Promise.all(calls)
  assert.deepEqual(seen, [2, 3, 'disconnect', 1, 'destroyed'])
})

for (const make of [url => new Client(url), url => new Pool(url, { connections: 2 })]) {
  const kind = make('http://localhost').constructor.name
  test(`a handler that aborts other requests of a ${kind} while destroy fails them keeps none from its end`, async t => {
    const { server, url } = await serve(t, () => {})
    const dispatcher = make(url)
    const controller = new AbortController()
    const failed = []
    const handler = at => ({
      onRequestStart () {},
      onResponseStart () {},
      onResponseData () {},
      onResponseEnd () {},
      onResponseError (_, error) {
        failed.push(`${at} ${error.code}`)
        controller.abort()
      }
    })
    for (const at of [1, 2, 3, 4]) dispatcher.dispatch(get, handler(at))
    const calls = [5, 6].map(() => dispatcher.request({ ...get, signal: controller.signal }).catch(error => error.name))
    await once(server, 'request')
    await dispatcher.destroy()
    assert.deepEqual(failed.toSorted(), [1, 2, 3, 4].map(at => `${at} UND_ERR_DESTROYED`))
    assert.deepEqual(await Promise.all(calls), ['AbortError', 'AbortError'])
  })
}

for (const { blocking, expected } of [
  { blocking: undefined, expected: [2, 3, 4, 'disconnect', 1, 'destroyed'] },
  { blocking: false, expected: [4, 'disconnect', 1, 2, 3, 'destroyed'] }
]) {
  test(`what is pipelined fails with its connection, and waits behind a request that blocks: blocking ${blocking}`, async t => {
    const { server, url } = await serve(t, () => {})
    const client = new Client(url, { pipelining: 3 })
    const seen = []
    client.on('disconnect', () => { seen.push('disconnect') })
    const calls = [1, 2, 3, 4].map(at => client.request({ ...get, blocking }).catch(() => { seen.push(at) }))
    await Promise.all([once(server, 'request'), once(client, 'connect')])
    await client.destroy()
    seen.push('destroyed')
    await Promise.all(calls)
    assert.deepEqual(seen, expected)
  })
}

test('behind a head that has come a pipelined request is on its connection when destroy ends it', async t => {
  const { url } = await serve(t, (request, response) => { response.write('a piece') })
  const client = new Client(url, { pipelining: 3 })
  const seen = []
  const [first, ...others] = [1, 2, 3].map(at => client.request(get).catch(() => { seen.push(at) }))
  const { body } = await first
  body.on('error', () => {})
  client.on('disconnect', () => { seen.push('disconnect') })
  await client.destroy()
  await Promise.all(others)
  assert.deepEqual(seen, [3, 'disconnect', 2])
})

test('drain comes behind the end of a connection that carries no more requests, and in front of requests that fail with one', async t => {
  const { url } = await serve(t, (request, response) => {
    if (request.url === '/cut') request.socket.resetAndDestroy()
    else response.end('hello')
  })
  for (const { path, options, expected } of [
    { path: '/', options: { maxRequestsPerClient: 1 }, expected: ['hello', 'disconnect UND_ERR_INFO', 'drain'] },
    { path: '/', options: { pipelining: 0 }, expected: ['hello', 'disconnect UND_ERR_INFO', 'drain'] },
    { path: '/cut', options: {}, expected: ['disconnect ECONNRESET', 'drain', 'failed ECONNRESET'] }
  ]) {
    const client = new Client(url, options)
    const seen = []
    client.on('disconnect', (origin, targets, error) => { seen.push(`disconnect ${error.code}`) })
    client.on('drain', () => { seen.push('drain') })
    const drained = once(client, 'drain')
    const reading = client.request({ ...get, path }).then(({ body }) => body.text())
    await Promise.all([drained, reading.then(text => { seen.push(text) }, error => { seen.push(`failed ${error.code}`) })])
    assert.deepEqual(seen, expected)
    await client.close()
  }
})

test('a request that is on a connection may be inspected when destroy has resolved', async t => {
  const { server, url } = await serve(t, () => {})
  const agent = new Agent()
  const call = agent.request({ ...get, origin: url })
  await Promise.all([once(server, 'request'), once(agent, 'connect')])
  await agent.destroy(new Error('enough'))
  await assert.rejects(call, { message: 'enough' })
})

test('a dispatcher that nothing holds but the promise of its close is kept until it resolves', async t => {
  const { url } = await serve(t, (request, response) => { response.end('hello') })
  const closed = (async () => {
    const agent = new Agent()
    await agent.request({ ...get, origin: url }).then(({ body }) => body.text())
    return { promise: agent.close() }
  })()
  const { promise } = await closed
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  assert.equal(await promise, null)
})

for (const [what, act] of [['an abort', controller => { controller.abort() }], ['an exception', () => { throw new Error('mine') }]]) {
  test(`bytes that were written in front of ${what} reach the peer of an upgrade, and its handler has the error at once`, async t => {
    const { server, url } = await serve(t, () => {})
    const got = new Promise(resolve => {
      server.on('upgrade', (request, socket) => {
        const pieces = []
        const whole = () => { resolve(Buffer.concat(pieces).toString()) }
        socket.on('data', piece => { pieces.push(piece) }).on('error', () => {}).on('end', whole).on('close', whole)
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: proto\r\n\r\n')
      })
    })
    const client = new Client(url)
    const errors = []
    t.after(() => client.destroy())
    client.dispatch({ ...get, upgrade: 'proto' }, {
      onRequestStart () {},
      onRequestUpgrade (controller, status, headers, socket) {
        socket.on('error', () => {}).write('the last words')
        act(controller)
      },
      onResponseError (_, error) { errors.push(error.code ?? error.message) }
    })
    assert.equal(await got, 'the last words')
    assert.deepEqual(errors, [what === 'an abort' ? 'UND_ERR_ABORTED' : 'mine'])
  })
}

test('a body with listeners ends before its text resolves, and one that was read says that it has ended', async t => {
  const { url } = await serve(t, (request, response) => { response.end('hello') })
  const client = new Client(url)
  t.after(() => client.destroy())
  const seen = []
  const { body } = await client.request(get)
  body.on('end', () => { seen.push('end') })
  await body.text().then(() => { seen.push('text') })
  assert.deepEqual(seen, ['end', 'text'])
  const quiet = (await client.request(get)).body
  await quiet.text()
  assert.deepEqual([quiet.bodyUsed, quiet.readableEnded, quiet.destroyed, quiet.readable], [true, true, true, false])
  assert.equal(quiet.constructor.name, 'BodyReadable')
})

test('a listener that is added behind the text of a body gets its end', async t => {
  const { url } = await serve(t, (request, response) => { response.end('hello') })
  const client = new Client(url)
  t.after(() => client.destroy())
  const { body } = await client.request(get)
  await body.text()
  await once(body, 'close')
  assert.equal(body.readableEnded, true)
})

test('errors have no properties without a value, and headers are printed as they are spelled', () => {
  assert.deepEqual(Object.keys(new errors.ConnectTimeoutError('late')).sort(), ['code', 'name'])
  assert.equal(new errors.UndiciError('words').code, 'UND_ERR')
  assert.equal(inspect(new Headers([['X-Case', '1'], ['b', '2'], ['x-case', '3']])), "Headers { 'X-Case': '1, 3', b: '2' }")
})

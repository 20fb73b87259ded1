// undici's diagnostics channels, over our dispatchers.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Readable, Writable } from 'node:stream'
import test from 'node:test'
import { request as undiciRequest } from 'undici7'
import { Agent, Client, fetch, installGlobal, Pool, request } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { viaNew, viaOld } from '../../support/clients/dispatch.mjs'
import { h1, ways } from '../../support/servers/servers.mjs'

const NAMES = ['request:create', 'client:sendHeaders', 'request:bodySent', 'request:headers', 'request:trailers', 'request:error']

/** Everything that the channels say from now on; `onCreate` sees each new request. */
function watch (onCreate = () => {}) {
  const received = []
  const listeners = NAMES.map(name => [`undici:${name}`, message => {
    received.push({ name: name.split(':')[1], ...message })
    if (name === 'request:create') onCreate(message.request)
  }])
  for (const [name, listener] of listeners) subscribe(name, listener)
  const stop = () => { for (const [name, listener] of listeners) unsubscribe(name, listener) }
  return { received, stop, names: () => received.map(message => message.name) }
}

const echo = (request, response) => {
  request.resume().on('end', () => {
    response.setHeader('x-seen', `${request.method} ${request.url} ${request.headers['x-added']} ${request.headers['x-own']}`)
    response.end('body')
  })
}

const calls = {
  'the fast lane': async (url, dispatcher, options) => {
    const answer = await request(url, { dispatcher, ...options })
    await answer.body.text()
    return answer.headers['x-seen']
  },
  "undici's request": async (url, dispatcher, options) => {
    const answer = await undiciRequest(url, { dispatcher, ...options })
    await answer.body.text()
    return answer.headers['x-seen']
  },
  'dispatch with a new handler': async (url, dispatcher, options) => {
    const { origin, pathname: path } = new URL(url)
    return (await viaNew(dispatcher, { origin, path, ...options })).headers['x-seen']
  },
  'dispatch with an old handler': async (url, dispatcher, options) => {
    const { origin, pathname: path } = new URL(url)
    const { rawHeaders } = await viaOld(dispatcher, { origin, path, ...options })
    const texts = rawHeaders.map(String)
    return texts[texts.indexOf('x-seen') + 1]
  },
  'the global fetch': async (url, dispatcher, options) => {
    const uninstall = installGlobal(dispatcher)
    try {
      const answer = await fetch(url, options)
      await answer.text()
      return answer.headers.get('x-seen')
    } finally {
      uninstall()
    }
  }
}

for (const { name, serve, options } of ways) {
  test(`subscribers see a request's whole life, and add a field, over ${name}`, async () => {
    const server = await serve(echo)
    const dispatcher = new Agent(options)
    for (const [how, call] of Object.entries(calls)) {
      const watched = watch(request => request.addHeader('X-Added', 'by the watcher'))
      const seen = await call(`${server.url}/path`, dispatcher, { method: 'POST', body: 'x', headers: { 'x-own': 'own' } })
      watched.stop()
      assert.equal(seen, 'POST /path by the watcher own', how)
      assert.deepEqual(watched.names(), ['create', 'sendHeaders', 'bodySent', 'headers', 'trailers'], how)
      const [create, sent, , head, end] = watched.received
      assert.ok(watched.received.every(message => message.request === create.request), 'one object all along')
      const { origin, method, path, protocol, completed, headers } = create.request
      assert.deepEqual([origin, method, path, protocol, completed],
        [server.url, 'POST', '/path', new URL(server.url).protocol, true], how)
      assert.equal(headers[headers.indexOf('X-Added') + 1], 'by the watcher')
      assert.match(sent.headers, /^POST \/path HTTP\/1\.1\r\n(.+: .+\r\n)*X-Added: by the watcher\r\n$/)
      assert.equal(typeof sent.socket, 'object', 'what is taken apart is there')
      assert.equal(head.response.statusCode, 200)
      const texts = head.response.headers.map(field => { assert.ok(Buffer.isBuffer(field)); return field.toString() })
      assert.equal(texts[texts.indexOf('x-seen') + 1], seen)
      assert.deepEqual(end.trailers, [])
    }
    const watched = watch()
    watched.stop()
    await (await request(server.url, { dispatcher })).body.text()
    assert.deepEqual(watched.names(), [], 'nobody listens, nothing is said')
    await dispatcher.close()
    await server.close()
  })
}

test('subscribers hear of failures and aborts once, and of nothing that was refused', async () => {
  const server = await h1(() => {})
  const dispatcher = new Agent()
  const watched = watch()
  await assert.rejects(request(server.url, { dispatcher, headers: { 'bad name': 'x' } }), { code: 'UND_ERR_INVALID_ARG' })
  assert.deepEqual(watched.names(), [], 'refused: never a request')

  const error = await request(server.url, { dispatcher, headersTimeout: 50 }).then(() => null, error => error)
  assert.deepEqual(watched.names(), ['create', 'sendHeaders', 'bodySent', 'error'])
  assert.equal(watched.received[3].error, error)

  watched.received.length = 0
  const reason = new Error('enough')
  await assert.rejects(viaNew({
    dispatch: (options, handler) => dispatcher.dispatch(options, {
      ...handler,
      onRequestStart: controller => { controller.abort(reason) }
    })
  }, { origin: server.url, path: '/', method: 'GET' }), reason)
  assert.deepEqual(watched.names(), ['create', 'error'])
  assert.equal(watched.received[1].error, reason)
  watched.stop()
  await dispatcher.destroy()
  await server.close()
})

test('a field that the engine makes or that is malformed cannot be added', async () => {
  const server = await h1(echo)
  const dispatcher = new Agent({ connect: { ca: cert } })
  const refused = []
  const watched = watch(request => {
    for (const [name, value] of [['transfer-encoding', 'chunked'], ['a b', 'x'], ['x-line', 'a\r\nb: c']]) {
      try { request.addHeader(name, value) } catch (error) { refused.push(error.code) }
    }
  })
  await (await request(server.url, { dispatcher })).body.text()
  watched.stop()
  assert.deepEqual(refused, Array(3).fill('UND_ERR_INVALID_ARG'))
  await dispatcher.close()
  await server.close()
})

const DEBUGGED = `
import http from 'node:http'
import { request } from 'PACKAGE'
const server = http.createServer((asked, response) => { response.end('x') }).listen(0, '127.0.0.1', async () => {
  await request('http://localhost:' + server.address().port + '/a').then(answer => answer.body.text())
  await request('http://localhost:1/').catch(() => {})
  process.exit(0)
})`

/** The lines on stderr of a program of a package, without what differs from run to run. */
async function debugged (name, value) {
  const env = { ...process.env, NODE_DEBUG: value }
  delete env.NODE_TEST_CONTEXT
  const child = spawn(process.execPath, ['--input-type=module', '-e', DEBUGGED.replace('PACKAGE', import.meta.resolve(name))], { env })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', piece => { text += piece })
  await new Promise(resolve => { child.on('close', resolve) })
  // A copy of undici within Node.js has another slash.
  return text.replace(/ \d+:/g, ' PID:').replace(/(:\d+)\/\//g, '$1/').replace(/:\d{4,5}\b/g, ':PORT').trim().split('\n')
}

test('NODE_DEBUG prints the lines that it prints with undici', async () => {
  for (const [value, name] of [['undici', 'UNDICI'], ['fetch', 'FETCH'], ['undici,fetch', 'FETCH']]) {
    assert.deepEqual(await debugged('trunkline', value), [
      // With undici the port stands twice, and the version is known once there is a connection.
      'connecting to localhost:PORT:PORT using http:undefined',
      'connected to localhost:PORT:PORT using http:h1',
      'sending request to GET http://localhost:PORT/a',
      'received response to GET http://localhost:PORT/a - HTTP 200',
      'trailers received from GET http://localhost:PORT/a',
      'connecting to localhost:1:1 using http:undefined',
      'connection to localhost:1:1 using http:undefined errored - connect ECONNREFUSED 127.0.0.1:1',
      'request to GET http://localhost:1/ errored - connect ECONNREFUSED 127.0.0.1:1'
    ].map(line => `${name} PID: ${line}`))
  }
})

test('a request as the channels show it has the content type of its body, and not its length among its fields', async () => {
  const server = await h1(echo)
  const dispatcher = new Agent({ connect: { ca: cert } })
  const watched = watch()
  await (await request(server.url, { dispatcher, method: 'POST', headers: { 'X-A': 'b', 'content-type': 'text/x' }, body: 'body' })).body.text()
  watched.stop()
  const { request: shown } = watched.received[0]
  assert.deepEqual([shown.headers, shown.contentType, shown.contentLength], [['X-A', 'b', 'content-type', 'text/x'], 'text/x', 4])
  await dispatcher.close()
  await server.close()
})

const OF_REQUESTS = ['create', 'headers', 'trailers', 'error', 'bodySent', 'bodyChunkSent', 'bodyChunkReceived'].map(name => `undici:request:${name}`).concat('undici:client:sendHeaders')
const OF_CONNECTIONS = ['beforeConnect', 'connected', 'connectError'].map(name => `undici:client:${name}`)
const CALLS_OF_CONTEXTS = {
  request: async (dispatcher, options) => { await (await dispatcher.request(options)).body.text() },
  stream: (dispatcher, options) => dispatcher.stream(options, () => new Writable({ write (chunk, encoding, done) { done() } })),
  dispatch: (dispatcher, options) => viaNew(dispatcher, options),
  fetch: async (dispatcher, { origin, path, method, body }) => { await (await fetch(`${origin}${path}`, { dispatcher, method, body, duplex: 'half' })).text() }
}
const BODIES_OF_CONTEXTS = { GET: () => ({ method: 'GET' }), text: () => ({ method: 'POST', body: 'text' }), stream: () => ({ method: 'POST', body: Readable.from(['a', 'stream']) }) }

for (const { name, serve, options } of ways) {
  test(`subscribers have the async context of their request, and those of connections that of the request that waits for one, over ${name}`, async () => {
    const contexts = new AsyncLocalStorage()
    const server = await serve((request, response) => {
      request.resume().on('end', () => {
        response.write('half')
        setImmediate(() => { if (request.url.endsWith('cut')) response.destroy(); else response.end(' and half') })
      })
    })
    const seen = new Set()
    const wrong = []
    const ofRequest = ({ request: { path } }, channel) => {
      seen.add(channel)
      if (contexts.getStore() !== path) wrong.push([channel, path, contexts.getStore()])
    }
    const ofConnection = (message, channel) => {
      seen.add(channel)
      if (contexts.getStore() !== '/') wrong.push([channel, contexts.getStore()])
    }
    for (const channel of OF_REQUESTS) subscribe(channel, ofRequest)
    /** One request that waits for its connection. */
    const alone = async (dispatcher, origin) => {
      for (const channel of OF_CONNECTIONS) subscribe(channel, ofConnection)
      await contexts.run('/', async () => { await (await dispatcher.request({ origin, path: '/', method: 'GET' })).body.text() }).catch(() => {})
      for (const channel of OF_CONNECTIONS) unsubscribe(channel, ofConnection)
    }
    for (const make of [() => new Client(server.url, options), () => new Pool(server.url, options), () => new Agent(options)]) {
      const dispatcher = contexts.run('the maker', make)
      await alone(dispatcher, server.url)
      for (const [call, asks] of Object.entries(CALLS_OF_CONTEXTS)) {
        for (const [kind, body] of Object.entries(BODIES_OF_CONTEXTS)) {
          const ask = what => {
            const path = `/${call}/${kind}/${what}`
            return contexts.run(path, () => asks(dispatcher, { origin: server.url, path, ...body() })).catch(() => {})
          }
          await Promise.all(['one', 'another', 'cut'].map(ask))
        }
      }
      await contexts.run('the end', () => dispatcher.close())
    }
    const agent = new Agent({ connect: { timeout: 1000 } })
    await alone(agent, 'http://127.0.0.1:1')
    await agent.close()
    for (const channel of OF_REQUESTS) unsubscribe(channel, ofRequest)
    assert.deepEqual(wrong, [])
    assert.deepEqual([...seen].sort(), [...OF_REQUESTS, ...OF_CONNECTIONS].sort())
    await server.close()
  })
}

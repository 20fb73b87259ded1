// Tools that trace requests replace `emit` of node's HTTP servers (OpenTelemetry's instrumentation-http, elastic-apm-node,
// dd-trace): they get the requests of servers of this package too, and what they call listeners in is kept.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import test from 'node:test'
import { createSecureServer, createServer } from 'trunkline'
import { versions } from '../support/clients/clients.mjs'

/** Puts a tool's method in the place of `emit` while `work` runs. */
async function traced (work) {
  const storage = new AsyncLocalStorage()
  const seen = []
  for (const [label, { Server }] of Object.entries({ http, https })) {
    const { emit } = Server.prototype
    Server.prototype.emit = function (event, ...given) {
      if (event !== 'request') return emit.call(this, event, ...given)
      const [request, response] = given
      const span = { label, url: request.url, method: request.method }
      seen.push(span)
      response.on('close', () => { span.status = response.statusCode })
      return storage.run(span, () => emit.call(this, event, ...given))
    }
  }
  try {
    await work(storage)
  } finally {
    for (const { Server } of [http, https]) delete Server.prototype.emit
  }
  return seen
}

for (const version of versions) {
  for (const requests of [undefined, 'http']) {
    test(`${version.name}, requests: ${requests}: a tool that replaces emit gets each request once, and its context`, async () => {
      const { tls, http3 } = version.options
      const secure = tls !== undefined
      let storage
      const contexts = []
      const listener = (request, response) => {
        contexts.push(storage.getStore()?.url)
        request.resume()
        response.statusCode = 201
        setImmediate(() => { contexts.push(storage.getStore()?.url); response.end('ok') })
      }
      const server = secure ? createSecureServer({ ...tls, allowHTTP1: true, http3, requests }, listener) : createServer({ requests }, listener)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const seen = await traced(async given => {
        storage = given
        const client = version.connect(server.address().port)
        assert.equal((await client.ask('/a?b')).status, 201)
        await client.close()
        server.close()
        await once(server, 'close')
      })
      while (seen.some(span => span.status === undefined)) await new Promise(resolve => { setImmediate(resolve) })
      assert.deepEqual(seen, [{ label: secure ? 'https' : 'http', url: '/a?b', method: 'GET', status: 201 }])
      assert.deepEqual(contexts, ['/a?b', '/a?b'])
    })
  }
}

for (const version of versions) {
  for (const requests of [undefined, 'http']) {
    test(`${version.name}, requests: ${requests}: a tool that replaces emit of responses gets the end of each, also without a listener`, async t => {
      const { emit } = http.ServerResponse.prototype
      const seen = []
      const ended = new Promise(resolve => {
        http.ServerResponse.prototype.emit = function (event, ...given) {
          if (event === 'finish' || event === 'close') seen.push(`${event} ${this.req.url} ${this.statusCode}`)
          if (event === 'close') resolve()
          return emit.call(this, event, ...given)
        }
      })
      t.after(() => { delete http.ServerResponse.prototype.emit })
      const { tls, http3 } = version.options
      const listener = (request, response) => {
        response.statusCode = 202
        response.end('ok')
      }
      const server = tls === undefined ? createServer({ requests }, listener) : createSecureServer({ ...tls, allowHTTP1: true, http3, requests }, listener)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const client = version.connect(server.address().port)
      assert.equal((await client.ask('/a?b')).status, 202)
      await ended
      await client.close()
      server.close()
      await once(server, 'close')
      assert.deepEqual(seen, ['finish /a?b 202', 'close /a?b 202'])
    })
  }
}

test('an emit of the server itself comes first', async () => {
  const server = createServer({ requests: 'http' }, (request, response) => { response.end() })
  const order = []
  const { emit } = server
  server.emit = function (event, ...given) {
    if (event === 'request') order.push('own')
    return emit.call(this, event, ...given)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const seen = await traced(async () => {
    const [answer] = await once(http.get({ port: server.address().port, host: '127.0.0.1', agent: false }), 'response')
    answer.resume()
    server.close()
    await once(server, 'close')
  })
  assert.deepEqual(order, ['own'])
  assert.equal(seen.length, 1)
})

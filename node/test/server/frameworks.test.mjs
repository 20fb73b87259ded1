// Frameworks run unchanged on the servers of this package, on every version.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { serve as serveHono } from '@hono/node-server'
import compression from 'compression'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { createSecureServer, createServer } from 'trunkline'
import { WebSocket, WebSocketServer } from 'ws'
import { cert, key } from '../support/certificates/certificate.mjs'
import { versions } from '../support/clients/clients.mjs'
import { serveFor } from '../support/servers/serving.mjs'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-frameworks-'))
writeFileSync(join(folder, 'page.txt'), 'a page of text')
const LARGE = 'large '.repeat(4_000)

/** A server of the API of node:http2 for a version. */
function serverOf (version, listener) {
  if (version.options.tls === undefined) return createServer(listener)
  return createSecureServer({ cert, key, allowHTTP1: true, http3: version.options.http3 !== undefined }, listener)
}

/** Asks a server of `listener` by the version's client. */
async function asking (version, listener, work) {
  const server = typeof listener.listen === 'function' && listener.compatServer !== undefined ? listener : serverOf(version, listener)
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const client = version.connect(server.address().port)
  try {
    await work(client)
  } finally {
    await client.close()
    server.compatServer.destroy()
  }
}

const json = { 'content-type': 'application/json' }
const text = answer => answer.body.toString()

function anExpress () {
  const app = express()
  app.use(express.json())
  app.use(express.urlencoded({ extended: false }))
  app.use('/static', express.static(folder))
  app.get('/hello/:name', (request, response) => {
    response.cookie('seen', 'yes').json({ hello: request.params.name, q: request.query.q, host: request.hostname, version: request.httpVersion, secure: request.secure, ip: request.ip })
  })
  app.post('/echo', (request, response) => { response.status(201).send(request.body) })
  app.get('/file', (request, response) => { response.sendFile(join(folder, 'page.txt')) })
  app.get('/download', (request, response) => { response.download(join(folder, 'page.txt'), 'named.txt') })
  app.get('/formats', (request, response) => { response.vary('x-a').append('x-b', ['one', 'two']).clearCookie('seen').format({ text: () => { response.send('text') }, json: () => { response.json({}) } }) })
  app.get('/status', (request, response) => { response.sendStatus(202) })
  app.get('/away', (request, response) => { response.redirect('/hello/you') })
  app.get('/breaks', () => { throw new Error('broken on purpose') })
  app.get('/rejects', async () => { throw Object.assign(new Error('teapot'), { status: 418 }) })
  app.get('/stream', (request, response) => { response.write('one '); setImmediate(() => { response.end('two') }) })
  const inside = express.Router()
  inside.get('/deep', (request, response) => { response.send(request.baseUrl + request.path) })
  app.use('/router', inside)
  const under = express()
  under.get('/', (request, response) => { response.send(`mounted at ${request.baseUrl}`) })
  app.use('/under', under)
  app.use((error, request, response, next) => { response.status(error.status ?? 500).send(error.message) })
  return app
}

for (const version of versions) {
  const { name } = version

  test(`${name}: Express`, async () => {
    await asking(version, anExpress(), async client => {
      const hello = await client.ask('/hello/world?q=1')
      assert.deepEqual(JSON.parse(hello.body), {
        hello: 'world', q: '1', host: 'localhost', version: { h3: '3.0', h2: '2.0', h2c: '2.0' }[name] ?? '1.1', secure: version.options.tls !== undefined, ip: '127.0.0.1'
      })
      assert.match(String(hello.headers['set-cookie']), /seen=yes/)
      const echo = await client.ask('/echo', { method: 'POST', headers: json, body: '{"a":1}' })
      assert.deepEqual([echo.status, text(echo)], [201, '{"a":1}'])
      const form = await client.ask('/echo', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'b=2' })
      assert.equal(text(form), '{"b":"2"}')
      assert.equal(text(await client.ask('/file')), 'a page of text')
      assert.equal(text(await client.ask('/static/page.txt')), 'a page of text')
      const part = await client.ask('/static/page.txt', { headers: { range: 'bytes=2-5' } })
      assert.deepEqual([part.status, text(part), part.headers['content-range']], [206, 'page', 'bytes 2-5/14'])
      const fresh = await client.ask('/file', { headers: { 'if-none-match': part.headers.etag } })
      assert.deepEqual([fresh.status, text(fresh)], [304, ''])
      const headOnly = await client.ask('/file', { method: 'HEAD' })
      assert.deepEqual([headOnly.status, headOnly.headers['content-length'], text(headOnly)], [200, '14', ''])
      const download = await client.ask('/download')
      assert.deepEqual([download.headers['content-disposition'].replaceAll('"', ''), text(download)], ['attachment; filename=named.txt', 'a page of text'])
      const formats = await client.ask('/formats', { headers: { accept: 'application/json' } })
      assert.deepEqual([text(formats), formats.headers.vary, String(formats.headers['x-b']).replace(', ', ',')], ['{}', 'x-a, Accept', 'one,two'])
      assert.match(String(formats.headers['set-cookie']), /^seen=;.*Expires=Thu, 01 Jan 1970/)
      assert.deepEqual([(await client.ask('/status')).status, text(await client.ask('/status'))], [202, 'Accepted'])
      const away = await client.ask('/away')
      assert.deepEqual([away.status, away.headers.location], [302, '/hello/you'])
      const breaks = await client.ask('/breaks')
      assert.deepEqual([breaks.status, text(breaks)], [500, 'broken on purpose'])
      const rejects = await client.ask('/rejects')
      assert.deepEqual([rejects.status, text(rejects)], [418, 'teapot'])
      assert.equal(text(await client.ask('/stream')), 'one two')
      assert.equal(text(await client.ask('/router/deep')), '/router/deep')
      assert.equal(text(await client.ask('/under')), 'mounted at /under')
      assert.equal((await client.ask('/nowhere')).status, 404)
      const bad = await client.ask('/echo', { method: 'POST', headers: json, body: '{' })
      assert.equal(bad.status, 400)
      const many = await Promise.all(Array.from({ length: 50 }, (_, at) => client.ask(`/hello/${at}`)))
      assert.deepEqual(many.map(answer => JSON.parse(answer.body).hello), Array.from({ length: 50 }, (_, at) => String(at)))
    })
  })

  test(`${name}: compression in front of Express and of a bare handler`, async () => {
    const app = express()
    app.use(compression({ threshold: 0 }))
    app.get('/', (request, response) => { response.type('text').send(LARGE) })
    const compress = compression({ threshold: 0 })
    const bare = (request, response) => {
      compress(request, response, () => {
        response.setHeader('content-type', 'text/plain')
        response.end(LARGE)
      })
    }
    for (const listener of [app, bare]) {
      await asking(version, listener, async client => {
        const answer = await client.ask('/', { headers: { 'accept-encoding': 'gzip' } })
        assert.equal(answer.headers['content-encoding'], 'gzip')
        assert.equal(gunzipSync(answer.body).toString(), LARGE)
      })
    }
  })

  test(`${name}: Fastify`, async () => {
    let server
    const app = fastify({ serverFactory: handler => (server = serverOf(version, handler)) })
    app.get('/hello/:name', async (request, reply) => { reply.header('x-a', 'b'); return { hello: request.params.name, q: request.query.q, version: request.raw.httpVersion } })
    app.post('/echo', async request => request.body)
    app.get('/breaks', async () => { throw new Error('broken on purpose') })
    app.get('/stream', async (request, reply) => { const { Readable } = await import('node:stream'); return reply.send(Readable.from(['one ', 'two'])) })
    await app.ready()
    await asking(version, server, async client => {
      const hello = await client.ask('/hello/world?q=1')
      assert.equal(hello.headers['x-a'], 'b')
      assert.equal(JSON.parse(hello.body).hello, 'world')
      assert.equal(text(await client.ask('/echo', { method: 'POST', headers: json, body: '{"a":1}' })), '{"a":1}')
      const breaks = await client.ask('/breaks')
      assert.deepEqual([breaks.status, JSON.parse(breaks.body).message], [500, 'broken on purpose'])
      assert.equal(text(await client.ask('/stream')), 'one two')
      assert.equal((await client.ask('/nowhere')).status, 404)
    })
    await app.close()
  })

  test(`${name}: Koa`, async () => {
    const app = new Koa()
    app.on('error', () => {})
    app.use(async (context, next) => {
      context.set('x-a', 'b')
      await next()
    })
    app.use(async context => {
      if (context.path === '/echo') {
        let all = ''
        for await (const piece of context.req) all += piece
        context.body = all
      } else if (context.path === '/breaks') {
        throw Object.assign(new Error('broken on purpose'), { expose: true, status: 503 })
      } else if (context.path === '/json') {
        context.cookies.set('seen', 'yes')
        context.body = { host: context.hostname, method: context.method, q: context.query.q }
      }
    })
    await asking(version, app.callback(), async client => {
      const answer = await client.ask('/json?q=1')
      assert.deepEqual(JSON.parse(answer.body), { host: 'localhost', method: 'GET', q: '1' })
      assert.equal(answer.headers['x-a'], 'b')
      assert.match(String(answer.headers['set-cookie']), /seen=yes/)
      assert.equal(text(await client.ask('/echo', { method: 'POST', body: 'a body' })), 'a body')
      const breaks = await client.ask('/breaks')
      assert.deepEqual([breaks.status, text(breaks)], [503, 'broken on purpose'])
      assert.equal((await client.ask('/nowhere')).status, 404)
    })
  })

  test(`${name}: Hono, through its server for Node and through serve`, async t => {
    const app = new Hono()
    app.get('/hello/:name', context => context.json({ hello: context.req.param('name'), q: context.req.query('q') }))
    app.post('/echo', async context => context.text(await context.req.text(), 201))
    app.get('/breaks', () => { throw new Error('broken on purpose') })
    app.onError((error, context) => context.text(error.message, 500))
    const check = async client => {
      const hello = await client.ask('/hello/world?q=1')
      assert.deepEqual(JSON.parse(hello.body), { hello: 'world', q: '1' })
      const echo = await client.ask('/echo', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'a body' })
      assert.deepEqual([echo.status, text(echo)], [201, 'a body'])
      assert.deepEqual([(await client.ask('/breaks')).status, (await client.ask('/nowhere')).status], [500, 404])
    }
    let server
    const listening = new Promise(resolve => {
      serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer: (options, listener) => (server = serverOf(version, listener)) }, resolve)
    })
    await listening
    await asking(version, server, check)

    const lean = serveFor(t, { ...version.options, fetch: app.fetch })
    const client = version.connect(lean.port)
    t.after(() => client.close())
    await check(client)
  })
}

for (const version of versions.filter(version => version.protocol === 'http/1.1')) {
  test(`${version.name}: ws speaks over an upgrade, and refuses one`, async t => {
    const server = serverOf(version, (request, response) => { response.end('beside') })
    const sockets = new WebSocketServer({ server, path: '/ws' })
    sockets.on('connection', (socket, request) => {
      socket.send(`welcome ${request.url}`)
      socket.on('message', (data, isBinary) => { socket.send(data, { binary: isBinary }) })
    })
    server.listen(0, '127.0.0.1')
    t.after(() => { sockets.close(); server.close(); server.compatServer.destroy() })
    await once(server, 'listening')
    const origin = `${version.options.tls === undefined ? 'ws' : 'wss'}://localhost:${server.address().port}`
    const client = new WebSocket(`${origin}/ws`, { ca: cert, family: 4 })
    const received = []
    const all = new Promise(resolve => {
      client.on('message', data => {
        received.push(data.length > 100 ? data.length : data.toString())
        if (received.length === 3) resolve()
      })
    })
    await once(client, 'open')
    client.send('a text')
    client.send(Buffer.alloc(1 << 20, 'b'))
    await all
    assert.deepEqual(received, ['welcome /ws', 'a text', 1 << 20])
    const closed = once(client, 'close')
    client.close(1000, 'done')
    assert.equal((await closed)[0], 1000)
    const refused = new WebSocket(`${origin}/other`, { ca: cert, family: 4 })
    const [error] = await once(refused, 'error')
    assert.match(error.message, /400/)
    const asked = version.connect(server.address().port)
    assert.equal((await asked.ask('/')).body.toString(), 'beside')
    await asked.close()
  })
}

// One Hono application with its usual middleware, on `serve` over every version and on @hono/node-server: the same requests get the same answers.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { etag } from 'hono/etag'
import { jwt, sign } from 'hono/jwt'
import { logger } from 'hono/logger'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { stream, streamSSE } from 'hono/streaming'
import { serve } from 'trunkline'
import { versions } from '../support/clients/clients.mjs'

const SECRET = 'a secret of this test alone'
const LONG = 'a line that compresses well\n'.repeat(200)

/** `lines`: where the logger writes. */
function application (folder, lines) {
  const app = new Hono()
  app.use(logger(line => { lines.push(line.replace(/\x1b\[\d+m/g, '').replace(/ \d+m?s$/, '')) }))
  app.use('/cors/*', cors({ origin: 'https://a.test', allowMethods: ['GET', 'PUT'], exposeHeaders: ['x-a'], maxAge: 60, credentials: true }))
  app.use('/etag/*', etag())
  app.use('/compress/*', compress())
  app.use('/limit/*', bodyLimit({ maxSize: 1000, onError: c => c.text('too long', 413) }))
  app.use('/jwt/*', jwt({ secret: SECRET, alg: 'HS256' }))
  app.use('/secure', secureHeaders())
  app.use('/id', requestId({ generator: () => 'fixed' }))
  app.use('/static/*', serveStatic({ root: folder, rewriteRequestPath: path => path.replace('/static', '') }))
  app.get('/', c => c.text('front'))
  app.get('/cors/data', c => c.json({ a: 1 }, 200, { 'x-a': 'b' }))
  app.get('/etag/text', c => c.text('the same each time'))
  app.get('/compress/text', c => c.text(LONG))
  app.get('/compress/short', c => c.text('short'))
  for (const form of ['text', 'json', 'arrayBuffer', 'parseBody']) {
    app.post(`/limit/${form}`, async c => {
      const value = await c.req[form]()
      return c.json(form === 'arrayBuffer' ? value.byteLength : form === 'text' ? value.length : value)
    })
  }
  app.get('/jwt/who', c => c.json(c.get('jwtPayload').sub))
  app.get('/secure', c => c.text('secure'))
  app.get('/id', c => c.text(c.get('requestId')))
  app.post('/copy', async c => {
    const copy = new Request(c.req.raw, { headers: { 'x-n': '1' } })
    return c.json([copy.method, new URL(copy.url).pathname, copy.headers.get('x-n'), await copy.text(), c.req.raw.bodyUsed])
  })
  app.post('/clone', async c => {
    const clone = c.req.raw.clone()
    return c.json([await clone.text(), await c.req.text(), c.req.raw.constructor === Request])
  })
  app.all('/method', c => c.text(c.req.method))
  app.get('/params/:one/:two', c => c.json([c.req.param(), c.req.query(), c.req.queries('a')]))
  app.get('/cookie', c => {
    c.header('set-cookie', 'a=1', { append: true })
    c.header('set-cookie', 'b=2', { append: true })
    return c.text(c.req.header('cookie') ?? '')
  })
  app.get('/redirect', c => c.redirect('/else', 303))
  app.get('/empty', c => c.body(null, 204))
  app.get('/bytes', c => c.body(new Uint8Array([0, 255]), 200, { 'content-type': 'x/y' }))
  // Without a type @hono/node-server adds one of its own.
  app.get('/stream', c => stream(c.header('content-type', 'text/x') ?? c, async out => { for (const piece of ['one ', 'two ', 'three']) await out.write(piece) }))
  app.get('/sse', c => streamSSE(c, async out => { for (const id of ['1', '2']) await out.writeSSE({ data: 'x', event: 'e', id }) }))
  app.get('/throws', () => { throw new Error('thrown') })
  app.onError((error, c) => c.text(error.message, error.status ?? 500))
  return app
}

/** Fields that a connection or a clock has. */
const LEFT_OUT = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'])

async function answered (client, path, options) {
  const { status, headers, body } = await client.ask(path, options)
  // The Fetch standard writes no space behind the semicolon of a type, @hono/node-server one.
  const typed = ([name, value]) => [name, name === 'content-type' ? value.replace('; ', ';') : value]
  const fields = Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name)).map(typed).sort(([one], [other]) => one < other ? -1 : 1)
  const isPacked = headers['content-encoding'] === 'gzip' && body.length > 0
  return { status, fields, body: isPacked ? String(gunzipSync(body)) : body.toString('latin1') }
}

/** Requests by what they are about. A body that is `chunked` does not give its length. */
async function requests () {
  const token = await sign({ sub: 'somebody' }, SECRET)
  const made = {
    'plain': ['/'],
    'HEAD': ['/', { method: 'HEAD' }],
    'nothing there': ['/none'],
    'a preflight': ['/cors/data', { method: 'OPTIONS', headers: { origin: 'https://a.test', 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-b' } }],
    'another origin': ['/cors/data', { headers: { origin: 'https://b.test' } }],
    'a tag': ['/etag/text'],
    'a tag that is known': ['/etag/text', { headers: { 'if-none-match': '"77d1ef3cf4f6b5b5a5a1a1f84d4dbde6c8a2b5b2"' } }],
    'any tag': ['/etag/text', { headers: { 'if-none-match': '*' } }],
    'compressed': ['/compress/text', { headers: { 'accept-encoding': 'gzip' } }],
    'not compressed': ['/compress/text'],
    'too short for it': ['/compress/short', { headers: { 'accept-encoding': 'gzip' } }],
    'a token': ['/jwt/who', { headers: { authorization: `Bearer ${token}` } }],
    'no token': ['/jwt/who'],
    'a wrong token': ['/jwt/who', { headers: { authorization: `Bearer ${token}x` } }],
    'secure headers': ['/secure'],
    'an id': ['/id'],
    'parameters': ['/params/a%20b/%C3%A4?a=1&a=2&b=%26'],
    'cookies': ['/cookie', { headers: { cookie: 'a=b; c=d' } }],
    'a redirect': ['/redirect'],
    'no content': ['/empty'],
    'bytes': ['/bytes'],
    'a stream': ['/stream'],
    'events': ['/sse'],
    'an error': ['/throws'],
    'a file': ['/static/a.txt'],
    'a part of a file': ['/static/a.txt', { headers: { range: 'bytes=2-4' } }],
    'a file that is not there': ['/static/none.txt'],
    'a file outside': ['/static/%2e%2e/secret'],
    'a copy': ['/copy', { method: 'POST', body: 'copied' }],
    'a copy of a body without its length': ['/copy', { method: 'POST', body: 'copied', chunked: true }],
    'a clone': ['/clone', { method: 'POST', body: 'cloned', chunked: true }],
    'a path with dots': ['/a/../id']
  }
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) made[`the method ${method}`] = ['/method', { method }]
  const bodies = { text: ['x'.repeat(1000), 'text/plain'], json: ['{"a":[1,2]}', 'application/json'], arrayBuffer: ['bytes', 'x/y'], parseBody: ['a=b&c=d', 'application/x-www-form-urlencoded'] }
  for (const [form, [body, type]] of Object.entries(bodies)) {
    for (const chunked of [false, true]) {
      const words = chunked ? 'without its length' : 'with its length'
      made[`${form} ${words}`] = [`/limit/${form}`, { method: 'POST', body, headers: { 'content-type': type }, chunked }]
      if (form !== 'json') made[`${form} that is too long ${words}`] = [`/limit/${form}`, { method: 'POST', body: body.padEnd(1001, 'y'), headers: { 'content-type': type }, chunked }]
    }
  }
  return made
}

/** The options of a client of this version. */
function optionsOf (version, { chunked = false, headers = {}, ...rest } = {}) {
  if (rest.body === undefined) return { ...rest, headers }
  const length = String(Buffer.byteLength(rest.body))
  const own = chunked ? version.protocol === 'http/1.1' ? { 'transfer-encoding': 'chunked' } : {} : { 'content-length': length }
  return { ...rest, headers: { ...headers, ...own } }
}

test('every answer of a Hono application is that of @hono/node-server, over every version', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-hono-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  writeFileSync(join(folder, 'a.txt'), 'abcdefghij')
  utimesSync(join(folder, 'a.txt'), 1_700_000_000, 1_700_000_000)
  const lines = { own: [], theirs: [] }
  const theirs = createAdaptorServer({ fetch: application(folder, lines.theirs).fetch })
  theirs.listen(0, '127.0.0.1')
  await once(theirs, 'listening')
  t.after(() => { theirs.close(); theirs.closeAllConnections() })
  const [h1] = versions
  const plain = h1.connect(theirs.address().port)
  t.after(() => plain.close())
  const expected = {}
  const made = await requests()
  for (const [what, [path, options]] of Object.entries(made)) expected[what] = await answered(plain, path, optionsOf(h1, options))
  assert.deepEqual([expected.plain.status, expected['a token'].body, expected['a file'].body, expected['text that is too long without its length'].status], [200, '"somebody"', 'abcdefghij', 413])
  for (const version of versions) {
    lines.own.length = 0
    const server = serve({ hostname: '127.0.0.1', ...version.options, fetch: application(folder, lines.own).fetch })
    const client = version.connect(server.port)
    try {
      for (const [what, [path, options]] of Object.entries(made)) {
        assert.deepEqual(await answered(client, path, optionsOf(version, options)), expected[what], `${version.name}: ${what}`)
      }
      assert.deepEqual(lines.own, lines.theirs, `${version.name}: what the logger wrote`)
    } finally {
      await client.close()
      await server.stop(true)
    }
  }
})

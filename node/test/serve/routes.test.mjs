// `routes` of `serve`: which handler a path and a method have, what it gets, and answers that are made once.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { file, Response as Lean, serve } from 'trunkline'
import { versions } from '../support/clients/clients.mjs'
import { serveFor } from '../support/servers/serving.mjs'

const displayed = name => request => Lean.json([name, request.params])

const ROUTES = {
  '/': displayed('root'),
  '/users': displayed('users'),
  '/users/me': displayed('me'),
  '/users/:id': displayed('user'),
  '/users/:id/posts/:post': displayed('post'),
  '/users/*': displayed('rest of users'),
  '/users/:id/files/*': displayed('files'),
  '/:any/last': displayed('last'),
  '/api/*': displayed('api'),
  '/api/v1/:name': displayed('named'),
  '/über/:ß': displayed('letters'),
  '/off': false,
  '/methods': { GET: displayed('read'), POST: displayed('write'), DELETE: false },
  '/methods/:id': { PUT: displayed('put') },
  '/:x/:__proto__': displayed('names')
}

/** Paths beside the name of the route and its parameters; null: none. */
const FOUND = {
  '/': ['root', {}],
  '/?a=b': ['root', {}],
  '/users': ['users', {}],
  '/users/': ['rest of users', {}],
  '/users/me': ['me', {}],
  '/users/you': ['user', { id: 'you' }],
  '/users/a%20b%2Fc': ['user', { id: 'a b/c' }],
  '/users/%ff': ['user', { id: '\ufffd' }],
  '/users/1/posts/2': ['post', { id: '1', post: '2' }],
  '/users/me/posts/2': ['post', { id: 'me', post: '2' }],
  '/users/1/posts': ['rest of users', {}],
  '/users/1/files/a/b': ['files', { id: '1' }],
  '/users/1/files': ['rest of users', {}],
  '/users/1/': ['rest of users', {}],
  '/users/last': ['user', { id: 'last' }],
  '/other/last': ['last', { any: 'other' }],
  '/api/': ['api', {}],
  '/api/a/b': ['api', {}],
  '/api/v1/x': ['named', { name: 'x' }],
  '/api/v1/x/y': ['api', {}],
  '/api/v1/': ['api', {}],
  '/a/../users': ['users', {}],
  '/%C3%BCber/x': ['letters', { ß: 'x' }],
  '/api': null,
  '/off': null,
  '/none': null
}

for (const version of versions) {
  test(`${version.name}: exact segments come before parameters, and parameters before the rest`, async () => {
    const server = serve({ hostname: '127.0.0.1', ...version.options, routes: ROUTES, fetch: request => Lean.json(['fetch', request.params ?? null]) })
    const client = version.connect(server.port)
    try {
      for (const [path, expected] of Object.entries(FOUND)) {
        const { body } = await client.ask(path)
        assert.deepEqual(JSON.parse(body), expected ?? ['fetch', null], path)
      }
      const methods = { GET: ['read', {}], POST: ['write', {}], DELETE: ['fetch', null], PUT: ['fetch', null] }
      for (const [method, expected] of Object.entries(methods)) assert.deepEqual(JSON.parse((await client.ask('/methods', { method })).body), expected, method)
      assert.deepEqual(JSON.parse((await client.ask('/methods/5', { method: 'PUT' })).body), ['put', { id: '5' }])
      const head = await client.ask('/methods', { method: 'HEAD' })
      assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '11', 0])
      assert.equal(String((await client.ask('/x/y')).body), '["names",{"x":"x","__proto__":"y"}]')
    } finally {
      await client.close()
      await server.close({ deadlineMs: 1000 })
    }
  })
}

test('answers that are made once are sent again and again, whatever their body is made of', async t => {
  const form = new FormData()
  form.set('a', 'b')
  const routes = {
    '/ours': new Lean('ours', { headers: { 'x-a': '1' } }),
    '/json': Lean.json({ a: 1 }),
    '/built-in': new Response('built in', { status: 201, headers: [['set-cookie', 'a=1'], ['set-cookie', 'b=2']] }),
    '/redirect': Response.redirect('http://a.test/', 307),
    '/empty': new Response(null, { status: 204 }),
    '/stream': new Lean(new Blob(['streamed']).stream()),
    '/blob': new Lean(new Blob(['blob'], { type: 'x/y' })),
    '/form': new Response(form),
    '/method': { GET: new Response('got'), POST: () => new Response('posted') }
  }
  const server = serveFor(t, { routes })
  for (let round = 0; round < 3; round++) {
    const asked = async (path, options = {}) => {
      const answer = await fetch(new URL(path, server.url), { redirect: 'manual', ...options })
      return [answer.status, await answer.text(), answer.headers]
    }
    const reported = async (path, options) => (await asked(path, options)).slice(0, 2)
    assert.deepEqual(await reported('/ours'), [200, 'ours'])
    assert.equal((await asked('/ours'))[2].get('x-a'), '1')
    assert.deepEqual(await reported('/json'), [200, '{"a":1}'])
    assert.deepEqual(await reported('/built-in'), [201, 'built in'])
    assert.deepEqual((await asked('/built-in'))[2].getSetCookie(), ['a=1', 'b=2'])
    const [status, , headers] = await asked('/redirect')
    assert.deepEqual([status, headers.get('location')], [307, 'http://a.test/'])
    assert.deepEqual(await reported('/empty'), [204, ''])
    assert.deepEqual(await Promise.all([reported('/stream'), reported('/stream')]), [[200, 'streamed'], [200, 'streamed']])
    assert.equal((await asked('/blob'))[2].get('content-type'), 'x/y')
    assert.match((await asked('/form'))[1], /name="a"\r\n\r\nb/)
    assert.deepEqual(await reported('/method'), [200, 'got'])
    assert.deepEqual(await reported('/method', { method: 'POST' }), [200, 'posted'])
  }
})

test('without fetch a path without a route is 404, and another method 405 with those that there are', async t => {
  const server = serveFor(t, { routes: { '/a': { GET: () => new Lean(''), PUT: () => new Lean('') }, '/b': new Lean('') } })
  const asked = async (path, method) => {
    const answer = await fetch(new URL(path, server.url), { method })
    return [answer.status, answer.headers.get('allow')]
  }
  assert.deepEqual(await asked('/none', 'GET'), [404, null])
  assert.deepEqual(await asked('/a', 'POST'), [405, 'GET, PUT'])
  assert.deepEqual(await asked('/b', 'POST'), [200, null])
})

test('a route that fails is answered by error, and gets the server as this and beside its request', async t => {
  let seen
  const server = serveFor(t, {
    routes: {
      '/throws': () => { throw new Error('thrown') },
      '/rejects': async () => { throw new Error('rejected') },
      '/seen': function (request, info) {
        seen = [this === server, info.server === server, request.params, info.protocol]
        return new Lean('')
      }
    },
    error (error) { return new Lean(`${this === server} ${error.message}`, { status: 503 }) }
  })
  assert.equal(await (await fetch(new URL('/throws', server.url))).text(), 'true thrown')
  assert.equal(await (await fetch(new URL('/rejects', server.url))).text(), 'true rejected')
  await (await fetch(new URL('/seen', server.url))).text()
  assert.deepEqual(seen, [true, true, {}, 'http/1.1'])
})

test('a file is the answer of a route as it is, and by method, with its type and its ranges', async t => {
  const own = file(new URL(import.meta.url))
  const server = serveFor(t, { routes: { '/file': own, '/method': { GET: own } } })
  for (const path of ['/file', '/method']) {
    const whole = await fetch(new URL(path, server.url))
    assert.deepEqual([whole.status, whole.headers.get('content-type'), await whole.text()], [200, own.type, await own.text()])
    const part = await fetch(new URL(path, server.url), { headers: { range: 'bytes=0-3' } })
    assert.deepEqual([part.status, await part.text()], [206, await own.slice(0, 4).text()])
  }
})

test('routes that cannot be are refused by their path', () => {
  const fine = () => new Lean('')
  const used = new Response('used')
  void used.text()
  const cases = [
    [{ a: fine }, /"a"; it must begin with a slash/], [{ '/a/*/b': fine }, /star must be its whole last segment/], [{ '/a*': fine }, /star must be/], [{ '/:': fine }, /name of its own/],
    [{ '/:a/:a': fine }, /name of its own/], [{ '/a': 5 }, /routes\["\/a"\] is 5/], [{ '/a': { get: fine } }, /'get'; the methods of a route are GET/], [{ '/a': { GET: 'text' } }, /routes\["\/a"\]\.GET is 'text'/],
    [{ '/a': used }, /was used already/], [{ '/a': Response.error() }, /routes\["\/a"\] is a Response of the status 0/], [{ '/a': { GET: Lean.error() } }, /routes\["\/a"\]\.GET is a Response of the status 0/], [5, /routes is 5/],
    [{ '/a': [new Lean('')] }, /routes\["\/a"\] is a list; it must be a function, a Response, a file, false, or an object/],
    [{ '/a': Promise.resolve(new Lean('')) }, /routes\["\/a"\] is a promise/], [{ '/a': {} }, /routes\["\/a"\] is without methods/]
  ]
  for (const [routes, message] of cases) assert.throws(() => serve({ routes }), message)
  assert.throws(() => serve({}), /fetch must be a function/)
})

test('answers that are made once have an etag, and a client that has them gets a 304', async t => {
  const shared = new Lean('shared')
  const routes = {
    '/text': new Lean('text', { headers: { 'cache-control': 'max-age=5' } }),
    '/own': new Response('own', { headers: { etag: 'W/"mine"' } }),
    '/created': new Lean('made', { status: 201 }),
    '/empty': new Lean(null),
    '/one': shared,
    '/two': shared
  }
  const server = serveFor(t, { routes })
  const asked = async (path, method = 'GET', known) => {
    const answer = await fetch(new URL(path, server.url), { method, headers: known === undefined ? {} : { 'if-none-match': known } })
    return [answer.status, await answer.text(), answer.headers.get('etag'), answer.headers.get('cache-control')]
  }
  const [, , etag] = await asked('/text')
  assert.match(etag, /^"[\w-]{27}"$/)
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    assert.deepEqual(await asked('/text', 'GET', known), [304, '', etag, 'max-age=5'], known)
    assert.deepEqual(await asked('/text', 'HEAD', known), [304, '', etag, 'max-age=5'], known)
    assert.deepEqual(await asked('/text', 'POST', known), [200, 'text', etag, 'max-age=5'], known)
  }
  assert.deepEqual(await asked('/text', 'GET', '"other"'), [200, 'text', etag, 'max-age=5'])
  assert.deepEqual(await asked('/own'), [200, 'own', 'W/"mine"', null])
  assert.deepEqual(await asked('/own', 'GET', '"mine"'), [304, '', 'W/"mine"', null])
  assert.deepEqual(await asked('/created', 'GET', '*'), [201, 'made', null, null])
  assert.deepEqual(await asked('/empty', 'GET', '*'), [200, '', null, null])
  const both = [await asked('/one'), await asked('/two')]
  assert.deepEqual(both.map(([status, text]) => [status, text]), [[200, 'shared'], [200, 'shared']])
  assert.equal(both[0][2], both[1][2])
})

/** A folder with these files. */
function folderOf (t, files) {
  const root = mkdtempSync(join(tmpdir(), 'trunkline-routes-'))
  t.after(() => { rmSync(root, { recursive: true }) })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

test('a folder is a route: its files, its index, and 404 for what it does not have, behind routes that say more', async t => {
  const root = folderOf(t, { 'index.html': 'front', 'data.txt': '0123456789', 'sub/index.html': 'sub front', 'admin/secret.txt': 'SECRET', '.env': 'SECRET', 'ä b.txt': 'odd' })
  const routes = { '/files/*': { dir: root }, '/files/admin/*': () => new Lean('no', { status: 401 }), '/shown/*': { dir: pathToFileURL(root), dotFiles: true, headers: { 'x-a': 'b' }, statCache: false } }
  const server = serveFor(t, { routes, fetch: () => new Lean('from fetch', { status: 201 }) })
  const asked = async (path, init) => {
    const answer = await fetch(new URL(path, server.url), { redirect: 'manual', ...init })
    return [answer.status, answer.headers.get('location') ?? await answer.text()]
  }
  const cases = {
    '/files/': [200, 'front'], '/files/data.txt': [200, '0123456789'], '/files/sub': [308, '/files/sub/'], '/files/sub?a=b': [308, '/files/sub/?a=b'], '/files/sub/': [200, 'sub front'],
    '/files/%C3%A4%20b.txt': [200, 'odd'], '/files/%c3%a4%20%62.txt': [200, 'odd'], '/files/none': [404, ''], '/files/.env': [404, ''], '/shown/.env': [200, 'SECRET'], '/files': [201, 'from fetch'], '/other': [201, 'from fetch']
  }
  for (const [path, expected] of Object.entries(cases)) assert.deepEqual(await asked(path), expected, path)
  assert.deepEqual(await asked('/files/data.txt', { headers: { range: 'bytes=2-5' } }), [206, '2345'])
  assert.deepEqual(await asked('/files/data.txt', { method: 'HEAD' }), [200, ''])
  assert.deepEqual(await asked('/files/data.txt', { method: 'POST' }), [201, 'from fetch'])
  const file = join(root, 'data.txt')
  const wrong = [[{ '/files': { dir: root } }, /must end in \/\*/], [{ '/:id/*': { dir: root } }, /no parameters/], [{ '/*': { dir: 5 } }, /a path or a file URL/], [{ '/*': { dir: root, style: 'x' } }, /has 'style'/],
    [{ '/*': { dir: file } }, /is no folder/], [{ '/*': { dir: `${file}.none` } }, /ENOENT/]]
  for (const [routes, message] of wrong) assert.throws(() => serve({ routes }), message)
})

test('a route holds for every spelling of its path, so that none of them leads to the files of a folder behind it', async t => {
  const root = folderOf(t, { 'admin/secret.txt': 'SECRET', 'secret(1).pdf': 'SECRET', 'open.txt': 'open' })
  const no = () => new Lean('no', { status: 401 })
  for (const [name, options] of [['static', { static: { '/files': root } }], ['dir', { routes: { '/files/*': { dir: root } } }]]) {
    const server = serveFor(t, { ...options, routes: { ...options.routes, '/files/admin/*': no, '/files/secret(1).pdf': no, '/ä/:id': ({ params }) => new Lean(params.id) } })
    const asked = async path => {
      const answer = await fetch(new URL(path, server.url))
      return [answer.status, await answer.text()]
    }
    for (const path of ['/files/admin/secret.txt', '/files/%61dmin/secret.txt', '/files/admi%6E/secret.txt', '/files/admi%6e/secret.txt', '/%66iles/admin/secret.txt', '/files/secret%281%29.pdf', '/files/x/%2e%2e/admin/secret.txt']) {
      assert.deepEqual(await asked(path), [401, 'no'], `${name} ${path}`)
    }
    for (const path of ['/files/admin%2Fsecret.txt', '/files//admin/secret.txt']) assert.equal((await asked(path))[0], 404, `${name} ${path}`)
    assert.deepEqual([await asked('/files/open.txt'), await asked('/files/%6Fpen.txt'), await asked('/%c3%a4/%2F%25%zz')], [[200, 'open'], [200, 'open'], [200, '/%%zz']])
  }
})

test('a copy of a request of a route has its parameters and cookies', async t => {
  const server = serveFor(t, { routes: { '/users/:id': async request => {
    const copy = request.clone()
    return Lean.json([copy.params, copy.cookies.get('a'), await copy.text(), await request.text()])
  } } })
  const answer = await fetch(new URL('/users/a%20b', server.url), { method: 'POST', body: 'body', headers: { cookie: 'a=1' } })
  assert.deepEqual(await answer.json(), [{ id: 'a b' }, '1', 'body', 'body'])
})

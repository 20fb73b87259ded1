// The methods of a running server of `serve`: its address, its counts, other handlers, times, an
// end; and the options behind them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { inspect } from 'node:util'
import { Agent, createServer, request as asked, Response as Lean, serve } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'
import { versions } from '../support/clients/clients.mjs'
import { serveFor } from '../support/servers/serving.mjs'

const text = async url => await (await fetch(url)).text()

for (const version of versions) {
  const { name } = version

  test(`${name}: a request has an address, and counts while it is not answered`, async () => {
    let answer
    let seen
    let reported
    const came = new Promise(resolve => { reported = resolve })
    const server = serve({
      hostname: '127.0.0.1',
      ...version.options,
      fetch (request, info) {
        seen = [info.requestIP(request), server.requestIP(request), server.requestIP(new Request('http://a/')), info.url.href === server.url.href, info.port === server.port]
        reported()
        return new Promise(resolve => { answer = resolve })
      }
    })
    const client = version.connect(server.port)
    try {
      assert.equal(server.pendingRequests, 0)
      const asking = client.ask('/')
      await came
      assert.equal(server.pendingRequests, 1)
      const [own, other, none, ...same] = seen
      assert.deepEqual([own.address, own.family, own.port > 0, none, ...same], ['127.0.0.1', 'IPv4', true, null, true, true])
      assert.deepEqual(own, other)
      answer(new Lean('there'))
      assert.equal(String((await asking).body), 'there')
      // The last message of an exchange may come behind its answer.
      while (server.pendingRequests > 0) await new Promise(setImmediate)
    } finally {
      await client.close()
      await server.stop(true)
    }
  })

  test(`${name}: a request of which nothing moves ends behind its time, and its signal aborts; another one's time is its own`, async () => {
    const reasons = []
    let ended = () => {}
    const both = new Promise(resolve => { ended = resolve })
    const server = serve({
      hostname: '127.0.0.1',
      ...version.options,
      idleTimeout: 1,
      // The connections wait for their first request as long as it takes.
      timeouts: { idle: 60_000 },
      fetch (request, info) {
        const { pathname } = new URL(request.url)
        if (pathname === '/later') {
          info.timeout(request, 0)
          return both.then(() => new Lean('later'))
        }
        request.signal.addEventListener('abort', () => {
          reasons.push(request.signal.reason.name)
          if (reasons.length === 2) ended()
        })
        if (pathname === '/own') server.timeout(request, 0.5)
        return new Promise(() => {})
      }
    })
    const clients = Array.from({ length: 3 }, () => version.connect(server.port))
    try {
      const later = clients[2].ask('/later')
      await Promise.all([assert.rejects(clients[0].ask('/silent')), assert.rejects(clients[1].ask('/own'))])
      await both
      assert.deepEqual(reasons, ['AbortError', 'AbortError'])
      assert.equal(String((await later).body), 'later')
    } finally {
      for (const client of clients) await client.close()
      await server.stop(true)
    }
  })

  test(`${name}: reload answers by other handlers, and what is absent stays`, async () => {
    const server = serve({ hostname: '127.0.0.1', ...version.options, fetch: () => new Lean('first'), error: error => new Lean(error.message) })
    const client = version.connect(server.port)
    const reported = async path => String((await client.ask(path)).body)
    try {
      assert.equal(await reported('/'), 'first')
      assert.equal(server.reload({ fetch () { throw new Error('second') } }), server)
      assert.equal(await reported('/'), 'second')
      server.reload({ routes: { '/a': new Lean('route') } })
      assert.deepEqual([await reported('/a'), await reported('/')], ['route', 'second'])
      server.reload({ error: undefined, fetch: () => { throw new Error('third') } })
      assert.equal(await reported('/'), 'third')
      assert.throws(() => server.reload({ fetch: 5 }), /fetch must be a function/)
      assert.throws(() => server.reload({ rutes: {} }), /no option rutes; is routes meant\?/)
      assert.equal(await reported('/'), 'third')
    } finally {
      await client.close()
      await server.stop(true)
    }
  })

  test(`${name}: stop lets what is open finish, and stop(true) cuts it`, async () => {
    for (const cuts of [false, true]) {
      let [answer, reported] = []
      const came = new Promise(resolve => { reported = resolve })
      const server = serve({ hostname: '127.0.0.1', ...version.options, fetch: () => new Promise(resolve => { answer = resolve; reported() }) })
      const client = version.connect(server.port)
      const asking = client.ask('/')
      asking.catch(() => {})
      await came
      const stopped = server.stop(cuts)
      if (cuts) await assert.rejects(asking)
      else {
        answer(new Lean('the last'))
        assert.equal(String((await asking).body), 'the last')
      }
      await client.close()
      await stopped
    }
  })
}

test('a server that signs its own certificate is there at once, and shows it for localhost and its address', async t => {
  for (const http3 of [false, true]) {
    const server = serveFor(t, { tls: 'self-signed', http3, fetch: (request, info) => new Lean(info.protocol) })
    assert.equal(server.url.protocol, 'https:')
    const agent = new Agent({ connect: { rejectUnauthorized: false }, ...(http3 ? { http3: 'only' } : {}) })
    t.after(() => agent.destroy())
    const { body } = await asked(`https://localhost:${server.port}/`, { dispatcher: agent })
    assert.equal(await body.text(), http3 ? 'h3' : 'h2')
    const socket = https.get({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, agent: false })
    const [response] = await once(socket, 'response')
    const displayed = response.socket.getPeerCertificate().subjectaltname
    response.resume()
    for (const name of ['DNS:localhost', 'IP Address:127.0.0.1', 'IP Address:0:0:0:0:0:0:0:1']) assert.ok(displayed.includes(name), displayed)
    assert.doesNotMatch(inspect(server, { depth: 9, showHidden: true }), /PRIVATE KEY/)
  }
  const fetch = () => new Lean('')
  assert.throws(() => serve({ fetch, tls: 'signed' }), /tls is 'signed'; it must be an object with cert and key, a list of these, or 'self-signed'/)
})

test('a failure is answered with its stack where development is on, and never elsewhere', async t => {
  t.mock.method(console, 'error', () => {})
  const fetch_ = () => { throw new Error('<script>alert(1)</script>') }
  const reported = async (server, accept) => {
    const answer = await fetch(server.url, { headers: { accept } })
    return [answer.status, answer.headers.get('content-type'), await answer.text()]
  }
  const silent = serveFor(t, { fetch: fetch_, development: false })
  const [status, , body] = await reported(silent, 'text/html')
  assert.deepEqual([status, body, silent.development], [500, '', false])
  assert.equal(serveFor(t, { fetch: fetch_ }).development, process.env.NODE_ENV === 'development')
  const loud = serveFor(t, { fetch: fetch_, development: true })
  const [, type, page] = await reported(loud, 'text/html')
  assert.equal(type, 'text/html;charset=utf-8')
  assert.match(page, /Error: &lt;script&gt;alert\(1\)&lt;\/script&gt;[^]*serve\/methods\.test\.mjs/)
  assert.doesNotMatch(page, /<script>/)
  const [, plain, lines] = await reported(loud, '*/*')
  assert.equal(plain, 'text/plain;charset=utf-8')
  assert.match(lines, /^Error: <script>[^]*\n\s+at /)
  loud.reload({ error: () => new Lean('own') })
  assert.equal((await reported(loud, 'text/html'))[2], 'own')
  assert.equal(console.error.mock.callCount(), 3)
})

test('with ipv6Only a server on every address of IPv6 leaves the port of IPv4 to another', async t => {
  /** Both; a program beside this test may have the port of IPv4. */
  const pair = (left = 50) => {
    const sixth = serveFor(t, { hostname: '::', ipv6Only: true, fetch: () => new Lean('6') })
    try {
      return [sixth, serveFor(t, { hostname: '0.0.0.0', port: sixth.port, fetch: () => new Lean('4') })]
    } catch (error) {
      if (error.code !== 'EADDRINUSE' || left === 0) throw error
      return pair(left - 1)
    }
  }
  const [sixth, fourth] = pair()
  const textOf = async host => await (await globalThis.fetch(`http://${host}:${sixth.port}/`)).text()
  assert.deepEqual([fourth.port, await textOf('[::1]'), await textOf('127.0.0.1')], [sixth.port, '6', '4'])
  assert.throws(() => serve({ hostname: '0.0.0.0', port: serveFor(t, { hostname: '::', ipv6Only: 0, fetch: () => new Lean('') }).port, fetch: () => new Lean('') }), /EADDRINUSE/)
})

test('settings of WebSockets that are null, and an empty hostname, are absent', async t => {
  const server = serveFor(t, { hostname: '', websocket: { message () {}, maxPayloadLength: null, backpressureLimit: null, idleTimeout: null }, fetch: () => new Lean('ok') })
  assert.equal(await (await globalThis.fetch(`http://127.0.0.1:${server.port}/`)).text(), 'ok')
})

test('the hostname of a server is its option, and without one localhost, as programs print it in URLs', t => {
  const hostnameOf = options => serveFor(t, { ...options, fetch: () => new Lean('') }).hostname
  assert.deepEqual([{ hostname: '' }, { hostname: undefined }, { hostname: '127.0.0.1' }, { hostname: 'localhost' }, { hostname: '0.0.0.0' }].map(hostnameOf), ['localhost', 'localhost', '127.0.0.1', 'localhost', '0.0.0.0'])
})

test('without a port a server has a free one, whatever the environment says', t => {
  const before = process.env.PORT
  process.env.PORT = '1'
  t.after(() => { if (before === undefined) delete process.env.PORT; else process.env.PORT = before })
  const ports = [0, 1].map(() => serveFor(t, { fetch: () => new Lean('x') }).port)
  assert.ok(ports[0] > 1 && ports[1] > 1 && ports[0] !== ports[1], `${ports}`)
})

test('unix and reusePort are other names of path and sharesPort, and two values for one thing are refused', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-unix-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  const unix = join(folder, 'socket')
  const server = serve({ unix, fetch: (request, info) => Lean.json([info.requestIP(request), request.url]) })
  assert.deepEqual([server.path, server.port, server.hostname, server.url.href], [unix, undefined, undefined, 'http://localhost/'])
  const get = http.get({ socketPath: unix, path: '/', headers: { host: 'localhost' }, agent: false })
  const [response] = await once(get, 'response')
  assert.deepEqual(JSON.parse((await response.toArray()).join('')), [null, 'http://localhost/'])
  await server.stop(true)
  const first = serveFor(t, { reusePort: true, fetch: () => new Lean('first') })
  assert.equal(serveFor(t, { reusePort: true, port: `${first.port}`, fetch: () => new Lean('second') }).port, first.port)
  // As in Bun, any value is a flag, and no port is one of the system's choice.
  assert.equal(serveFor(t, { reusePort: 1, port: first.port, fetch: () => new Lean('third') }).port, first.port)
  assert.notEqual(serveFor(t, { reusePort: 0, port: null, fetch: () => new Lean('fourth') }).port, first.port)
  const fetch = () => new Lean('')
  assert.throws(() => serve({ fetch, unix: 'a', path: 'b' }), /path is 'b' and unix is 'a'/)
  assert.throws(() => serve({ fetch, hostname: '127.0.0.1', host: '::1' }), /hostname is '127\.0\.0\.1' and host is '::1'/)
  assert.throws(() => serve({ fetch, idleTimeout: -1 }), /idleTimeout is -1; it must be a number of seconds/)
})

test('options that are null count as absent, and a server has what a program for Bun reads of it', async t => {
  const absent = { hostname: null, unix: null, tls: false, websocket: null, error: null, idleTimeout: null, maxRequestBodySize: null, signal: null, development: null, id: null }
  const plain = serve({ ...absent, fetch: () => new Lean('') })
  t.after(() => plain.stop(true))
  assert.deepEqual([plain.id, plain.protocol, typeof plain.port], ['', 'http', 'number'])
  class Application { fetch () { return new Lean('of a class') } }
  const server = serve(Object.assign(new Application(), { hostname: '127.0.0.1', id: 'mine', error: null, development: { hmr: true } }))
  t.after(() => server.stop(true))
  assert.deepEqual([server.id, server.development, server.pendingRequests, server.pendingWebSockets], ['mine', true, 0, 0])
  assert.deepEqual(server.address, { address: '127.0.0.1', family: 'IPv4', port: server.port })
  assert.equal(await (await fetch(server.url)).text(), 'of a class')
})

/** A value of each type; a string is a value of several options. */
const WRONG = [5, -1, 1.5, 'x', {}, [], true, () => {}, 2 ** 40, 5n]
/** The options that `serve` names to a program that has one it does not know; a test of the type of handlers is elsewhere. */
function optionsOfServe () {
  try {
    serve({ fetch: () => new Lean(''), somethingElse: 1 })
  } catch (error) {
    return error.message.split('it has ')[1].split(', ').filter(name => name !== 'fetch')
  }
}

test('an option of another type is refused in words of options, and not in those of a parser', async () => {
  let refused = 0
  const names = optionsOfServe()
  assert.ok(names.includes('http3') && names.length > 30, `${names}`)
  for (const name of names) {
    for (const value of WRONG) {
      let server
      try {
        server = serve({ hostname: '127.0.0.1', fetch: () => new Lean(''), [name]: value })
      } catch (error) {
        refused++
        assert.doesNotMatch(error.message, /at line|invalid type|invalid value|unknown field|is not a function$|Cannot read/, `${name}: ${inspect(value)}`)
      }
      await server?.stop(true)
    }
  }
  assert.ok(refused > 150, `${refused} were refused`)
  assert.throws(() => serve({ fetch: () => new Lean(''), http3: 'yes' }), { message: /http3 is "yes"; it must be true or false/ })
  assert.throws(() => serve({ fetch: () => new Lean(''), backlog: -1 }), { message: /backlog is -1; it must be an integer from 0 to 4294967295/ })
  assert.throws(() => serve({ fetch: () => new Lean(''), tls: { pfx: [] } }), { message: /tls has no certificate/ })
  assert.throws(() => serve({ fetch: () => new Lean(''), hostname: 5 }), { message: /hostname is 5; it must be a string/ })
  assert.throws(() => serve({ fetch: () => new Lean(''), hostname: 'a', unix: 'b' }), { message: /on a Unix socket or on an address/ })
})

test('a name that is nearly an option is named', () => {
  const fetch = () => new Lean('')
  for (const [name, near] of Object.entries({ hostName: 'hostname', prot: 'port', fecth: 'fetch', websockets: 'websocket', idleTimeOut: 'idleTimeout', route: 'routes', statics: 'static' })) {
    assert.throws(() => serve({ fetch, [name]: 1 }), new RegExp(`serve has no option ${name}; is ${near} meant\\?`))
  }
  assert.throws(() => serve({ fetch, somethingElse: 1 }), /serve has no option somethingElse; it has fetch, /)
})

test('a bound that is not known, or out of its range, is refused with what is allowed', () => {
  const fetch = () => new Response('')
  for (const [options, message] of [
    [{ limits: { fieldCountMx: 1 } }, /limits has no fieldCountMx; is fieldCountMax meant\? it has fieldCountMax, /],
    [{ limits: { toString: 1 } }, /limits has no toString; it has fieldCountMax, /],
    [{ limits: { fieldCountMax: -1 } }, /limits\.fieldCountMax is -1; it must be an integer of at least 0/],
    [{ limits: { continuationsMax: 2 ** 32 } }, /limits\.continuationsMax is 4294967296; it must be an integer from 0 to 4294967295/],
    [{ limits: { resets: 5 } }, /limits\.resets is 5; it must be \{ burst, perSecond \}, both integers of at least 0/],
    [{ limits: 5 }, /limits is 5; it must be an object/],
    [{ timeouts: { idle: '5' } }, /timeouts\.idle is '5'; it must be an integer of at least 0/],
    [{ windows: { auto: 1 } }, /windows\.auto is 1; it must be true or false/]
  ]) {
    for (const make of [() => serve({ fetch, ...options }), () => createServer(options)]) {
      assert.throws(make, { code: 'UND_ERR_INVALID_ARG', message }, inspect(options))
    }
  }
})

test('what is printed of a server has its address and no key', async t => {
  const server = serveFor(t, { tls: { cert, key }, fetch: () => new Lean('') })
  assert.match(inspect(server), /^Server \{ hostname: '127\.0\.0\.1', port: \d+, url: 'https:\/\/127\.0\.0\.1:\d+\/' \}$/)
})

test('await using closes a server, and a server of unref does not hold its process', async () => {
  const server = serve({ hostname: '127.0.0.1', fetch: () => new Lean('there') })
  assert.equal(server.unref().ref(), server)
  assert.equal(await text(server.url), 'there')
  await server[Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]()
  await server.closed
})

test('server.fetch gives the answer of the handler to a request that no client sent', async () => {
  const seen = []
  const server = serve({
    hostname: '127.0.0.1',
    routes: { '/route': () => new Lean('route') },
    error: () => new Lean('error'),
    async fetch (request, info) {
      seen.push([this === server, info === server, info.requestIP(request)])
      const { pathname } = new URL(request.url)
      if (pathname === '/throws') throw new Error('the handler fails')
      if (pathname === '/nothing') return
      return new Lean(`${request.method} ${request.url} ${await request.text()}`, { status: 201 })
    }
  })
  try {
    const answers = [
      [['/path?a=b'], `GET ${server.url}path?a=b `],
      [['/route'], `GET ${server.url}route `],
      [[new URL('http://other/x'), { method: 'PUT', body: 'body' }], 'PUT http://other/x body'],
      [[new Request('http://other/y', { method: 'POST', body: 'more' })], 'POST http://other/y more'],
      [[new Request('http://other/y'), { method: 'DELETE' }], 'DELETE http://other/y ']
    ]
    for (const [args, body] of answers) {
      const answer = await server.fetch(...args)
      assert.deepEqual([answer.status, await answer.text()], [201, body])
    }
    assert.deepEqual(seen, answers.map(() => [true, true, null]))
    await assert.rejects(server.fetch('/throws'), { message: 'the handler fails' })
    await assert.rejects(server.fetch('/nothing'), { name: 'TypeError', message: 'the handler gave a value of the type undefined; it must give a Response' })
    await assert.rejects(server.fetch(5), { name: 'TypeError', message: 'server.fetch was given 5; it takes a URL, a path or a Request' })
    assert.equal(server.pendingRequests, 0)
  } finally {
    await server.stop(true)
  }
  const without = serve({ hostname: '127.0.0.1', routes: { '/': new Lean('route') } })
  await assert.rejects(without.fetch('/'), { name: 'TypeError', message: 'server.fetch calls the option fetch of serve, and there is none' })
  await without.stop(true)
})

test('closeIdleConnections closes the connections that have no request, and no other', async () => {
  let answer
  const server = serve({ hostname: '127.0.0.1', fetch: request => request.url.endsWith('/waits') ? new Promise(resolve => { answer = resolve }) : new Lean('there') })
  const agent = new http.Agent({ keepAlive: true })
  const get = path => new Promise((resolve, reject) => {
    http.get({ port: server.port, host: '127.0.0.1', path, agent }, response => { response.resume().on('end', () => { resolve(response.req) }) }).on('error', reject)
  })
  try {
    const { socket } = await get('/')
    const waiting = new http.Agent()
    const other = new Promise((resolve, reject) => {
      http.get({ port: server.port, host: '127.0.0.1', path: '/waits', agent: waiting }, resolve).on('error', reject)
    })
    while (answer === undefined) await new Promise(setImmediate)
    const closed = once(socket, 'close')
    server.closeIdleConnections()
    await closed
    answer(new Lean('late'))
    assert.equal((await other).statusCode, 200)
  } finally {
    agent.destroy()
    await server.stop(true)
  }
})

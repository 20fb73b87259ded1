// Agents behind proxies, by undici's options, seen at the proxy.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import { Agent, EnvHttpProxyAgent, Pool, ProxyAgent, request } from 'trunkline'
import * as undici7 from 'undici7'
import { cert } from '../../support/certificates/certificate.mjs'
import { proxy, socks } from '../../support/servers/proxy.mjs'
import { h1, h1s, h2 } from '../../support/servers/servers.mjs'

const [major] = process.versions.node.split('.').map(Number)
// undici 8 needs a newer Node than 20.
const undici8 = major >= 22 ? await import('undici8') : null

const answer = (request, response) => {
  response.setHeader('x-via', request.headers.via ?? 'none')
  response.setHeader('x-credentials', request.headers['proxy-authorization'] ?? 'none')
  response.end(request.url)
}
const get = async (url, dispatcher, options = {}) => {
  const { statusCode, headers, body } = await request(url, { dispatcher, ...options })
  return { statusCode, headers, text: await body.text() }
}

test('http goes to the proxy in absolute form and https through a tunnel, h2 in it', async () => {
  const between = await proxy()
  const [plain, old, secure] = [await h1(answer), await h1s(answer), await h2(answer)]
  const agent = new ProxyAgent({ uri: between.url, requestTls: { ca: cert } })
  assert.deepEqual((await get(`${plain.url}/a`, agent)).headers['x-via'], '1.1 test')
  assert.equal((await get(`${old.url}/b`, agent)).text, '/b')
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => get(`${secure.url}/${n}`, agent)))
  assert.deepEqual(all.map(({ text }) => text), Array.from({ length: 20 }, (_, n) => `/${n}`))
  assert.equal(secure.counts.sessions, 1, 'one connection for all of them')
  assert.deepEqual(between.lines(), [
    `GET ${plain.url}/a`, `CONNECT ${new URL(old.url).host}`, `CONNECT ${new URL(secure.url).host}`
  ])
  await agent.close()
  for (const one of [between, plain, old, secure]) await one.close()
})

test("undici's request and fetch go through it too, and proxyTunnel tunnels http", async () => {
  const between = await proxy()
  const server = await h1(answer)
  const agent = new ProxyAgent({ uri: between.url, proxyTunnel: true })
  const asked = await undici7.request(`${server.url}/a`, { dispatcher: agent })
  assert.equal(await asked.body.text(), '/a')
  assert.equal(await (await undici7.fetch(`${server.url}/b`, { dispatcher: agent })).text(), '/b')
  assert.deepEqual(between.lines(), [`CONNECT ${new URL(server.url).host}`])
  await agent.close()
  await between.close()
  await server.close()
})

test('credentials and fields go to the proxy and not to the origin, in every way to give them', async () => {
  const secret = Buffer.from('me:p@ss').toString('base64')
  const credentials = `Basic ${secret}`
  const between = await proxy({ credentials })
  const [plain, secure] = [await h1(answer), await h2(answer)]
  const uri = between.url
  const withUser = between.url.replace('//', '//me:p%40ss@')
  const ways = [{ uri, token: credentials }, { uri, auth: secret }, { uri: withUser }, { uri: new URL(withUser) },
    { uri, headers: { 'Proxy-Authorization': credentials } }]
  for (const way of ways) {
    const agent = new ProxyAgent({ ...way, headers: { ...way.headers, 'x-for': 'the proxy' }, requestTls: { ca: cert } })
    for (const server of [plain, secure]) {
      between.asked.length = 0
      const { statusCode, headers } = await get(server.url, agent)
      assert.equal(statusCode, 200)
      assert.equal(headers['x-credentials'], 'none')
      assert.equal(between.asked[0].headers['x-for'], 'the proxy')
    }
    await agent.close()
  }
  const wrong = new ProxyAgent({ uri, token: 'Basic bm8=', requestTls: { ca: cert } })
  const error = await get(secure.url, wrong).then(() => null, error => error)
  assert.equal(error.code, 'UND_ERR_ABORTED')
  assert.match(error.message, /407/)
  assert.equal(error.cause.code, 'UND_ERR_PRX_CONN')
  await assert.rejects(get(plain.url, wrong), { code: 'UND_ERR_INVALID_ARG', message: /\(407\)/ })
  assert.equal(secure.counts.requests, 5, 'nothing more reached the origin')
  await wrong.close()
  for (const one of [between, plain, secure]) await one.close()
})

test("TLS with the proxy is proxyTls's, and with the origin requestTls's", async () => {
  const between = await proxy({ secure: true })
  const server = await h2(answer)
  const agent = new ProxyAgent({ uri: between.url, proxyTls: { ca: cert }, requestTls: { ca: cert } })
  assert.equal((await get(`${server.url}/a`, agent)).text, '/a')
  await agent.close()
  const strict = new ProxyAgent({ uri: between.url, requestTls: { ca: cert } })
  await assert.rejects(get(server.url, strict), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  await strict.close()
  const named = new ProxyAgent({ uri: between.url.replace('localhost', '127.0.0.1'), proxyTls: { ca: cert, servername: 'other.test' }, requestTls: { ca: cert } })
  assert.equal((await get(`${server.url}/b`, named)).text, '/b')
  await named.close()
  await between.close()
  await server.close()
})

test('SOCKS5 proxies get the name, with credentials of the URL or of the options', async () => {
  const between = await socks({ user: 'me', password: 'p@ss' })
  const server = await h2(answer)
  for (const options of [{ uri: `socks5://me:p%40ss@${between.host}` }, { uri: `socks://${between.host}`, username: 'me', password: 'p@ss' }]) {
    const agent = new ProxyAgent({ ...options, requestTls: { ca: cert } })
    assert.equal((await get(`${server.url}/a`, agent)).text, '/a')
    await agent.close()
  }
  const wrong = new ProxyAgent({ uri: `socks5://me:no@${between.host}` })
  await assert.rejects(get(server.url, wrong), { code: 'UND_ERR_SOCKS5_AUTH_FAILED', name: 'Socks5ProxyError' })
  await wrong.close()
  assert.deepEqual(between.asked, Array(2).fill(new URL(server.url).host))
  await between.close()
  await server.close()
})

/**
 * A server that answers every connection with `text`, instead of being a proxy; the empty text
 * closes.
 */
async function reporting (text) {
  const sockets = new Set()
  const server = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => { if (text === '') socket.end(); else socket.write(text, 'latin1') })
  }).listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { port: server.address().port, close }
}

for (const [line, undici] of Object.entries({ undici7, ...undici8 && { undici8 } })) {
  test(`what a proxy refuses with has the class and code that ${line} gives it`, async () => {
    const wrongName = await proxy({ secure: true })
    const statuses = await Promise.all([407, 403, 502, 300].map(status => reporting(`HTTP/1.1 ${status} no\r\ncontent-length: 0\r\n\r\n`)))
    const closing = await reporting('')
    const cases = [
      ...statuses.flatMap(({ port }, at) => (at > 0 ? ['https://a.test'] : ['https://a.test', 'http://a.test']).map(url => [`http://127.0.0.1:${port}`, url])),
      ...(line === 'undici7' ? [] : [[`http://127.0.0.1:${closing.port}`, 'https://a.test']]),
      [wrongName.url, 'https://a.test', { servername: 'wrong.test' }]
    ]
    const failureOf = async ({ ProxyAgent, request }, [uri, url, tls]) => {
      // undici 7 tunnels `http` requests by default.
      const dispatcher = new ProxyAgent({ uri, proxyTunnel: false, proxyTls: { ca: cert, ...tls } })
      const error = await request(url, { dispatcher }).then(({ statusCode }) => ({ code: statusCode }), error => error)
      await dispatcher.destroy()
      return [error.name, error.code]
    }
    for (const one of cases) {
      const [theirs, own] = [await failureOf(undici, one), await failureOf({ ProxyAgent, request }, one)]
      assert.deepEqual(own, theirs, one.join(' '))
    }
    for (const one of [wrongName, ...statuses, closing]) await one.close()
  })
}

// undici's own waits for its time to be over where these come early.
test('what a SOCKS5 proxy refuses with has the codes of undici', async () => {
  const refusals = { '\x04\x00': 'VERSION', '\x05\xff': 'AUTH_REJECTED', '\x05\x07': 'AUTH_METHOD', '\x05\x00\x05\x05\x00\x01\0\0\0\0\0\0': 'REPLY_5' }
  for (const [text, code] of Object.entries(refusals)) {
    const { port, close } = await reporting(text)
    const dispatcher = new ProxyAgent(`socks5://127.0.0.1:${port}`)
    await assert.rejects(get('http://a.test', dispatcher), { code: `UND_ERR_SOCKS5_${code}`, name: 'Socks5ProxyError' })
    await dispatcher.close()
    close()
  }
})

test('a proxy that is not there fails requests, and later ones try again', async () => {
  const gone = net.createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address()
  gone.close()
  const agent = new ProxyAgent(`http://127.0.0.1:${port}`)
  for (const origin of ['http://a.test', 'https://a.test']) {
    await assert.rejects(get(origin, agent), { code: 'ECONNREFUSED' })
  }
  await agent.close()
})

test('options that cannot be used are refused as undici refuses them, and functions with a reason', async () => {
  const invalid = { code: 'UND_ERR_INVALID_ARG' }
  for (const options of [undefined, null, '', {}, { uri: '' }]) assert.throws(() => new ProxyAgent(options), invalid)
  assert.throws(() => new ProxyAgent('no url'), { code: 'ERR_INVALID_URL' })
  assert.throws(() => new ProxyAgent('ftp://a'), invalid)
  assert.throws(() => new ProxyAgent('http://a/path'), invalid)
  assert.throws(() => new ProxyAgent({ uri: 'http://a', auth: 'x', token: 'y' }), invalid)
  assert.throws(() => new ProxyAgent({ uri: 'http://a', clientFactory: 1 }), /must be a function/)
  assert.throws(() => new ProxyAgent({ uri: 'http://a', factory: 1 }), /must be a function/)
  assert.throws(() => new ProxyAgent({ uri: 'socks5://a', factory () {} }), { code: 'UND_ERR_INVALID_ARG', message: /^factory is not taken with a proxy of SOCKS/ })
  assert.throws(() => new EnvHttpProxyAgent({ clientFactory () {} }), { code: 'UND_ERR_INVALID_ARG', message: /^clientFactory is not taken by EnvHttpProxyAgent/ })
  assert.throws(() => new ProxyAgent({ uri: 'http://a', headers: { upgrade: 'b' } }), invalid)
  const agent = new ProxyAgent('http://127.0.0.1:1')
  const own = get('http://a.test', agent, { headers: { 'Proxy-Authorization': 'mine' } })
  await assert.rejects(own, { code: 'UND_ERR_INVALID_ARG', message: /ProxyAgent constructor/ })
  await agent.close()
})

test("the environment's proxies: by scheme, with exceptions, small letters first", async () => {
  const [forHttp, forHttps] = [await proxy(), await proxy()]
  const [plain, secure] = [await h1(answer), await h2(answer)]
  const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY', 'REQUEST_METHOD']
  const kept = names.map(name => [name, process.env[name]])
  const visit = async (env, options = {}) => {
    for (const name of names) delete process.env[name]
    Object.assign(process.env, env)
    forHttp.asked.length = forHttps.asked.length = 0
    const agent = new EnvHttpProxyAgent({ requestTls: { ca: cert }, connect: { ca: cert }, ...options })
    assert.equal((await get(`${plain.url}/a`, agent)).text, '/a')
    assert.equal((await get(`${secure.url}/b`, agent)).text, '/b')
    await agent.close()
    // A second tunnel to one server is tried where this process stands still for longer than an attempt.
    return [forHttp, forHttps].map(each => new Set(each.lines()).size)
  }
  const both = { http_proxy: forHttp.url, https_proxy: forHttps.url }
  assert.deepEqual(await visit({}), [0, 0])
  assert.deepEqual(await visit(both), [1, 1])
  assert.deepEqual(await visit({ http_proxy: forHttp.url }), [2, 0], 'the one of http for https too')
  assert.deepEqual(await visit({ http_proxy: forHttp.url.slice(7) }), [2, 0], 'without a scheme')
  assert.deepEqual(await visit({ HTTP_PROXY: forHttp.url, HTTPS_PROXY: forHttps.url }), [1, 1])
  assert.deepEqual(await visit({ HTTP_PROXY: forHttp.url, REQUEST_METHOD: 'GET' }), [0, 0], 'whoever calls a CGI program sets it')
  assert.deepEqual(await visit({ ...both, HTTP_PROXY: forHttps.url }), [1, 1])
  for (const no_proxy of ['*', 'localhost', 'a.test, localhost', '.localhost', `localhost:${new URL(plain.url).port} localhost:${new URL(secure.url).port}`]) {
    assert.deepEqual(await visit({ ...both, no_proxy }), [0, 0], no_proxy)
  }
  assert.deepEqual(await visit({ ...both, NO_PROXY: `localhost:${new URL(plain.url).port}` }), [0, 1])
  assert.deepEqual(await visit({}, { httpProxy: forHttp.url, httpsProxy: forHttps.url, noProxy: 'a.test' }), [1, 1])
  assert.deepEqual(await visit({ ...both, no_proxy: '*' }, { noProxy: '' }), [1, 1], 'an option stands before the environment')
  for (const [name, value] of kept) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  for (const one of [forHttp, forHttps, plain, secure]) await one.close()
})

test('a host field does not say where a request goes that a proxy forwards, and fields of the connection are the engine\'s', async () => {
  const via = await proxy()
  const origin = await h1(answer)
  const dispatcher = new ProxyAgent({ uri: via.url, headers: { Host: 'other.test', connection: 'close', 'X-Own': 'yes' } })
  const { statusCode, body } = await request(`${origin.url}/a`, { dispatcher, headers: { host: 'named.test' } })
  assert.deepEqual([statusCode, await body.text()], [200, '/a'])
  assert.equal(via.asked.length, 1)
  for (const one of [dispatcher, via, origin]) await one.close()
})

test('an upgrade that a proxy forwards has the URL of its origin, whatever its host field says', async t => {
  const heads = []
  const via = net.createServer(socket => {
    socket.on('error', () => {}).once('data', head => {
      heads.push(String(head).split('\r\n').slice(0, 2))
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n')
    })
  })
  await once(via.listen(0, '127.0.0.1'), 'listening')
  t.after(() => via.close())
  const dispatcher = new ProxyAgent(`http://127.0.0.1:${via.address().port}`)
  const { headers, socket } = await dispatcher.upgrade({ origin: 'http://origin.test', path: '/up?a', protocol: 'own', headers: { host: 'named.test' } })
  assert.equal(headers.upgrade, 'own')
  socket.on('error', () => {}).destroy()
  assert.deepEqual(heads, [['GET http://origin.test/up?a HTTP/1.1', 'host: origin.test']])
  await dispatcher.destroy()
})

test('a CONNECT for an http origin goes to a proxy that forwards with the credentials and the fields for it, unless it has its own', async t => {
  const heads = []
  const via = net.createServer(socket => {
    socket.on('error', () => {}).once('data', head => {
      heads.push(String(head).trimEnd().split('\r\n').filter(line => !/^(host|connection):/.test(line)))
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
    })
  })
  await once(via.listen(0, '127.0.0.1'), 'listening')
  t.after(() => via.close())
  const uri = `http://127.0.0.1:${via.address().port}`
  const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
  const headers = { 'X-For': 'the proxy' }
  const ways = [[{ uri, token: 'Bearer abc', headers }, 'Bearer abc'], [{ uri: uri.replace('//', '//me:p%40ss@'), headers }, basic], [{ uri, headers: { ...headers, 'Proxy-Authorization': basic } }, basic],
    [{ uri, token: 'Bearer abc', headers, proxyTunnel: false }, 'Bearer abc'], [{ uri, token: 'Bearer abc', headers, factory: (origin, options) => new Pool(origin, options) }, 'Bearer abc']]
  for (const [options, credentials] of ways) {
    const agent = new ProxyAgent(options)
    for (const own of [{}, { 'X-For': 'the target' }]) {
      const { socket } = await agent.connect({ origin: 'http://origin.test:81', path: 'target.test:99', headers: own })
      socket.on('error', () => {}).destroy()
      const [line, ...fields] = heads.pop()
      assert.equal(line, 'CONNECT target.test:99 HTTP/1.1')
      assert.deepEqual(fields.map(field => field.toLowerCase()).sort(), [`proxy-authorization: ${credentials.toLowerCase()}`, own['X-For'] === undefined ? 'x-for: the proxy' : 'x-for: the target'])
    }
    await agent.destroy()
  }
})

test('a CONNECT in a tunnel for an https origin has no credentials for the proxy', async t => {
  const asked = []
  const [between, secure] = [await proxy(), await h1s(() => {})]
  secure.server.on('connect', ({ url, headers }, socket) => {
    asked.push([url, headers['proxy-authorization'], headers['x-for']])
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n\r\n')
  })
  const agent = new ProxyAgent({ uri: between.url, token: 'Bearer abc', headers: { 'x-for': 'the proxy' }, requestTls: { ca: cert } })
  t.after(async () => { for (const one of [between, secure]) await one.close() })
  const { socket } = await agent.connect({ origin: secure.url, path: 'target.test:99' })
  socket.on('error', () => {}).destroy()
  assert.deepEqual(asked, [['target.test:99', undefined, undefined]])
  await agent.destroy()
})

test('a proxy that resets its connection is asked again by a RetryAgent', async () => {
  const origin = await h1(answer)
  let count = 0
  const via = net.createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      if (count++ === 0) return socket.resetAndDestroy()
      const onward = net.connect(Number(new URL(origin.url).port), '127.0.0.1', () => { socket.write('HTTP/1.1 200 OK\r\n\r\n') })
      onward.on('error', () => {}).pipe(socket).pipe(onward)
    })
  })
  await once(via.listen(0, '127.0.0.1'), 'listening')
  const dispatcher = new ProxyAgent({ uri: `http://127.0.0.1:${via.address().port}`, proxyTunnel: true })
  await assert.rejects(dispatcher.request({ origin: origin.url, path: '/a', method: 'GET' }), { code: 'ECONNRESET', message: 'read ECONNRESET', errno: -104, syscall: 'read' })
  const answered = await new undici7.RetryAgent(dispatcher, { minTimeout: 1 }).request({ origin: origin.url, path: '/a', method: 'GET' })
  assert.equal(await answered.body.text(), '/a')
  await dispatcher.close()
  via.close()
  await origin.close()
})

test('bytes right behind the answer for a tunnel are the answer of its first request, and open no other tunnel', async t => {
  for (const [behind, expected] of [['HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na', 'a'], ['<html>a page of the proxy</html>', { code: 'HPE_INVALID' }]]) {
    let tunnels = 0
    const proxy = net.createServer(socket => {
      socket.on('error', () => {}).on('data', () => {
        tunnels++
        socket.end(`HTTP/1.1 200 OK\r\n\r\n${behind}`)
      })
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const agent = new ProxyAgent({ uri: `http://127.0.0.1:${proxy.address().port}`, proxyTunnel: true })
    t.after(async () => {
      await agent.destroy()
      proxy.close()
    })
    const answer = request('http://origin.test/', { dispatcher: agent }).then(({ body }) => body.text())
    if (typeof expected === 'string') assert.equal(await answer, expected)
    else await assert.rejects(answer, expected)
    assert.equal(tunnels, 1)
  }
})

test('a server that ends its connection within the handshake has reset it, in the words of Node.js', async () => {
  const server = net.createServer(socket => { socket.once('data', () => { socket.end() }).on('error', () => {}) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const agent = new Agent()
  const { port } = server.address()
  const asked = agent.request({ origin: `https://127.0.0.1:${port}`, path: '/', method: 'GET' })
  await assert.rejects(asked, { code: 'ECONNRESET', message: 'Client network socket disconnected before secure TLS connection was established', host: '127.0.0.1', port: String(port) })
  await agent.close()
  server.close()
})

test("the environment's list of hosts without a proxy is read at each request, and an entry that means nothing is passed over", async () => {
  const via = await proxy()
  const origin = await h1(answer)
  const { port } = new URL(origin.url)
  const { no_proxy: kept } = process.env
  const agents = [new EnvHttpProxyAgent({ httpProxy: via.url }), new EnvHttpProxyAgent({ httpProxy: via.url, noProxy: 'a.test' })]
  const visit = async list => {
    process.env.no_proxy = list
    via.asked.length = 0
    for (const agent of agents) assert.equal((await get(`${origin.url}/a`, agent)).text, '/a')
    return via.asked.length
  }
  try {
    assert.equal(await visit(''), 2)
    for (const list of ['localhost', `*:${port}`, `x localhost:${port}`]) assert.equal(await visit(list), 1, `the option stands before ${list}`)
    for (const list of ['localhost:1', '*host', 'http://localhost', 'localhost:', '127.0.0.0/8', '*.localhost', '[::1']) assert.equal(await visit(list), 2, list)
  } finally {
    if (kept === undefined) delete process.env.no_proxy
    else process.env.no_proxy = kept
    for (const one of [...agents, via, origin]) await one.close()
  }
})

test('a tunnel is shown on the channel undici:proxy:connected', async () => {
  const between = await proxy()
  const server = await h2(answer)
  const received = []
  const listener = message => { received.push(message) }
  subscribe('undici:proxy:connected', listener)
  const plain = await h1(answer)
  const agent = new ProxyAgent({ uri: between.url.replace('//', '//me:p%40ss@'), requestTls: { ca: cert }, headers: { 'X-For': 'the proxy' } })
  await get(server.url, agent)
  await get(plain.url, agent)
  unsubscribe('undici:proxy:connected', listener)
  assert.equal(received.length, 1, 'a connection for requests in absolute form is no tunnel')
  assert.equal(received[0].socket.remotePort, Number(new URL(between.url).port), 'the socket is one to the proxy')
  const { host } = new URL(server.url)
  assert.deepEqual(received[0].connectParams, {
    origin: between.url,
    port: new URL(between.url).port,
    path: host,
    headers: { 'X-For': 'the proxy', 'proxy-authorization': `Basic ${Buffer.from('me:p@ss').toString('base64')}`, host },
    servername: 'localhost'
  })
  await plain.close()
  await agent.close()
  await between.close()
  await server.close()
})

for (const [way, options] of Object.entries({ 'the engine': {}, 'a factory': { factory: (origin, given) => new Pool(origin, given) } })) {
  test(`an agent behind a proxy has no events of connections, as with undici: by ${way}`, async () => {
    const between = await proxy()
    const server = await h1(answer)
    const agent = new ProxyAgent({ uri: between.url, proxyTunnel: true, ...options })
    const events = []
    for (const event of ['connect', 'disconnect', 'connectionError']) agent.on(event, () => { events.push(event) })
    assert.equal((await get(server.url, agent)).statusCode, 200)
    await between.close()
    await assert.rejects(get(server.url, agent))
    await agent.close()
    assert.deepEqual(events, [])
    await server.close()
  })
}

test('an agent behind a proxy drains once a request may follow', async () => {
  const between = await proxy()
  const server = await h1(answer)
  for (const options of [{}, { factory: (origin, given) => new Pool(origin, given) }]) {
    const agent = new ProxyAgent({ uri: between.url, proxyTunnel: true, connections: 1, ...options })
    const drained = once(agent, 'drain')
    const ended = new Promise((resolve, reject) => {
      const isFree = agent.dispatch({ origin: server.url, path: '/', method: 'GET' }, { onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd () { resolve() }, onResponseError (_, error) { reject(error) } })
      assert.equal(isFree, false)
    })
    await ended
    const [, targets] = await drained
    assert.equal(targets[0], agent)
    await agent.close()
  }
  await between.close()
  await server.close()
})

test('fields for a proxy go as they are spelled', async () => {
  const heads = []
  const server = net.createServer(socket => {
    socket.on('error', () => {}).once('data', bytes => {
      heads.push(bytes.toString('latin1'))
      socket.end('HTTP/1.1 407 no\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  for (const proxyTunnel of [true, false]) {
    const agent = new ProxyAgent({ uri: `http://127.0.0.1:${server.address().port}`, proxyTunnel, headers: { 'X-For': 'the proxy' } })
    await assert.rejects(get('http://origin.test/', agent))
    await agent.close()
  }
  assert.equal(heads.length, 2)
  for (const head of heads) assert.match(head, /\r\nX-For: the proxy\r\n/)
  server.close()
})

const hasTinyproxy = (() => {
  try {
    return execFileSync('tinyproxy', ['-v']).length > 0
  } catch {
    return false
  }
})()

/** Below the system's ephemeral ports, so that no other program gets it first. */
async function freePort () {
  for (let port = 10_000 + process.pid * 7919 % 20_000; ; port++) {
    const server = net.createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(() => true, () => false)
    server.close()
    if (isFree) return port
  }
}

test('tinyproxy takes http and tunnels, with its credentials', { skip: !hasTinyproxy && 'tinyproxy is not installed' }, async () => {
  const port = await freePort()
  const file = join(mkdtempSync(join(tmpdir(), 'trunkline-')), 'tinyproxy.conf')
  writeFileSync(file, `Port ${port}\nListen 127.0.0.1\nTimeout 60\nAllow 127.0.0.1\nBasicAuth me secret\n`)
  const child = spawn('tinyproxy', ['-d', '-c', file], { stdio: 'ignore' })
  const [plain, secure] = [await h1(answer), await h2(answer)]
  try {
    const agent = new ProxyAgent({ uri: `http://me:secret@127.0.0.1:${port}`, requestTls: { ca: cert } })
    let first
    // It says nowhere that it listens now.
    for (const until = Date.now() + 20_000; first === undefined && Date.now() < until; await after(5)) {
      first = await get(`${plain.url}/a`, agent).catch(error => { if (error.code !== 'ECONNREFUSED') throw error })
    }
    assert.equal(first.text, '/a')
    assert.match(first.headers['x-via'], /tinyproxy/)
    assert.equal((await get(`${secure.url}/b`, agent)).text, '/b')
    await agent.close()
  } finally {
    child.kill()
    await plain.close()
    await secure.close()
  }
})

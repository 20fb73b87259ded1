// The effect of each option of a dispatcher, as the server observes it; unsupported values are
// refused.
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { inspect } from 'node:util'
import { Agent, Client, createSecureServer, Pool } from 'trunkline'
import { authority } from '../../support/certificates/authority.mjs'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { viaNew } from '../../support/clients/dispatch.mjs'
import { h1, h2 } from '../../support/servers/servers.mjs'

const get = async (dispatcher, origin, options) => (await viaNew(dispatcher, { origin, path: '/', method: 'GET', ...options })).body.toString()
const answer = (request, response) => { response.end('answer') }

/** A dispatcher that ends with the test. */
function made (t, Kind, ...args) {
  const dispatcher = new Kind(...args)
  t.after(() => dispatcher.destroy())
  return dispatcher
}

async function served (t, serving) {
  const server = await serving
  t.after(() => server.close())
  return server
}

test('a name that is nearly an option\'s is warned of once, and others are passed over', async () => {
  const printed = []
  const receive = warning => { printed.push([warning.code, warning.message]) }
  process.on('warning', receive)
  for (let round = 0; round < 2; round++) {
    void new Agent({ conections: 4, connect: { rejectUnauthorised: true, host: 'a' }, preferH2: true, somethingOfLater: 1 }).destroy()
  }
  await new Promise(setImmediate)
  process.off('warning', receive)
  assert.deepEqual(printed.map(([code]) => code), Array(2).fill('TRUNKLINE_UNKNOWN_OPTION'))
  assert.match(printed[0][1], /called conections.* is connections meant\? \(see docs\/node-errors\.md#trunkline_unknown_option of the package trunkline\)$/)
  assert.match(printed[1][1], /called connect\.rejectUnauthorised.* is connect\.rejectUnauthorized meant\? \(see docs\/node-errors\.md#trunkline_unknown_option of the package trunkline\)$/)
})

test('console.log of a dispatcher shows no insides, and so no keys', async () => {
  const agent = new Agent({ connect: { cert, key } })
  assert.doesNotMatch(inspect(agent, { depth: 9 }), /PRIVATE KEY|Border|trunkline state/)
  await agent.close()
})

test('socketPath leads to a Unix socket, whatever the origin, wherever it is said', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-socket-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  const socketPath = join(folder, 's')
  const server = http.createServer((request, response) => { response.end(request.headers.host) }).listen(socketPath)
  t.after(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  for (const options of [{ socketPath }, { connect: { socketPath } }]) {
    const agent = made(t, Agent, options)
    assert.deepEqual([await get(agent, 'http://a.test'), await get(agent, 'http://b.test:81')], ['a.test', 'b.test:81'])
  }
})

test('a socketPath where there is no socket yet is an error of its requests, until there is one', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-socket-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  const socketPath = join(folder, 's')
  const client = made(t, Client, 'http://a.test', { socketPath })
  await assert.rejects(client.request({ path: '/', method: 'GET' }), { code: 'ENOENT', syscall: 'connect' })
  const server = http.createServer((_, response) => { response.end('later') }).listen(socketPath)
  t.after(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  assert.equal(await (await client.request({ path: '/', method: 'GET' })).body.text(), 'later')
})

test('localAddress is where connections come from', async t => {
  const server = await served(t, h1((request, response) => { response.end(request.socket.remoteAddress) }))
  const origin = server.url.replace('localhost', '127.0.0.1')
  for (const options of [{ localAddress: '127.0.0.3' }, { connect: { localAddress: '127.0.0.3' } }]) {
    assert.equal(await get(made(t, Agent, options), origin), '127.0.0.3')
  }
})

test('cert and key say who we are, encrypted with a passphrase too, over every version', async t => {
  const known = authority('Known')
  const one = known.issue('Anna')
  const server = createSecureServer({ cert, key, ca: known.cert, requestCert: true, rejectUnauthorized: true, allowHTTP1: true, http3: true }, (request, response) => {
    response.end(request.socket.getPeerCertificate().subject.CN)
  })
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
  t.after(() => new Promise(resolve => { server.close(resolve) }))
  const origin = `https://localhost:${server.address().port}`
  const secret = createPrivateKey(one.key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open' })
  for (const over of [{ allowH2: false }, {}, { http3: 'only' }]) {
    for (const own of [{ key: one.key }, { key: secret, passphrase: 'open' }]) {
      assert.equal(await get(made(t, Agent, { ...over, connect: { ca: cert, cert: one.cert, ...own } }), origin), 'Anna')
    }
    await assert.rejects(get(made(t, Agent, { ...over, connect: { ca: cert } }), origin))
  }
  assert.throws(() => new Agent({ connect: { cert: one.cert, key: secret, passphrase: 'wrong' } }), { code: 'UND_ERR_INVALID_ARG', message: /connect.key cannot be opened with connect.passphrase/ })
  assert.throws(() => new Agent({ connect: { cert: one.cert } }), { code: 'UND_ERR_INVALID_ARG', message: /connect.cert and connect.key/ })
})

test('servername is the name that a certificate must have, and resolve the address of a host', async t => {
  const names = []
  const server = await served(t, h2(answer))
  server.server.on('session', session => { names.push(session.socket.servername) })
  const { port } = new URL(server.url)
  const origin = `https://nowhere.test:${port}`
  const resolve = { 'nowhere.test': '127.0.0.1' }
  await assert.rejects(get(made(t, Agent, { resolve, connect: { ca: cert } }), origin), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  assert.equal(await get(made(t, Agent, { resolve, connect: { ca: cert, servername: 'other.test' } }), origin), 'answer')
  assert.deepEqual(names, ['other.test'])
  // The port may stand there too.
  const elsewhere = made(t, Agent, { resolve: { 'nowhere.test': [`127.0.0.1:${port}`] }, connect: { ca: cert, servername: 'other.test' } })
  assert.equal(await get(elsewhere, 'https://nowhere.test'), 'answer')
})

test('connect.family looks names up for addresses of that family alone', async t => {
  const server = await served(t, h1(answer))
  const asked = []
  const lookup = (name, { family }, done) => { asked.push(family); done(null, family === 6 ? '::1' : '127.0.0.1', family) }
  assert.equal(await get(made(t, Agent, { connect: { family: 4 } }), server.url), 'answer')
  assert.equal(await get(made(t, Agent, { connect: { family: 4, lookup } }), server.url), 'answer')
  await assert.rejects(get(made(t, Agent, { connect: { family: 6, lookup } }), server.url))
  assert.deepEqual(asked, [4, 6])
  assert.throws(() => new Agent({ connect: { family: 5 } }), { code: 'UND_ERR_INVALID_ARG', message: /connect.family is 5/ })
})

test('connect.timeout and connectTimeout bound the handshake too', async t => {
  const sockets = new Set()
  const silent = net.createServer(socket => { sockets.add(socket.on('error', () => {})) }).listen(0, '127.0.0.1')
  t.after(() => { for (const socket of sockets) socket.destroy(); silent.close() })
  await once(silent, 'listening')
  const origin = `https://localhost:${silent.address().port}`
  for (const options of [{ connect: { timeout: 50 } }, { connectTimeout: 50 }]) {
    await assert.rejects(get(made(t, Agent, options), origin), { code: 'UND_ERR_CONNECT_TIMEOUT', wasSent: false })
  }
})

test("windows are what the server hears, by ours and by each of undici's names", async t => {
  const server = await served(t, h2((request, response) => {
    const { session } = request.stream
    // The client's window for the connection comes in a frame of its own.
    const report = () => {
      if (session.state.remoteWindowSize < 2 ** 22) return setImmediate(report)
      response.end(JSON.stringify([session.remoteSettings.initialWindowSize, session.state.remoteWindowSize]))
    }
    report()
  }))
  const [stream, connection] = [2 ** 21, 2 ** 22]
  const ways = [
    { window: { stream, connection } },
    { initialWindowSize: stream, connectionWindowSize: connection },
    { h2Options: { initialWindowSize: stream, connectionWindowSize: connection } },
    { h2Options: { settings: { initialWindowSize: stream }, connectionWindowSize: connection } }
  ]
  for (const options of ways) {
    const printed = await get(made(t, Agent, { ...options, connect: { ca: cert } }), server.url)
    assert.deepEqual(JSON.parse(printed), [stream, connection], JSON.stringify(options))
  }
})

test('a head longer than maxHeaderSize is an error, and one that is not comes', async t => {
  const server = await served(t, h1((request, response) => { response.setHeader('x-long', 'a'.repeat(2000)); response.end('answer') }))
  await assert.rejects(get(made(t, Agent, { maxHeaderSize: 1000 }), server.url), { code: 'UND_ERR_HEADERS_OVERFLOW' })
  assert.equal(await get(made(t, Agent, { maxHeaderSize: 4000 }), server.url), 'answer')
})

test('beyond maxOrigins an origin is refused, and those that are known are served', async t => {
  const servers = await Promise.all([1, 2, 3].map(() => served(t, h1(answer))))
  const agent = made(t, Agent, { maxOrigins: 2 })
  for (const { url } of servers.slice(0, 2)) assert.equal(await get(agent, url), 'answer')
  await assert.rejects(get(agent, servers[2].url), { code: 'UND_ERR_MAX_ORIGINS_REACHED' })
  assert.equal(await get(agent, servers[0].url), 'answer')
})

test('sockets bounds the connections of a whole dispatcher', async t => {
  const servers = await Promise.all([1, 2, 3].map(() => served(t, h1((request, response) => { setImmediate(() => { response.end('answer') }) }))))
  const agent = made(t, Agent, { sockets: 2 })
  let most = 0
  const look = () => { most = Math.max(most, agent.stats.origins.reduce((sum, { connections, attempts }) => sum + connections + attempts, 0)) }
  agent.on('connect', look)
  const all = await Promise.all(Array.from({ length: 30 }, (_, index) => get(agent, servers[index % 3].url).then(text => { look(); return text })))
  assert.deepEqual(new Set(all), new Set(['answer']))
  assert.ok(agent.stats.totals.connections >= 3)
  assert.equal(most, 2)
})

test('without sockets a dispatcher has as many connections as the process may have descriptors', async t => {
  const COUNT = 950
  const waiting = []
  const server = await served(t, h1((request, response) => { if (waiting.push(response) === COUNT) for (const one of waiting) one.end('answer') }))
  const { open_files: { hard } } = process.report.getReport().userLimits
  if (hard !== 'unlimited' && hard < 3 * COUNT) return t.skip('the process may not have as many descriptors')
  const agent = made(t, Agent, { connections: COUNT })
  const all = await Promise.all(Array.from({ length: COUNT }, () => get(agent, server.url)))
  assert.deepEqual([new Set(all), server.counts.sockets], [new Set(['answer']), COUNT])
})

test('maxRequestsPerClient bounds the requests of a connection', async t => {
  const server = await served(t, h1(answer))
  const pool = made(t, Pool, server.url, { connections: 1, maxRequestsPerClient: 2 })
  for (let n = 0; n < 6; n++) assert.equal(await get(pool), 'answer')
  assert.equal(server.counts.sockets, 3)
})

test('the last request of a connection may have a body that begins late', async t => {
  const server = await served(t, h1((request, response) => { request.resume().on('end', () => { response.end('answer') }) }))
  const other = made(t, Client, server.url)
  async function * body () {
    for (let trip = 0; trip < 20; trip++) await get(other)
    yield 'late'
  }
  for (const maxRequestsPerClient of [1, 2]) {
    const pool = made(t, Pool, server.url, { connections: 1, maxRequestsPerClient })
    await get(other)
    const before = server.counts.sockets
    for (let n = 0; n < 4; n++) assert.equal(await get(pool, undefined, { method: 'POST', body: body() }), 'answer')
    assert.equal(server.counts.sockets - before, 4 / maxRequestsPerClient)
  }
})

test('warmConnections stay open though they idle, and others do not', async t => {
  const waiting = []
  const server = await served(t, h1((request, response) => { waiting.push(response); if (waiting.length === 3) waiting.forEach(one => { one.end('answer') }) }))
  // Its idle time would take the place of ours.
  server.server.keepAliveTimeout = 0
  const pool = made(t, Pool, server.url, { keepAliveTimeout: 50, warmConnections: 1 })
  const ended = []
  const holding = setInterval(() => {}, 1000)
  t.after(() => { clearInterval(holding) })
  const two = new Promise(resolve => { pool.on('disconnect', (...args) => { if (ended.push(args) === 2) resolve() }) })
  await Promise.all([1, 2, 3].map(() => get(pool)))
  await two
  waiting.length = 2
  assert.equal(await get(pool), 'answer')
  assert.equal(server.counts.sockets, 3, 'the third was there')
})

test('strictContentLength false sends what is there, with a warning', async t => {
  const server = await served(t, h1((request, response) => { request.resume().on('end', () => { response.end(request.headers['content-length']) }) }))
  const asked = { method: 'POST', body: 'abc', headers: { 'content-length': '2' } }
  await assert.rejects(get(made(t, Pool, server.url), undefined, asked), { code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' })
  const warned = once(process, 'warning', { signal: AbortSignal.timeout(60_000) })
  assert.equal(await get(made(t, Pool, server.url, { strictContentLength: false }), undefined, asked), '3')
  assert.equal((await warned)[0].code, 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH')
})

test("what undici's WebSocket and EventSource go by is what was said", t => {
  const agent = made(t, Agent, { webSocket: { maxFragments: 3, maxPayloadSize: 4 }, eventSource: { maxEventSize: 5 } })
  assert.deepEqual([agent.webSocketOptions, agent.eventSourceOptions], [{ maxFragments: 3, maxPayloadSize: 4 }, { maxEventSize: 5 }])
})

test('connectionAge ends connections as clientTtl does', async t => {
  const server = await served(t, h1(answer))
  const pool = made(t, Pool, server.url, { connections: 1, connectionAge: 20 })
  const until = Date.now() + 20_000
  while (server.counts.sockets < 3 && Date.now() < until) assert.equal(await get(pool), 'answer')
  assert.ok(server.counts.sockets >= 3, 'the connection was replaced again and again')
})

test('a dispatcher is disposed of like closed', async t => {
  const server = await served(t, h1((request, response) => { setTimeout(() => { response.end('late') }, 50) }))
  const pool = made(t, Pool, server.url)
  const late = get(pool)
  const disposed = pool[Symbol.asyncDispose]()
  await assert.rejects(get(pool), { code: 'UND_ERR_CLOSED' })
  assert.equal(await late, 'late')
  await disposed
  assert.deepEqual([pool.closed, pool.destroyed], [true, true])
})

test('typeOfService other than 0 is refused, because requests share connections', async t => {
  const server = await served(t, h1(answer))
  const pool = made(t, Pool, server.url)
  assert.equal(await get(pool, undefined, { typeOfService: 0 }), 'answer')
  await assert.rejects(get(pool, undefined, { typeOfService: 8 }), { code: 'UND_ERR_NOT_SUPPORTED' })
  await assert.rejects(get(pool, undefined, { typeOfService: 256 }), { code: 'UND_ERR_INVALID_ARG' })
})

test('options by which others would be believed than the program says are refused, and not taken in silence', () => {
  const refused = {
    checkServerIdentity () {}, crl: cert, pfx: Buffer.alloc(1), secureContext: {}, pskCallback () {}, ciphers: 'HIGH',
    sigalgs: 'a', ecdhCurve: 'P-256', secureOptions: 1, secureProtocol: 'TLSv1_2_method', minVersion: 'TLSv1.4', maxVersion: 'TLSv1.1'
  }
  for (const [name, value] of Object.entries(refused)) {
    for (const options of [{ connect: { [name]: value } }, { tls: { [name]: value } }]) {
      assert.throws(() => new Client('https://a.test', options), { code: 'UND_ERR_INVALID_ARG', message: new RegExp(`^connect.${name} `) }, name)
    }
  }
  for (const taken of [{ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }, { minVersion: 'TLSv1.3' }, { minVersion: null, maxVersion: 'TLSv1.2' }, { checkServerIdentity: undefined, crl: null }]) {
    void new Client('https://a.test', { connect: taken }).destroy()
  }
  assert.throws(() => new Agent({ factory: 1 }), { code: 'UND_ERR_INVALID_ARG', message: 'factory must be a function.' })
  assert.throws(() => new Pool('http://a.test', { interceptors: [] }), { code: 'UND_ERR_INVALID_ARG', message: /^interceptors is not taken: use compose/ })
})

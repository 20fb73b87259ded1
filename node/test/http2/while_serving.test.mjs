// Changes to a running server of node:http2's API: its certificates under load, idle connections,
// and an end with a deadline.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import tls from 'node:tls'
import { createSecureServer, createServer, serve } from 'trunkline'
import { authority } from '../support/certificates/authority.mjs'
import { cert, key } from '../support/certificates/certificate.mjs'
import { versions } from '../support/clients/clients.mjs'

/** A server for a version that is gone at the end of the test, also a failed one's. */
async function serverFor (t, version, listener, options = {}) {
  const server = version.options.tls === undefined
    ? createServer(options, listener)
    : createSecureServer({ cert, key, allowHTTP1: true, http3: version.options.http3 === true, ...options }, listener)
  t.after(() => { server.compatServer.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** A client of a version, closed with the test. */
function clientFor (t, version, server) {
  const client = version.connect(server.address().port)
  t.after(() => client.close())
  return client
}

const root = authority('root')
const issued = [1, 2].map(at => root.issue(`number ${at}`, 'subjectAltName=DNS:localhost'))

for (const version of versions.filter(({ options }) => options.tls !== undefined)) {
  test(`${version.name}: certificates are replaced under load, for everybody and for a name, and nobody loses an answer`, async t => {
    const server = await serverFor(t, version, (request, response) => { response.end('answered') })
    const displayed = async servername => {
      const socket = tls.connect({ port: server.address().port, host: '127.0.0.1', servername, ca: [cert, root.cert], checkServerIdentity () {}, ALPNProtocols: ['h2', 'http/1.1'] })
      t.after(() => { socket.destroy() })
      await once(socket, 'secureConnect')
      const { CN } = socket.getPeerCertificate().subject
      socket.destroy()
      return CN
    }
    let [answered, goesOn] = [0, true]
    const clients = Array.from({ length: 4 }, () => clientFor(t, version, server))
    // They trust the first certificate alone: their connections are there before it is replaced.
    await Promise.all(clients.map(client => client.ask('/')))
    const asking = async client => {
      while (goesOn) {
        assert.equal(String((await client.ask('/')).body), 'answered')
        answered++
      }
    }
    const askers = clients.map(asking)
    for (let round = 0; round < 10; round++) {
      const [one, other] = [issued[round % 2], issued[(round + 1) % 2]]
      server.setSecureContext(one)
      server.addContext('localhost', other)
      assert.equal(await displayed('elsewhere.test'), `number ${round % 2 + 1}`)
      assert.equal(await displayed('localhost'), `number ${(round + 1) % 2 + 1}`)
      const before = answered
      // On connections from before too.
      while (answered < before + 20) await Promise.race([...askers, new Promise(resolve => { setImmediate(resolve) })])
    }
    goesOn = false
    await Promise.all(askers)
  })
}

for (const version of versions) {
  const { name } = version

  test(`${name}: closeIdleConnections ends those without an exchange, and no other`, async t => {
    let answerBusy
    const server = await serverFor(t, version, (request, response) => {
      if (request.url === '/busy') answerBusy = () => { response.end('late') }
      else response.end('idle')
    })
    const [idle, busy] = [clientFor(t, version, server), clientFor(t, version, server)]
    assert.equal(String((await idle.ask('/')).body), 'idle')
    const waiting = busy.ask('/busy')
    while (answerBusy === undefined) await new Promise(resolve => { setImmediate(resolve) })
    const connections = () => new Promise((resolve, reject) => { server.getConnections((error, count) => { error ? reject(error) : resolve(count) }) })
    assert.equal(await connections(), 2)
    server.closeIdleConnections()
    while (await connections() !== 1) await new Promise(resolve => { setImmediate(resolve) })
    answerBusy()
    assert.equal(String((await waiting).body), 'late')
  })

  test(`${name}: close lets an exchange finish, and cuts it when drainTimeout is over`, async t => {
    for (const isCut of [false, true]) {
      let answer
      const server = await serverFor(t, version, (request, response) => { answer = response }, { drainTimeout: isCut ? 50 : 60_000 })
      const client = clientFor(t, version, server)
      const asked = client.ask('/').then(({ body }) => String(body), () => 'cut')
      while (answer === undefined) await new Promise(resolve => { setImmediate(resolve) })
      const closed = once(server, 'close')
      server.close()
      if (!isCut) answer.end('finished')
      assert.equal(await asked, isCut ? 'cut' : 'finished')
      await client.close()
      await closed
    }
  })
}

for (const version of versions) {
  test(`${version.name}: who connects beyond maxConnections is dropped, and has room when another has gone`, async t => {
    const server = await serverFor(t, version, (request, response) => { response.end('in') })
    server.maxConnections = 1
    const dropped = once(server, 'drop')
    const first = clientFor(t, version, server)
    assert.equal(String((await first.ask('/')).body), 'in')
    const second = clientFor(t, version, server)
    const refused = second.ask('/').then(() => false, () => true)
    const [{ localPort, remoteAddress }] = await dropped
    assert.deepEqual([localPort, remoteAddress], [server.address().port, '127.0.0.1'])
    assert.equal(await refused, true)
    await Promise.all([first.close(), second.close()])
    const connections = () => new Promise((resolve, reject) => { server.getConnections((error, count) => { error ? reject(error) : resolve(count) }) })
    while (await connections() !== 0) await new Promise(resolve => { setImmediate(resolve) })
    assert.equal(String((await clientFor(t, version, server).ask('/')).body), 'in')
  })
}

test('how often a peer may reset streams, and ping, is a limit too', async t => {
  const [version] = versions.filter(({ name }) => name === 'h2c')
  const rate = { burst: 2, perSecond: 1 }
  const ENHANCE_YOUR_CALM = 11
  for (const [limits, annoy] of [
    [{ resets: rate }, session => { session.request({}).on('error', () => {}).close(8) }],
    [{ pings: rate, glitches: rate }, session => { session.ping(() => {}) }]
  ]) {
    const server = await serverFor(t, version, () => {}, { limits })
    const { session } = clientFor(t, version, server)
    await once(session, 'connect')
    let code
    session.on('goaway', reported => { code = reported })
    while (!session.destroyed && code === undefined) {
      annoy(session)
      await new Promise(resolve => { setImmediate(resolve) })
    }
    assert.equal(code, ENHANCE_YOUR_CALM, JSON.stringify(limits))
  }
})

test('a client that gives up 900 requests together keeps its session, as on node:http2', async t => {
  const [version] = versions.filter(({ name }) => name === 'h2c')
  let waiting = 0
  let allCame
  const came = new Promise(resolve => { allCame = resolve })
  const server = await serverFor(t, version, (request, response) => {
    if (request.url === '/last') response.end('served')
    else if (++waiting === 900) allCame()
  }, { settings: { maxConcurrentStreams: 1000 } })
  const client = clientFor(t, version, server)
  await once(client.session, 'remoteSettings')
  client.session.on('goaway', code => { assert.fail(`GOAWAY with ${code}`) })
  const given = Array.from({ length: 900 }, () => client.session.request({ ':path': '/' }).on('error', () => {}))
  await came
  given.forEach(request => { request.close(8) })
  assert.equal(String((await client.ask('/last')).body), 'served')
})

test('updateSettings holds for sessions to come', async t => {
  const [version] = versions.filter(({ name }) => name === 'h2c')
  const server = await serverFor(t, version, (request, response) => { response.end() }, { settings: { maxConcurrentStreams: 7 } })
  const reported = async () => (await once(clientFor(t, version, server).session, 'remoteSettings'))[0].maxConcurrentStreams
  assert.equal(await reported(), 7)
  server.updateSettings({ maxConcurrentStreams: 3 })
  assert.equal(await reported(), 3)
})

test('secrets of sessions are told to listeners of keylog, and written to the file of serve', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-keylog-'))
  t.after(() => { rmSync(folder, { recursive: true, force: true }) })
  const server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { response.end() })
  t.after(() => { server.compatServer.destroy() })
  const lines = []
  server.on('keylog', line => { lines.push(String(line)) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const [version] = versions.filter(({ name }) => name === 'h1 over TLS')
  await clientFor(t, version, server).ask('/')
  assert.ok(lines.some(line => /^SERVER_TRAFFIC_SECRET_0 [0-9a-f]{64} [0-9a-f]+\n$/.test(line)), lines.join(''))
  const keyLogFile = join(folder, 'keys')
  const lean = serve({ hostname: '127.0.0.1', fetch: () => new Response(''), tls: { cert, key, keyLogFile } })
  t.after(() => lean.destroy())
  const client = version.connect(lean.port)
  t.after(() => client.close())
  await client.ask('/')
  assert.match(readFileSync(keyLogFile, 'utf8'), /^SERVER_TRAFFIC_SECRET_0 /m)
})

test('limits by their names hold: a head that is too large, and streams beyond those that may be open', async t => {
  const [h1, h2c] = ['h1', 'h2c'].map(wanted => versions.find(({ name }) => name === wanted))
  const server = await serverFor(t, h1, (request, response) => { if (request.url !== '/hang') response.end() }, { limits: { headBytesMax: 4096, concurrentStreamsMax: 2 } })
  const request = http.request({ port: server.address().port, host: '127.0.0.1', headers: { 'x-long': 'x'.repeat(8192) } })
  request.end()
  const [response] = await once(request, 'response')
  assert.equal(response.statusCode, 431)
  response.resume()
  const { session } = clientFor(t, h2c, server)
  const [settings] = await once(session, 'remoteSettings')
  assert.equal(settings.maxConcurrentStreams, 2)
})

// The API of node:http2 on every version: one handler of the compatible API for all of them, and the
// core API where there are streams.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { createReadStream, mkdtempSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer as all } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import tls from 'node:tls'
import { promisify } from 'node:util'
import test from 'node:test'
import { createSecureServer, createServer, Agent } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'
import { received } from '../support/clients/received.mjs'
import { versions } from '../support/clients/clients.mjs'

const BIG = Buffer.alloc(10 * 1024 * 1024, 'trunkline ')
const digest = bytes => createHash('sha1').update(bytes).digest('hex')
const file = join(mkdtempSync(join(tmpdir(), 'trunkline-http2-')), 'big.bin')
writeFileSync(file, BIG)

function serverOf (version) {
  const { tls, http3 } = version.options
  return tls === undefined ? createServer() : createSecureServer({ ...tls, allowHTTP1: true, http3 })
}

/** A server with the listeners, and a client of the version. */
async function served (version, listeners, work) {
  const server = serverOf(version)
  for (const [event, listener] of Object.entries(listeners)) server.on(event, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = version.connect(server.address().port)
  try {
    return await work(client, server)
  } finally {
    await client.close()
    if (server.listening) server.close()
    server.compatServer.destroy()
  }
}

for (const version of versions) {
  const { name } = version
  const isNew = version.protocol !== 'http/1.1'

  test(`${name}: a request says what was asked, and a response answers`, async () => {
    const request = (request, response) => {
      response.setHeader('x-list', ['a', 'b'])
      response.setHeader('set-cookie', ['c=1', 'd=2'])
      response.statusCode = 201
      response.end(JSON.stringify([request.method, request.url, request.headers['x-a'], request.httpVersion, request.socket.remoteAddress, request.socket.encrypted === true]))
    }
    await served(version, { request }, async client => {
      for (const method of ['GET', 'DELETE', 'OPTIONS', 'PATCH']) {
        const answer = await client.ask('/a?b=c', { method, headers: { 'x-a': 'b' } })
        const httpVersion = { 'http/1.1': '1.1', h2: '2.0', h3: '3.0' }[version.protocol]
        assert.deepEqual([answer.status, JSON.parse(answer.body)], [201, [method, '/a?b=c', 'b', httpVersion, '127.0.0.1', version.options.tls !== undefined]])
        assert.deepEqual(answer.headers['set-cookie'], ['c=1', 'd=2'])
        assert.match(String(answer.headers['x-list']), /a,\s?b/)
      }
    })
  })

  test(`${name}: ten mebibytes go both ways`, async () => {
    const request = (request, response) => { request.pipe(response) }
    await served(version, { request }, async client => {
      const { body } = await client.ask('/', { method: 'POST', body: BIG })
      assert.equal(digest(body), digest(BIG))
    })
  })

  test(`${name}: a file is streamed, and a readable`, async () => {
    const request = async (request, response) => {
      if (request.url === '/file') return void pipeline(createReadStream(file), response)
      await pipeline(Readable.from(Array.from({ length: 100 }, (_, at) => `${at} `)), response)
    }
    await served(version, { request }, async client => {
      assert.equal(digest((await client.ask('/file')).body), digest(BIG))
      assert.equal((await client.ask('/')).body.toString(), Array.from({ length: 100 }, (_, at) => `${at} `).join(''))
    })
  })

  test(`${name}: bodies that nobody reads do not stand in the way`, async () => {
    const request = (request, response) => { response.end('no thanks') }
    await served(version, { request }, async client => {
      for (let round = 0; round < 20; round++) {
        const answer = await client.ask('/', { method: 'POST', body: Buffer.alloc(1000) })
        assert.equal(answer.body.toString(), 'no thanks')
      }
    })
  })

  test(`${name}: HEAD, 204 and 304 have no body`, async () => {
    const request = (request, response) => {
      if (request.url === '/204') response.writeHead(204).end()
      else if (request.url === '/304') response.writeHead(304, { etag: '"x"' }).end()
      else response.setHeader('content-length', 5).length
      if (!response.writableEnded) response.end('hello')
    }
    const plain = (incoming, response) => {
      if (incoming.url === '/') response.setHeader('content-length', 5)
      if (incoming.url === '/') return void response.end('hello')
      request(incoming, response)
    }
    await served(version, { request: plain }, async client => {
      const head = await client.ask('/', { method: 'HEAD' })
      assert.deepEqual([head.status, Number(head.headers['content-length']), head.body.length], [200, 5, 0])
      for (const status of [204, 304]) {
        const answer = await client.ask(`/${status}`)
        assert.deepEqual([answer.status, answer.body.length], [status, 0])
      }
      assert.equal((await client.ask('/')).body.toString(), 'hello')
    })
  })

  test(`${name}: trailers that are set before and while the body goes`, async () => {
    const request = (request, response) => {
      response.writeHead(200, { trailer: 'x-sum, x-late' })
      response.write('body')
      setImmediate(() => {
        response.addTrailers({ 'x-sum': 'abc', 'x-late': 'yes' })
        response.end()
      })
    }
    await served(version, { request }, async client => {
      const { body, trailers } = await client.ask('/')
      assert.equal(body.toString(), 'body')
      assert.deepEqual({ ...trailers }, { 'x-sum': 'abc', 'x-late': 'yes' })
    })
  })

  test(`${name}: events of a response come once each`, async () => {
    const reported = []
    const over = Promise.withResolvers?.() ?? {}
    over.promise ??= new Promise(resolve => { over.resolve = resolve })
    const request = (request, response) => {
      response.on('finish', () => { reported.push('finish') })
      response.on('close', () => { reported.push('close'); over.resolve() })
      response.end('x')
    }
    await served(version, { request }, async client => {
      await client.ask('/')
      await over.promise
      assert.deepEqual(reported, ['finish', 'close'])
    })
  })

  test(`${name}: a hundred at once, slow and fast`, async () => {
    const request = (request, response) => {
      if (Number(request.url.slice(1)) % 2) response.end(request.url)
      else setTimeout(() => { response.end(request.url) }, 5)
    }
    await served(version, { request }, async client => {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => client.ask(`/${at}`)))
      assert.deepEqual(answers.map(answer => answer.body.toString()), Array.from({ length: 100 }, (_, at) => `/${at}`))
    })
  })

  test(`${name}: closing lets what is open finish`, async () => {
    let finish
    const asked = new Promise(resolve => { finish = resolve })
    const request = (request, response) => { response.write('begin '); finish(() => { response.end('end') }) }
    await served(version, { request }, async (client, server) => {
      const answer = client.ask('/')
      const end = await asked
      const closed = once(server, 'close')
      server.close()
      end()
      assert.equal((await answer).body.toString(), 'begin end')
      await client.close()
      await closed
    })
  })

  if (!isNew) continue

  test(`${name}: who begins to listen when all is answered hears the end`, async () => {
    const reported = []
    let over
    const closed = new Promise(resolve => { over = resolve })
    const request = (request, response) => {
      response.end('x')
      setImmediate(() => {
        response.on('finish', () => { reported.push('finish') })
        response.on('close', () => { reported.push('close'); over() })
      })
    }
    await served(version, { request }, async client => {
      await client.ask('/')
      await closed
      assert.deepEqual(reported, ['finish', 'close'])
    })
  })

  test(`${name}: the core API answers, in one message and in pieces`, async () => {
    const stream = (stream, headers) => {
      if (headers[':path'] === '/one') {
        stream.respond({ ':status': 202, 'x-a': 'b' })
        stream.end('whole')
      } else {
        stream.respond({ 'x-a': 'b' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-sum': 'abc' }) })
        stream.write('in ')
        setImmediate(() => { stream.end('pieces') })
      }
    }
    await served(version, { stream }, async client => {
      const one = await client.ask('/one')
      assert.deepEqual([one.status, one.headers['x-a'], one.body.toString()], [202, 'b', 'whole'])
      const pieces = await client.ask('/')
      assert.deepEqual([pieces.status, pieces.body.toString(), { ...pieces.trailers }], [200, 'in pieces', { 'x-sum': 'abc' }])
    })
  })

  test(`${name}: the core API echoes ten mebibytes, and sends a file`, async () => {
    const stream = (stream, headers) => {
      if (headers[':path'] === '/file') return stream.respondWithFile(file, { 'content-type': 'application/octet-stream' })
      stream.respond()
      stream.pipe(stream)
    }
    await served(version, { stream }, async client => {
      assert.equal(digest((await client.ask('/', { method: 'POST', body: BIG })).body), digest(BIG))
      const sent = await client.ask('/file')
      assert.deepEqual([Number(sent.headers['content-length']), digest(sent.body)], [BIG.length, digest(BIG)])
    })
  })

  test(`${name}: a part of a file that no file can have resets its stream`, async () => {
    const parts = [{ offset: 1.5 }, { offset: Infinity }, { offset: 2 ** 53 }, { length: 1.5 }]
    const stream = (stream, headers) => {
      stream.on('error', () => {})
      stream.respondWithFile(file, {}, parts[Number(headers[':path'].slice(1))])
    }
    await served(version, { stream }, async client => {
      for (const at of parts.keys()) await assert.rejects(client.ask(`/${at}`), JSON.stringify(parts[at]))
    })
  })

  test(`${name}: what a handler throws is uncaught, and a stream that is destroyed is reset`, async () => {
    const stream = stream => { stream.on('error', () => {}); stream.destroy(new Error('broken on purpose')) }
    await served(version, { stream }, async client => {
      await assert.rejects(client.ask('/'))
    })
  })

  test(`${name}: a session is told, and closes with its connection`, async () => {
    let own
    const closed = new Promise(resolve => { own = resolve })
    const seen = []
    const session = session => {
      seen.push(session.alpnProtocol, session.encrypted)
      session.on('close', () => { own(session.destroyed) })
    }
    await served(version, { session, request: (request, response) => { response.end() } }, async client => {
      await client.ask('/')
      assert.deepEqual(seen, [version.options.tls === undefined ? 'h2c' : version.protocol, version.options.tls !== undefined])
      await client.close()
      assert.equal(await closed, true)
    })
  })
}

test('h2: a thousand streams at once', async () => {
  const server = createSecureServer({ cert, key, settings: { maxConcurrentStreams: 1000 } }, (request, response) => { setImmediate(() => { response.end(request.url) }) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = http2.connect(`https://localhost:${server.address().port}`, { ca: cert, family: 4 })
  const [settings] = await once(client, 'remoteSettings')
  assert.equal(settings.maxConcurrentStreams, 1000)
  const bodies = await Promise.all(Array.from({ length: 1000 }, async (_, at) => (await all(client.request({ ':path': `/${at}` }))).toString()))
  assert.deepEqual(bodies, Array.from({ length: 1000 }, (_, at) => `/${at}`))
  client.close()
  await new Promise(resolve => server.close(resolve))
})

test('h1: pipelined requests are answered in their order', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/slow') setTimeout(() => { response.end('slow') }, 20)
    else response.end('fast')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(server.address().port, '127.0.0.1')
  socket.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\nGET /fast HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  const printed = (await all(socket)).toString()
  assert.deepEqual(printed.match(/slow|fast/g), ['slow', 'fast'])
  await new Promise(resolve => server.close(resolve))
})

test('h3: the server of both is asked by a client that may choose', async () => {
  const server = createSecureServer({ cert, key, allowHTTP1: true, http3: true }, (request, response) => { response.end(request.httpVersion) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `https://localhost:${server.address().port}`
  for (const [options, version] of [[{ http3: 'only' }, '3.0'], [{}, '2.0'], [{ allowH2: false }, '1.1']]) {
    const agent = new Agent({ ...options, connect: { ca: cert } })
    const { body } = await agent.request({ origin, path: '/', method: 'GET' })
    assert.equal(await body.text(), version)
    await agent.close()
  }
  server.close()
  server.compatServer.destroy()
})

test('limits are options: more fields than allowed never reach a listener', async () => {
  for (const options of [{ maxHeaderListPairs: 10 }, { limits: { fieldCountMax: 10 } }]) {
    let seen = 0
    const server = createServer(options, (request, response) => { seen++; response.end() })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
    client.on('error', () => {})
    const ask = async count => {
      const stream = client.request({ ':path': '/', ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'v'])) })
      stream.on('error', () => {})
      stream.resume()
      await once(stream, 'close').catch(() => {})
    }
    await ask(2)
    await ask(20)
    assert.equal(seen, 1)
    client.destroy()
    server.close()
    server.compatServer.destroy()
  }
})

const REFUSED = { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }

test('a secure server without a certificate speaks nothing in cleartext', async () => {
  const server = createSecureServer({})
  server.on('request', (request, response) => { response.end('secret') })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(server.address().port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const printed = []
  socket.on('data', chunk => { printed.push(chunk) })
  await once(socket, 'close')
  assert.doesNotMatch(Buffer.concat(printed).toString('latin1'), /HTTP|secret/)
  server.close()
  server.compatServer.destroy()
})

test('a context that shows no certificate in PEM is refused, and the one that is shown stays', () => {
  const server = createSecureServer({ cert, key })
  for (const context of [tls.createSecureContext({ cert, key }), {}, { cert }]) {
    assert.throws(() => server.addContext('localhost', context), REFUSED)
    assert.throws(() => server.setSecureContext(context), REFUSED)
  }
})

test('what says whom a secure server admits, or how, is refused by its name instead of not being heeded', () => {
  const refused = {
    pskCallback () {}, ciphers: 'AES256-SHA',
    sigalgs: 'rsa_pss_rsae_sha256', ecdhCurve: 'P-521'
  }
  for (const [name, value] of Object.entries(refused)) {
    assert.throws(() => createSecureServer({ cert, key, [name]: value }), error => error.code === REFUSED.code && error.message.includes(name), name)
  }
  for (const options of [{ requestCert: false, rejectUnauthorized: true }, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }, { honorCipherOrder: true }]) {
    createSecureServer({ cert, key, ...options })
  }
})

for (const version of versions.filter(({ protocol }) => protocol !== 'http/1.1')) {
  test(`${version.name}: a listener that rejects, or destroys its stream, when its client is gone, fails alone`, async () => {
    const [came, over] = [[], []]
    const until = async condition => { while (!condition()) await new Promise(resolve => { setImmediate(resolve) }) }
    const stream = async (stream, { ':path': path }) => {
      if (path === '/') {
        stream.respond()
        return stream.end('still here')
      }
      // Nothing of it is touched that would make it a stream of node's.
      came.push(path)
      await until(() => stream.destroyed)
      over.push(path)
      if (path === '/rejects') throw new Error('too late')
      stream.destroy(new Error('too late'))
    }
    EventEmitter.captureRejections = true
    try {
      await served(version, { stream }, async (client, server) => {
        for (const path of ['/rejects', '/destroys']) {
          const other = version.connect(server.address().port)
          other.ask(path).catch(() => {})
          await until(() => came.includes(path))
          await other.close()
        }
        await until(() => over.length === 2)
        assert.equal(String((await client.ask('/')).body), 'still here')
      })
    } finally {
      EventEmitter.captureRejections = false
    }
  })
}

test('options that ask for what is not done are refused by their names, and what is the default is taken', () => {
  const refused = { paddingStrategy: 1 }
  for (const [name, value] of Object.entries(refused)) {
    const options = { [name]: value }
    for (const create of [createServer, createSecureServer]) {
      assert.throws(() => create({ cert, key, ...options }), error => error.code === REFUSED.code && error.message.includes(name), name)
    }
  }
  createServer({ paddingStrategy: 0, remoteCustomSettings: [], strictSingleValueFields: true, settings: { customSettings: {} } })
})

test('options that would have requests read less strictly are taken with one warning each, and change nothing', async () => {
  const program = `
    const net = require('node:net')
    const { createServer, createSecureServer } = require('trunkline')
    const warnings = []
    process.on('warning', ({ code, message }) => { warnings.push(code + ': ' + message) })
    const tls = ${JSON.stringify({ cert, key })}
    const loose = [{ insecureHTTPParser: true }, { httpValidation: 'relaxed' }, { strictFieldWhitespaceValidation: false }]
    for (const options of loose) {
      createSecureServer({ ...tls, allowHTTP1: true, ...options })
      createSecureServer({ ...tls, allowHTTP1: true, http1Options: options })
    }
    for (const options of [{ insecureHTTPParser: false }, { requireHostHeader: true }, { httpValidation: 'strict' }]) createServer(options)
    const server = createServer({ insecureHTTPParser: true }, (request, response) => { response.end('served') })
    server.listen(0, '127.0.0.1', () => {
      const client = net.connect(server.address().port, '127.0.0.1')
      client.end('GET / HTTP/1.1\\r\\nhost : a\\r\\nContent-Length: 1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n')
      let text = ''
      client.on('data', piece => { text += piece }).on('close', () => {
        server.close()
        console.log(JSON.stringify({ warnings, status: text.slice(9, 12) }))
      })
    })`
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '-e', program], { cwd: new URL('.', import.meta.url) })
  const { warnings, status } = JSON.parse(stdout)
  const strictly = 'and has no effect: requests are read strictly'
  assert.deepEqual(warnings, ['insecureHTTPParser is true', 'httpValidation is relaxed', 'strictFieldWhitespaceValidation is false'].map(what => `TRUNKLINE_READS_STRICTLY: ${what} ${strictly}`))
  assert.equal(status, '400')
})

test('with minVersion TLSv1.3 a server speaks nothing older', async () => {
  const server = createSecureServer({ cert, key, allowHTTP1: true, minVersion: 'TLSv1.3' }, (request, response) => { response.end(request.socket.getProtocol()) })
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    for (const [maxVersion, expected] of [['TLSv1.2', 'error'], ['TLSv1.3', 'secureConnect']]) {
      const socket = tls.connect({ port: server.address().port, host: '127.0.0.1', servername: 'localhost', ca: cert, maxVersion })
      const event = await Promise.race(['error', 'secureConnect'].map(name => once(socket, name).then(() => name, () => 'error')))
      assert.equal(event, expected)
      socket.destroy()
    }
  } finally {
    server.compatServer.destroy()
  }
})

for (const version of versions.filter(({ protocol }) => protocol !== 'http/1.1')) {
  for (const [way, listeners] of Object.entries({
    'a response': { request: (request, response) => { response.end('no') } },
    'a response in pieces': { request: (request, response) => { response.write('n'); setImmediate(() => { response.end('o') }) } },
    'a stream': { stream: stream => { stream.respond({ ':status': 200 }); stream.end('no') } },
    'a stream with trailers': { stream: stream => { stream.respond({}, { waitForTrailers: true }); stream.on('wantTrailers', () => { stream.sendTrailers({ a: 'b' }) }); stream.end('no') } }
  })) {
    test(`${version.name}: an upload of ten mebibytes that nobody reads does not hold its exchange behind the end of ${way}`, async () => {
      let over
      const closed = new Promise(resolve => { over = resolve })
      const received = Object.fromEntries(Object.entries(listeners).map(([event, listener]) => [event, (...given) => {
        const stream = event === 'stream' ? given[0] : given[1].stream
        stream.on('close', () => { over(stream.rstCode) })
        listener(...given)
      }]))
      await served(version, received, async client => {
        const asked = client.ask('/', { method: 'POST', body: BIG }).then(({ body }) => String(body), () => 'cut')
        // Our own HTTP/3 client resets its upload when it is answered, perhaps before the server's
        // stop request arrives: then the server sees the client's reset.
        const { NGHTTP2_CANCEL: given, NGHTTP2_NO_ERROR: none } = http2.constants
        assert.ok([none, ...(version.protocol === 'h3' ? [given] : [])].includes(await closed), `ended with ${await closed}`)
        // With node's client the answer may be gone with the reset.
        assert.match(await asked, /^(no|cut)$/)
        assert.equal((await client.ask('/', { method: 'POST', body: 'b' })).status, 200)
      })
    })
  }

  test(`${version.name}: an upload that is read behind the answer's end in the same turn is read whole`, async () => {
    let got
    const whole = new Promise(resolve => { got = resolve })
    const request = (request, response) => {
      response.end('yes')
      let bytes = 0
      request.on('data', chunk => { bytes += chunk.length }).on('end', () => { got(bytes) })
    }
    // Our own client, as undici, gives up what is left of a larger body when it is answered.
    const body = version.protocol === 'h3' ? BIG.subarray(0, 1024 * 1024) : BIG
    await served(version, { request }, async client => {
      await client.ask('/', { method: 'POST', body })
      assert.equal(await whole, body.length)
    })
  })
}

for (const version of versions) {
  test(`${version.name}: a head that is too long for the border is refused where it is given, and another can be`, async () => {
    const long = 'x'.repeat(300 * 1024)
    const refused = []
    const attempt = call => { try { call() } catch (error) { refused.push(error.name) } }
    const request = (request, response) => {
      attempt(() => { response.writeHead(200, { 'x-a': long }) })
      for (const name of response.getHeaderNames()) response.removeHeader(name)
      response.writeHead(201, { 'x-b': 'c' })
      response.end('fine')
    }
    await served(version, { request }, async client => {
      const { status, headers, body } = await client.ask('/')
      assert.deepEqual([status, headers['x-b'], headers['x-a'], String(body), refused], [201, 'c', undefined, 'fine', ['RangeError']])
    })
  })
}

test('a write that waits for room when a connection of HTTP/1.1 goes is called back with an error, once', async t => {
  const server = createServer()
  t.after(() => { server.close(); server.compatServer.destroy() })
  const reported = []
  const request = (request, response) => {
    response.on('finish', () => { reported.push('finish') }).on('close', () => { reported.push('close') })
    // The connection takes a piece as a whole, and no more before it has gone.
    response.write(BIG)
    response.write(BIG, error => { reported.push(error?.code ?? null) })
  }
  server.on('request', request)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(server.address().port, '127.0.0.1')
  const asked = once(server, 'request')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const [, response] = await asked
  await once(socket, 'readable')
  const closed = once(response, 'close')
  socket.destroy()
  await closed
  assert.deepEqual(reported, ['ECONNRESET', 'close'])
})

test('a write that waits for room when an upgraded connection goes is called back with an error', async t => {
  const server = createServer()
  t.after(() => { server.close(); server.compatServer.destroy() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(server.address().port, '127.0.0.1')
  const asked = once(server, 'upgrade')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
  const [, upgraded] = await asked
  upgraded.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
  const reported = new Promise(resolve => { upgraded.write(BIG, resolve) })
  await once(socket, 'readable')
  socket.destroy()
  assert.equal((await reported)?.code, 'ECONNRESET')
})

test('h3: a session tells the settings of its peer and its going away, and says what HTTP/3 has no words for', async t => {
  let answer
  const server = createSecureServer({ cert, key, http3: true }, (request, response) => {
    answer = response
    response.flushHeaders()
  })
  // One whose connection carries one request says behind it that it goes.
  const agent = new Agent({ http3: 'only', maxRequestsPerClient: 1, connect: { ca: cert } })
  t.after(async () => {
    await agent.destroy()
    server.close()
    server.compatServer.destroy()
  })
  let reported
  server.on('session', session => {
    const [settings, goaway, closed] = ['remoteSettings', 'goaway', 'close'].map(event => once(session, event))
    reported = { session, settings, goaway, closed }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { body } = await agent.request({ origin: `https://localhost:${server.address().port}`, path: '/', method: 'GET' })
  const { session, settings, goaway, closed } = reported
  const [remote] = await settings
  assert.deepEqual(Object.keys(remote), ['headerTableSize', 'enablePush', 'maxHeaderListSize', 'maxHeaderSize', 'enableConnectProtocol'])
  assert.ok(remote.headerTableSize > 0 && remote.maxHeaderListSize > 0)
  assert.deepEqual([remote.enablePush, remote.enableConnectProtocol, session.remoteSettings], [false, false, remote])
  const failed = call => new Promise(resolve => { call(error => { resolve(error?.code) }) })
  assert.equal(await failed(done => { session.ping(done) }), 'ERR_HTTP2_PING_CANCEL')
  assert.equal(await failed(done => { session.settings({ headerTableSize: 1 }, done) }), 'ERR_HTTP2_SETTINGS_CANCEL')
  assert.deepEqual((await goaway).slice(0, 2), [0, 0])
  answer.end('hello')
  assert.equal(await body.text(), 'hello')
  await closed
})

test('a timeout of the server counts on connections of HTTP/1.1 while something is asked: it is told, or ends them', async t => {
  for (const isReceived of [true, false]) {
    const received = []
    const server = createServer((request, response) => { response.write('begun') })
    t.after(() => { server.close() })
    server.timeout = 50
    if (isReceived) server.on('timeout', socket => { received.push(socket.timeout); socket.destroy() })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const [response] = await once(http.get({ port: server.address().port, agent: false }), 'response')
    response.resume()
    await assert.rejects(once(response, 'end'), { code: 'ECONNRESET' })
    assert.deepEqual(received, isReceived ? [50] : [])
  }
})

test('a connection of HTTP/1.1 that rests is not ended by the timeout of the server', async t => {
  const server = createServer()
  t.after(() => { server.close() })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => { agent.destroy() })
  server.timeout = 30_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set()
  for (let asked = 0; asked < 3; asked++) {
    const get = http.get({ port: server.address().port, agent })
    const answered = once(get, 'response')
    const [{ socket }, response] = await once(server, 'request')
    sockets.add(socket)
    assert.equal(socket.timeout, 30_000)
    const closed = once(response, 'close')
    response.end('answer')
    await closed
    assert.equal(socket.timeout, 0)
    const [answer] = await answered
    await once(answer.resume(), 'end')
  }
  assert.equal(sockets.size, 1)
})

test('a connection of HTTP/1.1 outlives an answer without a body whose handler says its end later', async t => {
  const server = createServer()
  t.after(() => { server.close() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ask = async (socket, method) => {
    const asked = once(server, 'request')
    socket.write(`${method} / HTTP/1.1\r\nhost: a\r\n\r\n`)
    return (await asked)[1]
  }
  const sockets = [0, 1].map(() => connect(server.address().port, '127.0.0.1').on('error', () => {}))
  t.after(() => { for (const socket of sockets) socket.destroy() })
  const [own, other] = sockets
  for (const [method, status] of [['HEAD', 200], ['GET', 304], ['GET', 204]]) {
    const head = received(own, bytes => bytes.includes('\r\n\r\n'))
    const response = await ask(own, method)
    response.writeHead(status).flushHeaders()
    await head
    // Its events follow the end of the first.
    ;(await ask(other, 'GET')).end()
    assert.equal(response.destroyed, false, `${method} ${status}`)
    assert.equal(response.socket.destroyed, false, `${method} ${status}`)
    const finished = once(response, 'finish')
    response.end()
    await finished
  }
})

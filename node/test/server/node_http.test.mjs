// Servers with requests of node:http over HTTP/1.1: what a client gets whose request is malformed or late, what a program gets
// of its server, and heads that are not ASCII. The comparisons with node:http have more of the second and third.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import test from 'node:test'
import { createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

const HOST = 'host: a\r\n'
const CHUNKS = `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n`

async function listening (t, server, host = '127.0.0.1') {
  server.listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections?.()
  })
  return server.address().port
}

/** The bytes that a client gets for `text`, until its connection ends. */
async function answerTo (port, text, { ends = false } = {}) {
  const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let all = ''
  client.on('data', piece => { all += piece.toString('latin1') })
  client.on('error', () => {})
  client.write(text, 'latin1')
  if (ends) client.end()
  await once(client, 'end')
  client.destroy()
  return all
}

for (const [fault, chunk] of Object.entries({ 'a size that is none': 'zz\r\n', 'data without their end': '1\r\nab\r\n0\r\n\r\n', 'extensions without an end': `1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n` })) {
  test(`a request whose body is malformed gets its refusal although its listener has answered: ${fault}`, async t => {
    const server = createServer({ requests: 'http' }, (request, response) => { response.end('ok') })
    // Node.js answers extensions beyond its bound with a status of their own.
    const status = fault.startsWith('extensions') ? 413 : 400
    assert.match(await answerTo(await listening(t, server), CHUNKS + chunk), new RegExp(`^HTTP/1\\.1 ${status} |ok(0\r\n\r\n)?HTTP/1\\.1 ${status} `))
  })
}

for (const engine of ['inline', 'threads']) {
  test(`a request waits for the hundredth of its pipeline, and the answers keep their order: ${engine}`, async t => {
    const paths = Array.from({ length: 100 }, (_, at) => `/${at}`)
    let first
    const server = createServer({ engine, requests: 'http' }, (request, response) => {
      if (request.url === paths[0]) first = response
      else response.end(request.url)
      if (request.url === paths.at(-1)) first.end(paths[0])
    })
    const requests = paths.map(path => `GET ${path} HTTP/1.1\r\n${HOST}${path === paths.at(-1) ? 'connection: close\r\n' : ''}\r\n`)
    const answer = await answerTo(await listening(t, server), requests.join(''))
    assert.deepEqual(answer.match(/\/\d+(?=HTTP|$)/g), paths)
  })
}

const LINES = { origin: 'GET / HTTP/1.1\r\n', absolute: 'GET http://b/ HTTP/1.1\r\n', upgrade: 'GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: x\r\n' }
for (const [form, lines] of Object.entries(LINES)) {
  test(`a request without a host gets the answer of node:http, and listeners of clientError do not hear of it: ${form}`, async t => {
    const answers = []
    for (const options of [null, { engine: 'inline' }, { engine: 'threads' }, { engine: 'inline', requests: 'http' }, { engine: 'threads', requests: 'http' }]) {
      const server = options === null ? http.createServer() : createServer(options)
      server.on('clientError', error => { answers.push(error.code) }).on('request', () => { answers.push('request') })
      answers.push((await answerTo(await listening(t, server), `${lines}\r\n`)).replace(/^date: .*$/im, 'Date: now'))
    }
    assert.match(answers[0], /^HTTP\/1\.1 400 /)
    for (const answer of answers) assert.equal(answer, answers[0])
  })
}

for (const [how, end] of Object.entries({ request: (request, response) => { request.destroy() }, socket: request => { request.socket.destroy() }, response: (request, response) => { response.destroy() } })) {
  test(`an answer that was given whole is told before the close, where its ${how} is destroyed in the same turn`, async t => {
    const logs = []
    for (const options of [null, { engine: 'inline', requests: 'http' }, { engine: 'threads', requests: 'http' }]) {
      const server = options === null ? http.createServer() : createServer(options)
      const log = []
      const over = new Promise(resolve => {
        server.on('request', (request, response) => {
          response.on('finish', () => { log.push('finish') })
          response.on('close', () => {
            log.push('close', response.writableFinished)
            resolve()
          })
          response.end('x')
          end(request, response)
        })
      })
      const isWhole = /^HTTP\/1\.1 200 [^]*x$/.test(await answerTo(await listening(t, server), `GET / HTTP/1.1\r\n${HOST}\r\n`))
      await over
      logs.push([...log, isWhole])
      assert.deepEqual(logs.at(-1), ['finish', 'close', true, true])
    }
  })
}

test('with requireHostHeader: false a request without a host is served', async t => {
  for (const options of [{ requireHostHeader: false }, { requests: 'http', requireHostHeader: false }, { http1Options: { requireHostHeader: false } }]) {
    const server = createServer(options, (request, response) => { response.end(`host ${request.headers.host}`) })
    assert.match(await answerTo(await listening(t, server), `${LINES.origin}connection: close\r\n\r\n`), /^HTTP\/1\.1 200 [^]*host undefined$/)
    // Two of them are still refused.
    assert.match(await answerTo(server.address().port, `${LINES.origin}${HOST}${HOST}\r\n`), /^HTTP\/1\.1 400 /)
  }
})

for (const [line, code] of [['Oopsie-doopsie\r\n', 'HPE_INVALID_METHOD'], ['EHLO a.test\r\n', 'HPE_INVALID_URL'], ['GET / HTTP/9.9\r\n', 'HPE_INVALID_VERSION']]) {
  test(`a first line that is none is refused before its head ends: ${line.trim()}`, async t => {
    const server = createServer({ requests: 'http' }, () => {})
    const event = once(server, 'clientError')
    server.on('clientError', (error, socket) => { socket.end('HTTP/1.1 400 Bad\r\n\r\n') })
    assert.equal(await answerTo(await listening(t, server), line), 'HTTP/1.1 400 Bad\r\n\r\n')
    assert.equal((await event)[0].code, code)
  })
}

test('an upgrade that is refused by hand ends its connection, as with node:http', async t => {
  for (const head of ['HTTP/1.1 401 Unauthorized\r\n\r\n', 'HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n', 'HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n']) {
    for (const server of [http.createServer(), createServer({ requests: 'http' }), createServer({ engine: 'threads', requests: 'http' })]) {
      server.on('upgrade', (request, socket) => { socket.end(head) })
      const answer = await answerTo(await listening(t, server), LINES.upgrade + HOST + '\r\n')
      assert.equal(answer.split('\r\n')[0], head.split('\r\n')[0])
      assert.equal(answer.match(/^connection:/gim)?.length ?? 1, 1, answer)
    }
  }
})

test('the server is told of a timeout before the program that has set it, and of an answer by hand as of a request that was aborted', async t => {
  const logs = []
  for (const server of [http.createServer(), createServer({ requests: 'http' })]) {
    const log = []
    const over = new Promise(resolve => {
      server.on('request', (request, response) => {
        response.on('timeout', () => { log.push('response timeout', response.writableEnded) })
        request.on('error', error => { log.push(error.code) }).on('close', resolve)
        request.socket.setTimeout(50, () => {
          log.push('socket timeout')
          request.socket.end('HTTP/1.1 504 Late\r\n\r\n')
        })
      })
    })
    const answer = await answerTo(await listening(t, server), `GET / HTTP/1.1\r\n${HOST}\r\n`)
    assert.match(answer, /^HTTP\/1\.1 504 Late\r\n/)
    await over
    logs.push(log)
  }
  assert.deepEqual(logs[0], ['response timeout', false, 'socket timeout', 'ECONNRESET'])
  assert.deepEqual(logs[1], logs[0])
})

const AT_THE_END = {
  'a body that is read': (request, response) => { request.resume().on('end', () => { response.end('ok') }) },
  'a body that is collected': (request, response) => {
    let text = ''
    request.on('data', piece => { text += piece }).on('end', () => { response.writeHead(201, { 'x-a': '1' }).end(text) })
  },
  'two pieces': (request, response) => {
    request.resume().on('end', () => {
      response.write('o')
      response.end('k')
    })
  },
  'a pipe': (request, response) => { request.pipe(response) }
}
for (const [what, listener] of Object.entries(AT_THE_END)) {
  test(`an answer that is given in the end of its request is finished when the request closes, as with node:http: ${what}`, async t => {
    for (const text of [`GET / HTTP/1.1\r\n${HOST}\r\n`, `POST / HTTP/1.1\r\n${HOST}content-length: 2\r\n\r\nok`]) {
      for (const server of [http.createServer(), createServer({ requests: 'http' }), createServer({ engine: 'threads', requests: 'http' })]) {
        const log = []
        const over = new Promise(resolve => {
          server.on('request', (request, response) => {
            response.on('finish', () => { log.push('finish') })
            request.on('close', () => {
              log.push('close', response.writableEnded, response.writableFinished)
              resolve()
            })
            listener(request, response)
          })
        })
        const client = net.connect(await listening(t, server), '127.0.0.1').on('error', () => {})
        client.resume().write(text)
        await over
        client.destroy()
        assert.deepEqual(log, ['finish', 'close', true, true])
      }
    }
  })
}

test('a socket that is ended behind what is no answer ends its connection', async t => {
  for (const engine of ['inline', 'threads']) {
    const server = createServer({ engine, requests: 'http' }, request => {
      request.on('error', () => {})
      request.socket.end('no answer')
    })
    server.on('clientError', (error, socket) => { socket.destroy() })
    const client = net.connect(await listening(t, server), '127.0.0.1').on('error', () => {})
    client.resume().write(`GET / HTTP/1.1\r\n${HOST}\r\n`)
    await once(client, 'close')
  }
})

test('listeners of timeout get an idle connection after its keepAliveTimeout, also where that is longer than headersTimeout', async t => {
  const server = createServer({ requests: 'http', keepAliveTimeout: 300, headersTimeout: 50, requestTimeout: 100 }, (request, response) => { response.end('ok') })
  const reported = new Promise(resolve => {
    server.on('timeout', socket => {
      resolve('timeout')
      socket.destroy()
    })
  })
  const client = net.connect(await listening(t, server), '127.0.0.1').on('error', () => {})
  client.resume().write(`GET / HTTP/1.1\r\n${HOST}\r\n`)
  const closed = new Promise(resolve => { client.on('close', () => { resolve('close') }) })
  assert.equal(await Promise.race([reported, closed]), 'timeout')
  await closed
})

test('a request whose body is malformed is aborted before its response closes', async t => {
  const logs = []
  for (const server of [http.createServer(), createServer({ requests: 'http' }), createServer({ engine: 'threads', requests: 'http' })]) {
    const log = []
    const over = new Promise(resolve => {
      server.on('request', (request, response) => {
        request.on('aborted', () => { log.push('aborted') }).on('error', error => {
          log.push(error.code)
          resolve()
        })
        response.on('close', () => { log.push('response close') })
        request.resume()
      })
    })
    assert.match(await answerTo(await listening(t, server), `${CHUNKS}zz\r\n`), /^HTTP\/1\.1 400 /)
    await over
    logs.push(log)
  }
  assert.deepEqual(logs[0], ['aborted', 'response close', 'ECONNRESET'])
  for (const log of logs) assert.deepEqual(log, logs[0])
})

test('setTimeout of a server refuses a listener that is none as node:http does', () => {
  for (const listener of [5, 'x', {}, null, 0]) {
    const [node, own] = [http.createServer(), createServer({ requests: 'http' })].map(server => {
      try {
        return server.setTimeout(5, listener) === server
      } catch (error) {
        return [error.code, error.message]
      }
    })
    assert.deepEqual(own, node)
  }
})

test('options of node:http are seen as members of its server', () => {
  const options = { maxHeaderSize: 2000, requireHostHeader: false, joinDuplicateHeaders: true, rejectNonStandardBodyWrites: true }
  const [node, own] = [http.createServer(options), createServer({ ...options, requests: 'http' })]
  for (const name of Object.keys(options)) assert.equal(own[name], node[name], name)
})

const WRONG_LINES = ['GET / HTTP/1.1\n', 'GET  HTTP/1.1\r\n', 'GET HTTP/1.1\r\n', 'GET /\x01 HTTP/1.1\r\n', 'GET /\x7f HTTP/1.1\r\n', 'GET /\xe9 HTTP/1.1\r\n', 'GET /caf\xc3\xa9 HTTP/1.1\r\n',
  'GET /?a=\xc3\xa9 HTTP/1.1\r\n', 'GET http://a/\xc3\xa9 HTTP/1.1\r\n', 'GET / HTTP/1.1 \r\n', 'GET / HTTP/1.1x\r\n', 'GET / HTTP/1.11\r\n', 'GET / HTTP/x.1\r\n', 'GET / FTP/1.1\r\n', 'GET / HTTP/1.1\r\n ', 'GET / HTTP/1.1\rx', '\x05\x01\0', '\xff\xff', '(']
for (const line of WRONG_LINES) {
  test(`clientError of a wrong first line has the code of node:http, and the client its answer: ${JSON.stringify(line)}`, async t => {
    const seen = []
    for (const server of [http.createServer(), createServer({ requests: 'http' }), createServer({ engine: 'threads', requests: 'http' })]) {
      const codes = []
      server.on('request', () => { codes.push('request') })
      const port = await listening(t, server)
      // Those that begin no line get their answer before it ends.
      const text = line.includes('GET') ? `${line}${HOST}\r\n` : line
      const refusal = await answerTo(port, text)
      server.on('clientError', (error, socket) => {
        codes.push(error.code)
        socket.end('HTTP/1.1 400 Mine\r\n\r\n')
      })
      // Beside what node says, ours says that it has no body.
      seen.push([...[refusal, await answerTo(port, text)].map(answer => answer.replace(/^(content-length: 0|connection: close)\r\n/gm, '')), ...codes])
    }
    assert.match(seen[0][0], /^HTTP\/1\.1 400 /)
    assert.deepEqual(seen[1], seen[0])
    assert.deepEqual(seen[2], seen[0])
  })
}

test('requests of a connection have one socket, also where they come before the response to another', async t => {
  for (const server of [http.createServer(), createServer({ requests: 'http' }), createServer({ engine: 'threads', requests: 'http' })]) {
    const sockets = new Set()
    const held = []
    server.on('request', (request, response) => {
      sockets.add(request.socket)
      request.socket.count = (request.socket.count ?? 0) + 1
      held.push(() => { response.end(`${request.url} ${request.socket.count};`) })
      // All have come before the first is answered.
      if (held.length === 3) for (const answer of held) answer()
    })
    const port = await listening(t, server)
    const all = await answerTo(port, `GET /1 HTTP/1.1\r\n${HOST}\r\nGET /2 HTTP/1.1\r\n${HOST}\r\nGET /3 HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`)
    assert.deepEqual(all.match(/\/\d \d;/g), ['/1 3;', '/2 3;', '/3 3;'])
    assert.equal(sockets.size, 1)
  }
})

for (const [what, fields, code] of [['CR', `${HOST}x: a\ry: b\r\n`, 'HPE_LF_EXPECTED'], ['LF', `${HOST}x: a\ny: b\r\n`, 'HPE_CR_EXPECTED']]) {
  test(`a ${what} alone in a field has a code of its own`, async t => {
    const server = createServer({ requests: 'http' }, () => {})
    server.on('clientError', (error, socket) => { socket.end(error.code) })
    assert.equal(await answerTo(await listening(t, server), `GET / HTTP/1.1\r\n${fields}\r\n`), code)
  })
}

test('a client that ends behind its malformed request ends its connection, where no listener answers', async t => {
  const server = createServer({ requests: 'http' }, () => {})
  server.on('clientError', () => {})
  assert.equal(await answerTo(await listening(t, server), 'GET\r\n\r\n', { ends: true }), '')
})

for (const members of [{ headersTimeout: 100, requestTimeout: 0 }, { headersTimeout: 0, requestTimeout: 100 }]) {
  test(`a connection that says nothing, or no whole head, ends by ${JSON.stringify(members)}`, { timeout: 60_000 }, async t => {
    const server = createServer({ requests: 'http', ...members }, () => {})
    const port = await listening(t, server)
    assert.match(await answerTo(port, ''), /^HTTP\/1\.1 408 /)
    assert.match(await answerTo(port, `GET / HTTP/1.1\r\n${HOST}`), /^HTTP\/1\.1 408 /)
  })
}

test('a server with requests of node:http is one of its class, also under TLS', () => {
  const [plain, secured] = [createServer({ requests: 'http' }), createSecureServer({ cert, key, allowHTTP1: true, requests: 'http' })]
  assert.ok(plain instanceof http.Server)
  assert.ok(secured instanceof https.Server)
  for (const server of [plain, secured]) assert.equal(typeof server.closeAllConnections, 'function')
  assert.ok(!(createServer() instanceof http.Server))
})

test('a response may have a host, as any other field, more than once', async t => {
  const server = createServer({ requests: 'http' }, (request, response) => {
    response.setHeader('host', ['a', 'b'])
    response.end('ok')
  })
  assert.match(await answerTo(await listening(t, server), `GET / HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`), /^HTTP\/1\.1 200 OK\r\nhost: a\r\nhost: b\r\n/)
})

test('a field that is not ASCII has the bytes of UTF-8 in front of a text, and of Latin-1 in front of bytes', async t => {
  const server = createServer({ requests: 'http' }, (request, response) => {
    response.setHeader('x-a', '\u00e9')
    response.end(request.url === '/text' ? 'ok' : Buffer.from('ok'))
  })
  const port = await listening(t, server)
  const asked = path => answerTo(port, `GET ${path} HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`)
  assert.match(await asked('/text'), /\r\nx-a: \xc3\xa9\r\n/)
  assert.match(await asked('/bytes'), /\r\nx-a: \xe9\r\n/)
})

test('a client of node:http2 reaches a server by an IPv6 address, whose brackets it leaves out', async t => {
  const server = createServer((request, response) => { response.end(request.authority) })
  let port
  try {
    port = await listening(t, server, '::1')
  } catch (error) {
    return t.skip(`there is no IPv6 here: ${error.code}`)
  }
  const session = http2.connect(`http://[::1]:${port}`)
  t.after(() => { session.destroy() })
  const stream = session.request()
  let text = ''
  stream.on('data', piece => { text += piece })
  await once(stream, 'end')
  assert.match(text, new RegExp(`^\\[?::1\\]?:${port}$`))
})

test('the error of a malformed request is one of its socket where no listener of clientError takes it', async t => {
  const errors = []
  const server = createServer({ requests: 'http' }, () => {})
  const closed = new Promise(resolve => {
    server.on('connection', socket => { socket.on('error', error => { errors.push(error.code) }).on('close', resolve) })
  })
  assert.match(await answerTo(await listening(t, server), `GET / HTTP/1.1\r\n${HOST}bad name: x\r\n\r\n`), /^HTTP\/1\.1 400 /)
  assert.equal(await closed, true)
  assert.deepEqual(errors, ['HPE_INVALID_HEADER_TOKEN'])
})

test('an empty reason phrase is sent as it is given, whole or in pieces, and no other status loses its own', async t => {
  const server = createServer({ requests: 'http' }, (request, response) => {
    const [, status, isGiven, pieces] = request.url.split('/')
    response.writeHead(Number(status), ...isGiven === 'empty' ? [''] : [])
    if (pieces !== undefined) response.write('a')
    response.end('b')
  })
  const port = await listening(t, server)
  const line = async path => (await answerTo(port, `GET ${path} HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`)).split('\r\n')[0]
  assert.equal(await line('/404/empty'), 'HTTP/1.1 404 ')
  assert.equal(await line('/200/empty/pieces'), 'HTTP/1.1 200 ')
  assert.equal(await line('/404/usual'), 'HTTP/1.1 404 Not Found')
  assert.equal(await line('/200/usual/pieces'), 'HTTP/1.1 200 OK')
})

test('listen heeds ipv6Only', async t => {
  const listen = async (host, port, ipv6Only) => {
    const server = createServer({ requests: 'http' }, (request, response) => { response.end(host) })
    server.listen({ port, host, ipv6Only })
    await once(server, 'listening')
    t.after(() => { server.close() })
    return server.address().port
  }
  // A port that is free for IPv6 may be another program's for IPv4.
  const onBoth = async (tries = 20) => {
    const port = await listen('::', 0, true)
    return listen('0.0.0.0', port).catch(error => {
      if (error.code !== 'EADDRINUSE' || tries === 0) throw error
      return onBoth(tries - 1)
    })
  }
  const port = await onBoth()
  assert.match(await answerTo(port, `GET / HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`), /0\.0\.0\.0$/)
})

test('maxHeaderSize of any size bounds a target with the names and values of its fields, as with node:http', async t => {
  for (const { createServer: make } of [http, { createServer: (options, listener) => createServer({ requests: 'http', ...options }, listener) }]) {
    // The target, host with its value and connection with its value are 21 bytes, and the last field 5 and its value.
    for (const [bytes, length, status] of [[1, 10, 431], [40, 10, 200], [40, 14, 431], [40, 13, 200], [500, 473, 200], [500, 474, 431]]) {
      const port = await listening(t, make({ maxHeaderSize: bytes }, (request, response) => { response.end() }))
      const answer = await answerTo(port, `GET / HTTP/1.1\r\n${HOST}connection: close\r\nx-abc: ${'y'.repeat(length)}\r\n\r\n`)
      assert.equal(answer.slice(9, 12), `${status}`, `${bytes} ${length}`)
    }
  }
})

for (const [name, make] of Object.entries({ 'node:http': () => http.createServer(), ours: () => createServer({ requests: 'http' }), 'ours on threads': () => createServer({ engine: 'threads', requests: 'http' }) })) {
  test(`${name}: a request whose body nobody reads ends and closes behind its answer`, { timeout: 60_000 }, async t => {
    const events = []
    const server = make()
    const closed = new Promise(resolve => {
      server.on('request', (request, response) => {
        request.on('end', () => { events.push('end') })
        request.on('close', () => {
          events.push('close')
          resolve()
        })
        // All of it has come by then.
        setImmediate(() => { setImmediate(() => { response.end('ok') }) })
      })
    })
    const answer = await answerTo(await listening(t, server), `POST / HTTP/1.1\r\n${HOST}connection: close\r\ncontent-length: 6\r\n\r\na body`)
    assert.match(answer, /^HTTP\/1\.1 200 [^]*ok$/)
    await closed
    assert.deepEqual(events, ['end', 'close'])
  })

  test(`${name}: a refusal of a head that is too long may be an end without a word`, { timeout: 60_000 }, async t => {
    const server = make()
    server.maxHeadersCount = 10
    // Node 20 leaves fields out in place of that.
    server.on('request', (request, response) => { response.end() })
    server.on('clientError', (error, socket) => { socket.end() })
    const answer = await answerTo(await listening(t, server), `GET / HTTP/1.1\r\n${HOST}connection: close\r\n${'x: y\r\n'.repeat(20)}\r\n`)
    if (Number.parseInt(process.versions.node, 10) >= 22) assert.equal(answer, '')
  })

  test(`${name}: the callback of a write whose response is destroyed in its turn gets an error`, { timeout: 60_000 }, async t => {
    const server = make()
    const written = new Promise(resolve => {
      server.on('request', (request, response) => {
        request.on('error', () => {})
        response.write('x', resolve)
        response.destroy()
      })
    })
    const client = net.connect(await listening(t, server), '127.0.0.1')
    client.on('error', () => {}).resume().write(`GET / HTTP/1.1\r\n${HOST}\r\n`)
    assert.equal((await written).code, 'ERR_STREAM_DESTROYED')
  })
}

for (const act of ['destroy', 'socket']) {
  test(`a head that flushHeaders has asked for goes, also where its response is destroyed in the same turn: ${act}`, async t => {
    for (const engine of ['inline', 'threads']) {
      const server = createServer({ requests: 'http', engine }, (request, response) => {
        response.flushHeaders()
        if (act === 'destroy') response.destroy()
        else request.socket.destroy()
      })
      assert.match(await answerTo(await listening(t, server), `GET / HTTP/1.1\r\n${HOST}\r\n`), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/)
    }
  })
}

test('IncomingMessage and ServerResponse beside allowHTTP1 are the classes of requests of HTTP/1.1', async t => {
  class Incoming extends http.IncomingMessage {}
  class Outgoing extends http.ServerResponse {}
  const server = createSecureServer({ cert, key, allowHTTP1: true, IncomingMessage: Incoming, ServerResponse: Outgoing }, (request, response) => {
    response.end(`${request.constructor.name} ${response.constructor.name}`)
  })
  const port = await listening(t, server)
  const [answer] = await once(https.get({ port, host: '127.0.0.1', ca: cert, servername: 'localhost', agent: false }), 'response')
  let text = ''
  for await (const piece of answer) text += piece
  assert.equal(text, 'Incoming Outgoing')
})

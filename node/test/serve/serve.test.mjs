// `serve({ fetch })` on every version: what handlers see, what clients get, and how both give up.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { file, Response as Lean, serve } from 'trunkline'
import { request } from 'undici7'
import { cert, key } from '../support/certificates/certificate.mjs'
import { versions } from '../support/clients/clients.mjs'
import { received } from '../support/clients/received.mjs'
import { serveFor } from '../support/servers/serving.mjs'

const BIG = Buffer.alloc(10 * 1024 * 1024, 'trunkline ')

/** Waits for `count` turns of the loop. */
const turns = async count => { while (count-- > 0) await new Promise(setImmediate) }

/** A server of `fetch`, and a client of the version. */
function pair (version, fetch, options = {}) {
  const server = serve({ hostname: '127.0.0.1', ...version.options, ...options, fetch })
  const client = version.connect(server.port)
  const end = async () => {
    await client.close()
    await server.close({ deadlineMs: 1000 })
  }
  return { server, client, [Symbol.asyncDispose]: end, end }
}

/** Runs `work` with a pair, and ends both whatever happens. */
async function withPair (version, fetch, work, options) {
  const made = pair(version, fetch, options)
  try {
    return await work(made)
  } finally {
    await made.end()
  }
}

for (const version of versions) {
  const { name } = version

  test(`${name}: a handler sees the request and its connection`, async () => {
    const seen = (request, info) => Lean.json({
      method: request.method,
      path: new URL(request.url).pathname + new URL(request.url).search,
      host: new URL(request.url).hostname,
      header: request.headers.get('X-Asked'),
      absent: request.headers.get('x-absent'),
      body: request.body,
      isRequest: request instanceof Request,
      remote: info.remoteAddress,
      protocol: info.protocol,
      encrypted: info.encrypted
    })
    await withPair(version, seen, async ({ client }) => {
      const { status, headers, body } = await client.ask('/a/b?c=d', { headers: { 'x-asked': 'yes' } })
      assert.equal(status, 200)
      assert.equal(headers['content-type'], 'application/json')
      assert.match(String(headers.date), / GMT$/)
      assert.deepEqual(JSON.parse(body), {
        method: 'GET', path: '/a/b?c=d', host: 'localhost', header: 'yes', absent: null, body: null, isRequest: true,
        remote: '127.0.0.1', protocol: version.protocol, encrypted: version.options.tls !== undefined
      })
    })
  })

  test(`${name}: every way to give an answer comes out as it is`, async () => {
    const fixed = new Lean('fixed', { headers: [['set-cookie', 'a=1'], ['set-cookie', 'b=2']] })
    const answers = {
      '/text': () => new Lean('höi'),
      '/bytes': () => new Lean(new Uint8Array([0, 255, 1])),
      '/empty': () => new Lean(null, { status: 204 }),
      '/missing': () => new Lean('no', { status: 404 }),
      '/fixed': () => fixed,
      '/built-in': () => new Response('built in', { status: 201, headers: { 'x-a': 'b' } }),
      '/redirect': () => Lean.redirect('/else', 303),
      '/later': async () => { await new Promise(setImmediate); return new Lean('later') },
      '/iterable': () => new Lean((async function * () { yield Buffer.from('a'); await new Promise(setImmediate); yield 'b' })())
    }
    await withPair(version, request => answers[new URL(request.url).pathname](), async ({ client }) => {
      const printed = async path => {
        const { status, headers, body } = await client.ask(path)
        return [status, body.toString('latin1'), headers['content-length'], headers['content-type']]
      }
      const text = 'text/plain;charset=UTF-8'
      assert.deepEqual(await printed('/text'), [200, Buffer.from('höi').toString('latin1'), '4', text])
      assert.deepEqual(await printed('/bytes'), [200, '\x00\xff\x01', '3', undefined])
      assert.deepEqual(await printed('/empty'), [204, '', undefined, undefined])
      assert.deepEqual((await printed('/missing')).slice(0, 2), [404, 'no'])
      for (let round = 0; round < 3; round++) {
        const { body, headers } = await client.ask('/fixed')
        assert.deepEqual([String(body), headers['set-cookie']], ['fixed', ['a=1', 'b=2']])
      }
      assert.deepEqual(await printed('/built-in'), [201, 'built in', '8', text])
      assert.deepEqual((await printed('/redirect')).slice(0, 2), [303, ''])
      assert.deepEqual((await printed('/later')).slice(0, 2), [200, 'later'])
      assert.deepEqual((await printed('/iterable')).slice(0, 2), [200, 'ab'])
    })
  })

  test(`${name}: the answer to HEAD has the head of a GET and no body`, async () => {
    await withPair(version, () => new Lean('twelve bytes'), async ({ client }) => {
      const { status, headers, body } = await client.ask('/', { method: 'HEAD' })
      assert.deepEqual([status, headers['content-length'], body.length], [200, '12', 0])
      assert.equal(String((await client.ask('/')).body), 'twelve bytes')
    })
  })

  test(`${name}: a body is read whole in every form`, async () => {
    const read = async request => {
      const form = new URL(request.url).pathname.slice(1)
      const value = await request[form]()
      if (form === 'formData') return new Lean(value.get('a'))
      if (form === 'json') return new Lean(value.a)
      return new Lean(form === 'text' ? value : Buffer.from(form === 'blob' ? await value.arrayBuffer() : value))
    }
    await withPair(version, read, async ({ client }) => {
      const post = async (form, body, type = 'text/plain') => {
        const { body: printed } = await client.ask(`/${form}`, { method: 'POST', body, headers: { 'content-type': type } })
        return String(printed)
      }
      for (const form of ['text', 'bytes', 'arrayBuffer', 'blob']) assert.equal(await post(form, 'a body'), 'a body')
      assert.equal(await post('json', '{"a":"b"}', 'application/json'), 'b')
      assert.equal(await post('formData', 'a=c&d=e', 'application/x-www-form-urlencoded'), 'c')
      assert.equal(await post('text', ''), '')
    })
  })

  test(`${name}: ten MiB go up, down, and through`, async () => {
    const answers = {
      '/up': async request => new Lean(String((await request.bytes()).length)),
      '/down': () => new Lean(BIG),
      '/through': request => new Lean(request.body)
    }
    await withPair(version, request => answers[new URL(request.url).pathname](request), async ({ client }) => {
      assert.equal(String((await client.ask('/up', { method: 'POST', body: BIG })).body), String(BIG.length))
      assert.ok((await client.ask('/down')).body.equals(BIG))
      assert.ok((await client.ask('/through', { method: 'POST', body: BIG })).body.equals(BIG))
    })
  })

  test(`${name}: a file is sent whole, in part, or not at all`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'))
    const [path, empty] = [join(folder, 'big'), join(folder, 'empty')]
    writeFileSync(path, BIG)
    writeFileSync(empty, '')
    const whole = new Lean(file(path), { headers: { 'content-type': 'x/y' } })
    const answers = {
      '/whole': () => whole,
      '/part': () => new Lean(file(pathToFileURL(path), { offset: 3, length: 7 }), { status: 206 }),
      '/end': () => new Lean(file(path, { offset: BIG.length - 2 })),
      '/sized': url => new Lean(file(path, { length: Number(url.search.slice(1)) })),
      '/empty': () => new Lean(file(empty)),
      '/missing': () => new Lean(file(join(folder, 'missing'))),
      '/folder': () => new Lean(file(folder))
    }
    const error = error => new Lean(error.code, { status: 404 })
    try {
      const fetch = request => {
        const url = new URL(request.url)
        return answers[url.pathname](url)
      }
      await withPair(version, fetch, async ({ client }) => {
        for (let round = 0; round < 2; round++) {
          const { headers, body } = await client.ask('/whole')
          assert.deepEqual([headers['content-type'], headers['content-length']], ['x/y', String(BIG.length)])
          assert.ok(body.equals(BIG))
        }
        const printed = async (path, method = 'GET') => {
          const { status, headers, body } = await client.ask(path, { method })
          return [status, headers['content-length'], String(body)]
        }
        assert.deepEqual(await printed('/part'), [206, '7', String(BIG.subarray(3, 10))])
        assert.deepEqual(await printed('/end'), [200, '2', String(BIG.subarray(-2))])
        assert.deepEqual(await printed('/empty'), [200, '0', ''])
        assert.deepEqual(await printed('/whole', 'HEAD'), [200, String(BIG.length), ''])
        assert.deepEqual(await printed('/end', 'HEAD'), [200, '2', ''])
        // The size that is read at once, and one byte more.
        for (const length of [128 * 1024, 128 * 1024 + 1]) {
          const { headers, body } = await client.ask(`/sized?${length}`)
          assert.equal(headers['content-length'], String(length))
          assert.ok(body.equals(BIG.subarray(0, length)))
        }
        assert.deepEqual(await printed('/missing'), [404, '6', 'ENOENT'])
        assert.deepEqual(await printed('/folder'), [404, '6', 'EISDIR'])
      }, { error })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test(`${name}: a handler that throws or rejects, or gives something else, costs one exchange`, async () => {
    const received = []
    const fetch = request => {
      const { pathname } = new URL(request.url)
      if (pathname === '/throws') throw new Error('thrown')
      if (pathname === '/rejects') return Promise.reject(new Error('rejected'))
      if (pathname === '/splits') return new Lean('', { headers: { 'x-a': 'b\r\nx-c: d' } })
      if (pathname === '/else') return 'a text'
      return new Lean('fine')
    }
    const error = error => {
      received.push(error.message)
      return new Lean(error.message, { status: 503 })
    }
    await withPair(version, fetch, async ({ client }) => {
      for (const path of ['/throws', '/rejects', '/splits', '/else']) {
        const { status, headers } = await client.ask(path)
        assert.deepEqual([status, headers['x-c']], [503, undefined], path)
      }
      assert.deepEqual(received.slice(0, 2), ['thrown', 'rejected'])
      assert.match(received[2], /is an invalid header value/)
      assert.match(received[3], /must give a Response/)
      assert.equal(String((await client.ask('/')).body), 'fine')
    }, { error })
  })

  test(`${name}: a body that fails in the middle is not taken for a whole one`, async () => {
    const fetch = () => new Lean((async function * () {
      yield Buffer.from('a part')
      // The head goes out when the loop turns; what fails before is a 500.
      await turns(3)
      throw new Error('broken')
    })())
    await withPair(version, fetch, async ({ client }) => {
      await assert.rejects(client.ask('/'))
    })
  })

  test(`${name}: close lets what is open finish, and takes nobody new`, async () => {
    let go
    const asked = new Promise(resolve => { go = resolve })
    const answers = []
    const made = pair(version, () => new Promise(resolve => { answers.push(resolve); go() }))
    const answer = made.client.ask('/')
    await asked
    const closed = made.server.close()
    answers[0](new Lean('the last'))
    assert.equal(String((await answer).body), 'the last')
    await made.client.close()
    await closed
    if (version.protocol !== 'h3') {
      const socket = connect(made.server.port, '127.0.0.1')
      const [error] = await once(socket, 'error')
      assert.equal(error.code, 'ECONNREFUSED')
    }
  })
}

for (const version of versions.filter(({ protocol }) => protocol === 'h2')) {
  const { name } = version

  test(`${name}: a thousand streams at once are all answered`, async () => {
    const waiting = []
    const fetch = request => new Promise(resolve => {
      waiting.push(() => { resolve(new Lean(new URL(request.url).pathname)) })
      if (waiting.length === 1000) for (const answer of waiting) answer()
    })
    const limits = { concurrentStreamsMax: 1000, runningHandlersMax: 2000 }
    await withPair(version, fetch, async ({ client }) => {
      await once(client.session, 'remoteSettings')
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, number) => client.ask(`/${number}`)))
      assert.deepEqual(answers.map(({ body }) => String(body)), answers.map((_, number) => `/${number}`))
    }, { limits })
  })

  test(`${name}: a reset aborts the request's signal`, async () => {
    let received
    const over = new Promise(resolve => { received = resolve })
    let came
    const asked = new Promise(resolve => { came = resolve })
    const fetch = request => {
      request.signal.addEventListener('abort', () => { received(request.signal.reason.name) })
      came()
      return new Promise(() => {})
    }
    await withPair(version, fetch, async ({ client }) => {
      const stream = client.open('/', { method: 'POST' })
      stream.on('error', () => {})
      await asked
      stream.close(8)
      assert.equal(await over, 'AbortError')
    })
  })

  test(`${name}: a client that goes away ends the body's source`, async () => {
    let ended
    const over = new Promise(resolve => { ended = resolve })
    const fetch = () => new Lean((async function * () {
      try {
        for (;;) yield Buffer.alloc(64 * 1024)
      } finally {
        ended()
      }
    })())
    await withPair(version, fetch, async ({ client }) => {
      const stream = client.open('/')
      stream.on('error', () => {})
      stream.end()
      await once(stream, 'data')
      stream.close(8)
      await over
    })
  })

  test(`${name}: a slow reader holds the source back, and others go on`, async () => {
    let made = 0
    const fetch = request => {
      if (new URL(request.url).pathname === '/quick') return new Lean('quick')
      return new Lean((async function * () {
        for (; made < 64; made++) yield Buffer.alloc(256 * 1024)
      })())
    }
    await withPair(version, fetch, async ({ client }) => {
      const stream = client.open('/slow')
      stream.end()
      await once(stream, 'response')
      for (let round = 0; round < 20; round++) assert.equal(String((await client.ask('/quick')).body), 'quick')
      assert.ok(made < 16, `${made} pieces were made for nobody`)
      let bytes = 0
      for await (const chunk of stream) bytes += chunk.length
      assert.equal(bytes, 64 * 256 * 1024)
    })
  })

  test(`${name}: early hints come before the answer`, async () => {
    const fetch = (request, info) => {
      info.earlyHints({ link: '</style.css>; rel=preload' })
      return new Lean('styled')
    }
    await withPair(version, fetch, async ({ client }) => {
      const stream = client.open('/')
      const hints = once(stream, 'headers')
      stream.end()
      const [headers] = await hints
      assert.deepEqual([headers[':status'], headers.link], [103, '</style.css>; rel=preload'])
      const [final] = await once(stream, 'response')
      assert.equal(final[':status'], 200)
      stream.resume()
      await once(stream, 'end')
    })
  })
}

test('undici, over either protocol', async t => {
  const server = serveFor(t, { fetch: request => new Lean(request.headers.get('x-a')) })
  const { statusCode, body } = await request(`http://127.0.0.1:${server.port}/`, { headers: { 'x-a': 'b' } })
  assert.deepEqual([statusCode, await body.text()], [200, 'b'])
  const answer = await fetch(`http://127.0.0.1:${server.port}/`, { headers: { 'x-a': 'c' } })
  assert.equal(await answer.text(), 'c')
})

test('a connection that breaks in the middle of a request fails its body and aborts its signal', async t => {
  let received
  const over = new Promise(resolve => { received = resolve })
  let came
  const asked = new Promise(resolve => { came = resolve })
  const server = serveFor(t, {
    async fetch (request) {
      came()
      await request.text().catch(error => { received([error.name, request.signal.aborted]) })
      return new Lean('nobody hears it')
    }
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\na part')
  await asked
  socket.destroy()
  assert.deepEqual(await over, ['AbortError', true])
})

test('100-continue is said when the body is read, and not before', async t => {
  const server = serveFor(t, {
    async fetch (request) {
      if (new URL(request.url).pathname === '/no') return new Lean('no', { status: 417 })
      return new Lean(await request.text())
    }
  })
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  t.after(() => { socket.destroy() })
  let printed = ''
  socket.on('data', chunk => { printed += chunk })
  const until = async text => { while (!printed.includes(text)) await once(socket, 'data') }
  socket.write('POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n')
  await until('HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('hi')
  await until('\r\n\r\nhi')
  printed = ''
  socket.write('POST /no HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n')
  await until('no')
  assert.match(printed, /^HTTP\/1\.1 417 /)
})

test('a port that is in use is an error with its code, and two servers may share one', async t => {
  const first = serveFor(t, { sharesPort: true, fetch: () => new Lean('first') })
  assert.throws(() => serve({ hostname: '127.0.0.1', port: first.port, fetch: () => new Lean('') }),
    error => /is in use/.test(error.message))
  const second = serveFor(t, { port: first.port, sharesPort: true, fetch: () => new Lean('second') })
  assert.equal(second.port, first.port)
  await first.destroy()
  const answer = await fetch(`http://127.0.0.1:${second.port}/`)
  assert.equal(await answer.text(), 'second')
})

test('options that cannot be used are refused by name', () => {
  const fetch = () => new Lean('')
  assert.throws(() => serve({ fetch: 1 }), /fetch must be a function/)
  assert.throws(() => serve({ fetch, http3: true }), /http3 is on without a certificate/)
  assert.throws(() => serve({ fetch, tls: { cert: 'no', key } }), /certificate/)
  assert.throws(() => serve({ fetch, tls: { cert, key: 'no' } }), /key/)
  assert.throws(() => serve({ fetch, limits: { streams: 1 } }), /streams/)
  assert.throws(() => serve({ fetch, hostname: '192.0.2.1' }), /is not an address of this machine/)
})

test('an aborted signal closes the server', async t => {
  const controller = new AbortController()
  const server = serveFor(t, { signal: controller.signal, fetch: () => new Lean('') })
  controller.abort()
  await server.closed
})

test('fields that are too long for the border cost their exchange alone, and say so', async () => {
  const long = 'x'.repeat(300 * 1024)
  const printed = []
  const answers = {
    '/answer': () => new Lean('', { headers: { 'x-a': long } }),
    '/file': () => new Lean(file('/etc/hostname'), { headers: { 'x-a': long } }),
    '/path': () => new Lean(file(`/${long}`)),
    '/stream': () => new Lean((async function * () { yield 'a'; await turns(3); yield 'b' })(), { headers: { 'x-a': long } }),
    '/hints': info => { info.earlyHints({ 'x-a': long }); return new Lean('') }
  }
  const error = error => { printed.push(`${error.name} ${/must have at most \d+/.test(error.message)}`); return new Lean('told', { status: 500 }) }
  for (const version of versions.slice(0, 3)) {
    await withPair(version, (request, info) => answers[new URL(request.url).pathname]?.(info) ?? new Lean('fine'), async ({ client }) => {
      for (const path of Object.keys(answers)) assert.equal(String((await client.ask(path)).body), 'told', path)
      assert.equal(String((await client.ask('/')).body), 'fine')
    }, { error })
  }
  assert.deepEqual(printed, Array(15).fill('RangeError true'))
})

test('the answer to a file that is not there is a stream of any size', async () => {
  const error = () => new Lean((async function * () { for (let piece = 0; piece < 64; piece++) yield BIG.subarray(0, 64 * 1024) })(), { status: 404 })
  for (const version of versions) {
    await withPair(version, () => new Lean(file('/nowhere/at/all')), async ({ client }) => {
      const { status, body } = await client.ask('/')
      assert.deepEqual([version.name, status, body.length], [version.name, 404, 64 * 64 * 1024])
    }, { error })
  }
})

test('a hook whose own answer cannot be sent is asked once, and the client gets a bare 500', async t => {
  const written = t.mock.method(console, 'error', () => {})
  for (const answer of [() => new Lean(file('/nowhere/error.html')), () => new Lean((async function * () { throw new Error('too') })()), () => { throw new Error('thrown') }]) {
    let asked = 0
    const error = () => { asked++; return answer() }
    await withPair(versions[0], () => { throw new Error('first') }, async ({ client }) => {
      const { status, body } = await client.ask('/')
      assert.deepEqual([status, body.length, asked], [500, 0, 1])
    }, { error })
  }
  assert.equal(written.mock.callCount(), 3)
})

test('what fails behind the head is written to stderr, or reported to the hook', async t => {
  const written = t.mock.method(console, 'error', () => {})
  const reported = []
  const fetch = () => new Lean((async function * () {
    yield 'a part'
    await turns(3)
    throw new Error('behind')
  })())
  for (const error of [undefined, error => { reported.push(error.message); return new Lean('nobody gets it') }]) {
    await withPair(versions[0], fetch, async ({ client }) => { await assert.rejects(client.ask('/')) }, { error })
  }
  assert.deepEqual(written.mock.calls.map(({ arguments: [error] }) => error.message), ['behind'])
  assert.deepEqual(reported, ['behind'])
})

for (const version of versions.filter(({ protocol }) => protocol === 'h2')) {
  for (const [kind, idle] of Object.entries({
    'a ReadableStream': left => new ReadableStream({ start (controller) { controller.enqueue(Buffer.from('first')) }, cancel: left }),
    'an iterator': left => {
      let count = 0
      const next = () => count++ === 0 ? Promise.resolve({ done: false, value: Buffer.from('first') }) : new Promise(() => {})
      return { [Symbol.asyncIterator]: () => ({ next, return: async () => { left(); return { done: true } } }) }
    }
  })) {
    test(`${version.name}: ${kind} that waits for its next piece is let go of when the client leaves`, async () => {
      let left
      const over = new Promise(resolve => { left = resolve })
      await withPair(version, () => new Lean(idle(left)), async ({ client }) => {
        const stream = client.open('/')
        stream.on('error', () => {})
        stream.end()
        await once(stream, 'data')
        stream.close(8)
        const reason = await over
        if (kind === 'a ReadableStream') assert.equal(reason.name, 'AbortError')
      })
    })
  }
}

test('reading a request behind its answer is an error and no wait without end', async () => {
  for (const version of versions) {
    let read
    const outcome = new Promise(resolve => { read = resolve })
    const fetch = request => {
      setImmediate(() => { request.bytes().then(() => { read('whole') }, error => { read(error.name) }) })
      return new Lean('early')
    }
    await withPair(version, fetch, async ({ client }) => {
      const asked = client.ask('/', { method: 'POST', body: BIG }).catch(() => {})
      assert.equal(await outcome, 'AbortError', version.name)
      await asked
    })
  }
})

test('a deadline that is none is refused and closes nothing; a fraction is rounded up', async t => {
  const server = serveFor(t, { fetch: () => new Lean('') })
  for (const deadlineMs of [-1, NaN, '10', null]) await assert.rejects(server.close({ deadlineMs }), RangeError)
  assert.equal((await fetch(server.url)).status, 200)
  await server.close({ deadlineMs: 0.5 })
  const endless = serveFor(t, { fetch: () => new Lean('') })
  await endless.close({ deadlineMs: Infinity })
})

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'
const GET = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const SETTINGS = /^\0\0.\x04\0\0\0\0\0/s
const GOAWAY = Buffer.from('\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x01', 'latin1')
/** The response of a server in cleartext, up to where `isThere` is true. */
async function answered (port, said, isThere) {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.write(said, 'latin1')
    return (await received(socket, isThere)).toString('latin1')
  } finally {
    socket.destroy()
  }
}

test('in cleartext a version that is not served is not spoken', async t => {
  const fetch = () => new Lean('')
  const one = serveFor(t, { fetch, http2: false })
  const line = bytes => bytes.includes('\r\n')
  assert.match(await answered(one.port, GET, line), /^HTTP\/1\.1 200 /)
  assert.match(await answered(one.port, PREFACE, line), /^HTTP\/1\.1 [45]/)
  const two = serveFor(t, { fetch, http1: false })
  assert.match(await answered(two.port, PREFACE, bytes => bytes.length >= 9), SETTINGS)
  // GOAWAY with PROTOCOL_ERROR.
  assert.match(await answered(two.port, GET, bytes => bytes.includes(GOAWAY)), SETTINGS)
})

test('what cannot be heeded is refused: names of TLS that nobody knows', () => {
  const fetch = () => new Lean('')
  assert.throws(() => serve({ hostname: '127.0.0.1', fetch, tls: { cert, key, requestsCert: true } }), /requestsCert/)
})

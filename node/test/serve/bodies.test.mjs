// Trailers and limits of bodies at `serve`, on every version.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fetch as leanFetch, file, Response as Lean, serve } from 'trunkline'
import timers from '../../dist/timers.js'
import { versions } from '../support/clients/clients.mjs'
import { serveFor } from '../support/servers/serving.mjs'

/** Runs `work` with a client of a server, and ends both whatever happens. */
async function serving (version, options, work) {
  const server = serve({ hostname: '127.0.0.1', ...version.options, ...options })
  const client = version.connect(server.port)
  try {
    await work(client, server)
  } finally {
    await client.close()
    await server.close({ deadlineMs: 1000 })
  }
}

for (const version of versions) {
  const { name } = version

  test(`${name}: trailers follow every kind of answer`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'))
    const path = join(folder, 'file')
    writeFileSync(path, 'of a file')
    const late = () => new Promise(resolve => { setImmediate(resolve, [['x-sum', 'late']]) })
    const answers = {
      '/text': info => { info.sendTrailers({ 'x-sum': 'a' }); return new Lean('text') },
      '/none': info => { info.sendTrailers({ 'x-sum': 'b' }); return new Lean(null) },
      '/built-in': info => { info.sendTrailers(() => ({ 'X-Sum': 'c' })); return new Response('built in') },
      '/file': info => { info.sendTrailers(late); return new Lean(file(path)) },
      '/stream': info => {
        let sum = 0
        info.sendTrailers(() => ({ 'x-sum': sum }))
        return new Lean((async function * () {
          for (const piece of ['1', '2', '3']) {
            sum += Number(piece)
            yield piece
            await new Promise(setImmediate)
          }
        })())
      },
      '/promise': info => { info.sendTrailers(late()); return new Lean('soon') }
    }
    try {
      await serving(version, { fetch: (request, info) => answers[new URL(request.url).pathname](info) }, async client => {
        const printed = async path => {
          const { status, body, trailers } = await client.ask(path)
          return [status, String(body), trailers['x-sum']]
        }
        assert.deepEqual(await printed('/text'), [200, 'text', 'a'])
        assert.deepEqual(await printed('/none'), [200, '', 'b'])
        assert.deepEqual(await printed('/built-in'), [200, 'built in', 'c'])
        assert.deepEqual(await printed('/file'), [200, 'of a file', 'late'])
        assert.deepEqual(await printed('/stream'), [200, '123', '6'])
        assert.deepEqual(await printed('/promise'), [200, 'soon', 'late'])
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test(`${name}: trailers that fail are not a whole answer`, async () => {
    const fetch = (request, info) => {
      if (new URL(request.url).pathname === '/splits') info.sendTrailers({ 'x-a': 'b\r\nx-c: d' })
      else info.sendTrailers(Promise.reject(new Error('none')))
      return new Lean('a body')
    }
    await serving(version, { fetch }, async client => {
      await assert.rejects(client.ask('/splits'))
      await assert.rejects(client.ask('/rejects'))
    })
  })

  test(`${name}: a request without trailers has none, and one that nobody reads has no word of them`, async () => {
    const fetch = async (request, info) => {
      if (request.method === 'GET') return Lean.json([...await info.trailers])
      if (new URL(request.url).pathname === '/unread') {
        info.trailers.catch(error => { unread(error.message) })
        return new Lean('done')
      }
      const body = await request.text()
      return Lean.json([body, [...await info.trailers]])
    }
    let unread
    const reported = new Promise(resolve => { unread = resolve })
    await serving(version, { fetch }, async client => {
      assert.equal(String((await client.ask('/')).body), '[]')
      assert.equal(String((await client.ask('/', { method: 'POST', body: 'up' })).body), '["up",[]]')
      // The end must not come before the answer.
      await client.ask('/unread', { method: 'POST', body: Buffer.alloc(4 << 20) }).catch(() => {})
      assert.match(await reported, /nobody has read its body/)
    })
  })

  test(`${name}: a body that is too long is answered with 413, said or not`, async () => {
    let called = 0
    const fetch = async request => {
      called++
      return new Lean(String((await request.bytes()).length))
    }
    await serving(version, { fetch, maxRequestBodySize: 1000 }, async client => {
      const post = async (body, headers = {}) => {
        const answer = await client.ask('/', { method: 'POST', body, headers })
        return [answer.status, String(answer.body)]
      }
      const printed = length => ({ 'content-length': String(length) })
      assert.deepEqual(await post(Buffer.alloc(1000), printed(1000)), [200, '1000'])
      assert.equal(called, 1)
      assert.deepEqual(await post(Buffer.alloc(1001), printed(1001)), [413, ''])
      assert.equal(called, 1, 'nobody is called for what is known to be too long')
    })
    const unsaid = (async function * () { yield Buffer.alloc(600); await new Promise(setImmediate); yield Buffer.alloc(600) })
    const error = error => new Lean(error.code, { status: 413 })
    for (const [options, body] of [[{}, ''], [{ error }, 'ERR_BODY_TOO_LARGE']]) {
      await serving(version, { fetch, maxRequestBodySize: 1000, ...options }, async client => {
        if (version.name === 'h3') {
          const answer = await client.ask('/', { method: 'POST', body: unsaid() })
          return assert.deepEqual([answer.status, String(answer.body)], [413, body])
        }
        const request = client.open('/', { method: 'POST' })
        request.on('error', () => {})
        const answered = once(request, 'response')
        for await (const piece of unsaid()) request.write(piece)
        const [first] = await answered
        assert.equal(first.statusCode ?? first[':status'], 413)
        const pieces = []
        for await (const piece of first.statusCode === undefined ? request : first) pieces.push(piece)
        assert.equal(Buffer.concat(pieces).toString(), body)
        request.destroy()
      })
    }
  })
}

for (const version of versions.filter(({ name }) => name !== 'h3')) {
  test(`${version.name}: the trailers of a request come when its body has been read`, async () => {
    const fetch = async (request, info) => {
      const { trailers } = info
      const body = await request.text()
      return Lean.json([body, [...await trailers]])
    }
    await serving(version, { fetch }, async client => {
      if (version.protocol === 'h2') {
        const stream = client.session.request({ ':method': 'POST', ':path': '/' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-sum': 'abc' }) })
        stream.end('up')
        return assert.equal(String(Buffer.concat(await stream.toArray())), '["up",[["x-sum","abc"]]]')
      }
      const request = client.open('/', { method: 'POST', headers: { 'transfer-encoding': 'chunked', trailer: 'x-sum' } })
      request.addTrailers({ 'x-sum': 'abc' })
      request.end('up')
      const [response] = await once(request, 'response')
      assert.equal(String(Buffer.concat(await response.toArray())), '["up",[["x-sum","abc"]]]')
    })
  })
}

test('a request that breaks off has no trailers', async t => {
  let reported
  const over = new Promise(resolve => { reported = resolve })
  let came
  const asked = new Promise(resolve => { came = resolve })
  const server = serveFor(t, {
    async fetch (request, info) {
      info.trailers.catch(error => { reported(error.name) })
      came()
      return new Lean(await request.text())
    }
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\npart')
  await asked
  socket.destroy()
  assert.equal(await over, 'AbortError')
})

test('a limit that is no number of bytes is refused', () => {
  for (const maxRequestBodySize of [-1, NaN, '1']) {
    assert.throws(() => serve({ fetch: () => new Lean(''), maxRequestBodySize }), /maxRequestBodySize is/)
  }
})

test('a signal that outlives its server is let go of', async t => {
  const { signal } = new AbortController()
  let listeners = 0
  for (const [name, change] of [['addEventListener', 1], ['removeEventListener', -1]]) {
    const own = signal[name].bind(signal)
    signal[name] = (...args) => { listeners += change; return own(...args) }
  }
  const server = serveFor(t, { signal, fetch: () => new Lean('') })
  assert.equal(listeners, 1)
  await server.close()
  await new Promise(setImmediate)
  assert.equal(listeners, 0)
})

/** Paths whose answers begin behind the handler's end: until then it may read the body. */
const LATER = ['/stream', '/looked-at', '/looked-at-and-stream', '/cancelled-behind']

/** A POST of 4 MB by a client that goes on with it behind its answer, as those of this package do not. */
const UPLOADS = {
  async h1 (port, path) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const closed = once(socket, 'close')
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000000\r\n\r\n`)
    socket.write(Buffer.alloc(1_000_000))
    const [head] = await once(socket, 'data')
    socket.resume()
    return { status: Number(String(head).slice(9, 12)), closes: /\r\nconnection: close\r\n/i.test(head), left: closed, write: bytes => { socket.write(Buffer.alloc(bytes)) }, close: () => { socket.destroy() } }
  },
  async h2 (port, path) {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':path': path, ':method': 'POST', 'content-length': '4000000' }, { endStream: false })
    stream.on('error', () => {})
    const left = once(stream, 'close')
    stream.write(Buffer.alloc(1_000_000))
    const [head] = await once(stream, 'response')
    stream.resume()
    return { status: head[':status'], left, write: bytes => { stream.end(Buffer.alloc(bytes)) }, close: () => { session.destroy() } }
  }
}

for (const [name, upload] of Object.entries(UPLOADS)) {
  for (const engine of ['inline', 'threads']) {
    test(`${name}, ${engine}: the body of a request that has its answer is declined where nothing reads it, whatever kind of answer it is`, { timeout: 60_000 }, async t => {
      const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'))
      t.after(() => { rmSync(folder, { recursive: true }) })
      const path = join(folder, 'file')
      writeFileSync(path, 'a file')
      const failures = t.mock.method(console, 'error', () => {})
      const pieces = async function * () { for (const piece of ['a ', 'stream']) { yield piece; await new Promise(setImmediate) } }
      const answers = {
        '/text': () => new Lean('text'),
        '/stream': () => new Lean(pieces()),
        '/file': () => new Lean(file(path)),
        '/failure': () => { throw new Error('on purpose') },
        '/looked-at': request => new Lean(String(request.body === null)),
        '/looked-at-and-stream': request => request.body && new Lean(pieces()),
        '/cancelled': async request => { await request.body.cancel(); return new Lean('cancelled') },
        '/left': async request => { for await (const piece of request.body) return new Lean(String(piece.length > 0)) },
        '/cancelled-behind': request => {
          const reader = request.body.getReader()
          // Its turn comes once the answer is given.
          setImmediate(() => { reader.cancel() })
          return new Lean('cancelled')
        }
      }
      const server = serve({ hostname: '127.0.0.1', port: 0, engine, routes: { '/route': file(path) }, fetch: request => answers[new URL(request.url).pathname](request) })
      t.after(() => server.close({ deadlineMs: 1000 }))
      for (const path of [...Object.keys(answers), '/route']) {
        const { status, closes, left, close } = await upload(server.port, path)
        assert.equal(status, path === '/failure' ? 500 : 200, path)
        // By this a client sends no other request that would be lost.
        if (closes !== undefined) assert.equal(closes, !LATER.includes(path), path)
        await left
        close()
        while (server.pendingRequests > 0) await new Promise(setImmediate)
      }
      assert.equal(failures.mock.callCount(), 1)
    })
  }

  test(`${name}: a body that a handler gives on, or reads, is read behind its answer`, async t => {
    const received = []
    const behind = serve({ hostname: '127.0.0.1', port: 0, async fetch (request) { received.push((await request.bytes()).length); return new Lean('') } })
    t.after(() => behind.close({ deadlineMs: 1000 }))
    let later
    const forwards = {
      '/fetch': request => leanFetch(behind.url, { method: 'POST', body: request.body, duplex: 'half' }),
      '/built-in': request => fetch(behind.url, { method: 'POST', body: request.body, duplex: 'half' }),
      '/request': request => fetch(new Request(behind.url, request)),
      '/clone': request => request.clone().bytes(),
      '/reader': async request => { for await (const piece of request.body) assert.ok(piece.length > 0) }
    }
    const server = serve({ hostname: '127.0.0.1', port: 0, fetch (request) { later = forwards[new URL(request.url).pathname](request); return new Lean('taken') } })
    t.after(() => server.close({ deadlineMs: 1000 }))
    for (const path of Object.keys(forwards)) {
      const { status, write, close } = await upload(server.port, path)
      assert.equal(status, 200)
      write(3_000_000)
      await later
      close()
    }
    assert.deepEqual(received, [4_000_000, 4_000_000, 4_000_000])
  })

  test(`${name}: a body is declined behind its answer once no byte of it has come or been read for the time of bodyIdle`, { timeout: 60_000 }, async t => {
    const ticks = new Set()
    t.mock.method(timers, 'setInterval', call => {
      ticks.add(call)
      return { unref () { return this } }
    })
    const seconds = count => { while (count-- > 0) for (const tick of ticks) tick() }
    for (const [options, max] of [[{}, 300], [{ timeouts: { bodyIdle: 20_000 } }, 20], [{ timeouts: { bodyIdle: 20_000 }, idleTimeout: 400 }, 20]]) {
      let reader
      const server = serve({
        hostname: '127.0.0.1',
        port: 0,
        ...options,
        async fetch (request) {
          reader = request.body.getReader()
          await reader.read()
          return new Lean('read')
        }
      })
      t.after(() => server.close({ deadlineMs: 1000 }))
      const { status, left, close } = await upload(server.port, '/')
      assert.equal(status, 200)
      for (let count = 0; count < 3; count++) {
        seconds(max)
        assert.ok((await reader.read()).value.length > 0)
      }
      seconds(max + 1)
      await left
      close()
      await assert.rejects(async () => { while (!(await reader.read()).done); }, { name: 'AbortError' })
    }
  })
}

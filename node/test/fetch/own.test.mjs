// `fetch` of this package over every version of HTTP: redirects, codings, integrity, aborts, streams and errors, as the Fetch standard
// has them. web-platform-tests say the rest (`make wpt`).
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { inspect } from 'node:util'
import { PerformanceObserver } from 'node:perf_hooks'
import { runInNewContext } from 'node:vm'
import zlib from 'node:zlib'
import { Agent, fetch, FormData, Headers, Request, Response } from 'trunkline'
import * as undici7 from 'undici7'
import { h1 } from '../support/servers/servers.mjs'
import { versions } from '../support/servers/versions.mjs'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

const TEXT = 'a small answer '.repeat(50)

const codings = {
  gzip: text => zlib.gzipSync(text),
  'x-gzip': text => zlib.gzipSync(text),
  deflate: text => zlib.deflateSync(text),
  br: text => zlib.brotliCompressSync(text),
  'gzip, br': text => zlib.brotliCompressSync(zlib.gzipSync(text)),
  'deflate, gzip': text => zlib.gzipSync(zlib.deflateSync(text)),
  ...(zlib.zstdCompressSync && { zstd: text => zlib.zstdCompressSync(text) })
}

/** Answers that have begun, by the key of their request. */
const parts = new Map()

/** Answers by the path. */
async function answered (request, response) {
  const url = new URL(request.url, 'http://localhost')
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('latin1')
  switch (url.pathname) {
    case '/redirect':
      response.writeHead(Number(url.searchParams.get('status')), { location: url.searchParams.get('to') })
      return response.end('elsewhere')
    case '/loop':
      response.writeHead(302, { location: '/loop' })
      return response.end()
    case '/coded': {
      const coding = url.searchParams.get('coding')
      response.writeHead(200, { 'content-encoding': coding })
      return response.end(url.searchParams.has('raw') ? zlib.deflateRawSync(TEXT) : codings[coding](TEXT))
    }
    case '/window': {
      const params = { [zlib.constants.ZSTD_c_windowLog]: Number(url.searchParams.get('log')) }
      response.writeHead(200, { 'content-encoding': 'zstd' })
      return response.end(zlib.zstdCompressSync(Buffer.alloc(2 ** params[zlib.constants.ZSTD_c_windowLog]), { params }))
    }
    case '/broken':
      response.writeHead(200, { 'content-encoding': url.searchParams.get('coding') })
      return response.end('not encoded at all')
    case '/text': return response.end(TEXT)
    case '/bytes': return response.end(Buffer.alloc(300_000, 'x'))
    case '/status':
      response.writeHead(Number(url.searchParams.get('code')))
      return response.end()
    case '/head':
      response.writeHead(200, { 'x-a': 'b' })
      return response.write('first')
    case '/part':
      response.writeHead(200, url.searchParams.has('coded') ? { 'content-encoding': 'gzip' } : {})
      parts.set(url.searchParams.get('key'), response)
      return response.write(url.searchParams.has('coded') ? zlib.gzipSync('first') : 'first')
    case '/rest': {
      const part = parts.get(url.searchParams.get('key'))
      if (url.searchParams.has('cut')) part.destroy()
      else part.end()
      return response.end()
    }
    case '/never': return
    default:
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }))
  }
}

/** A server and what `fetch` needs for it, until the test is over. */
async function pair (t, { serve, options }) {
  const server = await serve((request, response) => { answered(request, response).catch(() => {}) })
  const dispatcher = new Agent(options)
  t.after(async () => { await dispatcher.destroy(); await server.close() })
  return { server, ask: (path, init) => fetch(`${server.url}${path}`, { dispatcher, ...init }), dispatcher }
}

const failed = cause => ({ name: 'TypeError', message: 'fetch failed', ...(cause && { cause }) })

for (const version of versions) {
  const { name } = version

  test(`${name}: every way to read a body reads all of it, once`, async t => {
    const { ask } = await pair(t, version)
    for (const path of ['/text', '/bytes']) {
      const text = path === '/text' ? TEXT : 'x'.repeat(300_000)
      const reads = {
        text: r => r.text(),
        bytes: async r => Buffer.from(await r.bytes()).toString(),
        arrayBuffer: async r => Buffer.from(await r.arrayBuffer()).toString(),
        blob: async r => await (await r.blob()).text(),
        body: async r => {
          const chunks = []
          for await (const chunk of r.body) chunks.push(chunk)
          return Buffer.concat(chunks).toString()
        },
        byob: async r => {
          const reader = r.body.getReader({ mode: 'byob' })
          let [read, view] = ['', new Uint8Array(1000)]
          for (;;) {
            const { done, value } = await reader.read(view)
            if (done) return read
            read += Buffer.from(value).toString()
            view = new Uint8Array(value.buffer)
          }
        },
        clone: async r => {
          const clone = r.clone()
          const both = await Promise.all([r.text(), clone.text()])
          assert.equal(both[0], both[1])
          return both[1]
        }
      }
      for (const [way, read] of Object.entries(reads)) {
        const response = await ask(path)
        assert.equal(response.bodyUsed, false, way)
        assert.equal(await read(response), text, way)
        assert.equal(response.bodyUsed, true, way)
        await assert.rejects(response.text(), TypeError, way)
        assert.throws(() => response.clone(), TypeError, way)
      }
    }
    await assert.rejects((await ask('/text')).json(), SyntaxError)
    for (const code of [204, 304]) assert.equal((await ask(`/status?code=${code}`)).body, null)
    assert.equal(await (await ask('/text', { method: 'HEAD' })).text(), '')
  })

  test(`${name}: redirects are followed, with the method and the fields that the standard leaves`, async t => {
    const [one, other] = [await pair(t, version), await pair(t, version)]
    const headers = { authorization: 'secret', cookie: 'a=b', 'x-own': 'kept', 'content-language': 'de' }
    for (const status of [301, 302, 303, 307, 308]) {
      for (const method of ['GET', 'POST', 'PUT']) {
        for (const to of [one.server.url, other.server.url]) {
          const url = `/redirect?status=${status}&to=${encodeURIComponent(`${to}/end`)}`
          const response = await one.ask(url, { method, headers, ...(method !== 'GET' && { body: 'sent' }) })
          const seen = await response.json()
          const becomesGet = (method === 'POST' && status < 303) || (method !== 'GET' && status === 303)
          const about = `${status} ${method} to ${to === one.server.url ? 'the same' : 'another'} origin`
          assert.equal(seen.method, becomesGet ? 'GET' : method, about)
          assert.equal(seen.body, becomesGet || method === 'GET' ? '' : 'sent', about)
          assert.equal(seen.headers['content-language'], becomesGet ? undefined : 'de', about)
          assert.equal(seen.headers['x-own'], 'kept', about)
          const isSame = to === one.server.url
          assert.equal(seen.headers.authorization, isSame ? 'secret' : undefined, about)
          assert.equal(seen.headers.cookie, isSame ? 'a=b' : undefined, about)
          assert.deepEqual([response.redirected, response.url, response.type], [true, `${to}/end`, isSame ? 'basic' : 'cors'], about)
        }
      }
    }
    const manual = await one.ask('/redirect?status=302&to=/end', { redirect: 'manual' })
    assert.deepEqual([manual.status, manual.headers.get('location'), manual.redirected], [302, '/end', false])
    await assert.rejects(one.ask('/redirect?status=302&to=/end', { redirect: 'error' }), failed())
    await assert.rejects(one.ask('/loop'), error => error.message === 'fetch failed' && error.cause.message === 'redirect count exceeded')
    await assert.rejects(one.ask('/redirect?status=302&to=data:,x'), failed())
    await assert.rejects(one.ask(`/redirect?status=302&to=${encodeURIComponent('http://a b/')}`), ({ message, cause }) => {
      return message === 'fetch failed' && cause instanceof TypeError && cause.code === 'ERR_INVALID_URL' && cause.input === 'http://a b/'
    })
    const stream = new Blob(['x']).stream()
    await assert.rejects(one.ask('/redirect?status=307&to=/end', { method: 'POST', body: stream, duplex: 'half' }), failed())
    assert.equal((await (await one.ask('/redirect?status=303&to=/end', { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' })).json()).method, 'GET')
  })

  test(`${name}: codings are undone, and what is not encoded fails as the standard says`, async t => {
    const { ask } = await pair(t, version)
    for (const coding of Object.keys(codings)) {
      const path = `/coded?coding=${encodeURIComponent(coding)}`
      assert.equal(await (await ask(path)).text(), TEXT, coding)
      let text = ''
      for await (const chunk of (await ask(path)).body) text += Buffer.from(chunk).toString()
      assert.equal(text, TEXT, coding)
      const response = await ask(path)
      assert.deepEqual(await Promise.all([response.clone().text(), response.text()]), [TEXT, TEXT], coding)
      if (!coding.includes(',')) await assert.rejects((await ask(`/broken?coding=${coding}`)).text(), { name: 'TypeError', message: 'terminated' }, coding)
    }
    assert.equal(await (await ask('/coded?coding=deflate&raw')).text(), TEXT)
    assert.equal(await (await ask('/broken?coding=unknown')).text(), 'not encoded at all')
    await assert.rejects(ask(`/broken?coding=${'gzip,'.repeat(5)}gzip`), failed())
  })

  test(`${name}: integrity is checked before the response is given`, async t => {
    const { ask } = await pair(t, version)
    const hash = (algorithm, text) => `${algorithm}-${createHash(algorithm).update(text).digest('base64')}`
    for (const integrity of [hash('sha256', TEXT), `${hash('sha256', 'other')} ${hash('sha512', TEXT)}`, 'unknown-abc', '']) {
      assert.equal(await (await ask('/text', { integrity })).text(), TEXT, integrity)
    }
    for (const integrity of [hash('sha256', 'other'), `${hash('sha256', TEXT)} ${hash('sha512', 'other')}`, 'sha256-', 'sha384', 'sha512-?', 'sha256-no base64']) {
      await assert.rejects(ask('/text', { integrity }), failed(), integrity)
    }
  })

  test(`${name}: a signal ends a fetch with its reason, before its head and behind it`, async t => {
    const { ask, server } = await pair(t, version)
    await assert.rejects(ask('/text', { signal: AbortSignal.abort() }), { name: 'AbortError' })
    assert.equal(server.counts.requests, 0)
    for (const reason of [undefined, new Error('own'), 'text']) {
      const expected = reason ?? { name: 'AbortError' }
      const before = new AbortController()
      const waiting = ask('/never', { signal: before.signal })
      before.abort(reason)
      await assert.rejects(waiting, error => error === reason || error.name === expected.name)
      for (const read of [r => r.text(), r => r.body.getReader().read().then(() => r.clone()), r => r.clone().text()]) {
        const behind = new AbortController()
        const response = await ask('/head', { signal: AbortSignal.any([behind.signal]) })
        assert.equal(response.headers.get('x-a'), 'b')
        behind.abort(reason)
        if (read.toString().includes('getReader')) await assert.rejects(response.body.getReader().read(), error => error === reason || error.name === expected.name)
        else await assert.rejects(read(response), error => error === reason || error.name === expected.name)
      }
    }
  })

  test(`${name}: bodies of every kind are sent, with their type`, async t => {
    const { ask } = await pair(t, version)
    const form = new FormData()
    form.append('a', 'b')
    const kinds = [
      ['text', 'text/plain;charset=UTF-8', 'text'],
      [new URLSearchParams({ a: 'b c' }), 'application/x-www-form-urlencoded;charset=UTF-8', 'a=b+c'],
      [new Blob(['text'], { type: 'x/y' }), 'x/y', 'text'],
      [Buffer.from('text'), undefined, 'text'],
      [new Blob(['text']).stream(), undefined, 'text'],
      [(async function * () { yield 'te'; yield Buffer.from('xt') })(), undefined, 'text'],
      ['', 'text/plain;charset=UTF-8', '']
    ]
    for (const [body, type, text] of kinds) {
      const seen = await (await ask('/', { method: 'POST', body, duplex: 'half' })).json()
      assert.deepEqual([seen.headers['content-type'], seen.body], [type, text])
    }
    const seen = await (await ask('/', { method: 'POST', body: form })).json()
    const parsed = await new Response(seen.body, { headers: { 'content-type': seen.headers['content-type'] } }).formData()
    assert.deepEqual([...parsed], [['a', 'b']])
    await assert.rejects(ask('/', { method: 'POST', body: new Blob(['x']).stream() }), { name: 'TypeError', message: /duplex/ })
    await assert.rejects(ask('/', { body: 'x' }), { name: 'TypeError', message: /GET\/HEAD/ })
    const of = (...pieces) => new ReadableStream({ start (controller) { for (const piece of pieces) controller.enqueue(piece); controller.close() } })
    const words = await (await ask('/', { method: 'POST', body: of('te', '', new DataView(Uint8Array.of(120, 116).buffer)), duplex: 'half' })).json()
    assert.equal(words.body, 'text')
    for (const piece of [5, null, {}]) await assert.rejects(ask('/', { method: 'POST', body: of(piece), duplex: 'half' }), { name: 'TypeError', message: 'fetch failed' })
  })

  test(`${name}: a Request is fetched once, and its clone once more`, async t => {
    const { dispatcher, server } = await pair(t, version)
    const request = new Request(`${server.url}/path#part`, { method: 'PUT', body: new Blob(['text']).stream(), duplex: 'half', headers: [['x-a', '1'], ['X-A', '2']] })
    const clone = request.clone()
    for (const one of [request, clone]) {
      const seen = await (await fetch(one, { dispatcher })).json()
      assert.deepEqual([seen.method, seen.url, seen.body, seen.headers['x-a']], ['PUT', '/path', 'text', '1, 2'])
      assert.equal(one.bodyUsed, true)
      await assert.rejects(fetch(one, { dispatcher }), TypeError)
    }
  })

  test(`${name}: a body that is cut ends in a TypeError with the error of the connection as its cause`, async t => {
    const { ask, server } = await pair(t, version)
    const response = await ask('/head')
    const rejected = assert.rejects(response.text(), error => error.name === 'TypeError' && error.message === 'terminated' && error.cause.code !== undefined)
    await server.close()
    await rejected
  })
}

for (const version of versions) {
  test(`${version.name}: the stream of a body closes, or fails, with the body, also while its reader does not read`, async t => {
    const { ask } = await pair(t, version)
    for (const key of ['whole', 'cut']) {
      const reader = (await ask(`/part?key=${key}`)).body.getReader()
      assert.equal(Buffer.from((await reader.read()).value).toString(), 'first')
      const closed = key === 'cut' ? assert.rejects(reader.closed, { name: 'TypeError', message: 'terminated' }) : reader.closed
      await ask(`/rest?key=${key}${key === 'cut' ? '&cut' : ''}`)
      await closed
    }
  })
}

/** Calls what was registered with an object when that is collected. */
const ends = new FinalizationRegistry(call => { call() })

/** Collects garbage until a promise is settled. */
async function collecting (promise) {
  let isSettled = false
  const settled = promise.finally(() => { isSettled = true })
  while (!isSettled) {
    collect()
    await new Promise(resolve => { setImmediate(resolve) })
  }
  return await settled
}

const READS = {
  nothing: () => {},
  'the stream, untouched': response => { void response.body },
  'the first piece': async response => { await response.body.getReader().read() },
  'the first piece of an iteration': async response => { await response.body[Symbol.asyncIterator]().next() }
}

for (const [what, read] of Object.entries(READS)) {
  test(`a body of which a program read ${what} frees its connection when it is collected`, async t => {
    const { ask, server } = await pair(t, versions[0])
    const closed = new Promise(resolve => { server.server.once('request', (_, response) => { response.once('close', resolve) }) })
    await (async () => { await read(await ask('/head')) })()
    await collecting(closed)
  })
}

test('a reader of a body has the rest of it when the response has been collected between two reads', async t => {
  const { ask } = await pair(t, versions[0])
  for (const coding of [false, true]) {
    const key = `paused ${coding}`
    let response = await ask(`/part?key=${encodeURIComponent(key)}${coding ? '&coded' : ''}`)
    const collected = new Promise(resolve => { ends.register(response, resolve) })
    const reader = response.body.getReader()
    assert.equal(Buffer.from((await reader.read()).value).toString(), 'first')
    response = null
    await collecting(collected)
    for (let turn = 0; turn < 5; turn++) await collecting(Promise.resolve())
    await ask(`/rest?key=${encodeURIComponent(key)}`)
    const { done, value } = await reader.read()
    assert.deepEqual([done, value], [true, undefined])
  }
})

test('a small answer makes no stream, no Headers and no AbortController before a program asks for one', async t => {
  const { ask } = await pair(t, versions[0])
  await (await ask('/text')).text()
  const made = []
  const own = Object.fromEntries(['ReadableStream', 'AbortController', 'Map'].map(name => [name, globalThis[name]]))
  const watch = name => { globalThis[name] = new Proxy(own[name], { construct (target, args, newTarget) { made.push(name); return Reflect.construct(target, args, newTarget) } }) }
  t.after(() => { Object.assign(globalThis, own) })
  for (const name of Object.keys(own)) watch(name)
  for (const read of ['text', 'arrayBuffer', 'bytes']) await (await ask('/text'))[read]()
  await (await ask('/')).json()
  assert.deepEqual(made, [])
  const response = await ask('/text')
  void response.body
  assert.deepEqual(made, ['ReadableStream'])
})

test('data: and blob: URLs are fetched without a network, and schemes that are unknown are not', async () => {
  const data = await fetch('data:text/plain;base64,aGVsbG8=')
  assert.deepEqual([data.status, data.headers.get('content-type'), await data.text()], [200, 'text/plain', 'hello'])
  const url = URL.createObjectURL(new Blob(['0123456789'], { type: 'x/y' }))
  assert.equal(await (await fetch(url)).text(), '0123456789')
  const part = await fetch(url, { headers: { range: 'bytes=2-4' } })
  assert.deepEqual([part.status, part.headers.get('content-range'), await part.text()], [206, 'bytes 2-4/10', '234'])
  for (const one of [`${url}?query`, `${url}?`, `${url}/path`]) await assert.rejects(fetch(one), failed(), one)
  URL.revokeObjectURL(url)
  for (const one of [url, 'about:blank', 'file:///etc/hosts', 'unknown:x', 'data:no comma', 'http://localhost:1/', 'http://localhost:25/']) {
    await assert.rejects(fetch(one), failed(), one)
  }
  await assert.rejects(fetch('no url'), { name: 'TypeError', message: 'Failed to parse URL from no url' })
  await assert.rejects(fetch('http://a:b@localhost/'), { name: 'TypeError', message: /credentials/ })
})

test('a connection that cannot be made ends in a TypeError with the code of the connection in its cause', async () => {
  const server = await versions[0].serve(() => {})
  await server.close()
  await assert.rejects(fetch(server.url), error => error.message === 'fetch failed' && error.cause.code === 'ECONNREFUSED')
})

test('the innermost cause of a fetch that failed has the code of the error in front of it', async t => {
  const ends = { reset: response => response.socket.resetAndDestroy(), ended: response => response.socket.end(), cut: response => response.writeHead(200, { 'content-length': 5 }).write('ab', () => response.socket.end()) }
  const server = await h1((request, response) => ends[request.url.slice(1)](response))
  t.after(server.close)
  const gone = await h1(() => {})
  await gone.close()
  const innermost = error => error.cause === undefined ? error : innermost(error.cause)
  for (const [url, code] of [[`${server.url}/reset`, 'ECONNRESET'], [`${server.url}/ended`, 'UND_ERR_SOCKET'], [`${server.url}/cut`, 'UND_ERR_SOCKET'], [gone.url, 'ECONNREFUSED']]) {
    for (const own of [globalThis.fetch, fetch]) {
      const error = await own(url).then(response => response.text()).catch(error => error)
      assert.deepEqual([error.cause.code, innermost(error).code], [code, code], url)
    }
  }
})

test('a small answer that is beyond maxResponseSize has its head, and its reader is told, as with undici', async t => {
  const server = await h1((request, response) => { response.end('x'.repeat(200)) })
  t.after(server.close)
  for (const [own, { Agent: Of }] of [[fetch, { Agent }], [undici7.fetch, undici7]]) {
    const dispatcher = new Of({ maxResponseSize: 100 })
    const response = await own(server.url, { dispatcher })
    assert.equal(response.status, 200)
    await assert.rejects(response.text(), error => error.message === 'terminated' && error.cause.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    await dispatcher.close()
  }
})

test('memory that is shared is sent as the text that it is, as by the fetch of Node.js', async t => {
  const server = await h1((request, response) => { request.pipe(response) })
  t.after(server.close)
  const memory = new SharedArrayBuffer(2)
  const texts = []
  for (const body of [memory, new Uint8Array(memory), new DataView(memory)]) texts.push(await (await fetch(server.url, { method: 'POST', body })).text())
  // Node.js 20 refuses it.
  assert.deepEqual(texts, ['[object SharedArrayBuffer]', '0,0', '[object DataView]'])
})

test('memory that was transferred is an empty body, as by the fetch of Node.js', async t => {
  const server = await h1((request, response) => { request.pipe(response) })
  t.after(server.close)
  for (const made of [bytes => bytes, bytes => bytes.buffer, bytes => new DataView(bytes.buffer), bytes => Buffer.from(bytes.buffer)]) {
    const body = made(new Uint8Array(10))
    const buffer = ArrayBuffer.isView(body) ? body.buffer : body
    structuredClone(buffer, { transfer: [buffer] })
    assert.equal(await (await fetch(server.url, { method: 'POST', body })).text(), '')
    assert.equal(await new Response(body).text(), '')
  }
})

test('fields that come again, in another spelling or order, twice or as numbers reach the server as they were given', async t => {
  const { ask } = await pair(t, versions[0])
  const given = [
    [['x-a', '1'], ['x-b', '2']], [['x-a', '1'], ['x-b', '2']], [['x-a', '1'], ['x-b', '3']], [['x-b', '3'], ['x-a', '1']], [['X-A', '1'], ['x-b', '3']],
    [['x-a', '1'], ['X-a', '2']], [['x-a', '1'], ['7', '2']], [['7', '2'], ['x-a', '1']], [['__proto__', '1'], ['x-a', '1']], [['x-a', '1']], []
  ]
  for (const fields of [...given, ...given.toReversed()]) {
    for (const init of [{}, { method: 'POST', body: 'text' }, { cache: 'no-store' }, { referrer: 'about:client' }]) {
      const { headers } = await (await ask('/', { headers: fields, ...init })).json()
      const joined = name => fields.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value).join(', ') || undefined
      for (const name of ['x-a', 'x-b', '7']) assert.equal(Object.hasOwn(headers, name) ? headers[name] : undefined, joined(name), `${name} of ${JSON.stringify(fields)}`)
      assert.deepEqual([headers['content-type'], headers.pragma], [init.body && 'text/plain;charset=UTF-8', init.cache && 'no-cache'])
    }
  }
})

test('values of one name go out as one field, those of cookie with semicolons, as by the fetch of Node.js', async t => {
  const server = await h1((request, response) => { response.end(JSON.stringify(request.rawHeaders)) })
  t.after(server.close)
  const given = [['Authorization', 'a'], ['authorization', 'b'], ['Cookie', 'x=1'], ['cookie', 'y=2'], ['Set-Cookie', 'z=3'], ['set-cookie', 'w=4']]
  const sent = async (fetch, headers) => {
    const raw = (await (await fetch(server.url, { headers })).json()).map(text => text.toLowerCase())
    return raw.slice(raw.indexOf('authorization'), raw.indexOf('accept'))
  }
  const expected = ['authorization', 'a, b', 'cookie', 'x=1; y=2', 'set-cookie', 'z=3, w=4']
  for (const headers of [given, new Headers(given)]) {
    assert.deepEqual(await sent(globalThis.fetch, headers), expected)
    assert.deepEqual(await sent(fetch, headers), expected)
  }
  assert.equal(new Headers(given).get('cookie'), 'x=1; y=2')
  assert.deepEqual([...new Headers(given)].slice(1, 2), [['cookie', 'x=1; y=2']])
})

test('an interceptor may write into the fields of a fetch, and other fetches do not get them', async t => {
  const { dispatcher, server } = await pair(t, versions[0])
  const composed = dispatcher.compose(dispatch => (options, handler) => {
    options.headers['x-written'] = 'by the interceptor'
    return dispatch(options, handler)
  })
  for (const init of [{}, { headers: { 'x-a': '1' } }, {}, { headers: { 'x-a': '1' } }]) {
    const written = await (await fetch(server.url, { ...init, dispatcher: composed })).json()
    const plain = await (await fetch(server.url, { ...init, dispatcher })).json()
    assert.deepEqual([written.headers['x-written'], plain.headers['x-written']], ['by the interceptor', undefined])
  }
})

test('headers are sorted and joined, cookies are not, and those of a response that was received cannot be changed', async t => {
  const { ask } = await pair(t, versions[0])
  const headers = new Headers([['b', '1'], ['Set-Cookie', 'x'], ['a', ' 2 '], ['set-cookie', 'y'], ['B', '3']])
  assert.deepEqual([...headers], [['a', '2'], ['b', '1, 3'], ['set-cookie', 'x'], ['set-cookie', 'y']])
  assert.deepEqual(headers.getSetCookie(), ['x', 'y'])
  const response = await ask('/text')
  assert.throws(() => { response.headers.set('a', 'b') }, TypeError)
  assert.throws(() => { headers.append('a b', 'c') }, TypeError)
  assert.throws(() => { headers.append('a', 'b\r\nc') }, TypeError)
})

test('an answer whose trailers follow gives them when its body has been read', async t => {
  const server = await versions[2].serve((_, response) => {
    response.addTrailers({ 'x-sum': '5' })
    response.end('x'.repeat(100_000))
  })
  const dispatcher = new Agent(versions[2].options)
  t.after(async () => { await dispatcher.destroy(); await server.close() })
  const response = await fetch(server.url, { dispatcher })
  assert.equal((await response.text()).length, 100_000)
  assert.equal((await response.trailers).get('x-sum'), '5')
})

test('trailers that are asked for several times before the body has been read, of the response and of its clone, are all given', async t => {
  const server = await versions[2].serve((_, response) => {
    response.addTrailers({ 'x-sum': '5' })
    response.end('x'.repeat(100_000))
  })
  const dispatcher = new Agent(versions[2].options)
  t.after(async () => { await dispatcher.destroy(); await server.close() })
  const response = await fetch(server.url, { dispatcher })
  const clone = response.clone()
  const asked = [response.trailers, response.trailers, clone.trailers]
  await Promise.all([response.text(), clone.text()])
  assert.deepEqual((await Promise.all(asked)).map(trailers => trailers.get('x-sum')), ['5', '5', '5'])
})

test('a signal that aborts behind a whole answer takes from its reader what was not read', async t => {
  const { ask } = await pair(t, versions[0])
  for (const read of [r => r.text(), r => r.json(), r => r.body.getReader().read()]) {
    const controller = new AbortController()
    const response = await ask('/text', { signal: controller.signal })
    controller.abort()
    await assert.rejects(read(response), { name: 'AbortError' })
  }
  const controller = new AbortController()
  const response = await ask('/text', { signal: controller.signal })
  assert.equal(await response.text(), TEXT)
  controller.abort()
})

test('a body that was aborted rejects each of its readers at once, with the reason', async t => {
  const { ask } = await pair(t, versions[0])
  for (const way of ['text', 'json', 'arrayBuffer', 'bytes', 'blob', 'formData']) {
    const controller = new AbortController()
    const response = await ask('/head', { signal: controller.signal })
    controller.abort()
    const log = []
    const read = response[way]().catch(error => { log.push(error.name) })
    await Promise.all([read, Promise.resolve().then(() => { log.push('next microtask') })])
    assert.deepEqual(log, ['AbortError', 'next microtask'], way)
    await assert.rejects(response[way](), { name: 'AbortError' }, way)
  }
})

test('an upload whose stream fails rejects the fetch with the error of the stream as its cause', async t => {
  const { ask } = await pair(t, versions[0])
  const cause = new Error('broken')
  const body = new ReadableStream({ pull (controller) { controller.error(cause) } })
  await assert.rejects(ask('/', { method: 'POST', body, duplex: 'half' }), error => error.message === 'fetch failed' && error.cause === cause)
})

test('the stream of a request that is aborted is cancelled with the reason', async t => {
  const { ask, server } = await pair(t, versions[0])
  const controller = new AbortController()
  let cancelled
  const done = new Promise(resolve => { cancelled = resolve })
  const body = new ReadableStream({
    pull (stream) { stream.enqueue(Buffer.from('x')); return new Promise(() => {}) },
    cancel: cancelled
  }, { highWaterMark: 0 })
  const arrived = once(server.server, 'request')
  const sent = ask('/', { method: 'POST', body, duplex: 'half', signal: controller.signal })
  await arrived
  controller.abort()
  await assert.rejects(sent, { name: 'AbortError' })
  await done
})

test('a 407 is an error, because fetch asks no user for credentials', async t => {
  const { ask } = await pair(t, versions[0])
  await assert.rejects(ask('/status?code=407'), error => error.message === 'fetch failed' && error.cause.message === 'proxy authentication required')
})

test('a request and a response are printed as those of Node.js', async t => {
  const { ask } = await pair(t, versions[0])
  const names = text => [...text.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name)
  const request = ['http://localhost/', { method: 'POST', body: 'x' }]
  assert.deepEqual(names(inspect(new Request(...request))), names(inspect(new globalThis.Request(...request))))
  assert.deepEqual(names(inspect(new Response('x'))), names(inspect(new globalThis.Response('x'))))
  const response = await ask('/text')
  assert.match(inspect(response), /'content-length'|'date'/, 'names in lower case')
  assert.equal(await response.text(), TEXT, 'it is there behind its printing')
})

test('a fetch is among the resource timings of the process', async t => {
  const { ask } = await pair(t, versions[0])
  const seen = new Promise(resolve => {
    new PerformanceObserver((list, observer) => {
      const entry = list.getEntries().find(({ name }) => name.endsWith('/text'))
      if (entry === undefined) return
      observer.disconnect()
      resolve(entry)
    }).observe({ type: 'resource' })
  })
  const response = await ask('/text')
  await response.text()
  const { initiatorType, responseStatus, encodedBodySize, startTime, requestStart, responseStart, responseEnd } = await seen
  // Node.js 20 has no statuses there.
  assert.deepEqual([initiatorType, responseStatus ?? 200, encodedBodySize], ['fetch', 200, TEXT.length])
  assert.ok(startTime <= requestStart && requestStart <= responseStart && responseStart <= responseEnd)
})

test('the method query is written in capitals, and patch is not', async () => {
  const warned = once(process, 'warning')
  const methods = ['query', 'Query', 'put', 'patch', 'patch'].map(method => new Request('http://localhost/', { method }).method)
  assert.deepEqual(methods, ['QUERY', 'QUERY', 'PUT', 'patch', 'patch'])
  assert.equal((await warned)[0].code, 'UNDICI-FETCH-patch')
})

test('a zstd body that is cut, or empty, is not whole', { skip: (!zlib.zstdCompressSync || Number.parseInt(process.versions.node, 10) < 24) && 'this Node.js has no zstd, or one that passes over a missing end' }, async t => {
  const whole = zlib.zstdCompressSync(TEXT)
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-encoding': 'zstd' })
    response.end(whole.subarray(0, Number(request.url.slice(1))))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const dispatcher = new Agent()
  t.after(async () => {
    await dispatcher.destroy()
    server.close()
  })
  const get = async length => await (await fetch(`http://127.0.0.1:${server.address().port}/${length}`, { dispatcher })).text()
  for (const length of [0, 1, whole.length >> 1, whole.length - 1]) await assert.rejects(get(length), { name: 'TypeError', message: 'terminated' })
  assert.equal(await get(whole.length), TEXT)
})

test('a multipart form is as long as that of Node.js itself', async () => {
  const fill = form => { form.append('a', 'b'); return form }
  const lengthOf = async body => (await new Response(body).arrayBuffer()).byteLength
  const ours = new Response(fill(new FormData())).headers.get('content-type')
  const theirs = new globalThis.Response(fill(new globalThis.FormData()))
  assert.equal(ours.length, theirs.headers.get('content-type').length)
  assert.equal(await lengthOf(fill(new FormData())), (await theirs.arrayBuffer()).byteLength)
})

test('a zstd body whose window is beyond 8 MiB is refused (RFC 9659 section 3)', { skip: !zlib.zstdCompressSync && 'this Node.js has no zstd' }, async t => {
  const { ask } = await pair(t, versions[0])
  assert.equal((await (await ask('/window?log=23')).bytes()).length, 2 ** 23)
  const response = await ask('/window?log=24')
  await assert.rejects(response.bytes(), { name: 'TypeError', message: 'terminated' })
})

test('a multipart form that is cut anywhere is refused as one', async () => {
  const whole = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
  const parse = length => new Response(whole.slice(0, length), { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData()
  const end = whole.lastIndexOf('--') + 2
  for (let length = 0; length < end; length++) await assert.rejects(parse(length), { name: 'TypeError', message: 'Failed to parse body as FormData.' }, `${length} bytes`)
  for (let length = end; length <= whole.length; length++) assert.deepEqual([...await parse(length)], [['a', 'b']])
})

test('a percent sign at the end of a data URL stands for itself', async () => {
  for (const text of ['%', 'a%', 'a%4', 'a%zz']) assert.equal(await (await fetch(`data:,${text}`)).text(), text)
  for (const text of ['YQ%', 'YQ=%3']) await assert.rejects(fetch(`data:;base64,${text}`), ({ cause }) => cause.message === 'failed to fetch the data URL')
})

test('the list of parameters of a part ends where it says nothing more, and a name in the extended form goes first, as with undici', async () => {
  const parsed = async (Response, parameters) => {
    const body = `--x\r\nContent-Disposition: form-data${parameters}\r\n\r\nv\r\n--x--\r\n`
    const form = await new Response(body, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData()
    return [...form].map(([name, value]) => typeof value === 'string' ? [name] : [name, value.name])
  }
  const expected = {
    '; name="a";': ['a'], '; name="a"; ': ['a'], '; name=a;': ['a'], '; name="a"; b': ['a'], '; name="a" b': ['a'], '; name="a"; filename': ['a'], '; name="a"; filename="f";': ['a', 'f'],
    '; name="a"; filename="f"; filename*=utf-8\'\'g': ['a', 'g'], '; name="a"; filename*=utf-8\'\'g; filename="f"': ['a', 'g'], '; name="a"; name*=utf-8\'\'%C3%A9': ['é']
  }
  for (const [parameters, entry] of Object.entries(expected)) {
    for (const own of [undici7.Response, Response]) assert.deepEqual(await parsed(own, parameters), [entry], parameters)
  }
  for (const parameters of ['; name="a', '; name="a"; filename="f', ';', '; filename="f"', '; name', '; name="a\\"b"', '; name="a","b"', '; name="a"\nX: y']) {
    for (const own of [undici7.Response, Response]) await assert.rejects(parsed(own, parameters), { name: 'TypeError' }, parameters)
  }
})

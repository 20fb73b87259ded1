// A `Response` of ours beside the built-in one: the same things are made of the same values, whatever
// of it is read first, and what of ours has been read is sent as what was not.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { file, Response as Lean, serve } from 'trunkline'
import { versions } from '../support/clients/clients.mjs'
import { outcome } from '../support/outcome.mjs'
import { h1 } from '../support/servers/servers.mjs'

const form = () => {
  const form = new FormData()
  form.set('a', 'b')
  return form
}

const bodies = {
  nothing: () => undefined,
  null: () => null,
  'an empty text': () => '',
  'a text': () => 'höi',
  bytes: () => new Uint8Array([0, 255]),
  'an ArrayBuffer': () => new ArrayBuffer(3),
  'a DataView': () => new DataView(new ArrayBuffer(2)),
  'a Blob': () => new Blob(['x'], { type: 'a/b' }),
  'a Blob without a type': () => new Blob(['x']),
  'search parameters': () => new URLSearchParams({ a: 'b c' }),
  'a form': form,
  'a stream': () => new Blob(['streamed']).stream(),
  'an iterable': () => (async function * () { yield Buffer.from('piece') })(),
  'a number': () => 5,
  'an object': () => ({})
}

const inits = {
  nothing: undefined,
  null: null,
  empty: {},
  201: { status: 201 },
  'a status as a text': { status: '404' },
  'a status with a fraction': { status: 404.9 },
  'a status below': { status: 199 },
  'a status above': { status: 600 },
  'a status that is no number': { status: 'fine' },
  'status null': { status: null },
  'a status without a body': { status: 204 },
  statusText: { statusText: 'Fine' },
  'statusText that is a number': { statusText: 5 },
  'statusText of two lines': { statusText: 'a\r\nb' },
  'statusText beyond Latin-1': { statusText: '€' },
  'a record': { headers: { A: '1', b: ' 2 ' } },
  pairs: { headers: [['a', '1'], ['a', '2'], ['set-cookie', 'x'], ['set-cookie', 'y']] },
  Headers: { headers: new Headers({ a: '1' }) },
  'a type': { headers: { 'Content-Type': 'x/y' } },
  numbers: { headers: { a: 1 } },
  'half a pair': { headers: [['a']] },
  'three of a pair': { headers: [['a', 'b', 'c']] },
  'a name that is none': { headers: { 'a b': '1' } },
  'a value of two lines': { headers: { a: 'x\r\ny' } },
  'headers that are a number': { headers: 5 }
}

const looks = {
  plain: r => [r.status, r.statusText, r.ok, r.type, r.url, r.redirected, r.bodyUsed, r.body === null, [...r.headers]],
  text: async r => [await r.text(), r.bodyUsed],
  'text twice': async r => [await r.text(), await r.text()],
  bytes: async r => [...await r.bytes()],
  blob: async r => {
    const blob = await r.blob()
    return [blob.size, blob.type, await blob.text()]
  },
  json: async r => await r.json(),
  formData: async r => [...await r.formData()],
  clone: async r => {
    const clone = r.clone()
    return [clone.status, [...clone.headers], await clone.text(), await r.text()]
  },
  'a clone behind its text': async r => {
    await r.text()
    return [...r.clone().headers]
  },
  pieces: async r => {
    let bytes = 0
    if (r.body !== null) for await (const piece of r.body) bytes += piece.length
    return [bytes, r.bodyUsed]
  },
  textStream: async r => {
    // Lines of Node.js before 26 do not have it.
    if (Response.prototype.textStream === undefined) return 'nothing to compare with'
    let text = ''
    for await (const piece of r.textStream()) text += piece
    return [text, r.bodyUsed, await r.text()]
  },
  'a body that is locked': async r => {
    r.body?.getReader()
    return await r.text()
  },
  'a body that was cancelled': async r => {
    await r.body?.cancel()
    return [r.bodyUsed, await r.text()]
  },
  headers: r => {
    r.headers.append('a', '3')
    r.headers.set('z', 'w')
    r.headers.delete('b')
    return [[...r.headers], r.headers.getSetCookie(), r.headers === r.headers]
  },
  'another one of it': async r => {
    const again = new r.constructor(r.body, r)
    return [again.status, again.statusText, [...again.headers], await again.text()]
  },
  'what is seen of it': r => [Object.keys(r), Object.getOwnPropertyNames(r), Object.entries({ ...r }), JSON.stringify(r)],
  'its members': r => Object.getOwnPropertyNames(Response.prototype).map(name => [name, name in r, typeof r[name]]),
  'what it is': r => [Object.prototype.toString.call(r), r instanceof Response, r.headers instanceof Headers]
}

async function agree (make, name) {
  for (const [looked, look] of Object.entries(looks)) {
    // Its boundary differs each time, and is of another length than that of the built-in class; newer lines of Node.js cannot cancel
    // one without an uncaught error.
    if (name === 'a form' && ['bytes', 'blob', 'pieces', 'a body that was cancelled'].includes(looked)) continue
    const [ours, theirs] = [await outcome(() => look(make(Lean))), await outcome(() => look(make(Response)))]
    // Values that the built-in class refuses in its constructor, ours may refuse when its headers are read.
    if (theirs === 'TypeError' && ours !== theirs) await assert.rejects(async () => [...make(Lean).headers], TypeError, `${name}: ${looked}`)
    else assert.equal(ours, theirs, `${name}: ${looked}`)
  }
}

for (const [what, body] of Object.entries(bodies)) {
  test(`${what} as a body is what it is in the built-in class`, async () => { await agree(R => new R(body()), what) })
}

for (const [what, init] of Object.entries(inits)) {
  test(`${what} as what a Response starts with is what it is in the built-in class`, async () => {
    for (const body of ['text', null]) await agree(R => new R(body, init), what)
  })
}

test('json, redirect and error make what those of the built-in class make', async () => {
  await agree(R => R.json({ a: 1 }), 'json')
  await agree(R => R.json([1], { status: 201, headers: { a: 'b' } }), 'json with a status')
  await agree(R => R.json('x', { headers: { 'content-type': 'x/y' } }), 'json with a type')
  await agree(R => R.json(undefined), 'json of nothing')
  await agree(R => R.json(1, { status: 204 }), 'json without a body')
  await agree(R => R.error(), 'error')
  for (const [url, status] of [['http://a/ü ?ö'], [new URL('http://a/')], ['HTTP://A', 307], ['http://a/', 200]]) {
    const { name, location } = await located(Response, url, status)
    assert.deepEqual(await located(Lean, url, status), { name, location })
  }
  // Ours takes a relative one too, and sends no character that a URL does not have.
  assert.equal(Lean.redirect('/ü?a b=%20\r\n').headers.get('location'), '/%C3%BC?a%20b=%20%0D%0A')
})

async function located (R, ...given) {
  try {
    return { name: null, location: R.redirect(...given).headers.get('location') }
  } catch ({ name }) {
    return { name, location: null }
  }
}

test('what was read of a Response before it is returned changes nothing of what is sent, nor that it can be returned again', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  const path = join(folder, 'file')
  writeFileSync(path, 'of a file')
  const touches = [() => {}, r => r.headers, r => r.body, r => r.clone(), r => { r.headers.set('x-added', 'yes') }]
  const makes = [
    () => Lean.json({ a: 1 }),
    () => Lean.json({ a: 1 }, { status: 201, headers: { 'content-type': 'x/y' } }),
    () => new Lean('text', { headers: { 'x-a': 'b' } }),
    () => new Lean(new Uint8Array([1, 2]), { status: 404 }),
    () => new Lean(file(path, { offset: 3 }), { headers: { 'content-type': 'x/y' } }),
    () => Lean.redirect('/elsewhere'),
    () => new Lean((async function * () { yield 'piece' })())
  ]
  let answer
  const server = serve({ hostname: '127.0.0.1', fetch: () => answer })
  t.after(() => server.close({ deadlineMs: 0 }))
  const sent = async () => {
    const response = await fetch(server.url, { redirect: 'manual' })
    const { 'x-added': added, date, 'keep-alive': _, ...headers } = Object.fromEntries(response.headers)
    return { reported: { status: response.status, headers, text: await response.text() }, added }
  }
  for (const make of makes) {
    answer = make()
    const { reported } = await sent()
    for (const touch of touches) {
      answer = make()
      touch(answer)
      const expected = { reported, added: touch === touches.at(-1) ? 'yes' : undefined }
      assert.deepEqual(await sent(), expected, String(make))
      // A body that is read as it is sent is gone.
      if (make !== makes.at(-1)) assert.deepEqual(await sent(), expected, String(make))
    }
  }
})

const encoders = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, 'gzip, br': text => brotliCompressSync(gzipSync(text)) }

for (const version of versions) {
  test(`${version.name}: an answer that came by fetch is passed on as it is, and what fetch has decoded is not said to be encoded`, async t => {
    const upstream = await h1((request, response) => {
      const coding = decodeURIComponent(request.url.slice(1))
      const body = (encoders[coding] ?? Buffer.from)('hello '.repeat(100))
      response.writeHead(200, { 'content-encoding': coding, 'content-length': body.length, 'keep-alive': 'timeout=9', 'x-a': 'b', 'set-cookie': ['a', 'b'] })
      response.end(request.method === 'HEAD' ? null : body)
    })
    const { cert, key } = version.options.tls ?? {}
    const server = serve({
      ...version.options,
      hostname: '127.0.0.1',
      tls: cert && { cert, key },
      fetch: ({ method, url }) => fetch(upstream.url + new URL(url).pathname, { method })
    })
    const client = version.connect(server.port)
    t.after(async () => {
      await client.close()
      await server.close({ deadlineMs: 0 })
      await upstream.close()
    })
    for (const coding of [...Object.keys(encoders), 'unknown']) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, body } = await client.ask(`/${encodeURIComponent(coding)}`, { method })
        assert.deepEqual([status, headers['x-a'], headers['set-cookie'], String(body)], [200, 'b', ['a', 'b'], method === 'GET' ? 'hello '.repeat(100) : ''])
        const isDecoded = method === 'GET' && coding !== 'unknown'
        assert.equal(headers['content-encoding'], isDecoded ? undefined : coding, `${method} ${coding}`)
        // A decoded body has the length it was decoded to, where the head says one: it does when the whole
        // body had been read before the head left.
        if (isDecoded) assert.equal(headers['content-length'] ?? '600', '600', `${method} ${coding}`)
        else assert.notEqual(headers['content-length'], undefined, `${method} ${coding}`)
      }
    }
  })
}

/** The head goes out before a second piece. */
const streamOf = (...pieces) => new ReadableStream({
  pull (controller) {
    const piece = pieces.shift()
    if (piece === undefined) controller.close()
    else controller.enqueue(Buffer.from(piece))
  }
})

for (const version of versions) {
  test(`${version.name}: an answer that is there whole is as long as its body, and a stream that is not as long as its head says is told to the hook and whole for nobody`, async t => {
    const headers = { 'content-length': '4' }
    const answers = {
      '/long': () => new Lean('12345', { headers }),
      '/short': () => new Lean('123', { headers }),
      '/nothing': () => new Lean(null, { headers }),
      '/none': () => new Lean('12345', { headers: { 'content-length': 'none', 'x-content-length': '1' } }),
      '/copied': () => new Response('12345', { headers }),
      '/big': () => new Lean('x'.repeat(300_000), { headers }),
      '/streamed/long': () => new Lean(streamOf('123', '45'), { headers }),
      '/streamed/short': () => new Lean(streamOf('12', '3'), { headers }),
      '/exact': () => new Lean('1234', { headers: { ...headers, vary: 'content-length' } }),
      '/streamed/exact': () => new Lean(streamOf('1', '234'), { headers }),
      '/304': () => new Lean(null, { status: 304, headers }),
      '/204': () => new Lean(null, { status: 204, headers })
    }
    const reported = []
    const { cert, key } = version.options.tls ?? {}
    const server = serve({
      ...version.options,
      hostname: '127.0.0.1',
      tls: cert && { cert, key },
      fetch: ({ url }) => answers[new URL(url).pathname](),
      error ({ message }) {
        reported.push(message)
        return new Lean('wrong', { status: 500 })
      }
    })
    const client = version.connect(server.port)
    t.after(async () => {
      await client.close()
      await server.close({ deadlineMs: 0 })
    })
    const printed = bytes => `the content-length of the answer is 4, and its body has ${bytes} bytes`
    for (const [path, expected] of [['/long', '12345'], ['/short', '123'], ['/nothing', ''], ['/none', '12345'], ['/copied', '12345'], ['/big', 'x'.repeat(300_000)]]) {
      const { status, headers, body } = await client.ask(path)
      assert.deepEqual([status, String(body), headers['content-length'] ?? '0'], [200, expected, String(expected.length)], path)
    }
    for (const [path, bytes] of [['/streamed/long', 5], ['/streamed/short', 3]]) {
      await assert.rejects(client.ask(path), path)
      assert.deepEqual(reported.splice(0), [printed(bytes)], path)
    }
    for (const [path, method, expected] of [['/exact', 'GET', [200, '1234', '4']], ['/streamed/exact', 'GET', [200, '1234', '4']], ['/short', 'HEAD', [200, '', '3']], ['/nothing', 'HEAD', [200, '', '4']], ['/304', 'GET', [304, '', '4']], ['/204', 'GET', [204, '', undefined]]]) {
      const { status, headers, body } = await client.ask(path, { method })
      assert.deepEqual([status, String(body), headers['content-length']], expected, path)
    }
    assert.deepEqual(reported, [])
  })
}

for (const version of versions) {
  test(`${version.name}: a content-length that is no number, and a trailer that frames a message, are told to the hook, and a field that exposes a length is none`, async t => {
    const stream = () => new ReadableStream({
      async pull (controller) {
        await new Promise(setImmediate)
        controller.enqueue(Buffer.from('12345'))
        controller.close()
      }
    })
    const length = value => ({ headers: { 'content-length': value } })
    const answers = {
      '/stream': () => new Lean(stream(), length('5, 5')),
      '/built-in': () => new Response(stream(), length('five')),
      '/304': () => new Lean(null, { status: 304, ...length('-5') }),
      '/twice': () => new Lean(null, { headers: [['content-length', '5'], ['content-length', '5']] }),
      '/exposed': () => new Lean(stream(), { headers: { 'access-control-expose-headers': 'content-length', 'content-length': '5' } }),
      '/trailer': info => {
        info.sendTrailers({ 'x-sum': 'a', 'content-length': '5' })
        return new Lean('body')
      }
    }
    const reported = []
    const { cert, key } = version.options.tls ?? {}
    const server = serve({
      ...version.options,
      hostname: '127.0.0.1',
      tls: cert && { cert, key },
      fetch: ({ url }, info) => answers[new URL(url).pathname](info),
      error ({ message }) {
        reported.push(message)
        return new Lean('wrong', { status: 500 })
      }
    })
    const client = version.connect(server.port)
    t.after(async () => {
      await client.close()
      await server.close({ deadlineMs: 0 })
    })
    for (const [path, value, method = 'GET'] of [['/stream', '5, 5'], ['/built-in', 'five'], ['/304', '-5'], ['/twice', '5, 5', 'HEAD']]) {
      const { status, body } = await client.ask(path, { method })
      assert.deepEqual([status, String(body)], [500, method === 'HEAD' ? '' : 'wrong'])
      assert.deepEqual(reported.splice(0), [`the content-length of the answer is '${value}'; it must be one number of bytes`])
    }
    const { status, headers, body } = await client.ask('/exposed')
    assert.deepEqual([status, headers['content-length'], String(body)], [200, '5', '12345'])
    assert.deepEqual(reported, [])
    await assert.rejects(client.ask('/trailer'))
    assert.deepEqual(reported, ['content-length cannot be among the trailers: it frames or routes a message (RFC 9110 section 6.5.1)'])
  })
}

for (const version of versions) {
  test(`${version.name}: an answer to HEAD lets go of the source of its body, and the signal of its request does not abort`, async t => {
    const endless = cancel => ({
      async pull (controller) {
        await new Promise(setImmediate)
        controller.enqueue(new Uint8Array(1))
      },
      cancel
    })
    const sources = {
      '/stream': over => new ReadableStream(endless(over)),
      '/silent': over => new ReadableStream({ pull: () => new Promise(() => {}), cancel: over }),
      '/length': over => new ReadableStream(endless(over)),
      '/iterable': over => (async function * () {
        try {
          for (;;) yield await new Promise(resolve => { setImmediate(resolve, 'piece') })
        } finally {
          over()
        }
      })()
    }
    const aborted = []
    let over
    const { cert, key } = version.options.tls ?? {}
    const server = serve({
      ...version.options,
      hostname: '127.0.0.1',
      tls: cert && { cert, key },
      fetch ({ url, signal }) {
        const { pathname } = new URL(url)
        signal.addEventListener('abort', () => { aborted.push(pathname) })
        return new Lean(sources[pathname](over), { headers: { 'x-path': pathname, ...(pathname === '/length' ? { 'content-length': '7' } : {}) } })
      }
    })
    const client = version.connect(server.port)
    t.after(async () => {
      await client.close()
      await server.close({ deadlineMs: 0 })
    })
    for (const path of Object.keys(sources)) {
      const left = new Promise(resolve => { over = resolve })
      const { status, headers, body } = await client.ask(path, { method: 'HEAD' })
      assert.deepEqual([status, headers['x-path'], headers['content-length'], String(body)], [200, path, path === '/length' ? '7' : undefined, ''])
      await left
      while (server.pendingRequests > 0) await new Promise(setImmediate)
    }
    assert.deepEqual(aborted, [])
  })
}

test('a Response with a status that has no body refuses one, also an empty text, as the built-in one does', () => {
  for (const Made of [Lean, globalThis.Response]) {
    for (const status of [204, 205, 304]) {
      for (const body of ['', 'text', new Uint8Array(0)]) assert.throws(() => new Made(body, { status }), TypeError)
      assert.equal(new Made(null, { status }).status, status)
    }
  }
})

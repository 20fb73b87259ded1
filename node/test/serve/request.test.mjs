// A `Request` as handlers get it beside the built-in one: what a handler reads of it, in whatever order,
// is what it would read of a request of that method, with those headers and that body.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { inspect, promisify } from 'node:util'
import { fetch as ownFetch, Request as OwnRequest, Response as Lean, serve } from 'trunkline'
import { outcome } from '../support/outcome.mjs'

const form = () => {
  const form = new FormData()
  form.set('a', 'b')
  form.set('f', new File(['xyz'], 'n.txt', { type: 'text/x' }))
  return form
}

const requests = {
  'without a body': () => ({ headers: { 'x-a': '1', 'x-two': 'a, b' } }),
  'with a text': () => ({ method: 'POST', body: 'höi', headers: { 'x-a': '1' } }),
  'with a byte order mark': () => ({ method: 'POST', body: '\ufeffhi' }),
  'with JSON': () => ({ method: 'PUT', body: '{"a":1}', headers: { 'content-type': 'application/json' } }),
  'with half of JSON': () => ({ method: 'PUT', body: '{', headers: { 'content-type': 'application/json' } }),
  'with a form': () => ({ method: 'POST', body: form() }),
  'with search parameters': () => ({ method: 'POST', body: new URLSearchParams({ a: 'b', c: 'd e' }) }),
  'with bytes': () => ({ method: 'PATCH', body: new Uint8Array([0, 255, 254]) }),
  'with many bytes': () => ({ method: 'DELETE', body: 'x'.repeat(300_000) }),
  'with a stream': () => ({ method: 'POST', body: new Blob(['streamed']).stream(), duplex: 'half' })
}

/** Leaves out the client's own fields. */
const own = headers => [...headers].filter(([name]) => name.startsWith('x-'))
const length = piece => typeof piece === 'string' ? piece : piece.byteLength

const looks = {
  plain: q => [q.method, new URL(q.url).pathname, q.destination, q.referrer, q.referrerPolicy, q.mode, q.credentials, q.cache, q.redirect,
    q.integrity, q.keepalive, q.isReloadNavigation, q.isHistoryNavigation, q.signal.aborted, q.duplex, q.bodyUsed, q.body === null],
  'what it is': q => [Object.prototype.toString.call(q), q instanceof Request, q.headers instanceof Headers, q.signal instanceof AbortSignal],
  'what is the same': q => [q.headers === q.headers, q.body === q.body, q.signal === q.signal],
  'what JSON makes of it': q => [JSON.stringify(q), JSON.stringify(q.headers), Object.keys(q.headers)],
  'headers that are there': q => [q.headers.get('X-A'), q.headers.has('x-a'), q.headers.get('x-two'), q.headers.get('x-no'), q.headers.has('x-no')],
  'headers that are changed': q => {
    q.headers.set('x-n', '1')
    q.headers.append('x-a', '2')
    q.headers.delete('x-two')
    return own(q.headers)
  },
  'headers one by one': q => {
    const reported = []
    q.headers.forEach(function (value, name) { if (name.startsWith('x-')) reported.push(name, value, this) }, 5)
    return reported
  },
  'a copy of the headers': q => own(new Headers(q.headers)),
  'a name that is none': q => q.headers.get('a b'),
  text: async q => [await q.text(), q.bodyUsed],
  'text behind a look at the body': async q => q.body === null || [q.bodyUsed, await q.text(), q.bodyUsed],
  'the body behind its text': async q => {
    await q.text()
    return [q.body?.locked, q.bodyUsed]
  },
  'text twice': async q => [await q.text(), await q.text()],
  json: async q => await q.json(),
  formData: async q => [...await q.formData()].map(([name, value]) => [name, typeof value === 'string' ? value : [value.name, value.type, value.size]]),
  bytes: async q => [length(await q.bytes())],
  arrayBuffer: async q => [length(await q.arrayBuffer())],
  blob: async q => [(await q.blob()).size],
  clone: async q => {
    const clone = q.clone()
    return [clone.method, own(clone.headers), length(await clone.text()), length(await q.text()), q.bodyUsed]
  },
  'a clone that is read last, and one of it': async q => {
    const clone = q.clone()
    const other = q.clone()
    return [await q.text(), await clone.text(), await other.text()]
  },
  'a clone behind its text': async q => {
    await q.text()
    return q.clone().method
  },
  'another one that starts as it': async q => {
    const other = new Request('http://other/', q)
    return [q.bodyUsed, other.method, own(other.headers), await other.text()]
  },
  'a copy by way of a clone': async q => {
    const copy = new Request(q.clone(), { headers: { 'x-n': '1' } })
    return [copy.method, own(copy.headers), await copy.text()]
  },
  'a copy': async q => {
    const copy = new Request(q)
    return [copy.method, new URL(copy.url).pathname, own(copy.headers), q.bodyUsed, await copy.text(), q.bodyUsed, copy instanceof Request]
  },
  'a copy with another body': async q => {
    if (q.method === 'GET') return 'it can have none'
    const copy = new Request(q, { body: 'else', duplex: 'half' })
    return [copy.method, own(copy.headers), await copy.text(), q.bodyUsed, await q.text()]
  },
  'a copy with other headers and another method': async q => {
    const copy = new Request(q, { method: 'PUT', headers: { 'x-n': '1' } })
    return [copy.method, own(copy.headers), await copy.text()]
  },
  'a copy behind a change of its headers': q => {
    q.headers.set('x-n', '1')
    return own(new Request(q).headers)
  },
  'a copy behind its text': async q => {
    await q.text()
    return new Request(q).method
  },
  'a copy with another body behind its text': async q => {
    await q.text()
    return q.method === 'GET' ? 'it can have none' : await new Request(q, { body: 'else', duplex: 'half' }).text()
  },
  'a copy of a body that is locked': async q => {
    q.body?.getReader()
    return new Request(q).method
  },
  'a copy whose signal is another': q => {
    const controller = new AbortController()
    const copy = new Request(q, { signal: controller.signal })
    controller.abort()
    return [copy.signal.aborted, q.signal.aborted]
  },
  'an instance of a derived class': async q => {
    class Derived extends Request { get more () { return 'more' } }
    const made = new Derived(q)
    return [made.more, made instanceof Derived, made instanceof Request, await made.text()]
  },
  'fetched as it is': async q => await (await fetch(q)).json(),
  'fetched with another body': async q => q.method === 'GET' ? 'it can have none' : await (await fetch(q, { body: 'else', duplex: 'half' })).json(),
  'fetched behind a copy': async q => await (await fetch(new Request(q, { headers: { 'x-n': '1' } }))).json(),
  'fetched as the changes of another': async q => await (await fetch(`${new URL('/other', q.url)}`, q)).json(),
  'what it is made by': q => [q.constructor === Request, q.constructor.name, Request.name, Request.length, fetch.name, fetch.length],
  'what is seen of it': q => [Object.keys(q), Object.getOwnPropertyNames(q), Object.entries({ ...q })],
  'its members': q => Object.getOwnPropertyNames(Request.prototype).map(name => [name, name in q, typeof q[name]]),
  pieces: async q => {
    let bytes = 0
    if (q.body !== null) for await (const piece of q.body) bytes += piece.length
    return [bytes, q.bodyUsed]
  },
  textStream: async q => {
    // Lines of Node.js before 26 do not have it.
    if (Request.prototype.textStream === undefined) return 'nothing to compare with'
    let text = ''
    for await (const piece of q.textStream()) text += piece
    return [text.length, q.bodyUsed, await q.text()]
  },
  'a reader': async q => {
    const read = await q.body?.getReader().read()
    return [read?.done, q.bodyUsed, q.body?.locked]
  },
  'text of a body that is locked': async q => {
    q.body?.getReader()
    return await q.text()
  },
  'a body that is cancelled': async q => {
    await q.body?.cancel()
    return q.bodyUsed
  },
  'a Response of the body': async q => await new Response(q.body).text()
}

for (const [what, init] of Object.entries(requests)) {
  test(`a request ${what} is to its handler what it is in the built-in class`, async t => {
    let [look, reported] = []
    /** Requests fetched during the inspection arrive here too. */
    let isLooking = false
    const looking = async request => {
      isLooking = true
      const result = await outcome(() => look(request))
      isLooking = false
      return result
    }
    const server = serve({
      hostname: '127.0.0.1',
      async fetch (request) {
        if (isLooking) return Lean.json([request.method, new URL(request.url).pathname, own(request.headers), await request.text()])
        reported = await looking(request)
        return new Lean('')
      }
    })
    t.after(() => server.close({ deadlineMs: 0 }))
    for (const [looked, next] of Object.entries(looks)) {
      // Newer lines of Node.js cannot cancel their own without an uncaught error.
      if (looked === 'a body that is cancelled' && what === 'with a form') continue
      look = next
      assert.equal(await (await fetch(`${server.url}path`, init())).text(), '')
      assert.equal(reported, await looking(new Request(`${server.url}path`, init())), looked)
    }
  })
}

test('a request, its headers and a Response can be looked at as the built-in ones can', async t => {
  let displayed
  const server = serve({
    hostname: '127.0.0.1',
    fetch (request) {
      displayed = [inspect(request), inspect(request.headers), inspect(new Lean('text', { status: 201 })), inspect({ request }, { depth: 0 })]
      return new Lean('')
    }
  })
  t.after(() => server.close({ deadlineMs: 0 }))
  await (await fetch(`${server.url}path`, { headers: { 'x-a': '1' } })).text()
  const [request, headers, response] = displayed
  assert.match(request, /^Request \{\n {2}method: 'GET',\n {2}url: '.*\/path',\n {2}headers: Headers \{[^]*'x-a': '1'/)
  assert.match(headers, /^Headers \{[^]*'x-a': '1'/)
  assert.match(response, /^Response \{\n {2}status: 201,/)
})

test('nothing of the built-in classes is left for ours to inherit, who have not what it works on', async t => {
  let pairs
  const server = serve({
    hostname: '127.0.0.1',
    fetch (request) {
      pairs = [[Request.prototype, request], [Headers.prototype, request.headers], [Response.prototype, new Lean('')]]
      return new Lean('')
    }
  })
  t.after(() => server.close({ deadlineMs: 0 }))
  await (await fetch(server.url)).text()
  for (const [builtIn, own] of pairs) {
    const works = name => {
      const { get, value } = Object.getOwnPropertyDescriptor(builtIn, name)
      return get !== undefined || typeof value === 'function'
    }
    const isOwn = name => Object.hasOwn(own, name) || Object.hasOwn(Object.getPrototypeOf(own), name)
    assert.deepEqual(Object.getOwnPropertyNames(builtIn).filter(name => name !== 'constructor' && works(name) && !isOwn(name)), [])
  }
})

test('the url of a request is what the built-in class makes of its target', async t => {
  const targets = ['/', '/a/../b', '/a/./b', '/%2e%2E/b', '/.well-known/x', '/a//b', '/ä', '/a"b<c>', "/a'b?c='d'", '/a\\b', '/a%zz', '/a?b=c/../d', '/?', '/a|b^c`d{e}', '/a#b']
  const seen = []
  const server = serve({
    hostname: '127.0.0.1',
    fetch (request) {
      seen.push(request.url)
      return new Lean('')
    }
  })
  t.after(() => server.close({ deadlineMs: 0 }))
  const hosts = ['localhost', 'LOCALHOST', 'a.test:80', 'a.test:443', 'a.test:8080', '[::1]:8080']
  const answered = (target, host) => new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => { socket.end(`GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`, 'latin1') })
    let text = ''
    socket.on('data', chunk => { text += chunk })
    socket.on('error', reject).on('close', () => { resolve(Number(text.slice(9, 12))) })
  })
  let compared = 0
  for (const [target, host] of [...targets.map(target => [target, 'localhost']), ...hosts.map(host => ['/a', host])]) {
    seen.length = 0
    // A method that no client may send is refused before it is a request.
    if (await answered(target, host) !== 200) continue
    compared++
    assert.deepEqual(seen, [new Request(`http://${host}${target}`).url])
  }
  assert.ok(compared > 12, `${compared} were requests`)
})

test('fields of the connection do not go along with what is fetched', async t => {
  const seen = []
  const server = serve({
    hostname: '127.0.0.1',
    async fetch (request) {
      if (new URL(request.url).pathname === '/inner') {
        seen.push(await request.text(), request.headers.get('x-own'), request.headers.get('x-mine'))
        return new Lean('inner')
      }
      return await fetch(new Request(new URL('/inner', request.url), request))
    }
  })
  t.after(() => server.close({ deadlineMs: 0 }))
  const text = await new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(`POST /outer HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: close, x-own\r\nx-own: 1\r\nx-mine: 2\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`)
    })
    let text = ''
    socket.on('data', chunk => { text += chunk })
    socket.on('error', reject).on('close', () => { resolve(text) })
  })
  assert.match(text, /^HTTP\/1\.1 200 /)
  assert.deepEqual(seen, ['abc', null, '2'])
})

test('with overrideGlobalObjects off the globals stay as they are', async () => {
  const program = `
    import { serve } from ${JSON.stringify(import.meta.resolve('trunkline'))}
    const [one, other] = [Object.getOwnPropertyDescriptor(globalThis, 'Request'), fetch]
    const server = serve({ hostname: '127.0.0.1', overrideGlobalObjects: false, fetch: () => new Response('') })
    const isSame = JSON.stringify(one) === JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'Request')) && one.get === Object.getOwnPropertyDescriptor(globalThis, 'Request').get
    console.log(isSame, fetch === other)
    await server.close({ deadlineMs: 0 })`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { timeout: 60_000 })
  assert.equal(stdout.trim(), 'true true')
})

test('a request that does not say all of its URL has one that can be read', async t => {
  const seen = []
  const server = serve({
    hostname: '127.0.0.1',
    fetch (request) {
      seen.push([request.method, request.url, new URL(request.url).pathname])
      return new Lean('')
    }
  })
  t.after(() => server.close({ deadlineMs: 0 }))
  const own = server.url.href
  const ask = text => new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => { socket.end(text) })
    socket.resume().on('error', reject).on('close', resolve)
  })
  await ask('GET /a?b HTTP/1.0\r\n\r\n')
  await ask('OPTIONS * HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n')
  await ask('OPTIONS * HTTP/1.0\r\n\r\n')
  assert.deepEqual(seen, [['GET', `${own}a?b`, '/a'], ['OPTIONS', 'http://a.test/', '/'], ['OPTIONS', own, '/']])
})

test('the bytes of a path that are not of ASCII are escaped one by one in its URL, and find their route', async () => {
  const server = serve({ hostname: '127.0.0.1', routes: { '/grün/:name': request => new Lean(`${request.url} ${request.params.name}`) }, fetch: request => new Lean(request.url) })
  const ask = async target => {
    const socket = connect(server.port, '127.0.0.1')
    socket.end(Buffer.from(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`))
    const pieces = await socket.toArray()
    return Buffer.concat(pieces).toString().split('\r\n\r\n')[1]
  }
  try {
    assert.equal(await ask('/ü?ß=€'), 'http://localhost/%C3%BC?%C3%9F=%E2%82%AC')
    assert.equal(await ask('/grün/größe'), 'http://localhost/gr%C3%BCn/gr%C3%B6%C3%9Fe größe')
    assert.equal(await ask('http://localhost/ü'), 'http://localhost/%C3%BC')
  } finally {
    await server.stop(true)
  }
})

/** A request that a handler passes on in each of `ways`, which are named by paths, as it reaches another server. */
async function passedOn (ways, head) {
  const upstream = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const { 'content-length': length = null, 'transfer-encoding': coding = null, expect = null, 'keep-alive': keepAlive = null } = request.headers
    response.end(JSON.stringify([request.method, length, coding, expect, keepAlive, text]))
  })
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const target = `http://127.0.0.1:${upstream.address().port}/`
  const server = serve({ hostname: '127.0.0.1', fetch: request => ways[new URL(request.url).pathname.slice(1)](target, request), error: error => new Lean(JSON.stringify(`${error} ${error.cause?.message}`)) })
  try {
    const found = {}
    for (const way of Object.keys(ways)) {
      const socket = connect(server.port, '127.0.0.1')
      socket.write(head.replace('/', `/${way}`))
      const answer = Buffer.concat(await socket.toArray()).toString()
      found[way] = /\[.*\]|".*"/.exec(answer.split('\r\n\r\n').slice(1).join(' '))?.[0] ?? answer
    }
    return found
  } finally {
    await server.stop(true)
    upstream.close()
    upstream.closeAllConnections()
  }
}

/** As handlers for Bun pass requests on: without `duplex`, with the headers as they are, with the body of a GET. */
const waysOf = (fetch, Request) => ({
  request: (target, request) => fetch(new Request(target, request)),
  changes: (target, request) => fetch(target, request),
  members: (target, { method, headers, body }) => fetch(target, { method, headers, body }),
  made: (target, { method, headers, body }) => fetch(new Request(target, { method, headers, body })),
  copied: (target, { method, headers, body }) => fetch(target, { method, headers: new Headers(headers), body }),
  object: (target, { method, headers, body }) => fetch(target, { method, headers: Object.fromEntries(headers), body })
})

for (const [name, fetch, Request] of [['fetch of this package', ownFetch, OwnRequest], ['the global fetch', (...args) => globalThis.fetch(...args), class { constructor (...args) { return new globalThis.Request(...args) } }]]) {
  test(`a request that was received is sent on by ${name} with its body, and without fields of its connection`, async () => {
    const ways = waysOf(fetch, Request)
    const same = expected => Object.fromEntries(Object.keys(ways).map(way => [way, expected]))
    const head = 'host: localhost\r\nconnection: close\r\n'
    assert.deepEqual(await passedOn(ways, `POST / HTTP/1.1\r\n${head}content-length: 5\r\nkeep-alive: timeout=5\r\n\r\nhello`), same('["POST","5",null,null,null,"hello"]'))
    assert.deepEqual(await passedOn(ways, `POST / HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`), same('["POST",null,"chunked",null,null,"hello"]'))
    assert.deepEqual(await passedOn(ways, `GET / HTTP/1.1\r\n${head}content-length: 5\r\n\r\nhello`), same('["GET",null,null,null,null,""]'))
    const { put } = await passedOn({ put: (target, { headers }) => fetch(target, { method: 'PUT', headers, body: 'longer' }) }, `POST / HTTP/1.1\r\n${head}content-length: 5\r\nexpect: 100-continue\r\n\r\nhello`)
    assert.equal(put, '["PUT","6",null,null,null,"longer"]')
  })
}

test('a GET with a body has no stream of it, can be cloned and copied without it, and its own body is read', async () => {
  const server = serve({
    hostname: '127.0.0.1',
    async fetch (request) {
      if (request.body !== null) throw new Error('there is a stream')
      const copies = [request.clone(), new Request(request), new OwnRequest(request)]
      return Lean.json([...copies.map(copy => [copy.method, copy.body, copy.headers.get('content-length')]), await request.text()])
    }
  })
  try {
    const socket = connect(server.port, '127.0.0.1')
    socket.end('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello')
    const answer = Buffer.concat(await socket.toArray()).toString()
    const [clone, copy, own, text] = JSON.parse(answer.split('\r\n\r\n')[1])
    assert.deepEqual([clone, copy, own, text], [['GET', null, null], ['GET', null, null], ['GET', null, null], 'hello'])
  } finally {
    await server.stop(true)
  }
})

test('routers and middleware put parameters and cookies of their own on a request, and trailers on a Response', async t => {
  const own = (target, name, value) => {
    target[name] = value
    return [target[name], Object.keys(target)]
  }
  const seen = []
  const see = request => {
    seen.push(own(request, 'params', { id: '5' }), own(request, 'cookies', { a: 'b' }))
    return new Lean('')
  }
  const server = serve({ hostname: '127.0.0.1', routes: { '/users/:name': see }, fetch: see })
  t.after(() => server.close({ deadlineMs: 0 }))
  for (const path of ['users/6', '']) await (await fetch(server.url.href + path)).text()
  see(new OwnRequest('http://a.test/'))
  const each = [[{ id: '5' }, ['params']], [{ a: 'b' }, ['params', 'cookies']]]
  assert.deepEqual(seen, [...each, ...each, ...each])
  assert.deepEqual(own(new Lean(''), 'trailers', 'mine'), ['mine', ['trailers']])
})

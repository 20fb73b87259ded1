// HTTP/2 as a program meets it: bodies of each kind, fields, ends of streams and of sessions, bounds, waiting.
import http2 from 'node:http2'
import { once } from 'node:events'
import { PassThrough, Readable, Writable, pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { cert, turns } from '../stage.mjs'
import { key } from '../../../support/certificates/certificate.mjs'
import { get, known, Page } from '../page.mjs'

const open = (module, stage, server, options = {}) => stage.own(new module.Client(server.url, { allowH2: true, connect: { ca: cert }, ...options }))
/** A server of streams: `answer(stream, headers, flags)`. */
const streams = async (stage, answer, options = {}) => {
  const served = await stage.serveH2(() => {}, options)
  served.server.removeAllListeners('request')
  served.server.on('stream', (one, headers, flags) => { one.on('error', () => {}); answer(one, headers, flags) })
  return served
}
const numbers = ({ connected, pending, running, size }) => JSON.stringify({ connected, pending, running, size })
const shown = headers => Object.entries(headers).sort().filter(([name]) => name !== ':authority' && name !== 'date').map(([name, value]) => `${name}=${/boundary/.test(value) ? 'multipart' : name === 'content-length' && Number(value) > 100 ? 'some' : value}`).join(' ')

const BODIES = {
  'a text': () => 'hello',
  'an empty text': () => '',
  'a Buffer': () => Buffer.from('hello'),
  'an empty Buffer': () => Buffer.alloc(0),
  'an ArrayBuffer': () => new Uint8Array([104, 105]).buffer,
  'a Uint8Array': () => new Uint8Array([104, 105]),
  'a Blob': () => new Blob(['asd'], { type: 'application/json' }),
  'a Blob of bytes': () => new Blob([new Uint8Array([104, 105]).buffer]),
  'an empty Blob': () => new Blob([]),
  'a FormData': ({ FormData }) => { const form = new FormData(); form.set('a', 'b'); return form },
  'an iterable': () => ({ [Symbol.iterator]: function * () { yield 'a'; yield 'b'; return 'c' } }),
  'a generator': () => (function * () { yield Buffer.from('a'); yield Buffer.from('b') })(),
  'an async generator': () => (async function * () { yield 'a'; yield 'b' })(),
  'a Readable': () => Readable.from(['a', 'b']),
  'a Readable of bytes': () => Readable.from([Buffer.from('a')], { objectMode: false }),
  'an empty Readable': () => Readable.from([]),
  'a PassThrough': () => { const through = new PassThrough(); through.end('through'); return through },
  'a ReadableStream': () => new ReadableStream({ start (c) { c.enqueue(Buffer.from('web')); c.close() } })
}
const programs = {}
for (const [label, text] of Object.entries({ shorter: 'abc', longer: 'abcdefghijklm' })) {
  programs[`a response that is ${label} than its content-length`] = async (module, stage) => {
    const server = await streams(stage, one => { one.respond({ 'content-length': 10 }); one.end(text) })
    const error = await open(module, stage, server).request({ method: 'GET', path: '/' }).then(response => response.body.text()).catch(failure => failure)
    stage.log('client')(error.name, error.code, error.message, error.http2ErrorCode, error.cause?.code, error.cause?.message)
  }
}
for (const [kind, body] of Object.entries(BODIES)) {
  for (const method of ['POST', 'PUT', 'GET', 'HEAD', 'QUERY', 'PROPFIND', 'DELETE']) {
    programs[`${method} of ${kind}`] = async (module, stage) => {
      const log = stage.log('server')
      const out = stage.log('client')
      const server = await streams(stage, async (one, headers, flags) => {
        const bytes = await buffer(one).catch(() => Buffer.from('broken'))
        log(shown(headers), headers['content-type']?.startsWith('multipart') ? 'form' : String(bytes), flags & 1)
        one.respond({ ':status': 200, 'x-method': headers[':method'] })
        one.end(method === 'HEAD' ? undefined : 'answer')
      })
      const client = open(module, stage, server)
      await client.request({ path: '/', method, body: body(module) }).then(async answer => { out(answer.statusCode, answer.headers['x-method'], await answer.body.text()) }, error => { out(known(error)) })
    }
  }
}

const one = table => { for (const [name, program] of Object.entries(table)) programs[name] = (module, stage) => program(new Page(module, stage, 'h2'), module, stage) }
one({
  'a length that is too long': async (p, module, stage) => {
    const server = await streams(stage, (one, headers) => { one.resume(); one.respond({ ':status': 200 }); one.end('x') })
    const client = open(module, stage, server)
    for (const body of ['abc', Readable.from(['abc']), (async function * () { yield 'abc' })()]) {
      await p.settle(typeof body, client.request({ path: '/', method: 'POST', headers: { 'content-length': '10' }, body }).then(a => a.body.text()))
    }
  },
  'a length that is too short': async (p, module, stage) => {
    const server = await streams(stage, one => { one.resume(); one.respond({ ':status': 200 }); one.end('x') })
    const client = open(module, stage, server)
    for (const body of ['abc', Readable.from(['abc']), (async function * () { yield 'abc' })()]) {
      await p.settle(typeof body, client.request({ path: '/', method: 'POST', headers: { 'content-length': '1' }, body }).then(a => a.body.text()))
    }
  },
  'fields of the connection': async (p, module, stage) => {
    const log = stage.log('server')
    const server = await streams(stage, (one, headers) => { log(shown(headers)); one.respond({ ':status': 200 }); one.end() })
    const client = open(module, stage, server)
    for (const headers of [{ connection: 'close' }, { connection: 'keep-alive' }, { 'keep-alive': 'timeout=5' }, { upgrade: 'x' }, { te: 'trailers' }, { 'transfer-encoding': 'chunked' }, { expect: '100-continue' }, { ':path': '/x' }, { 'X-UPPER': 'A' }, { cookie: 'a=b; c=d' }, { 'x-list': ['1', '2'] }, { 'x-empty': '' }, { 'x-undefined': undefined, 'x-null': null }]) {
      await p.settle(JSON.stringify(headers), client.request({ path: '/', method: 'GET', headers }).then(async a => { await a.body.dump(); return a.statusCode }))
    }
  },
  'several cookie fields': async (p, module, stage) => {
    const log = stage.log('server')
    const server = await streams(stage, (one, headers) => { log(shown(headers)); one.respond({ ':status': 200 }); one.end() })
    const client = open(module, stage, server)
    for (const headers of [['cookie', 'a=b', 'cookie', 'c=d'], ['Cookie', 'a=b', 'x', 'y', 'cookie', 'c=d']]) await p.settle('sent', client.request({ ...get, headers }).then(async a => { await a.body.dump(); return a.statusCode }))
  },
  'set-cookie, a list, and a date in the answer': async (p, module, stage) => {
    const server = await streams(stage, one => { one.respond({ ':status': 200, 'set-cookie': ['a=b', 'c=d'], 'x-a': ['1', '2'], vary: 'a' }, { sendDate: false }); one.end('x') })
    const client = open(module, stage, server)
    const { headers, body } = await client.request(get)
    p.log(JSON.stringify(headers)); await body.text()
    const raw = await client.request({ ...get, responseHeaders: 'raw' })
    p.log(JSON.stringify(raw.headers)); await raw.body.text()
  },
  'trailers': async (p, module, stage) => {
    const server = await streams(stage, one => { one.respond({ ':status': 200 }, { waitForTrailers: true }); one.on('wantTrailers', () => { one.sendTrailers({ 'x-t': 'a' }) }); one.end('x') })
    const { body, trailers } = await open(module, stage, server).request(get)
    p.log(await body.text(), JSON.stringify(trailers))
  },
  'informational answers': async (p, module, stage) => {
    const server = await streams(stage, one => { one.additionalHeaders({ ':status': 103, link: 'a' }); one.respond({ ':status': 200 }); one.end('x') })
    const infos = []
    const { body } = await open(module, stage, server).request({ ...get, onInfo: info => { infos.push(info) } })
    p.log(await body.text(), JSON.stringify(infos))
  },
  'expect-continue': async (p, module, stage) => {
    const log = stage.log('server')
    const server = await stage.serveH2(() => {})
    server.server.on('checkContinue', async (request, response) => { log(request.headers.expect); response.writeContinue(); log(String(await buffer(request))); response.end('continued') })
    const client = open(module, stage, server)
    await p.settle('stream', client.request({ path: '/', method: 'POST', expectContinue: true, body: Readable.from(['abc']) }).then(a => a.body.text()))
    await p.settle('text', client.request({ path: '/', method: 'POST', expectContinue: true, body: 'abc' }).then(a => a.body.text()))
  },
  'expect-continue that is refused': async (p, module, stage) => {
    const server = await stage.serveH2((request, response) => { response.end('asked again') })
    server.server.on('checkContinue', (request, response) => { response.writeHead(413).end('no') })
    const client = open(module, stage, server)
    await p.settle('text', client.request({ path: '/', method: 'POST', expectContinue: true, body: 'abc' }).then(async a => [a.statusCode, await a.body.text()]), v => v)
  },
  'a stream is closed with each code before its head': async (p, module, stage) => {
    const server = await streams(stage, (one, headers) => { one.close(Number(headers[':path'].slice(1))) })
    const client = open(module, stage, server)
    for (const code of [0, 1, 2, 3, 5, 8, 11, 12]) await p.settle(code, client.request({ path: `/${code}`, method: 'GET' }).then(a => a.statusCode))
  },
  'a stream is closed with each code in its body': async (p, module, stage) => {
    const server = await streams(stage, (one, headers) => { one.respond({ ':status': 200 }); one.write('abc', () => { one.close(Number(headers[':path'].slice(1))) }) })
    const client = open(module, stage, server)
    for (const code of [1, 2, 5, 11, 13]) await p.settle(code, client.request({ path: `/${code}`, method: 'GET' }).then(a => a.body.text()))
  },
  'GOAWAY, and the next request': async (p, module, stage) => {
    let sessions = 0
    const server = await streams(stage, one => { const { session } = one; one.respond({ ':status': 200 }); one.end('x'); one.once('close', () => { if (sessions === 1) session.goaway(0) }) })
    server.server.on('session', () => { sessions++ })
    const client = open(module, stage, server)
    client.on('disconnect', (origin, targets, error) => { p.log('disconnect', targets.length, known(error)) })
    const gone = once(client, 'disconnect')
    await p.settle('first', client.request(get).then(a => a.body.text()))
    await gone
    await p.settle('second', client.request(get).then(a => a.body.text()))
    p.log(sessions)
  },
  'a session that is destroyed under way': async (p, module, stage) => {
    const server = await streams(stage, one => { one.session.destroy() })
    const client = open(module, stage, server)
    client.on('disconnect', (origin, targets, error) => { p.log('disconnect', error.name, error.code) })
    await p.settle('request', client.request(get).then(a => a.body.text()))
  },
  'abort before the head, in the body, behind it': async (p, module, stage) => {
    const aborted = stage.log('server')
    const server = await streams(stage, (one, headers) => {
      one.on('aborted', () => { aborted('aborted', headers[':path']) })
      if (headers[':path'] === '/head') return p.now?.()
      one.respond({ ':status': 200 }); one.write('abc')
      if (headers[':path'] === '/done') one.end()
    })
    const client = open(module, stage, server)
    {
      const controller = new AbortController()
      const asked = new Promise(resolve => { p.now = resolve })
      const request = client.request({ path: '/head', method: 'GET', signal: controller.signal })
      asked.then(() => { controller.abort() })
      await p.settle('head', request)
    }
    for (const path of ['/body', '/done']) {
      const controller = new AbortController()
      const { body } = await client.request({ path, method: 'GET', signal: controller.signal })
      await once(body, 'readable')
      controller.abort(path === '/body' ? new Error('mine') : undefined)
      await p.settle(path, body.text())
    }
    await p.settle('alive', client.request({ path: '/done', method: 'GET' }).then(a => a.body.text()))
  },
  'timeouts': async (p, module, stage) => {
    const server = await streams(stage, (one, headers) => { if (headers[':path'] === '/body') { one.respond({ ':status': 200 }); one.write('a') } })
    const client = open(module, stage, server, { headersTimeout: 60, bodyTimeout: 60 })
    const named = error => [error.name, error.code]
    await client.request({ path: '/head', method: 'GET' }).catch(error => { p.log(...named(error)) })
    await client.request({ path: '/body', method: 'GET' }).then(a => a.body.text()).catch(error => { p.log(...named(error)) })
  },
  'streams at once, bounded by the server': async (p, module, stage) => {
    let most = 0
    let now = 0
    const server = await streams(stage, one => { most = Math.max(most, ++now); setTimeout(() => { now--; one.respond({ ':status': 200 }); one.end('x') }, 10) }, { settings: { maxConcurrentStreams: 3 } })
    const client = open(module, stage, server)
    await client.request(get).then(a => a.body.text())
    const texts = await Promise.all(Array.from({ length: 20 }, () => client.request(get).then(a => a.body.text())))
    p.log(texts.join(''), most <= 3)
  },
  'stream() into a Writable, and pipeline()': async (p, module, stage) => {
    const server = await streams(stage, async one => { const got = await buffer(one); one.respond({ ':status': 200, 'x-custom': 'c' }); one.end(`hello ${got}`) })
    const client = open(module, stage, server)
    const chunks = []
    const sink = () => new Writable({ write (chunk, encoding, done) { chunks.push(chunk); done() } })
    const got = await client.stream({ path: '/', method: 'POST', body: 'abc', opaque: { a: 1 } }, ({ statusCode, headers, opaque }) => { p.log(statusCode, headers['x-custom'], JSON.stringify(opaque)); return sink() })
    p.log(Object.keys(got).join(), String(Buffer.concat(chunks)))
    chunks.length = 0
    await new Promise(resolve => { pipeline(Readable.from([Buffer.from('q')]), client.pipeline({ path: '/', method: 'POST' }, ({ statusCode, body }) => { p.log(statusCode); return pipeline(body, new PassThrough(), () => {}) }), sink(), error => { p.log(error === undefined || error === null ? 'done' : known(error), String(Buffer.concat(chunks))); resolve() }) })
  },
  'connect(): a tunnel': async (p, module, stage) => {
    const log = stage.log('server')
    const server = await streams(stage, (one, headers) => { log(headers[':method'], headers[':path'], headers[':scheme'], headers['x-my']); one.respond({ ':status': 200, 'x-my': 'c' }); one.pipe(one) })
    const client = open(module, stage, server)
    await p.settle('connect', client.connect({ path: 'example.com:80', headers: { 'x-my': 'b' } }).then(async ({ statusCode, headers, socket }) => {
      socket.setEncoding('utf8')
      socket.cork(); socket.write('through'); socket.uncork(); socket.end()
      let text = ''
      for await (const piece of socket) text += piece
      return [statusCode, headers['x-my'], text]
    }), value => value)
  },
  'upgrade()': async (p, module, stage) => {
    const server = await streams(stage, one => { one.resume(); one.end() })
    const client = open(module, stage, server)
    await p.settle('of our own', client.upgrade({ path: '/', protocol: 'mine' }))
  },
  'destroy with requests under way': async (p, module, stage) => {
    const server = await streams(stage, one => { one.resume() })
    const client = open(module, stage, server)
    const results = Promise.allSettled(Array.from({ length: 4 }, () => client.request(get)))
    await client.destroy()
    for (const { status, reason } of await results) p.log(status, known(reason))
  },
  'close with requests under way': async (p, module, stage) => {
    const server = await streams(stage, one => { one.respond({ ':status': 200 }); one.end('x') })
    const client = open(module, stage, server)
    const texts = Array.from({ length: 4 }, () => client.request(get).then(a => a.body.text()))
    const closed = client.close()
    p.log(client.closed, client.destroyed)
    p.log((await Promise.all(texts)).join(''))
    await closed
    p.log(client.destroyed)
    await p.settle('behind', client.request(get))
  },
  'an answer that is not read, and others': async (p, module, stage) => {
    const server = await streams(stage, (one, headers) => { one.respond({ ':status': 200 }); one.end(headers[':path'] === '/big' ? Buffer.alloc(4 << 20) : 'x') })
    const client = open(module, stage, server)
    const big = await client.request({ path: '/big', method: 'GET' })
    p.log((await Promise.all(Array.from({ length: 10 }, () => client.request(get).then(a => a.body.text())))).join(''))
    p.log((await big.body.arrayBuffer()).byteLength)
  },
  '204, 304, HEAD': async (p, module, stage) => {
    const server = await streams(stage, (one, headers) => { one.respond({ ':status': Number(headers[':path'].slice(1)), 'content-length': headers[':method'] === 'HEAD' ? 5 : undefined }, { endStream: true }) })
    const client = open(module, stage, server)
    for (const [path, method] of [['/204', 'GET'], ['/304', 'GET'], ['/200', 'HEAD'], ['/200', 'GET']]) await p.settle(`${method} ${path}`, client.request({ path, method }).then(async a => [a.statusCode, a.headers['content-length'], await a.body.text()]), v => v)
  },
  'a server of HTTP/1.1 alone': async (p, module, stage) => {
    const { default: https } = await import('node:https')
    const server = https.createServer({ key, cert }, (request, response) => { response.end(request.httpVersion) })
    server.listen(0, '127.0.0.1'); await once(server, 'listening')
    stage.closers.push(async () => { server.closeAllConnections(); server.close() })
    const client = open(module, stage, { url: `https://localhost:${server.address().port}` })
    await p.settle('request', client.request(get).then(a => a.body.text()))
    p.log(numbers(client.stats))
  },
  'allowHTTP1, and allowH2 false': async (p, module, stage) => {
    const server = await stage.serveH2((request, response) => { response.end(request.httpVersion) }, { allowHTTP1: true })
    for (const allowH2 of [true, false, undefined]) await p.settle(String(allowH2), open(module, stage, server, { allowH2 }).request(get).then(a => a.body.text()))
  },
  'events and statistics': async (p, module, stage) => {
    const server = await streams(stage, one => { one.respond({ ':status': 200 }); one.end('x') })
    const client = open(module, stage, server)
    p.stage.watch(p.log, client, 'client', ['connect', 'disconnect', 'connectionError', 'drain'])
    await client.request(get).then(a => a.body.text())
    p.log(numbers(client.stats))
    await client.close()
    await turns()
  },
  'the controller of a handler': async (p, module, stage) => {
    const server = await streams(stage, one => { one.respond({ ':status': 200, 'x-a': 'b' }, { sendDate: false }); one.end('x') })
    const client = open(module, stage, server)
    await new Promise(resolve => {
      client.dispatch({ ...get }, {
        onRequestStart (controller, context) { p.log('start', typeof controller.abort, controller.paused, controller.aborted, controller.reason, typeof context) },
        onResponseStart (controller, status, headers, text) { p.log('head', status, JSON.stringify(headers), text, Array.isArray(controller.rawHeaders)) },
        onResponseData (controller, piece) { p.log('data', String(piece)) },
        onResponseEnd (controller, trailers) { p.log('end', JSON.stringify(trailers), JSON.stringify(controller.rawTrailers)); resolve() },
        onResponseError (controller, error) { p.log(known(error)); resolve() }
      })
    })
  },
  'an upload that the server answers early': async (p, module, stage) => {
    const server = await streams(stage, one => { one.respond({ ':status': 413 }); one.end('too big') })
    const client = open(module, stage, server)
    const body = new Readable({ read () { this.push(Buffer.alloc(16384)) } })
    body.on('error', () => {})
    await p.settle('request', client.request({ path: '/', method: 'POST', body }).then(async a => [a.statusCode, await a.body.text()]), v => v)
    await p.settle('alive', client.request(get).then(a => a.body.text()))
    body.destroy()
  },
  'h2c by useH2c': async (p, module, stage) => {
    const server = http2.createServer((request, response) => { response.end(`${request.httpVersion} ${request.authority.length > 0}`) })
    server.listen(0, '127.0.0.1'); await once(server, 'listening')
    stage.closers.push(async () => { server.close() })
    const client = stage.own(new module.Client(`http://127.0.0.1:${server.address().port}`, { useH2c: true }))
    await p.settle('request', client.request(get).then(a => a.body.text()))
    await p.settle('post', client.request({ path: '/', method: 'POST', body: 'a' }).then(a => a.body.text()))
  },
  'useH2c to a server of HTTP/1.1': async (p, module, stage) => {
    const server = await stage.serve((request, response) => { response.end('h1') })
    const client = stage.own(new module.Client(server.url, { useH2c: true }))
    await client.request(get).then(() => { p.log('answered') }, error => { p.log('failed', error.name, error.code) })
  },
  'useH2c to a server of TLS': async (p, module, stage) => {
    const server = await streams(stage, one => { one.respond(); one.end() })
    const client = stage.own(new module.Client(server.url.replace('https', 'http'), { useH2c: true }))
    await p.settle('request', client.request(get))
  },
  'H2CClient': async (p, module, stage) => {
    const server = http2.createServer((request, response) => { response.end(`${request.method} ${request.httpVersion}`) })
    server.listen(0, '127.0.0.1'); await once(server, 'listening')
    stage.closers.push(async () => { server.close() })
    const { H2CClient } = module
    p.attempt('https', () => new H2CClient('https://localhost'))
    p.attempt('pipelining', () => new H2CClient('http://localhost', { pipelining: 10, maxConcurrentStreams: 5 }))
    const client = stage.own(new H2CClient(`http://127.0.0.1:${server.address().port}`))
    await p.settle('request', client.request(get).then(a => a.body.text()))
    await p.settle('post', client.request({ path: '/', method: 'POST', body: 'a' }).then(a => a.body.text()))
  },
  'fetch: a body of each kind': async (p, module, stage) => {
    const log = stage.log('server')
    const server = await streams(stage, async (one, headers) => { log(headers[':method'], headers['content-length'], headers['content-type']?.split(';')[0], String(await buffer(one)).length > 0); one.respond({ ':status': 200 }); one.end('x') })
    const dispatcher = open(module, stage, server)
    for (const body of ['text', new Blob(['asd'], { type: 'text/plain' }), new Uint8Array([1]).buffer, new URLSearchParams({ a: 'b' })]) await p.settle('fetch', module.fetch(server.url, { method: 'POST', body, dispatcher }).then(async a => [a.status, await a.text()]), v => v)
    await p.settle('stream', module.fetch(server.url, { method: 'PUT', duplex: 'half', body: new ReadableStream({ start (c) { c.enqueue(Buffer.from('q')); c.close() } }), dispatcher }).then(async a => [a.status, await a.text()]), v => v)
  }
})
export default programs

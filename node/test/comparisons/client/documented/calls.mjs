// Programs of undici's documentation about its calls: request, stream, pipeline, connect, upgrade and dispatch, and how
// each is aborted.
import { createWriteStream, readFileSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { once } from 'node:events'
import { PassThrough, pipeline as pipelineOf, Readable, Transform, Writable } from 'node:stream'
import { pipeline as pipelined } from 'node:stream/promises'
import { bytesOf, turns } from '../stage.mjs'

const hello = (request, response) => { response.end('Hello, World!') }
const echo = async (request, response) => { response.end(await bytesOf(request)) }

export default {
  'dispatch: a GET': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    const data = []
    await new Promise(resolve => {
      client.dispatch({ path: '/', method: 'GET', headers: { 'x-foo': 'bar' } }, {
        onRequestStart: (controller, context) => { log('start', typeof controller.abort, context, controller.aborted, controller.paused, controller.reason) },
        onResponseStart: (controller, statusCode, headers, statusMessage) => { log(statusCode, statusMessage, headers['content-length'], Array.isArray(controller.rawHeaders), typeof controller.rawHeaders[0] === 'string' || Buffer.isBuffer(controller.rawHeaders[0])) },
        onResponseData: (controller, chunk) => { data.push(chunk) },
        onResponseEnd: (controller, trailers) => { log('end', Buffer.concat(data).toString(), JSON.stringify(trailers)); resolve() },
        onResponseError: (controller, error) => { log('failed', error); resolve() }
      })
    })
  },
  'dispatch: the controller aborts at each moment': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.write('begin'); setTimeout(() => { response.end('end') }, 50) })
    for (const moment of ['onRequestStart', 'onResponseStart', 'onResponseData']) {
      const client = t.own(new Client(server.url))
      await new Promise(resolve => {
        const abortAt = name => controller => { log(moment, name); if (name === moment) controller.abort(new Error(`at ${name}`)) }
        client.dispatch({ path: '/', method: 'GET' }, {
          onRequestStart: abortAt('onRequestStart'), onResponseStart: abortAt('onResponseStart'), onResponseData: abortAt('onResponseData'),
          onResponseEnd: () => { log('end'); resolve() },
          onResponseError: (controller, error) => { log('failed', error, controller?.aborted, controller?.reason === error); resolve() }
        })
      })
    }
  },
  'dispatch: the controller pauses and resumes': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.end(Buffer.alloc(300_000)) })
    const client = t.own(new Client(server.url))
    let bytes = 0
    await new Promise(resolve => {
      client.dispatch({ path: '/', method: 'GET' }, {
        onRequestStart () {}, onResponseStart () {},
        onResponseData (controller, chunk) { bytes += chunk.length; controller.pause(); setImmediate(() => { controller.resume() }) },
        onResponseEnd () { log(bytes); resolve() },
        onResponseError (_, error) { log(error); resolve() }
      })
    })
  },
  'dispatch: a handler that lacks a method': async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client('http://localhost:1'))
    t.attempt(log, 'null', () => client.dispatch({ path: '/', method: 'GET' }, null))
    t.attempt(log, 'empty', () => client.dispatch({ path: '/', method: 'GET' }, {}))
    const errors = []
    t.attempt(log, 'onResponseError alone', () => client.dispatch({ path: '/', method: 'GET' }, { onResponseError: (_, error) => { errors.push(error) } }))
    log(errors.map(String))
    t.attempt(log, 'options', () => client.dispatch(null, { onResponseError: (_, error) => { log(error) } }))
  },
  'request: parallel ones, and JSON': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.setHeader('content-type', 'application/json'); response.end(JSON.stringify({ url: request.url })) })
    const client = t.own(new Client(server.url))
    const answers = await Promise.all([1, 2, 3].map(at => client.request({ path: `/${at}`, method: 'GET', query: { at } }).then(({ body }) => body.json())))
    log(JSON.stringify(answers))
  },
  'request: a signal that is an EventEmitter': async ({ Client }, t) => {
    const log = t.log('client')
    const { EventEmitter } = await import('node:events')
    const server = await t.serve(() => {})
    const client = t.own(new Client(server.url))
    const signal = new EventEmitter()
    const call = client.request({ path: '/', method: 'GET', signal }).catch(error => { log(error) })
    await once(server.server, 'request')
    signal.emit('abort')
    await call
  },
  'request: a signal aborts': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    const client = t.own(new Client(server.url))
    const controller = new AbortController()
    const call = client.request({ path: '/', method: 'GET', signal: controller.signal }).catch(error => { log(error, error === controller.signal.reason) })
    await once(server.server, 'request')
    controller.abort()
    await call
    const timed = await client.request({ path: '/', method: 'GET', signal: AbortSignal.timeout(50) }).catch(error => error)
    log(timed.name, timed.code)
  },
  'request: onInfo, opaque, raw headers and highWaterMark': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.writeEarlyHints({ link: '</a>; rel=preload' }); response.sendDate = false; response.setHeader('X-Name', 'v'); response.end('x') })
    const client = t.own(new Client(server.url))
    const { headers, opaque, body, context } = await client.request({ path: '/', method: 'GET', opaque: { a: 1 }, responseHeaders: 'raw', highWaterMark: 10, onInfo: ({ statusCode, headers }) => { log(statusCode, Array.isArray(headers), headers.map(String)) } })
    log(headers.map(String), opaque, body.readableHighWaterMark, context, await body.text())
  },
  'request: a body of each kind': async ({ Client, FormData }, t) => {
    const log = t.log('client')
    const server = await t.serve(async (request, response) => { const type = request.headers['content-type']?.replace(/boundary=.*/, ''); response.end(`${type} ${request.headers['content-length'] === undefined} ${(await bytesOf(request)).length > 0}`) })
    const client = t.own(new Client(server.url))
    const form = new FormData()
    form.append('name', 'value')
    form.append('file', new Blob(['hello'], { type: 'text/plain' }), 'a.txt')
    const bodies = { text: 'text', Buffer: Buffer.from('text'), Uint8Array: new Uint8Array([1, 2]), ArrayBuffer: new ArrayBuffer(3), Blob: new Blob(['text'], { type: 'text/x' }), FormData: form, Readable: Readable.from(['text']), generator: (function * () { yield 'text' })(), 'async generator': (async function * () { yield 'text' })(), URLSearchParams: new URLSearchParams({ a: 'b' }), number: 7, object: {} }
    for (const [label, body] of Object.entries(bodies)) await t.settle(log, label, client.request({ path: '/', method: 'POST', body }).then(({ body }) => body.text()))
  },
  'request: a body that is a web stream': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(echo)
    const client = t.own(new Client(server.url))
    const body = new ReadableStream({ start (controller) { controller.enqueue(new TextEncoder().encode('text')); controller.close() } })
    await t.settle(log, 'request', client.request({ path: '/', method: 'POST', body }).then(({ body }) => body.text()))
  },
  'request: top level, by URL and by its parts': async ({ request, Agent }, t) => {
    const log = t.log('client')
    const server = await t.serve((req, res) => { res.end(`${req.method} ${req.url}`) })
    const dispatcher = t.own(new Agent())
    log(await request(`${server.url}/a?b=c#d`, { dispatcher }).then(({ body }) => body.text()))
    log(await request(new URL('/a', server.url), { dispatcher, method: 'POST', body: 'x' }).then(({ body }) => body.text()))
    log(await request({ origin: server.url, pathname: '/p', search: '?q' }, { dispatcher }).then(({ body }) => body.text()).catch(error => error))
    log(await request({ protocol: 'http:', hostname: 'localhost', port: server.port, path: '/path' }, { dispatcher }).then(({ body }) => body.text()).catch(error => error))
    log(await request(server.url, { dispatcher, path: '/other' }).then(({ body }) => body.text()).catch(error => error))
    log(await request('not a URL', { dispatcher }).catch(error => error))
    log(await request('ftp://localhost', { dispatcher }).catch(error => error))
    log(await request(server.url, { dispatcher: 7 }).catch(error => error))
    log(await request(server.url, { agent: dispatcher }).catch(error => error))
    log(await request(server.url, { dispatcher, body: 'x' }).then(({ body }) => body.text()))
  },
  'stream: into a file': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    const path = `${tmpdir()}/documented-${process.pid}-${Math.random().toString(16).slice(2)}`
    const { opaque, trailers } = await client.stream({ path: '/', method: 'GET', opaque: path }, ({ statusCode, headers, opaque }) => { log(statusCode, opaque === path); return createWriteStream(opaque) })
    log(opaque === path, JSON.stringify(trailers), readFileSync(path, 'utf8'))
    unlinkSync(path)
  },
  'stream: with a callback': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    const pieces = []
    await new Promise(resolve => {
      client.stream({ path: '/', method: 'GET', opaque: { pieces } }, ({ opaque: { pieces } }) => new Writable({ write (chunk, _, done) { pieces.push(chunk); done() } }), (error, { opaque: { pieces } }) => {
        log(error, Buffer.concat(pieces).toString())
        resolve()
      })
    })
  },
  'stream: as a proxy of node:http': async ({ Client, stream, Agent }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    const front = await t.serve((request, response) => {
      client.stream({ path: request.url, method: request.method, opaque: response }, ({ statusCode, headers, opaque }) => { opaque.writeHead(statusCode, { 'x-by': 'proxy', 'content-length': headers['content-length'] ?? '' }); return opaque })
    })
    const { request } = await import('undici8')
    const { body, headers } = await request(front.url)
    log(headers['x-by'], await body.text())
    const pieces = []
    await stream(server.url, { dispatcher: t.own(new Agent()) }, () => new Writable({ write (chunk, _, done) { pieces.push(chunk); done() } }))
    log(Buffer.concat(pieces).toString())
  },
  'stream: a sink that is destroyed': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.write('begin') })
    const client = t.own(new Client(server.url))
    await t.settle(log, 'stream', client.stream({ path: '/', method: 'GET' }, () => {
      const sink = new PassThrough()
      sink.on('data', () => { sink.destroy(new Error('enough')) })
      return sink
    }))
  },
  'pipeline: an echo': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { request.pipe(response) })
    const client = t.own(new Client(server.url))
    const pieces = []
    await pipelined(
      Readable.from(['un', 'di', 'ci']),
      client.pipeline({ path: '/', method: 'PUT' }, ({ statusCode, headers, body }) => { log(statusCode); return pipelineOf(body, new PassThrough(), () => {}) }),
      new Writable({ write (chunk, _, done) { pieces.push(chunk); done() } })
    )
    log(Buffer.concat(pieces).toString())
  },
  'pipeline: through a Transform, into a text': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(echo)
    const client = t.own(new Client(server.url))
    const duplex = client.pipeline({ path: '/', method: 'POST' }, ({ body }) => body.pipe(new Transform({ transform (chunk, _, done) { done(null, chunk.toString().toUpperCase()) } })))
    duplex.end('hello')
    let text = ''
    for await (const chunk of duplex) text += chunk
    log(text)
  },
  'pipeline: at the top level': async ({ pipeline, Agent }, t) => {
    const log = t.log('client')
    const server = await t.serve(echo)
    const duplex = pipeline(server.url, { method: 'POST', dispatcher: t.own(new Agent()) }, ({ body }) => body)
    duplex.end('hello')
    log((await bytesOf(duplex)).toString())
  },
  'connect: a tunnel': async ({ Client, connect, Agent }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => { throw new Error('not reached') })
    server.server.on('connect', (request, socket, head) => { log('asked', request.url, head.length); socket.write('HTTP/1.1 200 Connection established\r\nx-by: proxy\r\n\r\n'); socket.on('data', data => { socket.write(data) }).on('end', () => { socket.end() }) })
    const client = t.own(new Client(server.url))
    const { statusCode, headers, socket, opaque } = await client.connect({ path: '127.0.0.1:80', opaque: 'mine' })
    log(statusCode, JSON.stringify(headers), opaque, typeof socket.write)
    socket.end('Body')
    log((await bytesOf(socket)).toString())
    await t.settle(log, 'at the top', connect(server.url, { path: 'a:1', dispatcher: t.own(new Agent()) }).then(({ socket }) => { socket.destroy(); return 'opened' }))
  },
  'upgrade: a socket': async ({ Client, upgrade, Agent }, t) => {
    const log = t.log('client')
    const server = await t.serve(() => {})
    server.server.on('upgrade', (request, socket) => { log('asked', request.headers.upgrade, request.headers.connection); socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhi`); socket.on('data', data => { socket.end(data) }) })
    const client = t.own(new Client(server.url))
    const { headers, socket } = await client.upgrade({ path: '/' })
    log(headers.upgrade)
    socket.write('hello')
    log((await bytesOf(socket)).toString())
    const opened = await upgrade(server.url, { protocol: 'other', dispatcher: t.own(new Agent()) })
    log(opened.headers.upgrade)
    opened.socket.destroy()
  },
  'upgrade: a server that does not': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    await t.settle(log, 'upgrade', client.upgrade({ path: '/' }))
  },
  'the timeouts of a request': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { if (request.url === '/body') response.write('begin') })
    const client = t.own(new Client(server.url, { headersTimeout: 1000, bodyTimeout: 1000 }))
    await t.settle(log, 'head', client.request({ path: '/', method: 'GET' }))
    await t.settle(log, 'body', client.request({ path: '/body', method: 'GET' }).then(({ body }) => body.text()))
  },
  'limits of an answer': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.setHeader('x-long', 'a'.repeat(5000)); response.end('x'.repeat(1000)) })
    await t.settle(log, 'body', t.own(new Client(server.url, { maxResponseSize: 10 })).request({ path: '/', method: 'GET' }).then(({ body }) => body.text()))
    await t.settle(log, 'head', t.own(new Client(server.url, { maxHeaderSize: 1000 })).request({ path: '/', method: 'GET' }).then(({ body }) => body.text()))
    await turns()
  }
}

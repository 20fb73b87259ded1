// Programs of HTTP/1.1 after undici's own checks by number: connections, hints, half-closed sockets, aborts, limits.
import { EventEmitter, once } from 'node:events'
import { AsyncLocalStorage } from 'node:async_hooks'
import { finished, PassThrough, pipeline, Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import dc from 'node:diagnostics_channel'
import { after, get, hello, known, programs, textOf } from '../page.mjs'
import { turns } from '../stage.mjs'

const raw = (stage, talk) => stage.serveRaw(socket => { socket.on('data', bytes => { talk(socket, String(bytes)) }) })

export default programs({
  'a keep-alive hint of the server': async p => {
    const server = await raw(p.stage, socket => { socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=2s\r\nConnection: keep-alive\r\n\r\n') })
    const client = p.client(server.url)
    const disconnected = once(client, 'disconnect')
    await client.request(get).then(a => a.body.dump())
    const [, , error] = await disconnected
    p.log(known(error))
  },
  'a keep-alive hint in several fields': async p => {
    for (const values of [['max=2', 'timeout=1'], ['max=2', 'TIMEOUT=1'], ['', 'timeout=1'], ['timeout=1', '0=max'], ['x-timeout=30', 'timeout=1'], ['time', 'out=1']]) {
      const hints = values.map(value => `Keep-Alive: ${value}\r\n`).join('')
      const server = await raw(p.stage, socket => { socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${hints}Connection: keep-alive\r\n\r\n`) })
      // Whether the hint was read is seen by the second connection.
      const client = p.client(server.url, { keepAliveTimeoutThreshold: 1500 })
      for (let n = 0; n < 2; n++) await client.request(get).then(a => a.body.dump())
      await turns(10)
      p.log(values.join(' and '), server.counts.sockets)
    }
  },
  'keep-alive below the threshold': async p => {
    const server = await raw(p.stage, socket => { socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=1s\r\nConnection: keep-alive\r\n\r\n') })
    const client = p.client(server.url, { keepAliveTimeoutThreshold: 1500 })
    for (const n of [1, 2]) { await client.request(get).then(a => a.body.dump()); p.log(n) }
    await turns(10)
    p.log(server.counts.sockets)
  },
  'connection: close of the server': async p => {
    const server = await raw(p.stage, socket => { socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok') })
    const client = p.client(server.url)
    client.on('disconnect', (origin, targets, error) => { p.log('disconnect', known(error)) })
    for (let n = 0; n < 3; n++) p.log(await client.request(get).then(textOf))
    p.log(server.counts.sockets)
  },
  'the server closes an idle connection': async p => {
    const server = await raw(p.stage, socket => { socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'); setTimeout(() => { socket.end() }, 20) })
    const client = p.client(server.url)
    const disconnected = once(client, 'disconnect')
    p.log(await client.request(get).then(textOf))
    const [, , error] = await disconnected
    p.log(known(error))
    p.log(await client.request(get).then(textOf), server.counts.sockets)
  },
  'bytes behind an answer': async p => {
    const server = await raw(p.stage, socket => { socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx') })
    const client = p.client(server.url)
    const disconnected = once(client, 'disconnect')
    p.log(await client.request(get).then(textOf))
    const [, , error] = await disconnected
    p.log(error.name, error.code)
  },
  'a head in pieces of one byte': async p => {
    const server = await raw(p.stage, async socket => { for (const byte of 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: a\r\n\r\n') { socket.write(byte); await turns(1) } })
    const { body, trailers } = await p.client(server.url).request(get)
    p.log(await body.text(), JSON.stringify(trailers))
  },
  'POST that fails, and what waits behind it': async p => {
    let asked = 0
    const server = await p.serve((request, response) => { if (++asked === 1) request.once('data', () => { response.destroy() }); else response.end('fine') })
    const client = p.client(server.url)
    const body = new Readable({ read () {} }); body.push('asd'); body.on('error', error => { p.log('body', error.code ?? error.message) })
    await Promise.all([p.settle('post', client.request({ path: '/', method: 'POST', body }).catch(error => error.code)), p.settle('get', client.request(get).then(textOf))])
  },
  'a source that fails at once, and one behind a piece': async p => {
    const server = await p.serve((request, response) => { request.on('error', () => {}); request.resume().on('end', () => { response.end('x') }) })
    const client = p.client(server.url)
    for (const headers of [{}, { 'content-length': '42' }]) for (const body of [new Readable({ read () { this.push('a string'); this.destroy(new Error('kaboom')) } }), new Readable({ read () { this.destroy(new Error('kaboom')) } }), (function * () { yield 'a'; throw new Error('kaboom') })()]) await p.settle('post', client.request({ path: '/', method: 'POST', headers, body, opaque: 'asd' }))
    await p.settle('get', client.request(get).then(textOf))
  },
  'signals that are emitters, and listeners of signals': async p => {
    const server = await p.serve((request, response) => { response.end('hello') })
    const client = p.client(server.url)
    const emitter = new EventEmitter()
    const one = client.request({ ...get, signal: emitter }); p.log(emitter.listenerCount('abort'))
    const two = client.request({ ...get, signal: emitter }); p.log(emitter.listenerCount('abort'))
    emitter.emit('abort')
    await p.settle('one', one); await p.settle('two', two)
    p.log(emitter.listenerCount('abort'))
    const controller = new AbortController()
    await client.request({ ...get, signal: controller.signal }).then(textOf)
    controller.abort()
    for (const signal of [{}, 1, 'x', { aborted: true }, { on () {} }]) await p.settle(JSON.stringify(signal), client.request({ ...get, signal }).then(textOf))
  },
  'dump(): limits and signals': async p => {
    const server = await p.serve((request, response) => { if (request.url === '/big') { response.setHeader('content-length', 999_999); response.write('asd') } else if (request.url === '/slow') response.write('hello'); else response.end('hello') })
    const client = p.client(server.url)
    const { body } = await client.request({ path: '/', method: 'GET' }); p.log(await body.dump(), body.bodyUsed, body.destroyed)
    const head = await client.request({ path: '/', method: 'HEAD' }); p.log(await head.body.dump({ limit: 1 }))
    const big = await client.request({ path: '/big', method: 'GET' }); big.body.on('error', error => { p.log('error', known(error)) }); await p.settle('big', big.body.dump())
    const slow = await client.request({ path: '/slow', method: 'GET' }); const controller = new AbortController(); const dumped = slow.body.dump({ signal: controller.signal }); controller.abort(); slow.body.on('error', () => {}); await p.settle('slow', dumped)
    const third = await client.request(get); p.log(third.body.readableHighWaterMark, (await client.request({ ...get, highWaterMark: 1000 })).body.readableHighWaterMark)
    await p.settle('refused', third.body.dump({ signal: 1 })); await p.settle('limit', third.body.dump({ limit: 'x' }).catch(error => error.name))
  },
  'an answer that ends by the end of its connection': async p => {
    const server = await raw(p.stage, socket => { socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nthe body'); setImmediate(() => { socket.destroy() }) })
    const { body } = await p.client(server.url).request(get)
    body.setEncoding('utf8')
    let text = ''
    for await (const piece of body) text += piece
    p.log(text)
  },
  'an answer that is cut': async p => {
    const server = await raw(p.stage, socket => { socket.end('HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\nthe body') })
    const { body } = await p.client(server.url).request(get)
    await p.settle('text', body.text())
    const again = await p.client(server.url).request(get)
    await p.settle('iterated', (async () => { for await (const piece of again.body) p.log(String(piece)) })())
  },
  'request.body: the members': async p => {
    const server = await p.serve((request, response) => { response.setHeader('content-type', 'application/json'); response.end('{"asd":true}') })
    const client = p.client(server.url)
    const one = async name => (await client.request(get)).body[name]()
    p.log(JSON.stringify(await one('json')), await one('text'), (await one('arrayBuffer')).byteLength, (await one('blob')).type, (await one('bytes')).constructor.name)
    const { body } = await client.request(get)
    p.log(body.bodyUsed, body.body instanceof ReadableStream, body.bodyUsed)
    const reader = body.body.getReader(); p.log(String((await reader.read()).value === undefined)); await reader.cancel().catch(error => { p.log(error.name) })
    await p.serve((request, response) => { response.end('no json') }).then(other => p.client(other.url).request(get)).then(a => a.body.json()).catch(error => { p.log(error.name) })
  },
  'JSON of many bytes, split in characters': async p => {
    const server = await p.serve((request, response) => { response.end(JSON.stringify({ asd: 'あ'.repeat(100_000) })) })
    p.log((await p.client(server.url).request(get).then(a => a.body.json())).asd.length)
  },
  'upgrade: accepted, refused, without listeners': async p => {
    const server = await p.serve((request, response) => { response.end('no') })
    server.server.on('upgrade', (request, socket) => { p.stage.log('server')(request.headers.upgrade, request.headers.connection); socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\nX-A: b\r\n\r\nBody'); socket.end() })
    const client = p.client(server.url)
    const { headers, socket, opaque } = await client.upgrade({ path: '/', opaque: 'o' })
    p.log(headers['x-a'], opaque, typeof socket.setNoDelay)
    let text = ''
    for await (const piece of socket) text += piece
    p.log(text)
    await p.settle('invalid', client.upgrade({ path: '/', protocol: 1 }))
    const { url } = await p.serve(hello)
    await p.settle('refused', p.client(url).upgrade({ path: '/' }))
    const cut = await raw(p.stage, socket => { socket.destroy() })
    await p.settle('cut', p.client(cut.url).upgrade({ path: '/' }))
  },
  'connect: accepted, refused, aborted': async p => {
    const server = await p.serve(hello)
    server.server.on('connect', (request, socket, first) => {
      if (request.url === 'refused:1') return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n'); let data = first.toString(); socket.on('data', piece => { data += piece }); socket.on('end', () => { socket.end(data) })
    })
    const client = p.client(server.url)
    const { statusCode, socket } = await client.connect({ path: 'a:1' })
    socket.end('Body'); let text = ''
    for await (const piece of socket) text += piece
    p.log(statusCode, text)
    await p.settle('refused', client.connect({ path: 'refused:1' }).then(answer => { answer.socket.destroy(); return answer.statusCode }))
    const signal = new EventEmitter()
    const aborted = client.connect({ path: 'a:1', signal }); signal.emit('abort')
    await p.settle('aborted', aborted)
    await p.settle('next', client.request(get).then(textOf))
  },
  'stream(): sinks that fail, are destroyed, are slow': async p => {
    const server = await p.serve((request, response) => { response.end('asd'.repeat(50_000)) })
    const client = p.client(server.url)
    const slow = new Writable({ highWaterMark: 10, write (chunk, encoding, done) { setImmediate(done) } })
    await p.settle('slow', client.stream({ ...get }, () => slow).then(() => slow.writableFinished))
    await p.settle('fails', client.stream({ ...get }, () => new Writable({ write (chunk, encoding, done) { done(new Error('kaboom')) } })))
    await p.settle('destroyed', client.stream({ ...get }, () => { const pt = new PassThrough(); pt.on('error', () => {}); setImmediate(() => { pt.destroy() }); return pt }))
    await p.settle('throws', client.stream({ ...get }, () => { throw new Error('kaboom') }))
    for (const value of [null, undefined, 1, {}, { write () {} }]) await p.settle(JSON.stringify(value) ?? 'undefined', client.stream({ ...get }, () => value))
    await p.settle('invalid factory', client.stream({ ...get }, null).catch(error => error.code))
  },
  'pipeline(): ends of every kind': async p => {
    const server = await p.serve((request, response) => { request.pipe(response) })
    const client = p.client(server.url)
    const run = (source, handler, sink) => new Promise(resolve => { const chunks = []; pipeline(source, client.pipeline({ path: '/', method: 'PUT' }, handler), sink?.(chunks) ?? new Writable({ write (chunk, encoding, done) { chunks.push(chunk); done() } }), error => { p.log(error == null ? 'done' : `${error.name} ${error.code ?? '-'} ${error.message}`, Buffer.concat(chunks).length); resolve() }) })
    await run(Readable.from([Buffer.from('a'), Buffer.from('b')]), ({ body }) => body)
    await run(Readable.from([Buffer.alloc(100_000)]), ({ body }) => pipeline(body, new PassThrough(), () => {}))
    await run(new Readable({ read () { this.destroy(new Error('of the source')) } }), ({ body }) => body)
    await run(Readable.from([Buffer.from('a')]), () => { throw new Error('of the handler') })
    await run(Readable.from([Buffer.from('a')]), ({ body }) => { body.resume(); return new Readable({ read () { this.push('own'); this.push(null) } }) })
    await run(Readable.from([Buffer.from('a')]), ({ body }) => body, () => new Writable({ write (chunk, encoding, done) { done(new Error('of the sink')) } }))
  },
  'limits: maxResponseSize, maxHeaderSize, timeouts': async p => {
    const server = await p.serve((request, response) => { if (request.url === '/big') response.end('x'.repeat(1000)); else if (request.url === '/head') response.writeHead(200, { a: 'x'.repeat(10_000) }).end(); else if (request.url === '/none') { /* Nothing comes. */ } else { response.write('a') } })
    const client = p.client(server.url, { maxResponseSize: 100, maxHeaderSize: 5000, headersTimeout: 500, bodyTimeout: 500 })
    await p.settle('big', client.request({ path: '/big', method: 'GET' }).then(textOf))
    await p.settle('head', client.request({ path: '/head', method: 'GET' }).then(textOf))
    await p.settle('none', client.request({ path: '/none', method: 'GET' }).then(textOf))
    await p.settle('body', client.request({ path: '/body', method: 'GET' }).then(textOf))
    await p.settle('own', client.request({ path: '/none', method: 'GET', headersTimeout: 20 }).then(textOf))
    for (const bad of [-1, 'x', Infinity, NaN]) await p.settle(String(bad), client.request({ ...get, headersTimeout: bad }).catch(error => error.message))
  },
  'connect timeouts, refusals, connectors that fail': async p => {
    const { Client, Pool, buildConnector } = p.module
    for (const connect of [(options, callback) => { callback(new Error('kaboom')) }, (options, callback) => { process.nextTick(callback, Object.assign(new Error('kaboom'), { code: 'MINE' })) }, () => { throw new Error('thrown') }]) {
      const client = p.own(new Client('http://localhost:1234', { connect }))
      client.on('connectionError', (origin, targets, error) => { p.log('connectionError', String(origin), targets.length, error.message) })
      await p.settle('request', client.request(get).catch(error => `${error.name} ${error.message}`))
    }
    const pool = p.own(new Pool('http://localhost:1', { connections: 1 }))
    pool.on('connectionError', (origin, targets, error) => { p.log('pool', targets.map(one => [Pool, Client].findIndex(kind => one instanceof kind)).join(), error.code) })
    await p.settle('pool', pool.request(get).catch(error => error.code))
    await p.settle('lookup', p.own(new Client('http://nowhere.example', { connect: { lookup: (host, options, callback) => { callback(Object.assign(new Error('none'), { code: 'ENOTFOUND' })) } } })).request(get).catch(error => error.code))
    const never = p.own(new Client('http://localhost:1234', { connectTimeout: 30, connect: { timeout: 30, lookup: () => {} } }))
    await p.settle('timeout', never.request(get).catch(error => `${error.name} ${error.code}`))
    const connector = buildConnector({ rejectUnauthorized: false })
    const server = await p.serve(hello)
    p.log(await p.own(new Client(server.url, { connect: (options, callback) => { p.log(Object.keys(options).sort().join(), options.hostname, options.protocol); connector(options, callback) } })).request(get).then(textOf))
  },
  'a socket of a connector, looked at': async p => {
    const { Client, buildConnector } = p.module
    const server = await p.serve(hello)
    const connector = buildConnector({})
    let socket
    const client = p.own(new Client(server.url, { connect: (options, callback) => connector(options, (error, made) => { socket = made; callback(error, made) }) }))
    p.log(await client.request(get).then(textOf), socket.constructor.name, socket.remotePort === server.port, socket.destroyed)
    const disconnected = once(client, 'disconnect')
    socket.destroy()
    await disconnected
    p.log(await client.request(get).then(textOf))
  },
  'AsyncLocalStorage in each call': async p => {
    const server = await p.serve(hello)
    const client = p.client(server.url)
    const storage = new AsyncLocalStorage()
    await Promise.all([1, 2, 3].map(n => storage.run(n, async () => {
      const { body } = await client.request(get)
      const seen = [storage.getStore()]
      await new Promise(resolve => { body.on('data', () => { seen.push(storage.getStore()) }).on('end', () => { seen.push(storage.getStore()); resolve() }) })
      await new Promise(resolve => { client.dispatch(get, { onRequestStart () { seen.push(storage.getStore()) }, onResponseStart () { seen.push(storage.getStore()) }, onResponseData () { seen.push(storage.getStore()) }, onResponseEnd () { seen.push(storage.getStore()); resolve() }, onResponseError () {} }) })
      await new Promise(resolve => { client.request(get, (error, { body }) => { seen.push(error, storage.getStore()); body.resume().on('close', resolve) }) })
      p.stage.log(`client ${n}`)(seen.join())
    })))
  },
  'the channels of a request, of an error and of a connection': async p => {
    const server = await p.serve((request, response) => { response.writeHead(200, { trailer: 'foo', 'x-a': 'b' }); response.addTrailers({ foo: 'oof' }); request.resume().on('end', () => { response.end('hello') }) })
    const undo = []
    const listen = (name, call) => { dc.subscribe(name, call); undo.push(() => { dc.unsubscribe(name, call) }) }
    const port = String(server.port)
    const anon = text => String(text).replaceAll(port, 'PORT')
    listen('undici:request:create', ({ request }) => { p.log('create', anon(request.origin), request.method, request.path, request.completed, request.headers.join(), Object.keys(request).filter(key => ['origin', 'method', 'path', 'headers', 'completed', 'aborted', 'body', 'upgrade', 'idempotent', 'contentType', 'host', 'reset', 'servername', 'query', 'protocol'].includes(key)).sort().join()); request.addHeader('hello', 'world') })
    listen('undici:request:bodyChunkSent', ({ request, chunk }) => { p.log('bodyChunkSent', request.method, String(chunk)) })
    listen('undici:request:bodySent', ({ request }) => { p.log('bodySent', request.method) })
    listen('undici:request:headers', ({ request, response }) => { p.log('headers', response.statusCode, response.statusText, response.headers.map(String).join().replace(/Date,[^,]*,[^,]*/, 'Date'), request.completed) })
    listen('undici:request:bodyChunkReceived', ({ chunk }) => { p.log('bodyChunkReceived', String(chunk)) })
    listen('undici:request:trailers', ({ request, trailers }) => { p.log('trailers', trailers.map(String).join(), request.completed) })
    listen('undici:request:error', ({ request, error }) => { p.log('error', request.method, error.code) })
    listen('undici:client:beforeConnect', ({ connectParams, connector }) => { p.log('beforeConnect', Object.keys(connectParams).sort().join(), anon(connectParams.host), connectParams.protocol, anon(connectParams.port), connectParams.servername, connectParams.version, typeof connector) })
    listen('undici:client:connected', ({ connectParams, socket, connector }) => { p.log('connected', anon(connectParams.host), typeof socket, typeof connector) })
    listen('undici:client:connectError', ({ connectParams, error }) => { p.log('connectError', connectParams.hostname, error.code) })
    listen('undici:client:sendHeaders', ({ request, headers, socket }) => { p.log('sendHeaders', anon(headers), request.method, typeof socket) })
    const client = p.client(server.url)
    await client.request({ path: '/', method: 'POST', headers: { bar: 'bar' }, body: 'text' }).then(textOf)
    await client.request({ path: '/', method: 'POST', body: Readable.from(['a', 'b']) }).then(textOf)
    await p.client('http://127.0.0.1:1').request(get).catch(() => {})
    for (const call of undo) call()
  },
  'header lists: flat, of pairs, Headers, Map, generators': async p => {
    const server = await p.serve((request, response) => { response.end(JSON.stringify(request.rawHeaders.filter((value, at) => at > 1 && value !== 'connection' && value !== 'keep-alive'))) })
    const client = p.client(server.url)
    for (const headers of [['a', 'b', 'A', 'c'], [['a', 'b'], ['c', 'd']], new p.module.Headers({ a: 'b' }), new globalThis.Headers({ a: 'b' }), { a: ['b', 'c'], d: 1, e: null, f: undefined, g: true }, Object.entries({ a: 'b' }), ['a'], [['a']], 'x', 1, ['a', ['b', 'c']], [], {}]) await p.settle('headers', client.request({ ...get, headers }).then(textOf))
  },
  'compose: orders, arrays, what is none': async p => {
    const server = await p.serve((request, response) => { response.end(String(request.headers['x-order'])) })
    const add = name => dispatch => (options, handler) => dispatch({ ...options, headers: { ...options.headers, 'x-order': `${options.headers?.['x-order'] ?? ''}${name}` } }, handler)
    const client = p.client(server.url)
    p.log(await client.compose(add('a'), add('b')).request(get).then(textOf), await client.compose([add('a'), add('b')]).request(get).then(textOf), await client.compose(add('a')).compose(add('b')).request(get).then(textOf), await client.compose().request(get).then(textOf))
    for (const bad of [1, 'x', {}, () => 1, () => () => {}, null]) p.attempt(String(bad), () => client.compose(bad))
    const composed = client.compose(add('a'))
    p.log(composed instanceof p.module.Client, composed.closed, typeof composed.on, composed === client)
    await composed.close(); p.log(client.closed, client.destroyed)
  },
  'a body that is never read, and finished()': async p => {
    const server = await p.serve((request, response) => { response.end('x') })
    const client = p.client(server.url)
    const { body } = await client.request(get)
    body.resume()
    await promisify(finished)(body); p.log('finished', body.readableEnded, body.destroyed)
    const second = await client.request(get)
    second.body.destroy(); await p.settle('destroyed', promisify(finished)(second.body))
    const third = await client.request(get)
    third.body.on('error', error => { p.log(error.message) }); third.body.destroy(new Error('mine')); await p.settle('with an error', promisify(finished)(third.body))
    await p.settle('next', client.request(get).then(textOf))
  },
  'close and destroy, in each order, with callbacks': async p => {
    const server = await p.serve(hello)
    for (const calls of [['close'], ['destroy'], ['close', 'close'], ['close', 'destroy'], ['destroy', 'close'], ['destroy', 'destroy']]) {
      const client = p.client(server.url)
      await client.request(get).then(textOf)
      for (const name of calls) await p.settle(`${calls.join()} ${name}`, client[name]())
      p.log(client.closed, client.destroyed)
      await p.settle('request', client.request(get))
      await new Promise(resolve => { client.close(error => { p.log('callback', error?.code ?? error); resolve() }) })
    }
    const last = p.client(server.url)
    p.attempt('close', () => last.close({})); p.attempt('destroy', () => last.destroy(new Error('x'), {})); p.attempt('nulls', () => last.destroy(null, null)); p.attempt('nulls', () => last.close(null, null))
  },
  'destroy with an error of its own': async p => {
    const server = await p.serve(() => {})
    const client = p.client(server.url)
    const requests = [client.request(get), client.request(get)]
    client.on('disconnect', (origin, targets, error) => { p.log('disconnect', known(error)) })
    await server.asked()
    const gone = client.destroy(new Error('mine'))
    for (const request of requests) await p.settle('request', request)
    await gone
  },
  'the sizes of a HEAD, a 204 and a 304': async p => {
    const server = await p.serve((request, response) => { response.writeHead(Number(request.url.slice(1)), { 'content-length': request.url === '/200' ? 5 : 0 }); response.end(request.method === 'HEAD' || request.url !== '/200' ? undefined : 'hello') })
    const client = p.client(server.url, { pipelining: 2 })
    for (const [path, method] of [['/200', 'HEAD'], ['/204', 'GET'], ['/304', 'GET'], ['/200', 'GET']]) await p.settle(`${method} ${path}`, client.request({ path, method }).then(async a => [a.statusCode, a.headers['content-length'], await a.body.text()]), v => v)
    p.log(server.counts.sockets)
  },
  'many requests through few connections, with aborts': async p => {
    const server = await p.serve((request, response) => { setImmediate(() => { response.end(request.url) }) })
    const pool = p.pool(server.url, { connections: 4 })
    const results = await Promise.allSettled(Array.from({ length: 400 }, (_, n) => { const controller = new AbortController(); if (n % 5 === 0) setTimeout(() => { controller.abort() }, n % 3); return pool.request({ path: `/${n}`, method: 'GET', signal: controller.signal }).then(async a => await a.body.text() === `/${n}`) }))
    p.log(results.filter((one, n) => n % 5 !== 0 && one.value === true).length, results.filter(one => one.status === 'rejected' && one.reason.name !== 'AbortError').length)
    await after(5)
    p.log(JSON.stringify({ ...pool.stats, connected: undefined, free: undefined, origins: undefined, totals: undefined }))
  }
})

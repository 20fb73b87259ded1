// Dispatcher: request, stream, pipeline, connect, upgrade, dispatch and compose.
import { EventEmitter, once } from 'node:events'
import { AsyncLocalStorage } from 'node:async_hooks'
import { PassThrough, Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { bytesOf, closing, turns } from '../stage.mjs'
import { fieldsOf, get, hello, known, onVersions, programs, textOf, VERSIONS } from '../page.mjs'

const echo = async (request, response) => {
  const bytes = await bytesOf(request).catch(() => null)
  if (bytes !== null) response.writeHead(200, { 'x-method': request.method, 'x-length': request.headers['content-length'] ?? 'none' }).end(bytes)
}
const sink = (write = () => {}) => new Writable({ write (piece, _, done) { write(piece); done() } })

export default {
  ...onVersions(VERSIONS, {
    'request: what an answer has': async p => {
      const server = await p.serve((request, response) => { response.writeHead(201, { 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'] }); response.end('{"a":1}') })
      const answer = await p.client(server.url).request({ ...get, opaque: 7 })
      p.log(Object.keys(answer).sort().join(), answer.statusCode, fieldsOf(answer.headers), answer.opaque, answer.context, answer.body.constructor.name, JSON.stringify(await answer.body.json()), JSON.stringify(answer.trailers))
    },
    'request: a callback, and its arguments': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      await new Promise(resolve => { p.log(client.request({ ...get, opaque: 'o' }, (error, data) => { p.log(error, data.opaque); data.body.dump().then(resolve) })) })
      await new Promise(resolve => { p.client('http://localhost:1').request({ ...get, opaque: 'o' }, (error, data) => { p.log(error.code, data); resolve() }) })
    },
    'request: settles in the order of its turns': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      const order = []
      const call = client.request(get)
      process.nextTick(() => { order.push('tick') })
      queueMicrotask(() => { order.push('microtask') })
      const answer = await call
      order.push('head')
      answer.body.on('data', () => { order.push('data') }).on('end', () => { order.push('end') }).on('close', () => { order.push('close') })
      await once(answer.body, 'close')
      p.log(order)
    },
    'request: methods and bodies': async p => {
      const server = await p.serve(echo)
      const client = p.client(server.url)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'GET', 'QUERY']) {
        for (const [label, body] of [['none', undefined], ['null', null], ['text', 'text'], ['an empty text', ''], ['bytes', new Uint8Array([104, 105])]]) {
          if (body && method === 'GET') continue
          await client.request({ path: '/', method, body }).then(async answer => { p.log(method, label, answer.headers['x-length'], await answer.body.text()) }, error => { p.log(method, label, known(error)) })
        }
      }
    },
    'request: headers of each form': async p => {
      const server = await p.serve((request, response) => { const { host, connection, ...rest } = request.headers; response.end(fieldsOf(rest)) })
      const client = p.client(server.url)
      const forms = { object: { 'X-A': '1', b: ['2', '3'], c: null, d: undefined, e: 5 }, list: ['x-a', '1', 'X-B', '2'], pairs: [['x-a', '1'], ['x-b', '2']], Map: new Map([['x-a', '1']]), Headers: new Headers({ 'x-a': '1' }), generator: (function * () { yield ['x-a', '1'] })(), 'an odd list': ['x-a'], text: 'x-a: 1', number: 5, true: { a: true }, empty: {} , null: null }
      for (const [label, headers] of Object.entries(forms)) await p.settle(label, client.request({ ...get, headers }).then(textOf))
    },
    'request: headers that are refused': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      for (const headers of [{ 'transfer-encoding': 'chunked' }, { 'keep-alive': 'timeout=5' }, { upgrade: 'x' }, { connection: 'asd' }, { connection: 'close, x' }, { 'content-length': 'x' }, { 'content-length': '-1' }, { 'a b': '1' }, { a: 'b\r\nc: d' }, { a: 'b\0' }, { a: '\u0100' }, { '': 'a' }, { a: {} }, { a: [{}] }, { host: ['a', 'b'] }, { expect: 'x' }, { a: Symbol.iterator }]) await p.settle(Object.keys(headers)[0] + String(JSON.stringify(headers)), client.request({ ...get, headers }).then(textOf))
    },
    'request: options that are refused': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      for (const options of [{ path: 'a' }, { path: 5 }, { path: '/ a' }, { path: '/\n' }, { method: 5 }, { method: 'A B' }, { method: '' }, { headersTimeout: -1 }, { bodyTimeout: 'a' }, { headersTimeout: NaN }, { reset: 'x' }, { signal: {} }, { signal: 5 }, { onInfo: 5 }, { opaque: 5 }, { query: 'a' }, { query: 5 }, { idempotent: 'x' }, { blocking: 'x' }, { upgrade: 5 }, { throwOnError: true }, { responseHeaders: 'x' }, { highWaterMark: -1 }, { body: 5 }, { body: true }, { body: {} }, { body: Symbol.iterator }, { maxRedirections: 5 }, { servername: 5 }, { expectContinue: 1 }]) {
        await p.settle(Object.entries(options).map(([name, value]) => `${name} ${typeof value === 'symbol' ? 'symbol' : JSON.stringify(value)}`)[0], client.request({ ...get, ...options }).then(textOf))
      }
    },
    'request: query': async p => {
      const server = await p.serve((request, response) => { response.end(request.url) })
      const client = p.client(server.url)
      for (const query of [{ a: 1 }, { a: [1, 2] }, { a: null, b: undefined }, { a: 'ä ö&=+' }, { a: { b: 1 } }, { a: true }, {}, { 'a b': '' }, { a: NaN }, { a: 10n }]) await p.settle(typeof query.a === 'bigint' ? 'bigint' : JSON.stringify(query), client.request({ path: '/p', method: 'GET', query }).then(textOf))
      await p.settle('beside one', client.request({ path: '/p?a', method: 'GET', query: { b: 1 } }).then(textOf))
      await p.settle('beside a fragment', client.request({ path: '/p#a', method: 'GET', query: { b: 1 } }).then(textOf))
    },
    'request: a source is destroyed with its request': async p => {
      const server = await p.serve((request) => { request.on('error', () => {}).resume() })
      const client = p.client(server.url)
      const source = new Readable({ read () {} })
      source.on('error', error => { p.log('error', known(error)) })
      source.push('a')
      const controller = new AbortController()
      const call = p.settle('call', client.request({ path: '/', method: 'POST', body: source, signal: controller.signal }))
      await server.asked()
      const closed = closing(source)
      controller.abort()
      await call
      await closed
      p.log(source.destroyed)
    },
    'request: an EventEmitter as signal, and its listeners': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      const signal = new EventEmitter()
      const call = client.request({ ...get, signal })
      p.log(signal.listenerCount('abort'))
      const { body } = await call
      await body.text()
      await turns(3)
      p.log(signal.listenerCount('abort'))
    },
    'request: an EventEmitter as signal that says that it has aborted': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      for (const more of [{ aborted: true }, { aborted: true, reason: new Error('its own') }]) {
        const signal = Object.assign(new EventEmitter(), more)
        await client.request({ ...get, signal }).then(async ({ statusCode, body }) => { p.log(statusCode, await body.text()) }, error => { p.log(error.name, error.code, error.message) })
        p.log(signal.listenerCount('abort'))
      }
    },
    'request: AsyncLocalStorage in every callback': async p => {
      const store = new AsyncLocalStorage()
      const server = await p.serve(hello)
      const client = p.client(server.url)
      await Promise.all([1, 2, 3].map(at => store.run(at, async () => {
        const { body } = await client.request(get)
        const seen = [store.getStore()]
        await body.text()
        seen.push(store.getStore())
        await new Promise(resolve => { client.request(get, (error, answer) => { seen.push(store.getStore()); answer.body.dump().then(resolve) }) })
        p.log(seen.every(one => one === at))
      })))
    },
    'stream: what the factory gets': async p => {
      const server = await p.serve((request, response) => { response.writeHead(200, { 'x-a': 'b' }); response.end('hello') })
      const pieces = []
      const answer = await p.client(server.url).stream({ ...get, opaque: 7 }, data => { p.log(Object.keys(data).sort().join(), data.statusCode, data.headers['x-a'], data.opaque); return sink(piece => { pieces.push(piece) }) })
      p.log(Object.keys(answer).sort().join(), JSON.stringify(answer.trailers), answer.opaque, Buffer.concat(pieces).toString())
    },
    'stream: factories that fail': async p => {
      const server = await p.serve(hello)
      for (const [label, factory] of Object.entries({ throws: () => { throw new Error('factory') }, 'gives nothing': () => {}, 'gives null': () => null, 'gives an object': () => ({}), 'gives a Readable': () => new Readable({ read () {} }), 'gives a destroyed one': () => { const one = sink(); one.destroy(); return one }, 'gives one that fails': () => new Writable({ write (piece, _, done) { done(new Error('sink')) } }), 'gives one that is ended': () => { const one = sink(); one.on('error', () => {}); one.end(); return one } })) {
        await p.settle(label, p.client(server.url).stream(get, factory), value => [Object.keys(value).join()])
      }
      await p.settle('no factory', p.client(server.url).stream(get))
      await p.settle('no options', p.client(server.url).stream(null, () => {}))
    },
    'stream: a slow sink': async p => {
      const server = await p.serve((request, response) => { response.end(Buffer.alloc(500_000)) })
      let bytes = 0
      const slow = new Writable({ highWaterMark: 1000, write (piece, _, done) { bytes += piece.length; setImmediate(done) } })
      await p.client(server.url).stream(get, () => slow)
      p.log(bytes, slow.writableFinished, slow.destroyed)
    },
    'stream: aborted in its body': async p => {
      const server = await p.serve((request, response) => { response.write('begin') })
      const controller = new AbortController()
      const into = sink(() => { controller.abort() })
      into.on('error', error => { p.log('sink', known(error)) })
      await p.settle('stream', p.client(server.url).stream({ ...get, signal: controller.signal }, () => into))
      await turns(2)
      p.log(into.destroyed)
    },
    'pipeline: handlers that fail': async p => {
      const server = await p.serve(echo)
      for (const [label, handler] of Object.entries({ throws: () => { throw new Error('handler') }, 'gives nothing': () => {}, 'gives a text': () => 'a', 'gives a destroyed one': ({ body }) => { body.resume(); const one = new PassThrough(); one.destroy(); return one } })) {
        const duplex = p.client(server.url).pipeline({ path: '/', method: 'POST' }, handler)
        duplex.on('error', error => { p.log(label, known(error)) }).end('x')
        duplex.resume()
        await new Promise(resolve => { duplex.on('close', resolve) })
      }
      const duplex = p.client(server.url).pipeline({ path: '/', method: 'POST' }, 5)
      await new Promise(resolve => { duplex.on('error', error => { p.log('no handler', known(error)) }).on('close', resolve) })
    },
    'pipeline: 1 MB through an echo': async p => {
      const server = await p.serve((request, response) => { request.pipe(response) })
      const duplex = p.client(server.url).pipeline({ path: '/', method: 'POST' }, ({ body }) => body)
      Readable.from((function * () { for (let at = 0; at < 100; at++) yield Buffer.alloc(10_000, at) })()).pipe(duplex)
      let bytes = 0
      for await (const piece of duplex) bytes += piece.length
      p.log(bytes)
    },
    'pipeline: destroyed by its user': async p => {
      const server = await p.serve(() => {})
      const duplex = p.client(server.url).pipeline({ path: '/', method: 'POST' }, ({ body }) => body)
      duplex.on('error', error => { p.log('error', known(error)) })
      duplex.write('x')
      await server.asked()
      duplex.destroy(new Error('enough'))
      await new Promise(resolve => { duplex.on('close', resolve) })
      p.log(duplex.destroyed)
    },
    'dispatch: a handler sees each event': async p => {
      const server = await p.serve((request, response) => { response.writeHead(200, { 'x-a': 'b' }); response.end('hello') })
      await new Promise(resolve => {
        const handler = {
          onRequestStart (controller, context) { p.log('start', this === handler, Object.keys(context ?? {}).join(), typeof controller.resume) },
          onRequestUpgrade () { p.log('upgrade') },
          onResponseStart (controller, status, headers, text) { p.log('head', this === handler, status, headers['x-a'], typeof text, controller.aborted, controller.paused) },
          onResponseData (controller, piece) { p.log('data', Buffer.isBuffer(piece), String(piece)) },
          onResponseEnd (controller, trailers) { p.log('end', JSON.stringify(trailers)); resolve() },
          onResponseError (controller, error) { p.log('error', known(error)); resolve() },
          onBodySent (piece) { p.log('sent', String(piece)) },
          onRequestSent () { p.log('all sent') },
          onResponseStarted () { p.log('started') }
        }
        p.log(typeof p.client(server.url).dispatch({ path: '/', method: 'POST', body: 'body' }, handler))
      })
    },
    'dispatch: a handler that throws in each event': async p => {
      const server = await p.serve((request, response) => { response.end('hello') })
      for (const event of ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd']) {
        await new Promise(resolve => {
          const handler = { onRequestStart () {}, onResponseStart () {}, onResponseData () {}, onResponseEnd () { p.log(event, 'ended'); resolve() }, onResponseError (_, error) { p.log(event, known(error)); resolve() } }
          const before = handler[event]
          handler[event] = function (...args) { if (event === 'onResponseEnd') before.apply(this, args); throw new Error(`in ${event}`) }
          if (event === 'onResponseEnd') return resolve()
          p.attempt(event, () => p.client(server.url).dispatch(get, handler))
        })
      }
    },
    'dispatch: abort without a reason': async p => {
      const server = await p.serve(() => {})
      for (const reason of [undefined, null, 'text', new Error('own')]) {
        await new Promise(resolve => {
          p.client(server.url).dispatch(get, { onRequestStart (controller) { controller.abort(reason); p.log(controller.aborted, controller.reason === reason) }, onResponseStart () {}, onResponseEnd () {}, onResponseError (_, error) { p.log(known(error)); resolve() } })
        })
      }
    },
    'dispatch: raw headers': async p => {
      const server = await p.serve((request, response) => { response.sendDate = false; response.setHeader('X-Case', 'Value'); response.end() })
      await new Promise(resolve => {
        p.client(server.url).dispatch(get, { onRequestStart () {}, onResponseStart (controller) { p.log(controller.rawHeaders.map(String).filter(one => /x-case|value/i.test(one))) }, onResponseEnd (controller) { p.log(controller.rawTrailers?.length ?? 0); resolve() }, onResponseError (_, error) { p.log(known(error)); resolve() } })
      })
    },
    'dispatch: pause before the first piece': async p => {
      const server = await p.serve(hello)
      await new Promise(resolve => {
        let isResumed = false
        p.client(server.url).dispatch(get, { onRequestStart () {}, onResponseStart (controller) { controller.pause(); p.log(controller.paused); setTimeout(() => { isResumed = true; controller.resume(); p.log(controller.paused) }, 30) }, onResponseData () { p.log('data', isResumed) }, onResponseEnd () { p.log('end', isResumed); resolve() }, onResponseError (_, error) { p.log(known(error)); resolve() } })
      })
    },
    'compose: the order of interceptors': async p => {
      const server = await p.serve((request, response) => { response.end(request.headers['x-by']) })
      const by = name => dispatch => (options, handler) => { p.log(name, options.path, typeof options.origin); return dispatch({ ...options, headers: { 'x-by': `${options.headers?.['x-by'] ?? ''}${name}` } }, handler) }
      const client = p.client(server.url).compose([by('a'), by('b')]).compose(by('c'), by('d'))
      p.log(await client.request(get).then(textOf))
      for (const wrong of [5, 'a', {}, null, () => {}, () => 5]) p.attempt(String(wrong), () => p.client(server.url).compose(wrong))
    },
    'compose: a handler of an interceptor': async (p, { DecoratorHandler }) => {
      const server = await p.serve(hello)
      class Upper extends DecoratorHandler {
        onResponseStart (controller, status, headers, text) { return super.onResponseStart(controller, status, { ...headers, 'x-seen': 'yes' }, text) }
        onResponseData (controller, piece) { return super.onResponseData(controller, Buffer.from(String(piece).toUpperCase())) }
      }
      const client = p.client(server.url).compose(dispatch => (options, handler) => dispatch(options, new Upper(handler)))
      const { headers, body } = await client.request(get)
      p.log(headers['x-seen'], await body.text())
    },
    'an answer that is not read, and the next request': async p => {
      const server = await p.serve((request, response) => { response.end(request.url === '/1' ? Buffer.alloc(200_000) : 'two') })
      const client = p.client(server.url)
      const one = await client.request({ path: '/1', method: 'GET' })
      one.body.on('error', () => {})
      const two = client.request({ path: '/2', method: 'GET' }).then(textOf).then(text => { p.log(text) })
      await turns(3)
      await one.body.dump()
      await two
    }
  }),
  ...onVersions(['h1'], {
    'request: a source that fails': async p => {
      const server = await p.serve((request, response) => { request.on('error', () => {}).resume(); response.on('error', () => {}) })
      for (const [label, make] of Object.entries({
        'in its first read': () => new Readable({ read () { this.destroy(new Error('source')) } }),
        'behind a piece': () => new Readable({ read () { this.push('a'); this.destroy(new Error('source')) } }),
        'later': () => { const source = new Readable({ read () {} }); source.push('a'); setTimeout(() => { source.destroy(new Error('source')) }, 20); return source },
        'without an error': () => { const source = new Readable({ read () {} }); source.push('a'); setTimeout(() => { source.destroy() }, 20); return source },
        'a generator': async function * () { yield 'a'; throw new Error('source') },
        'a generator at once': async function * () { throw new Error('source') } // eslint-disable-line require-yield
      })) {
        const client = p.client(server.url)
        await p.settle(label, client.request({ path: '/', method: 'POST', body: make() }).then(textOf))
      }
    }
  }),
  ...programs({
    'connect: a server that refuses': async p => {
      const server = await p.serve(hello)
      server.server.on('connect', (request, socket) => { p.stage.log('server')(request.url, request.headers.host !== undefined); socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n') })
      await p.settle('connect', p.client(server.url).connect({ path: 'other.test:80' }), ({ statusCode, socket }) => { socket.on('error', () => {}).destroy(); return [statusCode] })
    },
    'connect: data both ways, and an end': async p => {
      const server = await p.serve(hello)
      server.server.on('connect', (request, socket) => { socket.write('HTTP/1.1 200 OK\r\nx-a: b\r\n\r\nhead'); socket.on('data', piece => { socket.write(`got ${piece}`) }).on('end', () => { socket.end('bye') }).on('error', () => {}) })
      const { statusCode, headers, socket, opaque } = await p.client(server.url).connect({ path: 'other.test:80', opaque: 'o' })
      p.log(statusCode, headers['x-a'], opaque)
      socket.write('x')
      const pieces = []
      socket.on('data', piece => { pieces.push(String(piece)); if (pieces.join('').includes('got x')) socket.end() })
      await finished(socket)
      p.log(pieces.join(''))
    },
    'upgrade: data, and what it is told': async p => {
      const server = await p.serve(hello)
      server.server.on('upgrade', (request, socket, head) => { p.stage.log('server')(request.headers.upgrade, request.headers.connection, request.method, String(head)); socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: proto\r\n\r\nhello') })
      const { headers, socket, opaque } = await p.client(server.url).upgrade({ path: '/', method: 'GET', protocol: 'proto', opaque: 'o' })
      p.log(headers.upgrade, opaque, String(await bytesOf(socket)))
    },
    'upgrade: calls that are refused': async p => {
      const client = p.client('http://localhost:1')
      for (const options of [null, {}, { path: '/', upgrade: 5 }, { path: '/', protocol: 5 }, { path: 5 }]) await p.settle(JSON.stringify(options), client.upgrade(options))
      for (const options of [null, {}, { path: 5 }, { path: '/', signal: 5 }]) await p.settle(`connect ${JSON.stringify(options)}`, client.connect(options))
    },
    'top level calls without a URL': async (p, { request, stream, pipeline, connect, upgrade }) => {
      for (const [name, call] of Object.entries({ request, stream, pipeline, connect, upgrade })) {
        for (const url of [undefined, null, 5, '', 'x', 'ftp://localhost', {}]) {
          try {
            const value = call(url, {}, () => {})
            if (typeof value?.then === 'function') await p.settle(`${name} ${url}`, value)
            else if (value === undefined) p.log(name, String(url), 'undefined')
            else await new Promise(resolve => { value.on('error', error => { p.log(name, String(url), known(error)); resolve() }) })
          } catch (error) {
            p.log(name, String(url), 'threw', known(error))
          }
        }
      }
    },
    'setGlobalDispatcher: what is refused': async (p, { setGlobalDispatcher, getGlobalDispatcher }) => {
      const before = getGlobalDispatcher()
      for (const one of [undefined, null, {}, 5, { dispatch: 5 }]) p.attempt(String(one), () => setGlobalDispatcher(one))
      p.log(getGlobalDispatcher() === before)
    }
  })
}

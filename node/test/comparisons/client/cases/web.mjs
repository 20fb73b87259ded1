// Rarer uses of undici's classes over a dispatcher: WebSocket, EventSource, mocks, snapshots, retries, caches, proxies.
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import net from 'node:net'
import dc from 'node:diagnostics_channel'
import { Readable } from 'node:stream'
import { WebSocketServer } from 'ws'
import { after, get, hello, known, portless, programs, textOf } from '../page.mjs'

const sockets = async (p, listener, options = {}) => {
  const served = await p.serve((request, response) => { response.writeHead(426).end('no') })
  const server = new WebSocketServer({ server: served.server, ...options })
  server.on('connection', listener)
  p.stage.closers.unshift(async () => { for (const one of server.clients) one.terminate(); server.close() })
  return { url: served.url.replace('http', 'ws'), server, served }
}
/** A server of WebSockets by hand: `frames(socket)` once a client is there. */
const frames = async (p, talk, head = '') => {
  const served = await p.serve(hello)
  served.server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${head}\r\n`)
    socket.on('error', () => {})
    talk(socket)
  })
  return served.url.replace('http', 'ws')
}
const ended = (p, socket) => new Promise(resolve => {
  socket.addEventListener('open', () => { p.log('open', socket.readyState) })
  socket.addEventListener('message', ({ data }) => { p.log('message', typeof data === 'string' ? data.slice(0, 30) : `${data.constructor.name} ${data.byteLength ?? data.size}`) })
  socket.addEventListener('error', event => { p.log('error', event.type, event.error?.name ?? '-', event.message ?? '-') })
  socket.addEventListener('close', ({ code, reason, wasClean }) => { p.log('close', code, reason, wasClean, socket.readyState); resolve() })
})

export default programs({
  'WebSocket: ends of each kind by the server': async p => {
    for (const end of [one => { one.close() }, one => { one.close(1000, 'bye') }, one => { one.close(3333, 'x'.repeat(100)) }, one => { one.terminate() }, one => { one.send('a'); one.close(1001) }, one => { one._socket.end() }]) {
      const { url } = await sockets(p, end)
      await ended(p, new p.module.WebSocket(url, { dispatcher: p.agent() }))
    }
  },
  'WebSocket: ends by the client at each moment': async p => {
    const seen = []
    const { url } = await sockets(p, one => { one.on('close', (code, reason) => { seen.push(`${code} ${reason}`) }); one.send('hi') })
    const { WebSocket } = p.module
    { const socket = new WebSocket(url, { dispatcher: p.agent() }); const over = ended(p, socket); socket.close(); await over }
    { const socket = new WebSocket(url, { dispatcher: p.agent() }); const over = ended(p, socket); socket.addEventListener('open', () => { socket.close(3000, 'mine') }); await over }
    { const socket = new WebSocket(url, { dispatcher: p.agent() }); const over = ended(p, socket); socket.addEventListener('message', () => { socket.close(); socket.close(); socket.send('late') }); await over }
    for (const args of [[999], [1001], [5000], [3000, 'x'.repeat(124)], ['x']]) { const socket = new WebSocket(url, { dispatcher: p.agent() }); const over = ended(p, socket); p.attempt(String(args[0]), () => socket.close(...args)); socket.close(); await over }
    while (seen.length < 2) await after(5)
    p.log(seen.sort().join('; '))
  },
  'WebSocket: messages of each kind and size': async p => {
    const { url } = await sockets(p, one => { one.on('message', (data, isBinary) => { one.send(data, { binary: isBinary }) }) })
    for (const binaryType of ['blob', 'arraybuffer']) {
      const socket = new p.module.WebSocket(url, { dispatcher: p.agent() }); socket.binaryType = binaryType
      const over = ended(p, socket)
      await once(socket, 'open')
      for (const data of ['', 'text', 'é'.repeat(100), new Uint8Array(3), new ArrayBuffer(4), new DataView(new ArrayBuffer(5)), new Blob(['blob']), 'x'.repeat(70_000), new Uint8Array(200_000)]) { socket.send(data); await once(socket, 'message') }
      p.log(socket.bufferedAmount, socket.extensions, socket.protocol, socket.binaryType)
      socket.close(); await over
    }
  },
  'WebSocket: protocols, fields and refusals': async p => {
    const { WebSocket } = p.module
    const { url, served } = await sockets(p, (one, request) => { one.send(String(request.headers['x-own'])); one.close() }, { handleProtocols: all => [...all][0] })
    for (const options of [['a', 'b'], 'a', { protocols: ['a'], headers: { 'x-own': 'mine' } }]) { const socket = new WebSocket(url, Array.isArray(options) || typeof options === 'string' ? options : { dispatcher: p.agent(), ...options }); await ended(p, socket); p.log(socket.protocol) }
    for (const args of [['bad'], ['http://localhost'], ['ws://localhost/#a'], ['ws://localhost', ['a', 'a']], ['ws://localhost', ['a b']], []]) p.attempt(String(args[0]), () => new WebSocket(...args))
    for (const head of ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: bad\r\n\r\n', 'HTTP/1.1 101 x\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n', 'HTTP/1.1 302 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n', 'garbage\r\n\r\n', '']) {
      const server = await p.stage.serveRaw(socket => { socket.once('data', () => { socket.end(head) }) })
      await ended(p, new WebSocket(server.url.replace('http', 'ws'), { dispatcher: p.agent() }))
    }
    p.log(served.counts.sockets)
  },
  'WebSocket: frames that break the rules': async p => {
    const cases = { masked: [0x81, 0x81, 0, 0, 0, 0, 65], 'a reserved opcode': [0x83, 0x00], 'rsv1 without an extension': [0xc1, 0x01, 65], 'a long ping': [0x89, 0x7e, 0x00, 0x80], 'a continuation of nothing': [0x80, 0x01, 65], 'text in the midst of a message': [0x01, 0x01, 65, 0x81, 0x01, 65], 'no utf-8': [0x81, 0x02, 0xc3, 0x28], 'a close of one byte': [0x88, 0x01, 0x03], 'a bad code': [0x88, 0x02, 0x03, 0xe7], 'a reason that is no utf-8': [0x88, 0x04, 0x03, 0xe8, 0xc3, 0x28], 'a fragmented ping': [0x09, 0x00], 'fragments': [0x01, 0x01, 65, 0x00, 0x01, 66, 0x80, 0x01, 67, 0x88, 0x02, 0x03, 0xe8], 'a ping and an end': [0x89, 0x01, 65, 0x88, 0x00], 'a pong that nobody asked for': [0x8a, 0x00, 0x88, 0x02, 0x03, 0xe8], 'a length of 64 bits': [0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0, 1, 65, 0x88, 0x02, 0x03, 0xe8] }
    for (const [name, bytes] of Object.entries(cases)) {
      const got = []
      const url = await frames(p, socket => { socket.write(Buffer.from(bytes)); socket.on('data', data => { got.push(data) }); socket.on('end', () => { socket.end() }); if (/fragments|an end|nobody|64/.test(name)) socket.once('data', () => { socket.end() }) })
      p.log(name)
      await ended(p, new p.module.WebSocket(url, { dispatcher: p.agent() }))
      const all = Buffer.concat(got)
      p.log('server got', all.length > 0 ? (all[0] & 15) : 'nothing')
    }
  },
  'WebSocket: frames byte by byte, and with the head': async p => {
    const bytes = Buffer.from([0x81, 0x05, ...Buffer.from('hello'), 0x82, 0x7e, 0x00, 0x80, ...Buffer.alloc(128), 0x88, 0x02, 0x03, 0xe8])
    const slow = await frames(p, async socket => { for (const byte of bytes) { socket.write(Buffer.of(byte)); await new Promise(resolve => { setImmediate(resolve) }) } socket.on('data', () => { socket.end() }) })
    await ended(p, new p.module.WebSocket(slow, { dispatcher: p.agent() }))
    const whole = await frames(p, socket => { socket.write(bytes); socket.on('data', () => { socket.end() }) })
    await ended(p, new p.module.WebSocket(whole, { dispatcher: p.agent() }))
  },
  'WebSocket: pings, and their channels': async p => {
    const undo = []
    for (const name of ['open', 'close', 'socket_error', 'ping', 'pong']) { const call = message => { p.log(name, Object.keys(message).sort().join()) }; dc.subscribe(`undici:websocket:${name}`, call); undo.push(() => { dc.unsubscribe(`undici:websocket:${name}`, call) }) }
    const { url } = await sockets(p, one => { one.ping('x'); one.on('pong', data => { p.stage.log('server')(String(data)); one.close() }) })
    const socket = new p.module.WebSocket(url, { dispatcher: p.agent() })
    await ended(p, socket)
    for (const call of undo) call()
  },
  'WebSocketStream: read, write, abort, close': async p => {
    const { WebSocketStream } = p.module
    const { url } = await sockets(p, one => { one.on('message', (data, isBinary) => { one.send(data, { binary: isBinary }) }) })
    const stream = new WebSocketStream(url)
    const { readable, writable, protocol, extensions } = await stream.opened
    const writer = writable.getWriter(); const reader = readable.getReader()
    await writer.write('a'); p.log((await reader.read()).value, protocol, extensions.length)
    await writer.write(new Uint8Array([1])); p.log((await reader.read()).value.length)
    stream.close({ closeCode: 3000, reason: 'x' })
    const closed = await stream.closed; p.log(closed.closeCode, closed.reason)
    const controller = new AbortController(); const aborted = new WebSocketStream(url, { signal: controller.signal }); controller.abort()
    await Promise.allSettled([aborted.opened, aborted.closed]).then(all => { for (const one of all) p.log(one.status, one.reason?.name) })
    const refused = new WebSocketStream('ws://localhost:1')
    await Promise.allSettled([refused.opened, refused.closed]).then(all => { for (const one of all) p.log(one.status, one.reason?.name) })
  },
  'EventSource: events, ids, retries, ends': async p => {
    const { EventSource } = p.module
    let asked = 0
    const server = await p.serve((request, response) => {
      asked++
      if (asked > 2) return response.writeHead(204).end()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`retry: 10\nid: ${asked}\nevent: own\ndata: a\ndata: b\n\n:comment\ndata: last ${request.headers['last-event-id'] ?? '-'}\n\n`)
    })
    const source = new EventSource(server.url, { dispatcher: p.agent() })
    await new Promise(resolve => {
      source.addEventListener('own', ({ data, lastEventId }) => { p.log('own', JSON.stringify(data), lastEventId) })
      source.onmessage = ({ data }) => { p.log('message', data) }
      source.onopen = () => { p.log('open') }
      source.onerror = () => { p.log('error', source.readyState); if (source.readyState === 2) resolve() }
    })
    p.log(asked)
    for (const [status, type] of [[200, 'text/plain'], [500, 'text/event-stream'], [200, 'text/event-stream;charset=utf-8'], [200, 'TEXT/EVENT-STREAM']]) {
      const other = await p.serve((request, response) => { response.writeHead(status, { 'content-type': type }); response.write('data: x\n\n') })
      const one = new EventSource(other.url, { dispatcher: p.agent() })
      await new Promise(resolve => { one.onmessage = ({ data }) => { p.log('message', data); resolve() }; one.onerror = () => { p.log('error', one.readyState); resolve() } })
      one.close()
    }
  },
  'EventSource: a connection that ends, and is made again': async p => {
    let asked = 0
    const server = await p.serve((request, response) => { response.writeHead(200, { 'content-type': 'text/event-stream' }); response.write(`retry: 5\ndata: ${++asked}\n\n`); if (asked < 3) setTimeout(() => { response.socket.destroy() }, 5) })
    const source = new p.module.EventSource(server.url, { dispatcher: p.agent() })
    await new Promise(resolve => { source.onmessage = ({ data }) => { p.log(data); if (data === '3') resolve() }; source.onerror = () => { p.log('error', source.readyState) } })
    source.close(); p.log(source.readyState)
  },
  'MockAgent: over a dispatcher, options and errors': async p => {
    const { MockAgent, request, fetch, MockClient, MockPool } = p.module
    const server = await p.serve((request, response) => { response.end('real') })
    const mock = p.own(new MockAgent({ agent: p.agent(), enableCallHistory: true }))
    const pool = mock.get(server.url)
    p.log(pool instanceof MockPool, pool instanceof MockClient)
    pool.intercept({ path: '/a', method: 'GET' }).reply(200, { json: true }, { headers: { 'x-a': 'b' }, trailers: { t: 'c' } })
    p.log(await request(`${server.url}/a`, { dispatcher: mock }).then(async a => [a.statusCode, a.headers['x-a'], await a.body.json(), a.trailers.t]))
    await p.settle('again', request(`${server.url}/a`, { dispatcher: mock }).then(textOf))
    pool.intercept({ path: /b/, method: 'POST', body: text => text.includes('x'), headers: { 'x-q': value => value === 'y' }, query: { q: '1' } }).reply(options => ({ statusCode: 201, data: `${options.path} ${options.method} ${options.body}` })).times(2)
    await p.settle('post', request(`${server.url}/b?q=1`, { method: 'POST', body: 'xx', headers: { 'x-q': 'y' }, dispatcher: mock }).then(async a => [a.statusCode, portless(await a.body.text())]), v => v)
    pool.intercept({ path: '/e' }).replyWithError(new Error('mine'))
    await p.settle('error', request(`${server.url}/e`, { dispatcher: mock }))
    await p.settle('fetch error', fetch(`${server.url}/e`, { dispatcher: mock }).then(r => r.status, error => `${error.name} ${error.cause?.message}`))
    pool.intercept({ path: '/d' }).reply(200, 'late').delay(5).persist()
    for (const n of [1, 2]) p.log(n, await fetch(`${server.url}/d`, { dispatcher: mock }).then(a => a.text()))
    p.log(mock.pendingInterceptors().length, JSON.stringify(mock.getCallHistory().calls().map(({ method, path }) => `${method} ${path}`)))
    p.attempt('pending', () => mock.assertNoPendingInterceptors(), () => ['none'])
    mock.disableNetConnect()
    await p.settle('refused', request(`${server.url}/none`, { dispatcher: mock }).catch(error => `${error.name} ${error.code}`))
    mock.enableNetConnect(/localhost/)
    await p.settle('allowed', request(`${server.url}/none`, { dispatcher: mock }).then(textOf))
    mock.deactivate(); await p.settle('inactive', request(`${server.url}/a`, { dispatcher: mock }).then(textOf)); mock.activate()
    p.attempt('agent', () => new MockAgent({ agent: {} })); p.attempt('intercept', () => pool.intercept({})); p.attempt('reply', () => pool.intercept({ path: '/' }).reply('x'))
  },
  'MockAgent: bodies of each kind that are asked for': async p => {
    const { MockAgent, request } = p.module
    const mock = p.own(new MockAgent({ agent: p.agent() })); mock.disableNetConnect()
    const pool = mock.get('http://localhost:1')
    for (const data of ['text', Buffer.from('bytes'), { a: 1 }, new Uint8Array([65]), '']) { pool.intercept({ path: '/' }).reply(200, data); p.log(await request('http://localhost:1/', { dispatcher: mock }).then(textOf)) }
    pool.intercept({ path: '/s', method: 'POST', body: 'ab' }).reply(200, 'stream')
    await p.settle('stream', request('http://localhost:1/s', { method: 'POST', body: Readable.from(['ab']), dispatcher: mock }).then(textOf))
    const client = new MockAgent({ connections: 1, agent: p.agent() }).get('http://localhost:2')
    p.log(client.constructor.name)
  },
  'retries over an answer that breaks': async p => {
    const { interceptors, RetryAgent } = p.module
    let asked = 0
    const server = await p.serve((request, response) => {
      asked++
      if (asked === 1) { response.writeHead(200, { 'content-length': '6', etag: 'a' }); response.write('abc'); return void setTimeout(() => { response.destroy() }, 20) }
      response.writeHead(206, { 'content-range': 'bytes 3-5/6', etag: 'a' }).end('def'); p.stage.log('server')(request.headers.range, request.headers['if-match'])
    })
    const seen = []
    const retry = (error, { state }, done) => { seen.push(`${error.name} ${error.code} ${error.message} ${state.counter}`); setTimeout(done, 5) }
    p.log(await p.client(server.url).compose(interceptors.retry({ retry })).request(get).then(textOf))
    asked = 0
    p.log(await p.own(new RetryAgent(p.agent(), { minTimeout: 1 })).request({ ...get, origin: server.url }).then(textOf))
    asked = 0
    const none = await p.serve((request, response) => { if (++asked < 3) request.destroy(); else response.end('fine') })
    p.log(await p.client(none.url).compose(interceptors.retry({ minTimeout: 1, maxTimeout: 2 })).request(get).then(textOf), asked)
    p.log(seen.join('; '))
  },
  'dump, in each case': async p => {
    const { interceptors } = p.module
    const server = await p.serve((request, response) => { const size = Number(request.url.slice(1)); if (size === 0) return response.destroy(); response.writeHead(200, request.headers['x-length'] === undefined ? {} : { 'content-length': size }); response.end(Buffer.alloc(size)) })
    for (const options of [{}, { maxSize: 1024 }]) for (const size of [512, 1024, 4096]) for (const headers of [{}, { 'x-length': '1' }]) await p.settle(`${JSON.stringify(options)} ${size} ${JSON.stringify(headers)}`, p.client(server.url).compose(interceptors.dump(options)).request({ path: `/${size}`, method: 'GET', headers }).then(async a => [a.statusCode, a.headers['content-length'], (await a.body.text()).length]), v => v)
    await p.settle('error', p.client(server.url).compose(interceptors.dump()).request({ path: '/0', method: 'GET' }))
    const aborted = AbortSignal.abort()
    await p.settle('aborted', p.client(server.url).compose(interceptors.dump()).request({ path: '/512', method: 'GET', signal: aborted }).then(a => a.statusCode))
    for (const maxSize of [{}, '0', -1]) p.attempt(String(maxSize), () => p.client('http://localhost').compose(interceptors.dump({ maxSize })).dispatch(get, {}))
  },
  'dns: both families, one that refuses, errors of its own': async p => {
    const { interceptors } = p.module
    const server = await p.serve((request, response) => { response.end(request.headers.host.replace(/\d+/, 'PORT')) })
    const port = server.port
    const lookup = (origin, options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4, ttl: 1000 }, { address: '::1', family: 6, ttl: 1000 }]) }
    const seen = []
    const spy = dispatch => (options, handler) => { seen.push(new URL(options.origin).hostname); return dispatch(options, handler) }
    const agent = p.agent().compose([spy, interceptors.dns({ lookup })])
    for (let n = 0; n < 3; n++) await p.settle('both', agent.request({ ...get, origin: `http://name.example:${port}` }).then(textOf))
    p.log(seen.join())
    for (const options of [{ dualStack: false, affinity: 4 }, { dualStack: false, affinity: 6 }]) await p.settle(JSON.stringify(options), p.agent().compose(interceptors.dns({ lookup, ...options })).request({ ...get, origin: `http://name.example:${port}` }).then(textOf).catch(error => error.code))
    const failing = (origin, options, callback) => { callback(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })) }
    await p.settle('fails', p.agent().compose(interceptors.dns({ lookup: failing })).request({ ...get, origin: `http://name.example:${port}` }).catch(error => error.code))
    await p.settle('nothing', p.agent().compose(interceptors.dns({ lookup: (o, q, callback) => { callback(null, []) } })).request({ ...get, origin: `http://name.example:${port}` }).catch(error => `${error.name} ${error.code}`))
  },
  'cache: ages, methods, vary, errors': async p => {
    const { interceptors, cacheStores } = p.module
    let asked = 0
    const server = await p.serve((request, response) => {
      asked++
      const kind = request.url.slice(1)
      if (kind === 'etag') { response.setHeader('etag', '"a"'); response.setHeader('cache-control', 'max-age=0'); if (request.headers['if-none-match'] === '"a"') return response.writeHead(304).end() } else if (kind === 'vary') { response.setHeader('vary', 'x-v'); response.setHeader('cache-control', 'max-age=60') } else if (kind === 'swr') response.setHeader('cache-control', 'max-age=1, stale-while-revalidate=60'); else response.setHeader('cache-control', kind)
      response.end(`${asked}`)
    })
    const client = p.client(server.url).compose(interceptors.cache({ store: new cacheStores.MemoryCacheStore() }))
    for (const path of ['/max-age=60', '/no-store', '/private', '/etag', '/vary', '/s-maxage=10', '/public,max-age=10', '/max-age=0', '/must-revalidate']) for (const headers of [{}, {}, { 'x-v': 'other' }, { 'cache-control': 'no-cache' }, { 'cache-control': 'only-if-cached' }]) await p.settle(`${path} ${JSON.stringify(headers)}`, client.request({ path, method: 'GET', headers }).then(async a => [a.statusCode, await a.body.text(), a.headers.age === undefined]), v => v)
    for (const method of ['POST', 'HEAD', 'PUT', 'DELETE']) await p.settle(method, client.request({ path: '/max-age=60', method }).then(async a => [a.statusCode, await a.body.text()]), v => v)
    await p.settle('behind', client.request({ path: '/max-age=60', method: 'GET' }).then(textOf))
  },
  'BalancedPool, RoundRobinPool and Agent over a factory': async p => {
    const { BalancedPool, RoundRobinPool, Agent, Pool, Client } = p.module
    const one = await p.serve((request, response) => { response.end('one') })
    const two = await p.serve((request, response) => { response.end('two') })
    const order = []
    const balanced = p.own(new BalancedPool([one.url, two.url], { factory: (origin, options) => { order.push(typeof origin); return new Pool(origin, options) } }))
    const texts = []
    for (let n = 0; n < 4; n++) texts.push(await balanced.request(get).then(textOf))
    p.log(texts.sort().join(), order.join(), balanced.upstreams.length)
    balanced.removeUpstream(one.url); p.log(await balanced.request(get).then(textOf), balanced.upstreams.length)
    const dispatched = []
    let made = 0
    const round = p.own(new RoundRobinPool(one.url, { connections: 3, factory: (origin, options) => { const client = new Client(origin, options); const id = made++; const { dispatch } = client; client.dispatch = function (...args) { dispatched.push(id); return dispatch.apply(this, args) }; return client } }))
    await Promise.all(Array.from({ length: 6 }, () => round.request(get).then(textOf)))
    p.log(dispatched.slice(0, 3).join(), new Set(dispatched).size, made)
    for (const bad of [-1, NaN, 'x']) p.attempt(String(bad), () => new RoundRobinPool(one.url, { connections: bad }))
    const origins = []
    const agent = p.own(new Agent({ factory: (origin, options) => { origins.push(origin instanceof URL ? 'URL' : typeof origin); return new Pool(origin, options) } }))
    p.log(await agent.request({ ...get, origin: one.url }).then(textOf), await agent.request({ ...get, origin: new URL(two.url) }).then(textOf), origins.join())
    agent.on('connect', () => {})
    await agent.close(); await p.settle('closed', agent.request({ ...get, origin: one.url }))
  },
  'Agent: events through its pools, maxOrigins, statistics': async p => {
    const one = await p.serve(hello)
    const agent = p.agent({ connections: 1, maxOrigins: 1 })
    agent.on('connect', (origin, targets) => { p.log('connect', portless(origin), targets.map(target => [p.module.Agent, p.module.Pool, p.module.Client].findIndex(kind => target instanceof kind)).join()) })
    agent.on('disconnect', (origin, targets, error) => { p.log('disconnect', portless(origin), targets.map(target => [p.module.Agent, p.module.Pool, p.module.Client].findIndex(kind => target instanceof kind)).join(), known(error)) })
    agent.on('connectionError', (origin, targets, error) => { p.log('connectionError', portless(origin), error.code) })
    p.log(await agent.request({ ...get, origin: one.url }).then(textOf))
    await p.settle('another', agent.request({ ...get, origin: 'http://localhost:1' }).catch(error => `${error.name} ${error.code}`))
    p.log(portless(JSON.stringify(Object.keys(agent.stats))), Object.keys(new p.module.Pool(one.url).stats).join())
    await agent.destroy()
  },
  'ProxyAgent: tunnels and forwarded requests, and their fields': async p => {
    const { ProxyAgent, request, fetch } = p.module
    const server = await p.serve((request, response) => { const { host, ...rest } = request.headers; response.end(JSON.stringify({ url: request.url, ...rest })) })
    const anon = text => portless(text).replace(/"user-agent":"(undici|node)"/, '"user-agent":"-"')
    const log = p.stage.log('proxy')
    const proxy = createServer((asked, response) => { log(asked.method, portless(asked.url), asked.headers['proxy-authorization'] ?? '-', portless(asked.headers.host)); response.end('forwarded') })
    proxy.on('connect', (asked, socket, head) => { log('CONNECT', portless(asked.url), asked.headers['proxy-authorization'] ?? '-', asked.headers['x-proxy'] ?? '-', portless(asked.headers.host), asked.headers.connection ?? '-'); if (asked.headers['x-refuse']) return socket.end('HTTP/1.1 407 No\r\n\r\n'); const [host, port] = asked.url.split(':'); const to = net.connect(Number(port), host, () => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); to.write(head); socket.pipe(to).pipe(socket) }); to.on('error', () => { socket.destroy() }); socket.on('error', () => { to.destroy() }) })
    proxy.listen(0, '127.0.0.1'); await once(proxy, 'listening')
    p.stage.closers.push(async () => { proxy.closeAllConnections(); proxy.close() })
    const uri = `http://localhost:${proxy.address().port}`
    for (const options of [uri, { uri }, { uri, auth: 'dTpw' }, { uri, token: 'Bearer t' }, { uri: uri.replace('//', '//user:pass@') }, { uri, headers: { 'x-proxy': 'a' } }, { uri, proxyTunnel: false }, { uri, proxyTunnel: false, token: 'Bearer t' }, { uri, headers: { 'x-refuse': '1' } }]) {
      const dispatcher = p.own(new ProxyAgent(options))
      await p.settle('request', request(`${server.url}/hello?a=b`, { dispatcher }).then(textOf), text => [anon(text)])
      await p.settle('fetch', fetch(`${server.url}/hello`, { dispatcher, headers: { 'Test-header': 'v' } }).then(r => r.text()).catch(error => `${error.name} ${error.cause?.name} ${error.cause?.message}`), text => [anon(text)])
    }
    for (const headers of [{ 'proxy-authorization': 'x' }, { 'PROXY-AUTHORIZATION': 'x' }, ['Proxy-Authorization', 'x']]) await p.settle('own', request(server.url, { dispatcher: p.own(new ProxyAgent(uri)), headers }).catch(error => `${error.name} ${error.message}`))
    for (const bad of [undefined, {}, { auth: 'a', token: 'b', uri }, { uri, clientFactory: 1 }, 'nothing', { uri: 'ftp://a' }]) p.attempt(JSON.stringify(bad)?.slice(0, 12), () => new ProxyAgent(bad))
  },
  'EnvHttpProxyAgent: what no_proxy says': async p => {
    const { EnvHttpProxyAgent, MockAgent, fetch } = p.module
    const log = p.stage.log('client')
    const proxy = await p.serve((request, response) => { response.end('by the proxy') })
    const direct = await p.serve((request, response) => { response.end('directly') })
    for (const noProxy of ['', '*', ',', 'localhost', '.localhost', '*.localhost', `localhost:${direct.port}`, 'localhost:1', '127.0.0.1', 'host', 'LOCALHOST', 'localhost,other', 'other localhost', '\tlocalhost\n']) {
      const agent = p.own(new EnvHttpProxyAgent({ httpProxy: proxy.url, httpsProxy: proxy.url, noProxy, proxyTunnel: false }))
      log(portless(JSON.stringify(noProxy)), await fetch(direct.url, { dispatcher: agent }).then(r => r.text()))
    }
    log(typeof MockAgent)
  },
  'responseError, decompress, deduplicate': async p => {
    const { interceptors } = p.module
    const server = await p.serve((request, response) => { response.writeHead(Number(request.url.slice(1)), { 'content-type': request.headers['x-type'] ?? 'text/plain', 'x-a': 'b' }).end(request.headers['x-type']?.includes('json') ? '{"a":1}' : 'text') })
    const client = p.client(server.url).compose(interceptors.responseError())
    for (const [status, type] of [[200, 'text/plain'], [400, 'text/plain'], [404, 'application/json'], [500, 'application/problem+json'], [503, 'image/png']]) await client.request({ path: `/${status}`, method: 'GET', headers: { 'x-type': type } }).then(async a => { p.log(a.statusCode, await a.body.text()) }, error => { p.log(error.name, error.code, error.message, error.statusCode, JSON.stringify(error.body), error.headers?.['x-a']) })
    if (interceptors.deduplicate === undefined) return
    let asked = 0
    const slow = await p.serve((request, response) => { asked++; setTimeout(() => { response.end('x') }, 20) })
    const once = p.client(slow.url, { connections: 5 }).compose(interceptors.deduplicate())
    p.log((await Promise.all([1, 2, 3].map(() => once.request(get).then(textOf)))).join(), asked)
  },
  'SnapshotAgent: records, and plays again': async p => {
    const { SnapshotAgent, request } = p.module
    const { mkdtempSync, rmSync } = await import('node:fs')
    const folder = mkdtempSync('/tmp/trunkline-parity-')
    const server = await p.serve(async (request, response) => { let body = ''; for await (const piece of request) body += piece; response.end(`${request.method} ${request.url} ${body}`) })
    const snapshotPath = `${folder}/a.json`
    const record = new SnapshotAgent({ mode: 'record', snapshotPath, agent: p.agent() })
    p.log(await request(`${server.url}/a`, { dispatcher: record }).then(textOf), await request(`${server.url}/b`, { method: 'POST', body: 'x', dispatcher: record }).then(textOf))
    await record.saveSnapshots(); await record.close()
    const play = new SnapshotAgent({ mode: 'playback', snapshotPath, agent: p.agent() })
    p.log(await request(`${server.url}/a`, { dispatcher: play }).then(textOf), await request(`${server.url}/b`, { method: 'POST', body: 'x', dispatcher: play }).then(textOf))
    await p.settle('none', request(`${server.url}/c`, { dispatcher: play }).catch(error => portless(error.message)))
    await play.close(); rmSync(folder, { recursive: true })
  }
})

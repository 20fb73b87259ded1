// Programs of undici's documentation about its dispatchers: Client, Pool, BalancedPool, RoundRobinPool, Agent,
// and what they have in common.
import { once } from 'node:events'
import { turns } from '../stage.mjs'

const hello = (request, response) => { response.end('Hello, World!') }

export default {
  'Client: a request': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.setHeader('x-server', 'mine'); response.end('Hello, World!') })
    const client = t.own(new Client(server.url))
    const { body, headers, statusCode, statusText, trailers } = await client.request({ path: '/', method: 'GET' })
    log(statusCode, statusText, headers['x-server'], JSON.stringify(trailers))
    body.setEncoding('utf8')
    body.on('data', piece => { log(piece) })
    await once(body, 'end')
    await client.close()
    log(client.closed, client.destroyed)
  },
  'Client: the event connect': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    client.on('connect', origin => { log('connected', origin instanceof URL, origin.origin === server.url) })
    const { body } = await client.request({ path: '/', method: 'GET' })
    body.setEncoding('utf-8')
    body.on('data', piece => { log(piece) })
    await once(body, 'end')
  },
  'Client: the event disconnect': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.destroy() })
    const client = t.own(new Client(server.url))
    client.on('disconnect', (origin, targets, error) => { log('disconnected', origin.origin === server.url, targets.length, error) })
    try {
      await client.request({ path: '/', method: 'GET' })
    } catch (error) {
      log(error)
    }
    await turns()
  },
  'Client: the event connectionError': async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client('http://127.0.0.1:1'))
    const failing = once(client, 'connectionError')
    const call = client.request({ path: '/', method: 'GET' }).catch(error => error)
    const [origin, targets, error] = await failing
    log(origin.origin, targets.length, error.code)
    log(await call)
  },
  'Client: pipelining, with its events': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url, { pipelining: 2 }))
    log(client.pipelining)
    client.pipelining = 4
    log(client.pipelining)
    const texts = await Promise.all([1, 2, 3].map(() => client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())))
    log(texts)
  },
  'Client: refused options': async ({ Client }, t) => {
    const log = t.log('client')
    for (const [label, make] of [['no URL', () => new Client()], ['a path', () => new Client('http://localhost/a')], ['keepAlive', () => new Client('http://localhost', { keepAlive: true })], ['headersTimeout', () => new Client('http://localhost', { headersTimeout: 'a' })]]) t.attempt(log, label, make)
  },
  'Client: its statistics': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    const counts = () => { const { connected, pending, running, size } = client.stats; return [connected, pending, running, size] }
    log(counts())
    await client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
    log(counts())
  },
  'Client: a body that is dumped': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = t.own(new Client(server.url))
    const { body } = await client.request({ path: '/', method: 'GET' })
    log(await body.dump(), body.bodyUsed, body.destroyed)
  },
  'Client: over a Unix socket': async ({ Client }, t) => {
    const log = t.log('client')
    const { tmpdir } = await import('node:os')
    const { default: http } = await import('node:http')
    const path = `${tmpdir()}/documented-${process.pid}-${Math.random().toString(16).slice(2)}.sock`
    const server = http.createServer((request, response) => { response.end(request.headers.host) })
    server.listen(path)
    await once(server, 'listening')
    const client = t.own(new Client('http://localhost', { socketPath: path }))
    const { body } = await client.request({ path: '/', method: 'GET' })
    log(await body.text())
    await client.close()
    server.close()
  },
  'Pool: many requests at once': async ({ Pool }, t) => {
    const log = t.log('pool')
    const server = await t.serve(hello)
    const pool = t.own(new Pool(server.url, { connections: 3 }))
    const texts = await Promise.all(Array.from({ length: 10 }, () => pool.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())))
    log(texts.length, new Set(texts), server.counts.sockets <= 3)
  },
  'Pool: its statistics': async ({ Pool }, t) => {
    const log = t.log('pool')
    const server = await t.serve(hello)
    const pool = t.own(new Pool(server.url, { connections: 2 }))
    await pool.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
    await turns(5)
    const { connected, free, pending, queued, running, size } = pool.stats
    log(connected, free, pending, queued, running, size)
  },
  'BalancedPool: upstreams come and go': async ({ BalancedPool, Pool }, t) => {
    const log = t.log('pool')
    const servers = await Promise.all(['one', 'two'].map(name => t.serve((request, response) => { response.end(name) })))
    const pool = t.own(new BalancedPool(servers[0].url, { factory: (origin, options) => new Pool(origin, options) }))
    log(pool.upstreams.length)
    pool.addUpstream(servers[1].url)
    log(pool.upstreams.length)
    const got = new Set()
    for (let at = 0; at < 10; at++) {
      const { body } = await pool.request({ path: '/', method: 'GET' })
      got.add(await body.text())
    }
    log([...got].sort())
    pool.removeUpstream(servers[0].url)
    const { body } = await pool.request({ path: '/', method: 'GET' })
    log(pool.upstreams.length, await body.text())
    await pool.close()
    log(pool.closed, pool.destroyed)
  },
  'BalancedPool: without an upstream': async ({ BalancedPool, Pool }, t) => {
    const log = t.log('pool')
    const pool = t.own(new BalancedPool([], { factory: (origin, options) => new Pool(origin, options) }))
    await t.settle(log, 'request', pool.request({ path: '/', method: 'GET' }))
  },
  'RoundRobinPool: a request': async ({ RoundRobinPool, Client }, t) => {
    const log = t.log('pool')
    const server = await t.serve(hello)
    const pool = t.own(new RoundRobinPool(server.url, { connections: 2, factory: (origin, options) => new Client(origin, options) }))
    for (let at = 0; at < 4; at++) log(await pool.request({ path: '/', method: 'GET' }).then(({ body }) => body.text()))
    await pool.close()
    log(pool.closed)
  },
  'Agent: several origins': async ({ Agent }, t) => {
    const log = t.log('agent')
    const servers = await Promise.all(['one', 'two'].map(name => t.serve((request, response) => { response.end(name) })))
    const agent = t.own(new Agent())
    for (const { url } of servers) log(await agent.request({ origin: url, path: '/', method: 'GET' }).then(({ body }) => body.text()))
    log(servers.map(({ url }) => agent.stats[url]?.connected))
    await t.settle(log, 'no origin', agent.request({ path: '/', method: 'GET' }))
  },
  'Agent: a factory': async ({ Agent, Pool }, t) => {
    const log = t.log('agent')
    const server = await t.serve(hello)
    const agent = t.own(new Agent({ factory: (origin, options) => { log('made', new URL(origin).origin === server.url, options.connections); return new Pool(origin, options) }, connections: 2 }))
    log(await agent.request({ origin: server.url, path: '/', method: 'GET' }).then(({ body }) => body.text()))
  },
  'Agent: maxOrigins': async ({ Agent }, t) => {
    const log = t.log('agent')
    const servers = await Promise.all([1, 2].map(() => t.serve(hello)))
    const agent = t.own(new Agent({ maxOrigins: 1 }))
    log(await agent.request({ origin: servers[0].url, path: '/', method: 'GET' }).then(({ body }) => body.text()))
    await t.settle(log, 'another', agent.request({ origin: servers[1].url, path: '/', method: 'GET' }))
  },
  'the global dispatcher': async ({ Agent, setGlobalDispatcher, getGlobalDispatcher, fetch }, t) => {
    const log = t.log('global')
    const server = await t.serve(hello)
    const before = getGlobalDispatcher()
    const agent = t.own(new Agent())
    setGlobalDispatcher(agent)
    try {
      log(getGlobalDispatcher() === agent, await fetch(server.url).then(response => response.text()))
    } finally {
      setGlobalDispatcher(before)
    }
  },
  'close with a callback': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const client = new Client(server.url)
    await client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
    await new Promise(resolve => { client.close((...args) => { log('closed', ...args); resolve() }) })
    await t.settle(log, 'request', client.request({ path: '/', method: 'GET' }))
  },
  'the classes of dispatchers': async ({ Client, Pool, Agent, Dispatcher }, t) => {
    const log = t.log('classes')
    for (const made of [new Client('http://localhost'), new Pool('http://localhost'), new Agent()]) {
      log(made.constructor.name, made instanceof Dispatcher, typeof made.request, typeof made.compose, made.closed, made.destroyed)
      await made.destroy()
    }
  }
}

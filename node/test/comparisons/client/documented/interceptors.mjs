// Programs of undici's documentation about interceptors, retries and mocks.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, brotliCompressSync, deflateSync } from 'node:zlib'
import { turns } from '../stage.mjs'

const hello = (request, response) => { response.end('Hello, World!') }
const text = ({ body }) => body.text()
/** Answers the given statuses by turns, then 200. */
const statuses = (...codes) => (request, response) => {
  const status = codes.shift() ?? 200
  response.writeHead(status, status === 429 ? { 'retry-after': '0' } : {}).end(`status ${status}`)
}
const quick = { minTimeout: 1, maxTimeout: 5, timeoutFactor: 1 }

export default {
  'dump': async ({ Agent, interceptors }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.end('x'.repeat(request.url === '/long' ? 5000 : 10)) })
    const client = t.own(new Agent()).compose(interceptors.dump({ maxSize: 1024 }))
    await t.settle(log, 'short', client.request({ origin: server.url, path: '/', method: 'GET' }).then(text))
    await t.settle(log, 'long', client.request({ origin: server.url, path: '/long', method: 'GET' }).then(text))
    await t.settle(log, 'long, of its own limit', client.request({ origin: server.url, path: '/long', method: 'GET', dumpMaxSize: 10_000 }).then(text))
  },
  'redirect': async ({ Client, interceptors }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => {
      const step = Number(request.url.slice(1))
      if (step < 3) response.writeHead(302, { location: `/${step + 1}` }).end()
      else response.end(`at ${request.url} by ${request.method}`)
    })
    const client = t.own(new Client(server.url)).compose(interceptors.redirect({ maxRedirections: 3 }))
    const answer = await client.request({ path: '/0', method: 'GET' })
    log(answer.statusCode, answer.context.history.map(({ pathname }) => pathname), await answer.body.text())
    await t.settle(log, 'POST', client.request({ path: '/0', method: 'POST', body: 'x' }).then(text))
    await t.settle(log, 'too many', client.request({ path: '/-4', method: 'GET', throwOnMaxRedirect: true }).then(text))
    await t.settle(log, 'none', client.request({ path: '/0', method: 'GET', maxRedirections: 0 }).then(({ statusCode }) => statusCode).catch(error => { throw error }))
  },
  'redirect: across origins drops credentials': async ({ Agent, interceptors }, t) => {
    const log = t.log('server')
    const other = await t.serve((request, response) => { log(request.headers.authorization, request.headers.cookie, request.headers['x-kept']); response.end('there') })
    const server = await t.serve((request, response) => { response.writeHead(307, { location: `${other.url}/there` }).end() })
    const agent = t.own(new Agent()).compose(interceptors.redirect({ maxRedirections: 2 }))
    log(await agent.request({ origin: server.url, path: '/', method: 'POST', body: 'x', headers: { authorization: 'a', cookie: 'b', 'x-kept': 'c' } }).then(text))
  },
  'retry': async ({ Client, interceptors }, t) => {
    const log = t.log('client')
    const server = await t.serve(statuses(503, 429, 500))
    const client = t.own(new Client(server.url)).compose(interceptors.retry({ maxRetries: 4, ...quick, methods: ['GET'], statusCodes: [429, 500, 503] }))
    const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
    log(statusCode, await body.text())
  },
  'retry: there are too many': async ({ Client, interceptors }, t) => {
    const log = t.log('client')
    const server = await t.serve(statuses(503, 503, 503, 503))
    const client = t.own(new Client(server.url)).compose(interceptors.retry({ maxRetries: 2, ...quick }))
    await t.settle(log, 'request', client.request({ path: '/', method: 'GET' }).then(({ statusCode }) => statusCode))
  },
  'RetryAgent: goes on in the body': async ({ Agent, RetryAgent }, t) => {
    const log = t.log('client')
    const whole = 'abcdefghij'
    let count = 0
    const server = await t.serve((request, response) => {
      log('asked', request.headers.range)
      if (count++ === 0) {
        response.writeHead(200, { 'content-length': '10', etag: '"x"', 'accept-ranges': 'bytes' })
        response.write(whole.slice(0, 4), () => { response.destroy() })
      } else response.writeHead(206, { 'content-range': 'bytes 4-9/10', etag: '"x"', 'content-length': '6' }).end(whole.slice(4))
    })
    const agent = t.own(new RetryAgent(t.own(new Agent()), quick))
    await t.settle(log, 'request', agent.request({ origin: server.url, path: '/', method: 'GET' }).then(text))
  },
  'RetryAgent: a connection that is refused': async ({ Agent, RetryAgent }, t) => {
    const log = t.log('client')
    const agent = t.own(new RetryAgent(t.own(new Agent()), { ...quick, maxRetries: 2, retry: (error, { state, opts }, done) => { log(error.code, state.counter, opts.method); done(state.counter >= 2 ? error : null) } }))
    await t.settle(log, 'request', agent.request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' }))
  },
  'RetryHandler: with a retry of its own': async ({ Client, RetryHandler }, t) => {
    const log = t.log('client')
    const server = await t.serve(statuses(500, 500))
    const client = t.own(new Client(server.url))
    const options = { method: 'GET', path: '/' }
    await new Promise(resolve => {
      const handler = new RetryHandler({ ...options, retryOptions: { ...quick, retry: (error, { state }, done) => { log(error.name, error.code, error.statusCode, state.counter); done(null) } } }, {
        dispatch: (...args) => client.dispatch(...args),
        handler: {
          onRequestStart () { log('start') }, onResponseStart (_, status) { log(status) }, onResponseData (_, chunk) { log(chunk) },
          onResponseEnd () { log('end'); resolve() }, onResponseError (_, error) { log(error); resolve() }
        }
      })
      client.dispatch(options, handler)
    })
  },
  'responseError': async ({ Client, interceptors }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.writeHead(422, { 'content-type': 'application/json' }).end('{"why":"so"}') })
    const client = t.own(new Client(server.url)).compose(interceptors.responseError())
    await client.request({ path: '/', method: 'GET' }).catch(error => { log(error, error.statusCode, JSON.stringify(error.body), error.headers?.['content-type']) })
  },
  'decompress': async ({ Client, interceptors }, t) => {
    const log = t.log('client')
    const CODINGS = { '/gzip': ['gzip', gzipSync], '/br': ['br', brotliCompressSync], '/deflate': ['deflate', deflateSync] }
    const server = await t.serve((request, response) => { const [name, compress] = CODINGS[request.url]; response.writeHead(200, { 'content-encoding': name }).end(compress('Hello, World!')) })
    const client = t.own(new Client(server.url)).compose(interceptors.decompress())
    for (const path of Object.keys(CODINGS)) await t.settle(log, path, client.request({ path, method: 'GET' }).then(async ({ headers, body }) => `${headers['content-encoding']} ${await body.text()}`))
  },
  'dns': async ({ Agent, interceptors }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.end(request.headers.host.replace(/\d+$/, 'PORT')) })
    let lookups = 0
    const agent = t.own(new Agent()).compose(interceptors.dns({ dualStack: false, affinity: 4, lookup: (origin, options, done) => { lookups++; done(null, [{ address: '127.0.0.1', ttl: 10_000, family: 4 }]) } }))
    for (const path of ['/a', '/b']) await t.settle(log, path, agent.request({ origin: `http://some.test:${server.port}`, path, method: 'GET' }).then(text))
    log(lookups)
  },
  'cache': async ({ Agent, interceptors, cacheStores }, t) => {
    const log = t.log('client')
    let count = 0
    const server = await t.serve((request, response) => { response.writeHead(200, { 'cache-control': 'public, max-age=60', date: new Date().toUTCString() }).end(`answer ${++count}`) })
    const agent = t.own(new Agent()).compose(interceptors.cache({ store: new cacheStores.MemoryCacheStore() }))
    for (const path of ['/', '/', '/other']) {
      const { headers, body } = await agent.request({ origin: server.url, path, method: 'GET' })
      log(path, await body.text(), headers.age !== undefined)
      await turns(5)
    }
  },
  'cache: revalidates': async ({ Agent, interceptors }, t) => {
    const log = t.log('server')
    const server = await t.serve((request, response) => {
      log(request.headers['if-none-match'])
      if (request.headers['if-none-match'] === '"a"') response.writeHead(304, { etag: '"a"', 'cache-control': 'no-cache' }).end()
      else response.writeHead(200, { etag: '"a"', 'cache-control': 'no-cache' }).end('first')
    })
    const agent = t.own(new Agent()).compose(interceptors.cache())
    for (let at = 0; at < 2; at++) {
      log(await agent.request({ origin: server.url, path: '/', method: 'GET' }).then(text))
      await turns(5)
    }
  },
  'deduplicate': async ({ Agent, interceptors }, t) => {
    const log = t.log('client')
    let count = 0
    const server = await t.serve((request, response) => { count++; setTimeout(() => { response.end('x') }, 50) })
    const agent = t.own(new Agent()).compose(interceptors.deduplicate())
    log(await Promise.all([1, 2, 3].map(() => agent.request({ origin: server.url, path: '/', method: 'GET' }).then(text))), count)
  },
  'an interceptor of its own': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve((request, response) => { response.end(request.headers['x-added'] ?? 'nothing') })
    const add = dispatch => function adds (options, handler) { return dispatch({ ...options, headers: { ...options.headers, 'x-added': 'yes' } }, handler) }
    const times = dispatch => (options, handler) => dispatch(options, {
      onRequestStart: (controller, context) => { log('start'); return handler.onRequestStart?.(controller, context) },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (controller, status, headers, words) => { log('head', status); return handler.onResponseStart?.(controller, status, headers, words) },
      onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
      onResponseEnd: (controller, trailers) => { log('end'); return handler.onResponseEnd?.(controller, trailers) },
      onResponseError: (controller, error) => { log(error); return handler.onResponseError?.(controller, error) }
    })
    const client = t.own(new Client(server.url)).compose(add, times)
    log(await client.request({ path: '/', method: 'GET' }).then(text))
    log(await client.compose([add]).request({ path: '/', method: 'GET' }).then(text))
    t.attempt(log, 'no function', () => client.compose('x'))
    t.attempt(log, 'no interceptor', () => client.compose(() => 'x'))
  },
  'several interceptors together': async ({ Agent, interceptors }, t) => {
    const log = t.log('client')
    let count = 0
    const server = await t.serve((request, response) => {
      if (request.url === '/') return response.writeHead(302, { location: '/there' }).end()
      if (count++ === 0) return response.writeHead(503).end('later')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('there'))
    })
    const agent = t.own(new Agent()).compose(interceptors.dns(), interceptors.retry(quick), interceptors.redirect({ maxRedirections: 3 }), interceptors.decompress(), interceptors.dump({ maxSize: 100 }))
    const { statusCode, body } = await agent.request({ origin: server.url, path: '/', method: 'GET' })
    log(statusCode, await body.text())
  },
  'MockAgent: replies, with a history': async ({ Agent, MockAgent, setGlobalDispatcher, getGlobalDispatcher, request }, t) => {
    const log = t.log('mock')
    const before = getGlobalDispatcher()
    const agent = new MockAgent({ agent: new Agent(), enableCallHistory: true })
    agent.disableNetConnect()
    setGlobalDispatcher(agent)
    try {
      const pool = agent.get('http://localhost:3000')
      pool.intercept({ path: '/foo?a=b', method: 'POST', body: 'in', headers: { 'x-a': '1' } }).reply(200, { foo: 'bar' }, { headers: { 'content-type': 'application/json' }, trailers: { 'x-sum': '1' } })
      pool.intercept({ path: /^\/again/ }).reply(({ path }) => ({ statusCode: 201, data: path })).times(2)
      pool.intercept({ path: '/error' }).replyWithError(new Error('kaboom'))
      const answer = await request('http://localhost:3000/foo?a=b', { method: 'POST', body: 'in', headers: { 'x-a': '1' } })
      log(answer.statusCode, JSON.stringify(await answer.body.json()), JSON.stringify(answer.trailers))
      for (const path of ['/again/1', '/again/2', '/again/3', '/error', '/none']) await t.settle(log, path, request(`http://localhost:3000${path}`).then(text))
      log(agent.getCallHistory().calls().map(({ method, path }) => `${method} ${path}`), agent.getCallHistory().lastCall()?.fullUrl, agent.getCallHistory().filterCallsByMethod('POST').length)
      log(agent.pendingInterceptors().length)
      t.attempt(log, 'assert', () => agent.assertNoPendingInterceptors())
    } finally {
      setGlobalDispatcher(before)
      await agent.close()
    }
  },
  'MockAgent: lets some through': async ({ Agent, MockAgent, fetch }, t) => {
    const log = t.log('mock')
    const server = await t.serve(hello)
    const mock = new MockAgent({ agent: t.own(new Agent()) })
    mock.enableNetConnect(`localhost:${server.port}`)
    mock.get('http://other.test').intercept({ path: '/' }).reply(200, 'mocked').persist()
    log(await fetch('http://other.test/', { dispatcher: mock }).then(response => response.text()))
    log(await fetch(server.url, { dispatcher: mock }).then(response => response.text()))
    mock.disableNetConnect()
    await fetch(server.url, { dispatcher: mock }).catch(error => { log(error.message, error.cause?.name, error.cause?.code) })
    await mock.close()
  },
  'MockAgent: of one connection, a MockClient': async ({ Agent, MockAgent, MockClient }, t) => {
    const log = t.log('mock')
    const agent = new MockAgent({ agent: t.own(new Agent()), connections: 1 })
    const client = agent.get('http://localhost:3000')
    log(client instanceof MockClient)
    client.intercept({ path: '/' }).reply(200, 'mocked').delay(10)
    log(await client.request({ path: '/', method: 'GET' }).then(text))
    await agent.close()
  },
  'SnapshotAgent: records and replays': async ({ Agent, SnapshotAgent }, t) => {
    const log = t.log('snapshot')
    const server = await t.serve(hello)
    const folder = mkdtempSync(join(tmpdir(), 'documented-'))
    try {
      const snapshotPath = join(folder, 'snapshots.json')
      const recorder = new SnapshotAgent({ mode: 'record', snapshotPath, agent: t.own(new Agent()) })
      const first = await recorder.request({ origin: server.url, path: '/', method: 'GET' })
      log(first.statusCode, await first.body.text())
      await recorder.saveSnapshots()
      await recorder.close()
      log(existsSync(snapshotPath), readFileSync(snapshotPath, 'utf8').includes(Buffer.from('Hello, World!').toString('base64')))
      const player = new SnapshotAgent({ mode: 'playback', snapshotPath, agent: t.own(new Agent()) })
      const second = await player.request({ origin: server.url, path: '/', method: 'GET' })
      log(second.statusCode, await second.body.text())
      await t.settle(log, 'unknown', player.request({ origin: server.url, path: '/other', method: 'GET' }).then(text))
      await player.close()
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
  'a digest behind a body that comes slowly': async ({ Agent, interceptors }, t) => {
    const log = t.log('client')
    const server = await t.serve(async (request, response) => { for (let at = 0; at < 5; at++) { response.write(`piece ${at};`); await turns(3) } response.end() })
    const agent = t.own(new Agent()).compose(interceptors.dump({ maxSize: 1 << 20 }))
    const hash = createHash('sha256')
    const { body } = await agent.request({ origin: server.url, path: '/', method: 'GET' })
    for await (const piece of body) hash.update(piece)
    log(hash.digest('hex').slice(0, 8))
  }
}

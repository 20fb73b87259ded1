// undici's wrappers over a dispatcher x call x answer: what a caller sees of a request that goes through RetryAgent, MockAgent,
// SnapshotAgent, BalancedPool, RoundRobinPool, ProxyAgent, each interceptor, or a factory of undici's own classes.
import net from 'node:net'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { FACES } from '../faces.mjs'
import { bytesOf } from '../stage.mjs'

const quick = { minTimeout: 1, maxTimeout: 5, timeoutFactor: 1, maxRetries: 2 }
/** A proxy that only tunnels. */
async function tunnelling (t) {
  const front = await t.serve((request, response) => { response.writeHead(400).end() })
  front.server.on('connect', (request, socket) => {
    const [host, port] = request.url.split(':')
    const other = net.connect(Number(port), host, () => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); other.pipe(socket).pipe(other) })
    for (const one of [other, socket]) one.on('error', () => { other.destroy(); socket.destroy() })
    t.closers.unshift(() => { other.destroy() })
  })
  return front.url
}
const composed = (name, options) => ({ Agent, interceptors }, t) => t.own(new Agent()).compose(interceptors[name](options))

/** `(module, stage, origin)`: a dispatcher. */
const STACKS = {
  'RetryAgent': (module, t) => t.own(new module.RetryAgent(t.own(new module.Agent()), quick)),
  "undici's Agent with Pools": (module, t) => t.own(new module.top.Agent({ factory: (origin, options) => new module.Pool(origin, options) })),
  "undici's Agent with Clients": (module, t) => t.own(new module.top.Agent({ factory: (origin, options) => new module.Client(origin, options) })),
  "undici's Pool with Clients": (module, t, origin) => t.own(new module.top.Pool(origin, { factory: (at, options) => new module.Client(at, options) })),
  "a factory of undici's Clients": (module, t) => t.own(new module.Agent({ factory: (origin, options) => new module.top.Client(origin, options) })),
  "a factory of undici's Pools": (module, t) => t.own(new module.Agent({ factory: (origin, options) => new module.top.Pool(origin, options) })),
  'BalancedPool': (module, t, origin) => t.own(new module.BalancedPool([origin], { factory: (at, options) => new module.Pool(at, options) })),
  'RoundRobinPool': (module, t, origin) => t.own(new module.RoundRobinPool(origin, { connections: 2, factory: (at, options) => new module.Client(at, options) })),
  'MockAgent': (module, t) => t.own(new module.MockAgent({ agent: t.own(new module.Agent()) })),
  "undici's ProxyAgent with Pools": async (module, t) => t.own(new module.top.ProxyAgent({ uri: await tunnelling(t), proxyTunnel: true, factory: (origin, options) => new module.Pool(origin, options), clientFactory: (origin, options) => new module.Pool(origin, options) })),
  'dump': composed('dump', { maxSize: 1 << 20 }),
  'retry': composed('retry', quick),
  'redirect': composed('redirect', { maxRedirections: 3 }),
  'decompress': composed('decompress'),
  'responseError': composed('responseError'),
  'dns': composed('dns'),
  'cache': composed('cache'),
  'deduplicate': composed('deduplicate'),
  'all of them': ({ Agent, interceptors: { dump, retry, redirect, decompress, dns } }, t) => t.own(new Agent()).compose(dns(), retry(quick), redirect({ maxRedirections: 3 }), decompress(), dump({ maxSize: 1 << 20 })),
  'an Agent alone': (module, t) => t.own(new module.Agent()),
  'a Pool alone': (module, t, origin) => t.own(new module.Pool(origin)),
  'a Client alone': (module, t, origin) => t.own(new module.Client(origin))
}

const lose = response => { response.socket.destroy() }
/** `(request, response, count)`; `count` says how often the program has asked before. */
const ANSWERS = {
  'a text': (_, response) => { response.writeHead(200, { 'content-type': 'text/plain', etag: '"a"' }).end('hello') },
  'JSON': (_, response) => { response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}') },
  'gzip': (_, response) => { response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello')) },
  'gzip that is cut': (_, response) => { response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello'.repeat(100)).subarray(0, 20)) },
  '204': (_, response) => { response.writeHead(204).end() },
  '304': (_, response) => { response.writeHead(304, { etag: '"a"' }).end() },
  '404 with JSON': (_, response) => { response.writeHead(404, { 'content-type': 'application/json' }).end('{"why":"none"}') },
  '500': (_, response) => { response.writeHead(500).end('sorry') },
  '503 once': (_, response, count) => { response.writeHead(count === 0 ? 503 : 200).end(`answer ${count}`) },
  '429 once, with a time': (_, response, count) => { response.writeHead(count === 0 ? 429 : 200, { 'retry-after': '0' }).end(`answer ${count}`) },
  '302 once': (request, response, count) => { if (count === 0) response.writeHead(302, { location: `${request.url}?there` }).end('moved'); else response.end(`${request.method} there`) },
  '307 once': (request, response, count) => { if (count === 0) response.writeHead(307, { location: `${request.url}?there` }).end(); else response.end(`${request.method} there`) },
  '303 for ever': (request, response) => { response.writeHead(303, { location: request.url }).end() },
  'a redirect to nowhere': (_, response) => { response.writeHead(301).end('stay') },
  'a cacheable text': (_, response, count) => { response.writeHead(200, { 'cache-control': 'public, max-age=600' }).end(`answer ${count}`) },
  'a vary': (_, response, count) => { response.writeHead(200, { 'cache-control': 'max-age=600', vary: 'x-a' }).end(`answer ${count}`) },
  'no-store': (_, response, count) => { response.writeHead(200, { 'cache-control': 'no-store' }).end(`answer ${count}`) },
  'a 103 before it': (_, response) => { response.writeEarlyHints({ link: '</a>; rel=preload' }); response.end('hello') },
  'trailers': (_, response) => { response.writeHead(200, { trailer: 'x-sum' }); response.write('hello'); response.addTrailers({ 'x-sum': '1' }); response.end() },
  'cookies': (_, response) => { response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end('hello') },
  'pieces': (_, response) => { response.write('hel', () => { response.end('lo') }) },
  '100 KB': (_, response) => { response.end(Buffer.alloc(100_000, 'a')) },
  'the connection ends before the head': (_, response) => { lose(response) },
  'the connection ends once before the head': (_, response, count) => { if (count === 0) lose(response); else response.end('again') },
  'the connection ends in the body': (_, response) => { response.writeHead(200, { 'content-length': 10 }); response.write('hello', () => { lose(response) }) },
  'the rest by a range': (request, response) => {
    const { range } = request.headers
    if (range === undefined) { response.writeHead(200, { 'content-length': 10, etag: '"a"', 'accept-ranges': 'bytes' }); response.write('hello', () => { lose(response) }) } else response.writeHead(206, { 'content-range': 'bytes 5-9/10', etag: '"a"', 'content-length': 5 }).end('world')
  }
}
const REQUESTS = {
  GET: () => ({ method: 'GET' }),
  'POST of a text': () => ({ method: 'POST', body: 'hello' }),
  'POST of an iterable': () => ({ method: 'POST', body: (async function * () { yield 'hel'; yield 'lo' })() })
}
/** Answers that say something of a request with a body. */
const WITH_BODIES = new Set(['a text', '503 once', '302 once', '307 once', 'the connection ends before the head', 'the connection ends once before the head', '404 with JSON', 'gzip'])

async function run (module, t, { stack, face, answer, request }) {
  const sides = [t.log('client'), t.log('server'), t.log('again')]
  const server = await t.serve(async (asked, response) => {
    response.on('error', () => {})
    const body = await bytesOf(asked).catch(() => null)
    if (body === null) return
    const count = counts.get(asked.url.split('?')[0]) ?? 0
    counts.set(asked.url.split('?')[0], count + 1)
    sides[1](asked.method, asked.url, body.length, asked.headers.range, asked.headers['if-none-match'])
    ANSWERS[answer](asked, response, count)
  })
  const counts = new Map()
  const dispatcher = await STACKS[stack](module, t, server.url)
  const options = { origin: server.url, path: '/a', ...REQUESTS[request]() }
  await FACES[face](dispatcher, options, sides[0], () => {})
  // A second one: what a cache, a pool or a retry has kept of the first.
  await FACES[face](dispatcher, { ...options, ...REQUESTS[request](), headers: { 'x-a': '1' } }, sides[2], () => {})
}

/** The ways of a caller: all answers by `request`, some by the others, which differ in how they read. */
const BY_OTHERS = new Set(['a text', 'gzip', '404 with JSON', '302 once', 'a cacheable text', 'trailers', 'the connection ends in the body'])

const programs = {}
for (const stack of Object.keys(STACKS)) {
  for (const face of ['request', 'stream', 'dispatch', 'fetch']) {
    for (const answer of Object.keys(ANSWERS)) {
      if (face !== 'request' && !BY_OTHERS.has(answer)) continue
      for (const request of Object.keys(REQUESTS)) {
        if (request !== 'GET' && (!WITH_BODIES.has(answer) || face !== 'request')) continue
        programs[`${stack}, ${face}, ${request}: ${answer}`] = (module, t) => run(module, t, { stack, face, answer, request })
      }
    }
  }
}

/** Calls that fail before anything is sent, and the ends of a stack. */
const ENDS = {
  'a connection that is refused': async (dispatcher, t, log) => { await t.settle(log, 'request', dispatcher.request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' }).then(({ statusCode }) => statusCode)) },
  'a name that is not found': async (dispatcher, t, log) => { await dispatcher.request({ origin: 'http://name.invalid', path: '/', method: 'GET' }).then(({ statusCode }) => { log('answered', statusCode) }, error => { log('rejected', error.name, error.code) }) },
  'a path that is refused': async (dispatcher, t, log, origin) => { await t.settle(log, 'request', dispatcher.request({ origin, path: 'x', method: 'GET' })) },
  'a field that is refused': async (dispatcher, t, log, origin) => { await t.settle(log, 'request', dispatcher.request({ origin, path: '/', method: 'GET', headers: { 'a b': 'c' } })) },
  'a signal that has aborted': async (dispatcher, t, log, origin) => { await t.settle(log, 'request', dispatcher.request({ origin, path: '/', method: 'GET', signal: AbortSignal.abort(new Error('mine')) })) },
  'closed, and a request': async (dispatcher, t, log, origin) => {
    await t.settle(log, 'close', dispatcher.close())
    await t.settle(log, 'request', dispatcher.request({ origin, path: '/', method: 'GET' }).then(({ statusCode }) => statusCode))
    log(dispatcher.closed, dispatcher.destroyed)
  },
  'destroyed, and a request': async (dispatcher, t, log, origin) => {
    await t.settle(log, 'destroy', dispatcher.destroy())
    await t.settle(log, 'request', dispatcher.request({ origin, path: '/', method: 'GET' }).then(({ statusCode }) => statusCode))
    log(dispatcher.closed, dispatcher.destroyed)
  },
  'a request, and closed': async (dispatcher, t, log, origin) => {
    const asked = dispatcher.request({ origin, path: '/', method: 'GET' }).then(({ body }) => body.text())
    await Promise.all([t.settle(t.log('request'), 'request', asked), t.settle(log, 'close', dispatcher.close())])
  },
  'a request under way, and destroyed': async (dispatcher, t, log, origin) => {
    const asked = dispatcher.request({ origin, path: '/wait', method: 'GET' })
    const settled = t.settle(t.log('request'), 'request', asked)
    await once(t.asked, 'asked')
    await t.settle(log, 'destroy', dispatcher.destroy(new Error('mine')))
    await settled
  }
}
for (const stack of Object.keys(STACKS)) {
  for (const [end, ends] of Object.entries(ENDS)) {
    // undici's own dns looks this name up by itself.
    if (stack === 'dns' && end === 'a name that is not found') continue
    programs[`${stack}: ${end}`] = async (module, t) => {
      const { EventEmitter } = await import('node:events')
      t.asked = new EventEmitter()
      const server = await t.serve((request, response) => { if (request.url === '/wait') t.asked.emit('asked'); else response.end('hello') })
      await ends(await STACKS[stack](module, t, server.url), t, t.log('client'), server.url)
    }
  }
}
export default programs

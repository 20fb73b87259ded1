// Documented options, events, statistics and ends x dispatcher x version: what they change.
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import { cert, key } from '../../../support/certificates/certificate.mjs'
import { bytesOf, turns } from '../stage.mjs'

const MAKE = {
  Client: (module, origin, options) => new module.Client(origin, options),
  Pool: (module, origin, options) => new module.Pool(origin, options),
  Agent: (module, origin, options) => new module.Agent(options)
}
const named = error => [error?.name, error?.code ?? 'without a code'].join(' ')
const known = error => [error?.name, error?.code ?? 'without a code', error?.message?.replace(/:\d{4,5}\b/g, ':PORT')].join(' ')

/** A server of a version; `handler` is of node:http or of node:http2's compatible API. */
const SERVE = {
  h1: async (t, handler) => { const served = await t.serve(handler); return { ...served, options: {} } },
  h1s: async (t, handler) => secure(t, https.createServer({ key, cert, keepAliveTimeout: 60_000 }, handler), { allowH2: false, connect: { ca: cert } }),
  h2: async (t, handler) => secure(t, http2.createSecureServer({ key, cert }, handler), { connect: { ca: cert } })
}
async function secure (t, server, options) {
  const sockets = new Set()
  const counts = { sockets: 0 }
  server.on('secureConnection', socket => { counts.sockets++; sockets.add(socket.on('error', () => {})) })
  server.on('session', session => { session.on('error', () => {}) }).on('sessionError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.closers.push(async () => { for (const socket of sockets) socket.destroy(); await new Promise(resolve => { server.close(resolve) }) })
  return { url: `https://localhost:${server.address().port}`, port: server.address().port, counts, server, options }
}

const hello = (request, response) => { response.end('hello') }
const text = ({ body }) => body.text()
const ask = (dispatcher, origin, more = {}) => dispatcher.request({ origin, path: '/', method: 'GET', ...more })
/** Requests one after another, and how many connections they took. */
const inARow = (count, handler = hello) => async (make, t, serve, given) => {
  const log = t.log('client')
  const server = await serve(t, handler)
  // Whether a second connection of a pool is opened before the first is free again is chance.
  const dispatcher = make(server.url, { connections: 1, ...server.options, ...given })
  for (let at = 0; at < count; at++) await t.settle(log, 'request', ask(dispatcher, server.url).then(async answer => [answer.statusCode, await text(answer)].join(' ')))
  await turns(5)
  log('connections', server.counts.sockets)
}
/** Requests at once: the most that the server had together. */
const atOnce = count => async (make, t, serve, given) => {
  const log = t.log('client')
  let waiting = []
  let most = 0
  const server = await serve(t, (request, response) => {
    waiting.push(response)
    most = Math.max(most, waiting.length)
    // Those that can come together come within some turns.
    void turns(50).then(() => { for (const one of waiting.splice(0)) one.end('hello') })
  })
  const dispatcher = make(server.url, { ...server.options, ...given })
  const answers = await Promise.all(Array.from({ length: count }, () => ask(dispatcher, server.url).then(text)))
  log(answers.join(), 'at most', given.connections ?? given.maxConcurrentStreams ?? 1, most <= (given.connections ?? given.maxConcurrentStreams ?? count))
  waiting = []
}
const keepAlive = seconds => (request, response) => { response.writeHead(200, { 'keep-alive': `timeout=${seconds}` }).end('hello') }
const sized = bytes => async (make, t, serve, given) => {
  const log = t.log('client')
  const server = await serve(t, (request, response) => { if (request.url === '/length') response.writeHead(200, { 'content-length': bytes }); response.end('a'.repeat(bytes)) })
  const dispatcher = make(server.url, { ...server.options, ...given })
  for (const path of ['/length', '/pieces']) await ask(dispatcher, server.url, { path }).then(async ({ statusCode, body }) => { log(path, statusCode); log((await body.text()).length) }).catch(error => { log(path, 'failed', known(error)) })
}
const seen = read => async (make, t, serve, given) => {
  const log = t.log('server')
  const server = await serve(t, (request, response) => { log(read(request)); response.end() })
  const asked = ask(make(server.url, { ...server.options, ...given, connect: { ...server.options.connect, ...given.connect } }), server.url)
  await asked.then(({ statusCode }) => { t.log('client')(statusCode) }, error => { t.log('client')('failed', named(error)) })
}

/** Options, and what shows them. */
const OPTIONS = {
  'maxRequestsPerClient 1': [{ maxRequestsPerClient: 1 }, inARow(4)],
  'maxRequestsPerClient 2': [{ maxRequestsPerClient: 2 }, inARow(4)],
  'maxRequestsPerClient 3': [{ maxRequestsPerClient: 3 }, inARow(4)],
  'maxRequestsPerClient 0': [{ maxRequestsPerClient: 0 }, inARow(4)],
  'pipelining 0': [{ pipelining: 0 }, inARow(3)],
  'pipelining 1': [{ pipelining: 1 }, inARow(3)],
  'a hint of a second': [{}, inARow(3, keepAlive(1))],
  'a hint of two seconds': [{}, inARow(3, keepAlive(2))],
  'a hint of five seconds': [{}, inARow(3, keepAlive(5))],
  'a hint of a second, no threshold': [{ keepAliveTimeoutThreshold: 0 }, inARow(3, keepAlive(1))],
  'a hint of a minute, a threshold of two minutes': [{ keepAliveTimeoutThreshold: 120_000 }, inARow(3, keepAlive(60))],
  'a hint of no number': [{}, inARow(3, keepAlive('asd'))],
  'connections 1': [{ connections: 1 }, atOnce(4)],
  'connections 2': [{ connections: 2 }, atOnce(6)],
  'maxConcurrentStreams 1': [{ maxConcurrentStreams: 1, connections: 1 }, atOnce(4)],
  'maxConcurrentStreams 3': [{ maxConcurrentStreams: 3 }, atOnce(9)],
  'h2Options.maxConcurrentStreams 2': [{ h2Options: { maxConcurrentStreams: 2 }, maxConcurrentStreams: undefined }, atOnce(4)],
  'maxResponseSize 4': [{ maxResponseSize: 4 }, sized(5)],
  'maxResponseSize 5': [{ maxResponseSize: 5 }, sized(5)],
  'maxResponseSize 0': [{ maxResponseSize: 0 }, sized(5)],
  'maxResponseSize 0 of nothing': [{ maxResponseSize: 0 }, sized(0)],
  'maxResponseSize -1': [{ maxResponseSize: -1 }, sized(50_000)],
  'maxResponseSize 40,000': [{ maxResponseSize: 40_000 }, sized(50_000)],
  'allowH2': [{ allowH2: true }, seen(({ httpVersion }) => httpVersion)],
  'allowH2: false': [{ allowH2: false }, seen(({ httpVersion }) => httpVersion)],
  'a local address': [{ localAddress: '127.0.0.1' }, seen(({ socket }) => socket.remoteAddress)],
  'another local address': [{ localAddress: '127.0.0.2' }, seen(({ socket }) => socket.remoteAddress)],
  'connect.servername': [{ connect: { servername: 'localhost' } }, seen(({ socket }) => socket.servername)],
  'rejectUnauthorized: false': [{ connect: { ca: undefined, rejectUnauthorized: false } }, seen(({ socket }) => socket.encrypted)],
  'no authority': [{ connect: { ca: undefined } }, seen(({ socket }) => socket.encrypted)],
  'connect.lookup': [{ connect: { lookup: (name, options, done) => { if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]); else done(null, '127.0.0.1', 4) } } }, seen(({ socket }) => socket.remoteAddress)],
  'connect.lookup that fails': [{ connect: { lookup: (name, options, done) => { done(Object.assign(new Error('mine'), { code: 'EMINE' })) } } }, seen(() => 'asked')],
  'headersTimeout 0 and bodyTimeout 0': [{ headersTimeout: 0, bodyTimeout: 0 }, inARow(1)],
  'an answer that closes': [{}, inARow(3, (request, response) => { response.writeHead(200, request.httpVersionMajor === 1 ? { connection: 'close' } : {}).end('hello') })],
  'no body': [{}, inARow(3, (request, response) => { response.writeHead(204).end() })]
}
/** The numbers of `stats`, by their names. */
const statistics = stats => stats === undefined ? 'none' : JSON.stringify(Object.fromEntries(['connected', 'free', 'pending', 'queued', 'running', 'size'].filter(name => stats[name] !== undefined).map(name => [name, stats[name]])))
const statsOf = (dispatcher, origin) => statistics(dispatcher.stats?.[origin] ?? dispatcher.stats)

/** States of a dispatcher, and what it says of itself in each. */
const STATES = {
  'statistics': async (make, t, serve) => {
    const log = t.log('client')
    let held
    const server = await serve(t, (request, response) => { if (request.url === '/wait') held(response); else response.end('hello') })
    const dispatcher = make(server.url, server.options)
    log('new', statsOf(dispatcher, server.url))
    await ask(dispatcher, server.url).then(text)
    await turns(10)
    log('behind one', statsOf(dispatcher, server.url))
    const asked = new Promise(resolve => { held = resolve })
    const answer = ask(dispatcher, server.url, { path: '/wait' }).then(text)
    const response = await asked
    log('in one', statsOf(dispatcher, server.url))
    response.end('x')
    await answer
    await turns(10)
    log('behind both', statsOf(dispatcher, server.url))
    await dispatcher.close()
  },
  'events': async (make, t, serve) => {
    const log = t.log('events')
    const server = await serve(t, hello)
    const dispatcher = make(server.url, server.options)
    for (const event of ['connect', 'disconnect', 'connectionError', 'drain', 'error']) dispatcher.on(event, (...args) => { log(event, args.map(arg => arg instanceof URL ? arg.origin === server.url : Array.isArray(arg) ? `${arg.length} targets` : arg instanceof Error ? known(arg) : typeof arg).join(' ')) })
    await ask(dispatcher, server.url).then(text)
    await turns(10)
    const disconnected = once(dispatcher, 'disconnect')
    await dispatcher.close()
    await disconnected
  },
  'events of a refused connection': async (make, t) => {
    const log = t.log('events')
    const dispatcher = make('http://127.0.0.1:1', {})
    for (const event of ['connect', 'disconnect', 'connectionError', 'error']) dispatcher.on(event, (...args) => { log(event, args.map(arg => arg instanceof URL ? arg.origin : Array.isArray(arg) ? `${arg.length} targets` : arg instanceof Error ? known(arg) : typeof arg).join(' ')) })
    await ask(dispatcher, 'http://127.0.0.1:1').catch(error => { log('failed', known(error)) })
    await turns(10)
  },
  'ends: close, close': async (make, t, serve) => { await ends(make, t, serve, d => [d.close(), d.close()]) },
  'ends: close, destroy': async (make, t, serve) => { await ends(make, t, serve, d => [d.close(), d.destroy()]) },
  'ends: destroy, close': async (make, t, serve) => { await ends(make, t, serve, d => [d.destroy(), d.close()]) },
  'ends: destroy, destroy': async (make, t, serve) => { await ends(make, t, serve, d => [d.destroy(), d.destroy(new Error('mine'))]) },
  'ends: destroy of null': async (make, t, serve) => { await ends(make, t, serve, d => [d.destroy(null)]) },
  'ends: destroy with a callback': async (make, t, serve) => { await ends(make, t, serve, d => [new Promise(resolve => { d.destroy(resolve) })]) },
  'ends: destroy with an error and a callback': async (make, t, serve) => { await ends(make, t, serve, d => [new Promise(resolve => { d.destroy(new Error('mine'), resolve) })]) },
  'ends: close with what is no callback': async (make, t, serve) => { await ends(make, t, serve, d => [d.close(7)]) },
  'ends: destroy with what is no callback': async (make, t, serve) => { await ends(make, t, serve, d => [d.destroy(null, 7)]) },
  'ends: for await using': async (make, t, serve) => { await ends(make, t, serve, d => [typeof d[Symbol.asyncDispose ?? Symbol.for('none')]]) },
  'compose twice': async (make, t, serve) => {
    const log = t.log('client')
    const server = await serve(t, (request, response) => { response.end(`${request.headers['x-a']} ${request.headers['x-b']}`) })
    const adds = (name, value) => dispatch => (options, handler) => { log('asked', name); return dispatch({ ...options, headers: { ...options.headers, [name]: value } }, handler) }
    const dispatcher = make(server.url, server.options)
    const composed = dispatcher.compose(adds('x-a', '1')).compose(adds('x-b', '2'))
    log(await ask(composed, server.url).then(text), composed === dispatcher, composed.constructor.name, composed.closed)
    await composed.close()
    log(dispatcher.closed, composed.closed)
  },
  'members': (make, t) => {
    const log = t.log('client')
    const dispatcher = make('http://localhost:1', {})
    for (const name of ['request', 'stream', 'pipeline', 'connect', 'upgrade', 'dispatch', 'close', 'destroy', 'compose', 'on', 'closed', 'destroyed', 'pipelining', 'webSocketOptions']) log(name, typeof dispatcher[name], dispatcher[name]?.length, Object.hasOwn(dispatcher, name))
    t.own(dispatcher)
  },
  'calls without options': async (make, t) => {
    const log = t.log('client')
    const dispatcher = t.own(make('http://localhost:1', {}))
    for (const name of ['request', 'stream', 'pipeline', 'connect', 'upgrade', 'dispatch']) {
      for (const args of [[], [null], [7], [{}], [{}, 7], [null, () => {}]]) {
        try {
          const made = dispatcher[name](...args)
          made?.on?.('error', error => { log(name, args.length, 'error', known(error)) })
          await Promise.resolve(made).then(value => { log(name, args.length, typeof value) }, error => { log(name, args.length, 'rejected', known(error)) })
        } catch (error) {
          log(name, args.length, 'threw', known(error))
        }
      }
    }
    await turns(5)
  },
  'callbacks': async (make, t, serve) => {
    const log = t.log('client')
    const server = await serve(t, async (request, response) => { response.end(await bytesOf(request)) })
    const dispatcher = t.own(make(server.url, server.options))
    await new Promise(resolve => { dispatcher.request({ origin: server.url, path: '/', method: 'POST', body: 'hello', opaque: 7 }, async (error, data) => { log(error, data.statusCode, data.opaque, Object.keys(data).sort().join(), await data.body.text()); resolve() }) })
    await new Promise(resolve => { dispatcher.request({ origin: server.url, path: 'x', method: 'GET', opaque: 7 }, (error, data) => { log(known(error), JSON.stringify(data)); resolve() }) })
    log(typeof dispatcher.request({ origin: server.url, path: '/', method: 'GET' }, (error, { body }) => { log(error); body.resume() }))
    await turns(20)
  }
}
async function ends (make, t, serve, act) {
  const log = t.log('client')
  const server = await serve(t, hello)
  const dispatcher = make(server.url, server.options)
  await ask(dispatcher, server.url).then(text)
  try {
    for (const [at, { status, value, reason }] of (await Promise.allSettled(act(dispatcher))).entries()) log(at, status, status === 'rejected' ? known(reason) : value === null ? 'null' : typeof value)
  } catch (error) {
    log('threw', known(error))
  }
  log(dispatcher.closed, dispatcher.destroyed)
  await ask(dispatcher, server.url).catch(error => { log(known(error)) })
  await dispatcher.destroy().catch(() => {})
}

const programs = {}
for (const [kind, makes] of Object.entries(MAKE)) {
  for (const [version, serve] of Object.entries(SERVE)) {
    for (const [option, [given, shows]] of Object.entries(OPTIONS)) {
      if ('maxConcurrentStreams' in given && version !== 'h2') continue
      // A field of connections of HTTP/1.1.
      if (option.startsWith('a hint') && version === 'h2') continue
      // A Client has one connection, and HTTP/2 needs no more.
      if ('connections' in given && (kind === 'Client' || version === 'h2') && !('maxConcurrentStreams' in given)) continue
      programs[`${kind}, ${version}: ${option}`] = (module, t) => shows((origin, options) => t.own(makes(module, origin, options)), t, serve, given)
    }
    for (const [state, does] of Object.entries(STATES)) programs[`${kind}, ${version}: ${state}`] = (module, t) => does((origin, options) => makes(module, origin, options), t, serve)
  }
}
export default programs

// The diagnostics channels of servers: what is published, in which order, with what.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import net from 'node:net'
import { PerformanceObserver } from 'node:perf_hooks'
import { cert, closing, key } from '../stage.mjs'

const OF_HTTP1 = ['http.server.request.start', 'http.server.response.finish']
const OF_HTTP2 = ['created', 'start', 'error', 'finish', 'close'].map(name => `http2.server.stream.${name}`)
/** From this line on node's own servers publish streams. */
const STREAMS_FROM = 24
const POST = { headers: { ':method': 'POST' }, body: 'hello there' }
const isThere = Number.parseInt(process.versions.node, 10) >= STREAMS_FROM

/** The messages that the servers publish while `act` runs. */
const published = (names, serve, act, event = 'request') => async (http2, t) => {
  const log = t.log('channel')
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
  server.on(event, serve)
  const reported = (message, name) => {
    const { stream, headers, error, request, response, socket, server: own } = message
    const known = [stream?.constructor.name, headers?.[':path'], headers?.[':status'], error, request?.url, response?.statusCode]
    log(name, Object.keys(message).join(), ...known.filter(value => value !== undefined), own === undefined || own === server, socket === undefined || socket === request.socket)
  }
  for (const name of names) subscribe(name, reported)
  await t.listen(server)
  try {
    await act(server, t)
    await new Promise(resolve => { server.close(resolve) })
  } finally {
    for (const name of names) unsubscribe(name, reported)
  }
}
const asked = request => async (server, t) => {
  const client = await t.open(server, { secure: true })
  await t.show(client, request)
  client.close()
  await closing(client)
}
const h2 = (serve, request, event) => published(OF_HTTP2, serve, asked(request), event)

/** The entries that node:perf_hooks gives of requests to a server of HTTP/1.1. */
const measured = request => async (http2, t) => {
  const log = t.log('entry')
  const entries = []
  const observer = new PerformanceObserver(list => { entries.push(...list.getEntries()) })
  observer.observe({ entryTypes: ['http'] })
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
    response.statusCode = 201
    response.setHeader('x-a', 'b')
    response.end('ok')
  })
  await t.listen(server)
  try {
    await t.ask(server, request)
    const own = () => entries.find(({ name }) => name === 'HttpRequest')
    while (own() === undefined) await new Promise(resolve => { setImmediate(resolve) })
    const { entryType, duration, detail: { req, res } } = own()
    log(entryType, duration > 0, req.method, req.url, req.headers['x-of'], res.statusCode, res.statusMessage, res.headers['x-a'])
  } finally {
    observer.disconnect()
  }
}

const OF_LISTENING = ['asyncStart', 'asyncEnd', 'error'].map(name => `tracing:net.server.listen:${name}`)
/** The messages about a call of `listen` on one of two servers. */
const listening = call => async (http2, t) => {
  const log = t.log('channel')
  const servers = [http2.createServer(), http2.createSecureServer({ cert, key })]
  const reported = (message, name) => { if (servers.includes(message.server)) log(name, Object.keys(message).join(), servers.indexOf(message.server), message.error?.code) }
  for (const name of OF_LISTENING) subscribe(name, reported)
  try {
    for (const server of servers) {
      server.on('listening', () => { log('listening') })
      server.on('error', error => { log('error', error.code) })
      await call(server, t)
      if (server.listening) await new Promise(resolve => { server.close(resolve) })
    }
  } finally {
    for (const name of OF_LISTENING) unsubscribe(name, reported)
  }
}

export default {
  'a server listens': listening(async (server, t) => { await t.listen(server) }),
  'a server finds its port taken': listening(async (server, t) => {
    const taken = net.createServer()
    const port = await t.listen(taken)
    server.listen(port, '127.0.0.1')
    await once(server, 'error')
  }),
  'perf_hooks: a GET': measured({ path: '/a?b', headers: { 'x-of': 'get' } }),
  'perf_hooks: a POST': measured({ path: '/a', method: 'POST', body: 'hello', headers: { 'x-of': 'post' } }),
  'a request of HTTP/1.1': published(OF_HTTP1, (request, response) => { response.end('ok') }, (server, t) => t.ask(server, { path: '/a' })),
  'a request of HTTP/1.1 with a body': published(OF_HTTP1, (request, response) => { request.pipe(response) }, (server, t) => t.ask(server, { path: '/a', method: 'POST', body: 'text' })),
  'a status of HTTP/1.1': published(OF_HTTP1, (request, response) => { response.statusCode = 404; response.end() }, (server, t) => t.ask(server, { path: '/none' })),
  ...(isThere
    ? {
        'a request': h2((request, response) => { response.end('ok') }, { headers: { ':path': '/a' } }),
        'a request with a body': h2((request, response) => { request.pipe(response) }, POST),
        'a request whose response comes in pieces': h2((request, response) => { response.write('a'); setImmediate(() => { response.end('b') }) }),
        'a status': h2((request, response) => { response.writeHead(404).end() }),
        'a stream': h2(stream => { stream.respond({ ':status': 201 }); stream.end('ok') }, {}, 'stream'),
        'a stream that ends with its head': h2(stream => { stream.respond({ ':status': 204 }, { endStream: true }) }, {}, 'stream'),
        'a stream that is closed with a code': h2(stream => { stream.on('error', () => {}); stream.close(2) }, {}, 'stream'),
        'a stream that is destroyed with an error': h2(stream => { stream.on('error', () => {}); stream.destroy(new TypeError('no')) }, {}, 'stream'),
        'a stream that its client cancels': published(OF_HTTP2, () => {}, async (server, t) => {
          const client = await t.open(server, { secure: true })
          const came = once(server, 'stream')
          const stream = client.request()
          stream.on('error', () => {})
          const [own] = await came
          const over = closing(own)
          stream.close(8)
          await over
          client.close()
          await closing(client)
        }, 'stream')
      }
    : {})
}

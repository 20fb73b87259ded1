// Programs of undici's documentation about fetch, WebSocket, EventSource, cookies, proxies, diagnostics channels and
// its small functions.
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import net from 'node:net'
import { WebSocketServer } from 'ws'
import { cert, turns } from '../stage.mjs'

const hello = (request, response) => { response.end('Hello, World!') }

/** A proxy: CONNECT opens a tunnel, anything else is in absolute form. */
async function proxy (t, log, check = () => true) {
  const front = await t.serve(async (request, response) => {
    log('asked', request.method, request.url.replace(/\d{4,}/g, 'PORT'), request.headers['proxy-authorization'])
    const { request: ask } = await import('undici8')
    const answer = await ask(request.url, { method: request.method })
    response.writeHead(answer.statusCode, { via: 'proxy' }).end(await answer.body.text())
  })
  front.server.on('connect', (request, socket) => {
    log('tunnel', request.url.replace(/\d{4,}/g, 'PORT'), request.headers['proxy-authorization'])
    if (!check(request)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
    const [host, port] = request.url.split(':')
    const other = net.connect(Number(port), host, () => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); other.pipe(socket).pipe(other) })
    for (const one of [other, socket]) one.on('error', () => { other.destroy(); socket.destroy() })
  })
  return front
}

export default {
  'fetch: an answer': async ({ Agent, fetch }, t) => {
    const log = t.log('fetch')
    const server = await t.serve((request, response) => { response.setHeader('content-type', 'application/json'); response.setHeader('X-Two', ['a', 'b']); response.end('{"a":1}') })
    const response = await fetch(server.url, { dispatcher: t.own(new Agent()) })
    log(response.status, response.ok, response.headers.get('content-type'), response.headers.get('x-two'), response.url === `${server.url}/`, JSON.stringify(await response.json()), response.bodyUsed)
  },
  'fetch: a FormData, and an abort': async ({ Agent, fetch, FormData }, t) => {
    const log = t.log('fetch')
    const server = await t.serve(async (request, response) => {
      if (request.url === '/wait') return
      let bytes = 0
      for await (const piece of request) bytes += piece.length
      response.end(`${request.headers['content-type'].split(';')[0]} ${Number(request.headers['content-length']) === bytes}`)
    })
    const dispatcher = t.own(new Agent())
    const body = new FormData()
    body.set('a', 'b')
    body.set('c', new Blob(['d']), 'e.txt')
    log(await fetch(server.url, { method: 'POST', body, dispatcher }).then(response => response.text()))
    const controller = new AbortController()
    const call = fetch(`${server.url}/wait`, { dispatcher, signal: controller.signal }).catch(error => { log(error.name, error.message) })
    await once(server.server, 'request')
    controller.abort()
    await call
    await fetch('http://127.0.0.1:1/', { dispatcher }).catch(error => { log(error.message, error.cause.code, error.cause.syscall) })
  },
  'fetch: redirects, and an integrity': async ({ Agent, fetch }, t) => {
    const log = t.log('fetch')
    const server = await t.serve((request, response) => { if (request.url === '/') response.writeHead(301, { location: '/there' }).end(); else response.end('there') })
    const dispatcher = t.own(new Agent())
    const response = await fetch(server.url, { dispatcher })
    log(response.redirected, new URL(response.url).pathname, await response.text())
    log((await fetch(server.url, { dispatcher, redirect: 'manual' })).status)
    await fetch(server.url, { dispatcher, redirect: 'error' }).catch(error => { log(error.message, error.cause?.message) })
    await fetch(`${server.url}/there`, { dispatcher, integrity: 'sha256-AAAA' }).then(response => response.text()).catch(error => { log(error.message, error.cause?.message) })
  },
  'WebSocket: messages': async ({ Agent, WebSocket }, t) => {
    const log = t.log('socket')
    const server = await t.serve(hello)
    const sockets = new WebSocketServer({ server: server.server })
    sockets.on('connection', socket => { socket.on('message', (data, isBinary) => { socket.send(data, { binary: isBinary }) }) })
    const socket = new WebSocket(server.url.replace('http', 'ws'), { dispatcher: t.own(new Agent()), protocols: [], headers: { 'x-a': 'b' } })
    socket.binaryType = 'arraybuffer'
    await new Promise(resolve => {
      socket.addEventListener('open', () => { log('open', socket.readyState, socket.protocol, socket.extensions.includes('permessage-deflate')); socket.send('hello') })
      socket.addEventListener('message', ({ data }) => { if (typeof data === 'string') { log(data); socket.send(new Uint8Array([1, 2, 3])) } else { log(data.byteLength); socket.close(1000, 'enough') } })
      socket.addEventListener('close', ({ code, reason, wasClean }) => { log('close', code, reason, wasClean); resolve() })
      socket.addEventListener('error', ({ error }) => { log(error) })
    })
  },
  'WebSocket: a server that refuses': async ({ Agent, WebSocket }, t) => {
    const log = t.log('socket')
    const server = await t.serve((request, response) => { response.writeHead(401).end() })
    server.server.on('upgrade', (request, socket) => { socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n') })
    const socket = new WebSocket(server.url.replace('http', 'ws'), { dispatcher: t.own(new Agent()) })
    await new Promise(resolve => {
      socket.addEventListener('error', ({ error, message }) => { log(error, message) })
      socket.addEventListener('close', ({ code, wasClean }) => { log('close', code, wasClean); resolve() })
    })
  },
  'WebSocketStream': async ({ Agent, WebSocketStream }, t) => {
    const log = t.log('socket')
    const server = await t.serve(hello)
    const sockets = new WebSocketServer({ server: server.server })
    sockets.on('connection', socket => { socket.on('message', data => { socket.send(`got ${data}`) }) })
    const stream = new WebSocketStream(server.url.replace('http', 'ws'), { dispatcher: t.own(new Agent()) })
    const { readable, writable } = await stream.opened
    const [reader, writer] = [readable.getReader(), writable.getWriter()]
    await writer.write('hello')
    log((await reader.read()).value)
    stream.close({ closeCode: 1000 })
    log((await stream.closed).closeCode)
  },
  'EventSource': async ({ Agent, EventSource }, t) => {
    const log = t.log('events')
    const server = await t.serve((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('id: 1\nevent: named\ndata: one\n\ndata: two\ndata: lines\n\n')
    })
    const source = new EventSource(server.url, { dispatcher: t.own(new Agent()), node: { dispatcher: t.own(new Agent()) } })
    await new Promise(resolve => {
      source.addEventListener('open', () => { log('open', source.readyState) })
      source.addEventListener('named', ({ data, lastEventId, type }) => { log(type, data, lastEventId) })
      source.onmessage = ({ data, lastEventId }) => { log(data, lastEventId); source.close(); resolve() }
    })
    log(source.readyState)
  },
  'EventSource: what is none': async ({ Agent, EventSource }, t) => {
    const log = t.log('events')
    const server = await t.serve(hello)
    const source = new EventSource(server.url, { node: { dispatcher: t.own(new Agent()) } })
    await new Promise(resolve => { source.onerror = () => { log('error', source.readyState); resolve() } })
  },
  'cookies': async ({ Headers, getCookies, setCookie, getSetCookies, deleteCookie, parseCookie, Agent, fetch }, t) => {
    const log = t.log('cookies')
    const server = await t.serve((request, response) => { response.setHeader('set-cookie', ['a=1; Path=/; HttpOnly', 'b=2; Max-Age=60']); response.end() })
    const { headers } = await fetch(server.url, { dispatcher: t.own(new Agent()) })
    log(getSetCookies(headers).map(({ name, value, path, httpOnly, maxAge }) => [name, value, path, httpOnly, maxAge]))
    const own = new Headers({ cookie: 'get=cookies; and=attributes' })
    log(getCookies(own))
    setCookie(own, { name: 'undici', value: 'server', secure: true, sameSite: 'Lax' })
    deleteCookie(own, 'other', { path: '/' })
    log(own.getSetCookie(), parseCookie('x=y; Secure'))
  },
  'util': async ({ util, errors }, t) => {
    const log = t.log('util')
    log(JSON.stringify(util.parseHeaders(['A', '1', 'b', '2', 'a', '3'])), util.headerNameToString('ETag'), util.headerNameToString(Buffer.from('X-A')))
    log(Object.keys(errors).filter(name => ['UndiciError', 'HeadersTimeoutError', 'BodyTimeoutError', 'SocketError', 'ResponseError', 'RequestRetryError', 'BalancedPoolMissingUpstreamError', 'AbortError', 'HTTPParserError', 'SecureProxyConnectionError'].includes(name)).length > 6)
  },
  'ProxyAgent: requests in absolute form, and in a tunnel': async ({ ProxyAgent }, t) => {
    const log = t.log('proxy')
    const server = await t.serve(hello)
    const front = await proxy(t, log)
    for (const proxyTunnel of [false, true]) {
      const agent = t.own(new ProxyAgent({ uri: front.url, proxyTunnel, token: 'Basic abc' }))
      const { body, headers } = await agent.request({ origin: server.url, path: '/a', method: 'GET' })
      log(proxyTunnel, headers.via, await body.text())
    }
  },
  'ProxyAgent: HTTPS in a tunnel, and a proxy that refuses': async ({ ProxyAgent, fetch }, t) => {
    const log = t.log('proxy')
    const server = await t.serveH2((request, response) => { response.end('over TLS') }, { allowHTTP1: true })
    const front = await proxy(t, log, ({ headers }) => headers['proxy-authorization'] !== undefined)
    const agent = t.own(new ProxyAgent({ uri: front.url.replace('//', '//user:pass@'), requestTls: { ca: cert } }))
    log(await fetch(server.url, { dispatcher: agent }).then(response => response.text()).catch(error => error.cause))
    await t.settle(log, 'no credentials', t.own(new ProxyAgent({ uri: front.url, requestTls: { ca: cert } })).request({ origin: server.url, path: '/', method: 'GET' }))
    t.attempt(log, 'no uri', () => new ProxyAgent())
    await t.settle(log, 'a field', agent.request({ origin: server.url, path: '/', method: 'GET', headers: { 'proxy-authorization': 'x' } }))
  },
  'ProxyAgent: a proxy that is not there': async ({ ProxyAgent }, t) => {
    const log = t.log('proxy')
    const agent = t.own(new ProxyAgent('http://127.0.0.1:1'))
    await t.settle(log, 'http', agent.request({ origin: 'http://localhost:2', path: '/', method: 'GET' }))
    await t.settle(log, 'https', agent.request({ origin: 'https://localhost:2', path: '/', method: 'GET' }))
  },
  'EnvHttpProxyAgent': async ({ EnvHttpProxyAgent }, t) => {
    const log = t.log('proxy')
    const server = await t.serve(hello)
    const front = await proxy(t, log)
    for (const noProxy of ['', 'localhost', `localhost:${server.port}`, 'other.test', '*']) {
      const agent = t.own(new EnvHttpProxyAgent({ httpProxy: front.url, httpsProxy: front.url, noProxy }))
      const { body, headers } = await agent.request({ origin: server.url, path: '/', method: 'GET' })
      log(noProxy.replace(/\d+/, 'PORT'), headers.via, await body.text())
    }
  },
  'diagnostics channels of a request': async ({ Client }, t) => {
    const log = t.log('channels')
    const server = await t.serve((request, response) => { response.setHeader('x-a', 'b'); response.end('hello') })
    const names = ['request:create', 'request:bodySent', 'request:bodyChunkSent', 'request:headers', 'request:bodyChunkReceived', 'request:trailers', 'request:error', 'client:sendHeaders', 'client:beforeConnect', 'client:connected', 'client:connectError']
    const subscribed = names.map(name => {
      const listener = message => {
        const { request, response, headers, socket, connectParams, connector, chunk, trailers, error } = message
        log(name, Object.keys(message).sort().join(), request?.method, request?.path, request?.origin === undefined ? '' : request.origin === server.url, request?.completed, response?.statusCode, typeof headers === 'string' ? headers.replace(/\d{4,}/, 'PORT') : '', typeof socket, connectParams === undefined ? '' : [connectParams.protocol, connectParams.hostname, connectParams.version, connectParams.servername].join(), typeof connector, chunk === undefined ? '' : String(chunk), trailers?.length, error?.code)
        if (name === 'request:create') request.addHeader('x-trace', 'id')
      }
      diagnostics.subscribe(`undici:${name}`, listener)
      return () => { diagnostics.unsubscribe(`undici:${name}`, listener) }
    })
    try {
      const client = t.own(new Client(server.url))
      await client.request({ path: '/', method: 'POST', body: 'text' }).then(({ body }) => body.text())
      await t.own(new Client('http://127.0.0.1:1')).request({ path: '/', method: 'GET' }).catch(() => {})
    } finally {
      for (const stop of subscribed) stop()
    }
  },
  'a connector of its own': async ({ Client, buildConnector }, t) => {
    const log = t.log('client')
    const server = await t.serve(hello)
    const connector = buildConnector({ rejectUnauthorized: false })
    const client = t.own(new Client(server.url, {
      connect (options, done) {
        log(Object.keys(options).sort().join(), options.hostname, options.protocol)
        connector(options, (error, socket) => { if (error) done(error, null); else { log(socket.remoteAddress !== undefined); done(null, socket) } })
      }
    }))
    log(await client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text()))
    const refusing = t.own(new Client(server.url, { connect (_, done) { done(new Error('not today'), null) } }))
    await t.settle(log, 'refused', refusing.request({ path: '/', method: 'GET' }))
  },
  'a client certificate': async ({ Client }, t) => {
    const log = t.log('client')
    const { key } = await import('../../../support/certificates/certificate.mjs')
    const { default: https } = await import('node:https')
    const server = https.createServer({ key, cert, ca: cert, requestCert: true, rejectUnauthorized: false }, (request, response) => { response.end(String(request.socket.getPeerCertificate().subject !== undefined)) })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = t.own(new Client(`https://localhost:${server.address().port}`, { connect: { key, cert, ca: cert } }))
    log(await client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text()))
    const bare = t.own(new Client(`https://localhost:${server.address().port}`))
    await bare.request({ path: '/', method: 'GET' }).catch(error => { log(error.code) })
    await client.destroy()
    server.close()
  },
  'HTTP/2 in cleartext': async ({ Client }, t) => {
    const log = t.log('client')
    const { default: http2 } = await import('node:http2')
    const server = http2.createServer((request, response) => { response.end(`over HTTP/${request.httpVersion}`) })
    const sessions = new Set()
    server.on('session', session => { sessions.add(session) })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = t.own(new Client(`http://localhost:${server.address().port}`, { useH2c: true }))
    log(await Promise.all([1, 2, 3].map(() => client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text()))), sessions.size)
    await client.destroy()
    for (const session of sessions) session.destroy()
    server.close()
    await turns()
  }
}

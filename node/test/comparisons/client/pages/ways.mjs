// ProxyAgent, EnvHttpProxyAgent, Socks5ProxyAgent, Connector, H2CClient, DiagnosticsChannel and best practices.
import diagnostics from 'node:diagnostics_channel'
import http2 from 'node:http2'
import net from 'node:net'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { cert, turns } from '../stage.mjs'
import { after, get, hello, known, onVersions, portless, programs, textOf, VERSIONS } from '../page.mjs'

/** A proxy that opens tunnels and forwards; it logs what it is asked for. */
async function proxy (p, options = {}) {
  const log = p.stage.log('proxy')
  const front = await p.stage.serve(async (request, response) => {
    log(request.method, portless(request.url), portless(request.headers.host), request.headers['proxy-authorization'] ?? '-', request.headers['x-own'] ?? '-')
    const { request: ask } = await import('undici8')
    const answer = await ask(request.url)
    response.writeHead(answer.statusCode, { via: 'proxy' }).end(await answer.body.text())
  })
  front.server.on('connect', (request, socket, head) => {
    log('CONNECT', portless(request.url), portless(request.headers.host ?? '-'), request.headers['proxy-authorization'] ?? '-', request.headers['x-own'] ?? '-', head.length)
    socket.on('error', () => {})
    if (options.refusal !== undefined) return socket.end(`HTTP/1.1 ${options.refusal}\r\ncontent-length: 0\r\n\r\n`)
    if (options.lost === true) return socket.destroy()
    const at = request.url.lastIndexOf(':')
    const other = net.connect(Number(request.url.slice(at + 1)), request.url.slice(0, at), () => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); other.pipe(socket).pipe(other) })
    other.on('error', () => { socket.destroy() })
    for (const [one, peer] of [[socket, other], [other, socket]]) one.on('close', () => { peer.destroy() })
  })
  return front
}

/** A SOCKS5 proxy (RFC 1928): CONNECT alone. */
async function socks (p, { user, reply = 0 } = {}) {
  const log = p.stage.log('proxy')
  const front = await p.stage.serveRaw(async socket => {
    socket.on('error', () => {})
    const greeting = (await once(socket, 'data'))[0]
    log('methods', [...greeting.subarray(2)])
    if (user !== undefined) {
      socket.write(Buffer.from([5, 2]))
      const given = (await once(socket, 'data'))[0]
      const name = String(given.subarray(2, 2 + given[1]))
      log('user', name)
      socket.write(Buffer.from([1, name === user ? 0 : 1]))
      if (name !== user) return socket.end()
    } else socket.write(Buffer.from([5, 0]))
    const asked = (await once(socket, 'data'))[0]
    const [host, port] = asked[3] === 3 ? [String(asked.subarray(5, 5 + asked[4])), asked.readUInt16BE(5 + asked[4])] : [[...asked.subarray(4, 8)].join('.'), asked.readUInt16BE(8)]
    log('asked', asked[1], asked[3], host)
    if (reply !== 0) return socket.end(Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]))
    const other = net.connect(port, host, () => { socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80])); other.pipe(socket).pipe(other) })
    other.on('error', () => { socket.destroy() })
    for (const [one, peer] of [[socket, other], [other, socket]]) one.on('close', () => { peer.destroy() })
  })
  return front.url.replace('http', 'socks5')
}

const CHANNELS = ['request:create', 'request:bodySent', 'request:bodyChunkSent', 'request:headers', 'request:bodyChunkReceived', 'request:trailers', 'request:error', 'client:sendHeaders', 'client:beforeConnect', 'client:connected', 'client:connectError', 'proxy:connected']
/** Logs the messages of every channel while `run` runs. */
async function listening (p, run, more = () => {}) {
  const stops = CHANNELS.map(name => {
    const listener = message => {
      const { request, response, connectParams, error, chunk, trailers, headers } = message
      p.log(name, Object.keys(message).sort().join(), request === undefined ? '' : [request.method, request.path, request.completed, request.aborted, Object.keys(request).sort().filter(one => ['body', 'headers', 'method', 'origin', 'path', 'completed'].includes(one)).join()], response === undefined ? '' : [response.statusCode, response.statusText, Array.isArray(response.headers)], connectParams === undefined ? '' : [connectParams.protocol, connectParams.hostname, connectParams.servername ?? '-', connectParams.version ?? '-'], chunk === undefined ? '' : String(chunk).length, trailers?.length ?? '', typeof headers, error === undefined ? '' : known(error))
      more(name, message)
    }
    diagnostics.subscribe(`undici:${name}`, listener)
    return () => { diagnostics.unsubscribe(`undici:${name}`, listener) }
  })
  try {
    await run()
    await turns(3)
  } finally {
    for (const stop of stops) stop()
  }
}

export default {
  ...onVersions(VERSIONS, {
    'ProxyAgent: a tunnel and its credentials': async (p, { ProxyAgent }) => {
      const server = await p.serve(hello)
      const front = await proxy(p)
      for (const options of [{ uri: front.url, token: 'Bearer x' }, { uri: front.url.replace('//', '//us%20er:pa%3Ass@') }, { uri: front.url, headers: { 'X-Own': 'a' } }, { uri: new URL(front.url) }]) {
        const agent = p.own(new ProxyAgent({ ...options, proxyTunnel: true, requestTls: { ca: cert } }))
        for (let at = 0; at < 2; at++) await p.settle('request', agent.request({ ...get, origin: server.url }).then(textOf))
      }
    },
    'ProxyAgent: refusals': async (p, { ProxyAgent }) => {
      const server = await p.serve(hello)
      for (const options of [{ refusal: '407 Proxy Authentication Required' }, { refusal: '502 Bad Gateway' }, { lost: true }]) {
        const front = await proxy(p, options)
        const agent = p.own(new ProxyAgent({ uri: front.url, proxyTunnel: true, requestTls: { ca: cert } }))
        await p.settle(options.refusal ?? 'lost', agent.request({ ...get, origin: server.url }).then(textOf))
      }
    },
    'ProxyAgent: through fetch': async (p, { ProxyAgent, fetch }) => {
      const server = await p.serve(hello)
      const front = await proxy(p)
      const dispatcher = p.own(new ProxyAgent({ uri: front.url, requestTls: { ca: cert } }))
      p.log(await fetch(server.url, { dispatcher }).then(response => response.text()))
    },
    'Socks5ProxyAgent: a request': async (p, { Socks5ProxyAgent }) => {
      const server = await p.serve(hello)
      const agent = p.own(new Socks5ProxyAgent(await socks(p), { requestTls: { ca: cert } }))
      for (let at = 0; at < 2; at++) await p.settle('request', agent.request({ ...get, origin: server.url }).then(textOf))
      await agent.close()
    },
    'Socks5ProxyAgent: credentials, and refusals': async (p, { Socks5ProxyAgent }) => {
      const server = await p.serve(hello)
      for (const [user, options] of [['me', { user: 'me' }], ['other', { user: 'me' }], ['me', { reply: 5 }], ['me', { reply: 2 }]]) {
        const agent = p.own(new Socks5ProxyAgent((await socks(p, options)).replace('//', `//${user}:pass@`), { requestTls: { ca: cert } }))
        await p.settle(`${user} ${JSON.stringify(options)}`, agent.request({ ...get, origin: server.url }).then(textOf))
      }
    },
    'Connector: of its own': async (p, { buildConnector, Client }) => {
      const server = await p.serve(hello)
      const connector = buildConnector({ ca: cert, allowH2: p.version === 'h2' })
      const client = p.own(new Client(server.url, { connect: (options, done) => { p.log(options.hostname, options.protocol, typeof options.port); connector(options, (error, socket) => { p.log(error, socket?.constructor.name); done(error, socket) }) } }))
      p.log(await client.request(get).then(textOf), await client.request(get).then(textOf))
    },
    'Connector: one that refuses, throws or gives nothing': async (p, { Client }) => {
      for (const [label, connect] of Object.entries({ refuses: (options, done) => { done(new Error('not today')) }, 'refuses later': (options, done) => { setImmediate(done, new Error('not today')) }, throws: () => { throw new Error('thrown') } })) {
        const client = p.own(new Client('http://localhost:1', { connect }))
        client.on('connectionError', (origin, targets, error) => { p.log(label, 'connectionError', known(error)) })
        await p.settle(label, client.request(get))
        await turns(2)
      }
    },
    'channels: an exchange': async p => {
      const server = await p.serve((request, response) => { request.resume().on('end', () => { response.end('hello') }) })
      const client = p.client(server.url)
      await listening(p, async () => { p.log(await client.request({ path: '/a', method: 'POST', body: 'body' }).then(textOf)) })
    },
    'channels: a stream as body': async p => {
      const server = await p.serve((request, response) => { request.resume().on('end', () => { response.end('hello') }) })
      const client = p.client(server.url)
      await listening(p, async () => { p.log(await client.request({ path: '/a', method: 'POST', body: Readable.from([Buffer.from('one'), Buffer.from('two')]) }).then(textOf)) })
    },
    'channels: failures': async p => {
      await listening(p, async () => { await p.client('http://localhost:1').request(get).catch(() => {}) })
      const server = await p.serve((request) => { (request.stream?.session ?? request.socket).destroy() })
      const client = p.client(server.url)
      await listening(p, async () => { await client.request(get).catch(() => {}) })
      const slow = await p.serve(() => {})
      const aborted = p.client(slow.url)
      await listening(p, async () => { const controller = new AbortController(); const call = aborted.request({ ...get, signal: controller.signal }).catch(() => {}); await slow.asked(); await after(20); controller.abort(); await call })
    },
    'channels: a body that is ended before it has all come': async p => {
      const server = await p.serve((request, response) => { response.write('begin') })
      const controller = new AbortController()
      const ends = { 'its destroy': body => { body.destroy() }, 'its destroy with an error': body => { body.destroy(new Error('mine')) }, 'a signal': () => { controller.abort(new Error('of the signal')) } }
      for (const [label, end] of Object.entries(ends)) {
        const client = p.client(server.url)
        p.log(label)
        await listening(p, async () => {
          const { body } = await client.request({ ...get, signal: controller.signal })
          const closed = new Promise(resolve => { body.on('error', () => {}).on('close', resolve) })
          await new Promise(resolve => { body.once('data', resolve) })
          end(body)
          await closed
          await turns(2)
        })
      }
    },
    'channels: fields that a subscriber adds': async p => {
      const server = await p.serve((request, response) => { response.end(request.headers['x-added']) })
      const client = p.client(server.url)
      await listening(p, async () => { p.log(await client.request(get).then(textOf)) }, (name, { request }) => { if (name === 'request:create') request.addHeader('x-added', 'yes') })
    },
    'best practices: crawling with keep-alive off': async p => {
      const server = await p.serve(hello)
      const agent = p.agent({ keepAliveTimeout: 10, keepAliveMaxTimeout: 10 })
      for (let at = 0; at < 2; at++) await agent.request({ ...get, origin: server.url }).then(textOf)
      await agent.close()
      p.log(agent.closed)
    },
    'best practices: writing tests, a server that closes': async p => {
      const server = await p.serve(hello)
      const agent = p.agent()
      p.log(await agent.request({ ...get, origin: server.url }).then(textOf))
      const closed = once(server.server, 'close')
      server.server.close()
      await agent.close()
      await closed
      p.log('closed')
    }
  }),
  ...programs({
    'ProxyAgent: in absolute form': async (p, { ProxyAgent }) => {
      const server = await p.serve(hello)
      const front = await proxy(p)
      const agent = p.own(new ProxyAgent({ uri: front.url, proxyTunnel: false, headers: { 'x-own': 'a' } }))
      const { headers, body } = await agent.request({ origin: server.url, path: '/a?b', method: 'GET' })
      p.log(headers.via, await body.text())
    },
    'ProxyAgent: events, and the channel of tunnels': async (p, { ProxyAgent }) => {
      const server = await p.serve(hello)
      const front = await proxy(p)
      for (const proxyTunnel of [true, false]) {
        const agent = p.own(new ProxyAgent({ uri: front.url, proxyTunnel, token: 'Bearer x', headers: { 'X-Own': 'a' } }))
        for (const event of ['connect', 'disconnect', 'connectionError']) agent.on(event, (origin, targets) => { p.log(event, targets.length) })
        const listener = ({ connectParams: { origin, path, headers, servername } }) => { p.log('tunnel', portless(origin), portless(path), Object.entries({ ...headers, 'proxy-connection': 'keep-alive', host: 'host' }).map(pair => pair.join(' ')).sort(), servername) }
        diagnostics.subscribe('undici:proxy:connected', listener)
        await p.settle('request', agent.request({ ...get, origin: server.url }).then(textOf))
        diagnostics.unsubscribe('undici:proxy:connected', listener)
        if (proxyTunnel) await agent.request({ ...get, origin: 'http://127.0.0.1:1' }).catch(({ code }) => { p.log('to a port that is closed', code) })
        await agent.close()
        await turns(3)
      }
    },
    'ProxyAgent: the fields of a CONNECT': async (p, { ProxyAgent }) => {
      const front = await p.stage.serveRaw(socket => {
        socket.on('error', () => {}).once('data', bytes => {
          for (const line of portless(bytes.toString('latin1')).split('\r\n').filter(Boolean).sort()) p.log(line)
          socket.end('HTTP/1.1 502 no\r\ncontent-length: 0\r\n\r\n')
        })
      })
      for (const options of [{}, { headers: { 'X-Own': 'a', 'User-Agent': 'mine' } }, { token: 'Bearer x' }]) {
        const agent = p.own(new ProxyAgent({ uri: front.url, ...options }))
        await p.settle('request', agent.request({ ...get, origin: 'https://origin.test:444' }).then(textOf))
      }
    },
    'ProxyAgent: by default, for a plain origin': async (p, { ProxyAgent }) => {
      const server = await p.serve(hello)
      const front = await proxy(p)
      const agent = p.own(new ProxyAgent(front.url))
      p.log(await agent.request({ origin: server.url, path: '/a?b', method: 'GET' }).then(textOf))
    },
    'ProxyAgent: options that are refused': async (p, { ProxyAgent }) => {
      for (const options of [undefined, null, '', 5, {}, { uri: '' }, { uri: 5 }, 'x', { uri: 'http://localhost', clientFactory: 5 }, { uri: 'http://localhost', auth: 'a', token: 'b' }]) p.attempt(JSON.stringify(options) ?? 'undefined', () => p.own(new ProxyAgent(options)), value => [value.constructor.name])
    },
    'EnvHttpProxyAgent: what the environment says': async (p, { EnvHttpProxyAgent }) => {
      const server = await p.serve(hello)
      const front = await proxy(p)
      const before = { ...process.env }
      try {
        for (const variables of [{ http_proxy: front.url }, { HTTP_PROXY: front.url }, { http_proxy: front.url, no_proxy: 'localhost' }, { HTTP_PROXY: front.url, NO_PROXY: '.localhost' }, { http_proxy: front.url, no_proxy: `localhost:${server.port}` }, { http_proxy: front.url, no_proxy: 'localhost:1' }, { http_proxy: front.url, no_proxy: ' a , localhost ' }, { http_proxy: front.url, no_proxy: 'host' }, {}]) {
          for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) delete process.env[name] // eslint-disable-line no-await-in-loop
          Object.assign(process.env, variables)
          const agent = p.own(new EnvHttpProxyAgent())
          p.log(Object.entries(variables).map(([name, value]) => portless(`${name}=${value}`)), await agent.request({ ...get, origin: server.url }).then(textOf))
        }
      } finally {
        for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) if (before[name] === undefined) delete process.env[name]; else process.env[name] = before[name]
      }
    },
    'Socks5ProxyAgent: options that are refused': async (p, { Socks5ProxyAgent }) => {
      for (const args of [[], ['http://localhost'], ['x'], ['socks5://localhost', { connectTimeout: -1 }], [new URL('socks://localhost')]]) p.attempt(JSON.stringify(args), () => p.own(new Socks5ProxyAgent(...args)), value => [value.constructor.name])
    },
    'Connector: buildConnector by itself': async (p, { buildConnector }) => {
      const server = await p.serve(hello)
      const connect = buildConnector({ timeout: 1000 })
      const socket = await new Promise((resolve, reject) => { connect({ hostname: 'localhost', protocol: 'http:', port: server.port }, (error, made) => { if (error) reject(error); else resolve(made) }) })
      p.log(socket.constructor.name, socket.remoteAddress !== undefined)
      socket.destroy()
      await new Promise(resolve => { connect({ hostname: 'localhost', protocol: 'http:', port: 1 }, (error, made) => { p.log(known(error), made); resolve() }) })
      p.attempt('a size that is none', () => buildConnector({ maxCachedSessions: -1 }), value => [typeof value])
    },
    'expectContinue over HTTP/2, beside no body': async (p, { Client }) => {
      const server = http2.createServer((request, response) => { request.resume().on('end', () => { response.end(`${request.method} ${request.headers.expect ?? 'none'}`) }) })
      server.on('checkContinue', (request, response) => {
        response.writeContinue()
        server.emit('request', request, response)
      })
      await once(server.listen(0, 'localhost'), 'listening')
      p.stage.closers.push(() => { server.close() })
      const client = p.own(new Client(`http://localhost:${server.address().port}`, { allowH2: true, useH2c: true }))
      for (const method of ['GET', 'DELETE', 'POST']) await p.settle(method, client.request({ path: '/', method, expectContinue: true }).then(textOf))
      await client.close()
    },
    'H2CClient': async (p, { H2CClient }) => {
      const server = http2.createServer((request, response) => { response.end(`${request.method} ${request.httpVersion}`) })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const client = new H2CClient(`http://localhost:${server.address().port}`)
      p.log(await client.request(get).then(textOf), client.constructor.name)
      await client.close()
      server.close()
      for (const [url, options] of [['https://localhost'], ['http://localhost', { pipelining: 5, maxConcurrentStreams: 1 }], ['http://localhost', { maxConcurrentStreams: 0 }], ['x'], []]) p.attempt(`${url} ${JSON.stringify(options)}`, () => p.own(new H2CClient(url, options)), value => [value.constructor.name])
    },
    'HTTP/2 in cleartext by useH2c': async p => {
      const server = http2.createServer((request, response) => { response.end(`${request.method} ${request.httpVersion}`) })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const client = p.client(`http://localhost:${server.address().port}`, { useH2c: true })
      p.log(await Promise.all([1, 2, 3].map(() => client.request(get).then(textOf))))
      await client.close()
      server.close()
    },
    'allowH2: false': async p => {
      const server = await p.stage.serveH2((request, response) => { response.end(request.httpVersion) }, { allowHTTP1: true })
      for (const allowH2 of [true, false, undefined]) p.log(allowH2, await p.client(server.url, { connect: { ca: cert }, ...allowH2 === undefined ? {} : { allowH2 } }).request(get).then(textOf))
    },
    'best practices: a client certificate that is missing': async p => {
      const { key } = await import('../../../support/certificates/certificate.mjs')
      const { default: https } = await import('node:https')
      const server = https.createServer({ key, cert, ca: cert, requestCert: true, rejectUnauthorized: false }, (request, response) => { response.end(String(request.client.authorized)) })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      for (const connect of [{ ca: cert }, { ca: cert, key, cert }, { rejectUnauthorized: false }, {}, { ca: cert, servername: 'other.test' }]) await p.client(`https://localhost:${server.address().port}`, { connect }).request(get).then(textOf).then(text => { p.log(Object.keys(connect).join(), text) }, error => { p.log(Object.keys(connect).join(), error.code, error.name) })
      server.closeAllConnections()
      server.close()
    },
    'best practices: fetch of Node.js with a dispatcher': async p => {
      const server = await p.serve(hello)
      await p.settle('fetch', globalThis.fetch(server.url, { dispatcher: p.agent() }).then(response => response.text()))
    }
  })
}

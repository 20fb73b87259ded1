// Programs after the subjects of undici's own suite: why connections end, servers that answer early, what handlers are called with,
// bodies and their listeners, and what fetch sends and takes.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { after, get, known, programs, textOf } from '../page.mjs'
import { cert } from '../stage.mjs'

/** A server that answers each request with a text. */
const answering = (p, text) => p.stage.serveRaw(socket => { socket.on('data', () => { socket.write(text) }) })
/** Why the connection of a client ended that has had an answer. */
const endOf = async (p, server, options, request = get) => {
  const client = p.client(server.url, options)
  await client.request(request).then(answer => answer.body.dump())
  const [, , error] = await once(client, 'disconnect')
  return known(error)
}
/** Logs the calls of a handler; resolves behind the last one. */
const dispatched = (p, dispatcher, options) => new Promise(resolve => {
  dispatcher.dispatch(options, {
    onRequestStart () {},
    onBodySent (piece) { p.log('sent', typeof piece, String(piece)) },
    onRequestSent () { p.log('all sent') },
    onResponseStart (controller, status) { p.log('head', status) },
    onResponseData () {},
    onResponseEnd () { p.log('end'); resolve() },
    onResponseError (controller, error) { p.log(known(error)); resolve() }
  })
})
const ok = (fields, version = '1.1') => `HTTP/${version} 200 OK\r\n${fields}\r\n\r\n`

export default programs({
  'ends: by a field of the answer': async p => {
    for (const field of ['close', 'Close', 'close, x']) p.log(field, await endOf(p, await answering(p, ok(`Content-Length: 0\r\nConnection: ${field}`))))
    p.log('chunked', await endOf(p, await answering(p, `${ok('Transfer-Encoding: chunked\r\nConnection: close')}0\r\n\r\n`)))
    p.log('1.0', await endOf(p, await answering(p, ok('Content-Length: 0', '1.0'))))
  },
  'ends: by a field and the end of the server': async p => {
    const server = await p.stage.serveRaw(socket => { socket.on('data', () => { socket.end(`${ok('Connection: close')}the body`) }) })
    p.log(await endOf(p, server))
  },
  'ends: by the request': async p => {
    const server = await p.serve((request, response) => { response.end('a') })
    p.log(await endOf(p, server, {}, { ...get, reset: true }))
    p.log(await endOf(p, server, {}, { ...get, headers: { connection: 'close' } }))
    p.log(await endOf(p, server, { pipelining: 0 }))
  },
  'ends: by a hint that leaves no time': async p => {
    for (const hint of ['timeout=1', 'timeout=2s', 'timeout=2']) p.log(hint, await endOf(p, await answering(p, ok(`Content-Length: 0\r\nKeep-Alive: ${hint}`))))
    p.log('a threshold', await endOf(p, await answering(p, ok('Content-Length: 0\r\nKeep-Alive: timeout=30')), { keepAliveTimeoutThreshold: 30_000 }))
  },
  'ends: of an idle connection': async p => {
    p.log(await endOf(p, await answering(p, ok('Content-Length: 0')), { keepAliveTimeout: 30 }))
    p.log(await endOf(p, await answering(p, ok('Content-Length: 0\r\nKeep-Alive: timeout=30')), { keepAliveMaxTimeout: 30 }))
    const server = await p.stage.serveH2((request, response) => { response.end('a') })
    p.log(await endOf(p, server, { keepAliveTimeout: 30, connect: { ca: cert } }))
  },
  'ends: without close_notify, of a body that the end delimits': async p => {
    const server = await p.stage.serveH2((request, response) => {
      const { socket } = response
      socket.write(`${ok('Content-Type: text/plain')}the body`, () => { socket.destroy() })
    }, { allowHTTP1: true })
    await p.settle('body', p.client(server.url, { connect: { ca: cert }, allowH2: false }).request(get).then(textOf))
  },
  'connections: of requests one after another': async (p, { Client, Pool, Agent }) => {
    for (const Dispatcher of [Client, Pool, Agent]) {
      const server = await p.serve((request, response) => { response.end('a') })
      const dispatcher = p.own(Dispatcher === Agent ? new Agent() : new Dispatcher(server.url))
      for (let request = 0; request < 6; request++) await dispatcher.request({ ...get, origin: server.url }).then(textOf)
      p.log(Dispatcher.name, server.counts.sockets)
    }
  },
  'connections: that resume a TLS session': async p => {
    const server = await p.stage.serveH2((request, response) => { response.end('a') }, { allowHTTP1: true })
    const resumed = []
    server.server.on('secureConnection', socket => { resumed.push(socket.isSessionReused()) })
    const client = p.client(server.url, { connect: { ca: cert }, allowH2: false })
    for (let request = 0; request < 4; request++) await client.request({ ...get, reset: true }).then(textOf)
    p.log(resumed)
  },
  'sockets: of an upgrade and of a CONNECT, and how they closed': async p => {
    const ends = {
      'the server ends': (socket, peer) => { peer.end() },
      'the server resets': (socket, peer) => { peer.resetAndDestroy() },
      'destroyed': socket => { socket.destroy() },
      'destroyed with an error': socket => { socket.destroy(new Error('why')) }
    }
    for (const [name, end] of Object.entries(ends)) {
      for (const call of ['upgrade', 'connect']) {
        let peer
        const server = await p.stage.serveRaw(socket => {
          peer = socket
          socket.once('data', () => { socket.write(call === 'upgrade' ? 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n' : 'HTTP/1.1 200 OK\r\n\r\n') })
        })
        const { socket } = await p.client(server.url)[call]({ path: call === 'upgrade' ? '/' : 'a.test:80', protocol: 'x' })
        socket.on('error', () => {}).resume()
        const closed = new Promise(resolve => { socket.on('close', (...values) => { resolve(values) }) })
        end(socket, peer)
        p.log(call, name, await closed)
      }
    }
  },
  'limits: maxHeaderSize, with many small fields': async p => {
    // Names and values have 2,000 bytes, and with what is between them the head has some 3,000.
    const server = await answering(p, ok(`Content-Length: 0\r\n${'x-ab: 1234\r\n'.repeat(250).trim()}`))
    for (const maxHeaderSize of [1_000, 2_100, 4_000]) {
      await p.settle(maxHeaderSize, p.client(server.url, { maxHeaderSize }).request(get).then(answer => answer.headers['x-ab'].length))
    }
  },
  'calls: without a method': async p => {
    const server = await p.serve((request, response) => { response.end(request.method) })
    await p.settle('request', p.client(server.url).request({ path: '/' }).then(textOf))
  },
  'ends: of a request that is given up': async p => {
    const server = await p.serve((request, response) => { response.write('a') })
    const client = p.client(server.url)
    const ended = once(client, 'disconnect')
    const { body } = await client.request(get)
    body.on('error', () => {}).destroy()
    p.log(known((await ended)[2]))
  },
  'early: a server that answers before it reads': async p => {
    for (const text of [`${ok('Connection: close')}the body`, `${ok('Content-Length: 2')}hi`, `${ok('Transfer-Encoding: chunked')}2\r\nhi\r\n0\r\n\r\n`]) {
      const server = await p.stage.serveRaw(socket => { socket.write(text); socket.on('data', () => { if (text.includes('close')) socket.end() }) })
      await p.settle('request', p.client(server.url).request(get).then(textOf))
      p.log(server.counts.sockets)
    }
  },
  'handlers: onBodySent of what a source gives': async p => {
    const server = await p.serve((request, response) => { request.resume().on('end', () => { response.end('ok') }) })
    for (const body of [Readable.from(['he', 'llo', 'ß']), ['he', 'llo'], (function * () { yield 'a'; yield Buffer.from('b') })()]) await dispatched(p, p.pool(server.url), { path: '/', method: 'POST', body })
  },
  'bodies: listeners that are added beside text()': async p => {
    const server = await p.serve((request, response) => { response.end('{"a":true}') })
    const { body } = await p.client(server.url).request(get)
    const text = body.text()
    let seen = ''
    body.on('data', piece => { seen += piece })
    const ended = once(body, 'end')
    p.log(await text)
    await ended
    p.log('end', seen)
  },
  'failures: the body of the request, the callback': async p => {
    const server = await p.serve((request, response) => { request.on('error', () => {}).once('data', () => { response.destroy() }) })
    const client = p.client(server.url)
    const body = new Readable({ read () {} })
    body.push('asd')
    body.on('error', error => { p.log('body', error.code) })
    await new Promise(resolve => { client.request({ path: '/', method: 'POST', body }, error => { p.log('callback', error.code); resolve() }) })
  },
  'failures: statistics behind them': async p => {
    const server = await p.stage.serveH2((request, response) => { response.write('a') })
    const client = p.client(server.url, { bodyTimeout: 20, connect: { ca: cert } })
    const { body } = await client.request(get)
    await body.text().catch(error => { p.log(error.name, error.code) })
    const { connected, pending, running, size } = client.stats
    p.log(connected, pending, running, size)
  },
  'interceptors: the cache in front of redirects': p => {
    const { Agent, interceptors: { cache, redirect, dump } } = p.module
    for (const composed of [[cache(), redirect()], [cache(), dump(), redirect()], [redirect(), cache()], [cache()]]) {
      try {
        p.own(new Agent()).compose(composed)
        p.log('composed')
      } catch (error) {
        p.log(error.name, error.code)
      }
    }
  },
  'fetch: an empty query': async p => {
    const server = await p.serve((request, response) => { response.end(request.url) })
    for (const path of ['/a?', '/a?#b', '/a#?', '/a', '?', '/a?b', '/a??']) p.log(path, await p.module.fetch(server.url + path, { dispatcher: p.agent() }).then(answer => answer.text()))
  },
  'fetch: metadata for origins that are not trusted': async p => {
    const { MockAgent, fetch } = p.module
    const agent = p.own(new MockAgent({ enableCallHistory: true }))
    agent.disableNetConnect()
    for (const origin of ['http://example.test', 'https://example.test', 'http://192.168.0.1', 'http://localhost', 'http://a.localhost', 'http://127.0.0.1:81', 'http://[::1]']) {
      for (const headers of [{}, { 'x-a': 'b' }]) {
        agent.get(origin).intercept({ path: '/' }).reply(200, 'ok')
        await fetch(origin, { dispatcher: agent, headers }).then(answer => answer.text())
        p.log(origin, agent.getCallHistory().lastCall().headers['sec-fetch-mode'] ?? 'none')
      }
    }
  },
  'fetch: bytes whose memory is gone': async p => {
    const bytes = new TextEncoder().encode('test')
    bytes.buffer.transfer()
    p.log(await new p.module.Response(bytes).text())
  },
  'fetch: forms with a byte order mark, and with a preamble': async p => {
    const { Response } = p.module
    const pairs = form => JSON.stringify([...form])
    p.log(pairs(await new Response('\uFEFFa=\uFEFF', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }).formData()))
    p.log(pairs(await new Response('?a=b', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }).formData()))
    const part = '--x\r\nContent-Disposition: form-data; name="k"\r\n\r\nv\r\n--x--'
    for (const before of ['', '\r\n', 'a preamble\r\n', 'a--x\r\n\r\n']) await p.settle(JSON.stringify(before), new Response(before + part, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData().then(pairs))
  },
  'fetch: settings and receivers': p => {
    const { Request, Response } = p.module
    for (const integrity of [null, undefined, '', 'a']) p.log(new Request('http://a', { integrity }).integrity)
    for (const [of, name] of [[Request, 'url'], [Request, 'signal'], [Request, 'body'], [Response, 'status'], [Response, 'headers'], [Response, 'bodyUsed']]) {
      try {
        p.log(of.prototype[name])
      } catch (error) {
        p.log(of.name, name, error.name, error.code, error.message)
      }
    }
  },
  'fetch: a referrer among the fields': async p => {
    const server = await p.serve((request, response) => { response.end(request.rawHeaders.filter((_, at) => at % 2 === 0).join(' ')) })
    p.log(await p.module.fetch(server.url, { dispatcher: p.agent(), referrer: 'http://a.test/b', referrerPolicy: 'unsafe-url' }).then(answer => answer.text()))
    await after(1)
  }
})

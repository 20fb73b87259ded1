// Client: its options, its events and how it ends.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { turns } from '../stage.mjs'
import { after, get, hello, known, onVersions, portless, programs, textOf, VERSIONS } from '../page.mjs'

const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain']
const watch = (p, client) => { for (const event of EVENTS) client.on(event, (origin, targets, error) => { p.log(event, targets?.length, targets?.[0] === client, error === undefined ? '' : known(error)) }) }

export default {
  ...onVersions(VERSIONS, {
    'events: one exchange, and close': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      watch(p, client)
      p.log(await client.request(get).then(textOf))
      await client.close()
      p.log('closed')
      await turns(5)
    },
    'events: destroy without a request': async p => {
      const client = p.client('http://localhost:1')
      watch(p, client)
      await client.destroy()
      p.log('destroyed')
      await turns(5)
    },
    'events: destroy behind an exchange': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      watch(p, client)
      await client.request(get).then(textOf)
      await client.destroy()
      p.log('destroyed')
      await turns(5)
    },
    'events: a server that ends the connection': async p => {
      const server = await p.serve((request, response) => { response.end('x') })
      const client = p.client(server.url)
      watch(p, client)
      const sockets = []
      server.server.on('connection', socket => { sockets.push(socket) })
      await client.request(get).then(textOf)
      const gone = once(client, 'disconnect')
      for (const socket of sockets) socket.destroy()
      await gone
      p.log(client.closed, client.destroyed)
      p.log(await client.request(get).then(textOf))
      await turns(5)
    },
    'two hundred requests in order of their answers': async p => {
      const server = await p.serve((request, response) => { response.end(request.url) })
      const client = p.client(server.url)
      const order = []
      await Promise.all(Array.from({ length: 200 }, (_, at) => client.request({ path: `/${at}`, method: 'GET' }).then(textOf).then(text => { order.push(text) })))
      p.log(order.length, order.every((text, at) => text === `/${at}`))
    },
    'headersTimeout': async (p, { errors }) => {
      const server = await p.serve(() => {})
      const client = p.client(server.url, { headersTimeout: 100 })
      await client.request(get).catch(error => { p.log(error.name, error.code, error instanceof errors.HeadersTimeoutError) })
    },
    'headersTimeout: of the request': async p => {
      const server = await p.serve(() => {})
      const client = p.client(server.url)
      await client.request({ ...get, headersTimeout: 100 }).catch(error => { p.log(error.name, error.code) })
    },
    'bodyTimeout': async (p, { errors }) => {
      const server = await p.serve((request, response) => { response.write('begin') })
      const client = p.client(server.url, { bodyTimeout: 100 })
      const { body } = await client.request(get)
      await body.text().catch(error => { p.log(error.name, error.code, error instanceof errors.BodyTimeoutError) })
    },
    'bodyTimeout: does not run while the reader pauses': async p => {
      const server = await p.serve((request, response) => { response.end(Buffer.alloc(1_000_000)) })
      const client = p.client(server.url, { bodyTimeout: 1000 })
      const { body } = await client.request(get)
      await after(1500)
      let bytes = 0
      for await (const piece of body) bytes += piece.length
      p.log(bytes)
    },
    'maxResponseSize': async (p, { errors }) => {
      const server = await p.serve((request, response) => { response.end('x'.repeat(Number(request.url.slice(1)))) })
      const client = p.client(server.url, { maxResponseSize: 10 })
      for (const size of [9, 10, 11]) await p.settle(size, client.request({ path: `/${size}`, method: 'GET' }).then(textOf))
      await client.request({ path: '/11', method: 'GET' }).then(textOf).catch(error => { p.log(error instanceof errors.ResponseExceededMaxSizeError) })
    },
    'maxHeaderSize': async p => {
      const server = await p.serve((request, response) => { response.setHeader('x-long', 'a'.repeat(20_000)); response.end('x') })
      for (const maxHeaderSize of [undefined, 1000, 40_000]) {
        const client = p.client(server.url, maxHeaderSize === undefined ? {} : { maxHeaderSize })
        await client.request(get).then(textOf).then(text => { p.log(maxHeaderSize, text) }, error => { p.log(maxHeaderSize, p.version === 'h1' ? error.code : 'failed') })
      }
    },
    'maxRequestsPerClient': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url, { maxRequestsPerClient: 2 })
      for (let at = 0; at < 4; at++) await client.request(get).then(textOf)
      p.log(p.version === 'h1' ? server.counts.sockets : 'some')
    },
    'strictContentLength: a body of another length': async p => {
      const server = await p.serve((request, response) => { request.on('error', () => {}).resume().on('end', () => { response.end('x') }) })
      for (const [length, body] of [[3, 'four'], [5, 'four'], [4, 'four']]) {
        await p.settle(`${length} text`, p.client(server.url).request({ path: '/', method: 'POST', headers: { 'content-length': length }, body }).then(textOf))
        await p.settle(`${length} stream`, p.client(server.url).request({ path: '/', method: 'POST', headers: { 'content-length': length }, body: Readable.from([Buffer.from(body)]) }).then(textOf))
      }
    },
    'reset closes the connection behind a request': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url)
      for (let at = 0; at < 3; at++) await client.request({ ...get, reset: true }).then(textOf)
      p.log(p.version === 'h1' ? server.counts.sockets : 'some')
    },
    'close with requests in line': async p => {
      const server = await p.serve((request, response) => { response.end(request.url) })
      const client = p.client(server.url)
      const calls = [1, 2, 3].map(at => client.request({ path: `/${at}`, method: 'GET' }).then(textOf).then(text => { p.log(text) }))
      const closed = client.close().then(() => { p.log('closed') })
      await Promise.all([...calls, closed])
    },
    'destroy in the callback of a request': async p => {
      const server = await p.serve((request, response) => { response.write('begin') })
      const client = p.client(server.url)
      await new Promise(resolve => {
        client.request(get, (error, { body }) => {
          p.log(error, typeof body)
          body.on('error', failure => { p.log('body', known(failure)) }).resume()
          client.destroy(new Error('enough'), (...args) => { p.log('destroyed', ...args); resolve() })
        })
      })
    },
    'a server that answers before the body is sent': async p => {
      const server = await p.serve((request, response) => { response.statusCode = 413; response.end('too much') })
      const client = p.client(server.url)
      const body = new Readable({ read () {} })
      body.push('begin')
      const { statusCode, body: answer } = await client.request({ path: '/', method: 'POST', body })
      p.log(statusCode, await answer.text().catch(known))
      await turns(3)
      body.destroy()
    },
    'interim answers': async p => {
      const server = await p.serve((request, response) => { response.writeEarlyHints({ link: '</a>; rel=preload' }); response.writeEarlyHints({ link: '</b>; rel=preload' }); response.end('x') })
      const client = p.client(server.url)
      p.log(await client.request({ ...get, onInfo: ({ statusCode, headers }) => { p.log(statusCode, headers.link) } }).then(textOf))
    },
    'trailers': async p => {
      const server = await p.serve((request, response) => { response.setHeader('trailer', 'x-sum'); response.write('x'); response.addTrailers({ 'x-sum': '1' }); response.end() })
      const client = p.client(server.url)
      const { body, trailers } = await client.request(get)
      p.log(await body.text(), JSON.stringify(trailers))
    },
    'HEAD': async p => {
      const server = await p.serve((request, response) => { response.setHeader('content-length', '100'); response.end() })
      const client = p.client(server.url)
      const { headers, body } = await client.request({ path: '/', method: 'HEAD' })
      p.log(headers['content-length'], (await body.text()).length)
    },
    'a request from the callback of another': async p => {
      const server = await p.serve((request, response) => { response.end(request.url) })
      const client = p.client(server.url)
      await new Promise(resolve => {
        client.request({ path: '/1', method: 'GET' }, (error, one) => {
          client.request({ path: '/2', method: 'GET' }, async (failure, two) => { p.log('two', await two.body.text()); resolve() })
          one.body.text().then(text => { p.log('one', text) })
        })
      })
    }
  }),
  ...programs({
    'options: each with a value that is none': async (p, { Client }) => {
      const none = { keepAlive: true, timeout: 1, socketTimeout: 1, requestTimeout: 1, idleTimeout: 1, keepAliveTimeout: 0, keepAliveMaxTimeout: 0, keepAliveTimeoutThreshold: 'a', headersTimeout: -1, bodyTimeout: -1, connectTimeout: -1, connect: 'x', maxHeaderSize: 0, maxResponseSize: -2, maxRequestsPerClient: -1, localAddress: 'x', socketPath: 5, autoSelectFamily: 'x', allowH2: 'x', maxConcurrentStreams: 0, pipelining: -1, strictContentLength: 'x', maxKeepAliveTimeout: 5, useH2c: 'x', initialWindowSize: 0, connectionWindowSize: 0, pingInterval: -1, autoSelectFamilyAttemptTimeout: 0, preferH2: 'x', h2Options: 'x' }
      for (const [name, value] of Object.entries(none)) p.attempt(`${name} ${value}`, () => p.own(new Client('http://localhost', { [name]: value })), made => [made.constructor.name])
    },
    'URLs': async (p, { Client }) => {
      for (const url of ['http://localhost', 'https://localhost', 'HTTP://LOCALHOST', 'http://localhost/', 'http://localhost/a', 'http://localhost?a', 'http://localhost#a', 'ftp://localhost', 'localhost', '', null, undefined, 5, {}, { origin: 'http://localhost' }, { protocol: 'http:', hostname: 'localhost', port: 80 }, { hostname: 'localhost' }, { protocol: 'http:', hostname: 'localhost', port: 'x' }, new URL('http://user:pass@localhost'), 'http://localhost:99999']) p.attempt(typeof url === 'object' ? JSON.stringify(url) : String(url), () => p.own(new Client(url)), made => [made.constructor.name])
    },
    'pipelining over one connection': async p => {
      const seen = []
      const server = await p.serve((request, response) => { seen.push(request.url); setTimeout(() => { response.end(request.url) }, 10) })
      const client = p.client(server.url, { pipelining: 4 })
      p.log(await Promise.all([1, 2, 3, 4].map(at => client.request({ path: `/${at}`, method: 'GET' }).then(textOf))))
      p.log(seen, server.counts.sockets)
    },
    'pipelining: a POST waits': async p => {
      const seen = []
      const server = await p.serve((request, response) => { seen.push(`${request.method} ${request.url}`); setTimeout(() => { seen.push(`answer ${request.url}`); response.end('x') }, 10) })
      const client = p.client(server.url, { pipelining: 4 })
      await Promise.all(['GET', 'POST', 'GET', 'DELETE'].map((method, at) => client.request({ path: `/${at}`, method }).then(textOf)))
      p.log(seen)
    },
    'keepAliveTimeout': async p => {
      const server = await p.serve(hello)
      const client = p.client(server.url, { keepAliveTimeout: 50 })
      await client.request(get).then(textOf)
      const [, , error] = await once(client, 'disconnect')
      p.log(known(error))
      await client.request(get).then(textOf)
      p.log(server.counts.sockets)
    },
    'a connection that the server closes by a field': async p => {
      const server = await p.serve((request, response) => { response.setHeader('connection', 'close'); response.end('x') })
      const client = p.client(server.url)
      const gone = once(client, 'disconnect')
      await client.request(get).then(textOf)
      const [, , error] = await gone
      p.log(known(error))
      await client.request(get).then(textOf)
      p.log(server.counts.sockets)
    },
    'connect.timeout': async (p, { errors }) => {
      const client = p.client('http://10.255.255.1', { connect: (options, done) => { setTimeout(() => { done(new errors.ConnectTimeoutError('late'), null) }, 10) } })
      await p.settle('request', client.request(get))
    },
    'localAddress': async p => {
      const server = await p.serve((request, response) => { response.end(request.socket.remoteAddress) })
      p.log(await p.client(server.url.replace('localhost', '127.0.0.1'), { localAddress: '127.0.0.2' }).request(get).then(textOf))
    },
    'socketPath that is not there': async p => {
      await p.client('http://localhost', { socketPath: '/nowhere/at.sock' }).request(get).catch(error => { p.log(error.name, error.code, error.syscall, error.message) })
    },
    'what comes over a connection that no request has': async p => {
      const server = await p.stage.serveRaw(socket => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n') })
      const client = p.client(server.url)
      await client.request(get).then(textOf).then(text => { p.log('got', text) }, error => { p.log(portless(known(error))) })
    },
    'expectContinue and expect': async p => {
      const server = await p.serve((request, response) => { request.resume().on('end', () => { response.end('x') }) })
      await p.settle('expect', p.client(server.url).request({ path: '/', method: 'POST', body: 'x', headers: { expect: '100-continue' } }).then(textOf))
      await p.settle('expectContinue', p.client(server.url).request({ path: '/', method: 'POST', body: 'x', expectContinue: 'x' }).then(textOf))
    },
    'blocking': async p => {
      const order = []
      const server = await p.serve((request, response) => { order.push(request.url); setTimeout(() => { order.push(`answer ${request.url}`); response.end('x') }, 20) })
      const client = p.client(server.url, { pipelining: 3 })
      await Promise.all([client.request({ path: '/1', method: 'GET', blocking: true }).then(textOf), client.request({ path: '/2', method: 'GET' }).then(textOf)])
      p.log(order)
    },
    'HTTP/2 over a TLS port with useH2c': async p => {
      const server = await p.stage.serveH2(hello)
      const client = p.client(server.url.replace('https', 'http'), { useH2c: true, headersTimeout: 3000 })
      await client.request(get).then(textOf).then(text => { p.log(text) }, error => { p.log('failed', error instanceof Error) })
    }
  })
}

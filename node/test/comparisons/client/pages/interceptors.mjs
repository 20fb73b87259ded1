// The interceptors of undici over a dispatcher, RedirectHandler, RetryHandler and RetryAgent.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { Readable } from 'node:stream'
import { fieldsOf, get, hello, known, onVersions, portless, programs, textOf, VERSIONS } from '../page.mjs'

const chain = (request, response) => {
  const at = Number(request.url.slice(1))
  const body = []
  request.on('data', piece => { body.push(piece) }).on('end', () => {
    if (at > 0) return response.writeHead(302, { location: `/${at - 1}` }).end('moved')
    response.end(`${request.method} ${Buffer.concat(body)} ${request.headers.authorization ?? '-'} ${request.headers['content-type'] ?? '-'}`)
  })
}
const lines = answer => [answer.statusCode, fieldsOf(answer.headers), JSON.stringify(answer.context?.history?.map(url => new URL(url).pathname))]

export default {
  ...onVersions(VERSIONS, {
    'redirect: numbers of hops': async (p, { interceptors }) => {
      const server = await p.serve(chain)
      const client = p.client(server.url).compose(interceptors.redirect({ maxRedirections: 2 }))
      for (const hops of [0, 1, 2, 3]) await p.settle(hops, client.request({ path: `/${hops}`, method: 'GET' }).then(async answer => [...lines(answer), await answer.body.text()]), value => value)
      await p.settle('own', client.request({ path: '/3', method: 'GET', maxRedirections: 5 }).then(async answer => [...lines(answer), await answer.body.text()]), value => value)
    },
    'redirect: throwOnMaxRedirect': async (p, { interceptors, errors }) => {
      const server = await p.serve(chain)
      const client = p.client(server.url).compose(interceptors.redirect({ maxRedirections: 1, throwOnMaxRedirect: true }))
      await p.settle('two', client.request({ path: '/2', method: 'GET' }).then(textOf))
      await client.request({ path: '/2', method: 'GET' }).catch(error => { p.log(error instanceof errors.UndiciError) })
    },
    'redirect: statuses and methods': async (p, { interceptors }) => {
      const server = await p.serve((request, response) => {
        const [, status] = request.url.split('/')
        request.resume().on('end', () => { if (status === 'end') response.end(`${request.method} ${request.headers['content-length'] ?? '-'}`); else response.writeHead(Number(status), { location: '/end' }).end() })
      })
      const client = p.client(server.url).compose(interceptors.redirect({ maxRedirections: 3 }))
      for (const status of [300, 301, 302, 303, 304, 307, 308]) {
        for (const method of ['GET', 'POST', 'HEAD']) await p.settle(`${status} ${method}`, client.request({ path: `/${status}`, method, ...method === 'POST' ? { body: 'body' } : {} }).then(async answer => [answer.statusCode, await answer.body.text()]), value => value)
      }
    },
    'redirect: a body that is a stream': async (p, { interceptors }) => {
      const server = await p.serve((request, response) => { request.resume().on('end', () => { response.writeHead(request.url === '/end' ? 200 : 307, { location: '/end' }).end('x') }) })
      const client = p.client(server.url).compose(interceptors.redirect({ maxRedirections: 3 }))
      await p.settle('a Readable', client.request({ path: '/', method: 'POST', body: Readable.from(['a']) }).then(async answer => [answer.statusCode, await answer.body.text()]), value => value)
      await p.settle('a generator', client.request({ path: '/', method: 'POST', body: (async function * () { yield 'a' })() }).then(async answer => [answer.statusCode, await answer.body.text()]), value => value)
    },
    'redirect: another origin': async (p, { interceptors }) => {
      const seen = []
      const there = await p.serve((request, response) => { seen.push(['authorization', 'cookie', 'x-own', 'host'].map(name => name in request.headers)); response.end('there') })
      const here = await p.serve((request, response) => { response.writeHead(302, { location: `${there.url}/a` }).end() })
      const agent = p.agent().compose(interceptors.redirect({ maxRedirections: 1, stripHeadersOnCrossOriginRedirect: ['x-own'] }))
      p.log(await agent.request({ origin: here.url, ...get, headers: { authorization: 'a', cookie: 'b', 'x-own': 'c' } }).then(textOf), seen)
    },
    'redirect: places that are none': async (p, { interceptors }) => {
      const server = await p.serve((request, response) => { response.writeHead(302, request.url === '/none' ? {} : { location: decodeURIComponent(request.url.slice(1)) }).end('x') })
      const client = p.client(server.url).compose(interceptors.redirect({ maxRedirections: 1 }))
      for (const path of ['/none', '/http%3A%2F%2F', '/%3A%3A']) await p.settle(path, client.request({ path, method: 'GET' }).then(async answer => [answer.statusCode, await answer.body.text()]), value => value)
    },
    'RedirectHandler: by hand': async (p, { RedirectHandler }) => {
      const server = await p.serve(chain)
      const client = p.client(server.url)
      const options = { path: '/2', method: 'GET', origin: server.url, maxRedirections: 5 }
      await new Promise(resolve => {
        const handler = { onRequestStart: (controller, context) => { p.log('start', Object.keys(context ?? {}).join()) }, onResponseStart: (controller, status) => { p.log('head', status) }, onResponseData: (controller, piece) => { p.log(String(piece)) }, onResponseEnd: () => { p.log('end'); resolve() }, onResponseError: (controller, error) => { p.log(known(error)); resolve() } }
        p.attempt('made', () => client.dispatch(options, new RedirectHandler(client.dispatch.bind(client), 5, options, handler)))
      })
      p.attempt('a bound that is none', () => new RedirectHandler(() => {}, -1, options, {}))
    },
    'retry: statuses, and the fields of an error': async (p, { interceptors, errors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { asked++; response.writeHead(request.url === '/2' && asked > 2 ? 200 : 503, { 'x-a': 'b' }).end('sorry') })
      const client = p.client(server.url).compose(interceptors.retry({ maxRetries: 2, minTimeout: 1, maxTimeout: 2 }))
      p.log(await client.request({ path: '/2', method: 'GET' }).then(textOf), asked)
      asked = 0
      await client.request({ path: '/always', method: 'GET' }).then(async answer => { p.log(answer.statusCode, await answer.body.text()) }, error => { p.log(known(error), error.statusCode, JSON.stringify(error.data), error.headers?.['x-a'], error instanceof errors.RequestRetryError) })
      p.log(asked)
    },
    'retry: methods and statuses that are not repeated': async (p, { interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { asked++; response.writeHead(Number(request.url.slice(1))).end('x') })
      const client = p.client(server.url).compose(interceptors.retry({ maxRetries: 1, minTimeout: 1, maxTimeout: 2 }))
      for (const [method, status] of [['GET', 500], ['GET', 404], ['GET', 429], ['POST', 503], ['PUT', 503], ['DELETE', 502], ['PATCH', 503], ['GET', 504]]) {
        asked = 0
        await client.request({ path: `/${status}`, method }).then(async answer => { p.log(method, status, answer.statusCode, await answer.body.text(), asked) }, error => { p.log(method, status, known(error), asked) })
      }
    },
    'retry: Retry-After': async (p, { interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { if (++asked === 1) response.writeHead(429, { 'retry-after': '1' }).end(); else response.end('ok') })
      const began = Date.now()
      const client = p.client(server.url).compose(interceptors.retry({ maxRetries: 1, minTimeout: 1 }))
      p.log(await client.request(get).then(textOf), Date.now() - began >= 990)
    },
    'retry: a connection that is lost before the head': async (p, { interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { if (++asked < 3) (request.stream?.session ?? request.socket).destroy(); else response.end('ok') })
      const client = p.client(server.url).compose(interceptors.retry({ maxRetries: 3, minTimeout: 1, maxTimeout: 2 }))
      p.log(await client.request(get).then(textOf), asked)
    },
    'retry: goes on where a body broke': async (p, { interceptors }) => {
      const ranges = []
      const server = await p.serve((request, response) => {
        ranges.push(request.headers.range ?? '-', request.headers['if-match'] ?? '-')
        if (request.headers.range === undefined) {
          response.writeHead(200, { etag: '"a"', 'content-length': 10 })
          response.write('hello', () => { setTimeout(() => { (request.stream?.session ?? request.socket).destroy() }, 20) })
        } else response.writeHead(206, { etag: '"a"', 'content-range': 'bytes 5-9/10', 'content-length': 5 }).end('world')
      })
      const client = p.client(server.url).compose(interceptors.retry({ maxRetries: 3, minTimeout: 1, maxTimeout: 2 }))
      const { statusCode, body } = await client.request(get)
      p.log(statusCode, await body.text().catch(known), ranges)
    },
    'RetryAgent: options of the constructor, and of a request': async (p, { RetryAgent }) => {
      let asked = 0
      const server = await p.serve((request, response) => { asked++; response.writeHead(418).end('tea') })
      const agent = p.own(new RetryAgent(p.agent(), { maxRetries: 2, minTimeout: 1, maxTimeout: 2, statusCodes: [418], methods: ['GET'], throwOnError: false }))
      const { statusCode, body } = await agent.request({ ...get, origin: server.url })
      p.log(statusCode, await body.text(), asked)
      await agent.close()
    },
    'RetryHandler: a retry of its own': async (p, { RetryHandler }) => {
      const server = await p.serve((request, response) => { response.writeHead(503).end('x') })
      const client = p.client(server.url)
      await new Promise(resolve => {
        const handler = { onRequestStart () {}, onResponseStart (_, status) { p.log('head', status) }, onResponseData () {}, onResponseEnd () { p.log('end'); resolve() }, onResponseError (_, error) { p.log(known(error)); resolve() } }
        const retry = (error, { state, opts }, done) => { p.log('retry', state.counter, error.statusCode, opts.method); if (state.counter >= 2) return done(error); setTimeout(done, 1) }
        client.dispatch(get, new RetryHandler({ ...get, retryOptions: { retry } }, { dispatch: client.dispatch.bind(client), handler }))
      })
    },
    'dump: sizes': async (p, { interceptors }) => {
      const server = await p.serve((request, response) => { const bytes = Number(request.url.slice(1)); if (bytes > 0) response.setHeader('content-length', bytes); response.end(Buffer.alloc(bytes)) })
      const client = p.client(server.url).compose(interceptors.dump({ maxSize: 100 }))
      for (const path of ['/0', '/10', '/100', '/101']) await p.settle(path, client.request({ path, method: 'GET' }).then(async answer => [answer.statusCode, (await answer.body.text()).length]), value => value)
      await p.settle('own', client.request({ path: '/101', method: 'GET', dumpMaxSize: 200 }).then(async answer => [answer.statusCode, (await answer.body.text()).length]), value => value)
      p.attempt('none', () => p.client(server.url).compose(interceptors.dump({ maxSize: 'a' })))
    },
    'responseError: bodies by their type': async (p, { interceptors, errors }) => {
      const server = await p.serve((request, response) => { const [, status, type] = request.url.split('/'); response.writeHead(Number(status), { 'content-type': decodeURIComponent(type) }).end('{"a":1}') })
      const client = p.client(server.url).compose(interceptors.responseError())
      for (const path of ['/200/text%2Fplain', '/404/application%2Fjson', '/500/text%2Fplain', '/400/text%2Fhtml', '/302/text%2Fplain']) {
        await client.request({ path, method: 'GET' }).then(async answer => { p.log(path, answer.statusCode, await answer.body.text()) }, error => { p.log(path, known(error), error.statusCode, error.status, error.body, error.bodyTruncated, error.headers?.['content-type'], error instanceof errors.ResponseError) })
      }
    },
    'decompress: each coding': async (p, { interceptors }) => {
      const codings = { gzip: gzipSync('hello'), 'x-gzip': gzipSync('hello'), br: brotliCompressSync('hello'), deflate: deflateSync('hello'), compress: Buffer.from('hello'), 'gzip, br': brotliCompressSync(gzipSync('hello')), identity: Buffer.from('hello') }
      const server = await p.serve((request, response) => { const coding = decodeURIComponent(request.url.slice(1)); response.writeHead(200, { 'content-encoding': coding }).end(codings[coding]) })
      const client = p.client(server.url).compose(interceptors.decompress())
      for (const coding of Object.keys(codings)) await p.settle(coding, client.request({ path: `/${encodeURIComponent(coding)}`, method: 'GET' }).then(async answer => [answer.headers['content-encoding'], await answer.body.text()]), value => value)
    },
    'decompress: what is broken, and what is too large': async (p, { interceptors }) => {
      const server = await p.serve((request, response) => { response.writeHead(request.url === '/error' ? 500 : 200, { 'content-encoding': 'gzip' }).end(request.url === '/broken' ? 'no gzip' : gzipSync('a'.repeat(10_000))) })
      const client = p.client(server.url).compose(interceptors.decompress({ maxSize: 1000 }))
      for (const path of ['/broken', '/large', '/error']) await p.settle(path, client.request({ path, method: 'GET' }).then(async answer => [answer.statusCode, (await answer.body.arrayBuffer()).byteLength]), value => value)
    },
    'dns: lookups of its own': async (p, { interceptors }) => {
      const server = await p.serve((request, response) => { response.end((request.headers.host ?? request.headers[':authority']).replace(/\d+$/, 'PORT')) })
      const looked = []
      const agent = p.agent().compose(interceptors.dns({ lookup: (origin, options, done) => { looked.push(origin.hostname); done(null, [{ address: '127.0.0.1', family: 4, ttl: 1000 }]) } }))
      for (let at = 0; at < 3; at++) p.log(await agent.request({ ...get, origin: server.url }).then(textOf))
      p.log(looked)
      const failing = p.agent().compose(interceptors.dns({ lookup: (origin, options, done) => { done(Object.assign(new Error('no name'), { code: 'ENOTFOUND' })) } }))
      await p.settle('no name', failing.request({ ...get, origin: server.url }))
    },
    'dns: an address that refuses, and the next': async (p, { interceptors }) => {
      const server = await p.serve(hello)
      const agent = p.agent({ connect: { timeout: 1000 } }).compose(interceptors.dns({ dualStack: true, affinity: 4, lookup: (origin, options, done) => { done(null, [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]) } }))
      p.log(await agent.request({ ...get, origin: server.url }).then(textOf))
    },
    'deduplicate': async (p, { interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { asked++; setTimeout(() => { response.writeHead(200, { 'x-a': String(asked) }).end('hello') }, 30) })
      const client = p.client(server.url, { pipelining: 5 }).compose(interceptors.deduplicate({ excludeHeaderNames: ['x-id'], skipHeaderNames: ['x-skip'] }))
      p.log(await Promise.all([{}, {}, { 'x-id': '1' }].map(headers => client.request({ ...get, headers }).then(textOf))), asked)
      asked = 0
      await Promise.all([{ 'x-skip': 'a' }, { 'x-skip': 'a' }].map(headers => client.request({ ...get, headers }).then(textOf)))
      p.log(asked)
      asked = 0
      await Promise.all(['GET', 'POST', 'GET', 'POST'].map(method => client.request({ path: '/', method }).then(textOf)))
      p.log(asked)
    },
    'deduplicate: one of two is aborted': async (p, { interceptors }) => {
      const server = await p.serve((request, response) => { setTimeout(() => { response.end('hello') }, 30) })
      const client = p.client(server.url).compose(interceptors.deduplicate())
      const controller = new AbortController()
      const both = [client.request({ ...get, signal: controller.signal }).then(textOf).catch(known), client.request(get).then(textOf).catch(known)]
      setTimeout(() => { controller.abort() }, 5)
      p.log(await Promise.all(both))
    }
  }),
  ...programs({
    'options that are refused': async (p, { interceptors, RetryAgent, Agent }) => {
      for (const [label, make] of Object.entries({
        'dns maxTTL': () => interceptors.dns({ maxTTL: -1 }), 'dns maxItems': () => interceptors.dns({ maxItems: 0 }), 'dns affinity': () => interceptors.dns({ affinity: 5 }), 'dns dualStack': () => interceptors.dns({ dualStack: 'x' }), 'dns lookup': () => interceptors.dns({ lookup: 5 }),
        'dedup methods': () => interceptors.deduplicate({ methods: ['POST'] }), 'dedup methods text': () => interceptors.deduplicate({ methods: 'GET' }), 'cache methods': () => interceptors.cache({ methods: ['POST'] }), 'cache store': () => interceptors.cache({ store: {} }), 'cache options': () => interceptors.cache(5),
        retry: () => interceptors.retry({ retry: 5 })
      })) p.attempt(label, () => new Agent().compose(make()), value => [typeof value])
      p.attempt('RetryAgent', () => new RetryAgent(), value => [typeof value])
    },
    'retry: a port where nothing listens': async (p, { interceptors }) => {
      const tries = []
      const client = p.client('http://127.0.0.1:1')
      const counted = client.compose(dispatch => (options, handler) => { tries.push(1); return dispatch(options, handler) }).compose(interceptors.retry({ maxRetries: 2, minTimeout: 1, maxTimeout: 2 }))
      await counted.request(get).catch(error => { p.log(portless(known(error)), tries.length) })
    },
    'retry: a time limit of the head': async (p, { interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { if (++asked > 1) response.end('ok') })
      const client = p.client(server.url, { headersTimeout: 100 }).compose(interceptors.retry({ maxRetries: 2, minTimeout: 1, maxTimeout: 2 }))
      await client.request(get).then(textOf).then(text => { p.log(text, asked) }, error => { p.log(known(error), asked) })
    }
  })
}

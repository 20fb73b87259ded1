// CacheStore, the interceptor of caches, and CacheStorage.
import { once } from 'node:events'
import { after, fieldsOf, get, hello, onVersions, programs, textOf, VERSIONS } from '../page.mjs'

/** A server that counts, and answers as the path says. */
async function counting (p, fields) {
  const counts = { asked: 0, conditional: [] }
  const server = await p.serve((request, response) => {
    counts.asked++
    counts.conditional.push(request.headers['if-none-match'] ?? request.headers['if-modified-since'] ?? '-')
    const own = fields(request)
    if (own['x-not-modified'] !== undefined && request.headers['if-none-match'] !== undefined) return response.writeHead(304, { etag: own.etag }).end()
    response.writeHead(200, own).end(`answer ${counts.asked}`)
  })
  return { server, counts }
}

export default {
  ...onVersions(VERSIONS, {
    'what is kept': async (p, { interceptors }) => {
      for (const [label, fields] of Object.entries({ 'max-age': { 'cache-control': 'max-age=60' }, 's-maxage': { 'cache-control': 's-maxage=60' }, 'no-store': { 'cache-control': 'no-store, max-age=60' }, private: { 'cache-control': 'private, max-age=60' }, 'public': { 'cache-control': 'public, max-age=60' }, none: {}, expires: { expires: new Date(Date.now() + 100_000).toUTCString() }, 'no-cache': { 'cache-control': 'no-cache' }, 'vary *': { 'cache-control': 'max-age=60', vary: '*' }, 'set-cookie': { 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }, immutable: { 'cache-control': 'max-age=60, immutable' } })) {
        const { server, counts } = await counting(p, () => fields)
        const client = p.client(server.url).compose(interceptors.cache())
        const texts = [await client.request(get).then(textOf), await client.request(get).then(textOf)]
        p.log(label, texts, counts.asked)
      }
    },
    'fields of an answer from the store': async (p, { interceptors }) => {
      const { server } = await counting(p, () => ({ 'cache-control': 'max-age=60', 'X-Own': 'a', etag: '"e"', 'x-list': ['a', 'b'] }))
      const client = p.client(server.url).compose(interceptors.cache())
      for (let at = 0; at < 2; at++) {
        const { statusCode, headers, body } = await client.request(get)
        p.log(statusCode, fieldsOf(headers), 'age' in headers, await body.text(), body.constructor.name)
      }
    },
    'Vary': async (p, { interceptors }) => {
      const { server, counts } = await counting(p, () => ({ 'cache-control': 'max-age=60', vary: 'x-a' }))
      const client = p.client(server.url).compose(interceptors.cache())
      for (const value of ['1', '1', '2', '1', undefined, undefined]) p.log(value, await client.request({ ...get, headers: value === undefined ? {} : { 'x-a': value } }).then(textOf))
      p.log(counts.asked)
    },
    'a request that says how': async (p, { interceptors }) => {
      const { server, counts } = await counting(p, () => ({ 'cache-control': 'max-age=60' }))
      const client = p.client(server.url).compose(interceptors.cache())
      for (const control of [undefined, 'no-cache', 'no-store', 'only-if-cached', 'max-age=0', 'max-stale', 'min-fresh=100']) await p.settle(control, client.request({ ...get, headers: control === undefined ? {} : { 'cache-control': control } }).then(async answer => [answer.statusCode, await answer.body.text()]), value => value)
      await p.settle('only-if-cached elsewhere', client.request({ path: '/other', method: 'GET', headers: { 'cache-control': 'only-if-cached' } }).then(async answer => [answer.statusCode, await answer.body.text()]), value => value)
      p.log(counts.asked)
    },
    'revalidation': async (p, { interceptors }) => {
      const { server, counts } = await counting(p, () => ({ 'cache-control': 'no-cache', etag: '"e"', 'x-not-modified': '1' }))
      const client = p.client(server.url).compose(interceptors.cache())
      for (let at = 0; at < 3; at++) p.log(await client.request(get).then(textOf))
      p.log(counts.asked, counts.conditional)
    },
    'stale-while-revalidate and stale-if-error': async (p, { interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { asked++; if (asked > 1 && request.url === '/error') return response.writeHead(500).end('sorry'); response.writeHead(200, { 'cache-control': request.url === '/error' ? 'max-age=1, stale-if-error=60' : 'max-age=1, stale-while-revalidate=60' }).end(`answer ${asked}`) })
      for (const path of ['/error', '/revalidate']) {
        asked = 0
        const client = p.client(server.url).compose(interceptors.cache())
        p.log(path, await client.request({ path, method: 'GET' }).then(textOf))
        await after(1100)
        p.log(path, await client.request({ path, method: 'GET' }).then(textOf))
      }
    },
    'unsafe methods drop what is kept': async (p, { interceptors }) => {
      const { server, counts } = await counting(p, () => ({ 'cache-control': 'max-age=60' }))
      const client = p.client(server.url).compose(interceptors.cache())
      for (const method of ['GET', 'POST', 'GET', 'DELETE', 'GET', 'HEAD']) p.log(method, await client.request({ path: '/', method }).then(textOf))
      p.log(counts.asked)
    },
    'a store of its own': async (p, { interceptors, cacheStores }) => {
      const inner = new cacheStores.MemoryCacheStore()
      const store = { get: key => { p.log('get', key.method, key.path, typeof key.origin); return inner.get(key) }, createWriteStream: (key, value) => { p.log('write', key.method, value.statusCode, value.statusMessage, Object.keys(value).sort().join()); return inner.createWriteStream(key, value) }, delete: key => { p.log('delete', key.path); return inner.delete(key) } }
      const { server } = await counting(p, () => ({ 'cache-control': 'max-age=60' }))
      const client = p.client(server.url).compose(interceptors.cache({ store }))
      for (const method of ['GET', 'GET', 'POST', 'GET']) p.log(await client.request({ path: '/', method }).then(textOf))
    },
    'a large body, and a reader that leaves': async (p, { interceptors }) => {
      let asked = 0
      const server = await p.serve((request, response) => { asked++; response.writeHead(200, { 'cache-control': 'max-age=60' }).end(Buffer.alloc(300_000)) })
      const client = p.client(server.url).compose(interceptors.cache())
      const { body } = await client.request(get)
      body.on('error', () => {}).destroy()
      await once(body, 'close').catch(() => {})
      for (let at = 0; at < 2; at++) p.log((await client.request(get).then(answer => answer.body.arrayBuffer())).byteLength)
      p.log(asked)
    },
    'through fetch': async (p, { interceptors, fetch }) => {
      const { server, counts } = await counting(p, () => ({ 'cache-control': 'max-age=60' }))
      const dispatcher = p.agent().compose(interceptors.cache())
      for (let at = 0; at < 3; at++) p.log(await fetch(server.url, { dispatcher }).then(response => response.text()))
      p.log(counts.asked)
    }
  }),
  ...programs({
    'MemoryCacheStore: bounds': async (p, { cacheStores }) => {
      for (const options of [{ maxSize: -1 }, { maxCount: -1 }, { maxEntrySize: 1.5 }, { maxCount: 'a' }, 5]) p.attempt(JSON.stringify(options), () => new cacheStores.MemoryCacheStore(options))
      const store = new cacheStores.MemoryCacheStore({ maxCount: 2, maxEntrySize: 100, maxSize: 1000 })
      const value = { statusCode: 200, statusMessage: '', headers: {}, cachedAt: Date.now(), staleAt: Date.now() + 10_000, deleteAt: Date.now() + 20_000, cacheControlDirectives: {} }
      for (const path of ['/1', '/2', '/3']) { const stream = store.createWriteStream({ origin: 'http://a', method: 'GET', path, headers: {} }, value); stream.end('body'); await once(stream, 'close') }
      p.log(['/1', '/2', '/3'].map(path => store.get({ origin: 'http://a', method: 'GET', path, headers: {} }) === undefined), store.size)
    },
    'CacheStorage: put, match and delete': async (p, { caches, Request, own, fetch }) => {
      const { Response } = await import('undici8')
      const cache = await caches.open('name')
      p.log(await caches.has('name'), await caches.keys())
      await p.settle('put', cache.put('http://localhost/a', new Response('kept', { headers: { 'x-a': 'b' } })))
      const found = await cache.match('http://localhost/a')
      p.log(found?.status, found?.headers.get('x-a'), await found?.text())
      p.log(await cache.match('http://localhost/b'), (await cache.keys()).map(({ url }) => url), await cache.delete('http://localhost/a'), await caches.delete('name'))
    },
    'CacheStorage: add over the global dispatcher': async (p, { caches, setGlobalDispatcher, getGlobalDispatcher }) => {
      const server = await p.serve(hello)
      const before = getGlobalDispatcher()
      setGlobalDispatcher(p.agent())
      try {
        const cache = await caches.open('added')
        await p.settle('add', cache.add(`${server.url}/a`))
        p.log(await cache.match(`${server.url}/a`).then(response => response?.text()))
      } finally {
        await caches.delete('added')
        setGlobalDispatcher(before)
      }
    }
  })
}

// The routes of the suite for web-standard handlers: (request, info). `info` is what `serve` gives;
// without it there are no trailers and no early hints.
import { BIG, digest, LARGE_VALUE, SLOW_PIECE_BYTES, SLOW_PIECES } from './sizes.mjs'
import { pathOf, wordOf } from './notes.mjs'

const turn = () => new Promise(setImmediate)

export function webRoutes (notes, Response) {
  const watch = request => {
    const word = wordOf(request.url)
    request.signal.addEventListener('abort', () => { notes.report(word, 'gone') })
    notes.report(word, 'came')
    return word
  }
  /** Reads and drops what comes of the request. */
  const drop = request => { request.arrayBuffer().catch(() => {}) }
  const streamed = pieces => new Response(new ReadableStream({
    async pull (controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(typeof value === 'string' ? Buffer.from(value) : value)
    },
    cancel () { void pieces.return() }
  }))
  const routes = {
    '/head' (request, info) {
      const { pathname, search } = new URL(request.url)
      const { headers } = request
      const version = { 'http/1.1': '1.1', h2: '2.0', h3: '3.0' }[info?.protocol]
      const body = { method: request.method, path: pathname + search, httpVersion: version, list: headers.get('x-list'), cookie: headers.get('cookie') ?? undefined, length: headers.get('x-long')?.length }
      return new Response(JSON.stringify(body), {
        headers: [['content-type', 'application/json'], ['x-list', 'a'], ['x-list', 'b'], ['set-cookie', 'c=1'], ['set-cookie', 'd=2']]
      })
    },
    '/echo': request => new Response(request.body),
    '/count': async request => new Response(String((await request.arrayBuffer()).byteLength)),
    '/digest': async request => new Response(digest(Buffer.from(await request.arrayBuffer()))),
    '/big': () => new Response(BIG),
    '/five': () => new Response('hello', { headers: { 'content-length': '5' } }),
    '/empty': () => new Response(null, { status: 204 }),
    '/unchanged': () => new Response(null, { status: 304, headers: { etag: '"a"' } }),
    '/large': () => new Response(null, { headers: { 'x-long': LARGE_VALUE } }),
    async '/trailers' (request, info) {
      const { trailers } = info
      const body = await request.arrayBuffer()
      const received = (await trailers).get('x-sent') ?? 'none'
      info.sendTrailers({ 'x-heard': received })
      return new Response(body, { headers: { trailer: 'x-heard' } })
    },
    '/trailers-before' (request, info) {
      info.sendTrailers({ 'x-sum': 'before' })
      return new Response('body', { headers: { trailer: 'x-sum' } })
    },
    '/trailers-while' (request, info) {
      return streamed((async function * () {
        yield 'bo'
        await turn()
        info.sendTrailers({ 'x-sum': 'while' })
        await turn()
        yield 'dy'
      })())
    },
    '/trailers-after' (request, info) {
      info.sendTrailers(async () => { await turn(); return { 'x-sum': 'after' } })
      return streamed((async function * () { yield 'body' })())
    },
    '/hints' (request, info) {
      info.earlyHints({ link: '</a.css>; rel=preload; as=style' })
      return new Response('styled')
    },
    '/hang' (request) {
      watch(request)
      drop(request)
      return new Promise(() => {})
    },
    '/half' (request) {
      const word = watch(request)
      drop(request)
      return streamed((async function * () {
        yield 'half'
        await notes.until(word, 'gone')
      })())
    },
    async '/unread' (request) {
      await notes.gate(watch(request)).promise
      return await routes['/count'](request)
    },
    '/early': () => new Response('early'),
    '/late' (request) {
      const word = watch(request)
      drop(request)
      return streamed((async function * () {
        yield 'begun '
        await notes.gate(word).promise
        yield 'ended'
      })())
    },
    '/breaks-while' (request) {
      watch(request)
      return streamed((async function * () {
        yield 'a part'
        await new Promise(resolve => { setTimeout(resolve, 20) })
        throw new Error('broken on purpose')
      })())
    },
    '/throws' () { throw new Error('thrown on purpose') },
    '/rejects': async () => { throw new Error('rejected on purpose') },
    '/slow' (request) {
      const word = wordOf(request.url)
      return streamed((async function * () {
        for (let piece = 0; piece < SLOW_PIECES; piece++) {
          notes.count(word)
          yield Buffer.alloc(SLOW_PIECE_BYTES)
        }
      })())
    },
    '/version': (request, info) => new Response(`HTTP/${{ 'http/1.1': '1.1', h2: '2.0', h3: '3.0' }[info?.protocol]}`),
    '/bytes/1024': () => new Response(Buffer.alloc(1024, 'x')),
    '/refuse': () => new Response('no', { status: 413 }),
    '/cut': () => streamed((async function * () {
      yield Buffer.alloc(512)
      await notes.gate('release').promise
      throw new Error('cut on purpose')
    })()),
    '/release' () {
      notes.gate('release').open()
      return new Response(null)
    },
    '/never' (request) {
      const over = new Promise(resolve => { request.signal.addEventListener('abort', resolve) })
      void over.then(() => { notes.count('gone') })
      drop(request)
      return streamed((async function * () {
        for (;;) {
          yield Buffer.alloc(16 * 1024)
          await turn()
        }
      })())
    },
    async '/gone' () {
      while (notes.counted('gone') <= notes.counted('told')) await turn()
      notes.count('told')
      return new Response('gone')
    }
  }
  return routes
}

export function fetchOf (routes, Response) {
  return (request, info) => {
    const route = routes[pathOf(request.url)]
    return route === undefined ? new Response(null, { status: 404 }) : route(request, info)
  }
}

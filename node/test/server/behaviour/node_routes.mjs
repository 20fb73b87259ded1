// The routes of the suite for handlers of node:http and of the compatible API: (request, response).
import http2 from 'node:http2'
import { BIG, digest, LARGE_VALUE, SLOW_PIECE_BYTES, SLOW_PIECES } from './sizes.mjs'
import { pathOf, wordOf } from './notes.mjs'

async function all (request) {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

const turn = () => new Promise(setImmediate)

export function nodeRoutes (notes) {
  /** Says that the client is gone, when it is. */
  const watch = (request, response) => {
    const word = wordOf(request.url)
    request.on('error', () => {})
    response.on('error', () => {})
    // A stream of node:http2 that is aborted has finished too.
    response.on('close', () => { notes.report(word, response.writableFinished && !request.aborted ? 'done' : 'gone') })
    notes.report(word, 'came')
    return word
  }
  const routes = {
    '/head' (request, response) {
      const { method, url, httpVersion, headers } = request
      response.setHeader('content-type', 'application/json')
      response.setHeader('x-list', ['a', 'b'])
      response.setHeader('set-cookie', ['c=1', 'd=2'])
      response.end(JSON.stringify({ method, path: url, httpVersion, list: headers['x-list'], cookie: headers.cookie, length: headers['x-long']?.length }))
    },
    '/echo' (request, response) { request.pipe(response) },
    async '/count' (request, response) { response.end(String((await all(request)).length)) },
    async '/digest' (request, response) { response.end(digest(await all(request))) },
    '/big' (request, response) { response.end(BIG) },
    '/five' (request, response) {
      response.setHeader('content-length', 5)
      response.end('hello')
    },
    '/empty' (request, response) {
      response.statusCode = 204
      response.end()
    },
    '/unchanged' (request, response) {
      response.statusCode = 304
      response.setHeader('etag', '"a"')
      response.end()
    },
    '/large' (request, response) {
      response.setHeader('x-long', LARGE_VALUE)
      response.end()
    },
    '/secret' (request, response) {
      response.writeHead(200, { 'x-secret': 'a', [http2.sensitiveHeaders]: ['x-secret'] })
      response.end()
    },
    async '/trailers' (request, response) {
      const body = await all(request)
      response.writeHead(200, { trailer: 'x-heard' })
      response.write(body)
      response.addTrailers({ 'x-heard': request.trailers['x-sent'] ?? 'none' })
      response.end()
    },
    '/trailers-before' (request, response) {
      response.setHeader('trailer', 'x-sum')
      response.addTrailers({ 'x-sum': 'before' })
      response.write('body')
      response.end()
    },
    async '/trailers-while' (request, response) {
      response.setHeader('trailer', 'x-sum')
      response.write('bo')
      await turn()
      response.addTrailers({ 'x-sum': 'while' })
      await turn()
      response.end('dy')
    },
    async '/trailers-after' (request, response) {
      response.setHeader('trailer', 'x-sum')
      response.write('body')
      await turn()
      response.addTrailers({ 'x-sum': 'after' })
      response.end()
    },
    '/hints' (request, response) {
      response.writeEarlyHints({ link: '</a.css>; rel=preload; as=style' })
      response.end('styled')
    },
    '/hang' (request, response) {
      watch(request, response)
      request.resume()
    },
    '/half' (request, response) {
      watch(request, response)
      request.resume()
      response.write('half')
    },
    async '/unread' (request, response) {
      const word = watch(request, response)
      await notes.gate(word).promise
      await routes['/count'](request, response)
    },
    '/early' (request, response) { response.end('early') },
    async '/late' (request, response) {
      const word = watch(request, response)
      request.resume()
      response.write('begun ')
      await notes.gate(word).promise
      response.end('ended')
    },
    '/breaks-before' (request, response) {
      watch(request, response)
      response.destroy(new Error('broken on purpose'))
    },
    '/breaks-while' (request, response) {
      watch(request, response)
      response.write('a part', () => { response.destroy(new Error('broken on purpose')) })
    },
    '/breaks-upload' (request, response) {
      watch(request, response)
      request.once('data', () => { response.destroy(new Error('broken on purpose')) })
    },
    '/throws' () { throw new Error('thrown on purpose') },
    async '/rejects' () { throw new Error('rejected on purpose') },
    async '/slow' (request, response) {
      const word = watch(request, response)
      for (let piece = 0; piece < SLOW_PIECES && !notes.has(word, 'gone'); piece++) {
        notes.count(word)
        if (!response.write(Buffer.alloc(SLOW_PIECE_BYTES))) await new Promise(resolve => { response.once('drain', resolve) })
      }
      response.end()
    },
    // Further resources that the peers in other languages request.
    '/version' (request, response) { response.end(`HTTP/${request.httpVersion}`) },
    '/bytes/1024' (request, response) { response.end(Buffer.alloc(1024, 'x')) },
    '/refuse' (request, response) {
      response.statusCode = 413
      response.end('no')
    },
    async '/cut' (request, response) {
      response.write(Buffer.alloc(512))
      await notes.gate('release').promise
      response.destroy(new Error('broken on purpose'))
    },
    '/release' (request, response) {
      notes.gate('release').open()
      response.end()
    },
    async '/never' (request, response) {
      watch(request, response)
      request.resume()
      let isOver = false
      const over = new Promise(resolve => { response.on('close', resolve) }).then(() => {
        isOver = true
        notes.count('gone')
      })
      while (!isOver) {
        if (!response.write(Buffer.alloc(16 * 1024))) await Promise.race([new Promise(resolve => { response.once('drain', resolve) }), over])
        await turn()
      }
    },
    async '/gone' (request, response) {
      while (notes.counted('gone') <= notes.counted('told')) await turn()
      notes.count('told')
      response.end('gone')
    }
  }
  return routes
}

/** A listener of `request` for the routes. */
export function listenerOf (routes) {
  return (request, response) => {
    const route = routes[pathOf(request.url)]
    if (route !== undefined) return route(request, response)
    response.statusCode = 404
    response.end()
  }
}

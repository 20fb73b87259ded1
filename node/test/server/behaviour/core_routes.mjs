// The routes of the suite for the core API: (stream, headers).
import http2 from 'node:http2'
import { BIG, digest, LARGE_VALUE, SLOW_PIECE_BYTES, SLOW_PIECES } from './sizes.mjs'
import { pathOf, wordOf } from './notes.mjs'

const INTERNAL_ERROR = 2
const turn = () => new Promise(setImmediate)

async function all (stream) {
  const pieces = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

export function coreRoutes (notes, versionOf) {
  const watch = (stream, headers) => {
    const word = wordOf(headers[':path'])
    stream.on('error', () => {})
    stream.on('close', () => { notes.report(word, stream.rstCode === 0 && stream.writableFinished ? 'done' : 'gone') })
    notes.report(word, 'came')
    return word
  }
  /** An answer with trailers that are sent when its body is. */
  const trailing = (stream, trailers) => {
    stream.respond({ trailer: Object.keys(trailers()).join(', ') }, { waitForTrailers: true })
    stream.on('wantTrailers', () => { stream.sendTrailers(trailers()) })
  }
  const routes = {
    '/head' (stream, headers) {
      const body = { method: headers[':method'], path: headers[':path'], httpVersion: versionOf(stream), list: headers['x-list'], cookie: headers.cookie, length: headers['x-long']?.length }
      stream.respond({ 'content-type': 'application/json', 'x-list': ['a', 'b'], 'set-cookie': ['c=1', 'd=2'] })
      stream.end(JSON.stringify(body))
    },
    '/echo' (stream) {
      stream.respond()
      stream.pipe(stream)
    },
    async '/count' (stream, headers = {}) {
      // As on node:http2, the core API leaves it to its user.
      if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
      const { length } = await all(stream)
      stream.respond()
      stream.end(String(length))
    },
    async '/digest' (stream) {
      const printed = digest(await all(stream))
      stream.respond()
      stream.end(printed)
    },
    '/big' (stream) {
      stream.respond()
      stream.end(BIG)
    },
    '/five' (stream) {
      stream.respond({ 'content-length': 5 })
      // As on node:http2, the stream of a HEAD request has ended with its head.
      if (!stream.headRequest) stream.end('hello')
    },
    '/empty' (stream) { stream.respond({ ':status': 204 }, { endStream: true }) },
    '/unchanged' (stream) { stream.respond({ ':status': 304, etag: '"a"' }, { endStream: true }) },
    '/large' (stream) { stream.respond({ 'x-long': LARGE_VALUE }, { endStream: true }) },
    '/secret' (stream) { stream.respond({ 'x-secret': 'a', [http2.sensitiveHeaders]: ['x-secret'] }, { endStream: true }) },
    async '/trailers' (stream) {
      let received = 'none'
      stream.on('trailers', fields => { received = fields['x-sent'] ?? received })
      const body = await all(stream)
      trailing(stream, () => ({ 'x-heard': received }))
      stream.end(body)
    },
    '/trailers-before' (stream) {
      trailing(stream, () => ({ 'x-sum': 'before' }))
      stream.end('body')
    },
    async '/trailers-while' (stream) {
      let sum = 'none'
      trailing(stream, () => ({ 'x-sum': sum }))
      stream.write('bo')
      await turn()
      sum = 'while'
      stream.end('dy')
    },
    async '/trailers-after' (stream) {
      stream.respond({ trailer: 'x-sum' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => { setImmediate(() => { stream.sendTrailers({ 'x-sum': 'after' }) }) })
      stream.end('body')
    },
    '/hints' (stream) {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload; as=style' })
      stream.respond()
      stream.end('styled')
    },
    '/hang' (stream, headers) {
      watch(stream, headers)
      stream.resume()
    },
    '/half' (stream, headers) {
      watch(stream, headers)
      stream.resume()
      stream.respond()
      stream.write('half')
    },
    async '/unread' (stream, headers) {
      const word = watch(stream, headers)
      await notes.gate(word).promise
      await routes['/count'](stream)
    },
    '/early' (stream) {
      stream.respond()
      stream.end('early')
    },
    async '/late' (stream, headers) {
      const word = watch(stream, headers)
      stream.resume()
      stream.respond()
      stream.write('begun ')
      await notes.gate(word).promise
      stream.end('ended')
    },
    '/breaks-before' (stream, headers) {
      watch(stream, headers)
      stream.close(INTERNAL_ERROR)
    },
    '/breaks-while' (stream, headers) {
      watch(stream, headers)
      stream.respond()
      stream.write('a part', () => { stream.close(INTERNAL_ERROR) })
    },
    '/breaks-upload' (stream, headers) {
      watch(stream, headers)
      stream.once('data', () => { stream.close(INTERNAL_ERROR) })
    },
    async '/rejects' () { throw new Error('rejected on purpose') },
    async '/slow' (stream, headers) {
      const word = watch(stream, headers)
      stream.respond()
      for (let piece = 0; piece < SLOW_PIECES && !stream.destroyed && !stream.writableEnded; piece++) {
        notes.count(word)
        if (!stream.write(Buffer.alloc(SLOW_PIECE_BYTES))) await new Promise(resolve => { stream.once('drain', resolve) })
      }
      stream.end()
    },
    '/version' (stream) {
      stream.respond()
      stream.end(`HTTP/${versionOf(stream)}`)
    },
    '/bytes/1024' (stream) {
      stream.respond()
      stream.end(Buffer.alloc(1024, 'x'))
    },
    '/refuse' (stream) {
      stream.respond({ ':status': 413 })
      stream.end('no')
    },
    async '/cut' (stream, headers) {
      watch(stream, headers)
      stream.respond()
      stream.write(Buffer.alloc(512))
      await notes.gate('release').promise
      stream.close(INTERNAL_ERROR)
    },
    '/release' (stream) {
      notes.gate('release').open()
      stream.respond({}, { endStream: true })
    },
    async '/never' (stream, headers) {
      watch(stream, headers)
      stream.resume()
      stream.respond()
      const over = new Promise(resolve => { stream.on('close', resolve) }).then(() => { notes.count('gone') })
      while (!stream.destroyed) {
        if (!stream.write(Buffer.alloc(16 * 1024))) await Promise.race([new Promise(resolve => { stream.once('drain', resolve) }), over])
        await turn()
      }
    },
    async '/gone' (stream) {
      while (notes.counted('gone') <= notes.counted('told')) await turn()
      notes.count('told')
      stream.respond()
      stream.end('gone')
    }
  }
  return (stream, headers) => {
    const route = routes[pathOf(headers[':path'])]
    if (route !== undefined) return route(stream, headers)
    stream.respond({ ':status': 404 }, { endStream: true })
  }
}

// The Duplex of pipeline(): how it ends.
import { PassThrough, Readable, Transform } from 'node:stream'
import { bytesOf, closing, turns } from '../stage.mjs'

const echo = (request, response) => { request.pipe(response) }
const POST = { path: '/', method: 'POST' }

/** A program over a Duplex whose handler is `handler`; `use(duplex, log)`. */
const over = (handler, use = duplex => { duplex.end('hello') }, { serve = echo, options = POST } = {}) => async ({ Client }, t) => {
  const log = t.log('duplex')
  const server = await t.serve(serve)
  const client = t.own(new Client(server.url))
  const duplex = client.pipeline(options, typeof handler === 'function' ? given => handler(given, log) : handler)
  t.watch(log, duplex, 'duplex', ['error', 'close', 'end', 'finish'])
  const closed = closing(duplex)
  duplex.on('data', chunk => { log('data', typeof chunk === 'string' ? chunk : JSON.stringify(String(chunk))) })
  use(duplex, log)
  await closed
  await turns()
}

export default {
  'an echo': over(({ body }) => body),
  'an echo through a Transform': over(({ body }) => body.pipe(new Transform({ transform (chunk, _, done) { done(null, String(chunk).toUpperCase()) } }))),
  'what the handler gets': over((given, log) => {
    log(Object.keys(given).sort().join(), given.statusCode, given.opaque, given.context)
    return given.body
  }, undefined, { options: { ...POST, opaque: 'mine' } }),
  'a handler that returns nothing': over(() => undefined),
  'a handler that returns null': over(() => null),
  'a handler that returns a text': over(() => 'text'),
  'a handler that throws': over(() => { throw new Error('from the handler') }),
  'a handler that destroys the body and throws': over(({ body }) => { body.on('error', () => {}).destroy(); throw new Error('from the handler') }),
  'a handler that destroys the body': over(({ body }) => { body.on('error', () => {}).destroy(); return body }),
  'a handler whose stream is destroyed': over(({ body }) => { body.resume(); return new PassThrough().destroy() }),
  'a handler whose stream fails': over(({ body }) => { body.resume(); return new PassThrough().on('error', () => {}).destroy(new Error('mine')) }),
  'a handler that gives a stream of objects': over(({ body }) => { body.resume(); return Readable.from([{ a: 1 }, { b: 2 }]) },
    (duplex, log) => { duplex.on('data', chunk => { log('object', chunk) }); duplex.end() }, { options: { ...POST, objectMode: true } }),
  'destroy before anything': over(({ body }) => body, duplex => { duplex.destroy() }),
  'destroy with an error': over(({ body }) => body, duplex => { duplex.destroy(new Error('mine')) }),
  'destroy while the answer comes': over(({ body }) => body, duplex => {
    duplex.write('hello')
    duplex.once('data', () => { duplex.destroy() })
  }, { serve: (request, response) => { response.write('begin') } }),
  'a handler that is no function': over(null),
  'a method of CONNECT': over(({ body }) => body, undefined, { options: { path: '/', method: 'CONNECT' } }),
  'a path that is refused': over(({ body }) => body, undefined, { options: { path: 'x', method: 'GET' } }),
  'options that are none': over(({ body }) => body, undefined, { options: null }),
  'a signal that is none': over(({ body }) => body, undefined, { options: { ...POST, signal: 'x' } }),
  'a signal that has aborted': over(({ body }) => body, undefined, { options: { ...POST, signal: AbortSignal.abort() } }),
  'onInfo that is none': over(({ body }) => body, undefined, { options: { ...POST, onInfo: 7 } }),
  'an answer that is whole while the source still writes': over(({ body }) => body, duplex => {
    duplex.write('hello')
    duplex.once('end', () => { duplex.end('late') })
  }, { serve: (request, response) => { response.end('early') } }),
  'a peer that is gone': over(({ body }) => body, undefined, { serve: request => { request.resume().on('end', () => { request.socket.destroy() }) } }),
  'an answer that is cut': over(({ body }) => body, undefined, {
    // Bytes that the server has not read would make a reset of the end.
    serve: (request, response) => { request.resume().on('end', () => { response.write('begin'); setImmediate(() => { request.socket.destroy() }) }) }
  }),
  'a large echo': async ({ Client }, t) => {
    const log = t.log('duplex')
    const server = await t.serve(echo)
    const client = t.own(new Client(server.url))
    const duplex = client.pipeline(POST, ({ body }) => body)
    Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(65_536, 'a')), { objectMode: false }).pipe(duplex)
    log((await bytesOf(duplex)).length)
  }
}

// The Writable of stream(): what goes into it, how fast, and how it ends.
import { PassThrough, Writable } from 'node:stream'
import { closing, turns } from '../stage.mjs'

const GET = { path: '/', method: 'GET' }
/** A Writable that keeps what it gets. */
const sink = (log, options = {}) => {
  const chunks = []
  const made = new Writable({ write (chunk, _, done) { chunks.push(chunk); done() }, ...options })
  made.text = () => Buffer.concat(chunks).toString()
  return made
}
const over = (serve, factory, options = {}) => async ({ Client }, t) => {
  const log = t.log('client')
  const server = await t.serve(serve)
  const client = t.own(new Client(server.url, options.client))
  let made
  await t.settle(log, 'stream', client.stream({ ...GET, ...options.ask?.() }, given => {
    log(Object.keys(given).sort().join(), given.statusCode, given.opaque, given.context)
    made = factory(log, given)
    if (typeof made?.on === 'function') t.watch(t.log('sink'), made, 'sink', ['finish', 'error', 'close'])
    return made
  }))
  log(made?.text?.())
  await turns()
}
const sends = text => (request, response) => { response.end(text) }
const cuts = (request, response) => { response.writeHead(200, { 'content-length': 100 }); response.write('begin'); setTimeout(() => { request.socket.destroy() }, 20) }

/** Interceptors see the request go elsewhere first. */
const redirected = call => async (module, t) => {
  const log = t.log('client')
  const { interceptors } = await import('undici8')
  const server = await t.serve((request, response) => {
    if (request.url === '/') response.writeHead(302, { location: '/next' })
    response.end('there')
  })
  const client = t.own(new module.Client(server.url))
  const context = await call(client.compose(interceptors.redirect({ maxRedirections: 2 })))
  log(context?.history?.map(({ pathname }) => pathname))
}

export default {
  'a whole answer': over(sends('hello'), sink),
  'an empty answer': over(sends(''), sink),
  'with an opaque value': over(sends('hello'), sink, { ask: () => ({ opaque: 'mine' }) }),
  'a factory that throws': over(sends('hello'), () => { throw new Error('mine') }),
  'a factory that returns nothing': over(sends('hello'), () => undefined),
  'a factory that returns an object': over(sends('hello'), () => ({})),
  'a sink that is destroyed': over((request, response) => { response.write('begin') }, log => { const made = sink(log); setTimeout(() => { made.destroy() }, 20); return made }),
  'a sink that fails': over((request, response) => { response.write('begin') }, log => { const made = sink(log); setTimeout(() => { made.destroy(new Error('mine')) }, 20); return made }),
  'an answer that is cut': over(cuts, sink),
  'a signal that aborts': over((request, response) => { response.write('begin') }, sink, { ask: () => ({ signal: AbortSignal.timeout(300) }) }),
  'trailers': over((request, response) => { response.writeHead(200, { trailer: 'x-end' }); response.write('a'); response.addTrailers({ 'x-end': 'b' }); response.end() }, sink),
  'a sink that is full is not written to before it has room': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serve(sends('hello'))
    const client = t.own(new Client(server.url))
    const made = new PassThrough({ highWaterMark: 4 })
    made.write('full')
    let written = 0
    const write = made.write.bind(made)
    made.write = chunk => { written++; return write(chunk) }
    const streamed = client.stream(GET, () => made)
    await new Promise(resolve => { setTimeout(resolve, 200) })
    log('written before there was room', written)
    made.resume()
    const closed = closing(made)
    await t.settle(log, 'stream', streamed, () => ['over'])
    await closed
    log('written', written)
  },
  'context of request behind a redirect': redirected(async client => { const { context, body } = await client.request(GET); await body.dump(); return context }),
  'context of stream behind a redirect': redirected(async client => { let seen; await client.stream(GET, ({ context }) => { seen = context; return new PassThrough().resume() }); return seen }),
  'context of pipeline behind a redirect': redirected(client => new Promise(resolve => {
    client.pipeline(GET, ({ context, body }) => { resolve(context); return body }).on('error', () => { resolve() }).resume().end()
  }))
}

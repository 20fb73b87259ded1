// A request x its body x an answer x a server, without TLS and with it.
import { closing, SERVERS } from '../stage.mjs'

const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'QUERY']
const BODIES = {
  nothing: stream => { stream.end() },
  'a text': stream => { stream.end('hello') },
  'an empty end': stream => { stream.end('') },
  pieces: stream => { for (let at = 0; at < 5; at++) stream.write(Buffer.alloc(1000, at)); stream.end() },
  'pieces of several turns': async stream => {
    for (let at = 0; at < 3; at++) {
      stream.write('x'.repeat(100))
      await new Promise(resolve => { setImmediate(resolve) })
    }
    stream.end('y')
  },
  '300 kB': stream => { stream.end(Buffer.alloc(300_000)) },
  'trailers': stream => { stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-behind': 'yes' }) }); stream.end('with trailers') }
}
const ANSWERS = {
  'a head alone': stream => { stream.respond({ ':status': 204 }, { endStream: true }) },
  'a text': stream => { stream.respond({ 'x-a': ['1', '2'], 'set-cookie': ['a=b', 'c=d'] }); stream.end('answer') },
  '404': stream => { stream.respond({ ':status': 404 }); stream.end() },
  '200 kB': stream => { stream.respond(); stream.end(Buffer.alloc(200_000)) },
  trailers: stream => { stream.respond({}, { waitForTrailers: true }); stream.on('wantTrailers', () => { stream.sendTrailers({ 'x-t': '1' }) }); stream.end('ok') },
  'an interim head': stream => { stream.additionalHeaders({ ':status': 103, link: '</a>' }); stream.respond(); stream.end('behind') },
  'a reset with 2': stream => { stream.close(2) }
}
/** Answers once the body of the request has come. */
const serveWith = answer => (stream, headers) => {
  stream.on('error', () => {})
  if (headers[':method'] === 'HEAD') return stream.respond({ 'x-head': 'yes' }, { endStream: true })
  let bytes = 0
  stream.on('data', piece => { bytes += piece.length })
  stream.on('end', () => { stream.bytes = bytes; answer(stream) })
}

const programs = {}
for (const server of Object.keys(SERVERS)) {
  for (const secure of [false, true]) {
    for (const method of METHODS) {
      for (const [label, send] of Object.entries(BODIES)) {
        if (['GET', 'HEAD', 'DELETE'].includes(method) && label !== 'nothing' && label !== 'a text') continue
        for (const [kind, answer] of Object.entries(ANSWERS)) {
          if (method === 'HEAD' && kind !== 'a text') continue
          programs[`${server}, ${secure ? 'TLS' : 'clear'}, ${method}, ${label}, ${kind}`] = async ({ connect }, t) => {
            const { url } = await t.serve(server, { secure, listeners: { stream: serveWith(answer) } })
            const session = t.open(connect, url)
            const stream = session.request({ ':method': method, ':path': '/x' }, { endStream: label === 'nothing' && method !== 'POST' ? undefined : false, waitForTrailers: label === 'trailers' })
            const seen = t.watch(stream)
            await send(stream)
            await seen
            session.close()
            await closing(session)
          }
        }
      }
    }
  }
}
export default programs

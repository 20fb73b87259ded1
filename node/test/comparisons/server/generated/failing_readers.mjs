// Readers of a body that fail at one of its pieces, most of them at the last one: what their client gets.
import { once } from 'node:events'
import { READERS } from '../../failing_readers.mjs'
import { turns } from '../../sides.mjs'

const BODIES = {
  'one piece': { body: 'z' },
  pieces: { body: 'z', before: stream => { stream.write('a') } },
  'no end until the response': { body: null, before: stream => { stream.on('response', () => { stream.end() }).write('z') } },
  trailers: { body: 'z', trailers: { why: 'done' } }
}
const FACES = {
  stream: (server, read) => { server.on('stream', stream => { read(stream, stream) }) },
  request: (server, read) => { server.on('request', (request, response) => { read(request, response.stream) }) }
}
const TIMES = { 'at once': call => { call() }, 'a turn later': call => { setImmediate(() => { setImmediate(call) }) } }

const failing = (face, body, time, reader) => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createServer()
  let over
  const closed = new Promise(resolve => { over = resolve })
  FACES[face](server, (source, stream) => {
    t.watch(log, source, face, ['aborted', 'end', 'error', 'close'], (event, error) => event === 'error' ? [error] : [])
    stream.on('close', () => { log('closed with', stream.rstCode); over() })
    TIMES[time](() => { READERS[reader](source, log, stream) })
    // One that has left its stream open answers.
    setTimeout(() => { if (!stream.destroyed) { log('left open'); stream.end('late') } }, 300).unref()
  })
  const client = await t.open(server)
  await once(client, 'remoteSettings')
  await t.show(client, { headers: { ':method': 'POST' }, ...BODIES[body] })
  await closed
  await turns(5)
}

const programs = {}
for (const face of Object.keys(FACES)) {
  for (const body of Object.keys(BODIES)) {
    for (const time of Object.keys(TIMES)) {
      // Trailers come in a turn of their own, before or behind that one.
      if (body === 'trailers' && time !== 'at once') continue
      for (const reader of Object.keys(READERS)) {
        // The end of the stream comes with it then.
        if (body.startsWith('no end') && reader.endsWith('the end')) continue
        programs[`${face}, ${body}, ${time}: ${reader}`] = failing(face, body, time, reader)
      }
    }
  }
}
export default programs

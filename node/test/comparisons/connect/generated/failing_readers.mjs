// Readers of a response that fail at one of its pieces, most of them at the last one, while the request's body is open or has ended: what their
// server gets. Those that close the stream or fail in a later turn are left out: what they race with is the end of the response.
import { READERS } from '../../failing_readers.mjs'
import { closing } from '../stage.mjs'

const RESPONSES = {
  'one piece': stream => { stream.end('z') },
  pieces: stream => {
    stream.write('a')
    stream.end('z')
  },
  'no end': stream => { stream.write('z') },
  trailers: stream => { stream.on('wantTrailers', () => { stream.sendTrailers({ why: 'done' }) }).end('z') }
}

const failing = (kind, response, isOpen, read) => async ({ connect }, t) => {
  const log = t.log('server')
  let over
  const closed = new Promise(resolve => { over = resolve })
  const { url } = await t.serve(kind, {
    listeners: {
      stream: stream => {
        stream.on('error', () => {}).on('close', () => { log('closed with', stream.rstCode); over() }).resume()
        stream.respond({}, { waitForTrailers: response === 'trailers' })
        RESPONSES[response](stream)
      }
    }
  })
  const session = t.open(connect, url)
  const stream = session.request({ ':method': 'POST' })
  const own = t.log('client')
  for (const event of ['aborted', 'end', 'error', 'close']) stream.on(event, error => { own(event, ...event === 'error' ? [error] : []) })
  if (isOpen) stream.write('a')
  else stream.end('a')
  read(stream, own, stream)
  setTimeout(() => {
    if (stream.destroyed) return
    own('left open')
    stream.close()
  }, 300).unref()
  await Promise.all([closing(stream), closed])
  own('closed with', stream.rstCode)
}

const programs = {}
for (const kind of ['node', 'ours']) {
  for (const response of Object.keys(RESPONSES)) {
    for (const isOpen of [true, false]) {
      for (const [reader, read] of Object.entries(READERS)) {
        if (/answers|closes|microtask|a turn later|the end$/.test(reader)) continue
        programs[`${kind}, ${response}, ${isOpen ? 'open' : 'ended'}: ${reader}`] = failing(kind, response, isOpen, read)
      }
    }
  }
}
export default programs

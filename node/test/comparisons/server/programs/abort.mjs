// Exchanges that one of the two sides ends early.
import { EventEmitter, once } from 'node:events'
import { compat, core } from '../shapes.mjs'

/** The client's events, for the server. */
const received = new EventEmitter()
const EVENTS = ['aborted', 'end', 'finish', 'error', 'close']
const watched = (stream, log, t) => { t.watch(log, stream, 'stream', EVENTS, (event, ...args) => event === 'close' ? [stream.rstCode, stream.aborted] : args) }

/** The client closes with `code` when the head has come. */
const closing = (code, serve = stream => { stream.respond(); stream.write('begin') }) => core((stream, { log, t }) => {
  watched(stream, log, t)
  serve(stream)
}, { before: client => { client.on('response', () => { client.close(code) }) } })

/** A program in which `ask` ends what the server has begun to answer. */
const cut = ask => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createServer()
  const closed = new Promise(resolve => server.on('stream', stream => {
    watched(stream, log, t)
    stream.on('close', resolve)
    stream.respond()
    stream.write('begin')
  }))
  ask(await t.open(server), t)
  await closed
}

export default {
  'the client cancels': closing(8),
  // Whether the body comes with the head is a matter of turns, and what came is delivered.
  'the client closes without an error': closing(0, stream => { stream.respond() }),
  'the client refuses': closing(7),
  'the client has an internal error': closing(2),
  'the client calms down': closing(11),
  'the client breaks the protocol': closing(1),
  'the client destroys its stream': core((stream, { log, t }) => {
    watched(stream, log, t)
    stream.respond()
    stream.write('begin')
  }, { before: client => { client.on('response', () => { client.destroy() }) } }),
  'the client cancels before the answer': core((stream, { log, t }) => {
    watched(stream, log, t)
    received.emit('asked')
  }, { before: client => { received.once('asked', () => { client.close(8) }) } }),
  'the client cancels in the middle of its body': core((stream, { log, t }) => {
    // Whether the client ends its body before it resets the stream is a matter of its turns.
    t.watch(log, stream, 'stream', ['aborted', 'finish', 'error', 'close'], event => event === 'close' ? [stream.rstCode, stream.aborted] : [])
    stream.resume()
    stream.once('data', () => { stream.respond(); stream.write('got it') })
  }, { body: null, endStream: false, headers: { ':method': 'POST' }, before: client => { client.write('half'); client.on('response', () => { client.close(8) }) } }),
  'writing goes on after the client has cancelled': core((stream, { log, t }) => {
    watched(stream, log, t)
    stream.respond()
    stream.write('begin')
    stream.on('close', () => { log(stream.write('more', error => { log('callback', error) }), stream.writable) })
  }, { before: client => { client.on('response', () => { client.close(8) }) } }),
  'a signal of the client': cut((client, t) => {
    const abort = new AbortController()
    const stream = client.request({}, { signal: abort.signal })
    stream.on('error', error => { t.log('client')(error.name) })
    stream.on('response', () => { abort.abort() })
  }),
  'the connection goes in the middle': cut(client => {
    const stream = client.request({ ':path': '/' })
    stream.on('error', () => {})
    stream.on('response', () => { client.destroy() })
  }),
  'the server half-closes, and the client goes on': core((stream, { log, t }) => {
    watched(stream, log, t)
    stream.respond()
    stream.end('early')
    let all = ''
    stream.on('data', piece => { all += piece })
    stream.on('end', () => { log(all) })
  }, { body: null, endStream: false, headers: { ':method': 'POST' }, before: client => { client.on('response', () => { client.end('late') }) } }),
  'aborted of the compatible API': compat((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['aborted', 'end', 'error', 'close'])
    t.watch(log, response, 'response', ['finish', 'error', 'close'])
    request.on('close', () => { log(request.aborted, request.complete, request.destroyed) })
    response.write('begin')
  }, { before: client => { client.on('response', () => { client.close(8) }) } }),
  'aborted of the compatible API, while the body comes': compat((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['aborted', 'error', 'close'])
    t.watch(log, response, 'response', ['finish', 'error', 'close'])
    request.once('data', () => { response.write('begin') })
  }, { body: null, endStream: false, headers: { ':method': 'POST' }, before: client => { client.write('half'); client.on('response', () => { client.close(8) }) } }),
  'a response that is written after the client has gone': async (http2, t) => {
    const reported = once(received, 'told')
    await compat((request, response, { log }) => {
      response.write('begin')
      request.stream.on('close', () => {
        setImmediate(() => {
          log(response.write('more'), response.writableEnded, response.headersSent)
          response.end('last', () => { log('end callback'); received.emit('told') })
          log(response.writableEnded, response.finished)
        })
      })
    }, { before: client => { client.on('response', () => { client.close(8) }) } })(http2, t)
    await reported
  },
  'destroying a response': compat((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['aborted', 'error', 'close'])
    t.watch(log, response, 'response', ['finish', 'error', 'close'])
    response.write('begin')
    received.once('begin', () => { response.destroy(); response.destroy() })
  }, { before: client => { client.once('data', () => { received.emit('begin') }) } }),
  'destroying a response with an error': compat((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['aborted', 'error', 'close'])
    t.watch(log, response, 'response', ['finish', 'error', 'close'])
    request.stream.on('error', error => { log('stream', error) })
    response.write('begin')
    received.once('begin', () => { response.destroy(new Error('broken')) })
  }, { before: client => { client.once('data', () => { received.emit('begin') }) } }),
  'destroying a request': compat((request, response, { log, t }) => {
    t.watch(log, request, 'request', ['aborted', 'error', 'close'])
    request.destroy()
    log(request.destroyed, request.stream.destroyed)
    response.end('still answered')
  }),
  'destroying the socket of a request': compat((request, response, { log, t }) => {
    t.watch(log, response, 'response', ['close'])
    request.socket.destroy()
    log(request.stream.destroyed)
  }),
  'a body that is longer than said': core((stream, { log, t }) => {
    watched(stream, log, t)
    stream.respond({ 'content-length': 2 })
    stream.end('four')
  }),
  'a body that is shorter than said': core((stream, { log, t }) => {
    stream.respond({ 'content-length': 20 })
    stream.end('four')
  }, { before: (stream, log) => { stream.on('response', head => { log(head['content-length']) }) } })
}

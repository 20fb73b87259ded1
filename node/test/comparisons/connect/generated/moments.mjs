// Calls and events of node:http2's sessions and streams of a client at odd moments, a program each.
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { finished, pipeline, Readable } from 'node:stream'
import { closing, fields, turns } from '../stage.mjs'

/** A program: `act` gets a session that is connected, its log and the stage. The server echoes; of `/open` it leaves the response open. */
const program = act => async ({ connect }, t) => {
  const { url } = await t.serve('node', {
    listeners: {
      stream: (stream, headers) => {
        stream.on('error', () => {})
        if (headers[':path'] === '/early') stream.additionalHeaders({ ':status': 103 })
        stream.respond({ 'x-method': headers[':method'] })
        if (headers[':path'] === '/text') stream.end('x')
        else if (headers[':path'] === '/open') stream.write('first')
        else stream.pipe(stream)
      }
    }
  })
  const session = t.open(connect, url)
  await once(session, 'remoteSettings')
  const log = t.log('client')
  const timer = setTimeout(() => { log('late'); session.destroy() }, 15_000)
  await act(session, log, t)
  session.close()
  await closing(session)
  clearTimeout(timer)
  await turns(3)
}
/** One of a stream, all of whose events are logged. */
const stream = (headers, options, act) => program(async (session, log, t) => {
  const one = session.request(headers, options)
  for (const event of ['ready', 'aborted', 'close', 'end', 'finish', 'timeout', 'wantTrailers', 'trailers', 'drain']) {
    one.on(event, () => { if (event === 'wantTrailers' && one.listenerCount(event) === 1) one.sendTrailers({}); log(event) })
  }
  one.on('response', head => { log('response', fields(head)) }).on('error', error => { log('error', error) })
  act(one, log, t, session)
  await closing(one)
  log('closed with', one.rstCode, one.aborted, one.closed, one.destroyed)
})
const GET = {}
const POST = { ':method': 'POST' }
const TEXT = { ':path': '/text' }
const OPEN = { ':path': '/open' }
const EARLY = { ':path': '/early' }
const contexts = new AsyncLocalStorage()
/** The end of a stream one of whose listeners throws, at a server of this kind. */
const thrown = (kind, event) => async ({ connect }, t) => {
  const { url } = await t.serve(kind, {
    listeners: {
      stream: one => {
        one.on('wantTrailers', () => { one.sendTrailers({ a: 'b' }) })
        one.respond({}, { waitForTrailers: event === 'trailers' })
        one.end('body')
      }
    }
  })
  const log = t.log('client')
  const session = t.open(connect, url)
  const one = session.request()
  one.on('data', piece => { log('data', piece) }).on('end', () => { log('end') }).once(event, () => { throw new Error(event) })
  await closing(one)
  log('closed with', one.rstCode)
  session.close()
  await closing(session)
}
const throwing = {}
for (const kind of ['node', 'ours']) for (const event of ['response', 'data', 'trailers', 'end', 'close']) throwing[`a listener of ${event} that throws, ${kind}`] = thrown(kind, event)

/** The contexts in which writes of a request are called back whose head waits until another request has ended. */
const waiting = act => async ({ connect }, t) => {
  const { url } = await t.serve('node', { options: { settings: { maxConcurrentStreams: 1 } }, listeners: { stream: one => { one.on('error', () => {}); one.respond(); one.pipe(one) } } })
  const session = t.open(connect, url)
  await once(session, 'remoteSettings')
  const log = t.log('client')
  const first = session.request(POST)
  await once(first, 'response')
  const one = contexts.run('request', () => session.request(POST))
  act(one, log)
  first.resume().end()
  one.resume()
  await closing(one)
  session.close()
  await closing(session)
}

export default {
  ...throwing,
  'a signal that is aborted already': program(async (session, log, t) => { const one = t.attempt(log, 'request', () => session.request(GET, { signal: AbortSignal.abort() })); if (one !== undefined) { one.on('error', error => { log('error', error) }); await closing(one); log(one.rstCode, one.id) } }),
  'a signal that aborts in the turn of the request': program(async (session, log) => { const controller = new AbortController(); const one = session.request(GET, { signal: controller.signal }); one.on('error', error => { log('error', error) }); controller.abort(); await closing(one); log(one.rstCode) }),
  'a signal that aborts at the response': program(async (session, log) => { const controller = new AbortController(); const one = session.request(OPEN, { signal: controller.signal }); one.on('error', error => { log('error', error) }).on('response', () => { controller.abort(new Error('own')) }); await closing(one); log(one.rstCode) }),
  'a signal that aborts at the data': program(async (session, log) => { const controller = new AbortController(); const one = session.request(OPEN, { signal: controller.signal }); one.on('error', error => { log('error', error) }).on('data', () => { controller.abort() }); await closing(one); log(one.rstCode) }),
  'a signal that aborts behind the close': program(async (session, log) => { const controller = new AbortController(); const one = session.request(GET, { signal: controller.signal }); one.on('error', error => { log('error', error) }).resume(); await closing(one); controller.abort(); log(one.rstCode) }),
  'end twice': stream(POST, {}, (one, log, t) => { one.resume().end('x'); t.attempt(log, 'end', () => { one.end(error => { log('called', error) }) }) }),
  'write behind the end': stream(POST, {}, (one, log, t) => { one.resume().end('x'); t.attempt(log, 'write', () => one.write('y', error => { log('written', error) })) }),
  'write to a GET': stream(GET, {}, (one, log, t) => { one.resume(); t.attempt(log, 'write', () => one.write('y', error => { log('written', error) })) }),
  'end of a GET': stream(GET, {}, (one, log, t) => { one.resume(); t.attempt(log, 'end', () => { one.end('y') }) }),
  'a GET that is not ended': stream(GET, { endStream: false }, one => { one.resume().end('y') }),
  'a POST that is ended': stream(POST, { endStream: true }, (one, log, t) => { one.resume(); t.attempt(log, 'write', () => one.write('y', error => { log('written', error) })) }),
  'destroy at the response': stream(OPEN, {}, one => { one.on('response', () => { one.destroy() }) }),
  'destroy with an error at the response': stream(OPEN, {}, one => { one.on('response', () => { one.destroy(new Error('own')) }) }),
  'destroy at the data': stream(OPEN, {}, one => { one.on('data', () => { one.destroy() }) }),
  'destroy at the end': stream(GET, {}, one => { one.on('end', () => { one.destroy() }).resume() }),
  'destroy at the close': stream(GET, {}, (one, log) => { one.on('close', () => { one.destroy(new Error('own')); log('again') }).resume() }),
  'close at the response': stream(OPEN, {}, one => { one.on('response', () => { one.close() }).resume() }),
  'close in the turn of the request': stream(GET, {}, one => { one.close() }),
  'close in the turn of the request, a response with a text': stream(TEXT, {}, one => { one.close() }),
  'destroy in the turn of the request, a response with a text': stream(TEXT, {}, one => { one.destroy() }),
  'close with a code in the turn of the request': stream(GET, {}, one => { one.close(8) }),
  'close of a POST in the turn of the request': stream(POST, {}, one => { one.close() }),
  'close behind a write in the turn of the request': stream(POST, {}, one => { one.write('x'); one.close() }),
  'close behind an end in the turn of the request': stream(POST, {}, one => { one.end('x'); one.close() }),
  'destroy in the turn of the request': stream(GET, {}, one => { one.destroy() }),
  'destroy of a POST in the turn of the request': stream(POST, {}, one => { one.destroy() }),
  'close in the turn of the request, then of the session': stream(GET, {}, (one, log, t, session) => { one.close(); session.close() }),
  'close with a code at the response': stream(OPEN, {}, one => { one.on('response', () => { one.close(8) }).resume() }),
  'close with an error at the response': stream(OPEN, {}, one => { one.on('response', () => { one.close(2) }).resume() }),
  'close with a code at the response, unread': stream(OPEN, {}, one => { one.on('response', () => { one.close(8) }) }),
  'close with a code at the response of an echo': stream(POST, {}, one => { one.on('response', () => { one.close(8) }).resume().write('x') }),
  'close with a code at the data': stream(OPEN, {}, one => { one.on('data', () => { one.close(8) }) }),
  'close with a code at the response of a GET': stream(GET, {}, one => { one.on('response', () => { one.close(8) }).resume() }),
  'close at the response of a GET': stream(GET, {}, one => { one.on('response', () => { one.close() }).resume() }),
  'close at an interim head': stream(EARLY, {}, one => { one.on('headers', () => { one.close() }).resume() }),
  'close with a code at an interim head': stream(EARLY, {}, one => { one.on('headers', () => { one.close(8) }).resume() }),
  'destroy at an interim head': stream(EARLY, {}, one => { one.on('headers', () => { one.destroy() }).resume() }),
  'close at the response with bytes behind it': stream(OPEN, {}, (one, log) => { one.on('response', () => { one.close() }).on('data', piece => { log('data', piece) }) }),
  'a write of a request that waits for room': waiting((one, log) => { contexts.run('write', () => { one.write('x', () => { log('written', contexts.getStore()) }) }); one.end() }),
  'two writes of a request that waits for room': waiting((one, log) => { for (const name of ['first', 'second']) contexts.run(name, () => { one.write('x', () => { log('written', contexts.getStore()) }) }); one.end() }),
  'an end of a request that waits for room': waiting((one, log) => { contexts.run('end', () => { one.end('x', () => { log('ended', contexts.getStore()) }) }) }),
  'an end without bytes of a request that waits for room': waiting((one, log) => { contexts.run('end', () => { one.end(() => { log('ended', contexts.getStore()) }) }) }),
  'trailers': stream(POST, { waitForTrailers: true }, one => { one.on('wantTrailers', () => { one.sendTrailers({ a: 'b' }) }).resume().end('x') }),
  'trailers before they are wanted': stream(POST, { waitForTrailers: true }, (one, log, t) => { t.attempt(log, 'send', () => { one.sendTrailers({ a: 'b' }) }); one.resume().end('x') }),
  'trailers twice': stream(POST, { waitForTrailers: true }, (one, log, t) => { one.on('wantTrailers', () => { one.sendTrailers({ a: 'b' }); t.attempt(log, 'again', () => { one.sendTrailers({}) }) }).resume().end('x') }),
  'an iteration that breaks': stream(OPEN, {}, async (one, log) => { for await (const piece of one) { log('piece', piece); break } }),
  'an iteration that throws': stream(OPEN, {}, async (one, log) => { try { for await (const piece of one) throw new Error(`${piece}`) } catch (error) { log('caught', error) } }),
  'finished of an echo': stream(POST, {}, (one, log) => { finished(one, error => { log('finished', error) }); one.resume().end('x') }),
  'a pipeline from a source that fails': stream(POST, {}, (one, log) => { one.resume(); pipeline(Readable.from((async function * () { yield 'a'; throw new Error('own') })()), one, error => { log('pipeline', error) }) }),
  'setTimeout': stream(OPEN, {}, one => { one.resume().setTimeout(50, () => { one.close() }) }),
  'the session closes with a stream open': stream(OPEN, {}, (one, log, t, session) => { one.on('data', () => { session.close(() => { log('session closed') }); setImmediate(() => { one.close() }) }) }),
  'the session is destroyed with a stream open': stream(OPEN, {}, (one, log, t, session) => { one.on('data', () => { session.destroy() }) }),
  'the session is destroyed with an error': stream(OPEN, {}, (one, log, t, session) => { one.on('data', () => { session.destroy(new Error('own'), 3) }) }),
  'a request of a destroyed session': program(async (session, log, t) => { session.destroy(); t.attempt(log, 'request', () => { session.request(GET) }) }),
  'pings that are too many': program(async (session, log, t) => { for (let count = 0; count < 12; count++) t.attempt(log, `${count}`, () => session.ping(() => {})); await new Promise(resolve => { setTimeout(resolve, 30) }) }),
  'settings that race': program(async (session, log) => { const acknowledged = [1, 2, 3].map(number => new Promise(resolve => { session.settings({ initialWindowSize: 70_000 + number }, (error, settings) => { log(number, error, settings.initialWindowSize); resolve() }) })); log(session.pendingSettingsAck); await Promise.all(acknowledged); log(session.pendingSettingsAck, session.localSettings.initialWindowSize) }),
  'settings that are invalid': program(async (session, log, t) => { for (const settings of [{ initialWindowSize: -1 }, { maxFrameSize: 1 }, { enablePush: 1 }, { headerTableSize: 2 ** 32 }, null, 5]) t.attempt(log, settings, () => { session.settings(settings) }) }),
  'setLocalWindowSize': program(async (session, log, t) => { t.attempt(log, 'set', () => { session.setLocalWindowSize(1_000_000) }); log(session.state.effectiveLocalWindowSize); t.attempt(log, 'negative', () => { session.setLocalWindowSize(-1) }) }),
  'members before the response': stream(GET, {}, (one, log) => { log(one.pending, one.id, one.closed, one.sentHeaders[':path'], one.endAfterHeaders, one.rstCode); one.resume() }),
  'members behind the close': stream(GET, {}, (one, log) => { one.on('close', () => { setImmediate(() => { log(one.session, one.state, one.bufferSize, one.writableEnded, one.readableEnded) }) }).resume() })
}

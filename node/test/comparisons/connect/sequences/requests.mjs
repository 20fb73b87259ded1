// Two calls of a client's session and its stream: a request without a body to a server of ours, one within its body to node's.
import { go, pairs } from '../../steps.mjs'
import { turns } from '../stage.mjs'

const WINDOW_BYTES = 200_000

const STEPS = {
  write: ({ stream }) => stream.write('ab'),
  'write with a callback': ({ stream, called }) => stream.write('ab', error => { called('written', error) }),
  'write 100 kB': ({ stream }) => stream.write(Buffer.alloc(100_000)),
  cork: ({ stream }) => stream.cork(),
  uncork: ({ stream }) => stream.uncork(),
  end: ({ stream }) => stream.end() === stream,
  'end with a text': ({ stream }) => stream.end('cd') === stream,
  'end with a callback': ({ stream, called }) => stream.end(error => { called('ended', error) }) === stream,
  sendTrailers: ({ stream }) => stream.sendTrailers({ 'x-t': '1' }),
  setTimeout: ({ stream }) => stream.setTimeout(60_000) === stream,
  pause: ({ stream }) => stream.pause() === stream,
  resume: ({ stream }) => stream.resume() === stream,
  read: ({ stream }) => stream.read(),
  setEncoding: ({ stream }) => stream.setEncoding('latin1') === stream,
  close: ({ stream }) => stream.close(),
  'close 8': ({ stream }) => stream.close(8),
  'close 2': ({ stream }) => stream.close(2),
  'close with a callback': ({ stream, called }) => stream.close(0, () => { called('closed') }),
  destroy: ({ stream }) => stream.destroy() === stream,
  'destroy with an error': ({ stream }) => stream.destroy(new Error('ours')) === stream,
  'abort the signal': ({ controller }) => controller.abort(),
  'session.request': ({ session, another }) => another(session.request({ ':path': '/another' })),
  'session.ping': ({ session, answered }) => session.ping(error => { answered('pong', error) }),
  'session.settings': ({ session, answered }) => session.settings({ headerTableSize: 1000 }, error => { answered('settings', error) }),
  'session.setLocalWindowSize': ({ session }) => session.setLocalWindowSize(WINDOW_BYTES),
  'session.setTimeout': ({ session }) => session.setTimeout(60_000) === session,
  'session.close': ({ session, called }) => session.close(() => { called('session closed') }),
  'session.destroy': ({ session }) => session.destroy(),
  'session.destroy 2': ({ session }) => session.destroy(2),
  'session.destroy with an error': ({ session }) => session.destroy(new Error('theirs'))
}

const flags = (...all) => all.map(one => Number(one)).join('')
const stateOf = (session, stream) => [
  flags(stream.pending, stream.closed, stream.destroyed, stream.aborted, stream.writableEnded, stream.writableFinished, stream.readableEnded),
  flags(session.closed, session.destroyed, session.connecting), stream.rstCode
].join(' ')

/** Answers behind the body, whose bytes are logged. Whether the end of one without bytes comes before a reset, nothing says. */
function answering (t) {
  return (stream, headers) => {
    let bytes = 0
    stream.on('error', () => {})
    stream.on('data', piece => { bytes += piece.length })
    stream.on('end', () => { if (bytes > 0 && !stream.aborted) t.log(`server, ${headers[':path']}`)(bytes) })
    stream.respond({ 'x-a': '1' })
    stream.on('end', () => { if (!stream.destroyed && !stream.closed) stream.end('answer') })
  }
}

const programs = {}
for (const [method, server] of Object.entries({ GET: 'ours', POST: 'node' })) {
  for (const steps of pairs(STEPS)) {
    programs[`${method}: ${steps.name}`] = async ({ connect }, t) => {
      const { url } = await t.serve(server, { listeners: { stream: answering(t) } })
      const session = t.open(connect, url)
      // The server's answers to PING and SETTINGS come when they come, before or behind the callbacks of other calls.
      const [log, called, answered] = [t.log('client'), t.log('callbacks'), t.log('answers')]
      await new Promise(resolve => { session.once('connect', resolve) })
      const controller = new AbortController()
      const stream = session.request({ ':method': method }, { signal: controller.signal })
      const seen = t.watch(stream)
      const others = []
      const another = one => { others.push(t.watch(one, `another ${others.length}`)) }
      const own = { session, stream, controller, called, answered, another }
      // Ends of a session in the turn of a request have programs of their own.
      await turns(1)
      await go(steps, session, label => { t.attempt(log, label, () => STEPS[label](own)) }, () => { log(stateOf(session, stream)) })
      stream.uncork()
      stream.resume()
      if (!stream.writableEnded) stream.end()
      await Promise.all([seen, ...others])
    }
  }
}
export default programs

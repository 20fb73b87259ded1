// Ends of a connection or a stream x their moments x their side: what the session, its streams and its users see.
import { closing, SERVERS, turns } from '../stage.mjs'

/** When the end comes. */
const MOMENTS = ['before the head', 'behind the head', 'within the body', 'behind the answer']
/** Acts of the server on the connection or the stream. */
const BY_SERVER = {
  'goaway 0': stream => { stream.session.goaway(0) },
  'goaway 2': stream => { stream.session.goaway(2) },
  'goaway 11 with data': stream => { stream.session.goaway(11, 0, Buffer.from('calm')) },
  close: stream => { stream.session.close() },
  destroy: stream => { stream.session.destroy() },
  'destroy with 1': stream => { stream.session.destroy(1) },
  'the socket': stream => { stream.session.destroy() },
  ...Object.fromEntries([0, 1, 2, 5, 7, 8, 11, 13, 99].map(code => [`reset ${code}`, stream => { stream.close(code) }]))
}
/** Acts of the client. */
const BY_CLIENT = {
  'stream close': (session, stream) => { stream.close() },
  'stream close 8': (session, stream) => { stream.close(8) },
  'stream close 2': (session, stream) => { stream.close(2) },
  'stream destroy': (session, stream) => { stream.destroy() },
  'stream destroy with an error': (session, stream) => { stream.destroy(new Error('ours')) },
  'session close': session => { session.close() },
  'session destroy': session => { session.destroy() },
  'session destroy 2': session => { session.destroy(2) },
  'session destroy with an error': session => { session.destroy(new Error('ours')) },
  'session destroy with an error and a code': session => { session.destroy(new Error('ours'), 11) },
  'session goaway': session => { session.goaway(0) },
  'session goaway 2': session => { session.goaway(2) },
  'an aborted signal': (session, stream, controller) => { controller.abort() },
  'an aborted signal with a reason': (session, stream, controller) => { controller.abort(new Error('why')) }
}

/** The server comes to the moment, and then acts. */
const serveTo = (moment, act) => stream => {
  stream.on('error', () => {})
  if (moment === 'before the head') return act(stream)
  if (moment === 'behind the answer') {
    stream.respond()
    stream.end('answer')
    return setTimeout(() => { if (stream.session !== undefined) act(stream) }, 30)
  }
  stream.respond()
  if (moment === 'within the body') stream.write('part')
  setTimeout(() => { act(stream) }, 30)
}

const programs = {}
for (const server of Object.keys(SERVERS)) {
  for (const body of [false, true]) {
    for (const moment of MOMENTS) {
      for (const [how, act] of Object.entries(BY_SERVER)) {
        programs[`${server}, ${body ? 'an open body' : 'no body'}, ${moment}, the server: ${how}`] = async ({ connect }, t) => {
          const { url } = await t.serve(server, { listeners: { stream: serveTo(moment, act) } })
          const session = t.open(connect, url)
          const log = t.log('session')
          session.on('goaway', (code, last, data) => { log('goaway', code, data === undefined ? data : Buffer.from(data)) })
          const stream = session.request({ ':method': body ? 'POST' : 'GET' })
          const seen = t.watch(stream)
          if (body) stream.write('begun')
          await seen
          t.log('then')(session.goawayCode)
          if (body && !stream.writableEnded) stream.end()
          await turns()
          session.close()
          await closing(session)
        }
      }
      for (const [how, act] of Object.entries(BY_CLIENT)) {
        programs[`${server}, ${body ? 'an open body' : 'no body'}, ${moment}, the client: ${how}`] = async ({ connect }, t) => {
          const { url } = await t.serve(server, {
            listeners: {
              stream: stream => {
                stream.on('error', () => {})
                if (moment === 'before the head') return
                stream.respond()
                if (moment === 'behind the answer') stream.end('answer')
                else if (moment === 'within the body') stream.write('part')
              }
            }
          })
          const session = t.open(connect, url)
          const controller = new AbortController()
          const stream = session.request({ ':method': body ? 'POST' : 'GET' }, { signal: controller.signal })
          const seen = t.watch(stream)
          if (body) stream.write('begun')
          if (moment === 'before the head') await new Promise(resolve => { stream.once('ready', resolve) })
          else await new Promise(resolve => { stream.once(moment === 'behind the head' ? 'response' : moment === 'within the body' ? 'data' : 'end', resolve) })
          t.attempt(t.log('call'), how, () => act(session, stream, controller))
          t.log('call')('then', session.closed, session.destroyed, stream.closed, stream.destroyed, stream.aborted)
          await Promise.race([seen, new Promise(resolve => { setTimeout(resolve, 500) })])
          t.log('call')('at last', stream.closed, stream.destroyed, stream.rstCode)
        }
      }
    }
  }
}
export default programs

// Every call and property of a session and of a stream, x every kind of value, x a state.
import { VALUES } from '../../server/values.mjs'
import { turns } from '../stage.mjs'

const OF_SESSION = {
  request: (session, value) => session.request(value),
  'request, options': (session, value) => session.request({}, value),
  'request, endStream': (session, value) => session.request({}, { endStream: value }),
  'request, exclusive': (session, value) => session.request({}, { exclusive: value }),
  'request, parent': (session, value) => session.request({}, { parent: value }),
  'request, silent': (session, value) => session.request({}, { silent: value }),
  'request, signal': (session, value) => session.request({}, { signal: value }),
  'request, a path': (session, value) => session.request({ ':path': value }),
  'request, a method': (session, value) => session.request({ ':method': value }),
  'request, a field': (session, value) => session.request({ 'x-a': value }),
  'request, a field of one value': (session, value) => session.request({ 'content-type': [value, value] }),
  ping: (session, value) => session.ping(value, () => {}),
  'ping, a callback': (session, value) => session.ping(Buffer.alloc(8), value),
  settings: (session, value) => session.settings(value),
  'settings, a window': (session, value) => session.settings({ initialWindowSize: value }),
  'settings, push': (session, value) => session.settings({ enablePush: value }),
  'settings, a callback': (session, value) => session.settings({}, value),
  goaway: (session, value) => session.goaway(value),
  'goaway, a last stream': (session, value) => session.goaway(0, value),
  'goaway, data': (session, value) => session.goaway(0, 0, value),
  setLocalWindowSize: (session, value) => session.setLocalWindowSize(value),
  setNextStreamID: (session, value) => session.setNextStreamID(value),
  setTimeout: (session, value) => session.setTimeout(value),
  'setTimeout, a callback': (session, value) => session.setTimeout(1000, value),
  close: (session, value) => session.close(value),
  destroy: (session, value) => session.destroy(value),
  'destroy, a code': (session, value) => session.destroy(undefined, value)
}
const OF_STREAM = {
  close: (stream, value) => stream.close(value),
  'close, a callback': (stream, value) => stream.close(0, value),
  sendTrailers: (stream, value) => stream.sendTrailers(value),
  setTimeout: (stream, value) => stream.setTimeout(value),
  'setTimeout, a callback': (stream, value) => stream.setTimeout(1000, value),
  write: (stream, value) => stream.write(value),
  end: (stream, value) => stream.end(value),
  destroy: (stream, value) => stream.destroy(value)
}
const STATES = {
  connecting: async () => {},
  open: async session => { await new Promise(resolve => { session.once('connect', resolve) }) },
  closed: async session => {
    await new Promise(resolve => { session.once('connect', resolve) })
    session.request({ ':path': '/long' }).on('error', () => {})
    session.close()
  },
  destroyed: async session => { session.destroy() }
}
const programs = {}
for (const [state, reach] of Object.entries(STATES)) {
  for (const [call, act] of Object.entries(OF_SESSION)) {
    // The server closes then, sooner or later: ends.mjs has it.
    if (call.startsWith('goaway') && state !== 'connecting' && state !== 'destroyed') continue
    for (const [value, given] of Object.entries(VALUES)) {
      programs[`session, ${state}, ${call}, ${value}`] = async ({ connect }, t) => {
        const { url } = await t.serve('node', { listeners: { stream: (stream, headers) => { stream.on('error', () => {}); if (headers[':path'] !== '/long') { stream.respond(); stream.end('ok') } } } })
        const log = t.log('call')
        const session = t.open(connect, url)
        await reach(session)
        const made = t.attempt(log, call, () => act(session, given))
        const seen = made !== undefined && made !== null && call.startsWith('request') ? t.watch(made) : undefined
        log('then', session.closed, session.destroyed, session.connecting)
        if (seen === undefined) await turns()
        else await seen
      }
    }
  }
}
for (const pending of [true, false]) {
  for (const [call, act] of Object.entries(OF_STREAM)) {
    for (const [value, given] of Object.entries(VALUES)) {
      programs[`stream, ${pending ? 'pending' : 'open'}, ${call}, ${value}`] = async ({ connect }, t) => {
        const { url } = await t.serve('node', { listeners: { stream: stream => { stream.on('error', () => {}); stream.respond(); stream.end('ok') } } })
        const log = t.log('call')
        const session = t.open(connect, url)
        if (!pending) await new Promise(resolve => { session.once('connect', resolve) })
        const stream = session.request({ ':method': 'POST' })
        const seen = t.watch(stream)
        t.attempt(log, call, () => act(stream, given))
        log('then', stream.closed, stream.destroyed, stream.pending, stream.aborted)
        stream.end()
        await seen
      }
    }
  }
}
export default programs

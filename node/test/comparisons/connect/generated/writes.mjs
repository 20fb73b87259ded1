// Bytes written before a stream or its session ends, x how it ends x when: how many of them the server gets.
import { closing, turns } from '../stage.mjs'
import { ENDS, LATER, WRITES, combined } from '../../writes.mjs'

/** How far the request is when its body is written; gives its stream where that has begun. */
const REACHED = {
  'before the connection': async () => {},
  'with its head': async session => { await new Promise(resolve => { session.once('connect', resolve) }) },
  'behind its head': async (session, make) => {
    const stream = make()
    await new Promise(resolve => { stream.once('headers', resolve) })
    return stream
  }
}

const programs = {}
for (const { name, isSecure, at, written, moment, how } of combined(Object.keys(REACHED))) {
  programs[name] = async ({ connect }, t) => {
    const log = t.log('server')
    let gone
    const served = new Promise(resolve => { gone = resolve })
    const { url } = await t.serve('node', {
      secure: isSecure,
      listeners: {
        stream (stream) {
          let bytes = 0
          stream.on('error', () => {})
          stream.on('data', piece => { bytes += piece.length })
          stream.on('close', () => {
            // ends.mjs has how it ends.
            log('bytes', bytes)
            gone()
          })
          stream.additionalHeaders({ ':status': 103 })
        }
      }
    })
    const session = t.open(connect, url)
    const make = () => {
      const stream = session.request({ ':method': 'POST' })
      stream.on('error', () => {})
      return stream
    }
    const stream = await REACHED[at](session, make) ?? make()
    WRITES[written](stream)
    await LATER[moment]()
    ENDS[how](stream, session)
    await closing(stream)
    // A request may never have been sent: what comes behind it says so.
    if (session.destroyed || session.closed) await closing(session)
    else await new Promise(resolve => { session.ping(resolve) })
    await Promise.race([served, turns(20)])
    session.destroy()
    t.log('client')('closed')
  }
}
export default programs

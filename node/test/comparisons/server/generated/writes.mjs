// Bytes that a server writes before a stream or its session ends, x how it ends x when: how many of them the client gets.
import { cert, key } from '../stage.mjs'
import { ENDS, LATER, WRITES, combined } from '../../writes.mjs'

const turn = () => new Promise(resolve => { setImmediate(resolve) })
/** How far the response is when its body is written. */
const ANSWERED = {
  'without a head': () => {},
  'with its head': stream => { stream.respond({ ':status': 200 }) },
  'behind its head': async stream => {
    stream.respond({ ':status': 200 })
    await turn()
    await turn()
  }
}

const programs = {}
for (const { name, isSecure, at, written, moment, how } of combined(Object.keys(ANSWERED))) {
  programs[name] = async (http2, t) => {
    const server = isSecure ? http2.createSecureServer({ key, cert }) : http2.createServer()
    server.on('sessionError', () => {})
    server.on('stream', async stream => {
      stream.on('error', () => {})
      const { session } = stream
      await ANSWERED[at](stream)
      WRITES[written](stream)
      await LATER[moment]()
      ENDS[how](stream, session)
    })
    const client = await t.open(server, { secure: isSecure })
    const log = t.log('client')
    const stream = client.request()
    let bytes = 0
    stream.on('data', piece => { bytes += piece.length })
    stream.on('error', () => {})
    await new Promise(resolve => { stream.on('close', resolve) })
    log('bytes', bytes)
  }
}
export default programs

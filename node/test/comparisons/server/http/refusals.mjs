// Heads that are refused, by what the listener of `clientError` does, or that there is none, and by how the client leaves: each
// connection ends, and its listener's answer comes as long as the client waits for it.
import { HOST, raw } from '../wire.mjs'

const HEADS = {
  'a head that is too long': `GET /a HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`,
  'a target beyond ASCII': `GET /\xe9 HTTP/1.1\r\n${HOST}\r\n`,
  'a name that is none': `GET /a HTTP/1.1\r\n${HOST}a b: c\r\n\r\n`
}
const ANSWER = 'HTTP/1.1 400 Ours\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno'
const LISTENERS = {
  'answers nothing': () => {},
  'answers': socket => { socket.end(ANSWER) },
  'answers later': socket => { setImmediate(() => { socket.end(ANSWER) }) },
  'destroys': socket => { socket.destroy() },
  'destroys later': socket => { setImmediate(() => { socket.destroy() }) }
}
const LEAVES = {
  'ends with it': (client, _, text) => { client.end(text, 'latin1') },
  'ends behind it': async (client, refused, text) => {
    client.write(text, 'latin1')
    await refused
    client.end()
  },
  'waits': (client, _, text) => { client.write(text, 'latin1') }
}

const refused = (text, listener, leave) => {
  let report
  const refusal = new Promise(resolve => { report = resolve })
  return raw((server, { log }) => {
    server.on('request', () => { log('request') })
    server.on('connection', socket => { socket.on('close', () => { log('closed') }) })
    if (listener === undefined) return
    server.on('clientError', (error, socket) => {
      log(error.code, socket.destroyed, socket.writable)
      listener(socket)
      setImmediate(report)
    })
  }, '', { act: client => leave(client, refusal, text) })
}

const programs = {}
for (const [what, text] of Object.entries(HEADS)) {
  for (const [leaves, leave] of Object.entries(LEAVES)) {
    for (const [how, listener] of Object.entries(LISTENERS)) {
      // A client that waits for an answer, where none comes, waits on.
      if (how !== 'answers nothing' || leaves !== 'waits') programs[`${what}, the listener ${how}, the client ${leaves}`] = refused(text, listener, leave)
    }
    if (leaves !== 'ends behind it') programs[`${what}, no listener, the client ${leaves}`] = refused(text, undefined, leave)
  }
}
export default programs

// Answers that break their exchange x moment x call: the error, and what its socket says.
import { known } from '../line_calls.mjs'

const ANSWERS = {
  '101 that was not asked for': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  '101 without an upgrade': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  '101 with bytes behind it': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nbytes',
  'nothing, and the end': '',
  'half a line, and the end': 'HTTP/1.1 2',
  'half a head, and the end': 'HTTP/1.1 200 OK\r\ncontent-le',
  'a body that is cut': 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello',
  'chunks that are cut': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n',
  'what is no HTTP': 'ICY 200 OK\r\n\r\n'
}
const ENDS = { 'end': socket => { socket.end() }, 'destroy': socket => { socket.destroy() }, 'reset': socket => { socket.resetAndDestroy() } }
const METHODS = { GET: {}, POST: { body: 'some text' } }
const CALLS = {
  'request of a Client': (module, t, url, options) => t.own(new module.Client(url)).request(options),
  'request of an Agent': (module, t, url, options) => t.own(new module.Agent()).request({ ...options, origin: url }),
  "undici's request over an Agent": (module, t, url, { path, ...rest }) => module.top.request(`${url}${path}`, { ...rest, dispatcher: t.own(new module.Agent()) })
}
/** The socket of an error: names and kinds of its facts, and whether bytes were counted. */
function socketOf (error, port) {
  const { socket } = error
  if (socket == null) return 'no socket'
  const { localAddress, localPort, remoteAddress, remotePort, remoteFamily, timeout, bytesWritten, bytesRead, ...rest } = socket
  return [localAddress, typeof localPort, remoteAddress, remotePort === port, remoteFamily, timeout, bytesWritten > 0, bytesRead, Object.keys(rest).join()].join()
}

const programs = {}
for (const [call, asks] of Object.entries(CALLS)) {
  for (const [method, given] of Object.entries(METHODS)) {
    for (const [answer, text] of Object.entries(ANSWERS)) {
      for (const [end, ends] of Object.entries(ENDS)) {
        // A reset may overtake what was written before it.
        if (end === 'reset' && text !== '') continue
        programs[`${call}, ${method}: ${answer}, ${end}`] = async (module, t) => {
          const log = t.log('client')
          const server = await t.serveRaw(socket => {
            socket.once('data', () => { if (text === '') ends(socket); else socket.write(text, () => { ends(socket) }) })
          })
          try {
            const { statusCode, body } = await asks(module, t, server.url, { path: '/', method, ...given })
            log('head', statusCode)
            log('body', await body.text())
          } catch (error) {
            log('failed', known(error), socketOf(error, server.port))
          }
        }
      }
    }
  }
}
export default programs

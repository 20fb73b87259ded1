// Servers that break a TLS handshake off x when x the versions that the client offers x dispatcher.
import { once } from 'node:events'
import net from 'node:net'

const BREAKS = { end: socket => { socket.end() }, destroy: socket => { socket.destroy() }, reset: socket => { socket.resetAndDestroy() }, 'half a record': socket => { socket.end(Buffer.from('16030300', 'hex')) } }
const MAKE = {
  Client: ({ Client }, origin, options) => new Client(origin, options),
  Pool: ({ Pool }, origin, options) => new Pool(origin, options),
  Agent: ({ Agent }, origin, options) => new Agent(options)
}
const known = ({ name, code, message, errno, syscall, host, port, path, localAddress }) => [name, code, message, { errno, syscall, host, port: typeof port, path, localAddress }]

const programs = {}
for (const [act, breakOff] of Object.entries(BREAKS)) {
  for (const when of act === 'reset' ? ['behind the hello'] : ['at once', 'behind the hello']) {
    for (const allowH2 of [true, false]) {
      for (const [kind, make] of Object.entries(MAKE)) {
        programs[`${act} ${when}, ${allowH2 ? 'h2 and h1' : 'h1'}, ${kind}`] = async (module, stage) => {
          const server = net.createServer(socket => {
            socket.on('error', () => {})
            if (when === 'at once') breakOff(socket)
            else socket.once('data', () => { breakOff(socket) })
          })
          await once(server.listen(0, '127.0.0.1'), 'listening')
          stage.closers.push(() => { server.close() })
          const origin = `https://127.0.0.1:${server.address().port}`
          const dispatcher = stage.own(make(module, origin, { allowH2 }))
          const log = stage.log('client')
          dispatcher.on('connectionError', (url, targets, error) => { stage.log('events')('connectionError', ...known(error)) })
          await dispatcher.request({ origin, path: '/', method: 'GET' }).then(({ statusCode }) => { log(statusCode) }, error => { log(...known(error)) })
        }
      }
    }
  }
}
export default programs

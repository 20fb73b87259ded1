// Time limits x how far an answer has come x where the limit is said x dispatcher: the error of the request, and why its connection ends.
import { once } from 'node:events'
import net from 'node:net'

/** Milliseconds; what comes, comes at once, and the rest never. */
const LIMIT_MS = 300
const ANSWERS = {
  nothing: '',
  'half of the head': 'HTTP/1.1 200 OK\r\nx-a: ',
  'an interim head': 'HTTP/1.1 102 Processing\r\n\r\n',
  'the head': 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n',
  'half of the body': 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha',
  'a chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nha\r\n',
  'half of the trailers': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nha\r\n0\r\nx-t: ',
  'no handshake': null
}
const MAKE = {
  Client: ({ Client }, origin, options) => new Client(origin, options),
  Pool: ({ Pool }, origin, options) => new Pool(origin, { ...options, connections: 1 }),
  Agent: ({ Agent }, origin, options) => new Agent({ ...options, connections: 1 })
}

const programs = {}
for (const [name, answer] of Object.entries(ANSWERS)) {
  const limit = answer === null ? 'connectTimeout' : /^(HTTP\/1.1 200 .*\r\n\r\n)/s.test(answer) ? 'bodyTimeout' : 'headersTimeout'
  for (const where of answer === null ? ['the dispatcher', 'connect'] : ['the dispatcher', 'the request']) {
    for (const [kind, make] of Object.entries(MAKE)) {
      for (const method of ['GET', 'POST']) {
        programs[`${name}, of ${where}, ${kind}, ${method}`] = async (module, stage) => {
          const sockets = []
          const server = net.createServer(socket => {
            sockets.push(socket.on('error', () => {}))
            socket.once('data', () => { if (answer !== null) socket.write(answer) })
          })
          await once(server.listen(0, '127.0.0.1'), 'listening')
          stage.closers.push(() => {
            for (const socket of sockets) socket.destroy()
            server.close()
          })
          const origin = `http${answer === null ? 's' : ''}://127.0.0.1:${server.address().port}`
          const options = where === 'the dispatcher' ? { [limit]: LIMIT_MS } : where === 'connect' ? { connect: { timeout: LIMIT_MS } } : {}
          const dispatcher = stage.own(make(module, origin, options))
          stage.watch(stage.log('events'), dispatcher, kind, ['connect', 'disconnect', 'connectionError'])
          const ended = once(dispatcher, answer === null ? 'connectionError' : 'disconnect')
          const asked = { origin, path: '/', method, ...(method === 'POST' && { body: 'body' }), ...(where === 'the request' && { [limit]: LIMIT_MS }) }
          await stage.settle(stage.log('client'), 'request', dispatcher.request(asked).then(async ({ statusCode, body }) => [statusCode, await body.text()]), value => value)
          await ended
        }
      }
    }
  }
}
export default programs

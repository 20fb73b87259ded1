// Sockets of upgrades and of CONNECT whose client ends, destroys or resets its side: what their listeners get, by what is under way
// in either direction and by whether the socket is read.
import { HOST } from '../wire.mjs'
import { closing, closingSocket } from '../stage.mjs'

const ASKED = {
  'an upgrade': ['upgrade', `GET /a HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: tea\r\n\r\n`, 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n'],
  'a CONNECT': ['connect', `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, 'HTTP/1.1 200 Established\r\n\r\n']
}
const SENT = { nothing: '', 'a text': 'hello', 'large pieces': Buffer.alloc(300_000, 'y') }
const READERS = {
  'reads': socket => { socket.resume() },
  'reads behind the act': (socket, acted) => { acted.then(() => { socket.resume() }) }
}
const ACTS = {
  end: client => { client.end() },
  destroy: client => { client.destroy() },
  reset: client => { client.resetAndDestroy() }
}

function ended ([event, text, head], sent, reader, act) {
  return async (http, t) => {
    const log = t.log('server')
    const server = http.createServer()
    let closed
    const isClosed = new Promise(resolve => { closed = resolve })
    let hasActed
    const acted = new Promise(resolve => { hasActed = resolve })
    server.on(event, (request, socket) => {
      socket.on('end', () => { log('end'); socket.end() })
      socket.on('error', error => { log(error) })
      socket.on('close', hadError => { log('close', hadError); closed() })
      socket.write(head)
      reader(socket, acted)
    })
    await t.listen(server)
    const over = closing(server)
    const client = await t.dial(server.address().port)
    const isLeft = closingSocket(client)
    client.resume()
    client.write(text)
    await new Promise(resolve => { client.once('data', resolve) })
    if (sent.length > 0) await new Promise(resolve => { client.write(sent, resolve) })
    act(client)
    hasActed()
    await isLeft
    await isClosed
    server.close()
    await over
  }
}

const programs = {}
for (const [asked, how] of Object.entries(ASKED)) {
  for (const [name, sent] of Object.entries(SENT)) {
    for (const [way, act] of Object.entries(ACTS)) {
      for (const [reads, reader] of Object.entries(READERS)) programs[`${asked}, ${name} was sent, ${way}, the server ${reads}`] = ended(how, sent, reader, act)
    }
  }
}
export default programs

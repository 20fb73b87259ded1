// Sockets of upgrades, of CONNECT and of requests that a program answers by hand and then leaves, at each moment and in each
// way: what its client receives of what was written, and how the connection ends.
import { HOST, readable } from '../wire.mjs'
import { closing, closingSocket } from '../stage.mjs'

const PIECE = Buffer.alloc(100_000, 'x')
/** How a request asks for the bytes of its connection, and the head that gives them. */
const REFUSED = 'an upgrade that is refused'
const ASKED = {
  'an upgrade': ['upgrade', `GET /a HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: tea\r\n\r\n`, 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n'],
  'a CONNECT': ['connect', `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, 'HTTP/1.1 200 Established\r\n\r\n'],
  [REFUSED]: ['upgrade', `GET /a HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: tea\r\n\r\n`, 'HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n']
}
/** The pieces that are written; the last has the callback, where the moment is that of one. */
const WRITTEN = {
  'its head alone': head => [head],
  'a text with its head': head => [`${head}some`],
  'a text behind its head': head => [head, 'some'],
  'large pieces': head => [head, PIECE, PIECE, PIECE]
}
const LEFT = {
  destroy: socket => { socket.destroy() },
  'destroy with an error': socket => { socket.destroy(new Error('of a test')) },
  destroySoon: socket => { socket.destroySoon() },
  end: socket => { socket.end() },
  'end and destroy': socket => { socket.end(); socket.destroy() },
  'end with a text and destroy': socket => { socket.end('last'); socket.destroy() }
}
/** Elsewhere its client says nothing: the system resets a connection that is closed while bytes come. */
const SPEAKS = 'behind bytes of the client'
const MOMENTS = {
  'at once': (socket, leave) => { leave() },
  'in the next tick': (socket, leave) => { process.nextTick(leave) },
  'in the next turn': (socket, leave) => { setImmediate(leave) },
  'in the callback of its last write': null,
  [SPEAKS]: (socket, leave) => { socket.once('data', leave) }
}
/** A client reads at once, or once the server's socket has closed. */
const READERS = { '': () => true, ', read late': (way, when) => way !== 'end' && when !== SPEAKS }

function left ([event, text, head], pieces, leave, moment, { isLate, speaks }) {
  return async (http, t) => {
    const log = t.log('server')
    const server = http.createServer()
    let closed
    const isClosed = new Promise(resolve => { closed = resolve })
    server.on(event, (request, socket) => {
      socket.on('error', error => { log(error) })
      socket.on('close', hadError => { log('close', hadError); closed() })
      const all = pieces(head)
      const last = all.pop()
      for (const piece of all) socket.write(piece)
      if (moment === null) return socket.write(last, () => { leave(socket) })
      socket.write(last)
      moment(socket, () => { leave(socket) })
    })
    await t.listen(server)
    const over = closing(server)
    const socket = await t.dial(server.address().port)
    const isLeft = closingSocket(socket)
    let all = ''
    let ended = false
    socket.on('end', () => { ended = true })
    socket.write(text)
    if (isLate) await isClosed
    socket.on('data', piece => {
      if (all === '' && speaks) socket.write('hello')
      all += piece.toString('latin1')
    })
    await Promise.all([isLeft, isClosed])
    // A refusal is framed by the server.
    const [, status, bytes] = /^<\S+ (\d+)[^>]*>([^]*)$/.exec(readable(all, false)) ?? []
    t.log('client')(status, bytes?.length, ended)
    server.close()
    await over
  }
}

const programs = {}
for (const [asked, how] of Object.entries(ASKED)) {
  for (const [written, pieces] of Object.entries(WRITTEN)) {
    for (const [way, leave] of Object.entries(LEFT)) {
      for (const [when, moment] of Object.entries(MOMENTS)) {
        for (const [reader, hasWay] of Object.entries(READERS)) {
          // The bytes of a connection are HTTP's where its request stays.
          if (hasWay(way, when) && !(asked === REFUSED && when === SPEAKS)) programs[`${asked}, ${written}, ${way} ${when}${reader}`] = left(how, pieces, leave, moment, { isLate: reader !== '', speaks: when === SPEAKS })
        }
      }
    }
  }
}
export default programs

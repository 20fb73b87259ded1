// Requests that ask for an upgrade: with a body or without, as it comes x what their listener does. Whose the body is goes by the
// line of Node.js.
import { HOST, raw } from '../wire.mjs'

const BODIES = {
  'no body': ['', ''],
  'a body of a length': ['content-length: 5\r\n', 'hello'],
  'a body in chunks': ['transfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n']
}
/** Pieces: the first goes at once, the others behind the event. */
const ARRIVALS = {
  'with its head': (head, body) => [head + body],
  'behind its head': (head, body) => [head, body],
  'in two pieces': (head, body) => [head + body.slice(0, 3), body.slice(3)]
}
const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n'
const echo = socket => {
  socket.on('data', piece => { if (`${piece}`.endsWith('more')) socket.write('<more>') })
  socket.on('end', () => { socket.end() })
}
const ACTS = {
  'reads the socket': (request, socket) => {
    echo(socket)
    socket.write(SWITCHING)
  },
  'reads both': (request, socket, note) => {
    request.on('data', note)
    echo(socket)
    socket.write(SWITCHING)
  },
  'refuses': (request, socket) => { socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n') },
  'destroys': (request, socket) => { socket.destroy() }
}
/** Acts on a socket itself: on the newest lines one with a body in front has a stream in its place. */
const OF_SOCKETS = {
  'resets': (request, socket) => { socket.resetAndDestroy() },
  'resets behind its answer': (request, socket) => { socket.write(SWITCHING, () => { socket.resetAndDestroy() }) },
  'ends behind its answer': (request, socket) => { socket.end(SWITCHING) }
}

const upgraded = ([framing, body], arrive, listener) => {
  const [first, ...others] = arrive(`POST /a HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: tea\r\n${framing}\r\n`, body)
  let came
  const arrived = new Promise(resolve => { came = resolve })
  return raw((server, { t }) => {
    server.on('upgrade', (request, socket, head) => {
      const [ofRequest, ofSocket] = [t.log('request'), t.log('socket')]
      let [read, bytes] = ['', `${head}`]
      ofRequest('upgrade', request.upgrade, request.method, request.headers.upgrade)
      socket.on('error', error => { ofSocket(error) }).on('close', () => { ofSocket('close', bytes) })
      const { emit } = socket
      socket.emit = function (event, ...given) {
        if (event === 'data') bytes += given[0]
        return emit.call(this, event, ...given)
      }
      request.on('end', () => { ofRequest('end', read) })
      came()
      listener(request, socket, piece => { read += piece })
    })
  }, first, {
    act: async (client, { until, t }) => {
      const log = t.log('client')
      client.on('error', error => { log(error.code) })
      await arrived
      for (const piece of others) if (!client.destroyed) client.write(piece)
      if (listener !== ACTS['reads the socket'] && listener !== ACTS['reads both']) return
      await until('101')
      client.write('more')
      await until('<more>')
      client.end()
    }
  })
}

const programs = {}
for (const [body, parts] of Object.entries(BODIES)) {
  for (const [how, arrive] of Object.entries(ARRIVALS)) {
    if (parts[1] === '' && how !== 'with its head') continue
    // Before, node waits for its client behind a refusal whose body comes later.
    const isOfRequest = parts[1] === '' || Number.parseInt(process.versions.node, 10) >= 26
    for (const [what, act] of Object.entries({ ...ACTS, ...(parts[1] === '' ? OF_SOCKETS : {}) })) if (what !== 'refuses' || isOfRequest) programs[`${body} ${how}, its listener ${what}`] = upgraded(parts, arrive, act)
  }
}
export default programs

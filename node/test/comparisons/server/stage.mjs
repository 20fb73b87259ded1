// The environment of a program in this folder: a server of either kind, clients of node:http2, and
// a log for each of the two sides. The sides share no clock, so that only the order within a side
// counts.
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { cert, key } from '../../support/certificates/certificate.mjs'
import { displayed, Sides } from '../sides.mjs'

/** How long the sides have to part after a program has ended. */
const PARTING_MS_MAX = 20_000

export { cert, displayed, key }

/** Whether servers of both forms have TLS. */
export const isSecure = process.env.COMPARISONS_SECURE === 'yes'

/** Fields of the framing and of the connection: where they stand among the others says nothing. */
const OF_FRAMING = ['connection', 'content-length', 'keep-alive', 'transfer-encoding']

/** Fields in their order, pseudo-headers first and those of the framing last; a date is there or not. */
export function fields (headers) {
  const rank = ([name]) => name[0] === ':' ? 0 : OF_FRAMING.includes(name) ? 2 : 1
  const inOrder = (one, other) => {
    const by = rank(one) - rank(other)
    return by !== 0 || rank(one) === 1 ? by : one[0] < other[0] ? -1 : 1
  }
  const entries = Object.entries(headers).sort(inOrder).map(([name, value]) => `${name}: ${name === 'date' ? 'now' : displayed(value)}`)
  const hidden = headers[http2.sensitiveHeaders] ?? []
  return `{${entries.join('; ')}}${hidden.length > 0 ? ` sensitive ${hidden}` : ''}`
}

export class Stage extends Sides {
  servers = []
  sessions = []
  sockets = []

  /** Says each of the events with what `report` makes of its arguments. */
  watch (log, emitter, label, events, report = () => []) {
    for (const event of events) emitter.on(event, (...args) => { log(label, event, ...report(event, ...args)) })
  }

  /** Listens on a port of its own. */
  async listen (server) {
    this.servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server.address().port
  }

  /** A session of node:http2 with `server`, which listens if it does not yet. */
  async open (server, options = {}) {
    const { secure = false, ...rest } = options
    const port = server.listening ? server.address().port : await this.listen(server)
    const client = http2.connect(`http${secure ? 's' : ''}://localhost:${port}`, { ca: cert, family: 4, ...rest })
    this.sessions.push(client)
    client.on('error', () => {})
    client.on('stream', pushed => { pushed.resume() })
    return client
  }

  /** One exchange, as the client sees it; says all of it. */
  async show (client, request = {}) {
    const { name = 'client', headers = {}, body, trailers, endStream, before } = request
    const log = this.log(name)
    const isEnded = endStream ?? (body === undefined && trailers === undefined)
    const stream = client.request({ ':path': '/', ...headers }, { endStream: isEnded, waitForTrailers: trailers !== undefined })
    const pieces = []
    stream.on('headers', head => { log('interim', fields(head)) })
    stream.on('continue', () => { log('continue') })
    stream.on('response', head => { log('response', fields(head)) })
    stream.on('data', piece => { pieces.push(piece) })
    stream.on('trailers', head => { log('trailers', fields(head)) })
    stream.on('end', () => { log('body', Buffer.concat(pieces)) })
    stream.on('aborted', () => { log('aborted') })
    stream.on('error', error => { log('error', error) })
    stream.on('wantTrailers', () => { stream.sendTrailers(trailers) })
    const closed = new Promise(resolve => { stream.on('close', resolve) })
    before?.(stream, log)
    if (!isEnded && body !== null) stream.end(body)
    await closed
    log('closed with', stream.rstCode)
    return { body: Buffer.concat(pieces), stream }
  }

  /** One exchange of HTTP/1.1 over TLS. */
  async ask (server, request = {}) {
    const { name = 'client', body, trailers, before, ...options } = request
    const log = this.log(name)
    const asked = https.request({ host: 'localhost', family: 4, port: server.address().port, ca: cert, agent: false, ...options })
    asked.on('error', error => { log('error', error) })
    asked.on('continue', () => { log('continue') })
    asked.on('information', ({ statusCode, headers }) => { log('interim', statusCode, fields(headers)) })
    before?.(asked, log)
    if (trailers !== undefined) asked.addTrailers(trailers)
    if (body !== null) asked.end(body)
    const [answer] = await Promise.race([new Promise(resolve => { asked.on('response', one => { resolve([one]) }) }), closing(asked).then(() => [])])
    if (answer === undefined) return
    log('response', answer.statusCode, answer.statusMessage, fields(answer.headers))
    const pieces = []
    answer.on('error', error => { log('error', error) })
    answer.on('data', piece => { pieces.push(piece) })
    await closing(answer)
    log('body', Buffer.concat(pieces), 'complete', answer.complete, 'trailers', fields(answer.trailers))
  }

  /** A connection of TLS with nothing on it. */
  async connectTls (server, options = {}) {
    const socket = tls.connect({ host: 'localhost', family: 4, port: server.address().port, ca: cert, servername: 'localhost', ...options })
    this.sockets.push(socket)
    socket.on('error', () => {})
    return socket
  }

  /** A connection on which programs write HTTP/1.1 themselves, once it is there, or has ended. */
  async dial (port) {
    const socket = isSecure ? tls.connect({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' }) : net.connect(port, '127.0.0.1')
    this.sockets.push(socket)
    socket.on('error', () => {})
    await new Promise(resolve => { socket.once(isSecure ? 'secureConnect' : 'connect', resolve).once('close', resolve) })
    return socket
  }

  /** Requests of HTTP/1.1 behind each other on one connection, and one that asks for its end: which of the answers
   * say that they are the last. */
  async talk (server, paths) {
    const log = this.log('client')
    const socket = await this.connectTls(server, { ALPNProtocols: ['http/1.1'] })
    let text = ''
    socket.on('data', piece => { text += piece })
    socket.write(`${paths.map(path => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`).join('')}GET /end HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    await closing(socket)
    for (const answer of text.split(/(?=HTTP\/1\.1 )/)) log(answer.slice(9, 12), /^connection: .*close/im.test(answer) ? 'is the last' : 'goes on')
  }

  /** Ends all that is left, the clients first; a connection that does not close is logged. */
  async part () {
    const late = async (what, done) => {
      let timer
      const wait = new Promise(resolve => { timer = setTimeout(resolve, PARTING_MS_MAX, 'late') })
      if (await Promise.race([done, wait]) === 'late') this.log('stage')(what, 'did not close')
      clearTimeout(timer)
    }
    for (const socket of this.sockets) socket.destroy()
    for (const session of this.sessions) {
      session.close()
      await late('session', gone(session))
      session.destroy()
    }
    for (const server of this.servers) {
      if (!server.listening) continue
      await late('server', new Promise(resolve => { server.close(resolve) }))
    }
  }
}

/** When an emitter is closed, whatever its errors. */
export const closing = emitter => new Promise(resolve => { emitter.on('close', resolve) })
/** When a socket is closed, or at once where it is. */
export const closingSocket = socket => socket.closed ? Promise.resolve() : closing(socket)

/** When a session has no socket any more. */
async function gone (session) {
  while (!session.destroyed) await new Promise(resolve => { setImmediate(resolve) })
}

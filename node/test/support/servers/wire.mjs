// The scripted end of connections whose bytes end as a test says, held against docs/ends.md.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { Duplex } from 'node:stream'
import { TLSSocket, connect as connectTls } from 'node:tls'
import { cert } from '../certificates/certificate.mjs'

/** The ends of a connection by their names in the tables; whether they are under TLS. */
export const ends = {
  FIN: false,
  close_notify: true,
  'FIN without close_notify': true,
  RST: false,
  'RST under TLS': true,
  'a bad record': true
}

/** The table of docs/ends.md under a heading: its outcomes by end and place. The kind of an error is
 * the engine's, which has names of its own in JavaScript. Without `deaths` rows of processes that are killed are left
 * out. */
export function table (heading, deaths = false) {
  const cells = tableWithKinds(heading, deaths)
  const outcomes = row => Object.fromEntries(Object.entries(row).map(([place, cell]) => [place, cell.split(':')[0]]))
  return Object.fromEntries(Object.entries(cells).map(([end, row]) => [end, outcomes(row)]))
}

/** As `table`, with the kinds of errors as the page has them. */
export function tableWithKinds (heading, deaths) {
  const page = readFileSync(new URL('../../../../docs/ends.md', import.meta.url), 'utf8')
  const section = page.split('\n## ').find(section => section.startsWith(`${heading}\n`))
  const rows = section.split('\n').filter(line => line.startsWith('|'))
    .map(line => line.slice(1, -1).split('|').map(cell => cell.trim()))
  const [[, ...places], , ...all] = rows
  const cells = all.filter(([end]) => deaths || !end.startsWith('SIGKILL'))
  return Object.fromEntries(cells.map(([end, ...row]) => [end, Object.fromEntries(row.map((cell, at) => [places[at], cell]))]))
}

/** The bytes of `raw` as a stream that TLS runs over, so that nothing but what a test says ends it. */
function carried (raw) {
  const over = new Duplex({
    read () { raw.resume() },
    write (chunk, _, done) { raw.destroyed ? done() : raw.write(chunk, () => done()) },
    final (done) { raw.destroyed ? done() : raw.end(done) }
  })
  raw.on('data', chunk => { if (!over.push(chunk)) raw.pause() })
  raw.on('end', () => over.push(null))
  return over
}

/** Our end of a connection: `socket` to read and write, and `end(how)`. */
function connection (raw, tls) {
  raw.on('error', () => {})
  // Written bytes are with the peer before a reset, which discards bytes that still wait to be sent.
  raw.setNoDelay(true)
  const socket = tls ? tls(carried(raw)) : raw
  socket.on('error', () => {})
  const end = how => {
    if (how === 'a bad record') return raw.write(Buffer.concat([Buffer.from([23, 3, 3, 0, 32]), Buffer.alloc(32, 7)]))
    if (how === 'RST' || how === 'RST under TLS') return raw.resetAndDestroy()
    if (how === 'FIN without close_notify') return raw.end()
    return socket.end()
  }
  return { socket, end }
}

/** A client's connection to a port of this machine. */
export async function connecting (port, isSecure, protocol) {
  const raw = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  await once(raw, 'connect')
  const options = { servername: 'localhost', ca: cert, ALPNProtocols: [protocol], allowHalfOpen: true }
  return connection(raw, isSecure ? socket => connectTls({ socket, ...options }) : undefined)
}

/** A server that hands each connection to `serve({ socket, end }, number)`. */
export async function listening (tls, protocol, serve) {
  const sockets = new Set()
  let number = 0
  const server = createServer(raw => {
    sockets.add(raw.on('close', () => sockets.delete(raw)))
    const over = socket => new TLSSocket(socket, { isServer: true, ...tls, ALPNProtocols: [protocol] })
    serve(connection(raw, tls && over), number++)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `${tls ? 'https' : 'http'}://localhost:${server.address().port}/`,
    async close () {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    }
  }
}

/** Calls `onRequest` when a request of HTTP/1.1 is complete. */
export function serveMessages (socket, onRequest) {
  let received = ''
  socket.on('data', chunk => {
    received += chunk.toString('latin1')
    if (!/(\r\ncontent-length: 0\r\n(.*\r\n)*\r\n|pay=1)$/.test(received)) return
    received = ''
    onRequest()
  })
}

// The environment of a program of `serve`: servers, raw clients of HTTP/1.1, and a log for each of the two sides.
import { once } from 'node:events'
import net from 'node:net'
import { Sides } from '../sides.mjs'

/** Fields that say nothing about what a handler gave. */
const IGNORED = ['connection', 'keep-alive', 'accept-ranges']
/** Fields whose value is another each time. */
const VARYING = ['date', 'last-modified', 'etag']

/** The body behind a head, by its framing. */
function bodyOf (fields, bytes) {
  if (!fields.some(([name, value]) => name === 'transfer-encoding' && value === 'chunked')) return bytes
  const pieces = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n', at)
    const length = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (!(length > 0)) break
    pieces.push(bytes.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
  return Buffer.concat(pieces)
}

/** One response in a line: its status, its fields by name, its body. Of HEAD the status alone: Bun leaves fields out there. */
function responseOf (bytes, method) {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return bytes.length === 0 ? 'nothing' : `no head: ${bytes.length} bytes`
  const [status, ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  if (method === 'HEAD') return `${status} and ${bytes.length - end - 4} bytes`
  const fields = lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()])
  const shown = fields.filter(([name]) => !IGNORED.includes(name)).map(([name, value]) => `${name}: ${VARYING.includes(name) ? 'any' : value.replace('UTF-8', 'utf-8')}`).sort()
  const behind = bytes.subarray(end + 4)
  const body = bodyOf(fields, behind)
  return `${status.replace(/^HTTP\/1\.1 /, '')} {${shown.join('; ')}} ${body.length > 64 ? `<${body.length} bytes>` : JSON.stringify(body.toString())}`
}

/** The end of the first response of these bytes; -1: it is not whole. `isHead`: its request was a HEAD. */
function endOf (bytes, isHead) {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return -1
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  if (isHead || status < 200 || status === 204 || status === 304) return end + 4
  if (/^transfer-encoding: *chunked/im.test(head)) {
    for (let at = end + 4; ;) {
      const line = bytes.indexOf('\r\n', at)
      if (line < 0) return -1
      const length = Number.parseInt(bytes.toString('latin1', at, line), 16)
      at = line + 2 + length + 2
      if (at > bytes.length) return -1
      if (length === 0) return at
    }
  }
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  const whole = length === undefined ? Infinity : end + 4 + Number(length)
  return whole <= bytes.length ? whole : -1
}

/** The responses of a connection, in the order in which they come. */
class Connection {
  isOver = false
  #held = []
  #wake = () => {}

  constructor (socket) {
    this.socket = socket
    const over = () => {
      this.isOver = true
      this.#wake()
    }
    socket.on('data', chunk => {
      this.#held.push(chunk)
      this.#wake()
    })
    socket.on('error', () => {}).on('end', over).on('close', over)
  }

  write (...pieces) { for (const piece of pieces) this.socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece) }

  /** The bytes that are there and not taken. */
  get held () {
    if (this.#held.length > 1) this.#held = [Buffer.concat(this.#held)]
    return this.#held[0] ?? Buffer.alloc(0)
  }

  /** Resolves once more has come, or the server has ended. */
  async more () {
    if (!this.isOver) await new Promise(resolve => { this.#wake = resolve })
  }

  /** The next response in a line; where the server ends in front of it, what came of it and its end. */
  async next (method = 'GET') {
    for (;;) {
      const bytes = this.held
      const end = endOf(bytes, method === 'HEAD')
      if (end >= 0) {
        this.#held = [bytes.subarray(end)]
        return responseOf(bytes.subarray(0, end), method)
      }
      if (this.isOver) {
        this.#held = []
        return bytes.length === 0 ? 'an end' : `${responseOf(bytes, method)}, and an end`
      }
      await this.more()
    }
  }
}

export class Stage extends Sides {
  servers = []
  sockets = []

  /** Serves on a port of its own. */
  serve (module, options) {
    const server = module.serve({ port: 0, hostname: '127.0.0.1', development: false, ...options })
    this.servers.push(server)
    return server
  }

  /** Sends bytes on a connection of their own, and resolves to all that comes until it ends. */
  async send (port, ...pieces) {
    const socket = net.connect(port, '127.0.0.1')
    this.sockets.push(socket)
    const chunks = []
    socket.on('error', () => {})
    socket.on('data', chunk => { chunks.push(chunk) })
    const closed = once(socket, 'close')
    for (const piece of pieces) socket.write(piece)
    await closed
    return Buffer.concat(chunks)
  }

  /** One exchange; says its response. */
  async ask (server, { method = 'GET', target = '/', version = '1.1', fields = [], body = '' } = {}) {
    const host = fields.some(([name]) => name.toLowerCase() === 'host') ? [] : [['host', 'localhost']]
    const all = [...host, ...fields, ...(version === '1.1' ? [['connection', 'close']] : [])].filter(([, value]) => value !== null)
    const length = body === '' || all.some(([name]) => name === 'transfer-encoding' || name === 'content-length') ? [] : [['content-length', Buffer.byteLength(body, 'latin1')]]
    const head = `${method} ${target} HTTP/${version}\r\n${[...all, ...length].map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
    const answer = responseOf(await this.send(server.port, Buffer.from(head + body, 'latin1')), method)
    this.log('client')(answer)
  }

  /** A connection that stays open: what it receives is taken response by response. */
  async connect (server) {
    const socket = net.connect(server.port, '127.0.0.1')
    this.sockets.push(socket)
    const connection = new Connection(socket)
    await once(socket, 'connect')
    return connection
  }

  async part () {
    for (const socket of this.sockets) socket.destroy()
    await Promise.all(this.servers.map(server => server.stop(true)))
  }
}

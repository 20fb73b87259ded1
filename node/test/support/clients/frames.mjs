// A client of WebSockets that is nothing but frames (RFC 6455 section 5) on a duplex: an upgraded connection or a stream.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import { cert } from '../certificates/certificate.mjs'

export const TEXT = 1
export const BINARY = 2
export const CLOSE = 8
export const PING = 9
export const PONG = 10

/** A masked frame. `more`: others of its message follow. */
export function frame (opcode, payload = '', { more = false } = {}) {
  const bytes = Buffer.from(payload)
  const mask = Buffer.from([1, 2, 3, 4])
  const size = bytes.length < 126 ? [128 | bytes.length] : [128 | 126, bytes.length >> 8, bytes.length & 255]
  return Buffer.concat([Buffer.from([(more ? 0 : 128) | opcode, ...size]), mask, Buffer.from(bytes.map((byte, at) => byte ^ mask[at % 4]))])
}

export const closing = (code, reason = '') => frame(CLOSE, Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]))

/** Takes the frames of a server off its bytes. */
export function frames (stream, first = Buffer.alloc(0)) {
  let held = first
  let wake = () => {}
  let isOver = false
  const over = () => { isOver = true; wake() }
  stream.on('data', chunk => { held = Buffer.concat([held, chunk]); wake() })
  // As a client of TCP, whose side ends with the server's.
  stream.on('error', () => {}).on('end', () => { stream.end() }).on('end', over).on('close', over)
  const take = () => {
    if (held.length < 2) return null
    let [start, length] = [2, held[1]]
    if (length === 126) [start, length] = [4, held.length < 4 ? Infinity : held.readUInt16BE(2)]
    else if (length === 127) [start, length] = [10, held.length < 10 ? Infinity : Number(held.readBigUInt64BE(2))]
    if (held.length < start + length) return null
    const found = [held[0] & 15, held.subarray(start, start + length)]
    held = held.subarray(start + length)
    return found
  }
  return {
    stream,
    write: bytes => new Promise(resolve => { stream.write(bytes, resolve) }),
    /** The next frame: its opcode and payload; null: the server has ended. */
    async next () {
      for (;;) {
        const found = take()
        if (found !== null) return found
        if (isOver) return null
        await new Promise(resolve => { wake = resolve })
      }
    }
  }
}

const head = (port, fields) => {
  const all = { host: `localhost:${port}`, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': randomBytes(16).toString('base64'), ...fields }
  return `GET /chat HTTP/1.1\r\n${Object.entries(all).filter(([, value]) => value !== null).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** Opens one over HTTP/1.1; `behind`: bytes that go out with the request. */
async function overHttp1 (t, version, port, fields, behind) {
  const socket = version.options.tls === undefined ? net.connect(port, '127.0.0.1') : tls.connect({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' })
  t.after(() => { socket.destroy() })
  socket.on('error', () => {})
  await once(socket, version.options.tls === undefined ? 'connect' : 'secureConnect')
  socket.write(Buffer.concat([Buffer.from(head(port, fields)), behind]))
  let text = Buffer.alloc(0)
  while (!text.includes('\r\n\r\n')) {
    const [chunk] = await once(socket, 'data')
    text = Buffer.concat([text, chunk])
  }
  const end = text.indexOf('\r\n\r\n')
  const lines = text.toString('latin1', 0, end).split('\r\n')
  const headers = {}
  for (const line of lines.slice(1)) {
    const [name, value] = line.split(': ')
    const key = name.toLowerCase()
    headers[key] = key in headers ? [headers[key], value].flat() : value
  }
  return { status: Number(lines[0].slice(9, 12)), headers, ...frames(socket, text.subarray(end + 4)) }
}

/** Opens one as a stream of HTTP/2. */
async function overHttp2 (t, version, port, fields, behind) {
  const isSecure = version.options.tls !== undefined
  const session = http2.connect(`http${isSecure ? 's' : ''}://localhost:${port}`, { ca: cert, family: 4 })
  session.on('error', () => {})
  t.after(() => { session.destroy() })
  await once(session, 'remoteSettings')
  const own = Object.fromEntries(Object.entries({ 'sec-websocket-version': '13', ...fields }).filter(([, value]) => value !== null))
  const stream = session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat', ':scheme': isSecure ? 'https' : 'http', ':authority': `localhost:${port}`, ...own })
  stream.on('error', () => {})
  const answered = once(stream, 'response')
  if (behind.length > 0) stream.write(behind)
  const [headers] = await answered
  return { status: headers[':status'], headers, ...frames(stream) }
}

/** A client of the version, HTTP/1.1 or HTTP/2. */
export function open (t, version, port, fields = {}, behind = Buffer.alloc(0)) {
  return (version.protocol === 'h2' ? overHttp2 : overHttp1)(t, version, port, fields, behind)
}

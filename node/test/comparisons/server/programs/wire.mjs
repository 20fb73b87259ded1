// Frames that a client of node:http2 never sends: what a session makes of them.
import { once } from 'node:events'
import net from 'node:net'
import { DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, frame } from '../../../support/servers/h2_frames.mjs'
import { closing } from '../stage.mjs'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const [PRIORITY, PUSH_PROMISE, WINDOW_UPDATE] = [2, 5, 8]
const NAMES = ['DATA', 'HEADERS', 'PRIORITY', 'RST_STREAM', 'SETTINGS', 'PUSH_PROMISE', 'PING', 'GOAWAY', 'WINDOW_UPDATE', 'CONTINUATION']
const ACK = 1
/** `GET / HTTP/2` of `http://a`, by HPACK's static table. */
const GET = Buffer.from([0x82, 0x84, 0x86, 0x41, 0x01, 0x61])
const POST = Buffer.from([0x83, 0x84, 0x86, 0x41, 0x01, 0x61])

const number = value => { const bytes = Buffer.alloc(4); bytes.writeUInt32BE(value); return bytes }

/** The frames of a connection, as far as they have come. */
function read (bytes) {
  const frames = []
  for (let at = 0; at + 9 <= bytes.length;) {
    const length = bytes.readUIntBE(at, 3)
    if (at + 9 + length > bytes.length) break
    frames.push({ type: bytes[at + 3], flags: bytes[at + 4], stream: bytes.readUInt32BE(at + 5), payload: bytes.subarray(at + 9, at + 9 + length) })
    at += 9 + length
  }
  return frames
}

/** A client that sends `frames` behind its settings; the server says what it makes of them, the client which errors
 * it is sent. It leaves when it is sent an error or a frame for which `isLast` is true. */
const sent = (frames, { isLast = () => false, serve = stream => { stream.respond(); stream.end('ok') }, options } = {}) => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createServer(options)
  server.on('stream', (stream, headers) => {
    log('stream', headers[':method'])
    stream.on('error', error => { log('stream error', error, error.message) })
    stream.on('aborted', () => { log('aborted') })
    stream.on('close', () => { log('stream close', stream.rstCode) })
    serve(stream, { log, t, headers })
  })
  server.on('session', session => {
    session.on('error', error => { log('session error', error, error.message) })
    session.on('frameError', (...given) => { log('frameError', ...given) })
    session.on('goaway', code => { log('goaway', code) })
    session.on('close', () => { log('session close') })
  })
  server.on('sessionError', error => { log('sessionError', error) })
  const over = new Promise(resolve => { server.on('session', session => { session.on('close', resolve) }) })
  const port = await t.listen(server)
  const socket = net.connect(port, '127.0.0.1')
  const left = closing(socket)
  t.sockets.push(socket)
  socket.on('error', () => {})
  let bytes = Buffer.alloc(0)
  const client = t.log('client')
  socket.on('data', piece => {
    bytes = Buffer.concat([bytes, piece])
    const isEnd = ({ type }) => type === GOAWAY || type === RST_STREAM
    if (read(bytes.subarray(0)).some(one => isEnd(one) || isLast(one))) socket.end()
  })
  await once(socket, 'connect')
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), ...frames]))
  await left
  await over
  for (const { type, stream, payload } of read(bytes)) {
    if (type === GOAWAY) client('GOAWAY')
    if (type === RST_STREAM) client('RST_STREAM', stream, payload.readUInt32BE(0))
    if (isLast({ type, stream, payload }) && type !== SETTINGS) client(NAMES[type] ?? type)
  }
}

/** Values that no field may have (RFC 9113 section 8.2.1, RFC 9110 section 5.5). */
const ODD_VALUES = { 'a blank in front': ' v', 'a blank behind': 'v ', 'a tab behind': 'v\t', 'blanks alone': ' \t', 'a control character': 'a\x01b', 'a deletion': 'a\x7f', 'a line break': 'a\nb' }
const literal = (name, value) => Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value, 'latin1')])
const oddPrograms = {}
for (const [label, value] of Object.entries(ODD_VALUES)) {
  const fields = Buffer.concat([literal('x-before', '1'), literal('x-odd', value), literal('x-behind', '2')])
  const serve = (stream, { log, headers }) => {
    log('fields', Object.entries(headers).filter(([name]) => name[0] !== ':'))
    stream.on('trailers', trailers => { log('trailers', Object.entries(trailers)) })
    stream.on('end', () => { stream.respond({}, { endStream: true }) }).resume()
  }
  const isLast = one => one.type === HEADERS
  oddPrograms[`a request whose value has ${label}`] = sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([GET, fields]))], { serve, isLast })
  oddPrograms[`trailers whose value has ${label}`] = sent([frame(HEADERS, END_HEADERS, 1, POST), frame(HEADERS, END_HEADERS | END_STREAM, 1, fields)], { serve, isLast })
}

// Node 20 leaves connections open that break HTTP/2 in some of these ways.
const LINE = Number.parseInt(process.versions.node, 10)
export default LINE < 22 ? {} : {
  ...oddPrograms,
  'an acknowledgement of a ping that was not sent': sent([frame(PING, ACK, 0, Buffer.alloc(8))]),
  'an acknowledgement of settings that were not sent': sent([frame(SETTINGS, ACK, 0), frame(SETTINGS, ACK, 0), frame(SETTINGS, ACK, 0), frame(PING, 0, 0, Buffer.alloc(8))], { isLast: one => one.type === PING }),
  'a reset of a stream that is idle': sent([frame(RST_STREAM, 0, 1, number(8))]),
  'a window for a stream that is idle': sent([frame(WINDOW_UPDATE, 0, 1, number(8))]),
  'a window of zero for the connection': sent([frame(WINDOW_UPDATE, 0, 0, number(0))]),
  'a window beyond its bound': sent([frame(WINDOW_UPDATE, 0, 0, number(2 ** 31 - 1))]),
  'a window of zero for a stream': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(WINDOW_UPDATE, 0, 1, number(0))], { serve: () => {} }),
  'headers on an even stream': sent([frame(HEADERS, END_HEADERS | END_STREAM, 2, GET)]),
  'a promise of a client': sent([frame(PUSH_PROMISE, END_HEADERS, 1, Buffer.concat([number(2), GET]))]),
  'settings on a stream': sent([frame(SETTINGS, 0, 1)]),
  'a ping of a wrong length': sent([frame(PING, 0, 0, Buffer.alloc(7))]),
  'a ping on a stream': sent([frame(PING, 0, 1, Buffer.alloc(8))]),
  'a goaway of a wrong length': sent([frame(GOAWAY, 0, 0, Buffer.alloc(4))]),
  'a reset of a wrong length': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(RST_STREAM, 0, 1, Buffer.alloc(3))], { serve: () => {} }),
  'settings with a window beyond its bound': sent([frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), number(2 ** 31)]))]),
  'settings with push that is neither': sent([frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 2]), number(2)]))]),
  'settings with frames that are too small': sent([frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 5]), number(100)]))]),
  'a frame of an unknown type is ignored': sent([frame(77, 3, 0, Buffer.from('?')), frame(PING, 0, 0, Buffer.alloc(8))], { isLast: one => one.type === PING }),
  'a priority of a stream that is idle is ignored': sent([frame(PRIORITY, 0, 1, Buffer.from([0, 0, 0, 0, 15])), frame(PING, 0, 0, Buffer.alloc(8))], { isLast: one => one.type === PING }),
  'a block of headers that cannot be read': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))]),
  'a frame that is too long': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(DATA, 0, 1, Buffer.alloc(17_000))], { serve: () => {} }),
  'padding that is longer than its frame': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(DATA, 8, 1, Buffer.from([9, 1, 2]))], { serve: () => {} }),
  'data behind the end of a request': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, GET), frame(DATA, END_STREAM, 1, Buffer.from('x'))], { serve: () => {} }),
  'a reset with a code': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(RST_STREAM, 0, 1, number(2)), frame(PING, 0, 0, Buffer.alloc(8))], { serve: () => {}, isLast: one => one.type === PING }),
  'a reset without an error': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(RST_STREAM, 0, 1, number(0)), frame(PING, 0, 0, Buffer.alloc(8))], { serve: () => {}, isLast: one => one.type === PING }),
  'a goaway with a code': sent([frame(GOAWAY, 0, 0, Buffer.concat([number(0), number(1)]))]),
  'frames of no bytes': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(DATA, 0, 1), frame(DATA, 0, 1), frame(DATA, END_STREAM, 1)], { isLast: one => one.type === DATA && one.stream === 1 }),
  'a request without a path': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.from([0x82, 0x86, 0x41, 0x01, 0x61]))]),
  'a request without a method': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.from([0x84, 0x86, 0x41, 0x01, 0x61]))]),
  'a request with a method twice': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([Buffer.from([0x82]), GET]))]),
  'a request with a status': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([GET, Buffer.from([0x88])]))]),
  'a request with a name in capitals': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([GET, Buffer.from([0, 1, 0x58, 1, 0x61])]))]),
  'a request with a field of the connection': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([GET, Buffer.from([0, 10]), Buffer.from('connection'), Buffer.from([1, 0x61])]))]),
  'trailers without an end': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(HEADERS, END_HEADERS, 1, Buffer.from([0, 1, 0x78, 1, 0x61]))], { serve: () => {} }),
  'a pseudo-header in trailers': sent([frame(HEADERS, END_HEADERS, 1, POST), frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.from([0x82]))], { serve: () => {} }),
  'a body that is longer than said': sent([frame(HEADERS, END_HEADERS, 1, Buffer.concat([POST, Buffer.from([0x0f, 0x0d, 1, 0x31])])), frame(DATA, END_STREAM, 1, Buffer.from('xyz'))], { serve: () => {} }),
  'a request of many fields': sent([frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([GET, ...Array(200).fill(Buffer.from([0, 1, 0x78, 1, 0x61]))]))]),
  'a preface that is none': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('session', session => {
      log('session')
      session.on('error', error => { log('session error', error, error.message) })
      session.on('close', () => { log('session close') })
    })
    server.on('sessionError', error => { log('sessionError', error) })
    const socket = net.connect(await t.listen(server), '127.0.0.1')
    t.sockets.push(socket)
    socket.on('error', () => {})
    socket.write('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n' + 'x'.repeat(40))
    socket.resume()
    await closing(socket)
  }
}

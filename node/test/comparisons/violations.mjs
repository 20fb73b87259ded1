// A server of HTTP/2 that breaks a rule, for the programs of undici's API and of node:http2's: the rules, and the moments in which they are broken.
import net from 'node:net'
import tls from 'node:tls'
import { cert, key } from '../support/certificates/certificate.mjs'
import { DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, codes, frame, numbers, serveFrames } from '../support/servers/h2_frames.mjs'

const [PRIORITY, PUSH_PROMISE, WINDOW_UPDATE, CONTINUATION, ALTSVC] = [2, 5, 8, 9, 10]
const [ACK, PADDED] = [1, 8]
const WINDOW_MAX = 2 ** 31 - 1
/** A stream that no side has opened. */
const IDLE = 99
const NAMES = ['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED', 'FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM', 'INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED', '14']

const OK = Buffer.from([0x88])
/** A field without compression. */
function field (name, value) {
  const [n, v] = [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')]
  return Buffer.concat([Buffer.from([0, n.length]), n, Buffer.from([v.length]), v])
}
const head = (...parts) => stream => frame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.concat(parts))
const open = (...parts) => stream => frame(HEADERS, END_HEADERS, stream, Buffer.concat(parts))
const data = (text, flags = 0) => stream => frame(DATA, flags, stream, Buffer.from(text))
const all = (...frames) => stream => Buffer.concat(frames.map(one => one(stream)))
const of = (...bytes) => Buffer.from(bytes)
const setting = (id, value) => Buffer.concat([of(0, id), numbers(value)])
const times = (count, bytes) => Buffer.concat(Array(count).fill(bytes))

/** In place of the response's head. */
export const HEADS = {
  'without :status': head(field('a', 'b')),
  'with an empty :status': head(field(':status', '')),
  'with the status abc': head(field(':status', 'abc')),
  'with the status 99': head(field(':status', '099')),
  'with the status 1000': head(field(':status', '1000')),
  'with the status 101': head(field(':status', '101')),
  'with two :status': head(OK, OK),
  'with :path': head(OK, field(':path', '/')),
  'with :status behind a field': head(field('a', 'b'), OK),
  'with a name in capitals': head(OK, field('Name', 'b')),
  'with a name with a space': head(OK, field('na me', 'b')),
  'with an empty name': head(OK, field('', 'b')),
  'with a value with NUL': head(OK, field('a', 'b\0c')),
  'with a value with CR': head(OK, field('a', 'b\rc')),
  'with a connection field': head(OK, field('connection', 'close')),
  'with a transfer-encoding': head(OK, field('transfer-encoding', 'chunked')),
  'with te: gzip': head(OK, field('te', 'gzip')),
  'with a content-length of x': head(OK, field('content-length', 'x')),
  'with two content-lengths': all(open(OK, field('content-length', '3'), field('content-length', '4')), data('abc', END_STREAM)),
  'of 100 that ends': head(field(':status', '100')),
  'behind DATA': all(data('abc'), head(OK)),
  'that is none, but DATA that ends': data('abc', END_STREAM),
  'that is none, but DATA that ends without a byte': data('', END_STREAM),
  'and an end before its content-length': all(open(OK, field('content-length', '10')), data('abc', END_STREAM)),
  'and more than its content-length': all(open(OK, field('content-length', '2')), data('abc', END_STREAM)),
  'and more than its content-length, without an end': all(open(OK, field('content-length', '2')), data('abc')),
  'that ends, with a content-length': head(OK, field('content-length', '10')),
  'and trailers without an end': all(open(OK), data('abc'), open(field('a', 'b'))),
  'and trailers with :status': all(open(OK), data('abc'), head(OK)),
  'and trailers with a name in capitals': all(open(OK), data('abc'), head(field('Name', 'b'))),
  'and a head behind its end': all(head(OK), head(OK)),
  'and DATA behind its end': all(head(OK), data('abc', END_STREAM)),
  'of a stream of the server': () => frame(HEADERS, END_HEADERS | END_STREAM, 2, OK),
  'of a stream that is not open': () => frame(HEADERS, END_HEADERS | END_STREAM, IDLE, OK),
  'of no stream': () => frame(HEADERS, END_HEADERS | END_STREAM, 0, OK),
  'with padding of all and more': stream => frame(HEADERS, END_HEADERS | END_STREAM | PADDED, stream, of(5, 0x88)),
  'with a block of the index 0': head(of(0x80)),
  'with a block of an index of nothing': head(OK, of(0xff, 0x7f)),
  'with a block that is cut': head(OK, of(0x00, 0x05, 0x61)),
  'with a block of bad Huffman codes': head(OK, of(0x00, 0x81, 0xff, 0x81, 0xff)),
  'with a block of a table that is too large': head(of(0x3f, 0xe1, 0xff, 0xff, 0x07), OK),
  'whose block is broken by DATA': all(stream => frame(HEADERS, 0, stream, OK), data('abc')),
  'whose block goes on on another stream': all(stream => frame(HEADERS, 0, stream, OK), () => frame(CONTINUATION, END_HEADERS, IDLE, field('a', 'b'))),
  'that depends on itself': stream => frame(HEADERS, END_HEADERS | END_STREAM | 0x20, stream, Buffer.concat([numbers(stream), of(0), OK])),
  'of 200 kB': stream => Buffer.concat([frame(HEADERS, 0, stream, OK), times(13, frame(CONTINUATION, 0, stream, times(60, field('a', 'b'.repeat(120))))), frame(CONTINUATION, END_HEADERS, stream)]),
  'of 2,000 CONTINUATIONs without a byte': stream => Buffer.concat([frame(HEADERS, 0, stream, OK), times(2000, frame(CONTINUATION, 0, stream))])
}

/** Frames that break a rule whatever came before them. */
export const FRAMES = {
  'a frame of 100 kB': stream => frame(DATA, 0, stream, Buffer.alloc(100_000)),
  'DATA on no stream': () => frame(DATA, 0, 0, of(1)),
  'DATA on a stream that is not open': () => frame(DATA, 0, IDLE, of(1)),
  'DATA with padding of all and more': stream => frame(DATA, PADDED, stream, of(5, 1)),
  'DATA without the length of its padding': stream => frame(DATA, PADDED, stream),
  'PRIORITY of four bytes': stream => frame(PRIORITY, 0, stream, numbers(0)),
  'PRIORITY on no stream': () => frame(PRIORITY, 0, 0, of(0, 0, 0, 0, 1)),
  'PRIORITY on itself': stream => frame(PRIORITY, 0, stream, Buffer.concat([numbers(stream), of(1)])),
  'RST_STREAM of three bytes': stream => frame(RST_STREAM, 0, stream, of(0, 0, 0)),
  'RST_STREAM on no stream': () => frame(RST_STREAM, 0, 0, numbers(8)),
  'RST_STREAM on a stream that is not open': () => frame(RST_STREAM, 0, IDLE, numbers(8)),
  'SETTINGS of five bytes': () => frame(SETTINGS, 0, 0, of(0, 1, 0, 0, 0)),
  'SETTINGS on a stream': stream => frame(SETTINGS, 0, stream),
  'SETTINGS that acknowledge with bytes': () => frame(SETTINGS, ACK, 0, setting(1, 1)),
  'SETTINGS that acknowledge nothing': () => times(3, frame(SETTINGS, ACK, 0)),
  'SETTINGS that enable push': () => frame(SETTINGS, 0, 0, setting(2, 1)),
  'SETTINGS that enable push with 2': () => frame(SETTINGS, 0, 0, setting(2, 2)),
  'SETTINGS of a window above the most': () => frame(SETTINGS, 0, 0, setting(4, 2 ** 31)),
  'SETTINGS of frames below the least': () => frame(SETTINGS, 0, 0, setting(5, 100)),
  'SETTINGS of frames above the most': () => frame(SETTINGS, 0, 0, setting(5, 2 ** 24)),
  'SETTINGS of extended CONNECT with 2': () => frame(SETTINGS, 0, 0, setting(8, 2)),
  'SETTINGS of no streams': () => frame(SETTINGS, 0, 0, setting(3, 0)),
  'SETTINGS of 100 settings': () => frame(SETTINGS, 0, 0, times(100, setting(1, 4096))),
  'PUSH_PROMISE': stream => frame(PUSH_PROMISE, END_HEADERS, stream, Buffer.concat([numbers(2), of(0x82, 0x84, 0x86)])),
  'PUSH_PROMISE on no stream': () => frame(PUSH_PROMISE, END_HEADERS, 0, Buffer.concat([numbers(2), of(0x82, 0x84, 0x86)])),
  'PING of five bytes': () => frame(PING, 0, 0, Buffer.alloc(5)),
  'PING on a stream': stream => frame(PING, 0, stream, Buffer.alloc(8)),
  'PING that acknowledges nothing': () => frame(PING, ACK, 0, Buffer.alloc(8)),
  'GOAWAY of four bytes': () => frame(GOAWAY, 0, 0, numbers(0)),
  'GOAWAY on a stream': stream => frame(GOAWAY, 0, stream, numbers(0, 0)),
  'WINDOW_UPDATE of three bytes': () => frame(WINDOW_UPDATE, 0, 0, of(0, 0, 1)),
  'WINDOW_UPDATE by none': () => frame(WINDOW_UPDATE, 0, 0, numbers(0)),
  'WINDOW_UPDATE by none on the stream': stream => frame(WINDOW_UPDATE, 0, stream, numbers(0)),
  'WINDOW_UPDATE above the most': () => frame(WINDOW_UPDATE, 0, 0, numbers(WINDOW_MAX)),
  'WINDOW_UPDATE above the most on the stream': stream => frame(WINDOW_UPDATE, 0, stream, numbers(WINDOW_MAX)),
  'WINDOW_UPDATE on a stream that is not open': () => frame(WINDOW_UPDATE, 0, IDLE, numbers(1)),
  'CONTINUATION behind no head': stream => frame(CONTINUATION, END_HEADERS, stream, OK),
  'ALTSVC of one byte': () => frame(ALTSVC, 0, 0, of(0)),
  'ALTSVC without an origin': () => frame(ALTSVC, 0, 0, of(0, 0, 0x63)),
  'a frame of an unknown type': () => frame(0x77, 0xff, IDLE, of(1, 2, 3)),
  'what is no HTTP': () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  '3,000 PINGs': () => times(3000, frame(PING, 0, 0, Buffer.alloc(8))),
  '3,000 SETTINGS': () => times(3000, frame(SETTINGS, 0, 0, setting(1, 4096))),
  '3,000 pieces without a byte': stream => times(3000, frame(DATA, 0, stream))
}
for (const code of codes) FRAMES[`RST_STREAM with ${NAMES[code]}`] = stream => frame(RST_STREAM, 0, stream, numbers(code))
for (const code of codes) {
  FRAMES[`GOAWAY with ${NAMES[code]} behind all streams`] = () => frame(GOAWAY, 0, 0, numbers(WINDOW_MAX, code))
  FRAMES[`GOAWAY with ${NAMES[code]} behind the first stream`] = () => frame(GOAWAY, 0, 0, numbers(1, code))
}
FRAMES['GOAWAY behind more streams than before'] = () => Buffer.concat([frame(GOAWAY, 0, 0, numbers(1, 0)), frame(GOAWAY, 0, 0, numbers(5, 0))])

const BEFORE = { 'before the head': () => Buffer.alloc(0), 'in the body': all(open(OK), data('piece')) }

/** Every way to break a rule, by name: the bytes for a stream. */
export const VIOLATIONS = new Map()
for (const [name, bytes] of Object.entries(HEADS)) VIOLATIONS.set(`a head ${name}`, bytes)
for (const [name, bytes] of Object.entries(FRAMES)) {
  for (const [moment, before] of Object.entries(BEFORE)) VIOLATIONS.set(`${name} ${moment}`, all(before, bytes))
}

/** A server that answers requests to `/break` by breaking the rule, once `together` of them and of others are there; it answers none of the others.
 * A later connection has answers that are in order. */
export async function serveViolation (stage, bytes, { isSecure, together = 2 }) {
  const counts = { connections: 0, requests: 0 }
  const talk = socket => {
    const isFirst = ++counts.connections === 1
    const streams = []
    socket.on('error', () => {})
    serveFrames(socket, stream => {
      counts.requests++
      if (!isFirst) return socket.write(Buffer.concat([open(OK)(stream), data('in order', END_STREAM)(stream)]))
      if (streams.push(stream) === together) socket.write(bytes(streams[0]))
    })
  }
  const server = isSecure ? tls.createServer({ cert, key, ALPNProtocols: ['h2'] }, talk) : net.createServer(talk)
  server.on('tlsClientError', () => {})
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
  stage.closers.push(() => { server.close() })
  return { origin: `http${isSecure ? 's' : ''}://localhost:${server.address().port}`, counts }
}

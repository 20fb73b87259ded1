// Peers that break gRPC's rules: a server that writes frames by hand, and a client that writes messages by hand.
import { once } from 'node:events'
import net from 'node:net'
import { followed, having } from './calls.mjs'

/** A field section without indexing and without Huffman codes (RFC 7541 section 6.2.2). */
const section = fields => Buffer.concat(Object.entries(fields).flatMap(([name, value]) => [
  Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([String(value).length]), Buffer.from(String(value))
]))
const begins = { ':status': 200, 'content-type': 'application/grpc' }
const message = (bytes, { flag = 0, length = bytes.length } = {}) => {
  const prefix = Buffer.from([flag, 0, 0, 0, 0])
  prefix.writeUInt32BE(length, 1)
  return Buffer.concat([prefix, Buffer.from(bytes)])
}

/** A server whose connections answer requests by frames; `answer(writes, at)` for the request of that number. */
async function frameServer (frames, answer) {
  const sockets = new Set()
  let count = 0
  const server = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    frames.serveFrames(socket, stream => {
      const { frame, numbers, HEADERS, DATA, RST_STREAM, GOAWAY, END_HEADERS, END_STREAM } = frames
      // In one write, so that what is read together does not depend on the machine's load.
      socket.cork()
      answer({
        socket,
        stream,
        head: (fields, isEnd = false) => { socket.write(frame(HEADERS, END_HEADERS | (isEnd ? END_STREAM : 0), stream, section(fields))) },
        data: (bytes, isEnd = false) => { socket.write(frame(DATA, isEnd ? END_STREAM : 0, stream, bytes)) },
        reset: code => { socket.write(frame(RST_STREAM, 0, stream, numbers(code))) },
        goaway: (last, code, data = '') => { socket.write(frame(GOAWAY, 0, 0, Buffer.concat([numbers(last, code), Buffer.from(data)]))) }
      }, count++)
      socket.uncork()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, get requests () { return count }, get connections () { return sockets.size }, close () { for (const socket of sockets) socket.destroy(); server.close() } }
}

const good = (one, text = 'ok') => {
  one.head(begins)
  one.data(message(text))
  one.head({ 'grpc-status': 0 }, true)
}

/** The outcome of a call to a server of frames, and how many requests and connections it took. */
async function asked (frames, answer, options) {
  const server = await frameServer(frames, answer)
  const outcome = await having(server.port, async client => {
    // A stream of answers reports each of them and the status alike.
    const { events } = await followed(client.down('1 1', { deadline: Date.now() + 5000 }))
    return { events: events.filter(([kind]) => kind !== 'error'), requests: server.requests, connections: server.connections }
  }, { options })
  server.close()
  return outcome
}

/** Answers that are not gRPC's. */
function answers ({ frames }) {
  const answered = (...way) => () => asked(frames, ...way)
  const all = {}
  for (const status of [200, 204, 400, 401, 403, 404, 405, 429, 500, 502, 503, 504]) {
    all[`status ${status} of HTTP`] = answered(one => { one.head({ ':status': status, 'content-type': 'text/html' }); one.data(Buffer.from('<html>'), true) })
    all[`status ${status} of HTTP without content`] = answered(one => { one.head({ ':status': status }, true) })
  }
  return {
    ...all,
    'no content type': answered(one => { one.head({ ':status': 200 }); one.data(message('a')); one.head({ 'grpc-status': 0 }, true) }),
    'trailers missing': answered(one => { one.head(begins); one.data(message('a'), true) }),
    'trailers missing behind nothing': answered(one => { one.head(begins); one.data(Buffer.alloc(0), true) }),
    'grpc-status absent': answered(one => { one.head(begins); one.data(message('a')); one.head({ 'grpc-message': 'none' }, true) }),
    'grpc-status that is no number': answered(one => { one.head(begins); one.data(message('a')); one.head({ 'grpc-status': 'fine' }, true) }),
    'grpc-status that is unknown': answered(one => { one.head(begins); one.head({ 'grpc-status': 99 }, true) }),
    'grpc-message in percents': answered(one => { one.head(begins); one.head({ 'grpc-status': 9, 'grpc-message': 'a%20b%C3%A4%zz%' }, true) }),
    'trailers alone': answered(one => { one.head({ ...begins, 'grpc-status': 5, 'grpc-message': 'not here' }, true) }),
    'a message cut by the end': answered(one => { one.head(begins); one.data(message('abc', { length: 10 })); one.head({ 'grpc-status': 0 }, true) }),
    'a prefix cut by the end': answered(one => { one.head(begins); one.data(Buffer.from([0, 0])); one.head({ 'grpc-status': 0 }, true) }),
    'a flag that is unknown': answered(one => { one.head(begins); one.data(message('abc', { flag: 7 })); one.head({ 'grpc-status': 0 }, true) }),
    'an encoding that is unknown': answered(one => { one.head({ ...begins, 'grpc-encoding': 'rot13' }); one.data(message('abc', { flag: 1 })); one.head({ 'grpc-status': 0 }, true) }),
    'gzip that is none': answered(one => { one.head({ ...begins, 'grpc-encoding': 'gzip' }); one.data(message('abc', { flag: 1 })); one.head({ 'grpc-status': 0 }, true) }),
    'a length over the limit': answered(one => { one.head(begins); one.data(message('abc', { length: 0xffffffff })); one.head({ 'grpc-status': 0 }, true) }, { 'grpc.max_receive_message_length': 1000 }),
    'binary metadata that is no base64': answered(one => { one.head({ ...begins, 'x-bin': '!!!' }); one.data(message('a')); one.head({ 'grpc-status': 0 }, true) }),
    'an answer in single bytes': answered(one => { one.head(begins); for (const byte of message('slow')) one.data(Buffer.from([byte])); one.head({ 'grpc-status': 0 }, true) })
  }
}

/** RST_STREAM and GOAWAY with every code. */
function ends ({ frames }) {
  const all = {}
  for (const code of frames.codes) {
    all[`RST_STREAM ${code} instead of an answer`] = () => asked(frames, one => { one.reset(code) })
    all[`RST_STREAM ${code} behind a message`] = () => asked(frames, one => { one.head(begins); one.data(message('a')); one.reset(code) })
    all[`RST_STREAM ${code} behind the answer`] = () => asked(frames, one => { good(one); one.reset(code) })
    all[`GOAWAY ${code} before the call was taken`] = () => asked(frames, (one, at) => { at === 0 ? one.goaway(0, code) : good(one) })
    all[`GOAWAY ${code}, then the answer`] = () => asked(frames, one => { one.goaway(one.stream, code); good(one) })
    all[`GOAWAY ${code}, then the end of the connection`] = () => asked(frames, one => { one.goaway(one.stream, code); one.socket.end() })
  }
  return {
    ...all,
    'GOAWAY for too many pings': () => asked(frames, (one, at) => { at === 0 ? one.goaway(0, 11, 'too_many_pings') : good(one) }),
    'the end of the connection instead of an answer': () => asked(frames, one => { one.socket.end() }),
    'the end of the connection behind a message': () => asked(frames, one => { one.head(begins); one.data(message('a')); one.socket.end() }),
    'a frame that is malformed instead of an answer': () => asked(frames, one => { one.socket.write(frames.malformed) })
  }
}

/** Requests that are not gRPC's, by a client that knows HTTP/2 alone: what the server answers. */
function requests ({ ports, original }) {
  const send = (headers, ...pieces) => new Promise(resolve => {
    const session = original.connect(`http://127.0.0.1:${headers.port ?? ports.limited}`)
    const { method = 'POST', path = '/row.Row/Unary', port, ...fields } = headers
    const stream = session.request({ ':method': method, ':path': path, te: 'trailers', 'content-type': 'application/grpc', ...fields }, { endStream: false })
    const outcome = {}
    const kept = headers => Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'date'))
    stream.on('response', headers => { outcome.head = kept(headers) })
    stream.on('trailers', trailers => { outcome.trailers = kept(trailers) })
    stream.on('data', bytes => { outcome.data = (outcome.data ?? '') + bytes.toString('hex') })
    stream.on('error', () => {})
    stream.on('close', () => { session.close(); resolve({ ...outcome, code: stream.rstCode }) })
    for (const piece of pieces) stream.write(piece)
    stream.end()
  })
  return {
    'a good request by hand': () => send({}, message('a')),
    'a request in single bytes': () => send({}, ...Array.from(message('abc'), byte => Buffer.from([byte]))),
    'a request without a message': () => send({}),
    'two messages of a unary call': () => send({}, message('a'), message('b')),
    'a request cut by its end': () => send({}, message('abc', { length: 10 })),
    'a request whose prefix is cut': () => send({}, Buffer.from([0, 0])),
    'a request with an unknown flag': () => send({}, message('abc', { flag: 7 })),
    'a request compressed without an encoding': () => send({}, message('abc', { flag: 1 })),
    'a request of an unknown encoding': () => send({ 'grpc-encoding': 'rot13' }, message('abc', { flag: 1 })),
    'a request whose gzip is none': () => send({ 'grpc-encoding': 'gzip' }, message('abc', { flag: 1 })),
    'a request over the limit by its prefix': () => send({}, message('abc', { length: 0xffffffff })),
    'a request over the limit': () => send({}, message(Buffer.alloc(1001))),
    'another content type': () => send({ 'content-type': 'text/plain' }, message('a')),
    'another method': () => send({ ':method': 'PUT' }, message('a')),
    'a path that is unknown': () => send({ ':path': '/none' }, message('a')),
    'a timeout that is malformed': () => send({ 'grpc-timeout': 'soon' }, message('a')),
    'a timeout that has passed': () => send({ ':path': '/row.Row/Late', 'grpc-timeout': '1n' }, message('a'))
  }
}

export const malformed = given => ({ ...answers(given), ...ends(given), ...requests(given) })

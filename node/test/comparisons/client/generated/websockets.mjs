// Servers that break off a WebSocket, or an event stream, in each way, with undici's classes over either dispatcher: the events of the program.
import { createHash } from 'node:crypto'
import net from 'node:net'
import { turns } from '../stage.mjs'

const acceptOf = head => createHash('sha1').update(`${/sec-websocket-key: (.*)\r/i.exec(head)[1]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
const switched = (head, more = '', accept = acceptOf(head)) => `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n${more}\r\n`
const answer = (status, more = '', body = '') => `HTTP/1.1 ${status} Words\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`

/** Answers to the handshake, as text; what follows is their affair. */
const HANDSHAKES = {
  'a 200': () => answer(200), 'a 401': () => answer(401, 'www-authenticate: Basic\r\n'), 'a 404 with a body': () => answer(404, '', 'not here'),
  'a 302': () => answer(302, 'location: /other\r\n'), 'a 426': () => answer(426, 'upgrade: websocket\r\nconnection: upgrade\r\n'), 'a 500 that closes': () => answer(500, 'connection: close\r\n'),
  'a 101 without accept': () => 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  'a 101 with another accept': head => switched(head, '', 'AAAA'),
  'a 101 without upgrade': head => switched(head).replace('upgrade: websocket\r\n', ''),
  'a 101 without connection': head => switched(head).replace('connection: upgrade\r\n', ''),
  'a 101 to something else': head => switched(head).replace('websocket', 'other'),
  'a 101 with a protocol that was not offered': head => switched(head, 'sec-websocket-protocol: other\r\n'),
  'a 101 with an extension that was not offered': head => switched(head, 'sec-websocket-extensions: x-other\r\n'),
  'a 101 with two extensions': head => switched(head, 'sec-websocket-extensions: permessage-deflate, permessage-deflate\r\n'),
  'a 100 first': head => `HTTP/1.1 100 Continue\r\n\r\n${switched(head)}`,
  'a 103 first': head => `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${switched(head)}`,
  'what is no HTTP': () => '\x15\x03\x01\x00\x02\x02\x0a', 'half a head': () => 'HTTP/1.1 101 Switching Pro'
}
const frame = (first, ...payload) => Buffer.from([first, payload.length, ...payload])
const text = value => frame(0x81, ...Buffer.from(value))
const close = (code, reason = '') => frame(0x88, code >> 8, code & 255, ...Buffer.from(reason))
/** Bytes behind a handshake that is in order. */
const FRAMES = {
  'a message': [text('hello'), close(1000)], 'a message behind each other': [text('a'), text('b'), text('c'), close(1000, 'over')],
  'a message in pieces': [frame(0x01, 0x61), frame(0x00, 0x62), frame(0x80, 0x63), close(1000)], 'a ping between pieces': [frame(0x01, 0x61), frame(0x89, 1), frame(0x80, 0x63), close(1000)],
  'an empty message': [text(''), close(1000)], 'bytes': [frame(0x82, 1, 2, 3), close(1000)], 'a close without a code': [frame(0x88)], 'a close of one byte': [frame(0x88, 3)],
  'a close with 999': [close(999)], 'a close with 1005': [close(1005)], 'a close with 1006': [close(1006)], 'a close with 1001': [close(1001, 'going')], 'a close with 3000': [close(3000, 'mine')], 'a close with 4999': [close(4999)], 'a close with 5000': [close(5000)],
  'a close with bad UTF-8': [frame(0x88, 3, 0xe8, 0xff, 0xfe)], 'bad UTF-8': [frame(0x81, 0xff, 0xfe)], 'a reserved bit': [frame(0xc1, 0x61)], 'the second reserved bit': [frame(0xa1, 0x61)],
  'an unknown opcode': [frame(0x83, 0x61)], 'an unknown control opcode': [frame(0x8b)], 'a masked frame': [Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61])],
  'a continuation of nothing': [frame(0x80, 0x61)], 'a message within pieces': [frame(0x01, 0x61), text('b')], 'a ping in pieces': [frame(0x09, 1)], 'a ping of 126 bytes': [Buffer.from([0x89, 126, 0, 126, ...Buffer.alloc(126)])],
  'a length of 2^63': [Buffer.from([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0])], 'half a frame': [Buffer.from([0x81, 5, 0x61])], 'nothing': []
}
const ENDS = { 'an end': socket => { socket.end() }, 'a reset': socket => { setTimeout(() => { socket.resetAndDestroy() }, 30) } }
/** Times at which the bytes of a frame may come. */
const CUTS = { 'with the handshake': (head, bytes, socket) => { socket.write(Buffer.concat([Buffer.from(head, 'latin1'), bytes])) }, 'byte by byte': (head, bytes, socket) => { socket.write(head); let at = 0; const next = () => { if (at < bytes.length && !socket.destroyed) { socket.write(bytes.subarray(at, ++at)); setImmediate(next) } else socket.emit('sent') }; setImmediate(next) } }

/** Answers of an event stream, and what comes behind them. */
const STREAMS = {
  'an event': 'data: a\n\n', 'two events': 'data: a\n\ndata: b\n\n', 'an event of another name': 'event: x\ndata: a\n\n', 'an id': 'id: 7\ndata: a\n\n', 'a retry': 'retry: 10\ndata: a\n\n', 'CR': 'data: a\r\rdata: b\r\r', 'CRLF': 'data: a\r\n\r\n',
  'a comment': ': hello\n\ndata: a\n\n', 'half an event': 'data: a\n', 'a BOM': '\u00ef\u00bb\u00bfdata: a\n\n', 'lines': 'data: a\ndata: b\ndata\n\n', 'nothing': ''
}
const HEADS = {
  'in order': '200 OK\r\ncontent-type: text/event-stream\r\n', 'with a charset': '200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n', 'of another type': '200 OK\r\ncontent-type: text/plain\r\n', 'without a type': '200 OK\r\n',
  'of 204': '204 No Content\r\n', 'of 500': '500 Bad\r\ncontent-type: text/event-stream\r\n', 'of 401': '401 No\r\n', 'of 301': '301 Moved\r\nlocation: /other\r\n'
}

async function serve (stage, talk) {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    let head = ''
    socket.on('data', function receive (piece) {
      head += piece.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', receive).resume()
      talk(socket, head)
    })
  })
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
  stage.closers.push(() => { server.close() })
  return server.address().port
}

const programs = {}
function webSocket (name, talk) {
  programs[`a WebSocket: ${name}`] = async (module, stage) => {
    const [log, server] = [stage.log('client'), stage.log('server')]
    const port = await serve(stage, (socket, head) => { server(head.split('\r\n').slice(1).map(line => line.split(':')[0].toLowerCase()).filter(name => name.startsWith('sec-') || name === 'upgrade').sort().join(' ')); talk(socket, head) })
    const agent = stage.own(new module.Agent())
    const socket = new module.WebSocket(`ws://127.0.0.1:${port}/`, { dispatcher: agent, protocols: ['a', 'b'] })
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('open', () => { log('open', socket.protocol, socket.extensions) })
    socket.addEventListener('message', ({ data }) => { log('message', typeof data, data.byteLength ?? data) })
    socket.addEventListener('error', ({ message, error }) => { log('error', message, error?.name, error?.message) })
    await new Promise(resolve => { socket.addEventListener('close', ({ code, reason, wasClean }) => { log('close', code, reason, wasClean); resolve() }) })
    await turns(5)
    log(socket.readyState)
  }
}
for (const [name, write] of Object.entries(HANDSHAKES)) {
  for (const [end, act] of Object.entries(ENDS)) webSocket(`${name}, then ${end}`, (socket, head) => { socket.write(write(head), 'latin1', () => { act(socket) }) })
}
for (const [name, frames] of Object.entries(FRAMES)) {
  for (const [cut, send] of Object.entries(CUTS)) {
    for (const [end, act] of Object.entries(ENDS)) {
      webSocket(`${name} ${cut}, then ${end}`, (socket, head) => {
        socket.once('sent', () => { act(socket) })
        send(switched(head), Buffer.concat(frames), socket)
        if (cut === 'with the handshake') setTimeout(() => { act(socket) }, 30)
      })
    }
  }
}
for (const [kind, head] of Object.entries(HEADS)) {
  for (const [name, body] of Object.entries(STREAMS)) {
    if (kind !== 'in order' && name !== 'an event') continue
    for (const [end, act] of Object.entries(ENDS)) {
      programs[`an EventSource: ${name}, a head ${kind}, then ${end}`] = async (module, stage) => {
        const [log, server] = [stage.log('client'), stage.log('server')]
        let asked = 0
        const port = await serve(stage, (socket, request) => {
          server(request.split('\r\n')[0], /last-event-id: .*/i.exec(request)?.[0], /accept: .*/i.exec(request)?.[0], /cache-control: .*/i.exec(request)?.[0])
          if (++asked === 3) return socket.end('HTTP/1.1 204 No Content\r\n\r\n')
          socket.write(`HTTP/1.1 ${head}connection: close\r\n\r\n${body}`, 'latin1', () => { setTimeout(() => { act(socket) }, 30) })
        })
        const agent = stage.own(new module.Agent())
        const source = new module.EventSource(`http://127.0.0.1:${port}/`, { node: { dispatcher: agent, reconnectionTime: 10 }, dispatcher: agent })
        source.addEventListener('open', () => { log('open') })
        for (const event of ['message', 'x']) source.addEventListener(event, ({ type, data, lastEventId, origin }) => { log(type, data, lastEventId, origin.replace(/\d{5}/, 'PORT')) })
        await new Promise(resolve => { source.addEventListener('error', ({ message }) => { log('error', message, source.readyState); if (source.readyState === 2) resolve() }) })
      }
    }
  }
}
export default programs

// WebSockets: messages of the client, and reactions of the server.
import { once } from 'node:events'
import net from 'node:net'
import { BINARY, CLOSE, closing, frame, frames, PING, PONG, TEXT } from '../../../support/clients/frames.mjs'

const NAMES = { 0: 'more', [TEXT]: 'text', [BINARY]: 'binary', [CLOSE]: 'close', [PING]: 'ping', [PONG]: 'pong' }
const LONG = 'x'.repeat(70_000)

/** Frames of the client; the last one ends its side. */
const SENT = {
  text: [frame(TEXT, 'hello')],
  'empty text': [frame(TEXT, '')],
  'text beyond ASCII': [frame(TEXT, 'grün €')],
  bytes: [frame(BINARY, Buffer.from([0, 255]))],
  'two messages': [frame(TEXT, 'one'), frame(TEXT, 'two')],
  parts: [frame(TEXT, 'in ', { more: true }), frame(0, 'parts')],
  'a ping': [frame(PING, 'p')],
  'a pong': [frame(PONG, 'q')],
  'a ping between parts': [frame(TEXT, 'in ', { more: true }), frame(PING, 'p'), frame(0, 'parts')],
  'text that is no UTF-8': [frame(TEXT, Buffer.from([0xff, 0xfe]))],
  'a message that is too long': [frame(TEXT, 'y'.repeat(2000))],
  'a frame without a mask': [Buffer.from([129, 1, 65])],
  'a reserved opcode': [frame(3, 'x')],
  'a part of nothing': [frame(0, 'x')],
  'a ping that is too long': [frame(PING, 'z'.repeat(126))],
  'a close without a code': [frame(CLOSE, '')],
  'a close with a code': [closing(4000, 'enough')],
  'a close with a code that is none': [closing(1005)],
  'an end without a close': []
}

/** Reactions of the server to a message. */
const ACTIONS = {
  nothing: () => {},
  'sends it back': (ws, message, log) => { log('sent', ws.send(message)) },
  'sends text and bytes': (ws, message, log) => { log('sent', ws.sendText('text'), ws.sendBinary(new Uint8Array([1, 2])), ws.send(new ArrayBuffer(2))) },
  'sends much': (ws, message, log) => { log('sent', ws.send(LONG) !== 0) },
  'sends together': (ws, message, log) => { log('cork', ws.cork(ws => { ws.send('a'); ws.send('b'); return 'result' })) },
  pings: (ws, message, log) => { log('pinged', ws.ping('p'), ws.pong('q')) },
  closes: ws => { ws.close() },
  'closes with a code': ws => { ws.close(4001, 'why') },
  'closes with a code that is never sent': ws => { ws.close(1005, 'why') },
  'closes, and sends': (ws, message, log) => {
    ws.close(4002)
    log('sent', ws.send('late'))
  },
  ends: ws => { ws.terminate() },
  publishes: (ws, message, log) => {
    ws.subscribe('topic')
    log('topics', ws.isSubscribed('topic'), ws.subscriptions, ws.publish('topic', 'to others'))
    ws.unsubscribe('topic')
    log('topics', ws.isSubscribed('topic'), ws.subscriptions)
  },
  'publishes by the server': (ws, message, log, server) => {
    ws.subscribe('topic')
    log('published', server.publish('topic', 'to all') !== 0, server.subscriberCount('topic'))
  }
}

/** Uses of the cookies of a request before it is upgraded. */
const COOKIES = {
  'sets one': cookies => { cookies.set('sid', '9') },
  'sets one with options': cookies => { cookies.set('sid', '9', { httpOnly: true, maxAge: 60 }) },
  'deletes one': cookies => { cookies.delete('came') },
  'sets and deletes': cookies => { cookies.set('sid', '9'); cookies.delete('came') },
  'reads one': cookies => { cookies.get('came') }
}

/** Upgrades, and reports the cookies that are set. */
const upgradeWith = (use, headers) => async (module, stage) => {
  const server = stage.serve(module, {
    routes: {
      '/': (request, server) => {
        use(request.cookies)
        return server.upgrade(request, { headers }) ? undefined : new module.Response('no')
      }
    },
    fetch: () => new module.Response('none'),
    websocket: { open (ws) { ws.terminate() }, message () {} }
  })
  const fields = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\ncookie: came=1'
  const text = (await stage.send(server.port, Buffer.from(`GET / HTTP/1.1\r\nhost: localhost\r\n${fields}\r\n\r\n`))).toString('latin1')
  stage.log('client')(text.slice(0, 12), text.split('\r\n').filter(line => /^set-cookie:/i.test(line)).map(line => line.slice(12)).sort())
}

/** Upgrades, and reports each frame of the server until it ends. */
async function play (stage, server, sent) {
  const log = stage.log('client')
  const socket = net.connect(server.port, '127.0.0.1')
  stage.sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n')
  let head = Buffer.alloc(0)
  while (!head.includes('\r\n\r\n')) {
    const [chunk] = await once(socket, 'data')
    head = Buffer.concat([head, chunk])
  }
  log(head.toString('latin1', 0, 12))
  const peer = frames(socket, head.subarray(head.indexOf('\r\n\r\n') + 4))
  for (const piece of sent) socket.write(piece)
  // Behind the answers to these the client says that it is done.
  socket.write(frame(PING, 'last'))
  for (let next = await peer.next(); next !== null; next = await peer.next()) {
    const [opcode, payload] = next
    if (opcode === PONG && String(payload) === 'last') {
      if (sent.length === 0) socket.destroy()
      else socket.write(closing(1000))
      continue
    }
    log(NAMES[opcode], payload.length > 100 ? payload.length : payload.toString('latin1'))
    if (opcode === CLOSE) socket.end(closing(payload.length < 2 ? 1000 : payload.readUInt16BE(0)))
  }
}

const programs = {}
for (const [what, use] of Object.entries(COOKIES)) {
  programs[`an upgrade whose handler ${what}`] = upgradeWith(use, undefined)
  programs[`an upgrade whose handler ${what}, beside a header`] = upgradeWith(use, { 'set-cookie': 'own=1' })
}
for (const [name, sent] of Object.entries(SENT)) {
  for (const [what, action] of Object.entries(ACTIONS)) {
    programs[`${name}, the server ${what}`] = async (module, stage) => {
      const log = stage.log('server')
      let isOver
      const over = new Promise(resolve => { isOver = resolve })
      const server = stage.serve(module, {
        fetch: (request, server) => server.upgrade(request, { data: 'data' }) ? undefined : new module.Response('no', { status: 426 }),
        websocket: {
          maxPayloadLength: 1000,
          open (ws) { log('open', ws.data, ws.readyState, ws.remoteAddress) },
          message (ws, message) {
            log('message', typeof message === 'string' ? message : Buffer.from(message).toString('hex'))
            action(ws, message, log, server)
          },
          ping (ws, data) { if (String(data) !== 'last') log('ping', String(data)) },
          pong (ws, data) { log('pong', String(data)) },
          close (ws, code, reason) {
            log('close', code, reason, ws.readyState)
            isOver()
          }
        }
      })
      await play(stage, server, sent)
      await over
    }
  }
}
export default programs

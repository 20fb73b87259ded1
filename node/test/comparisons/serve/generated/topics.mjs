// Members of a WebSocket and topics of several, by what a handler calls.
import { once } from 'node:events'
import net from 'node:net'
import { closing, frame, frames, PING, TEXT } from '../../../support/clients/frames.mjs'

const HEAD = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

/** Calls on the first of two sockets, `a`; the other is `b`. */
const CALLS = {
  'subscribes': ({ a, server }) => [a.subscribe('t') !== false, a.isSubscribed('t'), a.subscriptions, server.subscriberCount('t')],
  'subscribes twice': ({ a, server }) => [a.subscribe('t'), a.subscribe('t'), a.subscriptions, server.subscriberCount('t')],
  'subscribes to nothing': ({ a }) => [a.subscribe('')],
  'subscribes to a number': ({ a }) => [a.subscribe(5), a.subscriptions],
  'unsubscribes': ({ a, server }) => [a.subscribe('t'), a.unsubscribe('t'), a.unsubscribe('t'), a.isSubscribed('t'), server.subscriberCount('t')],
  'unsubscribes from what it has not': ({ a }) => [a.unsubscribe('t')],
  'two subscribe': ({ a, b, server }) => [a.subscribe('t'), b.subscribe('t'), server.subscriberCount('t'), server.publish('t', 'all')],
  'two subscribe, one publishes': ({ a, b }) => [a.subscribe('t'), b.subscribe('t'), a.publish('t', 'others')],
  'publishes without a subscription': ({ a, b }) => [b.subscribe('t'), a.publish('t', 'others')],
  'publishes where nobody is': ({ a, server }) => [a.publish('t', 'none'), server.publish('t', 'none')],
  'publishes to itself alone': ({ a }) => [a.subscribe('t'), a.publish('t', 'self')],
  'publishes text': ({ a, b }) => [b.subscribe('t'), a.publishText('t', 'text')],
  'publishes bytes': ({ a, b }) => [b.subscribe('t'), a.publishBinary('t', new Uint8Array([1, 2]))],
  'publishes an ArrayBuffer': ({ b, server }) => [b.subscribe('t'), server.publish('t', new ArrayBuffer(2))],
  'publishes an empty text': ({ b, server }) => [b.subscribe('t'), server.publish('t', '')],
  'publishes, and unsubscribes': ({ a, b, server }) => [b.subscribe('t'), server.publish('t', 'one'), b.unsubscribe('t'), server.publish('t', 'two')],
  'publishes to several topics': ({ a, b, server }) => [a.subscribe('t'), a.subscribe('u'), b.subscribe('u'), server.publish('t', '1'), server.publish('u', '2'), server.publish('v', '3')],
  'publishes a long text': ({ b, server }) => [b.subscribe('t'), server.publish('t', 'x'.repeat(70_000)) !== 0],
  'closes one that is subscribed': ({ a, b, server }) => [a.subscribe('t'), b.subscribe('t'), a.close(), server.publish('t', 'left')],
  'ends one that is subscribed': ({ a, b, server }) => [a.subscribe('t'), b.subscribe('t'), a.terminate(), server.publish('t', 'left')],
  'subscribes behind a close': ({ a }) => [a.close(), a.subscribe('t'), a.isSubscribed('t')],
  'sends behind a close': ({ a }) => [a.close(), a.send('late'), a.sendText('late'), a.sendBinary(Buffer.from('late')), a.ping(), a.pong()],
  'closes twice': ({ a }) => [a.close(4000, 'one'), a.close(4001, 'two')],
  'closes without a code': ({ a }) => [a.close()],
  'closes with undefined': ({ a }) => [a.close(undefined, undefined)],
  'closes with 1001': ({ a }) => [a.close(1001)],
  'closes with 1002 and a reason': ({ a }) => [a.close(1002, 'why')],
  'closes with a reason beyond ASCII': ({ a }) => [a.close(4000, 'grün €')],
  'closes with a reason that is a number': ({ a }) => [a.close(4000, 5)],
  'closes with a reason of an object': ({ a }) => [a.close(4000, { toString: () => 'text' })],
  'closes within its reason': ({ a }) => [a.close(4000, { toString: () => { a.close(4001, 'inner'); return 'outer' } })],
  'ends twice': ({ a }) => [a.terminate(), a.terminate()],
  'ends behind a close': ({ a }) => [a.close(4000), a.terminate()],
  'reads its members': ({ a }) => [a.readyState, a.remoteAddress, a.data, a.binaryType, a.protocol ?? '', a.getBufferedAmount()],
  'sets its data': ({ a }) => [a.data = { own: 1 }, a.data],
  'sends text': ({ a }) => [a.send('text'), a.send(''), a.sendText('more')],
  'sends bytes': ({ a }) => [a.send(new Uint8Array([1, 2, 3])), a.send(new Uint8Array([1, 2, 3]).subarray(1)), a.send(new DataView(new ArrayBuffer(4), 1, 2)), a.sendBinary(new Uint16Array([1, 2]))],
  'sends a SharedArrayBuffer': ({ a }) => [a.send(new SharedArrayBuffer(2))],
  'sends a Blob': ({ a }) => [a.send('in front'), a.send(new Blob(['one', 'two'])), a.sendBinary(new Blob(['part']).slice(1, 3)), a.send(new Blob([])), a.send('behind')],
  'sends a File': ({ a }) => [a.send(new File(['file'], 'name', { type: 'text/plain' }))],
  'publishes a Blob': ({ a, b, server }) => [b.subscribe('t'), a.publish('t', new Blob(['one'])), a.publishBinary('t', new Blob(['two'])), server.publish('t', new Blob(['three']))],
  'pings with a Blob': ({ a }) => [a.ping(new Blob(['p'])), a.pong(new Blob(['q']))],
  'sends text beyond ASCII': ({ a }) => [a.send('grün €'), a.sendText('😶')],
  'sends a number': ({ a }) => [a.send(5)],
  'sends null': ({ a }) => [a.send(null)],
  'sends undefined': ({ a }) => [a.send(undefined)],
  'sends an object': ({ a }) => [a.send({})],
  'sends compressed': ({ a }) => [a.send('text', true), a.send('text', false), a.send('text', undefined)],
  'sends with a flag that is none': ({ a }) => [a.send('text', 'yes')],
  'pings': ({ a }) => [a.ping(), a.ping('p'), a.ping(new Uint8Array([1])), a.pong('q')],
  'pings with too much': ({ a }) => [a.ping('x'.repeat(126))],
  'works together': ({ a }) => [a.cork(ws => { ws.send('1'); ws.send('2'); return 'result' })],
  'works together with itself as this': ({ a }) => [a.cork(function () { return this === a })],
  'works together, and fails': ({ a }) => [a.cork(() => { throw new Error('boom') })],
  'works together on nothing': ({ a }) => [a.cork()],
  'works together in one another': ({ a }) => [a.cork(ws => ws.cork(ws => ws.send('in')))],
  ...Object.fromEntries(['nodebuffer', 'arraybuffer', 'uint8array', 'blob', 'Buffer', 'ArrayBuffer', 'buffer', 'other', 5, null].map(type => [`takes messages as ${String(type)}`, ({ a }) => [a.binaryType = type, a.binaryType]]))
}

const shown = value => value === undefined || typeof value !== 'object' ? value : value === null ? null : Array.isArray(value) ? [...value].sort() : value.constructor.name === 'Error' ? value.message : JSON.stringify(value)

async function client (stage, server, name) {
  const socket = net.connect(server.port, '127.0.0.1')
  stage.sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(HEAD)
  let head = Buffer.alloc(0)
  while (!head.includes('\r\n\r\n')) head = Buffer.concat([head, (await once(socket, 'data'))[0]])
  const peer = frames(socket, head.subarray(head.indexOf('\r\n\r\n') + 4))
  return { name, socket, peer }
}

/** Logs the frames of a socket until its server has answered the last one. */
async function drain (stage, { name, socket, peer }) {
  const log = stage.log(name)
  socket.write(frame(PING, 'last'))
  for (let next = await peer.next(); next !== null; next = await peer.next()) {
    const [opcode, payload] = next
    if (opcode === 10 && String(payload) === 'last') {
      socket.write(closing(1000))
      continue
    }
    // A close frame without words has the code of the client, or none.
    if (opcode !== 8 || payload.length > 2) log(opcode, payload.length > 100 ? payload.length : payload.toString('hex'))
    if (opcode === 8) socket.end(closing(1000))
  }
}

const program = (call, options = {}) => async (module, stage) => {
  const log = stage.log('server')
  // In one order, whichever side logs first.
  for (const side of ['a', 'b', 'messages', 'close a', 'close b']) stage.log(side)
  const opened = []
  let wake = () => {}
  const left = new Set()
  const server = stage.serve(module, {
    fetch: (request, server) => server.upgrade(request, { data: 'given' }) ? undefined : new module.Response('no'),
    websocket: {
      open (ws) { opened.push(ws); wake() },
      message (ws, message) { stage.log('messages')(message?.constructor?.name, typeof message === 'string' ? message : message.byteLength ?? message.size) },
      ping (ws, data) { if (String(data) !== 'last' && data.byteLength !== 4) stage.log('messages')('ping', data?.constructor?.name) },
      close (ws, code, reason) {
        stage.log(ws === opened[0] ? 'close a' : 'close b')(code, reason, ws.readyState, ws.subscriptions.length)
        left.add(ws)
        wake()
      },
      ...options
    }
  })
  const clients = []
  for (const name of ['a', 'b']) {
    clients.push(await client(stage, server, name))
    while (opened.length < clients.length) await new Promise(resolve => { wake = resolve })
  }
  const [a, b] = opened
  try {
    log(...call({ a, b, server }).map(shown))
  } catch (error) {
    log('threw', error instanceof Error)
  }
  clients[0].socket.write(Buffer.concat([frame(2, 'bytes'), frame(TEXT, 'text')]))
  await Promise.all(clients.map(one => drain(stage, one)))
  while (left.size < 2) await new Promise(resolve => { wake = resolve })
  log(server.pendingWebSockets, server.subscriberCount('t'))
}

const programs = {}
for (const [name, call] of Object.entries(CALLS)) programs[name] = program(call)
for (const name of ['two subscribe, one publishes', 'publishes to itself alone', 'publishes text', 'publishes without a subscription']) programs[`${name}, also to itself`] = program(CALLS[name], { publishToSelf: true })
export default programs

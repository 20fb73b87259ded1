// Requests for a WebSocket, by what they say, by when and how the handler upgrades them, and by the frames that come with them.
import { BINARY, CLOSE, closing, frame, frames, PING, TEXT } from '../../../support/clients/frames.mjs'

const NAMES = { 0: 'more', [TEXT]: 'text', [BINARY]: 'binary', [CLOSE]: 'close', [PING]: 'ping', 10: 'pong' }
const FIELDS = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }

/** Fields of requests that differ from those of an ordinary client; null: the field is not there. */
const REQUESTS = {
  plain: {},
  'in capitals': { fields: { connection: 'UPGRADE', upgrade: 'WebSocket' } },
  'with keep-alive': { fields: { connection: 'keep-alive, Upgrade' } },
  'without connection': { fields: { connection: null } },
  'without upgrade': { fields: { upgrade: null } },
  'for another protocol': { fields: { upgrade: 'other' } },
  'for two protocols': { fields: { upgrade: 'other, websocket' } },
  'of version 8': { fields: { 'sec-websocket-version': '8' } },
  'of version 12': { fields: { 'sec-websocket-version': '12' } },
  'without a version': { fields: { 'sec-websocket-version': null } },
  'without a key': { fields: { 'sec-websocket-key': null } },
  'with a short key': { fields: { 'sec-websocket-key': 'AAAA' } },
  'with a key that is no base64': { fields: { 'sec-websocket-key': '!!!!!!!!!!!!!!!!!!!!!!==' } },
  'by POST': { method: 'POST', fields: { 'content-length': '0' } },
  'of HTTP/1.0': { version: '1.0' },
  'with a subprotocol': { fields: { 'sec-websocket-protocol': 'chat' } },
  'with two subprotocols': { fields: { 'sec-websocket-protocol': 'chat, other' } },
  'with a subprotocol that is none': { fields: { 'sec-websocket-protocol': 'a b' } },
  'with an empty subprotocol': { fields: { 'sec-websocket-protocol': '' } },
  'with an extension': { fields: { 'sec-websocket-extensions': 'permessage-deflate' } },
  'with options of an extension': { fields: { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits; server_no_context_takeover' } },
  'with an extension that is none': { fields: { 'sec-websocket-extensions': 'x-own; a=b' } },
  'with a body': { fields: { 'content-length': '5' }, body: 'hello' },
  'with a body in chunks': { fields: { 'transfer-encoding': 'chunked' }, body: '5\r\nhello\r\n0\r\n\r\n' }
}

const later = () => new Promise(resolve => { setTimeout(resolve, 5) })
/** How a handler upgrades. What it gives is the answer where the upgrade failed. */
const WAYS = {
  'at once': (request, server) => server.upgrade(request),
  'behind a microtask': async (request, server) => {
    await null
    return server.upgrade(request)
  },
  'later': async (request, server) => {
    await later()
    return server.upgrade(request)
  },
  'behind its body': async (request, server) => {
    await request.text()
    return server.upgrade(request)
  },
  'twice': (request, server, log) => {
    const first = server.upgrade(request)
    log('again', server.upgrade(request))
    return first
  },
  'with data': (request, server) => server.upgrade(request, { data: { a: 1 } }),
  'with data of null': (request, server) => server.upgrade(request, { data: null }),
  'with fields': (request, server) => server.upgrade(request, { headers: { 'x-own': '1', 'set-cookie': 'a=1' } }),
  'with Headers': (request, server) => server.upgrade(request, { headers: new Headers([['x-own', '1'], ['x-own', '2']]) }),
  'with a subprotocol': (request, server) => server.upgrade(request, { headers: { 'Sec-WebSocket-Protocol': 'other' } }),
  'with options of undefined': (request, server) => server.upgrade(request, { headers: undefined, data: undefined }),
  'within its options': (request, server, log) => server.upgrade(request, {
    get data () {
      log('within', server.upgrade(request))
      return 'outer'
    }
  }),
  'by a copy of the request': (request, server, log) => {
    log('copy', server.upgrade(new Request(request.url, { headers: request.headers })))
    return server.upgrade(request)
  },
  'and fails': (request, server) => {
    server.upgrade(request)
    throw new Error('fails behind the upgrade')
  },
  'and closes in open': (request, server) => server.upgrade(request, { data: 'closes' })
}

/** Frames that come in the same piece as the request. */
const EARLY = {
  'nothing early': Buffer.alloc(0),
  'a message early': frame(TEXT, 'early'),
  'two messages early': Buffer.concat([frame(TEXT, 'one'), frame(BINARY, 'two')]),
  'a part of a frame early': frame(TEXT, 'early').subarray(0, 4)
}

async function play (module, stage, { method = 'GET', version = '1.1', fields = {}, body = '' }, upgrade, early, options = {}) {
  const log = stage.log('client')
  const own = stage.log('server')
  stage.log('handler')
  let end
  const over = new Promise(resolve => { end = resolve })
  let isOpen = false
  const server = stage.serve(module, {
    async fetch (request, server) {
      try {
        const isDone = await upgrade(request, server, own)
        stage.log('handler')('upgraded', isDone)
        if (isDone) return
      } catch (error) {
        stage.log('handler')('threw', error.message)
        throw error
      }
      return new module.Response('no', { status: 426 })
    },
    websocket: {
      open (ws) {
        isOpen = true
        own('open', ws.data)
        if (ws.data === 'closes') ws.close(4000, 'at once')
      },
      message (ws, message) {
        own('message', typeof message === 'string' ? message : Buffer.from(message).toString('hex'))
        ws.send(message)
      },
      close (ws, code, reason) {
        own('close', code, reason)
        end()
      },
      ...options
    }
  })
  const connection = await stage.connect(server)
  const { socket } = connection
  const all = Object.entries({ ...FIELDS, ...fields }).filter(([, value]) => value !== null)
  const head = `${method} / HTTP/${version}\r\nhost: localhost\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  connection.write(Buffer.concat([Buffer.from(head), early]))
  const response = await connection.next()
  log(response.replace(/date: any; /, ''))
  if (!response.startsWith('101')) {
    socket.destroy()
    return
  }
  const peer = frames(socket, connection.held)
  if (early.length === 4) socket.write(frame(TEXT, 'early').subarray(4))
  socket.write(Buffer.concat([frame(TEXT, 'last'), frame(PING, 'last')]))
  for (let next = await peer.next(); next !== null; next = await peer.next()) {
    const [opcode, payload] = next
    log(NAMES[opcode], payload.toString('latin1'))
    if (opcode === 10) socket.write(closing(1000))
    if (opcode === CLOSE) socket.end(closing(1000))
  }
  if (isOpen) await over
}

const programs = {}
for (const [name, request] of Object.entries(REQUESTS)) {
  for (const way of ['at once', 'later', 'with data', 'with a subprotocol']) programs[`a request ${name}, ${way}`] = (module, stage) => play(module, stage, request, WAYS[way], EARLY['nothing early'])
  programs[`a request ${name}, at once, a message early`] = (module, stage) => play(module, stage, request, WAYS['at once'], EARLY['a message early'])
  programs[`a request ${name}, compressed`] = (module, stage) => play(module, stage, request, WAYS['at once'], EARLY['nothing early'], { perMessageDeflate: true })
}
for (const [way, upgrade] of Object.entries(WAYS)) {
  for (const [name, early] of Object.entries(EARLY)) programs[`${way}, ${name}`] = (module, stage) => play(module, stage, REQUESTS.plain, upgrade, early)
}
export default programs

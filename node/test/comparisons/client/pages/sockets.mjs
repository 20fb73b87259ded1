// WebSocket, WebSocketStream and EventSource, over HTTP/1.1 and over HTTP/2.
import { once } from 'node:events'
import diagnostics from 'node:diagnostics_channel'
import { WebSocketServer } from 'ws'
import { turns } from '../stage.mjs'
import { after, known, onVersions, programs, VERSIONS } from '../page.mjs'

/** A server of WebSockets; `talk(socket, request)`. */
async function sockets (p, talk, options = {}) {
  const server = await p.stage.serve(() => {})
  const all = new WebSocketServer({ server: server.server, ...options })
  all.on('connection', (socket, request) => { socket.on('error', () => {}); talk(socket, request) })
  return { url: server.url.replace('http', 'ws'), server }
}
const echo = socket => { socket.on('message', (data, isBinary) => { socket.send(data, { binary: isBinary }) }) }
/** Logs each event; resolves when it is closed. */
const watch = (p, socket, more = {}) => new Promise(resolve => {
  socket.addEventListener('open', event => { p.log('open', event.constructor.name, socket.readyState, socket.protocol, socket.extensions); more.open?.(socket) })
  socket.addEventListener('message', ({ data, constructor: { name } }) => { p.log('message', name, typeof data === 'string' ? data : data.constructor.name, data.size ?? data.byteLength ?? ''); more.message?.(socket, data) })
  socket.addEventListener('error', event => { p.log('error', event.constructor.name, event.message, known(event.error)) })
  socket.addEventListener('close', event => { p.log('close', event.constructor.name, event.code, event.reason, event.wasClean, socket.readyState); resolve() })
})
const events = async (p, lines, type = 'text/event-stream') => await p.serve((request, response) => { if (lines.asked !== undefined) lines.asked.push(request.headers['last-event-id'] ?? '-'); response.writeHead(lines.status ?? 200, { 'content-type': type }); response.write(lines.text); if (lines.ends) response.end() })
const sourceOf = (p, url) => new p.module.EventSource(url, { dispatcher: p.agent(), node: { dispatcher: p.agent() } })

export default {
  ...programs({
    'messages of each kind': async (p, { WebSocket }) => {
      const { url } = await sockets(p, echo)
      for (const binaryType of ['blob', 'arraybuffer']) {
        const socket = new WebSocket(url, { dispatcher: p.agent() })
        socket.binaryType = binaryType
        const all = ['text', new Uint8Array([1, 2]), new ArrayBuffer(3), new Blob(['blob']), new DataView(new ArrayBuffer(5)), '', new Uint16Array([1, 2])]
        let at = 0
        await watch(p, socket, { open: () => { socket.send(all[0]) }, message: () => { if (++at === all.length) socket.close(1000, 'done'); else socket.send(all[at]) } })
      }
    },
    'closes: each code and reason': async (p, { WebSocket }) => {
      for (const args of [[], [1000], [3000, 'reason'], [4999]]) {
        const { url } = await sockets(p, socket => { socket.on('close', (code, reason) => { p.stage.log('server')(code, String(reason)) }) })
        const socket = new WebSocket(url, { dispatcher: p.agent() })
        await watch(p, socket, { open: () => { socket.close(...args); p.log(socket.readyState) } })
      }
    },
    'closes that are refused': async (p, { WebSocket }) => {
      const { url } = await sockets(p, echo)
      const socket = new WebSocket(url, { dispatcher: p.agent() })
      await watch(p, socket, { open: () => {
        for (const args of [[1001], [999], [5000], [1000, 'a'.repeat(124)], ['x']]) p.attempt(args.join().slice(0, 20), () => socket.close(...args))
        socket.close()
      } })
    },
    'a server that closes': async (p, { WebSocket }) => {
      for (const end of [socket => { socket.close(1001, 'away') }, socket => { socket.close() }, socket => { socket.terminate() }, socket => { socket.send('last'); socket.close(4000, 'own') }]) {
        const { url } = await sockets(p, end)
        await watch(p, new WebSocket(url, { dispatcher: p.agent() }))
      }
    },
    'frames that break the rules': async (p, { WebSocket }) => {
      for (const bytes of [Buffer.from([0x83, 0x00]), Buffer.from([0x81, 0x02, 0xc3, 0x28]), Buffer.from([0xf1, 0x00]), Buffer.from([0x89, 0x7e, 0x00, 0x7e]), Buffer.from([0x80, 0x00]), Buffer.from([0x88, 0x01, 0x00])]) {
        const { url } = await sockets(p, socket => { socket.on('close', (code, reason) => { p.stage.log('server')(code, String(reason)) }); socket._socket.write(bytes) })
        await watch(p, new WebSocket(url, { dispatcher: p.agent() }))
        await after(10)
      }
    },
    'protocols': async (p, { WebSocket }) => {
      const { url } = await sockets(p, (socket, request) => { p.stage.log('server')(request.headers['sec-websocket-protocol'], socket.protocol); socket.close() }, { handleProtocols: offered => [...offered][1] ?? [...offered][0] })
      for (const protocols of ['a', ['a', 'b'], []]) await watch(p, new WebSocket(url, { protocols, dispatcher: p.agent() }))
      for (const protocols of [['a', 'a'], 'a b', ['']]) p.attempt(JSON.stringify(protocols), () => new WebSocket(url, protocols))
    },
    'a protocol that was not offered': async (p, { WebSocket }) => {
      const { url } = await sockets(p, () => {}, { handleProtocols: () => 'other' })
      await watch(p, new WebSocket(url, { protocols: ['a'], dispatcher: p.agent() }))
    },
    'fields of the handshake': async (p, { WebSocket }) => {
      const { url } = await sockets(p, (socket, request) => {
        const { host, 'sec-websocket-key': key, ...rest } = request.headers
        p.stage.log('server')(request.url, JSON.stringify(rest), key.length)
        socket.close()
      })
      await watch(p, new WebSocket(`${url}/path?a=b`, { dispatcher: p.agent(), headers: { 'X-Own': 'a', cookie: 'b=c', authorization: 'Basic d' } }))
    },
    'URLs': async (p, { WebSocket }) => {
      for (const url of ['ftp://localhost', 'x', '', 'ws://localhost/#a', 'ws://localhost:99999']) p.attempt(url, () => new WebSocket(url), () => ['made'])
      for (const url of ['http://localhost:1/a', 'ws://localhost:1']) { const socket = new WebSocket(url, { dispatcher: p.agent() }); p.log(socket.url, socket.readyState, socket.bufferedAmount, socket.binaryType); await watch(p, socket) }
    },
    'answers that are no upgrade': async (p, { WebSocket }) => {
      for (const answer of ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: x\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n', 'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n']) {
        const server = await p.stage.serveRaw(socket => { socket.on('error', () => {}).on('data', () => { socket.write(answer) }) })
        await watch(p, new WebSocket(server.url.replace('http', 'ws'), { dispatcher: p.agent() }))
      }
    },
    'send before it is open, and behind its close': async (p, { WebSocket }) => {
      const { url } = await sockets(p, echo)
      const socket = new WebSocket(url, { dispatcher: p.agent() })
      p.attempt('early', () => socket.send('x'))
      await watch(p, socket, { open: () => { socket.close() } })
      p.attempt('late', () => socket.send('x'))
      p.log(socket.bufferedAmount)
      p.attempt('close again', () => socket.close())
    },
    'closed before it is open': async (p, { WebSocket }) => {
      const { url } = await sockets(p, echo)
      const socket = new WebSocket(url, { dispatcher: p.agent() })
      const closed = watch(p, socket)
      socket.close()
      p.log(socket.readyState)
      await closed
    },
    '1 MB each way, and compression': async (p, { WebSocket }) => {
      for (const perMessageDeflate of [false, true]) {
        const { url } = await sockets(p, echo, { perMessageDeflate, maxPayload: 10_000_000 })
        const socket = new WebSocket(url, { dispatcher: p.agent() })
        socket.binaryType = 'arraybuffer'
        await watch(p, socket, { open: () => { socket.send(new Uint8Array(1_000_000)) }, message: () => { socket.close() } })
      }
    },
    'ping and its channels': async (p, { WebSocket, ping }) => {
      const { url } = await sockets(p, socket => { socket.on('ping', data => { p.stage.log('server')('ping', String(data)) }); echo(socket) })
      const names = ['open', 'close', 'socket_error', 'ping', 'pong']
      const stops = names.map(name => {
        const listener = message => { p.log('channel', name, Object.keys(message ?? {}).sort().join(), message?.payload === undefined ? '' : String(message.payload), message?.code ?? '', message?.protocol ?? '', message?.extensions ?? '') }
        diagnostics.subscribe(`undici:websocket:${name}`, listener)
        return () => { diagnostics.unsubscribe(`undici:websocket:${name}`, listener) }
      })
      const socket = new WebSocket(url, { dispatcher: p.agent() })
      await watch(p, socket, { open: () => { ping(socket, Buffer.from('hello')); socket.send('x') }, message: () => { setTimeout(() => { socket.close(1000) }, 20) } })
      for (const stop of stops) stop()
      p.attempt('no socket', () => ping({}))
      p.attempt('too long', () => ping(socket, Buffer.alloc(126)))
    },
    'a message that is too large': async (p, { WebSocket }) => {
      const { url } = await sockets(p, socket => { socket.on('close', code => { p.stage.log('server')(code) }); socket.send(Buffer.alloc(5000)) })
      await watch(p, new WebSocket(url, { dispatcher: p.agent({ webSocket: { maxPayloadSize: 1000 } }) }))
      await after(10)
    },
    'WebSocketStream: messages, and its ends': async (p, { WebSocketStream }) => {
      const { url } = await sockets(p, echo)
      const stream = new WebSocketStream(url, { dispatcher: p.agent(), protocols: [] })
      p.log(stream.url.startsWith('ws:'))
      const { readable, writable, protocol, extensions } = await stream.opened
      p.log(protocol, extensions)
      const [reader, writer] = [readable.getReader(), writable.getWriter()]
      await writer.write('text')
      p.log((await reader.read()).value)
      await writer.write(new Uint8Array([1, 2, 3]))
      const { value } = await reader.read()
      p.log(value.constructor.name, value.byteLength)
      await writer.close()
      await p.settle('closed', stream.closed, ({ closeCode, reason }) => [closeCode, reason])
    },
    'WebSocketStream: a port where nothing listens, and a signal': async (p, { WebSocketStream }) => {
      const { setGlobalDispatcher, getGlobalDispatcher } = p.module
      const before = getGlobalDispatcher()
      setGlobalDispatcher(p.agent())
      try {
        const stream = new WebSocketStream('ws://localhost:1')
        await p.settle('opened', stream.opened)
        await p.settle('closed', stream.closed)
        const aborted = new WebSocketStream('ws://localhost:1', { signal: AbortSignal.abort() })
        await p.settle('opened', aborted.opened)
        await p.settle('closed', aborted.closed)
      } finally {
        setGlobalDispatcher(before)
      }
    }
  }),
  ...onVersions(VERSIONS, {
    'EventSource: fields of events': async p => {
      const server = await events(p, { text: ': a comment\ndata: one\n\nevent: named\ndata: two\nid: 7\n\ndata\n\ndata:a\ndata: b\r\n\r\nid\ndata: last\n\n' })
      const source = sourceOf(p, server.url)
      p.log(source.url === `${server.url}/`, source.readyState, source.withCredentials)
      await new Promise(resolve => {
        source.onopen = event => { p.log('open', event.constructor.name, source.readyState) }
        for (const name of ['message', 'named']) source.addEventListener(name, ({ type, data, lastEventId, origin }) => { p.log(type, JSON.stringify(data), lastEventId, origin === server.url); if (data === 'last') resolve() })
      })
      source.close()
      p.log(source.readyState)
    },
    'EventSource: connects again, with the last id': async p => {
      const lines = { text: 'retry: 10\nid: 5\ndata: x\n\n', ends: true, asked: [] }
      const server = await events(p, lines)
      const source = sourceOf(p, server.url)
      await new Promise(resolve => {
        let at = 0
        source.onmessage = ({ data }) => { p.log('message', data); if (++at === 3) resolve() }
        source.onerror = event => { p.log('error', event.constructor.name, source.readyState) }
      })
      source.close()
      p.log(lines.asked)
    },
    'EventSource: answers that end it': async p => {
      for (const [status, type] of [[204, 'text/event-stream'], [200, 'text/html'], [500, 'text/event-stream'], [404, 'text/event-stream'], [200, 'text/event-stream; charset=utf-8']]) {
        const server = await events(p, { text: status === 204 ? '' : 'data: x\n\n', status, ends: status !== 200 }, type)
        const source = sourceOf(p, server.url)
        await new Promise(resolve => { source.onerror = () => { p.log(status, type, 'error', source.readyState); resolve() }; source.onmessage = ({ data }) => { p.log(status, type, data); resolve() } })
        source.close()
      }
    },
    'EventSource: what is sent': async p => {
      const server = await p.serve((request, response) => { const { accept, 'cache-control': control } = request.headers; p.stage.log('server')(accept, control, request.headers['accept-encoding'] !== undefined, request.headers['user-agent']); response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: x\n\n') })
      const source = sourceOf(p, server.url)
      await once(source, 'message')
      source.close()
    },
    'EventSource: URLs, and a port where nothing listens': async (p, { EventSource }) => {
      for (const url of ['x', '', 'ftp://localhost']) p.attempt(url, () => { new EventSource(url, { node: { dispatcher: p.agent() } }).close() })
      const source = sourceOf(p, 'http://localhost:1')
      await new Promise(resolve => { source.onerror = event => { p.log('error', event.constructor.name, source.readyState); resolve() } })
      source.close()
      await turns(2)
      p.log(source.readyState, EventSource.CONNECTING, EventSource.OPEN, EventSource.CLOSED)
    }
  }),
  ...onVersions(['h2'], {
    'WebSocket over extended CONNECT, where the server has it': async (p, { WebSocket }) => {
      const server = await p.stage.serveH2(() => {}, { settings: { enableConnectProtocol: true } })
      server.server.on('stream', (stream, headers) => { stream.on('error', () => {}); if (headers[':method'] === 'CONNECT') { p.stage.log('server')(headers[':protocol'], headers[':path'], headers['sec-websocket-version']); stream.respond({ ':status': 200 }); stream.write(Buffer.from([0x81, 0x02, 0x68, 0x69])); stream.on('data', () => { stream.end(Buffer.from([0x88, 0x02, 0x03, 0xe8])) }) } })
      const socket = new WebSocket(`${server.url.replace('https', 'wss')}/p`, { dispatcher: p.agent() })
      await watch(p, socket, { message: () => { socket.close(1000) } })
    },
    'WebSocket to a server that has it over HTTP/1.1 alone': async (p, { WebSocket }) => {
      const server = await p.stage.serveH2(() => {}, { allowHTTP1: true })
      const all = new WebSocketServer({ server: server.server })
      all.on('connection', socket => { socket.on('error', () => {}); echo(socket) })
      const socket = new WebSocket(server.url.replace('https', 'wss'), { dispatcher: p.agent() })
      await watch(p, socket, { open: () => { socket.send('x') }, message: () => { socket.close(1000) } })
    }
  })
}

// The tunnels of upgrade() and connect(): bytes both ways, and their end.
import { closing, turns } from '../stage.mjs'

const WEBSOCKET = { path: '/', upgrade: 'websocket', headers: { 'x-own': 'mine' } }

/** A server that switches protocols, and gives each such socket to `talk`. */
async function switching (t, talk, head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nX-Name: Value\r\n\r\n') {
  const server = await t.serve((request, response) => { response.end('no switch') })
  for (const event of ['upgrade', 'connect']) {
    server.server.on(event, (request, socket, rest) => {
      socket.on('error', () => {})
      socket.write(event === 'connect' ? head.replace('101 Switching Protocols', '200 OK') : head)
      talk(socket, rest, request)
    })
  }
  return server
}

/** Logs what a socket of a server gets until it ends, and ends it: node:http leaves its half open. */
const receives = log => socket => {
  let bytes = 0
  socket.on('data', piece => { bytes += piece.length })
  socket.on('end', () => {
    log('got', bytes, 'bytes')
    socket.end()
  })
}
const calls = {
  upgrade: (client, options = {}) => client.upgrade({ path: '/', ...options }),
  connect: (client, options = {}) => client.connect({ path: 'localhost:1', ...options })
}

const programs = {}
for (const [name, call] of Object.entries(calls)) {
  programs[`${name}: what is opened`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await switching(t, socket => { socket.end('bye') })
    const client = t.own(new Client(server.url))
    const opened = await call(client, { opaque: 'mine' })
    log(opened.statusCode, opened.headers, opened.opaque, opened.context, Object.keys(opened).sort().join())
    let text = ''
    opened.socket.on('data', piece => { text += piece })
    await closing(opened.socket)
    log(text)
  }
  programs[`${name}: an echo`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await switching(t, socket => { socket.pipe(socket) })
    const client = t.own(new Client(server.url))
    const { socket } = await call(client)
    let bytes = 0
    socket.on('data', piece => { if ((bytes += piece.length) === 200_000) socket.end() })
    for (let round = 0; round < 20; round++) socket.write(Buffer.alloc(10_000))
    await closing(socket)
    log(bytes)
  }
  for (const length of [1, 10, 20_000, 100_000]) {
    programs[`${name}: ${length} bytes that are written before destroy arrive`] = async ({ Client }, t) => {
      const log = t.log('server')
      let ended
      const over = new Promise(resolve => { ended = resolve })
      const server = await switching(t, socket => { receives(log)(socket); socket.on('close', ended) })
      const client = t.own(new Client(server.url))
      const { socket } = await call(client)
      socket.on('error', () => {})
      socket.write(Buffer.alloc(length))
      socket.destroy()
      await over
    }
    programs[`${name}: ${length} bytes that are written before destroy with an error arrive`] = async ({ Client }, t) => {
      const log = t.log('server')
      let ended
      const over = new Promise(resolve => { ended = resolve })
      const server = await switching(t, socket => { receives(log)(socket); socket.on('close', ended) })
      const client = t.own(new Client(server.url))
      const { socket } = await call(client)
      t.watch(t.log('client'), socket, 'socket', ['error', 'close'])
      socket.write(Buffer.alloc(length))
      socket.destroy(new Error('mine'))
      await over
    }
    programs[`${name}: ${length} bytes that are written before end arrive`] = async ({ Client }, t) => {
      const log = t.log('server')
      let ended
      const over = new Promise(resolve => { ended = resolve })
      const server = await switching(t, socket => { receives(log)(socket); socket.on('close', ended) })
      const client = t.own(new Client(server.url))
      const { socket } = await call(client)
      t.watch(t.log('client'), socket, 'socket', ['error', 'close', 'end', 'finish'])
      socket.resume()
      socket.end(Buffer.alloc(length))
      await over
    }
  }
  programs[`${name}: the peer destroys`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await switching(t, socket => { setTimeout(() => { socket.destroy() }, 20) })
    const client = t.own(new Client(server.url))
    const { socket } = await call(client)
    t.watch(log, socket, 'socket', ['error', 'close', 'end'])
    socket.resume()
    await closing(socket)
  }
  programs[`${name}: close of the client beside it`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await switching(t, socket => { socket.pipe(socket) })
    const client = t.own(new Client(server.url))
    const { socket } = await call(client)
    socket.on('error', () => {})
    await t.settle(log, 'close', client.close())
    socket.write('still')
    socket.once('data', piece => { log(String(piece)); socket.destroy() })
    await closing(socket)
  }
  programs[`${name}: destroy of the client beside it`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await switching(t, socket => { socket.pipe(socket) })
    const client = t.own(new Client(server.url))
    const { socket } = await call(client)
    t.watch(log, socket, 'socket', ['error', 'close'])
    await t.settle(log, 'destroy', client.destroy())
    socket.write('still')
    socket.once('data', piece => { log(String(piece)); socket.destroy() })
    await closing(socket)
  }
  programs[`${name}: a request behind it`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await switching(t, socket => { socket.pipe(socket) })
    const client = t.own(new Client(server.url))
    const { socket } = await call(client)
    socket.on('error', () => {})
    const { body } = await client.request({ path: '/', method: 'GET' })
    log(await body.text())
    socket.destroy()
  }
  programs[`${name}: an answer that opens nothing`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serveAnswer('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno')
    const client = t.own(new Client(server.url))
    await t.settle(log, name, call(client).then(({ statusCode, socket }) => { socket.on('error', () => {}).destroy(); return statusCode }))
  }
  programs[`${name}: addresses of the socket`] = async ({ Client }, t) => {
    const log = t.log('client')
    const server = await switching(t, () => {})
    const client = t.own(new Client(server.url))
    const { socket } = await call(client)
    log(socket.remoteAddress, socket.remotePort === server.port, socket.remoteFamily, typeof socket.localPort, Object.keys(socket.address()).sort().join())
    log(socket.ref() === socket, socket.unref() === socket, socket.setNoDelay(true) === socket, socket.setKeepAlive(true) === socket, socket.setTimeout(0) === socket)
    socket.destroy()
    await closing(socket)
  }
}

/** A WebSocket of undici 8 with a dispatcher; how many connections it costs. */
const webSocket = options => async ({ Agent }, t) => {
  const { WebSocket } = await import('undici8')
  const { echoUpgrades } = await import('../../../support/clients/websocket.mjs')
  const log = t.log('client')
  const server = await t.serve(() => {})
  echoUpgrades({ server: server.server })
  const agent = t.own(new Agent(options))
  const socket = new WebSocket(server.url.replace('http', 'ws'), { dispatcher: agent })
  socket.onmessage = ({ data }) => { log('message', data); socket.close(1000) }
  socket.onopen = () => { socket.send('one') }
  await new Promise(resolve => { socket.onclose = ({ code, wasClean }) => { log('close', code, wasClean); resolve() } })
  await turns()
  log('connections', server.counts.sockets)
}

export default {
  ...programs,
  'a WebSocket in cleartext costs one connection': webSocket({}),
  'an upgrade by request is refused': async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client('http://localhost:1'))
    await t.settle(log, 'request', client.request({ ...WEBSOCKET, method: 'GET' }))
  },
  'a CONNECT of a path': async ({ Client }, t) => {
    const log = t.log('client')
    const client = t.own(new Client('http://localhost:1'))
    await t.settle(log, 'connect', client.connect({ path: '/' }))
  },
  'a 101 that was not asked for': async ({ Client }, t) => {
    const log = t.log('client')
    const server = await t.serveAnswer('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n')
    const client = t.own(new Client(server.url))
    await t.settle(log, 'request', client.request({ path: '/', method: 'GET' }))
  },
  'what a server sends for an upgrade': async ({ Client }, t) => {
    const log = t.log('server')
    const server = await t.serveRaw(socket => {
      socket.once('data', head => {
        for (const line of String(head).split('\r\n').filter(line => line !== '' && !line.startsWith('host'))) log(line)
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      })
    })
    for (const ask of [client => client.upgrade({ path: '/x', protocol: 'Mine' }), client => client.connect({ path: 'localhost:1', headers: { a: 'b' } })]) {
      await ask(t.own(new Client(server.url))).catch(() => {})
    }
  }
}

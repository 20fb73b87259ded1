// The server object: its life, its events, its methods.
import { EventEmitter, once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { cert, key } from '../stage.mjs'
import { compat, core } from '../shapes.mjs'

const settled = server => once(server, 'close')

/** Makes servers of `make` pass rejections of their listeners to their own method. */
function capturing (make) {
  EventEmitter.captureRejections = true
  try {
    return make()
  } finally {
    EventEmitter.captureRejections = false
  }
}

/** Listeners of either API in the order in which a program adds them, and one that is put in front of all. */
const ORDERS = { 'stream, request': ['stream', 'request'], 'request, stream': ['request', 'stream'], 'request, stream, request': ['request', 'stream', 'request'], 'stream in front of request': ['request', 'in front'] }
const ordered = Object.fromEntries(Object.entries(ORDERS).flatMap(([name, events]) => [undefined, 'hello'].map(body => [`listeners are called in their order: ${name}${body === undefined ? '' : ', with a body'}`, async (http2, t) => {
  const log = t.log('server')
  const server = http2.createServer()
  const core = stream => { log('stream', stream.headersSent) }
  for (const event of events) {
    if (event === 'in front') server.prependListener('stream', core)
    else if (event === 'stream') server.on('stream', core)
    else server.on('request', (request, response) => { log('request', response.headersSent); if (!response.headersSent) response.end('hi') })
  }
  server.on('session', session => { session.on('stream', stream => { log('stream of the session', stream.headersSent) }) })
  log(server.listenerCount('stream'), server.listenerCount('request'))
  await t.show(await t.open(server), { headers: { ':method': body === undefined ? 'GET' : 'POST' }, body })
}])))

export default {
  'a server is a server of node:net, a secure one of node:tls': async (http2, t) => {
    const log = t.log('server')
    const plain = http2.createServer()
    const secure = http2.createSecureServer({ cert, key })
    log(plain instanceof net.Server, plain instanceof tls.Server, secure instanceof tls.Server, plain.constructor.name, secure.constructor.name)
  },
  'the listener given to createServer listens to requests': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { log(request.url); response.end('hi') })
    log(server.listenerCount('request'), server.listenerCount('stream'))
    await t.show(await t.open(server))
  },
  ...ordered,
  'the listener may stand behind the options': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer({}, (request, response) => { log(request.url); response.end('hi') })
    await t.show(await t.open(server))
  },
  'listening is told, and the address is there': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    log(server.listening, server.address())
    t.watch(log, server, 'server', ['listening', 'close'])
    log(server.listen(0, '127.0.0.1', () => { log('callback') }) === server)
    await once(server, 'listening')
    const { port, ...rest } = server.address()
    log(server.listening, port > 0, rest)
    server.close()
    log(server.listening)
    await settled(server)
  },
  'listen takes an object': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.listen({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    log(server.address().address, server.address().family)
    server.close()
    await settled(server)
  },
  'listen without a host listens on every address': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer().listen()
    await once(server, 'listening')
    log(server.address().address, server.address().family)
    server.close()
    await settled(server)
  },
  'a port that is none is refused': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    for (const port of [-1, 65536, 1.5]) t.attempt(log, String(port), () => { server.listen(port) })
    log(server.listening)
  },
  'a port that is taken is an error event': async (http2, t) => {
    const log = t.log('server')
    const first = http2.createServer()
    const port = await t.listen(first)
    const second = http2.createServer()
    second.listen(port, '127.0.0.1')
    const [error] = await once(second, 'error')
    log(error, error.syscall, error.address, error.port === port, second.listening)
  },
  'listening twice is refused': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    await t.listen(server)
    t.attempt(log, 'again', () => { server.listen(0) })
  },
  'a server listens again after it has closed': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { response.end('again') })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await settled(server)
    log('closed', server.listening)
    await t.show(await t.open(server))
  },
  'closing calls back, and twice is an error of the callback': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const first = new Promise(resolve => server.close(error => { log('first', error); resolve() }))
    const second = new Promise(resolve => server.close(error => { log('second', error); resolve() }))
    await Promise.all([first, second])
  },
  'closing what never listened is an error of the callback': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    await new Promise(resolve => { server.close(error => { log(error); resolve() }) })
  },
  'an asynchronous dispose closes': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    log(typeof server[Symbol.asyncDispose])
    if (server[Symbol.asyncDispose]) await server[Symbol.asyncDispose]()
    log(server.listening)
  },
  'ref and unref return the server': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    await t.listen(server)
    log(server.unref() === server, server.ref() === server)
  },
  'connections are counted': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { response.end() })
    await t.show(await t.open(server), { name: 'first' })
    await t.show(await t.open(server), { name: 'second' })
    await new Promise(resolve => { server.getConnections((error, count) => { log(error, count); resolve() }) })
  },
  'the events of a server, in their order': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    t.watch(log, server, 'server', ['listening', 'connection', 'session', 'stream', 'request', 'close'], (event, ...args) => [args.length])
    server.on('request', (request, response) => { response.end() })
    await t.show(await t.open(server))
  },
  'the events of a secure server, in their order': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    t.watch(log, server, 'server', ['listening', 'secureConnection', 'session', 'stream', 'request', 'close'], (event, ...args) => [args.length])
    server.on('request', (request, response) => { response.end() })
    await t.show(await t.open(server, { secure: true }))
  },
  'a stream listener gets four things': core((stream, { log, headers, flags, rawHeaders, http2 }) => {
    log(stream.constructor.name, Object.getPrototypeOf(headers), typeof flags, Array.isArray(rawHeaders), Array.isArray(headers[http2.sensitiveHeaders]))
    stream.respond()
    stream.end()
  }),
  'stream and request listeners both hear of a stream': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('stream', (stream, headers) => { log('stream', headers[':path']) })
    server.on('request', (request, response) => { log('request', request.url, request.stream.id); response.end('both') })
    await t.show(await t.open(server))
  },
  'a timeout is set, returns the server and checks its callback': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    log(server.timeout, server.setTimeout(1000) === server, server.timeout)
    t.attempt(log, 'callback', () => { server.setTimeout(10, 'x') })
    t.attempt(log, 'good', () => { server.setTimeout(10, () => {}) })
    log(server.listenerCount('timeout'))
  },
  'a session that is idle for the time of the server is told': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { response.end() })
    const timed = new Promise(resolve => {
      server.setTimeout(300, session => { log('timeout', session.constructor.name); session.close(); resolve() })
    })
    await t.show(await t.open(server))
    await timed
  },
  'a session that is idle without a listener is ended': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { response.end() })
    server.timeout = 300
    server.on('session', session => { session.on('close', () => { log('session closed') }) })
    const client = await t.open(server)
    await t.show(client)
    if (!client.destroyed) await once(client, 'close')
  },
  'updateSettings checks what it gets': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    for (const [label, settings] of Object.entries({
      good: { initialWindowSize: 100_000 }, text: 'x', number: 1, null: null, nothing: undefined, size: { headerTableSize: -1 },
      frame: { maxFrameSize: 100 }, push: { enablePush: 'x' }, streams: { maxConcurrentStreams: 2 ** 33 }
    })) t.attempt(log, label, () => server.updateSettings(settings))
  },
  'settings reach the client': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer({ settings: { maxConcurrentStreams: 42, initialWindowSize: 100_000, maxFrameSize: 20_000, maxHeaderListSize: 12_345 } })
    const client = await t.open(server)
    const [settings] = await once(client, 'remoteSettings')
    log(settings)
  },
  'updated settings reach the next client': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer({ settings: { maxConcurrentStreams: 42 } })
    server.updateSettings({ initialWindowSize: 70_000 })
    const client = await t.open(server)
    const [settings] = await once(client, 'remoteSettings')
    log(settings.maxConcurrentStreams, settings.initialWindowSize)
  },
  'closeIdleConnections is a function': async (http2, t) => {
    const log = t.log('server')
    log(typeof http2.createSecureServer({ cert, key }).closeIdleConnections, typeof http2.createServer().setSecureContext)
  },
  'a certificate is replaced while the server runs': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createSecureServer({ cert, key }, (request, response) => { response.end() })
    await t.listen(server)
    const seen = async () => {
      const socket = await t.connectTls(server, { ALPNProtocols: ['h2'] })
      await once(socket, 'secureConnect')
      log(socket.authorized, socket.alpnProtocol, socket.getProtocol())
    }
    await seen()
    t.attempt(log, 'setSecureContext', () => server.setSecureContext({ cert, key }))
    await seen()
  },
  'the cipher suite of a connection': async (http2, t) => {
    const log = t.log('server')
    for (const ciphers of [undefined, 'TLS_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-CHACHA20-POLY1305']) {
      const server = http2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { response.end() })
      server.on('request', ({ socket, stream }) => { log(socket.getCipher(), stream?.session.socket.getCipher()) })
      await t.listen(server)
      for (const ALPNProtocols of [['h2'], ['http/1.1']]) {
        const socket = await t.connectTls(server, { ALPNProtocols, ciphers, maxVersion: ciphers?.startsWith('E') ? 'TLSv1.2' : 'TLSv1.3' })
        await once(socket, 'secureConnect')
        if (ALPNProtocols[0] === 'h2') {
          const client = http2.connect('https://localhost', { createConnection: () => socket })
          await once(client.request(), 'response')
          client.close()
        } else {
          socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
          await once(socket.resume(), 'end')
        }
      }
    }
  },
  'a context is added for a name': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createSecureServer({ cert, key })
    await t.listen(server)
    t.attempt(log, 'addContext', () => server.addContext('other.test', { cert, key }))
    t.attempt(log, 'no name', () => server.addContext('', { cert, key }))
    const socket = await t.connectTls(server, { ALPNProtocols: ['h2'], servername: 'other.test' })
    await once(socket, 'secureConnect')
    log(socket.alpnProtocol)
  },
  'who does not offer h2 is told to leave': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createSecureServer({ cert, key })
    await t.listen(server)
    const socket = await t.connectTls(server, { ALPNProtocols: ['nothing'] })
    const reported = await Promise.race([once(socket, 'secureConnect').then(() => ['connected']), once(socket, 'error')])
    log(reported[0])
  },
  'who offers nothing hears 403 and the connection ends': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createSecureServer({ cert, key })
    await t.listen(server)
    const socket = await t.connectTls(server)
    const pieces = []
    socket.on('data', piece => { pieces.push(piece) })
    await once(socket, 'end')
    log(Buffer.concat(pieces).toString().split('\r\n')[0])
  },
  'a client that breaks the handshake is told to the server': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key })
    const port = await t.listen(server)
    const received = once(server, 'tlsClientError')
    const socket = net.connect(port, '127.0.0.1', () => { socket.end('this is not TLS at all\r\n\r\n') })
    socket.on('error', () => {})
    const [error, tlsSocket] = await received
    log(error.name, typeof error.code, typeof tlsSocket)
    socket.destroy()
  },
  'a plain client of a secure server gets nothing': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createSecureServer({ cert, key })
    const port = await t.listen(server)
    const socket = net.connect(port, '127.0.0.1', () => { socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n') })
    let text = ''
    socket.on('data', piece => { text += piece })
    socket.on('error', () => {})
    await once(socket, 'close')
    log(text.includes('HTTP/1.1 200'))
  },
  'CONNECT without a listener is refused with 405': compat(() => {}, { headers: { ':method': 'CONNECT', ':authority': 'x:1', ':path': undefined } , endStream: true }),
  'expect 100-continue is answered before the request is told': compat((request, response, { log }) => {
    log(request.headers.expect)
    response.end('done')
  }, { headers: { ':method': 'POST', expect: '100-continue' }, body: 'payload' }),
  'a listener of checkContinue decides': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer()
    server.on('request', () => { log('request') })
    server.on('checkContinue', (request, response) => {
      log('checkContinue', response.writeContinue())
      response.end('decided')
    })
    await t.show(await t.open(server), { headers: { ':method': 'POST', expect: '100-continue' }, body: 'payload' })
  },
  'another expectation is refused with 417': compat((request, response, { log }) => {
    log('request')
    response.end()
  }, { headers: { expect: 'tea' } }),
  'a listener of checkExpectation decides': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer(() => { log('request') })
    server.on('checkExpectation', (request, response) => { log(request.headers.expect); response.end('fine') })
    await t.show(await t.open(server), { headers: { expect: 'tea' } })
  },
  'a connect listener gets CONNECT': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer(() => { log('request') })
    server.on('connect', (request, response) => { log(request.method, request.authority, request.url, request.scheme); response.end('open') })
    await t.show(await t.open(server), { headers: { ':method': 'CONNECT', ':authority': 'x:1', ':path': undefined }, endStream: true })
  },
  'an error of a session is told to the server': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createServer((request, response) => { response.end() })
    const received = new Promise(resolve => server.on('sessionError', (error, session) => { log(error, session.constructor.name); resolve() }))
    server.on('session', session => { session.destroy(new Error('no more')) })
    await t.open(server)
    await received
  },
  'a rejected listener of requests is a 500 with captureRejections': async (http2, t) => {
    const server = capturing(() => http2.createServer(async (request, response) => {
      response.setHeader('x-secret', 'y')
      if (request.url === '/late') response.write('begun')
      await null
      throw new Error('rejected')
    }))
    const client = await t.open(server)
    await t.show(client)
    await t.show(client, { name: 'late', headers: { ':path': '/late' } })
  },
  'a rejected listener of streams is a 500 with captureRejections': async (http2, t) => {
    const server = capturing(() => http2.createServer())
    server.on('stream', async (stream, headers) => {
      stream.on('error', () => {})
      if (headers[':path'] === '/late') stream.respond()
      await null
      throw new Error('rejected')
    })
    const client = await t.open(server)
    await t.show(client)
    await t.show(client, { name: 'late', headers: { ':path': '/late' } })
  },
  'two servers do not know of each other': async (http2, t) => {
    const log = t.log('server')
    const one = http2.createServer((request, response) => { log('one'); response.end('one') })
    const other = http2.createServer((request, response) => { log('other'); response.end('other') })
    await t.show(await t.open(one), { name: 'first' })
    await t.show(await t.open(other), { name: 'second' })
  },
  'closing lets an open exchange finish': async (http2, t) => {
    const log = t.log('server')
    let finish
    const server = http2.createServer((request, response) => { response.write('begin '); finish = () => { response.end('end') } })
    const asked = new Promise(resolve => server.on('request', resolve))
    const client = await t.open(server)
    const displayed = t.show(client)
    await asked
    const closed = new Promise(resolve => server.close(() => { log('closed'); resolve() }))
    finish()
    await displayed
    client.close()
    await closed
  },
  'a hundred streams at once are all answered': async (http2, t) => {
    const server = http2.createServer((request, response) => { response.end(request.url) })
    const client = await t.open(server)
    const answers = await Promise.all(Array.from({ length: 100 }, async (_, at) => {
      const stream = client.request({ ':path': `/${at}` })
      let text = ''
      stream.setEncoding('utf8')
      stream.on('data', piece => { text += piece })
      await once(stream, 'close')
      return text
    }))
    t.log('client')(answers.join(' '))
  }
}

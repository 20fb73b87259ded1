// Servers take streams that are given to them by 'connection' and 'secureConnection', as those of
// node:http2 do: sockets of other servers, peeked at or not, tunnels, pairs in memory.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import nodeHttp2 from 'node:http2'
import net from 'node:net'
import test, { describe } from 'node:test'
import tls from 'node:tls'
import { Client, http2 as ourHttp2 } from 'trunkline'
import { Around, bytewise, pairOf, settled, turn } from '../support/clients/carried.mjs'
import { cert, key } from '../support/certificates/certificate.mjs'
import { run } from '../support/lines/lines.mjs'

/** Closes behind the test what it has opened. */
function closing (t) {
  const open = []
  t.after(() => { for (const close of open.reverse()) close() })
  return open
}

async function front (server, open) {
  const sockets = new Set()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return server.address().port
}

const tcp = async port => {
  const socket = net.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}
const overTls = async (stream, ALPNProtocols = ['h2']) => {
  const socket = tls.connect({ socket: stream, servername: 'localhost', ca: cert, ...(ALPNProtocols === null ? {} : { ALPNProtocols }) })
  await once(socket, 'secureConnect')
  return socket
}

/** By name: what is offered, and how a client's stream to the server is made. */
const kinds = {
  'a socket': ['clear', async (server, open) => tcp(await front(net.createServer(socket => { server.emit('connection', socket) }), open))],
  'a socket that may be half open': ['clear', async (server, open) => tcp(await front(net.createServer({ allowHalfOpen: true }, socket => { server.emit('connection', socket) }), open))],
  'a socket whose first bytes were looked at': ['clear', async (server, open) => tcp(await front(net.createServer(socket => {
    socket.once('data', first => {
      socket.pause()
      socket.unshift(first)
      server.emit('connection', socket)
    })
  }), open))],
  'a tunnel of CONNECT': ['clear', async (server, open) => {
    const proxy = http.createServer()
    proxy.on('connect', (request, socket, head) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      if (head.length > 0) socket.unshift(head)
      server.emit('connection', socket)
    })
    const request = http.request({ port: await front(proxy, open), host: '127.0.0.1', method: 'CONNECT', path: 'a:1' }).end()
    const [, socket, head] = await once(request, 'connect')
    if (head.length > 0) socket.unshift(head)
    return socket
  }],
  'a pair in memory': ['clear', async server => {
    const [own, other] = pairOf()
    server.emit('connection', other)
    return own
  }],
  'a pair in memory that ends both sides together': ['clear', async server => {
    const [own, other] = pairOf({ allowHalfOpen: false })
    server.emit('connection', other)
    return own
  }],
  'a stream that is split at every byte': ['clear', async server => {
    const [own, other] = pairOf()
    server.emit('connection', new Around(other, { cut: bytewise }))
    return own
  }],
  'a slow stream with small buffers': ['clear', async server => {
    const [own, other] = pairOf()
    server.emit('connection', new Around(other, { wait: turn, highWaterMark: 16 }))
    return own
  }],
  'a socket for a server under TLS': ['secure', async (server, open) => overTls(await tcp(await front(net.createServer(socket => { server.emit('connection', socket) }), open)))],
  'a pair in memory for a server under TLS': ['secure', async server => {
    const [own, other] = pairOf()
    server.emit('connection', other)
    return overTls(own)
  }],
  'a TLS socket': ['secure', async (server, open) => overTls(await tcp(await front(tls.createServer({ cert, key, ALPNProtocols: ['h2'] }, socket => { server.emit('secureConnection', socket) }), open)))],
  'a TLS socket for a server in cleartext': ['clear', async (server, open) => overTls(await tcp(await front(tls.createServer({ cert, key, ALPNProtocols: ['h2'] }, socket => { server.emit('connection', socket) }), open)))]
}

const faces = {
  'the compatible API': server => {
    server.on('request', (request, response) => {
      const pieces = []
      request.on('data', piece => { pieces.push(piece) })
      request.on('end', () => {
        response.setHeader('x-seen', `${request.httpVersion} ${request.method} ${request.url}`)
        response.setHeader('x-socket', JSON.stringify([typeof request.socket.remoteAddress, request.socket.encrypted === true]))
        const body = Buffer.concat(pieces)
        response.end(request.url === '/large' ? Buffer.alloc(200_000, 'l') : `${body.length} ${body.subarray(0, 10)}`)
      })
    })
  },
  'the streams': server => {
    server.on('stream', (stream, headers) => {
      const pieces = []
      stream.on('data', piece => { pieces.push(piece) })
      stream.on('end', () => {
        const { socket } = stream.session
        const body = Buffer.concat(pieces)
        stream.respond({ ':status': 200, 'x-seen': `${headers[':method']} ${headers[':path']}`, 'x-socket': JSON.stringify([typeof socket.remoteAddress, stream.session.encrypted]) })
        stream.end(headers[':path'] === '/large' ? Buffer.alloc(200_000, 'l') : `${body.length} ${body.subarray(0, 10)}`)
      })
    })
  }
}

function ask (session, path, body) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ':method': body === undefined ? 'GET' : 'POST' })
    const got = [path]
    let length = 0
    let text = ''
    stream.on('response', headers => { got.push(headers[':status'], headers['x-seen'], headers['x-socket']) })
    stream.setEncoding('latin1')
    stream.on('data', piece => {
      length += piece.length
      text += piece.slice(0, 20)
    })
    stream.on('end', () => { resolve([...got, length, text.slice(0, 20)]) })
    stream.on('error', reject)
    stream.end(body)
  })
}

describe('streams that are given to a server are served as by node:http2', () => {
  for (const [name, [offer, make]] of Object.entries(kinds)) {
    for (const [face, listen] of Object.entries(faces)) {
      test(`${name}, by ${face}`, async t => {
        const isSmall = /split|slow/.test(name)
        const results = []
        for (const http2 of [nodeHttp2, ourHttp2]) {
          const open = closing(t)
          const server = offer === 'clear' ? http2.createServer() : http2.createSecureServer({ cert, key })
          const events = []
          server.on('session', () => { events.push('session') })
          server.on('secureConnection', () => { events.push('secureConnection') })
          listen(server)
          const stream = await make(server, open)
          const session = nodeHttp2.connect(/TLS/.test(name) ? 'https://localhost' : 'http://localhost', { createConnection: () => stream })
          session.on('error', () => {})
          open.push(() => { session.destroy() })
          const got = []
          got.push(await ask(session, '/one'))
          got.push(await ask(session, '/post', Buffer.alloc(isSmall ? 300 : 70_000, 'abc')))
          if (!isSmall) got.push(await ask(session, '/large'))
          got.push(...await Promise.all(Array.from({ length: 5 }, (_, at) => ask(session, `/many${at}`))))
          // The client goes: the server lets go of its stream.
          const closed = new Promise(resolve => { session.on('close', resolve) })
          session.close()
          await closed
          // Ours begins a session when the engine knows of it, node's at once.
          results.push([events.sort(), got])
        }
        assert.deepEqual(results[1], results[0])
      })
    }
  }
})

test('a TLS socket of the server itself that is reported as connection and as secureConnection, as by Bun, is served once', { timeout: 60_000 }, async t => {
  const open = closing(t)
  const server = ourHttp2.createSecureServer({ cert, key }, (request, response) => { response.end(request.url) })
  const port = await front(tls.createServer({ cert, key, ALPNProtocols: ['h2'] }, socket => {
    socket.server = server
    server.emit('connection', socket)
    server.emit('secureConnection', socket)
  }), open)
  const session = nodeHttp2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  open.push(() => session.destroy())
  const stream = session.request({ ':path': '/once' })
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  assert.equal(text, '/once')
})

test('HTTP/1.1 is served on a TLS socket that is given, where the server allows it', async t => {
  for (const alpn of [['http/1.1'], null]) {
    const open = closing(t)
    const server = ourHttp2.createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => { response.end(`${request.httpVersion} ${request.url}`) })
    const port = await front(tls.createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, socket => { server.emit('secureConnection', socket) }), open)
    const socket = await overTls(await tcp(port), alpn)
    socket.write('GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    let text = ''
    for await (const piece of socket.setEncoding('latin1')) text += piece
    assert.deepEqual([text.slice(0, 15), text.split('\r\n\r\n')[1]], ['HTTP/1.1 200 OK', '1.1 /a'])
  }
})

test('a client and a server of this package speak over a pair in memory, on both versions', async () => {
  for (const isHttp2 of [false, true]) {
    const server = ourHttp2.createServer((request, response) => {
      request.resume()
      request.on('end', () => { response.end(`${request.httpVersion} ${request.method}`) })
    })
    const streams = []
    const client = new Client('http://localhost', {
      connect: (options, callback) => {
        const [own, other] = pairOf()
        streams.push(own, other)
        server.emit('connection', other)
        callback(null, isHttp2 ? Object.assign(own, { alpnProtocol: 'h2' }) : own)
      }
    })
    for (let at = 0; at < 3; at++) {
      const { body } = await client.request({ path: '/', method: 'POST', body: Buffer.alloc(100_000) })
      assert.equal(await body.text(), `${isHttp2 ? '2.0' : '1.1'} POST`)
    }
    const closed = streams.map(stream => new Promise(resolve => { stream.on('close', resolve) }))
    await client.close()
    await Promise.all(closed)
    assert.equal(streams.length, 2)
  }
})

test('a server that ends lets the requests on its streams finish, and ends the streams', async () => {
  let respond
  const asked = new Promise(resolve => { respond = resolve })
  const server = ourHttp2.createServer((request, response) => { respond(response) })
  const [own, other] = pairOf()
  const closed = Promise.all([own, other].map(stream => new Promise(resolve => { stream.on('close', resolve) })))
  server.emit('connection', other)
  const session = nodeHttp2.connect('http://localhost', { createConnection: () => own })
  const got = ask(session, '/')
  const response = await asked
  const goaway = once(session, 'goaway')
  server.close()
  await goaway
  response.end('late')
  assert.equal((await got).at(-1), 'late')
  await closed
})

test('a failure of a stream ends what is on it', async () => {
  const server = ourHttp2.createServer()
  const over = new Promise(resolve => {
    server.on('request', (request, response) => {
      request.on('error', () => {})
      response.on('close', () => { resolve(request.complete) })
      other.destroy(new Error('of the stream'))
    })
  })
  const [own, other] = pairOf()
  server.emit('connection', other)
  own.on('error', () => {})
  own.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf')
  assert.equal(await over, false)
})

test('an answer that its client does not read holds bounded bytes, and comes whole in the end', async () => {
  const TOTAL = 8 << 20
  let given = 0
  const server = ourHttp2.createServer((request, response) => {
    const write = () => {
      while (given < TOTAL) {
        given += 65_536
        if (!response.write(Buffer.alloc(65_536))) return response.once('drain', write)
      }
      response.end()
    }
    write()
  })
  const [own, other] = pairOf()
  server.emit('connection', other)
  own.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const held = await settled(() => given)
  assert.ok(held <= 2 << 20, `${held} bytes were given`)
  let read = 0
  for await (const piece of own) read += piece.length
  assert.ok(read > TOTAL, `${read} bytes came`)
})

test('what is no stream is refused by its kind, as with node:http2 a value of a wrong type', () => {
  const server = ourHttp2.createServer()
  for (const given of [undefined, null, 7, {}]) assert.throws(() => { server.emit('connection', given) }, { code: 'ERR_INVALID_ARG_TYPE' })
})

test('a server whose streams in memory idle is at rest and holds no process', async () => {
  const ended = await run(process.execPath, 'life/server/idle-streams.mjs')
  assert.deepEqual([ended.code, ended.signal, ended.stdout], [0, null, '20 answered'], ended.stderr)
})

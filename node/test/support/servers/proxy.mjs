// A proxy for HTTP that notes what it is asked for: CONNECT, and requests in absolute form.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { cert, key } from '../certificates/certificate.mjs'

/** `credentials`: what `proxy-authorization` must be. */
export async function proxy ({ secure = false, credentials = null } = {}) {
  const asked = []
  const sockets = new Set()
  const note = (request, response) => {
    asked.push({ method: request.method, target: request.url, headers: request.headers })
    return credentials === null || request.headers['proxy-authorization'] === credentials
  }
  const server = secure ? https.createServer({ cert, key }) : http.createServer()
  server.on('request', (request, response) => {
    if (!note(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="here"' })
      return response.end()
    }
    const { 'proxy-authorization': _, ...headers } = request.headers
    const onward = http.request(request.url, { method: request.method, headers: { ...headers, via: '1.1 test' } }, answer => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => { response.writeHead(502).end() })
    request.pipe(onward)
  })
  server.on('connect', (request, socket, head) => {
    socket.on('error', () => {})
    if (!note(request)) return socket.end('HTTP/1.1 407 no\r\nproxy-authenticate: Basic realm="here"\r\ncontent-length: 0\r\n\r\n')
    const { hostname, port } = new URL(`http://${request.url}`)
    const onward = net.connect(port || 80, hostname, () => {
      socket.write('HTTP/1.1 200 yes\r\n\r\n')
      onward.write(head)
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => { socket.destroy() })
    socket.on('close', () => { onward.destroy() })
    sockets.add(onward)
  })
  server.on(secure ? 'secureConnection' : 'connection', socket => sockets.add(socket))
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const url = `http${secure ? 's' : ''}://localhost:${server.address().port}`
  const close = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  return { url, asked, close, lines: () => asked.map(({ method, target }) => `${method} ${target}`) }
}

/** A SOCKS5 proxy that notes which names it is asked for; with `user` it wants that name and password
 * (RFC 1928, RFC 1929). */
export async function socks ({ user = null, password = '' } = {}) {
  const asked = []
  const sockets = new Set()
  const server = net.createServer(async socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    const reader = readerOf(socket)
    const [, methods] = await reader(2)
    await reader(methods)
    socket.write(Buffer.from([5, user === null ? 0 : 2]))
    if (user !== null) {
      const [, length] = await reader(2)
      const name = (await reader(length)).toString()
      const [secret] = await reader(1)
      const word = (await reader(secret)).toString()
      const isRight = name === user && word === password
      socket.write(Buffer.from([1, isRight ? 0 : 1]))
      if (!isRight) return socket.end()
    }
    const [, , , kind] = await reader(4)
    const size = kind === 1 ? 4 : kind === 4 ? 16 : (await reader(1))[0]
    const bytes = await reader(size)
    const host = kind === 3 ? bytes.toString() : [...bytes].join('.')
    const port = (await reader(2)).readUInt16BE()
    asked.push(`${host}:${port}`)
    const onward = net.connect(port, host, () => {
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      reader.release()
      socket.pipe(onward).pipe(socket)
    })
    sockets.add(onward)
    onward.on('error', () => { socket.destroy() })
    socket.on('close', () => { onward.destroy() })
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const close = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  return { host: `localhost:${server.address().port}`, asked, close }
}

/** Reads a given number of bytes at a time, in order. */
function readerOf (socket) {
  let held = Buffer.alloc(0)
  let wake = null
  const take = chunk => { held = Buffer.concat([held, chunk]); wake?.() }
  socket.on('data', take)
  const read = async size => {
    while (held.length < size) await new Promise(resolve => { wake = resolve })
    const bytes = held.subarray(0, size)
    held = held.subarray(size)
    return bytes
  }
  read.release = () => { socket.off('data', take) }
  return read
}

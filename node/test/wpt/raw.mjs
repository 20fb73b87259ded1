// The handlers of web-platform-tests that write bytes which are no HTTP, or which no server should write: a listener before a server
// of `serve` answers their paths itself and passes all other bytes on.
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'

/** A value of the query as bytes, as wptserve reads it. */
function parameter (query, name) {
  const found = query.split('&').find(part => part.startsWith(`${name}=`))
  return Buffer.from(unescape((found ?? '').slice(name.length + 1).replaceAll('+', ' ')), 'latin1')
}

const CRLF = '\r\n'
const ZERO_FIELD = type => () => [`HTTP/1.1 200 OK${CRLF}content-type: ${type}${CRLF}custom: \0${CRLF}content-length: 2${CRLF}${CRLF}ok`]

/** By path; the pieces that are written before the connection is closed. A number is a pause in ms. */
const HANDLERS = {
  '/fetch/h1-parsing/resources/message.py': query => [parameter(query, 'message')],
  '/fetch/h1-parsing/resources/status-code.py': query => ['HTTP/1.1 ', parameter(query, 'input'), '\nheader-parsing: is sad\n'],
  '/fetch/h1-parsing/resources/script-with-0x00-in-header.py': ZERO_FIELD('text/javascript'),
  '/fetch/h1-parsing/resources/document-with-0x00-in-header.py': ZERO_FIELD('text/html'),
  '/fetch/content-length/resources/content-length.py': query => [
    `HTTP/1.1 200 OK${CRLF}Content-Type: text/plain;charset=UTF-8${CRLF}Connection: close${CRLF}`, parameter(query, 'length'),
    `${CRLF}${CRLF}Fact: this is really forty-two bytes long.`
  ],
  '/fetch/api/resources/bad-chunk-encoding.py': query => {
    const pause = Number(parameter(query, 'ms').toString() || 1000)
    const count = Number(parameter(query, 'count').toString() || 50)
    const chunks = Array.from({ length: count }, () => [`a${CRLF}TEST_CHUNK${CRLF}`, pause]).flat()
    return [pause, `HTTP/1.1 200 OK${CRLF}transfer-encoding: chunked${CRLF}${CRLF}`, pause, ...chunks, 'garbage']
  }
}

/** The pieces of the response to the request that begins with `bytes`; undefined: it is not one of these. */
function rawAnswer (folder, bytes) {
  const [, path, query = ''] = /^[A-Z]+ ([^ ?]*)(?:\?([^ ]*))? HTTP\/1\.1\r\n/.exec(bytes.toString('latin1', 0, 8192)) ?? []
  if (path === undefined) return undefined
  // A file that is a whole response.
  if (path.endsWith('.asis') && !path.includes('..')) return [readFileSync(join(folder, path))]
  return Object.hasOwn(HANDLERS, path) ? HANDLERS[path](query) : undefined
}

async function write (socket, pieces) {
  for (const piece of pieces) {
    if (socket.destroyed) return
    if (typeof piece === 'number') await later(piece)
    else socket.write(piece)
  }
  socket.end()
}

/** Listens before the server at `port`; resolves to the listener. Each request of these tests comes in one piece, as its client writes it. */
export async function listenBefore (folder, port) {
  const listener = net.createServer({ allowHalfOpen: true }, client => {
    const server = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const part = () => { client.destroy(); server.destroy() }
    for (const socket of [client, server]) socket.on('error', part).setNoDelay(true)
    client.on('close', part)
    server.pipe(client)
    client.on('end', () => { server.end() })
    client.on('data', bytes => {
      const pieces = rawAnswer(folder, bytes)
      if (pieces === undefined) {
        if (server.write(bytes)) return
        client.pause()
        server.once('drain', () => { client.resume() })
        return
      }
      server.unpipe(client)
      server.destroy()
      client.removeAllListeners('data')
      client.resume()
      void write(client, pieces)
    })
  })
  await new Promise(resolve => { listener.listen(0, '127.0.0.1', resolve) })
  return listener
}

// The text that one connection gets of a server of HTTP/1.1.
import { once } from 'node:events'
import { closing, closingSocket } from './stage.mjs'

export const HOST = 'host: localhost\r\n'
export const CLOSE = 'connection: close\r\n'
export const get = (path, more = '') => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`
export const post = (path, body, more = '') => `POST ${path} HTTP/1.1\r\n${HOST}content-length: ${body.length}\r\n${more}\r\n${body}`

/** Fields of the framing and of the connection: their letters and where they stand among the others say nothing. */
const OF_FRAMING = /^(connection|content-length|keep-alive|transfer-encoding|date):/i

const headOf = lines => {
  const [first, ...fields] = lines
  const plain = fields.map(line => line.replace(OF_FRAMING, name => name.toLowerCase())).map(line => line.startsWith('date:') ? 'date: now' : line)
  return `<${[first, ...plain.filter(line => !OF_FRAMING.test(line)), ...plain.filter(line => OF_FRAMING.test(line)).sort()].join(' | ')}>`
}

/** A body in chunks as one text, its trailers, and what is behind it; null: it is not whole. */
function joined (text) {
  let body = ''
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(text)
    if (size === null) return null
    text = text.slice(size[0].length)
    const length = Number.parseInt(size[1], 16)
    if (length === 0) break
    body += text.slice(0, length)
    text = text.slice(length + 2)
  }
  const end = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n') + 2
  return { body, trailers: text.slice(0, end).trim(), rest: text.slice(end + 2) }
}

/** The text of a connection: each head in one line. A body in chunks without trailers is as one with its length: which of
 * the two it is goes by what is whole in one turn. */
export function readable (text, isHead) {
  let out = ''
  while (text !== '') {
    const head = /^HTTP\/1\.[01] (\d{3})[^]*?\r\n\r\n/.exec(text)
    if (head === null) return out + text
    text = text.slice(head[0].length)
    const lines = head[0].trimEnd().split('\r\n')
    const at = lines.findIndex(line => /^transfer-encoding: *chunked/i.test(line))
    if (isHead || /^(1..|204|304)$/.test(head[1])) {
      out += headOf(lines)
      continue
    }
    if (at < 0) {
      const length = Number(/^content-length: (\d+)/im.exec(head[0])?.[1] ?? Infinity)
      out += headOf(lines) + text.slice(0, length)
      text = text.slice(length)
      continue
    }
    const all = joined(text)
    if (all === null) return `${out}${headOf(lines)}cut ${text}`
    if (all.trailers === '') lines[at] = `content-length: ${all.body.length}`
    out += headOf(lines) + all.body + (all.trailers === '' ? '' : `(${all.trailers})`)
    text = all.rest
  }
  return out
}

/** Turns of the loop in which the events behind the end of a connection come. */
const TURNS = 20

/** A server of node:http in cleartext, and a client that writes `text` and logs what it got when its connection has
 * ended. `prepare` gets the server, `act` the client's socket behind its text. */
export const raw = (prepare, text, { act, options = {}, clients = 1 } = {}) => async (http, t) => {
  const log = t.log('server')
  const server = http.createServer(options)
  prepare(server, { log, t, http })
  await t.listen(server)
  const over = closing(server)
  for (let count = 0; count < clients; count++) {
    const socket = await t.dial(server.address().port)
    const left = closingSocket(socket)
    let all = ''
    socket.on('data', piece => { all += piece.toString('latin1') })
    if (text !== '') socket.write(text, 'latin1')
    await act?.(socket, { server, log, t, until: async part => { while (!all.includes(part)) await once(socket, 'data') } })
    await left
    t.log('client')(readable(all, text.startsWith('HEAD')))
  }
  if (server.listening) server.close()
  await over
  // Events behind the ends of a connection come a few turns later.
  for (let turn = 0; turn < TURNS; turn++) await new Promise(resolve => { setImmediate(resolve) })
}

/** One request, whose handler gets the response first; its connection ends with it. */
export const one = (handle, more = {}) => raw((server, context) => {
  server.on('request', (request, response) => handle(response, { ...context, request, server }))
}, more.text ?? get('/a', CLOSE), more)

/** Calls that must throw, or not, in a handler; each is logged, then the response ends. */
export const calls = (table, more) => one((response, { log, t, request }) => {
  for (const [label, call] of Object.entries(table)) t.attempt(log, label, () => call(response, request))
  if (!response.writableEnded) response.end()
}, more)

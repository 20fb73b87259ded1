// ws on servers of node:http, in cleartext and under TLS, by each way in which it takes an upgrade, and behind http-proxy.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { createSecureServer, createServer } from 'trunkline'
import httpProxy from 'http-proxy'
import WebSocket, { WebSocketServer } from 'ws'

const { cert, key } = await import(process.env.CERTIFICATE_MODULE)
const LARGE_BYTES = 1 << 20
const MESSAGES = 500

const plain = (request, response) => { response.end('plain') }

/** A listening server of `side`, and the URL of its WebSockets. */
async function serving (side, isSecure, listener = plain) {
  const server = side === 'own'
    ? isSecure ? https.createServer({ cert, key }, listener) : http.createServer(listener)
    : isSecure ? createSecureServer({ cert, key, allowHTTP1: true, requests: 'http' }, listener) : createServer({ requests: 'http' }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `${isSecure ? 'wss' : 'ws'}://localhost:${server.address().port}` }
}

/** The outcome of one client: its messages, and how it ends. `act` gets it when it is open. */
async function seen (url, act, protocols = []) {
  const client = new WebSocket(url, protocols, { ca: cert, maxPayload: 2 * LARGE_BYTES })
  const messages = []
  const outcome = { messages }
  client.on('message', (data, isBinary) => { messages.push(isBinary ? data.length : String(data)) })
  client.on('error', error => { outcome.error = error.message })
  client.on('open', () => { act(client) })
  const closed = new Promise(resolve => { client.on('close', (code, reason) => { resolve([code, String(reason)]) }) })
  outcome.end = await closed
  outcome.protocol = client.protocol
  outcome.extensions = client.extensions
  return outcome
}

const ended = async server => {
  const over = once(server, 'close')
  server.close()
  await over
}

/** Answers each message with itself; `at` gets the events of the connection at the server, and then is whole. */
const echo = (socket, at) => {
  socket.on('message', (data, isBinary) => { socket.send(data, { binary: isBinary }) })
  at.whole = new Promise(resolve => { socket.on('close', (code, reason) => { resolve(at.push(['closed', code, String(reason)])) }) })
  socket.on('ping', data => { at.push(['ping', String(data)]) })
}

async function echoed (side, isSecure, options, act, protocols) {
  const { server, url } = await serving(side, isSecure)
  const at = []
  const sockets = new WebSocketServer({ server, ...options })
  sockets.on('connection', (socket, request) => {
    at.push([request.url, request.method, request.headers.upgrade, request.socket.constructor.name])
    echo(socket, at)
  })
  const client = await seen(`${url}/a?b=c`, act, protocols)
  await at.whole
  sockets.close()
  await ended(server)
  return { at: [...at], client }
}

const whenAll = (client, count, done) => { client.on('message', () => { if (--count === 0) done() }) }

async function refused (side, isSecure) {
  const { server, url } = await serving(side, isSecure)
  const at = []
  const sockets = new WebSocketServer({ noServer: true })
  let marks = 0
  server.on(isSecure ? 'secureConnection' : 'connection', socket => { socket.mark = ++marks })
  server.on('upgrade', (request, socket, head) => {
    at.push([request.url, socket.mark, head.length])
    if (request.url === '/later') return void setImmediate(() => { sockets.handleUpgrade(request, socket, head, opened => { opened.close(4000, 'as asked') }) })
    if (request.url === '/401') socket.write('HTTP/1.1 401 Unauthorized\r\nx-why: none\r\nconnection: close\r\n\r\n')
    socket.destroy()
  })
  const clients = []
  for (const path of ['/later', '/401', '/destroyed']) clients.push(await seen(url + path, () => {}))
  await ended(server)
  return { at, clients }
}

async function proxied (side, isSecure) {
  const target = http.createServer()
  const sockets = new WebSocketServer({ server: target })
  const at = []
  sockets.on('connection', socket => { echo(socket, at) })
  target.listen(0, '127.0.0.1')
  await once(target, 'listening')
  const proxy = httpProxy.createProxyServer({ target: `http://127.0.0.1:${target.address().port}`, ws: true, xfwd: true })
  const { server, url } = await serving(side, isSecure)
  server.on('upgrade', (request, socket, head) => { proxy.ws(request, socket, head) })
  const client = await seen(url, client => {
    whenAll(client, 2, () => { client.close(4001, 'done') })
    client.send('text')
    client.send(Buffer.alloc(LARGE_BYTES))
  })
  await at.whole
  await ended(server)
  sockets.close()
  await ended(target)
  return { at: [...at], client }
}

async function cut (side, isSecure) {
  const { server, url } = await serving(side, isSecure)
  const sockets = new WebSocketServer({ server, maxPayload: 1000 })
  sockets.on('connection', socket => { socket.on('error', () => {}) })
  const tooLong = await seen(url, client => { client.send(Buffer.alloc(2000)) })
  const terminated = await seen(url, () => { for (const socket of sockets.clients) socket.terminate() })
  const left = await seen(url, client => { client.terminate() })
  sockets.close()
  await ended(server)
  return { tooLong: tooLong.end, terminated: terminated.end, left: left.end }
}

export function cases (side) {
  const all = {}
  for (const [at, isSecure] of [['in cleartext', false], ['under TLS', true]]) {
    all[`messages ${at}`] = () => echoed(side, isSecure, { perMessageDeflate: false }, client => {
      whenAll(client, MESSAGES + 1, () => { client.close(4002, 'enough') })
      client.ping('x')
      client.send(Buffer.alloc(LARGE_BYTES))
      for (let count = 0; count < MESSAGES; count++) client.send(`message ${count}`)
    })
    all[`a protocol and compression ${at}`] = () => echoed(side, isSecure, { perMessageDeflate: true, handleProtocols: protocols => [...protocols][1] }, client => {
      whenAll(client, 1, () => { client.close() })
      client.send('x'.repeat(100_000))
    }, ['one', 'two'])
    all[`upgrades that are refused, or taken later, ${at}`] = () => refused(side, isSecure)
    all[`through a proxy ${at}`] = () => proxied(side, isSecure)
    all[`ends ${at}`] = () => cut(side, isSecure)
  }
  return all
}

// Clients that hold one exchange step by step: node:http, node:https, node:http2, and for HTTP/3, which
// Node.js has no client of, ours.
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { PassThrough } from 'node:stream'
import { Agent } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'

const CANCEL = 8

/** All that comes to the end. By events: the iterator of Node.js 24 takes a stream for cut that has ended and closed behind the piece that it took first. */
export function all (stream) {
  const pieces = []
  return new Promise((resolve, reject) => {
    const end = () => { resolve(Buffer.concat(pieces)) }
    const cut = error => { reject(error ?? new Error('the stream closed before its end')) }
    if (stream.readableEnded) return end()
    if (stream.destroyed) return cut(stream.errored)
    stream.on('data', piece => { pieces.push(piece) }).on('end', end).on('error', cut).on('close', () => { cut() })
  })
}

const plain = headers => Object.fromEntries(Object.entries(headers).filter(([name]) => name[0] !== ':'))

/** A conversation: `head` is a promise, `body` a Readable that does not flow before it is read. */
class OverHttp {
  interim = []
  constructor (request) {
    this.request = request
    request.on('information', ({ statusCode, headers }) => { this.interim.push([statusCode, headers]) })
    request.on('continue', () => { this.interim.push([100, {}]) })
    this.head = new Promise((resolve, reject) => {
      request.on('error', reject)
      request.on('response', response => {
        this.body = response
        response.on('error', () => {})
        resolve({ status: response.statusCode, headers: response.headers })
      })
    })
    this.head.catch(() => {})
  }

  async write (chunk) { await new Promise(resolve => { this.request.write(chunk, resolve) }) }
  end (body, trailers) {
    if (trailers !== undefined) this.request.addTrailers(trailers)
    this.request.end(body)
  }

  abort () { this.request.destroy() }
  async rest () {
    const { status, headers } = await this.head
    const body = await all(this.body)
    if (!this.body.complete) throw new Error('the answer was cut off')
    return { status, headers, body, trailers: this.body.trailers, interim: this.interim }
  }
}

function viaHttp (module, options) {
  return port => {
    const agent = new module.Agent({ keepAlive: true, maxSockets: 1, ...options })
    // Conversations that are cut off must not take the connection of the others with them.
    const many = new module.Agent({ keepAlive: false, ...options })
    const open = (path, { method, headers }, agent) => module.request({ host: 'localhost', port, agent, path, method, headers })
    return {
      begin (path, { method = 'GET', headers = {} } = {}, isOwn = true) { return new OverHttp(open(path, { method, headers }, isOwn ? many : agent)) },
      async ask (path, { body, trailers, method = 'GET', headers = {} } = {}) {
        const own = trailers === undefined ? headers : { ...headers, 'transfer-encoding': 'chunked' }
        const conversation = this.begin(path, { method, headers: own }, false)
        conversation.end(body, trailers)
        return await conversation.rest()
      },
      async close () {
        agent.destroy()
        many.destroy()
      }
    }
  }
}

class OverHttp2 {
  interim = []
  constructor (stream, isWhole) {
    this.stream = this.body = stream
    this.isWhole = isWhole
    this.trailers = {}
    stream.on('headers', headers => { this.interim.push([headers[':status'], plain(headers)]) })
    stream.on('continue', () => { this.interim.push([100, {}]) })
    stream.on('trailers', fields => { this.trailers = plain(fields) })
    this.head = new Promise((resolve, reject) => {
      stream.on('error', reject)
      stream.on('close', () => { reject(new Error(`the stream closed with code ${stream.rstCode}`)) })
      stream.on('response', headers => { resolve({ status: headers[':status'], headers: plain(headers), sensitive: headers[http2.sensitiveHeaders] }) })
    })
    this.head.catch(() => {})
  }

  async write (chunk) { await new Promise(resolve => { this.stream.write(chunk, resolve) }) }
  end (body, trailers) {
    if (this.isWhole) return
    if (trailers !== undefined) this.stream.on('wantTrailers', () => { this.stream.sendTrailers(trailers) })
    this.stream.end(body)
  }

  abort () { this.stream.close(CANCEL) }
  async rest () {
    const head = await this.head
    const body = await all(this.stream)
    if (this.stream.rstCode !== 0) throw new Error(`the stream was reset with code ${this.stream.rstCode}`)
    return { ...head, body, trailers: this.trailers, interim: this.interim }
  }
}

function viaHttp2 (scheme) {
  return port => {
    const session = http2.connect(`${scheme}://localhost:${port}`, { ca: cert, maxSessionMemory: 64 })
    session.on('error', () => {})
    return {
      session,
      begin (path, { method = 'GET', headers = {} } = {}, isWhole = false, trailers = undefined) {
        const stream = session.request({ ':path': path, ':method': method, ...headers }, { endStream: isWhole, waitForTrailers: trailers !== undefined })
        return new OverHttp2(stream, isWhole)
      },
      async ask (path, { body, trailers, ...asked } = {}) {
        const conversation = this.begin(path, asked, body === undefined && trailers === undefined, trailers)
        conversation.end(body, trailers)
        return await conversation.rest()
      },
      async close () { session.destroy() }
    }
  }
}

class OverOurs {
  interim = []
  constructor (agent, asked, hasBody) {
    this.abortion = new AbortController()
    this.upload = hasBody ? new PassThrough() : null
    this.upload?.on('error', () => {})
    const onInfo = ({ statusCode, headers }) => { this.interim.push([statusCode, headers]) }
    this.answer = agent.request({ ...asked, body: this.upload, signal: this.abortion.signal, onInfo })
    this.head = this.answer.then(answer => {
      this.body = answer.body
      answer.body.on('error', () => {})
      return { status: answer.statusCode, headers: answer.headers }
    })
    this.head.catch(() => {})
  }

  async write (chunk) { await new Promise(resolve => { this.upload.write(chunk, resolve) }) }
  end (body) { this.upload?.end(body) }
  abort () { this.abortion.abort() }
  async rest () {
    const head = await this.head
    const body = await all(this.body)
    return { ...head, body, trailers: (await this.answer).trailers, interim: this.interim }
  }
}

function viaOurs (port) {
  const agent = new Agent({ http3: 'only', connections: 1, connect: { ca: cert } })
  const origin = `https://localhost:${port}`
  return {
    begin (path, { method = 'GET', headers = {} } = {}) {
      return new OverOurs(agent, { origin, path, method, headers }, method !== 'GET' && method !== 'HEAD')
    },
    async ask (path, { method = 'GET', headers = {}, body } = {}) {
      const interim = []
      const onInfo = ({ statusCode, headers }) => { interim.push([statusCode, headers]) }
      const answer = await agent.request({ origin, path, method, headers, body, onInfo })
      return { status: answer.statusCode, headers: answer.headers, body: await all(answer.body), trailers: answer.trailers, interim }
    },
    async close () { await agent.destroy() }
  }
}

export const clients = {
  h1: viaHttp(http, {}),
  'h1 over TLS': viaHttp(https, { ca: cert }),
  h2c: viaHttp2('http'),
  h2: viaHttp2('https'),
  h3: viaOurs
}

/** A plain socket to the server, for what clients of HTTP/1.1 do not do. */
export async function socketTo (version, port) {
  const { connect } = await import(version.options.tls === undefined ? 'node:net' : 'node:tls')
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: ['http/1.1'], allowHalfOpen: true })
  await once(socket, version.options.tls === undefined ? 'connect' : 'secureConnect')
  return socket
}

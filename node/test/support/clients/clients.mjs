// One way to ask a server of ours for each version, by clients that are not ours where there are any.
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { Agent } from 'trunkline'
import { cert, key } from '../certificates/certificate.mjs'

/** All that comes of a stream. */
async function all (stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function plain (headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name[0] !== ':'))
}

/** HTTP/1.1: one connection that is kept. */
function viaHttp (module, options) {
  return port => {
    const agent = new module.Agent({ keepAlive: true, maxSockets: 1, ...options })
    return {
      open (path, { method = 'GET', headers = {} } = {}) {
        return module.request({ host: 'localhost', port, agent, path, method, headers })
      },
      async ask (path, { body, ...asked } = {}) {
        const request = this.open(path, asked)
        request.end(body)
        const [response] = await once(request, 'response')
        const bytes = await all(response)
        return { status: response.statusCode, headers: response.headers, body: bytes, trailers: response.trailers }
      },
      async close () { agent.destroy() }
    }
  }
}

/** HTTP/2: one session. */
function viaHttp2 (scheme) {
  return port => {
    // A body of 10 MiB is more than node's client allows itself when the answer comes before its end.
    const session = http2.connect(`${scheme}://localhost:${port}`, { ca: cert, maxSessionMemory: 64 })
    session.on('error', () => {})
    return {
      session,
      open (path, { method = 'GET', headers = {} } = {}, endStream = false) {
        return session.request({ ':path': path, ':method': method, ...headers }, { endStream })
      },
      async ask (path, { body, ...asked } = {}) {
        const stream = this.open(path, asked, body === undefined)
        let trailers = {}
        stream.on('trailers', fields => { trailers = plain(fields) })
        stream.end(body)
        // An iterator that starts behind the head takes a stream whose frames have all come for one that was cut: `closed`
        // of a stream of node:http2 is true then, although its bytes are unread.
        const [[headers], bytes] = await Promise.all([once(stream, 'response'), all(stream)])
        return { status: headers[':status'], headers: plain(headers), body: bytes, trailers }
      },
      async close () { session.destroy() }
    }
  }
}

/** HTTP/3: there is no client in Node.js, so it is ours. */
function viaOurs (port) {
  const agent = new Agent({ http3: 'only', connect: { ca: cert } })
  return {
    async ask (path, { method = 'GET', headers = {}, body } = {}) {
      const answer = await agent.request({ origin: `https://localhost:${port}`, path, method, headers, body })
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      return { status: answer.statusCode, headers: answer.headers, body: bytes, trailers: answer.trailers }
    },
    async close () { await agent.destroy() }
  }
}

/** Every version, with what the server needs and a client of it. */
export const versions = [
  { name: 'h1', protocol: 'http/1.1', options: {}, connect: viaHttp(http, {}) },
  { name: 'h1 over TLS', protocol: 'http/1.1', options: { tls: { cert, key } }, connect: viaHttp(https, { ca: cert }) },
  { name: 'h2c', protocol: 'h2', options: {}, connect: viaHttp2('http') },
  { name: 'h2', protocol: 'h2', options: { tls: { cert, key } }, connect: viaHttp2('https') },
  { name: 'h3', protocol: 'h3', options: { tls: { cert, key }, http3: true }, connect: viaOurs }
]

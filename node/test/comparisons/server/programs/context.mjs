// The certificate that a secure server shows to a client: SNICallback, ALPNCallback, and contexts for names.
import { once } from 'node:events'
import tls from 'node:tls'
import { cert, key } from '../stage.mjs'
import { authority } from '../../../support/certificates/authority.mjs'

const root = authority('root')
const other = root.issue('other', 'subjectAltName=DNS:other.test')

/** The function that creates contexts: this package's with its servers. */
const contextFor = async http2 => http2.createServer === (await import('node:http2')).default.createServer ? tls.createSecureContext : (await import('trunkline')).createSecureContext

/** Whose certificate a client that asks for `servername` is shown, and what is agreed on; or why not. */
async function shake (t, server, { isReported = false, ...options }) {
  const client = await t.connectTls(server, { rejectUnauthorized: false, ALPNProtocols: ['h2'], ...options })
  const log = t.log('client')
  await new Promise(resolve => {
    client.once('secureConnect', () => {
      log(options.servername ?? 'nobody', client.getPeerCertificate().subject?.CN, client.alpnProtocol)
      resolve()
    })
    // How node ends a connection that its callbacks refuse: without a word.
    client.once('error', error => { log(options.servername ?? 'nobody', 'failed', isReported ? error.code : ''); resolve() })
    client.once('close', () => { resolve() })
  })
  client.destroy()
}

/** Says which handshakes fail, and why. */
function receives (t, server) {
  const log = t.log('server')
  server.on('tlsClientError', (error, socket) => { log('tlsClientError', error.name, error.code ?? error.message, typeof socket.destroy) })
  return log
}

export default {
  'SNICallback says which certificate is shown': async (http2, t) => {
    const context = (await contextFor(http2))({ cert: other.cert, key: other.key })
    const log = t.log('server')
    const server = http2.createSecureServer({
      cert, key,
      SNICallback (name, answer) {
        log('asked for', name, typeof this.destroy)
        answer(null, name === 'other.test' ? context : undefined)
      }
    })
    await t.listen(server)
    for (const servername of ['other.test', 'localhost', undefined]) await shake(t, server, { servername, host: servername === undefined ? '127.0.0.1' : 'localhost' })
  },
  'SNICallback may answer later': async (http2, t) => {
    const context = (await contextFor(http2))({ cert: other.cert, key: other.key })
    const server = http2.createSecureServer({ cert, key, SNICallback: (name, answer) => { setTimeout(answer, 20, null, context) } })
    await t.listen(server)
    await Promise.all([shake(t, server, { servername: 'one.test' }), shake(t, server, { servername: 'one.test' })])
  },
  'what SNICallback refuses is a tlsClientError': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, SNICallback: (name, answer) => { answer(Object.assign(new Error('unknown'), { code: 'UNKNOWN_NAME' })) } })
    receives(t, server)
    await t.listen(server)
    const reported = once(server, 'tlsClientError')
    await shake(t, server, { servername: 'one.test' })
    await reported
  },
  'what SNICallback gives and is no context is a tlsClientError': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, SNICallback: (name, answer) => { answer(null, { cert, key }) } })
    receives(t, server)
    await t.listen(server)
    const reported = once(server, 'tlsClientError')
    await shake(t, server, { servername: 'one.test' })
    await reported
  },
  'with SNICallback nobody looks at the contexts of addContext': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, SNICallback: (name, answer) => { answer(null) } })
    server.addContext('other.test', { cert: other.cert, key: other.key })
    await t.listen(server)
    await shake(t, server, { servername: 'other.test' })
  },
  'an answer over HTTP/1.1 and HTTP/2 after SNICallback': async (http2, t) => {
    const context = (await contextFor(http2))({ cert, key })
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true, SNICallback: (name, answer) => { answer(null, context) } }, (request, response) => { response.end(`${request.httpVersion} ${request.socket.servername}`) })
    await t.show(await t.open(server, { secure: true, servername: 'localhost' }))
    await t.ask(server)
  },
  'SNICallback must be a function': async (http2, t) => {
    for (const SNICallback of [1, 'a', {}, null, undefined]) t.attempt(t.log('server'), String(SNICallback), () => { http2.createSecureServer({ cert, key, SNICallback }) })
  },
  'ALPNCallback chooses among what is offered': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({
      cert, key,
      allowHTTP1: true,
      ALPNCallback (asked) {
        log(asked, typeof this.destroy)
        return asked.protocols.at(-1)
      }
    })
    await t.listen(server)
    await shake(t, server, { servername: 'one.test', ALPNProtocols: ['http/1.1', 'h2'] })
    await shake(t, server, { servername: 'one.test', ALPNProtocols: ['h2', 'http/1.1'] })
    await shake(t, server, { servername: 'one.test', ALPNProtocols: [] })
  },
  'ALPNCallback may refuse all': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, ALPNCallback: () => undefined })
    receives(t, server)
    await t.listen(server)
    const reported = once(server, 'tlsClientError')
    await shake(t, server, { servername: 'one.test', isReported: true })
    await reported
  },
  'what ALPNCallback gives and was not offered': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, ALPNCallback: () => 'spdy' })
    receives(t, server)
    await t.listen(server)
    const reported = once(server, 'tlsClientError')
    await shake(t, server, { servername: 'one.test' })
    await reported
  },
  'what the callbacks throw is a tlsClientError': async (http2, t) => {
    for (const name of ['SNICallback', 'ALPNCallback']) {
      const server = http2.createSecureServer({ cert, key, [name]: () => { throw Object.assign(new Error('thrown'), { code: `OF_${name}` }) } })
      receives(t, server)
      await t.listen(server)
      const reported = once(server, 'tlsClientError')
      await shake(t, server, { servername: 'one.test' })
      await reported
    }
  },
  'ALPNCallback beside ALPNProtocols': async (http2, t) => {
    t.attempt(t.log('server'), 'both', () => { http2.createSecureServer({ cert, key, ALPNCallback: () => 'h2', ALPNProtocols: ['h2'] }) })
  },
  'an exchange after ALPNCallback': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true, ALPNCallback: ({ protocols }) => protocols[0] }, (request, response) => { response.end(request.httpVersion) })
    await t.show(await t.open(server, { secure: true }))
    await t.ask(server)
  },
  'a protocol that is none after ALPNCallback': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key, ALPNCallback: ({ protocols }) => protocols[0] })
    const reported = new Promise(resolve => {
      server.on('unknownProtocol', socket => { log('unknownProtocol', socket.alpnProtocol); socket.destroy(); resolve() })
      server.on('session', session => { log('session', session.alpnProtocol); session.destroy(); resolve() })
    })
    await t.listen(server)
    const client = await t.connectTls(server, { servername: 'one.test', rejectUnauthorized: false, ALPNProtocols: ['acme-tls/1'] })
    await reported
    client.destroy()
  },
  'contexts of addContext, also with a certificate that is not for the name': async (http2, t) => {
    const server = http2.createSecureServer({ cert, key })
    server.addContext('else.test', { cert: other.cert, key: other.key })
    server.addContext('*.wild.test', { cert: other.cert, key: other.key })
    await t.listen(server)
    for (const servername of ['else.test', 'a.wild.test', 'a.b.wild.test', 'localhost']) await shake(t, server, { servername })
  },
  'a server without a certificate of its own': async (http2, t) => {
    const context = (await contextFor(http2))({ cert, key })
    const server = http2.createSecureServer({ SNICallback: (name, answer) => { answer(null, name === 'one.test' ? context : undefined) } })
    await t.listen(server)
    await shake(t, server, { servername: 'one.test' })
    const reported = once(server, 'tlsClientError')
    await shake(t, server, { servername: 'two.test' })
    await reported
    const named = http2.createSecureServer()
    named.addContext('one.test', { cert, key })
    await t.listen(named)
    for (const servername of ['one.test', 'two.test']) await shake(t, named, { servername })
    named.setSecureContext({ cert, key })
    await shake(t, named, { servername: 'two.test' })
  },
  'a context that was made is taken by addContext and setSecureContext': async (http2, t) => {
    const context = (await contextFor(http2))({ cert: other.cert, key: other.key })
    const server = http2.createSecureServer({ cert, key })
    server.addContext('other.test', context)
    await t.listen(server)
    for (const servername of ['other.test', 'localhost']) await shake(t, server, { servername })
  }
}

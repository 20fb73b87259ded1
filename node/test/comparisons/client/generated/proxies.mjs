// ProxyAgent: the proxy x the origin x the way x what the proxy answers x call; and the fields that proxies and origins get, by
// options, requests and repetitions.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import http2 from 'node:http2'
import net from 'node:net'
import { Writable } from 'node:stream'
import { cert, key } from '../../../support/certificates/certificate.mjs'

const PROXIES = { http: () => http.createServer(), https: () => https.createServer({ key, cert }) }
const listener = (request, response) => { request.resume().on('end', () => { response.writeHead(200, { 'x-origin': 'yes' }).end(`${request.method} ${request.url}`) }) }
const ORIGINS = {
  http: () => http.createServer(listener),
  https: () => https.createServer({ key, cert }, listener),
  h2: () => http2.createSecureServer({ key, cert }, listener)
}
const WAYS = { default: {}, tunnel: { proxyTunnel: true }, forward: { proxyTunnel: false } }

/** Passes a tunnel on to the origin. */
function pass (socket, target, early = '') {
  const [host, port] = target.split(':')
  const onward = net.connect(Number(port), host === 'localhost' ? '127.0.0.1' : host, () => {
    socket.write(`HTTP/1.1 200 Connection established\r\nx-proxy: yes\r\n\r\n${early}`)
    socket.pipe(onward).pipe(socket)
  })
  onward.on('error', () => { socket.destroy() })
  socket.on('error', () => { onward.destroy() }).on('close', () => { onward.destroy() })
}
/** Acts of a proxy on the socket of a CONNECT. */
const ANSWERS = {
  'a tunnel': (socket, target) => { pass(socket, target) },
  '407 with a body': socket => { socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 4\r\n\r\nauth') },
  '403 without a length': socket => { socket.end('HTTP/1.1 403 Forbidden\r\n\r\nno entry') },
  '502 that stays open': socket => { socket.write('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n') },
  '204': (socket, target) => { socket.write('HTTP/1.1 204 No Content\r\n\r\n') },
  '302': socket => { socket.end('HTTP/1.1 302 Found\r\nlocation: http://other.test/\r\ncontent-length: 0\r\n\r\n') },
  'an interim head first': (socket, target) => {
    socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
    pass(socket, target)
  },
  'an end before the head': socket => { socket.end() },
  'an end in the head': socket => { socket.end('HTTP/1.1 200 Con') },
  'a reset': socket => { (socket.resetAndDestroy ?? socket._parent?.resetAndDestroy ?? socket.destroy).call(socket._parent ?? socket) },
  'what is no HTTP': socket => { socket.end('hello\r\n\r\n') },
  'an end behind the head': socket => { socket.end('HTTP/1.1 200 OK\r\n\r\n') }
}

/** Fields of a message without those that vary, and without those of the connection, which are not the same for a tunnel. */
const shown = ({ headers: { host, connection, 'proxy-connection': _, ...others } }) => Object.entries(others).map(pair => pair.join(' ')).sort().join(', ')
const portless = text => text.replace(/:\d{4,5}/, ':PORT')

/** A proxy that logs what it is asked, and an origin behind it. */
async function setUp (stage, proxyKind, originKind, answer) {
  const log = stage.log('proxy')
  const [sockets, tunnels] = [new Set(), new Set()]
  const origin = ORIGINS[originKind]()
  const proxy = PROXIES[proxyKind]()
  if (originKind !== 'h2') origin.on('request', request => { stage.log('origin')(request.method, request.url, shown(request)) })
  proxy.on('connect', (request, socket) => {
    // How many there are is another comparison's: a tunnel of ours carries more than one request.
    const asked = `CONNECT ${portless(request.url)} ${shown(request)}`
    if (!tunnels.has(asked)) log(asked)
    tunnels.add(asked)
    socket.on('error', () => {})
    answer(socket, request.url)
  })
  proxy.on('request', (request, response) => {
    log(request.method, portless(request.url), shown(request))
    request.resume().on('end', () => { response.setHeader('x-proxy', 'forwarded').end('forwarded') })
  })
  for (const server of [origin, proxy]) {
    for (const event of ['connection', 'secureConnection']) server.on(event, socket => { sockets.add(socket.on('error', () => {})) })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    stage.closers.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
  }
  return {
    uri: `${proxyKind}://localhost:${proxy.address().port}`,
    url: `${originKind === 'http' ? 'http' : 'https'}://localhost:${origin.address().port}`
  }
}
const TRUST = { requestTls: { ca: cert }, proxyTls: { ca: cert } }
const whole = async ({ statusCode, headers, body }) => [statusCode, headers['x-origin'] ?? headers['x-proxy'] ?? 'neither', await body.text()]
const CALLS = {
  request: (agent, options) => agent.request({ ...options, method: 'GET' }).then(whole),
  post: (agent, options) => agent.request({ ...options, method: 'POST', body: 'body' }).then(whole),
  stream: async (agent, options) => {
    const pieces = []
    const { opaque } = await agent.stream({ ...options, method: 'GET', opaque: 'mine' }, () => new Writable({ write (piece, encoding, callback) { pieces.push(piece); callback() } }))
    return [opaque, Buffer.concat(pieces).toString()]
  },
  upgrade: (agent, options) => agent.upgrade({ ...options, protocol: 'echo' }).then(({ headers }) => [headers['x-origin'] ?? 'neither'])
}

const programs = {}
for (const proxyKind of Object.keys(PROXIES)) {
  for (const originKind of Object.keys(ORIGINS)) {
    for (const [way, options] of Object.entries(WAYS)) {
      for (const [outcome, answer] of Object.entries(ANSWERS)) {
        for (const [call, run] of Object.entries(CALLS)) {
          if (call === 'upgrade' && originKind === 'h2') continue
          if (call !== 'request' && outcome !== 'a tunnel' && outcome !== '407 with a body') continue
          if (outcome !== 'a tunnel' && originKind === 'http' && way !== 'tunnel') continue
          programs[`${proxyKind}, ${originKind}, ${way}: ${outcome}, ${call}`] = async (module, stage) => {
            const log = stage.log('client')
            const { uri, url } = await setUp(stage, proxyKind, originKind, answer)
            const agent = stage.own(new module.ProxyAgent({ uri, ...options, ...TRUST, headersTimeout: 20_000 }))
            await stage.settle(log, 'first', run(agent, { origin: url, path: '/one?a=b' }), value => value)
            if (outcome === 'a tunnel') await stage.settle(log, 'second', run(agent, { origin: url, path: '/two' }), value => value)
          }
        }
      }
    }
  }
}

const OPTIONS = {
  'none': {},
  'a token': { token: 'Bearer abc' },
  'auth': { auth: Buffer.from('u:p').toString('base64') },
  'credentials in the URL': { credentials: 'us%20er:p%3Ass@' },
  'a name in the URL': { credentials: 'user@' },
  'fields': { headers: { 'User-Agent': 'mine', 'X-Own': 'yes' } },
  'a field of credentials': { headers: { 'Proxy-Authorization': 'Basic abc' } },
  'a token and a field': { token: 'Bearer abc', headers: { 'proxy-authorization': 'Basic abc' } },
  'a host': { headers: { host: 'other.test' } }
}
const FIELDS = {
  'none': undefined,
  'some': { 'X-Mine': '1', 'user-agent': 'me' },
  'a host': { host: 'named.test' },
  'a list': ['X-Mine', '1', 'x-mine', '2'],
  'credentials': { 'proxy-authorization': 'Basic xyz' },
  'credentials in capitals': ['PROXY-AUTHORIZATION', 'Basic xyz'],
  'an end': { connection: 'close' }
}
for (const [way, { proxyTunnel }] of Object.entries(WAYS)) {
  for (const [option, { credentials = '', ...options }] of Object.entries(OPTIONS)) {
    for (const [field, headers] of Object.entries(FIELDS)) {
      if (option !== 'none' && field !== 'none' && field !== 'some') continue
      programs[`fields, ${way}: ${option}, ${field}`] = async (module, stage) => {
        const log = stage.log('client')
        const { uri, url } = await setUp(stage, 'http', 'http', ANSWERS['a tunnel'])
        const agent = stage.own(new module.ProxyAgent({ uri: uri.replace('//', `//${credentials}`), ...options, ...(proxyTunnel === undefined ? {} : { proxyTunnel }) }))
        for (const turn of ['first', 'second']) await stage.settle(log, turn, agent.request({ origin: url, path: `/${turn}`, method: 'POST', body: 'b', headers }).then(whole), value => value)
      }
    }
  }
}
export default programs

// Ends as a server, its sessions and its streams see them: who closes, how, and what is open x version of HTTP x TLS.
import { once } from 'node:events'
import https from 'node:https'
import { cert, closing, key } from '../stage.mjs'

/** Turns of the event loop in which nothing more has to come, and the shortest time of one, in ms: on a busy machine each of
 * them reads what has come meanwhile. */
const QUIET_TURNS = 12
const TURN_MS = 8
const TIMEOUT_MS = 20

/** Resolves when nothing more comes. */
async function quiet (t) {
  let [lines, turns] = [t.lines().length, 0]
  while (turns++ < QUIET_TURNS) {
    await new Promise(resolve => { setTimeout(() => { setImmediate(resolve) }, TURN_MS) })
    const { length } = t.lines()
    if (length > lines) [lines, turns] = [length, 0]
  }
}

/** Acts on what is open; `called` logs callbacks. */
const ACTS = {
  'server.close': ({ server, called }) => { server.close(error => { called('server.close', error) }) },
  'server.close twice': ({ server, called }) => {
    server.close(error => { called('server.close', error) })
    server.close(error => { called('server.close again', error) })
  },
  'server.close, then session.close': ({ server, session, called, log }) => {
    server.close(error => { called('server.close', error) })
    session?.close(() => { log('close') })
  },
  'server.closeIdleConnections': ({ server }) => { server.closeIdleConnections?.() },
  'server.closeAllConnections': ({ server }) => { server.closeAllConnections?.() },
  'server.close, then closeAllConnections': ({ server, called }) => {
    server.close(error => { called('server.close', error) })
    server.closeAllConnections?.()
  },
  'server.setTimeout': ({ server, called }) => { server.setTimeout(TIMEOUT_MS, (...given) => { called('server.setTimeout', given.length) }) },
  'session.setTimeout': ({ session, called }) => { session?.setTimeout(TIMEOUT_MS, (...given) => { called('session.setTimeout', given.length) }) },
  'session.setTimeout that closes': ({ session, called }) => {
    session?.setTimeout(TIMEOUT_MS, () => {
      called('session.setTimeout')
      session.close(() => { called('session.close') })
    })
  },
  'stream.setTimeout that closes': ({ response, called }) => {
    response?.setTimeout(TIMEOUT_MS, () => {
      called('response.setTimeout')
      response.stream?.close(8)
    })
  },
  'session.close': ({ session, called }) => { session?.close(() => { called('session.close') }) },
  'session.close twice': ({ session, called }) => {
    session?.close(() => { called('session.close') })
    session?.close(() => { called('session.close again') })
  },
  'session.close, then session.destroy': ({ session, called }) => {
    session?.close(() => { called('session.close') })
    session?.destroy()
  },
  'session.destroy': ({ session }) => { session?.destroy() },
  'session.destroy with an error': ({ session }) => { session?.destroy(new Error('ours')) },
  'session.destroy 2': ({ session }) => { session?.destroy(2) },
  'session.destroy, then session.close': ({ session, called }) => {
    session?.destroy()
    session?.close(() => { called('session.close') })
  },
  'session.goaway': ({ session }) => { session?.goaway() },
  'session.goaway 2': ({ session }) => { session?.goaway(2) },
  'session.goaway, then session.close': ({ session, called }) => {
    session?.goaway()
    session?.close(() => { called('session.close') })
  },
  'the client: close': ({ client, called }) => { client?.close(() => { called('client.close') }) },
  'the client: destroy': ({ client }) => { client?.destroy() },
  'the client: destroy with an error': ({ client }) => { client?.destroy(new Error('theirs')) },
  'the client: goaway 2': ({ client }) => { client?.goaway(2) },
  'the client: its stream': ({ asked }) => { asked?.destroy() },
  'the client: its stream with an error': ({ asked }) => { asked?.destroy(new Error('theirs')) }
}
/** The request that is open, and how its answer begins before the act. */
const STATES = {
  nothing: null,
  'a request': { method: 'GET', begin: () => {} },
  'a request with a body': { method: 'POST', begin: () => {} },
  'an answer': { method: 'GET', begin: response => { response.write('begun') } },
  'an answer and a body': { method: 'POST', begin: response => { response.write('begun') } },
  'a whole answer': { method: 'GET', begin: response => { response.end('whole') } },
  'a whole answer to a body': { method: 'POST', begin: response => { response.end('whole') } }
}

/** In the order of the log, which would be that of their first lines. */
const SIDES = ['server', 'session', 'client', 'asked', 'request', 'request, read', 'response', 'called', 'session called']

const gave = values => values.filter(value => value === null || typeof value !== 'object' || value instanceof Error)

/** A request of the client; it has begun when the server has it. */
function ask (client, { method }, t) {
  const log = t.log('asked')
  const asked = client.request({ ':method': method, ':path': '/' }, { endStream: method === 'GET' })
  asked.on('response', head => { log('response', head[':status']) })
  asked.on('data', piece => { log('data', piece.length) })
  for (const event of ['end', 'aborted', 'error']) asked.on(event, error => { log(event, error) })
  asked.on('close', () => { log('close', asked.rstCode) })
  if (method === 'POST') asked.write('begun')
  return asked
}

function askOld (server, { method }, t) {
  const log = t.log('asked')
  const asked = https.request({ host: 'localhost', family: 4, port: server.address().port, ca: cert, agent: new https.Agent({ keepAlive: true }), method })
  asked.on('error', error => { log('error', error.code) })
  asked.on('response', answer => {
    log('response', answer.statusCode)
    answer.on('data', piece => { log('data', piece.length) })
    for (const event of ['end', 'aborted']) answer.on(event, () => { log(event) })
    answer.on('error', error => { log('answer error', error.code) })
  })
  asked.on('close', () => { log('close') })
  if (method === 'POST') asked.write('begun')
  else asked.end()
  return asked
}

function watchServer (server, t) {
  t.watch(t.log('server'), server, 'server', ['sessionError'], (event, ...given) => gave(given))
  // A second close has a second event of node's server under TLS.
  server.once('close', () => { t.log('server')('close') })
  server.on('session', session => {
    t.watch(t.log('session'), session, 'session', ['close', 'error', 'frameError'], (event, ...given) => gave(given))
    session.once('goaway', code => { t.log('session')('goaway', code) })
  })
  server.on('request', (request, response) => {
    t.watch(t.log('request'), request, 'request', ['aborted', 'error', 'close'], (event, ...given) => gave(given))
    // For one that is cut short node reports now the end first and now the close.
    t.watch(t.log('request, read'), request, 'request', ['end'])
    t.watch(t.log('response'), response, 'response', ['finish', 'error', 'close'], (event, ...given) => gave(given))
    request.resume()
  })
}

const programs = {}
for (const [version, isSecure, isOld] of [['h2', false, false], ['h2 over TLS', true, false], ['h1 over TLS', true, true]]) {
  for (const [state, exchange] of Object.entries(STATES)) {
    for (const [act, call] of Object.entries(ACTS)) {
      if (isOld && (/session|stream|client: (close|goaway|destroy)/.test(act) || exchange === null)) continue
      if (exchange === null && /stream/.test(act)) continue
      programs[`${version}, ${state}: ${act}`] = async (http2, t) => {
        for (const side of SIDES) t.log(side)
        const server = isSecure ? http2.createSecureServer({ cert, key, allowHTTP1: isOld }) : http2.createServer()
        watchServer(server, t)
        let session
        server.on('session', one => { session = one })
        let client
        const port = await t.listen(server)
        if (!isOld) {
          const came = once(server, 'session')
          client = await t.open(server, { secure: isSecure })
          const log = t.log('client')
          // How many of them announce an end says nothing.
          client.once('goaway', code => { log('goaway', code) })
          client.on('error', error => { log('error', error) })
          client.on('close', () => { log('close') })
          const known = once(client, 'remoteSettings')
          await came
          await known
        }
        let asked
        let response
        if (exchange !== null) {
          const came = once(server, 'request')
          asked = isOld ? askOld({ address: () => ({ port }) }, exchange, t) : ask(client, exchange, t)
          response = (await came)[1]
          exchange.begin(response)
          await quiet(t)
        }
        const [called, log] = [t.log('called'), t.log('session called')]
        t.attempt(called, act, () => { call({ server, session, client, asked, response, called, log }) })
        await quiet(t)
        t.log('state')(server.listening, session?.closed, session?.destroyed, client?.closed, client?.destroyed)
        if (asked !== undefined && !asked.destroyed && !asked.writableEnded) asked.end('more')
        if (response !== undefined && !response.writableEnded) response.end('last')
        await quiet(t)
        t.log('state')(server.listening, session?.closed, session?.destroyed, client?.closed, client?.destroyed)
        if (client !== undefined && !client.destroyed) {
          const gone = closing(client)
          client.destroy()
          await gone
        }
        asked?.destroy()
        if (server.listening) server.close()
        server.closeAllConnections?.()
        await quiet(t)
        t.log('last')(server.listening, session?.destroyed)
      }
    }
  }
}
export default programs

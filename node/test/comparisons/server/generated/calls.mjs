// Every method and property of a stream, a session, a response, a request and a server x every kind of value: what the
// call returns or throws, and what the client gets then.
import { cert, key } from '../stage.mjs'
import { VALUES, refusal } from '../values.mjs'

const OF_STREAM = {
  respond: (stream, value) => stream.respond(value),
  'respond, options': (stream, value) => stream.respond({}, value),
  'respond, a status': (stream, value) => stream.respond({ ':status': value }),
  'respond, a field': (stream, value) => stream.respond({ 'x-a': value }),
  'respond, a content-length': (stream, value) => stream.respond({ 'content-length': value }),
  additionalHeaders: (stream, value) => stream.additionalHeaders(value),
  'additionalHeaders, a status': (stream, value) => stream.additionalHeaders({ ':status': value }),
  close: (stream, value) => stream.close(value),
  'close, a callback': (stream, value) => stream.close(0, value),
  sendTrailers: (stream, value) => stream.sendTrailers(value),
  setTimeout: (stream, value) => stream.setTimeout(value),
  'setTimeout, a callback': (stream, value) => stream.setTimeout(1000, value),
  respondWithFD: (stream, value) => stream.respondWithFD(value),
  write: (stream, value) => stream.write(value),
  end: (stream, value) => stream.end(value)
}
const OF_RESPONSE = {
  'writeHead, headers': (response, value) => response.writeHead(200, value),
  'setHeader, a value': (response, value) => response.setHeader('x-a', value),
  'setHeader, a name': (response, value) => response.setHeader(value, 'a'),
  'appendHeader, a value': (response, value) => response.appendHeader('x-a', value),
  getHeader: (response, value) => response.getHeader(value),
  hasHeader: (response, value) => response.hasHeader(value),
  removeHeader: (response, value) => response.removeHeader(value),
  'setTrailer, a value': (response, value) => response.setTrailer('x-a', value),
  'setTrailer, a name': (response, value) => response.setTrailer(value, 'a'),
  addTrailers: (response, value) => response.addTrailers(value),
  writeEarlyHints: (response, value) => response.writeEarlyHints(value),
  'writeEarlyHints, a link': (response, value) => response.writeEarlyHints({ link: value }),
  setTimeout: (response, value) => response.setTimeout(value),
  statusCode: (response, value) => { response.statusCode = value },
  statusMessage: (response, value) => { response.statusMessage = value },
  sendDate: (response, value) => { response.sendDate = value },
  write: (response, value) => response.write(value),
  'write, an encoding': (response, value) => response.write('a', value),
  end: (response, value) => response.end(value)
}
const OF_REQUEST = {
  setTimeout: (request, value) => request.setTimeout(value),
  setEncoding: (request, value) => request.setEncoding(value),
  url: (request, value) => { request.url = value; return request.url },
  method: (request, value) => { request.method = value; return request.method },
  authority: (request, value) => { request.authority = value; return request.authority },
  scheme: (request, value) => { request.scheme = value; return request.scheme },
  read: (request, value) => request.read(value)
}
const OF_SESSION = {
  goaway: (session, value) => session.goaway(value),
  'goaway, a last stream': (session, value) => session.goaway(0, value),
  'goaway, data': (session, value) => session.goaway(0, 0, value),
  settings: (session, value) => session.settings(value),
  'settings, a callback': (session, value) => session.settings({}, value),
  ping: (session, value) => session.ping(value, () => {}),
  'ping, a callback': (session, value) => session.ping(Buffer.alloc(8), value),
  setTimeout: (session, value) => session.setTimeout(value),
  setLocalWindowSize: (session, value) => session.setLocalWindowSize(value),
  altsvc: (session, value) => session.altsvc(value, '/'),
  origin: (session, value) => session.origin(value),
  close: (session, value) => session.close(value),
  destroy: (session, value) => session.destroy(value),
  'destroy, a code': (session, value) => session.destroy(undefined, value)
}
const OF_SERVER = {
  listen: (server, value) => server.listen(value),
  'listen, a port': (server, value) => server.listen({ port: value, host: '127.0.0.1' }),
  'listen, a path': (server, value) => server.listen({ path: value }),
  'listen, a descriptor': (server, value) => server.listen({ fd: value }),
  setTimeout: (server, value) => server.setTimeout(value),
  'setTimeout, a callback': (server, value) => server.setTimeout(1000, value),
  close: (server, value) => server.close(value),
  updateSettings: (server, value) => server.updateSettings(value),
  addContext: (server, value) => server.addContext?.(value, { key, cert }),
  'addContext, a context': (server, value) => server.addContext?.('a.test', value),
  setSecureContext: (server, value) => server.setSecureContext?.(value)
}

const kindOf = value => value === null || typeof value !== 'object' ? String(value) : value.constructor?.name ?? 'object'
function attempt (log, call) {
  try {
    log('returns', kindOf(call()))
  } catch (error) {
    log('throws', refusal(error))
  }
}
const listen = (server, t) => {
  server.on('sessionError', error => { t.log('server')('sessionError', error) })
  return t.open(server)
}
/** Values that make nothing end: the peer sees whether anything does. */
async function onStream (http2, t, call, value) {
  const server = http2.createServer()
  server.on('stream', stream => {
    const log = t.log('server')
    stream.on('error', error => { log('error', error) })
    stream.on('close', () => { log('close', stream.rstCode) })
    attempt(log, () => call(stream, value))
    if (!stream.destroyed && !stream.closed && !stream.headersSent) attempt(t.log('then'), () => stream.respond())
    if (!stream.writableEnded) stream.end('ok')
  })
  await t.show(await listen(server, t))
}
async function onExchange (http2, t, which, call, value) {
  const server = http2.createServer()
  server.on('request', (request, response) => {
    const log = t.log('server')
    response.on('error', error => { log('error', error) })
    attempt(log, () => call(which === 'request' ? request : response, value))
    if (!response.writableEnded) response.end('ok')
  })
  await t.show(await listen(server, t), { headers: { ':method': 'POST' }, body: 'hello' })
}
async function onSession (http2, t, call, value, isGoaway) {
  const server = http2.createServer()
  const opened = new Promise(resolve => { server.once('session', resolve) })
  server.on('stream', stream => {
    stream.on('error', () => {})
    stream.respond()
    stream.end('ok')
  })
  const client = await listen(server, t)
  const session = await opened
  session.on('error', error => { t.log('session')('error', error) })
  const log = t.log('server')
  // Behind the exchange of settings, so that both know of each other.
  await t.show(client)
  attempt(log, () => call(session, value))
  log(session.closed, session.destroyed)
  // One that has sent a GOAWAY may leave its server open with its client gone, on Node.js 20 always and on 22 now and then.
  if (isGoaway) session.destroy()
}
async function onServer (http2, t, make, call, value) {
  const server = http2[make]({ key, cert })
  const log = t.log('server')
  const listening = new Promise(resolve => { server.on('listening', () => { resolve('listening') }) })
  const failed = new Promise(resolve => { server.on('error', error => { resolve(`error ${error.code ?? error.message}`) }) })
  attempt(log, () => call(server, value))
  await new Promise(resolve => { setImmediate(resolve) })
  if (call.length === 2 && server.listening) {
    log(await Promise.race([listening, failed]))
    await new Promise(resolve => { server.close(resolve) })
  }
}

/** Descriptors of this process, which would be served and closed, and numbers that are none, at which node aborts. */
const isOwnDescriptor = (name, value) => /respondWithFD|descriptor/.test(name) && (typeof value === 'number' || value === true)

/** For an empty list of values some lines of Node.js send those of other fields. */
const EMPTY_LISTS = ['respond, a field', 'setHeader, a value', 'appendHeader, a value', 'setTrailer, a value', 'addTrailers', 'writeEarlyHints, a link']
const isLeftOut = (name, value) => isOwnDescriptor(name, value) || (Array.isArray(value) && EMPTY_LISTS.includes(name))

const programs = {}
for (const [value, given] of Object.entries(VALUES)) {
  for (const [name, call] of Object.entries(OF_STREAM)) if (!isLeftOut(name, given)) programs[`stream.${name}: ${value}`] = (http2, t) => onStream(http2, t, call, given)
  for (const [name, call] of Object.entries(OF_RESPONSE)) if (!isLeftOut(name, given)) programs[`response.${name}: ${value}`] = (http2, t) => onExchange(http2, t, 'response', call, given)
  for (const [name, call] of Object.entries(OF_REQUEST)) programs[`request.${name}: ${value}`] = (http2, t) => onExchange(http2, t, 'request', call, given)
  for (const [name, call] of Object.entries(OF_SESSION)) programs[`session.${name}: ${value}`] = (http2, t) => onSession(http2, t, call, given, name.startsWith('goaway'))
  for (const make of ['createServer', 'createSecureServer']) {
    for (const [name, call] of Object.entries(OF_SERVER)) {
      // Without a port any is taken, on every address of the machine; a path would be a file.
      if (['listen', 'listen, a path'].includes(name) && given === 'asd') continue
      if (name.startsWith('listen') && [1, 1000].includes(given)) continue
      if (isOwnDescriptor(name, given)) continue
      programs[`${make}, server.${name}: ${value}`] = (http2, t) => onServer(http2, t, make, call, given)
    }
  }
}
export default programs

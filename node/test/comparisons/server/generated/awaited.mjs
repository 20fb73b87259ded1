// Listeners that are added behind an `await` of the event of a connection: they miss nothing that comes on it.
import { once } from 'node:events'
import { cert, key } from '../stage.mjs'

const LISTENERS = {
  stream: (server, session, log) => { server.on('stream', (stream, headers) => { watchStream(stream, headers, log); stream.resume(); stream.respond(); stream.end('ok') }) },
  request: (server, session, log) => { server.on('request', (request, response) => { watchPair(request, response, log); response.end('ok') }) },
  'stream and request': (server, session, log) => {
    server.on('stream', (stream, headers) => { watchStream(stream, headers, log) })
    server.on('request', (request, response) => { watchPair(request, response, log); response.end('ok') })
  },
  'stream and an answer in pieces': (server, session, log) => {
    server.on('stream', (stream, headers) => { watchStream(stream, headers, log) })
    server.on('request', (request, response) => {
      watchPair(request, response, log)
      response.write('one')
      setImmediate(() => { response.end('two') })
    })
  },
  "a session's stream": (server, session, log) => { session?.on('stream', (stream, headers) => { watchStream(stream, headers, log); stream.resume(); stream.respond(); stream.end('ok') }) },
  'settings and pings': (server, session, log) => {
    session?.on('remoteSettings', settings => { log('remoteSettings', settings.initialWindowSize) })
    session?.on('ping', () => { log('ping') })
    server.on('stream', stream => {
      log('settings of the stream', stream.session.remoteSettings.initialWindowSize)
      stream.respond()
      stream.end('ok')
    })
  }
}
function watchStream (stream, headers, log) {
  log('stream', headers[':method'])
  for (const event of ['aborted', 'close']) stream.on(event, () => { log('stream', event) })
}
function watchPair (request, response, log) {
  log('request', request.method)
  for (const event of ['aborted', 'end']) request.on(event, () => { log('request', event) })
  request.on('data', piece => { log('request data', `${piece}`) })
  for (const event of ['finish', 'close']) response.on(event, () => { log('response', event) })
}

const REQUESTS = { 'without a body': {}, 'with a body': { headers: { ':method': 'POST' }, body: 'hello' } }

const awaited = (isSecure, event, listen, request) => async (http2, t) => {
  const server = isSecure ? http2.createSecureServer({ key, cert }) : http2.createServer()
  await t.listen(server)
  const reported = once(server, event)
  const client = await t.open(server, { secure: isSecure, settings: { initialWindowSize: 100_000 } })
  client.ping(() => {})
  const shown = t.show(client, request)
  const [what] = await reported
  const log = t.log('server')
  listen(server, event === 'session' ? what : undefined, log)
  await shown
}

const programs = {}
for (const isSecure of [false, true]) {
  for (const event of isSecure ? ['session', 'connection', 'secureConnection'] : ['session', 'connection']) {
    for (const [listeners, listen] of Object.entries(LISTENERS)) {
      // No listener has its session.
      if (event !== 'session' && listeners === "a session's stream") continue
      for (const [name, request] of Object.entries(REQUESTS)) programs[`${isSecure ? 'TLS' : 'clear'}, ${event}, ${listeners}, ${name}`] = awaited(isSecure, event, listen, request)
    }
  }
}
export default programs

// Listeners that throw while other requests have come: the exception is reported before another listener is called, so that who
// catches what is uncaught may answer the request that failed.
import domain from 'node:domain'
import https from 'node:https'
import { cert, closing, isSecure, key } from '../stage.mjs'

const PATHS = ['/bad', '/a', '/worse', '/b']
const fails = path => path === '/bad' || path === '/worse'
const text = path => `ok ${path}`

/** Answers the request under way with a 500 when something is uncaught; what was under way then is logged. */
async function catching (log, sorry, work) {
  const listener = error => {
    log('uncaught', error.message)
    sorry(error)
  }
  process.on('uncaughtException', listener)
  try {
    await work()
  } finally {
    process.off('uncaughtException', listener)
  }
}

/** The answers to requests of HTTP/1.1, all of them asked in one turn on connections of their own. */
async function askAll (t, port) {
  const answers = await Promise.all(PATHS.map(path => new Promise(resolve => {
    https.get({ host: '127.0.0.1', port, path, ca: cert, servername: 'localhost', agent: false }, answer => {
      let body = ''
      answer.on('data', piece => { body += piece }).on('close', () => { resolve(`${answer.statusCode} ${body}`) })
    }).on('error', error => { resolve(error.code) })
  })))
  for (const answer of answers) t.log('client')(answer)
}

/** The answers to streams of one session. */
async function askSession (t, server) {
  const session = await t.open(server, { secure: isSecure })
  const answers = await Promise.all(PATHS.map(path => new Promise(resolve => {
    let [status, body] = [0, '']
    const stream = session.request({ ':path': path })
    stream.on('response', head => { status = head[':status'] }).on('data', piece => { body += piece }).on('error', () => {})
    stream.on('close', () => { resolve(`${status} ${body}`) })
  })))
  for (const answer of answers) t.log('client')(answer)
}

const make = http2 => isSecure ? http2.createSecureServer({ cert, key }) : http2.createServer()

function answering (server, log, under) {
  server.on('request', (request, response) => {
    under.current = response
    under.url = request.url
    if (fails(request.url)) throw new Error(`of ${request.url}`)
    response.end(text(request.url))
  })
}
const sorry = (log, under) => () => {
  log('while', under.url)
  if (!under.current.headersSent) under.current.writeHead(500)
  under.current.end('sorry')
}

const programs = {
  'requests of one session': async (http2, t) => {
    const log = t.log('server')
    const server = make(http2)
    const under = {}
    answering(server, log, under)
    await catching(log, sorry(log, under), () => askSession(t, server))
  },
  'streams of one session': async (http2, t) => {
    const log = t.log('server')
    const server = make(http2)
    let current
    server.on('stream', (stream, head) => {
      current = { stream, path: head[':path'] }
      if (fails(current.path)) throw new Error(`of ${current.path}`)
      stream.respond()
      stream.end(text(current.path))
    })
    await catching(log, () => {
      log('while', current.path)
      if (!current.stream.headersSent) current.stream.respond({ ':status': 500 })
      current.stream.end('sorry')
    }, () => askSession(t, server))
  },
  'requests of one session, each in its domain': async (http2, t) => {
    const log = t.log('server')
    const server = make(http2)
    server.on('request', (request, response) => {
      const own = domain.create()
      own.on('error', error => {
        log(error.message, 'in the domain of', request.url)
        if (!response.headersSent) response.writeHead(500)
        response.end('sorry')
      })
      own.run(() => {
        if (fails(request.url)) throw new Error(`of ${request.url}`)
        response.end(text(request.url))
      })
    })
    await askSession(t, server)
  },
  'requests of HTTP/1.1': async (http2, t) => {
    const log = t.log('server')
    const server = http2.createSecureServer({ cert, key, allowHTTP1: true })
    const under = {}
    answering(server, log, under)
    const port = await t.listen(server)
    await catching(log, sorry(log, under), () => askAll(t, port))
  }
}

/** The emitter of an event, by the form of its listener. */
const PLACES = {
  request: { data: 'request', end: 'request', close: 'request', finish: 'response', 'close of the response': 'response' },
  stream: { data: 'stream', end: 'stream', trailers: 'stream', close: 'stream', wantTrailers: 'stream' }
}

/** The exchange whose listener of `event` throws is over all the same, and the next one of its session is served. */
const thrown = (form, place, owner) => async (http2, t) => {
  const log = t.log('server')
  t.log('client')
  t.log('process')
  const event = place.split(' ')[0]
  // In the clear: under TLS an exception may leave the bytes behind it in node's socket.
  const server = http2.createServer()
  const serve = (emitter, answer, path) => {
    answer()
    // Behind the listeners that answer, which would not be called.
    if (path === '/throws') emitter.once(event, () => { throw new Error(place) })
  }
  if (form === 'request') {
    server.on('request', (request, response) => {
      serve(owner === 'request' ? request : response, () => { request.on('end', () => { response.end('ok') }).resume() }, request.url)
    })
  } else {
    server.on('stream', (stream, head) => {
      serve(stream, () => {
        stream.on('error', () => {})
        stream.respond({}, { waitForTrailers: event === 'wantTrailers' })
        if (event === 'wantTrailers') stream.on('wantTrailers', () => { stream.sendTrailers({ a: 'b' }) })
        stream.on('end', () => { stream.end('ok') }).resume()
      }, head[':path'])
    })
  }
  await catching(log, () => {}, async () => {
    const session = await t.open(server)
    const ask = async path => {
      const stream = session.request({ ':path': path, ':method': 'POST' }, { waitForTrailers: event === 'trailers' })
      let body = ''
      stream.on('wantTrailers', () => { stream.sendTrailers({ x: 'y' }) })
      stream.on('error', () => {}).on('data', piece => { body += piece })
      await new Promise(resolve => { session.ping(resolve) })
      const closed = new Promise(resolve => { stream.on('close', resolve) })
      stream.end('body')
      await closed
      t.log('client')(path, stream.rstCode, body)
    }
    await ask('/throws')
    await ask('/next')
    session.close()
    await closing(session)
  })
}
for (const [form, places] of Object.entries(PLACES)) {
  for (const [place, owner] of Object.entries(places)) programs[`a listener of ${place}, of a ${form}`] = thrown(form, place, owner)
}
export default programs

// Listeners that throw while other requests have come: the exception is reported before another listener is called, so that who
// catches what is uncaught may answer the request that failed.
import domain from 'node:domain'
import https from 'node:https'
import { cert, isSecure, key } from '../stage.mjs'

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

export default {
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

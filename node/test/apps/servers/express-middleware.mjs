// Express's usual middleware: what hooks into the head of a response, wraps its writes or forwards requests.
import http from 'node:http'
import compression from 'compression'
import express from 'express'
import session from 'express-session'
import helmet from 'helmet'
import { createProxyMiddleware } from 'http-proxy-middleware'
import morgan from 'morgan'
import onFinished from 'on-finished'
import passport from 'passport'
import responseTime from 'response-time'

passport.use({ name: 'token', authenticate (request) { request.query.token === 'good' ? this.success({ id: 1 }) : this.fail('Token realm="row"', 401) } })

export async function start ({ create }) {
  const behind = http.createServer((request, response) => {
    const chunks = []
    request.on('data', chunk => { chunks.push(chunk) })
    request.on('end', () => {
      response.writeHead(request.url === '/teapot' ? 418 : 200, { 'content-type': 'text/plain', 'x-behind': 'yes', 'set-cookie': ['a=1', 'b=2'] })
      response.write(`${request.method} ${request.url} `)
      response.end(String(Buffer.concat(chunks).length))
    })
  })
  await new Promise(resolve => { behind.listen(0, '127.0.0.1', resolve) })
  behind.unref()
  const app = express()
  const lines = []
  app.use(morgan(':method :url :status :res[content-type]', { stream: { write: line => { lines.push(line.trim()) } } }))
  app.use(responseTime((request, response, time) => { response.setHeader('x-timed', String(time >= 0)) }))
  app.use(helmet())
  app.use(compression({ threshold: 100 }))
  app.use(session({ secret: 'row', resave: false, saveUninitialized: false, genid: () => 'fixed', cookie: { secure: true, maxAge: null } }))
  app.get('/session', (request, response) => { request.session.seen = (request.session.seen ?? 0) + 1; response.json({ seen: request.session.seen }) })
  app.get('/packed', (request, response) => { response.type('text').send('packed '.repeat(500)) })
  app.get('/flushed', (request, response) => {
    response.type('text').write('one '.repeat(50))
    response.flush()
    setImmediate(() => { response.end('two') })
  })
  app.get('/plain', (request, response) => { response.type('image/png').send(Buffer.alloc(500, 1)) })
  app.get('/guarded', passport.authenticate('token', { session: false }), (request, response) => { response.json(request.user) })
  app.get('/finished', (request, response) => {
    onFinished(response, (error, done) => { lines.push(`finished ${error} ${done === response} ${onFinished.isFinished(response)}`) })
    response.end('finished')
  })
  app.get('/start', (request, response) => { lines.splice(0); response.end() })
  app.get('/lines', (request, response) => { response.json(lines.splice(0)) })
  app.use('/behind', createProxyMiddleware({ target: `http://127.0.0.1:${behind.address().port}`, changeOrigin: true }))
  app.use('/none', createProxyMiddleware({ target: 'http://127.0.0.1:1', on: { error: (error, request, response) => { response.writeHead(502).end(error.code) } } }))
  return create(app)
}

export const requests = [
  { path: '/start' }, { path: '/session' }, { path: '/packed' }, { path: '/packed', headers: { 'accept-encoding': 'gzip' } }, { path: '/flushed' },
  { path: '/packed', method: 'HEAD', headers: { 'accept-encoding': 'gzip' } }, { path: '/plain', headers: { 'accept-encoding': 'gzip' } },
  { path: '/guarded' }, { path: '/guarded?token=good' }, { path: '/finished' }, { path: '/lines' },
  { path: '/behind/a?b=c' }, { path: '/behind/teapot' }, { path: '/behind/post', method: 'POST', body: 'x'.repeat(200_000) }, { path: '/none' }, { path: '/nowhere' }
]

import { Readable } from 'node:stream'
import Koa from 'koa'

export function start ({ create }) {
  const app = new Koa({ keys: ['secret'] })
  app.silent = true
  app.use(async (context, next) => {
    try { await next() } catch (error) {
      context.status = error.status ?? 500
      context.body = { error: error.message }
    }
    context.set('x-after', 'yes')
  })
  app.use(async context => {
    switch (context.path) {
      case '/json': context.body = { host: context.host, secure: context.secure, query: context.query, ip: context.ip, origin: context.origin, fresh: context.fresh }; break
      case '/text': context.body = 'text'; context.cookies.set('seen', 'yes', { signed: true }); break
      case '/stream': context.body = Readable.from(['one ', 'two']); break
      case '/bytes': context.body = Buffer.from([0, 1, 254, 255]); context.type = 'image/png'; break
      case '/away': context.redirect('/json'); break
      case '/empty': context.body = null; break
      case '/etag': context.body = 'fixed'; context.etag = 'fixed'; if (context.fresh) context.status = 304; break
      case '/echo': {
        const chunks = []
        for await (const chunk of context.req) chunks.push(chunk)
        context.body = Buffer.concat(chunks).toString()
        break
      }
      case '/throw': context.throw(418, 'teapot'); break
      case '/breaks': throw new Error('broken on purpose')
      case '/raw': context.respond = false; context.res.statusCode = 202; context.res.end('raw'); break
      case '/reason': context.status = 200; context.message = 'Fine'; context.body = 'reason'
    }
  })
  return create(app.callback())
}

export const requests = [
  { path: '/json?a=1&a=2' }, { path: '/text' }, { path: '/stream' }, { path: '/bytes' }, { path: '/away' }, { path: '/empty' },
  { path: '/etag' }, { path: '/etag', headers: { 'if-none-match': '"fixed"' } },
  { path: '/echo', method: 'POST', body: 'ä'.repeat(70_000) }, { path: '/throw' }, { path: '/breaks' }, { path: '/raw' }, { path: '/reason' },
  { path: '/text', method: 'HEAD' }, { path: '/nowhere' }
]

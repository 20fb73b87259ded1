import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import cors from '@fastify/cors'
import multipart from '@fastify/multipart'
import files from '@fastify/static'
import websocket from '@fastify/websocket'
import fastify from 'fastify'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-app-'))
writeFileSync(join(folder, 'page.html'), '<p>page</p>')
utimesSync(join(folder, 'page.html'), 1e9, 1e9)
process.on('exit', () => { rmSync(folder, { recursive: true, force: true }) })

export async function start ({ create }) {
  const app = fastify({ serverFactory: handler => create(handler) })
  await app.register(cors, { origin: ['https://a.test'], credentials: true, exposedHeaders: ['x-b'] })
  await app.register(files, { root: folder, prefix: '/files/', lastModified: false })
  await app.register(multipart)
  await app.register(websocket)
  const schema = { body: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }, response: { 200: { type: 'object', properties: { twice: { type: 'integer' } } } } }
  app.post('/schema', { schema }, async request => ({ twice: request.body.a * 2, dropped: true }))
  app.get('/hello/:name', async request => ({ hello: request.params.name, query: request.query, host: request.host, hostname: request.hostname, protocol: request.protocol, ip: request.ip }))
  app.get('/stream', async (request, reply) => reply.type('text/plain').send(Readable.from(['one ', 'two'])))
  app.get('/trailer', async (request, reply) => {
    reply.trailer('x-sum', async (reply, payload) => 'sum')
    return 'with a trailer'
  })
  app.get('/web', async () => new Response('web', { status: 203, headers: { 'x-web': 'yes' } }))
  app.get('/hijack', (request, reply) => { reply.hijack(); reply.raw.writeHead(202, { 'x-raw': 'yes' }); reply.raw.end('raw') })
  app.get('/breaks', async () => { throw new Error('broken on purpose') })
  app.get('/away', async (request, reply) => reply.redirect('/hello/you'))
  app.get('/large', async () => ({ large: 'large '.repeat(100_000) }))
  app.get('/early', async (request, reply) => {
    reply.raw.writeEarlyHints?.({ link: '</a.css>; rel=preload' })
    return 'after hints'
  })
  app.post('/upload', async request => {
    const parts = []
    for await (const part of request.parts()) parts.push(part.file ? [part.filename, part.mimetype, (await part.toBuffer()).length] : [part.fieldname, part.value])
    return parts
  })
  app.get('/socket', { websocket: true }, socket => {
    socket.send('welcome')
    socket.on('message', data => { socket.send(`echo ${data}`) })
  })
  await app.ready()
  return app.server
}

const json = { 'content-type': 'application/json' }
const form = `--xx\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--xx\r\ncontent-disposition: form-data; name="file"; filename="f.bin"\r\ncontent-type: text/plain\r\n\r\n${'f'.repeat(300_000)}\r\n--xx--\r\n`

export const requests = [
  { path: '/hello/world?q=1' },
  { path: '/hello/world', headers: { origin: 'https://a.test' } },
  { path: '/hello/world', method: 'OPTIONS', headers: { origin: 'https://a.test', 'access-control-request-method': 'PUT' } },
  { path: '/schema', method: 'POST', headers: json, body: '{"a":2}' },
  { path: '/schema', method: 'POST', headers: json, body: '{"b":2}' },
  { path: '/schema', method: 'POST', headers: json, body: '{' },
  { path: '/schema', method: 'POST', headers: { 'content-type': 'text/unknown' }, body: 'x' },
  { path: '/files/page.html' },
  { path: '/files/page.html', headers: { range: 'bytes=3-6' } },
  { path: '/files/page.html', method: 'HEAD' },
  { path: '/files/missing' },
  { path: '/upload', method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=xx' }, body: form },
  { path: '/stream' }, { path: '/trailer' }, { path: '/web' }, { path: '/hijack' }, { path: '/breaks' }, { path: '/away' }, { path: '/large' }, { path: '/early' },
  { path: '/nowhere' },
  {
    name: 'a WebSocket',
    run: ({ socket }) => socket('/socket', {}, async ({ send, close, next }) => {
      const all = [await next()]
      send('one')
      all.push(await next())
      close()
      all.push(await next())
      return all
    })
  },
  {
    name: 'a WebSocket that is closed by a wrong code',
    run: ({ socket }) => socket('/socket', {}, async ({ close, next }) => {
      const first = await next()
      close(5000)
      return [first, await next()]
    })
  }
]

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import multer from 'multer'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-app-'))
writeFileSync(join(folder, 'page.txt'), 'a page of text')
utimesSync(join(folder, 'page.txt'), 1e9, 1e9)
process.on('exit', () => { rmSync(folder, { recursive: true, force: true }) })

export function start ({ create }) {
  const app = express()
  app.use(express.json({ limit: 1000 }))
  app.use(express.urlencoded({ extended: false }))
  app.use('/static', express.static(folder, { lastModified: false }))
  app.get('/hello/:name', (request, response) => {
    response.cookie('seen', 'yes').cookie('two', '2').json({
      hello: request.params.name, q: request.query.q, host: request.hostname, secure: request.secure, ip: request.ip,
      method: request.method, url: request.originalUrl, agent: request.get('user-agent'), cookie: request.headers.cookie
    })
  })
  app.post('/echo', (request, response) => { response.status(201).send(request.body) })
  app.post('/upload', multer({ storage: multer.memoryStorage() }).array('file'), (request, response) => {
    response.json({ fields: request.body, files: request.files.map(({ originalname, mimetype, size }) => ({ originalname, mimetype, size })) })
  })
  app.get('/away', (request, response) => { response.redirect('/hello/you') })
  app.get('/none', (request, response) => { response.status(204).end() })
  app.get('/breaks', () => { throw new Error('broken on purpose') })
  app.get('/stream', (request, response) => {
    response.set('trailer', 'x-sum').write('one ')
    setImmediate(() => { response.addTrailers({ 'x-sum': '2' }); response.end('two') })
  })
  app.get('/events', (request, response) => {
    response.set({ 'content-type': 'text/event-stream', connection: 'keep-alive', 'cache-control': 'no-store' }).flushHeaders()
    let count = 0
    const next = () => { response.write(`data: ${++count}\n\n`); count < 3 ? setImmediate(next) : response.end() }
    next()
  })
  app.get('/large', (request, response) => { response.send('large '.repeat(100_000)) })
  app.post('/length', (request, response) => {
    let length = 0
    request.on('data', chunk => { length += chunk.length })
    request.on('end', () => { response.json({ length }) })
  })
  app.use((error, request, response, next) => { response.status(error.status ?? 500).json({ error: error.message, type: error.type }) })
  return create(app)
}

const json = { 'content-type': 'application/json' }
const form = [
  '--xx\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n',
  `--xx\r\ncontent-disposition: form-data; name="file"; filename="f.bin"\r\ncontent-type: application/octet-stream\r\n\r\n${'f'.repeat(300_000)}\r\n`,
  '--xx--\r\n'
].join('')

export const requests = [
  { path: '/hello/world?q=1', headers: { 'user-agent': 'row', cookie: 'a=1; b=2' } },
  { path: '/echo', method: 'POST', headers: json, body: '{"a":1}' },
  { path: '/echo', method: 'POST', headers: json, body: '{' },
  { path: '/echo', method: 'POST', headers: json, body: JSON.stringify({ long: 'x'.repeat(2000) }) },
  { path: '/echo', method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'b=2&c=%C3%A4' },
  { path: '/upload', method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=xx' }, body: form },
  { path: '/length', method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: Buffer.alloc(1 << 20, 'u') },
  { path: '/static/page.txt' },
  { path: '/static/page.txt', headers: { range: 'bytes=2-5' } },
  { path: '/static/page.txt', headers: { range: 'bytes=99-' } },
  { path: '/static/page.txt', method: 'HEAD' },
  { path: '/static/' },
  { path: '/away' },
  { path: '/none' },
  { path: '/breaks' },
  { path: '/stream' },
  { path: '/events' },
  { path: '/large' },
  { path: '/nowhere' },
  { path: '/nowhere', method: 'DELETE' },
  { path: '/hello/options', method: 'OPTIONS' }
]

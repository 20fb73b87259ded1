import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import bodyParser from 'body-parser'
import polka from 'polka'
import sirv from 'sirv'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-app-'))
writeFileSync(join(folder, 'page.txt'), 'a page of text')
writeFileSync(join(folder, 'index.html'), '<p>index</p>')
for (const name of ['page.txt', 'index.html']) utimesSync(join(folder, name), 1e9, 1e9)
process.on('exit', () => { rmSync(folder, { recursive: true, force: true }) })

export function start ({ create }) {
  const app = polka({ onError: (error, request, response) => { response.statusCode = error.status ?? 500; response.end(error.message) } })
  app.use('/static', sirv(folder, { etag: true, dev: false }))
  app.use(bodyParser.json())
  app.get('/hello/:name', (request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name: request.params.name, query: request.query, path: request.path, original: request.originalUrl }))
  })
  app.post('/echo', (request, response) => { response.writeHead(201, 'Made', { 'x-made': ['1', '2'] }); response.end(JSON.stringify(request.body)) })
  app.get('/stream', async (request, response) => { for (const part of ['one ', 'two ', 'three']) { response.write(part); await null } response.end() })
  return create(app.handler)
}

const json = { 'content-type': 'application/json' }

export const requests = [
  { path: '/hello/world?a=1&b=%20' }, { path: '/echo', method: 'POST', headers: json, body: '{"a":1}' }, { path: '/echo', method: 'POST', headers: json, body: '{' },
  { path: '/stream' }, { path: '/static/page.txt' }, { path: '/static/page.txt', headers: { range: 'bytes=2-5' } },
  { path: '/static/page.txt', headers: { range: 'bytes=99-' } }, { path: '/static/' }, { path: '/static/page.txt', method: 'HEAD' }, { path: '/nowhere' }
]

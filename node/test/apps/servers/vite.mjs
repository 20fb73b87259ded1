import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const root = fileURLToPath(new URL('site', import.meta.url))

export async function start ({ create }) {
  const waiting = []
  let handle
  const server = create((request, response) => {
    if (handle) handle(request, response)
    else waiting.push([request, response])
  })
  const vite = await createServer({
    root, appType: 'spa', configFile: false, logLevel: 'silent', cacheDir: fileURLToPath(new URL('cache', import.meta.url)),
    optimizeDeps: { noDiscovery: true }, server: { middlewareMode: true, hmr: { server }, watch: null }
  })
  token = vite.config.webSocketToken
  handle = (request, response) => { vite.middlewares(request, response, () => { response.statusCode = 404; response.end('no') }) }
  return server
}

let token
// Texts that differ with each run: the token of the socket, the port, and the source map that has both.
export const masks = [[/const wsToken = "[^"]*"/g, ''], [/(hmrPort|serverHost|directSocketHost|hmrBase) = [^;]*/g, '$1'], [/base64,[\w+/=]+/g, '']]
export const ignored = ['etag', 'content-length']
export const requests = [
  { path: '/', headers: { accept: 'text/html' } }, { path: '/main.js' }, { path: '/style.css', headers: { accept: 'text/css' } }, { path: '/main.js?import' }, { path: '/@vite/client' },
  { path: '/data.txt' }, { path: '/data.txt', headers: { range: 'bytes=1-3' } }, { path: '/missing.js' }, { path: '/deep/path', headers: { accept: 'text/html' } },
  { path: '/main.js', method: 'HEAD' }, { path: '/', method: 'OPTIONS', headers: { origin: 'http://localhost:1', 'access-control-request-method': 'GET' } },
  {
    name: 'the HMR socket',
    run: ({ socket }) => socket(`/?token=${token}`, { 'sec-websocket-protocol': 'vite-hmr' }, async ({ send, next }) => {
      const first = await next()
      send('{"type":"ping"}')
      return [first]
    })
  }
]

// Each two of undici's interceptors, in both orders, over an Agent of each version: what a caller gets and what is asked of the server.
import http2 from 'node:http2'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { cert, key } from '../../../support/certificates/certificate.mjs'
import { FACES } from '../faces.mjs'
import { bytesOf } from '../stage.mjs'

const INTERCEPTORS = {
  dump: ({ dump }) => dump({ maxSize: 4, abortOnDumped: false }),
  retry: ({ retry }) => retry({ minTimeout: 1, maxTimeout: 5, timeoutFactor: 1, maxRetries: 2 }),
  redirect: ({ redirect }) => redirect({ maxRedirections: 2 }),
  decompress: ({ decompress }) => decompress({ skipErrorResponses: false }),
  responseError: ({ responseError }) => responseError(),
  dns: ({ dns }) => dns({ affinity: 4 }),
  cache: ({ cache }) => cache(),
  deduplicate: ({ deduplicate }) => deduplicate(),
  'one of a program': () => dispatch => (options, handler) => dispatch({ ...options, headers: { ...options.headers, 'x-seen': '1' } }, handler)
}
const fails = (_, response, count) => { response.writeHead(count === 0 ? 503 : 200, { 'content-type': 'application/json', 'retry-after': '0' }).end(`{"answer":${count}}`) }
/** `(request, response, count)`; `count` says how often the program has asked before. */
const ANSWERS = {
  'a cacheable gzip behind a 302': (request, response, count) => {
    if (count === 0) return response.writeHead(302, { location: request.url }).end()
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain', 'cache-control': 'public, max-age=600', etag: '"a"' }).end(gzipSync(`answer ${count}`))
  },
  '503 once': fails,
  '404 in gzip': (_, response) => { response.writeHead(404, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(gzipSync('{"why":"none"}')) },
  'the connection ends once in the body': (_, response, count) => {
    if (count > 0) return response.end('whole')
    response.writeHead(200, { 'content-length': 10, etag: '"a"' })
    response.write('hello', () => { (response.stream?.session ?? response.socket).destroy() })
  }
}

async function origin (t, version, handle) {
  if (version === 'h1') return { origin: (await t.serve(handle)).url, options: {} }
  const sessions = new Set()
  const server = http2.createSecureServer({ cert, key }, handle)
  server.on('session', session => { sessions.add(session.on('error', () => {})) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.closers.push(async () => { for (const session of sessions) session.destroy(); await new Promise(resolve => { server.close(resolve) }) })
  return { origin: `https://localhost:${server.address().port}`, options: { connect: { ca: cert } } }
}

async function run (module, t, { names, version, answer, face }) {
  const sides = [t.log('client'), t.log('server'), t.log('again')]
  let count = 0
  const { origin: url, options } = await origin(t, version, async (request, response) => {
    response.on('error', () => {})
    const body = await bytesOf(request).catch(() => null)
    if (body === null) return
    sides[1](request.method, request.url, request.headers['x-seen'], request.headers.range, request.headers['if-none-match'], request.headers['accept-encoding'])
    ANSWERS[answer](request, response, count++)
  })
  const dispatcher = t.own(new module.Agent(options)).compose(...names.map(name => INTERCEPTORS[name](module.interceptors)))
  for (const log of [sides[0], sides[2]]) await FACES[face](dispatcher, { origin: url, path: '/a', method: 'GET' }, log, () => {})
}

const programs = {}
for (const first of Object.keys(INTERCEPTORS)) {
  for (const second of Object.keys(INTERCEPTORS)) {
    // Refused, in the words of each.
    if (first === second || (first === 'cache' && second === 'redirect')) continue
    for (const version of ['h1', 'h2']) {
      for (const answer of Object.keys(ANSWERS)) {
        const face = version === 'h1' ? 'request' : 'dispatch'
        programs[`${first} and ${second}, ${version}: ${answer}`] = (module, t) => run(module, t, { names: [first, second], version, answer, face })
      }
    }
  }
}
export default programs

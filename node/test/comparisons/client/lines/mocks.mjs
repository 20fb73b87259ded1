// A MockAgent in front of a dispatcher of the package: calls x bodies x interceptors of its line. What matchers and replies are given,
// and what comes back.
import { Writable } from 'node:stream'
import { known } from '../line_calls.mjs'

const ORIGIN = 'http://mocked.test'
const CALLS = {
  async request (module, dispatcher, options, log) {
    const { statusCode, headers, body, trailers } = await module.request(`${ORIGIN}/path?a=b`, { dispatcher, ...options })
    log(statusCode, headers, await body.text(), trailers)
  },
  async 'request of fields that are raw' (module, dispatcher, options, log) {
    const { statusCode, headers, body } = await module.request(`${ORIGIN}/path?a=b`, { dispatcher, responseHeaders: 'raw', ...options })
    log(statusCode, headers, await body.text())
  },
  async stream (module, dispatcher, options, log) {
    const pieces = []
    await module.stream(`${ORIGIN}/path?a=b`, { dispatcher, ...options }, ({ statusCode, headers }) => {
      log(statusCode, headers)
      return new Writable({ write (piece, _, done) { pieces.push(String(piece)); done() } })
    })
    log(pieces)
  },
  async fetch (module, dispatcher, { body, ...options }, log) {
    const response = await module.fetch(`${ORIGIN}/path?a=b`, { dispatcher, body, ...options })
    log(response.status, response.url, [...response.headers], await response.text())
  }
}
const BODIES = {
  'no body': () => undefined,
  'a text': () => 'text',
  'an empty text': () => '',
  'bytes': () => new Uint8Array([97, 98]),
  'a Buffer': () => Buffer.from('ab'),
  'a form': module => { const form = new module.FormData(); form.set('a', 'b'); return form },
  'a Blob': () => new Blob(['ab']),
  'a search': () => new URLSearchParams({ a: 'b' })
}
const INTERCEPTORS = {
  'no interceptor': () => [],
  'the redirect': ({ interceptors }) => [interceptors.redirect({ maxRedirections: 2 })],
  'the retry': ({ interceptors }) => [interceptors.retry?.({ minTimeout: 1, maxTimeout: 1, maxRetries: 1 }) ?? (dispatch => dispatch)],
  'one of its own': () => [dispatch => function (options, handler) { return dispatch(options, handler) }]
}
const REPLIES = {
  '200': reply => reply.reply(200, ({ body }) => `replied to ${typeof body}`, { headers: { 'x-a': 'b', 'set-cookie': ['c=d', 'e=f'] }, trailers: { 'x-t': 'u' } }),
  '302': reply => reply.reply(302, 'moved', { headers: { location: '/other' } }),
  '503': reply => reply.reply(503, 'busy'),
  'an error': reply => reply.replyWithError(Object.assign(new Error('mocked'), { code: 'ECONNRESET' }))
}

const shown = value => value === undefined || value === null || typeof value === 'string' ? value : `${value.constructor.name}${value instanceof Uint8Array ? ` ${[...value]}` : ''}`

async function run (module, stage, { ask, make, intercept, respond, method }) {
  const log = stage.log('client')
  const matched = stage.log('matcher')
  const mock = stage.own(new module.MockAgent({ agent: stage.own(new module.Agent()) }))
  mock.disableNetConnect()
  const pool = mock.get(ORIGIN)
  const body = make(module)
  respond(pool.intercept({ path: '/path?a=b', method, body: body === undefined ? undefined : given => { matched(shown(given)); return true } })).persist()
  pool.intercept({ path: '/other', method: 'GET' }).reply(200, 'other').persist()
  const interceptors = intercept(module)
  try {
    await ask(module, interceptors.length === 0 ? mock : mock.compose(...interceptors), { method, body }, log)
  } catch (error) { log('failed', known(error), error.cause === undefined ? '' : known(error.cause)) }
}

const programs = {}
for (const [call, ask] of Object.entries(CALLS)) {
  for (const [kind, make] of Object.entries(BODIES)) {
    for (const [through, intercept] of Object.entries(INTERCEPTORS)) {
      for (const [reply, respond] of Object.entries(REPLIES)) {
        // A mock of undici 8 never settles what is repeated.
        if (through === 'the retry' && (reply === '503' || reply === 'an error')) continue
        const method = kind === 'no body' ? 'GET' : 'POST'
        programs[`${call} of ${kind} through ${through}, replied with ${reply}`] = (module, stage) => run(module, stage, { ask, make, intercept, respond, method })
      }
    }
  }
}
export default programs

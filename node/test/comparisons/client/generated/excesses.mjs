// Answers that are longer than what is taken x what refuses them x how they come x call x version: each call ends, with which error.
import { cert } from '../../../support/certificates/certificate.mjs'
import { Writable } from 'node:stream'
import { turns } from '../stage.mjs'

const VERSIONS = { h1: {}, h2: { connect: { ca: cert } } }
/** Bytes of an answer; half of them come first. */
const BYTES = 10
const ANSWERS = {
  'with its length': (response, piece) => { response.writeHead(200, { 'content-length': BYTES }).end(piece + piece) },
  'in two pieces': (response, piece) => { response.write(piece, () => { setImmediate(() => { response.end(piece) }) }) },
  'behind its head': async (response, piece) => { response.flushHeaders(); await turns(10); response.end(piece + piece) }
}
/** `(dispatcher, module)`: a dispatcher that refuses. */
const LIMITS = {
  maxResponseSize: { maxResponseSize: 3 },
  'maxResponseSize between the pieces': { maxResponseSize: 7 },
  dump: ({ interceptors }, dispatcher) => dispatcher.compose(interceptors.dump({ maxSize: 3 })),
  'an abort at the head': (_, dispatcher) => dispatcher.compose(acting('onResponseStart')),
  'an abort at the first piece': (_, dispatcher) => dispatcher.compose(acting('onResponseData'))
}
/** An interceptor that aborts behind a call. */
const acting = call => dispatch => (options, handler) => {
  const around = {}
  for (const name of ['onRequestStart', 'onResponseStarted', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError']) {
    around[name] = (...args) => {
      handler[name]?.(...args)
      if (name === call) args[0].abort(new Error('mine'))
    }
  }
  return dispatch(options, around)
}
const CALLS = {
  "undici's fetch": async ({ top }, dispatcher, url) => {
    const response = await top.fetch(url, { dispatcher })
    return [response.status, await response.text()]
  },
  "undici's fetch, read later": async ({ top }, dispatcher, url) => {
    const response = await top.fetch(url, { dispatcher })
    await turns(10)
    return [response.status, await response.text()]
  },
  "undici's request": async ({ top }, dispatcher, url) => {
    const { statusCode, body } = await top.request(url, { dispatcher })
    return [statusCode, await body.text()]
  },
  "undici's stream": async ({ top }, dispatcher, url) => {
    let bytes = 0
    await top.stream(url, { dispatcher, method: 'GET' }, () => new Writable({ write (piece, _, done) { bytes += piece.length; done() } }))
    return [bytes]
  },
  "undici's pipeline": ({ top }, dispatcher, url) => new Promise((resolve, reject) => {
    let bytes = 0
    top.pipeline(url, { dispatcher, method: 'GET' }, ({ body }) => body).on('data', piece => { bytes += piece.length }).on('end', () => { resolve([bytes]) }).on('error', reject).end()
  }),
  'its own request': async (_, dispatcher, url) => {
    const { statusCode, body } = await dispatcher.request({ origin: url, path: '/', method: 'GET' })
    return [statusCode, await body.text()]
  }
}

const known = error => [error.name, error.code ?? '', error.message, error.cause?.code ?? error.cause?.message ?? ''].join(' ')
const program = (version, answer, limit, call) => async (module, stage) => {
  const log = stage.log('client')
  const handle = (request, response) => { response.on('error', () => {}); response.stream?.on('error', () => {}); answer(response, 'x'.repeat(BYTES / 2)) }
  const server = await (version === 'h2' ? stage.serveH2(handle) : stage.serve(handle))
  const isOption = typeof limit !== 'function'
  const own = stage.own(new module.Agent({ ...VERSIONS[version], ...(isOption ? limit : {}) }))
  try {
    log('got', ...await call(module, isOption ? own : limit(module, own), server.url))
  } catch (error) {
    log('failed', known(error))
  }
}

const programs = {}
for (const version of Object.keys(VERSIONS)) {
  for (const [framing, answer] of Object.entries(ANSWERS)) {
    for (const [name, limit] of Object.entries(LIMITS)) {
      // Both pieces may come as one.
      if (name === 'dump' && framing === 'in two pieces') continue
      for (const [label, call] of Object.entries(CALLS)) programs[`${version}, ${framing}, ${name}: ${label}`] = program(version, answer, limit, call)
    }
  }
}
export default programs

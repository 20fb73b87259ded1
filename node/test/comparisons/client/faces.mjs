// One request by each of the calls of undici's API; each logs all that its caller sees.
import { Writable } from 'node:stream'

/** Fields that say nothing of who asked; an age is time. */
const USUAL = new Set(['age', 'date', 'connection', 'keep-alive', 'transfer-encoding'])
const fieldsOf = headers => JSON.stringify(Object.entries(headers).filter(([name]) => !USUAL.has(name) && !name.startsWith(':')).sort())
const short = text => text.length > 64 ? `<${text.length}>` : text
/** The number of a port is chance. */
const withoutPorts = text => text?.replace(/\d{5}/g, 'PORT')
/** The name, the code and the words of an error: programs look for each of them. */
const known = error => [error?.name, error?.code ?? 'without a code', withoutPorts(error?.message)].join(' ')
const failure = error => [known(error), error instanceof TypeError && error.cause !== undefined ? `cause ${known(error.cause)}` : '']

/** `options` are undici's; `at(moment)` is called when a head is there. */
export const FACES = {
  async request (dispatcher, options, log, at) {
    try {
      const { statusCode, statusText, headers, body, trailers } = await dispatcher.request(options)
      log('head', statusCode, statusText, fieldsOf(headers))
      at('head', body)
      log('body', short(await body.text()), fieldsOf(trailers))
    } catch (error) {
      log('failed', ...failure(error))
    }
  },
  async stream (dispatcher, options, log, at) {
    const pieces = []
    try {
      const { trailers } = await dispatcher.stream(options, ({ statusCode, headers }) => {
        log('head', statusCode, fieldsOf(headers))
        const into = new Writable({ write (piece, _, done) { pieces.push(piece); done() } })
        into.on('error', () => {})
        // The call reads no body before the factory returns.
        setImmediate(at, 'head', into)
        return into
      })
      log('body', short(Buffer.concat(pieces).toString()), fieldsOf(trailers))
    } catch (error) {
      log('failed', ...failure(error))
    }
  },
  async pipeline (dispatcher, options, log, at) {
    const { body, ...rest } = options
    const pieces = []
    await new Promise(resolve => {
      const duplex = dispatcher.pipeline(rest, ({ statusCode, headers, body }) => {
        log('head', statusCode, fieldsOf(headers))
        setImmediate(at, 'head', body)
        return body
      })
      duplex.on('data', piece => { pieces.push(piece) })
      duplex.on('end', () => { log('body', short(Buffer.concat(pieces).toString())) })
      duplex.on('error', error => { log('failed', ...failure(error)) })
      duplex.on('close', resolve)
      duplex.end(body)
    })
  },
  async dispatch (dispatcher, options, log, at) {
    const pieces = []
    const { signal, ...rest } = options
    await new Promise(resolve => {
      let controller
      const abort = () => { controller?.abort(signal.reason) }
      signal?.addEventListener('abort', abort)
      const handler = {
        onRequestStart (given) {
          controller = given
          if (signal?.aborted) abort()
        },
        onResponseStart (_, statusCode, headers, statusMessage) {
          log('head', statusCode, statusMessage, fieldsOf(headers))
          if (statusCode >= 200) setImmediate(at, 'head', { destroy () { controller.abort(new Error('the body is not wanted')) } })
        },
        onResponseData (_, piece) { pieces.push(piece) },
        onResponseEnd (_, trailers) {
          log('body', short(Buffer.concat(pieces).toString()), fieldsOf(trailers))
          resolve()
        },
        onResponseError (_, error) {
          log('failed', ...failure(error))
          resolve()
        }
      }
      try {
        dispatcher.dispatch(rest, handler)
      } catch (error) {
        log('threw', ...failure(error))
        resolve()
      }
    })
  },
  async fetch (dispatcher, { origin, path, headersTimeout, bodyTimeout, ...options }, log, at) {
    // undici's own, on either dispatcher: that is how a program uses both.
    const { fetch } = await import('undici8')
    try {
      const given = options.body === undefined || typeof options.body === 'string' ? {} : { duplex: 'half' }
      const response = await fetch(`${origin}${path}`, { ...options, ...given, dispatcher })
      log('head', response.status, response.statusText, fieldsOf(Object.fromEntries(response.headers)), response.type, response.redirected)
      at('head', { destroy () { response.body?.cancel().catch(() => {}) } })
      log('body', short(await response.text()))
    } catch (error) {
      log('failed', ...failure(error))
    }
  }
}

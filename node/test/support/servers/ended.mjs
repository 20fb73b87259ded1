// Servers of every face whose handlers report how requests ended, for tests that end them in every way.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createSecureServer, createServer, serve } from 'trunkline'
import { cert, key } from '../certificates/certificate.mjs'
import { tableWithKinds } from './wire.mjs'

/** The path of requests that say how far a server is. */
export const PROBE = '/probe'

/** An error as the tables of docs/ends.md name it: its class, its code, its message. */
export const named = error => `${error.name} ${error.code ?? 'without a code'}: ${error.message}`

/** Outcomes of requests as handlers saw them, in the order of their ends: the outcome, the text of the body, and the error
 * of its reader; requests of the path of a probe apart. */
class Seen {
  #waiting = []
  #seen = []
  #probes = []
  /** Called when a part of a body has come. */
  onBody = () => {}
  report (path, outcome, text, error) {
    if (path === PROBE) return this.#probes.shift()?.()
    const seen = [outcome, text, error === undefined ? 'no error' : named(error)]
    const next = this.#waiting.shift()
    if (next === undefined) this.#seen.push(seen)
    else next(seen)
  }

  /** The next request's outcome. */
  next () { return this.#seen.length > 0 ? this.#seen.shift() : new Promise(resolve => { this.#waiting.push(resolve) }) }
  /** When the handler of a probe has run. */
  probed () { return new Promise(resolve => { this.#probes.push(resolve) }) }
  get isEmpty () { return this.#seen.length === 0 }
}

/** A request as a stream: complete only if its end came and it was not aborted. */
function watch (seen, path, stream, isAborted, answer) {
  let text = ''
  let isEnded = false
  let failure
  stream.setEncoding('latin1')
  stream.on('data', chunk => {
    text += chunk
    seen.onBody()
  })
  stream.on('error', error => { failure ??= error })
  stream.on('end', () => {
    isEnded = !isAborted()
    if (isEnded) {
      seen.report(path, 'whole', text)
      answer()
    }
  })
  stream.on('close', () => { if (!isEnded) seen.report(path, 'cut', text, failure) })
}

const listen = async (server, seen) => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, seen, close: () => { (server.compatServer ?? server).destroy?.(); server.close() } }
}
const nodeServer = (tls, http3) => tls ? createSecureServer({ cert, key, allowHTTP1: true, http3 }) : createServer()

export const faces = {
  compat (tls, http3) {
    const seen = new Seen()
    const server = nodeServer(tls, http3)
    server.on('request', (request, response) => {
      response.on('error', () => {})
      watch(seen, request.url, request, () => request.aborted || !request.complete, () => { response.end('answer') })
    })
    return listen(server, seen)
  },
  stream (tls, http3) {
    const seen = new Seen()
    const server = nodeServer(tls, http3)
    server.on('stream', (stream, headers) => {
      watch(seen, headers[':path'], stream, () => stream.aborted, () => {
        stream.respond({ ':status': 200 })
        stream.end('answer')
      })
    })
    return listen(server, seen)
  },
  async serve (tls, http3) {
    const seen = new Seen()
    const server = serve({
      hostname: '127.0.0.1',
      port: 0,
      http3,
      ...(tls ? { tls: { cert, key } } : {}),
      async fetch (request) {
        const path = new URL(request.url).pathname
        let text = ''
        try {
          const decoder = new TextDecoder()
          for await (const chunk of request.body ?? []) {
            text += decoder.decode(chunk, { stream: true })
            seen.onBody()
          }
          seen.report(path, 'whole', text)
        } catch (error) {
          seen.report(path, 'cut', text, error)
        }
        return new Response('answer')
      }
    })
    return { port: server.port, seen, close: () => server.close({ deadlineMs: 0 }) }
  }
}

/** The errors of readers, by the kind of the end and the face. */
const errors = tableWithKinds('Errors of handlers in JavaScript')

/** Asserts that a reader of a face got an error that the table has for the kind of its request's end. */
export function assertError (face, kind, error, about) {
  assertOneOf(errors[kind][face], error, `${kind}, ${about}`)
}

/** Asserts that `error` is one of a cell's: alternatives are parted by " or ", CODE stands for a name or a number, … for any text. */
export function assertOneOf (cell, error, about) {
  const patterns = cell.split(' or ').map(text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('CODE', '\\w+').replaceAll('…', '.*'))
  assert.match(error, new RegExp(`^(${patterns.join('|')})$`), about)
}

/** A server that ends with its test. */
export async function started (t, face, tls, http3) {
  const server = await faces[face](tls, http3)
  t.after(() => server.close())
  return server
}

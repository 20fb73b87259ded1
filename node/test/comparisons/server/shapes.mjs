// The shapes that most programs have: one request, and a server that does one thing with it.
import { once } from 'node:events'
import { cert, closing, key } from './stage.mjs'

/** Programs that do not say it have a server without TLS, unless all of them shall have one. */
const isSecure = more => more.secure ?? process.env.COMPARISONS_SECURE === 'yes'
const make = (http2, more) => isSecure(more)
  ? http2.createSecureServer({ cert, key, ...more.options })
  : http2.createServer(more.options ?? {})

/** `serve` gets each stream; the client says what it saw of `requests`, one after another. */
export const core = (serve, requests = {}, more = {}) => async (http2, t) => {
  const log = t.log('server')
  const server = make(http2, more)
  server.on('stream', (stream, headers, flags, rawHeaders) => {
    serve(stream, { log, t, http2, server, headers, flags, rawHeaders })
  })
  const client = await t.open(server, { secure: isSecure(more), ...more.client })
  for (const request of [requests].flat()) await t.show(client, request)
}

/** `serve` gets each request and its response. */
export const compat = (serve, requests = {}, more = {}) => async (http2, t) => {
  const log = t.log('server')
  const server = make(http2, more)
  server.on('request', (request, response) => { serve(request, response, { log, t, http2, server }) })
  const client = await t.open(server, { secure: isSecure(more), ...more.client })
  for (const request of [requests].flat()) await t.show(client, request)
}

/** `act` gets the server's session when a client of its own has connected; it may return a promise. */
export const session = (act, more = {}) => async (http2, t) => {
  const log = t.log('server')
  const server = make(http2, more)
  server.on('stream', stream => { stream.respond(); stream.end('ok') })
  const opened = new Promise(resolve => { server.once('session', resolve) })
  const client = await t.open(server, { secure: isSecure(more), ...more.client })
  const own = await opened
  if (client.connecting) await once(client, 'connect')
  own.on('error', () => {})
  const over = closing(own)
  await act(own, { log, client, t, http2, server })
  // The client may see the end before the server's session has told all of it.
  if (own.destroyed) await over
}

/** A secure server that speaks HTTP/1.1 too; the client asks by HTTP/1.1. */
export const http1 = (serve, requests = {}, more = {}) => async (http2, t) => {
  const log = t.log('server')
  const server = make(http2, { secure: true, options: { allowHTTP1: true, ...more.options } })
  more.prepare?.(server, { log, t })
  if (serve !== null) server.on('request', (request, response) => { serve(request, response, { log, t, http2, server }) })
  await t.listen(server)
  for (const request of [requests].flat()) await t.ask(server, request)
}

/**
 * Calls that must throw, or not, in a handler of the core API; each is logged, then the stream
 * ends.
 */
export const throwing = calls => core((stream, { log, t, http2 }) => {
  for (const [label, call] of Object.entries(calls)) t.attempt(log, label, () => call(stream, http2))
  if (stream.destroyed) return
  if (!stream.headersSent) stream.respond()
  if (!stream.writableEnded) stream.end()
})

/** As `throwing`, with a response of the compatible API. */
export const responding = calls => compat((request, response, { log, t, http2 }) => {
  for (const [label, call] of Object.entries(calls)) t.attempt(log, label, () => call(response, http2, request))
  if (!response.writableEnded) response.end()
})

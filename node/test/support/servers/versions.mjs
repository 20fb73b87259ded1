// The ways of `servers.mjs`, and HTTP/3, which Node.js has no server for: ours takes its place.
import { once } from 'node:events'
import { createSecureServer } from 'trunkline'
import { cert, key } from '../certificates/certificate.mjs'
import { ways } from './servers.mjs'

/** HTTP/3, by the API of node:http2. */
async function h3 (handler) {
  const counts = { sessions: 0, requests: 0 }
  const server = createSecureServer({ cert, key, http3: true, drainTimeout: 1000 })
  server.on('session', session => {
    counts.sessions++
    session.on('error', () => {})
  })
  server.on('request', (request, response) => {
    counts.requests++
    for (const one of [request, response]) one.on('error', () => {})
    handler(request, response)
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const close = async () => { await new Promise(resolve => { server.close(resolve) }) }
  return { url: `https://localhost:${server.address().port}`, counts, server, close, [Symbol.asyncDispose]: close }
}

export const versions = [...ways, { name: 'h3', serve: h3, options: { connect: { ca: cert }, http3: 'only' } }]

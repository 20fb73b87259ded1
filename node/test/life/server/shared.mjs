// A server of the form given to this process (`serve`, `createServer`, `createSecureServer`) on a
// shared port; it answers with its name.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { createSecureServer, createServer, Response, serve } from 'trunkline'
import { cert, key } from '../../support/certificates/certificate.mjs'

const shares = { sharesPort: true }

/** `{ port, end(deadlineMs) }` */
export async function named (form, name, port = 0) {
  if (form === 'serve') {
    const server = serve({ hostname: '127.0.0.1', port, ...shares, fetch: () => new Response(name) })
    return { port: server.port, end: async deadlineMs => { await server.close({ deadlineMs }) } }
  }
  const answer = (request, response) => { response.end(name) }
  const options = { ...shares, drainTimeout: 1000 }
  const server = form === 'createServer' ? createServer(options, answer) : createSecureServer({ ...options, cert, key, allowHTTP1: true, http3: true }, answer)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, end: async () => { await new Promise(resolve => { server.close(resolve) }) } }
}

/** Asks it over HTTP/1.1: a new connection each time, unless there is an agent. */
export const ask = (form, port, agent = false) => new Promise((resolve, reject) => {
  const module = form === 'createSecureServer' ? https : http
  module.get({ port, host: 'localhost', family: 4, agent, ca: cert }, response => {
    let text = ''
    response.on('data', chunk => { text += chunk }).on('end', () => resolve(text)).on('error', reject)
  }).on('error', reject)
})

export const agentOf = (form, options) => new (form === 'createSecureServer' ? https : http).Agent(options)

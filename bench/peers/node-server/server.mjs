// A server in JavaScript that answers everything with 1 KiB, or with the file that BENCH_FILE names.
//   server.mjs WHOSE FORM h1|h2|h3 PORT [CERTIFICATE KEY]
// WHOSE: trunkline, node, bun. FORM: a name in `listeners`, `core`, `serve`, `static`, `fastify`, `express`.
import { createReadStream, readFileSync } from 'node:fs'

const [, , whose, form, protocol, port, certificate, key] = process.argv
const at = [Number(port), '127.0.0.1']
const tls = certificate === undefined ? undefined : { cert: readFileSync(certificate), key: readFileSync(key) }
const body = Buffer.alloc(1024, 'x')
const head = { 'content-type': 'text/plain' }
/** Connections of a measurement live long. */
const limits = { requestsPerConnectionMax: 1e9 }

/** The compatible API, which is node:http's too. */
const listeners = {
  end (request, response) {
    response.setHeader('content-type', 'text/plain')
    response.end(body)
  },
  head (request, response) {
    response.writeHead(200, { ...head, 'content-length': body.length })
    response.end(body)
  },
  pieces (request, response) {
    response.writeHead(200, head)
    response.write(body.subarray(0, 512))
    response.write(body.subarray(512, 768))
    response.end(body.subarray(768))
  },
  file (request, response) {
    response.writeHead(200, head)
    createReadStream(process.env.BENCH_FILE).pipe(response)
  }
}

/** Node's own or ours, with `listener`. */
async function server (listener) {
  if (whose === 'trunkline') {
    const { createServer, createSecureServer } = await import('../../../node/index.mjs')
    if (tls === undefined) return createServer({ limits }, listener)
    return createSecureServer({ ...tls, limits, allowHTTP1: true, http3: true }, listener)
  }
  if (protocol === 'h1') {
    const { createServer } = await import(tls === undefined ? 'node:http' : 'node:https')
    return createServer({ ...tls }, listener)
  }
  const http2 = await import('node:http2')
  return tls === undefined ? http2.createServer(listener) : http2.createSecureServer(tls, listener)
}

async function express () {
  const { default: express } = await import('express')
  const app = express()
  app.get('/{*path}', (request, response) => { response.type('text/plain').send(body) })
  return app
}

async function fastify () {
  const { default: fastify } = await import('fastify')
  let handle
  const ours = whose === 'trunkline' ? await server((request, response) => { handle(request, response) }) : null
  const app = fastify(ours === null
    ? { http2: protocol !== 'h1', ...(tls && { https: tls }) }
    : { serverFactory: handler => { handle = handler; return ours } })
  app.get('/*', (request, reply) => { reply.type('text/plain').send(body) })
  await app.listen({ port: at[0], host: at[1] })
}

async function serve () {
  const { serve, Response } = await import('../../../node/index.mjs')
  const fixed = new Response(body, { headers: head })
  const fetch = form === 'static' ? () => fixed : () => new Response(body, { headers: head })
  serve({ port: at[0], hostname: at[1], tls, http3: tls !== undefined, limits, fetch })
}

function bun () {
  Bun.serve({
    port: at[0], hostname: at[1], tls, http2: true, http3: tls !== undefined, idleTimeout: 255,
    fetch: () => new Response(body, { headers: head })
  })
}

async function core () {
  const made = await server()
  made.on('stream', stream => {
    stream.respond({ ':status': 200, ...head })
    stream.end(body)
  })
  made.listen(...at)
}

if (whose === 'bun') bun()
else if (form === 'serve' || form === 'static') await serve()
else if (form === 'core') await core()
else if (form === 'fastify') await fastify()
else (await server(form === 'express' ? await express() : listeners[form])).listen(...at)

// Every form in which a program serves with this package: the two APIs of node:http2, `serve`, and the
// frameworks, each with the suite's routes in its own manner where it has one.
import { EventEmitter, once } from 'node:events'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { createSecureServer, createServer, Response as Lean, serve } from 'trunkline'
import { BIG } from './sizes.mjs'
import { coreRoutes } from './core_routes.mjs'
import { listenerOf, nodeRoutes } from './node_routes.mjs'
import { Notes, pathOf } from './notes.mjs'
import { fetchOf, webRoutes } from './web_routes.mjs'

const settings = { maxConcurrentStreams: 1000, enableConnectProtocol: true }
/** The limits that 1,000 streams at once need on HTTP/3, and under `serve`. */
const limits = { concurrentStreamsMax: 1000, runningHandlersMax: 2000, requestStreamsMax: 1000, requestHandlersMax: 2000 }

/** A server of the API of node:http2 for a version. */
function serverOf ({ options }, ...listener) {
  const own = { settings }
  // A listener's rejection becomes a 500, as on servers of node's.
  EventEmitter.captureRejections = true
  try {
    if (options.tls === undefined) return createServer(own, ...listener)
    return createSecureServer({ ...own, ...options.tls, allowHTTP1: true, http3: options.http3 !== undefined }, ...listener)
  } finally {
    EventEmitter.captureRejections = false
  }
}

/** It listens; `end` leaves nothing of it. */
async function listening (server, end = () => {}) {
  let connections = 0
  // A secure server emits `connection` for the bytes below TLS too, as those of node:tls do.
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', () => { connections++ })
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  return {
    port: server.address().port,
    connections: () => connections,
    async end () {
      await end()
      const closed = once(server, 'close')
      server.compatServer.destroy()
      if (server.listening) {
        server.close()
        await closed
      }
    }
  }
}

function anExpress (routes) {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.get('/big', (request, response) => { response.send(BIG) })
  app.get('/five', (request, response) => { response.send('hello') })
  app.get('/empty', (request, response) => { response.sendStatus(204) })
  app.post('/count', express.raw({ type: () => true, limit: '20mb' }), (request, response) => { response.send(String(request.body?.length ?? 0)) })
  app.use((request, response, next) => {
    const route = routes[request.path]
    // Express answers thrown errors and rejections.
    return route === undefined ? next() : route(request, response)
  })
  app.use((error, request, response, next) => { response.status(500).send(error.message) })
  return app
}

function aFastify (routes, version) {
  let server
  const app = fastify({ serverFactory: handler => (server = serverOf(version, handler)), bodyLimit: 20 << 20, exposeHeadRoutes: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, payload, done) => { done(null, payload) })
  app.get('/big', async () => BIG)
  app.get('/five', async () => 'hello')
  app.get('/empty', async (request, reply) => { await reply.code(204).send() })
  app.get('/throws', () => { throw new Error('thrown on purpose') })
  app.get('/rejects', async () => { throw new Error('rejected on purpose') })
  app.post('/echo', (request, reply) => { reply.send(request.raw) })
  app.all('/*', (request, reply) => {
    const route = routes[pathOf(request.url)]
    if (route === undefined) return reply.callNotFound()
    reply.hijack()
    void route(request.raw, reply.raw)
  })
  return { app, ready: async () => { await app.ready(); return server } }
}

function aKoa (routes) {
  const app = new Koa()
  app.on('error', () => {})
  app.use(async context => {
    const { path } = context
    if (path === '/big') context.body = BIG
    else if (path === '/five') context.body = 'hello'
    else if (path === '/empty') context.status = 204
    else if (path === '/echo') context.body = context.req
    else if (path === '/throws' || path === '/rejects') throw new Error('on purpose')
    else if (routes[path] !== undefined) {
      context.respond = false
      context.res.statusCode = 200
      void routes[path](context.req, context.res)
    }
  })
  return app.callback()
}

/** Behaviours that a web Response cannot express come from the layer below it. */
const UNDER_HONO = ['/trailers', '/trailers-before', '/trailers-while', '/trailers-after', '/hints', '/breaks-before', '/breaks-upload', '/secret', '/cut', '/breaks-while']

function aHono (notes, isOnNode) {
  const [web, node] = [webRoutes(notes, globalThis.Response), nodeRoutes(notes)]
  const app = new Hono()
  app.get('/five', context => context.text('hello', 200, { 'content-length': '5' }))
  app.onError((error, context) => context.text(error.message, 500))
  app.all('*', async context => {
    const { path } = context.req
    if (isOnNode && (UNDER_HONO.includes(path) || path === '/head' || path === '/version')) {
      // Hono's server cuts off the rest of a request a moment behind its handler.
      await node[path](context.env.incoming, context.env.outgoing)
      return RESPONSE_ALREADY_SENT
    }
    const route = web[path]
    return route === undefined ? context.notFound() : await route(context.req.raw, context.env)
  })
  return app
}

async function serving (version, fetch) {
  const server = serve({ hostname: '127.0.0.1', ...version.options, limits, error: error => new Lean(error.message, { status: 500 }), fetch })
  let connections = 0
  const { callbacks } = server.listener
  callbacks.onConnection = () => { connections++ }
  return { port: server.port, connections: () => connections, async end () { await server.destroy() } }
}

/** By name: `make(version, notes)` starts a server, `kind` says whose routes it has. */
export const faces = {
  core: {
    kind: 'core',
    async make (version, notes) {
      const server = serverOf(version)
      server.on('stream', coreRoutes(notes, () => version.protocol === 'h3' ? '3.0' : '2.0'))
      return await listening(server)
    }
  },
  compat: {
    kind: 'node',
    make: async (version, notes) => await listening(serverOf(version, listenerOf(nodeRoutes(notes))))
  },
  serve: {
    kind: 'web',
    make: async (version, notes) => await serving(version, fetchOf(webRoutes(notes, Lean), Lean))
  },
  Express: {
    kind: 'node',
    make: async (version, notes) => await listening(serverOf(version, anExpress(nodeRoutes(notes))))
  },
  Fastify: {
    kind: 'node',
    async make (version, notes) {
      const { app, ready } = aFastify(nodeRoutes(notes), version)
      return await listening(await ready(), async () => { void app.close() })
    }
  },
  Koa: {
    kind: 'node',
    make: async (version, notes) => await listening(serverOf(version, aKoa(nodeRoutes(notes))))
  },
  Hono: {
    kind: 'node',
    async make (version, notes) {
      let server
      const { fetch } = aHono(notes, true)
      await new Promise(resolve => {
        serveHono({ fetch, port: 0, hostname: '127.0.0.1', createServer: (options, listener) => (server = serverOf(version, listener)) }, resolve)
      })
      return await listening(server)
    }
  },
  'Hono on serve': {
    kind: 'web',
    async make (version, notes) {
      const { fetch } = aHono(notes, false)
      return await serving(version, (request, info) => fetch(request, info))
    }
  }
}

/** `work` gets the URL and the port of a server of its own. */
export async function withServer (face, version, work) {
  const server = await faces[face].make(version, new Notes())
  try {
    const scheme = version.options.tls === undefined ? 'http' : 'https'
    await work(`${scheme}://localhost:${server.port}`, server.port)
  } finally {
    await server.end()
  }
}

// A server whose certificate no authority has signed.
import { fetch, request, Response, serve } from 'trunkline'
import { mistake } from './print.mjs'

const server = serve({ port: 0, hostname: '127.0.0.1', tls: 'self-signed', fetch: () => new Response('hello') })
await mistake(() => request(`https://localhost:${server.port}/`))
await mistake(() => fetch(`https://localhost:${server.port}/`))
await server.stop(true)

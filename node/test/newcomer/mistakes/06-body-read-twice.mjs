// A body that was read already: of a response, of `fetch`, and of a server's request.
import { fetch, request, Response, serve } from 'trunkline'
import { mistake } from './print.mjs'

const server = serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch (request) {
    await request.text()
    await mistake(() => request.json())
    return new Response('hello')
  }
})
const { body } = await request(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: '{}' })
await body.text()
await mistake(() => body.json())
const response = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: '{}' })
await response.text()
await mistake(() => response.text())
await server.stop(true)

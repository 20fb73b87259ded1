// A server that never answers, a signal that ends the request, and a queue that does not move.
import { Agent, request, Response, serve } from 'trunkline'
import { mistake } from './print.mjs'

const server = serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch ({ signal }) {
    await new Promise(resolve => { signal.onabort = resolve })
    return new Response('too late')
  }
})
const url = `http://127.0.0.1:${server.port}/`
await mistake(() => request(url, { headersTimeout: 200 }))
await mistake(() => request(url, { signal: AbortSignal.timeout(200) }))
const agent = new Agent({ connections: 1, queueTimeout: 200 })
const first = request(url, { dispatcher: agent, headersTimeout: 60_000 }).catch(() => {})
await mistake(() => request(url, { dispatcher: agent }))
await agent.destroy()
await first
await server.stop(true)

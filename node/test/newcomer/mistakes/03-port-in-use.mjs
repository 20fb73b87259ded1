// Two servers at one port.
import { once } from 'node:events'
import { createServer, Response, serve } from 'trunkline'
import { mistake } from './print.mjs'

const fetch = () => new Response('hello')
const server = serve({ port: 0, hostname: '127.0.0.1', fetch })
await mistake(() => serve({ port: server.port, hostname: '127.0.0.1', fetch }))
const second = createServer().listen(server.port, '127.0.0.1')
await mistake(async () => { throw (await once(second, 'error'))[0] })
await server.stop(true)

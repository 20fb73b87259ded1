// A proxy that is not there, and one that wants credentials.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { ProxyAgent, request } from 'trunkline'
import { mistake } from './print.mjs'

const proxy = createServer((_, response) => response.writeHead(407, { connection: 'close' }).end()).listen(0, '127.0.0.1')
proxy.on('connect', (_, socket) => { socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n') })
await once(proxy, 'listening')
const { port } = proxy.address()
await mistake(() => request('https://example.org/', { dispatcher: new ProxyAgent(`http://127.0.0.1:${port}`) }))
proxy.closeAllConnections()
proxy.close()
await once(proxy, 'close')
await mistake(() => request('https://example.org/', { dispatcher: new ProxyAgent(`http://127.0.0.1:${port}`) }))

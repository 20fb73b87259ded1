// A process that exits in the middle of being asked.
import http from 'node:http'
import { Response, serve } from 'trunkline'

const server = serve({ hostname: '127.0.0.1', fetch: () => new Response('x'.repeat(20_000)) })
const agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
let answered = 0
const ask = () => {
  const request = http.get({ port: server.port, host: '127.0.0.1', agent }, response => {
    response.resume().on('end', ask)
    if (answered++ === 500) process.exit(7)
  })
  request.on('error', () => {})
}
for (let count = 0; count < 50; count++) ask()

// A process of its own that leaves a connection of a connector open, and ends all the same.
import http from 'node:http'
import net from 'node:net'
import { Agent } from 'trunkline'

const server = http.createServer({ keepAliveTimeout: 600_000 }, (request, response) => { response.end(request.method) })
server.listen(0, '127.0.0.1', async () => {
  const agent = new Agent({ connect: (options, callback) => { const socket = net.connect(server.address().port, '127.0.0.1', () => { callback(null, socket) }) } })
  server.on('connection', socket => { socket.unref() })
  const { statusCode, body } = await agent.request({ origin: 'http://localhost', path: '/', method: 'GET' })
  console.log(statusCode, await body.text())
  server.unref()
})

// A socket behind an upgrade holds the process as a socket of Node.js does: not where it was unreferenced.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { Agent } from 'trunkline'

const server = createServer()
server.on('upgrade', (request, socket) => {
  socket.unref()
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n')
  if (request.url === '/held') setTimeout(() => { socket.end() }, 50).unref()
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
server.unref()
server.on('connection', socket => { socket.unref() })
const agent = new Agent()
const origin = `http://127.0.0.1:${server.address().port}`
const { socket: held } = await agent.upgrade({ origin, path: '/held' })
held.unref().ref().resume()
await once(held, 'close')
console.log('held')
const { socket } = await agent.upgrade({ origin, path: '/' })
socket.unref().unref().ref().unref()

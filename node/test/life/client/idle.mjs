import { createServer } from 'node:http'
import { once } from 'node:events'
import { Agent, request } from 'trunkline'

const server = createServer((request, response) => { setTimeout(() => response.end('x'), 300) })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
server.unref()
server.on('connection', socket => socket.unref())
const dispatcher = new Agent()
const answer = await request(`http://127.0.0.1:${server.address().port}/`, { dispatcher })
await answer.body.text()
console.log('answered after 300 ms')

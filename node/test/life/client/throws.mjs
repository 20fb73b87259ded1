import { createServer } from 'node:http'
import { once } from 'node:events'
import { Agent, request } from 'trunkline'

const server = createServer((request, response) => response.end('x'))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const dispatcher = new Agent()
const url = `http://127.0.0.1:${server.address().port}/`
const received = once(process, 'uncaughtException')
request(url, { dispatcher }, () => { throw new Error('from the callback') })
const [error] = await received
console.log(`heard: ${error.message}`)
await (await request(url, { dispatcher })).body.text()
console.log('still works')
server.close()
server.closeAllConnections()

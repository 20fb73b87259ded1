import { createServer } from 'node:http'
import { once } from 'node:events'
import { Agent, request } from 'trunkline'

const server = createServer((request, response) => response.end('x'.repeat(20_000)))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const dispatcher = new Agent({ connections: 20 })
const url = `http://127.0.0.1:${server.address().port}/`
let answered = 0
const loop = async () => {
  for (;;) {
    await (await request(url, { dispatcher })).body.text()
    if (answered++ === 500) process.exit(7)
  }
}
for (let count = 0; count < 50; count++) loop().catch(() => {})

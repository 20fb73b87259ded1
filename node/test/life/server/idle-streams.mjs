// A process of its own that leaves connections open over streams in memory, which nothing of the system's is below, and
// ends all the same. Each request comes in several turns, so that bytes are submitted behind others that are not read yet.
import { http2 } from 'trunkline'
import { pairOf } from '../../support/clients/carried.mjs'

const COUNT = 20
const server = http2.createServer((request, response) => { response.end('answered') })
let answered = 0
for (let at = 0; at < COUNT; at++) {
  const [own, other] = pairOf()
  server.emit('connection', other)
  let text = ''
  own.on('data', piece => {
    text += piece
    if (text.endsWith('answered') && ++answered === COUNT) console.log(`${answered} answered`)
  })
  const pieces = ['GET / HTTP/1.1\r\n', 'host: a\r\n', 'x-a: b\r\n', '\r\n']
  const send = () => {
    own.write(pieces.shift())
    if (pieces.length > 0) process.nextTick(() => { process.nextTick(send) })
  }
  send()
}

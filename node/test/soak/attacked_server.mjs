// The server to be attacked, with default settings: `/bytes/N` is answered with N bytes, made as they go out; anything
// else is read to its end and answered with a kilobyte. Part of `make attacks`; it ends with its standard input.
// node attacked_server.mjs [streams]
// Prints its address. `streams`: the connections are streams made in JavaScript, given to it by 'connection'.
import { once } from 'node:events'
import net from 'node:net'
import http2 from '../../dist/http2/module.js'
import { around } from './attacked_streams.mjs'

/** One for all answers, so that the memory of the process is the server's. */
const PIECE = Buffer.alloc(16 * 1024, 'x')

function send (response, left) {
  const write = () => {
    while (left > 0) {
      const piece = PIECE.subarray(0, left)
      left -= piece.length
      if (left > 0 && !response.write(piece)) return
      if (left === 0) response.end(piece)
    }
  }
  response.on('drain', write)
  write()
}

const server = http2.createServer((request, response) => {
  request.on('error', () => {})
  response.on('error', () => {})
  const wanted = /^\/bytes\/(\d+)$/.exec(request.url)
  if (wanted !== null) return send(response, Number(wanted[1]))
  request.resume().on('end', () => { response.end('x'.repeat(1024)) })
})
server.on('sessionError', () => {})
const listening = process.argv[2] === 'streams' ? net.createServer(socket => { server.emit('connection', around(socket)) }) : server
listening.listen(0, '127.0.0.1')
await once(listening, 'listening')
console.log(`127.0.0.1:${listening.address().port}`)
process.stdin.on('end', () => { process.exit() }).resume()

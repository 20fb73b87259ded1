// A stream made in JavaScript around a socket, for the runs of `make attacks` whose connections go through one.
import { Duplex } from 'node:stream'

/** The socket's bytes in both directions, with its limits on what waits in each. */
export function around (socket) {
  const stream = new Duplex({
    read () { socket.resume() },
    write (chunk, encoding, done) { socket.write(chunk, done) },
    final (done) { socket.end(done) },
    destroy (error, done) {
      socket.destroy()
      done(error)
    }
  })
  socket.on('data', chunk => { if (!stream.push(chunk)) socket.pause() })
  socket.on('end', () => { stream.push(null) })
  socket.on('error', error => { stream.destroy(error) })
  socket.on('close', () => { stream.destroy() })
  stream.on('error', () => {})
  return stream
}

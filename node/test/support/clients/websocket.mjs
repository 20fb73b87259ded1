// WebSockets that echo, at the server and through a client's WebSocket.
import { createHash } from 'node:crypto'
import { once } from 'node:events'

/** Keeps the process alive: pauses of undici's own are unref'd. */
export const awake = async work => {
  const timer = setInterval(() => {}, 1000)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

/** A server of WebSockets that echoes text of less than 126 bytes: over an upgrade, or a stream. */
export function echoFrames (stream) {
  let held = Buffer.alloc(0)
  stream.on('error', () => {})
  stream.on('data', chunk => {
    held = Buffer.concat([held, chunk])
    while (held.length >= 6 && held.length >= 6 + (held[1] & 127)) {
      const length = held[1] & 127
      const mask = held.subarray(2, 6)
      const text = Buffer.from(held.subarray(6, 6 + length).map((byte, at) => byte ^ mask[at % 4]))
      const opcode = held[0] & 15
      held = held.subarray(6 + length)
      stream.write(Buffer.concat([Buffer.from([128 | opcode, length]), text]))
      if (opcode === 8) stream.end()
    }
  })
}

/** On the sockets of upgrades. */
export function echoUpgrades (server) {
  server.server.on('upgrade', (request, socket) => {
    const key = request.headers['sec-websocket-key']
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    socket.write(`HTTP/1.1 101 go\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`)
    echoFrames(socket)
  })
}

/** Two texts there and back, then the end: all that was heard. */
export async function echoed (WebSocket, url, dispatcher) {
  const socket = new WebSocket(url, { dispatcher })
  const failed = once(socket, 'error').then(([event]) => { throw event.error ?? new Error('failed') })
  failed.catch(() => {})
  await awake(Promise.race([once(socket, 'open'), failed]))
  const received = []
  for (const text of ['one', 'two']) {
    socket.send(text)
    const [{ data }] = await awake(once(socket, 'message'))
    received.push(data)
  }
  socket.close(1000, 'enough')
  const [{ code, reason }] = await awake(once(socket, 'close'))
  return [...received, code, reason]
}

// Frames of HTTP/2 by hand, and the codes that end a stream or a connection.

export const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY] = [0, 1, 3, 4, 6, 7]
export const [END_STREAM, END_HEADERS] = [1, 4]
export const REFUSED_STREAM = 7
export const HTTP_1_1_REQUIRED = 13
/** Every code of RFC 9113 section 7, and one that it does not know. */
export const codes = Array.from({ length: 15 }, (_, code) => code)

/** One frame. */
export function frame (kind, flags, stream, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.set([kind, flags], 3)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Numbers of 32 bits, as the payloads of RST_STREAM and GOAWAY have them. */
export function numbers (...values) {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, at) => bytes.writeUInt32BE(value, 4 * at))
  return bytes
}

/** A PING of another length than eight bytes, which costs the connection (RFC 9113 section 6.7). */
export const malformed = frame(PING, 0, 0, Buffer.from('short'))

/** Reads frames; `onRequest(stream)` when a request is complete. */
export function serveFrames (socket, onRequest) {
  let received = Buffer.alloc(0)
  let isBegun = false
  socket.on('data', chunk => {
    received = Buffer.concat([received, chunk])
    if (!isBegun) {
      if (received.length < 24) return
      received = received.subarray(24)
      isBegun = true
      socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)))
    }
    while (received.length >= 9) {
      const length = received.readUIntBE(0, 3)
      if (received.length < 9 + length) return
      const [kind, flags, stream] = [received[3], received[4], received.readUInt32BE(5)]
      received = received.subarray(9 + length)
      if (kind === SETTINGS && flags === 0) socket.write(frame(SETTINGS, 1, 0, Buffer.alloc(0)))
      if ((kind === DATA || kind === HEADERS) && (flags & END_STREAM) !== 0) onRequest(stream)
    }
  })
}

// Frames of HTTP/2 by hand, and the codes that end a stream or a connection.

export const [DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY] = [0, 1, 3, 4, 7]
export const [END_STREAM, END_HEADERS] = [1, 4]
export const REFUSED_STREAM = 7
export const HTTP_1_1_REQUIRED = 13
/** Every code of RFC 9113 section 7, and one that it does not know. */
export const codes = Array.from({ length: 15 }, (_, code) => code)

/** One frame. */
export function frame (kind, flags, stream, payload) {
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

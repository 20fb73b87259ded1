// WebSockets spoken frame by frame on a stream of any version: by `upgrade` of our dispatcher, which is extended CONNECT on
// HTTP/2 and HTTP/3.
import { randomBytes } from 'node:crypto'
import { Agent } from 'trunkline'
import { cert } from '../support/certificates/certificate.mjs'

const OF_VERSION = { h1: { allowH2: false }, h2: {}, h3: { http3: 'only' } }

/** A masked frame of at most 125 bytes. */
function frame (opcode, text) {
  const mask = randomBytes(4)
  const payload = Buffer.from(text).map((byte, at) => byte ^ mask[at % 4])
  return Buffer.concat([Buffer.from([128 | opcode, 128 | payload.length]), mask, payload])
}

/** The texts of the frames in `held` that are whole, and what is left. */
function split (held) {
  const frames = []
  for (;;) {
    const short = held[1] & 127
    const from = short === 126 ? 4 : 2
    if (held.length < from) break
    const length = short === 126 ? held.readUInt16BE(2) : short
    if (held.length < from + length) break
    const payload = held.subarray(from, from + length)
    frames.push((held[0] & 15) === 8 ? `close ${payload.subarray(0, 2).toString('hex')}` : payload.toString())
    held = held.subarray(from + length)
    if (held.length < 2) break
  }
  return [frames, held]
}

/** Opens a WebSocket; `talk` gets `send(text)` and `next()`, and gives the outcome. */
export async function overWebSocket (version, port, path, headers, talk) {
  const agent = new Agent({ ...OF_VERSION[version], connect: { ca: cert } })
  try {
    const { socket, headers: answered } = await agent.upgrade({
      origin: `https://localhost:${port}`,
      path,
      protocol: 'websocket',
      headers: { 'sec-websocket-version': '13', 'sec-websocket-key': randomBytes(16).toString('base64'), ...headers }
    })
    const arrived = []
    let [held, wake] = [Buffer.alloc(0), () => {}]
    socket.on('data', chunk => {
      let frames
      ;[frames, held] = split(Buffer.concat([held, chunk]))
      arrived.push(...frames)
      wake()
    })
    socket.on('error', error => { arrived.push(String(error.code)); wake() })
    socket.on('close', () => { arrived.push('closed'); wake() })
    socket.on('end', () => { arrived.push('end'); wake() })
    const next = async () => {
      while (arrived.length === 0) await new Promise(resolve => { wake = resolve })
      return arrived.shift()
    }
    const close = (code = 1000) => {
      const bytes = Buffer.alloc(2)
      bytes.writeUInt16BE(code)
      socket.write(frame(8, bytes))
    }
    const outcome = await talk({ send: text => { socket.write(frame(1, text)) }, close, next })
    return { protocol: answered['sec-websocket-protocol'] ?? null, outcome }
  } finally {
    await agent.destroy()
  }
}

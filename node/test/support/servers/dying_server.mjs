// A server in a process of its own: says its port, answers its first request with the bytes that it is given, says so,
// and waits to be killed. Run by client/requests/ends.test.mjs.
import { cert, key } from '../certificates/certificate.mjs'
import { SETTINGS, frame, serveFrames } from './h2_frames.mjs'
import { listening, serveMessages } from './wire.mjs'

const [protocol, security, bytes] = process.argv.slice(2)
const sent = Buffer.from(bytes, 'hex')
// Even nothing is written, so that the end comes behind the request.
const nothing = protocol === 'h2' ? frame(SETTINGS, 0, 0, Buffer.alloc(0)) : Buffer.from('\r\n')
const { url } = await listening(security === 'tls' ? { cert, key } : undefined, protocol, ({ socket }) => {
  const serve = protocol === 'h2' ? serveFrames : serveMessages
  serve(socket, () => { socket.write(sent.length === 0 ? nothing : sent, () => { process.stdout.write('played\n') }) })
})
// The end of its parent ends it too.
process.stdin.resume().on('end', () => { process.exit() })
process.stdout.write(`${new URL(url).port}\n`)

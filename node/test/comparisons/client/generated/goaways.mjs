// GOAWAY on every connection x its code x how far the answer is x what follows x method: the request fails as with undici where it is sent no
// more.
import tls from 'node:tls'
import { cert, key } from '../../../support/certificates/certificate.mjs'
import { DATA, END_HEADERS, GOAWAY, HEADERS, SETTINGS, frame, numbers, serveFrames } from '../../../support/servers/h2_frames.mjs'

const OK = Buffer.from([0x88])
const CODES = { NO_ERROR: 0, INTERNAL_ERROR: 2, ENHANCE_YOUR_CALM: 11 }
/** Frames of an answer in front of the GOAWAY, which names no stream. */
const BEFORE = {
  nothing: () => [],
  'the head': stream => [frame(HEADERS, END_HEADERS, stream, OK)],
  'a piece of the body': stream => [frame(HEADERS, END_HEADERS, stream, OK), frame(DATA, 0, stream, Buffer.from('piece'))]
}
const BEHIND = { nothing: () => {}, 'the end': socket => { socket.end() } }
const METHODS = { GET: null, POST: 'a body' }

const programs = {}
for (const [name, code] of Object.entries(CODES)) {
  for (const [before, framesOf] of Object.entries(BEFORE)) {
    for (const [behind, act] of Object.entries(BEHIND)) {
      // The end of a connection whose answer has begun may come in front of what the GOAWAY says.
      if (before !== 'nothing' && behind === 'the end') continue
      for (const [method, body] of Object.entries(METHODS)) {
        programs[`${name} behind ${before}, then ${behind}: ${method}`] = async (module, t) => {
          const server = tls.createServer({ cert, key, ALPNProtocols: ['h2'] }, socket => {
            socket.on('error', () => {})
            socket.write(frame(SETTINGS, 0, 0))
            serveFrames(socket, stream => {
              socket.write(Buffer.concat([...framesOf(stream), frame(GOAWAY, 0, 0, numbers(0, code))]), () => { act(socket) })
            })
          })
          await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
          t.closers.push(() => { server.close() })
          const client = t.own(new module.Client(`https://localhost:${server.address().port}`, { allowH2: true, connect: { ca: cert } }))
          await t.settle(t.log('client'), 'answer', client.request({ path: '/', method, body }).then(answer => answer.body.text()))
        }
      }
    }
  }
}
export default programs

// Values that no field may have (RFC 9113 section 8.2.1, RFC 9110 section 5.5), of a server that sends frames: in each
// part of a response.
import { END_HEADERS, END_STREAM, HEADERS, frame, serveFrames } from '../../../support/servers/h2_frames.mjs'
import { closing } from '../stage.mjs'

const VALUES = { 'a blank in front': ' v', 'a blank behind': 'v ', 'a tab behind': 'v\t', 'blanks alone': ' \t', 'a control character': 'a\x01b', 'a deletion': 'a\x7f', 'a line break': 'a\nb', 'a byte above 127': 'a\xe9' }
const NAMES = ['x-odd', 'content-type', 'set-cookie']
const literal = (name, value) => Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value, 'latin1')])
const status = code => literal(':status', code)
/** The frames of a response on a stream, with these fields in one of its parts. */
const PARTS = {
  'the response': (stream, fields) => [frame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.concat([status('200'), fields]))],
  'an interim head': (stream, fields) => [frame(HEADERS, END_HEADERS, stream, Buffer.concat([status('103'), fields])), frame(HEADERS, END_HEADERS | END_STREAM, stream, status('200'))],
  trailers: (stream, fields) => [frame(HEADERS, END_HEADERS, stream, status('200')), frame(HEADERS, END_HEADERS | END_STREAM, stream, fields)]
}

const programs = {}
for (const [part, framesOf] of Object.entries(PARTS)) {
  for (const name of NAMES) {
    for (const [label, value] of Object.entries(VALUES)) {
      programs[`${part}, ${name} with ${label}`] = async ({ connect }, t) => {
        const fields = Buffer.concat([literal('x-before', '1'), literal(name, value), literal('x-behind', '2')])
        const url = await t.serveRaw(socket => { serveFrames(socket, stream => { socket.write(Buffer.concat(framesOf(stream, fields))) }) })
        const session = t.open(connect, url)
        await t.watch(session.request())
        session.destroy()
        await closing(session)
      }
    }
  }
}
export default programs

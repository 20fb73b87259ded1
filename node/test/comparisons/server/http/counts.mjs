// Heads of many fields: how many x how long each is x the bounds of the server.
import { CLOSE, HOST, raw } from '../wire.mjs'

const COUNTS = [100, 900, 997, 998, 1500, 1997, 1998, 4000]
/** Characters of a name and its value together. */
const LENGTHS = { short: 2, usual: 8, long: 15 }
const BOUNDS = { 'no bound': undefined, 'maxHeadersCount 10': 10, 'maxHeadersCount 2000': 2000, 'maxHeadersCount 0': 0 }

/** Names of their own are of letters alone. */
const nameOf = (at, length) => at.toString(26).replace(/[0-9]/g, digit => 'qrstuvwxyz'[digit]).padStart(length, 'a')
const head = (count, length) => {
  let text = `GET /a HTTP/1.1\r\n${HOST}${CLOSE}`
  for (let at = 0; at < count; at++) text += length === 2 ? 'a:b\r\n' : `${nameOf(at, length - 1)}: b\r\n`
  return `${text}\r\n`
}

const refused = (server, log) => { server.once('clientError', (error, socket) => { log(error.code); socket.destroy() }).on('clientError', () => {}) }

const programs = {}
for (const count of COUNTS) {
  for (const [how, length] of Object.entries(LENGTHS)) {
    for (const [bound, most] of Object.entries(BOUNDS)) {
      programs[`${count} ${how} fields, ${bound}`] = raw((server, { log }) => {
        if (most !== undefined) server.maxHeadersCount = most
        refused(server, log)
        server.on('request', (request, response) => { log(request.rawHeaders.length); response.end('ok') })
      }, head(count, length))
    }
  }
}
/** `/a`, and names and values beside the long one. */
const BESIDE = 2 + 'hostlocalhostconnectionclosex-a'.length
for (const size of [8192, 16_384]) {
  for (const more of [-1, 0, 1]) {
    programs[`a head of ${size}${more < 0 ? '' : '+'}${more} bytes`] = raw((server, { log }) => {
      refused(server, log)
      server.on('request', (request, response) => { log(request.headers['x-a'].length); response.end('ok') })
    }, `GET /a HTTP/1.1\r\n${HOST}${CLOSE}x-a: ${'v'.repeat(size + more - BESIDE)}\r\n\r\n`, { options: { maxHeaderSize: size } })
  }
}
export default programs

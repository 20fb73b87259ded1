// Request smuggling, judged by a second parser: generated connections go to this server and to node:http,
// whose parser is llhttp. Where both take requests they must take the same ones; where one takes more, it must
// not be ours. `TRUNKLINE_SEED=n` replays a case, `TRUNKLINE_CASES=n` tries more.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createJudge, METHODS } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'

const CASES = Number(process.env.TRUNKLINE_CASES ?? 1500)
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n'

/** xorshift32: a case is its seed. */
function generator (seed) {
  let state = (Math.imul(seed, 0x9e3779b9) | 1) >>> 0
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  for (let warm = 0; warm < 8; warm++) next()
  return { below: end => next() % end, oneOf: all => all[next() % all.length], chance: of => next() % of === 0 }
}

const LINES = ['POST / HTTP/1.1', 'GET / HTTP/1.1', 'POST /b HTTP/1.1', 'PUT / HTTP/1.0', 'POST http://a/ HTTP/1.1', 'GET /  HTTP/1.1', 'POST / HTTP/1.2', ' GET / HTTP/1.1', 'POST /\tHTTP/1.1', 'GET / http/1.1']
// Without a tab behind the number, which RFC 9110 section 5.6.3 allows and llhttp refuses.
const LENGTHS = ['content-length: 4', 'Content-Length: 4', 'content-length:4', 'content-length: 04', 'content-length: +4', 'content-length: 4, 4', 'content-length: 4,5', 'content-length: 0x4', 'content-length: 4 4', 'content-length : 4', 'content-length: -1', 'content-length: 99999999999999999999', 'content-length: ', ' content-length: 4', 'content-length\x0b: 4', 'content_length: 4', `content-length: ${SMUGGLED.length}`]
const CODINGS = ['transfer-encoding: chunked', 'Transfer-Encoding: Chunked', 'transfer-encoding:chunked', 'transfer-encoding : chunked', 'transfer-encoding: chunked, identity', 'transfer-encoding: identity, chunked', 'transfer-encoding: chunked, chunked', 'transfer-encoding: xchunked', 'transfer-encoding: gzip, chunked', 'transfer-encoding: "chunked"', 'transfer-encoding: chunked\x0b', 'transfer-encoding: chunked;q=1', 'transfer-encoding: ', 'transfer-encoding:\r\n chunked', 'transfer-encoding\x00: chunked', 'x: y\r\n transfer-encoding: chunked', 'transfer-encoding: identity']
const OTHERS = ['x: y', 'connection: close', 'connection: keep-alive', 'connection: content-length', 'connection: transfer-encoding', 'expect: 100-continue', 'host: b', 'x: a\rb', 'x: a\nb: c', 'x\x00: y', ': y', 'x', 'te: trailers', 'upgrade: h2c', 'x:\x7f', 'x: \xff']
const ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\n\r\n']
const SIZES = ['4', '04', '4;x', '4;x=y', '4;x="\r\n"', '4 ', ' 4', '0x4', '+4', '4\t', '0', '00', 'fffffffffffffffff', '4;\n', '4\r', '-4', '', '4g', SMUGGLED.length.toString(16)]
const PIECES = ['body', '0\r\n\r\n', '', SMUGGLED, 'bod', 'body\r\n']

function chunks (random) {
  let text = ''
  for (let count = random.below(3); count > 0; count--) {
    text += random.oneOf(SIZES) + (random.chance(6) ? random.oneOf(ENDS) : '\r\n')
    text += random.oneOf(PIECES) + (random.chance(6) ? random.oneOf(ENDS) : '\r\n')
  }
  return text + random.oneOf(['0\r\n\r\n', '0\r\n\r\n', '0\r\nx: y\r\n\r\n', '0\r\ncontent-length: 9\r\n\r\n', '0\n\n', '0\r\n', '', '0;x\r\n\r\n', '00\r\n\r\n'])
}

function message (random) {
  const end = () => random.chance(12) ? random.oneOf(ENDS) : '\r\n'
  let text = (random.chance(3) ? random.oneOf(LINES) : LINES[0]) + end()
  const fields = ['host: a']
  // One thing that is odd is more often understood than three.
  const odd = random.below(3)
  if (random.chance(2)) fields.push(odd === 0 ? random.oneOf(LENGTHS) : LENGTHS[0])
  if (random.chance(2)) fields.push(odd === 1 ? random.oneOf(CODINGS) : CODINGS[0])
  if (random.chance(3)) fields.push(odd === 2 ? random.oneOf(OTHERS) : OTHERS[0])
  if (random.chance(8)) fields.push(random.oneOf(LENGTHS))
  if (random.chance(8)) fields.push(random.oneOf(CODINGS))
  if (random.chance(2)) fields.reverse()
  for (const field of fields) text += field + end()
  text += random.chance(12) ? random.oneOf(ENDS) : '\r\n'
  return text + (random.chance(2) ? chunks(random) : random.oneOf(PIECES))
}

function input (seed) {
  const random = generator(seed)
  let text = ''
  for (let count = 1 + random.below(2); count > 0; count--) text += message(random)
  return text + SMUGGLED
}

/** A server and what it takes of one connection after the other. */
async function taker (make) {
  let taken = []
  const server = make((request, response) => {
    const own = { line: `${request.method} ${request.url}`, body: null }
    taken.push(own)
    const pieces = []
    request.setEncoding('latin1')
    request.on('data', piece => pieces.push(piece))
    request.on('error', () => {})
    request.on('end', () => {
      if (request.complete) own.body = pieces.join('')
      response.end()
    })
  })
  server.on('clientError', (_, socket) => { socket.destroy() })
  server.on('checkContinue', (request, response) => { server.emit('request', request, response) })
  // Its end is not that of its requests.
  server.httpAllowHalfOpen = true
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  return {
    /** The requests that came whole, in their order. */
    async take (bytes) {
      taken = []
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => {})
      socket.resume()
      socket.end(bytes, 'latin1')
      await once(socket, 'close')
      const whole = taken
      const end = whole.findIndex(({ body }) => body === null)
      return (end === -1 ? whole : whole.slice(0, end)).map(({ line, body }) => `${line} ${JSON.stringify(body)}`)
    },
    close () { server.close() }
  }
}

test('no request is taken by this server that llhttp does not take at the same place', async t => {
  const judge = await taker(listener => createJudge({ insecureHTTPParser: false }, listener))
  const ours = await taker(listener => createServer({}, listener))
  t.after(() => { judge.close(); ours.close() })
  const one = process.env.TRUNKLINE_SEED
  const seeds = one === undefined ? Array.from({ length: CASES }, (_, seed) => seed) : [Number(one)]
  let same = 0
  const different = []
  for (const seed of seeds) {
    const bytes = input(seed)
    const [theirs, own] = await Promise.all([judge.take(bytes), ours.take(bytes)])
    // llhttp knows a list of methods; to us any token is one, which changes no boundary.
    const strange = own.findIndex(request => !METHODS.includes(request.slice(0, request.indexOf(' '))))
    if (strange !== -1) own.length = strange
    // We may refuse what llhttp takes; what we take it takes, as we do.
    const isPrefix = own.every((request, at) => request === theirs[at])
    if (!isPrefix) different.push({ seed, bytes, theirs, own })
    else if (own.length === theirs.length && own.length > 0) same++
  }
  for (const { seed, bytes, theirs, own } of different.slice(0, 5)) {
    console.error(`TRUNKLINE_SEED=${seed}\n${JSON.stringify(bytes)}\nllhttp ${JSON.stringify(theirs)}\nours   ${JSON.stringify(own)}`)
  }
  assert.equal(different.length, 0)
  assert.ok(same > seeds.length / 20 || one !== undefined, `${same} cases were taken by both`)
})

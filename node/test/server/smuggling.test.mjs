// Request smuggling, judged by a second parser: generated connections go to this server and to node:http,
// whose parser is llhttp. Where both take requests they must take the same ones; where one takes more, it must
// not be ours. `TRUNKLINE_SEED=n` replays a case, `TRUNKLINE_CASES=n` tries more.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createJudge, METHODS } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { createServer } from 'trunkline'
import { generator, maker } from '../support/generated/messages.mjs'

const CASES = Number(process.env.TRUNKLINE_CASES ?? 1500)
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n'

const LINES = ['POST / HTTP/1.1', 'GET / HTTP/1.1', 'POST /b HTTP/1.1', 'PUT / HTTP/1.0', 'POST http://a/ HTTP/1.1', 'GET /  HTTP/1.1', 'POST / HTTP/1.2', ' GET / HTTP/1.1', 'POST /\tHTTP/1.1', 'GET / http/1.1']
const OTHERS = ['x: y', 'connection: close', 'connection: keep-alive', 'connection: content-length', 'connection: transfer-encoding', 'expect: 100-continue', 'host: b', 'x: a\rb', 'x: a\nb: c', 'x\x00: y', ': y', 'x', 'te: trailers', 'upgrade: h2c', 'x:\x7f', 'x: \xff']
const message = maker(LINES, OTHERS, SMUGGLED)

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

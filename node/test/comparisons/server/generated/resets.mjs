// A client that resets its stream: the answer x whether it has ended its request x the reader of the request x the code x the API.
// The events of each object that say how it ended; not those of finish and end, which are chance where bytes are on their way.
import { once } from 'node:events'
import { constants } from 'node:http2'
import { turns } from '../../sides.mjs'

const PIECE = Buffer.alloc(30_000)
const small = to => { to.write('x') }
/** More than the client's window. */
const large = to => { for (let piece = 0; piece < 10; piece++) to.write(PIECE) }
const ANSWERS = {
  'a head alone': () => {},
  'a piece': small,
  'an answer that has ended': to => { to.end('x') },
  'an answer that waits': large,
  'an answer that waits and has ended': to => { large(to); to.end() },
  'a piece that waits and is the last': to => { to.end(Buffer.alloc(300_000)) }
}
const READERS = {
  'no reader': () => {},
  'a reader': from => { from.resume() },
  'a reader that pauses': from => { from.once('data', () => { from.pause() }) }
}
const BODIES = { 'no body': [], 'a body': [Buffer.alloc(1000)], 'a body that has ended': [Buffer.alloc(1000), 'end'] }
const CODES = { 'without an error': constants.NGHTTP2_NO_ERROR, CANCEL: constants.NGHTTP2_CANCEL, INTERNAL_ERROR: constants.NGHTTP2_INTERNAL_ERROR }
const APIS = {
  compatible: (request, response) => [request, response],
  streams: ({ stream }) => [stream, stream]
}

const reset = (answer, read, body, code, api) => async (http2, t) => {
  const logs = { stream: t.log('stream'), request: t.log('request'), response: t.log('response') }
  let stream
  const server = http2.createServer((request, response) => {
    ({ stream } = request)
    for (const [name, emitter] of Object.entries({ stream, request, response })) {
      for (const event of ['aborted', 'close']) emitter.on(event, () => { logs[name](event) })
      emitter.on('error', error => { logs[name]('error', error.code) })
    }
    const [from, to] = api(request, response)
    if (to === stream) stream.respond({ ':status': 200 })
    else response.writeHead(200)
    if (to !== stream) response.flushHeaders()
    read(from)
    answer(to)
  })
  const client = await t.open(server)
  await once(client, 'remoteSettings')
  const asked = client.request({ ':method': body.length > 0 ? 'POST' : 'GET' }, { endStream: body.length === 0 })
  asked.on('error', () => {})
  if (body.length > 0) asked.write(body[0])
  if (body.length > 1) asked.end()
  await once(asked, 'response')
  await new Promise(resolve => { client.ping(resolve) })
  asked.close(code)
  await new Promise(resolve => { client.ping(resolve) })
  // An end that comes does so within these.
  for (let round = 0; round < 50 && !stream.closed; round++) await new Promise(resolve => { client.ping(resolve) })
  await turns(10)
  logs.stream('closed', stream.closed, stream.rstCode)
}

const programs = {}
for (const [apiName, api] of Object.entries(APIS)) {
  for (const [what, answer] of Object.entries(ANSWERS)) {
    for (const [reader, read] of Object.entries(READERS)) {
      for (const [bodyName, body] of Object.entries(BODIES)) {
        for (const [codeName, code] of Object.entries(CODES)) programs[`${apiName}, ${what}, ${bodyName}, ${reader}, ${codeName}`] = reset(answer, read, body, code, api)
      }
    }
  }
}
export default programs

// An answer to a request whose body has no reader: the events of its end come, also on a connection whose first request has come with
// its preface.
import { once } from 'node:events'
import { turns } from '../../sides.mjs'

const LISTENED = {
  "the response's finish": ({ response }) => [response, 'finish'],
  "the response's close": ({ response }) => [response, 'close'],
  "the request's end": ({ request }) => [request, 'end'],
  "the request's close": ({ request }) => [request, 'close'],
  "the stream's finish": ({ stream }) => [stream, 'finish'],
  "the stream's close": ({ stream }) => [stream, 'close']
}
const ANSWERS = {
  'a text': response => { response.end('x') },
  'no body': response => { response.end() },
  pieces: response => { response.write('a'); response.end('b') },
  'a text in a later turn': response => { setImmediate(() => { response.end('x') }) }
}
const BODIES = { 'no body': {}, 'a body': { headers: { ':method': 'POST' }, body: 'abc' }, 'a body of two frames': { headers: { ':method': 'POST' }, body: Buffer.alloc(20_000) } }

const unread = (isFresh, body, find, answer) => async (http2, t) => {
  const log = t.log('server')
  let stream
  const server = http2.createServer((request, response) => {
    stream = response.stream
    const [emitter, event] = find({ request, response, stream })
    emitter.on(event, () => { log(event) })
    answer(response)
  })
  // Where listeners learn of a session, they get its first request a turn later.
  server.on('session', () => {})
  const client = await t.open(server)
  if (!isFresh) await once(client, 'remoteSettings')
  await t.show(client, body)
  // The server has sent all that it had when it answers a ping.
  await new Promise(resolve => { client.ping(resolve) })
  await turns(5)
  log('closed', stream.closed, stream.destroyed)
}

const programs = {}
for (const [connection, isFresh] of [['fresh', true], ['used', false]]) {
  for (const [body, request] of Object.entries(BODIES)) {
    for (const [what, answer] of Object.entries(ANSWERS)) {
      for (const [event, find] of Object.entries(LISTENED)) programs[`a ${connection} connection, ${body}, ${what}: ${event}`] = unread(isFresh, request, find, answer)
    }
  }
}
export default programs

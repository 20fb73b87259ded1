// An answer that is given at once and has no listeners: what its stream, request and response say, and what their calls do, when all
// of it has been over for some turns.
import { turns } from '../../sides.mjs'
import { refusal } from '../values.mjs'

const whole = { listen: (server, keep, answer) => { server.on('request', (request, response) => { keep({ request, response, stream: response.stream }); answer(response) }) }, of: ['request', 'response', 'stream'] }
const core = { listen: (server, keep, answer) => { server.on('stream', stream => { keep({ stream }); stream.respond(); answer(stream) }) }, of: ['stream'] }
const ANSWERS = {
  'response.end with a text': [whole, response => { response.end('x') }],
  'response.end': [whole, response => { response.end() }],
  'response.write and end': [whole, response => { response.write('a'); response.end('b') }],
  'response.writeHead and end': [whole, response => { response.writeHead(201, { 'x-a': 'b' }); response.end('x') }],
  'response.end in a later turn': [whole, response => { setImmediate(() => { response.end('x') }) }],
  'stream.end with a text': [core, stream => { stream.end('x') }],
  'stream.end': [core, stream => { stream.end() }],
  'stream.write and end': [core, stream => { stream.write('a'); stream.end('b') }]
}

const MEMBERS = {
  request: ['aborted', 'complete', 'destroyed', 'errored', 'url', 'method', 'trailers', 'rawTrailers', 'readableLength'],
  response: ['headersSent', 'finished', 'writable', 'writableEnded', 'writableFinished', 'writableCorked', 'writableLength', 'writableNeedDrain', 'socket', 'connection', 'statusCode', 'sendDate', '_header'],
  stream: ['aborted', 'bufferSize', 'closed', 'destroyed', 'endAfterHeaders', 'id', 'pending', 'rstCode', 'session', 'state', 'headersSent', 'writable', 'writableEnded', 'writableFinished', 'writableLength', 'errored', 'readable', 'readableEnded']
}
const CALLS = {
  request: [['setTimeout', 5], ['pause'], ['resume'], ['setEncoding', 'utf8']],
  response: [['writeHead', 200], ['setHeader', 'a', 'b'], ['removeHeader', 'a'], ['flushHeaders'], ['writeContinue'], ['setTimeout', 5], ['setTrailer', 'a', 'b'], ['cork'], ['uncork'], ['end'], ['end', 'x'], ['write', 'x'], ['destroy']],
  stream: [['respond'], ['additionalHeaders', {}], ['sendTrailers', {}], ['priority'], ['setTimeout', 5], ['write', 'x'], ['end', 'x'], ['close'], ['close', 8], ['destroy']]
}
const kindOf = value => value === null || typeof value !== 'object' ? value : Object.keys(value).length === 0 ? 'an empty object' : 'an object'

const REQUESTS = { '': {}, ', of a body that has no reader': { headers: { ':method': 'POST' }, body: 'abc' } }
const past = ([{ listen }, answer], request, ask) => async (http2, t) => {
  const server = http2.createServer()
  let kept
  listen(server, one => { kept = one }, answer)
  const client = await t.open(server)
  await t.show(client, request)
  // The server learns of the acknowledgement of a ping behind all that it has sent before.
  await new Promise(resolve => { client.ping(resolve) })
  await turns()
  ask(t.log('server'), kept)
  await turns()
}

const programs = {}
for (const [name, form] of Object.entries(ANSWERS)) {
  for (const [behind, request] of Object.entries(REQUESTS)) {
    if (form[0] === whole) programs[`${name}${behind}: response.socket behind the state of its stream`] = past(form, request, (log, { response, stream }) => { log(stream.writable, stream.destroyed, response.socket, stream.session) })
    for (const whose of form[0].of) {
      for (const member of MEMBERS[whose]) programs[`${name}${behind}: ${whose}.${member}`] = past(form, request, (log, kept) => { log(kindOf(kept[whose][member])) })
      for (const [member, ...given] of CALLS[whose]) {
        programs[`${name}${behind}: ${whose}.${member}(${given.map(value => JSON.stringify(value))})`] = past(form, request, (log, kept) => {
          const target = kept[whose]
          try {
            const result = target[member](...given)
            log(result === target ? 'itself' : kindOf(result))
          } catch (error) {
            log('throws', refusal(error))
          }
        })
      }
    }
  }
}
export default programs

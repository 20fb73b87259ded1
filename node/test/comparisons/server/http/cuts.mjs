// Answers that a program or a client cuts, at each moment: what the request, its response and its socket say then, in which order.
import { CLOSE, HOST, raw } from '../wire.mjs'

const BODIES = {
  'a GET': `GET /a HTTP/1.1\r\n${HOST}\r\n`,
  'a body that is cut': `POST /a HTTP/1.1\r\n${HOST}content-length: 10\r\n\r\nabc`
}
const MOMENTS = {
  'before the answer': (response, then) => { setImmediate(then) },
  'behind a piece': (response, then) => { response.write('part', then) },
  'behind the answer': (response, then) => { response.end('whole', then) }
}
const ACTS = {
  'socket.end': ({ socket }) => { socket.end() },
  'socket.destroy': ({ socket }) => { socket.destroy() },
  'socket.resetAndDestroy': ({ socket }) => { socket.resetAndDestroy() },
  'response.destroy': (request, response) => { response.destroy() },
  'response.destroy with an error': (request, response) => { response.destroy(new Error('of a test')) },
  'request.destroy': request => { request.destroy() }
}

/** Logs the ends of both sides of an exchange, with what each of them says of itself. */
function watched (log, request, response) {
  request.on('aborted', () => { log('aborted') })
  request.on('error', error => { log('request error', error) })
  response.on('error', error => { log('response error', error) })
  response.on('close', () => { log('response close', request.aborted, request.destroyed, request.complete, response.writableFinished, request.errored) })
}

const cut = (text, moment, act) => raw((server, { log }) => {
  server.on('request', (request, response) => {
    watched(log, request, response)
    moment(response, () => { act(request, response) })
  })
}, text)
const left = (text, moment, leave) => async (http, t) => {
  let reported
  const came = new Promise(resolve => { reported = resolve })
  const prepare = (server, { log }) => {
    server.on('request', (request, response) => {
      watched(log, request, response)
      moment(response, reported)
    })
  }
  await raw(prepare, text, { act: async socket => {
    await came
    leave(socket)
  } })(http, t)
}

/** The rest of the body does not come, and has no reader. */
const last = framing => raw(server => {
  server.on('request', (request, response) => { response.end('ok') })
}, `POST /a HTTP/1.1\r\n${HOST}${CLOSE}${framing}`)

const cuts = Object.entries(BODIES).flatMap(([body, text]) => Object.entries(MOMENTS).flatMap(([moment, begin]) => [
  ...Object.entries(ACTS).map(([act, run]) => [`${body}, ${act} ${moment}`, cut(text, begin, run)]),
  ...['end', 'destroy'].map(name => [`${body}, its client ${name}s ${moment}`, left(text, begin, socket => { socket[name]() })])
]))

export default {
  ...Object.fromEntries(cuts),
  'the last answer, and a body of a length that does not come': last('content-length: 10\r\n\r\nabc'),
  'the last answer, and a body in chunks that does not come': last('transfer-encoding: chunked\r\n\r\n3\r\nab')
}

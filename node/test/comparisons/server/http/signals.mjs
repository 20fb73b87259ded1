// The signal of a request (from Node.js 24 on) through the ways in which a request and its connection end.
import { IncomingMessage } from 'node:http'
import { CLOSE, HOST, get, raw } from '../wire.mjs'

const BODY = `POST /a HTTP/1.1\r\n${HOST}content-length: 5\r\n\r\n`
const ACTS = {
  'answers': (request, response) => { response.end('ok') },
  'answers in pieces': (request, response) => {
    response.write('o')
    setImmediate(() => { response.end('k') })
  },
  'answers when it has read': (request, response) => { request.resume().on('end', () => { response.end('ok') }) },
  'destroys its request': request => { request.destroy() },
  'destroys its response': (request, response) => { response.destroy() },
  'destroys its socket': request => { request.socket.destroy() },
  'answers nothing': () => {}
}
const TEXTS = {
  'a GET': get('/a'),
  'the last GET': get('/a', CLOSE),
  'three requests': get('/a') + get('/b') + get('/c', CLOSE),
  'a body': `${BODY}hello`,
  'a body that is cut': `${BODY}he`
}
const LEAVES = {
  'ends': client => { client.end() },
  'destroys': client => { client.destroy() }
}

const signalled = (text, act, leave) => {
  let came
  const arrived = new Promise(resolve => { came = resolve })
  const signals = []
  const program = raw((server, { t }) => {
    let before
    server.on('request', (request, response) => {
      const { signal, socket } = request
      signals.push(signal)
      const log = t.log(request.url)
      signal.addEventListener('abort', () => { log('abort') })
      response.on('close', () => { log('close', signal.aborted) })
      request.on('error', () => {})
      // Each of them may leave nothing behind on the socket of all.
      if (before === undefined) before = socket.listenerCount('close')
      else log('listeners', socket.listenerCount('close') - before <= signals.filter(({ aborted }) => !aborted).length)
      act(request, response)
      setImmediate(came)
    })
  }, text, {
    act: async client => {
      await arrived
      leave(client)
    }
  })
  return async (http, t) => {
    await program(http, t)
    t.log('signals')(...signals.map(({ aborted }) => aborted))
  }
}

const programs = {}
if ('signal' in IncomingMessage.prototype) {
  for (const [what, text] of Object.entries(TEXTS)) {
    for (const [how, act] of Object.entries(ACTS)) {
      // The bytes of a client that does not wait for its answer are a matter of time.
      for (const [which, leave] of Object.entries(LEAVES)) if (how === 'answers nothing' || (which === 'ends' && how !== 'answers in pieces')) programs[`${what}, its listener ${how}, its client ${which}`] = signalled(text, act, leave)
    }
  }
}
export default programs

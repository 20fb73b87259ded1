// Two calls of a response of node:http, its request or their socket, without a body of the request and within one.
import { once } from 'node:events'
import { CLOSE, get, post, raw } from '../wire.mjs'
import { pairs } from '../../steps.mjs'

const STEPS = {
  setHeader: response => response.setHeader('x-a', '1') === response,
  writeHead: response => response.writeHead(201, { 'x-b': '2' }) === response,
  flushHeaders: response => response.flushHeaders(),
  writeContinue: response => response.writeContinue(),
  writeEarlyHints: response => response.writeEarlyHints({ link: '</a>; rel=preload' }),
  write: response => response.write('ab'),
  'write nothing': response => response.write(''),
  'write with a callback': (response, request, log) => response.write('ab', error => { log('written', error) }),
  cork: response => response.cork(),
  uncork: response => response.uncork(),
  addTrailers: response => response.addTrailers({ 'x-t': '1' }),
  end: response => response.end() === response,
  'end with a text': response => response.end('cd') === response,
  'end with a callback': (response, request, log) => response.end((...given) => { log('ended', given.length) }) === response,
  destroy: response => response.destroy() === response,
  'destroy with an error': response => response.destroy(new Error('ours')) === response,
  'request.resume': (response, request) => request.resume() === request,
  'request.destroy': (response, request) => request.destroy() === request,
  'socket.end': (response, request) => { request.socket.end() },
  'socket.destroy': (response, request) => { request.socket.destroy() },
  'socket.resetAndDestroy': (response, request) => { request.socket.resetAndDestroy() }
}
const state = (response, request) => [
  response.headersSent, response.finished, response.writableEnded, response.writableFinished, response.writableCorked, response.destroyed, response.socket === null,
  request.complete, request.aborted, request.destroyed, request.socket.destroyed
].map(one => Number(one)).join('')

/** How often a client asks the server before all that follows from a step has come. */
const ROUNDS = 3
/** An exchange of its own on another connection, which is that of all of them. */
async function probe (port, t) {
  t.prober ??= await t.dial(port)
  t.prober.write(get('/probe'))
  await once(t.prober, 'data')
}
async function settled (port, t) {
  for (let round = 0; round < ROUNDS; round++) {
    await probe(port, t)
    await new Promise(resolve => { setImmediate(resolve) })
  }
}

const programs = {}
for (const [method, text] of Object.entries({ GET: get('/a', CLOSE), POST: post('/a', 'a body', CLOSE) })) {
  for (const { name, first, gap, second } of pairs(STEPS)) {
    programs[`${method}: ${name}`] = async (http, t) => {
      let done
      const over = new Promise(resolve => { done = resolve })
      await raw((server, { log }) => {
        const [of, from, called] = [t.log('response'), t.log('request'), t.log('callbacks')]
        server.on('clientError', (error, socket) => { t.log('clientError')(error); socket.destroy() })
        server.on('request', async (request, response) => {
          if (request.url === '/probe') return response.end()
          const { port } = server.address()
          t.watch(of, response, 'response', ['finish', 'close', 'drain', 'error'], (event, error) => [error])
          t.watch(from, request, 'request', ['aborted', 'close', 'error'], (event, error) => [error])
          const act = label => { t.attempt(log, label, () => STEPS[label](response, request, called)) }
          act(first)
          if (gap === 'later') {
            await settled(port, t)
            log(state(response, request))
          }
          act(second)
          await settled(port, t)
          log(state(response, request))
          if (!response.writableEnded) response.end()
          t.prober.destroy()
          done()
        })
      }, text, { act: async () => { await over } })(http, t)
    }
  }
}
export default programs

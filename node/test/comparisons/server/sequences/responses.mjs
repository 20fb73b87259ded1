// Two calls of a response of the compatible API, without a body of the request and within one.
import { go, pairs } from '../../steps.mjs'

const STEPS = {
  setHeader: response => { response.setHeader('x-a', '1') },
  removeHeader: response => { response.removeHeader('x-a') },
  statusCode: response => { response.statusCode = 404 },
  writeHead: response => response.writeHead(201, { 'x-b': '2' }) === response,
  flushHeaders: response => response.flushHeaders(),
  writeContinue: response => response.writeContinue(),
  writeEarlyHints: response => response.writeEarlyHints({ link: '</a>; rel=preload' }),
  write: response => response.write('ab'),
  'write nothing': response => response.write(''),
  'write with a callback': (response, request, log) => response.write('ab', error => { log('written', error) }),
  'write 100 kB': response => response.write(Buffer.alloc(100_000)),
  cork: response => response.cork(),
  uncork: response => response.uncork(),
  addTrailers: response => response.addTrailers({ 'x-t': '1' }),
  end: response => response.end() === response,
  'end with a text': response => response.end('cd') === response,
  'end with a callback': (response, request, log) => response.end((...given) => { log('ended', given.length) }) === response,
  destroy: response => response.destroy(),
  'destroy with an error': response => response.destroy(new Error('ours')),
  'stream.close': response => response.stream.close(),
  'stream.close 8': response => response.stream.close(8),
  'stream.respond': response => response.stream.respond({ ':status': 202 }),
  'stream.end': response => response.stream.end() === response.stream,
  'request.resume': (response, request) => request.resume() === request,
  'request.destroy': (response, request) => request.destroy() === request,
  'session.close': response => response.stream.session?.close(),
  'session.destroy': response => response.stream.session?.destroy()
}
const state = (response, request) => [
  response.headersSent, response.finished, response.writableEnded, response.writableFinished, response.writableCorked, response.socket === undefined,
  request.complete, request.aborted, request.destroyed, response.stream?.closed, response.stream?.destroyed, response.stream?.session === undefined
].map(one => Number(one)).join('')

const programs = {}
for (const method of ['GET', 'POST']) {
  for (const steps of pairs(STEPS)) {
    programs[`${method}: ${steps.name}`] = async (http2, t) => {
      const log = t.log('server')
      // Callbacks have no order beside events.
      const [of, from, called] = [t.log('response'), t.log('request'), t.log('callbacks')]
      const server = http2.createServer()
      server.on('sessionError', () => {})
      let client
      const done = new Promise(resolve => server.on('request', async (request, response) => {
        t.watch(of, response, 'response', ['finish', 'close', 'drain', 'error', 'timeout'], (event, error) => [error])
        t.watch(from, request, 'request', ['aborted', 'close', 'error', 'timeout'], (event, error) => [error])
        const act = label => { t.attempt(log, label, () => STEPS[label](response, request, called)) }
        await go(steps, client, act, () => { log(state(response, request)) })
        if (!response.writableEnded) response.end()
        resolve()
      }))
      client = await t.open(server)
      await t.show(client, { headers: { ':method': method }, body: method === 'POST' ? 'a body' : undefined, before: stream => { stream.on('error', () => {}) } })
      await done
    }
  }
}
export default programs

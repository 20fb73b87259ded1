// Calls and events of node:http2's servers at odd moments, a program each.
import { once } from 'node:events'
import fs from 'node:fs'
import { finished, pipeline, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { turns } from '../../sides.mjs'

const file = fileURLToPath(new URL('../../../support/certificates/certificate.mjs', import.meta.url))
const small = { 'content-type': 'text/plain' }

/** A program: `listen` gets the server, its log and `over`, which ends it; `request` is the client's. */
const program = (listen, request = {}, options = {}) => async (http2, t) => {
  const log = t.log('server')
  const server = http2.createServer(options)
  server.on('error', error => { log('server error', error) })
  server.on('sessionError', error => { log('sessionError', error) })
  let over
  const ended = new Promise(resolve => { over = resolve })
  listen(server, log, over, t)
  const client = await t.open(server)
  await once(client, 'remoteSettings')
  const timer = setTimeout(() => { log('late'); over(); client.destroy() }, 15_000)
  await t.show(client, request)
  await ended
  clearTimeout(timer)
  await turns(4)
}
/** One whose server has a listener of streams that logs all of their events. */
const stream = (act, request, options) => program((server, log, over, t) => {
  server.on('stream', (one, headers) => {
    for (const event of ['aborted', 'close', 'end', 'finish', 'ready', 'timeout', 'trailers', 'wantTrailers', 'frameError', 'drain']) {
      one.on(event, () => { if (event === 'wantTrailers' && one.listenerCount(event) === 1) one.sendTrailers({}); log(event) })
    }
    one.on('error', error => { log('error', error) })
    one.on('close', () => { log('closed with', one.rstCode, one.aborted, one.closed, one.destroyed, one.headersSent); over() })
    act(one, log, t, headers)
  })
}, request, options)
/** One whose server has a listener of requests. */
const compatible = (act, request, options) => program((server, log, over, t) => {
  server.on('request', (req, res) => {
    for (const event of ['aborted', 'end', 'close', 'error']) req.on(event, value => { log('request', event, ...value === undefined ? [] : [value]) })
    for (const event of ['finish', 'close', 'error', 'drain']) res.on(event, value => { log('response', event, ...value === undefined ? [] : [value]) })
    res.stream.on('close', () => { log('stream closed with', res.stream.rstCode); over() })
    act(req, res, log, t)
  })
}, request, options)
const post = { headers: { ':method': 'POST' }, body: 'abc' }

/** The result of `finished` of node:stream for a stream that is answered, when `act` calls `see`. */
const finishing = (act, request) => program((server, log, over) => {
  server.on('stream', one => { one.respond(); one.end('x'); act(one, () => { finished(one, error => { log('finished', error); over() }) }) })
}, request)
const finishingRequest = (act, request) => program((server, log, over) => {
  server.on('request', (req, res) => { res.end('x'); act(req, res, one => { finished(one, error => { log('finished', error); over() }) }) })
}, request)

export default {
  'stream: respond when closed': stream((one, log, t) => { one.close(8); t.attempt(log, 'respond', () => { one.respond() }) }),
  'stream: respond when destroyed': stream((one, log, t) => { one.destroy(); t.attempt(log, 'respond', () => { one.respond() }) }),
  'stream: end twice with a text': stream((one, log, t) => { one.respond(); one.end('x'); t.attempt(log, 'end', () => { one.end('y', error => { log('called', error) }) }) }),
  'stream: write behind the end, with a callback': stream((one, log, t) => { one.respond(); one.end('x'); t.attempt(log, 'write', () => one.write('y', error => { log('called', error) })) }),
  'stream: an empty write': stream((one, log) => { one.respond(); one.write('', () => { log('written'); one.end() }) }),
  'stream: a write of no bytes': stream((one, log, t) => { one.respond(); t.attempt(log, 'null', () => one.write(null)); t.attempt(log, 'number', () => one.write(5)); one.end() }),
  'stream: close in wantTrailers': stream(one => { one.respond({}, { waitForTrailers: true }); one.on('wantTrailers', () => { one.close() }); one.end('x') }),
  'stream: trailers before wantTrailers': stream((one, log, t) => { one.respond({}, { waitForTrailers: true }); t.attempt(log, 'sendTrailers', () => { one.sendTrailers({ a: 'b' }) }); one.end('x') }),
  'stream: trailers twice': stream((one, log, t) => { one.respond({}, { waitForTrailers: true }); one.on('wantTrailers', () => { one.sendTrailers({ a: 'b' }); t.attempt(log, 'again', () => { one.sendTrailers({}) }) }); one.end('x') }),
  'stream: trailers later': stream(one => { one.respond({}, { waitForTrailers: true }); one.on('wantTrailers', () => { setImmediate(() => { one.sendTrailers({ a: ['b', 'c'] }) }) }); one.end('x') }),
  'stream: trailers with a pseudo-header': stream((one, log, t) => { one.respond({}, { waitForTrailers: true }); one.on('wantTrailers', () => { t.attempt(log, 'sendTrailers', () => { one.sendTrailers({ ':status': 200 }) }); one.close() }); one.end('x') }),
  'stream: trailers behind endStream': stream((one, log, t) => { one.respond({}, { endStream: true, waitForTrailers: true }); t.attempt(log, 'sendTrailers', () => { one.sendTrailers({ a: 'b' }) }) }),
  'stream: informational head 101': stream((one, log, t) => { t.attempt(log, '101', () => { one.additionalHeaders({ ':status': 101 }) }); one.respond(); one.end() }),
  'stream: informational head 200': stream((one, log, t) => { t.attempt(log, '200', () => { one.additionalHeaders({ ':status': 200 }) }); one.respond(); one.end() }),
  'stream: informational head when closed': stream((one, log, t) => { one.close(); t.attempt(log, '102', () => { one.additionalHeaders({ ':status': 102 }) }) }),
  'stream: priority': stream((one, log, t) => { t.attempt(log, 'priority', () => { one.priority({ weight: 5 }) }); one.respond(); one.end() }),
  'stream: setTimeout, and its callback': stream(one => { one.setTimeout(50, () => { one.respond(); one.end('late') }) }),
  'stream: setTimeout of 0 takes it away': stream((one, log) => { one.setTimeout(20, () => { log('called') }); one.setTimeout(0); setTimeout(() => { one.respond(); one.end('x') }, 60) }),
  'stream: respondWithFile': stream(one => { one.respondWithFile(file, small) }),
  'stream: respondWithFile of none': stream(one => { one.respondWithFile(`${file}.none`, small) }),
  'stream: respondWithFile of none, onError': stream((one, log) => { one.respondWithFile(`${file}.none`, small, { onError: error => { log('onError', error.code); one.respond({ ':status': 404 }); one.end() } }) }),
  'stream: respondWithFile of a folder': stream((one, log) => { one.respondWithFile('/', small, { onError: error => { log('onError', error.code); one.respond({ ':status': 404 }); one.end() } }) }),
  'stream: respondWithFile, statCheck false': stream((one, log) => { one.respondWithFile(file, small, { statCheck: () => { log('statCheck'); one.respond({ ':status': 304 }); one.end(); return false } }) }),
  'stream: respondWithFile, statCheck false without an answer': stream((one, log) => { one.respondWithFile(file, small, { statCheck: () => { log('statCheck'); return false } }); setTimeout(() => { one.close() }, 50) }),
  'stream: respondWithFile, a statCheck that adds a field': stream((one, log) => { one.respondWithFile(file, small, { statCheck: (stat, headers, options) => { log(typeof stat.size, headers['content-type'], options); headers['x-own'] = '1' } , offset: 0, length: 10 }) }),
  'stream: respondWithFile, a length beyond': stream(one => { one.respondWithFile(file, small, { offset: 5, length: 10_000_000 }) }),
  'stream: respondWithFile, a length of 0': stream(one => { one.respondWithFile(file, small, { offset: 5, length: 0 }) }),
  'stream: respondWithFile, a negative length': stream(one => { one.respondWithFile(file, small, { length: -1 }) }),
  'stream: respondWithFile, an offset that is a text': stream((one, log, t) => { t.attempt(log, 'respond', () => { one.respondWithFile(file, small, { offset: '5' }) }); one.close() }),
  'stream: respondWithFile of HEAD': stream(one => { one.respondWithFile(file, small) }, { headers: { ':method': 'HEAD' } }),
  'stream: respondWithFile, a status of 204': stream((one, log, t) => { t.attempt(log, 'respond', () => { one.respondWithFile(file, { ':status': 204 }) }); one.close() }),
  'stream: respondWithFile and close': stream(one => { one.respondWithFile(file, small); one.close(8) }),
  'stream: respondWithFile, trailers': stream(one => { one.respondWithFile(file, small, { waitForTrailers: true, length: 5 }); one.on('wantTrailers', () => { one.sendTrailers({ a: 'b' }) }) }),
  'stream: respondWithFD': stream(one => { const fd = fs.openSync(file); one.respondWithFD(fd, small, { offset: 3, length: 4 }); one.on('close', () => { fs.closeSync(fd) }) }),
  'stream: respondWithFD of none': stream(one => { one.respondWithFD(987_654, small) }),
  'stream: respondWithFD of a FileHandle': stream(async one => { const handle = await fs.promises.open(file); one.respondWithFD(handle, small, { length: 4 }); one.on('close', () => { handle.close() }) }),
  'stream: respondWithFD, statCheck false': stream((one, log) => { const fd = fs.openSync(file); one.respondWithFD(fd, small, { statCheck: () => { log('statCheck'); return false } }); one.on('close', () => { fs.closeSync(fd) }); setTimeout(() => { one.close() }, 50) }),
  'stream: piped to itself': stream(one => { one.respond(); one.pipe(one) }, post),
  'stream: pipeline from a source that fails': stream((one, log) => { one.respond(); pipeline(Readable.from((async function * () { yield 'a'; throw new Error('own') })()), one, error => { log('pipeline', error) }) }),
  'stream: pipeline from a source that fails before a head': stream((one, log) => { pipeline(Readable.from((async function * () { throw new Error('own') })()), one, error => { log('pipeline', error) }) }),
  'stream: iterated with a break': stream(async (one, log) => { for await (const piece of one) { log('piece', piece); break } log('left', one.destroyed) }, post),
  'stream: iterated when destroyed': stream(async (one, log) => { one.destroy(); try { for await (const piece of one) log('piece', piece); log('ended') } catch (error) { log('caught', error) } }, post),
  'stream: a rejection that is captured': program((server, log, over) => { server.on('stream', async one => { one.on('error', error => { log('error', error) }).on('close', () => { log('closed with', one.rstCode); over() }); throw new Error('own') }) }, {}, { captureRejections: true }),
  'stream: its session is closed with it open': stream((one, log) => { one.session.close(() => { log('session closed') }); one.respond(); setImmediate(() => { one.end('x') }) }),
  'stream: close twice': stream((one, log) => { one.close(3, () => { log('first') }); one.close(4, () => { log('second') }) }),
  'stream: a head with a connection field': stream((one, log, t) => { t.attempt(log, 'respond', () => { one.respond({ connection: 'close' }) }); one.close() }),
  'stream: a head of HEAD with a body': stream((one, log, t) => { one.respond(); t.attempt(log, 'write', () => one.write('x', error => { log('written', error) })); one.end() }, { headers: { ':method': 'HEAD' } }),
  'stream: destroy with an error in finish': stream(one => { one.respond(); one.on('finish', () => { one.destroy(new Error('own')) }); one.end('x') }),
  'stream: destroy with an error in finish, a body that has not ended': stream(one => { one.respond(); one.on('finish', () => { one.destroy(new Error('own')) }); one.end('x') }, { headers: { ':method': 'POST' }, body: null, endStream: false }),
  'stream: a write behind a head of 204': stream((one, log, t) => { one.respond({ ':status': 204 }); t.attempt(log, 'write', () => one.write('x', error => { log('written', error) })) }),
  'stream: a write behind a head that is all': stream((one, log, t) => { one.respond({}, { endStream: true }); t.attempt(log, 'write', () => one.write('x', error => { log('written', error) })) }),
  'stream: a write behind an end without a text': stream((one, log, t) => { one.respond(); one.end(); t.attempt(log, 'write', () => one.write('x', error => { log('written', error) })) }),
  'stream: finished at its close': finishing((one, see) => { one.on('close', see) }),
  'stream: finished a turn behind its close': finishing((one, see) => { one.on('close', () => { setImmediate(see) }) }),
  'stream: finished a while behind its end': finishing((one, see) => { setTimeout(see, 30) }),
  'stream: finished in the turn of its end': finishing((one, see) => { see() }),
  'stream: finished at its close, a body that was read': finishing((one, see) => { one.on('close', see).resume() }, post),
  'stream: finished in the turn of its end, a body that is not read': finishing((one, see) => { see() }, post),
  'stream: finished at its close, a body that is not read': finishing((one, see) => { one.on('close', see) }, post),
  'stream: finished a while behind its end, a body that is not read': finishing((one, see) => { setTimeout(see, 30) }, post),
  'request: its stream finished at the close': finishingRequest((req, res, see) => { res.on('close', () => { see(req.stream) }) }),
  'request: its stream finished a turn behind the close': finishingRequest((req, res, see) => { res.on('close', () => { setImmediate(() => { see(req.stream) }) }) }),
  'request: its stream finished a while behind the end': finishingRequest((req, res, see) => { const { stream: one } = req; setTimeout(() => { see(one) }, 30) }),
  'request: its stream finished in the turn of the end': finishingRequest((req, res, see) => { see(req.stream) }),
  'request: finished a turn behind the close': finishingRequest((req, res, see) => { res.on('close', () => { setImmediate(() => { see(req) }) }) }),
  'request: finished a while behind the end': finishingRequest((req, res, see) => { setTimeout(() => { see(req) }, 30) }),
  'response: finished a turn behind the close': finishingRequest((req, res, see) => { res.on('close', () => { setImmediate(() => { see(res) }) }) }),
  'request: its stream finished at the close, a body': finishingRequest((req, res, see) => { res.on('close', () => { see(req.stream) }) }, post),
  'request: its stream finished a while behind the end, a body': finishingRequest((req, res, see) => { const { stream: one } = req; setTimeout(() => { see(one) }, 30) }, post),
  'response: trailers behind the end, others before it': compatible((req, res) => { res.addTrailers({ a: '1' }); res.end('x'); res.addTrailers({ b: '2' }) }),
  'response: trailers behind an end without a text, others before it': compatible((req, res) => { res.addTrailers({ a: '1' }); res.end(); res.addTrailers({ b: '2' }) }),
  'response: trailers behind the end and a head, others before it': compatible((req, res) => { res.writeHead(200); res.write('x'); res.addTrailers({ a: '1' }); res.end(); res.setTrailer('a', '2') }),
  'response: trailers in a microtask behind the end, others before it': compatible(async (req, res) => { res.addTrailers({ a: '1' }); res.end('x'); await null; res.addTrailers({ b: '2' }) }),
  'response: trailers of 204': compatible((req, res) => { res.writeHead(204); res.addTrailers({ a: '1' }); res.end() }),
  'response: trailers of HEAD': compatible((req, res) => { res.addTrailers({ a: '1' }); res.end('x') }, { headers: { ':method': 'HEAD' } }),
  'response: trailers and a close in their turn': compatible((req, res) => { res.addTrailers({ a: '1' }); res.end('x'); res.stream.close() }),
  'response: end twice': compatible((req, res, log, t) => { res.end('x'); t.attempt(log, 'end', () => { res.end('y', error => { log('called', error) }) }) }),
  'response: writeHead behind the end': compatible((req, res, log, t) => { res.end('x'); t.attempt(log, 'writeHead', () => { res.writeHead(200) }); t.attempt(log, 'setHeader', () => { res.setHeader('a', 'b') }); t.attempt(log, 'removeHeader', () => { res.removeHeader('a') }); t.attempt(log, 'statusCode', () => { res.statusCode = 404 }) }),
  'response: writeHead twice': compatible((req, res, log, t) => { res.writeHead(200, { a: '1' }); t.attempt(log, 'again', () => { res.writeHead(404) }); res.end() }),
  'response: writeContinue and writeEarlyHints behind the head': compatible((req, res, log, t) => { res.flushHeaders(); t.attempt(log, 'continue', () => res.writeContinue()); t.attempt(log, 'hints', () => res.writeEarlyHints({ link: '<a>; rel=preload' })); res.end() }),
  'response: destroy in finish': compatible((req, res) => { res.on('finish', () => { res.destroy() }); res.end('x') }),
  'response: destroy with an error': compatible((req, res) => { res.write('x'); res.destroy(new Error('own')) }),
  'request: destroy with an error': compatible((req, res) => { req.destroy(new Error('own')); setTimeout(() => { res.end('x') }, 30) }, post),
  'request: read behind the response': compatible((req, res, log) => { res.end('x'); setImmediate(() => { req.on('data', piece => { log('data', piece) }) }) }, post),
  'request: its socket': compatible((req, res, log, t) => { t.attempt(log, 'write', () => req.socket.write('x')); t.attempt(log, 'end', () => req.socket.end()); t.attempt(log, 'pause', () => req.socket.pause()); t.attempt(log, 'setTimeout', () => req.socket.setTimeout(1000)); log(req.socket.destroyed, typeof req.socket.remotePort); res.end() }),
  'request: setTimeout': compatible((req, res) => { req.setTimeout(30, () => { res.end('late') }) }),
  'response: setTimeout': compatible((req, res) => { res.setTimeout(30, () => { res.end('late') }) }),
  'response: piped from a source that fails': compatible((req, res, log) => { pipeline(Readable.from((async function * () { yield 'a'; throw new Error('own') })()), res, error => { log('pipeline', error) }) }),
  'response: cork and uncork': compatible((req, res, log) => { res.cork(); res.write('a'); res.write('b'); log(res.writableCorked, res.writableLength); res.uncork(); res.end('c') }),
  'response: members behind the close': compatible((req, res, log) => { res.on('close', () => { setImmediate(() => { log(res.headersSent, res.finished, res.writableEnded, res.statusCode, req.complete, req.aborted, req.destroyed, res.socket, req.url, req.method) }) }); res.end('x') }),
  'response: a statusMessage': compatible((req, res, log) => { res.statusMessage = 'fine'; log(res.statusMessage); res.writeHead(200, 'ok', { a: '1' }); res.end() }),
  'response: appendHeader': compatible((req, res, log, t) => { t.attempt(log, 'append', () => { res.appendHeader('a', '1'); res.appendHeader('a', ['2', '3']) }); log(res.getHeader('a'), res.getHeaderNames(), res.hasHeader('A')); res.end() })
}

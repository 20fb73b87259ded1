// Responses of the compatible API.
import { Stream, Writable, Readable } from 'node:stream'
import { compat, responding } from '../shapes.mjs'
import { fields } from '../stage.mjs'

const MEBIBYTE = Buffer.alloc(1 << 20, 'x')
const POST = { headers: { ':method': 'POST' }, body: 'hello' }

export default {
  'pieces in an encoding that is none': compat((request, response, { log, t }) => {
    response.on('error', error => { log('error', error) })
    for (const encoding of ['latin1', 'HEX', 'buffer', 'none', '', null, 5]) {
      t.attempt(log, `write ${encoding}`, () => response.write('c3a4', encoding))
      t.attempt(log, `write bytes ${encoding}`, () => response.write(Buffer.from('b'), encoding))
    }
    t.attempt(log, 'end', () => response.end('c3a4', 'none'))
    log(response.writableEnded)
    t.attempt(log, 'end', () => response.end('c3a4', 'hex'))
  }),
  'a response is a stream and no writable': compat((request, response, { log }) => {
    log(response instanceof Stream, response instanceof Writable, response.writable)
    response.end()
  }),
  'members of a fresh response': compat((request, response, { log }) => {
    log(response.headersSent, response.finished, response.writableEnded, response.writableFinished, response.writableCorked, response.writableLength, response.writableHighWaterMark)
    log(response.statusCode, response.sendDate, response._header, response.writableNeedDrain, response.writableObjectMode)
    response.end()
    log(response.headersSent, response.finished, response.writableEnded)
  }),
  'members in the turn of an end, and behind it': compat((request, response, { log }) => {
    response.end('whole')
    log(response.writableEnded, response.writableFinished, response.finished)
    response.on('finish', () => { log(response.writableEnded, response.writableFinished, response.finished) })
  }),
  'one end is a whole response': compat((request, response) => { response.end('whole') }),
  'an empty end': compat((request, response) => { response.end() }),
  'a buffer at the end': compat((request, response) => { response.end(Buffer.from('bytes')) }),
  'an encoding at the end': compat((request, response) => { response.end('68656c6c6f', 'hex') }),
  'end returns the response': compat((request, response, { log }) => { log(response.end('x') === response) }),
  'end calls back': compat((request, response, { log }) => { response.end('x', () => { log('ended', response.writableFinished) }) }),
  'end calls back without a body': compat((request, response, { log }) => { response.end(() => { log('ended') }) }),
  'end calls back behind an encoding': compat((request, response, { log }) => { response.end('eA==', 'base64', () => { log('ended') }) }),
  'a second end does nothing, and calls back': compat((request, response, { log }) => {
    response.end('first')
    log(response.end('second', () => { log('called') }) === response)
  }),
  'a status': compat((request, response) => { response.statusCode = 418; response.end() }),
  'statuses that are none are refused': responding({
    100: response => { response.statusCode = 100 }, 99: response => { response.statusCode = 99 }, 600: response => { response.statusCode = 600 }, text: response => { response.statusCode = 'x' }, '404 as a text': response => { response.statusCode = '404' }
  }),
  'a status message is nothing': compat((request, response, { log }) => {
    response.statusMessage = 'Fine'
    log(JSON.stringify(response.statusMessage))
    response.end()
  }),
  'headers are set, read and removed': compat((request, response, { log }) => {
    log(response.setHeader('X-A', 'one'), response.getHeader('x-a'), response.hasHeader('X-a'), response.hasHeader('x-b'))
    response.setHeader('x-list', ['a', 'b'])
    response.setHeader('x-gone', 'x')
    log(response.removeHeader('X-Gone'), response.getHeader('x-gone'))
    log(response.getHeaderNames(), fields(response.getHeaders()), Object.getPrototypeOf(response.getHeaders()))
    response.end()
  }),
  'names of headers are trimmed': compat((request, response, { log }) => {
    response.setHeader(' x-a ', 'one')
    log(response.getHeaderNames(), response.getHeader(' x-a'))
    response.end()
  }),
  'headers are appended': compat((request, response, { log }) => {
    response.appendHeader('x-a', 'one')
    response.appendHeader('x-a', 'two')
    response.appendHeader('X-A', ['three', 'four'])
    log(response.getHeader('x-a'))
    response.end()
  }),
  'getHeaders is a copy': compat((request, response, { log }) => {
    response.setHeader('x-a', 'one')
    response.getHeaders()['x-b'] = 'two'
    log(response.getHeaderNames())
    response.end()
  }),
  'names and values that cannot be are refused': responding({
    'name 1': response => { response.setHeader(1, 'x') }, 'no name': response => { response.setHeader('', 'x') }, 'a space': response => { response.setHeader('a b', 'x') },
    'undefined value': response => { response.setHeader('x-a', undefined) }, 'null value': response => { response.setHeader('x-a', null) }, ':status': response => { response.setHeader(':status', 200) },
    ':path': response => { response.setHeader(':path', '/') }, 'get 1': response => response.getHeader(1), 'has 1': response => response.hasHeader(1), 'remove 1': response => { response.removeHeader(1) },
    'append null': response => { response.appendHeader('x-a', null) }, 'append 1': response => { response.appendHeader(1, 'x') }
  }),
  'a name that is no token breaks the response': compat((request, response, { log, t }) => {
    response.stream.on('error', error => { log('stream', error) })
    t.attempt(log, 'set', () => { response.setHeader('a@b', 'x') })
    log(response.stream.destroyed)
  }),
  'the connection header is left out': compat((request, response, { log }) => {
    response.setHeader('connection', 'close')
    log(response.getHeader('connection'))
    response.end()
  }),
  'headers behind the head are refused': responding({
    writeHead: response => { response.writeHead(200) }, set: response => { response.setHeader('x', 'y') }, remove: response => { response.removeHeader('x') }, append: response => { response.appendHeader('x', 'y') },
    'writeHead again': response => { response.writeHead(201) }, get: response => response.getHeader('x'), names: response => response.getHeaderNames().length
  }),
  'writeHead with an object': compat((request, response, { log }) => {
    response.setHeader('x-a', 'kept')
    response.setHeader('x-b', 'changed')
    log(response.writeHead(201, { 'X-B': 'new', 'x-c': ['1', '2'] }) === response, response.headersSent, response.statusCode)
    response.end('x')
  }),
  'writeHead with a message': compat((request, response) => { response.writeHead(200, 'Fine', { 'x-a': 'b' }); response.end() }),
  'writeHead with a flat list': compat((request, response, { log }) => {
    response.setHeader('x-a', 'gone')
    response.writeHead(200, ['x-a', 'one', 'x-a', 'two', 'x-b', 'three'])
    response.end()
  }),
  'writeHead with pairs': compat((request, response) => { response.writeHead(200, [['x-a', 'one'], ['x-b', 'two']]); response.end() }),
  'heads that cannot be are refused': responding({
    odd: response => { response.writeHead(200, ['x-a']) }, 99: response => { response.writeHead(99) }, 600: response => { response.writeHead(600) }, 100: response => { response.writeHead(100) },
    value: response => { response.writeHead(200, { 'x-a': undefined }) }, 'a good one': response => { response.statusCode = 200 }
  }),
  'flushHeaders sends the head alone': compat((request, response, { log }) => {
    response.statusCode = 202
    response.flushHeaders()
    log(response.headersSent)
    response.flushHeaders()
    response.end('later')
  }),
  'write sends the head': compat((request, response, { log }) => {
    log(response.write('a'), response.headersSent)
    log(response.write('b', 'utf8'), response.write(Buffer.from('c')))
    response.end('d')
  }),
  'writes call back': compat((request, response, { log }) => {
    response.write('a', () => { log('a') })
    response.write('b', 'utf8', error => { log('b', error) })
    response.end('c')
  }),
  'a full buffer says so, and drains': compat((request, response, { log }) => {
    log(response.write(MEBIBYTE))
    response.once('drain', () => { log('drain'); response.end('last') })
  }),
  'a write after the end is an error': compat((request, response, { log }) => {
    response.stream.on('error', error => { log('stream', error) })
    response.end('x')
    log(response.write('y', error => { log('callback', error) }))
  }),
  'pieces that cannot be are refused': responding({ number: response => response.write(1), null: response => response.write(null), object: response => response.write({}) }),
  'a readable is piped into it': compat((request, response, { log }) => {
    response.on('pipe', () => { log('pipe') })
    response.on('unpipe', () => { log('unpipe') })
    Readable.from(['one ', 'two ', 'three']).pipe(response)
  }),
  'cork and uncork': compat((request, response, { log }) => {
    response.cork()
    response.write('a')
    response.write('b')
    log(response.writableCorked)
    response.uncork()
    log(response.writableCorked)
    response.end('c')
  }),
  'a date is sent, unless not': compat((request, response, { log }) => {
    if (request.url === '/no') response.sendDate = false
    if (request.url === '/removed') response.removeHeader('date')
    if (request.url === '/own') response.setHeader('date', 'mine')
    response.end(String(response.sendDate))
  }, [{ name: 'yes' }, { name: 'no', headers: { ':path': '/no' } }, { name: 'removed', headers: { ':path': '/removed' } }, { name: 'own', headers: { ':path': '/own' } }]),
  'trailers set before the body': compat((request, response) => {
    response.setTrailer('X-Sum', 'abc')
    response.end('body')
  }),
  'trailers set while the body goes': compat((request, response) => {
    response.write('bo')
    response.addTrailers({ 'x-sum': 'abc', 'x-more': ['1', '2'] })
    response.end('dy')
  }),
  'trailers that are announced, set behind the end': compat((request, response) => {
    response.setHeader('trailer', 'x-sum')
    response.end('body')
    response.setTrailer('x-sum', 'abc')
  }),
  'trailers that are announced, set in a tick behind the end of pieces': compat((request, response) => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.write('bo')
    response.end('dy')
    process.nextTick(() => { response.setTrailer('x-sum', 'abc') })
  }),
  'trailers that are announced, and none': compat((request, response) => {
    response.setHeader('trailer', 'x-sum')
    response.end('body')
  }),
  'null for the fields of a head': compat((request, response, { log, t }) => {
    t.attempt(log, 'null', () => response.writeHead(200, null))
    t.attempt(log, 'null behind words', () => response.writeHead(200, 'OK', null))
    log(response.headersSent)
    response.end('x')
  }),
  'trailers without a body': compat((request, response) => { response.setTrailer('x-sum', '0'); response.end() }),
  'trailers that cannot be are refused': responding({
    number: response => { response.setTrailer(1, 'x') }, empty: response => { response.setTrailer('', 'x') }, pseudo: response => { response.setTrailer(':status', 'x') }, undefined: response => { response.setTrailer('a', undefined) },
    'add pseudo': response => { response.addTrailers({ ':path': 'x' }) }
  }),
  'writeContinue': compat((request, response, { log }) => {
    log(response.writeContinue())
    response.writeHead(200)
    log(response.writeContinue())
    response.end()
  }, POST),
  'writeEarlyHints': compat((request, response, { log }) => {
    log(response.writeEarlyHints({ link: '</a.css>; rel=preload; as=style' }), response.writeEarlyHints({ link: ['</a>; rel=preload', '</b>; rel=preload'], 'x-a': 'b' }))
    response.end()
    log(response.writeEarlyHints({ link: '</a>; rel=preload' }))
  }),
  'early hints that cannot be are refused': responding({
    text: response => { response.writeEarlyHints('x') }, nothing: response => { response.writeEarlyHints() }, 'no link': response => response.writeEarlyHints({}), link: response => { response.writeEarlyHints({ link: 'bad' }) }, empty: response => response.writeEarlyHints({ link: [] })
  }),
  'writeInformation of each status': compat((request, response, { log, t }) => {
    for (const status of [100, 102, 103, 199, 101, 99, 200, '100', 110.5, NaN, undefined, null]) {
      t.attempt(log, `inform ${String(status)}`, () => response.writeInformation(status, { 'x-a': `${String(status)}` }))
    }
    for (const headers of [undefined, null, 1, 'x', [], { 'a b': 'c' }, { ':status': '200' }]) t.attempt(log, `inform by ${JSON.stringify(headers)}`, () => response.writeInformation(110, headers))
    response.end()
    for (const status of [101, 103]) t.attempt(log, `inform ${status} behind the end`, () => response.writeInformation(status))
  }),
  'writeInformation where the class has it': compat((request, response, { log, t }) => {
    log(typeof response.writeInformation)
    if (response.writeInformation) t.attempt(log, 'inform', () => response.writeInformation(103, { 'x-a': 'b' }))
    response.end()
  }),
  'createPushResponse needs a callback': responding({ text: response => { response.createPushResponse({}, 'x') }, nothing: response => { response.createPushResponse({}) } }),
  'the socket of a response': compat((request, response, { log }) => {
    log(response.socket === request.socket, response.connection === response.socket, response.socket.remoteAddress)
    response.on('close', () => { log(response.socket) })
    response.end()
  }),
  'a timeout of a response': compat(async (request, response, { log }) => {
    await new Promise(resolve => { response.setTimeout(20, resolve) })
    log('timeout')
    response.end()
  }),
  'the events of a response, in their order': compat((request, response, { log, t }) => {
    t.watch(log, response, 'response', ['finish', 'close', 'error', 'drain'])
    t.watch(log, response.stream, 'stream', ['finish', 'close'])
    response.write('a')
    response.end('b')
  }),
  'HEAD: what is written is not sent': compat((request, response, { log }) => {
    response.setHeader('content-length', 5)
    response.write('he')
    log(response.headersSent)
    response.end('llo', () => { log('ended') })
  }, { headers: { ':method': 'HEAD' } }),
  'HEAD with one end': compat((request, response, { log }) => {
    response.on('finish', () => { log('finish') })
    response.on('close', () => { log('close') })
    response.end('hello')
  }, { headers: { ':method': 'HEAD' } }),
  '204 and a body': compat((request, response) => { response.statusCode = 204; response.end('nothing of this') }),
  '304 and a body': compat((request, response) => { response.writeHead(304, { etag: '"a"' }); response.end() }),
  'members of a response that is over': compat((request, response, { log, t }) => {
    response.on('close', () => {
      log(response.headersSent, response.finished, response.writableEnded, response.statusCode)
      t.attempt(log, 'writeHead', () => response.writeHead(200) === response)
      t.attempt(log, 'end', () => response.end() === response)
      t.attempt(log, 'setTimeout', () => response.setTimeout(10))
      t.attempt(log, 'writeContinue', () => response.writeContinue())
      t.attempt(log, 'flushHeaders', () => response.flushHeaders())
    })
    response.end('x')
  }),
  'answering in a later turn': compat((request, response) => { setImmediate(() => { response.end('late') }) }),
  'answering in a microtask': compat(async (request, response) => { await null; response.end('soon') }),
  'answers come in the order in which they are ready': async (http2, t) => {
    const log = t.log('client')
    const server = http2.createServer((request, response) => {
      if (request.url === '/slow') server.once('fast', () => { response.end('slow') })
      else { response.end('fast'); response.on('finish', () => { server.emit('fast') }) }
    })
    const client = await t.open(server)
    await Promise.all(['/slow', '/fast'].map(path => new Promise(resolve => {
      const stream = client.request({ ':path': path })
      stream.resume()
      stream.on('end', () => { log(path); resolve() })
    })))
  }
}

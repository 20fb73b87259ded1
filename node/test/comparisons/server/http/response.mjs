// Responses of node:http, in cleartext: what each call does, and what then goes over the connection.
import { once } from 'node:events'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createReadStream } from 'node:fs'
import { PassThrough, Readable, finished, pipeline } from 'node:stream'
import { CLOSE, HOST, calls, get, one, post, raw } from '../wire.mjs'

const state = response => [response.headersSent, response.finished, response.writableEnded, response.writableFinished, response.destroyed, response.closed, response.errored, response.writable, response.writableLength, response.socket !== null]
const FAULTS = { 'a number as a chunk': response => response.write(5), 'null as a chunk': response => response.write(null), 'an object as a chunk': response => response.write({}), 'undefined as a chunk': response => response.write(), 'true at the end': response => response.end(true) }
const heads = {
  'a status': response => response.writeHead(201),
  'a message': response => response.writeHead(201, 'Well Made'),
  'an empty message': response => response.writeHead(200, ''),
  'fields': response => response.writeHead(200, { 'X-A': 'b', 'x-list': ['1', '2'] }),
  'a message and fields': response => response.writeHead(404, 'Gone Fishing', { 'X-A': 'b' }),
  'a flat list': response => response.writeHead(200, ['X-A', 'b', 'x-a', 'c']),
  'pairs': response => response.writeHead(200, [['X-A', 'b'], ['x-a', 'c']]),
  'a flat list behind setHeader': response => { response.setHeader('x-b', '1'); response.writeHead(200, ['X-A', 'b', 'x-b', 'c', 'x-b', 'd']) },
  'pairs behind setHeader': response => { response.setHeader('x-b', '1'); response.writeHead(200, [['X-A', 'b'], ['x-b', 'c']]) },
  'a list of an odd length': response => response.writeHead(200, ['X-A', 'b', 'c']),
  'fields over setHeader': response => { response.setHeader('X-A', '1'); response.setHeader('x-b', '2'); response.writeHead(200, { 'x-a': '3' }) },
  'a length': response => response.writeHead(200, { 'Content-Length': 2 }),
  'a length of zero': response => response.writeHead(200, { 'content-length': 0 }),
  'chunks': response => response.writeHead(200, { 'Transfer-Encoding': 'chunked' }),
  'a date of our own': response => response.writeHead(200, { date: 'today' }),
  'an end': response => response.writeHead(200, { Connection: 'close' }),
  'a connection that stays': response => response.writeHead(200, { connection: 'keep-alive' }),
  'a keep-alive of our own': response => response.writeHead(200, { connection: 'keep-alive', 'keep-alive': 'timeout=1' }),
  'an upgrade': response => response.writeHead(200, { connection: 'upgrade', upgrade: 'tea' }),
  'cookies': response => response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] }),
  'a number': response => response.writeHead(200, { 'x-a': 5 }),
  'nothing as fields': response => response.writeHead(200, undefined),
  'null as fields': response => response.writeHead(200, null),
  'an undefined value': response => response.writeHead(200, { 'x-a': undefined }),
  'an empty value': response => response.writeHead(200, { 'x-a': '' }),
  'a value of latin1': response => response.writeHead(200, { 'x-a': 'caf\u00e9' }),
  'a value of another alphabet': response => response.writeHead(200, { 'x-a': '世界' }),
  'a value that splits': response => response.writeHead(200, { 'x-a': 'b\r\nx-c: d' }),
  'a name that is none': response => response.writeHead(200, { 'x a': 'b' }),
  'a message that splits': response => response.writeHead(200, 'OK\r\nx-a: b'),
  'an empty message': response => response.writeHead(200, ''),
  'an empty message and fields': response => response.writeHead(404, '', { 'x-a': '1' }),
  'an empty statusMessage': response => { response.statusMessage = ''; response.writeHead(202) },
  '204': response => response.writeHead(204),
  '204 with a length': response => response.writeHead(204, { 'content-length': 5 }),
  '204 with chunks': response => response.writeHead(204, { 'transfer-encoding': 'chunked' }),
  '205': response => response.writeHead(205),
  '304': response => response.writeHead(304),
  '304 with a length': response => response.writeHead(304, { 'content-length': 5, etag: '"a"' }),
  '304 with chunks': response => response.writeHead(304, { 'transfer-encoding': 'chunked' }),
  '299': response => response.writeHead(299),
  '599': response => response.writeHead(599),
  '600': response => response.writeHead(600),
  '999': response => response.writeHead(999),
  '1000': response => response.writeHead(1000),
  '99': response => response.writeHead(99),
  'a text as status': response => response.writeHead('201'),
  'a word as status': response => response.writeHead('ok'),
  'nothing as status': response => response.writeHead(),
  'a part as status': response => response.writeHead(200.7),
  'twice': response => { response.writeHead(200); response.writeHead(201) },
  'no date': response => { response.sendDate = false; response.writeHead(200) },
  'statusMessage': response => { response.statusMessage = 'Fine'; response.statusCode = 202; response.writeHead(response.statusCode) },
  'content-length without a number': response => response.writeHead(200, { 'content-length': 'x' }),
  'trailer without chunks': response => response.writeHead(200, { 'content-length': 2, trailer: 'x-a' }),
  'several codings': response => response.writeHead(200, { 'transfer-encoding': 'gzip, chunked' }),
  'a coding as a list': response => response.writeHead(200, { 'transfer-encoding': ['gzip', 'chunked'] })
}
const bodies = {
  'no body': response => response.end(),
  'a body': response => response.end('ok'),
  'pieces': response => { response.write('o'); response.end('k') }
}
const answers = {}
for (const [head, begin] of Object.entries(heads)) {
  for (const [body, end] of Object.entries(bodies)) {
    for (const [method, text] of Object.entries({ GET: get('/a', CLOSE), HEAD: get('/a', CLOSE).replace('GET', 'HEAD'), 'HTTP/1.0': `GET /a HTTP/1.0\r\n${HOST}\r\n`, 'a connection that stays': get('/a') + get('/b', CLOSE) })) {
      answers[`${method}: ${head}, ${body}`] = one((response, { log, t }) => {
        t.attempt(log, 'head', () => { begin(response) })
        if (!response.writableEnded) t.attempt(log, 'body', () => { end(response) })
        if (!response.writableEnded) t.attempt(log, 'end', () => { response.statusCode = 500; response.end() })
        if (!response.writableEnded) response.destroy()
      }, { text })
    }
  }
}

export default {
  ...answers,
  'members of a fresh response': one((response, { log, request }) => {
    log(...state(response))
    for (const name of ['statusCode', 'statusMessage', 'sendDate', 'shouldKeepAlive', 'useChunkedEncodingByDefault', 'chunkedEncoding', 'strictContentLength', 'writableHighWaterMark', 'writableObjectMode', 'writableCorked', 'writableNeedDrain', 'maxRequestsOnConnectionReached', 'finished']) log(name, response[name])
    log(response.req === request, response.socket === request.socket, response.connection === request.socket, response.constructor.name, typeof response.assignSocket, typeof response.detachSocket)
    response.end()
  }),
  'state through its life': one((response, { log }) => {
    for (const event of ['prefinish', 'finish', 'close']) response.on(event, () => { log(event, ...state(response)) })
    log('begin', ...state(response))
    response.write('a', () => { log('written') })
    log('behind write', ...state(response))
    response.end('b', () => { log('ended', response.writableFinished) })
    log('behind end', ...state(response))
  }),
  'state of a response without a body': one((response, { log }) => {
    for (const event of ['prefinish', 'finish', 'close']) response.on(event, () => { log(event, ...state(response)) })
    response.end()
    log('behind end', ...state(response))
  }),
  'the end of a small answer comes before the next turn': one((response, { log }) => {
    for (const event of ['finish', 'close']) response.on(event, () => { log(event) })
    response.end('ok', () => { log('called back') })
    setImmediate(() => { log('next turn') })
  }),
  // The two sides of an exchange end independently: each has a log of its own, and their order among each other is not compared.
  'events of both sides': one((response, { log, t, request }) => {
    const ofRequest = t.log('request')
    for (const event of ['end', 'close']) request.on(event, () => { ofRequest(event, request.complete, request.destroyed, request.readableEnded) })
    for (const event of ['finish', 'close']) response.on(event, () => { log('response', event) })
    request.resume()
    response.end('ok')
  }),
  'events of both sides of a body': one((response, { log, t, request }) => {
    const ofRequest = t.log('request')
    for (const event of ['end', 'close']) request.on(event, () => { ofRequest(event, request.complete, request.destroyed, request.readableEnded) })
    for (const event of ['finish', 'close']) response.on(event, () => { log('response', event) })
    request.on('data', piece => { ofRequest(piece) })
    request.on('end', () => { response.end('ok') })
  }, { text: post('/a', 'hello', CLOSE) }),
  'headers': calls({
    set: response => response.setHeader('X-A', 'b') === response,
    get: response => response.getHeader('x-a'),
    append: response => response.appendHeader('x-a', 'c') === response,
    'get appended': response => JSON.stringify(response.getHeader('X-A')),
    'append a list': response => { response.appendHeader('x-b', ['1', '2']) },
    names: response => response.getHeaderNames().join(),
    'raw names': response => response.getRawHeaderNames().join(),
    all: response => JSON.stringify(response.getHeaders()) + Object.getPrototypeOf(response.getHeaders()),
    has: response => response.hasHeader('X-a'),
    remove: response => response.removeHeader('x-A'),
    gone: response => response.hasHeader('X-a'),
    'remove what is not there': response => response.removeHeader('x-z')
  }),
  'headers of a Headers and of a Map': calls({
    Headers: response => { response.setHeaders(new Headers({ a: '1', 'Set-Cookie': 'x=1' })) },
    Map: response => { response.setHeaders(new Map([['b', '2'], ['C', ['3', '4']]])) },
    array: response => { response.setHeaders(['a']) },
    object: response => { response.setHeaders({ a: 'b' }) },
    nothing: response => { response.setHeaders() }
  }),
  'cookies of a Headers': calls({ Headers: response => { const all = new Headers(); all.append('set-cookie', 'a=1'); all.append('set-cookie', 'b=2'); response.setHeaders(all) } }),
  'names and values that cannot be': calls({
    'no name': response => response.setHeader(),
    'an empty name': response => response.setHeader('', 'a'),
    'a name with a space': response => response.setHeader('a b', 'a'),
    'a name of another alphabet': response => response.setHeader('é', 'a'),
    'no value': response => response.setHeader('a'),
    'a splitting value': response => response.setHeader('a', 'b\r\nc'),
    'a NUL': response => response.setHeader('a', '\0'),
    'another alphabet': response => response.setHeader('a', '世'),
    'a list with one that cannot be': response => response.setHeader('a', ['b', 'c\n']),
    'an object': response => { response.setHeader('a', { toString: () => 'x' }) },
    'a number as name': response => response.setHeader(5, 'a'),
    'get nothing': response => response.getHeader(),
    'has nothing': response => response.hasHeader(),
    'remove nothing': response => response.removeHeader(),
    'append nothing': response => response.appendHeader('a'),
    'validateHeaderName': () => 1
  }),
  'headers behind the head': calls({
    flush: response => response.flushHeaders(),
    set: response => response.setHeader('a', 'b'),
    setAll: response => response.setHeaders(new Map()),
    append: response => response.appendHeader('a', 'b'),
    remove: response => response.removeHeader('a'),
    head: response => response.writeHead(200),
    get: response => response.getHeader('a'),
    'flush again': response => response.flushHeaders(),
    status: response => { response.statusCode = 404 },
    trailers: response => response.addTrailers({ 'x-a': 'b' }),
    early: response => response.writeEarlyHints({ link: '</a>; rel=preload' }),
    continue: response => response.writeContinue(),
    processing: response => response.writeProcessing()
  }),
  'pieces that cannot be': one((response, { log, t }) => {
    response.on('error', error => { log('error', error) })
    for (const [label, call] of Object.entries(FAULTS)) t.attempt(log, label, () => call(response))
    response.end()
  }),
  'pieces of every kind': one(response => {
    response.write('aGk=', 'base64')
    response.write('6869', 'hex')
    response.write('\u00e9', 'latin1')
    response.write('\u00e9')
    response.write('hi', 'utf16le')
    response.write(new Uint8Array([65, 66]))
    response.write(Buffer.from('C'))
    response.write('')
    response.end(new Uint8Array([68]))
  }),
  'other views': calls({ 'a Uint16Array': response => response.write(new Uint16Array([65, 66])), 'a DataView': response => response.write(new DataView(new ArrayBuffer(2))), 'an ArrayBuffer': response => response.write(new ArrayBuffer(2)) }),
  'callbacks of writes, in their order': one((response, { log }) => {
    response.write('a', () => { log('a') })
    response.write('b', 'utf8', error => { log('b', error) })
    response.write('', () => { log('empty') })
    response.end('c', 'utf8', error => { log('end', error) })
    response.on('finish', () => { log('finish') })
  }),
  'a callback of end alone': one((response, { log }) => { log(response.end(() => { log('ended') }) === response) }),
  'a callback behind a chunk': one((response, { log }) => { response.end('a', () => { log('ended') }) }),
  'a second end': one((response, { log }) => {
    response.on('error', error => { log('error', error) })
    response.end('a')
    response.end(error => { log('second', error) })
    response.end('b', error => { log('third', error) })
  }),
  'a second end later': one((response, { log }) => {
    response.on('error', error => { log('error', error) })
    response.end('a')
    response.on('close', () => { response.end(error => { log('late', error) }) })
  }),
  'a write behind the end': one((response, { log }) => {
    response.on('error', error => { log('error', error) })
    response.end('a')
    log(response.write('b', error => { log('callback', error) }))
  }),
  'a write behind the close': one((response, { log }) => {
    response.on('error', error => { log('error', error) })
    response.on('close', () => { setImmediate(() => { log(response.write('b', error => { log('callback', error) })) }) })
    response.end('a')
  }),
  'cork': one((response, { log }) => {
    response.cork()
    response.write('a')
    response.cork()
    log(response.writableCorked)
    response.write('b')
    process.nextTick(() => { response.uncork(); response.uncork(); log(response.writableCorked); response.end('c') })
  }),
  'cork and end': one((response, { log }) => { response.cork(); response.write('a'); response.end('b'); log(response.writableCorked) }),
  'the strict length: fewer': one((response, { log, t }) => {
    response.strictContentLength = true
    response.writeHead(200, { 'content-length': 5 })
    t.attempt(log, 'end', () => { response.end('abc') })
    response.destroy()
  }),
  'the strict length: more': one((response, { log, t }) => {
    response.strictContentLength = true
    response.writeHead(200, { 'content-length': 2 })
    t.attempt(log, 'write', () => response.write('abc'))
    response.destroy()
  }),
  'the strict length: right': one((response, { log, t }) => {
    response.strictContentLength = true
    response.setHeader('content-length', 3)
    t.attempt(log, 'write', () => response.write('ab'))
    t.attempt(log, 'end', () => { response.end('c') })
  }),
  'the strict length of HEAD': one((response, { log, t }) => {
    response.strictContentLength = true
    response.setHeader('content-length', 3)
    t.attempt(log, 'end', () => { response.end() })
  }, { text: get('/a', CLOSE).replace('GET', 'HEAD') }),
  'trailers': one(response => { response.setHeader('Trailer', 'X-A'); response.write('a'); response.addTrailers({ 'X-A': 'b', 'x-c': 'd' }); response.end() }),
  'trailers as pairs': one(response => { response.setHeader('Trailer', 'X-A'); response.write('a'); response.addTrailers([['X-A', 'b'], ['X-A', 'c']]); response.end() }),
  'trailers of a whole body': one(response => { response.addTrailers({ 'X-A': 'b' }); response.end('a') }),
  'trailers without a body': one(response => { response.setHeader('trailer', 'x-a'); response.addTrailers({ 'X-A': 'b' }); response.end() }),
  'trailers beside a length': one((response, { log, t }) => { response.setHeader('content-length', 1); t.attempt(log, 'trailers', () => { response.addTrailers({ 'X-A': 'b' }) }); response.end('a') }),
  'trailers that cannot be': calls({ value: response => response.addTrailers({ a: 'b\n' }), name: response => response.addTrailers({ 'a b': 'c' }), nothing: response => response.addTrailers() }),
  'trailers of HTTP/1.0': one(response => { response.write('a'); response.addTrailers({ 'X-A': 'b' }); response.end() }, { text: 'GET / HTTP/1.0\r\n\r\n' }),
  'information': one((response, { log, t }) => {
    t.attempt(log, 'continue', () => response.writeContinue(() => { log('continued') }))
    t.attempt(log, 'processing', () => response.writeProcessing(() => { log('processed') }))
    t.attempt(log, 'hints', () => response.writeEarlyHints({ link: ['</a>; rel=preload', '</b>; rel=preload'], 'x-a': 'b' }, () => { log('hinted') }))
    response.end()
  }),
  'information of each status': one((response, { log, t }) => {
    for (const status of [100, 103, 199, 101, 99, 200, '100', 110.5, undefined]) {
      t.attempt(log, `inform ${String(status)}`, () => response.writeInformation(status, { 'X-A': `${String(status)}` }, () => { log('informed', status) }))
    }
    for (const headers of [undefined, null, 1, [], ['X-A', 'b'], [['x-a', 'c']], { 'a b': 'c' }, { a: 'b\r\nc: d' }]) t.attempt(log, `inform by ${JSON.stringify(headers)}`, () => response.writeInformation(110, headers))
    response.end()
    t.attempt(log, 'inform behind the end', () => response.writeInformation(103))
  }),
  'early hints that cannot be': calls({
    nothing: response => response.writeEarlyHints(),
    'a text': response => response.writeEarlyHints('x'),
    'no link': response => response.writeEarlyHints({ 'x-a': 'b' }),
    'an empty list': response => response.writeEarlyHints({ link: [] }),
    'no target': response => response.writeEarlyHints({ link: 'rel=preload' }),
    'a number': response => response.writeEarlyHints({ link: 5 }),
    'a splitting field': response => response.writeEarlyHints({ link: '</a>; rel=preload', 'x-a': 'b\r\nc: d' })
  }),
  'members behind the end': one((response, { log, request }) => {
    response.on('close', () => { log(response.socket, response.connection, response.req === request, request.socket === null, response.headersSent, response.getHeader('x-a'), response.writable) })
    response.setHeader('x-a', 'b')
    response.end('ok')
  }),
  'HEAD with pieces': one((response, { log }) => { response.write('abc', () => { log('written') }); response.end('d', () => { log('ended') }) }, { text: get('/a', CLOSE).replace('GET', 'HEAD') }),
  'a readable is piped': one(response => { Readable.from(['a', 'b', 'c']).pipe(response) }),
  'a pipeline': one((response, { log }) => { pipeline(Readable.from(['a', 'b']), new PassThrough(), response, error => { log('over', error ?? '') }) }),
  'a pipeline whose source fails': one((response, { log }) => {
    response.on('error', error => { log('error', error) })
    response.on('close', () => { log('close', response.destroyed, response.writableFinished) })
    pipeline(new Readable({ read () { this.destroy(new Error('broken')) } }), response, error => { log('over', error) })
  }),
  'a pipeline whose file is not there': one((response, { log }) => { pipeline(createReadStream('/no/such/file'), response, error => { log('over', error.code) }) }),
  'finished of a response': one((response, { log }) => { finished(response, error => { log('finished', error ?? '') }); response.end('a') }),
  'finished of a request': one((response, { log, request }) => { finished(request, error => { log('finished', error ?? ''); response.end() }); request.resume() }, { text: post('/a', 'hello', CLOSE) }),
  'finished of a response that is destroyed': one((response, { log }) => { finished(response, error => { log('finished', error) }); response.destroy() }),
  'destroy with an error': one((response, { log, request }) => {
    response.on('error', error => { log('response error', error) })
    request.on('error', error => { log('request error', error) })
    response.on('close', () => { log('close', ...state(response)) })
    log(response.destroy(new Error('no')) === response)
    log(response.destroyed, response.errored)
  }),
  'destroy behind a piece': one((response, { log }) => {
    response.on('close', () => { log('close', ...state(response)) })
    response.writeHead(200, { 'content-length': 5 })
    response.write('ab', () => { response.destroy() })
  }),
  'a request is destroyed with an error': one((response, { log, request }) => {
    request.on('error', error => { log('request error', error) })
    response.on('error', error => { log('response error', error) })
    response.on('close', () => { log('response close') })
    request.destroy(new Error('no'))
  }, { text: post('/a', 'hello').slice(0, -2) }),
  'the client goes while nothing is said': raw((server, { log }) => {
    server.on('request', (request, response) => {
      request.on('aborted', () => { log('aborted', request.aborted) })
      request.on('error', error => { log('request error', error) })
      request.on('close', () => { log('request close', request.destroyed) })
      response.on('error', error => { log('response error', error) })
      response.on('close', () => { log('response close', response.destroyed, response.writableFinished); log(response.write('x'), response.end('y') === response) })
    })
  }, get('/a'), { act: async (socket, { server }) => { await once(server, 'request'); socket.destroy() } }),
  'the client goes in the middle of an answer': raw((server, { log }) => {
    server.on('request', (request, response) => {
      request.on('error', error => { log('request error', error) })
      response.on('error', error => { log('response error', error) })
      response.on('close', () => { log('response close', response.destroyed, response.writableFinished) })
      response.write('a')
    })
  }, get('/a'), { act: async (socket, { until }) => { await until('a'); socket.destroy() } }),
  'contexts': one((response, { log, request }) => {
    const storage = new AsyncLocalStorage()
    storage.run('own', () => {
      for (const event of ['finish', 'close']) response.on(event, () => { log(event, storage.getStore()) })
      request.on('end', () => { log('end', storage.getStore()) })
      request.resume()
      response.write('a', () => { log('write', storage.getStore()) })
      setImmediate(() => { response.end('b', () => { log('ended', storage.getStore()) }) })
    })
  }),
  'a large body drains': one((response, { log }) => {
    const piece = 'x'.repeat(1 << 20)
    log(response.write(piece), response.writableNeedDrain)
    response.once('drain', () => { log('drain', response.writableNeedDrain, response.writableLength); response.end() })
  }),
  'useChunkedEncodingByDefault': one(response => { response.useChunkedEncodingByDefault = false; response.write('a'); response.end('b') }),
  'shouldKeepAlive': one(response => { response.shouldKeepAlive = false; response.end('b') }, { text: get('/a') }),
  'a length of our own and pieces': one(response => { response.setHeader('content-length', 4); response.write('ab'); response.end('cd') }),
  'a length that is too long': one(response => { response.setHeader('content-length', 4); response.end('ab') }),
  'a length that is too short': one(response => { response.setHeader('content-length', 1); response.end('ab') }, { text: get('/a', CLOSE) }),
  'statusCode that is none': one((response, { log, t }) => { response.statusCode = 1000; t.attempt(log, 'end', () => { response.end('a') }); response.statusCode = 200; response.end('b') }),
  'statusMessage that splits': one((response, { log, t }) => { response.statusMessage = 'a\r\nb'; t.attempt(log, 'end', () => { response.end('a') }); response.statusMessage = 'c'; response.end('b') }),
  'setTimeout': one((response, { log }) => { log(response.setTimeout(20, socket => { log('timeout', socket === response.socket); response.end('late') }) === response) }),
  'a timeout without a listener': one(response => { response.setTimeout(20) }),
  'inspection does not throw': one((response, { log, request }) => { log(typeof String(response), Object.keys(response).includes('statusCode'), JSON.stringify(request.headers)); response.end() })
}

// A stream: what it is, what it takes, what it tells.
import { EventEmitter } from 'node:events'
import { sensitiveHeaders } from 'node:http2'
import { Duplex, Readable } from 'node:stream'
import { core, throwing } from '../shapes.mjs'
import { fields } from '../stage.mjs'

/** The client's events, for the server. */
const received = new EventEmitter()

const text = async stream => {
  let all = ''
  for await (const piece of stream) all += piece
  return all
}
const MEBIBYTE = Buffer.alloc(1 << 20, 'x')
/** Listeners of both APIs that read the body of one request. */
const together = (size, readCore, readCompatible) => async (http2, t) => {
  const server = http2.createServer()
  server.on('stream', stream => { readCore(stream, t.log('core')) })
  server.on('request', (request, response) => { readCompatible(request, t.log('compatible')); request.on('end', () => { response.end() }) })
  await t.show(await t.open(server), { method: 'POST', body: 'x'.repeat(size) })
}
const byData = (readable, log) => {
  let bytes = 0
  readable.on('data', piece => { bytes += piece.length }).on('end', () => { log('end', bytes) })
}
const byIterating = async (readable, log) => { log('end', (await text(readable)).length) }
/** Ends a stream whatever it is in. */
const done = stream => { if (!stream.headersSent) stream.respond(); stream.end() }

export default {
  'listeners of both APIs read a small body': together(5, byData, byData),
  'listeners of both APIs read a large body': together(300_000, byData, byData),
  'listeners of both APIs read a body, one by iterating': together(300_000, byIterating, byData),
  'listeners of both APIs read a body, both by iterating': together(300_000, byIterating, byIterating),
  'a stream is a duplex with a number': core((stream, { log }) => {
    log(stream instanceof Duplex, stream.constructor.name, stream.id, stream.pending, stream.closed, stream.destroyed, stream.aborted, stream.rstCode)
    done(stream)
  }, [{}, { name: 'second' }]),
  'flags of a fresh stream': core((stream, { log }) => {
    log(stream.headersSent, stream.headRequest, stream.endAfterHeaders, stream.sentHeaders, stream.sentTrailers, stream.sentInfoHeaders, stream.bufferSize)
    log(stream.readable, stream.writable, stream.readableEnded, stream.writableEnded, stream.writableFinished)
    done(stream)
  }),
  'flags of a stream with a body': core((stream, { log }) => {
    log(stream.endAfterHeaders, stream.readable, stream.writable)
    stream.resume()
    done(stream)
  }, { body: 'x' }),
  'flags of a HEAD request': core((stream, { log }) => {
    log(stream.headRequest, stream.writableEnded)
    stream.respond({ 'content-length': 5 })
    log(stream.headersSent, stream.writableEnded)
    stream.end('hello')
  }, { headers: { ':method': 'HEAD' } }),
  'the state of a stream has six members': core((stream, { log }) => {
    log(Object.keys(stream.state))
    done(stream)
  }),
  'headers of a request': core((stream, { log, headers }) => {
    log(fields({ ...headers, ':authority': 'here' }))
    done(stream)
  }, { headers: { ':path': '/a/b?c=d', 'x-one': 'one', 'X-Two': 'two', accept: ['a', 'b'], number: 5 } }),
  'duplicates of a request are joined as its name demands': core((stream, { log, headers }) => {
    log(headers.cookie, headers['x-list'], headers['set-cookie'])
    done(stream)
  }, { headers: { cookie: ['a=1', 'b=2'], 'x-list': ['one', 'two', 'three'], 'set-cookie': ['c=1', 'd=2'] } }),
  'raw headers keep order and duplicates': core((stream, { log, rawHeaders }) => {
    const from = rawHeaders.indexOf('x-b')
    log(rawHeaders.slice(from))
    done(stream)
  }, { headers: { 'x-b': '1', 'x-a': ['2', '3'], 'x-c': '4' } }),
  'pseudo-headers of a raw head, in the order that the client has sent': core((stream, { log, rawHeaders }) => {
    log(rawHeaders.filter(text => text[0] === ':'))
    done(stream)
  }),
  'sensitive headers of a request are named': core((stream, { log, headers, http2 }) => {
    log(headers.secret, headers[http2.sensitiveHeaders])
    done(stream)
  }, { headers: { secret: 'x', open: 'y', [sensitiveHeaders]: ['secret'] } }),
  'a request with a body, read by events': core((stream, { log, t }) => {
    let all = ''
    stream.setEncoding('utf8')
    stream.on('data', piece => { all += piece })
    stream.on('end', () => { log('end', all, stream.readableEnded); done(stream) })
    stream.on('close', () => { log('close', stream.rstCode, stream.destroyed) })
  }, { headers: { ':method': 'POST' }, body: 'hello there' }),
  'a request with a body, read by iteration': core(async (stream, { log }) => {
    log(await text(stream))
    stream.respond()
    stream.end('read')
  }, { headers: { ':method': 'POST' }, body: 'hello there' }),
  'a large request is read whole': core(async (stream, { log }) => {
    let bytes = 0
    for await (const piece of stream) bytes += piece.length
    log(bytes)
    done(stream)
  }, { headers: { ':method': 'POST' }, body: MEBIBYTE }),
  'an echo': core(stream => {
    stream.respond({ 'content-type': 'text/plain' })
    stream.pipe(stream)
  }, { headers: { ':method': 'POST' }, body: 'back to you' }),
  'a large echo': core(stream => {
    stream.respond()
    stream.pipe(stream)
  }, { headers: { ':method': 'POST' }, body: MEBIBYTE }),
  'a body that nobody reads': core((stream, { log }) => {
    stream.on('close', () => { log('close', stream.rstCode, stream.aborted) })
    stream.respond()
    stream.end('no thanks')
  }, { headers: { ':method': 'POST' }, body: 'hello' }),
  'reading goes on after a pause': core((stream, { log }) => {
    let bytes = 0
    stream.on('data', piece => {
      bytes += piece.length
      stream.pause()
      setImmediate(() => { stream.resume() })
    })
    stream.on('end', () => { log(bytes); done(stream) })
  }, { headers: { ':method': 'POST' }, body: Buffer.alloc(100_000, 'y') }),
  'the events of a whole exchange, in their order': core((stream, { t }) => {
    // The two sides of a stream end independently: their order among each other is not compared.
    t.watch(t.log('reads'), stream, 'stream', ['end', 'trailers', 'aborted', 'close', 'error'])
    t.watch(t.log('writes'), stream, 'stream', ['ready', 'finish', 'wantTrailers', 'close', 'error'])
    stream.resume()
    stream.respond()
    stream.end('x')
  }, { headers: { ':method': 'POST' }, body: 'y' }),
  'the events of a GET, in their order': core((stream, { t }) => {
    t.watch(t.log('reads'), stream, 'stream', ['end', 'aborted', 'close', 'error'])
    t.watch(t.log('writes'), stream, 'stream', ['finish', 'close', 'error'])
    stream.respond()
    stream.end('x')
  }),
  'the events of a GET that is read, in their order': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['end', 'finish', 'aborted', 'close', 'error'])
    stream.resume()
    stream.respond({}, { endStream: true })
  }),
  'writes call back in order': core((stream, { log }) => {
    stream.respond()
    for (const piece of ['a', 'b', 'c']) stream.write(piece, error => { log('wrote', piece, error) })
    stream.end('d', () => { log('ended') })
  }),
  'a write with an encoding': core(stream => {
    stream.respond()
    stream.write('68656c6c6f', 'hex')
    stream.write('IHRoZXJl', 'base64')
    stream.end('é', 'latin1')
  }),
  'text of other alphabets': core(stream => { stream.respond(); stream.end('Grüße, 世界') }),
  'typed arrays are written': core(stream => {
    stream.respond()
    stream.write(new Uint8Array([97, 98]))
    stream.end(Buffer.from('c'))
  }),
  'what is no piece of a body is refused': core((stream, { log, t }) => {
    stream.respond()
    for (const piece of [1, null, {}, true]) t.attempt(log, String(piece), () => stream.write(piece))
    stream.end()
  }),
  'a write without a head sends one': core((stream, { log }) => {
    stream.write('implicit')
    log(stream.headersSent, fields(stream.sentHeaders))
    stream.end()
  }),
  'an end without a head': core((stream, { log }) => {
    stream.end('whole')
    log(stream.headersSent)
  }),
  'a write after the end is an error': core((stream, { log, t }) => {
    stream.respond()
    t.watch(log, stream, 'stream', ['error', 'close'], (event, ...args) => args)
    stream.end('x')
    stream.write('y', error => { log('callback', error) })
  }),
  'corked writes leave together': core(stream => {
    stream.respond()
    stream.cork()
    stream.write('a')
    stream.write('b')
    stream.uncork()
    stream.end('c')
  }),
  'a full buffer says so, and drains': core((stream, { log }) => {
    stream.respond()
    const more = stream.write(MEBIBYTE)
    log(more, stream.writableNeedDrain)
    stream.once('drain', () => { log('drain', stream.writableLength); stream.end('last') })
  }),
  'a readable is piped into it': core(stream => {
    stream.respond()
    Readable.from(['one ', 'two ', 'three']).pipe(stream)
  }),
  'a large response arrives whole': core(stream => { stream.respond(); stream.end(MEBIBYTE) }),
  'ten mebibytes arrive whole': core(stream => {
    stream.respond()
    let left = 10
    const more = () => {
      while (left-- > 0) if (!stream.write(MEBIBYTE)) return stream.once('drain', more)
      stream.end()
    }
    more()
  }),
  'a slow reader stops the writer': core((stream, { log }) => {
    stream.respond()
    let wrote = 0
    const more = () => {
      while (wrote < 64) {
        wrote++
        if (!stream.write(Buffer.alloc(65_536))) return stream.once('drain', more)
      }
      stream.end()
    }
    stream.on('finish', () => { log('finished', wrote) })
    more()
    setImmediate(() => { log(wrote < 64) })
  }, { before: stream => { stream.pause(); setTimeout(() => { stream.resume() }, 30) } }),
  'close with a code reaches the client': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => args)
    stream.respond()
    stream.close(8)
    log(stream.closed, stream.rstCode, stream.destroyed, stream.aborted)
  }),
  'close with an error code is an error': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => args)
    stream.respond()
    stream.close(2)
    log(stream.closed, stream.rstCode)
  }),
  'close before anything was answered': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => args)
    stream.close(7)
  }),
  'close without a code': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => args)
    stream.respond()
    stream.close()
    log(stream.rstCode)
  }),
  'close calls back': core((stream, { log }) => {
    stream.on('error', () => {})
    log(stream.close(8, () => { log('closed', stream.destroyed) }))
    log(stream.close(2), stream.rstCode)
  }),
  'closes that cannot be are refused': core((stream, { log, t }) => {
    for (const code of ['x', -1, 1.5, 2 ** 32, true]) t.attempt(log, String(code), () => { stream.close(code) })
    t.attempt(log, 'callback', () => { stream.close(0, 'x') })
    done(stream)
  }),
  'destroy without an error': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => args)
    stream.respond()
    stream.destroy()
    log(stream.destroyed, stream.closed, stream.rstCode)
  }),
  'destroy with an error': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => args)
    stream.respond()
    stream.destroy(new Error('broken'))
    log(stream.destroyed, stream.rstCode)
  }),
  'destroy in the middle of a body': core((stream, { log, t }) => {
    t.watch(log, stream, 'stream', ['aborted', 'error', 'close'], (event, ...args) => args)
    stream.respond()
    stream.write('part')
    received.once('part', () => { stream.destroy(new Error('broken')) })
  }, { before: client => { client.once('data', () => { received.emit('part') }) } }),
  'a destroyed stream refuses everything': core((stream, { log, t }) => {
    stream.on('error', () => {})
    stream.destroy()
    for (const [label, call] of Object.entries({
      respond: () => { stream.respond() }, additionalHeaders: () => { stream.additionalHeaders({}) }, respondWithFile: () => { stream.respondWithFile('x') },
      respondWithFD: () => { stream.respondWithFD(1) }, sendTrailers: () => { stream.sendTrailers({}) }, pushStream: () => { stream.pushStream({}, () => {}) },
      close: () => stream.close(), write: () => stream.write('x'), pushAllowed: () => stream.pushAllowed, id: () => stream.id, session: () => stream.session, state: () => Object.keys(stream.state).length
    })) t.attempt(log, label, call)
  }),
  'a timeout is told': core(async (stream, { log, t }) => {
    t.attempt(log, 'callback', () => { stream.setTimeout(10, 'x') })
    t.attempt(log, 'time', () => { stream.setTimeout('x') })
    await new Promise(resolve => { log(stream.setTimeout(20, resolve) === stream) })
    log('timeout')
    done(stream)
  }),
  'a timeout of zero is none': core((stream, { log }) => {
    stream.setTimeout(20, () => { log('timeout') })
    stream.setTimeout(0)
    // Set behind it for the same time, it comes behind it.
    setTimeout(() => { done(stream) }, 20)
  }),
  'an error without a listener is not caught': core(stream => {
    stream.respond()
    stream.destroy(new Error('nobody listens'))
  }),
  'async iteration ends with an error when the stream is destroyed': core(async (stream, { log }) => {
    stream.respond()
    setImmediate(() => { stream.destroy(new Error('broken')) })
    try {
      for await (const piece of stream) log(piece)
      log('ended')
    } catch (error) { log(error) }
  }, { headers: { ':method': 'POST' }, body: null, endStream: false }),
  'the session of a stream is gone when it is closed': core((stream, { log }) => {
    stream.on('close', () => { log(stream.session, stream.id, stream.destroyed) })
    stream.respond({}, { endStream: true })
  }),
  'a listener of end is called for a GET that is resumed': core((stream, { log }) => {
    stream.on('end', () => { log('end') })
    stream.resume()
    done(stream)
  }),
  'an extended CONNECT is a duplex both ways': core((stream, { log, headers }) => {
    log(headers[':method'], headers[':protocol'], headers[':path'], headers[':scheme'])
    stream.respond({ 'sec-websocket-protocol': 'echo' })
    stream.pipe(stream)
    stream.on('close', () => { log('close', stream.rstCode) })
  }, {
    headers: { ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat' },
    body: null,
    endStream: false,
    before: (client, log) => {
      client.once('data', piece => { log(piece); client.end('bye') })
      client.on('response', () => { client.write('hello') })
    }
  }, { options: { settings: { enableConnectProtocol: true } } }),
  'a plain CONNECT is a duplex both ways': core((stream, { log, headers }) => {
    log(headers[':method'], headers[':authority'], headers[':path'], headers[':scheme'])
    stream.respond()
    stream.pipe(stream)
  }, {
    headers: { ':method': 'CONNECT', ':authority': 'there:1', ':path': undefined },
    body: null,
    endStream: false,
    before: client => {
      client.once('data', () => { client.end('bye') })
      client.on('response', () => { client.write('hello') })
    }
  }),
  'priority changes nothing': throwing({
    priority: stream => stream.priority?.({ weight: 10 })
  })
}

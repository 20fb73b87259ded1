// Answers that a handler writes by hand to the socket of its request: packages of server-sent events and others do.
import { Readable } from 'node:stream'
import { CLOSE, get, one, post } from '../wire.mjs'

const EVENTS = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-store\r\nConnection: close\r\n\r\n'
const ok = (fields, body = '') => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`
/** Logs how the request, its response and its socket end. */
const ends = ({ log, request }, response) => {
  request.on('close', () => { log('request closed', request.complete) })
  response.on('close', () => { log('response closed') }).on('finish', () => { log('response finished') })
  request.socket.on('error', error => { log(error) })
}
const by = (handle, more) => one((response, context) => {
  ends(context, response)
  return handle(context.request.socket, { ...context, response })
}, more)

export default {
  'an event stream': by(async (socket, { response }) => {
    socket.write(`${EVENTS}\r\nretry: 5000\r\n\r\n`)
    for (const data of ['a', 'b', 'c']) await new Promise(resolve => { socket.write(`data: ${data}\r\n\r\n`, resolve) })
    socket.end()
  }),
  'an answer with its length': by(socket => { socket.write(ok('Content-Length: 5\r\nX-Foo: Bar\r\nConnection: close', 'hello')); socket.end() }),
  'an answer and the end at once': by(socket => { socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n') }),
  'a reason of its own': by(socket => { socket.end('HTTP/1.1 418 A Kettle\r\nConnection: close\r\n\r\nshort and stout') }),
  'in pieces of one character': by(socket => {
    for (const piece of ok('Content-Length: 2\r\nConnection: close', 'ok')) socket.write(piece)
    socket.end()
  }),
  'in chunks': by(async socket => {
    socket.write(ok('Transfer-Encoding: chunked\r\nConnection: close', '5\r\nhello\r\n'))
    await new Promise(resolve => { setImmediate(resolve) })
    socket.write('6;x=y\r\n world\r')
    socket.end('\n0\r\n\r\n')
  }),
  'an interim head in front': by(socket => { socket.end(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok('Connection: close', 'ok')}`) }),
  'a 204': by(socket => { socket.write('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'); socket.end() }),
  'to HEAD': by(socket => { socket.end(ok('Content-Length: 5\r\nConnection: close')) }, { text: get('/a', CLOSE).replace('GET', 'HEAD') }),
  'by pipe': by(socket => { Readable.from([ok('Connection: close'), 'a', 'b']).pipe(socket) }),
  'bytes above 127': by(socket => { socket.end(Buffer.concat([Buffer.from(ok('Connection: close')), Buffer.from([0, 128, 255])])) }),
  'destroyed behind the answer': by(socket => { socket.write(ok('Connection: close', 'some'), () => { socket.destroy() }) }),
  'destroySoon behind the answer': by(socket => { socket.write(ok('Connection: close', 'some')); socket.destroySoon() }),
  'behind the body of the request': by((socket, { request }) => {
    let body = ''
    request.on('data', piece => { body += piece }).on('end', () => { socket.end(ok('Connection: close', body)) })
  }, { text: post('/a', 'posted', CLOSE) }),
  'when the response is detached': by((socket, { response }) => {
    response.detachSocket(socket)
    socket.end(ok('Connection: close', 'ok'))
  }),
  'by a response that is assigned in place of the first': by((socket, { response, request, http }) => {
    response.detachSocket(socket)
    const other = new response.constructor(request)
    other.assignSocket(socket)
    other.on('finish', () => { other.detachSocket(socket); socket.end() })
    other.setHeader('x-a', '1')
    other.end('assigned')
  }),
  'an interim head in pieces': by((socket, { response }) => {
    response._writeRaw('HTTP/1.1 102 Processing\r\n')
    response._writeRaw('Foo: Bar\r\n')
    response._writeRaw('\r\n')
    response.end('ok')
  })
}

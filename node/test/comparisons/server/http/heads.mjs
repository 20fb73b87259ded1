// Heads of responses of node:http as bytes: texts that are not ASCII, by what goes behind them; fields of requests and of
// connections in responses.
import { one, get, CLOSE, HOST } from '../wire.mjs'

const VALUES = { 'latin1': ['x-a', 'caf\u00e9'], 'a file name': ['content-disposition', 'attachment; filename="\u00e9"'], 'ascii': ['x-a', 'cafe'] }
const BODIES = {
  'nothing': response => { response.end() },
  'an empty text': response => { response.end('') },
  'a text': response => { response.end('te\u00e9') },
  'a text as utf8': response => { response.end('te\u00e9', 'utf8') },
  'a text as UTF-8': response => { response.end('te\u00e9', 'utf-8') },
  'a text as latin1': response => { response.end('te\u00e9', 'latin1') },
  'a text as hex': response => { response.end('7465', 'hex') },
  'bytes': response => { response.end(Buffer.from('te')) },
  'a text of a known length': response => { response.setHeader('content-length', 2); response.end('te') },
  'a text written with a length': response => { response.setHeader('content-length', 4); response.write('te'); response.end('st') },
  'bytes and a text with a length': response => { response.setHeader('content-length', 4); response.write(Buffer.from('te')); response.end('st') },
  'a text in pieces': response => { response.write('te'); setImmediate(() => { response.end('st') }) },
  'a head alone and a text': response => { response.flushHeaders(); setImmediate(() => { response.end('te') }) },
  'a reason and a text': response => { response.writeHead(200, 'caf\u00e9'); response.end('te') }
}
const programs = {}
for (const [value, [name, text]] of Object.entries(VALUES)) {
  for (const [body, send] of Object.entries(BODIES)) {
    programs[`${value} in front of ${body}`] = one(response => { response.setHeader(name, text); send(response) })
    if (value === 'latin1') programs[`${value} in front of ${body}, HEAD`] = one(response => { response.setHeader(name, text); send(response) }, { text: `HEAD /a HTTP/1.1\r\n${HOST}${CLOSE}\r\n` })
  }
}

const TWICE = ['host', 'location', 'content-type', 'age', 'etag', 'retry-after', 'server', 'referer', 'user-agent', 'from', 'max-forwards', 'expires', 'authorization', 'if-modified-since', 'last-modified', 'te', 'trailer', 'expect', 'range', 'accept', 'cookie', 'set-cookie', 'alt-svc', 'priority']
for (const name of TWICE) {
  programs[`${name} once`] = one(response => { response.setHeader(name, 'a'); response.end('ok') })
  programs[`${name} twice`] = one(response => { response.setHeader(name, ['a', 'b']); response.end('ok') })
}
for (const [label, value] of [['as it is spelled', 'Close'], ['among others', 'close, x-a'], ['behind others', 'x-a, CLOSE']]) {
  programs[`a close ${label}`] = one(response => { response.setHeader('Connection', value); response.end('ok') }, { text: get('/a') })
  programs[`a close ${label}, asked for`] = one(response => { response.setHeader('Connection', value); response.end('ok') })
}

const HINTS = {
  'a line break in a value': { 'x-a': 'v\r\nset-cookie: x=1' },
  'a line break in one of two values': { 'x-a': ['1', '2\r\n\r\nHTTP/1.1 200 OK'] },
  'a line break in a name': { 'x-a\r\nset-cookie: x': '1' },
  'a control character': { 'x-a': '\x01' },
  'a value beyond Latin-1': { 'x-a': '\u2603' },
  'a value of Latin-1': { 'x-a': '\xe9' },
  'a name with a blank': { 'bad name': '1' },
  'no value': { 'x-a': undefined },
  'a number': { 'x-a': 1 },
  'a pseudo-header': { ':status': '200' },
  'a link in capitals': { Link: 'x\r\ny: 1' },
  'a link alone': {}
}
for (const [name, hints] of Object.entries(HINTS)) {
  for (const [which, link] of Object.entries({ '': { link: '</a>; rel=preload' }, ', without a link': {} })) {
    programs[`early hints, ${name}${which}`] = one(response => {
      try {
        response.writeEarlyHints({ ...link, ...hints })
      } catch (error) {
        response.setHeader('x-threw', error.code)
      }
      response.end('ok')
    })
  }
}

export default programs

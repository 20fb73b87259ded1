// Heads and trailers that are written by hand: the order of their pseudo-headers, the host beside the authority, and values that
// no field may have, as the listeners of a server see them.
import net from 'node:net'
import { closing, displayed } from '../stage.mjs'
import { DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, frame } from '../../../support/servers/h2_frames.mjs'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** Fields without an index (RFC 7541 section 6.2.2), all shorter than 127 bytes. */
const block = pairs => Buffer.concat(pairs.map(pair => Buffer.concat([Buffer.of(0), ...pair.flatMap(text => [Buffer.of(Buffer.byteLength(text, 'latin1')), Buffer.from(text, 'latin1')])])))

const FACES = {
  stream: (server, log) => {
    server.on('stream', (stream, headers, flags, raw) => {
      stream.on('error', error => { log('error', error.code) })
      stream.on('trailers', (trailers, ...more) => { log('trailers', displayed(trailers), ...more) })
      stream.on('aborted', () => { log('aborted') })
      stream.on('end', () => { log('end') })
      stream.on('close', () => { log('close', stream.rstCode) })
      log('stream', displayed(headers), 'raw', displayed(raw), 'end', stream.endAfterHeaders)
      stream.resume()
      stream.respond()
      stream.end('ok')
    })
  },
  request: (server, log) => {
    server.on('request', (request, response) => {
      request.on('error', error => { log('error', error.code) })
      request.on('aborted', () => { log('aborted') })
      request.on('end', () => { log('end', displayed(request.trailers), displayed(request.rawTrailers)) })
      log('request', request.method, request.url, request.authority, request.scheme, displayed(request.headers), 'raw', displayed(request.rawHeaders))
      request.resume()
      response.end('ok')
    })
  }
}

/** One request with these fields, and with a body and trailers where they are given. */
const asked = (face, pairs, { trailers, options = {} } = {}) => async (http2, t) => {
  const server = http2.createServer(options)
  server.on('sessionError', error => { t.log('server')('sessionError', error.code) })
  FACES[face](server, t.log('server'))
  const socket = net.connect(await t.listen(server), '127.0.0.1')
  t.sockets.push(socket)
  socket.on('error', () => {})
  const frames = [frame(HEADERS, END_HEADERS | (trailers === undefined ? END_STREAM : 0), 1, block(pairs))]
  if (trailers !== undefined) frames.push(frame(DATA, 0, 1, Buffer.from('body')), frame(HEADERS, END_HEADERS | END_STREAM, 1, block(trailers)))
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), ...frames]))
  let came = Buffer.alloc(0)
  socket.on('data', piece => {
    came = Buffer.concat([came, piece])
    for (let length; came.length >= 9 && came.length >= (length = 9 + came.readUIntBE(0, 3)); came = came.subarray(length)) {
      const [kind, flags] = [came[3], came[4]]
      if (kind === RST_STREAM) t.log('client')('RST_STREAM', came.readUInt32BE(9))
      if (kind === GOAWAY) t.log('client')('GOAWAY', came.readUInt32BE(13))
      const isEnd = (kind === DATA || kind === HEADERS) && (flags & END_STREAM) !== 0
      if (isEnd) t.log('client')('END_STREAM')
      if (isEnd || kind === RST_STREAM) socket.end()
    }
  })
  await closing(socket)
}

/** All orders of `things`. */
const orders = things => things.length < 2 ? [things] : things.flatMap((one, at) => orders(things.toSpliced(at, 1)).map(rest => [one, ...rest]))

const [METHOD, SCHEME, AUTHORITY, PATH] = [[':method', 'GET'], [':scheme', 'http'], [':authority', 'a:80'], [':path', '/x?y']]
const HOST = ['host', 'a:80']
const CONNECT = [':method', 'CONNECT']
const HEADS = {
  ...Object.fromEntries(orders([METHOD, SCHEME, AUTHORITY, PATH]).map(pairs => [pairs.map(([name]) => name).join(' '), pairs])),
  ...Object.fromEntries(orders([METHOD, SCHEME, PATH]).map(pairs => [`${pairs.map(([name]) => name).join(' ')} host`, [...pairs, HOST]])),
  'an authority and a host': [METHOD, SCHEME, AUTHORITY, PATH, HOST],
  'an authority and a host between others': [METHOD, SCHEME, AUTHORITY, PATH, ['x-a', '1'], HOST, ['x-b', '2']],
  'an empty authority and a host': [METHOD, SCHEME, [':authority', ''], PATH, HOST],
  'neither an authority nor a host': [METHOD, SCHEME, PATH],
  'CONNECT :authority': [CONNECT, AUTHORITY],
  ':authority CONNECT': [AUTHORITY, CONNECT],
  'CONNECT, extended': [CONNECT, [':protocol', 'websocket'], SCHEME, AUTHORITY, PATH],
  'CONNECT, extended, the protocol last': [CONNECT, SCHEME, AUTHORITY, PATH, [':protocol', 'websocket']],
  'CONNECT, extended, with a host': [[':protocol', 'websocket'], PATH, SCHEME, CONNECT, HOST],
  'cookies in crumbs': [PATH, METHOD, SCHEME, AUTHORITY, ['cookie', 'a=1'], ['x-a', '1'], ['cookie', 'b=2']],
  'a field that comes twice': [PATH, METHOD, SCHEME, AUTHORITY, ['x-a', '1'], ['x-a', '2'], ['content-type', 'a/b'], ['content-type', 'c/d']],
  'no value': [METHOD, SCHEME, AUTHORITY, PATH, ['x-a', ''], ['x-b', '2']]
}
const PATHS = ['/a#b', '/a?b#c', '/#', '#a', '/a%23b', 'a', '']
const REQUEST = [METHOD, SCHEME, AUTHORITY, PATH]
const VALUES = { 'a blank behind': 'a ', 'a blank before': ' a', 'a tab behind': 'a\t', 'blanks alone': '  ', 'a control character': 'a\x01b', 'a byte of Latin-1': 'a\xe9', 'a line feed': 'a\nb' }
const TRAILERS = {
  'one field': [['x-t', '1']],
  'two of one name': [['x-t', '1'], ['x-t', '2']],
  'no field': [],
  'no value': [['x-t', '']],
  'a pseudo-header': [[':path', '/']],
  'a name in capitals': [['X-T', '1']],
  connection: [['connection', 'close']]
}

const programs = {}
for (const face of Object.keys(FACES)) {
  for (const [name, pairs] of Object.entries(HEADS)) programs[`${face}, ${name}`] = asked(face, pairs, { options: { settings: { enableConnectProtocol: true } } })
  for (const path of PATHS) programs[`${face}, a path, "${path}"`] = asked(face, [METHOD, SCHEME, AUTHORITY, [':path', path]])
  for (const [name, trailers] of Object.entries(TRAILERS)) programs[`${face}, trailers, ${name}`] = asked(face, REQUEST, { trailers })
  for (const [name, value] of Object.entries(VALUES)) {
    for (const strict of [undefined, true, false]) {
      const options = strict === undefined ? {} : { strictFieldWhitespaceValidation: strict }
      const what = `${name}${strict === undefined ? '' : `, strict ${strict}`}`
      programs[`${face}, a value, ${what}`] = asked(face, [...REQUEST, ['x-v', value]], { options })
      programs[`${face}, trailers, a value, ${what}`] = asked(face, REQUEST, { options, trailers: [['x-v', value]] })
      programs[`${face}, trailers, a value beside a good one, ${what}`] = asked(face, REQUEST, { options, trailers: [['x-t', '1'], ['x-v', value]] })
    }
  }
}
export default programs

// Answers of HTTP/1.1 of every form: how they are read, and what becomes of the connection.

const HEADS = {
  '200': 'HTTP/1.1 200 OK', '204': 'HTTP/1.1 204 No Content', '205': 'HTTP/1.1 205 Reset Content', '304': 'HTTP/1.1 304 Not Modified', '299 without words': 'HTTP/1.1 299',
  '1.0': 'HTTP/1.0 200 OK', '500 with words': 'HTTP/1.1 500 Ouch, that: hurts', '103 first': 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK'
}
const BODIES = {
  'no length': ['', ''],
  'length 0': ['content-length: 0\r\n', ''],
  'length 5': ['content-length: 5\r\n', 'hello'],
  'length 5, fewer': ['content-length: 5\r\n', 'hel'],
  'length 5, more': ['content-length: 5\r\n', 'helloHTTP/1.1 200 OK\r\n\r\n'],
  'length twice': ['content-length: 5\r\ncontent-length: 5\r\n', 'hello'],
  'lengths that differ': ['content-length: 5\r\ncontent-length: 6\r\n', 'hello'],
  'length asd': ['content-length: asd\r\n', 'hello'],
  'chunks': ['transfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
  'chunks with extensions': ['transfer-encoding: chunked\r\n', '5;a=b\r\nhello\r\n0\r\n\r\n'],
  'chunks with trailers': ['transfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\nX-Trailer: y\r\n\r\n'],
  'chunks, cut': ['transfer-encoding: chunked\r\n', '5\r\nhello\r\n'],
  'chunks of a bad length': ['transfer-encoding: chunked\r\n', 'x\r\nhello\r\n0\r\n\r\n'],
  'chunks and a length': ['transfer-encoding: chunked\r\ncontent-length: 5\r\n', '5\r\nhello\r\n0\r\n\r\n']
}
/** A server sends one every few seconds while it works. */
const INTERIM = 'HTTP/1.1 102 Processing\r\n\r\n'
const ENDS = { 'stays': () => {}, 'FIN': socket => { socket.end() } }

async function run (module, stage, answer, end, options) {
  const served = await stage.serveRaw(socket => {
    socket.once('data', () => {
      socket.write(answer, 'latin1', () => { end(socket) })
    })
  })
  const client = stage.own(new module.Client(served.url, { bodyTimeout: 500 }))
  const log = stage.log('client')
  try {
    const { statusCode, statusText, headers, body, trailers } = await client.request({ path: '/', method: 'GET', ...options })
    log(statusCode, statusText, JSON.stringify(headers))
    try {
      log('body', await body.text(), JSON.stringify(trailers))
    } catch (error) {
      log('body failed', error.name, error.code, error.message)
    }
  } catch (error) {
    log('failed', error.name, error.code, error.message)
  }
}

const programs = {}
for (const [head, line] of Object.entries(HEADS)) {
  for (const [body, [fields, bytes]] of Object.entries(BODIES)) {
    for (const [end, ends] of Object.entries(ENDS)) {
      programs[`${head}, ${body}, ${end}`] = (module, stage) => run(module, stage, `${line}\r\n${fields}\r\n${bytes}`, ends)
    }
  }
}
for (const [body, [fields, bytes]] of Object.entries(BODIES)) {
  programs[`HEAD, ${body}`] = (module, stage) => run(module, stage, `HTTP/1.1 200 OK\r\n${fields}\r\n${bytes}`, ENDS.stays, { method: 'HEAD' })
}
for (const [label, text] of Object.entries({
  'nothing, FIN': '', 'half a line': 'HTTP/1.1 2', 'no HTTP': 'asd\r\n\r\n', 'another version': 'HTTP/2.0 200 OK\r\n\r\n', 'a bad status': 'HTTP/1.1 abc OK\r\n\r\n', 'status 99': 'HTTP/1.1 99 X\r\n\r\n', 'status 1000': 'HTTP/1.1 1000 X\r\n\r\n',
  'a name with a space': 'HTTP/1.1 200 OK\r\na b: c\r\ncontent-length: 0\r\n\r\n', 'no colon': 'HTTP/1.1 200 OK\r\nabc\r\ncontent-length: 0\r\n\r\n', 'an empty name': 'HTTP/1.1 200 OK\r\n: a\r\ncontent-length: 0\r\n\r\n',
  'LF alone': 'HTTP/1.1 200 OK\ncontent-length: 0\n\n', 'a zero in a value': 'HTTP/1.1 200 OK\r\na: b\0c\r\ncontent-length: 0\r\n\r\n', 'latin1 in a value': 'HTTP/1.1 200 OK\r\na: \xe9\r\ncontent-length: 0\r\n\r\n', 'a fold': 'HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n',
  'spaces around a value': 'HTTP/1.1 200 OK\r\na:  b \r\ncontent-length: 0\r\n\r\n', 'an empty value': 'HTTP/1.1 200 OK\r\na:\r\ncontent-length: 0\r\n\r\n', 'a name twice': 'HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\ncontent-length: 0\r\n\r\n', 'cookies': 'HTTP/1.1 200 OK\r\nset-cookie: a\r\nset-cookie: b\r\ncontent-length: 0\r\n\r\n',
  'a line end before it': '\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
  '101 that was not asked for': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', '100 and 200': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  '17 interim heads': `${INTERIM.repeat(17)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`, '1,000 interim heads': `${INTERIM.repeat(1000)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`
})) {
  programs[`an answer with ${label}`] = (module, stage) => run(module, stage, text, ENDS.FIN)
}
const CODINGS = {
  'gzip, chunked': true, 'gzip and chunked in two fields': true, 'identity, chunked': true, 'x;a=b, chunked': true, ', chunked': true, 'chunked,': true, 'chunked, gzip': true, 'chunked, chunked': true,
  'chunked;a=b': true, '"chunked"': true, gzip: false, identity: false, xchunked: false, 'gzip, xchunked': false, '': false
}
for (const [codings, isInChunks] of Object.entries(CODINGS)) {
  const fields = codings.includes(' and ') ? 'transfer-encoding: gzip\r\ntransfer-encoding: chunked' : `transfer-encoding: ${codings}`
  for (const [end, ends] of Object.entries(ENDS)) {
    // A body that only the end of the connection delimits has no other end.
    if (!isInChunks && end === 'stays') continue
    programs[`the codings ${codings === '' ? 'none' : codings}, ${end}`] = (module, stage) => run(module, stage, `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${isInChunks ? '5\r\nhello\r\n0\r\n\r\n' : 'hello'}`, ends)
  }
}
export default programs
